/* SPDX-License-Identifier: BSD-2-Clause
 * Writes a .npy of RECORDS x BYTES unsigned bytes: slow waves with a little
 * noise, as of a sensor; no two records are equal.
 *
 *   mount_data RECORDS BYTES > FILE */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 128

static uint64_t state = 1;

static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A wave of 0..127 from the upper bits of a phase that wraps around. */
static unsigned triangle(uint32_t phase)
{
	return (phase & 0x80000000 ? ~phase : phase) >> 24;
}

static void fill(unsigned char *record, size_t bytes)
{
	uint32_t a = (uint32_t)next_random(), b = (uint32_t)next_random();
	uint32_t step_a = 1000000 + (a >> 8), step_b = 300000 + (b >> 10);
	uint64_t noise = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (i % 64 == 0)
			noise = next_random();
		record[i] = (unsigned char)(triangle(a += step_a) +
					    triangle(b += step_b) / 2 +
					    (noise >> i % 64 & 1));
	}
}

static void write_header(uint64_t records, size_t bytes)
{
	char header[HEADER + 1];
	int n;

	memcpy(header, "\x93NUMPY\x01\0\x76\0", 10);
	n = snprintf(header + 10, HEADER - 10,
		     "{'descr': '|u1', 'fortran_order': False, "
		     "'shape': (%llu, %zu), }",
		     (unsigned long long)records, bytes);
	memset(header + 10 + n, ' ', HEADER - 10 - (size_t)n);
	header[HEADER - 1] = '\n';
	fwrite(header, 1, HEADER, stdout);
}

int main(int argc, char **argv)
{
	uint64_t records = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	size_t bytes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned char *record = bytes ? malloc(bytes) : NULL;

	if (!record) {
		fprintf(stderr, "usage: mount_data RECORDS BYTES > FILE\n");
		return 2;
	}
	write_header(records, bytes);
	for (uint64_t i = 0; i < records; i++) {
		fill(record, bytes);
		fwrite(record, 1, bytes, stdout);
	}
	free(record);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "mount_data: cannot write\n");
		return 1;
	}
	return 0;
}
