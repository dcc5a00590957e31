/* Products of few rows or columns, or terms, whose sizes are known at run time or before, and tiles that are stored rounded, at
 * every level, against the interpreter. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "backends/openmp/unit.h"
#include "graph/text.h"
#include "tests/common/allowance.h"
#include "tests/openmp/tensors.h"
#include "tests/openmp/unit.h"

static void report(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  if (s >= TC_MISSED) fprintf(stderr, "%u: %s\n", loc.line, text);
}
static tc_diag diag = {report, NULL};

typedef struct product {
  const char *dtype;
  bool ta, tb; /* stored transposed */
  bool bare;   /* without c */
} product;

typedef struct sizes {
  int64_t b, m, k, n;
} sizes;

/* a b + c, or a b.  known: the sizes in place of symbols. */
static tc_graph *graph_of(const product *p, const sizes *known) {
  char m[24] = "M", k[24] = "K", n[24] = "N";
  tc_buf t = {0};
  if (known) {
    snprintf(m, sizeof m, "%lld", (long long)known->m);
    snprintf(k, sizeof k, "%lld", (long long)known->k);
    snprintf(n, sizeof n, "%lld", (long long)known->n);
  }
  tc_putf(&t, "graph g\n%%1 = param %s[B,%s,%s] \"a\"\n", p->dtype, p->ta ? k : m, p->ta ? m : k);
  tc_putf(&t, "%%2 = param %s[B,%s,%s] \"b\"\n%%3 = param %s[%s] \"c\"\n", p->dtype, p->tb ? n : k, p->tb ? k : n, p->dtype, n);
  tc_put(&t, p->ta ? "%4 = permute %1 axes=[0,2,1]\n" : "");
  if (p->tb) tc_putf(&t, "%%%d = permute %%2 axes=[0,2,1]\n", p->ta ? 5 : 4);
  const int a = p->ta ? 4 : 1, b = p->tb ? (p->ta ? 5 : 4) : 2, first = 4 + p->ta + p->tb;
  tc_putf(&t, "%%%d = matmul %%%d %%%d\n", first, a, b);
  if (!p->bare) tc_putf(&t, "%%%d = add %%%d %%3\n", first + 1, first);
  tc_putf(&t, "ret %%%d\n", p->bare ? first : first + 1);
  tc_graph *g = tc_graph_parse(t.text, &diag);
  cr_assert_not_null(g, "%s", t.text);
  tc_buf_free(&t);
  return g;
}

static interp_array *array_of(const char *dtype, int rank, const int64_t *dim, int seed) {
  interp_array *a = interp_new(!strcmp(dtype, "f32") ? TC_F32 : !strcmp(dtype, "bf16") ? TC_BF16 : TC_I32, rank, dim);
  for (int64_t k = 0; k < a->count; k++) interp_set(a, k, (double)((k * 7919 + seed) % 17 - 8));
  return a;
}

static void check_level(const omp_unit *u, int entry, interp_array **in, const interp_run *want, const char *what) {
  const struct tc_tensor *tensor[3];
  struct tc_tensor *out[1];
  for (int i = 0; i < 3; i++) tensor[i] = omp_tensor(in[i], false);
  cr_assert(u->entry[entry](tensor, NULL, out), "%s", what);
  interp_array *got = omp_array(out[0]);
  const int64_t k = allowance_mismatch(want->output[0], want->output[0], got, allowance_of(got->dtype));
  cr_expect_lt(k, 0, "%s, level %d, element %lld: %g, not %g", what, (int)tcrt_isa, (long long)k, k < 0 ? 0 : interp_get(got, k),
               k < 0 ? 0 : interp_get(want->output[0], k));
  interp_free(got);
  omp_tensors_free();
}

static void check(const omp_unit *u, int entry, tc_graph *g, const product *p, const sizes *s) {
  char what[120];
  interp_array *in[3] = {
      array_of(p->dtype, 3, p->ta ? (int64_t[]){s->b, s->k, s->m} : (int64_t[]){s->b, s->m, s->k}, 3),
      array_of(p->dtype, 3, p->tb ? (int64_t[]){s->b, s->n, s->k} : (int64_t[]){s->b, s->k, s->n}, 5),
      array_of(p->dtype, 1, (int64_t[]){s->n}, 7),
  };
  const allowance t = allowance_of(in[0]->dtype);
  interp_run want = {.g = g, .input = (const interp_array *const *)in, .round = t.round};
  cr_assert(interp_graph(&want), "%s", want.message);
  snprintf(what, sizeof what, "%s ta=%d tb=%d %lld x [%lld,%lld,%lld]", p->dtype, p->ta, p->tb, (long long)s->b, (long long)s->m,
           (long long)s->k, (long long)s->n);
  for (int level = 0; level < TC_ISA_COUNT; level++) {
    if (!(omp_levels_here() >> level & 1)) continue;
    tcrt_isa = level;
    check_level(u, entry, in, &want, what);
  }
  interp_run_free(&want);
  for (int i = 0; i < 3; i++) interp_free(in[i]);
}

static omp_unit unit_of(tc_graph **graphs, int n) {
  omp_unit u;
  cr_assert(omp_unit_build(&u, graphs, n, ~0u, &diag));
  for (int i = 0; i < n; i++) cr_assert(u.result[i].compiled);
  return u;
}

static omp_unit texts_of(tc_graph *g) {
  omp_unit u;
  cr_assert(omp_unit_print(&u, &g, 1, ~0u) && u.result[0].compiled);
  return u;
}

/* Sizes around the borders of few rows, of lanes, of a tile and of blocks of sums. */
static void check_symbolic(const char *dtype) {
  static const int64_t few[] = {1, 2, 3, 4, 5}, many[] = {1, 7, 16, 70, 530}, deep[] = {1, 4, 5, 40, 300};
  tc_graph *built[4];
  for (int i = 0; i < 4; i++) built[i] = graph_of(&(product){dtype, i & 1, i >> 1, false}, NULL);
  omp_unit u = unit_of(built, 4);
  for (int i = 0; i < 4; i++) {
    const product p = {dtype, i & 1, i >> 1, false};
    tc_graph *g = graph_of(&p, NULL);
    for (int a = 0; a < 5; a++)
      for (int b = 0; b < 5; b++)
        for (int k = 0; k < 5; k++) {
          check(&u, i, g, &p, &(sizes){1 + a % 2, few[a], deep[k], many[b]});
          check(&u, i, g, &p, &(sizes){1 + a % 2, many[b], deep[k], few[a]});
        }
    tc_graph_free(g);
  }
  omp_unit_free(&u);
}

Test(few_rows, f32) { check_symbolic("f32"); }
Test(few_rows, bf16) { check_symbolic("bf16"); }
Test(few_rows, i32) { check_symbolic("i32"); }

Test(few_rows, of_known_sizes) {
  static const sizes known[] = {{2, 2, 300, 3}, {1, 4, 40, 600}, {1, 600, 40, 2}, {3, 1, 17, 70}, {1, 3, 530, 16},
                                {2, 20, 3, 100}, {1, 33, 1, 70}, {1, 20, 4, 63}, {1, 33, 5, 100}};
  enum { SIZES = sizeof known / sizeof *known, FORMS = 8 };
  static product form[FORMS];
  tc_graph *built[FORMS * SIZES];
  for (int i = 0; i < FORMS; i++) {
    form[i] = (product){i >> 2 ? "bf16" : "f32", i & 1, i >> 1 & 1, false};
    for (int k = 0; k < SIZES; k++) built[i * SIZES + k] = graph_of(&form[i], &known[k]);
  }
  omp_unit u = unit_of(built, FORMS * SIZES);
  for (int i = 0; i < FORMS; i++)
    for (int k = 0; k < SIZES; k++) {
      tc_graph *g = graph_of(&form[i], &known[k]);
      check(&u, i * SIZES + k, g, &form[i], &known[k]);
      tc_graph_free(g);
    }
  omp_unit_free(&u);
}

typedef struct choice {
  sizes of;
  bool nest;
} choice;

static void check_choices(const product *p, const choice *known, int n, const char *condition) {
  for (int i = 0; i < n; i++) {
    tc_graph *g = graph_of(p, &known[i].of);
    omp_unit u = texts_of(g);
    cr_expect_eq(!strstr(u.texts.kernels->text.text, "tc_mm_run("), known[i].nest, "%d", i);
    omp_unit_free(&u);
  }
  tc_graph *g = graph_of(p, NULL);
  omp_unit u = texts_of(g);
  cr_expect_not_null(strstr(u.texts.kernels->text.text, condition));
  omp_unit_free(&u);
}

/* Both operands have k contiguous: rows of B are read once for up to four of A. */
Test(few_rows, share_rows_of_b) {
  static const char *const dtype[] = {"f32", "bf16"};
  for (int i = 0; i < 2; i++) {
    const product p = {dtype[i], false, true, false};
    tc_graph *g = graph_of(&p, NULL);
    omp_unit u = texts_of(g);
    const char *const text = u.texts.kernels->text.text;
    cr_expect_eq(strstr(text, "(s_M <= 4 && s_K >= 128)") && strstr(text, "enum { jam = 3 };"), i == 0, "%s", p.dtype);
    omp_unit_free(&u);
  }
}

/* Results of few terms, which an epilogue takes up, are a nest; rows of which are long enough for that. */
Test(few_rows, few_terms) {
  static const choice known[] = {{{1, 20, 4, 64}, true}, {{1, 20, 5, 64}, false}, {{1, 20, 4, 63}, false}};
  check_choices(&(product){"bf16", false, false, false}, known, 3, "(s_K <= 4 && s_N >= 64)");
}

/* Those that tiles put into C themselves: few rows, rows that share the sets of a cache, or wide ones, of which one stays in a
 * first-level cache together with B. */
Test(few_rows, few_terms_in_place) {
  static const choice known[] = {{{1, 16, 4, 64}, true}, {{1, 17, 4, 64}, false}, {{1, 16, 5, 64}, false},
                                 {{1, 17, 4, 2048}, true}, {{1, 17, 4, 2047}, false}, {{1, 17, 2, 2730}, true},
                                 {{1, 17, 2, 2731}, false}, {{1, 17, 2, 128}, true}, {{1, 17, 2, 127}, false},
                                 {{1, 17, 3, 128}, false}};
  static const sizes some[] = {{2, 16, 4, 64}, {2, 17, 4, 64}, {1, 40, 2, 1024}, {2, 19, 3, 200}, {3, 7, 1, 131}, {1, 0, 2, 64}, {1, 5, 0, 1024}};
  for (int ta = 0; ta < 2; ta++) {
    const product p = {"f32", ta, false, true};
    check_choices(&p, known, sizeof known / sizeof *known,
                  "(s_K <= 4 && s_N >= 64 && (s_M <= 16 || (s_N) % 1024 == 0 || (s_N >= 128 && s_K <= 2 && (s_K + 1) * (s_N) <= 8192)))");
    tc_graph *g = graph_of(&p, NULL), *built = graph_of(&p, NULL);
    omp_unit u = unit_of(&built, 1);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(&u, 0, g, &p, &some[i]);
    tc_graph_free(g);
    omp_unit_free(&u);
  }
}

/* Micro-kernels round sums of bf16 products as they store them: whole tiles and those at the edges, of one and of several
 * blocks of k. */
Test(few_rows, rounded_in_place) {
  static const sizes some[] = {{2, 28, 40, 64}, {1, 15, 33, 70}, {3, 8, 5, 32}, {1, 29, 6200, 45}, {1, 14, 0, 32},
                               {2, 16, 4, 64}, {2, 30, 4, 66}, {1, 70, 2, 65}, {1, 70, 1, 65}};
  for (int i = 0; i < 4; i++) {
    const product p = {"bf16", i & 1, i >> 1, true};
    tc_graph *g = graph_of(&p, NULL), *built = graph_of(&p, NULL);
    omp_unit u = unit_of(&built, 1);
    cr_expect_not_null(strstr(u.texts.kernels->text.text, ".c_rounded = 1"));
    cr_expect_eq(!strstr(u.texts.kernels->text.text, "(s_K <= 4 && s_N >= 64 && (TC_ISA != TC_LEVEL_bf16 || (s_M) * ((s_K) - 1) <= 64))"), p.tb);
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) check(&u, 0, g, &p, &some[k]);
    tc_graph_free(g);
    omp_unit_free(&u);
  }
}
