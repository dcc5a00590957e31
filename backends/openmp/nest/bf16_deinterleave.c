/* bf16_deinterleave.c - bf16 rows as vectors of even and of odd elements.
 *
 * Two neighbouring vectors of bf16 are loaded as one vector of 32-bit words: a shift gives the even
 * elements as f32, a mask the odd ones.  That is one instruction each, where widening half a vector
 * takes two.  In a stage whose lanes only meet bf16 rows it does not matter which element is in which
 * lane: the unrolled vectors u = 0, 2, .. have the even elements of two vectors, u = 1, 3, .. the odd
 * ones, and a store interleaves the two. */
#include "backends/openmp/nest/nest.h"

static bool is_bf16(const tc_print_scope *s, uint32_t buffer) {
  return s->p->buffer[s->k->buffer[buffer]].dtype == TC_BF16;
}

static bool varies(const tc_print_scope *s, uint32_t id) { return s->depends[id] >> s->vector & 1; }

static bool in_order(const tc_print_scope *s, const tc_address *a) {
  return !a->nterm && tc_dim_is(a->coef[s->vector], 1);
}

/* Is expression id, and all it needs along the lanes, made of bf16 rows?  *rows: some are. */
static bool of_rows(const tc_print_scope *s, uint32_t id, bool *rows) {
  const tc_expr *e = &s->k->expr[id];
  if (!id || !varies(s, id)) return true;
  switch (e->kind) {
  case TC_EX_LOAD:
    *rows = true;
    return is_bf16(s, e->buffer) && !e->guard.id && in_order(s, &e->address);
  case TC_EX_OP:
  case TC_EX_CAST:
  case TC_EX_ROUND:
    for (int i = 0; i < 3; ++i)
      if (!of_rows(s, e->in[i].id, rows)) return false;
    return true;
  default:
    return false;
  }
}

bool tc_omp_can_deinterleave(const tc_omp_nest *x, const tc_stage *st) {
  const tc_print_scope *s = &x->s;
  bool rows = false;
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_STORE) return false;
    if (a->further[0].id || a->guard.id || !of_rows(s, a->value.id, &rows)) return false;
    if (a->kind == TC_ACT_STORE && (!is_bf16(s, a->buffer) || !in_order(s, &a->address)))
      return false;
  }
  return rows;
}

static bool load(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_expr *e = &s->k->expr[id];
  if (!varies(s, id)) return false;
  tc_buf at = {0};
  tc_print_address(s, &e->address, &at);
  tc_putf(out, "tc_loadevenodd_bf16(b%u + (%s), u & 1)", e->buffer, at.text ? at.text : "0");
  tc_buf_free(&at);
  return true;
}

/* The load of deinterleaved elements whose squares are summed for a shortcut (tc_action.helps), which may
 * take the smallest of them as 0; or NULL. */
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
  for (uint32_t i = 0; a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_SUM && i < st->naction; ++i)
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
  const tc_buffer *buffer = &s->p->buffer[s->k->buffer[a->buffer]];
  tc_buf at = {0};
  tc_print_address(s, &a->address, &at);
  const tc_omp_nest *x = s->self;
  const char *p = x->jam_points ? "[p]" : "";
  tc_print_line(s, "if (u & 1)");
  tc_print_line(s, "  tc_storeevenodd_bf16(b%u + (%s) - TC_L, even%u%s, v%u, %s);", a->buffer,
                at.text ? at.text : "0", a->value.id, p, a->value.id,
                s->nontemporal && buffer->kind == TC_BUF_OUTPUT ? s->nontemporal : "0");
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
    else tc_print_line(&x->s, "tc_vf32 even%u[%d];", st->action[i].value.id, TC_OMP_JAM_POINTS);
  }
  x->s.load = load;
  x->s.store = store;
  x->s.self = x;
}

void tc_omp_end_deinterleave(tc_omp_nest *x) {
  x->s.load = NULL;
  x->s.store = NULL;
}
