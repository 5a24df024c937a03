#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# create is killed at random moments: the container is whole or not there, and
# recover gives back the first records and nothing else. SEED=N repeats a run.
. "$(dirname "$0")/lib.sh"
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"

records=40000 bytes=200
seq 100000000 | head -c $((records * bytes)) >data
{
	printf '\x93NUMPY\x01\x00\x76\x00'
	printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': ($records, $bytes), }"
	cat data
} >a.npy
now() { echo "${EPOCHREALTIME/[.,]/}"; } # microseconds
matches() { # CONTAINER COUNT: it has the first COUNT records
	"$ZRECORD" cat --as raw "$1" : | cmp -s - <(head -c $(($2 * bytes)) data) ||
		fail "$1 has other records than were written"
}

declare -A took
inside=0 back=0
for ((round = 0; round < 100 && (inside < 6 || back < 2); round++)); do
	[ $((round % 2)) = 0 ] && codec=raw || codec=zstd
	if [ $round -lt 2 ]; then # not killed: how long is a build?
		start=$(now)
		works "$ZRECORD" create -j 2 --codec "$codec" c a.npy
		took[$codec]=$(($(now) - start))
		rm -r c
		continue
	fi
	wait_us=$(((RANDOM * 32768 + RANDOM) % (took[$codec] + 1)))
	"$ZRECORD" create -j 2 --codec "$codec" c a.npy >out 2>err &
	build=$!
	sleep "$(printf '%d.%06d' $((wait_us / 1000000)) $((wait_us % 1000000)))"
	kill -KILL $build
	wait $build 2>/dev/null
	dead=$(find . -maxdepth 1 -name '.c.??????.zrtmp')
	if [ -e c ]; then
		[ -z "$dead" ] || fail "c and $dead"
		works "$ZRECORD" verify c
		matches c $records
		rm -r c
		continue
	fi
	if [ -n "$dead" ]; then
		inside=$((inside + 1))
		if "$ZRECORD" recover "$dead" r >out 2>err; then
			back=$((back + 1))
			grep -q '^r: [0-9]* records whole, 0 not' out ||
				fail "recover says $(cat out)"
			matches r "$(sed "s/^r: \([0-9]*\) .*/\1/" out)"
			rm -r r
		else
			grep -q "no record of it is whole" err ||
				[ ! -s "$dead/data.zr" ] ||
				fail "recover: $(cat err)"
		fi
		rm -r "$dead"
	fi
	works "$ZRECORD" create --codec "$codec" c a.npy
	matches c $records
	rm -r c
done 2>.shell
echo "$round rounds, $inside killed while it was built, $back had records"
[[ $inside -ge 6 && $back -ge 2 ]] || fail "no kill where it matters: $(cat .shell)"
only .shell a.npy data
