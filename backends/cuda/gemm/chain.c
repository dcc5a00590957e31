/* chain.c - a chain of products of halves on tensor cores (Dao, FlashAttention-2, 2023).
 *
 * A block has M rows, each warp 16 of them: its part of the inner products' A stays in registers (wgmma's in shared
 * memory), its sums of all products do.  Tiles of KEYS keys of each B pass through two places in shared memory: while
 * products work on theirs, the next ones are on their way.  Scores of a tile become A where they are, for what a thread holds
 * of a product it holds of an operand, too; sums so far are rescaled as their row's accumulator 0 changes.  Finished
 * sums go through shared memory, so that a thread of the epilogue has neighbours along n. */
#include "backends/cuda/gemm/matmul.h"

#include <stdlib.h>

enum { KEYS = 64, PAD = 8, PANEL = 64 };

static int up(int64_t n) { return (int)((n + PANEL - 1) / PANEL * PANEL); }

static bool has_second(const tc_cuda_product *x) { return x->mm->inner.n > 1; }

/* What an inner product sums over, in whole panels; 0: there is none. */
static int deep_of(const tc_cuda_product *x, int inner) {
  if (inner >= x->mm->inner.n) return 0;
  const int d = up(tc_dim_value(x->mm->axis[tc_mm_deep(x->mm, inner)].extent));
  return d ? d : PANEL;
}

static int wide_of(const tc_cuda_product *x) { return up(tc_dim_value(x->mm->axis[x->n].extent)); }

static const tc_action *rows_of(const tc_cuda_product *x) {
  return x->mm->inner.rows.naction ? x->mm->inner.rows.action : NULL;
}

/* ---- tiles on their way ---------------------------------------------------------------------- */

/* The letter of an operand's tiles and lanes. */
static const char letters[] = {[TC_CUDA_B] = 'v',        [TC_CUDA_EPILOGUE] = 'c', [TC_CUDA_INNER_A] = 'q',
                               [TC_CUDA_INNER_B] = 'k',  [TC_CUDA_SECOND_A] = 'p', [TC_CUDA_SECOND_B] = 'w'};

/* Of an inner product: A of the block's rows, B of keys from `key`; or the outer one's B. */
static void put_fill(tc_cuda_product *x, const tc_cuda_operand *o, int which, const char *tile, const char *key) {
  static const char *const comment[] = {[TC_CUDA_B] = "B",
                                        [TC_CUDA_INNER_A] = "A of the inner product",
                                        [TC_CUDA_INNER_B] = "B of the inner product",
                                        [TC_CUDA_SECOND_A] = "A of the second inner product",
                                        [TC_CUDA_SECOND_B] = "B of the second inner product"};
  const tc_cuda_span m = {x->m, "m0", "m_end", "M"}, k = {x->kk, key, "k_end", "KEYS"}, n = {x->n, "0", "n_end", "N"},
                     d = {x->kk + 1, "0", "d_end", "D"}, e = {x->kk + 2, "0", "e_end", "E"};
  const bool second = which >= TC_CUDA_SECOND_A, rows = which == TC_CUDA_INNER_A || which == TC_CUDA_SECOND_A;
  const tc_cuda_fill f = {&o[which], letters[which], which == TC_CUDA_B ? n : rows ? m : k,
                          which == TC_CUDA_B ? k : second ? e : d};
  tc_print_line(&x->s, "{ /* %s */", comment[which]);
  x->s.indent += 2;
  tc_print_line(&x->s, "unsigned short *const %c_tile = %s;", f.name, tile);
  tc_cuda_put_fill(x, &f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_next_keys(tc_cuda_product *x, const tc_cuda_operand *o) {
  tc_print_line(&x->s, "if (key1 < end) {");
  x->s.indent += 2;
  put_fill(x, o, TC_CUDA_INNER_B, "k_place + to * (KEYS * D)", "key1");
  if (has_second(x)) put_fill(x, o, TC_CUDA_SECOND_B, "w_place + to * (KEYS * E)", "key1");
  put_fill(x, o, TC_CUDA_B, "v_place + to * (KEYS * N)", "key1");
  tc_print_line(&x->s, "tc_copies_end();");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Is everything that A and the terms are made of the inner product by way of what is reduced? */
static bool is_by_value(const tc_cuda_product *x, const tc_action *a) {
  const tc_kernel *k = x->k;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  bool by_value = need;
  if (need) need[x->mm->a.id] = need[a->term.id] = 1;
  for (uint32_t id = k->nexpr; need && id-- > 1;) {
    const tc_expr *e = &k->expr[id];
    if (!need[id] || id == a->value.id) continue;
    if (e->kind == TC_EX_RESULT && e->index == TC_MM_INNER) by_value = false;
    for (int i = 0; i < 3; ++i) need[e->in[i].id] = 1;
    need[e->guard.id] = 1;
    for (int t = 0; t < e->address.nterm; ++t) need[e->address.term[t].value.id] = 1;
  }
  free(need);
  return by_value;
}

/* How scores are made: of what is reduced alone; of keys all of which exist. */
typedef struct scores {
  const tc_action *a; /* of the rows, or NULL */
  bool by_value, whole;
} scores;

/* Opens the loop over a thread's scores: its row and key, of those that there are, and whether there are more. */
static uint8_t *open_scores(tc_cuda_product *x, const scores *s) {
  tc_print_line(&x->s, "TC_UNROLL for (int j = 0; j < KEYS / 8; ++j)");
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < 4; ++e) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key = key0 + j * 8 + lane %% 4 * 2 + e %% 2;");
  if (!s->whole) tc_print_line(&x->s, "const bool live = key < k_end;");
  tc_print_line(&x->s, "const tc_int %s = %s, %s = row[e / 2];", x->text[x->kk], s->whole ? "key" : "TC_MIN(key, k_end - 1)",
                x->text[x->m]);
  return tc_print_enter(&x->s);
}

static void close_scores(tc_cuda_product *x, uint8_t *outer) {
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_inner_results(tc_cuda_product *x) {
  for (int i = 0; i < x->mm->inner.n; ++i)
    tc_print_line(&x->s, "const tc_uf32 r%u = tc_set_f32(%s[j * 4 + e]);", tc_mm_inner_result(i), i ? "other" : "score");
}

/* Accumulator 0 of both rows with these keys: next. */
static void put_first(tc_cuda_product *x, const scores *s) {
  const tc_print_name op = tc_print_combine_part(s->a->reducer, 0);
  const uint32_t v = s->a->value.id;
  tc_print_line(&x->s, "tc_uf32 next[2] = {most[0], most[1]};");
  uint8_t *outer = open_scores(x, s);
  put_inner_results(x);
  tc_print_value(&x->s, s->a->value);
  if (s->whole) tc_print_line(&x->s, "const tc_uf32 x = v%u;", v);
  else tc_print_line(&x->s, "const tc_uf32 x = live ? (tc_uf32)v%u : none;", v);
  if (s->by_value) tc_print_line(&x->s, "score[j * 4 + e] = x.l[0];");
  tc_print_line(&x->s, "next[e / 2] = tc_%s_f32(next[e / 2], x);", op.text);
  close_scores(x, outer);
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 2; ++h)");
  tc_print_line(&x->s, "  TC_UNROLL for (int s = 1; s < 4; s *= 2)");
  tc_print_line(&x->s, "    next[h] = tc_%s_f32(next[h], tc_set_f32(tc_shuffle(0xffffffffu, next[h].l[0], s)));", op.text);
}

static void put_rescale(tc_cuda_product *x, const tc_action *a) {
  static const char *const from[] = {"most[h]", "next[h]"};
  tc_spelling words = tc_cuda_words;
  tc_rule rule;
  words.vector = words.uniform;
  if (!tc_rescale_rule(a->reducer, a->dtype, &rule)) {
    x->s.out->failed = true;
    return;
  }
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 2; ++h) {");
  x->s.indent += 2;
  tc_print_rule(&words, &rule, from, x->s.indent, x->s.out);
  const uint32_t factor = rule.value[1].id;
  tc_print_line(&x->s, "total[h] *= v%u.l[0];", factor);
  tc_print_line(&x->s, "TC_UNROLL for (int j = 0; j < N / 8; ++j)");
  tc_print_line(&x->s, "  sum[j * 4 + h * 2] *= v%u.l[0], sum[j * 4 + h * 2 + 1] *= v%u.l[0];", factor, factor);
  tc_print_line(&x->s, "most[h] = next[h];");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* score = A; terms join the total. */
static void put_elements(tc_cuda_product *x, const scores *s) {
  const char *none = s->whole ? "" : "live ? ", *else_none = s->whole ? "" : " : 0";
  uint8_t *outer = open_scores(x, s);
  if (s->a) tc_print_line(&x->s, "const tc_uf32 r2 = most[e / 2];");
  if (s->by_value) {
    tc_print_line(&x->s, "const tc_uf32 v%u = tc_set_f32(score[j * 4 + e]);", s->a->value.id);
    x->s.printed[s->a->value.id] |= 1;
  } else {
    put_inner_results(x);
  }
  tc_print_value(&x->s, x->mm->a);
  if (s->a) tc_print_value(&x->s, s->a->term);
  if (s->a) tc_print_line(&x->s, "total[e / 2] += %sv%u.l[0]%s;", none, s->a->term.id, else_none);
  tc_print_line(&x->s, "score[j * 4 + e] = %sv%u.l[0]%s;", none, x->mm->a.id, else_none);
  close_scores(x, outer);
}

static void put_scores(tc_cuda_product *x, bool whole) {
  const tc_action *a = rows_of(x);
  const scores s = {a, a && is_by_value(x, a), whole};
  tc_print_line(&x->s, whole ? "if (key1 <= k_end) {" : "} else {");
  x->s.indent += 2;
  if (a) {
    put_first(x, &s);
    put_rescale(x, a);
  }
  put_elements(x, &s);
  x->s.indent -= 2;
}

/* ---- the block's rows ------------------------------------------------------------------------ */

static const char *truth(bool b) { return b ? "true" : "false"; }

static void put_keys_loop(tc_cuda_product *x, const tc_cuda_operand *o) {
  const char *type = tc_print_storage(x->mm->operand);
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int key1 = key0 + KEYS;");
  tc_print_line(&x->s, "const int from = (int)((key0 - first) / KEYS %% 2), to = from ^ 1;");
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "tc_chain_ready();");
  tc_print_line(&x->s, "__syncthreads(); /* the tiles at hand are there, and all have left those before */");
  put_next_keys(x, o);
  tc_print_line(&x->s, "tc_f32 score[KEYS / 2] = {};");
  tc_print_line(&x->s, "left.template multiply<KEYS, %s>(score, k_place + from * (KEYS * D));",
                truth(o[TC_CUDA_INNER_B].along == x->kk + 1));
  if (has_second(x)) {
    tc_print_line(&x->s, "tc_f32 other[KEYS / 2] = {};");
    tc_print_line(&x->s, "second.template multiply<KEYS, %s>(other, w_place + from * (KEYS * E));",
                  truth(o[TC_CUDA_SECOND_B].along == x->kk + 2));
  }
  put_scores(x, true);
  put_scores(x, false);
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_u32 weights[KEYS / 16][4];");
  tc_print_line(&x->s, "tc_chain_pairs<tc_%s, KEYS>(weights, score);", type);
  tc_print_line(&x->s, "tc_chain_multiply<tc_%s, KEYS, N, %s>(sum, weights, v_place + from * (KEYS * N));", type,
                truth(o[TC_CUDA_B].along == x->kk));
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Rows, once their accumulators are complete. */
static void put_finish(tc_cuda_product *x) {
  const tc_stage *st = &x->mm->inner.finish;
  if (!st->naction) return;
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x; e < M && m0 + e < m_end; e += THREADS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e;", x->text[x->m]);
  tc_print_line(&x->s, "const tc_uf32 r2 = tc_set_f32(tops[e]), r3 = tc_set_f32(totals[e]);");
  tc_cuda_put_finish(x, st, 1);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Sums and accumulators in shared memory, then the epilogue. */
static void put_epilogue(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_action *a = rows_of(x);
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "tc_f32 *const sums = (tc_f32 *)place, *const tops = sums + M * (N + %d), *const totals = tops + M;", PAD);
  if (a) {
    tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < 2; ++h) {");
    tc_print_line(&x->s, "  TC_UNROLL for (int s = 1; s < 4; s *= 2) total[h] += tc_shuffle(0xffffffffu, total[h], s);");
    tc_print_line(&x->s, "  tops[warp * 16 + lane / 4 + h * 8] = most[h].l[0];");
    tc_print_line(&x->s, "  totals[warp * 16 + lane / 4 + h * 8] = total[h];");
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "TC_UNROLL for (int j = 0; j < N / 8; ++j)");
  tc_print_line(&x->s, "  TC_UNROLL for (int e = 0; e < 4; ++e)");
  tc_print_line(&x->s, "    sums[(warp * 16 + lane / 4 + e / 2 * 8) * (N + %d) + j * 8 + lane %% 4 * 2 + e %% 2] = sum[j * 4 + e];", PAD);
  tc_print_line(&x->s, "__syncthreads();");
  put_finish(x);
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x * TC_L; e < M * N; e += THREADS * TC_L) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = m0 + e / N, %s = e %% N;", x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "if (%s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_vf32 r0 = tc_load_f32(sums + e / N * (N + %d) + e %% N);", PAD);
  if (a) tc_print_line(&x->s, "const tc_uf32 r2 = tc_set_f32(tops[e / N]), r3 = tc_set_f32(totals[e / N]);");
  tc_cuda_put_finish(x, &x->mm->epilogue, (int)o[TC_CUDA_EPILOGUE].plan.width);
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  tc_print_line(&x->s, "__syncthreads();");
}

static void put_sizes(tc_cuda_product *x) {
  static const char *const end[TC_MM_INNERS] = {"d_end", "e_end"};
  tc_print_line(&x->s, "constexpr int KEYS = %d, D = %d, N = %d, M = THREADS / 2;", KEYS, deep_of(x, 0), wide_of(x));
  if (has_second(x)) tc_print_line(&x->s, "constexpr int E = %d;", deep_of(x, 1));
  for (int i = 0; i < x->mm->inner.n; ++i)
    tc_print_line(&x->s, "const tc_int %s = %lld;", end[i], (long long)tc_dim_value(x->mm->axis[tc_mm_deep(x->mm, i)].extent));
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;");
  tc_print_line(&x->s, "unsigned short *const place = tc_places(), *const k_place = place + M * D;");
  tc_print_line(&x->s, "unsigned short *const v_place = k_place + 2 * KEYS * D;");
  if (has_second(x)) tc_print_line(&x->s, "unsigned short *const p_place = v_place + 2 * KEYS * N, *const w_place = p_place + M * E;");
}

static void put_start(tc_cuda_product *x) {
  const tc_action *a = rows_of(x);
  tc_buf id = {0};
  tc_print_line(&x->s, "tc_f32 sum[N / 2] = {};");
  tc_print_line(&x->s, "const tc_int row0 = m0 + warp * 16 + lane / 4;");
  tc_print_line(&x->s, "const tc_int row[2] = {TC_MIN(row0, m_end - 1), TC_MIN(row0 + 8, m_end - 1)};");
  if (!a) return;
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "const tc_uf32 none = %s;", id.text ? id.text : "");
  tc_print_line(&x->s, "tc_uf32 most[2] = {none, none};");
  tc_print_line(&x->s, "tc_f32 total[2] = {0, 0};");
  tc_buf_free(&id);
}

static void put_bound(tc_cuda_product *x, const tc_address *a, const char *variable, bool upper) {
  tc_buf at = {0};
  tc_print_key_bound(&x->s, a, x->m, upper, &at);
  tc_print_line(&x->s, "%s = %s(%s, (tc_int)(%s));", variable, upper ? "TC_MIN" : "TC_MAX", variable, at.text);
  tc_buf_free(&at);
}

/* The keys that the block's rows have terms of, from a multiple of a tile on. */
static void put_keys(tc_cuda_product *x) {
  const tc_mm_keys keys = tc_mm_find_keys(x->k, tc_graph_dims(x->p->graph));
  tc_print_line(&x->s, "tc_int first = 0, end = k_end;");
  if (!keys.has_first && !keys.has_end) return;
  tc_print_line(&x->s, "const tc_int last = TC_MIN(m0 + M, m_end) - 1;");
  if (keys.has_end) put_bound(x, &keys.end, "end", true);
  if (!keys.has_first) return;
  put_bound(x, &keys.first, "first", false);
  tc_print_line(&x->s, "first = first / KEYS * KEYS;");
}

static void put_body(tc_cuda_product *x, const tc_cuda_operand *o) {
  put_sizes(x);
  tc_cuda_open_tiles(x, "M", "N");
  tc_print_line(&x->s, "const tc_int m0 = (m_tiles - 1 - tile %% m_tiles) * M; /* the rows of most keys first */");
  tc_cuda_put_batches(x);
  put_keys(x);
  put_fill(x, o, TC_CUDA_INNER_A, "place", "0");
  put_fill(x, o, TC_CUDA_INNER_B, "k_place", "first");
  put_fill(x, o, TC_CUDA_B, "v_place", "first");
  if (has_second(x)) {
    put_fill(x, o, TC_CUDA_SECOND_A, "p_place", "0");
    put_fill(x, o, TC_CUDA_SECOND_B, "w_place", "first");
  }
  tc_print_line(&x->s, "tc_copies_end();");
  tc_print_line(&x->s, "tc_copies_wait<0>();");
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, D, %s> left(place);", tc_print_storage(x->mm->operand),
                truth(o[TC_CUDA_INNER_A].along == x->kk + 1));
  if (has_second(x))
    tc_print_line(&x->s, "const tc_chain_left<tc_%s, M, E, %s> second(p_place);", tc_print_storage(x->mm->operand),
                  truth(o[TC_CUDA_SECOND_A].along == x->kk + 2));
  put_start(x);
  put_keys_loop(x, o);
  put_epilogue(x, o);
  tc_cuda_close_tiles(x);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Operands whose lanes are arguments of the function template, in order. */
static const int lanes_of[] = {TC_CUDA_INNER_A,  TC_CUDA_INNER_B,  TC_CUDA_B,
                               TC_CUDA_EPILOGUE, TC_CUDA_SECOND_A, TC_CUDA_SECOND_B};

static int count_lanes(const tc_cuda_product *x) { return has_second(x) ? 6 : 4; }

/* o: NULL: single elements. */
static void put_function(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body, int number, int threads,
                         int blocks, const char *index, tc_buf *out) {
  tc_buf arguments = {0};
  tc_putf(&arguments, "%d, ", threads);
  for (int i = 0; i < count_lanes(x); ++i) tc_putf(&arguments, "%d, ", o ? (int)o[lanes_of[i]].plan.width : 1);
  tc_put(&arguments, index);
  tc_cuda_put_instance(x, body, number, threads, blocks, arguments.text, out);
  tc_buf_free(&arguments);
}

/* Functions 0 and 1: 128 and 64 rows, of 16-byte accesses; 2: no conditions. */
static uint32_t put_functions(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body, tc_buf *out) {
  const char *index = x->plan->index64 ? "tc_i64" : "int";
  tc_put(out, "template <int THREADS, ");
  for (int i = 0; i < count_lanes(x); ++i) tc_putf(out, "int %c_lanes, ", letters[lanes_of[i]]);
  tc_put(out, "class tc_int>\nTC_FN void @NAME@_product(\n    ");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  /* A multiprocessor's registers hold 512 threads' sums of narrow rows: warps multiply while others do the rest. */
  const int sets = deep_of(x, 0) + deep_of(x, 1) + wide_of(x) <= 2 * PANEL ? 2 : 1;
  put_function(x, o, body, 0, 256, sets, index, out);
  put_function(x, o, body, 1, 128, 2 * sets, index, out);
  put_function(x, NULL, body, 2, 128, 1, "tc_i64", out);
  return 3;
}

/* Bytes of shared memory of a block of so many rows: places, or sums; and what aligns the first. */
static int shared_of(const tc_cuda_product *x, int rows) {
  const int deep = deep_of(x, 0) + deep_of(x, 1);
  const int places = (rows * deep + 2 * KEYS * (deep + wide_of(x))) * 2;
  const int sums = rows * (wide_of(x) + PAD + 2) * 4;
  return (places > sums ? places : sums) + 1024;
}

static void put_launch(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  (void)o;
  tc_putf(out,
          "  const int64_t most = c->info->max_shared, large = %d;\n"
          "  const int many = batches * tc_cuda_ceildiv(m, 128) >= c->info->sms && large <= most;\n"
          "  const unsigned function = !vectorized ? 2 : many ? 0 : 1;\n"
          "  const int64_t high = function == 0 ? 128 : 64, broad = n, block = high * 2;\n"
          "  const int64_t shared = function == 0 ? large : %d;\n",
          shared_of(x, 128), shared_of(x, 64));
}

const tc_cuda_template tc_cuda_chain = {
    .own = "1", .body = put_body, .put = put_functions, .launch = put_launch};
