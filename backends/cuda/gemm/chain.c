/* chain.c - what the templates of chains share. */
#include "backends/cuda/gemm/chain.h"

const char tc_cuda_chain_letter[TC_CUDA_OPERANDS] = {
    [TC_CUDA_B] = 'v',       [TC_CUDA_EPILOGUE] = 'c', [TC_CUDA_INNER_A] = 'q',
    [TC_CUDA_INNER_B] = 'k', [TC_CUDA_SECOND_A] = 'p', [TC_CUDA_SECOND_B] = 'w'};

const int tc_cuda_chain_lanes[6] = {TC_CUDA_INNER_A,  TC_CUDA_INNER_B,  TC_CUDA_B,
                                    TC_CUDA_EPILOGUE, TC_CUDA_SECOND_A, TC_CUDA_SECOND_B};

int tc_cuda_chain_count_lanes(const tc_cuda_product *x) {
  return tc_cuda_chain_has_second(x) ? 6 : 4;
}

tc_cuda_chain_outer tc_cuda_chain_outer_of(const tc_cuda_product *x, int i) {
  const tc_val b = i ? x->mm->beside.b : x->mm->b;
  const tc_cuda_chain_outer first = {.sum = "sum",
                                     .weights = "weights",
                                     .score = "score",
                                     .result = TC_MM_PRODUCT},
                            second = {.sum = "sum_beside",
                                      .weights = "weights_beside",
                                      .score = "other",
                                      .result = TC_MM_BESIDE};
  tc_cuda_chain_outer y = i ? second : first;
  y.same = tc_cuda_same_b(x->k, x->p, b);
  y.b = y.same < 0 ? TC_CUDA_B : y.same ? TC_CUDA_SECOND_B : TC_CUDA_INNER_B;
  return y;
}

/* The axis' width; 0: it is known at run time only. */
static int known(const tc_cuda_product *x, int axis, int unit) {
  const tc_dim e = x->mm->axis[axis].extent;
  return tc_dim_is_const(e) ? (int)((tc_dim_value(e) + unit - 1) / unit * unit) : 0;
}

static int or_class(int width, int class) { return width ? width : class; }

bool tc_cuda_chain_widths_of(const tc_cuda_product *x, int i, int unit, tc_cuda_chain_widths *to) {
  const bool second = tc_cuda_chain_has_second(x);
  const int d = known(x, tc_mm_deep(x->mm, 0), unit),
            e = second ? known(x, tc_mm_deep(x->mm, 1), unit) : 0, n = known(x, x->n, unit);
  const bool all = d && n && (e || !second);
  const int class = tc_cuda_chain_class(x->p, x->mm, all ? 0 : i);
  if ((all && i) || (!all && !class)) return false;
  *to = (tc_cuda_chain_widths){
      .d = or_class(d, class), .e = second ? or_class(e, class) : 0, .n = or_class(n, class)};
  return true;
}

tc_cuda_fill tc_cuda_chain_fill(const tc_cuda_product *x, const tc_cuda_operand *o, int which,
                                const char *key) {
  static const char *const comment[] = {[TC_CUDA_B] = "B",
                                        [TC_CUDA_INNER_A] = "A of the inner product",
                                        [TC_CUDA_INNER_B] = "B of the inner product",
                                        [TC_CUDA_SECOND_A] = "A of the second inner product",
                                        [TC_CUDA_SECOND_B] = "B of the second inner product"};
  const tc_cuda_span m = {x->m, "m0", "m_end", "M"}, k = {x->kk, key, "k_end", "KEYS"},
                     n = {x->n, "n0", "n_end", "N"}, d = {x->kk + 1, "0", "d_end", "D"},
                     e = {x->kk + 2, "0", "e_end", "E"};
  const bool rows = which == TC_CUDA_INNER_A || which == TC_CUDA_SECOND_A;
  const tc_cuda_span inner = which >= TC_CUDA_SECOND_A ? e : d;
  return (tc_cuda_fill){.o = &o[which],
                        .name = tc_cuda_chain_letter[which],
                        .outer = rows ? m : k,
                        .deep = which == TC_CUDA_B ? n : inner,
                        .what = comment[which]};
}

void tc_cuda_chain_put_template(const tc_cuda_product *x, const char *numbers, const char *of,
                                const char *body, const tc_cuda_bodies *b, tc_buf *out) {
  tc_putf(out, "template <%s", numbers);
  for (int i = 0; i < tc_cuda_chain_count_lanes(x); ++i)
    tc_putf(out, "int %c_lanes, ", tc_cuda_chain_letter[tc_cuda_chain_lanes[i]]);
  tc_putf(out, "class tc_int>\nTC_FN void @NAME@_%s(\n    ", of);
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
}

/* ---- a block's rows and keys ----------------------------------------------------------------- */

void tc_cuda_chain_put_ends(tc_cuda_product *x) {
  static const char *const end[TC_MM_INNERS] = {"d_end", "e_end"};
  for (int i = 0; i < x->mm->inner.n; ++i) tc_cuda_put_extent(x, end[i], tc_mm_deep(x->mm, i));
}

void tc_cuda_chain_open_tiles(tc_cuda_product *x, const tc_mm_keys *keys) {
  if (keys->has_first != keys->has_end) tc_cuda_open_tiles_of_all(x, "M", "N");
  else tc_cuda_open_tiles(x, "M", "N");
}

/* Rows of most keys come first, so that those of few fill what is left: keys in front of a row's
 * end are most in the last rows, those behind a row's first one in the first. */
void tc_cuda_chain_put_first(tc_cuda_product *x, const tc_mm_keys *keys) {
  if (keys->has_first && !keys->has_end) tc_print_line(&x->s, "const tc_int m0 = tile %% m_tiles * M;");
  else tc_print_line(&x->s, "const tc_int m0 = (m_tiles - 1 - tile %% m_tiles) * M; /* the rows of most keys first */");
  tc_print_line(&x->s, "const tc_int n0 = tile / m_tiles %% n_tiles * N;");
}

/* closer: of the variable and the bound, which becomes the variable: TC_MIN or TC_MAX. */
static void put_bound(tc_cuda_product *x, const tc_address *a, const char *variable,
                      const char *closer, bool upper) {
  tc_buf at = {0};
  tc_print_key_bound(&x->s, a, x->m, upper, &at);
  tc_print_line(&x->s, "%s = %s(%s, (tc_int)(%s));", variable, closer, variable, at.text);
  tc_buf_free(&at);
}

static void put_bounds(tc_cuda_product *x, const tc_mm_keys *keys) {
  tc_print_line(&x->s, "const tc_int last = TC_MIN(m0 + M, m_end) - 1;");
  if (keys->has_end) {
    put_bound(x, &keys->end, "end", "TC_MIN", true);
    put_bound(x, &keys->end, "all_end", "TC_MIN", false);
  }
  if (!keys->has_first) return;
  put_bound(x, &keys->first, "first", "TC_MAX", false);
  put_bound(x, &keys->first, "all_first", "TC_MAX", true);
  tc_print_line(&x->s, "first = first / KEYS * KEYS;");
}

void tc_cuda_chain_put_keys(tc_cuda_product *x, const tc_mm_keys *keys) {
  tc_print_line(&x->s, "tc_int first = 0, end = k_end, all_first = 0, all_end = k_end;");
  if (keys->has_first || keys->has_end) put_bounds(x, keys);
  tc_cuda_chain_put_share(x);
}

void tc_cuda_chain_put_start(tc_cuda_product *x, const tc_cuda_chain_layout *l) {
  const tc_action *a = tc_cuda_chain_rows(x);
  const char *t = tc_cuda_acc(x);
  tc_buf id = {0};
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "tc_%s %s[%s] = {};", t, tc_cuda_chain_outer_of(x, i).sum, l->sums);
  tc_print_line(&x->s, "tc_int row[%s];", l->rows);
  tc_print_line(&x->s,
                "TC_UNROLL for (int h = 0; h < %s; ++h) row[h] = TC_MIN(m0 + %s, m_end - 1);",
                l->rows, l->place);
  if (!a) return;
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "const tc_u%s none = %s;", t, id.text ? id.text : "");
  tc_print_line(&x->s, "tc_u%s most[%s];", t, l->rows);
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < %s; ++h) most[h] = none;", l->rows);
  tc_print_line(&x->s, "tc_%s total[%s] = {}, factor[%s];", t, l->rows, l->rows);
  tc_print_line(&x->s, "bool changed;");
  tc_buf_free(&id);
}

void tc_cuda_chain_put_rescale(tc_cuda_product *x, const tc_cuda_chain_layout *l) {
  tc_print_line(&x->s, "if (changed)");
  tc_print_line(&x->s, "  TC_UNROLL for (int i = 0; i < %s; ++i) sum[i] *= factor[%s];", l->sums,
                l->row_of_sum);
}

/* ---- values of keys -------------------------------------------------------------------------- */

void tc_cuda_chain_put_columns(tc_cuda_product *x, const char *key) {
  tc_val v[TC_CUDA_CHAIN_COLUMNS];
  const int n = tc_cuda_chain_columns(x, v);
  if (!n) return;
  tc_print_line(&x->s, "if ((int)threadIdx.x < KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = TC_MIN(%s + (int)threadIdx.x, k_end - 1);",
                x->text[x->kk], key);
  uint8_t *outer = tc_print_enter(&x->s);
  for (int i = 0; i < n; ++i) {
    tc_print_value(&x->s, v[i]);
    tc_print_line(&x->s, "fresh[%d] = v%u.l[0];", i, v[i].id);
  }
  tc_print_line(&x->s, "tc_chain_begin_loads(fresh);");
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_chain_put_fresh(tc_cuda_product *x, const char *to) {
  if (!tc_cuda_chain_columns(x, NULL)) return;
  tc_print_line(&x->s, "if ((int)threadIdx.x < KEYS)");
  tc_print_line(&x->s, "  TC_UNROLL for (int i = 0; i < COLUMNS; ++i)");
  tc_print_line(&x->s, "    columns[(%s * COLUMNS + i) * KEYS + (int)threadIdx.x] = fresh[i];", to);
}

/* ---- the epilogue ---------------------------------------------------------------------------- */

/* Sums of all outer products, [outer][row][column], and accumulators of rows behind them. */
static void put_sums(tc_cuda_product *x, const tc_cuda_chain_layout *l, const char *shared) {
  const int outers = tc_cuda_chain_outers(x);
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "%s", l->meet);
  tc_print_line(&x->s, "tc_%s *const sums = (tc_%s *)%s, *const tops = sums + %d * M * (N + %d), *const totals = tops + M;",
                t, t, shared, outers, TC_CUDA_CHAIN_PAD);
  if (tc_cuda_chain_rows(x)) {
    tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < %s; ++h) {", l->rows);
    tc_print_line(&x->s, "  TC_UNROLL for (int s = %d; s < %d; s *= 2) total[h] += tc_shuffle(0xffffffffu, total[h], s);", l->apart, l->threads * l->apart);
    if (l->first) tc_print_line(&x->s, "  if (%s)", l->first);
    tc_print_line(&x->s, "  %stops[%s] = most[h].l[0], totals[%s] = total[h];",
                  l->first ? "  " : "", l->place, l->place);
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < %s; ++i) {", l->sums);
  tc_print_line(&x->s, "  const int h = %s, at = (%s) * (N + %d) + %s;", l->row_of_sum, l->place,
                TC_CUDA_CHAIN_PAD, l->column);
  for (int i = 0; i < outers; ++i)
    tc_print_line(&x->s, "  sums[%d * M * (N + %d) + at] = %s[i];", i, TC_CUDA_CHAIN_PAD,
                  tc_cuda_chain_outer_of(x, i).sum);
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "%s", l->meet);
}

/* Rows, once their accumulators are complete, are stored beside their first columns. */
static void put_finish(tc_cuda_product *x) {
  const tc_stage *st = &x->mm->inner.finish;
  const char *t = tc_cuda_acc(x);
  if (!st->naction) return;
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x; n0 == 0 && e < M && m0 + e < m_end; e += THREADS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e;", x->text[x->m]);
  tc_print_line(&x->s, "const tc_u%s r2 = tc_set_%s(tops[e]), r3 = tc_set_%s(totals[e]);", t, t, t);
  tc_cuda_put_finish(x, st, 1);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* The results, so many of a row by each thread. */
static void put_results(tc_cuda_product *x, const tc_cuda_operand *o, const char *lanes) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "constexpr int TC_L = %s;", lanes);
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x * TC_L; e < M * N; e += THREADS * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e / N, %s = n0 + e %% N;", x->text[x->m],
                x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s,
                  "const tc_v%s r%u = tc_load_%s(sums + (%d * M + e / N) * (N + %d) + e %% N);", t,
                  tc_cuda_chain_outer_of(x, i).result, t, i, TC_CUDA_CHAIN_PAD);
  if (tc_cuda_chain_rows(x))
    tc_print_line(&x->s, "const tc_u%s r2 = tc_set_%s(tops[e / N]), r3 = tc_set_%s(totals[e / N]);",
                  t, t, t);
  tc_cuda_put_finish(x, &x->mm->epilogue, (int)o[TC_CUDA_EPILOGUE].plan.width);
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}

void tc_cuda_chain_put_epilogue(tc_cuda_product *x, const tc_cuda_operand *o,
                                const tc_cuda_chain_layout *l, const char *shared) {
  const bool unaligned = tc_cuda_may_be_unaligned(x, o);
  put_sums(x, l, shared);
  tc_cuda_chain_put_leave(x);
  put_finish(x);
  if (unaligned) {
    tc_print_line(&x->s, "if (c_lanes > 1 && !wide_results) {");
    x->s.indent += 2;
    put_results(x, o, "1");
    x->s.indent -= 2;
    tc_print_line(&x->s, "} else {");
    x->s.indent += 2;
  }
  put_results(x, o, "c_lanes");
  if (unaligned) tc_cuda_close_scope(x);
  tc_print_line(&x->s, "__syncthreads();");
}

/* ---- the launcher ---------------------------------------------------------------------------- */

void tc_cuda_chain_put_width(const tc_cuda_product *x, tc_buf *out) {
  const int axis[] = {x->n, tc_mm_deep(x->mm, 0), tc_mm_deep(x->mm, 1)};
  tc_put(out, "  int64_t width = 0;\n");
  for (int i = 0; i <= x->mm->inner.n; ++i) {
    const tc_dim extent = x->mm->axis[axis[i]].extent;
    bool again = tc_dim_is_const(extent);
    for (int j = 0; j < i; ++j) again = again || tc_dim_same(extent, x->mm->axis[axis[j]].extent);
    if (again) continue;
    tc_put(out, "  if ((");
    tc_print_dim(x->p, extent, out);
    tc_put(out, ") > width) width = ");
    tc_print_dim(x->p, extent, out);
    tc_put(out, ";\n");
  }
}
