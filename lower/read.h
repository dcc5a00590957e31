/* read.h - what the parts of tc_program_read share.
 *
 *   read.c         a line at a time: kernels, nests, products, stages
 *   read_head.c    the program's buffers and sizes, and the graph that stands for them
 *   read_value.c   addresses, values and actions
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
  uint32_t *version; /* 1 + the buffer whose line ends in its version, */
  const char **of;   /* ... and the text of that */
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
  bool streamed;    /* its stages are those for rows that are not kept */
  uint32_t nvalue;  /* values that its lines define */
  tc_stage *stage;
  int64_t known;    /* the result that the stage may know already, or -1 */
  uint32_t nalike;  /* actions for a skipped stage */
} lo_reader;

/* Room for item n behind the n of *items, in the program's arena. */
bool lo_room(lo_reader *r, void *items, uint32_t n, size_t size);
void *lo_make(lo_reader *r, size_t bytes);
bool lo_read_count(lo_reader *r, int64_t end, const char *what, uint32_t *out); /* below `end` */
/* A size: once the head is read, of symbols that it has. */
bool lo_read_dim(lo_reader *r, tc_dim *d);
/* The name of a buffer that `end` follows; a space: or the line ends there. */
bool lo_read_label(lo_reader *r, char end, uint32_t *buffer);

/* read_head.c */
bool lo_read_program(lo_reader *r);   /* behind "program" */
bool lo_read_head_line(lo_reader *r); /* false without an error: it is another one */
bool lo_close_head(lo_reader *r);

/* read_value.c */
uint32_t lo_argument(lo_reader *r, uint32_t buffer); /* its index in the kernel's list; UINT32_MAX: no memory */
bool lo_read_value(lo_reader *r);                    /* behind "%" */
bool lo_read_operand(lo_reader *r, tc_val *v);       /* that is defined */
bool lo_read_result(lo_reader *r);                   /* behind "#" */
bool lo_read_store(lo_reader *r, tc_act_kind kind);  /* behind "store" or "add" */

#endif
