# Benchmarks: `make bench` compares gathers with loaderx, libzstd and what else
# Python programs read records from, and samplers with loaderx. BENCH_ARGS goes
# to tests/bench/workloads.py (see its head).

bench_venv := $(B)/venv
loaderx_lib = $(wildcard $(bench_venv)/lib/python3*/site-packages/loaderx/lib)

$(B)/bench/%: tests/bench/%.c tests/bench/bench.h $(B)/libzrecord.a $(if $(loader_c),$(B)/libzloader.a)
	@mkdir -p $(@D)
	$(call say,BENCH,$<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Iengine -Iloader $(CPPFLAGS) $(CFLAGS) -o $@ $< \
	  $(if $(loader_c),$(B)/libzloader.a) $(B)/libzrecord.a $(engine_libs) -ldl -lm -pthread

$(bench_venv)/bin/python:
	python3 -m venv $(bench_venv)
	$(bench_venv)/bin/pip install -q loaderx==2.0.7

# What cannot be installed is left out; the output says so, by the log.
bench_peers := tokenizers lmdb h5py hdf5plugin pyarrow array_record
$(bench_venv)/.peers: $(bench_venv)/bin/python
	$(Q)for p in $(bench_peers); do $(bench_venv)/bin/pip install -q $$p \
	  >$(bench_venv)/pip-$$p.log 2>&1 || echo "bench: no $$p"; done
	$(Q)touch $@

.PHONY: bench bench-programs
bench-programs: $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))
bench: all bench-programs $(bench_venv)/.peers
	$(bench_venv)/bin/python tests/bench/workloads.py --build $(B) $(BENCH_ARGS)
	$(B)/bench/bench_sampler $(loaderx_lib)/libsampler.so
