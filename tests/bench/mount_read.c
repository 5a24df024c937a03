/* SPDX-License-Identifier: BSD-2-Clause
 * Reads the files of a directory, or one large file, as a program that trains
 * does, and says what it costs. Works on any file system.
 *
 *   mount_read [-r SEED] [-t READERS] [-n FILES] [-g NAMES] [-s SECONDS] [-c]
 *              [-1] DIR
 *   mount_read -f [-s SECONDS] [-c] FILE
 *
 * -r  in random order, not in that of the listing
 * -t  threads; each takes the next file when it is done with one (1)
 * -n  read only so many files
 * -g  do not list: the names are 000000.npy, 000001.npy ..
 * -s  end a pass after so many seconds; the second reads what the first did
 * -c  a pass more, for a sum over names and contents
 * -1  one pass; else two
 *
 * Prints one JSON line: seconds of the listing, microseconds per file (open,
 * read to the end, close) of each pass; of one file, MiB/s of each pass. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READERS_MAX 64
#define BUFFER ((size_t)1 << 20)
#define PASSES 3

static struct {
	char **names;
	size_t count, want;
	int dir;
} files;

static struct {
	_Atomic size_t next;
	_Atomic uint64_t done, bytes, sum;
	double deadline;
	bool sums;
} pass;

static double seconds = 3600;

static void die(const char *what)
{
	fprintf(stderr, "mount_read: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

/* The sum of a file does not depend on how read() cut it only if all but the
 * last piece are whole words, which holds for buffers of whole pages. */
static uint64_t sum_of(uint64_t h, const char *p, size_t n)
{
	uint64_t word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mix(h, word);
	}
	for (; n; n--)
		h = mix(h, (unsigned char)*p++);
	return h;
}

/* Fill the buffer unless the file ends. */
static size_t read_some(int fd, char *buf, const char *name)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, buf + have, BUFFER - have);
		if (n < 0)
			die(name);
		have += (size_t)n;
	} while (n > 0 && have < BUFFER);
	return have;
}

static void read_file(const char *name, char *buf)
{
	int fd = openat(files.dir, name, O_RDONLY);
	uint64_t h = sum_of(0, name, strlen(name)), bytes = 0;
	size_t n;

	if (fd < 0)
		die(name);
	do {
		n = read_some(fd, buf, name);
		if (pass.sums)
			h = sum_of(h, buf, n);
		bytes += n;
	} while (n == BUFFER);
	close(fd);
	atomic_fetch_add(&pass.bytes, bytes);
	atomic_fetch_add(&pass.sum, h);
	atomic_fetch_add(&pass.done, 1);
}

static void *reader(void *arg)
{
	char *buf = malloc(BUFFER);
	size_t i;

	(void)arg;
	if (!buf)
		die("buffer");
	/* Not the first time that pages of it are touched. */
	memset(buf, 1, BUFFER);
	while (now() < pass.deadline &&
	       (i = atomic_fetch_add(&pass.next, 1)) < files.want)
		read_file(files.names[i], buf);
	free(buf);
	return NULL;
}

static double run_pass(unsigned readers)
{
	pthread_t threads[READERS_MAX];
	double start = now();

	pass.next = 0;
	pass.done = pass.bytes = pass.sum = 0;
	pass.deadline = start + seconds;
	for (unsigned i = 0; i < readers; i++) {
		if (pthread_create(&threads[i], NULL, reader, NULL))
			die("thread");
	}
	for (unsigned i = 0; i < readers; i++)
		pthread_join(threads[i], NULL);
	return now() - start;
}

static void add_name(const char *name)
{
	static size_t room;

	if (files.count == room) {
		room = room ? 2 * room : 1024;
		files.names = realloc(files.names, room * sizeof(char *));
	}
	if (!files.names || !(files.names[files.count++] = strdup(name)))
		die("names");
}

/* What `ls -f` does; to keep the names costs little beside. */
static double list(void)
{
	double start = now();
	DIR *d = fdopendir(dup(files.dir));

	if (!d)
		die("list");
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] != '.')
			add_name(e->d_name);
	}
	closedir(d);
	return now() - start;
}

static void generate(size_t count)
{
	char name[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%06zu.npy", i);
		add_name(name);
	}
}

static void shuffle(uint64_t seed)
{
	uint64_t h = mix(1, seed);

	for (size_t i = files.count; i > 1; i--) {
		size_t k = (size_t)((h = mix(h, i)) % i);
		char *name = files.names[k];

		files.names[k] = files.names[i - 1];
		files.names[i - 1] = name;
	}
}

static void read_directory(unsigned readers, int passes, bool sums)
{
	double us[PASSES], took;
	uint64_t first = 0, bytes = 0;

	if (files.want > files.count)
		files.want = files.count;
	for (int p = 0; p < passes; p++) {
		took = run_pass(readers);
		if (p == 0) {
			first = pass.done;
			bytes = pass.bytes;
			files.want = (size_t)first;
			seconds = 3600;
		}
		if (pass.done != first || pass.bytes != bytes) {
			fprintf(stderr,
				"mount_read: a pass read %" PRIu64
				" bytes, the first %" PRIu64 "\n",
				pass.bytes, bytes);
			exit(1);
		}
		us[p] = first ? took * 1e6 / (double)first : 0;
	}
	printf(", \"files\": %" PRIu64 ", \"bytes\": %" PRIu64
	       ", \"first_us\": %.2f",
	       first, bytes, us[0]);
	if (passes > 1)
		printf(", \"second_us\": %.2f", us[1]);
	if (sums) {
		pass.sums = true;
		run_pass(1);
		printf(", \"sum\": \"%016" PRIx64 "\"", pass.sum);
	}
}

/* Returns MiB/s. */
static double stream(const char *path, char *buf, uint64_t *sum)
{
	int fd = open(path, O_RDONLY);
	double start = now(), took;
	uint64_t h = 0, bytes = 0;
	size_t n = BUFFER;

	if (fd < 0)
		die(path);
	while ((took = now() - start) < seconds && n == BUFFER) {
		n = read_some(fd, buf, path);
		if (sum)
			h = sum_of(h, buf, n);
		bytes += n;
	}
	close(fd);
	if (sum)
		*sum = h;
	return (double)bytes / (1 << 20) / took;
}

static void read_stream(const char *path, bool sums)
{
	char *buf = malloc(BUFFER);
	uint64_t sum;

	if (!buf)
		die("buffer");
	memset(buf, 1, BUFFER);
	printf("{\"first_mib_s\": %.1f", stream(path, buf, NULL));
	printf(", \"second_mib_s\": %.1f", stream(path, buf, NULL));
	if (sums) {
		seconds = 3600;
		stream(path, buf, &sum);
		printf(", \"sum\": \"%016" PRIx64 "\"", sum);
	}
	free(buf);
}

static int usage(void)
{
	fprintf(stderr, "usage: mount_read [-r SEED] [-t READERS] [-n FILES] "
			"[-g NAMES] [-s SECONDS] [-c] [-1] DIR\n"
			"       mount_read -f [-s SECONDS] [-c] FILE\n");
	return 2;
}

int main(int argc, char **argv)
{
	bool one_file = false, sums = false, random = false;
	unsigned readers = 1;
	size_t names = 0;
	uint64_t seed = 0;
	int opt, passes = 2;

	files.want = SIZE_MAX;
	while ((opt = getopt(argc, argv, "r:t:n:g:s:c1f")) != -1) {
		switch (opt) {
		case 'r':
			random = true;
			seed = strtoull(optarg, NULL, 10);
			break;
		case 't':
			readers = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			files.want = strtoul(optarg, NULL, 10);
			break;
		case 'g':
			names = strtoul(optarg, NULL, 10);
			break;
		case 's':
			seconds = strtod(optarg, NULL);
			break;
		case 'c':
			sums = true;
			break;
		case '1':
			passes = 1;
			break;
		case 'f':
			one_file = true;
			break;
		default:
			return usage();
		}
	}
	if (optind != argc - 1 || readers < 1 || readers > READERS_MAX)
		return usage();
	if (one_file) {
		read_stream(argv[optind], sums);
		printf("}\n");
		return 0;
	}
	files.dir = open(argv[optind], O_RDONLY | O_DIRECTORY);
	if (files.dir < 0)
		die(argv[optind]);
	if (names)
		generate(names);
	else
		printf("{\"list_s\": %.6f, ", list());
	if (names)
		printf("{");
	printf("\"names\": %zu", files.count);
	if (random)
		shuffle(seed);
	if (files.want)
		read_directory(readers, passes, sums);
	printf("}\n");
	for (size_t i = 0; i < files.count; i++)
		free(files.names[i]);
	free(files.names);
	close(files.dir);
	return 0;
}
