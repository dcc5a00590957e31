/* loop_interp.c - see loop_interp.h. */
#include "tests/common/loop_interp.h"

#include "tests/common/interp_impl.h"
#include "runtime/libtcrt/src/eager/philox.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct value {
  double f;
  int64_t i;
} value;

typedef struct loop_memory { /* of one program buffer */
  tc_dtype dtype;
  int64_t count, offset; /* elements; ARENA: bytes */
  double *f;
  int64_t *i;
  uint64_t *writer; /* per element: 0 never written, 1 before the program, else nest and point */
  bool there;       /* KEPT: made for this version */
  uint64_t version;
} memory;

typedef struct last_rule {
  bool there;
  tc_reducer reducer;
  tc_dtype dtype;
  tc_rule rule;
} last_rule;

typedef struct machine {
  loop_run *run;
  const tc_program *p;
  tc_dims *dims;
  int64_t *sym;
  memory *mem;
  uint32_t *owner; /* per byte of the workspace: buffer that wrote it + 1 */
  int64_t workspace;
  bool failed, bad;
  /* the nest at hand */
  const tc_kernel *k;
  int64_t axis[TC_MAX_AXES];
  uint64_t nest, point; /* stamps */
  bool serial;
  value *score; /* of a chain: inner products of the row at hand, of one behind those of the other */
  value *memo, *result;
  uint64_t *memo_at, tick; /* expressions valid at this tick */
  last_rule *last;
} machine;

static void fail(machine *m, const char *format, ...) {
  if (m->failed) return;
  m->failed = true;
  int n = snprintf(m->run->message, sizeof m->run->message, "%s: ", m->k ? m->k->name : "program");
  va_list ap;
  va_start(ap, format);
  vsnprintf(m->run->message + n, sizeof m->run->message - (size_t)n, format, ap);
  va_end(ap);
}

static int64_t size_of(machine *m, tc_dim d) {
  int64_t v = 0;
  if (tc_dim_is_const(d)) return tc_dim_value(d);
  if (tc_dim_bad(d) || !tc_dim_eval(m->dims, d, m->sym, &v)) fail(m, "a size has no value");
  return v;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t stamp(const machine *m) { return m->nest << 32 | m->point; }

static void check_owner(machine *m, uint32_t buffer, int64_t at, bool write) {
  const memory *x = &m->mem[buffer];
  int64_t size = (int64_t)tc_dtype_bytes(m->p->buffer[buffer].dtype);
  int64_t from = x->offset + at * size;
  if (m->p->buffer[buffer].kind != TC_BUF_ARENA) return;
  if (from < 0 || from + size > m->workspace) {
    fail(m, "buffer %u leaves the workspace", buffer);
    return;
  }
  for (int64_t i = from; i < from + size; i++)
    if (write) m->owner[i] = buffer + 1;
    else if (m->owner[i] != buffer + 1) fail(m, "buffer %u was overwritten", buffer);
}

static value load(machine *m, uint32_t buffer, int64_t at) {
  memory *x = &m->mem[buffer];
  if (at < 0 || at >= x->count) {
    fail(m, "load %lld of %lld of buffer %u", (long long)at, (long long)x->count, buffer);
    return (value){0, 0};
  }
  uint64_t w = x->writer[at];
  if (!w) fail(m, "element %lld of buffer %u is read before it is written", (long long)at, buffer);
  if (w >> 32 == m->nest && w != stamp(m) && !m->serial)
    fail(m, "buffer %u is read by another point than wrote it", buffer);
  check_owner(m, buffer, at, false);
  return x->f ? (value){x->f[at], 0} : (value){(double)x->i[at], x->i[at]};
}

static void store(machine *m, uint32_t buffer, int64_t at, value v) {
  memory *x = &m->mem[buffer];
  if (at < 0 || at >= x->count) {
    fail(m, "store %lld of %lld of buffer %u", (long long)at, (long long)x->count, buffer);
    return;
  }
  uint64_t w = x->writer[at];
  if (w >> 32 == m->nest && w != stamp(m) && !m->serial)
    fail(m, "buffer %u is written by two points", buffer);
  x->writer[at] = stamp(m);
  check_owner(m, buffer, at, true);
  if (x->f) x->f[at] = v.f;
  else x->i[at] = x->dtype == TC_BOOL ? v.i != 0 : tc_dtype_wrap(x->dtype, v.i);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static value evaluate(machine *m, tc_val v);

static int64_t locate(machine *m, const tc_address *a) {
  int64_t at = size_of(m, a->offset);
  for (int i = 0; i < TC_MAX_AXES; i++)
    if (!tc_dim_is(a->coef[i], 0)) at += size_of(m, a->coef[i]) * m->axis[i];
  for (int t = 0; t < a->nterm; t++) {
    int64_t x = evaluate(m, a->term[t].value).i;
    if (!a->term[t].free && (x < 0 || x >= size_of(m, a->term[t].bound))) {
      m->bad = true;
      x = 0;
    }
    at += x * size_of(m, a->term[t].stride);
  }
  return at;
}

/* The element of an array that a kernel's address means. */
static int64_t place(machine *m, uint32_t buffer, const tc_address *a) {
  return size_of(m, m->k->base[buffer]) + locate(m, a);
}

static bool is_float(tc_dtype d) { return tc_dtype_is_float(d); }

/* The reference's own definition of the op, on arrays of rank 0. */
static value apply(machine *m, const tc_expr *e) {
  interp_array box[4] = {{0}}, *in[3];
  double f[4] = {0};
  int64_t i[4] = {0};
  tc_node n = {.op = e->op};
  for (int k = 0; k < 4; k++) {
    box[k].count = 1;
    tc_dtype d = k == 3 ? e->dtype : m->k->expr[e->in[k].id].dtype;
    box[k].dtype = d;
    if (k < 3 && e->in[k].id) {
      value x = evaluate(m, e->in[k]);
      f[k] = x.f, i[k] = x.i;
      n.nin++;
    }
    if (is_float(d)) box[k].f = &f[k];
    else box[k].i = &i[k];
    if (k < 3) in[k] = &box[k];
  }
  interp_run dummy = {0};
  interp_node node = {&dummy, m->sym, &n, in, &box[3]};
  if (!interp_elementwise(&node)) fail(m, "no such elementwise op");
  return is_float(e->dtype) ? (value){f[3], 0} : (value){(double)i[3], i[3]};
}

static value convert(tc_dtype to, tc_dtype from, value v) {
  interp_array a = {.dtype = from, .count = 1}, b = {.dtype = to, .count = 1};
  value y = {0, 0};
  if (is_float(from)) a.f = &v.f;
  else a.i = &v.i;
  if (is_float(to)) b.f = &y.f;
  else b.i = &y.i;
  interp_copy(&b, 0, &a, 0);
  if (!is_float(to)) y.f = (double)y.i;
  return y;
}

static value random_number(machine *m, const tc_expr *e) {
  uint64_t seed = (uint64_t)evaluate(m, e->in[0]).i, at = (uint64_t)locate(m, &e->address);
  bool wide = e->storage == TC_F64;
  if (e->op == OP_RANDN)
    return (value){wide ? tc_philox_normal_f64(seed, at) : tc_philox_normal_f32(seed, at), 0};
  if (wide) return (value){tc_philox_uniform_f64(seed, at), 0};
  if (e->storage == TC_F16) return (value){tc_philox_uniform_f16(seed, at), 0};
  if (e->storage == TC_BF16) return (value){tc_philox_uniform_bf16(seed, at), 0};
  return (value){tc_philox_uniform_f32(seed, at), 0};
}

static value compute(machine *m, const tc_expr *e) {
  int64_t i;
  switch (e->kind) {
  case TC_EX_CONST: return is_float(e->dtype) ? (value){e->f, 0} : (value){(double)e->i, e->i};
  case TC_EX_SCALAR: {
    const uint32_t n = tc_graph_scalar_count(m->p->graph);
    if (e->index >= n) return convert(e->dtype, TC_F64, (value){m->p->constant[e->index - n], 0});
    tc_dtype from = tc_graph_scalar_at(m->p->graph, e->index)->dtype;
    tc_value s = m->run->scalar[e->index];
    value v = from == TC_F64 ? (value){s.f, 0} : (value){(double)s.i, s.i};
    return convert(e->dtype, from, v);
  }
  case TC_EX_DIM: i = size_of(m, e->dim); return (value){(double)i, i};
  case TC_EX_INDEX: i = locate(m, &e->address); return (value){(double)i, i};
  case TC_EX_LOAD:
    if (e->guard.id && !evaluate(m, e->guard).i) return (value){0, 0};
    return load(m, m->k->buffer[e->buffer], place(m, e->buffer, &e->address));
  case TC_EX_OP: return apply(m, e);
  case TC_EX_CAST:
    return convert(e->dtype, m->k->expr[e->in[0].id].dtype, evaluate(m, e->in[0]));
  case TC_EX_ROUND: return evaluate(m, e->in[0]);
  case TC_EX_RESULT: return m->result[e->index];
  case TC_EX_RANDOM: return random_number(m, e);
  default: fail(m, "an expression without a kind"); return (value){0, 0};
  }
}

static value evaluate(machine *m, tc_val v) {
  if (!v.id || v.id >= m->k->nexpr) {
    fail(m, "expression %u does not exist", v.id);
    return (value){0, 0};
  }
  if (m->memo_at[v.id] == m->tick || m->failed) return m->memo[v.id];
  value x = compute(m, &m->k->expr[v.id]);
  m->memo[v.id] = x;
  m->memo_at[v.id] = m->tick;
  return x;
}

/* ---- actions --------------------------------------------------------------------------------- */

/* What is kept of the elements so far. */
typedef struct accumulator {
  value keep[TC_MAX_ACCUMULATORS];
  bool any;
} accumulator;

/* Values of f32 are kept in f64, as those of all expressions here are. */
static tc_dtype kept_in(tc_dtype d) { return is_float(d) ? TC_F64 : d; }

static void begin(const tc_action *a, accumulator *acc) {
  const tc_reducer_info *info = tc_reducer_get(a->reducer);
  for (int i = 0; i < info->n; i++) {
    const tc_expr e = tc_accumulator_identity(a->reducer, i, kept_in(a->dtype));
    acc->keep[i] = is_float(e.dtype) ? (value){e.f, 0} : (value){(double)e.i, e.i};
  }
  acc->any = true;
}

/* The table's, of the reduction and what it keeps: the last one is there. */
static const tc_rule *rule_of(machine *m, const tc_action *a) {
  const tc_dtype d = kept_in(a->dtype);
  last_rule *last = m->last;
  if (last->there && last->reducer == a->reducer && last->dtype == d) return &last->rule;
  *last = (last_rule){.reducer = a->reducer, .dtype = d};
  last->there = tc_combine_rule(a->reducer, d, &last->rule);
  if (!last->there) fail(m, "no rule for %s", tc_reducer_get(a->reducer)->text);
  return &last->rule;
}

/* The rule of the table, evaluated on what is kept and what joins it. */
static void accumulate(machine *m, const tc_action *a, accumulator *acc) {
  const tc_reducer_info *info = tc_reducer_get(a->reducer);
  value both[2 * TC_MAX_ACCUMULATORS], memo[TC_RULE_EXPRS];
  uint64_t memo_at[TC_RULE_EXPRS] = {0};
  if (!acc->any) begin(a, acc);
  for (int i = 0; i < info->n; i++) {
    both[i] = acc->keep[i];
    both[info->n + i] = evaluate(m, i ? a->further[i - 1] : a->value);
  }
  const tc_rule *rule = rule_of(m, a);
  if (m->failed) return;
  machine inner = *m;
  inner.k = &rule->kernel, inner.result = both, inner.memo = memo, inner.memo_at = memo_at, inner.tick = 1;
  for (int i = 0; i < info->n; i++) acc->keep[i] = evaluate(&inner, rule->value[i]);
  m->failed |= inner.failed;
}

static void finish(machine *m, const tc_action *a, accumulator *acc) {
  if (!acc->any) begin(a, acc);
  for (int i = 0; i < tc_reducer_get(a->reducer)->n; i++) m->result[a->index + (uint32_t)i] = acc->keep[i];
}

static void perform(machine *m, const tc_action *a, accumulator *acc) {
  if (a->kind == TC_ACT_REDUCE) {
    accumulate(m, a, acc);
  } else if (a->kind == TC_ACT_SCAN) {
    accumulate(m, a, acc);
    finish(m, a, acc);
    m->tick++;
  } else {
    if (a->guard.id && !evaluate(m, a->guard).i) return;
    uint32_t buffer = m->k->buffer[a->buffer];
    value v = evaluate(m, a->value);
    int64_t at = place(m, a->buffer, &a->address);
    if (m->bad) return;
    if (a->kind == TC_ACT_ADD) {
      const value old = load(m, buffer, at);
      v = (value){old.f + v.f, (int64_t)((uint64_t)old.i + (uint64_t)v.i)};
    }
    store(m, buffer, at, v);
  }
}

/* ---- loops ----------------------------------------------------------------------------------- */

static int64_t extent(machine *m, const tc_axis *axis) {
  int64_t n = size_of(m, axis->extent);
  if (axis->of < 0) return n;
  int64_t left = size_of(m, axis->total) - m->axis[axis->of] * n;
  return left < n ? left : n;
}

typedef void body(machine *m, const void *arg);

/* Calls f at each point of the axes in mask, in order. */
static void loop(machine *m, const tc_axis *axis, int n, uint32_t mask, int from, body *f,
                 const void *arg) {
  while (from < n && !(mask >> from & 1)) from++;
  if (m->failed) return;
  if (from == n) {
    m->tick++;
    f(m, arg);
    return;
  }
  int64_t count = extent(m, &axis[from]);
  for (int64_t i = 0; i < count; i++) {
    m->axis[from] = i;
    loop(m, axis, n, mask, from + 1, f, arg);
  }
  m->axis[from] = 0;
}

typedef struct stage_run {
  const tc_nest *nest;
  const tc_stage *stage;
  accumulator *acc;
} stage_run;

/* Is the point in the interval of the vector axis that the stage takes? */
static bool is_in_interval(machine *m, const stage_run *s) {
  const tc_axis *axis = &s->nest->axis[s->nest->vector];
  int64_t at = m->axis[s->nest->vector];
  if (axis->of >= 0) at += m->axis[axis->of] * size_of(m, axis->extent);
  return at >= size_of(m, s->stage->first) && at < size_of(m, s->stage->end);
}

static void stage_point(machine *m, const void *arg) {
  const stage_run *s = arg;
  if (s->stage->interval && !is_in_interval(m, s)) return;
  for (uint32_t a = 0; a < s->stage->naction; a++) perform(m, &s->stage->action[a], &s->acc[a]);
}

static void forget_locals(machine *m) {
  for (uint32_t i = 0; i < m->k->nbuffer; i++) {
    uint32_t b = m->k->buffer[i];
    if (m->p->buffer[b].kind == TC_BUF_LOCAL)
      memset(m->mem[b].writer, 0, (size_t)m->mem[b].count * sizeof *m->mem[b].writer);
  }
}

/* What stands for a stage's result agrees with it, to digits of f32, where it is said to. */
static bool check_known(machine *m, const tc_stage *stage) {
  value *result = &m->result[stage->action[0].index];
  if (!evaluate(m, stage->skip_if).i) return false;
  const value instead = evaluate(m, stage->skip_value);
  if (!(fabs(instead.f - result->f) <= 1e-5 * fabs(result->f) + 1e-30))
    fail(m, "a stage gives %g, known to be %g", result->f, instead.f);
  *result = instead;
  return true;
}

static void outer_point(machine *m, const void *arg) {
  const tc_nest *n = arg;
  bool *known = calloc(n->nresult + 1u, sizeof *known);
  m->point++;
  forget_locals(m);
  for (uint32_t s = 0; s < n->nstage; s++) {
    const tc_stage *stage = &n->stage[s];
    accumulator *acc = calloc(stage->naction + 1u, sizeof *acc);
    tc_stage alike = *stage;
    if (stage->if_skipped && known[stage->skipped]) alike.action = stage->if_skipped;
    stage_run run = {n, &alike, acc};
    loop(m, n->axis, n->naxis, stage->axes, 0, stage_point, &run);
    m->tick++;
    for (uint32_t a = 0; a < stage->naction; a++)
      if (stage->action[a].kind == TC_ACT_REDUCE) finish(m, &stage->action[a], &acc[a]);
    if (stage->skip_if.id) known[stage->action[0].index] = check_known(m, stage);
    m->tick++;
    free(acc);
  }
  free(known);
}

static void run_nest(machine *m, const tc_nest *n) {
  m->nest++;
  m->point = 0;
  m->serial = n->serial;
  m->result = calloc(n->nresult + 1u, sizeof *m->result);
  loop(m, n->axis, n->naxis, (1u << n->nparallel) - 1, 0, outer_point, n);
  free(m->result);
}

/* ---- matmul ---------------------------------------------------------------------------------- */

/* Places the parts of an axis. */
static void place_parts(machine *m, const tc_mm_loop *mm, int axis) {
  for (int i = tc_mm_first_part(mm); i < tc_mm_axes(mm); i++) {
    if (mm->axis[i].of != axis) continue;
    const int64_t inner = size_of(m, tc_mm_inner(tc_graph_dims(m->p->graph), mm, i));
    const int64_t points = size_of(m, mm->axis[i].extent);
    m->axis[i] = inner && points ? m->axis[axis] / inner % points : 0;
  }
}

static void add_product(value *sum, value a, value b) {
  sum->f += a.f * b.f;
  sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)a.i * (uint64_t)b.i);
}

/* Is it the first column of a row?  What a chain has for its row does not depend on columns. */
static bool begins_row(const machine *m, const tc_mm_loop *mm) { return m->axis[mm->nbatch + 1] == 0; }

/* An inner product of a chain at the place along k. */
static value inner_product(machine *m, const tc_mm_loop *mm, int which) {
  value sum = {0, 0};
  const int d = tc_mm_deep(mm, which);
  const int64_t n = extent(m, &mm->axis[d]);
  for (int64_t i = 0; i < n; i++) {
    m->axis[d] = i;
    m->tick++;
    value a = evaluate(m, mm->inner.a[which]), b = evaluate(m, mm->inner.b[which]);
    add_product(&sum, a, b);
  }
  m->axis[d] = 0;
  m->tick++;
  return is_float(mm->acc) ? sum : convert(mm->acc, TC_I64, sum);
}

static void find_scores(machine *m, const tc_mm_loop *mm) {
  const int k = mm->nbatch + 2;
  const int64_t n = extent(m, &mm->axis[k]);
  for (int64_t i = 0; i < n; i++) {
    m->axis[k] = i;
    place_parts(m, mm, k);
    for (int j = 0; j < mm->inner.n; j++) m->score[j * n + i] = inner_product(m, mm, j);
  }
  m->axis[k] = 0;
}

static void place_inner(machine *m, const tc_mm_loop *mm) {
  const int k = mm->nbatch + 2;
  const int64_t n = extent(m, &mm->axis[k]);
  for (int j = 0; j < mm->inner.n; j++) m->result[tc_mm_inner_result(j)] = m->score[j * n + m->axis[k]];
}

/* What the row at hand of a chain is reduced to. */
static void reduce_row(machine *m, const tc_mm_loop *mm) {
  const int k = mm->nbatch + 2;
  accumulator acc = {0};
  begin(mm->inner.rows.action, &acc);
  for (int64_t i = 0, n = extent(m, &mm->axis[k]); i < n; i++) {
    m->axis[k] = i;
    m->tick++;
    place_inner(m, mm);
    accumulate(m, mm->inner.rows.action, &acc);
  }
  m->axis[k] = 0;
  finish(m, mm->inner.rows.action, &acc);
  m->tick++;
  for (uint32_t a = 0; a < mm->inner.finish.naction; a++) perform(m, &mm->inner.finish.action[a], &acc);
}

static void matmul_point(machine *m, const void *arg) {
  const tc_mm_loop *mm = arg;
  place_parts(m, mm, mm->nbatch);
  place_parts(m, mm, mm->nbatch + 1);
  int k = mm->nbatch + 2;
  bool f = is_float(mm->acc);
  value sum = {0, 0}, beside = {0, 0};
  int64_t n = extent(m, &mm->axis[k]);
  m->point++;
  if (tc_mm_is_chain(mm) && begins_row(m, mm)) {
    find_scores(m, mm);
    if (mm->inner.rows.naction) reduce_row(m, mm);
  }
  for (int64_t i = 0; i < n; i++) {
    m->axis[k] = i;
    place_parts(m, mm, k);
    place_inner(m, mm);
    m->tick++;
    value a = evaluate(m, mm->a), b = evaluate(m, mm->b);
    add_product(&sum, a, b);
    if (!tc_mm_has_beside(mm)) continue;
    a = evaluate(m, mm->beside.a), b = evaluate(m, mm->beside.b);
    add_product(&beside, a, b);
  }
  m->axis[k] = 0;
  place_parts(m, mm, k);
  m->tick++;
  if (!f) sum = convert(mm->acc, TC_I64, sum), beside = convert(mm->acc, TC_I64, beside);
  m->result[TC_MM_PRODUCT] = sum, m->result[TC_MM_BESIDE] = beside;
  accumulator none = {0};
  for (uint32_t a = 0; a < mm->epilogue.naction; a++) perform(m, &mm->epilogue.action[a], &none);
}

/* Sums of a chain along m at a place of (batch, n, k): inner products are made again at each. */
static void across_point(machine *m, const void *arg) {
  const tc_mm_loop *mm = arg;
  const int row = mm->nbatch;
  value sum = {0, 0};
  m->point++;
  for (int64_t i = 0, n = extent(m, &mm->axis[row]); i < n; i++) {
    m->axis[row] = i;
    for (int j = 0; j < mm->inner.n; j++) m->result[tc_mm_inner_result(j)] = inner_product(m, mm, j);
    m->tick++;
    value a = evaluate(m, mm->a), b = evaluate(m, mm->across.b);
    add_product(&sum, a, b);
  }
  m->axis[row] = 0;
  m->tick++;
  m->result[TC_MM_ACROSS] = is_float(mm->acc) ? sum : convert(mm->acc, TC_I64, sum);
  accumulator none = {0};
  for (uint32_t a = 0; a < mm->across.epilogue.naction; a++)
    perform(m, &mm->across.epilogue.action[a], &none);
}

static void run_across(machine *m, const tc_mm_loop *mm) {
  const uint32_t rows = 1u << mm->nbatch, all = (rows << 3) - 1;
  m->nest++;
  m->point = 0;
  loop(m, mm->axis, mm->nbatch + 3, all & ~rows, 0, across_point, mm);
}

static void run_matmul(machine *m, const tc_mm_loop *mm) {
  m->nest++;
  m->point = 0;
  m->serial = false;
  m->result = calloc(TC_MM_RESULTS, sizeof *m->result);
  m->score = calloc((size_t)(mm->inner.n * extent(m, &mm->axis[mm->nbatch + 2])) + 1, sizeof *m->score);
  loop(m, mm->axis, mm->nbatch + 2, (1u << (mm->nbatch + 2)) - 1, 0, matmul_point, mm);
  if (tc_mm_has_across(mm)) run_across(m, mm);
  free(m->score);
  free(m->result);
}

/* ---- the program ----------------------------------------------------------------------------- */

static bool is_kept(const machine *m, uint32_t buffer) {
  return m->p->buffer[buffer].kind == TC_BUF_KEPT;
}

static bool has_version(const machine *m, uint32_t buffer) {
  return is_kept(m, buffer) && m->p->buffer[buffer].version != TC_STATE;
}

/* What the last run left, if it is as large. */
static void take_kept(machine *m, uint32_t i) {
  const tc_buffer *b = &m->p->buffer[i];
  memory *x = &m->mem[i], *before = m->run->kept && m->run->kept->n ? &m->run->kept->memory[i] : NULL;
  const bool state = !has_version(m, i);
  if (before && before->count == x->count) {
    memory fresh = *x;
    *x = *before;
    *before = fresh;
  }
  x->there = !state && x->there && x->version == m->run->version[b->version];
  for (int64_t k = 0; k < x->count; k++) x->writer[k] = state || x->there;
}

static void leave_kept(machine *m) {
  loop_kept *kept = m->run->kept;
  if (!kept) return;
  if (!kept->n) *kept = (loop_kept){m->p->nbuffer, calloc(m->p->nbuffer + 1u, sizeof *kept->memory)};
  for (uint32_t i = 0; i < kept->n; i++) {
    if (!is_kept(m, i)) continue;
    memory old = kept->memory[i];
    kept->memory[i] = m->mem[i];
    m->mem[i] = old;
  }
}

static void make_memory(machine *m, uint32_t i) {
  const tc_buffer *b = &m->p->buffer[i];
  memory *x = &m->mem[i];
  x->dtype = b->dtype;
  x->count = size_of(m, b->numel);
  x->offset = b->kind == TC_BUF_ARENA ? size_of(m, b->offset) : 0;
  if (x->offset % 64) fail(m, "buffer %u is not aligned", i);
  size_t n = (size_t)x->count + 1;
  if (is_float(b->dtype)) x->f = calloc(n, sizeof *x->f);
  else x->i = calloc(n, sizeof *x->i);
  x->writer = calloc(n, sizeof *x->writer);
  if (b->kind == TC_BUF_KEPT) take_kept(m, i);
  if (b->kind != TC_BUF_INPUT) return;
  const interp_array *in = m->run->input[b->index];
  if (in->count != x->count) fail(m, "input %u has another size", b->index);
  for (int64_t k = 0; !m->failed && k < x->count; k++) {
    if (x->f) x->f[k] = in->f[k];
    else x->i[k] = in->i[k];
    x->writer[k] = 1;
  }
}

static interp_array *taken(machine *m, const tc_type *t, const memory *x, const interp_array *like) {
  int64_t dim[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++) dim[i] = size_of(m, t->dim[i]);
  interp_array *a = interp_new((tc_dtype)t->dtype, t->rank, dim);
  for (int64_t k = 0; k < a->count; k++) {
    if (x && !x->writer[k] && !m->bad) fail(m, "element %lld of a result is not written", (long long)k);
    if (a->f) a->f[k] = x ? x->f[k] : like->f[k];
    else a->i[k] = x ? x->i[k] : like->i[k];
  }
  return a;
}

static void take_results(machine *m) {
  const tc_program *p = m->p;
  loop_run *r = m->run;
  uint32_t inputs = tc_graph_input_count(p->graph);
  r->output = calloc(p->noutput + 1u, sizeof *r->output);
  r->after = calloc(inputs + 1u, sizeof *r->after);
  for (uint32_t i = 0; i < p->noutput; i++)
    r->output[i] = taken(m, &p->buffer[p->output[i]].type, &m->mem[p->output[i]], NULL);
  for (uint32_t i = 0; i < inputs; i++) {
    const memory *x = NULL;
    for (uint32_t b = 0; b < p->nbuffer; b++)
      if (p->buffer[b].kind == TC_BUF_INPUT && p->buffer[b].index == i) x = &m->mem[b];
    r->after[i] = taken(m, &tc_graph_input_at(p->graph, i)->type, x, r->input[i]);
  }
}

static void bind_symbols(machine *m) {
  uint32_t count = tc_dims_sym_count(m->dims);
  m->sym = calloc(count + 1u, sizeof *m->sym);
  for (uint32_t s = 0; s < count; s++) {
    const tc_sym *y = tc_dims_sym(m->dims, s);
    if (y->input >= 0 && y->axis >= 0) m->sym[s] = m->run->input[y->input]->dim[y->axis];
    else if (y->input >= 0) m->sym[s] = m->run->scalar[y->input].i;
  }
}

/* Does the kernel make what is there already?  Else it will be, afterwards. */
static bool is_there(machine *m, const tc_kernel *k) {
  bool there = false;
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < k->nest[n].nstage; s++)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; a++) {
        const tc_action *action = &k->nest[n].stage[s].action[a];
        const uint32_t b = action->kind == TC_ACT_STORE ? k->buffer[action->buffer] : 0;
        if (action->kind != TC_ACT_STORE || !has_version(m, b)) continue;
        there |= m->mem[b].there;
        m->mem[b].version = m->run->version[m->p->buffer[b].version];
      }
  return there;
}

static void note_kept(machine *m) {
  for (uint32_t i = 0; i < m->p->nbuffer; i++) m->mem[i].there = has_version(m, i);
}

/* Is a before b?  NaN is above all others. */
static bool precedes(const tc_sort_loop *s, value a, value b) {
  const bool nans = isnan(a.f) != isnan(b.f);
  if (!tc_dtype_is_float(s->dtype)) return s->descending ? a.i > b.i : a.i < b.i;
  if (nans) return isnan(s->descending ? a.f : b.f);
  return s->descending ? a.f > b.f : a.f < b.f;
}

/* Each element has its place: so many are before it, or equal and in front of it. */
static void run_sort(machine *m, const tc_sort_loop *s) {
  const int64_t outer = size_of(m, s->outer), n = size_of(m, s->n), inner = size_of(m, s->inner), k = size_of(m, s->k);
  m->nest++;
  for (int64_t row = 0; row < outer * inner; row++) {
    const int64_t from = row / inner * n * inner + row % inner, to = row / inner * k * inner + row % inner;
    for (int64_t i = 0; i < n; i++) {
      const value own = load(m, m->k->buffer[1], from + i * inner);
      int64_t rank = 0;
      for (int64_t j = 0; j < n; j++) {
        const value other = load(m, m->k->buffer[1], from + j * inner);
        rank += precedes(s, other, own) || (j < i && !precedes(s, own, other));
      }
      if (rank < k) store(m, m->k->buffer[0], to + rank * inner, (value){(double)i, i});
    }
  }
}

static void forget_private(machine *m) {
  for (uint32_t i = 0; i < m->k->nbuffer; i++) {
    const uint32_t b = m->k->buffer[i];
    if (m->p->buffer[b].kind == TC_BUF_PRIVATE) memset(m->mem[b].writer, 0, (size_t)m->mem[b].count * sizeof *m->mem[b].writer);
  }
}

static void run_nests(machine *m, const tc_kernel *k) {
  const int64_t points = k->outer.fused ? size_of(m, k->outer.extent) : 1;
  for (int64_t i = 0; i < points && !m->failed; i++) {
    if (k->outer.fused) m->sym[k->outer.sym] = i;
    m->tick++;
    forget_private(m);
    for (uint32_t n = 0; n < k->nnest && !m->failed; n++) run_nest(m, &k->nest[n]);
  }
}

static void run_kernel(machine *m, const tc_kernel *k) {
  m->k = k;
  for (uint32_t i = 0; i < k->nsize; i++) m->sym[k->size[i].sym] = size_of(m, k->size[i].value);
  if (is_there(m, k)) return;
  m->memo = calloc(k->nexpr + 1u, sizeof *m->memo);
  m->memo_at = calloc(k->nexpr + 1u, sizeof *m->memo_at);
  if (k->kind == TC_KERNEL_MATMUL) run_matmul(m, &k->mm);
  if (k->kind == TC_KERNEL_SORT) run_sort(m, &k->sort);
  run_nests(m, k);
  free(m->memo);
  free(m->memo_at);
}

/* Siblings in the reverse of their order, for none may wait for another. */
static void run_launch(machine *m, uint32_t first, uint32_t end) {
  for (uint32_t i = end; i-- > first && !m->failed && !m->bad;) run_kernel(m, &m->p->kernel[i]);
}

bool loop_program(loop_run *run) {
  const tc_program *p = run->p;
  machine m = {.run = run, .p = p, .dims = tc_graph_dims(p->graph), .nest = 1, .last = calloc(1, sizeof(last_rule))};
  bind_symbols(&m);
  m.mem = calloc(p->nbuffer + 1u, sizeof *m.mem);
  m.workspace = size_of(&m, p->workspace);
  m.owner = calloc((size_t)m.workspace + 1, sizeof *m.owner);
  for (uint32_t i = 0; i < p->nbuffer; i++) make_memory(&m, i);
  for (uint32_t i = 0; i < p->nkernel && !m.failed && !m.bad; i = tc_launch_end(p, i))
    run_launch(&m, i, tc_launch_end(p, i));
  run->bad_index = m.bad;
  if (!m.failed) take_results(&m);
  note_kept(&m);
  leave_kept(&m);
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    free(m.mem[i].f);
    free(m.mem[i].i);
    free(m.mem[i].writer);
  }
  free(m.last);
  free(m.mem);
  free(m.owner);
  free(m.sym);
  return !m.failed;
}

void loop_kept_free(loop_kept *kept) {
  for (uint32_t i = 0; i < kept->n; i++) {
    free(kept->memory[i].f);
    free(kept->memory[i].i);
    free(kept->memory[i].writer);
  }
  free(kept->memory);
}

void loop_run_free(loop_run *run) {
  for (uint32_t i = 0; run->output && i < run->p->noutput; i++) interp_free(run->output[i]);
  for (uint32_t i = 0; run->after && i < tc_graph_input_count(run->p->graph); i++)
    interp_free(run->after[i]);
  free(run->output);
  free(run->after);
}
