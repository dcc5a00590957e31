/* variant.h - what the driver makes of one function: a variant from each backend that it is wanted
 * from, and the entry over them.
 *
 * A variant's texts are made in buffers of their own and used only when all of its parts succeeded,
 * so that what cannot be compiled leaves no trace.  Programs live until the entries are printed,
 * when it is known which variants there are. */
#ifndef TC_VARIANT_H
#define TC_VARIANT_H

#include "backends/compile.h"

typedef struct tc_variant {
  const tc_backend *b;
  tc_wish wish;
  bool first;    /* of its function, which is not compiled without it */
  tc_program *p; /* NULL: there is no such variant */
  tc_kernel_text *kernel;
  const char **names; /* of kernels */
  uint32_t *levels;
} tc_variant;

struct tc_pair;

typedef struct tc_job {
  tc_function *f;
  tc_graph *graph;
  struct tc_pair *pair; /* for its gradients (training.h); NULL: there is none */
  uint32_t nvariant;
  tc_variant *v;
} tc_job;

/* Lowers the function for each backend that is asked for, and has its kernels printed. */
void tc_make_variants(const tc_job *j);
void tc_variant_free(tc_variant *v); /* that there is none */

/* How much it matters that there is no such variant; and tells "'f' <what that means>: <why>". */
tc_severity tc_variant_severity(const tc_variant *v);
void tc_report_missing(const tc_job *j, const tc_variant *v, tc_loc loc, const char *why);

uint32_t tc_variants_made(const tc_job *j); /* bits of those that there are */

/* Puts the entry into the host text. */
bool tc_put_entries(const tc_job *j, tc_texts *out);
/* function.c: likewise, and tells what became of the function, which has a first variant. */
bool tc_use_function(const tc_job *j, tc_result *result, tc_texts *out);

#endif
