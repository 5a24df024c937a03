/* SPDX-License-Identifier: BSD-2-Clause
 * stats.json: what the mount has done since it began.
 *
 * Its size does not change with its numbers: blanks fill it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "gather.h"
#include "push.h"
#include "sandbox.h"

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

/* A JSON list of what is in force. */
static void sandbox_text(unsigned in_force, char *buf, size_t room)
{
	static const char *const names[] = {
		"no_new_privs",
		"capabilities",
		"landlock",
		"seccomp",
	};
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < 4; i++) {
		if (in_force & 1u << i)
			len += (size_t)snprintf(buf + len, room - len,
						"%s\"%s\"", len ? ", " : "",
						names[i]);
	}
}

void stats_write(struct mount *m, char *buf)
{
	char requests[512], sandbox[80];
	int n;

	requests_text(m, requests, sizeof(requests));
	sandbox_text(m->sandbox, sandbox, sizeof(sandbox));
	n = snprintf(buf, STATS_BYTES,
		     "{\"requests\": {%s}, \"pushed_records\": %" PRIu64
		     ", \"pushed_bytes\": %" PRIu64
		     ", \"selections\": %zu, \"push\": %s, \"checksums\": %s, "
		     "\"listings_tell_all\": %s, \"asks_open\": %s, "
		     "\"read_ahead_kib\": %u, \"sandbox\": [%s]",
		     requests, push_records(m->push), push_bytes(m->push),
		     gathers_count(m->gathers), truth(m->opt->push_bytes),
		     truth(!m->opt->no_checksums), truth(m->plus_always),
		     truth(!m->no_open), m->readahead_kib, sandbox);
	memset(buf + n, ' ', STATS_BYTES - (size_t)n);
	memcpy(buf + STATS_BYTES - 2, "}\n", 2);
}
