/* skinny.c - see skinny.h.
 *
 * A warp has ROWS rows of the long operand, which lanes read along k, neighbours beside each other; of the short one's FEW columns
 * they read the same, which the caches have.  All warps of a block have the same rows, and parts of k: more of them are busy with few
 * rows.  What lanes have summed is added up at the end, so that each has one of the block's results.  Of few columns or rows and
 * a short k, a thread has a result; of a shorter one, neighbours of a few rows. */
#include "backends/cuda/gemm/skinny.h"

#include "backends/cuda/emit.h"

#include <stdio.h>

enum { THREADS = 128, WARPS = THREADS / 32, RESULTS = 32 /* of a block */ };
enum { FEW = TC_CUDA_FEW };

/* Of the two ways round: few columns, and few rows. */
typedef struct way {
  int across;       /* the long operand, A or B */
  int outer, inner; /* axes: of the long one's rows, and of the few */
} way;
enum { WAYS = 2, SHORT = WAYS, OUTER };

static way way_of(const tc_cuda_product *x, int i) {
  return i ? (way){TC_CUDA_B, x->n, x->m} : (way){TC_CUDA_A, x->m, x->n};
}

static const tc_cuda_operand *few_of(const tc_cuda_operand *o, const way *w) { return &o[w->across == TC_CUDA_A ? TC_CUDA_B : TC_CUDA_A]; }

static uint32_t ways_of(const tc_cuda_product *x) { return x->plan->skinny ? tc_cuda_skinny_ways(x->k, x->p, x->plan) : 0; }

static bool has_way(const tc_cuda_product *x, int i) { return ways_of(x) & (i ? TC_CUDA_ROWS_ARE_FEW : TC_CUDA_COLUMNS_ARE_FEW); }

static bool has_outer(const tc_cuda_product *x) { return ways_of(x) & TC_CUDA_OUTER; }

static bool has_short(const tc_cuda_product *x) { return ways_of(x) & TC_CUDA_K_IS_SHORT; }

/* Elements of a lane's access: words. */
static int lanes_of(const tc_cuda_product *x, const tc_cuda_operand *o) {
  const int words = 4 / (int)tc_dtype_bytes(x->mm->operand), width = (int)o->plan.width;
  return words < 1 ? 1 : width < words ? width : words;
}

/* ---- the body -------------------------------------------------------------------------------- */

/* `part`: the operand's value at the point at hand, and what is done with it, in C. */
static void put_operand(tc_cuda_product *x, const tc_cuda_operand *o, int lanes, const char *use) {
  tc_print_line(&x->s, "{");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_v%s part;", tc_cuda_acc(x));
  tc_cuda_put_part(x, o, lanes);
  tc_print_line(&x->s, "%s", use);
  tc_cuda_close_scope(x);
}

/* left: of rows, of which those beyond the last are the last one. */
static void put_left(tc_cuda_product *x, const tc_cuda_operand *o, const way *w) {
  const char *t = tc_cuda_acc(x), *row = x->text[w->outer];
  tc_print_line(&x->s, "tc_v%s left[ROWS], right[FEW];", t);
  tc_print_line(&x->s, "TC_UNROLL for (int r = 0; r < ROWS; ++r) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = TC_MIN(row0 + r, %c_end - 1);", row, w->outer == x->m ? 'm' : 'n');
  put_operand(x, &o[w->across], (int)o[w->across].plan.width, "left[r] = part;");
  tc_cuda_close_scope(x);
}

/* right: of columns, likewise, which need not lie along k. */
static void put_right(tc_cuda_product *x, const tc_cuda_operand *o, const way *w) {
  const tc_cuda_operand *few = few_of(o, w);
  const char *k = x->text[x->kk], *column = x->text[w->inner];
  const bool along = few->along == x->kk && few->plan.width == o[w->across].plan.width;
  tc_print_line(&x->s, "TC_UNROLL for (int c = 0; c < FEW; ++c) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = TC_MIN(few0 + c, %c_end - 1);", column, w->inner == x->n ? 'n' : 'm');
  if (!along) {
    tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < LANES; ++l) {");
    x->s.indent += 2;
    tc_print_line(&x->s, "constexpr int TC_L = 1;");
    tc_print_line(&x->s, "TC_TYPES");
    tc_print_line(&x->s, "const tc_int %s = k0 + l;", k);
    put_operand(x, few, 1, "right[c].l[l] = part.l[0];");
    tc_cuda_close_scope(x);
  } else put_operand(x, few, (int)few->plan.width, "right[c] = part;");
  tc_cuda_close_scope(x);
}

static void put_sums(tc_cuda_product *x, const tc_cuda_operand *o, const way *w) {
  tc_print_line(&x->s, "tc_%s sum[ROWS * FEW] = {};", tc_cuda_acc(x));
  tc_print_line(&x->s, "_Pragma(\"unroll 4\") for (tc_int k0 = (int)threadIdx.x * LANES; k0 < k_end; k0 += %d * LANES) {", THREADS);
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = LANES;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "const tc_int %s = k0;", x->text[x->kk]);
  put_left(x, o, w);
  put_right(x, o, w);
  tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < LANES; ++l)");
  tc_print_line(&x->s, "  TC_UNROLL for (int i = 0; i < ROWS * FEW; ++i) sum[i] = tc_mad(left[i / FEW].l[l], right[i %% FEW].l[l], sum[i]);");
  tc_cuda_close_scope(x);
}

/* Parts of k are added in their order by the first warp. */
static void put_total(tc_cuda_product *x) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "__shared__ tc_%s totals[%d][32];", t, WARPS);
  tc_print_line(&x->s, "__syncthreads(); /* those of the tile before are read */");
  tc_print_line(&x->s, "totals[warp][lane] = tc_total_of_lane<ROWS * FEW>(sum, lane);");
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "tc_%s total = 0;", t);
  tc_print_line(&x->s, "TC_UNROLL for (int s = 0; s < %d; ++s) total += totals[s][lane];", WARPS);
}

static void put_results(tc_cuda_product *x, const way *w) {
  const char *t = tc_cuda_acc(x);
  put_total(x);
  tc_print_line(&x->s, "const tc_int %s = row0 + lane / FEW, %s = few0 + lane %% FEW;", x->text[w->outer], x->text[w->inner]);
  tc_print_line(&x->s, "const tc_v%s r0 = tc_set_%s(total);", t, t);
  tc_print_line(&x->s, "if (warp == 0 && %s < m_end && %s < n_end) {", x->text[x->m], x->text[x->n]);
  x->s.indent += 2;
  tc_cuda_put_finish(x, &x->mm->epilogue, 1);
  tc_cuda_close_scope(x);
}

static void put_way(tc_cuda_product *x, const tc_cuda_operand *o, const way *w) {
  const bool columns = w->across == TC_CUDA_A;
  tc_cuda_open_tiles(x, columns ? "ROWS" : "FEW", columns ? "FEW" : "ROWS");
  tc_print_line(&x->s, "const tc_int row0 = tile %s %% %c_tiles * ROWS, few0 = tile %s %% %c_tiles * FEW;", columns ? "/ n_tiles" : "",
                columns ? 'm' : 'n', columns ? "" : "/ n_tiles", columns ? 'n' : 'm');
  tc_cuda_put_batches(x);
  put_sums(x, o, w);
  put_results(x, w);
  tc_cuda_close_scope(x);
}

/* The loop over a thread's items, of which each batch has `count` (C, of m_end and n_end): `e`. */
static void open_items(tc_cuda_product *x, const char *count) {
  tc_buf batches = {0};
  tc_cuda_put_batch_count(x->p, x->mm, &batches);
  tc_print_line(&x->s, "TC_ROLLED for (tc_int e = (tc_int)blockIdx.x * %d + (int)threadIdx.x; e < %s * %s; e += (tc_int)gridDim.x * %d) {",
                THREADS, batches.text ? batches.text : "1", count, THREADS);
  x->s.indent += 2;
  tc_buf_free(&batches);
}

static void put_extents(tc_cuda_product *x) {
  tc_cuda_put_extent(x, "m_end", x->m);
  tc_cuda_put_extent(x, "n_end", x->n);
  tc_cuda_put_extent(x, "k_end", x->kk);
}

/* A result of each thread. */
static void put_short(tc_cuda_product *x, const tc_cuda_operand *o) {
  const char *t = tc_cuda_acc(x);
  put_extents(x);
  open_items(x, "m_end * n_end");
  tc_print_line(&x->s, "const tc_int %s = e / n_end %% m_end, %s = e %% n_end;", x->text[x->m], x->text[x->n]);
  tc_print_line(&x->s, "tc_int rest = e / (m_end * n_end);");
  tc_cuda_put_batch_numbers(x);
  tc_print_line(&x->s, "tc_%s total = 0;", t);
  tc_print_line(&x->s, "_Pragma(\"unroll 4\") for (tc_int %s = 0; %s < k_end; ++%s) {", x->text[x->kk], x->text[x->kk], x->text[x->kk]);
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_%s left, right;", t);
  put_operand(x, &o[TC_CUDA_A], 1, "left = part.l[0];");
  put_operand(x, &o[TC_CUDA_B], 1, "right = part.l[0];");
  tc_print_line(&x->s, "total = tc_mad(left, right, total);");
  tc_cuda_close_scope(x);
  tc_print_line(&x->s, "const tc_v%s r0 = tc_set_%s(total);", t, t);
  tc_cuda_put_finish(x, &x->mm->epilogue, 1);
  tc_cuda_close_scope(x);
}

/* ---- a k that is shorter than results take ----------------------------------------------------- */

enum { OUTER_ROWS = 4 /* of a thread: they share what is loaded of B */ };

/* left: an element of A in each of the thread's rows, of which those beyond the last are the last one. */
static void put_rows(tc_cuda_product *x, const tc_cuda_operand *a) {
  tc_print_line(&x->s, "tc_%s left[HIGH];", tc_cuda_acc(x));
  tc_print_line(&x->s, "TC_UNROLL for (int r = 0; r < HIGH; ++r) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = 1;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "const tc_int %s = TC_MIN(row0 + r, m_end - 1);", x->text[x->m]);
  put_operand(x, a, 1, "left[r] = part.l[0];");
  tc_cuda_close_scope(x);
}

static void put_outer_sums(tc_cuda_product *x, const tc_cuda_operand *o) {
  const char *k = x->text[x->kk], *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "tc_v%s sum[HIGH];", t);
  tc_print_line(&x->s, "TC_UNROLL for (int r = 0; r < HIGH; ++r) sum[r] = tc_set_%s(0);", t);
  tc_print_line(&x->s, "_Pragma(\"unroll 4\") for (tc_int %s = 0; %s < k_end; ++%s) {", k, k, k);
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_v%s right; /* LANES columns of B */", t);
  put_operand(x, &o[TC_CUDA_B], (int)o[TC_CUDA_B].plan.width, "right = part;");
  put_rows(x, &o[TC_CUDA_A]);
  tc_print_line(&x->s, "TC_UNROLL for (int r = 0; r < HIGH; ++r)");
  tc_print_line(&x->s, "  TC_UNROLL for (int l = 0; l < LANES; ++l) sum[r].l[l] = tc_mad(left[r], right.l[l], sum[r].l[l]);");
  tc_cuda_close_scope(x);
}

static void put_outer(tc_cuda_product *x, const tc_cuda_operand *o) {
  put_extents(x);
  tc_print_line(&x->s, "constexpr int TC_L = LANES, HIGH = %d;", OUTER_ROWS);
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "const tc_int across = TC_CEILDIV(n_end, LANES), down = TC_CEILDIV(m_end, HIGH);");
  open_items(x, "down * across");
  tc_print_line(&x->s, "const tc_int row0 = e / across %% down * HIGH, %s = e %% across * LANES;", x->text[x->n]);
  tc_print_line(&x->s, "tc_int rest = e / (down * across);");
  tc_cuda_put_batch_numbers(x);
  put_outer_sums(x, o);
  tc_print_line(&x->s, "TC_UNROLL for (int r = 0; r < HIGH; ++r) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int %s = row0 + r;", x->text[x->m]);
  tc_print_line(&x->s, "if (%s >= m_end) break;", x->text[x->m]);
  tc_print_line(&x->s, "const tc_v%s r0 = sum[r];", tc_cuda_acc(x));
  tc_cuda_put_finish(x, &x->mm->epilogue, (int)o[TC_CUDA_EPILOGUE].plan.width);
  tc_cuda_close_scope(x);
  tc_cuda_close_scope(x);
}

static void put_alone(tc_cuda_product *x, const tc_cuda_operand *o, bool has, int way, const char *what, void (*put)(tc_cuda_product *, const tc_cuda_operand *)) {
  if (!has) return;
  tc_print_line(&x->s, "if constexpr (WAY == %d) { /* %s */", way, what);
  x->s.indent += 2;
  put(x, o);
  tc_cuda_close_scope(x);
}

void tc_cuda_skinny(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (!ways_of(x)) return;
  tc_print_line(&x->s, "constexpr int FEW = %d, ROWS = %d / FEW;", FEW, RESULTS);
  tc_print_line(&x->s, "const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;");
  for (int i = 0; i < WAYS; ++i) {
    const way w = way_of(x, i);
    if (!has_way(x, i)) continue;
    tc_print_line(&x->s, "if constexpr (WAY == %d) { /* few %s */", i, i ? "rows" : "columns");
    x->s.indent += 2;
    put_way(x, o, &w);
    tc_cuda_close_scope(x);
  }
  put_alone(x, o, has_short(x), SHORT, "and a short k", put_short);
  put_alone(x, o, has_outer(x), OUTER, "a shorter k of any", put_outer);
}

/* ---- functions, and the launcher ------------------------------------------------------------- */

/* A function: its way, and elements of a lane's access. */
typedef struct function {
  int way, lanes;
} function;
enum { FUNCTIONS = 2 * WAYS + 2 };

/* For each way one of single elements, behind it one of wider accesses, if there are any; and those of a
 * short k, and of a shorter one.  How many. */
static int functions_of(const tc_cuda_product *x, const tc_cuda_operand *o, function *to) {
  int n = 0;
  for (int i = 0; i < WAYS; ++i)
    if (has_way(x, i)) {
      const int lanes = lanes_of(x, &o[way_of(x, i).across]);
      to[n++] = (function){i, 1};
      if (lanes > 1) to[n++] = (function){i, lanes};
    }
  if (has_short(x)) to[n++] = (function){SHORT, 1};
  if (has_outer(x)) to[n++] = (function){OUTER, (int)o[TC_CUDA_EPILOGUE].plan.width};
  return n;
}

uint32_t tc_cuda_put_skinny(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, const char *body, uint32_t first,
                            tc_buf *out) {
  function f[FUNCTIONS];
  const int n = functions_of(x, o, f);
  if (!*body) return first;
  tc_put(out, "/* of few columns (WAY 0) or rows (1), or a short k of either (2), or a shorter one of any (3) */\n"
              "template <int WAY, int LANES, class tc_int>\nTC_FN void @NAME@_skinny(\n    ");
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  for (int i = 0; i < n; ++i) {
    char arguments[48];
    snprintf(arguments, sizeof arguments, "%d, %d, %s", f[i].way, f[i].lanes, f[i].lanes > 1 && !x->plan->index64 ? "int" : "tc_i64");
    tc_cuda_put_instance(x, b, "skinny", (int)first + i, THREADS, false, 4, arguments, out);
  }
  return first + (uint32_t)n;
}

static const char helpers[] =
    "/* Are so many rows, of `few` columns, `most` at most, those of a skinny product, of a k of `least` at least?  All multiprocessors\n"
    " * are to have enough to read. */\n"
    "TC_CUDA_FN int tc_cuda_is_skinny(const tcrt_cuda_call *c, int64_t rows, int64_t few, int64_t most, int64_t k, int64_t least,\n"
    "                                 int64_t batches) {\n"
    "  const int64_t read = rows * batches * k;\n"
    "  return few <= most && k >= least && rows > few && read >= %d && read >= 4096 * (int64_t)c->info->sms;\n"
    "}\n";

void tc_cuda_put_skinny_helpers(tc_buf *out) { tc_putf(out, helpers, TC_CUDA_LEAST_READ); }

void tc_cuda_put_is_skinny(const tc_cuda_product *x, const char *m, const char *n, const char *k,
                           const char *batches, tc_buf *out) {
  const char *const sides[WAYS][2] = {{m, n}, {n, m}};
  const char *sum = "";
  for (int i = 0; i < WAYS; ++i) {
    if (!has_way(x, i)) continue;
    tc_putf(out, "%s%d * tc_cuda_is_skinny(c, %s, %s, %d, %s, %lld, %s)", sum, i + 1, sides[i][0], sides[i][1], FEW, k, (long long)tc_cuda_skinny_k(x->mm), batches);
    sum = " + ";
  }
  if (has_short(x)) {
    tc_putf(out, "%s%d * (%s <= %d && (%s < %s ? %s : %s) * %s <= %d && %s * %s * %s >= %d)", sum, SHORT + 1, k, TC_CUDA_SHORT_K, m, n, m, n, k, TC_CUDA_MOST_SHORT, batches, m, n, TC_CUDA_LEAST_RESULTS);
    sum = " + ";
  }
  if (has_outer(x))
    tc_putf(out, "%s%d * (outer && %s <= %d && (%s < %s ? %s : %s) * %s > %d && %s * %s * %s >= %d)", sum, OUTER + 1, k, (int)tc_cuda_outer_k(x->mm), m, n, m, n, k, has_short(x) ? TC_CUDA_MOST_SHORT : 0, batches, m, n, TC_CUDA_LEAST_RESULTS);
}

/* `at`: the way's function. */
static void put_choice(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  function f[FUNCTIONS];
  const int n = functions_of(x, o, f);
  tc_put(out, "    static const int way[] = {");
  for (int i = 0; i < n; ++i) tc_putf(out, "%d, ", f[i].way + 1);
  tc_put(out, "0}; /* of two functions the second has wider accesses */\n"
              "    unsigned at = 0;\n"
              "    while (way[at] != skinny) ++at;\n"
              "    if (vectorized && way[at + 1] == skinny) ++at;\n");
}

void tc_cuda_put_outer_aligned(const tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *out) {
  tc_buf conditions = {0};
  if (!has_outer(x)) return;
  for (int i = TC_CUDA_A; i <= TC_CUDA_EPILOGUE; ++i) {
    if (i != TC_CUDA_A) tc_cuda_put_aligned(x->k, x->p, &o[i].nest, &o[i].plan, &conditions, &conditions);
    tc_cuda_put_small(x->k, x->p, &o[i].nest, &o[i].plan, false, &conditions);
  }
  tc_putf(out, "  const int outer = 1%s; /* rows of B and of the results are aligned */\n", conditions.text ? conditions.text : "");
  out->failed |= conditions.failed;
  tc_buf_free(&conditions);
}

void tc_cuda_put_skinny_launch(const tc_cuda_product *x, const tc_cuda_operand *o, const char *all, uint32_t first, tc_buf *out) {
  tc_buf k = {0};
  if (!ways_of(x)) return;
  tc_cuda_put_size(x->p, x->mm, x->kk, &k);
  const char *depth = k.text ? k.text : "0";
  tc_put(out, "  const int skinny = ");
  tc_cuda_put_is_skinny(x, "m", "n", depth, "batches", out);
  tc_put(out, "; /* 1: few columns; 2: few rows; 3: and a short k; 4: a shorter one of any */\n  if (skinny) {\n");
  put_choice(x, o, out);
  tc_put(out, "    void *const args[] = {");
  tc_cuda_put_parameters(x->k, x->p, all, TC_CUDA_ADDRESS, out);
  tc_putf(out,
          "};\n"
          "    const int64_t high = skinny == 1 ? %d : %d, broad = skinny == 1 ? %d : %d;\n"
          "    const int64_t each = skinny == %d ? %d * %d : 1; /* results of a thread */\n"
          "    const int64_t blocks = skinny >= 3 ? tc_cuda_ceildiv(batches * m * n, %d * each) : batches * tc_cuda_ceildiv(m, high) * tc_cuda_ceildiv(n, broad);\n"
          "    return tc_cuda_follow(c, &@NAME@_image, %u + at, blocks, %d, 0, args,\n"
          "                          sizeof args / sizeof *args);\n"
          "  }\n",
          RESULTS / FEW, FEW, FEW, RESULTS / FEW, OUTER + 1, OUTER_ROWS, (int)o[TC_CUDA_EPILOGUE].plan.width, THREADS, first, THREADS);
  tc_buf_free(&k);
}
