/* layouts.h - layouts that nobody would choose, for tests of those who read them. */
#ifndef TC_TEST_LAYOUTS_H
#define TC_TEST_LAYOUTS_H

#include "lower/loop.h"

/* A layout of an array of type t: axes in the order that `number` says, of which most numbers pad some,
 * and some put one in blocks. */
tc_buf_layout test_layout(tc_dims *c, const tc_type *t, uint32_t number);

/* How a target chooses: buffer i gets the layout of number test_layouts_from + i. */
extern uint32_t test_layouts_from;
bool test_layouts(const tc_program *p, uint32_t i, tc_buf_layout *out);

/* Buffers of the program that have one. */
uint32_t count_layouts(const tc_program *p);

#endif
