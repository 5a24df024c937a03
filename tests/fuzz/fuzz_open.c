/* SPDX-License-Identifier: BSD-2-Clause
 * Property: any four files open, or are refused with an error that zr_open
 * documents, a message and no handle; of what opens, every number is backed by
 * bytes that are there, whatever way it is placed. Input: see pack.h. */
#include "fuzz.h"
#include "pack.h"

static void look(struct zr_container *c, const struct pack *p, uint32_t flags)
{
	const struct zr_info *info = zr_info(c);
	char json[4096];
	uint64_t bytes;
	size_t len;

	must(info->records <= p->table_size / 16);
	must(info->stored_bytes <= p->data_size);
	must(info->dtype.itemsize >= 1);
	must(info->codec <= ZR_ZSTD_DICT);
	must((info->dict_bytes != 0) == (info->codec == ZR_ZSTD_DICT));
	must(info->published || (flags & 3));
	must(!info->checksums || (p->flags & PACK_CHECK));
	if (info->kind == ZR_DENSE) {
		must(!zr_shape_size(&info->dtype, &info->item_shape, NULL,
				    &bytes));
		must(bytes == info->record_bytes);
		must(bytes >= 1 && bytes <= ZR_RECORD_MAX);
	}
	must(zr_info_json(c, json, sizeof(json), &len) == 0);
	must(len == strlen(json) && json[len - 1] == '\n');
	bytes = 0;
	for (uint64_t i = 0; i < info->records; i++)
		bytes += zr_record_bound(c, i);
	must(zr_logical_bytes(c) >= bytes);
	must(zr_record_bound(c, info->records) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zr_open_options opt = ZR_OPEN_OPTIONS_INIT;
	struct zr_container *c;
	struct zr_error err;
	struct pack p;
	int rc;

	pack_read(&p, data, size, 0);
	opt.flags = p.how & 15;
	opt.placement = (enum zr_placement)(p.how >> 4 & 3);
	memset(&err, 0, sizeof(err));
	rc = zr_open(&c, pack_write(&p), &opt, &err);
	must(rc == 0 || rc == -EUCLEAN || rc == -ENODATA);
	must(!rc == !!c);
	must(!rc || (err.code == rc && err.message[0]));
	if (c)
		look(c, &p, opt.flags);
	zr_close(c);
	pack_free(&p);
	return 0;
}
