/* verify.c - the rules of loop.h that hold without running anything; those of memory stand in
 * verify_memory.c. */
#include "lower/verify.h"

static bool computes(tc_dtype d) { return d < TC_DTYPE_COUNT && d != TC_F16 && d != TC_BF16; }

static tc_dtype value_type(const lo_checker *c, tc_val v) { return c->k->expr[v.id].dtype; }

/* v is an operand of expression `user` (or of an action: user = nexpr). */
static void check_operand(lo_checker *c, tc_val v, uint32_t user, const char *what) {
  if (!v.id || v.id >= user) lo_wrong(c, "%s %u of expression %u", what, v.id, user);
}

static void check_address(lo_checker *c, const tc_address *a, uint32_t user) {
  if (tc_dim_bad(a->offset)) lo_wrong(c, "expression %u: offset exceeds 64 bits", user);
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (tc_dim_bad(a->coef[i])) lo_wrong(c, "expression %u: stride exceeds 64 bits", user);
  if (a->nterm < 0 || a->nterm > 2) {
    lo_wrong(c, "expression %u has %d index operands", user, a->nterm);
    return;
  }
  for (int t = 0; t < a->nterm; t++) {
    check_operand(c, a->term[t].value, user, "index operand");
    if (!a->term[t].free && tc_dim_bad(a->term[t].bound))
      lo_wrong(c, "expression %u: bound exceeds 64 bits", user);
    if (c->ok && value_type(c, a->term[t].value) != TC_I64)
      lo_wrong(c, "expression %u: index operand is not i64", user);
  }
}

static void check_buffer(lo_checker *c, uint32_t buffer, uint32_t user) {
  if (buffer >= c->k->nbuffer) lo_wrong(c, "expression %u names buffer %u", user, buffer);
}

static void check_op(lo_checker *c, const tc_expr *e, uint32_t id) {
  const tc_op_info *info = tc_op_get(e->op);
  if (info->cls != TC_CLASS_EW || !info->expr || e->op == OP_CAST) {
    lo_wrong(c, "expression %u: %s has no spelling", id, info->text);
    return;
  }
  int n = 0;
  for (int i = 0; i < 3; i++) n += e->in[i].id != 0;
  if (n < info->min_in || n > info->max_in) lo_wrong(c, "expression %u: %d operands", id, n);
  int first = info->mask & 1; /* the condition is bool */
  for (int i = first + 1; c->ok && i < n; i++)
    if (value_type(c, e->in[i]) != value_type(c, e->in[first]))
      lo_wrong(c, "expression %u: operands of %s differ in type", id, info->text);
}

static void check_expr(lo_checker *c, uint32_t id) {
  const tc_expr *e = &c->k->expr[id];
  if (!computes(e->dtype)) lo_wrong(c, "expression %u has type %s", id, tc_dtype_text(e->dtype));
  for (int i = 0; i < 3; i++)
    if (e->in[i].id) check_operand(c, e->in[i], id, "operand");
  if (e->guard.id) check_operand(c, e->guard, id, "guard");
  switch (e->kind) {
  case TC_EX_LOAD:
    check_buffer(c, e->buffer, id);
    check_address(c, &e->address, id);
    break;
  case TC_EX_INDEX:
  case TC_EX_RANDOM: check_address(c, &e->address, id); break;
  case TC_EX_OP: check_op(c, e, id); break;
  case TC_EX_CAST:
  case TC_EX_ROUND: check_operand(c, e->in[0], id, "operand"); break;
  case TC_EX_NONE: lo_wrong(c, "expression %u is nothing", id); break;
  default: break;
  }
}

/* Accumulator i of a reduction or scan: what joins it, and the result that it is. */
static void check_accumulator(lo_checker *c, const tc_action *a, int i, bool *set) {
  const char *const text = tc_reducer_get(a->reducer)->text;
  const tc_val v = i ? a->further[i - 1] : a->value;
  const uint32_t result = a->index + (uint32_t)i;
  if (result >= c->nresult) lo_wrong(c, "result %u does not exist", result);
  else if (set[result]) lo_wrong(c, "result %u is set twice", result);
  else set[result] = true;
  check_operand(c, v, c->k->nexpr, "value");
  if (c->ok && value_type(c, v) != tc_accumulator_dtype(a->reducer, i, a->dtype))
    lo_wrong(c, "%s of another type", text);
}

static void check_reduction(lo_checker *c, const tc_action *a, bool *set) {
  if (a->reducer <= TC_REDUCE_NONE || a->reducer >= TC_REDUCE_COUNT) {
    lo_wrong(c, "no such reduction");
    return;
  }
  const tc_reducer_info *info = tc_reducer_get(a->reducer);
  for (int i = 0; i < info->n; i++) check_accumulator(c, a, i, set);
  for (int i = info->n; i < TC_MAX_ACCUMULATORS; i++)
    if (a->further[i - 1].id) lo_wrong(c, "%s has %d accumulators", info->text, info->n);
  if (!a->term.id) return;
  check_operand(c, a->term, c->k->nexpr, "term");
  if (a->kind != TC_ACT_REDUCE || !tc_reducer_has_terms(a->reducer))
    lo_wrong(c, "%s has no terms", info->text);
  if (c->ok && value_type(c, a->term) != tc_accumulator_dtype(a->reducer, 1, a->dtype))
    lo_wrong(c, "terms of %s are of another type", info->text);
}

static void check_action(lo_checker *c, const tc_action *a, bool *set) {
  uint32_t end = c->k->nexpr;
  check_operand(c, a->value, end, "value");
  if (a->guard.id) check_operand(c, a->guard, end, "guard");
  if (!c->ok) return;
  if (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) {
    check_buffer(c, a->buffer, end);
    check_address(c, &a->address, end);
    if (!c->ok) return;
    const tc_buffer *b = &c->p->buffer[c->k->buffer[a->buffer]];
    if (b->kind == TC_BUF_INPUT && !b->written) lo_wrong(c, "stores to an input");
    for (int i = c->naxis; i < TC_MAX_AXES; i++)
      if (!tc_dim_is(a->address.coef[i], 0)) lo_wrong(c, "an address uses axis %d", i);
    if (!a->guard.id) lo_check_access(c, a->buffer, &a->address);
    return;
  }
  check_reduction(c, a, set);
  if (a->serves > c->nresult) lo_wrong(c, "serves result %u", a->serves - 1);
}

static void check_known(lo_checker *c, const tc_stage *s) {
  const uint32_t end = c->k->nexpr;
  if (!s->skip_if.id && !s->skip_value.id) return;
  check_operand(c, s->skip_if, end, "condition of a stage");
  check_operand(c, s->skip_value, end, "replacement of a stage");
  if (s->naction != 1 || s->action[0].kind != TC_ACT_REDUCE)
    lo_wrong(c, "a stage that may be skipped acts");
  if (!c->ok) return;
  if (value_type(c, s->skip_if) != TC_BOOL) lo_wrong(c, "the condition of a stage is no bool");
  if (value_type(c, s->skip_value) != s->action[0].dtype)
    lo_wrong(c, "a skipped stage has a value of another type");
}

/* Stores the same things in the same places. */
static void check_alike(lo_checker *c, const tc_stage *s) {
  for (uint32_t i = 0; s->if_skipped && i < s->naction; i++) {
    const tc_action *a = &s->action[i], *b = &s->if_skipped[i];
    check_operand(c, b->value, c->k->nexpr, "value");
    if (!c->ok) return;
    if (a->kind != TC_ACT_STORE || b->kind != TC_ACT_STORE || a->buffer != b->buffer ||
        value_type(c, a->value) != value_type(c, b->value))
      lo_wrong(c, "a stage's actions for a skipped one are others");
  }
}

static void check_axes(lo_checker *c, const tc_axis *axis, int n) {
  for (int i = 0; i < n; i++) {
    if (tc_dim_bad(axis[i].extent)) lo_wrong(c, "axis %d exceeds 64 bits", i);
    if (axis[i].of >= n || axis[i].of == i)
      lo_wrong(c, "axis %d is a part of axis %d", i, axis[i].of);
  }
}

/* Makes it the stage at hand. */
static void check_interval(lo_checker *c, const tc_nest *n, const tc_stage *s) {
  c->stage = s->interval ? s : NULL;
  if (!s->interval) return;
  if (n->vector < n->nparallel || !(s->axes >> n->vector & 1))
    lo_wrong(c, "a stage over an interval does not loop over lanes");
  if (tc_dim_bad(s->first) || tc_dim_bad(s->end))
    lo_wrong(c, "an interval of an axis exceeds 64 bits");
  for (uint32_t a = 0; a < s->naction; a++)
    if (s->action[a].kind != TC_ACT_STORE && s->action[a].kind != TC_ACT_REDUCE)
      lo_wrong(c, "a stage over an interval scans, or adds up in memory");
}

enum { RESULTS = 1024 };

/* All that is done at an outer point. */
static void check_stages(lo_checker *c, const tc_nest *n, const tc_stage *stages, uint32_t nstage) {
  bool set[RESULTS] = {false};
  for (uint32_t s = 0; s < nstage; s++) {
    const tc_stage *stage = &stages[s];
    if (stage->axes >> n->naxis || stage->axes & ((1u << n->nparallel) - 1))
      lo_wrong(c, "a stage loops over a parallel axis");
    check_interval(c, n, stage);
    check_known(c, stage);
    check_alike(c, stage);
    for (uint32_t a = 0; a < stage->naction; a++) {
      check_action(c, &stage->action[a], set);
      if (stage->action[a].kind == TC_ACT_ADD && !n->serial) lo_wrong(c, "adds in a parallel nest");
    }
  }
  for (uint32_t s = 0; c->ok && s < nstage; s++) {
    check_interval(c, n, &stages[s]);
    if (c->ok && c->stage) lo_check_loads(c, &stages[s], 1, (tc_val){0}, (tc_val){0});
  }
  c->stage = NULL;
  if (c->ok) lo_check_loads(c, stages, nstage, (tc_val){0}, (tc_val){0});
}

/* Rows that are not kept are not stored. */
static void check_streamed(lo_checker *c, const tc_nest *n) {
  const tc_stage *stage = n->stage + n->nstage;
  for (uint32_t s = 0; s < n->nstreamed; s++)
    for (uint32_t a = 0; a < stage[s].naction; a++)
      if (stage[s].action[a].kind == TC_ACT_STORE &&
          c->p->buffer[c->k->buffer[stage[s].action[a].buffer]].kind == TC_BUF_LOCAL)
        lo_wrong(c, "a row is kept where rows are not");
  check_stages(c, n, stage, n->nstreamed);
}

static void check_nest(lo_checker *c, const tc_nest *n) {
  c->axis = n->axis;
  c->naxis = c->part = n->naxis;
  c->vector = n->vector;
  c->nresult = n->nresult;
  if (n->naxis > TC_MAX_AXES || n->nparallel > n->naxis || n->vector >= n->naxis)
    lo_wrong(c, "axes of a nest");
  if (n->nresult > RESULTS) lo_wrong(c, "%u results", n->nresult);
  if (!c->ok) return;
  check_axes(c, n->axis, n->naxis);
  check_stages(c, n, n->stage, n->nstage);
  if (c->ok) check_streamed(c, n);
}

/* Parts of an axis multiply to its extent. */
static void check_parts(lo_checker *c, const tc_mm_loop *m) {
  tc_dims *d = tc_graph_dims(c->p->graph);
  for (int i = tc_mm_first_part(m); i < tc_mm_axes(m); i++)
    if (m->axis[i].of < m->nbatch || m->axis[i].of >= m->nbatch + 3)
      lo_wrong(c, "axis %d is a part of axis %d", i, m->axis[i].of);
  for (int i = 0; c->ok && i < m->nbatch + 3; i++) {
    const uint32_t parts = tc_mm_parts(m, i);
    tc_dim points = tc_dim_const(1);
    for (int j = tc_mm_first_part(m); j < tc_mm_axes(m); j++)
      if (parts >> j & 1) points = tc_dim_mul(d, points, m->axis[j].extent);
    if (parts && !tc_dim_known_eq(d, points, m->axis[i].extent))
      lo_wrong(c, "parts of axis %s are of another extent", m->axis[i].name);
  }
}

static void check_factors(lo_checker *c, const tc_mm_loop *m, tc_val a, tc_val b) {
  check_operand(c, a, c->k->nexpr, "operand");
  check_operand(c, b, c->k->nexpr, "operand");
  if (c->ok && (value_type(c, a) != m->acc || value_type(c, b) != m->acc))
    lo_wrong(c, "operands of a matmul differ in type");
}

static void check_stores(lo_checker *c, const tc_stage *s) {
  for (uint32_t a = 0; a < s->naction; a++) {
    check_action(c, &s->action[a], NULL);
    if (s->action[a].kind != TC_ACT_STORE) lo_wrong(c, "an epilogue only stores");
  }
}

static void check_across(lo_checker *c, const tc_mm_loop *m) {
  check_operand(c, m->across.b, c->k->nexpr, "operand");
  if (c->ok && value_type(c, m->across.b) != m->acc)
    lo_wrong(c, "operands of a matmul differ in type");
  if (c->ok) check_stores(c, &m->across.epilogue);
  if (c->ok) lo_check_loads(c, &m->across.epilogue, 1, m->across.b, (tc_val){0});
}

static void check_chain(lo_checker *c, const tc_mm_loop *m) {
  const tc_stage *rows = &m->inner.rows;
  bool set[TC_MM_RESULTS] = {false};
  if (m->npart) lo_wrong(c, "axes of a chain have parts");
  for (int i = 0; i < m->inner.n; i++) check_factors(c, m, m->inner.a[i], m->inner.b[i]);
  if (tc_mm_has_beside(m)) check_factors(c, m, m->beside.a, m->beside.b);
  c->nresult = TC_MM_RESULTS;
  if (c->ok && rows->naction == 1 && rows->action[0].kind == TC_ACT_REDUCE)
    check_action(c, rows->action, set);
  for (uint32_t a = 0; c->ok && a < m->inner.finish.naction; a++)
    check_action(c, &m->inner.finish.action[a], NULL);
  if (c->ok) lo_check_chain(c, m);
  for (int i = 0; c->ok && i < m->inner.n; i++)
    lo_check_loads(c, rows, 1, m->inner.a[i], m->inner.b[i]);
  if (c->ok) lo_check_loads(c, &m->inner.finish, 1, (tc_val){0}, (tc_val){0});
  if (c->ok && tc_mm_has_beside(m))
    lo_check_loads(c, &m->inner.finish, 1, m->beside.a, m->beside.b);
  if (tc_mm_has_across(m)) check_across(c, m);
}

static void check_matmul(lo_checker *c, const tc_mm_loop *m) {
  if (m->nbatch < 0 || m->npart < 0 || tc_mm_axes(m) > TC_MAX_AXES) lo_wrong(c, "axes of a matmul");
  if (!c->ok) return;
  c->axis = m->axis;
  c->naxis = tc_mm_axes(m);
  c->part = tc_mm_first_part(m);
  c->nresult = 0; /* in front of the epilogue */
  check_axes(c, m->axis, c->naxis);
  check_parts(c, m);
  check_factors(c, m, m->a, m->b);
  if (m->inner.n < 0 || m->inner.n > TC_MM_INNERS) lo_wrong(c, "inner products of a matmul");
  if (!tc_mm_is_chain(m) && tc_mm_has_beside(m)) lo_wrong(c, "a second product of no chain");
  if (!tc_mm_is_chain(m) && tc_mm_has_across(m)) lo_wrong(c, "sums along m of no chain");
  if (c->ok && tc_mm_is_chain(m)) check_chain(c, m);
  check_stores(c, &m->epilogue);
  c->nresult = tc_mm_is_chain(m) ? TC_MM_RESULTS : 1;
  if (c->ok) lo_check_loads(c, &m->epilogue, 1, m->a, m->b);
}

static void check_sort(lo_checker *c, const tc_sort_loop *s) {
  tc_dims *d = tc_graph_dims(c->p->graph);
  const tc_dim rows = tc_dim_mul(d, s->outer, s->inner);
  if (c->k->nbuffer != 2) lo_wrong(c, "a sort has two arrays");
  if (!c->ok) return;
  const tc_buffer *to = &c->p->buffer[c->k->buffer[0]], *from = &c->p->buffer[c->k->buffer[1]];
  if (to->dtype != TC_I64 || from->dtype != s->dtype)
    lo_wrong(c, "a sort of %s", tc_dtype_text(s->dtype));
  if (tc_dim_known_le(d, tc_dim_add(d, s->n, tc_dim_const(1)), s->k))
    lo_wrong(c, "a sort gives more than it takes");
  const tc_dim wanted[] = {tc_dim_mul(d, rows, s->k), tc_dim_mul(d, rows, s->n)};
  const bool fits =
      tc_dim_known_eq(d, to->numel, wanted[0]) && tc_dim_known_eq(d, from->numel, wanted[1]);
  if (!fits && !tc_dim_bad(wanted[0]) && !tc_dim_bad(wanted[1]))
    lo_wrong(c, "a sort of arrays of another size");
}

/* Scratch between nests is of a thread that runs all of them. */
static void check_outer_loop(lo_checker *c, const tc_kernel *k) {
  const tc_dims *d = tc_graph_dims(c->p->graph);
  if (k->outer.fused && (k->kind != TC_KERNEL_NESTS || k->outer.sym >= tc_dims_sym_count(d) ||
                         tc_dim_bad(k->outer.extent)))
    lo_wrong(c, "a fused outer loop");
  for (uint32_t i = 0; c->ok && i < k->nbuffer; i++)
    if (c->p->buffer[k->buffer[i]].kind == TC_BUF_PRIVATE && !k->outer.fused)
      lo_wrong(c, "buffer %u is private, and there is no fused outer loop", k->buffer[i]);
  for (uint32_t n = 0; c->ok && k->outer.fused && n < k->nnest; n++)
    if (k->nest[n].serial || k->nest[n].when != TC_ALWAYS)
      lo_wrong(c, "a nest of a fused outer loop is serial, or one of two ways");
}

static void check_kernel(lo_checker *c, const tc_kernel *k) {
  c->k = k;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    if (k->buffer[i] >= c->p->nbuffer) lo_wrong(c, "buffer %u does not exist", k->buffer[i]);
    if (tc_dim_bad(k->base[i])) lo_wrong(c, "argument %u begins outside of 64 bits", i);
  }
  check_outer_loop(c, k);
  for (uint32_t id = 1; id < k->nexpr && c->ok; id++) check_expr(c, id);
  for (uint32_t n = 0; n < k->nnest && c->ok; n++) check_nest(c, &k->nest[n]);
  if (k->kind == TC_KERNEL_MATMUL && c->ok) check_matmul(c, &k->mm);
  if (k->kind == TC_KERNEL_SORT && c->ok) check_sort(c, &k->sort);
  if (c->ok) lo_check_memory(c);
}

bool tc_program_verify(const tc_program *p, char *message, size_t size) {
  lo_checker c = {.p = p, .message = message, .size = size, .ok = true};
  for (uint32_t i = 0; i < p->noutput; i++)
    if (p->output[i] >= p->nbuffer || p->buffer[p->output[i]].kind != TC_BUF_OUTPUT)
      lo_wrong(&c, "result %u has no buffer", i);
  for (uint32_t i = 0; i < p->nbuffer && c.ok; i++) lo_check_buffer(&c, i);
  for (uint32_t i = 0; i < p->nkernel && c.ok; i++) check_kernel(&c, &p->kernel[i]);
  for (uint32_t i = 0; i < p->nkernel && c.ok; i = tc_launch_end(p, i))
    lo_check_siblings(&c, i, tc_launch_end(p, i));
  return c.ok;
}
