/* serial.h - what the files of this backend share. */
#ifndef SERIAL_H
#define SERIAL_H

#include "backends/module.h"
#include "backends/print/print.h"

/* A kernel on its way to text. */
typedef struct writer {
  const tc_kernel *k;
  const tc_program *p;
  tc_buf *out;
  int indent;
} writer;

/* A line at the indentation, printf-like. */
void put_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Declares v<i> for everything that the action is made of, at the point that the loop variables
 * stand at; nothing of it is kept from another point. */
void put_values(writer *w, const tc_action *a);
/* The values v<i> of a rule of n accumulators: a in r<first>, r<first + 1>, .., b in b0, b1, .. */
void put_rule(writer *w, const tc_rule *rule, uint32_t first, uint32_t n);
void put_const(const tc_expr *e, tc_buf *out);
/* The same for one value. */
void put_value(writer *w, tc_val v);
/* Elements from b<buffer>: needs the values of the address's terms, checked as x<tag>_0, x<tag>_1. */
void put_terms(writer *w, const tc_address *a, tc_val guard, const char *tag);
void put_place(writer *w, const tc_address *a, const char *tag, tc_buf *out);

bool has_values(const tc_kernel *k); /* each of them can be printed */

/* prelude.c: declarations and functions that every kernel text begins with. */
void put_prelude(tc_buf *out);

#endif
