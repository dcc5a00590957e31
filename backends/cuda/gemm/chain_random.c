/* chain_random.c - uniforms of scores on tensor cores, such as of dropout.
 *
 * A block of Philox has the words of four neighbours.  A thread's scores are hardly such, but those of four lanes
 * are, along rows or along keys, where scores are numbered one after the other along either axis: each lane
 * computes four for all.  Where blocks begin at multiples of 4 of the axis, as the warp sees for each tile, that is
 * one block, else two.
 *
 * Uniforms that are only compared with what all scores of a tile have in common stay words. */
#include "backends/cuda/gemm/chain.h"

#include <stdlib.h>

/* Is the value made of uniforms that lanes can share?  along: the axis of neighbours. */
static bool is_shared(const tc_cuda_product *x, const tc_expr *e, int *along) {
  const tc_address *a = &e->address;
  const uint32_t own = 1u << x->m | 1u << x->kk;
  if (e->kind != TC_EX_RANDOM || e->op != OP_RAND || e->dtype != TC_F32 || a->nterm || x->s.depends[e->in[0].id] & own)
    return false;
  *along = tc_dim_is(a->coef[x->kk], 1) ? x->kk : x->m;
  return tc_dim_is(a->coef[*along], 1);
}

/* uniform < with, or as `op` says. */
typedef struct comparison {
  tc_val uniform, with;
  const char *op;
} comparison;

static bool find_comparison(const tc_cuda_product *x, const tc_expr *e, comparison *c) {
  const uint32_t own = 1u << x->m | 1u << x->kk;
  const bool less = e->op == OP_LT || e->op == OP_LE, more = e->op == OP_GT || e->op == OP_GE;
  int along;
  if (e->kind != TC_EX_OP || (!less && !more)) return false;
  for (int i = 0; i < 2; ++i) {
    if (!is_shared(x, &x->k->expr[e->in[i].id], &along) || x->s.depends[e->in[1 - i].id] & own) continue;
    const bool below = less == !i; /* the uniform is on the left of less, or on the right of more */
    const bool or_equal = e->op == OP_LE || e->op == OP_GE;
    *c = (comparison){e->in[i], e->in[1 - i], below ? or_equal ? "le" : "lt" : or_equal ? "ge" : "gt"};
    return true;
  }
  return false;
}

/* What A, or that of the second product, needs of a value. */
enum { NEEDS_VALUE = 1, NEEDS_WORDS = 2 };

/* Per value. */
static uint8_t *find_needed(tc_cuda_product *x) {
  uint8_t *need = calloc(x->k->nexpr + 1, 1);
  comparison c;
  if (!need) {
    x->s.out->failed = true;
    return NULL;
  }
  need[x->mm->a.id] = need[x->mm->beside.a.id] = NEEDS_VALUE;
  for (uint32_t id = x->k->nexpr; id-- > 1;) {
    const tc_expr *e = &x->k->expr[id];
    if (!(need[id] & NEEDS_VALUE)) continue;
    if (!find_comparison(x, e, &c)) {
      const uint8_t words[] = {need[e->in[0].id], need[e->in[1].id], need[e->in[2].id]};
      tc_mark_operands_of(e, need);
      for (int i = 0; i < 3; ++i) need[e->in[i].id] |= words[i];
      continue;
    }
    need[c.with.id] |= NEEDS_VALUE;
    need[c.uniform.id] |= NEEDS_WORDS;
  }
  need[0] = 0;
  return need;
}

typedef void put_uniform(tc_cuda_product *x, uint32_t id, int along, bool whole, uint8_t need);

static void put_each(tc_cuda_product *x, bool whole, put_uniform *put) {
  uint8_t *need = find_needed(x);
  int along;
  for (uint32_t id = 1; need && id < x->k->nexpr; ++id)
    if (need[id] && is_shared(x, &x->k->expr[id], &along)) put(x, id, along, whole, need[id]);
  free(need);
}

/* The number of the score of that row and key. */
static char *number_at(tc_cuda_product *x, const tc_expr *e, const char *row, const char *key) {
  const char *const outer[] = {x->s.axis[x->m], x->s.axis[x->kk]};
  tc_buf at = {0};
  x->s.axis[x->m] = row, x->s.axis[x->kk] = key;
  tc_print_number(&x->s, &e->address, &at);
  x->s.axis[x->m] = outer[0], x->s.axis[x->kk] = outer[1];
  x->s.out->failed |= at.failed || !at.text;
  return at.text;
}

/* From one key to the next. */
static void put_step(tc_cuda_product *x, const tc_expr *e, tc_buf *out) {
  tc_dim_print(tc_graph_dims(x->p->graph), e->address.coef[x->kk], x->s.words->size, out);
}

/* ---- of a tile -------------------------------------------------------------------------------- */

/* The first of the lane's four, whether the array has it or not: of some lanes it has others. */
#define FOUR_ROWS "(m0 + warp * 16 + lane / 16 * 4 + lane / 4 % 2 * 8)"

/* number<id>: that of the first score of those whose words the lane computes, in the tile from key0 on; shared<id>: does a block
 * begin there, for all lanes and all scores of the tile? */
static void put_test(tc_cuda_product *x, uint32_t id, int along, bool whole, uint8_t need) {
  (void)whole, (void)need;
  const tc_expr *e = &x->k->expr[id];
  char *const at = along == x->kk ? number_at(x, e, "(lane & 1 ? row[1] : row[0])", "(key0 + lane / 2 % 2 * 4)")
                                  : number_at(x, e, FOUR_ROWS, "(key0 + lane % 4 * 2 + lane / 8 % 2)");
  tc_print_line(&x->s, "const tc_u64 number%u = (tc_u64)(%s);", id, at);
  tc_print_line(&x->s, "const bool shared%u = tc_all((number%u & 3) == 0);", id, id);
  free(at);
}

void tc_cuda_chain_put_uniforms(tc_cuda_product *x) { put_each(x, false, put_test); }

static void put_shared(tc_cuda_product *x, uint32_t id, int along, bool whole, uint8_t need) {
  (void)along, (void)whole, (void)need;
  tc_putf(x->s.out, " && shared%u", id);
}

void tc_cuda_chain_put_all_shared(tc_cuda_product *x) { put_each(x, false, put_shared); }

static void put_words(tc_cuda_product *x, uint32_t id, int along, bool whole, uint8_t need) {
  (void)along, (void)whole, (void)need;
  tc_print_line(&x->s, "tc_u32 word%u[4] = {};", id);
}

void tc_cuda_chain_put_words(tc_cuda_product *x) { put_each(x, false, put_words); }

/* ---- of a score ------------------------------------------------------------------------------- */

/* word<id>[i % 4] of the four scores from i on; whole: all tiles share blocks. */
static void put_four(tc_cuda_product *x, uint32_t id, int along, bool whole) {
  const tc_expr *e = &x->k->expr[id];
  const char *const of = along == x->kk ? "columns" : "rows";
  const uint32_t seed = e->in[0].id;
  tc_buf step = {0}; /* from eight keys to the next, as i is 4 more */
  if (along != x->kk) put_step(x, e, &step);
  else tc_put(&step, "1");
  tc_print_line(&x->s, "if (i %% 4 == 0)");
  if (whole)
    tc_print_line(&x->s, "  tc_words_of_%s(word%u, tc_philox(v%u.l[0], (number%u >> 2) + (tc_u64)(i / 2) * (tc_u64)(%s), 0));", of, id, seed,
                  id, step.text);
  else
    tc_print_line(&x->s, "  tc_words_of_%s(word%u, tc_philox_from(v%u.l[0], number%u + (tc_u64)(i * 2) * (tc_u64)(%s)));", of, id, seed, id,
                  step.text);
  x->s.out->failed |= step.failed;
  tc_buf_free(&step);
}

static void put_value(tc_cuda_product *x, uint32_t id, int along, bool whole, uint8_t need) {
  const tc_expr *e = &x->k->expr[id];
  if (x->s.printed[id] & 1) return;
  tc_print_value(&x->s, e->in[0]);
  put_four(x, id, along, whole);
  if (!(need & NEEDS_VALUE)) return;
  tc_print_line(&x->s, "const tc_uf32 v%u = tc_set_f32(tc_uniform_of_word<tc_%s>(word%u[i %% 4]));", id, tc_print_random_type(e), id);
  x->s.printed[id] |= 1;
}

/* Comparisons of uniforms that are needed. */
static void put_comparisons(tc_cuda_product *x) {
  uint8_t *need = find_needed(x);
  comparison c;
  for (uint32_t id = 1; need && id < x->k->nexpr; ++id) {
    if (!need[id] || x->s.printed[id] & 1 || !find_comparison(x, &x->k->expr[id], &c)) continue;
    const char *const type = tc_print_random_type(&x->k->expr[c.uniform.id]);
    tc_print_value(&x->s, c.with);
    tc_print_line(&x->s, "const tc_ub8 v%u = tc_set_b8(tc_uniform_%s<tc_%s>(word%u[i %% 4], v%u.l[0]));", id, c.op, type, c.uniform.id,
                  c.with.id);
    x->s.printed[id] |= 1;
  }
  free(need);
}

void tc_cuda_chain_take_uniforms(tc_cuda_product *x, bool whole) {
  put_each(x, whole, put_value);
  put_comparisons(x);
}
