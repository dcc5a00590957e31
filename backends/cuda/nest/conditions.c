/* conditions.c - what the launcher asks before it takes a function with wide accesses or 32-bit
 * indices. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/access.h"
#include "lower/flat_rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct conditions {
  int lanes;
  tc_buf *out;
} conditions;

/* Each condition once. */
static void put_once(const tc_buf *text, tc_buf *out) {
  if (!text->text) out->failed = true;
  else if (!out->text || !strstr(out->text, text->text)) tc_put(out, text->text);
}

/* d is a multiple of `lanes`. */
static void put_multiple(const tc_cuda_accesses *x, tc_dim d, int lanes, tc_buf *out) {
  tc_buf text = {0};
  if (!tc_cuda_may_not_divide(x, d, lanes)) return;
  tc_put(&text, " && (");
  tc_print_dim(x->p, d, &text);
  tc_putf(&text, ") %% %d == 0", lanes);
  put_once(&text, out);
  tc_buf_free(&text);
}

static void put_divides(const tc_cuda_accesses *x, tc_dim d, void *self) {
  const conditions *c = self;
  put_multiple(x, d, c->lanes, c->out);
}

typedef struct both {
  conditions load, store;
} both;

/* The array begins at an aligned address. */
static void put_start(const tc_cuda_accesses *x, tc_cuda_access a, const conditions *c) {
  enum { MOST = 16 };
  const size_t bytes = tc_cuda_element_bytes(x, a.buffer) * (size_t)c->lanes;
  tc_buf text = {0};
  tc_putf(&text, " && (uintptr_t)buf[%u] %% %zu == 0", a.buffer,
          bytes < MOST ? bytes : (size_t)MOST);
  if (bytes > 1) put_once(&text, c->out);
  tc_buf_free(&text);
}

static void put_access(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  tc_cuda_each_step(x, a, put_divides, self);
  put_start(x, a, self);
}

/* Those that all rows share do not begin anywhere. */
static void put_load(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  both *c = self;
  put_access(x, a, tc_cuda_changes(x->n, a.address) ? &c->load : &c->store);
}

/* Wide accesses of the load end with rows, or rows follow one another. */
static void put_row(const tc_cuda_accesses *x, const tc_expr *load, const conditions *c) {
  const tc_dim width = tc_flat_row_width(x->k, load)->dim, gap = load->address.term[0].stride;
  tc_buf text = {0};
  if (!tc_cuda_may_not_divide(x, width, c->lanes)) return;
  tc_put(&text, " && ((");
  tc_print_dim(x->p, width, &text);
  tc_putf(&text, ") %% %d == 0 || (", c->lanes);
  tc_print_dim(x->p, gap, &text);
  tc_put(&text, ") == 0)");
  put_once(&text, c->out);
  tc_buf_free(&text);
}

void tc_cuda_put_aligned(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                         const tc_cuda_nest_schedule *s, tc_buf *loads, tc_buf *stores) {
  both c = {{(int)s->width, loads}, {(int)s->width, stores}};
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) {
    loads->failed = true;
    return;
  }
  tc_cuda_mark(k, n, need);
  const tc_cuda_accesses x = tc_cuda_accesses_of(k, p, n, s, need);
  if (s->width > 1) {
    tc_cuda_each_wide_load(&x, put_load, &c);
    tc_cuda_each_wide_store(&x, put_access, &c.store);
    if (!x.tail) tc_cuda_each_extent(&x, (int)s->width, put_divides, &c.store);
    for (uint32_t i = 1; i < k->nexpr; ++i)
      if (need[i] && tc_cuda_counts_rows(k, n, s, &k->expr[i])) put_row(&x, &k->expr[i], &c.store);
  }
  free(need);
}

/* Rows that are known to be shorter have another text (dense_stores.c). */
static void put_not_less(const tc_program *p, tc_dim d, int least, tc_buf *out) {
  tc_buf text = {0};
  if (tc_dim_is_const(d)) return;
  tc_put(&text, " && ");
  tc_print_dim(p, d, &text);
  tc_putf(&text, " >= %d", least);
  put_once(&text, out);
  tc_buf_free(&text);
}

static void put_dense(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  const conditions *c = self;
  put_multiple(x, a.address->offset, c->lanes, c->out);
  put_start(x, a, c);
}

void tc_cuda_put_dense(const tc_kernel *k, const tc_program *p, const tc_nest *n, const tc_cuda_nest_schedule *s, tc_buf *out) {
  conditions c = {(int)s->width, out};
  const tc_cuda_accesses x = tc_cuda_accesses_of(k, p, n, s, NULL);
  tc_cuda_each_wide_store(&x, put_dense, &c);
  if (n->naxis > 1) put_not_less(p, n->axis[n->vector].extent, c.lanes, out);
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (tc_cuda_counts_rows(k, n, s, &k->expr[i])) put_not_less(p, tc_flat_row_width(k, &k->expr[i])->dim, c.lanes, out);
}

/* ---- rows in phase --------------------------------------------------------------------------- */

typedef struct phase {
  tc_cuda_row row; /* of which all others are to have the phase */
  int width;
  tc_buf *out;
} phase;

static void put_difference(const tc_cuda_accesses *x, tc_dim a, tc_dim b, int lanes, tc_buf *out) {
  put_multiple(x, tc_dim_sub(tc_graph_dims(x->p->graph), a, b), lanes, out);
}

/* Accesses of 16 bytes, or of `width` elements where those have fewer. */
static void put_phase(const tc_cuda_accesses *x, tc_cuda_access a, void *self) {
  enum { BYTES = 16 };
  const phase *f = self;
  const int bytes = (int)tc_cuda_element_bytes(x, a.buffer), lanes = bytes * f->width > BYTES ? BYTES / bytes : f->width;
  tc_buf text = {0};
  if (!tc_cuda_changes(x->n, a.address) || lanes < 2) return;
  put_difference(x, a.address->offset, f->row.address->offset, lanes, f->out);
  for (int i = 0; i < x->n->nparallel; ++i) put_difference(x, a.address->coef[i], f->row.address->coef[i], lanes, f->out);
  if (a.buffer == f->row.buffer) return;
  tc_putf(&text, " && ((uintptr_t)buf[%u] / %d - (uintptr_t)buf[%u] / %zu) %% %d == 0", a.buffer, bytes, f->row.buffer, f->row.bytes, lanes);
  put_once(&text, f->out);
  tc_buf_free(&text);
}

void tc_cuda_put_in_phase(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                          const tc_cuda_nest_schedule *s, tc_buf *loads, tc_buf *stores) {
  const tc_cuda_row row = tc_cuda_phase(k, p, n);
  phase load = {row, (int)s->width, loads}, store = {row, (int)s->width, stores};
  uint8_t *need = calloc(k->nexpr + 1, 1);
  if (!need) {
    loads->failed = true;
    return;
  }
  tc_cuda_mark(k, n, need);
  const tc_cuda_accesses x = tc_cuda_accesses_of(k, p, n, s, need);
  tc_cuda_each_wide_load(&x, put_phase, &load);
  tc_cuda_each_wide_store(&x, put_phase, &store);
  free(need);
}

static void put_small(const tc_program *p, tc_dim numel, tc_buf *out) {
  enum { SMALL = 0x3f000000 }; /* twice that, and what a grid goes past it, fits an int */
  int64_t lo, hi;
  tc_buf text = {0};
  tc_dim_range(tc_graph_dims(p->graph), numel, &lo, &hi);
  if (hi < SMALL) return;
  tc_put(&text, " && ");
  tc_print_dim(p, numel, &text);
  tc_putf(&text, " < %d", SMALL);
  put_once(&text, out);
  tc_buf_free(&text);
}

void tc_cuda_put_small(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                       const tc_cuda_nest_schedule *s, bool points, tc_buf *out) {
  if (s->index64) return;
  const bool flat = s->form == TC_CUDA_FLAT || s->form == TC_CUDA_TRANSPOSE;
  const int cut = flat ? n->naxis : n->nparallel; /* what is counted together */
  if (points) put_small(p, tc_cuda_points(p, n, 0, cut), out);
  if (points) put_small(p, tc_cuda_points(p, n, cut, n->naxis), out);
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    put_small(p, tc_kernel_numel(k, p, i), out);
}
