/* bf16_deinterleave.c - vectors of the even and of the odd elements of bf16 rows
 * (schedule/deinterleave.c): the unrolled vectors u = 0, 2, .. have the even elements of two
 * vectors, u = 1, 3, .. the odd ones, and a store interleaves the two. */
#include "backends/openmp/nest/nest.h"

static bool varies(const tc_print_scope *s, uint32_t id) { return s->depends[id] >> s->vector & 1; }

static bool load(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_expr *e = &s->k->expr[id];
  if (!varies(s, id)) return false;
  tc_put(out, "tc_loadevenodd_bf16(");
  if (!tc_omp_put_packed(s, id, out)) {
    tc_putf(out, "b%u + (", e->buffer);
    tc_print_address(s, &e->address, out);
    tc_put(out, ")");
  }
  tc_put(out, ", u & 1)");
  return true;
}

/* The load of deinterleaved elements whose squares are summed for a shortcut (tc_action.helps),
 * which may take the smallest of them as 0; or NULL. */
static const tc_expr *squares(const tc_print_scope *s, const tc_action *a) {
  const tc_expr *e = &s->k->expr[a->value.id];
  const bool deinterleaved = s->load == load && a->kind == TC_ACT_REDUCE && a->serves;
  if (!deinterleaved || e->kind != TC_EX_OP || e->op != OP_SQUARE) return NULL;
  const tc_expr *x = &s->k->expr[e->in[0].id];
  return x->kind == TC_EX_LOAD ? x : NULL;
}

/* The load whose elements are summed in the stage that also sums their squares; or NULL. */
static const tc_expr *elements(const tc_print_scope *s, const tc_stage *st, const tc_action *a) {
  const tc_expr *e = &s->k->expr[a->value.id];
  for (uint32_t i = 0; a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_SUM && i < st->naction;
       ++i)
    if (squares(s, &st->action[i]) == e) return e;
  return NULL;
}

bool tc_omp_is_deinterleaved_sum(const tc_omp_nest *x, const tc_stage *st, const tc_action *a) {
  return squares(&x->s, a) || elements(&x->s, st, a);
}

void tc_omp_put_deinterleaved_sum(tc_omp_nest *x, const tc_action *a, const char *u) {
  const tc_expr *square = squares(&x->s, a), *e = square ? square : &x->s.k->expr[a->value.id];
  tc_buf at = {0};
  tc_print_address(&x->s, &e->address, &at);
  tc_print_line(&x->s, "acc%u[%s] = tc_add%s_bf16(acc%u[%s], b%u + (%s), u & 1);", a->index, u,
                square ? "squares" : "elements", a->index, u, e->buffer, at.text ? at.text : "0");
  tc_buf_free(&at);
}

static bool store(tc_print_scope *s, const tc_action *a) {
  tc_buf at = {0};
  tc_print_address(s, &a->address, &at);
  const tc_omp_nest *x = s->self;
  const char *p = x->jam_points ? "[p]" : "";
  tc_print_line(s, "if (u & 1)");
  tc_print_line(s, "  tc_storeevenodd_bf16(b%u + (%s) - TC_L, even%u%s, v%u, %s);", a->buffer,
                at.text ? at.text : "0", a->value.id, p, a->value.id,
                tc_omp_nontemporal_flag(x, a->buffer));
  tc_print_line(s, "else even%u%s = v%u;", a->value.id, p, a->value.id);
  tc_buf_free(&at);
  return true;
}

void tc_omp_begin_deinterleave(tc_omp_nest *x, const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i) {
    bool again = st->action[i].kind != TC_ACT_STORE;
    for (uint32_t j = 0; j < i; ++j)
      again |=
          st->action[j].kind == TC_ACT_STORE && st->action[j].value.id == st->action[i].value.id;
    if (again) continue;
    if (!x->jam_points) tc_print_line(&x->s, "tc_vf32 even%u;", st->action[i].value.id);
    else tc_print_line(&x->s, "tc_vf32 even%u[%d];", st->action[i].value.id, TC_OMP_PAIR);
  }
  x->loads = x->s.load;
  x->s.load = load;
  x->s.store = store;
  x->s.self = x;
}

void tc_omp_end_deinterleave(tc_omp_nest *x) {
  x->s.load = x->loads;
  x->s.store = NULL;
}
