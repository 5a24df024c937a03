#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "==1==ERROR: AddressSanitizer: not really"
