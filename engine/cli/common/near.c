/* SPDX-License-Identifier: BSD-2-Clause
 * Which word a misspelt one was meant to be. */
#include "near.h"

#include <string.h>

#define WORD_MAX 32
/* Words that begin alike may differ in more letters. */
#define ALIKE 3

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, change or swap with their neighbour. */
static unsigned edits(const char *a, size_t n, const char *b, size_t m)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = least(d[i - 1][j], d[i][j - 1]) + 1;
			d[i][j] = least(d[i][j], d[i - 1][j - 1] +
							 (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

unsigned near_distance(const char *word, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	unsigned found;

	if (!len || len > WORD_MAX || name_len > WORD_MAX)
		return NEAR_NOT;
	if (!strncmp(word, name, len))
		return 0;
	if (len < ALIKE)
		return NEAR_NOT;
	found = edits(word, len, name, name_len);
	return found <= (strncmp(word, name, ALIKE) ? 1 : 2) ? found : NEAR_NOT;
}
