/* explain_rows.h - the format of what an object says about how its functions were compiled: written
 * by explain.h, read by tc-explain and tc-export.
 *
 * It is text, one row a line: a word that says what the row is, and its fields, each behind a tab;
 * \t, \n and \\ stand for tab, newline and backslash within fields.  A row belongs to the nearest
 * row of its parent's kind above it.  A section of the object holds it, packed: a line
 *   packed <bytes of text> <packed bytes>
 * with a tab in front of each number, and behind it these bytes, which are .xz.  The section is not
 * loaded, and linkers put those of several objects one behind the other: the text of each begins
 * with a UNIT row, whose first field is the version of the format. */
#ifndef TC_EXPLAIN_ROWS_H
#define TC_EXPLAIN_ROWS_H

#define TC_EXPLAIN_SECTION ".tcompile.explain"
#define TC_EXPLAIN_VERSION "6"
#define TC_EXPLAIN_PACKED "packed"

/* Places of code that was inlined from another file than the function's name that file: as
 * FILE:LINE among the lines of a kernel, and as the last field elsewhere, which is empty otherwise.
 *
 * X(id, word, name of a list of them, parent, fields).  A field is name:kind, with kind
 *   s text   n integer >= 0   l list of words, parted by commas
 *   e integer expression of sizes, in the notation of TC_SHAPE; a SIZE says what the program calls one
 *     that is a member's: b__H, b->H */
#define TC_EXPLAIN_ROWS(X)                                                                         \
  X(UNIT, "unit", "units", NONE, "version:n file:s")                                               \
  X(FUNCTION, "function", "functions", UNIT, "name:s file:s line:n")                               \
  X(PROFILE, "profile", "profile", FUNCTION, "sizes:s calls:n of:n")                               \
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

#endif
