/* SPDX-License-Identifier: BSD-2-Clause
 * Runs a fuzz target on files that are given, without a fuzzer: the arguments,
 * or those in $TOP/tests/fuzz/corpus/TARGET, which is the name of the program.
 * Folders stand for the files in them. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned inputs;

static void run_file(const char *path, size_t size)
{
	uint8_t *buf = malloc(size ? size : 1);
	FILE *f = fopen(path, "rb");

	must(buf && f && fread(buf, 1, size, f) == size);
	fclose(f);
	/* Told before, as it may be the last thing that is. */
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(buf, size);
	free(buf);
	inputs++;
}

static void run(const char *path)
{
	struct dirent *e;
	struct stat st;
	DIR *dir;

	if (stat(path, &st)) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path, (size_t)st.st_size);
		return;
	}
	must((dir = opendir(path)));
	while ((e = readdir(dir))) {
		char name[1024];

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		run(name);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *top = getenv("TOP");
	char corpus[1024];

	snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s",
		 top ? top : ".", slash ? slash + 1 : argv[0]);
	if (argc == 1)
		run(corpus);
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	printf("%u inputs\n", inputs);
	/* A run of nothing shows nothing. */
	return inputs ? 0 : 1;
}
