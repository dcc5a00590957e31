/* micro_kernel.c - micro-kernels (tc_mm_micro), written out: every accumulator is a variable and
 * every multiply-add a statement, which the compiler keeps in registers and compiles in half the
 * time that loops to be unrolled take.
 *
 * Three rows of A share a pointer that the compiler cannot see through: it then addresses them as
 * base, base + s, base + 2s instead of keeping one register for each row.
 *
 * Sums of f32 and f64 are made in blocks of k, which join the total in c one after the other: the
 * rounding error of a sum of K terms grows with the square root of BLOCK + K / BLOCK then, not of K
 * (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
 *
 * Loops of one micro-kernel that differ in what they ask for round alike: `contract(on)` fuses a product and the addition in
 * its statement wherever the machine has that, where `fast` leaves it to an optimiser that may move one of them elsewhere.
 * Their bodies have no branches, which would make sums change registers. */
#include "backends/openmp/gemm/matmul.h"

#include <string.h>

/* where the loads, additions and stores of a tile are a percent of its multiplications */
enum { BLOCK = 128 };

typedef struct tile {
  tc_buf *out;
  const char *
      /* of the elements: f32, f64, u16, u32, u64; bf16 for pairs; i8, u8 (of A) for fours; amx */
      type;
  int rows, vectors;
  bool vnni, bytes, blocked;
  bool masked; /* it takes a number of columns (TC_MM_COLUMNS) */
} tile;

/* V: a vector of B; S: of sums; U and W: the same in memory. */
static void put_types(const tile *t) {
  if (t->vnni) tc_put(t->out, "  typedef tc_mm_sums S;\n  typedef tc_mm_pairs V;\n");
  else if (t->bytes)
    tc_put(t->out, "  typedef int V __attribute__((vector_size(64)));\n  typedef V S;\n");
  else
    tc_putf(t->out, "  typedef tc_%s V __attribute__((vector_size(TC_L * 4)));\n  typedef V S;\n",
            t->type);
  tc_put(t->out, "  typedef V U __attribute__((aligned(1), may_alias));\n"
                 "  typedef S W __attribute__((aligned(1), may_alias));\n");
  if (t->bytes) tc_put(t->out, "  typedef int word __attribute__((aligned(1), may_alias));\n");
}

/* The instruction multiplies unsigned bytes by signed ones.  Signed bytes of A are taken as a +
 * 128, and 128 times the sum of B's column, which is z, is subtracted at the end. */
static bool is_offset(const tile *t) { return t->bytes && t->type[0] == 'i'; }

static void put_rows_of_a(const tile *t) {
  for (int i = 0; i < t->rows; i += 3) tc_putf(t->out, "  const char *a%d = a + %d * rs;\n", i, i);
}

static void put_sums(const tile *t) {
  for (int i = 0; i < t->rows; ++i) {
    tc_put(t->out, "    S ");
    for (int j = 0; j < t->vectors; ++j) tc_putf(t->out, "%sc%d_%d = {0}", j ? ", " : "", i, j);
    tc_put(t->out, ";\n");
  }
  if (!is_offset(t)) return;
  tc_put(t->out, "    const V offset = (V){0} + (int)0x80808080u;\n    S ");
  for (int j = 0; j < t->vectors; ++j) tc_putf(t->out, "%sz%d = {0}", j ? ", " : "", j);
  tc_put(t->out, ";\n");
}

/* One row of A against the vectors of B.  half: of a pair of bf16. */
static void put_row(const tile *t, int i, bool half) {
  static const char *const offset[3] = {"", " + rs", " + 2 * rs"};
  if (t->vnni) tc_putf(t->out, "        x = tc_mm_bf16_%s(a%d%s);", half ? "half" : "splat", i - i % 3, offset[i % 3]);
  else if (t->bytes)
    tc_putf(t->out, "        x = ((V){0} + *(const word *)(a%d%s))%s;", i - i % 3, offset[i % 3],
            is_offset(t) ? " ^ offset" : "");
  else tc_putf(t->out, "        x = *(const tc_%s *)(a%d%s);", t->type, i - i % 3, offset[i % 3]);
  for (int j = 0; j < t->vectors; ++j)
    if (t->bytes)
      tc_putf(t->out, " c%d_%d = __builtin_ia32_vpdpbusd512(c%d_%d, x, b%d);", i, j, i, j, j);
    else if (t->vnni)
      tc_putf(t->out, " c%d_%d = __builtin_ia32_dpbf16ps_512(c%d_%d, x, b%d);", i, j, i, j, j);
    else tc_putf(t->out, " c%d_%d += x * b%d;", i, j, j);
  tc_put(t->out, "\n");
}

/* Do the multiplications leave time to ask for all lines of a later row of B, which may be read in place?  As many are made in
 * a cycle as loads. */
static bool asks_ahead(const tile *t) {
  return !t->vnni && !t->bytes && (t->rows + 2 * t->vectors + 1) * 4 <= t->rows * t->vectors * 3;
}

static void put_row_of_b(const tile *t) {
  for (int j = 0; j < t->vectors; ++j)
    tc_putf(t->out, "        const V b%d = *(const U *)(b + %d * sizeof(V));\n", j, j);
}

/* The step behind all others, if there is one. */
static void put_half_step(const tile *t) {
  tc_put(t->out, "    if (add & TC_MM_HALF) {\n");
  put_row_of_b(t);
  tc_put(t->out, "        V x;\n");
  for (int i = 0; i < t->rows; ++i) put_row(t, i, true);
  tc_put(t->out, "    }\n");
}

/* The steps of a part of a block. */
static void put_steps(const tile *t, bool ahead) {
  tc_put(t->out, "      for (; n > rest; --n) {\n");
  put_row_of_b(t);
  if (t->vnni || t->bytes) tc_put(t->out, "        V x;\n");
  else tc_putf(t->out, "        tc_%s x;\n", t->type);
  for (int i = 0; i < t->rows; i += 3) tc_putf(t->out, "        tc_mm_opaque(a%d);\n", i);
  for (int j = 0; is_offset(t) && j < t->vectors; ++j)
    tc_putf(t->out, "        z%d = __builtin_ia32_vpdpbusd512(z%d, offset, b%d);\n", j, j, j);
  for (int i = 0; i < t->rows; ++i) put_row(t, i, false);
  for (int j = 0; ahead && j < t->vectors; ++j)
    tc_putf(t->out, "        if (%d * sizeof(V) %% 64 == 0) __builtin_prefetch(b + ahead + %d * sizeof(V), 0, 2);\n", j, j);
  tc_put(t->out, "        __builtin_prefetch(prefetch, 0, 2);\n        prefetch += as, b += bs");
  for (int i = 0; i < t->rows; i += 3) tc_putf(t->out, ", a%d += ks", i);
  tc_put(t->out, ";\n      }\n");
}

/* A block in as many parts as the tile has rows: each begins by asking for a row of C, so that all
 * are there at the end and never many on their way at once. */
static void put_loop(const tile *t) {
  tc_putf(t->out,
          "    for (const char *row = c; n > 0; row += cs) {\n"
          "      for (uint64_t i = 0; i < %d * sizeof(V); i += 64) __builtin_prefetch(row + i, 1, 3);\n"
          "      const int64_t rest = n > part ? n - part : 0;\n",
          t->vectors);
  if (asks_ahead(t)) {
    tc_put(t->out, "      if (add & TC_MM_AHEAD) {\n      const int64_t ahead = TC_MM_ROWS_AHEAD * bs;\n");
    put_steps(t, true);
    tc_put(t->out, "      }\n"); /* n is rest */
  }
  put_steps(t, false);
  tc_put(t->out, "    }\n");
}

/* form: C: how the sums of a row and a vector are stored; both, twice. */
static void put_stores(const tile *t, const char *form) {
  for (int i = 0; i < t->rows; ++i) {
    tc_put(t->out, "   ");
    for (int j = 0; j < t->vectors; ++j) {
      tc_put(t->out, " ");
      tc_putf(t->out, form, i, j, i, j);
    }
    tc_put(t->out, "\n");
  }
}

/* What is in c is added, or sums are stored there, of the columns alone. */
static void put_masked_additions(const tile *t) {
  for (int i = 0; i < t->rows; ++i)
    tc_putf(t->out, "      { S x; tc_maskload_4(&x, c + %d * cs, words); c%d_0 += x; }\n", i, i);
}

static void put_masked_stores(const tile *t) {
  for (int i = 0; i < t->rows; ++i) tc_putf(t->out, "    tc_maskstore_4(c + %d * cs, &c%d_0, words);\n", i, i);
}

/* Sums rounded to bf16, two vectors at a time. */
static void put_rounded(const tile *t) {
  for (int i = 0; i < t->rows; ++i) {
    tc_put(t->out, "     ");
    for (int j = 0; j + 1 < t->vectors; j += 2)
      tc_putf(t->out, " tc_mm_store_sums(c + %d * cs + %d * TC_L * 2, c%d_%d, c%d_%d);", i, j, i, j, i, j + 1);
    if (t->masked) tc_putf(t->out, " tc_storen_bf16((tc_bf16 *)(c + %d * cs), (tc_vf32)c%d_0, words);", i, i);
    else if (t->vectors % 2)
      tc_putf(t->out, " tc_store_bf16((tc_bf16 *)(c + %d * cs) + %d * TC_L, (tc_vf32)c%d_%d);", i, t->vectors - 1, i, t->vectors - 1);
    tc_put(t->out, "\n");
  }
}

static void put_results(const tile *t) {
  for (int i = 0; is_offset(t) && i < t->rows; ++i) {
    tc_put(t->out, "   ");
    for (int j = 0; j < t->vectors; ++j) tc_putf(t->out, " c%d_%d -= z%d;", i, j, j);
    tc_put(t->out, "\n");
  }
  tc_put(t->out, "    if (add & TC_MM_ADD) {\n");
  if (t->masked) put_masked_additions(t);
  for (int i = 0; !t->masked && i < t->rows; ++i) {
    tc_put(t->out, "     ");
    for (int j = 0; j < t->vectors; ++j)
      tc_putf(t->out, " c%d_%d += *(W *)(c + %d * cs + %d * sizeof(V));", i, j, i, j);
    tc_put(t->out, "\n");
  }
  tc_put(t->out, "    }\n");
  if (t->vnni) {
    tc_put(t->out, "    if (add & TC_MM_ROUND) {\n");
    put_rounded(t);
    tc_put(t->out, "      return;\n    }\n");
  }
  if (t->masked) put_masked_stores(t);
  else put_stores(t, "*(W *)(c + %d * cs + %d * sizeof(V)) = c%d_%d;");
}

/* All of k, or block after block. */
static void put_blocks(const tile *t) {
  if (t->blocked)
    tc_putf(t->out,
            "  const int64_t blocks = (k + %d) / %d, block = blocks > 1 ? (k + blocks - 1) / blocks : k, part = block / %d + 1;\n"
            "  do {\n"
            "    int64_t n = k < block ? k : block;\n"
            "    k -= n;\n",
            BLOCK - 1, BLOCK, t->rows);
  else
    tc_putf(t->out, "  const int64_t part = k / %d + 1;\n  {\n    int64_t n = k%s;\n", t->rows,
            t->vnni ? " - (add & TC_MM_HALF ? 1 : 0)" : "");
  put_sums(t);
  put_loop(t);
  if (t->vnni) put_half_step(t);
  put_results(t);
  tc_put(t->out, t->blocked ? "    add |= TC_MM_ADD;\n  } while (k > 0);\n" : "  }\n");
}

/* `words` of 4 bytes that the columns take in a row of sums. */
static void put_words(const tile *t) {
  tc_putf(t->out, "  const int64_t words = add >> TC_MM_COLUMNS ? (add >> TC_MM_COLUMNS) * %d : TC_L;\n",
          strcmp(t->type, "f64") ? 1 : 2);
}

void tc_omp_mm_put_tile(tc_buf *out, const char *type, int rows, int vectors, bool masked) {
  const tile t = {.out = out,
                  .type = type,
                  .rows = rows,
                  .vectors = vectors,
                  .vnni = strcmp(type, "bf16") == 0,
                  .bytes = type[1] == '8',
                  .blocked = *type == 'f',
                  .masked = masked};
  tc_putf(out, "#ifndef TC_MM_%s_%dx%d\n#define TC_MM_%s_%dx%d\n", type, rows, vectors, type, rows,
          vectors);
  tc_putf(out,
          "static TC_VECTOR_WIDTH void tc_mm_%s_%dx%d(int64_t k, const char *a, int64_t rs, "
          "int64_t ks, "
          "const char *b,\n"
          "                                int64_t bs, char *c, int64_t cs, int add, const char "
          "*prefetch, int64_t as) {\n",
          type, rows, vectors);
  if (strcmp(type, "amx") == 0) {
    tc_putf(out, "  tc_mm_amx_tile(%d, %d, k, a, rs, ks, b, bs, c, cs, add, prefetch, as);\n", rows,
            vectors);
  } else {
    if (t.blocked) tc_put(out, "#pragma clang fp contract(on)\n");
    put_types(&t);
    if (masked) put_words(&t);
    put_rows_of_a(&t);
    put_blocks(&t);
  }
  tc_put(out, "}\n#endif\n");
}
