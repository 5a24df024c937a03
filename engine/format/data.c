/* SPDX-License-Identifier: BSD-2-Clause
 * Where the committed bytes of data.zr are: mapped, resident or read. */
#include "data.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/guard.h"
#include "base/io.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* Another machine can cut or lose the file of a network file system at any
 * time, and a fault there may hang; FUSE stands for all others of the kind. */
static bool is_remote(int fd)
{
	struct statfs st;

	if (fstatfs(fd, &st))
		return true;
	switch ((unsigned long)st.f_type) {
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case V9FS_MAGIC:
	case FUSE_SUPER_MAGIC:
	case 0x0bd00bd0: /* Lustre */
	case 0x47504653: /* GPFS */
		return true;
	default:
		return false;
	}
}

static bool fits_memory(uint64_t len)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 && len / (uint64_t)page < (uint64_t)pages;
}

static int place_mapped(struct zr_data *d, int fd, size_t len)
{
	int rc = zr_guard_install();
	void *p;

	if (rc)
		return rc;
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	d->bytes = p;
	d->len = len;
	d->mapped = true;
	return 0;
}

static int place_resident(struct zr_data *d, int fd, size_t len)
{
	size_t size = (len + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	void *p;
	int rc;

	if (size < len)
		return -ENOMEM;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	(void)madvise(p, size, MADV_HUGEPAGE); /* a hint: may be refused */
	rc = zr_pread(fd, p, len, 0);
	if (rc) {
		munmap(p, size);
		return rc;
	}
	(void)mprotect(p, size, PROT_READ);
	d->bytes = p;
	d->len = len;
	d->allocated = size;
	return 0;
}

int zr_data_place(struct zr_data *d, int fd, uint64_t len,
		  enum zr_placement placement)
{
	bool any = placement == ZR_PLACE_AUTO;
	int rc;

	d->remote = is_remote(fd);
	if (any)
		placement = d->remote || !fits_memory(len) ? ZR_PLACE_READ
							   : ZR_PLACE_MAP;
	if (placement == ZR_PLACE_READ || !len)
		return 0;
	if (!zr_fits_size(len))
		return -ENOMEM;
	if (placement == ZR_PLACE_RESIDENT)
		return place_resident(d, fd, (size_t)len);
	rc = place_mapped(d, fd, (size_t)len);
	return rc && any ? 0 : rc; /* then it is read */
}

void zr_data_release(struct zr_data *d)
{
	if (d->mapped)
		munmap((void *)(uintptr_t)d->bytes, d->len);
	else if (d->bytes)
		munmap((void *)(uintptr_t)d->bytes, d->allocated);
	d->bytes = NULL;
}
