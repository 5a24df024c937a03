/* SPDX-License-Identifier: BSD-2-Clause
 * A text file, line by line. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kind.h"
#include "spool.h"

#define BLOCK 65536

/* What cannot be read twice is kept. Closes `from`. */
static int keep(const char *name, int from)
{
	int to = spool_open(name, 0), status = to < 0 ? CLI_FAILED : CLI_OK;
	char buf[BLOCK];

	while (!status) {
		ssize_t n = read(from, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			status = cli_fail("%s: reading: %s", name,
					  strerror(errno));
		if (n <= 0)
			break;
		status = spool_write(to, name, buf, (size_t)n);
	}
	close(from);
	if (status && to >= 0)
		close(to);
	return status ? -1 : to;
}

static int open_file(struct lines *l, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;
	int fd;

	fd = is_stdin ? dup(STDIN_FILENO)
		      : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		cli_fail("%s: %s", l->name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return CLI_FAILED;
	}
	if (S_ISDIR(st.st_mode)) {
		close(fd);
		return cli_fail("%s: a directory, not a text file", l->name);
	}
	l->start = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	if (l->start < 0) {
		fd = keep(l->name, fd);
		if (fd < 0)
			return CLI_FAILED;
		l->start = 0;
	}
	l->f = fdopen(fd, "r");
	if (!l->f) {
		close(fd);
		return cli_fail("no memory");
	}
	return lines_rewind(l);
}

static int not_text(const struct lines *l, const char *path, const char *what,
		    const char *when, const char *filter)
{
	char word[512];

	if (!strcmp(path, "-"))
		return cli_fail("%s: %s, not lines of text; %stry: ... | %s | "
				"zrecord create --lines - DST",
				l->name, what, when, filter);
	return cli_fail("%s: %s, not lines of text; %stry: %s %s | "
			"zrecord create --lines - DST",
			l->name, what, when, filter,
			cli_quote(word, sizeof(word), path));
}

/* Whatever has no NUL and is no known file may be text of some encoding. */
static int check_text(struct lines *l, const char *path)
{
	char block[BLOCK], what[48];
	size_t len = fread(block, 1, sizeof(block), l->f);
	const struct kind *kind = kind_of(block, len);
	const char *nul = memchr(block, 0, len);

	if (kind && kind->filter)
		return not_text(l, path, kind->what, "", kind->filter);
	if (kind)
		return cli_fail("%s: %s, not lines of text; without --lines, "
				"SRC may be .npy, .npz or a container",
				l->name, kind->what);
	if (nul) {
		snprintf(what, sizeof(what), "binary (byte %zu is NUL)",
			 (size_t)(nul - block));
		return not_text(l, path, what, "if it is UTF-16, ",
				"iconv -f UTF-16 -t UTF-8");
	}
	return lines_rewind(l);
}

/* Count the lines, and find an empty one before anything is written. */
static int count_lines(struct lines *l, uint64_t *count)
{
	const char *text;
	uint64_t number = 0;
	bool skip = l->skip_empty;
	int status = CLI_OK;
	size_t len;

	l->skip_empty = false;
	while (!status && !(status = lines_next(l, &text, &len)) && text) {
		number++;
		if (len)
			++*count;
		else if (!skip)
			status = cli_fail("%s: line %llu is empty, and an "
					  "empty record cannot be stored; "
					  "--skip-empty leaves such lines out",
					  l->name, (unsigned long long)number);
	}
	l->skip_empty = skip;
	return status ? status : lines_rewind(l);
}

int lines_open(struct lines *l, const char *path, bool skip_empty,
	       uint64_t *count)
{
	int status;

	*count = 0;
	*l = (struct lines){
		.name = strdup(strcmp(path, "-") ? path : "standard input"),
		.skip_empty = skip_empty,
	};
	if (!l->name)
		return cli_fail("no memory");
	status = open_file(l, path);
	if (!status)
		status = check_text(l, path);
	if (!status)
		status = count_lines(l, count);
	if (status)
		lines_close(l);
	return status;
}

int lines_rewind(struct lines *l)
{
	if (!fseeko(l->f, l->start, SEEK_SET))
		return CLI_OK;
	return cli_fail("%s: going back to its beginning: %s", l->name,
			strerror(errno));
}

int lines_next(struct lines *l, const char **text, size_t *len)
{
	ssize_t n;

	*text = NULL;
	do {
		n = getline(&l->line, &l->room, l->f);
		if (n < 0 && (ferror(l->f) || !feof(l->f)))
			return cli_fail("%s: reading: %s", l->name,
					strerror(errno));
		if (n < 0)
			return CLI_OK;
		if (l->line[n - 1] == '\n')
			n--;
	} while (!n && l->skip_empty);
	*text = l->line;
	*len = (size_t)n;
	return CLI_OK;
}

void lines_close(struct lines *l)
{
	if (l->f)
		fclose(l->f);
	free(l->line);
	free(l->name);
	*l = (struct lines){ NULL };
}
