#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create from a folder of .npy: one record per file.
. "$(dirname "$0")/count.sh"

# Equal shapes make Dense, others Ragged, and --ragged either way Ragged.
make each same '<i4' 2,3 2,3 2,3
done_well "$ZRECORD" create c.zr same
has c.zr kind dense
has c.zr item_shape '[2, 3]'
has c.zr records 3
done_well "$ZRECORD" export c.zr got
same "equal shapes" same got
rm -rf c.zr got
done_well "$ZRECORD" create --ragged c.zr same/
has c.zr kind ragged
done_well "$ZRECORD" export c.zr got
same "equal shapes, --ragged" same got
rm -rf c.zr got

make each mixed '>f8' 2,3 - 5 1,1,1 700,30
for codec in raw zstd; do
	done_well "$ZRECORD" create --codec $codec c.zr mixed
	has c.zr kind ragged
	has c.zr item_shape null
	done_well "$ZRECORD" verify c.zr
	done_well "$ZRECORD" export c.zr got
	same "shapes of all ranks, $codec" mixed got
	rm -rf c.zr got
done
make each scalars '<i4' - - -
done_well "$ZRECORD" create c.zr scalars
has c.zr item_shape '[]'
done_well "$ZRECORD" export c.zr got
same "scalars" scalars got
rm -rf c.zr got

# Byte order of names, and only .npy counts.
mkdir order
n=0
for name in a10 a9 B a1 'a 1' é _; do
	n=$((n + 1))
	make npy "order/$name.npy" '<i4' $n
done
echo notes >order/README
echo hidden >order/a.npy.bak
mkdir order/sub
done_well "$ZRECORD" create c.zr order
done_well "$ZRECORD" ls -l c.zr
sizes=$("$ZRECORD" ls -l c.zr | grep -o '([0-9]*,)' | tr -d '(,)\n')
[ "$sizes" = 3754126 ] || failed "order of names: $sizes"
rm -r c.zr
# What is left out is said, behind what was made; -q says neither.
touch order/.hidden.npy
"$ZRECORD" create c.zr order 2>.err
[ "$(wc -l <.err)" = 1 ] && grep -q "^c\.zr: 7 records, .* 4, the first is '\.hid" .err ||
	failed "left out: $(cat .err)"
rm -r c.zr
"$ZRECORD" create -q c.zr order 2>.err
[ -s .err ] && failed "-q: $(cat .err)"
rm -r c.zr
# An extension may be in capitals.
mkdir upper
make npy upper/A.NPY '<i4' 3
make npy upper/b.npy '<i4' 3
done_well "$ZRECORD" create c.zr upper
has c.zr records 2
rm -r c.zr upper
mkdir upper
touch upper/notes
refused 1 "upper: .*no \.npy files.*notes" "$ZRECORD" create c.zr upper
rm -r upper
# A folder named like a file is no record.
mkdir order/zz.npy
refused 1 "zz\.npy: a directory, not a \.npy file" "$ZRECORD" create c.zr order
rm -r order

# Fortran order, and files larger than a batch.
mkdir f big
make npy f/0.npy '<c16' 3,4,5 fortran
make npy f/1.npy '<c16' 3,4,5
done_well "$ZRECORD" create c.zr f
make npy f/0.npy '<c16' 3,4,5
done_well "$ZRECORD" export c.zr got
cmp -s f/0.npy got/000000.npy && cmp -s f/1.npy got/000001.npy ||
	failed "Fortran order in a folder"
rm -rf c.zr got
make npy big/000000.npy '|u1' 20000001
make npy big/000001.npy '|u1' 1
make npy big/000002.npy '|u1' 9000000
done_well "$ZRECORD" create c.zr big
done_well "$ZRECORD" export c.zr got
same "records larger than a batch" big got
rm -rf c.zr got

# Many files.
"$PYTHON" - <<'P'
import os
os.mkdir("many")
head = b"\x93NUMPY\x01\x00\x76\x00" + (
    b"{'descr': '<i8', 'fortran_order': False, 'shape': (), }" + b" " * 62 +
    b"\n")
for i in range(6000):
    with open(f"many/{i:06}.npy", "wb") as f:
        f.write(head + i.to_bytes(8, "little"))
P
done_well "$ZRECORD" create c.zr many
done_well "$ZRECORD" cat --as text c.zr 0,5999,5
says "many files" "0
5999
5"
rm -rf c.zr many

# A listing that fails half way must not make a smaller container.
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
struct dirent *readdir(DIR *d)
{
	static int n;

	if (n++ == 4) {
		errno = EIO;
		return 0;
	}
	return ((struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir"))(d);
}
struct dirent64 *readdir64(DIR *d)
{
	return (struct dirent64 *)readdir(d);
}
C
if ! ldd "$ZRECORD" | grep -q asan &&
	${CC:-cc} -shared -fPIC shim.c -o shim.so -ldl 2>/dev/null; then
	refused 1 "same: listing.*Input/output" \
		env LD_PRELOAD="$PWD/shim.so" "$ZRECORD" create c.zr same
fi

# What cannot be.
make npy same/zz.npy '<i8' 2,3
refused 1 "same/zz\.npy.*i8" "$ZRECORD" create c.zr same
refused 1 "same/zz\.npy.*i8" "$ZRECORD" create --ragged c.zr same
make npy same/zz.npy '<i4' 0,3
refused 1 "same/zz\.npy" "$ZRECORD" create c.zr same
head -c -1 same/000000.npy >same/zz.npy
refused 1 "same/zz\.npy.*(24|152|23|151)" "$ZRECORD" create c.zr same
echo text >same/zz.npy
refused 1 "same/zz\.npy" "$ZRECORD" create c.zr same
rm same/zz.npy
ln -s nowhere same/zz.npy
refused 1 "same/zz\.npy" "$ZRECORD" create c.zr same
# With one of its files a folder is a container, and no folder of .npy.
for file in meta data; do
	mkdir half
	make npy half/a.npy '<i4' 3
	ln -s nowhere half/$file.zr
	refused 1 "half: .*(meta|data)\.zr" "$ZRECORD" create c.zr half
	rm -r half
done
mkdir none
refused 1 "none.*\.npy" "$ZRECORD" create c.zr none
mkfifo none/a.npy
refused 1 "none/a\.npy" timeout 10 "$ZRECORD" create c.zr none
refused 1 "" "$ZRECORD" create c.zr mixed mixed
[ ! -e c.zr ] || failed "an error left c.zr"
nothing_left
finish
