#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# mount and umount: which program runs, with what, and what is said when not.
. "$(dirname "$0")/count.sh"

mkdir bin path dir
cp "$ZRECORD" bin/zrecord
cat >bin/zrecordfs <<'P'
#!/bin/sh
echo "beside: $*"
exit 7
P
cat >path/zrecordfs <<'P'
#!/bin/sh
echo "path: $*"
exit 8
P
chmod +x bin/zrecordfs path/zrecordfs
bin/zrecord mount -f -o batch=8 c.zr dir >.out
[ $? = 7 ] || failed "the exit status of zrecordfs"
says "mount runs the one beside it" "beside: -f -o batch=8 c.zr dir"
rm bin/zrecordfs
PATH=$PWD/path:$PATH bin/zrecord mount c.zr dir >.out
[ $? = 8 ] || failed "the exit status of zrecordfs"
says "mount looks in PATH" "path: c.zr dir"
refused 1 "zrecordfs" env PATH=/nowhere bin/zrecord mount c.zr dir
ln -s "$PWD/bin/zrecord" linked
cp path/zrecordfs bin/zrecordfs
./linked mount c.zr dir >.out
says "mount through a link" "path: c.zr dir"

refused 1 "dir.*(mount|not)" "$ZRECORD" umount dir
refused 1 "none" "$ZRECORD" umount none
: >file
refused 1 "file" "$ZRECORD" umount file
finish
