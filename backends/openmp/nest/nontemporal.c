/* nontemporal.c - nontemporal stores of results that are too large for the caches, in whole lines.
 *
 * A vector that crosses the border of a cache line is stored through the caches, which read both lines
 * first.  Rows of a result may begin within a line: the loop over such a row has a peeled head, up to
 * the first border, then whole vectors, then a tail. */
#include "backends/openmp/nest/nest.h"

enum { LINE = 64 }; /* bytes */

/* Only an output that no kernel reads may bypass the caches. */
static bool is_never_read(const tc_omp_nest *x, uint32_t buffer) {
  const tc_program *p = x->s.p;
  const uint32_t id = x->s.k->buffer[buffer];
  for (uint32_t i = 0; i < p->nkernel; ++i)
    for (uint32_t b = 0; b < p->kernel[i].nbuffer; ++b)
      if (p->kernel[i].buffer[b] == id && tc_print_reads(&p->kernel[i], b)) return false;
  return true;
}

/* Do neighbouring lanes store neighbouring elements? */
static bool is_in_order(const tc_omp_nest *x, const tc_action *a) {
  return a->kind == TC_ACT_STORE && !a->guard.id && !a->address.nterm && x->nest->vector >= 0 &&
         tc_dim_is(a->address.coef[x->nest->vector], 1);
}

static bool is_whole_store(const tc_omp_nest *x, const tc_stage *st, const tc_action *a) {
  bool first;
  return tc_omp_is_interleaved(x, st, a, &first) || is_in_order(x, a);
}

void tc_omp_put_nontemporal(tc_omp_nest *x) {
  tc_dims *c = tc_graph_dims(x->s.p->graph);
  tc_dim bytes = tc_dim_const(0);
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    for (uint32_t j = 0; j < x->nest->stage[i].naction; ++j) {
      const tc_action *a = &x->nest->stage[i].action[j];
      if (a->kind != TC_ACT_STORE) continue;
      const tc_buffer *b = tc_omp_buffer(x, a->buffer);
      if (!is_whole_store(x, &x->nest->stage[i], a) || b->kind != TC_BUF_OUTPUT) continue;
      if (!is_never_read(x, a->buffer)) return;
      const tc_dim numel = tc_kernel_size(x->s.k, x->s.p, b->numel);
      bytes = tc_dim_add(c, bytes, tc_dim_mul(c, numel, tc_dim_const((int64_t)tc_dtype_bytes(b->dtype))));
    }
  if (tc_dim_is(bytes, 0) || tc_dim_bad(bytes)) return;
  if (tc_dim_is_const(bytes) && tc_dim_value(bytes) < (1 << 20)) return;
  tc_buf t = {0};
  tc_print_dim(x->s.p, bytes, &t);
  tc_print_line(&x->s, "const int nontemporal = %s >= TC_NONTEMPORAL_BYTES;", t.text);
  tc_buf_free(&t);
  x->s.nontemporal = "nontemporal";
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The first store of a stage that consists of nontemporal stores, or NULL.  A stage that reduces is not
 * peeled: which lane sums what must not depend on where an array lies. */
static const tc_action *nontemporal_store(const tc_omp_nest *x, const tc_stage *st) {
  if (!x->s.nontemporal || x->jammed) return NULL;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (!is_in_order(x, &st->action[i]) ||
        tc_omp_buffer(x, st->action[i].buffer)->kind != TC_BUF_OUTPUT)
      return NULL;
  return st->action;
}

/* Is so many elements of the stored dtype known to be a number of lines? */
static bool is_lines(const tc_omp_nest *x, const tc_action *a, tc_dim elements) {
  const int64_t multiple = tc_dim_multiple(tc_graph_dims(x->s.p->graph), elements);
  return tc_dim_is(elements, 0) ||
         multiple * (int64_t)tc_dtype_bytes(tc_omp_buffer(x, a->buffer)->dtype) % LINE == 0;
}

/* Do all rows of the result begin at a line when the first one does? */
static bool rows_are_lines(const tc_omp_nest *x, const tc_action *a) {
  if (!is_lines(x, a, x->s.k->base[a->buffer]) || !is_lines(x, a, a->address.offset)) return false;
  for (int i = 0; i < x->nest->naxis; ++i)
    if (i != x->nest->vector && !is_lines(x, a, a->address.coef[i])) return false;
  return true;
}

bool tc_omp_put_head_length(tc_omp_nest *x, const tc_stage *st, const char *from, tc_buf *out) {
  const int v = x->nest->vector;
  const tc_action *a = nontemporal_store(x, st);
  if (!a || rows_are_lines(x, a)) return false;
  const char *const axis = x->s.axis[v];
  tc_buf at = {0};
  x->s.axis[v] = from;
  tc_print_address(&x->s, &a->address, &at);
  x->s.axis[v] = axis;
  tc_putf(out, "tc_to_line(b%u + (%s), %zu)", a->buffer, at.text,
          tc_dtype_bytes(tc_omp_buffer(x, a->buffer)->dtype));
  tc_buf_free(&at);
  return true;
}

bool tc_omp_begin_peeled(tc_omp_nest *x, const tc_stage *st, const char *from, const char *end) {
  tc_buf distance = {0};
  if (!tc_omp_put_head_length(x, st, from, &distance)) return false;
  tc_print_line(&x->s, "const int64_t head = %s ? TC_MIN(%s + %s, %s) : %s;", x->s.nontemporal,
                from, distance.text, end, from);
  tc_buf_free(&distance);
  tc_print_line(&x->s, "for (;;) { /* up to the first whole line, whole vectors, the rest */");
  x->s.indent += 2;
  return true;
}

void tc_omp_begin_tail(tc_omp_nest *x, bool peeled, const char *i, const char *end) {
  if (peeled) {
    tc_print_line(&x->s, "if (%s >= %s) break;", i, end);
    tc_print_line(&x->s, "const int64_t n = TC_MIN(TC_L, (%s < head ? head : %s) - %s);", i, end,
                  i);
  } else {
    tc_print_line(&x->s, "for (; %s < %s; %s += TC_L) {", i, end, i);
    x->s.indent += 2;
    tc_print_line(&x->s, "const int64_t n = TC_MIN(TC_L, %s - %s);", end, i);
  }
  x->s.lanes = "n";
}

void tc_omp_end_tail(tc_omp_nest *x, bool peeled, const char *i) {
  x->s.lanes = NULL;
  if (peeled) tc_print_line(&x->s, "%s += n;", i);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
