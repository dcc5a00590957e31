/* tcompile/cuda.h - what generated code for CUDA and libtcrt agree on.
 *
 * Users include <tcompile.h> and never look in here.  Nothing in this header needs a file of CUDA:
 * libcuda is opened by the runtime when a program first asks for a device, and a program that never
 * does runs where there is none.  Part of the ABI that TC_ABI_VERSION numbers.
 *
 * An entry reads, once its guards hold:
 *
 *   tcrt_cuda_call c;
 *   if (!tcrt_cuda_begin(&c, in[0])) return tcrt_miss(f, TC_MISS_MEMORY, ...);
 *   tcrt_cuda_record(&c, f);                        only with mode=reduce-overhead
 *   y = tcrt_cuda_new(&c, ...); w = tcrt_cuda_workspace(&c, bytes);   NULL: failed
 *   failed = launcher(&c, buf, sym, scalar) || ...;
 *   if (tcrt_cuda_end(&c, failed)) { tcrt_delete(y); return tcrt_miss(f, TC_MISS_MEMORY, ...); }
 *
 * Every begin that gave 1 is followed by one end in the same thread; nothing in between waits for
 * the device.  Results of functions that return int: 0 is success, another value a CUresult, but
 * for tcrt_cuda_begin. */
#ifndef TCOMPILE_CUDA_H
#define TCOMPILE_CUDA_H

#include <tcompile/abi.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- images ---------------------------------------------------------------------------------- */

/* The machine code, or the PTX, of several images, packed together, for it has much in common.
 * Constant but for `bytes`, which starts as NULL and belongs to the runtime: they are unpacked once,
 * by the first launch that needs one of them, whatever thread makes it. */
typedef struct tcrt_cuda_packed {
  const void *data;
  uint64_t size, packed; /* bytes when unpacked, and of data */
  void *bytes;
} tcrt_cuda_packed;

/* Machine code for one architecture, or PTX that the driver compiles for any newer one. */
typedef struct tcrt_cuda_blob {
  uint32_t arch; /* 80, 90 */
  uint32_t ptx;  /* 1: text, ended by a zero byte */
  const void *data; /* NULL: it is in a pack, and begins at this byte when that is unpacked */
  tcrt_cuda_packed *pack;
  uint64_t at;
} tcrt_cuda_blob;

/* The kernels of one text.  Constant but for `loaded`, which starts as NULL and belongs to the
 * runtime: the image is loaded once per device, by the first launch, whatever thread makes it.  The
 * newest machine code of the device's major version and of at most its minor one is taken, else
 * the newest PTX the device can take. */
typedef struct tcrt_cuda_image {
  const char *name; /* for messages */
  uint32_t nfunction, nblob;
  const char *const *function; /* names of the __global__ functions */
  const tcrt_cuda_blob *blob;
  void *loaded;
} tcrt_cuda_image;

/* Frees what was loaded; for destructors in generated text (a library that is closed).  NULL and
 * images that nobody launched are fine. */
void tcrt_cuda_unload(tcrt_cuda_image *image);

/* Frees what a pack was unpacked into, behind the unloading of its images. */
void tcrt_cuda_drop(tcrt_cuda_packed *pack);

/* ---- a call ---------------------------------------------------------------------------------- */

/* What launch sizes depend on. */
typedef struct tcrt_cuda_info {
  int32_t arch;          /* 10 * major + minor */
  int32_t sms;           /* multiprocessors */
  int32_t max_shared;    /* bytes per block, with opt-in */
  int32_t shared_per_sm; /* bytes */
  int32_t threads_per_sm;
  int32_t registers_per_sm; /* of 32 bits */
  int32_t l2_bytes;
  int32_t max_grid_x, max_grid_y;
} tcrt_cuda_info;

typedef struct tcrt_cuda_call {
  const tcrt_cuda_info *info;
  int32_t device; /* index */
  void *stream;   /* CUstream: the thread's current one */
  int *bad; /* address for the device of a word that a kernel sets to 1 at an index out of range */
  void *state, *recording; /* the runtime's */
} tcrt_cuda_call;

/* Makes the device of `first` (NULL: the default device) current for this thread and fills c.  0:
 * there is no driver or no such device; an error is set. */
int tcrt_cuda_begin(tcrt_cuda_call *c, const struct tc_tensor *first);

/* From here to the end launches and products are collected, and tcrt_cuda_end submits them as one
 * CUDA graph.  Graphs are kept per thread and found by `tag` and the sequence of kernels;
 * addresses, sizes, grids are free to differ from call to call.  Where graphs do not work, the
 * calls are made one by one. */
void tcrt_cuda_record(tcrt_cuda_call *c, const void *tag);

/* While recording: what is queued from here to the next such call is kernel 0, 1, ... of the call, in the
 * order of these calls (its launches run one after the other), and need only wait for the n kernels that
 * are listed, each less than its own number; with none for what was queued in front of kernel 0.  Without
 * such calls each launch waits for the one before.  The list is read until the next call of `tag`'s
 * function ends: it is a table of the program. */
void tcrt_cuda_after(tcrt_cuda_call *c, const uint32_t *kernel, uint32_t n);

/* What is queued from here on waits for all that was queued so far. */
void tcrt_cuda_after_all(tcrt_cuda_call *c);

/* Submits what was collected; `failed` drops it.  0: everything is under way.  Another value sets
 * tc_error only when the context is broken (an earlier kernel failed), so that the body can run. */
int tcrt_cuda_end(tcrt_cuda_call *c, int failed);

/* Queues one kernel: args points to the nargs parameters, EACH 8 BYTES WIDE (a pointer, int64_t or
 * double); they are copied.  An empty grid launches nothing.  Shared memory past 48 KiB is asked
 * for as needed; more than info->max_shared fails. */
int tcrt_cuda_launch(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function,
                     unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned shared,
                     void *const *args, unsigned nargs);

/* The same for a kernel that waits for those in front of it by itself where its code is for Hopper
 * or newer (griddepcontrol): it is launched while they run. */
int tcrt_cuda_follow(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function,
                     unsigned grid, unsigned block, unsigned shared, void *const *args,
                     unsigned nargs);

/* The same for a kernel of one parameter, a struct of 4096 bytes, the words of a table; they are copied. */
enum { TCRT_CUDA_WORDS = 512 };
int tcrt_cuda_follow_table(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function, unsigned grid,
                           unsigned block, const uint64_t word[TCRT_CUDA_WORDS]);

/* Scratch memory of this thread, device and stream, 256-byte aligned, kept between calls and grown
 * when needed (old contents are lost); a second call within one begin..end gives the same memory.
 * NULL when there is none. */
void *tcrt_cuda_workspace(const tcrt_cuda_call *c, size_t bytes);

/* A new contiguous tensor on the device, owned by the current scope, contents undefined.  NULL with
 * an error.  tcrt_delete frees it. */
struct tc_tensor *tcrt_cuda_new(const tcrt_cuda_call *c, tc_dtype dtype, int rank,
                                const int64_t *dim);

/* Queues a copy of the elements of x, of any strides, to dst in row-major order. */
int tcrt_cuda_pack(const tcrt_cuda_call *c, const struct tc_tensor *x, void *dst);

/* Queues dst[index] = x[index] over x's shape: dst has strides of its own (in elements). */
int tcrt_cuda_copy(const tcrt_cuda_call *c, const struct tc_tensor *x, void *dst,
                   const int64_t *stride);

/* ---- products by cuBLASLt -------------------------------------------------------------------- */

typedef enum tcrt_cuda_epilogue {
  TCRT_MM_NONE,
  TCRT_MM_RELU,
  TCRT_MM_GELU_TANH /* the library has the tanh approximation only: tc_gelu_tanh, not tc_gelu */
} tcrt_cuda_epilogue;

/* c[p][i][j] = epilogue(sum_k a[p][i][k] * b[p][k][j] + bias[j]), everything row-major.  Sums are
 * in f32 for f32, f16, bf16 (products of f32 are not rounded to TF32 unless asked), in f64 for f64.
 */
typedef struct tcrt_cuda_mm {
  const void *a, *b;
  void *c;
  const void *bias; /* [n], of the dtype; NULL: none */
  int64_t batch, m, n, k;
  int64_t lda, ldb, ldc;              /* elements from row to row as stored */
  int64_t step_a, step_b, step_c;     /* elements from matrix to matrix; 0 repeats a or b */
  uint8_t dtype;                      /* TC_F32, TC_F64, TC_F16, TC_BF16: of a, b, bias and c */
  uint8_t transposed_a, transposed_b; /* a is stored as [k,m], b as [n,k] */
  uint8_t epilogue;                   /* tcrt_cuda_epilogue */
  uint8_t tf32;                       /* 1: f32 products may be rounded to TF32 */
  uint8_t wide_c;                     /* 1: c is f32, whatever a and b are (not f64); there is no bias */
} tcrt_cuda_mm;

/* 0: queued.  Nonzero: the library is missing (or too old), or has no algorithm for these sizes and
 * strides; no error is set, and a generated kernel is to do it.  k == 0 and empty results are
 * nonzero too, unless there is nothing to write. */
int tcrt_cuda_matmul(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm);

/* ---- eager ops: libtcrt-cuda.so -------------------------------------------------------------- */

/* The table of one-op functions compiled into libtcrt-cuda.so: the graphs that
 * runtime/libtcrt-cuda/oneop.h enumerates, each as an entry under its key ("add.f32.vv").  These
 * entries check neither tcrt_enabled nor anything else that could make them fall back, and their
 * functions are not registered (tc_stats does not count them). */
typedef struct tcrt_cuda_op {
  const char *key;
  tcrt_entry *entry;
} tcrt_cuda_op;

typedef struct tcrt_cuda_table {
  uint32_t abi; /* TC_ABI_VERSION */
  uint32_t count;
  const tcrt_cuda_op *op; /* sorted by key (strcmp) */
} tcrt_cuda_table;

/* Defined by the generated text, used by runtime/libtcrt-cuda. */
extern const tcrt_cuda_table tcrt_cuda_one_ops;

/* What libtcrt finds in libtcrt-cuda.so by name: runs one op on device operands.  `call` is
 * libtcrt's own description of the op, `build` says which libtcrt that is. */
struct tc_eager_call;
typedef struct tcrt_cuda_eager {
  const char *build; /* must equal libtcrt's: both come from one build */
  struct tc_tensor *(*run)(const struct tc_eager_call *call, int nattr);
} tcrt_cuda_eager;
extern const tcrt_cuda_eager tcrt_cuda_eager_ops;

/* Sets tc_error for libtcrt-cuda (see tc_fail); always NULL. */
void *tcrt_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
