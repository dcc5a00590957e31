/* launch.c - the C function that launches a kernel: which function of each nest, with how many
 * threads.  Sizes alone decide, and addresses where alignment counts, so results repeat. */
#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Items of which a row is to fill several; 0: any. */
static int64_t full_of(const tc_cuda_variant *f) {
  enum { WARP = 32 };
  return f->warps ? WARP * f->unroll : f->full ? f->longest : 0;
}

static int cache_bytes(const tc_cuda_launch *x, const tc_cuda_variant *f) {
  return f->shared ? tc_cuda_cache_bytes(x->k, x->p, &x->plan->cache,
                                         f->unaligned ? 1 : (int)f->lanes)
                   : 0;
}

/* Arrays whose rows pass through shared memory, and the bytes of an element of all. */
static void put_tiles(const tc_cuda_launch *x) {
  int bytes;
  const int tiles = tc_cuda_row_tiles(x->k, x->p, x->n, &bytes);
  tc_putf(x->out, ", .tiles = %d, .tile_bytes = %d", tiles, bytes);
}

/* `vectorized` that the function asks for: 1, and where it is enough for some that stores are
 * aligned, 2 for the others. */
static int asked_of(const tc_cuda_launch *x, const tc_cuda_variant *f) {
  return f->aligned ? 1 + tc_cuda_has_aligned_stores(x->text->schedule) : f->aligned_stores;
}

static void put_form(const tc_cuda_launch *x, uint32_t i) {
  const tc_cuda_variant *f = tc_cuda_variant_of(x->text->schedule, i);
  tc_putf(x->out,
          "        {.function = %u, .vectorized = %d, .small = %d, .lanes = %d, .unroll = %d, "
          ".group = %d,\n         .each = %d, .most = %d, .longest = %d, .full = %d, .least = %d, "
          ".threads = %d,\n         .side = %d, .over = %d, .cache_bytes = %d",
          x->text->first + i, asked_of(x, f), f->index32, (int)f->lanes, (int)f->unroll, (int)f->group,
          (int)f->items, (int)f->most, (int)f->longest, (int)full_of(f), (int)f->least,
          (int)f->threads,
          f->narrow ? 0 : f->unaligned ? (int)x->plan->side : TC_CUDA_SIDE,
          f->unaligned ? (int)x->plan->overlap - 1 : 0, cache_bytes(x, f));
  if (f->tile) put_tiles(x);
  if (f->dense) tc_put(x->out, ", .dense = 1");
  if (f->overlapping) tc_putf(x->out, ", .columns = %d", TC_CUDA_LEAST_OVERLAPPING * (int)f->lanes);
  if (tc_cuda_is_phased(f)) tc_putf(x->out, ", .phased = %d", 1 + f->in_phase);
  tc_put(x->out, "},\n");
}

static void put_forms(const tc_cuda_launch *x) {
  tc_put(x->out, "    static const tc_cuda_form forms[] = {\n");
  for (uint32_t i = 0; i < x->text->schedule->nvariant; ++i) put_form(x, i);
  tc_put(x->out, "    };\n");
}

/* `phased`: 1 where stores are in phase, 2 where loads are, too. */
static void put_phases(const tc_cuda_launch *x) {
  tc_buf loads = {0}, stores = {0};
  tc_cuda_put_in_phase(x->k, x->p, x->n, x->plan, &loads, &stores);
  tc_putf(x->out, "    const int stores_in_phase = small%s, phased = stores_in_phase + (stores_in_phase%s);\n",
          stores.text ? stores.text : "", loads.text ? loads.text : "");
  if (loads.failed || stores.failed) x->out->failed = true;
  tc_buf_free(&loads);
  tc_buf_free(&stores);
}

/* `dense`: lanes may go on from row to row. */
static void put_density(const tc_cuda_launch *x) {
  tc_buf dense = {0};
  tc_cuda_put_dense(x->k, x->p, x->n, x->plan, &dense);
  tc_putf(x->out, "    const int dense = small%s;\n", dense.text ? dense.text : "");
  x->out->failed |= dense.failed;
  tc_buf_free(&dense);
}

static void put_conditions(const tc_cuda_launch *x) {
  tc_buf small = {0}, loads = {0}, stores = {0};
  const bool anywhere = tc_cuda_has_aligned_stores(x->text->schedule);
  tc_cuda_put_small(x->k, x->p, x->n, x->plan, true, &small);
  tc_cuda_put_aligned(x->k, x->p, x->n, x->plan, &loads, anywhere ? &stores : &loads);
  tc_putf(x->out, "    const int small = 1%s, ", small.text ? small.text : "");
  if (anywhere) tc_putf(x->out, "stored = small%s, ", stores.text ? stores.text : "");
  tc_putf(x->out, anywhere ? "vectorized = stored + (stored%s);\n" : "vectorized = small%s;\n",
          loads.text ? loads.text : "");
  if (tc_cuda_has_rows_in_phase(x->text->schedule)) put_phases(x);
  if (tc_cuda_has_dense_stores(x->text->schedule)) put_density(x);
  if (small.failed || loads.failed || stores.failed) x->out->failed = true;
  tc_buf_free(&small);
  tc_buf_free(&loads);
  tc_buf_free(&stores);
}

/* The way of a reduction that may be cut: short ones, and those of many results, are not. */
static void put_when(const tc_cuda_launch *x) {
  if (x->n->when == TC_ALWAYS) return;
  tc_putf(x->out, "  if (%s(", x->n->when == TC_WHERE_CUT ? "!" : "");
  tc_print_dim(x->p, x->n->elements, x->out);
  tc_putf(x->out, " <= %lld", (long long)x->plan->whole);
  if (x->plan->many_results) {
    tc_put(x->out, " || ");
    tc_print_dim(x->p, x->n->results, x->out);
    tc_putf(x->out, " >= %lld", (long long)x->plan->many_results);
  }
  tc_put(x->out, "))\n");
}

void tc_cuda_put_nest_launch(const tc_cuda_text *t, const char *body, tc_buf *out) {
  const tc_cuda_nest_schedule *plan = tc_cuda_nest_schedule_of(t->schedule);
  const tc_cuda_launch nest = {t, t->k, t->p, &t->k->nest[t->nest], plan, out}, *x = &nest;
  const tc_cuda_printer *kind = &tc_cuda_kinds[plan->form];
  put_when(x);
  tc_putf(x->out, "  { /* nest %u: %s */\n", t->nest, kind->name);
  put_forms(x);
  put_conditions(x);
  kind->launch(x);
  if (tc_cuda_joins(t, body)) {
    tc_cuda_put_join(x->k, x->p, body, x->out);
    return;
  }
  tc_put(x->out, "    void *const args[] = {");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_ADDRESS, x->out);
  tc_put(x->out,
         "};\n"
         "    const int status = tc_cuda_follow(c, &@NAME@_image, f->function, grid, block,\n"
         "                                      shared, args, sizeof args / sizeof *args);\n"
         "    if (status) return status;\n  }\n");
}

typedef struct scalars {
  const char *body;
  tc_buf *out;
} scalars;

static void put_scalar(uint32_t i, bool f, void *arg) {
  const scalars *s = arg;
  char word[32];
  (void)f;
  snprintf(word, sizeof word, "a%u", i);
  if (tc_cuda_names(s->body, word)) tc_putf(s->out, "  const tc_value %s = scalar[%u];\n", word, i);
}

/* Sizes and scalars as launchers and conditions name them. */
void tc_cuda_put_host_head(const tc_kernel *k, const tc_program *p, const char *name,
                           const char *rest, const char *body, tc_buf *out) {
  tc_putf(out,
          "static int %s(const tcrt_cuda_call *c, void *const *buf, const int64_t *sym,\n"
          "                  const tc_value *scalar%s) {\n  (void)sym, (void)scalar;\n",
          name, rest);
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i) {
    char word[256];
    snprintf(word, sizeof word, "s_%s", tc_dims_sym(c, i)->name);
    if (tc_cuda_names(body, word)) tc_putf(out, "  const int64_t %s = sym[%u];\n", word, i);
  }
  tc_print_each_scalar(k, p, put_scalar, &(scalars){body, out});
}

void tc_cuda_put_launcher(const tc_kernel *k, const tc_program *p, const tc_cuda_text *nests,
                          const tc_buf *bodies, tc_buf *out) {
  tc_buf text = {0};
  for (uint32_t i = 0; i < k->nnest; ++i)
    tc_cuda_put_nest_launch(&nests[i], bodies[i].text ? bodies[i].text : "", &text);
  tc_cuda_put_host_head(k, p, k->sibling ? "@NAME@_one" : "@NAME@",
                        k->sibling ? ", tc_cuda_launch *all" : "", text.text ? text.text : "", out);
  if (k->sibling) tc_put(out, "  (void)all;\n");
  tc_put(out, text.text ? text.text : "");
  tc_put(out, "  return 0;\n}\n");
  if (k->sibling) tc_cuda_put_siblings_launcher(k, (int)nests->schedule->nvariant, out);
  if (text.failed) out->failed = true;
  tc_buf_free(&text);
}

/* A function of a nest: what it asks for (`longest`: the items of the largest row that fits; 0:
 * any; `full`: those of a warp, or of the group, of which a row is to fill some; `least`: of the
 * shortest, where there are many), and what launch sizes depend on (`cache_bytes`: bytes of an item
 * in shared memory; `tiles`, `tile_bytes`: arrays whose rows pass through it, and the bytes of an
 * element of all).  tc_cuda_fits: little work leaves tiles, few rows leave a row to the next larger
 * group.  tc_cuda_blocks: where halves are long to compute, a thread takes several items, one at a
 * time, for what they share is found once.  tc_cuda_group_size: threads that share a row of
 * `items`: f->each items a thread, fewer where there are few rows.  tc_cuda_cache_items: items of a
 * row that find room in shared memory where a multiprocessor has one to three rows; 16 at a time,
 * so that what lies behind them is aligned; a block takes 2 KiB beside them, half of that unseen.
 * tc_cuda_tile_rows: rows that pass through it at a time, several times as many as a block has
 * threads for where there are enough for all multiprocessors; tc_cuda_tile_bytes: what they take;
 * tc_cuda_tile_blocks: blocks for so many tiles, of which each has several where they are many, for what all rows share.
 * tc_cuda_release_from: the first of the last `points` that together read as much as the cache
 * holds, `bytes` each; `points`: all of them read no more.  tc_cuda_depth: threads that share a
 * column of `items` (one, if the function says so), of a block as wide as a line of memory, wider
 * where lines are shared, narrower where blocks would be few; tc_cuda_width: columns of a block;
 * tc_cuda_rows: outer points of one that has `threads` for each, so that many of them fill warps.
 * tc_cuda_squares: tiles of a product; tc_cuda_is_short: one of few tiles, short along k, for which
 * the library would take two kernels, and its epilogue one more.  tc_cuda_is_unaligned: rows of its
 * result or of an operand do not begin and end at 16 bytes, which the library's products of halves
 * take several times as long for, also where these rows are padded, but not where tiles are few and
 * k, which the library splits, is long.  tc_cuda_scatter: of a scatter to `places`, the blocks that
 * share out the destinations of a group, each for some to all of its 16 warps; the parts of slices
 * where these blocks are few; and how many `others`, neighbours with indices of their own, a group
 * has: a sector of memory, or more where there are few sources.  tc_cuda_sort: numbers of a row in
 * shared memory, or, if rows are longer, of a selection of k, at most `room`; and rows of a block
 * above 32 bits, several of short rows where there are many; tc_cuda_sort_bytes: what they take.
 * tc_cuda_fastest_tile: of a product on tensor cores: tiles fill all multiprocessors so many times, and of the last ones some have
 * a block more than others.  tc_cuda_beats_library: of f32, beside what cuBLASLt takes where k is shared out as is best: 380
 * operations a ns and multiprocessor (H200), and 5 us, and with a pass over its results for the epilogue.
 * tc_cuda_saves_pass: the library's product would be faster by less than one more kernel takes,
 * which reads and writes all results: some 3 us, and as long as 72 of k; not where tiles are few and k is long, which the
 * library splits. */
static const char helpers[] =
    "#define TC_CUDA_FN static inline __attribute__((unused))\n"
    "typedef struct tc_cuda_form {\n"
    "  unsigned function;\n"
    "  int vectorized, small;\n"
    "  int64_t lanes, unroll, group, each, most, longest, full, least, threads, side, over, "
    "cache_bytes,\n"
    "      tiles, tile_bytes, phased, dense, columns;\n"
    "} tc_cuda_form;\n"
    "TC_CUDA_FN int tc_cuda_fits(const tcrt_cuda_call *c, const tc_cuda_form *f, int small,\n"
    "                            int vectorized, int64_t items, int64_t points) {\n"
    "  if (vectorized < f->vectorized || small < f->small || (f->longest && items > f->longest)) "
    "return 0;\n"
    "  if (f->least && (items < f->least || (!f->phased && f->most * points < 64 * 1024))) return 0;\n"
    "  if (f->tiles && items * points < (int64_t)c->info->sms * 4096) return 0;\n"
    "  if (f->full) return items && items % f->full == 0 && items * points >= f->each * 64 * "
    "1024;\n"
    "  const int larger = f->longest && f[1].longest && f[1].lanes == f->lanes;\n"
    "  return !larger || items <= f->most || f->most * points >= 64 * 1024;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_ceildiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }\n"
    "TC_CUDA_FN int64_t tc_cuda_many_blocks(const tcrt_cuda_call *c) { return (c->info->sms > 0 ? c->info->sms : 1) * 64; }\n"
    "TC_CUDA_FN int64_t tc_cuda_blocks(const tcrt_cuda_call *c, const tc_cuda_form *f, int64_t "
    "items,\n"
    "                                  int64_t each) {\n"
    "  const int64_t n = tc_cuda_ceildiv(items, each), most = tc_cuda_many_blocks(c);\n"
    "  return f->unroll == 1 && f->lanes > 4 && n > most ? most : n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_share(int64_t items, int64_t each, int64_t most) {\n"
    "  int64_t n = 1;\n"
    "  while (n < 32 && n * each < items) n *= 2;\n"
    "  if (n == 32 && items > 32 * each) n = tc_cuda_ceildiv(items, 32 * each) * 32;\n"
    "  return n > most ? most : n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_group_size(const tc_cuda_form *f, int64_t items, int64_t points) "
    "{\n"
    "  if (f->group) return f->group;\n"
    "  if (f->full) return items / f->each;\n"
    "  int64_t n = tc_cuda_share(items, f->each, f->most);\n"
    "  for (int64_t each = f->each / 2; each && n * points < 128 * 1024; each /= 2)\n"
    "    n = tc_cuda_share(items, each, f->most);\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_cache_items(const tcrt_cuda_call *c, const tc_cuda_form *f, "
    "int64_t "
    "items,\n"
    "                                  int64_t group) {\n"
    "  if (!f->cache_bytes || group <= 32) return 0;\n"
    "  const int64_t blocks = group > 512 ? 1 : group > 256 ? 2 : 3;\n"
    "  const int64_t all = (c->info->shared_per_sm / blocks - 2048) / f->cache_bytes / 16 * 16;\n"
    "  const int64_t whole = tc_cuda_ceildiv(items, 16) * 16;\n"
    "  return all < 0 ? 0 : whole < all ? whole : all;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_tile_bytes(const tc_cuda_form *f, int64_t elements) {\n"
    "  return f->tiles * 32 + elements * f->tile_bytes;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_tile_rows(const tcrt_cuda_call *c, const tc_cuda_form *f, int64_t items,\n"
    "                                     int64_t points, int64_t rows) {\n"
    "  int64_t n = rows;\n"
    "  if (!f->tiles) return n;\n"
    "  while (2 * n * items * f->tile_bytes <= 16384 && points >= n * c->info->sms * 32) n *= 2;\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_tile_blocks(const tcrt_cuda_call *c, const tc_cuda_form *f, int64_t tiles) {\n"
    "  const int64_t most = tc_cuda_many_blocks(c);\n"
    "  return f->tiles && tiles > most ? most : tiles;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_release_from(const tcrt_cuda_call *c, int64_t points, int64_t "
    "bytes) {\n"
    "  const int64_t fit = bytes > 0 ? c->info->l2_bytes / bytes : points;\n"
    "  return points > fit ? points - fit : points;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_depth(const tc_cuda_form *f, int64_t columns, int64_t items,\n"
    "                                 int64_t others, int64_t *width) {\n"
    "  const int64_t most = f->group ? 0 : 128;\n"
    "  int64_t n = 1, w = f->lanes == 1 ? 64 : columns % 8 ? 16 : 8;\n"
    "  while (w > 1 && w / 2 >= columns) w /= 2;\n"
    "  const int64_t blocks = others * tc_cuda_ceildiv(columns, w);\n"
    "  if (w > 32 && blocks >= 256 && blocks < 512) w /= 2; /* more threads below each other */\n"
    "  const int64_t threads = others * tc_cuda_ceildiv(columns, w) * w;\n"
    "  while (n * w < most && n * 16 <= items && (n * 32 <= items || n * threads < 128 * 1024)) n "
    "*= 2;\n"
    "  while (w > 8 && others * tc_cuda_ceildiv(columns, w) < 256) {\n"
    "    w /= 2;\n"
    "    while (n * w < most && n * 8 <= items) n *= 2;\n"
    "  }\n"
    "  if (most && w == 8 && n * 64 <= items && others * tc_cuda_ceildiv(columns, w) < 512) w = 4, n *= "
    "2;\n"
    "  while (w > 1 && others * tc_cuda_ceildiv(columns, w) < (w > 2 ? 128 : 64)) {\n"
    "    w /= 2;\n"
    "    while (n * w < most && n * 4 <= items) n *= 2;\n"
    "  }\n"
    "  *width = w;\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_rows(int64_t threads, int64_t points) {\n"
    "  int64_t n = 1;\n"
    "  while (n * threads < 128 && points >= 1024 * n) n *= 2;\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_width(int64_t columns) {\n"
    "  int64_t n = 1;\n"
    "  while (n < 128 && n < columns) n *= 2;\n"
    "  return n;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_squares(const tcrt_cuda_mm *mm, int64_t side) {\n"
    "  return mm->batch * tc_cuda_ceildiv(mm->m, side) * tc_cuda_ceildiv(mm->n, side);\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_is_short(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm, int64_t "
    "side,\n"
    "                                int64_t most) {\n"
    "  return mm->k <= most && tc_cuda_squares(mm, side) <= c->info->sms;\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_is_unaligned(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm, int64_t side) {\n"
    "  const int64_t a = mm->transposed_a ? mm->m : mm->k, b = mm->transposed_b ? mm->k : mm->n;\n"
    "  const int results = mm->n % 8 != 0 || mm->ldc % (mm->wide_c ? 4 : 8) != 0;\n"
    "  return (results || a % 8 != 0 || b % 8 != 0) && tc_cuda_squares(mm, side) * 2 >= c->info->sms;\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_saves_pass(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm, int64_t side, int64_t most) {\n"
    "  const double results = (double)mm->batch * (double)mm->m * (double)mm->n;\n"
    "  if (mm->k > most && tc_cuda_squares(mm, side) * 2 < c->info->sms) return 0;\n"
    "  return results * ((double)mm->k - 72) <= 600e3 * c->info->sms;\n"
    "}\n"
    "typedef struct tc_cuda_tile {\n"
    "  int64_t m, n, threads, shared, blocks, step, least, rest;\n"
    "} tc_cuda_tile;\n"
    "TC_CUDA_FN int tc_cuda_fastest_tile(const tcrt_cuda_call *c, const tc_cuda_tile *t, int n_tiles, int64_t batches,\n"
    "                                    int64_t m, int64_t n, int64_t k, double *shortest) {\n"
    "  const int64_t steps = tc_cuda_ceildiv(k, 64), sms = c->info->sms > 0 ? c->info->sms : 1;\n"
    "  int fastest = n_tiles - 1;\n"
    "  for (int i = n_tiles - 1; i >= 0; --i) {\n"
    "    const int64_t tiles = batches * tc_cuda_ceildiv(m, t[i].m) * tc_cuda_ceildiv(n, t[i].n);\n"
    "    const int64_t held = sms * t[i].blocks, over = tiles % held, shared = tc_cuda_ceildiv(over, sms);\n"
    "    const int64_t together = t[i].least * shared, step = shared > 1 && t[i].step < together ? t[i].step : together;\n"
    "    const double time = (double)(tiles / held) * (double)(steps * t[i].step + t[i].rest) +\n"
    "                        (over ? (double)(steps * step + t[i].rest) : 0);\n"
    "    if (i == n_tiles - 1 || (time < *shortest && t[i].shared <= c->info->max_shared)) fastest = i, *shortest = time;\n"
    "  }\n"
    "  return fastest;\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_beats_library(const tcrt_cuda_call *c, const tc_cuda_tile *t, int n_tiles, const tcrt_cuda_mm *mm, int pass) {\n"
    "  double time;\n"
    "  const double operations = 2.0 * (double)mm->batch * (double)mm->m * (double)mm->n * (double)(mm->k + (pass ? 72 : 0));\n"
    "  tc_cuda_fastest_tile(c, t, n_tiles, mm->batch, mm->m, mm->n, mm->k, &time);\n"
    "  return time < (pass ? 8000 : 5000) + operations / (380.0 * (double)c->info->sms);\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_owners(int64_t slices) {\n"
    "  const int64_t n = slices > 0 ? 131072 / slices : 1;\n"
    "  return n > 1024 ? 1024 : n > 1 ? n : 1;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_scatter(const tcrt_cuda_call *c, int64_t places, int64_t sources,\n"
    "                                   int64_t others, int64_t slices, int64_t *grid) {\n"
    "  const int64_t most = (int64_t)c->info->sms * 2;\n"
    "  int64_t n = 1, parts = 1, wide = 1;\n"
    "  while (wide < others && (wide < 4 || wide * sources < 2048)) wide *= 2;\n"
    "  const int64_t groups = tc_cuda_ceildiv(others, wide);\n"
    "  while (n * 16 < places * wide && n * 2 * groups <= most) n *= 2;\n"
    "  while (parts * 32 < slices && n * groups * parts * 2 <= most) parts *= 2;\n"
    "  *grid = slices ? n * groups * parts : 0;\n"
    "  return n | parts << 16 | wide << 32;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_sort(const tcrt_cuda_call *c, int64_t points, int64_t n, int64_t k, int64_t room,\n"
    "                                int64_t *grid, int64_t *block) {\n"
    "  int64_t selected = 4096, whole = 8, rows = 1;\n"
    "  while (selected < room && selected < 4 * k) selected *= 2;\n"
    "  if (selected > room) selected = room;\n"
    "  while (whole < n && whole < selected) whole *= 2;\n"
    "  while (n <= whole && rows * whole < 1024 && points > rows * c->info->sms * 2) rows *= 2;\n"
    "  *grid = tc_cuda_ceildiv(points, rows);\n"
    "  *block = tc_cuda_share(rows * whole, 8, 1024);\n"
    "  if (*block < 32) *block = 32;\n"
    "  return whole | rows << 32;\n"
    "}\n"
    "TC_CUDA_FN int64_t tc_cuda_sort_bytes(int64_t group, int64_t bytes) {\n"
    "  const int64_t numbers = (group & 0xffffffff) * (group >> 32);\n"
    "  return 16 + (numbers + numbers / 8) * bytes;\n"
    "}\n"
    "/* Is the code that is launched Hopper's own, which has producers (TC_PRODUCERS of the device)? */\n"
    "TC_CUDA_FN int tc_cuda_has_producers(const tcrt_cuda_call *c, const tcrt_cuda_image *image) {\n"
    "  int code = 0;\n"
    "  for (uint32_t i = 0; i < image->nblob && c->info->arch == 90; ++i) {\n"
    "    if (image->blob[i].arch == 90 && image->blob[i].ptx) return 0;\n"
    "    if (image->blob[i].arch == 90) code = 1;\n"
    "  }\n"
    "  return code;\n"
    "}\n"
    "TC_CUDA_FN int tc_cuda_follow(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned "
    "function,\n"
    "                              int64_t grid, int64_t block, int64_t shared, void *const "
    "*args,\n"
    "                              unsigned nargs) {\n"
    "  if (grid <= 0) return 0;\n"
    "  if (grid > 1 << 30) grid = 1 << 30; /* threads go on by the size of the grid */\n"
    "  return tcrt_cuda_follow(c, image, function, (unsigned)grid, (unsigned)block, "
    "(unsigned)shared,\n"
    "                          args, nargs);\n"
    "}\n";

void tc_cuda_put_launch_helpers(tc_buf *out) {
  tc_put(out, helpers);
  tc_cuda_put_k_parts_helpers(out);
  tc_cuda_put_skinny_helpers(out);
  tc_cuda_put_sibling_helpers(out);
}
