/* SPDX-License-Identifier: BSD-2-Clause
 * Reading a mapped file that someone may cut: a fault in it becomes a jump
 * back instead of the end of the process. */
#ifndef ZR_GUARD_H
#define ZR_GUARD_H

#include <setjmp.h>
#include <stddef.h>

/* The mapping that the current thread is reading. Lives on its stack. */
struct zr_guard {
	const unsigned char *start;
	size_t len;
	sigjmp_buf back;
};

/* Install the SIGBUS handler, unless it is installed: a program may have put
 * one of its own there since the last call. Every fault outside a guarded
 * mapping is passed on to the handler that was there. After 64 handlers the
 * program's stays as it is. Any thread. Returns 0 or a negative errno. */
int zr_guard_install(void);

/* The guard of this thread, or NULL. Initial-exec: a signal handler must not
 * allocate. */
extern __thread struct zr_guard *volatile zr_guard_current
	__attribute__((tls_model("initial-exec")));

/* sigsetjmp must run in the frame that stays. The signal mask is not saved: the
 * handler runs with it unchanged (SA_NODEFER). */
#if defined(__SANITIZE_THREAD__)
#define ZR_SAVE_MASK 1 /* ThreadSanitizer runs handlers with all blocked */
#else
#define ZR_SAVE_MASK 0
#endif

/* rc = call, or rc = fault if reading container c faulted in it. */
#define ZR_GUARDED(c, rc, call, fault)                                         \
	do {                                                                   \
		struct zr_guard guard_ = { .start = (c)->data.bytes,           \
					   .len = (c)->data.len };             \
		if (!(c)->data.mapped) {                                       \
			(rc) = (call);                                         \
		} else {                                                       \
			zr_guard_current = &guard_;                            \
			if (sigsetjmp(guard_.back, ZR_SAVE_MASK))              \
				(rc) = (fault);                                \
			else                                                   \
				(rc) = (call);                                 \
			zr_guard_current = NULL;                               \
		}                                                              \
	} while (0)

#endif
