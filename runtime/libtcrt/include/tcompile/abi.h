/* tcompile/abi.h - what generated code and libtcrt agree on, versioned.
 *
 * Users include <tcompile.h> and never look in here: the layout below is read only by guards that
 * the compiler emits and by the runtime.  Any change of layout or meaning raises TC_ABI_VERSION;
 * an object built for another version keeps running its original bodies (see tcrt_register). */
#ifndef TCOMPILE_ABI_H
#define TCOMPILE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __TINYC__
#include <tcompile/tinyc.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define TC_ABI_VERSION 9
#define TC_MAX_RANK 8

/* Element types, in promotion order within their category. */
typedef enum tc_dtype {
  TC_BOOL = 0, /* one byte, 0 or 1 */
  TC_U8,
  TC_I8,
  TC_I16,
  TC_I32,
  TC_I64,
  TC_F16,  /* IEEE binary16 */
  TC_BF16, /* the upper half of an f32 */
  TC_F32,
  TC_F64,
  TC_DTYPE_COUNT
} tc_dtype;

/* The kind in the low byte, the index of a device above it: TC_CUDA is the first GPU. */
typedef enum tc_device { TC_CPU = 0, TC_CUDA = 1, TC_LAST_DEVICE = 0x7fffffff } tc_device;

enum {
  TC_FLAG_CONTIGUOUS = 1, /* row-major, no gaps; kept by the runtime for every tensor */
  TC_FLAG_WEAK = 2,       /* a C scalar: it does not take part in dtype promotion */
  TC_FLAG_READONLY = 4,   /* memory must not be written (mapped files, const wraps) */
  TC_FLAG_BROKEN = 8,     /* a header that tcrt_borrow could not fill; no tensor has it */
  TC_FLAG_FREED = 16      /* in TC_KEY_FREED only */
};

/* dtype, device, rank and flags side by side: one 32-bit compare checks them all in a guard. */
typedef struct tc_key {
  uint8_t dtype, device, rank, flags;
} tc_key;

/* What tc_free leaves in a header: no guard wants this dtype and device, every function refuses it. */
#define TC_DEVICE_FREED 255
#define TC_KEY_FREED ((tc_key){255, TC_DEVICE_FREED, 0, TC_FLAG_FREED})

struct tc_storage; /* reference-counted memory; views share it */
struct tc_scope;   /* see tcompile.h */

struct tc_tensor {
  tc_key key;
  int32_t device_index;
  int64_t dim[TC_MAX_RANK];    /* sizes; entries past rank are 1 */
  int64_t stride[TC_MAX_RANK]; /* in elements, may be 0 or negative; entries past rank are 0 */
  void *data;                  /* address of element (0, ..., 0) */
  struct tc_storage *storage;
  void *autograd; /* link to the tape; NULL: no gradient is tracked */
  struct tc_tensor *scope_prev, *scope_next; /* neighbours in the owning scope */
  struct tc_scope *scope;
};

/* Where a tensor lies that is not ours, in the words of its owner: see tc_wrap_layout. */
typedef struct tc_layout {
  void *data;     /* address of element (0, ..., 0) */
  tc_dtype dtype; /* TC_DTYPE_COUNT: none of ours */
  int rank;
  int64_t dim[TC_MAX_RANK], stride[TC_MAX_RANK]; /* sizes; distances in bytes */
  bool readonly;
} tc_layout;

/* Why a compiled function ran its original body.  Counted per function, shown by TC_LOGS=fallback. */
typedef enum tc_miss {
  TC_MISS_NULL,     /* an operand is NULL */
  TC_MISS_DTYPE,    /* another element type */
  TC_MISS_DEVICE,   /* another device */
  TC_MISS_RANK,     /* another number of dimensions */
  TC_MISS_SIZE,     /* a fixed size differs */
  TC_MISS_LEAST,    /* a size or number is less than the least of its range */
  TC_MISS_MOST,     /* ... or more than the most */
  TC_MISS_MULTIPLE, /* ... or no multiple of what it should be */
  TC_MISS_EQUAL,    /* two sizes that must be equal are not */
  TC_MISS_ALIAS,    /* a written tensor overlaps another operand */
  TC_MISS_STRIDE,   /* elements of a written tensor share memory, or it is read-only */
  TC_MISS_LAYOUT,   /* memory of the caller's own kind that is none of a tensor */
  TC_MISS_GRAD,     /* gradients are being recorded */
  TC_MISS_AUTOCAST, /* called in a scope of TC_AUTOCAST that it is not compiled for, or outside */
  TC_MISS_INDEX,    /* an index operand is out of range: the body reports the error */
  TC_MISS_MEMORY,   /* no workspace or result memory */
  TC_MISS_DISABLED, /* TC_FALLBACK=mandatory, tc_set_enabled(false), or another ABI */
  TC_MISS_COUNT
} tc_miss;

/* One per compiled function (segment), in the object's data.  Counters are relaxed atomics. */
typedef struct tcrt_function {
  const char *name;     /* function name */
  const char *location; /* "file.c:12" */
  const char *sizes;    /* that it is compiled for, such as "B=1"; NULL: any */
  const char *operands; /* their names, a line each; NULL: none */
  bool passes; /* other code for the same statements is tried next: a miss is no fallback */
  int32_t ops, kernels; /* ops captured, kernels made */
  uint64_t hits, packed, miss[TC_MISS_COUNT]; /* packed: calls that first copied strided inputs */
  struct tcrt_function *next;
  uint64_t row_hits; /* hits when the fallbacks in a row began that are counted in `row` */
  uint32_t row;      /* see TC_FALLBACK=notice */
} tcrt_function;

/* One per object file with compiled functions. */
typedef struct tcrt_unit {
  uint32_t abi; /* TC_ABI_VERSION of the compiler */
  uint32_t count;
  tcrt_function *const *function;
} tcrt_unit;

/* CPU levels a kernel text is compiled for; the runtime picks the highest the machine has. */
typedef enum tc_isa {
  TC_ISA_V2,   /* x86-64-v2, or the base level of any other architecture */
  TC_ISA_V3,   /* AVX2, FMA, F16C */
  TC_ISA_V4,   /* AVX-512 F BW CD DQ VL */
  TC_ISA_BF16, /* v4 with avx512_bf16 and vnni */
  TC_ISA_AMX,  /* sapphirerapids: amx_tile, amx_bf16, amx_int8, avx512_fp16 */
  TC_ISA_COUNT
} tc_isa;

/* A scalar argument of a compiled function. */
typedef union tc_value {
  double f;
  int64_t i;
} tc_value;

/* A kernel: buffers, sizes (values of the symbols it uses), scalars.  Returns 0, or 1 when an index
 * operand was out of range (the caller then drops the results and runs the body). */
typedef int tcrt_kernel(void *const *buf, const int64_t *sym, const tc_value *scalar);

/* The entry that replaces a body: operands and scalars in graph order.  Returns 1 with out[] filled
 * (owned as any result), or 0 when the body has to run; nothing is written then. */
typedef int tcrt_entry(const struct tc_tensor *const *in, const tc_value *scalar, struct tc_tensor **out);

/* Registers a unit at load time (from a constructor in the generated text).  Returns false, after
 * one line on stderr, if the ABI differs: its functions then run their bodies. */
bool tcrt_register(const tcrt_unit *unit);

/* Forgets a unit: from a destructor in the generated text, so that a closed library leaves no
 * counters behind.  Does nothing for a unit that was refused. */
void tcrt_unregister(const tcrt_unit *unit);

/* CPU level in use (honours TC_ISA=v2|v3|v4|bf16|amx, which can only lower it). Constant after load. */
extern int tcrt_isa;

/* Nonzero while compiled code may run (TC_FALLBACK=mandatory and tc_set_enabled clear it). */
extern int tcrt_enabled;

/* Threads that are in a scope of TC_AUTOCAST; and the dtype of this one's scope, TC_DTYPE_COUNT for none. */
extern int tcrt_autocasts;
tc_dtype tcrt_autocast(void);

/* Counts a failed guard, logs it as TC_LOGS and TC_FALLBACK ask.  operand: index or -1.  Returns 0,
 * so that a guard reads `return tcrt_miss(...)`. */
int tcrt_miss(tcrt_function *f, tc_miss why, int operand, int axis, int64_t got, int64_t want);

/* A kernel found an index out of range, or a function of the program failed, behind an effect: the body
 * must not run.  Sets the error; returns 1. */
int tcrt_late(tcrt_function *f);

/* Counts a hit; logs with TC_LOGS=kernels. Inline in generated code when logging is off. */
extern int tcrt_log_kernels;
void tcrt_hit_log(tcrt_function *f);

/* Thread-local scratch memory, 64-byte aligned, kept between calls and grown when needed (old
 * contents are lost).  NULL when there is none.  Never shared between threads. */
void *tcrt_workspace(size_t bytes);

/* A new contiguous tensor on the CPU owned by the current scope, contents undefined; its storage
 * comes from the cache of freed ones.  NULL with an error set. */
struct tc_tensor *tcrt_new(tc_dtype dtype, int rank, const int64_t *dim);

/* Frees a tensor that tcrt_new made and that nobody has seen. */
void tcrt_delete(struct tc_tensor *t);

/* What the body makes of x where it asks for the shape of `copy`, for row-major order too if `contiguous`
 * is set, and for memory shared with x if strides allow that: a new view of x, or else `copy`.  Borrows
 * x, which may be the caller's operand, and takes `copy`: the result is it, or it is freed.  NULL
 * where x is, or with an error. */
struct tc_tensor *tcrt_view_or_copy(const struct tc_tensor *x, struct tc_tensor *copy, bool contiguous);

/* The scope of a body: what the statements of a compiled function make belongs to it, and goes with it
 * but for what they hand out. */
struct tc_scope *tcrt_body_begin(struct tc_scope *s); /* returns s */
void tcrt_body_end(struct tc_scope *s);
/* t leaves its body other than as its result: it belongs to the nearest scope that the program opened
 * around the body, or to nobody.  Returns t. */
struct tc_tensor *tcrt_hand_out(const struct tc_tensor *t);
/* t is the result of the innermost body, and belongs to whatever scope is open around that.  Returns t. */
struct tc_tensor *tcrt_returned(const struct tc_tensor *t);
/* Around a call of what nobody sees into: tensors that it makes are not the body's.  The first returns
 * what the second takes. */
struct tc_scope *tcrt_body_leave(void);
void tcrt_body_resume(struct tc_scope *left);

/* Are gradients recorded in this thread?  Then an operand with an autograd link is the body's. */
bool tcrt_recording(void);

/* Whether gradients are taken with respect to x: it is a leaf of the tape, and what is computed is recorded. */
bool tcrt_leaf(const struct tc_tensor *x);
/* Whether x may be written: it does not share its memory with a leaf, or nothing is recorded. */
bool tcrt_may_write(const struct tc_tensor *x);

/* Of an operand or result of a compiled function that eager code differentiates. */
enum {
  TCRT_NEEDED = 1, /* the backward part reads its elements */
  TCRT_MOVES = 2   /* an operand: it has a gradient; a result: it has a cotangent */
};

/* A compiled function in two calls.  The forward part takes the operands, and makes the results and behind them what
 * is saved.  The backward part takes the operands, the cotangents of results that move, in their order, the results, and
 * what was saved; of those that are not needed, a header without memory.  Behind its scalars stands which
 * gradients are wanted, a bit each, the last one for all from 63 on; it makes these, in the order of the operands, and
 * leaves out[] of the others NULL or a tensor of undefined contents. */
typedef struct tcrt_gradient {
  tcrt_function *function; /* the forward part's */
  uint32_t operands, scalars, results, saved;
  const uint8_t *operand, *result; /* flags; `saved` more behind those of results */
  const uint64_t *depends; /* [results][(operands + 63) / 64] bit i: the result moves with operand i */
  tcrt_entry *forward, *backward;
} tcrt_gradient;

/* The forward part, with its backward part on the tape.  Takes and returns what an entry does. */
int tcrt_train(const tcrt_gradient *g, const struct tc_tensor *const *in, const tc_value *scalar,
               struct tc_tensor **out);

/* Kernels wrote elements of x: a gradient that needs those before is refused (tcompile.h). */
void tcrt_written(const struct tc_tensor *x);

/* Copies the elements of x, of any strides, to dst in row-major order. */
void tcrt_pack(const struct tc_tensor *x, void *dst);

/* Copies elements in row-major order to those of x, of any strides. */
void tcrt_unpack(const struct tc_tensor *x, const void *src);

/* Whether each element of x can be written: its memory is not read-only, and no two elements share a place. */
bool tcrt_may_unpack(const struct tc_tensor *x);

/* What one thread of a team does: share `thread` of `threads`. */
typedef void tcrt_share(void *arg, int thread, int threads);

/* Calls share in every thread of a team, this thread among them, and returns when all are done.  The team is one of
 * the OpenMP runtime that the process has, which says how many threads it gets; at most `most`, where that is not 0. */
void tcrt_team(tcrt_share *share, void *arg, int most);

/* In a share, of a team of several threads: waits until all of them are here. */
void tcrt_barrier(void);

/* How many threads a team gets at most; 1 in a process without an OpenMP runtime. */
int tcrt_max_threads(void);

/* Whether a team pays for so much work, of which more than `least` pays for one where every thread has a processor. */
int tcrt_team_pays(int64_t work, int64_t least);

/* Fills *header, which the caller owns and which lives for the call, as a tensor over the layout's
 * memory; returns it.  A layout that is none of a tensor gives TC_FLAG_BROKEN and nothing else. */
const struct tc_tensor *tcrt_borrow(struct tc_tensor *header, const tc_layout *layout);

/* Smallest and largest byte address that t's elements touch: alias guards.  false: empty. */
bool tcrt_extent(const struct tc_tensor *t, uintptr_t *lo, uintptr_t *hi);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
