/* explain.h - writes what an object says about how its functions were compiled: rows of
 * explain_rows.h. */
#ifndef TC_EXPLAIN_H
#define TC_EXPLAIN_H

#include "autodiff/partition.h"
#include "backends/backend.h"
#include "backends/explain_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows without expressions of sizes.  The text of a break is split at the first "; ": reason and
 * remedy. */
void tc_explain_unit(const char *file, tc_buf *out);
void tc_explain_function(const char *name, const char *file, uint32_t line, tc_buf *out);
void tc_explain_break(const char *file, uint32_t line, uint32_t column, const char *text,
                      tc_buf *out);

/* Sizes that a shape profile chose for the function at hand, and the calls with them, of all. */
void tc_explain_profile(const char *sizes, uint64_t calls, uint64_t all, tc_buf *out);

/* A type of a function's signature, for programs that declare the function anew (tc-export). */
typedef struct tc_explain_type {
  const char *text;     /* "double"; of a parameter with its name, "const tc_tensor *x" */
  /* tensor, result (tc_tensor **), float, int, bool, none (void), struct (a pointer to one),
   * other */
  const char *kind;
  /* what has to stand in front, parted by commas: "model.h" or <model.h>, struct model */
  const char *needs;
  const char *obstacle; /* why other files cannot say it; "": they can */
} tc_explain_type;

/* The signature of the function at hand.  symbol: the linker's name; "": there is none that C can
 * say, and returns->obstacle tells why. */
void tc_explain_signature(const char *symbol, const tc_explain_type *returns, tc_buf *out);
/* Its next parameter.  shape: the text of TC_SHAPE, or "". */
void tc_explain_parameter(const char *name, const char *shape, const tc_explain_type *type,
                          tc_buf *out);
/* A segment, its guards and the types of its results, which do not depend on the device; g:
 * optimised. */
void tc_explain_segment(const tc_function *f, tc_graph *g, tc_buf *out);
/* What calls save for their gradients, in tensors of the joint graph, and the ops that the backward
 * part repeats. */
void tc_explain_training(const tc_function *f, tc_graph *joint, const tc_partition *p, tc_buf *out);
/* What it was compiled to for one device, with the external names and ISA levels of the kernels.
 * part: "", or which of the two calls that eager code differentiates it by: "training",
 * "gradients". */
void tc_explain_variant(const tc_function *f, const char *device, const char *part,
                        const tc_program *p, const char *const *names, const uint32_t *levels,
                        tc_buf *out);

/* The contents of the section, from all rows of a unit. */
void tc_explain_pack(const char *rows, size_t n, tc_buf *out);

#ifdef __cplusplus
}
#endif
#endif
