/* driver.h - what a file of random programs (tools/fuzz) hands to the driver, and calls. */
#ifndef TC_FUZZ_DRIVER_H
#define TC_FUZZ_DRIVER_H

#include <assert.h>
#include <math.h>
#include <tcompile.h>
#include <tcompile/indexing.h>
#include <tcompile/nn.h>
#include <tcompile/optim.h>
#include <tcompile/statistics.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs: usual sizes, other sizes, sizes 0 and 1. */
enum { FUZZ_OPERANDS = 4, FUZZ_OUTPUTS = 4, FUZZ_RUNS = 3 };

typedef enum fuzz_values { FUZZ_NORMAL, FUZZ_POSITIVE, FUZZ_INDEX, FUZZ_FINITE } fuzz_values;

typedef struct fuzz_operand {
  tc_dtype dtype;
  fuzz_values values;
  int64_t bound;    /* INDEX: below this */
  bool written;     /* in place, as a whole or in part */
  bool reshaped;    /* what shares its memory only where it is contiguous is followed */
  bool wrt;         /* gradients are taken with respect to it: a leaf */
  unsigned refused; /* bit a: kernels must not run when size a is one more; 0 where unknown */
  unsigned others;  /* bit d: its TC_SHAPE leaves the choice of dtype d, too */
  int rank;
  int64_t dim[FUZZ_RUNS][TC_MAX_RANK];
} fuzz_operand;

typedef struct fuzz_case {
  const char *name;
  tc_tensor *(*run)(tc_tensor *const *x, tc_tensor **out, double s, int n);
  tc_dtype coarsest; /* of all floating values in it */
  bool writes;       /* some operand is written */
  bool strict; /* one segment over all operands: kernels run for operands that fit, and no others */
  bool may_fall; /* written views or weak tensors may be operands of a segment, whose guards refuse
                    them */
  bool keeps;    /* calls that nobody sees into may keep what it makes */
  bool smooth; /* outputs are gradients of the result, which differences check */
  int combinations; /* of dtypes that operands may have, for each of which there is code */
  int n;
  fuzz_operand in[FUZZ_OPERANDS];
  bool shared; /* two operands lie in one memory: integers may be made of what was written */
} fuzz_case;

/* Runs all cases, or those named by arguments.  Prints one line for each failure and one with the
 * counts; returns 0 when nothing failed. */
int fuzz_main(const fuzz_case *c, size_t n, int argc, char **argv);

/* ---- a struct that programs have instead of tensors ---- */

typedef struct fuzz_box {
  tc_dtype dtype;
  int rank;
  int64_t ne[TC_MAX_RANK], nb[TC_MAX_RANK]; /* innermost first; nb in bytes */
  void *data;
} fuzz_box;

fuzz_box fuzz_box_of(tc_tensor *x);

static inline tc_layout fuzz_layout(const fuzz_box *b) {
  tc_layout l = {};
  l.data = b->data, l.dtype = b->dtype, l.rank = b->rank;
  for (int i = 0; i < b->rank; i++) {
    l.dim[b->rank - 1 - i] = b->ne[i];
    l.stride[b->rank - 1 - i] = b->nb[i];
  }
  return l;
}

static inline tc_tensor *fuzz_view(const fuzz_box *b) { return tc_wrap_layout(fuzz_layout(b)); }

/* ---- calls that the compiler cannot see into: graph breaks with an effect that is checked ---- */

void fuzz_note(int64_t what); /* part of the trace, which has to be the same in order */
void fuzz_log(const char *format, ...);
/* The same from between kernels: a number, and the elements of integers or bool. */
TC_EFFECT void fuzz_mark(int what);
TC_EFFECT void fuzz_seen(const tc_tensor *x, int what);
tc_tensor *fuzz_opaque(const tc_tensor *x); /* -x */
void fuzz_double(tc_tensor *x);             /* x *= 2 in its memory */

/* ---- an operation with a kernel of its own: x, and below it x * scale ---- */

bool fuzz_mirrored_kernel(tc_tensor *out, const tc_tensor *x, double scale);
TC_CUSTOM_OP("f32[2*R,C]", fuzz_mirrored_kernel)
tc_tensor *fuzz_mirrored(const tc_tensor *x TC_SHAPE("f32[R,C]"), double scale);

#ifdef __cplusplus
}
#endif

#endif
