#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok - one"
echo "not ok - two"
