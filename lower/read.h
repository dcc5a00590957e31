/* read.h - what the parts of tc_program_read share.
 *
 *   read.c         a line at a time, and kernels
 *   read_head.c    the program's buffers and sizes, and the graph that stands for them
 *   read_nest.c    nests, products, their axes and stages
 *   read_value.c   addresses, values and actions
 *   read_words.c   numbers, sizes and names
 *
 * Functions give false after tc_words_fail. */
#ifndef TC_LOWER_READ_H
#define TC_LOWER_READ_H

#include "graph/text_sizes.h"
#include "lower/text.h"

/* An input of the program, as its line says. */
typedef struct lo_input {
  const char *name;
  tc_type type;
  bool there, written;
} lo_input;

typedef struct lo_reader {
  tc_words w; /* in the line being read */
  tc_diag *diag;
  uint32_t line; /* from 1 */
  size_t length; /* of the text: values have no larger numbers */
  tc_program *p;
  tc_dims *dims;
  /* the head, up to the first kernel */
  bool open;             /* it may go on */
  const char *workspace; /* the rest of its line */
  int64_t kernels;       /* as many as it says, or -1 */
  lo_input *input;
  uint32_t ninput;
  uint32_t *version; /* buffers that depend on an input, */
  const char **of;   /* ... and its name there */
  uint32_t nversion;
  const char **label; /* of each buffer */
  uint32_t nsym;      /* symbols of the head */
  /* the kernel at hand */
  tc_kernel *k;
  uint32_t *argument; /* of each buffer: 1 + its index in the kernel's list */
  tc_dim *base;       /* of each buffer */
  /* the nest or product at hand */
  const tc_axis *axis;
  int naxis;
  tc_nest *nest;
  bool streamed;   /* its stages are those for rows that are not kept */
  uint32_t nvalue; /* values that its lines define */
  tc_stage *stage;
  bool inner;      /* of a chain: in front of its outer product, */
  int opened;      /* with so many inner ones begun; */
  bool beside;     /* operands are of its second outer product */
  uint32_t known;  /* the result that a stage with skip_if may know already */
  uint32_t nalike; /* actions for a skipped stage */
} lo_reader;

/* read_words.c.  Memory of the program. */
void *lo_make(lo_reader *r, size_t bytes);
/* of item n behind the n of *items */
bool lo_room(lo_reader *r, void *items, uint32_t n, size_t size);

bool lo_read_count(lo_reader *r, int64_t end, const char *what, uint32_t *out); /* below `end` */
bool lo_read_dim(lo_reader *r, tc_dim *d); /* behind the head: of symbols that it has */
/* that `end` follows; a space: or nothing */
bool lo_read_label(lo_reader *r, char end, uint32_t *buffer);
const char *lo_read_word(lo_reader *r); /* letters, digits and _; NULL: false */

/* read_head.c */
bool lo_read_program(lo_reader *r);   /* behind "program" */
bool lo_read_head_line(lo_reader *r); /* false without an error: it is another one */
bool lo_close_head(lo_reader *r);

/* read_nest.c */
bool lo_open_nest(lo_reader *r);      /* behind "nest" */
bool lo_open_stage(lo_reader *r);     /* behind "stage" */
bool lo_open_variant(lo_reader *r); /* behind "or" */
bool lo_close_nest(lo_reader *r);     /* if one is open */
bool lo_read_sort(lo_reader *r);      /* behind "sort" */
bool lo_open_product(lo_reader *r);   /* behind "matmul" */
bool lo_read_factors(lo_reader *r);   /* behind "a": "%3  b %7", which are defined later */
bool lo_read_room(lo_reader *r);      /* behind "product" */
bool lo_open_finish(lo_reader *r);
bool lo_open_inner(lo_reader *r);     /* of a chain: the inner product, */
bool lo_open_rows(lo_reader *r);      /* ... what its rows are reduced to, */
bool lo_open_outer(lo_reader *r);     /* ... and the product made of both, */
bool lo_open_beside(lo_reader *r);    /* or two of them */
bool lo_open_across(lo_reader *r);    /* behind "across": sums along m */
bool lo_open_epilogue(lo_reader *r);
bool lo_close_product(lo_reader *r);

/* read_value.c */
/* its index in the kernel's list; UINT32_MAX: no memory */
uint32_t lo_argument(lo_reader *r, uint32_t buffer);
bool lo_read_value(lo_reader *r);                    /* behind "%" */
bool lo_read_operand(lo_reader *r, tc_val *v);       /* that is defined */
bool lo_read_result(lo_reader *r);                   /* behind "#" */
bool lo_read_store(lo_reader *r, tc_act_kind kind);  /* behind "store" or "add" */

#endif
