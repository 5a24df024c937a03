# Zrecord. Everything is built into $(B); `make help` lists the targets.
#
#   MODE=release|debug|asan|tsan   how to compile; other modes than release
#                                  are built into build/MODE
#   V=1                            show the commands

MODE ?= release
ifeq ($(MODE),release)
B ?= build
else
B ?= build/$(MODE)
endif
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) '$(2)')

CC ?= cc
AR ?= ar
INSTALL ?= install
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
SBINDIR ?= $(PREFIX)/sbin

# The version stands in zrecord.h and nowhere else.
ver = $(shell sed -n 's/^\#define ZR_VERSION_$(1) //p' engine/zrecord.h)
MAJOR := $(call ver,MAJOR)
MINOR := $(call ver,MINOR)
VERSION := $(MAJOR).$(MINOR).$(call ver,PATCH)
# Before 1.0 every minor version may change the ABI.
SOVER := $(if $(filter 0,$(MAJOR)),0.$(MINOR),$(MAJOR))

opt.release := -O3 -g
opt.debug   := -Og -g
opt.asan    := -Og -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
opt.tsan    := -O1 -g -fsanitize=thread

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef \
	-Wswitch-enum -Wnull-dereference $(if $(CI),-Werror)
CFLAGS ?= $(opt.$(MODE))
CPPFLAGS ?=
LDFLAGS ?=
ZCFLAGS := -std=c11 -D_GNU_SOURCE -MMD -MP -fPIC \
	-fvisibility=hidden -pthread -Iengine
# Inlined by force, xxhash does not compile without all of the optimiser.
ZCFLAGS += $(if $(filter -Og,$(CFLAGS)),-DXXH_NO_INLINE_HINTS)
SAN := $(filter -fsanitize%,$(CFLAGS))
ZLDFLAGS := -pthread $(SAN)

# Asked only by the recipes that need them, so that `make deps` runs before
# pkg-config is there. msgpack-c calls itself msgpack before version 6.
pc = $(shell { $(PKG_CONFIG) $(1); } 2>/dev/null)
MSGPACK = $(if $(call pc,--exists msgpack-c && echo 1),msgpack-c,msgpack)
engine_cflags = $(call pc,--cflags libzstd libxxhash $(MSGPACK))
# Debian's msgpack.pc names the library msgpackc.
engine_libs = $(call pc,--libs libzstd $(MSGPACK))
fs_cflags = $(call pc,--cflags fuse3) -DFUSE_USE_VERSION=314
fs_libs = $(call pc,--libs fuse3 zlib)

# A folder is a room (docs/DESIGN.md); each may use those before it.
rooms_engine := base array format read write
rooms_cli := common source
rooms_fs := base tree files serve life
rooms_loader := base order batch
engine_c := $(wildcard $(rooms_engine:%=engine/%/*.c))
cli_c := $(wildcard engine/cli/*.c $(rooms_cli:%=engine/cli/%/*.c))
fs_c := $(wildcard fs/*.c $(rooms_fs:%=fs/%/*.c))
loader_c := $(wildcard $(rooms_loader:%=loader/%/*.c))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

products := $(B)/libzrecord.a $(B)/libzrecord.so \
	$(if $(cli_c),$(B)/zrecord) \
	$(if $(fs_c),$(B)/zrecordfs) \
	$(if $(loader_c),$(B)/libzloader.a $(B)/libzloader.so)

.PHONY: all lib
all: $(products)
lib: $(B)/libzrecord.a

$(B)/obj/engine/%.o: engine/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ZCFLAGS) $(WARN) $(engine_cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/obj/engine/cli/%.o: engine/cli/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ZCFLAGS) -Iengine/cli $(WARN) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/obj/fs/%.o: fs/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ZCFLAGS) -Ifs $(WARN) $(fs_cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/obj/loader/%.o: loader/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ZCFLAGS) -Iloader $(WARN) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/libzrecord.a: $(call obj,$(engine_c))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/libzloader.a: $(call obj,$(loader_c))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# libNAME.so.SOVER is the file, libNAME.so the link that -lNAME finds.
$(B)/libzrecord.so: $(call obj,$(engine_c)) engine/libzrecord.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libzrecord.so.$(SOVER) $(ZLDFLAGS) $(LDFLAGS) \
	  -Wl,--version-script=engine/libzrecord.map $(if $(SAN),,-Wl,-z,defs) \
	  -o $@.$(SOVER) $(filter %.o,$^) $(engine_libs)
	$(Q)ln -sf libzrecord.so.$(SOVER) $@

$(B)/libzloader.so: $(call obj,$(loader_c)) loader/libzloader.map $(B)/libzrecord.so
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libzloader.so.$(SOVER) $(ZLDFLAGS) $(LDFLAGS) \
	  -Wl,--version-script=loader/libzloader.map $(if $(SAN),,-Wl,-z,defs) \
	  -o $@.$(SOVER) $(filter %.o,$^) -L$(B) -lzrecord
	$(Q)ln -sf libzloader.so.$(SOVER) $@

# The programs carry the library inside: they run from anywhere.
$(B)/zrecord: $(call obj,$(cli_c)) $(B)/libzrecord.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ZLDFLAGS) $(LDFLAGS) -o $@ $^ $(engine_libs) $(call pc,--libs zlib)

$(B)/zrecordfs: $(call obj,$(fs_c)) $(B)/libzrecord.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ZLDFLAGS) $(LDFLAGS) -o $@ $^ $(fs_libs) $(engine_libs)

include $(wildcard tests/tests.mk tests/bench/*.mk packaging/packaging.mk)
-include $(patsubst %.o,%.d,$(call obj,$(engine_c) $(cli_c) $(fs_c) $(loader_c)))
