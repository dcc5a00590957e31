/* text.h - texts as tokens, one a byte, by the numbers that GPT-2's vocabulary has for them. */
#ifndef SAMPLE_TEXT_H
#define SAMPLE_TEXT_H

#include <tcompile.h>

#define LICENSE_TEXT "/usr/share/common-licenses/GPL-3" /* on every Debian */

/* The tokens of a file, i64[N]; a message and exit when it is missing or shorter than `least`. */
tc_tensor *text_read(const char *path, int64_t least);
/* B pieces of L tokens, i64[B,L], from anywhere in the text; B <= 64. */
tc_tensor *text_pieces(const tc_tensor *text, int64_t B, int64_t L, uint64_t *seed);
/* Prints a byte; lines begin with "# ", for they are no answers: one number that is rounded otherwise
 * may change all that follows. */
void text_put(int64_t token);
/* The likeliest token by the scores of all, [1,V]. */
int64_t text_likeliest(const tc_tensor *scores);

#endif
