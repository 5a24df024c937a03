#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
setsid sleep 1000 &
