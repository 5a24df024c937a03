# `make bench-loader` compares the loader with loaderx, PyTorch and Grain on the
# same images. BENCH_ARGS goes to tests/bench/loader_peers.py (see its head).
# What pip cannot get is said there to be missing.

.PHONY: bench-loader
bench-loader: all $(B)/bench/loader_vision $(bench_venv)/bin/python
	@for p in torch grain; do \
	  $(bench_venv)/bin/python -c "import $$p" 2>/dev/null || \
	  $(bench_venv)/bin/pip install -q $$p || :; done
	$(bench_venv)/bin/python tests/bench/loader_peers.py \
	  --loader $(B)/bench/loader_vision --zrecord $(B)/zrecord $(BENCH_ARGS)
