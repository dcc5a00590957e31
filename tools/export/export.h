/* export.h - inside of tc-export: arguments -> an object -> its function, from the rows of
 * backends/explain_rows.h -> texts -> a module, an archive, a manifest.  All strings live as long
 * as the request. */
#ifndef TC_TOOL_EXPORT_H
#define TC_TOOL_EXPORT_H

#include "tools/explain/explain.h"

typedef TC_VEC(const char *) export_words;

/* ---- what is asked for ----------------------------------------------------------------------- */

typedef struct export_request {
  tc_arena *arena;
  const char *input, *function; /* a source, or an object that a plugin made */
  const char *name;             /* out: NAME.so, NAME.h, ... */
  bool is_static, archive, cplusplus, from_object;
  const char *weights;   /* a .safetensors file, or NULL */
  export_words bindings; /* PARAM=TENSOR */
  export_words flags;    /* behind -- */
  const char *folder;    /* of files on the way */
} export_request;

/* "tc-export: ..." on stderr; false. */
bool export_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A formatted string that lives as long as r; "" out of memory, which was reported. */
const char *export_text(const export_request *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *export_base(const char *path); /* behind the last slash */

/* ---- files.c --------------------------------------------------------------------------------- */

bool export_read(const char *path, tc_buf *out);
bool export_write(const char *path, const void *bytes, size_t n);
bool export_exists(const char *path);
/* Copies to a file beside `to`, and moves that: whoever reads `to` sees the old file or the new
 * one. */
bool export_place(const char *from, const char *to);
bool export_begin_folder(export_request *r);
void export_end_folder(const export_request *r);

/* ---- function.c: what the object says of it -------------------------------------------------- */

typedef struct export_parameter {
  const char *name, *declaration, *kind, *shape, *needs, *obstacle;
  const char *tensor; /* that it is bound to, or NULL */
  int bound;          /* its number among those */
} export_parameter;

typedef struct export_function {
  const explain_rows *rows;
  size_t row; /* of the function */
  const char *name, *file, *line;
  const char *symbol, *returns, *kind, *needs;
  TC_VEC(export_parameter) parameter;
  const char *result; /* the type of its only result, where it is known; or NULL */
} export_function;

/* Reads the function's rows out of the object.  false after telling what is wrong: there is no such
 * function, it cannot be declared anew.  Warns where its body is all there is. */
bool export_find(const export_request *r, const char *object, explain_rows *rows, tc_buf *text,
                 export_function *f);

bool export_is_kind(const char *kind, const char *want);
bool export_is_number(const char *kind);

/* ---- weights.c: parameters that become constants --------------------------------------------- */

typedef struct export_weight {
  const char *parameter, *tensor, *file, *type; /* type: "f32[784,10]" */
  int rank;
  const char *dtype, *dims; /* "TC_F32", "784, 10" */
  size_t bytes;
  const char *path; /* of its elements, in the folder */
} export_weight;

typedef struct export_weights {
  TC_VEC(export_weight) at;
  const char *sizes; /* of TC_SHAPE that they fix, "H=256, K=10" */
} export_weights;

/* Checks each against the TC_SHAPE of its parameter and the others', marks the parameter as
 * bound. */
bool export_bind(const export_request *r, export_function *f, export_weights *w);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* NAME.h */
void export_header(const export_request *r, const export_function *f, const export_weights *w,
                   tc_buf *out);
/* C of the module itself: the exported function around the one of the object (by the name
 * EXPORT_BODY), weights, and what the loader reads. */
void export_glue(const export_request *r, const export_function *f, const export_weights *w,
                 tc_buf *out);
#define EXPORT_BODY "tc_exported_body"
#define EXPORT_MARK "made by tc-export" /* in the header */
/* Of result i, the returned one first; NULL behind the last. */
const char *export_result_text(const export_request *r, const export_function *f, int i);

/* ---- build.c: the tools that make objects and libraries -------------------------------------- */

/* SOURCE -> an object with kernels, and the folder of its graphs. */
bool export_compile(const export_request *r, const char **object);
/* The object, the header and the glue -> the module or archive, in the folder. */
bool export_link(const export_request *r, const export_function *f, const char *object,
                 const char *glue, const char **made);

/* ---- place.c: what comes out ----------------------------------------------------------------- */

/* Whether the names are free, or have files that tc-export made: model.h is a likely name of
 * another beside model.c. */
bool export_may_place(const export_request *r);
/* The header and the glue, in the folder. */
bool export_texts(const export_request *r, const export_function *f, const export_weights *w,
                  const char *glue);
/* Puts a tcrt_module_end behind the module. */
bool export_seal(const char *path);
/* All files to where they belong, the manifest last; tells of them. */
bool export_files_of(const export_request *r, const export_function *f, const export_weights *w,
                     const char *made);

/* ---- manifest.c ------------------------------------------------------------------------------ */

/* Files that were made, by kind: "module", "archive", "header", "graphs". */
typedef struct export_file {
  const char *kind, *name; /* in the folder of the manifest */
  uint64_t bytes, checksum;
} export_file;

typedef struct export_files {
  export_file at[4];
  int n;
} export_files;

void export_manifest(const export_request *r, const export_function *f, const export_weights *w,
                     const export_files *files, tc_buf *out);
/* --check: whether the manifest, and the files that it names, are as they were made. */
bool export_check(const char *path);

#endif
