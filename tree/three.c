#include <stdio.h>
#include <stdlib.h>
#include <zrecord.h>

int main(int argc, char **argv)
{
	struct zr_container *c;
	struct zr_reader *r;
	struct zr_error err;
	uint64_t ids[3] = { 42, 0, 42 };

	if (argc != 2 || zr_open(&c, argv[1], NULL, &err) ||
	    zr_reader_new(&r, c, NULL)) {
		fprintf(stderr, "%s\n", argc == 2 ? err.message : "which container?");
		return 1;
	}
	size_t bytes = 3 * zr_info(c)->record_bytes;
	unsigned char *batch = malloc(bytes);
	if (zr_gather_dense(r, ids, 3, batch, bytes, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	printf("%zu bytes of %s\n", bytes, zr_info(c)->dtype.str);
	free(batch);
	zr_reader_free(r);
	zr_close(c);
	return 0;
}
