#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
mkdir mnt
exec "$ZRECORDFS" "$DATA/golden/dense_f4_raw" mnt
