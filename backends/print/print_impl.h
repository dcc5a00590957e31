/* print_impl.h - addresses in parts, for the files of this folder. */
#ifndef TC_PRINT_IMPL_H
#define TC_PRINT_IMPL_H

#include "backends/print/print.h"

/* An address in parts: a scalar base, and per lane the sum of lane * stride and of varying terms.
 */
typedef struct tc_print_place {
  tc_buf base; /* scalar C expression, elements */
  tc_buf lane; /* vector of indices: what varies beyond a unit stride; empty: none */
  tc_buf step; /* C expression: elements between lanes, where that is all that varies */
  bool unit;   /* neighbouring elements */
  bool fixed;  /* the same element in all lanes */
} tc_print_place;

/* Names of index operands are x<tag>_<j>; tc_print_terms prints them. */
void tc_print_terms(tc_print_scope *s, const tc_address *a, tc_val guard, const char *tag);
tc_print_place tc_print_locate(tc_print_scope *s, const tc_address *a, const char *tag);
void tc_print_place_free(tc_print_place *p);

bool tc_print_varies(const tc_print_scope *s, tc_val v); /* from lane to lane */
const char *tc_print_valid(const tc_print_scope *s);     /* number of valid lanes */

/* Forms of a value, bits of `printed`: v<i> in all lanes, u<i> as one element; and that w<i> is there. */
enum { TC_PRINT_LANES = 1, TC_PRINT_SINGLE = 2, TC_PRINT_RUN = 4 };
/* Is it computed as one element, of others?  Does it take no more in one form than in the other? */
bool tc_print_is_single(const tc_print_scope *s, uint32_t id);
bool tc_print_is_leaf(const tc_print_scope *s, uint32_t id);
/* The expression of u<id>; false: of neither kind. */
bool tc_print_single(const tc_print_scope *s, uint32_t id, tc_buf *out);
/* spelling.c */
void tc_print_float(const tc_spelling *w, tc_buf *out, double v, bool single);

#endif
