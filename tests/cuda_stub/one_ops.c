/* one_ops.c - a libtcrt-cuda.so whose entries interpret their one-op graphs on the stub's memory:
 * what is tested is how operands get into those forms, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt-cuda/oneop.h"
#include "tests/common/interp.h"

#include <tcompile.h>
#include <tcompile/cuda.h>

enum { MOST = 1280 };

static tc_oneop op[MOST];
static tcrt_cuda_op row[MOST];
static unsigned count;

/* ---- one call -------------------------------------------------------------------------------- */

/* The elements of a contiguous tensor of whatever place, as its CPU twin. */
static tc_tensor *twin(const tc_tensor *x) {
  tc_ints dims = {x->key.rank, {0}};
  memcpy(dims.v, x->dim, (size_t)dims.n * sizeof *dims.v);
  return tc_wrap(dims, NULL, x->data, (tc_dtype)x->key.dtype, NULL, NULL);
}

static interp_array *read_array(const tc_tensor *x, const char *form) {
  interp_array *a = interp_new((tc_dtype)x->key.dtype, x->key.rank, x->dim);
  if (*form == 'g') return a; /* only its size counts */
  tc_tensor *t = twin(x), *wide = t ? tc_cast(t, a->f ? TC_F64 : TC_I64) : NULL;
  if (wide) memcpy(a->f ? (void *)a->f : (void *)a->i, tc_cdata(wide), (size_t)a->count * 8);
  tc_free(wide);
  tc_free(t);
  return a;
}

static tc_tensor *write_array(const interp_array *a, const tc_tensor *first) {
  tcrt_cuda_call c;
  if (!tcrt_cuda_begin(&c, first)) return NULL;
  tc_tensor *y = tcrt_cuda_new(&c, a->dtype, a->rank, a->dim);
  tcrt_cuda_end(&c, y == NULL);
  tc_tensor *t = y && a->count ? twin(y) : NULL;
  tc_ints flat = {1, {a->count}};
  tc_tensor *wide =
      t ? tc_from(flat, a->f ? (void *)a->f : (void *)a->i, a->f ? TC_F64 : TC_I64) : NULL;
  tc_ints dims = {a->rank, {0}};
  memcpy(dims.v, a->dim, (size_t)dims.n * sizeof *dims.v);
  if (wide) tc_copy_(t, tc_reshape(wide, dims));
  tc_free(wide);
  tc_free(t);
  return y;
}

/* What an entry's guards check. */
static bool guarded(const tc_graph *g, const tc_tensor *const *in) {
  for (uint32_t i = 0; i < tc_graph_input_count(g); i++) {
    const tc_type *t = &tc_graph_input_at(g, i)->type;
    if (!in[i] || in[i]->key.device != TC_CUDA || in[i]->key.dtype != t->dtype ||
        in[i]->key.rank != t->rank || !(in[i]->key.flags & TC_FLAG_CONTIGUOUS) ||
        in[i]->key.flags & TC_FLAG_WEAK)
      return false;
  }
  return true;
}

static int run(unsigned k, const tc_tensor *const *in, const tc_value *scalar, tc_tensor **out) {
  tc_scope inside;
  tc_graph *g = tc_oneop_graph(&op[k], NULL);
  interp_array *array[3] = {NULL, NULL, NULL};
  uint32_t n = tc_graph_input_count(g);
  bool ok = guarded(g, in);
  tc_scope_begin(&inside);
  for (uint32_t i = 0; i < n && ok; i++) array[i] = read_array(in[i], op[k].form);
  interp_run r = {.g = g, .input = (const interp_array *const *)array, .scalar = scalar};
  r.round = true;
  if (ok && !(ok = interp_graph(&r))) fprintf(stderr, "%s: %s\n", op[k].key, r.message);
  *out = ok ? tc_keep(write_array(r.output[0], in[0])) : NULL;
  tc_scope_end(&inside);
  interp_run_free(&r);
  for (uint32_t i = 0; i < n; i++) interp_free(array[i]);
  tc_graph_free(g);
  return *out != NULL;
}

/* ---- the table: a function per row ----------------------------------------------------------- */

/* Rows are numbered in base 8: k is 1000 more than the row, so that it has four digits. */
#define ENTRY(k)                                                                                   \
  static int entry_##k(const tc_tensor *const *in, const tc_value *s, tc_tensor **out) {           \
    return run(0##k - 01000, in, s, out);                                                          \
  }
#define ADDRESS(k) entry_##k,
#define DIGIT(DO, k) DO(k##0) DO(k##1) DO(k##2) DO(k##3) DO(k##4) DO(k##5) DO(k##6) DO(k##7)
#define ROWS_64(DO, k)                                                                             \
  DIGIT(DO, k##0)                                                                                  \
  DIGIT(DO, k##1)                                                                                  \
  DIGIT(DO, k##2) DIGIT(DO, k##3) DIGIT(DO, k##4) DIGIT(DO, k##5) DIGIT(DO, k##6) DIGIT(DO, k##7)
#define ROWS_512(DO, k)                                                                            \
  ROWS_64(DO, k##0)                                                                                \
  ROWS_64(DO, k##1)                                                                                \
  ROWS_64(DO, k##2)                                                                                \
  ROWS_64(DO, k##3) ROWS_64(DO, k##4) ROWS_64(DO, k##5) ROWS_64(DO, k##6) ROWS_64(DO, k##7)
#define ROWS(DO)                                                                                   \
  ROWS_512(DO, 1) ROWS_512(DO, 2) ROWS_64(DO, 30) ROWS_64(DO, 31) ROWS_64(DO, 32) ROWS_64(DO, 33)
ROWS(ENTRY)

static tcrt_entry *const entry[MOST] = {ROWS(ADDRESS)};

static bool collect(const tc_oneop *o, void *nothing) {
  (void)nothing;
  if (count == MOST) return false;
  op[count++] = *o;
  return true;
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const tc_oneop *)a)->key, ((const tc_oneop *)b)->key);
}

/* Rows past the last op have a key that sorts behind all. */
__attribute__((constructor)) static void make_table(void) {
  if (!tc_oneop_each(collect, NULL)) fprintf(stderr, "one_ops: more than %d ops\n", MOST);
  qsort(op, count, sizeof *op, by_key);
  for (unsigned i = 1; i < count; i++)
    if (!by_key(&op[i - 1], &op[i])) fprintf(stderr, "one_ops: %s twice\n", op[i].key), abort();
  for (unsigned i = 0; i < MOST; i++)
    row[i] = (tcrt_cuda_op){i < count ? op[i].key : "~", entry[i]};
}

const tcrt_cuda_table tcrt_cuda_one_ops = {TC_ABI_VERSION, MOST, row};
