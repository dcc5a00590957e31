/* support.h - what every layer of the compiler core shares: text buffers, growing arrays, arenas,
 * hashing, source locations, diagnostics.
 *
 * Memory: these return false / NULL on exhaustion and leave their object as it was; callers carry
 * the failure up as an internal diagnostic, and the function being compiled stays eager. */
#ifndef TC_SUPPORT_H
#define TC_SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct tc_buf {
  char *text; /* always NUL-terminated once something was written; NULL before */
  size_t len, cap;
  bool failed; /* an allocation failed: text is incomplete */
} tc_buf;

void tc_buf_free(tc_buf *b);
void tc_buf_clear(tc_buf *b);
void tc_put(tc_buf *b, const char *s);
void tc_putn(tc_buf *b, const char *s, size_t n);
void tc_putf(tc_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tc_vputf(tc_buf *b, const char *format, va_list ap);
/* what is left of it; false: it cannot be read, or b failed */
bool tc_put_rest(tc_buf *b, FILE *file);
/* shortest C literal that reads back equal; INFINITY, NAN */
void tc_put_double(tc_buf *b, double v);

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Grows *items (of `size` bytes each) so that one more fits; false: out of memory. */
bool tc_grow(void **items, size_t *cap, size_t count, size_t size);

/* A typed growing array: TC_VEC(int) v = {0}; if (!tc_push(&v, 3)) ...; v.at[i], v.n */
#define TC_VEC(T) struct { T *at; size_t n, cap; }
#define tc_push(v, item)                                                                           \
  (tc_grow((void **)&(v)->at, &(v)->cap, (v)->n, sizeof *(v)->at)                                  \
       ? ((v)->at[(v)->n++] = (item), true)                                                        \
       : false)

/* ---- arena: everything is freed at once ------------------------------------------------------ */

typedef struct tc_arena tc_arena;
tc_arena *tc_arena_new(void);
void tc_arena_free(tc_arena *a);
void *tc_arena_alloc(tc_arena *a, size_t bytes); /* zeroed, 16-byte aligned; NULL */
char *tc_arena_str(tc_arena *a, const char *s);

/* ---- hashing --------------------------------------------------------------------------------- */

/* stable across runs and machines: names kernels */
uint64_t tc_hash(const void *data, size_t n, uint64_t seed);

/* ---- places in the user's source, and messages there ----------------------------------------- */

typedef struct tc_loc {
  uint32_t file; /* number that the frontend gives the file; 0: none */
  uint32_t line, col;
  uint32_t raw; /* the frontend's own encoding, carried through unchanged */
} tc_loc;

typedef enum { TC_NOTE, TC_REMARK, TC_MISSED, TC_WARNING, TC_ERROR } tc_severity;

/* Where messages go.  The plugin prints them at the caret; tests collect them. */
typedef struct tc_diag {
  void (*emit)(void *self, tc_severity s, tc_loc loc, const char *text);
  void *self;
} tc_diag;

void tc_report(tc_diag *d, tc_severity s, tc_loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5))); /* d may be NULL */
void tc_vreport(tc_diag *d, tc_severity s, tc_loc loc, const char *format, va_list ap)
    __attribute__((format(printf, 4, 0)));

#ifdef __cplusplus
}
#endif
#endif
