/* SPDX-License-Identifier: BSD-2-Clause
 * What the driver gives up, by no_new_privs, capset(2), Landlock, seccomp(2).
 *
 * What is refused gives an error to who asked, so that a call that was
 * forgotten here is an I/O error of one request and not the end of the mount;
 * the kernel's audit log tells. */
#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capset, &head, none);
}

#ifdef SYS_landlock_create_ruleset
/* Of linux/landlock.h, which may be older than the kernel. */
struct ruleset {
	uint64_t fs, net, scoped;
};

#define LANDLOCK_VERSION 1u

/* Everything that this kernel knows is handled, and no rule allows any. */
static bool enter_landlock(void)
{
	/* Number of rights, by version: of files; of TCP; of scopes. */
	static const unsigned char fs[] = { 13, 14, 15, 15, 16 };
	struct ruleset set = { 0 };
	size_t size = sizeof(set.fs);
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
	bool done;
	int fd;

	if (version < 1)
		return false;
	set.fs = (UINT64_C(1) << fs[version < 5 ? version - 1 : 4]) - 1;
	if (version >= 4) {
		set.net = 3;
		size = offsetof(struct ruleset, scoped);
	}
	if (version >= 6) {
		set.scoped = 3;
		size = sizeof(set);
	}
	fd = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
	if (fd < 0)
		return false;
	done = !syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
	return done;
}
#else
static bool enter_landlock(void)
{
	return false;
}
#endif

#ifdef ARCH
/* What libfuse, the C library's threads and memory, and libzrecord's reads
 * need; no way to a new file, process or socket. */
static const int allowed[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_preadv,
#ifdef SYS_preadv2
	SYS_preadv2,
#endif
	/* Replies that are spliced. */
	SYS_splice,
	SYS_vmsplice,
	SYS_tee,
	SYS_pipe2,
	SYS_close,
	SYS_fcntl,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
#ifdef SYS_statx
	SYS_statx,
#endif
	SYS_fadvise64,
	SYS_readahead,
/* Waiting. */
#ifdef SYS_poll
	SYS_poll,
#endif
	SYS_ppoll,
	SYS_futex,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_restart_syscall,
	/* Memory. */
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_mincore,
	SYS_brk,
	/* Threads. clone is for them only, see below. */
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_set_tid_address,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getcpu,
	SYS_prlimit64,
	SYS_gettid,
	SYS_getpid,
	SYS_tgkill,
#ifndef __GLIBC__
	SYS_tkill, /* musl's pthread_kill */
#endif
	SYS_exit,
	SYS_exit_group,
	SYS_getrusage,
	SYS_membarrier,
	SYS_getrandom,
	SYS_sysinfo,
#ifdef SYS_rseq
	SYS_rseq,
#endif
	/* Signals. */
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigtimedwait,
	SYS_rt_sigpending,
	SYS_sigaltstack,
/* Going to the background: stdio becomes /dev/null, which is open;
 * the end: the unmounting process is waited for. */
#ifdef SYS_dup2
	SYS_dup2,
#endif
	SYS_dup3,
	SYS_chdir,
	SYS_wait4,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
};

/* From this number on, the same for all processors, a kernel may lack a call:
 * then the C library takes an older one. So it does for clone3, whose flags are
 * in memory, where no filter can look. */
#define NEWER 424u

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define ALLOWED LENGTH(allowed)
#define FIELD(name) (uint32_t) offsetof(struct seccomp_data, name)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW(field) FIELD(field)
#else
#define LOW(field) (FIELD(field) + 4)
#endif
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define IF_NOT(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)

static bool enter_seccomp(void)
{
	static const struct sock_filter head[] = {
		LOAD(FIELD(arch)),
		IF_NOT(ARCH, 5),
		LOAD(FIELD(nr)),
		IF_NOT(SYS_clone, 4),
		LOAD(LOW(args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	static const struct sock_filter tail[] = {
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEWER, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | ENOSYS),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_filter code[LENGTH(head) + 2 * ALLOWED + LENGTH(tail)];
	struct sock_fprog program = { .filter = code };
	size_t n = 0;

	for (size_t i = 0; i < LENGTH(head); i++)
		code[n++] = head[i];
	for (size_t i = 0; i < ALLOWED; i++) {
		code[n++] = (struct sock_filter)IF_NOT((uint32_t)allowed[i], 1);
		code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < LENGTH(tail); i++)
		code[n++] = tail[i];
	program.len = (unsigned short)n;
	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_LOG, &program);
}
#else
static bool enter_seccomp(void)
{
	return false;
}
#endif

bool sandbox_fits(void)
{
#ifdef SANITIZED
	return false;
#else
	return true;
#endif
}

unsigned sandbox_enter(void)
{
	unsigned in_force = 0;

	/* The others need it. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	in_force = SANDBOX_NO_NEW_PRIVS;
	if (drop_capabilities())
		in_force |= SANDBOX_CAPABILITIES;
	if (enter_landlock())
		in_force |= SANDBOX_LANDLOCK;
	if (enter_seccomp())
		in_force |= SANDBOX_SECCOMP;
	return in_force;
}

void sandbox_names(unsigned in_force, char buf[static SANDBOX_NAMES_MAX])
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
			len += (size_t)snprintf(buf + len,
						SANDBOX_NAMES_MAX - len,
						"%s\"%s\"", len ? ", " : "",
						names[i]);
	}
}
