/* chain_scores.c - what becomes of a tile of scores: rows' accumulators, then A of the outer
 * product, element by element.
 *
 * There are two texts, for tiles that all rows of the block have, and for others: the former make
 * no comparison that says which keys a row has, nor whether lanes share uniforms: they do. */
#include "backends/cuda/gemm/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How scores are made. */
typedef struct scores {
  tc_cuda_product *x;
  const tc_cuda_chain_layout *l;
  const char *type;   /* of scores and sums */
  const tc_action *a; /* of the rows, or NULL */
  tc_mm_keys keys;
  bool whole;     /* all rows have all keys of the tile */
  bool by_value;  /* A and terms are made of `reduced` alone */
  /* of it the reduction is made: of what the loops say, or of what a positive factor multiplies
   * there */
  tc_val reduced;
  tc_val factor;  /* that factor; none: id 0 */
} scores;

static const tc_expr *expr_of(const scores *s, tc_val v) { return &s->x->k->expr[v.id]; }

/* ---- which values ---------------------------------------------------------------------------- */

static tc_val find_counted(const scores *s, tc_val v);

/* Of a sum, what joins the 0 that a mask has for keys that count; none: id 0. */
static tc_val find_beside_zero(const scores *s, const tc_expr *sum) {
  for (int i = 0; i < 2 && s->whole; ++i) {
    const tc_val counted = find_counted(s, sum->in[i]);
    const tc_expr *e = expr_of(s, counted);
    if (counted.id != sum->in[i].id && e->kind == TC_EX_CONST && e->f == 0) return sum->in[1 - i];
  }
  return (tc_val){0};
}

/* What v is for keys that all rows have. */
static tc_val find_counted(const scores *s, tc_val v) {
  const tc_expr *e = expr_of(s, v);
  const tc_mm_keys *k = &s->keys;
  if (s->whole && e->kind == TC_EX_OP && e->op == OP_ADD && e->dtype == s->x->mm->acc) {
    const tc_val x = find_beside_zero(s, e);
    return x.id ? find_counted(s, x) : v;
  }
  if (!s->whole || e->kind != TC_EX_OP || e->op != OP_WHERE) return v;
  if (k->has_end && e->in[0].id == k->end_test.id)
    return find_counted(s, e->in[k->end_holds ? 1 : 2]);
  if (k->has_first && e->in[0].id == k->first_test.id)
    return find_counted(s, e->in[k->first_holds ? 1 : 2]);
  return v;
}

/* Is v raw * factor, a positive number? */
static bool find_factor(const scores *s, tc_val v, tc_val *raw, tc_val *factor) {
  const tc_expr *e = expr_of(s, find_counted(s, v));
  if (e->kind != TC_EX_OP || e->op != OP_MUL || e->dtype != s->x->mm->acc) return false;
  for (int i = 0; i < 2; ++i) {
    const tc_expr *by = expr_of(s, e->in[i]);
    if (by->kind != TC_EX_CONST || !(by->f > 0) || isinf(by->f)) continue;
    *raw = e->in[1 - i], *factor = e->in[i];
    return true;
  }
  return false;
}

static bool takes_largest(const tc_action *a) {
  return !strcmp(tc_print_combine_part(a->reducer, 0).text, "max");
}

/* Is everything that A and the terms are made of the inner product by way of what is reduced? */
static bool is_by_value(const scores *s) {
  const tc_kernel *k = s->x->k;
  uint8_t *need = calloc(k->nexpr + 1, 1);
  bool by_value = need;
  if (need) need[s->x->mm->a.id] = need[s->a->term.id] = 1;
  for (uint32_t id = k->nexpr; need && id-- > 1;) {
    const tc_expr *e = &k->expr[id];
    if (!need[id] || id == s->reduced.id) continue;
    if (e->kind == TC_EX_RESULT && e->index == TC_MM_INNER) by_value = false;
    tc_mark_operands_of(e, need);
  }
  free(need);
  return by_value;
}

/* A sum with the 0 of a mask is the other operand; and where 16 bits of the result are asked for, e
 * to the difference of a score and a number of its row is made of one multiplication and
 * addition. */
static bool take_op(const tc_print_scope *p, const tc_expr *e, tc_buf *out) {
  const scores *s = p->self;
  const tc_expr *sub = expr_of(s, e->in[0]);
  const bool near = e->dtype == TC_F32 && tc_cuda_kernel_schedule_of(p->k)->approximate,
             exp = near && e->op == OP_EXP;
  tc_val raw, factor;
  /* but for the sign of 0 */
  if (e->dtype == s->x->mm->acc && e->op == OP_ADD && find_beside_zero(s, e).id) {
    tc_putf(out, "v%u", find_beside_zero(s, e).id);
    return true;
  }
  if (!exp || sub->kind != TC_EX_OP || sub->op != OP_SUB ||
      p->depends[sub->in[1].id] >> s->x->kk & 1)
    return tc_cuda_words.op(p, e, out);
  if (find_factor(s, sub->in[0], &raw, &factor))
    tc_putf(out, "tc_exp_scaled_difference_approx(v%u, v%u, v%u)", raw.id, factor.id,
            sub->in[1].id);
  else tc_putf(out, "tc_exp_difference_approx(v%u, v%u)", sub->in[0].id, sub->in[1].id);
  return true;
}

/* Is v of its key and batch alone? */
static bool is_of_key(const tc_cuda_product *x, uint32_t id) {
  const uint32_t along = x->s.depends[id], key = 1u << x->kk;
  return along & key && !(along & ~(key | (key - 1) >> 2));
}

static bool has_load(const tc_kernel *k, tc_val v) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  bool any = false;
  if (!need) return false;
  need[v.id] = 1;
  tc_mark_operands(k, need);
  for (uint32_t i = 1; i < k->nexpr; ++i) any |= need[i] && k->expr[i].kind == TC_EX_LOAD;
  free(need);
  return any;
}

int tc_cuda_chain_columns(const tc_cuda_product *x, tc_val *v) {
  const tc_kernel *k = x->k;
  uint8_t *need = calloc(k->nexpr + 1, 1); /* by a value that is no column */
  int n = 0;
  if (!need) {
    x->s.out->failed = true;
    return 0;
  }
  need[x->mm->a.id] = need[x->mm->beside.a.id] = 1;
  for (uint32_t i = 0; i < x->mm->inner.rows.naction; ++i)
    tc_mark_action(&x->mm->inner.rows.action[i], need);
  for (uint32_t id = k->nexpr; id-- > 1;) {
    const tc_expr *e = &k->expr[id];
    if (!need[id]) continue;
    if (is_of_key(x, id) && e->dtype == x->mm->acc && n < TC_CUDA_CHAIN_COLUMNS &&
        has_load(k, (tc_val){id})) {
      if (v) v[n] = (tc_val){id};
      n++;
      continue;
    }
    tc_mark_operands_of(e, need);
  }
  free(need);
  return n;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Those of the key at hand, where the tile has them. */
static void put_columns(tc_cuda_product *x) {
  const char *t = tc_cuda_acc(x);
  tc_val v[TC_CUDA_CHAIN_COLUMNS];
  const int n = tc_cuda_chain_columns(x, v);
  for (int i = 0; i < n; ++i) {
    tc_print_line(&x->s, "const tc_u%s v%u = tc_set_%s(column[%d * KEYS + at]);", t, v[i].id, t, i);
    x->s.printed[v[i].id] |= 1;
  }
}

static void put_test(tc_cuda_product *x, tc_val test, bool holds) {
  tc_print_line(&x->s, "const tc_ub8 v%u = tc_set_b8(%d);", test.id, holds);
  x->s.printed[test.id] |= 1;
}

/* Opens the loop over a thread's scores: its row and key, of those that there are, and whether
 * there are more. */
static uint8_t *open_scores(const scores *s) {
  tc_cuda_product *x = s->x;
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < %s; ++i) {", s->l->scores);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int at = %s, h = %s;", s->l->key, s->l->row);
  tc_print_line(&x->s, "const tc_int key = key0 + at;");
  if (!s->whole) tc_print_line(&x->s, "const bool live = key < k_end;");
  tc_print_line(&x->s, "const tc_int %s = %s, %s = row[h];", x->text[x->kk],
                s->whole ? "key" : "TC_MIN(key, k_end - 1)", x->text[x->m]);
  uint8_t *outer = tc_print_enter(&x->s);
  if (outer && s->l->columns) put_columns(x);
  if (outer && s->whole && s->keys.has_first) put_test(x, s->keys.first_test, s->keys.first_holds);
  if (outer && s->whole && s->keys.has_end) put_test(x, s->keys.end_test, s->keys.end_holds);
  return outer;
}

static void close_scores(const scores *s, uint8_t *outer) {
  tc_print_leave(&s->x->s, outer);
  s->x->s.indent -= 2;
  tc_print_line(&s->x->s, "}");
}

static void put_inner_results(const scores *s) {
  for (int i = 0; i < s->x->mm->inner.n; ++i)
    tc_print_line(&s->x->s, "const tc_u%s r%u = tc_set_%s(%s[i]);", s->type, tc_mm_inner_result(i),
                  s->type, i ? "other" : "score");
}

/* Accumulator 0 of the rows with these keys: next. */
static void put_first(const scores *s) {
  tc_cuda_product *x = s->x;
  const char *op = tc_print_combine_part(s->a->reducer, 0).text, *t = s->type, *rows = s->l->rows;
  const uint32_t v = s->reduced.id;
  tc_print_line(&x->s, "tc_u%s next[%s];", t, rows);
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < %s; ++h) next[h] = %s;", rows,
                s->factor.id ? "none" : "most[h]");
  uint8_t *outer = open_scores(s);
  put_inner_results(s);
  tc_print_value(&x->s, s->reduced);
  if (s->whole) tc_print_line(&x->s, "const tc_u%s x = v%u;", t, v);
  else tc_print_line(&x->s, "const tc_u%s x = live ? (tc_u%s)v%u : none;", t, t, v);
  if (s->by_value) tc_print_line(&x->s, "score[i] = x.l[0];");
  tc_print_line(&x->s, "next[h] = tc_%s_%s(next[h], x);", op, t);
  close_scores(s, outer);
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < %s; ++h)", rows);
  tc_print_line(&x->s, "  TC_UNROLL for (int s = %d; s < %d; s *= 2)", s->l->apart, s->l->threads * s->l->apart);
  tc_print_line(&x->s, "    next[h] = tc_%s_%s(next[h], tc_set_%s(tc_shuffle(0xffffffffu, next[h].l[0], s)));", op, t, t);
  if (!s->factor.id) return;
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < %s; ++h) next[h] = tc_%s_%s(most[h], tc_mul_%s(next[h], v%u));", rows, op, t, t,
                s->factor.id);
}

uint32_t tc_cuda_chain_put_factor(tc_cuda_product *x, const char *const from[2]) {
  const tc_action *a = tc_cuda_chain_rows(x);
  tc_spelling words = tc_cuda_words;
  tc_rule rule;
  words.vector = words.uniform;
  if (!tc_rescale_rule(a->reducer, a->dtype, &rule)) {
    x->s.out->failed = true;
    return 0;
  }
  tc_print_rule(&words, &rule, from, x->s.indent, x->s.out);
  return rule.value[1].id;
}

/* What sums so far are multiplied by, and whether any is. */
static void put_factors(const scores *s) {
  static const char *const from[] = {"most[h]", "next[h]"};
  tc_cuda_product *x = s->x;
  tc_print_line(&x->s, "changed = false;");
  tc_print_line(&x->s,
                "TC_UNROLL for (int h = 0; h < %s; ++h) changed |= next[h].l[0] != most[h].l[0];",
                s->l->rows);
  tc_print_line(&x->s, "changed = tc_chain_any(changed);");
  tc_print_line(&x->s, "TC_UNROLL for (int h = 0; h < %s; ++h) {", s->l->rows);
  x->s.indent += 2;
  tc_print_line(&x->s, "factor[h] = v%u.l[0];", tc_cuda_chain_put_factor(x, from));
  tc_print_line(&x->s, "if (changed) total[h] *= factor[h];");
  tc_print_line(&x->s, "most[h] = next[h];");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* score = A; terms join the total. */
static void put_elements(const scores *s) {
  tc_cuda_product *x = s->x;
  const char *none = s->whole ? "" : "live ? ", *else_none = s->whole ? "" : " : 0";
  if (s->l->shares) tc_cuda_chain_put_words(x);
  uint8_t *outer = open_scores(s);
  if (s->l->shares) tc_cuda_chain_take_uniforms(x, s->whole);
  if (s->a) tc_print_line(&x->s, "const tc_u%s r2 = most[h];", s->type);
  if (s->by_value) {
    tc_print_line(&x->s, "const tc_u%s v%u = tc_set_%s(score[i]);", s->type, s->reduced.id,
                  s->type);
    x->s.printed[s->reduced.id] |= 1;
  } else {
    put_inner_results(s);
  }
  tc_print_value(&x->s, x->mm->a);
  if (tc_mm_has_beside(x->mm)) tc_print_value(&x->s, x->mm->beside.a);
  if (s->a) tc_print_value(&x->s, s->a->term);
  if (s->a) tc_print_line(&x->s, "total[h] += %sv%u.l[0]%s;", none, s->a->term.id, else_none);
  tc_print_line(&x->s, "score[i] = %sv%u.l[0]%s;", none, x->mm->a.id, else_none);
  if (tc_mm_has_beside(x->mm))
    tc_print_line(&x->s, "other[i] = %sv%u.l[0]%s;", none, x->mm->beside.a.id, else_none);
  close_scores(s, outer);
}

static void put_text(tc_cuda_product *x, const tc_cuda_chain_layout *l, const tc_mm_keys *keys,
                     bool whole) {
  scores s = {.x = x,
              .l = l,
              .type = tc_cuda_acc(x),
              .a = tc_cuda_chain_rows(x),
              .keys = *keys,
              .whole = whole};
  const tc_spelling *outer_words = x->s.words;
  tc_spelling words = tc_cuda_words;
  uint8_t *outer = tc_print_enter(&x->s);
  words.op = take_op;
  x->s.words = &words, x->s.self = &s;
  x->s.indent += 2;
  if (s.a) {
    s.reduced = find_counted(&s, s.a->value);
    if (takes_largest(s.a)) find_factor(&s, s.a->value, &s.reduced, &s.factor);
    s.by_value = is_by_value(&s);
    if (s.factor.id) tc_print_value(&x->s, s.factor);
    put_first(&s);
    put_factors(&s);
  }
  put_elements(&s);
  x->s.indent -= 2;
  x->s.words = outer_words, x->s.self = NULL;
  tc_print_leave(&x->s, outer);
}

void tc_cuda_chain_put_scores(tc_cuda_product *x, const tc_cuda_chain_layout *l,
                              const tc_mm_keys *keys) {
  if (l->shares) tc_cuda_chain_put_uniforms(x);
  tc_putf(x->s.out, "%*sif (key0 >= all_first && key1 <= all_end", x->s.indent, "");
  if (l->shares) tc_cuda_chain_put_all_shared(x);
  tc_put(x->s.out, ") {\n");
  put_text(x, l, keys, true);
  tc_print_line(&x->s, "} else {");
  put_text(x, l, keys, false);
  tc_print_line(&x->s, "}");
}
