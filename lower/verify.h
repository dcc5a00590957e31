/* verify.h - what the parts of tc_program_verify share. */
#ifndef TC_LOWER_VERIFY_H
#define TC_LOWER_VERIFY_H

#include "lower/loop.h"

typedef struct lo_checker {
  const tc_program *p;
  const tc_kernel *k; /* at hand; NULL: the program itself */
  char *message;      /* the first rule that is broken */
  size_t size;
  bool ok;
  const tc_axis *axis; /* of the nest or matmul at hand */
  int naxis, part; /* those from `part` on are parts of a product's axes */
  /* at hand, of an interval of the vector axis; NULL: accesses are made at all of its points */
  const tc_stage *stage;
  int vector;
  uint32_t nresult;
} lo_checker;

/* verify_message.c: where nothing was wrong before */
void lo_wrong(lo_checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* verify_chain.c: what operands of a chain are made of, all of which are values of the kernel. */
void lo_check_chain(lo_checker *c, const tc_mm_loop *m);

/* verify_memory.c */
void lo_check_buffer(lo_checker *c, uint32_t i);
/* Of a store or load at every point of the axes at hand: it is wrong where it leaves the buffer for
 * all sizes that there are, as far as that is known. */
void lo_check_access(lo_checker *c, uint32_t buffer, const tc_address *a);
/* What n stages load, and values x and y.  Of stages over an interval, only the one at hand
 * counts. */
void lo_check_loads(lo_checker *c, const tc_stage *stage, uint32_t n, tc_val x, tc_val y);
/* Of the kernel at hand: what outlives a call, and what functions of the program see. */
void lo_check_memory(lo_checker *c);
/* Kernels first to end - 1, of one launch. */
void lo_check_siblings(lo_checker *c, uint32_t first, uint32_t end);

#endif
