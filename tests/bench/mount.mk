# `make bench-mount` compares mounts: zrecordfs, other file systems that show
# the same records, and one that does nothing. BENCH_ARGS goes to
# tests/bench/mount_compare.py (see its head).

$(B)/bench/nullfs: tests/bench/nullfs.c
	@mkdir -p $(@D)
	$(call say,BENCH,$<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(fs_cflags) $(CPPFLAGS) $(CFLAGS) \
	  -o $@ $< $(call pc,--libs fuse3) -pthread

.PHONY: bench-mount
bench-mount: all $(patsubst %,$(B)/bench/%,nullfs mount_read mount_data)
	tests/bench/mount_compare.py --build $(B) $(BENCH_ARGS)
