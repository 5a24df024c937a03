#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# recode, and create from a container: the same records, another codec.
. "$(dirname "$0")/count.sh"

for name in dense_f4_raw dense_dict dense_empty_zstd ragged_dict \
	ragged_edges_raw ragged_ranks_i2_zstd dtype_dense_lM8_25s \
	dtype_ragged_bf8 dense_rank20 dense_scalar_i8_zstd; do
	src=$DATA/golden/$name
	done_well "$ZRECORD" export "$src" want
	for cmd in "recode --codec zstd" "create --codec raw" \
		"recode --codec zstd --level 19 -j 1" "recode"; do
		done_well "$ZRECORD" ${cmd%% *} $([ "${cmd%% *}" = "$cmd" ] ||
			echo "${cmd#* }") $([ "${cmd%% *}" = create ] &&
			echo c.zr "$src" || echo "$src" c.zr)
		done_well "$ZRECORD" export c.zr got
		same "$name by $cmd" want got
		has c.zr kind "$(field "$src" kind)"
		has c.zr records "$(field "$src" records)"
		rm -rf c.zr got
	done
	done_well "$ZRECORD" create --ragged c.zr "$src"
	has c.zr kind ragged
	done_well "$ZRECORD" export c.zr got
	same "$name with --ragged" want got
	rm -rf c.zr got want
done

good=$DATA/golden/dense_f4_raw
# A bad record is named, and nothing is made of the others.
bad=$DATA/bad
for name in loc_past_tail zstd_flip ragged_rank_65; do
	[ -d "$bad/$name" ] || continue
	refused 1 "$name.*record [0-9]+" "$ZRECORD" recode "$bad/$name" c.zr
done
refused 1 "unpublished.*(recover|published)" "$ZRECORD" recode \
	"$bad/unpublished" c.zr
refused 1 "meta_empty" "$ZRECORD" create c.zr "$bad/meta_empty"
make npy a.npy '<i4' 3
refused 1 "a\.npy" "$ZRECORD" recode a.npy c.zr
refused 1 "none" "$ZRECORD" recode none c.zr
mkdir c.zr
refused 1 "c\.zr.*exists" "$ZRECORD" recode "$good" c.zr
rmdir c.zr
refused 1 "" "$ZRECORD" create c.zr "$good" "$good"
refused 2 "" "$ZRECORD" recode "$good" c.zr d.zr
[ ! -e c.zr ] || failed "an error left c.zr"
nothing_left
finish
