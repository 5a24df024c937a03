# Benchmarks: `make bench` compares gathers and samplers with loaderx in one
# process. BENCH_ARGS goes to tests/bench/workloads.py (see its head).

bench_venv := $(B)/venv
loaderx_lib = $(wildcard $(bench_venv)/lib/python3*/site-packages/loaderx/lib)

$(B)/bench/%: tests/bench/%.c $(B)/libzrecord.a $(if $(loader_c),$(B)/libzloader.a)
	@mkdir -p $(@D)
	$(call say,BENCH,$<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Iengine -Iloader $(CPPFLAGS) $(CFLAGS) -o $@ $< \
	  $(if $(loader_c),$(B)/libzloader.a) $(B)/libzrecord.a $(engine_libs) -ldl -lm -pthread

$(bench_venv)/bin/python:
	python3 -m venv $(bench_venv)
	$(bench_venv)/bin/pip install -q loaderx==2.0.7

.PHONY: bench bench-programs
bench-programs: $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))
bench: all bench-programs $(bench_venv)/bin/python
	$(bench_venv)/bin/python tests/bench/workloads.py --gather $(B)/bench/gather \
	  --zrecord $(B)/zrecord $(BENCH_ARGS)
	$(B)/bench/bench_sampler $(loaderx_lib)/libsampler.so
