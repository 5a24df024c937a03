#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A reader written from docs/FORMAT.md alone reads what loaderx wrote.
exec "$PYTHON" "$TOP/tests/interop/third_reader.py" \
	--golden "$DATA/golden" --bad "$DATA/bad"
