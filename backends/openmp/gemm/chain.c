/* chain.c - a chain of products: what becomes of finished rows of the inner ones, and where the
 * driver (prelude/84) has room for them.  A k block of a row is read twice: for accumulator 0, then
 * for A and the terms; where no rows are reduced once, also for two outer products. */
#include "backends/openmp/gemm/matmul.h"

#include <stdlib.h>

enum {
  /* keys of a block: of all widths of tiles a multiple, for that of the inner product runs along
   * k */
  KC = 384,
  BLOCK = 32, /* rows of one: about so many */
  MOST = 1024, /* rows of a task that pack both B for themselves */
  OVER = 32, /* rows of a tile at most */
  LINE = 64
};

static const tc_action *rows_of(const tc_omp_matmul *x) {
  return x->mm->inner.rows.naction ? x->mm->inner.rows.action : NULL;
}

static const char *type_of(const tc_omp_matmul *x) { return tc_print_compute(x->mm->acc); }

/* ---- keys ------------------------------------------------------------------------------------ */

static void put_bound(tc_omp_matmul *x, const tc_address *a, const char *variable, bool upper) {
  tc_buf at = {0};
  tc_print_key_bound(&x->s, a, x->am, upper, &at);
  tc_print_line(&x->s, "*%s = %s(*%s, %s);", variable, upper ? "TC_MIN" : "TC_MAX", variable,
                at.text);
  tc_buf_free(&at);
}

/* @NAME@_keys; false: all keys count. */
static bool put_keys_of_rows(tc_omp_matmul *x) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  if (!keys.has_first && !keys.has_end) return false;
  tc_omp_mm_open(x, "static void @NAME@_keys(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t *first, "
                    "int64_t *end)");
  tc_print_line(&x->s, "const int64_t last = m0 + rows - 1;");
  if (keys.has_first) put_bound(x, &keys.first, "first", false);
  if (keys.has_end) put_bound(x, &keys.end, "end", true);
  tc_put(x->out, "}\n");
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What is done with one vector of keys, from k on. */
typedef void put_keys(tc_omp_matmul *x, const tc_action *a);

static void put_vector(tc_omp_matmul *x, const tc_action *a, put_keys *put) {
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.indent += 2;
  if (x->s.lanes) tc_print_line(&x->s, "const int64_t rest = k0 + kn - k;");
  for (int i = 0; i < x->mm->inner.n; ++i)
    tc_print_line(&x->s, "const tc_v%s r%u = tc_load_%s((const tc_%s *)%s + (k - k0));", type_of(x),
                  tc_mm_inner_result(i), type_of(x), type_of(x), i ? "other" : "line");
  put(x, a);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_leave(&x->s, outer);
}

/* All keys of the block: whole vectors, and the rest. */
static void put_each_key(tc_omp_matmul *x, const tc_action *a, put_keys *put) {
  x->s.vector = x->ak;
  tc_print_line(&x->s, "for (int64_t k = k0; k < k0 + kn / TC_L * TC_L; k += TC_L) {");
  put_vector(x, a, put);
  x->s.lanes = "rest";
  tc_print_line(&x->s, "for (int64_t k = k0 + kn / TC_L * TC_L; k < k0 + kn; k += TC_L) {");
  put_vector(x, a, put);
  x->s.lanes = NULL;
  x->s.vector = -1;
}

/* v, or where there are no more keys, `none`. */
static void put_counted(const tc_omp_matmul *x, tc_val v, const char *none, tc_buf *out) {
  if (x->s.lanes)
    tc_putf(out, "tc_where_%s(TC_TRUTH(TC_FIRST(rest)), v%u, %s)", type_of(x), v.id, none);
  else tc_putf(out, "v%u", v.id);
}

/* Values that change along none but those axes, in front of a loop over keys. */
static void hoist(tc_omp_matmul *x, tc_val v, uint32_t mask) {
  x->s.vector = x->ak;
  if (v.id) tc_print_hoist(&x->s, v, mask);
  x->s.vector = -1;
}

static void put_candidate(tc_omp_matmul *x, const tc_action *a) {
  const tc_print_name combine = tc_print_combine_part(a->reducer, 0);
  tc_buf v = {0};
  tc_print_value(&x->s, a->value);
  put_counted(x, a->value, "none", &v);
  tc_print_line(&x->s, "next = tc_%s_%s(next, %s);", combine.text, type_of(x), v.text);
  tc_buf_free(&v);
}

/* r2: accumulator 0 with this block, in all lanes. */
static void put_first(tc_omp_matmul *x, const tc_action *a) {
  const tc_print_name combine = tc_print_combine_part(a->reducer, 0);
  const char *t = type_of(x);
  tc_buf id = {0};
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "const tc_v%s none = %s, most = begin ? none : tc_set_%s(*top);", t, id.text,
                t);
  tc_print_line(&x->s, "tc_v%s next = most;", t);
  put_each_key(x, a, put_candidate);
  tc_print_line(&x->s, "const tc_v%s r2 = tc_lanes_%s_%s(next);", t, combine.text, t);
  tc_buf_free(&id);
}

/* What the row has so far is made to fit the new accumulator 0. */
static void put_rescale(tc_omp_matmul *x, const tc_action *a) {
  static const char *const from[] = {"most", "r2"};
  const char *t = type_of(x);
  tc_rule rule;
  if (!tc_rescale_rule(a->reducer, a->dtype, &rule)) {
    x->out->failed = true;
    return;
  }
  tc_print_line(&x->s, "*top = r2[0];");
  tc_print_line(&x->s, "if (begin) {");
  tc_print_line(&x->s, "  *total = 0;");
  tc_print_line(&x->s, "} else if (tc_differs_%s(r2, most)) {", t);
  x->s.indent += 2;
  tc_print_rule(x->s.words, &rule, from, x->s.indent, x->out);
  tc_print_line(&x->s, "*total *= v%u[0];", rule.value[1].id);
  tc_print_line(&x->s, "for (int64_t n = 0; n < g->n; n += TC_L) {");
  tc_print_line(&x->s, "  const int64_t rest = TC_MIN(TC_L, g->n - n);");
  tc_print_line(&x->s, "  tc_%s *const at = (tc_%s *)(sums + (m - m0) * sums_stride) + n;", t, t);
  tc_print_line(&x->s, "  tc_storen_%s(at, tc_mul_%s(tc_loadn_%s(at, rest), v%u), rest);", t, t, t,
                rule.value[1].id);
  tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Packed elements of A, and of that of the second outer product, from `type` on. */
static void put_packed(tc_omp_matmul *x, const char *type) {
  static const char *const row[] = {"to", "beside"};
  const uint32_t a[] = {x->mm->a.id, x->mm->beside.a.id};
  const char *of_lanes = x->s.lanes ? "n" : "", *rest = x->s.lanes ? ", rest" : "";
  for (int i = 0; i < 2 && a[i]; ++i)
    tc_print_line(&x->s, "tc_store%s_%s((tc_%s *)%s + (k - k0), v%u%s);", of_lanes, type, type,
                  row[i], a[i], rest);
}

static void put_element(tc_omp_matmul *x, const tc_action *a) {
  tc_print_value(&x->s, x->mm->a);
  if (tc_mm_has_beside(x->mm)) tc_print_value(&x->s, x->mm->beside.a);
  if (x->vnni) {
    tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
    put_packed(x, "bf16");
    tc_put(x->out, "#else\n");
  }
  put_packed(x, x->e.store);
  if (x->vnni) tc_put(x->out, "#endif\n");
  if (!a) return;
  tc_buf v = {0};
  tc_print_value(&x->s, a->term);
  put_counted(x, a->term, "nothing", &v);
  tc_print_line(&x->s, "terms = tc_add_%s(terms, %s);", type_of(x), v.text);
  tc_buf_free(&v);
}

static void put_elements(tc_omp_matmul *x, const tc_action *a) {
  const char *t = type_of(x);
  if (a) tc_print_line(&x->s, "const tc_v%s nothing = tc_set_%s(0);", t, t);
  if (a) tc_print_line(&x->s, "tc_v%s terms = nothing;", t);
  put_each_key(x, a, put_element);
  if (a) tc_print_line(&x->s, "*total += tc_lanes_add_%s(terms)[0];", t);
}

/* Where A is rounded to bf16 its exponentials need few bits, and with them those that are summed:
 * all are positive. */
static uint8_t *find_reduced(const tc_omp_matmul *x, const tc_action *a) {
  uint8_t *reduced = calloc(x->k->nexpr + 1, 1);
  if (!reduced) x->out->failed = true;
  if (reduced && a && x->vnni && x->k->expr[a->term.id].op == OP_EXP) reduced[a->term.id] = 1;
  return reduced;
}

/* @NAME@_finish: rows are neighbours in vectors. */
static void put_finish(tc_omp_matmul *x) {
  const tc_stage *st = &x->mm->inner.finish;
  const char *t = type_of(x);
  if (!st->naction) return;
  tc_omp_mm_open(x, "static TC_VECTOR_WIDTH void @NAME@_finish(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows)");
  uint8_t *outer = tc_print_enter(&x->s);
  tc_omp_mm_open_lanes(x, x->am, 0, "m0", "m0 + rows", false);
  for (int i = 0; i < 2; ++i)
    tc_print_line(&x->s, "const tc_v%s r%d = tc_loadn_%s((const tc_%s *)g->row[%d] + (m - g->row_first), rest);", t,
                  TC_MM_ROWS + i, t, t, i);
  tc_print_hoist_stage(&x->s, st, ~0u);
  for (uint32_t i = 0; i < st->naction; ++i) tc_print_store(&x->s, &st->action[i]);
  tc_omp_mm_close_lanes(x);
  tc_print_leave(&x->s, outer);
  tc_omp_mm_close(x);
}

void tc_omp_mm_put_rows(tc_omp_matmul *x) {
  const tc_action *a = rows_of(x);
  const uint32_t batch = (1u << x->mm->nbatch) - 1, row = batch | 1u << x->am;
  const char *t = type_of(x);
  tc_omp_mm_open(x, "static TC_VECTOR_WIDTH void @NAME@_rows(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t k0, "
                    "int64_t kn,\n                                 int begin, const char *tile, const char *second, int64_t pitch, "
                    "char *dst,\n                                 char *besides, int64_t stride, char *tops, char *totals, char *sums, "
                    "int64_t sums_stride)");
  uint8_t *outer = tc_print_enter(&x->s), *reduced = find_reduced(x, a);
  x->s.reduced_precision = reduced;
  hoist(x, x->mm->a, batch);
  hoist(x, x->mm->beside.a, batch);
  if (a) hoist(x, a->value, batch), hoist(x, a->term, batch);
  tc_print_line(&x->s, "for (int64_t m = m0; m < m0 + rows; ++m) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const char *const line = tile + (m - m0) * pitch;");
  if (x->mm->inner.n > 1)
    tc_print_line(&x->s, "const char *const other = second + (m - m0) * pitch;");
  tc_print_line(&x->s, "char *const to = dst + (m - m0) * stride;");
  if (tc_mm_has_beside(x->mm))
    tc_print_line(&x->s, "char *const beside = besides + (m - m0) * stride;");
  if (a) tc_print_line(&x->s, "tc_%s *const top = (tc_%s *)tops + (m - m0), *const total = (tc_%s *)totals + (m - m0);", t, t, t);
  if (a) {
    hoist(x, a->value, row);
    put_first(x, a);
    put_rescale(x, a);
    hoist(x, a->term, row);
  }
  hoist(x, x->mm->a, row);
  hoist(x, x->mm->beside.a, row);
  put_elements(x, a);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.reduced_precision = NULL;
  free(reduced);
  tc_print_leave(&x->s, outer);
  tc_omp_mm_close(x);
  put_finish(x);
  x->keys = put_keys_of_rows(x);
}

void tc_omp_mm_put_row_results(tc_omp_matmul *x) {
  const char *t = type_of(x);
  if (!tc_mm_is_chain(x->mm) || !rows_of(x)) return;
  for (int i = 0; i < 2; ++i)
    tc_print_line(&x->s,
                  "const tc_v%s r%d = tc_set_%s(((const tc_%s *)g->row[%d])[m - g->row_first]);", t,
                  TC_MM_ROWS + i, t, t, i);
}

/* ---- the driver ------------------------------------------------------------------------------ */

void tc_omp_mm_put_chain(const tc_omp_matmul *x, tc_buf *out) {
  tc_putf(out,
          "  const int64_t block = %d / g.mr > 1 ? %d / g.mr * g.mr : g.mr;\n"
          "  const tc_mm_chain chain = {.inner = &inner, .outer = &g, .kc = %d, .block = block, .most = %d / block * "
          "block,\n                             .rows = @NAME@_rows%s%s%s%s%s%s",
          BLOCK, BLOCK, KC, MOST, x->mm->inner.n > 1 ? ", .second = &second" : "",
          tc_mm_has_beside(x->mm) ? ", .beside = &beside" : "",
          tc_mm_has_across(x->mm) ? ", .across = &across" : "", x->keys ? ", .keys = @NAME@_keys" : "",
          x->keys && !rows_of(x) ? ", .every = 1" : "",
          x->mm->inner.finish.naction ? ", .finish = @NAME@_finish" : "");
  if (tc_mm_has_across(x->mm)) tc_putf(out, ", .over = %d", OVER);
  if (tc_mm_has_across(x->mm) && x->vnni)
    tc_put(out, "\n#if TC_ISA >= TC_LEVEL_bf16\n      , .turn = tc_tile_u16\n#endif\n     ");
  tc_put(out, "};\n");
}

static tc_dim up_to(tc_dims *c, tc_dim n, int64_t by) {
  return tc_dim_mul(c, tc_dim_ceildiv(c, n, tc_dim_const(by)), tc_dim_const(by));
}

/* Sums along m: rows of B of a block, the block turned, sums of all keys, and what is read behind keys. */
static tc_dim across_scratch(const tc_omp_matmul *x, tc_dim n) {
  tc_dims *c = tc_graph_dims(x->p->graph);
  const tc_dim blocks =
      tc_dim_ceildiv(c, x->mm->axis[x->mm->nbatch + 2].extent, tc_dim_const(KC));
  const tc_dim sums = tc_dim_mul(c, blocks, tc_dim_const((KC + OVER) * x->e.sum));
  const tc_dim of_n = tc_dim_add(c, sums, tc_dim_const(BLOCK * x->e.bytes));
  const int64_t turned = x->vnni ? (KC + OVER) * (BLOCK * x->e.bytes + LINE) : 0;
  const int64_t over = 2 * BLOCK * OVER * x->e.bytes;
  return tc_dim_add(c, tc_dim_mul(c, n, of_n), tc_dim_const(turned + over + LINE));
}

/* Of what tasks share: a count for each. */
void tc_omp_mm_chain_shared(const tc_omp_matmul *x, tc_buf *out) {
  tc_dims *c = tc_graph_dims(x->p->graph);
  tc_dim tasks = tc_dim_ceildiv(c, x->mm->axis[x->mm->nbatch].extent, tc_dim_const(BLOCK / 2));
  tasks = tc_dim_max(c, tasks, tc_dim_const(1));
  for (int i = 0; i < x->mm->nbatch; ++i) tasks = tc_dim_mul(c, tasks, x->mm->axis[i].extent);
  const int64_t count = tc_mm_has_across(x->mm) ? sizeof(int32_t) : 0;
  tc_print_dim(x->p, tc_dim_add(c, tc_dim_mul(c, tasks, tc_dim_const(count)), tc_dim_const(LINE)), out);
}

/* As tc_mm_chain_scratch divides it, of the widest elements and tiles. */
void tc_omp_mm_chain_scratch(const tc_omp_matmul *x, tc_buf *out) {
  enum { WIDE = 192, DEEP = 32 };
  tc_dims *c = tc_graph_dims(x->p->graph);
  const int64_t es = x->e.bytes, cs = x->e.sum, outer = tc_mm_has_beside(x->mm) ? 2 : 1;
  const tc_dim n = up_to(c, x->mm->axis[x->mm->nbatch + 1].extent, WIDE);
  const tc_dim of_n = tc_dim_mul(c, n, tc_dim_const(outer * (KC * es + MOST * cs)));
  tc_dim d = tc_dim_const(0);
  for (int i = 0; i < x->mm->inner.n; ++i)
    d = tc_dim_add(c, d, up_to(c, x->mm->axis[tc_mm_deep(x->mm, i)].extent, DEEP));
  const tc_dim of_d = tc_dim_mul(c, d, tc_dim_const((KC + BLOCK) * es));
  const int64_t rest = BLOCK * (KC * (outer * es + x->mm->inner.n * cs) + 5 * LINE) + 2 * MOST * cs + LINE;
  tc_dim all = tc_dim_add(c, tc_dim_add(c, of_n, of_d), tc_dim_const(rest));
  if (tc_mm_has_across(x->mm)) all = tc_dim_add(c, all, across_scratch(x, n));
  tc_print_dim(x->p, all, out);
}
