# SPDX-License-Identifier: GPL-2.0-or-later
# `make help` lists the targets and the variables.

PREFIX   = /usr/local
BINDIR   = $(PREFIX)/bin
SBINDIR  = $(PREFIX)/sbin
LIBEXECDIR = $(PREFIX)/libexec
LIBDIR   = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
MANDIR   = $(PREFIX)/share/man
UNITDIR  = $(PREFIX)/lib/systemd/system
DOCDIR   = $(PREFIX)/share/doc/xdp-bloom
COMPDIR  = $(PREFIX)/share/bash-completion/completions
# fail2ban looks for actions nowhere else.
FAIL2BANDIR = /etc/fail2ban
CLANG    ?= clang
BPFTOOL  ?= /usr/sbin/bpftool
PKG_CONFIG ?= pkg-config
INSTALL  ?= install
OUT      ?= build
# Of the same sources, programs that are compiled otherwise may have the same skeletons.
BPF_OUT  ?= $(OUT)
MULTIARCH := $(shell $(CC) -print-multiarch)
# That of a compiler for another architecture: CC="aarch64-linux-gnu-gcc --sysroot=..."
SYSROOT  := $(patsubst %/,%,$(shell $(CC) -print-sysroot 2>/dev/null))
PACKAGES := libxdp libbpf lmdb jansson libmnl zlib
# Of bloomd alone.
AGENT_PACKAGES := libsystemd inih libmicrohttpd libcrypto
# Of bloomd-fetch and of bloomd-redis alone: nothing else of ours talks to servers.
FETCH_PACKAGES := libcurl libseccomp zlib jansson
REDIS_PACKAGES := hiredis openssl libseccomp

# Some tests have formats in tables.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wformat=2 -Wno-format-nonliteral -Wdouble-promotion -Wundef -Wvla
# scripts/test sets it to -Werror. Another compiler may warn of more: that stops nobody who only builds.
WERROR   ?=
CFLAGS   ?= -O2 -g
XB_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(WERROR) -Iinclude -Iuser -isystem $(BPF_OUT)/skel \
	$(PACKAGES_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(if $(filter $(FAULTY),$<),$(EXTRA),$(filter-out -DXB_FAULT_POINTS,$(EXTRA)))
XB_LIBS   = $(PACKAGES_LIBS) -lm -lpthread $(LIBS)
BPF_CFLAGS = -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wshadow -Wundef $(WERROR) -Iinclude -I$(SYSROOT)/usr/include/$(MULTIARCH)
DEPENDENCIES = -MD -MP
# Who has fault points, or tells how large a store may be, which is less with them. All else is the same without, and ccache
# has it.
FAULTY   := $(if $(findstring XB_FAULT_POINTS,$(EXTRA)),$(shell grep -rlE --include='*.c' \
	'xb_fault|XB_FAULT|XB_STORE_(BYTES|GIB)' user tests))
# Asked once, and only by what compiles.
PACKAGES_CFLAGS = $(eval PACKAGES_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PACKAGES)))$(PACKAGES_CFLAGS)
AGENT_CFLAGS = $(eval AGENT_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(AGENT_PACKAGES)))$(AGENT_CFLAGS)
AGENT_LIBS = $(eval AGENT_LIBS := $$(shell $(PKG_CONFIG) --libs $(AGENT_PACKAGES)))$(AGENT_LIBS)
FETCH_CFLAGS = $(eval FETCH_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(FETCH_PACKAGES)))$(FETCH_CFLAGS)
FETCH_LIBS = $(eval FETCH_LIBS := $$(shell $(PKG_CONFIG) --libs $(FETCH_PACKAGES)))$(FETCH_LIBS)
REDIS_CFLAGS = $(eval REDIS_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(REDIS_PACKAGES)))$(REDIS_CFLAGS)
REDIS_LIBS = $(eval REDIS_LIBS := $$(shell $(PKG_CONFIG) --libs $(REDIS_PACKAGES)))$(REDIS_LIBS)
PACKAGES_LIBS = $(eval PACKAGES_LIBS := $$(shell $(PKG_CONFIG) --libs $(PACKAGES)))$(PACKAGES_LIBS)

VERSION  = $(shell sed -n 's/^\#define XB_VERSION "\(.*\)"/\1/p' user/base/program.h)
# Each stands on those before it: tests/checks/includes.
FOLDERS  := base model bloom lists machine store attach filter engine
CORE     := $(patsubst %.c,$(OUT)/%.o,$(wildcard $(FOLDERS:%=user/%/*.c)))
LIBRARY  := $(OUT)/libxdp-bloom.a
AGENT    := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/bloomd/*.c user/bloomd/*/*.c user/bloomd/*/*/*.c))
FETCH    := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/fetch/*.c) user/base/duration.c)
REDIS    := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/redis/*.c))
# Of the programs that meet the network.
SANDBOX  := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/sandbox/*.c))
# Of the programs with verbs.
VERBS    := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/cli/*.c))
# Of these, what needs no verbs, which bloomd does not have.
OPTIONS  := $(patsubst %.c,$(OUT)/%.o,user/cli/crash.c user/cli/options.c user/cli/suggest.c user/cli/usage.c)
SET      := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/bloomset/*.c user/bloomset/*/*.c))
CLI      := $(patsubst %.c,$(OUT)/%.o,$(wildcard user/bloomctl/*.c user/bloomctl/top/*.c user/bloomctl/verbs/*.c))
SKELS    := $(BPF_OUT)/skel/entry.skel.h $(BPF_OUT)/skel/filter.skel.h $(BPF_OUT)/skel/guard.skel.h \
	$(BPF_OUT)/skel/known.skel.h $(BPF_OUT)/skel/plain.skel.h
# Of tests that list themselves; before libraries of programs, which have another main().
RUNNER   := $(OUT)/tests/support/tests.o
SUPPORT  := $(filter-out $(RUNNER),$(patsubst %.c,$(OUT)/%.o,$(filter-out %.bpf.c,$(wildcard tests/support/*.c))))
TESTS    := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c tests/prog/test_*.c))
FUZZERS  := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES  := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/bench/bench_*.c))
PACKETS  := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/packets/*.c))
# Those of programs of the kernel in a folder.
skels     = $(patsubst %.bpf.c,$(BPF_OUT)/skel/%.skel.h,$(notdir $(wildcard $(1)/*.bpf.c)))
# Many tests link in a fifth of the time if what they try is a shared library: tests/support/sanitizers.py.
ifneq (,$(findstring -fPIC,$(EXTRA)))
TESTED   := $(OUT)/libtested.so
XB_LIBS  += -Wl,-rpath,$(abspath $(OUT))
# Most of the programs no unit test links, and it need not be compiled.
TRIED    := $(patsubst %.c,$(OUT)/%.o,$(shell tests/support/tried.py))
tried     = $(filter $(TRIED),$(1))
else
TESTED   := $(SUPPORT) $(LIBRARY)
tried     = $(filter-out %/main.o,$(1))
endif

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

all: $(OUT)/bloomctl $(OUT)/bloomd $(OUT)/bloomd-fetch $(OUT)/bloomd-redis $(OUT)/bloomset

# What every program stands on.
$(LIBRARY): $(CORE)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Of libgcc it takes what walks a stack: one library more to load would be a twentieth of an `add`.
$(OUT)/bloomctl: $(CLI) $(VERBS) $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -static-libgcc -o $@ $^ $(XB_LIBS)

# Most of the library, and what that stands on, is nothing to it.
$(OUT)/bloomset: $(SET) $(VERBS) $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $^ -Wl,--as-needed $(XB_LIBS)

$(OUT)/bloomd: $(AGENT) $(OPTIONS) $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $^ $(AGENT_LIBS) $(XB_LIBS)

$(OUT)/bloomd-fetch: $(FETCH) $(SANDBOX)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $^ $(FETCH_LIBS) $(LIBS)

$(OUT)/bloomd-redis: $(REDIS) $(SANDBOX)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $^ $(REDIS_LIBS) $(LIBS)

$(AGENT): XB_CFLAGS += $(AGENT_CFLAGS) -DXB_LIBEXEC='"$(LIBEXECDIR)"'
$(FETCH): XB_CFLAGS += $(FETCH_CFLAGS)
$(REDIS): XB_CFLAGS += $(REDIS_CFLAGS)

$(OUT)/user/bloomd/http/page.o: user/bloomd/http/page.html

$(OUT)/%.o: %.c Makefile | $(SKELS)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -c -o $@ $<

# Two paths and a little: whoever starts us may have set a limit of 64 KiB for the stack. (The
# sanitizers make frames larger.)
ifeq (,$(findstring sanitize,$(EXTRA)))
$(CORE) $(CLI) $(VERBS) $(SET) $(AGENT): XB_CFLAGS += -Wframe-larger-than=8704
endif

vpath %.bpf.c bpf tests/bench tests/storm tests/support

$(BPF_OUT)/bpf/%.bpf.o: %.bpf.c Makefile
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(DEPENDENCIES) -Ibpf -c -o $@ $<

$(BPF_OUT)/skel/%.skel.h: $(BPF_OUT)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@.tmp && mv $@.tmp $@

$(OUT)/libtested.so: $(SUPPORT) $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(EXTRA) -shared -Wl,-soname,$(@F) -o $@ $(SUPPORT) -Wl,--whole-archive $(LIBRARY) \
		-Wl,--no-whole-archive $(XB_LIBS) -lcmocka

$(filter $(OUT)/tests/prog/%,$(TESTS)): | $(call skels,tests/support)
$(BENCHES): | $(call skels,tests/bench)
$(OUT)/tests/storm/traffic: | $(call skels,tests/storm)

$(OUT)/tests/%: tests/%.c $(RUNNER) $(TESTED) | $(SKELS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(TESTED) $(XB_LIBS) -lcmocka

$(OUT)/tests/unit/bloomd/%: tests/unit/bloomd/%.c $(RUNNER) $(OUT)/tried/bloomd.a $(TESTED) | $(SKELS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(AGENT_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(OUT)/tried/bloomd.a $(TESTED) \
		$(AGENT_LIBS) $(XB_LIBS) -lcmocka

$(OUT)/tests/e2e/%: tests/e2e/%.c $(OUT)/bloomd.a $(LIBRARY)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(AGENT_CFLAGS) $(DEPENDENCIES) -MF $@.d -o $@ $< $(OUT)/bloomd.a $(LIBRARY) $(AGENT_LIBS) $(XB_LIBS)

$(OUT)/tests/torture/fleethost: tests/torture/fleethost.c $(OUT)/bloomd.a $(LIBRARY)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(AGENT_CFLAGS) $(DEPENDENCIES) -MF $@.d -o $@ $< $(OUT)/bloomd.a $(LIBRARY) $(AGENT_LIBS) $(XB_LIBS)

# They ask what is told of a library and not of the program: the product has to be part of the latter.
$(OUT)/tests/unit/cli/%: tests/unit/cli/%.c $(RUNNER) $(OUT)/cli.a $(SUPPORT) $(LIBRARY) | $(SKELS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(SUPPORT) $(OUT)/cli.a $(LIBRARY) $(XB_LIBS) -lcmocka

$(OUT)/tests/unit/bloomset/%: tests/unit/bloomset/%.c $(RUNNER) $(OUT)/tried/bloomset.a $(TESTED) | $(SKELS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(OUT)/tried/bloomset.a $(TESTED) \
		$(XB_LIBS) -lcmocka

$(OUT)/tests/unit/bloomctl/%: tests/unit/bloomctl/%.c $(RUNNER) $(OUT)/tried/bloomctl.a $(TESTED) | $(SKELS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(OUT)/tried/bloomctl.a $(TESTED) \
		$(XB_LIBS) -lcmocka

$(OUT)/tests/unit/redis/%: tests/unit/redis/%.c $(RUNNER) $(OUT)/tried/redis.a
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(REDIS_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(OUT)/tried/redis.a \
		$(REDIS_LIBS) $(LIBS) -lcmocka

$(OUT)/tests/unit/fetch/%: tests/unit/fetch/%.c $(RUNNER) $(OUT)/tried/fetch.a
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(FETCH_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -o $@ $< $(RUNNER) $(OUT)/tried/fetch.a \
		$(FETCH_LIBS) $(LIBS) -lcmocka

# What a test repeats often is what it tries, which is optimized: that tests are not saves half of what it takes to compile them.
# Those of filters themselves ask millions of times.
ifneq (,$(findstring -fPIC,$(EXTRA)))
$(filter-out $(OUT)/tests/unit/bloom/%,$(filter $(OUT)/tests/unit/%,$(TESTS))): XB_CFLAGS += -O0
endif

# Preloaded by tests.
$(OUT)/tests/%.so: tests/%.c Makefile
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -MF $@.d -fPIC -shared -o $@ $<

# Of the programs, for unit tests.
$(OUT)/tried/bloomctl.a: $(call tried,$(CLI)) $(VERBS)
$(OUT)/tried/bloomset.a: $(call tried,$(SET)) $(VERBS)
$(OUT)/tried/bloomd.a: $(call tried,$(AGENT))
$(OUT)/tried/redis.a: $(call tried,$(REDIS)) $(SANDBOX)
$(OUT)/tried/fetch.a: $(call tried,$(FETCH)) $(SANDBOX)
$(OUT)/tried/%.a:
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Of these a test takes all but main(), which is its own or libFuzzer's.
$(OUT)/bloomctl.a: $(CLI) $(VERBS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/cli.a: $(VERBS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/bloomset.a: $(filter-out %/main.o,$(SET)) $(VERBS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/bloomd.a: $(AGENT)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/bloomd-redis.a: $(filter-out %/main.o,$(REDIS)) $(SANDBOX)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/bloomd-fetch.a: $(filter-out %/main.o,$(FETCH)) $(SANDBOX)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/tests/fuzz/%: tests/fuzz/%.c $(OUT)/bloomctl.a $(OUT)/bloomd.a $(OUT)/bloomd-fetch.a $(OUT)/bloomd-redis.a $(LIBRARY)
	$(say) FUZZER $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(XB_CFLAGS) $(DEPENDENCIES) -MF $@.d -Itests -fsanitize=fuzzer -o $@ $< $(OUT)/bloomctl.a $(OUT)/bloomd.a $(OUT)/bloomd-fetch.a \
		$(OUT)/bloomd-redis.a $(LIBRARY) $(AGENT_LIBS) $(REDIS_LIBS) $(XB_LIBS)

$(OUT)/tests/packets/packets: $(PACKETS) $(SUPPORT) $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $^ $(XB_LIBS) -lcmocka

$(PACKETS): XB_CFLAGS += -Itests

$(OUT)/tests/engines/reading: $(OUT)/tests/engines/reading.o $(LIBRARY)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $^ $(XB_LIBS)

tests: $(TESTS)

fuzzers: $(FUZZERS)

benches: $(OUT)/bloomctl $(OUT)/bloomd $(OUT)/bloomd-redis $(BENCHES)

# For editors and language servers; made anew each time, since files may have come.
compile_commands.json:
	$(say) JSON $@
	$(Q){ echo '['; \
	for file in $(COMPILED); do printf '{"directory": "%s", "file": "%s", "command": "%s"},\n' "$(CURDIR)" $$file \
		"$(strip $(CC) $(XB_CFLAGS) $(AGENT_CFLAGS) $(FETCH_CFLAGS) $(REDIS_CFLAGS)) -Itests -c $$file"; done; \
	for file in $(wildcard bpf/*.bpf.c tests/*/*.bpf.c); do printf '{"directory": "%s", "file": "%s", "command": "%s"},\n' \
		"$(CURDIR)" $$file "$(strip $(CLANG) $(BPF_CFLAGS)) -Ibpf -c $$file"; done; } | sed '$$s/,$$//' >$@
	$(Q)echo ']' >>$@

COMPILED = $(filter-out %.bpf.c,$(wildcard $(FOLDERS:%=user/%/*.c) user/cli/*.c user/bloomset/*.c \
	user/bloomset/*/*.c user/bloomctl/*.c user/bloomctl/top/*.c \
	user/bloomctl/verbs/*.c user/bloomd/*.c user/bloomd/*/*.c user/bloomd/*/*/*.c user/fetch/*.c user/redis/*.c \
	user/sandbox/*.c \
	tests/*/*.c tests/unit/*/*.c tests/unit/*/*/*.c))

help:
	@echo "make                        $(OUT)/bloomctl, $(OUT)/bloomset, $(OUT)/bloomd, $(OUT)/bloomd-fetch,"
	@echo "                            $(OUT)/bloomd-redis, and $(LIBRARY), on which the first three stand"
	@echo "make test                   scripts/test: builds and runs the tests, as root"
	@echo "make bench                  scripts/bench: measures, beside others, as root"
	@echo "make install, uninstall     DESTDIR= PREFIX=$(PREFIX) BINDIR= SBINDIR= LIBEXECDIR= LIBDIR= INCLUDEDIR="
	@echo "                            MANDIR= UNITDIR= DOCDIR= COMPDIR= FAIL2BANDIR=$(FAIL2BANDIR)"
	@echo "make install-dev            the library, for programs of others"
	@echo "make compile_commands.json  for editors"
	@echo "make tests fuzzers benches  build them, and run nothing"
	@echo "make clean                  takes $(OUT)/ away"
	@echo
	@echo "V=1 shows the commands. CC, CLANG, BPFTOOL, PKG_CONFIG, CFLAGS, CPPFLAGS, LDFLAGS, EXTRA (more flags), LIBS, OUT"
	@echo "(where to build), BPF_OUT (where the programs of the kernel), WERROR=-Werror (as scripts/test sets)."

test:
	scripts/test

bench:
	scripts/bench

UNITS = xdp-bloom.service xdp-bloom-online.service xdp-bloom-online.path xdp-bloom-expire.service xdp-bloom-expire.timer \
	xdp-bloom-check.service xdp-bloom-check.timer xdp-bloom-mail@.service bloomd.service

PAGES = man1/bloomset.1 man8/bloomctl.8 man8/bloomd.8 man5/bloomd.conf.5

# For whoever wants them: none of them does anything where it lies.
EXAMPLES = feeds.conf xdp-bloom.rules.yml xdp-bloom-grafana.json xdp-bloom.tmpfiles fail2ban/fail2ban-jail.conf

# A jail that names none of them does not read them.
ACTIONS = xdp-bloom.conf xdp-bloom.py

# What lies elsewhere than the files say, says so where it is installed.
PLACED = sed -e 's|@SBINDIR@|$(SBINDIR)|' -e 's|/usr/local/sbin/|$(SBINDIR)/|' -e 's|/usr/local/share/doc/xdp-bloom|$(DOCDIR)|'

install: $(OUT)/bloomctl $(OUT)/bloomd $(OUT)/bloomd-fetch $(OUT)/bloomd-redis $(OUT)/bloomset
	$(INSTALL) -D -m 0755 $(OUT)/bloomset $(DESTDIR)$(BINDIR)/bloomset
	$(INSTALL) -D -m 0755 $(OUT)/bloomctl $(DESTDIR)$(SBINDIR)/bloomctl
	$(INSTALL) -D -m 0755 $(OUT)/bloomd $(DESTDIR)$(SBINDIR)/bloomd
	$(INSTALL) -D -m 0755 $(OUT)/bloomd-fetch $(DESTDIR)$(LIBEXECDIR)/xdp-bloom/bloomd-fetch
	$(INSTALL) -D -m 0755 $(OUT)/bloomd-redis $(DESTDIR)$(LIBEXECDIR)/xdp-bloom/bloomd-redis
	$(INSTALL) -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man8 $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(DOCDIR) $(DESTDIR)$(UNITDIR)
	for page in $(PAGES); do $(PLACED) packaging/$${page##*/} >$(DESTDIR)$(MANDIR)/$$page || exit 1; done
	$(INSTALL) -m 0644 $(EXAMPLES:%=packaging/%) $(DESTDIR)$(DOCDIR)
	$(INSTALL) -d $(DESTDIR)$(FAIL2BANDIR)/action.d
	$(INSTALL) -m 0644 $(ACTIONS:%=packaging/fail2ban/action.d/%) $(DESTDIR)$(FAIL2BANDIR)/action.d
	$(INSTALL) -D -m 0644 packaging/bloomctl.bash $(DESTDIR)$(COMPDIR)/bloomctl
	$(INSTALL) -D -m 0644 packaging/bloomd.bash $(DESTDIR)$(COMPDIR)/bloomd
	$(INSTALL) -D -m 0644 packaging/bloomset.bash $(DESTDIR)$(COMPDIR)/bloomset
	for unit in $(UNITS); do $(PLACED) packaging/$$unit >$(DESTDIR)$(UNITDIR)/$$unit || exit 1; done

# The archive with the headers of its parts, which name each other by their folders.
install-dev: $(LIBRARY)
	$(INSTALL) -D -m 0644 $(LIBRARY) $(DESTDIR)$(LIBDIR)/libxdp-bloom.a
	$(INSTALL) -d $(DESTDIR)$(INCLUDEDIR)/xdp_bloom $(DESTDIR)$(LIBDIR)/pkgconfig
	$(INSTALL) -m 0644 include/xdp_bloom/*.h $(DESTDIR)$(INCLUDEDIR)/xdp_bloom
	for folder in $(FOLDERS); do \
		$(INSTALL) -d $(DESTDIR)$(INCLUDEDIR)/xdp-bloom/$$folder && \
		$(INSTALL) -m 0644 user/$$folder/*.h $(DESTDIR)$(INCLUDEDIR)/xdp-bloom/$$folder || exit 1; done
	sed -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@PACKAGES@|$(PACKAGES)|' -e 's|@VERSION@|$(VERSION)|' \
		packaging/libxdp-bloom.pc >$(DESTDIR)$(LIBDIR)/pkgconfig/libxdp-bloom.pc

# The list in /var/lib/xdp-bloom stays. In the folder of fail2ban, what a package has is the package's.
uninstall:
	@[ -n "$(DESTDIR)" ] || scripts/before-uninstall $(SBINDIR) $(UNITDIR) $(UNITS)
	rm -f $(addprefix $(DESTDIR)$(SBINDIR)/,bloomctl bloomd) $(addprefix $(DESTDIR)$(MANDIR)/,$(PAGES)) $(DESTDIR)$(BINDIR)/bloomset $(addprefix $(DESTDIR)$(COMPDIR)/,bloomctl bloomd bloomset)
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) $(addprefix $(DESTDIR)$(LIBDIR)/,libxdp-bloom.a pkgconfig/libxdp-bloom.pc)
	@for file in $(ACTIONS:%=$(FAIL2BANDIR)/action.d/%); do \
		if [ -z "$(DESTDIR)" ] && dpkg-query -S $$file >/dev/null 2>&1; then \
			echo "$$file stays: it belongs to a package"; else rm -f $(DESTDIR)$$file; fi; done
	rm -rf $(DESTDIR)$(LIBEXECDIR)/xdp-bloom $(DESTDIR)$(DOCDIR) $(addprefix $(DESTDIR)$(INCLUDEDIR)/,xdp_bloom xdp-bloom)

clean:
	rm -rf $(OUT) compile_commands.json

# Not those of programs that are compiled otherwise, of the roots in which packages are tried, of what virtual machines are made of,
# and of a copy of this tree.
-include $(shell find $(sort $(OUT) $(BPF_OUT)/bpf) \( -path $(OUT)/asan -o -path $(OUT)/fault -o -path $(OUT)/package -o -path $(OUT)/vm -o -path $(OUT)/defects -o -path $(OUT)/engines \) -prune \
	-o -name '*.d' -type f -print 2>/dev/null)

.SECONDARY:
.PHONY: all help tests fuzzers benches test bench install install-dev uninstall clean compile_commands.json
