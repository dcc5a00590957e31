/* text_sizes.h - sizes, types and what is known of sizes, in lines of text: what the text forms of
 * a graph (graph/text.h) and of loops (lower/loop.h) share. */
#ifndef TC_TEXT_SIZES_H
#define TC_TEXT_SIZES_H

#include "graph/graph.h"
#include "graph/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "B 1..4096 %8", "n 0..inf = scalar 0", "own0 = own",
 * "pitch0 = pitch 0 1": of input 0, whose last axis is 1. */
void tc_put_symbol(const tc_sym *s, tc_buf *out);
/* "sym B 1..4096 %8": of each symbol that is more than a size >= 0, in order of declaration. */
void tc_put_symbols(tc_dims *c, tc_buf *out);
/* "assume B = N", "assume B-N in 0..inf". */
void tc_put_assumptions(tc_dims *c, tc_buf *out);

/* The next words of a line; false after tc_words_fail. */
bool tc_words_dtype(tc_words *w, tc_dtype *d);
bool tc_words_dim(tc_words *w, tc_dims *c, tc_dim *d);
bool tc_words_number(tc_words *w, double *v);            /* as tc_put_double writes it */
bool tc_words_type(tc_words *w, tc_dims *c, tc_type *t); /* up to the ']' that closes the shape */
bool tc_words_symbol(tc_words *w, tc_dims *c);           /* as tc_put_symbol writes it */
bool tc_words_assumption(tc_words *w, tc_dims *c);       /* behind "assume" */

#ifdef __cplusplus
}
#endif
#endif
