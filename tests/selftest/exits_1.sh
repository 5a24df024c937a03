#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
exit 1
