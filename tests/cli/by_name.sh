#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# export makes what the name of DST says; cat of scalars is a column.
. "$(dirname "$0")/count.sh"

make npy s.npy '<i4' 5
make npy a.npy '<i4' 5,4
"$ZRECORD" create -q s s.npy && "$ZRECORD" create -q a a.npy &&
	"$ZRECORD" create -q --ragged r a.npy || failed "create"
done_well "$ZRECORD" cat s :
[ "$(wc -l <.out)" = 5 ] && ! grep -q '^$' .out || failed "scalars: $(cat .out)"
done_well "$ZRECORD" cat a :
[ "$(wc -l <.out)" = 9 ] && [ "$(grep -c '^$' .out)" = 4 ] || failed "arrays: $(cat .out)"

done_well "$ZRECORD" export a x.npy
same ".npy" x.npy a.npy
done_well "$ZRECORD" export a x.npz
"$PYTHON" -c 'import zipfile; z = zipfile.ZipFile("x.npz"); assert len(z.namelist()) == 5 and not z.testzip()' ||
	failed ".npz is none"
done_well "$ZRECORD" export a y
[ -d y ] || failed "y is no directory"
refused 2 'has the name of a .npy' "$ZRECORD" export --as dir a y.npy
[ ! -e y.npy ] || failed "--as dir: it is there"
done_well "$ZRECORD" export --as dir a z
[ -d z ] || failed "--as dir: no directory"
refused 1 'Ragged.*npz' "$ZRECORD" export r r.npy
done_well "$ZRECORD" export --as npy a -
same "standard output" .out a.npy
done_well "$ZRECORD" export --as npz a -
cmp -s .out x.npz || failed "standard output: another .npz"
refused 2 'as npy or --as npz' "$ZRECORD" export a -
refused 2 'as npy or --as npz' "$ZRECORD" export --as dir a -
[ ! -e - ] || failed "a file called -"
"$ZRECORD" export --as npy a - 2>.err >/dev/full && failed "a full output"
grep -q 'standard output: writing' .err || failed "a full output: $(cat .err)"
finish
