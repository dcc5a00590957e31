/* chain.h - kernels of a program as chains of products: which they are (chain_find.c), what their softmax is
 * (chain_softmax.c), their values in the chain's axes (chain_values.c), and the chain (chain.c). */
#ifndef TC_CHAIN_H
#define TC_CHAIN_H

#include "lower/lowering.h"

struct lo_chain;

/* Values of one of the kernels as values of the chain. */
typedef struct lo_translation {
  struct lo_chain *c;
  const tc_kernel *k;
  tc_address axis[TC_MAX_AXES]; /* each axis as a sum over those of the chain */
  tc_val *to;
} lo_translation;

/* An array that the chain makes where it is read: what a kernel stores, of whose axes the first n
 * are those of the array. */
typedef struct lo_made {
  uint32_t buffer; /* of the program */
  const tc_kernel *k;
  const tc_action *store;
  const tc_axis *axis;
  int n;
  bool found;    /* its axes are known, */
  tc_address at; /* as the chain reads it there */
  int inner;     /* of a product: which inner product it is */
  bool bare;     /* of a product: it is not made of that, but of other arrays in its epilogue */
  lo_translation t;
} lo_made;

/* A value of the rows of a softmax that is kept for chains that make its weights again. */
typedef struct lo_row_value {
  tc_val value; /* in the kernel of the rows */
  uint32_t buffer;
} lo_row_value;

enum { LO_ALSO = 4, LO_MADE = 3 + LO_ALSO, LO_ROW_VALUES = 4, LO_CHAINS = 8 };

/* The softmax of some rows: maximum, sum, weights.  Or, in a backward part that is called for itself, weights alone, which a
 * product makes of its elements and of what the forward part left. */
typedef struct lo_softmax {
  const tc_kernel *k; /* that product, then, or the one that makes derivatives, too */
  const tc_action *max, *sum, *store; /* store: NULL where weights are read there alone */
  uint32_t nalso; /* arrays beside the weights: those that `store` rounds, or a mask, or what derivatives need */
  const tc_action *also[LO_ALSO];
  uint32_t nrow;
  const tc_action *row[LO_ROW_VALUES]; /* stores of a row, that others read */
  /* per value: it has to do with the results, and is one for the row; NULL: weights alone */
  const uint8_t *of_row;
  uint32_t nkept;
  lo_row_value kept[LO_ROW_VALUES];
} lo_softmax;

typedef struct lo_chain {
  lo *L;
  const tc_kernel *outer; /* the product with the first array of made[] */
  bool swapped;           /* which is its B: C' = B' A' */
  lo_softmax *softmax;
  bool reduces; /* rows are reduced beside the product: maximum and sum are RESULTs, and not kept */
  tc_mm_loop mm;
  lo_kb b; /* its values */
  lo_translation t;      /* of the outer product */
  lo_translation beside; /* of a second one, or of none, */
  bool beside_swapped;   /* of which B is what the chain makes */
  lo_translation across; /* of a product that sums what the chain makes along its rows, or of none, */
  bool across_swapped;   /* likewise */
  uint32_t nmade;
  lo_made made[LO_MADE];
  tc_val total; /* the sum of exponentials */
  bool failed;  /* a value could not be said */
} lo_chain;

/* The products that one chain makes: `outer`, or where another chain makes that, too, none. */
typedef struct lo_products {
  const tc_kernel *outer, *beside, *across;
} lo_products;

enum { LO_PRODUCTS = 3 };

/* Kernels that become chains: `outer`, if there is one, and, where weights are read again, `again`. */
typedef struct lo_attention {
  lo *L;
  const tc_kernel *inner, *outer; /* without an outer one, `inner` makes weights */
  lo_softmax softmax;
  uint32_t scores, weights;    /* program buffers */
  const tc_kernel *cotangents; /* a product whose epilogue reads weights; or NULL */
  uint32_t derivatives;        /* what it makes of them */
  const tc_action *derivative; /* by this action */
  uint32_t nagain;
  const tc_kernel *again[LO_CHAINS];
  lo_products of[LO_CHAINS]; /* what becomes of each */
} lo_attention;

/* chain_find.c.  Those that make operand A of x->outer and read it again; false: there are none, or others read it. */
bool lo_find_attention(lo_attention *x);
/* Those that read what x->inner makes, where these are weights of a softmax, and derivatives of them; likewise. */
bool lo_find_backward(lo_attention *x);
/* The array that also[i] stores. */
uint32_t lo_also(const lo_softmax *s, uint32_t i);
/* The array that is the product's operand a or b as it is; UINT32_MAX: it is none. */
uint32_t lo_operand_of(const tc_kernel *k, tc_val v);
/* Is an operand of the product what x->cotangents makes? */
bool lo_takes_derivatives(const lo_attention *x, const tc_kernel *k);
/* May what `first` does be done by `second`, a later kernel, behind all that stands between them? */
bool lo_may_wait(const lo *L, const tc_kernel *first, const tc_kernel *second);

/* chain_softmax.c */
enum { LO_ALONG = 1, LO_OF_ROWS = 2 };
/* Per value of k: does it change ALONG the axis, as results do that `along` has a bit for, or has it to do with others,
 * OF_ROWS? */
uint8_t *lo_find_dependent(lo *L, const tc_kernel *k, int axis, uint32_t along);
/* v without the rounding that it has as an operand anyway, nor that of its factors. */
tc_val lo_unrounded(lo_chain *c, tc_val v);
/* Product of two values, either of which may be none. */
tc_val lo_times(lo_chain *c, tc_val x, tc_val y, tc_loc loc);
/* The rows' reduction, A, and the factor of the result's rows; false: it is no softmax that can be taken apart. */
bool lo_take_softmax(lo_chain *c, lo_translation *rows, tc_val *row);

/* chain_values.c */
tc_address lo_translate_affine(const lo_translation *t, const tc_address *a);
tc_address lo_translate_address(lo_translation *t, const tc_address *a);
tc_val lo_translate(lo_translation *t, tc_val v);
/* Takes the axes of the outer product over, batches cut as the kernels that make arrays have
 * them. */
bool lo_open_axes(lo_chain *c);
/* Takes the outer product of another chain in, whose axes are open; false: they are not the
 * chain's. */
bool lo_take_beside(lo_chain *c, const lo_chain *other);
/* The same of one whose rows are the chain's keys, and that reads the same array; made[0] of c is
 * found. */
bool lo_take_across(lo_chain *c, const lo_chain *other);
/* made[i] as it is read at `at`. */
bool lo_find_made(lo_chain *c, lo_made *m, const tc_address *at);
/* Row-major over the outer axes of the softmax: of values of its rows. */
tc_address lo_row_place(const lo_chain *c, const lo_softmax *s);
bool lo_is_chain_axis(const tc_address *a, int axis);
/* The plain load of an array that the chain makes first: an operand of the outer product. */
const tc_expr *lo_chain_operand(const lo_chain *c);

#endif
