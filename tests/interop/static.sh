#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs without shared libraries, from a package that was installed below
# DESTDIR, with what pkg-config --static says: on the engine, and on the loader.
set -eu
fail() { echo "$*" >&2; exit 1; }

CC=${CC:-cc}
echo 'int main(void) { return 0; }' >none.c
$CC -static none.c $(pkg-config --static --libs libzstd) -o none 2>/dev/null ||
	{ echo "no static C library or libzstd here"; exit 77; }
part=$([ -x "$BUILD/zrecordfs" ] || echo fs_c=)
make -s -C "$TOP" B="$BUILD" $part PREFIX=/usr/local DESTDIR="$PWD/dest" \
	LIBDIR=/usr/local/lib install >/dev/null || fail "make install"
export PKG_CONFIG_SYSROOT_DIR=$PWD/dest
export PKG_CONFIG_PATH=$PWD/dest/usr/local/lib/pkgconfig

cat >engine.c <<'END'
#include <stdio.h>
#include <zrecord.h>

int main(int argc, char **argv)
{
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;

	if (argc < 2 || zr_open(&c, argv[1], NULL, &err) ||
	    zr_reader_new(&r, c, NULL))
		return 1;
	for (uint64_t i = 0; i < zr_info(c)->records; i++)
		if (zr_check(r, i, &err))
			return 1;
	printf("%llu\n", (unsigned long long)zr_info(c)->records);
	zr_reader_free(r);
	zr_close(c);
	return 0;
}
END
cp "$TOP/docs/examples/train.c" .
# train.c itself needs expf.
for pair in "engine.c libzrecord" "train.c libzloader -lm"; do
	set -- $pair
	$CC -std=c11 -static "$1" $(pkg-config --static --cflags --libs "$2") \
		${3:-} -o "${1%.c}" || fail "$1 does not link with $2"
	! readelf -d "${1%.c}" | grep -q NEEDED || fail "$1 is not static"
done

"$ZRECORD" create --codec zstd images.zr "$DATA/demo/digits.npy"
"$ZRECORD" create labels.zr "$DATA/demo/labels.npy"
[ "$(./engine images.zr)" = "$("$ZRECORD" ls images.zr | wc -l)" ] ||
	fail "the engine reads $(./engine images.zr) records"
"$ZRECORD" create raw.zr "$DATA/demo/digits.npy"
./train raw.zr labels.zr 10 | grep -q '^delivered *10 batches' ||
	fail "the loader does not load: $(./train raw.zr labels.zr 10)"
echo fine
