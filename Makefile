# SPDX-License-Identifier: GPL-2.0-or-later
# make [V=1], make test, make bench, make install [DESTDIR= PREFIX=],
# make uninstall, make clean

PREFIX   ?= /usr/local
SBINDIR  ?= $(PREFIX)/sbin
MANDIR   ?= $(PREFIX)/share/man
UNITDIR  ?= $(PREFIX)/lib/systemd/system
COMPDIR  ?= $(PREFIX)/share/bash-completion/completions
CLANG    ?= clang
BPFTOOL  ?= /usr/sbin/bpftool
OUT      ?= build
MULTIARCH := $(shell $(CC) -print-multiarch)

# Some tests have formats in tables.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wformat=2 -Wno-format-nonliteral -Wdouble-promotion -Wundef -Wvla -Werror
CFLAGS   ?= -O2 -g
XB_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Iinclude -Iuser -isystem $(OUT)/skel -MD -MP $(CFLAGS) $(EXTRA)
XB_LIBS   = -lxdp -lbpf -llmdb -ljansson -lmnl -lz -lm -lpthread $(LIBS)
BPF_CFLAGS = -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wshadow -Wundef -Werror -Iinclude -I/usr/include/$(MULTIARCH) -MMD -MP

# Each stands on those before it: tests/checks/includes.
FOLDERS  := base model bloom lists machine store attach filter engine
CORE     := $(patsubst %.c,$(OUT)/%.o,$(wildcard $(FOLDERS:%=user/%/*.c)))
CLI      := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/bloomctl/*.c user/bloomctl/verbs/*.c))
SKELS    := $(OUT)/skel/entry.skel.h $(OUT)/skel/filter.skel.h $(OUT)/skel/guard.skel.h
SUPPORT  := $(patsubst %.c,$(OUT)/%.o,$(filter-out %.bpf.c,$(wildcard tests/support/*.c)))
TESTS    := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/unit/*/test_*.c tests/prog/test_*.c))
FUZZERS  := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES  := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/bench/bench_*.c))
PACKETS  := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/packets/*.c))
TESTSKEL := $(patsubst %.bpf.c,$(OUT)/skel/%.skel.h,$(notdir $(wildcard tests/*/*.bpf.c)))

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

all: $(OUT)/bloomctl

$(OUT)/bloomctl: $(CORE) $(CLI)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(XB_LIBS)

$(OUT)/%.o: %.c Makefile | $(SKELS)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) -c -o $@ $<

# Two paths and a little: whoever starts us may have set a limit of 64 KiB for the stack. (The
# sanitizers make frames larger.)
ifeq (,$(findstring sanitize,$(EXTRA)))
$(CORE) $(CLI): XB_CFLAGS += -Wframe-larger-than=8704
endif

vpath %.bpf.c bpf tests/bench tests/storm tests/support

$(OUT)/bpf/%.bpf.o: %.bpf.c Makefile
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Ibpf -c -o $@ $<

$(OUT)/skel/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@.tmp && mv $@.tmp $@

$(OUT)/tests/%: tests/%.c $(CORE) $(SUPPORT) | $(SKELS) $(TESTSKEL)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) -MF $@.d -Itests -o $@ $< $(CORE) $(SUPPORT) $(XB_LIBS) -lcmocka -lldns

# Preloaded by tests.
$(OUT)/tests/%.so: tests/%.c Makefile
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) -MF $@.d -fPIC -shared -o $@ $<

# Of it a fuzzer takes all but main(), which is the engine's.
$(OUT)/bloomctl.a: $(CORE) $(CLI)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/tests/fuzz/%: tests/fuzz/%.c $(OUT)/bloomctl.a
	$(say) FUZZER $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) -MF $@.d -Itests -fsanitize=fuzzer -o $@ $< $(OUT)/bloomctl.a $(XB_LIBS)

$(OUT)/tests/packets/packets: $(PACKETS) $(CORE) $(SUPPORT)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ $(XB_LIBS) -lcmocka

$(PACKETS): XB_CFLAGS += -Itests

tests: $(TESTS)

fuzzers: $(FUZZERS)

benches: $(OUT)/bloomctl $(BENCHES)

test:
	scripts/test

bench:
	scripts/bench

UNITS = xdp-bloom.service xdp-bloom-online.service xdp-bloom-online.path xdp-bloom-expire.service xdp-bloom-expire.timer

install: $(OUT)/bloomctl
	install -D -m 0755 $(OUT)/bloomctl $(DESTDIR)$(SBINDIR)/bloomctl
	install -D -m 0644 packaging/bloomctl.8 $(DESTDIR)$(MANDIR)/man8/bloomctl.8
	install -D -m 0644 packaging/bloomctl.bash $(DESTDIR)$(COMPDIR)/bloomctl
	install -d $(DESTDIR)$(UNITDIR)
	for unit in $(UNITS); do sed 's|@SBINDIR@|$(SBINDIR)|' packaging/$$unit >$(DESTDIR)$(UNITDIR)/$$unit || exit 1; done

# The list in /var/lib/xdp-bloom and what is attached stay: `bloomctl detach --all` first.
uninstall:
	rm -f $(DESTDIR)$(SBINDIR)/bloomctl $(DESTDIR)$(MANDIR)/man8/bloomctl.8 $(DESTDIR)$(COMPDIR)/bloomctl
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS))

clean:
	rm -rf $(OUT)

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

.SECONDARY:
.PHONY: all tests fuzzers benches test bench install uninstall clean
