/* chain_random.c - uniforms of scores on tensor cores, such as of dropout.
 *
 * A block of Philox has numbers of four neighbours.  A thread's scores are hardly such, but those of four lanes
 * are, along rows or along keys: each lane computes one block of four for all.  This suits scores that are
 * numbered one after the other along either axis, where blocks begin at multiples of 4 of the other; the
 * warp sees for each tile whether they do, and else computes a block for each score. */
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

/* shared<id>: do blocks begin where lanes want them, in the tile from key0 on? */
static void put_test(tc_cuda_product *x, uint32_t id, int along) {
  const tc_expr *e = &x->k->expr[id];
  char *const a = number_at(x, e, "row[0]", "key0"), *const b = number_at(x, e, "row[1]", "key0");
  tc_print_line(&x->s, "tc_f32 uniform%u[4] = {};", id);
  if (along == x->kk) {
    tc_print_line(&x->s, "const bool shared%u = tc_all((((%s) | (%s)) & 3) == 0);", id, a, b);
  } else {
    tc_buf step = {0};
    put_step(x, e, &step);
    tc_print_line(&x->s, "const bool shared%u = tc_all((((%s - lane / 4 %% 4) | (%s - lane / 4 %% 4) | (%s)) & 3) == 0);",
                  id, a, b, step.text);
    tc_buf_free(&step);
  }
  free(a);
  free(b);
}

/* Per value: does A, or that of the second product, need it? */
static uint8_t *find_needed(tc_cuda_product *x) {
  uint8_t *need = calloc(x->k->nexpr + 1, 1);
  if (!need) {
    x->s.out->failed = true;
    return NULL;
  }
  need[x->mm->a.id] = need[x->mm->beside.a.id] = 1;
  tc_mark_operands(x->k, need);
  return need;
}

void tc_cuda_chain_put_uniforms(tc_cuda_product *x) {
  uint8_t *need = find_needed(x);
  int along;
  for (uint32_t id = 1; need && id < x->k->nexpr; ++id)
    if (need[id] && is_shared(x, &x->k->expr[id], &along)) put_test(x, id, along);
  free(need);
}

/* uniform<id>[i % 4] of the four scores from i on. */
static void put_four(tc_cuda_product *x, uint32_t id, int along) {
  const tc_expr *e = &x->k->expr[id];
  const uint32_t seed = e->in[0].id;
  char *const a = number_at(x, e, "row[0]", "key"), *const b = number_at(x, e, "row[1]", "key");
  const char *const type = tc_print_random_type(e);
  tc_buf step = {0};
  put_step(x, e, &step);
  tc_print_line(&x->s, "if (i %% 4 == 0) {");
  tc_print_line(&x->s, "  const tc_i64 a = %s, b = %s;", a, b);
  if (along == x->kk)
    tc_print_line(&x->s, "  if (shared%u) tc_uniforms_of_columns<tc_%s>(uniform%u, v%u.l[0], a, b);", id, type, id, seed);
  else
    tc_print_line(&x->s, "  if (shared%u) tc_uniforms_of_rows<tc_%s>(uniform%u, v%u.l[0], a, b, %s);", id, type, id, seed, step.text);
  tc_print_line(&x->s, "  else tc_uniforms_apart<tc_%s>(uniform%u, v%u.l[0], a, b, %s);", type, id, seed, step.text);
  tc_print_line(&x->s, "}");
  tc_buf_free(&step);
  free(a);
  free(b);
}

void tc_cuda_chain_take_uniforms(tc_cuda_product *x) {
  uint8_t *need = find_needed(x);
  int along;
  for (uint32_t id = 1; need && id < x->k->nexpr; ++id) {
    const tc_expr *e = &x->k->expr[id];
    if (!need[id] || x->s.printed[id] & 1 || !is_shared(x, e, &along)) continue;
    tc_print_value(&x->s, e->in[0]);
    put_four(x, id, along);
    tc_print_line(&x->s, "const tc_uf32 v%u = tc_set_f32(uniform%u[i %% 4]);", id, id);
    x->s.printed[id] |= 1;
  }
  free(need);
}
