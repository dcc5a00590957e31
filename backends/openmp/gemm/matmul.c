/* matmul.c - a matmul kernel: the micro-kernels its shape needs at each level, and the description
 * that it hands to the blocked driver of the prelude. */
#include "backends/openmp/gemm/matmul.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS = 286720,  /* rows of A of a task: in a second-level cache of 1 MiB */
  SUMS = 1 << 18, /* sums of a task between k blocks */
  MORE = SUMS + SUMS / 2,
  /* Of both, of any level; a block of a panel of B; counters. */
  MOST = 2 * SUMS + 4 * ROWS + (1 << 18),
  B_BYTES = 24 << 20, /* packed B that is kept at a time, at least */
  B_COLUMNS = 256,    /* and at least so many columns */
};

/* The tiles of one level. */
typedef struct level {
  const char *test; /* preprocessor condition */
  int heights[3];
  int vectors; /* registers in a row of the tile */
  int lanes;   /* of a register, in f32 */
  int pair;    /* k elements in a word of B: 2 where bf16 is multiplied in pairs, 4 of bytes */
  int kp;      /* k is padded to a multiple */
  int block;   /* bytes of a k block of a row of A */
  int rows;    /* bytes of a task's rows of A, for one k block */
  int sums;    /* bytes of sums that a task keeps between k blocks */
  /* Bytes of a row of B that are packed at a time.  A panel has less; its lines are far apart, so
   * that micro-kernels ask for them while they use the panel before.  AMX leaves no time for that:
   * there the hardware finds what follows in longer pieces of rows. */
  int piece;
  const char *tile; /* NULL: by element */
} level;

static const level levels[] = {
    {"TC_ISA == TC_LEVEL_amx", {32, 16, 0}, 2, 16, 2, 32, 1024, 4 * ROWS, MORE, 1024, "amx"},
    {"TC_ISA == TC_LEVEL_bf16", {14, 8, 4}, 2, 16, 2, 2, 4096, ROWS, SUMS, 1, "bf16"},
    {"TC_ISA >= TC_LEVEL_bf16", {12, 8, 4}, 2, 16, 4, 4, 4096, ROWS, SUMS, 1, "bytes"},
    {"TC_L == 16", {8, 4, 2}, 3, 16, 1, 1, 4096, ROWS, SUMS, 1, NULL},
    {"TC_L == 8", {6, 4, 2}, 2, 8, 1, 1, 4096, ROWS, SUMS, 1, NULL},
    {"TC_L == 4", {6, 4, 2}, 2, 4, 1, 1, 4096, ROWS, SUMS, 1, NULL},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static tc_omp_element element_of(tc_dtype d) {
  switch (d) {
  case TC_F64:
    return (tc_omp_element){"f64", "f64", 8, 8, "f64"};
  case TC_I64:
    return (tc_omp_element){"u64", "i64", 8, 8, "i64"};
  case TC_I32:
    return (tc_omp_element){"u32", "i32", 4, 4, "i32"};
  case TC_I8:
  case TC_U8:
  case TC_I16:
    return (tc_omp_element){"u16", "i16", 2, 2, "i16"};
  default:
    return (tc_omp_element){"f32", "f32", 4, 4, "f32"};
  }
}

/* ---- which tiles a shape needs --------------------------------------------------------------- */

/* Vectors in a row of a tile for M rows and N columns.  A product of few rows is bound by reading
 * B: wide tiles read longer pieces of its rows.  Two rows need them, too, for as many sums as an
 * addition takes cycles; more rows take them where N is known, for what is left of N then fills a
 * tile of its own. */
static int vectors_for(tc_dim m, tc_dim n, const level *l) {
  const bool amx = l->tile && !strcmp(l->tile, "amx");
  const int few = l->lanes == 16 && tc_dim_is_const(n) ? 4 : 2;
  if (amx || !tc_dim_is_const(m) || tc_dim_value(m) > few) return l->vectors;
  return l->lanes == 16 ? 6 : 4; /* registers: rows * vectors of sums, and the vectors */
}

static int vectors_of(const tc_omp_matmul *x, const level *l) {
  return vectors_for(x->mm->axis[x->am].extent, x->mm->axis[x->an].extent, l);
}

static int vectors_in(const tc_kernel *k, const level *l) {
  return vectors_for(k->mm.axis[k->mm.nbatch].extent, k->mm.axis[k->mm.nbatch + 1].extent, l);
}

bool tc_omp_mm_same_panels(const tc_kernel *x, const tc_kernel *y) {
  for (int i = 0; i < LEVELS; ++i)
    if (vectors_in(x, &levels[i]) != vectors_in(y, &levels[i])) return false;
  return true;
}

static int nr_of(const tc_omp_matmul *x, const level *l) {
  return vectors_of(x, l) * l->lanes * 4 / (l->pair > 1 ? 4 : x->e.sum);
}

/* The lowest tile that holds `left` rows, from `first` on. */
static int tail_of(const level *l, int first, int64_t left) {
  const int count = l->heights[2] ? 3 : 2;
  int tail = first;
  while (tail + 1 < count && l->heights[tail + 1] >= left) ++tail;
  return tail;
}

/* Rows that tiles of height `first` and, for what is left of m, the lowest one compute. */
static int64_t computed(const level *l, int first, int64_t m) {
  const int64_t left = m % l->heights[first];
  return left ? m - left + l->heights[tail_of(l, first, left)] : m;
}

/* Tile heights for M rows: the largest, or the next where that computes a ninth less (tc_mm_lower),
 * and for what is left the smallest that holds it.  Returns how many.  An unknown M gets two: each
 * more would cost every unit's compile time. */
static int heights_of(const level *l, tc_dim m, int *rows) {
  int n = 0;
  if (!tc_dim_is_const(m)) {
    memcpy(rows, l->heights, sizeof l->heights);
    return 2;
  }
  const int64_t count = tc_dim_value(m);
  const bool amx = l->tile && !strcmp(l->tile, "amx");
  const int first =
      !amx && count > l->heights[0] && computed(l, 1, count) * 9 <= computed(l, 0, count) * 8;
  const int64_t full = count / l->heights[first], left = count % l->heights[first];
  const int tail = tail_of(l, first, left);
  if (full) rows[n++] = l->heights[first];
  if (left && !(full && tail == first)) rows[n++] = l->heights[tail];
  if (!n) rows[n++] = l->heights[first]; /* M == 0 */
  return n;
}

/* Widths in vectors for N columns in panels of nr: the largest, and for what is left the smallest
 * number of vectors that holds it: B is read in place where it fills a tile.  Returns how many.  An
 * unknown N gets every width, or the largest and half of a wide one.  all: every width up to
 * that. */
static int widths_of(int vectors, int nr, tc_dim n, bool all, int *width) {
  int count = 0;
  if (all) {
    for (int v = vectors; v > 0; --v) width[count++] = v;
    return count;
  }
  if (!tc_dim_is_const(n)) {
    width[count++] = vectors;
    if (vectors > 2) width[count++] = vectors > 3 ? vectors / 2 : 2;
    if (vectors < 4) width[count++] = 1;
    return count;
  }
  const int64_t each = nr / vectors, left = tc_dim_value(n) % nr;
  const int tail = (int)((left + each - 1) / each);
  if (tail == 0 || tail == vectors) return width[0] = vectors, 1;
  if (tc_dim_value(n) >= nr) width[count++] = vectors;
  width[count++] = tail;
  return count;
}

/* Is there another form of the product, whose columns are others? */
static bool is_transformed(const tc_omp_matmul *x) {
  return tc_omp_mm_is_winograd(x) || tc_omp_mm_is_winograd_gradient(x);
}

/* Rows of a tile of one vector, where all of N may be in one: a call for each 8 of them takes as long as their products.  The
 * pointers to more rows than these are in no registers.  0: there is none. */
static int narrow_rows(const tc_omp_matmul *x, const level *l) {
  enum { ROWS_OF_NARROW = 16 };
  int64_t least, most_rows, fewest_rows, most;
  tc_dims *c = tc_graph_dims(x->p->graph);
  tc_dim_range(c, x->mm->axis[x->an].extent, &least, &most);
  tc_dim_range(c, x->mm->axis[x->am].extent, &fewest_rows, &most_rows);
  if (l->tile || l->lanes < 16 || tc_mm_is_chain(x->mm) || is_transformed(x)) return 0;
  return least <= l->lanes * 4 / x->e.sum && most_rows >= 2 * ROWS_OF_NARROW ? ROWS_OF_NARROW : 0;
}

static const char *tile_of(const tc_omp_matmul *x, const level *l) {
  return l->pair == 4 ? tc_dtype_text(x->bytes) : l->tile ? l->tile : x->e.tile;
}

/* Do tiles of one vector take a number of columns?  Other levels have no moves of a part of a vector that take no longer
 * than those of a whole one. */
static bool has_masks(const tc_omp_matmul *x, const level *l) {
  const char *const tile = tile_of(x, l);
  return l->lanes == 16 && (*tile == 'f' || !strcmp(tile, "bf16"));
}

static bool uses(const tc_omp_matmul *x, const level *l) {
  return l->pair == 1 || l->pair == tc_omp_mm_quads(x);
}

/* Conditions of the levels in turn, and their end. */
static void put_test(const tc_omp_matmul *x, int i, bool *first) {
  tc_putf(x->out, "#%s %s\n", *first ? "if" : "elif", levels[i].test);
  *first = false;
}

static void put_tiles(const tc_omp_matmul *x) {
  bool first = true;
  for (int i = 0; i < LEVELS; ++i) {
    const level *l = &levels[i];
    if (!uses(x, l)) continue;
    put_test(x, i, &first);
    int rows[3], width[3];
    const int n = heights_of(l, x->mm->axis[x->am].extent, rows);
    const int w = widths_of(vectors_of(x, l), nr_of(x, l), x->mm->axis[x->an].extent,
                            is_transformed(x), width);
    for (int r = 0; r < n; ++r)
      for (int j = 0; j < w; ++j) tc_omp_mm_put_tile(x->out, tile_of(x, l), rows[r], width[j], width[j] == 1 && has_masks(x, l));
    const int narrow = narrow_rows(x, l);
    if (narrow) tc_omp_mm_put_tile(x->out, tile_of(x, l), narrow, 1, has_masks(x, l));
  }
  tc_put(x->out, "#endif\n");
}

/* The part of the description that differs between levels. */
static void put_level(const tc_omp_matmul *x, const level *l) {
  int rows[3], width[3];
  const int n = heights_of(l, x->mm->axis[x->am].extent, rows), all = nr_of(x, l);
  const int bytes = l->pair > 1 ? 4 / l->pair : x->e.bytes, vectors = vectors_of(x, l);
  const int w = widths_of(vectors, all, x->mm->axis[x->an].extent, is_transformed(x), width);
  const int nr = all / vectors * width[0];
  tc_putf(x->out,
          "      .kc = %d, .rows_bytes = %d, .sums = %d, .es = %d, .cs = %d, .mr = %d, .nr = %d, "
          ".ku = %d, .kp = %d, .pace = %d, .piece = %d,\n      .rows = {",
          l->block / bytes, l->rows, l->sums, bytes, l->pair > 1 ? 4 : x->e.sum, rows[0], nr,
          l->pair, l->kp, l->kp == 32 ? 4 : 1, l->piece);
  for (int r = 0; r < n; ++r) tc_putf(x->out, "%s%d", r ? ", " : "", rows[r]);
  tc_put(x->out, "}, .cols = {");
  for (int j = 0; j < w; ++j) tc_putf(x->out, "%s%d", j ? ", " : "", all / vectors * width[j]);
  tc_put(x->out, "}, .micro = {");
  for (int r = 0; r < n; ++r) {
    tc_put(x->out, r ? ", {" : "{");
    for (int j = 0; j < w; ++j)
      tc_putf(x->out, "%stc_mm_%s_%dx%d", j ? ", " : "", tile_of(x, l), rows[r], width[j]);
    tc_put(x->out, "}");
  }
  tc_put(x->out, "},\n");
  const int narrow = narrow_rows(x, l);
  if (narrow) tc_putf(x->out, "      .narrow = tc_mm_%s_%dx1, .narrow_rows = %d,\n", tile_of(x, l), narrow, narrow);
  if (has_masks(x, l)) tc_put(x->out, "      .masked = 1,\n");
  const bool amx = l->tile && !strcmp(l->tile, "amx");
  tc_putf(x->out, "      .slices = %d,\n", amx && x->mm->costly ? 16 : 1);
  if (amx) tc_put(x->out, "      .a_lines = 1, .begin = tc_mm_amx_begin, .end = tc_mm_amx_end,\n");
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Product of the batch extents. */
static void put_batch_count(const tc_omp_matmul *x, tc_buf *out) {
  tc_dims *c = tc_graph_dims(x->p->graph);
  tc_dim n = tc_dim_const(1);
  for (int i = 0; i < x->mm->nbatch; ++i) n = tc_dim_mul(c, n, x->mm->axis[i].extent);
  tc_print_dim(x->p, n, out);
}

/* B does not depend on the batch. */
static bool has_shared_b(const tc_omp_matmul *x) {
  return !(x->s.depends[x->mm->b.id] & ((1u << x->mm->nbatch) - 1));
}

/* `.name = (coef) * bytes,` of a strided operand. */
static void put_stride(const tc_omp_matmul *x, const char *name, tc_dim coef, int bytes) {
  tc_buf d = {0};
  tc_print_dim(x->p, coef, &d);
  tc_putf(x->out, " .%s = (%s) * %d,", name, d.text, bytes);
  tc_buf_free(&d);
}

static void put_in_place(const tc_omp_matmul *x) {
  const tc_expr *a = tc_omp_mm_plain(x, x->mm->a), *b = tc_omp_mm_plain(x, x->mm->b);
  const tc_dtype da = a ? x->p->buffer[x->k->buffer[a->buffer]].dtype : TC_BOOL;
  const tc_dtype db = b ? x->p->buffer[x->k->buffer[b->buffer]].dtype : TC_BOOL;
  /* With k side by side; a pair of bf16 is one word. */
  const bool words = (x->vnni && da == TC_BF16) || (x->bytes && da == x->bytes);
  if (a && words && tc_dim_is(a->address.coef[x->ak], 1)) {
    const int size = (int)tc_dtype_bytes(da);
    tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n     ");
    put_stride(x, "a_rs", a->address.coef[x->am], size);
    tc_putf(x->out, " .a_ks = %d, .a_at = @NAME@_a_at,\n#endif\n", size);
  }
  if (a && tc_omp_mm_same(x, da)) {
    tc_put(x->out, "     ");
    put_stride(x, "a_rs", a->address.coef[x->am], x->e.bytes);
    put_stride(x, "a_ks", a->address.coef[x->ak], x->e.bytes);
    tc_put(x->out, " .a_at = @NAME@_a_at,\n");
  }
  if (b && tc_omp_mm_same(x, db) && tc_dim_is(b->address.coef[x->an], 1)) {
    tc_put(x->out, "     ");
    put_stride(x, "b_ks", b->address.coef[x->ak], x->e.bytes);
    tc_put(x->out, " .b_at = @NAME@_b_at,\n");
  }
  const tc_expr *from = tc_omp_mm_b_source(x);
  if (from) {
    const int size = (int)tc_dtype_bytes(x->p->buffer[x->k->buffer[from->buffer]].dtype);
    const bool along_n = tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->an;
    tc_put(x->out, "     ");
    put_stride(x, "b_pitch", from->address.coef[along_n ? x->ak : x->an], size);
    tc_putf(x->out, " .b_size = %d, .b_from = @NAME@_b_%s,\n", size, from == b ? "at" : "from");
  }
  const tc_action *c = tc_omp_mm_direct(x);
  if (c) {
    tc_put(x->out, "     ");
    put_stride(x, "c_rs", c->address.coef[x->am], (int)tc_dtype_bytes(x->mm->acc));
    tc_put(x->out, " .c_at = @NAME@_c_at,\n");
  }
  const tc_action *rounded = tc_omp_mm_rounded(x);
  if (rounded) {
    tc_put(x->out, "#if TC_ISA == TC_LEVEL_bf16\n     ");
    put_stride(x, "c_rs", rounded->address.coef[x->am], (int)tc_dtype_bytes(TC_BF16));
    tc_put(x->out, " .c_at = @NAME@_c_at, .c_rounded = 1,\n#endif\n");
  }
}

/* Of a product alone, or of one of a chain. */
static void put_callbacks(const tc_omp_matmul *x) {
  const bool chain = tc_mm_is_chain(x->mm);
  if (!chain || x->inner) tc_put(x->out, ".a_pack = @NAME@_a_pack, ");
  tc_put(x->out, ".b_pack = @NAME@_b_pack, ");
  if (!x->inner) tc_put(x->out, ".epilogue = @NAME@_epilogue,");
  if (!chain) tc_put(x->out, "\n      .prefetch = @NAME@_prefetch,");
  tc_put(x->out, " .buf = buf, .sym = sym, .scalar = scalar, .bad = &bad};\n");
}

static void put_description(const tc_omp_matmul *x, const char *variable) {
  static const char *const name[3] = {"m", "n", "k"};
  const int axis[3] = {x->am, x->an, x->ak};
  bool first = true;
  tc_putf(x->out, "  const tc_mm %s = {\n      .batch = ", variable);
  put_batch_count(x, x->out);
  for (int i = 0; i < 3; ++i) {
    tc_putf(x->out, ", .%s = ", name[i]);
    tc_print_dim(x->p, x->mm->axis[axis[i]].extent, x->out);
  }
  tc_put(x->out, ",\n");
  for (int i = 0; i < LEVELS; ++i) {
    if (!uses(x, &levels[i])) continue;
    put_test(x, i, &first);
    put_level(x, &levels[i]);
  }
  tc_put(x->out, "#endif\n");
  put_in_place(x);
  tc_putf(x->out, "      .b_shared = %d, .b_transposed = %d, ", has_shared_b(x),
          tc_omp_mm_lanes(x, x->mm->b, x->an, x->ak) == x->ak);
  if (x->mm->packed) tc_put(x->out, ".reuse = 1, ");
  if (tc_omp_mm_a_cols(x)) {
    if (x->vnni) tc_put(x->out, ".a_cols = TC_ISA != TC_LEVEL_amx, ");
    else if (x->bytes) tc_put(x->out, ".a_cols = TC_ISA < TC_LEVEL_bf16, ");
    else tc_put(x->out, ".a_cols = 1, ");
  }
  put_callbacks(x);
}

static void open_results(tc_omp_matmul *x) {
  static const char *const name[TC_MM_RESULTS] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6"};
  const uint32_t row = (2u << x->mm->nbatch) - 1; /* batches and m */
  for (int i = 0; i < TC_MM_RESULTS; ++i) {
    x->result[i] = name[i];
    x->result_axes[i] = row;
  }
  x->result_axes[TC_MM_PRODUCT] |= 2u << x->mm->nbatch;
  x->result_axes[TC_MM_BESIDE] |= 2u << x->mm->nbatch;
  for (int i = 0; i < TC_MM_INNERS; ++i)
    x->result_axes[tc_mm_inner_result(i)] |= 4u << x->mm->nbatch;
  x->result_axes[TC_MM_ACROSS] ^= 7u << x->mm->nbatch; /* of n and k */
}

/* The product, or another one of a chain: an inner one, the second outer one, the sums along m. */
enum { INNER, SECOND, BESIDE, ACROSS, PARTS, PRODUCT = PARTS };

static bool open_product(tc_omp_matmul *x, const tc_kernel *k, const tc_program *p, int part,
                         tc_buf *out) {
  const tc_mm_loop *mm = &k->mm;
  const int m = mm->nbatch, inner = part < BESIDE ? part + 1 : 0;
  const int am = part == ACROSS ? m + 2 : m, an = inner ? m + 2 : m + 1,
            ak = part == ACROSS ? m : inner ? tc_mm_deep(mm, inner - 1) : m + 2;
  *x = (tc_omp_matmul){.k = k,
                       .p = p,
                       .mm = mm,
                       .out = out,
                       .e = element_of(mm->operand),
                       .vnni = mm->operand == TC_BF16,
                       .am = am,
                       .an = an,
                       .ak = ak,
                       .inner = inner,
                       .own = *mm,
                       .checks = tc_print_checks(k)};
  if (inner) x->own.a = mm->inner.a[inner - 1], x->own.b = mm->inner.b[inner - 1], x->mm = &x->own;
  x->s = (tc_print_scope){
      .k = k, .p = p, .words = &tc_omp_words, .out = out, .naxis = tc_mm_axes(mm), .vector = -1};
  for (int i = 0; i < mm->nbatch; ++i) snprintf(x->axis[i], sizeof x->axis[i], "i%d", i);
  strcpy(x->axis[x->am], "m");
  strcpy(x->axis[x->an], "n");
  strcpy(x->axis[x->ak], "k");
  for (int i = 0; i < tc_mm_first_part(mm); ++i) x->s.axis[i] = x->axis[i];
  tc_print_axis_parts(&x->s, mm, x->part);
  open_results(x);
  x->s.result = x->result;
  x->s.result_axes = x->result_axes;
  x->s.depends = calloc(k->nexpr + 1, sizeof *x->s.depends);
  x->s.printed = calloc(k->nexpr + 1, 1);
  if (!x->s.depends || !x->s.printed) return false;
  tc_print_depends(k, x->result_axes, x->s.depends);
  return true;
}

/* Is the store's value made of the result? */
static bool stores_result(const tc_omp_matmul *x, const tc_action *a, uint32_t result) {
  uint8_t *seen = tc_omp_mm_reach(x, a->value);
  bool found = false;
  for (uint32_t i = 1; seen && i <= a->value.id; ++i)
    found |= seen[i] && x->k->expr[i].kind == TC_EX_RESULT && x->k->expr[i].index == result;
  free(seen);
  return found;
}

/* Of a chain with two outer products: x has what is stored of one of them. */
static bool take_stores(tc_omp_matmul *x, bool beside) {
  const tc_stage *all = &x->k->mm.epilogue;
  tc_action *a = x->stores = calloc(all->naction + 1, sizeof *a);
  if (!a) return false;
  x->own.epilogue.action = a;
  x->own.epilogue.naction = 0;
  for (uint32_t i = 0; i < all->naction; ++i)
    if (stores_result(x, &all->action[i], TC_MM_BESIDE) == beside)
      a[x->own.epilogue.naction++] = all->action[i];
  x->mm = &x->own;
  return true;
}

static bool open_kernel(tc_omp_matmul *x, const tc_kernel *k, const tc_program *p, tc_buf *out) {
  return open_product(x, k, p, PRODUCT, out) &&
         (!tc_mm_has_beside(&k->mm) || take_stores(x, false));
}

/* The second outer product of a chain. */
static bool open_beside(tc_omp_matmul *x, const tc_kernel *k, const tc_program *p, tc_buf *out) {
  if (!open_product(x, k, p, BESIDE, out) || !take_stores(x, true)) return false;
  x->own.a = k->mm.beside.a, x->own.b = k->mm.beside.b;
  x->result[TC_MM_BESIDE] = x->result[TC_MM_PRODUCT];
  return true;
}

/* The sums of a chain along m. */
static bool open_across(tc_omp_matmul *x, const tc_kernel *k, const tc_program *p, tc_buf *out) {
  if (!open_product(x, k, p, ACROSS, out)) return false;
  x->own.b = k->mm.across.b, x->own.epilogue = k->mm.across.epilogue;
  x->result[TC_MM_ACROSS] = x->result[TC_MM_PRODUCT];
  x->mm = &x->own;
  return true;
}

static bool open_part(tc_omp_matmul *x, const tc_kernel *k, const tc_program *p, int part,
                      tc_buf *out) {
  return part == BESIDE   ? open_beside(x, k, p, out)
         : part == ACROSS ? open_across(x, k, p, out)
                          : open_product(x, k, p, part, out);
}

static void close_kernel(tc_omp_matmul *x) {
  for (int i = 0; i < x->s.naxis; ++i) tc_buf_free(&x->part[i]);
  free(x->s.depends);
  free(x->s.printed);
  free(x->stores);
}

/* `room`, what the drivers have of the shared scratch, and what it is of `shared` bytes: behind where rows of B begin, which
 * both drivers' packing reads. */
static void put_room(const tc_omp_matmul *x, const char *shared, tc_buf *bytes) {
  const uint32_t n = x->k->nbuffer;
  tc_buf table = {0};
  if (!tc_omp_mm_has_spans(x)) {
    tc_putf(x->out, "  char *const room = buf[%u];\n", n);
    tc_put(bytes, shared);
    return;
  }
  tc_print_dim(x->p, tc_omp_mm_spans_bytes(x), &table);
  tc_putf(x->out, "  char *const room = (char *)buf[%u] + %s;\n", n, table.text);
  if (x->vnni) tc_put(x->out, "#if TC_ISA >= TC_LEVEL_bf16\n");
  tc_put(x->out, "  @NAME@_b_rows(&g, 0);\n");
  if (x->vnni) tc_put(x->out, "#endif\n");
  tc_putf(bytes, "(%s) - (%s)", shared, table.text);
  tc_buf_free(&table);
}

/* row: there is another kernel for one row. */
static void put_kernel(tc_omp_matmul *x, bool row) {
  const uint32_t n = x->k->nbuffer;
  tc_buf shared = {0}, own = {0}, bytes = {0};
  tc_omp_matmul_scratch(x->k, x->p, &shared, &own);
  tc_put(x->out, "\n");
  put_tiles(x);
  tc_omp_mm_put_operands(x);
  if (tc_omp_mm_has_spans(x)) tc_omp_mm_put_b_rows(x);
  tc_omp_mm_put_epilogue(x);
  tc_omp_mm_put_prefetch(x);
  if (is_transformed(x)) tc_omp_mm_put_image(x);
  tc_omp_kernel_head(x->k, x->p, x->out);
  if (row) {
    tc_put(x->out, "  if (");
    tc_omp_mm_put_is_dot(x, x->out);
    tc_put(x->out, ") return TC_NAME(@NAME@_row)(buf, sym, scalar);\n");
  }
  put_description(x, "g");
  put_room(x, shared.text, &bytes);
  if (tc_omp_mm_is_winograd(x)) {
    tc_omp_mm_put_winograd(x);
    tc_putf(x->out, "  if (!tc_mm_winograd_run(&w, room, %s, buf[%u], %s))\n  ", bytes.text, n + 1,
            own.text);
  } else if (tc_omp_mm_is_winograd_gradient(x)) {
    tc_omp_mm_put_winograd_gradient(x);
    tc_putf(x->out, "  if (!tc_mm_winograd_gradient_run(&w, buf[%u], %s))\n  ", n + 1, own.text);
  }
  tc_putf(x->out, "  tc_mm_run(&g, room, %s, buf[%u], %s);\n", bytes.text, n + 1, own.text);
  tc_buf_free(&bytes);
  tc_omp_kernel_tail(x->out);
  tc_buf_free(&shared);
  tc_buf_free(&own);
}

static bool has_part(const tc_omp_matmul *x, int part) {
  return part == BESIDE   ? tc_mm_has_beside(x->mm)
         : part == ACROSS ? tc_mm_has_across(x->mm)
                          : part < x->mm->inner.n;
}

/* What a part of a chain needs: its functions in front of the kernel, or its description. */
static bool put_part(const tc_omp_matmul *x, int which, bool description) {
  static const char *const variable[PARTS] = {"inner", "second", "beside", "across"};
  static const char *const name[PARTS] = {"@NAME@_inner", "@NAME@_second", "@NAME@_beside",
                                          "@NAME@_across"};
  tc_omp_matmul part;
  tc_buf text = {0};
  bool ok = open_part(&part, x->k, x->p, which, &text);
  if (ok && description) {
    put_description(&part, variable[which]);
  } else if (ok) {
    put_tiles(&part);
    tc_omp_mm_put_operands(&part);
    if (!part.inner) tc_omp_mm_put_epilogue(&part);
  }
  ok = ok && !text.failed && text.text;
  if (ok) tc_print_named(text.text, name[which], x->out);
  close_kernel(&part);
  tc_buf_free(&text);
  return ok;
}

static bool put_parts(const tc_omp_matmul *x, bool descriptions) {
  for (int i = 0; i < PARTS; ++i)
    if (has_part(x, i) && !put_part(x, i, descriptions)) return false;
  return true;
}

static bool put_chain(tc_omp_matmul *x) {
  const uint32_t n = x->k->nbuffer;
  tc_buf own = {0};
  tc_put(x->out, "\n");
  put_tiles(x);
  if (!put_parts(x, false)) return false;
  tc_omp_mm_put_operands(x);
  tc_omp_mm_put_rows(x);
  tc_omp_mm_put_epilogue(x);
  tc_omp_kernel_head(x->k, x->p, x->out);
  if (!put_parts(x, true)) return false;
  put_description(x, "g");
  tc_omp_mm_put_chain(x, x->out);
  tc_omp_mm_chain_scratch(x, &own);
  tc_putf(x->out, "  tc_mm_chain_run(&chain, buf[%u], buf[%u], %s);\n", n, n + 1,
          own.text ? own.text : "0");
  tc_omp_kernel_tail(x->out);
  tc_buf_free(&own);
  return true;
}

/* The same kernel for one row, or few. */
static bool put_row_kernel(tc_omp_matmul *x) {
  tc_buf *out = x->out, row = {0};
  x->out = &row;
  const bool ok = tc_omp_mm_emit_dot(x) && !row.failed;
  if (ok) tc_print_named(row.text, "@NAME@_row", out);
  x->out = out;
  tc_buf_free(&row);
  return ok;
}

bool tc_omp_emit_matmul(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_omp_matmul x;
  bool ok = open_kernel(&x, k, p, out);
  if (ok && tc_mm_is_chain(&k->mm)) {
    ok = put_chain(&x);
  } else if (ok && tc_omp_mm_is_dot(&x)) {
    ok = tc_omp_mm_emit_dot(&x);
  } else if (ok) {
    const bool row = tc_omp_mm_may_be_dot(&x);
    if (row) ok = put_row_kernel(&x);
    tc_omp_mm_take_bytes(&x);
    put_kernel(&x, row);
  }
  close_kernel(&x);
  return ok && !out->failed;
}

bool tc_omp_product_as_nests(const tc_kernel *k, tc_program *p, tc_kernel **out) {
  tc_omp_matmul x;
  bool ok = open_kernel(&x, k, p, NULL);
  *out = NULL;
  if (ok && (tc_omp_mm_is_dot(&x) || tc_omp_mm_may_be_dot(&x))) {
    *out = tc_omp_mm_make_dot(&x, p);
    ok = *out;
  }
  close_kernel(&x);
  return ok;
}

bool tc_omp_supports_matmul(const tc_kernel *k, const tc_program *p) {
  const tc_omp_matmul x = {.k = k, .p = p, .mm = &k->mm};
  const tc_stage *st = &k->mm.epilogue;
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_STORE) return false;
    if (stores_result(&x, a, TC_MM_PRODUCT) && stores_result(&x, a, TC_MM_BESIDE)) return false;
  }
  return k->mm.operand != TC_BOOL;
}

uint32_t tc_omp_matmul_levels(const tc_kernel *k, const tc_program *p) {
  const uint32_t basic = 1u << TC_ISA_V2 | 1u << TC_ISA_V3 | 1u << TC_ISA_V4;
  tc_omp_matmul x = {.k = k, .p = p, .mm = &k->mm};
  if (!tc_mm_is_chain(&k->mm) && tc_omp_mm_take_bytes(&x)) return basic | 1u << TC_ISA_BF16;
  return k->mm.operand == TC_BF16 ? basic | 1u << TC_ISA_BF16 | 1u << TC_ISA_AMX : basic;
}

bool tc_omp_packs(const tc_kernel *k, const tc_program *p) {
  tc_omp_matmul x;
  const bool dot = open_kernel(&x, k, p, NULL) && tc_omp_mm_is_dot(&x);
  close_kernel(&x);
  return !dot && !tc_mm_is_chain(&k->mm);
}

/* What is shared: packed B, or the transformed weights of a convolution in its place, behind where rows of B begin. */
static tc_dim shared_bytes(const tc_kernel *k, const tc_program *p, tc_dim packed) {
  tc_dims *c = tc_graph_dims(p->graph);
  tc_omp_matmul x;
  if (open_kernel(&x, k, p, NULL)) {
    if (tc_omp_mm_is_winograd(&x)) packed = tc_dim_max(c, packed, tc_omp_mm_winograd_bytes(&x));
    if (tc_omp_mm_has_spans(&x)) packed = tc_dim_add(c, packed, tc_omp_mm_spans_bytes(&x));
  }
  close_kernel(&x);
  return packed;
}

static void put_chain_scratch(const tc_kernel *k, const tc_program *p, tc_buf *shared,
                              tc_buf *per_thread) {
  tc_omp_matmul x;
  if (open_kernel(&x, k, p, NULL)) {
    tc_omp_mm_chain_scratch(&x, per_thread);
    tc_omp_mm_chain_shared(&x, shared);
  }
  close_kernel(&x);
}

/* A table of B's rows, and packed B: all of it, or what B_BYTES hold, but at least B_COLUMNS columns; or the transformed
 * weights of a convolution.  Per thread: rows of A for one block of k, and a block of sums. */
void tc_omp_matmul_scratch(const tc_kernel *k, const tc_program *p, tc_buf *shared,
                           tc_buf *per_thread) {
  if (tc_mm_is_chain(&k->mm)) put_chain_scratch(k, p, shared, per_thread);
  if (!tc_omp_packs(k, p)) return;
  tc_dims *c = tc_graph_dims(p->graph);
  const tc_mm_loop *mm = &k->mm;
  const tc_omp_element e = element_of(mm->operand);
  const tc_dim unit = tc_dim_const(192), depth = tc_dim_const(32);
  tc_dim deep = tc_dim_mul(c, tc_dim_ceildiv(c, mm->axis[mm->nbatch + 2].extent, depth), depth);
  const tc_dim head = tc_dim_add(c, tc_dim_const(8), tc_dim_ceildiv(c, deep, tc_dim_const(512)));
  deep = tc_dim_add(c, tc_dim_mul(c, deep, tc_dim_const(e.bytes)), head); /* of a column */
  tc_dim whole = tc_dim_mul(c, tc_dim_ceildiv(c, mm->axis[mm->nbatch + 1].extent, unit), unit);
  whole = tc_dim_mul(c, whole, deep);
  if (mm->packed) { /* no batch has a B of its own; a line says what is there */
    whole = tc_dim_add(c, whole, tc_dim_const(64));
  } else {
    for (int i = 0; i < mm->nbatch; ++i) whole = tc_dim_mul(c, whole, mm->axis[i].extent);
  }
  const tc_dim least =
      tc_dim_max(c, tc_dim_const(B_BYTES), tc_dim_mul(c, deep, tc_dim_const(B_COLUMNS)));
  tc_print_dim(p, shared_bytes(k, p, tc_dim_min(c, whole, least)), shared);
  tc_putf(per_thread, "%d", MOST);
}
