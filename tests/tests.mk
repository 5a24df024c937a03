# Tests and what else is not the product. tests/run runs the tests; the rules
# here build them and what they need.

nproc := $(shell nproc 2>/dev/null || echo 2)
# Fresh, so that what was just installed is found.
remake = +@$(MAKE) --no-print-directory \
	$(if $(filter -j%,$(MAKEFLAGS)),,-j$(nproc))
run_tests = CC='$(CC)' tests/run $(if $(filter 1,$(V)),-v) --build $(B) \
	--asan $(B)/asan
asan_make = $(remake) MODE=asan CFLAGS='$(opt.asan)' B=$(B)/asan

# ---- Packages -----------------------------------------------------------

# Say what to do before the compiler fails to find the first header.
$(call obj,$(engine_c) $(cli_c) $(fs_c) $(loader_c)): | $(B)/.packages
$(B)/.packages:
	@have() { $(PKG_CONFIG) --exists "$$@"; }; \
	{ command -v $(firstword $(CC)) && have libzstd zlib libxxhash fuse3 && \
	  { have msgpack-c || have msgpack; }; } >/dev/null 2>&1 || { \
	  echo "Packages to build with are missing: run 'make deps'." >&2; \
	  exit 1; }
	@mkdir -p $(@D) && touch $@

.PHONY: deps
deps:
	@packaging/deps

# ---- Programs of tests --------------------------------------------------

# Criterion's macros trip the warnings about conversions; gcc's guesses about
# lengths of paths are no help in tests.
test_cflags = -std=c11 -D_GNU_SOURCE -MMD -MP -MF $@.d -MT $@ -pthread \
	-Iengine -Ifs -Iloader -Iengine/cli -DTEST_DATA='"$(CURDIR)/tests/data"' \
	$(filter-out -Wconversion -Wsign-conversion -Wnull-dereference \
	-Wpedantic,$(WARN)) -Wno-restrict -Wno-format-truncation \
	$(fs_cflags) $(call pc,--cflags criterion) $(CPPFLAGS) $(CFLAGS)
# Internals are reached too: a test links the archives, the files of the driver
# and of the command without their main().
fs_archive := $(if $(fs_c),$(B)/tests/fs.a)
cli_archive := $(if $(cli_c),$(B)/tests/cli.a)
archives := $(fs_archive) $(cli_archive) $(if $(loader_c),$(B)/libzloader.a) $(B)/libzrecord.a
test_libs = $(engine_libs) $(fs_libs) -lm

$(B)/tests/fs.a: $(call obj,$(filter-out fs/main.c,$(fs_c)))
$(B)/tests/cli.a: $(call obj,$(filter-out engine/cli/main.c,$(cli_c)))
$(fs_archive) $(cli_archive):
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# link_test,SOURCE,LIBRARIES: a source that defines __wrap_NAME gets all calls
# of NAME from the archives.
wraps = $(shell grep -oh '__wrap_[a-z0-9_]*' $(1) | sort -u)
link_test = $(Q)$(CC) $(test_cflags) $(ZLDFLAGS) $(LDFLAGS) \
	$(patsubst __wrap_%,-Wl$(comma)--wrap=%,$(call wraps,$(1))) \
	-o $@ $(1) $(archives) $(test_libs) $(2)
comma := ,

$(B)/tests/%: tests/unit/%.c $(archives)
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(call link_test,$<,$(call pc,--libs criterion))

$(B)/tests/%: tests/interop/%.c $(archives)
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(call link_test,$<)

$(B)/selftest/%: tests/selftest/%.c | $(B)/.packages
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) -std=c11 $(CFLAGS) $(SAN) -o $@ $< $(call pc,--cflags --libs criterion)

$(B)/stress/%: tests/stress/%.c $(archives)
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(call link_test,$<)

program = $(patsubst tests/$(1)/%.c,$(B)/$(2)/%,$(wildcard tests/$(1)/*.c))
unit_tests := $(filter $(B)/tests/test_%,$(call program,unit,tests))
test_tools := $(call program,interop,tests)
stress_tests := $(call program,stress,stress)
engine_stress := $(filter $(B)/stress/engine_%,$(stress_tests))
.PHONY: unit-tests selftests stress-tests
unit-tests: $(unit_tests)
selftests: $(call program,selftest,selftest)
stress-tests: $(stress_tests)
-include $(addsuffix .d,$(unit_tests) $(test_tools) $(stress_tests))

# ---- Fuzzing: tests/fuzz ------------------------------------------------

# Without a fuzzer a target replays its corpus: that is what check does.
fuzz_names := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_programs := $(addprefix $(B)/fuzz/,$(fuzz_names))
fuzz_main := $(if $(findstring fuzzer,$(SAN)),,tests/fuzz/driver.c)
FUZZ_CC ?= clang-14
# Seconds for each target; 0 is for ever.
FUZZ_SECONDS ?= 60
opt.fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer

$(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/pack.c $(fuzz_main) \
		$(B)/libzrecord.a $(wildcard tests/fuzz/*.h engine/*.h engine/*/*.h)
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Iengine -pthread $(WARN) $(CPPFLAGS) \
	  $(CFLAGS) $(if $(fuzz_main),,-fsanitize=fuzzer) $(LDFLAGS) -o $@ \
	  $(filter %.c,$^) $(B)/libzrecord.a $(engine_libs)

# What is found goes to $(B)/libfuzzer/found; tests/fuzz/corpus is only read.
fuzz_run = $(B)/libfuzzer/fuzz/$$t -max_total_time=$(FUZZ_SECONDS) \
	-timeout=10 -max_len=40000 -artifact_prefix=$(B)/libfuzzer/found/$$t- \
	$(B)/libfuzzer/corpus/$$t tests/fuzz/corpus/$$t
.PHONY: fuzz fuzz-programs
fuzz-programs: $(fuzz_programs)
fuzz:
	$(remake) CC='$(FUZZ_CC)' CFLAGS='$(opt.fuzz)' B=$(B)/libfuzzer \
	  fuzz-programs
	@for t in $(fuzz_names); do \
	  mkdir -p $(B)/libfuzzer/corpus/$$t $(B)/libfuzzer/found; \
	  dir=$$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d); \
	  log=$(B)/libfuzzer/$$t.log; \
	  if TMPDIR=$$dir $(fuzz_run) >$$log 2>&1; then \
	    echo "  FUZZ  $$t: $$(tail -n 1 $$log)"; \
	  else bad="$$bad $$t"; tail -n 50 $$log; fi; \
	  rm -rf $$dir; \
	done; \
	if [ -n "$$bad" ]; then echo "found something:$$bad" >&2; exit 1; fi

# ---- Checks -------------------------------------------------------------

# Two lanes, of about the same length, for two processors.
lanes := --lane 'selftest unit asan engine cli' \
	--lane 'headers symbols includes fuzz mount interop'
.PHONY: check check-groups check-long check-unit check-asan check-cli \
	check-mount check-interop check-headers check-symbols check-stress \
	check-fuzz check-engine check-valgrind
check: deps
	$(remake) check-groups
check-groups: all $(unit_tests) $(test_tools) $(engine_stress)
	$(asan_make) unit-tests selftests fuzz-programs
	@$(run_tests) $(lanes) tree

# Also the programs under the sanitizers, valgrind, and the stress tests.
check-long: check
	ZRECORD_LONG=1 tests/run --build $(B) mount
	ZRECORD_LONG=1 tests/run --build $(B) --only test_loader_shuffle unit
	$(asan_make) all
	@tests/run --build $(B)/asan cli mount
	$(remake) check-valgrind
	$(remake) check-stress

check-unit: $(unit_tests)
	@$(run_tests) unit
check-asan:
	$(asan_make) unit-tests selftests
	@$(run_tests) selftest asan
check-fuzz:
	$(asan_make) fuzz-programs
	@$(run_tests) fuzz
check-engine: $(engine_stress)
	@$(run_tests) engine
check-valgrind: $(B)/stress/engine_memory
	@$(run_tests) valgrind
check-cli: all
	@$(run_tests) cli
check-mount: all
	@$(run_tests) mount
check-interop: all $(test_tools)
	@$(run_tests) interop
check-headers: all
	@$(run_tests) headers includes
check-symbols: all
	@$(run_tests) symbols
# Criterion does not run with MODE=tsan: these are plain programs.
check-stress:
	$(asan_make) stress-tests
	@tests/run --build $(B)/asan stress
	$(remake) MODE=tsan CFLAGS='$(opt.tsan)' B=$(B)/tsan stress-tests
	@tests/run --build $(B)/tsan stress

# ---- Else ---------------------------------------------------------------

.PHONY: demo lint clean help
demo: deps
	$(remake) all
	@packaging/demo $(B)

# What is not installed is not asked.
lint:
	@if command -v clang-format >/dev/null; then \
	  clang-format --dry-run -Werror $(wildcard $(foreach d,engine engine/* engine/cli/* \
	  fs fs/* loader loader/* tests/unit tests/interop tests/stress tests/fuzz,$(d)/*.[ch])); \
	else echo 'lint: no clang-format here'; fi
	@if command -v shellcheck >/dev/null; then \
	  shellcheck -x packaging/deps packaging/demo .ci/run \
	  $(wildcard tests/*/*.sh); \
	else echo 'lint: no shellcheck here'; fi
	@if command -v clang-tidy >/dev/null; then \
	  clang-tidy --quiet $(engine_c) $(cli_c) $(fs_c) $(loader_c) -- \
	  $(filter-out -MMD -MP,$(ZCFLAGS)) -Ifs -Iloader $(fs_cflags) $(engine_cflags); \
	else echo 'lint: no clang-tidy here'; fi
	@if command -v mandoc >/dev/null; then \
	  mandoc -T lint -W warning $(wildcard docs/man/*.[1-9]); \
	else echo 'lint: no mandoc here'; fi

clean:
	rm -rf $(B)

help:
	@echo 'make              build the products into $(B)'
	@echo 'make deps         install the packages that building and testing need'
	@echo 'make demo         see it work: two containers, mounted and read'
	@echo 'make check        build and run all tests (deps first)'
	@echo 'make check-X      only: unit asan engine fuzz cli mount interop headers'
	@echo '                        symbols stress valgrind'
	@echo 'make fuzz         search for inputs that break it, FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make check-long   check, then the programs under sanitizers'
	@echo 'make install      PREFIX=$(PREFIX) DESTDIR=$(DESTDIR); uninstall undoes it'
	@echo 'make lint clean   style of the sources; remove $(B)'
	@echo 'Options: MODE=release|debug|asan|tsan V=1 CC=$(CC) CFLAGS=...'
