/* backend.h - what a backend gives, and the driver that turns graphs into C text.
 *
 * A backend is one struct.  The driver optimises and lowers each function's graph and asks the
 * backend for text.  Two texts come out of a translation unit: the host text (guards, launches,
 * registration; compiled once) and the kernel text (compiled once per ISA level in `levels`, each
 * time with -DTC_LEVEL=<name>, which every external name ends in).  Both include nothing: what they
 * need is in the prelude that the backend emits. */
#ifndef TC_BACKEND_H
#define TC_BACKEND_H

#include "lower/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One function (or segment) of the user's. */
typedef struct tc_function {
  const char *symbol;   /* external name of the entry (tcrt_entry), unique in the program */
  const char *name;     /* the user's function */
  const char *file;     /* as written in the user's build, for comments and logs */
  uint32_t line;
  tc_graph *graph;      /* taken over */
  int ops;              /* API calls captured */
} tc_function;

typedef struct tc_texts {
  tc_buf host, kernels;
  uint32_t levels;  /* bit i: compile the kernel text for tc_isa i */
  int functions;    /* that were compiled */
  int kernel_count;
} tc_texts;

/* What became of one function. */
typedef struct tc_result {
  bool compiled;
  int kernels;
} tc_result;

typedef struct tc_backend {
  const char *name; /* "openmp" */
  const tc_target *target; /* what programs are lowered for */
  bool (*supports)(const tc_kernel *k, const tc_program *p); /* false: the function stays eager; never reports */
  uint32_t (*levels)(const tc_kernel *k, const tc_program *p); /* ISA levels that make a difference to this kernel */
  /* The kernel's definition; name receives its external name, from the hash of its text. */
  bool (*emit_kernel)(const tc_kernel *k, const tc_program *p, tc_buf *out, tc_buf *name);
  /* The entry: guards, packing of strided operands, workspace, results, launches. */
  bool (*emit_entry)(const tc_function *f, const tc_program *p, const char *const *kernel_names,
                     const uint32_t *kernel_levels, tc_buf *out);
  /* Once, last: puts in front of both texts what they use, and behind them the unit's registration. */
  bool (*emit_unit)(const tc_function *f, const tc_result *result, int n, tc_texts *out);
} tc_backend;

extern const tc_backend tc_backend_openmp;

/* Compiles n functions into texts.  A function that cannot be compiled is reported (TC_MISSED) to
 * its graph's diag and left out; result[i] says which.  Fusion is reported as TC_REMARK.  false:
 * internal failure (reported); nothing is to be used then. */
bool tc_compile_functions(const tc_backend *b, tc_function *f, int n, tc_result *result, tc_texts *out);

#ifdef __cplusplus
}
#endif
#endif
