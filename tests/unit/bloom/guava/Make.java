// SPDX-License-Identifier: GPL-2.0-or-later
// What Guava itself writes: makes the files beside this one, from which test_guava learns that ours
// are the same byte for byte. Run on Debian 12 with Guava 31.1 (libguava-java, libjsr305-java, a JDK):
//
//   jars=/usr/share/java/guava.jar:/usr/share/java/jsr305.jar
//   javac -cp $jars -d /tmp/make tests/unit/bloom/guava/Make.java
//   java -cp $jars:/tmp/make com.google.common.hash.Make tests/unit/bloom/guava
//
// It is in Guava's package, since only there the strategy can be chosen.
package com.google.common.hash;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.function.IntFunction;

public final class Make {
  private static final int INSERTIONS = 500;
  private static final double RATE = 0.01;

  private static String directory;

  private static <T> void write(String name, Funnel<? super T> funnel, IntFunction<T> element)
      throws Exception {
    for (BloomFilterStrategies strategy : BloomFilterStrategies.values()) {
      BloomFilter<T> filter = BloomFilter.create(funnel, INSERTIONS, RATE, strategy);
      for (int i = 0; i < INSERTIONS; i++) {
        filter.put(element.apply(i));
      }
      String bits = strategy == BloomFilterStrategies.MURMUR128_MITZ_32 ? "32" : "64";
      try (OutputStream out = new FileOutputStream(directory + "/" + name + "-" + bits)) {
        filter.writeTo(out);
      }
    }
  }

  // Elements as test_guava makes them again.
  static String text(int i) {
    return "user_" + i + (i % 3 == 0 ? " \u00e4\u20ac\ud83d\ude00" : "");
  }

  static byte[] bytes(int i) {
    byte[] bytes = new byte[i % 41];
    for (int j = 0; j < bytes.length; j++) {
      bytes[j] = (byte) (i * 7 + j * 31);
    }
    return bytes;
  }

  // Bits, hashes, expectedFpp and approximateElementCount of many sizes.
  private static void sizes() throws Exception {
    double[] rates = {0.5, 0.1, 0.01, 0.001, 1e-6, 1e-20};
    try (PrintStream out = new PrintStream(directory + "/sizes", "US-ASCII")) {
      for (int n : new int[] {1, 3, 7, 100, 1000, 100000}) {
        for (double rate : rates) {
          BloomFilter<Integer> filter = BloomFilter.create(Funnels.integerFunnel(), n, rate);
          for (int i = 0; i < n && n <= 1000; i++) {
            filter.put(i);
          }
          java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
          filter.writeTo(bytes);
          out.println(n + " " + rate + " " + filter.bitSize() + " " + bytes.toByteArray()[1] + " "
              + filter.expectedFpp() + " " + filter.approximateElementCount());
        }
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    directory = arguments[0];
    write("strings", Funnels.stringFunnel(UTF_8), Make::text);
    write("chars", Funnels.unencodedCharsFunnel(), Make::text);
    write("integers", Funnels.integerFunnel(), i -> i * 0x9e3779b9);
    write("longs", Funnels.longFunnel(), i -> i * 0x9e3779b97f4a7c15L);
    write("bytes", Funnels.byteArrayFunnel(), Make::bytes);
    sizes();
  }
}
