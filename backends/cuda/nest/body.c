/* body.c - what one thread of a nest does, as a function template over TC_L, TC_U and tc_int. */
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/print/print_impl.h"

static bool is_one(const tc_print_scope *s, tc_val v) {
  const tc_expr *e = &s->k->expr[v.id];
  return e->kind == TC_EX_CONST && tc_dtype_is_float(e->dtype) && e->f == 1;
}

/* 1 + erf(v), the normal distribution, is one function: its tail does not cancel. */
static bool take_op(const tc_print_scope *s, const tc_expr *e, tc_buf *out) {
  if (tc_print_compute(e->dtype)[0] != 'f' || e->dtype == TC_F64) return false;
  for (int i = 0; e->op == OP_ADD && i < 2; ++i) {
    const tc_expr *erf = &s->k->expr[e->in[i].id];
    if (erf->kind != TC_EX_OP || erf->op != OP_ERF || !is_one(s, e->in[1 - i])) continue;
    tc_putf(out, "tc_erf1p_f32(v%u)", erf->in[0].id);
    return true;
  }
  if (e->op == OP_DIV) tc_putf(out, "tc_div_f32(v%u, v%u)", e->in[0].id, e->in[1].id);
  return e->op == OP_DIV;
}

const tc_spelling tc_cuda_words = {.vector = "tc_v",
                                   .uniform = "tc_u",
                                   .index = "tc_vidx",
                                   .uniform_index = "tc_uidx",
                                   .lanes = "TC_LANES_IDX",
                                   .nan = "TC_NAN",
                                   .inf = "TC_INF",
                                   .size = "z_",
                                   .integer = "tc_int",
                                   .wide = "tc_i64",
                                   .op = take_op};

/* ---- rows in registers, early loads ---------------------------------------------------------- */

static bool is_local(const tc_print_scope *s, uint32_t buffer) {
  return s->p->buffer[s->k->buffer[buffer]].kind == TC_BUF_LOCAL;
}

static bool take_load(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_cuda_nest *x = s->self;
  const uint32_t buffer = s->k->expr[id].buffer;
  if (is_local(s, buffer)) tc_putf(out, x->peeled ? "e%u" : "b%u[u]", buffer);
  else if (tc_cuda_take_tiled_load(x, id, out)) return true;
  else if (x->unaligned && x->plan->form == TC_CUDA_TRANSPOSE)
    return tc_cuda_take_unaligned_load(x, id, out);
  else if (x->early[id] && x->plan->form == TC_CUDA_TRANSPOSE && !x->narrow)
    tc_putf(out, "tc_column<TC_L>(&t%u[near][far], sizeof t%u[0])", id, id);
  else return tc_cuda_take_early(x, id, out);
  return true;
}

static bool take_row_store(tc_print_scope *s, const tc_action *a) {
  const tc_cuda_nest *x = s->self;
  if (!is_local(s, a->buffer)) return tc_cuda_take_tiled_store(s->self, a);
  tc_print_line(s, x->peeled ? "e%u = v%u;" : "b%u[u] = v%u;", a->buffer, a->value.id);
  return true;
}

static void declare_rows(tc_cuda_nest *x) {
  for (uint32_t i = 0; i < x->s.k->nbuffer; ++i) {
    const tc_buffer *b = &x->s.p->buffer[x->s.k->buffer[i]];
    if (b->kind != TC_BUF_LOCAL) continue;
    tc_putf(x->s.out, "%*s%s%s b%u[TC_U];", x->s.indent, "", x->s.vector >= 0 ? "tc_v" : "tc_u",
            tc_print_compute(b->dtype), i);
    tc_print_shape(x->s.p, b, x->s.out);
    if (x->phased) tc_print_line(&x->s, "tc_u%s e%u; /* its peeled element of the thread */", tc_print_compute(b->dtype), i);
  }
}

/* ---- the other forms ------------------------------------------------------------------------- */

/* The elements behind the last whole item, fewer than TC_L. */
static void put_tail(tc_cuda_nest *x) {
  const uint32_t axes = (1u << x->nest->naxis) - 1, counted = x->s.counted;
  const bool dense = x->dense;
  tc_buf points = {0};
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.vector = -1;
  x->s.counted = 0, x->dense = false;
  x->peeled = true;
  tc_cuda_put_count(x, axes, &points);
  tc_print_line(&x->s, "if (TC_L > 1) { /* what is left behind whole items */");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int last = items * TC_L + (tc_int)blockIdx.x * (tc_int)blockDim.x + (tc_int)threadIdx.x;");
  tc_print_line(&x->s, "if (last < %s) {", points.text ? points.text : "0");
  x->s.indent += 2;
  tc_cuda_put_decode(x, axes, "last");
  tc_cuda_put_actions(x, x->nest->stage);
  x->s.vector = x->nest->vector;
  x->s.counted = counted, x->dense = dense;
  x->peeled = false;
  tc_print_leave(&x->s, outer);
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  tc_buf_free(&points);
}

void tc_cuda_put_flat(tc_cuda_nest *x) {
  const tc_cuda_loop w = {
      .st = x->nest->stage,
      .axes = (1u << x->nest->naxis) - 1,
      .first = "(tc_int)blockIdx.x * ((tc_int)blockDim.x * TC_U) + (tc_int)threadIdx.x",
      .step = "(tc_int)blockDim.x",
      .hop = "(tc_int)gridDim.x * ((tc_int)blockDim.x * TC_U)",
      .clamped = true};
  if (!x->nest->nstage) return;
  tc_cuda_put_loop(x, &w);
  if (x->dense || tc_cuda_leaves_tail(x->s.k, x->s.p, x->nest, x->plan)) put_tail(x);
}

/* Loads of stages without axes that wait for no result and that nobody writes: they are issued in
 * front of the stages, not behind the last reduction. */
static void put_single_loads(tc_cuda_nest *x) {
  const tc_kernel *k = x->s.k;
  uint8_t *need = calloc(k->nexpr + 1, 1), *late = calloc(k->nexpr + 1, 1);
  for (uint32_t s = 1; need && s < x->nest->nstage; ++s)
    for (uint32_t i = 0; !x->nest->stage[s].axes && i < x->nest->stage[s].naction; ++i)
      need[x->nest->stage[s].action[i].value.id] = 1;
  if (need && late) tc_mark_operands(k, need);
  else x->s.out->failed = true;
  for (uint32_t i = 1; need && late && i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    late[i] = e->kind == TC_EX_RESULT || late[e->guard.id];
    for (int j = 0; j < 3; ++j) late[i] |= late[e->in[j].id];
    for (int t = 0; t < e->address.nterm; ++t) late[i] |= late[e->address.term[t].value.id];
    if (e->kind != TC_EX_LOAD) continue;
    late[i] |= is_local(&x->s, e->buffer) || tc_kernel_writes(k, e->buffer);
    if (need[i] && !late[i]) tc_print_hoist(&x->s, (tc_val){i}, x->parallel);
  }
  free(need);
  free(late);
}

/* The loop over outer points: point is the group's. */
static void open_points(tc_cuda_nest *x) {
  if (x->tiled) {
    tc_cuda_open_row_tiles(x);
    return;
  }
  tc_print_line(&x->s, "for (tc_int point = (tc_int)blockIdx.x * threads.rows + threads.row; point < points; "
                       "point += (tc_int)gridDim.x * threads.rows) {");
  x->s.indent += 2;
}

static void close_points(tc_cuda_nest *x) {
  if (x->tiled) {
    tc_cuda_close_row_tiles(x);
    return;
  }
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_put_rows(tc_cuda_nest *x) {
  tc_buf count = {0};
  tc_cuda_put_count(x, x->parallel, &count);
  tc_print_line(&x->s, "const tc_rows threads(TC_GROUP ? TC_GROUP : group%s);",
                x->tiled ? ", 0, true, TC_GROUP != 0" : x->in_registers ? ", TC_WARPS ? TC_U : 0" : "");
  tc_print_line(&x->s, "const tc_int points = %s;", count.text);
  tc_cuda_declare_residency(x);
  if (x->plan->cache.n && !x->in_registers) tc_cuda_declare_smem_cache(x);
  if (x->tiled) tc_cuda_put_loads_once(x);
  open_points(x);
  if (x->parallel) tc_cuda_put_decode(x, x->parallel, "point");
  if (x->in_registers) declare_rows(x);
  if (x->in_registers && !x->tiled) tc_cuda_declare_prefetched(x);
  uint8_t *outer = tc_print_enter(&x->s);
  put_single_loads(x);
  tc_cuda_put_stages(x);
  tc_print_leave(&x->s, outer);
  close_points(x);
  tc_buf_free(&count);
}

/* The block covers `width` columns of TC_L points, of `rows` outer points where one thread has a
 * column; threads past an end repeat the first column or the last point, and store nothing. */
void tc_cuda_put_columns(tc_cuda_nest *x) {
  const int v = x->nest->vector;
  const char *i = x->axis_text[v];
  const uint32_t others = x->parallel & ~(1u << v);
  tc_buf count = {0}, e = {0};
  tc_cuda_put_count(x, others, &count);
  tc_print_extent(&x->s, &x->nest->axis[v], &e);
  tc_print_line(&x->s, "const tc_columns threads(group, TC_GROUP == 1);");
  tc_print_line(&x->s, "const tc_int end = %s, tiles = threads.tiles(TC_CEILDIV(end, TC_L));",
                e.text);
  tc_print_line(&x->s, "const tc_int points = %s * tiles;", count.text);
  tc_print_line(&x->s, "tc_int first = (tc_int)blockIdx.x * threads.rows;");
  tc_print_line(&x->s, "do { /* no block is without a point */");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int own = first + threads.row, point = TC_MIN(own, points - 1);");
  tc_print_line(&x->s, "const tc_int at = (point %% tiles * threads.width + threads.x) * TC_L;");
  tc_print_line(&x->s, "const bool live = at < end && own < points;");
  if (x->overlaps) tc_print_line(&x->s, "const tc_int %s = at < end ? TC_MIN(at, end - TC_L) : 0;", i);
  else tc_print_line(&x->s, "const tc_int %s = at < end ? at : 0;", i);
  if (others) {
    tc_print_line(&x->s, "const tc_int other = point / tiles;");
    tc_cuda_put_decode(x, others, "other");
  }
  tc_cuda_put_stages(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} while ((first += (tc_int)gridDim.x * threads.rows) < points);");
  tc_buf_free(&count);
  tc_buf_free(&e);
}

/* ---- the function ---------------------------------------------------------------------------- */

/* Which schedule of the nest is printed. */
static void choose_form(tc_cuda_nest *x, const tc_cuda_text *t, tc_cuda_body_kind kind) {
  x->in_registers = kind == TC_CUDA_IN_REGISTERS || kind == TC_CUDA_ROW_TILES || kind == TC_CUDA_PHASED_IN_REGISTERS;
  x->nest = x->in_registers ? &t->k->nest[t->nest] : &x->streamed;
  x->scan = tc_cuda_has_kind(x->nest, TC_ACT_SCAN);
  x->phased = kind == TC_CUDA_PHASED || kind == TC_CUDA_PHASED_IN_REGISTERS;
  x->unaligned = kind == TC_CUDA_UNALIGNED || x->phased;
  x->narrow = kind == TC_CUDA_NARROW;
  x->tiled = kind == TC_CUDA_ROW_TILES;
  x->dense = kind == TC_CUDA_DENSE;
  const bool apart = tc_cuda_has_aligned_stores(t->schedule) || x->overlaps;
  x->anywhere = x->phased || x->dense ? tc_cuda_has_loads_anywhere(t->schedule)
                                      : apart && (kind == TC_CUDA_PLAIN || kind == TC_CUDA_IN_REGISTERS);
}

static void open_scope(tc_cuda_nest *x, const tc_cuda_text *t, tc_buf *out) {
  const bool stores_anywhere = x->overlaps && x->anywhere;
  x->s = (tc_print_scope){.k = t->k,
                          .p = t->p,
                          .words = &tc_cuda_words,
                          .out = out,
                          .indent = 2,
                          .naxis = x->nest->naxis,
                          .vector = x->nest->vector,
                          .load = take_load,
                          .load_neighbours = x->anywhere || x->phased ? tc_cuda_load_neighbours : NULL,
                          .rows = x->dense ? tc_cuda_take_rows : NULL,
                          .of_rows = "tc_of_rows<TC_L>(left, ",
                          .store_neighbours = stores_anywhere ? "tc_stored_from<TC_L, TC_ANYWHERE>" : NULL,
                          .store = x->in_registers ? take_row_store : NULL,
                          .self = x};
  x->parallel = (1u << x->nest->nparallel) - 1;
  if (x->dense) tc_cuda_open_dense(x);
  for (int i = 0; i < x->nest->naxis; ++i) {
    snprintf(x->axis_text[i], sizeof x->axis_text[i], "i%d", i);
    x->s.axis[i] = x->axis_text[i];
  }
}

/* Facts of each expression of the kernel, and of each of `nresult` results. */
static bool allocate(tc_cuda_nest *x, const tc_kernel *k, uint32_t nresult) {
  x->result_text = calloc(nresult + 1, sizeof *x->result_text);
  x->result = calloc(nresult + 1, sizeof *x->result);
  x->result_axes = calloc(nresult + 1, sizeof *x->result_axes);
  x->s.depends = calloc(k->nexpr + 1, sizeof *x->s.depends);
  x->s.printed = calloc(k->nexpr + 1, 1);
  x->early = calloc(k->nexpr + 1, 1);
  x->prefetched = calloc(k->nexpr + 1, 1);
  x->smem_cache = calloc(k->nexpr + 1, 1);
  x->residency = calloc(k->nexpr + 1, 1);
  x->need = calloc(k->nexpr + 1, 1);
  return x->need && x->result_text && x->result && x->result_axes && x->s.depends && x->s.printed &&
         x->early && x->prefetched && x->smem_cache && x->residency;
}

static void name_results(tc_cuda_nest *x, uint32_t nresult) {
  for (uint32_t i = 0; i < nresult; ++i) {
    snprintf(x->result_text[i], sizeof x->result_text[i], "r%u", i);
    x->result[i] = x->result_text[i];
  }
  tc_print_result_axes(x->nest, x->result_axes);
  x->s.result = x->result;
  x->s.result_axes = x->result_axes;
}

static bool open_nest(tc_cuda_nest *x, const tc_cuda_text *t, tc_cuda_body_kind kind, tc_buf *out) {
  const tc_kernel *k = t->k;
  *x = (tc_cuda_nest){.streamed = tc_nest_streamed(&k->nest[t->nest]),
                      .number = t->nest,
                      .plan = tc_cuda_nest_schedule_of(t->schedule),
                      .stages = k->nest[t->nest].stage,
                      .overlaps = tc_cuda_has_overlap(t->schedule),
                      .unroll = "TC_U"};
  choose_form(x, t, kind);
  open_scope(x, t, out);
  uint32_t nresult = 0; /* expressions of the other nests name results too */
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (k->nest[i].nresult > nresult) nresult = k->nest[i].nresult;
  if (!allocate(x, k, nresult)) return false;
  for (uint32_t i = 0; (kind == TC_CUDA_PLAIN || kind == TC_CUDA_PHASED) && i < x->plan->cache.n; ++i)
    x->smem_cache[x->plan->cache.at[i]] = TC_CUDA_SMEM_FILL;
  if (kind == TC_CUDA_IN_REGISTERS) tc_cuda_mark_residency(x);
  if (x->tiled) tc_cuda_mark(k, x->nest, x->need);
  name_results(x, nresult);
  tc_print_depends(k, x->result_axes, x->s.depends);
  return true;
}

static void close_nest(tc_cuda_nest *x) {
  free(x->result_text);
  free(x->result);
  free(x->result_axes);
  free(x->s.depends);
  free(x->s.printed);
  free(x->early);
  free(x->prefetched);
  free(x->smem_cache);
  free(x->residency);
  free(x->need);
}

bool tc_cuda_put_body(const tc_cuda_text *t, tc_cuda_body_kind kind, tc_buf *out) {
  tc_cuda_nest x;
  tc_buf text = {0};
  bool ok = open_nest(&x, t, kind, &text);
  if (ok) tc_cuda_kinds[x.plan->form].put(&x);
  close_nest(&x);
  ok = ok && !text.failed;
  if (ok) {
    const bool checks = tc_print_checks(x.s.k);
    tc_put(out, "  TC_TYPES\n");
    if (checks) tc_put(out, "  int bad = 0;\n");
    tc_cuda_put_symbols(t->p, text.text ? text.text : "", out);
    tc_put(out, text.text ? text.text : "");
    if (checks) tc_put(out, "  if (bad) *flag = 1;\n");
  }
  tc_buf_free(&text);
  return ok && !out->failed;
}
