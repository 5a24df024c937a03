/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libzloader: endless, step-based batches of records for training.
 *
 * Which records a step has is a pure function of (records, batch, seed,
 * step): it depends on no thread, no rank and no earlier step. So a run can
 * be saved at any step for free and continued on other machines.
 *
 *     zl_open ──> struct zl_loader ──> zl_close
 *                   zl_next ──> struct zl_batch ──> zl_return
 *                   zl_save, zl_restore, zl_seek, zl_stats
 *
 *     zl_sampler_new ──> struct zl_sampler ──> zl_sampler_free
 *                          zl_sampler_next, _seek, _save, _restore   ids
 *
 * A first program (error handling left out; docs/examples/train.c has it):
 *
 *     struct zl_stream streams[] = { { "image", images },
 *                                    { "label", labels } };
 *     struct zl_options opt = ZL_OPTIONS_INIT;
 *     struct zl_loader *l;
 *     struct zl_batch *b;
 *
 *     zl_open(&l, streams, 2, &opt, NULL);
 *     while (training && zl_next(l, &b, NULL) == 0) {
 *             train(b->array[0].data, b->array[1].data, b->count);
 *             zl_return(b);
 *     }
 *     zl_close(&l);
 *
 * Words. A step draws one global batch, `batch` records, which `world` ranks
 * share: rank r has slots [n * r / world, n * (r + 1) / world) of a batch of
 * n. No rank talks to another; all count the same steps. An epoch is a pass
 * over all records, numbered from 0; steps are numbered from 0 and never end.
 *
 * Threads. A sampler is used by one thread at a time. Weights may be used by
 * any number of threads at once. A loader may be used by any number of
 * threads at once, but for zl_close, which comes last; zl_restore and zl_seek
 * say what they need. No function may be called from a signal handler, and a
 * thread may not be cancelled (pthread_cancel) inside one.
 *
 * Callbacks. The transform and the index function of a loader run on its
 * threads. Called there, for that loader,
 *
 *     zl_next, zl_restore, zl_seek   return -EDEADLK: they would wait for the
 *                                    thread that calls
 *     zl_close                       stops the loader as zl_stop does, leaves
 *                                    *l as it is and returns -EDEADLK: another
 *                                    thread has to close it
 *     zl_stop, zl_save, zl_stats, zl_failed_ids, zl_dlpack, deleters
 *                                    work as anywhere; zl_save may tell of
 *                                    the batch that the transform has, or of
 *                                    an earlier one
 *     zl_return                      works for batches of zl_next; for the
 *                                    batch that the transform has, which is
 *                                    not given out yet, it does nothing
 *
 * Other loaders and samplers work there as anywhere. What a callback returns
 * above 0 is taken for -EINVAL. A callback has to return:
 * not by longjmp, by an exception or by ending its thread, and not in a child
 * that it forked, which ends with exec(3) or _exit(2). It may not wait for
 * another thread that is in zl_next, zl_restore, zl_seek or zl_close of its
 * loader. The index function of a sampler may call of that sampler's functions
 * zl_sampler_room, _step, _place and _save only.
 *
 * Fork. A loader starts its threads with the first zl_next after zl_open,
 * zl_restore or zl_seek. In a child forked before that, while no other thread
 * is inside one of its functions, it works. In one forked later zl_next,
 * zl_restore and zl_seek return -ECHILD; zl_return and deleters give nothing
 * back; zl_stop does nothing; zl_save, zl_stats, zl_failed_ids and zl_dlpack
 * tell of the moment of the fork; zl_close only gives memory back, and not
 * while a batch was held. Samplers and weights are plain memory, and work.
 *
 * Errors. A function returns 0 or one of the negative numbers below, and
 * never sets or reads errno for the caller. If it takes a `struct zl_error *`
 * that is not NULL, the details are stored there; the struct is the caller's,
 * and is left alone on success. Nothing is printed. No signal handler is
 * installed but that of SIGBUS which mapped containers have (ZR_PLACE_MAP in
 * zrecord.h): a zl_next that starts threads makes new readers, and so puts it
 * in place again. On failure an out parameter that is a handle is NULL.
 *
 *     -EINVAL     the caller broke the contract of the function
 *     -ESTALE     a state does not fit what it is restored into
 *     -ERANGE     an index function gave an id that is no record
 *     -ENOTSUP    a weight file of a type that is no number
 *     -EUCLEAN    a weight file is malformed
 *     -EBADMSG    a record is damaged
 *     -ECANCELED  the loader was stopped or closed
 *     -EDEADLK    called from a callback of the loader, for which it waits
 *     -EBUSY      another thread is in a call that must be over first
 *     -ECHILD     the loader's threads are in another process
 *     -EAGAIN     a thread could not be started
 *     -ENOMEM     no memory
 *     -EIO        a read failed, or a file became shorter
 *     -ENOENT -ENOTDIR -EACCES -EPERM -ELOOP -ENAMETOOLONG -EMFILE -ENFILE
 *                 opening a weight file: as open(2) says
 */
#ifndef ZLOADER_H
#define ZLOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zrecord.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZL_API __attribute__((visibility("default")))
#else
#define ZL_API
#endif

/* "Does not apply", in a field of struct zl_error. */
#define ZL_NONE UINT64_MAX

struct zl_loader;
struct zl_sampler;
struct zl_weights;

/* ---- Errors ---------------------------------------------------------- */

/* What went wrong, where. `message` is one line without a newline, complete
 * in itself. A number that does not apply is ZL_NONE. */
struct zl_error {
	int code;        /* what the function returned */
	uint64_t step;   /* the step it belongs to */
	uint64_t record; /* id of the record */
	char stream[64]; /* name of the stream, or empty */
	char message[768];
};

/* Return a short text for one of the codes above, in static memory. */
ZL_API const char *zl_strerror(int code);

/* ---- Orders ---------------------------------------------------------- */

enum zl_order {
	/* 0, 1, 2, ... and again. As loaderx. */
	ZL_SEQUENTIAL,
	/* Each id drawn from all records with equal chance, with replacement.
	 * As loaderx, whose generator cannot jump: see zl_sampler_seek. */
	ZL_IID,
	/* A permutation of all records per epoch. As loaderx: its network of
	 * four rounds shows structure, so take it for compatibility only. */
	ZL_CYCLIC,
	/* A permutation of all records per epoch, indistinguishable from a
	 * random one by the tests in tests/unit/test_loader_shuffle.c. Up to
	 * 256 records every permutation is as likely as any other. */
	ZL_SHUFFLE,
	/* A permutation per epoch in which no record is `window` or more
	 * places from its place in sequential order: for cold storage. */
	ZL_WINDOW,
	/* Each id drawn with the chance that `weights` gives it, with
	 * replacement. */
	ZL_WEIGHTED,
	/* `index` says which. */
	ZL_CALLER,
};

/* What becomes of the last records of an epoch if `batch` does not divide
 * their number. Without effect on ZL_IID, ZL_WEIGHTED and ZL_CALLER, whose
 * batches are always full. */
enum zl_remainder {
	/* ZL_WRAP for sequential; for cyclic ZL_DROP, or ZL_SHORT if there
	 * are fewer records than `batch` (both as loaderx); ZL_SHORT for
	 * shuffle and window. */
	ZL_REMAINDER_DEFAULT,
	/* The last batch of an epoch has only them. Every record once per
	 * epoch. With several ranks some may get none in that step. */
	ZL_SHORT,
	/* They are left out; which ones changes with the epoch. */
	ZL_DROP,
	/* The batch is filled with the first records of the next epoch: all
	 * batches are full, and every record comes once per epoch. */
	ZL_WRAP,
};

/* Store in ids[0, count) the ids for slots [first, first + count) of the
 * global batch of `step`; each must be below `records`. Must be a pure
 * function of its numbers: a loader calls it on a thread of its own, before
 * the step's turn, and again after zl_restore and zl_seek. Returns 0, or a
 * negative number, which the library passes on, at that step. */
typedef int (*zl_index_fn)(void *ctx, uint64_t records, uint64_t step,
			   uint64_t first, size_t count, uint64_t *ids);

struct zl_sampling {
	size_t size; /* sizeof(struct zl_sampling) */
	enum zl_order order;
	enum zl_remainder remainder;
	uint64_t batch; /* records per step, all ranks together: 1..2^31 */
	uint64_t seed;
	uint32_t rank;                    /* below world */
	uint32_t world;                   /* number of ranks; 0 means 1 */
	uint64_t window;                  /* ZL_WINDOW: at least 1 */
	const struct zl_weights *weights; /* ZL_WEIGHTED; outlives the user */
	zl_index_fn index;                /* ZL_CALLER */
	void *index_ctx;
};
#define ZL_SAMPLING_INIT                                                       \
	{                                                                      \
		sizeof(struct zl_sampling), ZL_SHUFFLE, ZL_REMAINDER_DEFAULT,  \
			256, 0, 0, 1, 0, NULL, NULL, NULL                      \
	}

/* Create a sampler at step 0. `records` is 1..2^64 - 1 for ZL_SEQUENTIAL,
 * ZL_IID and ZL_CYCLIC, 1..2^63 - 1 else. Uses a few hundred bytes, however
 * many records there are. `how` is copied.
 * Returns 0, -EINVAL, -ENOMEM. */
ZL_API int zl_sampler_new(struct zl_sampler **out, uint64_t records,
			  const struct zl_sampling *how, struct zl_error *err);

/* Free a sampler. NULL is allowed. */
ZL_API void zl_sampler_free(struct zl_sampler *s);

/* Return the most ids that this rank has in a step. */
ZL_API size_t zl_sampler_room(const struct zl_sampler *s);

/* Store this rank's ids of the current step in `ids`, which has room for
 * zl_sampler_room(s) of them, their number in *count, and go to the next
 * step. On failure the step stays.
 * Returns 0; for ZL_CALLER also -ERANGE and what `index` returned. */
ZL_API int zl_sampler_next(struct zl_sampler *s, uint64_t *ids, size_t *count,
			   struct zl_error *err);

/* Make `step` the current step. O(1), except for ZL_IID, whose generator is
 * run over all draws in between, 0.8 ns each on a 3.7 GHz core, from step 0
 * if the seek goes back. zl_sampler_restore does not need that. */
ZL_API void zl_sampler_seek(struct zl_sampler *s, uint64_t step);

/* Return the current step: the one that zl_sampler_next draws. */
ZL_API uint64_t zl_sampler_step(const struct zl_sampler *s);

/* Where a step lies in the run. */
struct zl_place {
	uint64_t epoch;    /* of the first record of the step */
	uint64_t position; /* of that record in the epoch */
	uint64_t count;    /* records of the step, all ranks together */
	uint64_t steps;    /* per epoch; ZL_WRAP and endless orders: ZL_NONE */
};

/* Store the place of any step in *place. O(1). */
ZL_API void zl_sampler_place(const struct zl_sampler *s, uint64_t step,
			     struct zl_place *place);

/* ---- Weights --------------------------------------------------------- */

/* Create the table for ZL_WEIGHTED from `count` integers: record i is drawn
 * with the chance weights[i] / sum, exactly. Takes 16 bytes per record.
 * Returns 0, -EINVAL (no weight, or their sum is 0 or over 2^63 - 1),
 * -ENOMEM. */
ZL_API int zl_weights_new(struct zl_weights **out, const uint64_t *weights,
			  uint64_t count, struct zl_error *err);

/* The same from a .npy file: one dimension, integers or floats of 4 or 8
 * bytes or integers of 1 or 2, none negative, NaN or infinite. Floats are
 * taken in units of sum / 2^62, and one above 0 is at least one unit.
 * Returns also -EINVAL (not a regular file, or a weight that is none),
 * -EUCLEAN, -ENOTSUP, -EIO, or what open(2) gave. */
ZL_API int zl_weights_load(struct zl_weights **out, const char *path,
			   struct zl_error *err);

/* Free weights. NULL is allowed. Their users must be gone. */
ZL_API void zl_weights_free(struct zl_weights *w);

/* ---- Resume ---------------------------------------------------------- */

/* All that a run needs to continue. Plain bytes without pointers: write it to
 * a file as it is. Fields are for reading; `check` covers the others. */
struct zl_state {
	uint32_t version;   /* ZL_STATE_VERSION */
	uint32_t order;     /* enum zl_order */
	uint32_t remainder; /* enum zl_remainder, never DEFAULT */
	uint32_t world;     /* of the run that saved it; need not be the same */
	uint64_t records;
	uint64_t batch;
	uint64_t seed;
	uint64_t window;
	uint64_t step;         /* the next one */
	uint64_t containers;   /* identity of the streams; sampler: 0 */
	uint64_t weights;      /* identity of the weights, or 0 */
	uint64_t generator[4]; /* ZL_IID: in front of `step` */
	uint64_t check;
};
#define ZL_STATE_VERSION 1u

/* Store the state in *state. O(1). */
ZL_API void zl_sampler_save(const struct zl_sampler *s, struct zl_state *state);

/* Continue at *state. O(1). Rank and world may differ from those of the run
 * that saved it; all else must be the same, or the sampler stays as it is and
 * err->message says what differs. A caller's index function is taken on
 * trust.
 * Returns 0, -ESTALE. */
ZL_API int zl_sampler_restore(struct zl_sampler *s,
			      const struct zl_state *state,
			      struct zl_error *err);

/* ---- Ranks ----------------------------------------------------------- */

/* Store rank and world as the launcher of this process set them in the
 * environment; 0 and 1 if none did. The first of these pairs that is there:
 *
 *     torchrun, or whoever sets them      RANK, WORLD_SIZE
 *     Open MPI                            OMPI_COMM_WORLD_RANK, _SIZE
 *     MVAPICH2; MVAPICH 3                 MV2_COMM_WORLD_RANK, _SIZE; MVP_...
 *     jsrun                               JSM_NAMESPACE_RANK, _SIZE
 *     horovodrun                          HOROVOD_RANK, _SIZE
 *     MPICH, Intel MPI, Cray, Flux        PMI_RANK, PMI_SIZE
 *     srun                                SLURM_PROCID, SLURM_STEP_NUM_TASKS
 *
 * RANK with WORLD_SIZE holds against all others: torchrun runs inside of
 * them, and so they can be set by hand. Slurm yields to what runs in its
 * steps. Its numbers of a job (SLURM_NTASKS) and of an array are not ranks:
 * the process of a batch script outside srun, or of salloc, is 0 of 1.
 *
 * It is an error, and never 0 of 1, where the environment speaks of several
 * ranks and does not say which:
 *   - not two numbers, the rank below the world;
 *   - two launchers say different ranks or worlds, of which one may be 0 of 1;
 *   - half of a pair (PMIX_RANK and PALS_RANKID are halves too) and no whole
 *     one, or not as the whole one says;
 *   - srun in a heterogeneous job, which numbers its ranks through all parts
 *     and tells the tasks of one.
 * Not looked at, as torchrun and Slurm hold and yield: all others beside RANK
 * with WORLD_SIZE; and beside a launcher that says a world of several Slurm's,
 * with a PMIX_RANK or PALS_RANKID that is equal to SLURM_PROCID.
 * err->message names the variables.
 *
 * Reads the environment: not while another thread changes it.
 * Returns 0, -EINVAL. */
ZL_API int zl_rank_from_env(uint32_t *rank, uint32_t *world,
			    struct zl_error *err);

/* ---- Loader ---------------------------------------------------------- */

/* One of the containers that are read in step: record i of each belongs
 * together. The name is copied, 1..63 bytes; the container must stay open
 * until zl_close has returned. */
struct zl_stream {
	const char *name;
	const struct zr_container *container;
};

/* An array that the transform fills, one item per record. Until then it holds
 * what an earlier step left. */
struct zl_output {
	const char *name; /* copied, 1..63 bytes, no stream's */
	struct zr_dtype dtype;
	struct zr_shape item_shape;
};

/* One stream or output of a batch.
 *
 *     Dense   data is a C-order array of `shape`, (count, *item_shape)
 *     Ragged  packed, never padded: elements of record i are the bytes
 *             data[offsets[i] .. offsets[i + 1]), its shape is
 *             dims[dim_offsets[i] .. dim_offsets[i + 1])
 *
 * Elements are as stored, also in their byte order. Dense data begins at a
 * page boundary, all else at a multiple of 256. */
struct zl_array {
	const char *name;
	enum zr_kind kind;
	struct zr_dtype dtype;
	struct zr_shape shape; /* Dense; rank 0 for Ragged */
	unsigned char *data;
	uint64_t bytes;                         /* of data */
	uint64_t *offsets, *dims, *dim_offsets; /* Ragged, else NULL */
};

/* What this rank has of one step. Everything in it lies in the loader's ring
 * and stays as it is, also beyond zl_close, until zl_return. The elements may
 * be written to; the ids, the offsets and the structs may not. */
struct zl_batch {
	uint64_t step;
	uint64_t epoch;    /* of the first record of the global batch */
	uint64_t position; /* of that record in the epoch */
	size_t count;      /* records; 0 is possible (ZL_SHORT, ZL_SKIP) */
	const uint64_t *ids;
	size_t arrays; /* streams in the order of zl_open, then outputs */
	struct zl_array *array;
};

/* Called on the loader's threads for each batch before it is delivered, on
 * several batches at once. May write to all elements, as the caller may. What
 * it draws at random should depend on batch->step and the ids alone. Returns 0,
 * or a negative number that zl_next will return at this step. */
typedef int (*zl_transform_fn)(void *ctx, struct zl_batch *batch);

/* Deliver batches as they get ready. zl_save then gives the first step that
 * was not delivered: some later ones may come twice after a restore. */
#define ZL_UNORDERED 1u
/* Leave damaged records (-EBADMSG) out of their batch and count them, instead
 * of stopping. A batch whose transform fails is delivered empty. Errors of the
 * system, -EIO above all, stop as ever: a disk that is gone would otherwise be
 * an endless run of empty batches. */
#define ZL_SKIP 2u
/* Keep the ring in memory with mlock(2); if the system refuses, it is used
 * unpinned and zl_stats tells. */
#define ZL_PIN 4u

struct zl_options {
	size_t size; /* sizeof(struct zl_options) */
	struct zl_sampling sampling;
	unsigned threads; /* that gather, at most 1024; 0: as many as CPUs */
	uint32_t flags;            /* ZL_UNORDERED | ZL_SKIP | ZL_PIN */
	zl_transform_fn transform; /* or NULL */
	void *transform_ctx;
	unsigned transform_threads; /* at most 1024; 0: one for a transform */
	const struct zl_output *output; /* copied; with a transform only */
	size_t outputs;                 /* at most 64 */
	/* Batches in the ring: under way, ready, and held by the caller.
	 * 2..1024. */
	unsigned ring;
	/* Bytes of the ring, 0 for no bound: fewer than `ring` batches are
	 * under way where they do not fit, but at least one. */
	uint64_t ring_bytes;
};
#define ZL_OPTIONS_INIT                                                        \
	{                                                                      \
		sizeof(struct zl_options), ZL_SAMPLING_INIT, 0, 0, NULL, NULL, \
			0, NULL, 0, 4, 0                                       \
	}

/* Create a loader at step 0 over `count` streams, 1..64, all with the same
 * number of records, at least 1. `opt` may be NULL. Allocates the ring, but for
 * Ragged data, whose size comes with the batches; starts nothing.
 * Returns 0; -EINVAL (err->message names the stream that is odd, or the
 * option), -ENOMEM. */
ZL_API int zl_open(struct zl_loader **out, const struct zl_stream *streams,
		   size_t count, const struct zl_options *opt,
		   struct zl_error *err);

/* Stop *l, end its threads, free it and set *l to NULL, at once and before
 * anything else. NULL, and a pointer to NULL, are allowed: a second close does
 * nothing, and of two threads that close through the same pointer one does
 * it. Threads that wait in zl_next, or in zl_restore and zl_seek for others to
 * leave, return -ECANCELED first; none may begin a call afterwards, but for
 * zl_return and deleters. Takes no longer than the gather and the transform
 * calls that are under way. Batches that are held stay valid: their memory goes
 * with the last zl_return.
 * Returns 0; -EDEADLK in a callback of *l, which is stopped and stays. */
ZL_API int zl_close(struct zl_loader **l);

/* Make all calls of zl_next return -ECANCELED, now and later, until the next
 * zl_restore or zl_seek: one that has begun ends, and the loader is stopped
 * where it then stands. Returns at once. Any thread, any number of times. */
ZL_API void zl_stop(struct zl_loader *l);

/* Wait for the next batch and store it in *batch; give it back with
 * zl_return. Waits for ever if the caller holds the whole ring.
 * On failure *batch is NULL, err->step is the step, and err->record and
 * err->stream tell where it applies; the loader has stopped there, and later
 * calls return the same.
 * Returns 0, -EBADMSG, -EIO, -ENOMEM, -ERANGE, -EAGAIN, -ECANCELED, -ECHILD,
 * -EDEADLK, or what the transform or the index function returned. */
ZL_API int zl_next(struct zl_loader *l, struct zl_batch **batch,
		   struct zl_error *err);

/* Give a batch back. NULL is allowed. Any thread, also after zl_close. Once
 * for each batch of zl_next: afterwards the memory is the next step's. */
ZL_API void zl_return(struct zl_batch *batch);

/* After zl_next failed: store the ids of the batch that failed, which live
 * until zl_close, zl_restore or zl_seek, and return their number. */
ZL_API size_t zl_failed_ids(struct zl_loader *l, const uint64_t **ids);

/* Store the state from which the next zl_next goes on. Cheap enough for
 * every step. Any thread. */
ZL_API void zl_save(struct zl_loader *l, struct zl_state *state);

/* Go on at *state, or at `step`. What was made ahead is dropped; batches that
 * are held stay valid. Takes as long as zl_close. Other threads may not wait
 * in zl_next, or are being stopped: then their leaving is waited for. A zl_next
 * that comes later waits.
 * zl_restore: as zl_sampler_restore; the streams must be those of the state. If
 * they are not, the loader goes on at its next step, and one that was stopped
 * stays so.
 * zl_seek: as zl_sampler_seek.
 * Returns 0, -ECHILD, -EDEADLK, -EBUSY (another thread is in zl_next,
 * zl_restore or zl_seek), -ECANCELED (zl_close has begun while this waited for
 * others to leave); zl_restore also -ESTALE. */
ZL_API int zl_restore(struct zl_loader *l, const struct zl_state *state,
		      struct zl_error *err);
ZL_API int zl_seek(struct zl_loader *l, uint64_t step);

/* Where the time went, since zl_open. Times are summed over the threads. */
struct zl_stats {
	uint64_t batches;       /* delivered */
	uint64_t records;       /* delivered */
	uint64_t bytes;         /* of elements, gathered */
	uint64_t skipped;       /* records left out (ZL_SKIP) */
	uint64_t gather_ns;     /* gathering */
	uint64_t transform_ns;  /* in the transform */
	uint64_t wait_ring_ns;  /* the gatherer waited for a free batch */
	uint64_t wait_work_ns;  /* transform threads waited for a batch */
	uint64_t wait_batch_ns; /* zl_next waited: the loader was too slow */
	uint64_t ring_bytes;    /* of the ring, now */
	uint64_t pinned_bytes;  /* of these, by ZL_PIN */
};

/* Store the counters in *stats. Any thread. */
ZL_API void zl_stats(struct zl_loader *l, struct zl_stats *stats);

/* Write *stats as a few lines for people into `buf`, `size` bytes with the
 * terminating NUL; 1024 are enough. */
ZL_API void zl_stats_text(const struct zl_stats *stats, char *buf, size_t size);

/* ---- DLPack ---------------------------------------------------------- */

/* The structures of DLPack 0.x and 1.x before versioned tensors, bit for bit
 * (github.com/dmlc/dlpack); a pointer to one may be cast to the other. */
struct zl_dl_tensor {
	void *data;
	struct {
		int32_t type; /* 1: CPU */
		int32_t id;
	} device;
	int32_t ndim;
	struct {
		uint8_t code; /* 0 int, 1 uint, 2 float, 5 complex, 6 bool */
		uint8_t bits;
		uint16_t lanes;
	} dtype;
	int64_t *shape;
	int64_t *strides; /* NULL: C order */
	uint64_t byte_offset;
};
struct zl_dl_managed {
	struct zl_dl_tensor tensor;
	void *manager_ctx;
	void (*deleter)(struct zl_dl_managed *self);
};

enum zl_part {
	ZL_DATA, /* Dense: the array; Ragged: all elements, one dimension */
	ZL_OFFSETS,
	ZL_DIMS,
	ZL_DIM_OFFSETS,
	ZL_IDS, /* of the batch; `array` is not looked at */
};

/* Describe a part of a batch as a DLPack tensor in *out, without copying. The
 * batch is given back when zl_return was called and all its tensors were
 * deleted, in any order and on any thread; call (*out)->deleter(*out).
 * Returns 0, -EINVAL (no such array or part), -ENOTSUP (DLPack has no such
 * dtype: dates, text, bytes, 16-byte floats, big-endian), -ENOMEM. */
ZL_API int zl_dlpack(struct zl_batch *batch, size_t array, enum zl_part part,
		     struct zl_dl_managed **out);

#ifdef __cplusplus
}
#endif

#endif
