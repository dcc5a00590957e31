/* mm_case.h - matmul kernels built by hand in the loop IR, emitted, compiled for an ISA level by
 * the compiler that built the tests, and loaded: for the tests of generated matrix products and
 * their benchmark.
 *
 *   C[b,m,n] = epilogue(sum over k of prologue(A[b,m,k]) * prologue(B[b,k,n])) */
#ifndef TC_MM_CASE_H
#define TC_MM_CASE_H

#include "backends/openmp/emit.h"

typedef enum {
  MM_ROWS,
  MM_COLS,
  MM_STRIDED
} mm_layout; /* k of A (n of B) contiguous; m (k); neither */

typedef struct mm_case {
  tc_dtype operand, out;
  int64_t m, n, k;
  mm_layout a, b;
  int nbatch; /* 0 .. 2 */
  int64_t batch[2];
  bool b_batched; /* B has the batch axes too */
  bool symbolic;  /* sizes are symbols M, N, K */
  bool prologue;  /* relu(A) + row[m], B * col[n] */
  bool epilogue;  /* relu(product + bias[n]) + C0[b,m,n] */
} mm_case;

/* Buffers of a case in the kernel's order.  Pad: elements between rows, batches. */
enum { MM_A, MM_B, MM_C, MM_BIAS, MM_C0, MM_ROW, MM_COL, MM_BUFFERS };

int64_t mm_batches(const mm_case *c);
int64_t mm_numel(const mm_case *c, int buffer); /* elements with gaps; at least 1 */
tc_dtype mm_dtype(const mm_case *c, int buffer);
int64_t mm_a_at(const mm_case *c, int64_t batch, int64_t m, int64_t k);
int64_t mm_b_at(const mm_case *c, int64_t batch, int64_t k, int64_t n);
int64_t mm_c_at(const mm_case *c, int64_t batch, int64_t m, int64_t n);

/* Appends the kernel, and an external function mm_<number> that calls it. */
bool mm_emit(const mm_case *c, int number, tc_buf *out);
/* Scratch bytes: shared, per thread. */
void mm_scratch(const mm_case *c, int64_t *shared, int64_t *own);

typedef int mm_function(void *const *buf, const int64_t *sym, const void *scalar);
/* Compiles kernels for a level (options: "-O3") and loads them; NULL after printing why. */
void *mm_load(const char *kernels, tc_isa level, const char *options);
mm_function *mm_find(void *library, int number);
bool mm_runs(tc_isa level); /* does this machine have the level? */
const char *mm_level(tc_isa level);

/* Elements as double, rounded to dtype when written; integers as C converts. */
double mm_get(const void *p, tc_dtype d, int64_t i);
void mm_set(void *p, tc_dtype d, int64_t i, double v);

#endif
