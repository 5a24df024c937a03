#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A full disk, a limit on file sizes, a read-only folder: one line, status 1,
# nothing left.
. "$(dirname "$0")/count.sh"

make npy a.npy '|u1' 40,100000
done_well "$ZRECORD" create a.zr a.npy

# all_refused PATTERN DST PREFIX...: every way to write there.
all_refused() {
	local pattern=$1 dst=$2
	shift 2

	refused 1 "$pattern" "$@" "$ZRECORD" create "$dst" a.npy
	refused 1 "$pattern" "$@" "$ZRECORD" create --codec zstd "$dst" a.npy
	refused 1 "$pattern" "$@" "$ZRECORD" create --ragged "$dst" a.npy
	refused 1 "$pattern" "$@" "$ZRECORD" recode a.zr "$dst"
	refused 1 "$pattern" "$@" "$ZRECORD" export a.zr "$dst"
	refused 1 "$pattern" "$@" "$ZRECORD" export --as npy a.zr "$dst"
	refused 1 "$pattern" "$@" "$ZRECORD" export --as npz a.zr "$dst"
	[ ! -e "$dst" ] || failed "left $dst"
	[ ! -d "${dst%/c}" ] || nothing_left "${dst%/c}"
}

limited() {
	(
		ulimit -f 40
		exec "$@"
	)
}
mkdir here
all_refused '[Ff]ile too large' here/c limited

if [ "$(id -u)" = 0 ]; then
	mkdir disk
	if mount -t tmpfs -o size=1m none disk 2>/dev/null; then
		trap 'umount -l "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
		all_refused '[Nn]o space' disk/c
		[ -z "$(ls -A disk)" ] || failed "disk: $(ls -A disk)"
		mount -o remount,ro disk
		all_refused '[Rr]ead-only' disk/c
		umount disk
	else
		echo "cannot mount a tmpfs here: the full disk is not tested"
	fi
else
	mkdir locked
	chmod 555 locked
	all_refused 'denied' locked/c
fi
all_refused 'No such file' none/c
all_refused 'Not a directory' a.npy/c
finish
