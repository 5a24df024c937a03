#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Help, wrong usage and its exit status.
. "$(dirname "$0")/lib.sh"
C=$GOLDEN/dense_f4_raw

works "$ZRECORD" --version
grep -qE '^zrecord [0-9]+\.[0-9]+\.[0-9]+$' out || fail "--version"
works "$ZRECORD" help
for cmd in create info ls cat export verify recover recode train mount umount; do
	grep -q "zrecord $cmd " out || fail "help does not name $cmd"
done
for cmd in create info ls cat export verify recover recode train mount umount; do
	works "$ZRECORD" $cmd --help
	grep -q "^usage: zrecord $cmd" out || fail "$cmd --help"
	works "$ZRECORD" help $cmd
	grep -q "^usage: zrecord $cmd" out || fail "help $cmd"
	"$ZRECORD" $cmd >out 2>err </dev/null
	[ $? -eq 2 ] || fail "$cmd without arguments: not status 2"
	refuses 2 "help $cmd\|directory" "$ZRECORD" $cmd
done
"$ZRECORD" >out 2>err
[ $? -eq 2 ] && [ -s err ] && [ ! -s out ] || fail "no arguments"
refuses 2 "did you mean 'verify'" "$ZRECORD" verfy "$C"
refuses 2 "unknown command" "$ZRECORD" quux "$C"
# The beginning of a word, or few letters that differ; else nothing is meant.
for typed in cr:create verfiy:verify unmount:umount exprot:export ls1:ls; do
	refuses 2 "did you mean '${typed#*:}'" "$ZRECORD" "${typed%:*}" "$C"
done
for typed in foo bogus remount xy ''; do
	refuses 2 "'$typed'; try 'zrecord help'" "$ZRECORD" "$typed" "$C"
done
refuses 2 "did you mean '--json'" "$ZRECORD" info --jsn "$C"
refuses 2 "did you mean '--codec'" "$ZRECORD" create --codecs=raw d a.npy
refuses 2 "'--quux'; try" "$ZRECORD" create --quux d a.npy

# Source and destination in the wrong order: the command that was meant.
mkdir swap
cd swap || exit 1
printf 'a\n' >lines.txt
"$ZRECORD" create -q c.zr --lines lines.txt
"$ZRECORD" export --as dir c.zr 'a dir'
refuses 2 "did you mean: zrecord create --codec zstd d.zr 'a dir';" \
	"$ZRECORD" create 'a dir' d.zr --codec zstd
refuses 2 "did you mean: zrecord create d.zr c.zr 'a dir';" \
	"$ZRECORD" create c.zr 'a dir' d.zr
refuses 2 "did you mean: zrecord create d.zr -;" "$ZRECORD" create - d.zr
refuses 2 "did you mean: zrecord create --lines lines.txt d.zr;" \
	"$ZRECORD" create --lines d.zr lines.txt
refuses 2 "did you mean: zrecord train -o dict lines.txt;" \
	"$ZRECORD" train -o lines.txt dict
for cmd in recode export recover; do
	refuses 2 "did you mean: zrecord $cmd c.zr d.zr;" \
		"$ZRECORD" $cmd d.zr c.zr
done
refuses 1 "c.zr: exists already" "$ZRECORD" create c.zr 'a dir'
refuses 1 "none: No such file" "$ZRECORD" create d.zr none
cd .. && rm -r swap
refuses 2 "unknown option '--jsn'" "$ZRECORD" info --jsn "$C"
refuses 2 "needs a value" "$ZRECORD" cat "$C" 0 --as
refuses 2 "one container" "$ZRECORD" info "$C" "$C"
refuses 2 "not 'xml'" "$ZRECORD" cat --as xml "$C" 0
refuses 2 "not 'x'" "$ZRECORD" verify -j x "$C"
refuses 2 "not '0'" "$ZRECORD" verify -j 0 "$C"
refuses 2 "not 'lz4'" "$ZRECORD" create --codec lz4 d a.npy
for level in 0 1x 23 -131073 x; do
	refuses 2 "not '$level'" "$ZRECORD" create --codec zstd --level $level d a.npy
done
refuses 2 "goes with --lines" "$ZRECORD" create --skip-empty d a.npy
refuses 2 "before a command" "$ZRECORD" -j 2 info "$C"
refuses 2 "exclude" "$ZRECORD" create --dict d --tier fast d a.npy
refuses 2 "zstd_dict" "$ZRECORD" create --codec zstd --tier fast d a.npy
refuses 2 "--level needs" "$ZRECORD" create --codec raw --level 3 d a.npy
refuses 2 "neither an id nor a slice" "$ZRECORD" cat "$C" 1-2
refuses 2 "negative" "$ZRECORD" cat "$C" -- -1
refuses 2 "-1: negative" "$ZRECORD" ls "$C" -1:
refuses 2 "unknown option '-x'" "$ZRECORD" ls -x "$C"
# Of a word of several letters, the letter is named and not the one before.
refuses 2 "unknown option '-x'" "$ZRECORD" ls --no-checksums -xl "$C"
refuses 2 "'--json=1' takes no value" "$ZRECORD" info --json=1 "$C"
refuses 2 "unknown option '--lines'" "$ZRECORD" recode --lines a b c
# An option given twice is an error where the first would be forgotten.
twice() { # OPTION COMMAND...
	local option=$1
	shift
	refuses 2 "option '$option' is given twice" "$ZRECORD" "$@"
}
twice --lines create --lines a --lines b c
for how in codec:raw level:3 dict:d tier:max; do
	twice "--${how%:*}" create "--${how%:*}" "${how#*:}" \
		"--${how%:*}" "${how#*:}" d a.npy
	twice "--${how%:*}" recode "--${how%:*}" "${how#*:}" \
		"--${how%:*}=${how#*:}" "$C" d
done
twice --codec create --cod raw --code=zstd d a.npy
for cmd in "create d a" "recode a d" "verify a" "bench a"; do
	twice -j $cmd -j 1 -j2
done
twice --as cat --as raw --as npy "$C" 0
twice --as export --as dir --as npy "$C" d
twice --select export --select 0 --select 1 "$C" d
twice --tier train --tier max --tier fast -o d a.npy
twice -o train -o d -o e a.npy
twice --batch bench --batch 1 --batch 2 "$C"
works "$ZRECORD" info --json --json "$C"
# Options may follow the arguments.
works "$ZRECORD" info "$C" --json
only
