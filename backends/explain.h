/* explain.h - what an object says about how its functions were compiled; tc-explain reads it.
 *
 * A section of the object holds text, one row a line: a word that says what the row is, and its
 * fields, each behind a tab; \t, \n and \\ stand for tab, newline and backslash within fields.  A
 * row belongs to the nearest row of its parent's kind above it.  The section is not loaded, and
 * linkers put those of several objects one behind the other: each begins with a UNIT row, whose
 * first field is the version of the format. */
#ifndef TC_EXPLAIN_H
#define TC_EXPLAIN_H

#include "autodiff/partition.h"
#include "backends/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TC_EXPLAIN_SECTION ".tcompile.explain"
#define TC_EXPLAIN_VERSION "5"

/* Places of code that was inlined from another file than the function's name that file: as FILE:LINE
 * among the lines of a kernel, and as the last field elsewhere, which is empty otherwise.
 *
 * X(id, word, name of a list of them, parent, fields).  A field is name:kind, with kind
 *   s text   n integer >= 0   l list of words, parted by commas
 *   e integer expression of sizes, in the notation of TC_SHAPE; a SIZE says what the program calls one
 *     that is a member's: b__H, b->H */
#define TC_EXPLAIN_ROWS(X)                                                                         \
  X(UNIT, "unit", "units", NONE, "version:n file:s")                                               \
  X(FUNCTION, "function", "functions", UNIT, "name:s file:s line:n")                               \
  X(SIGNATURE, "signature", "signature", FUNCTION,                                                 \
    "symbol:s returns:s kind:s needs:l obstacle:s")                                                \
  X(PARAMETER, "parameter", "parameters", SIGNATURE,                                               \
    "name:s declaration:s kind:s shape:s needs:l obstacle:s")                                      \
  X(BREAK, "break", "breaks", FUNCTION, "line:n column:n reason:s remedy:s file:s")                \
  X(SEGMENT, "segment", "segments", FUNCTION, "line:n sizes:s ops:n flops:e")                      \
  X(SIZE, "size", "names", SEGMENT, "name:s written:s")                                            \
  X(GUARD, "guard", "guards", SEGMENT, "condition:s")                                              \
  X(RESULT, "result", "results", SEGMENT, "type:s")                                                \
  X(TRAINING, "training", "training", SEGMENT, "bytes:e repeated:l")                               \
  X(SAVED, "saved", "saved", TRAINING, "value:s type:s line:n bytes:e file:s")                     \
  X(VARIANT, "variant", "variants", SEGMENT, "device:s part:s workspace:e")                        \
  X(KERNEL, "kernel", "kernels", VARIANT,                                                          \
    "name:s symbol:s levels:l lines:l ops:l flops:e bytes:e")                                      \
  X(STOP, "stop", "stops", KERNEL, "value:s line:n reader:s bytes:e reason:s file:s")

typedef enum {
  TC_EXPLAIN_NONE = -1,
#define TC_EXPLAIN_ID(id, ...) TC_EXPLAIN_##id,
  TC_EXPLAIN_ROWS(TC_EXPLAIN_ID)
#undef TC_EXPLAIN_ID
      TC_EXPLAIN_COUNT
} tc_explain_row;

/* Rows without expressions of sizes.  The text of a break is split at the first "; ": reason and
 * remedy. */
void tc_explain_unit(const char *file, tc_buf *out);
void tc_explain_function(const char *name, const char *file, uint32_t line, tc_buf *out);
void tc_explain_break(const char *file, uint32_t line, uint32_t column, const char *text,
                      tc_buf *out);

/* A type of a function's signature, for programs that declare the function anew (tc-export). */
typedef struct tc_explain_type {
  const char *text;     /* "double"; of a parameter with its name, "const tc_tensor *x" */
  const char *kind;     /* tensor, result (tc_tensor **), float, int, bool, none (void), struct (a pointer to one), other */
  const char *needs;    /* what has to stand in front, parted by commas: "model.h" or <model.h>, struct model */
  const char *obstacle; /* why other files cannot say it; "": they can */
} tc_explain_type;

/* The signature of the function at hand.  symbol: the linker's name; "": there is none that C can say, and returns->obstacle tells why. */
void tc_explain_signature(const char *symbol, const tc_explain_type *returns, tc_buf *out);
/* Its next parameter.  shape: the text of TC_SHAPE, or "". */
void tc_explain_parameter(const char *name, const char *shape, const tc_explain_type *type, tc_buf *out);
/* A segment, its guards and the types of its results, which do not depend on the device; g: optimised. */
void tc_explain_segment(const tc_function *f, tc_graph *g, tc_buf *out);
/* What calls save for their gradients, in tensors of the joint graph, and the ops that the backward part repeats. */
void tc_explain_training(const tc_function *f, tc_graph *joint, const tc_partition *p, tc_buf *out);
/* What it was compiled to for one device, with the external names and ISA levels of the kernels.  part: "", or which
 * of the two calls that eager code differentiates it by: "training", "gradients". */
void tc_explain_variant(const tc_function *f, const char *device, const char *part,
                        const tc_program *p, const char *const *names, const uint32_t *levels,
                        tc_buf *out);

#ifdef __cplusplus
}
#endif
#endif
