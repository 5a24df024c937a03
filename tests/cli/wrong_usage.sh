#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the command says of itself, and wrong usage: status 2, one line.
. "$(dirname "$0")/count.sh"

done_well "$ZRECORD" --version
grep -Eqx 'zrecord [0-9]+\.[0-9]+\.[0-9]+' .out || failed "--version: $(cat .out)"

for how in help --help; do
	done_well "$ZRECORD" $how
	for cmd in create info ls cat export verify train recode mount umount; do
		grep -qw $cmd .out || failed "$how does not name $cmd"
	done
done
for cmd in create info ls cat export verify train recode mount umount; do
	done_well "$ZRECORD" help $cmd
	grep -q "zrecord $cmd" .out || failed "help $cmd: no usage line"
	cp .out help
	done_well "$ZRECORD" $cmd --help
	same "help $cmd and $cmd --help" help .out
	awk 'length > 80' .out | grep . && failed "help $cmd: a line over 80"
done
grep -q raw <("$ZRECORD" help create) || failed "help create names no default"

"$ZRECORD" >.out 2>.err
[ $? = 2 ] || failed "no command at all is status 2"
grep -q create .err || failed "no command at all shows usage"

refused 2 "did you mean.*'?create" "$ZRECORD" creat a b
refused 2 "did you mean.*'?verify" "$ZRECORD" verfiy a
refused 2 "did you mean.*'?umount" "$ZRECORD" unmount a
refused 2 "help" "$ZRECORD" qqqqqqqqqqqq
refused 2 "qqqqqqqqqqqq" "$ZRECORD" help qqqqqqqqqqqq

make npy a.npy '<i4' 4,3
done_well "$ZRECORD" create a.zr a.npy
for cmd in create info ls cat export verify train recode mount umount; do
	refused 2 "try 'zrecord help $cmd'" "$ZRECORD" $cmd
	# The driver of mount has options of its own.
	[ $cmd = mount ] ||
		refused 2 "'?--qqq.*try 'zrecord help $cmd'" \
			"$ZRECORD" $cmd --qqq a.zr b
done
refused 2 "" "$ZRECORD" create b.zr
refused 2 "" "$ZRECORD" info a.zr a.zr
refused 2 "" "$ZRECORD" ls a.zr 0 1
refused 2 "" "$ZRECORD" cat a.zr
refused 2 "" "$ZRECORD" export a.zr
refused 2 "" "$ZRECORD" recode a.zr
refused 2 "" "$ZRECORD" train a.npy
refused 2 "" "$ZRECORD" train -o dict
refused 2 "" "$ZRECORD" umount a b
for value in '' x 1x -1 ' 1' +1 99999999999999999999 5000 0x2; do
	refused 2 "" "$ZRECORD" create -j "$value" b.zr a.npy
	refused 2 "" "$ZRECORD" verify -j "$value" a.zr
done
for value in '' x 1.5 ' 3' 23 99999999999999999999 -999999999; do
	refused 2 "" "$ZRECORD" create --codec zstd --level "$value" b.zr a.npy
done
refused 2 "level" "$ZRECORD" create --codec raw --level 3 b.zr a.npy
refused 2 "codec" "$ZRECORD" create --codec lz4 b.zr a.npy
refused 2 "fast.*balanced.*max" "$ZRECORD" create --codec zstd_dict \
	--tier slow b.zr a.npy
refused 2 "zstd_dict" "$ZRECORD" create --codec zstd --tier fast b.zr a.npy
refused 2 "zstd_dict" "$ZRECORD" create --codec zstd --dict a.npy b.zr a.npy
refused 2 "" "$ZRECORD" create --codec zstd_dict --dict a.npy --tier fast \
	b.zr a.npy
refused 2 "text.*npy.*raw.*json" "$ZRECORD" cat --as xml a.zr 0
refused 2 "dir.*npy.*npz" "$ZRECORD" export --as zip a.zr b
refused 2 "" "$ZRECORD" create --codec
for text in '' x 1,,2 1:2:3:4 1:2:0 -- '0,-1' '-2:' 1.5; do
	refused 2 "" "$ZRECORD" cat a.zr "$text"
	refused 2 "" "$ZRECORD" export --select "$text" a.zr b
done
for text in 4 0,4 99999999999999999999; do
	refused 1 "a\.zr.*4" "$ZRECORD" cat a.zr $text
	refused 1 "a\.zr.*4" "$ZRECORD" ls a.zr $text
	refused 1 "a\.zr.*4" "$ZRECORD" export --select $text a.zr b
done
# Source and destination are turned round only if that could be meant.
mkdir turn
cp a.npy turn/
done_well "$ZRECORD" create -q turn/c.zr a.npy
printf 'a\n' >turn/lines
mkdir turn/plain
cd turn || exit 1
facts() { # PATTERN COMMAND...
	local pattern=$1
	shift
	refused 2 "$pattern" "$ZRECORD" "$@"
	grep -q "did you mean" "$work/.err" &&
		failed "$*: guesses: $(cat "$work/.err")"
}
for name in typo.npy typo.NPZ; do
	facts "c.zr exists and $name does not" create c.zr a.npy $name
	facts "c.zr exists and $name does not" create c.zr $name
	facts "lines exists and $name does not" train -o lines $name
done
facts "c.zr exists and d does not" create c.zr none d
facts "c.zr exists and none does not" create --lines none c.zr
for cmd in recode export recover; do
	facts "plain exists and none does not" $cmd none plain
done
refused 2 "did you mean: zrecord create d.zr c.zr a.npy" \
	"$ZRECORD" create c.zr a.npy d.zr
refused 1 "typo" "$ZRECORD" train -o lines typo a.npy
# Standard input and output.
facts "standard input exists and typo.npy does not" create - typo.npy
refused 1 "none: .*No such file" "$ZRECORD" export --as npy none -
# A link to nothing does exist.
ln -s nothing link.zr
refused 1 "c.zr: exists" "$ZRECORD" create c.zr link.zr
cd .. && rm -r turn
# Options may stand behind the operands, and -- ends them.
done_well "$ZRECORD" cat a.zr 1 --as raw
done_well "$ZRECORD" info -- a.zr
[ ! -e b ] && [ ! -e b.zr ] || failed "wrong usage made a file"
nothing_left
finish
