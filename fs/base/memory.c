/* SPDX-License-Identifier: BSD-2-Clause
 * Whether the machine has memory to spare. */
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MS 200
/* What must stay available: this part of all, in KiB. */
#define SPARE(total) ((total) / 16)

void memory_open(struct memory *m)
{
	*m = (struct memory){ .free = true };
	m->file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
}

void memory_close(struct memory *m)
{
	if (m->file >= 0)
		close(m->file);
}

/* In KiB. */
static bool ask(int file, unsigned long long *total,
		unsigned long long *available)
{
	char text[512], *p;
	ssize_t n = file < 0 ? -1 : pread(file, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strstr(text, "MemAvailable:");
	return p && sscanf(text, "MemTotal: %llu", total) == 1 &&
	       sscanf(p, "MemAvailable: %llu", available) == 1;
}

uint64_t memory_available(const struct memory *m)
{
	unsigned long long total, available;

	return ask(m->file, &total, &available) ? available << 10 : 0;
}

bool memory_is_free(struct memory *m)
{
	unsigned long long total, available;
	struct timespec now;
	uint64_t ms;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (m->file >= 0 && (!m->checked || ms - m->checked >= INTERVAL_MS)) {
		m->checked = ms;
		m->free = !ask(m->file, &total, &available) ||
			  available > SPARE(total);
	}
	return m->free;
}
