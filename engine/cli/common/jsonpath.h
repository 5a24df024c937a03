/* SPDX-License-Identifier: BSD-2-Clause
 * Paths in JSON. */
#ifndef JSONPATH_H
#define JSONPATH_H

/* Print a path as a JSON string. A path is bytes, JSON is UTF-8: one that is
 * not is given byte by byte. */
void json_path(const char *path);

#endif
