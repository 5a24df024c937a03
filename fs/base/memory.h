/* SPDX-License-Identifier: BSD-2-Clause
 * Whether the machine has memory to spare. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct memory {
	int file; /* /proc/meminfo, or -1 */
	bool free;
	uint64_t checked; /* milliseconds; 0: never */
};

void memory_open(struct memory *m);
void memory_close(struct memory *m);

/* Return how many bytes are available, the page cache included; 0: unknown. */
uint64_t memory_available(const struct memory *m);

/* Return false if the page cache would only grow at the cost of others. Asks
 * the kernel now and then, not each time. */
bool memory_is_free(struct memory *m);

#endif
