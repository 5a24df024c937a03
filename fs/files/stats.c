/* SPDX-License-Identifier: BSD-2-Clause
 * stats.json: what the mount has done since it began.
 *
 * Its size does not change with its numbers: blanks fill it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "tree/gather.h"
#include "worker.h"

static const char *const request_names[REQUESTS] = {
	"lookup",  "getattr",     "open",   "read",
	"readdir", "readdirplus", "forget", "other",
};

static const char *truth(bool b)
{
	return b ? "true" : "false";
}

static size_t requests_text(struct mount *m, char *buf, size_t room)
{
	uint64_t sum[REQUESTS];
	size_t len = 0;

	count_sum(m, sum);
	for (int i = 0; i < REQUESTS; i++)
		len += (size_t)snprintf(buf + len, room - len,
					"%s\"%s\": %" PRIu64, i ? ", " : "",
					request_names[i], sum[i]);
	return len;
}

void stats_write(struct mount *m, const struct stats_pushed *pushed, char *buf)
{
	char requests[512];
	int n;

	requests_text(m, requests, sizeof(requests));
	n = snprintf(buf, STATS_BYTES,
		     "{\"requests\": {%s}, \"pushed_records\": %" PRIu64
		     ", \"pushed_bytes\": %" PRIu64
		     ", \"errors\": %" PRIu64
		     ", \"selections\": %zu, \"push\": %s, \"checksums\": %s, "
		     "\"listings_tell_all\": %s, \"asks_open\": %s, "
		     "\"read_ahead_kib\": %u, \"sandbox\": [%s]",
		     requests, pushed->records, pushed->bytes, (uint64_t)m->errors,
		     gathers_count(m->gathers), truth(m->opt->push_bytes),
		     truth(!m->opt->no_checksums), truth(m->plus_always),
		     truth(!m->no_open), m->readahead_kib, m->sandbox);
	memset(buf + n, ' ', STATS_BYTES - (size_t)n);
	memcpy(buf + STATS_BYTES - 2, "}\n", 2);
}
