/* nest.c - the loops of a kernel: one parallel region, its nests with a barrier between them, outer
 * points as tasks that static scheduling shares out.  Tasks are cut by sizes alone, so results do
 * not depend on the number of threads. */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tc_buffer *tc_omp_buffer(const tc_omp_nest *x, uint32_t buffer) {
  return &x->s.p->buffer[x->s.k->buffer[buffer]];
}

void tc_omp_mark_stage(const tc_omp_nest *x, const tc_stage *st, uint8_t *need) {
  for (uint32_t i = 0; i < st->naction; ++i) tc_mark_action(&st->action[i], need);
  tc_mark_operands(x->s.k, need);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Tasks of a nest: product of the outer extents, the vectorised one in tiles. */
typedef struct tasks {
  tc_buf count;
  int tile;
} tasks;

static tasks count_tasks(const tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  tasks t = {{0}, n->naxis > n->nparallel ? TC_OMP_STRIP : TC_OMP_TILE};
  for (int i = 0; i < n->nparallel; ++i) {
    if (t.count.len) tc_put(&t.count, " * ");
    tc_buf e = {0};
    tc_print_dim(x->s.p, n->axis[i].extent, &e);
    if (x->lanes_are_points && i == n->vector)
      tc_putf(&t.count, "TC_CEILDIV(%s, %d)", e.text, t.tile);
    else tc_putf(&t.count, "(%s)", e.text);
    tc_buf_free(&e);
  }
  if (!t.count.len) tc_put(&t.count, "1");
  return t;
}

/* i<a> of every parallel axis from the task number t, last axis fastest; of the vectorised axis the
 * tile number. */
static void put_decode(tc_omp_nest *x, int tile) {
  const tc_nest *n = x->nest;
  if (n->nparallel > 1) tc_print_line(&x->s, "int64_t rest = task;");
  for (int i = n->nparallel - 1; i >= 0; --i) {
    const bool tiled = x->lanes_are_points && i == n->vector;
    tc_buf e = {0};
    tc_print_dim(x->s.p, n->axis[i].extent, &e);
    char range[16] = "";
    snprintf(range, sizeof range, "%d", tile);
    const char *name = tiled ? "tile" : x->axis_text[i];
    if (n->nparallel == 1) tc_print_line(&x->s, "const int64_t %s = task;", name);
    else if (i == 0) tc_print_line(&x->s, "const int64_t %s = rest;", name);
    else if (tiled) {
      tc_print_line(&x->s, "const int64_t %s = rest %% TC_CEILDIV(%s, %s);", name, e.text, range);
      tc_print_line(&x->s, "rest /= TC_CEILDIV(%s, %s);", e.text, range);
    } else {
      tc_print_line(&x->s, "const int64_t %s = rest %% (%s); /* < %s */", name, e.text, e.text);
      tc_print_line(&x->s, "rest /= %s;", e.text);
    }
    tc_buf_free(&e);
  }
}

static void put_split_guards(tc_omp_nest *x) {
  for (int i = 0; i < x->nest->nparallel; ++i) {
    if (x->nest->axis[i].of < 0 || (x->lanes_are_points && i == x->nest->vector)) continue;
    tc_buf e = {0};
    tc_print_extent(&x->s, &x->nest->axis[i], &e);
    tc_print_line(&x->s, "if (%s >= %s) continue;", x->axis_text[i], e.text);
    tc_buf_free(&e);
  }
}

/* Values that only parallel axes other than the vector axis decide, in front of its loop. */
static void hoist_parallel(tc_omp_nest *x) {
  const uint32_t mask = x->parallel & ~(1u << x->nest->vector);
  for (uint32_t i = 0; i < x->nest->nstage; ++i) tc_omp_hoist(x, &x->nest->stage[i], mask);
}

/* Does the nest do this along its sequential axes, and nothing else, with few operations? */
static bool only(const tc_omp_nest *x, tc_act_kind kind) {
  const tc_nest *n = x->nest;
  bool found = false;
  int ops = 0;
  if (n->naxis == n->nparallel || n->serial) return false;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == kind) found = true;
      else if (a->kind != TC_ACT_STORE || (n->stage[i].axes && kind != TC_ACT_SCAN)) return false;
    }
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) ops += x->s.k->expr[id].kind == TC_EX_OP;
  return found && ops <= TC_OMP_LIGHT;
}

static bool only_reduces(const tc_omp_nest *x) { return only(x, TC_ACT_REDUCE); }

/* May vectors of neighbouring columns be jammed?  One vector takes one cache line of each row, and the
 * next row is far away: several take whole runs of lines. */
static bool can_jam_vectors(const tc_omp_nest *x) {
  if (!only_reduces(x) && !only(x, TC_ACT_SCAN)) return false;
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  bool ok = need;
  for (uint32_t i = 0; ok && i < x->nest->nstage; ++i)
    tc_omp_mark_stage(x, &x->nest->stage[i], need);
  for (uint32_t id = 1; ok && id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    const tc_dim step = e->address.coef[x->nest->vector];
    ok = !need[id] || e->kind != TC_EX_LOAD || tc_dim_is(step, 0) || tc_dim_is(step, 1);
  }
  free(need);
  return ok;
}

/* What a loop over points does, and its end. */
static void put_body(tc_omp_nest *x) {
  x->s.indent += 2;
  tc_omp_point(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* A scan's result lives at its point. */
static void name_results(tc_omp_nest *x) {
  const bool scans = only(x, TC_ACT_SCAN);
  const char *format = x->jammed && !scans ? "r%u[u]" : x->grouped ? "r%u[q]" : "r%u";
  for (uint32_t i = 0; i < x->nest->nresult; ++i) {
    snprintf(x->result_text[i], sizeof x->result_text[i], format, i);
    x->result[i] = x->result_text[i];
  }
}

/* Registers that the accumulators of one vector of columns take, a power of two. */
static int accumulators(const tc_omp_nest *x) {
  int n = 0, power = 1;
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    for (uint32_t j = 0; j < x->nest->stage[i].naction; ++j) {
      const tc_action *a = &x->nest->stage[i].action[j];
      if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_SCAN) continue;
      const bool twice = tc_dtype_bytes(a->dtype) > 4 ||
                         (a->kind == TC_ACT_SCAN && tc_print_sums_in_f64(a)) || tc_print_is_tuple(a);
      n += twice ? 2 : 1;
    }
  while (power < n) power *= 2;
  return power;
}

/* The loop over jammed vectors of columns: as many as there are registers for, then a quarter of them. */
static void put_jammed_vectors(tc_omp_nest *x) {
  const char *i = x->axis_text[x->nest->vector];
  const int registers = accumulators(x);
  x->jammed = true;
  name_results(x);
  for (int fewer = 1; fewer <= 4; fewer *= 4) {
    tc_print_line(&x->s, "{");
    x->s.indent += 2;
    tc_print_line(&x->s, "enum { jam = TC_MAX(1, TC_COLUMNS / %d) };", registers * fewer);
    tc_print_line(&x->s, "for (; %s + jam * TC_L <= end; %s += jam * TC_L) {", i, i);
    put_body(x);
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  x->jammed = false;
  name_results(x);
}

/* One tile of a vectorised parallel axis: full vectors, then what is left. */
static void put_tile(tc_omp_nest *x, int tile) {
  const int v = x->nest->vector;
  const char *i = x->axis_text[v];
  char start[32];
  tc_buf e = {0};
  snprintf(start, sizeof start, "tile * %d", tile);
  tc_print_extent(&x->s, &x->nest->axis[v], &e);
  tc_print_line(&x->s, "const int64_t end = TC_MIN(%s + %d, %s);", start, tile, e.text);
  tc_print_line(&x->s, "int64_t %s = %s;", i, start);
  tc_buf_free(&e);
  uint8_t *outer = tc_print_enter(&x->s);
  if (can_jam_vectors(x)) put_jammed_vectors(x);
  if (x->nest->nstage == 1) hoist_parallel(x);
  const bool peeled = x->nest->nstage == 1 && x->nest->naxis == x->nest->nparallel &&
                      tc_omp_begin_peeled(x, x->nest->stage, start, "end");
  if (peeled) tc_print_line(&x->s, "if (%s >= head)", i);
  tc_print_line(&x->s, "for (; %s + TC_L <= end; %s += TC_L) {", i, i);
  put_body(x);
  tc_dims *c = tc_graph_dims(x->s.p->graph);
  const tc_axis *a = &x->nest->axis[v];
  const bool exact =
      a->of < 0 && !tc_dim_is(a->extent, 0) && tc_dim_multiple(c, a->extent) % 16 == 0;
  if (peeled || !exact) {
    tc_omp_begin_tail(x, peeled, i, "end");
    tc_omp_point(x);
    tc_omp_end_tail(x, peeled, i);
  }
  tc_print_leave(&x->s, outer);
}

/* The loop over the tasks of this thread; without a team: over all of them. */
static void put_task_loop(tc_omp_nest *x, bool team, const char *step) {
  if (!team) tc_print_line(&x->s, "for (int64_t task = 0, last = tasks; task < last; %s) {", step);
  else
    tc_print_line(&x->s,
                  "for (int64_t task = tc_share(tasks, part, parts), "
                  "last = tc_share(tasks, part + 1, parts); task < last; %s) {",
                  step);
}

/* ---- jammed rows ----------------------------------------------------------------------------- */

/* Are rows reduced together with loads that all rows share, such as the vector that a matrix is
 * multiplied by?  Jammed rows load it once. */
static bool can_jam_rows(const tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  if (n->nparallel != 1 || n->naxis != 2 || n->vector != 1 || x->grouped || !only_reduces(x))
    return false;
  if (n->axis[0].of >= 0 || n->axis[1].of >= 0) return false;
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  for (uint32_t i = 0; need && i < n->nstage; ++i)
    if (n->stage[i].axes && !tc_omp_can_deinterleave(x, &n->stage[i]))
      tc_omp_mark_stage(x, &n->stage[i], need);
  const bool shares = need && tc_omp_shares_loads(x, need, false);
  free(need);
  return shares;
}

/* Tasks are runs of rows, so that which rows are jammed does not depend on threads. */
static void put_jammed_rows(tc_omp_nest *x, bool team) {
  const char *i = x->axis_text[0];
  tc_buf rows = {0};
  tc_print_dim(x->s.p, x->nest->axis[0].extent, &rows);
  tc_print_line(&x->s, "enum { jam = %d };", TC_OMP_JAM_ROWS);
  tc_print_line(&x->s, "const int64_t tasks = TC_CEILDIV(%s, jam);", rows.text);
  put_task_loop(x, team, "++task");
  x->s.indent += 2;
  tc_print_line(&x->s, "int64_t %s = task * jam;", i);
  tc_print_line(&x->s, "if (%s + jam <= %s) {", i, rows.text);
  x->s.indent += 2;
  x->jammed = x->jam_rows = true;
  name_results(x);
  tc_omp_point(x);
  x->jammed = x->jam_rows = false;
  name_results(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else for (; %s < %s; ++%s) {", i, rows.text, i);
  put_body(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&rows);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Between two stages of a row lie a reduction across the lanes and what is computed of its result:
 * a chain of some hundred cycles in which a short row leaves the machine nothing else to do.  Rows
 * that go through the stages together fill it.  A nest with LOCAL rows has one for each thread. */
static bool can_group(const tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  if (n->nparallel != 1 || n->axis[0].of >= 0 || n->serial || x->lanes_are_points) return false;
  for (uint32_t i = 0; i < x->s.k->nbuffer; ++i)
    if (tc_omp_buffer(x, i)->kind == TC_BUF_LOCAL) return false;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j)
      if (n->stage[i].action[j].kind == TC_ACT_SCAN) return false;
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id)
    if (x->prefetch_stage[id]) return true;
  return false;
}

/* Groups of rows, jammed at run time where that pays: where the rows are in a cache, and their distance
 * is not near a multiple of a page, at which loads of one row would wait for stores of the other. */
static void put_groups(tc_omp_nest *x, bool team) {
  tc_buf bytes = {0};
  tc_omp_row_bytes(x, &bytes);
  tc_print_line(&x->s, "const int64_t bytes = TC_MAX(1, %s);", bytes.text);
  if (x->can_jam_points)
    tc_print_line(&x->s, "const int jammed = %s(bytes + %d) %% %d >= TC_MIN(bytes, %d);",
                  x->s.nontemporal ? "!nontemporal && " : "", TC_OMP_NEAR, TC_OMP_PAGE,
                  2 * TC_OMP_NEAR);
  tc_print_line(&x->s, "const int64_t fit = TC_GROUP_BYTES%s / bytes;",
                x->can_jam_points ? " * (1 + jammed)" : "");
  tc_print_line(&x->s, "const int64_t group = TC_MAX(1, TC_MIN(%d, fit));", TC_OMP_GROUP);
  put_task_loop(x, team, "task += group");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t count = TC_MIN(group, last - task);");
  tc_omp_group(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&bytes);
}

/* The last stage is left to the next point where its stores are nontemporal, but for the last task. */
static void put_pipelined(tc_omp_nest *x) {
  tc_omp_put_front_stages(x);
  tc_print_line(&x->s, "if (nontemporal && task + 1 < last) {");
  x->s.indent += 2;
  tc_omp_carry_pipeline(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  tc_omp_put_last_stage(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* Each thread takes one run of tasks.  Written out: a worksharing construct costs a call of the
 * OpenMP runtime even where one thread does it all. */
static void put_tasks(tc_omp_nest *x, bool team) {
  if (!x->nest->serial && can_jam_rows(x)) {
    put_jammed_rows(x, team);
    return;
  }
  tasks t = count_tasks(x);
  tc_print_line(&x->s, "const int64_t tasks = %s;", t.count.text);
  if (x->grouped) {
    put_groups(x, team);
    tc_buf_free(&t.count);
    return;
  }
  if (x->pipeline_stage >= 0) tc_omp_declare_pipeline(x);
  if (team && x->nest->serial)
    tc_print_line(&x->s, "for (int64_t task = 0; part == 0 && task < tasks; ++task) {");
  else put_task_loop(x, team, "++task");
  x->s.indent += 2;
  put_decode(x, t.tile);
  put_split_guards(x);
  if (x->lanes_are_points) put_tile(x, t.tile);
  else if (x->pipeline_stage >= 0) put_pipelined(x);
  else tc_omp_point(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&t.count);
}

/* ---- a nest ---------------------------------------------------------------------------------- */

static bool open_nest(tc_omp_nest *x, const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      tc_buf *out) {
  *x = (tc_omp_nest){.nest = n};
  x->s = (tc_print_scope){.k = k,
                          .p = p,
                          .words = &tc_omp_words,
                          .out = out,
                          .indent = 2,
                          .naxis = n->naxis,
                          .vector = n->vector};
  x->lanes_are_points = n->vector >= 0 && n->vector < n->nparallel;
  x->parallel = (1u << n->nparallel) - 1;
  for (int i = 0; i < n->naxis; ++i) {
    snprintf(x->axis_text[i], sizeof x->axis_text[i], "i%d", i);
    x->s.axis[i] = x->axis_text[i];
  }
  x->result_text = calloc(n->nresult + 1, sizeof *x->result_text);
  x->result = calloc(n->nresult + 1, sizeof *x->result);
  uint32_t most = 0; /* expressions of the other nests name results too */
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (k->nest[i].nresult > most) most = k->nest[i].nresult;
  x->result_axes = calloc(most + 1, sizeof *x->result_axes);
  x->hoisted = calloc(k->nexpr + 1, 1);
  x->s.depends = calloc(k->nexpr + 1, sizeof *x->s.depends);
  x->s.printed = calloc(k->nexpr + 1, 1);
  if (!x->result_text || !x->result || !x->result_axes || !x->hoisted || !x->s.depends ||
      !x->s.printed)
    return false;
  tc_print_result_axes(x->nest, x->result_axes);
  x->s.result = x->result;
  x->s.result_axes = x->result_axes;
  tc_print_depends(k, x->result_axes, x->s.depends);
  if (!tc_omp_plan_prefetch(x) || !tc_omp_plan_precision(x)) return false;
  x->grouped = can_group(x);
  for (uint32_t i = 0; x->grouped && i < n->nstage; ++i)
    x->can_jam_points |= tc_omp_can_jam_points(x, &n->stage[i]);
  name_results(x);
  return tc_omp_plan_pipeline(x);
}

static void close_nest(tc_omp_nest *x) {
  free(x->result_text);
  free(x->result);
  free(x->result_axes);
  free(x->prefetch_stage);
  free(x->reduced_precision);
  free(x->hoisted);
  free(x->s.depends);
  free(x->s.printed);
}

static void put_way(tc_omp_nest *x, bool team) {
  x->s.indent += 2;
  tc_omp_put_nontemporal(x);
  if (!x->s.nontemporal) x->pipeline_stage = -1;
  put_tasks(x, team);
  if (x->s.nontemporal) tc_print_line(&x->s, "if (nontemporal) tc_fence();");
  x->s.indent -= 2;
}

/* Rows of unknown length that are reduced and may be shorter than a vector. */
static bool may_be_short(const tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  int64_t lo, hi;
  if (n->nparallel != 1 || n->naxis != 2 || n->vector != 1 || !only_reduces(x)) return false;
  for (int i = 0; i < n->naxis; ++i)
    if (n->axis[i].of >= 0) return false;
  tc_dim_range(tc_graph_dims(x->s.p->graph), n->axis[1].extent, &lo, &hi);
  return lo < TC_OMP_SHORT && hi > TC_OMP_SHORT;
}

/* Where they are short, neighbouring rows share a vector: lanes run along the outer axis. */
static bool put_short(tc_omp_nest *x, bool team) {
  tc_nest by_points = *x->nest;
  tc_omp_nest rows;
  tc_buf count = {0}, length = {0};
  by_points.vector = 0;
  const bool ok = open_nest(&rows, x->s.k, x->s.p, &by_points, x->s.out);
  rows.s.indent = x->s.indent;
  tc_print_dim(x->s.p, x->nest->axis[0].extent, &count);
  tc_print_dim(x->s.p, x->nest->axis[1].extent, &length);
  tc_print_line(&x->s, "if (%s < %d && %s >= TC_L) {", length.text, TC_OMP_SHORT, count.text);
  if (ok) put_way(&rows, team);
  tc_print_line(&x->s, "} else {");
  close_nest(&rows);
  tc_buf_free(&count);
  tc_buf_free(&length);
  return ok;
}

static bool put_nest(tc_omp_nest *x, uint32_t number, bool team) {
  const bool either = may_be_short(x);
  bool ok = true;
  x->s.indent = 2;
  tc_print_line(&x->s, "{ /* nest %u:%s */", number, x->nest->serial ? " serial" : "");
  if (either) {
    x->s.indent += 2;
    ok = put_short(x, team);
  }
  put_way(x, team);
  if (either) {
    tc_print_line(&x->s, "}");
    x->s.indent -= 2;
  }
  tc_print_line(&x->s, "}");
  return ok;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void put_work(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  for (uint32_t i = 0; i < k->nnest; ++i) {
    tc_put(out, i ? " + (" : "(");
    tc_print_dim(p, k->nest[i].work, out);
    tc_put(out, ")");
  }
}

/* Can it be that the work pays for a team of threads? */
static bool wants_team(const tc_kernel *k, const tc_program *p) {
  bool team = false;
  int64_t work = 0;
  for (uint32_t i = 0; i < k->nnest; ++i) {
    int64_t lo, hi;
    tc_dim_range(tc_graph_dims(p->graph), k->nest[i].work, &lo, &hi);
    team |= !k->nest[i].serial;
    if (hi < 0 || __builtin_add_overflow(work, hi, &work)) work = INT64_MAX;
  }
  return team && work > TC_OMP_PARALLEL_WORK;
}

bool tc_omp_emit_nests(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  const bool team = wants_team(k, p);
  bool ok = true;
  tc_omp_team_head(k, p, out);
  tc_omp_locals(k, p, 2, out);
  for (uint32_t i = 0; i < k->nnest; ++i) {
    tc_omp_nest x;
    if (team && i) tc_put(out, "  if (parts > 1) tcrt_barrier();\n");
    ok = open_nest(&x, k, p, &k->nest[i], out) && ok;
    if (ok) ok = put_nest(&x, i, team);
    close_nest(&x);
  }
  tc_buf work = {0};
  put_work(k, p, &work);
  tc_omp_team_tail(k, p, team ? work.text : NULL, out);
  ok = ok && !work.failed;
  tc_buf_free(&work);
  return ok && !out->failed;
}
