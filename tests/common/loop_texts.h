/* loop_texts.h - programs written by hand as loop IR, and graphs that compute the same: for the interpreter, and for the
 * kernels of every backend. */
#ifndef TC_TEST_LOOP_TEXTS_H
#define TC_TEST_LOOP_TEXTS_H

#include "lower/loop.h"
#include "tests/common/interp.h"

typedef struct loop_text {
  const char *what, *loops, *graph;
} loop_text;

extern const loop_text loop_texts[];
extern const int loop_text_count;

/* p, lowered from by->graph or one with the same inputs, results and symbols, runs as `by`, which it borrows from. */
void loop_text_take(tc_program *p, const tc_program *by);

enum { LOOP_TEXT_SETS = 3 }; /* of sizes */
/* A value for input i of a graph of one of the texts; its sizes are those of that set. */
interp_array *loop_text_input(tc_graph *g, uint32_t i, int set);

#endif
