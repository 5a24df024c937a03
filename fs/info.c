/* SPDX-License-Identifier: BSD-2-Clause
 * info.json: the container, as `zrecord info --json` has it, and the mount.
 *
 * Its size does not change with its numbers: blanks fill it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "push.h"

/* More than the longest text of the mount. */
#define MOUNT_ROOM 1024

static const char *const request_names[REQUESTS] = {
	"lookup",  "getattr",	  "open",   "read",
	"readdir", "readdirplus", "forget", "other",
};

uint64_t info_size(const struct stream *s)
{
	return s->json_len + MOUNT_ROOM;
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

void info_write(struct mount *m, const struct stream *s, unsigned char *buf)
{
	char requests[512], text[MOUNT_ROOM];
	/* The object goes on in front of its last bracket. */
	size_t len = s->json_len - strlen("}\n");
	int n;

	requests_text(m, requests, sizeof(requests));
	n = snprintf(text, sizeof(text),
		     ", \"mount\": {\"requests\": {%s}, "
		     "\"pushed_records\": %" PRIu64
		     ", \"pushed_bytes\": %" PRIu64 ", \"push\": %s, "
		     "\"checksums\": %s, \"listings_tell_all\": %s, "
		     "\"asks_open\": %s}",
		     requests, push_records(m->push), push_bytes(m->push),
		     m->opt->push_bytes ? "true" : "false",
		     m->opt->no_checksums ? "false" : "true",
		     m->plus_always ? "true" : "false",
		     m->no_open ? "false" : "true");
	memcpy(buf, s->json, len);
	memcpy(buf + len, text, (size_t)n);
	len += (size_t)n;
	memset(buf + len, ' ', info_size(s) - len);
	memcpy(buf + info_size(s) - 2, "}\n", 2);
}
