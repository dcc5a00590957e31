/* nest.c - the loops of a kernel: one parallel region, its nests with a barrier between them, outer
 * points as tasks that static scheduling shares out.  Tasks are cut by sizes alone, so results do
 * not depend on the number of threads. */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- outer points ------------------------------------------------------------------------------ */

static void put_split_guards(tc_omp_nest *x) {
  for (int i = 0; i < x->nest->nparallel; ++i) {
    if (x->nest->axis[i].of < 0 || i == x->plan->vector) continue;
    tc_buf e = {0};
    tc_print_extent(&x->s, &x->nest->axis[i], &e);
    tc_print_line(&x->s, "if (%s >= %s) continue;", x->axis_text[i], e.text);
    tc_buf_free(&e);
  }
}

/* Values that only parallel axes other than the vector axis decide, in front of its loop. */
static void hoist_parallel(tc_omp_nest *x) {
  const uint32_t mask = x->f.parallel & ~(1u << x->plan->vector);
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    tc_print_hoist_stage(&x->s, &x->nest->stage[i], mask);
}

/* What a loop over points does, and its end. */
static void put_body(tc_omp_nest *x) {
  x->s.indent += 2;
  tc_omp_point(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* A scan's result lives at its point; a nest whose vectors are jammed scans or reduces. */
static void name_results(tc_omp_nest *x) {
  bool scans = false;
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    scans |= tc_omp_has_kind(&x->nest->stage[i], TC_ACT_SCAN);
  const char *format = x->jammed && !scans ? "r%u[u]" : x->plan->group ? "r%u[q]" : "r%u";
  for (uint32_t i = 0; i < x->nest->nresult; ++i) {
    snprintf(x->result_text[i], sizeof x->result_text[i], format, i);
    x->result[i] = x->result_text[i];
  }
}

/* The loops over jammed vectors of columns. */
static void put_jammed_vectors(tc_omp_nest *x) {
  const char *i = x->axis_text[x->plan->vector];
  const tc_schedule_list *registers = &x->plan->jam_vectors;
  x->jammed = true;
  name_results(x);
  for (uint32_t k = 0; k < registers->n; ++k) {
    tc_print_line(&x->s, "{");
    x->s.indent += 2;
    tc_print_line(&x->s, "enum { jam = TC_MAX(1, TC_COLUMNS / %u) };", registers->at[k]);
    tc_print_line(&x->s, "for (; %s + jam * TC_L <= end; %s += jam * TC_L) {", i, i);
    put_body(x);
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  x->jammed = false;
  name_results(x);
}

/* Vectors of a row from which on storing an accumulator and loading it again at the next row wait
 * for nothing. */
enum { NARROW = 4 };

static void put_outers(tc_omp_nest *x) {
  const long long tile = x->plan->outer_tile;
  tc_buf extent = {0};
  tc_print_dim(x->s.p, x->nest->axis[x->plan->outer].extent, &extent);
  tc_print_line(&x->s, "const int64_t outers = TC_MIN(%lld, %s - outer * %lld);", tile, extent.text,
                tile);
  tc_buf_free(&extent);
}

/* All of a tile at once (interchange.c). */
static void put_interchanged(tc_omp_nest *x) {
  const char *i = x->axis_text[x->plan->vector];
  tc_buf columns = {0};
  tc_print_line(&x->s, "enum { most = %lld / TC_L, rows = TC_MAX(1, TC_COLUMNS / %lld), all = %lld * (most + 1) };",
                (long long)x->plan->tile, (long long)x->plan->interchange, x->plan->outer >= 0 ? (long long)x->plan->outer_tile : 1);
  tc_print_line(&x->s, "const int64_t whole = (end - %s) / TC_L, over = (end - %s) %% TC_L, jam = whole + (over > 0);", i, i);
  tc_print_extent(&x->s, &x->nest->axis[x->plan->vector], &columns);
  tc_print_line(&x->s, "const int in_order = %s <= %lld && whole >= %d;", columns.text,
                (long long)x->plan->tile, NARROW);
  if (x->plan->outer >= 0) put_outers(x);
  tc_buf_free(&columns);
  x->jammed = x->interchanged = true;
  name_results(x);
  tc_omp_point(x);
  x->jammed = x->interchanged = false;
  name_results(x);
}

/* The vectors of a tile, from `start` to `end`: full ones, then what is left. */
static void put_vectors(tc_omp_nest *x, const char *start) {
  const char *i = x->axis_text[x->plan->vector];
  tc_print_line(&x->s, "int64_t %s = %s;", i, start);
  uint8_t *outer = tc_print_enter(&x->s);
  if (x->plan->jam_vectors.n && !x->jammed) put_jammed_vectors(x);
  if (x->nest->nstage == 1) hoist_parallel(x);
  const bool peeled = tc_omp_begin_peeled(x, 0, start, "end");
  if (peeled) tc_print_line(&x->s, "if (%s >= head)", i);
  tc_print_line(&x->s, "for (; %s + TC_L <= end; %s += TC_L) {", i, i);
  put_body(x);
  tc_dims *c = tc_graph_dims(x->s.p->graph);
  const tc_axis *a = &x->nest->axis[x->plan->vector];
  const bool exact =
      a->of < 0 && !tc_dim_is(a->extent, 0) && tc_dim_multiple(c, a->extent) % 16 == 0;
  if (peeled || !exact) {
    tc_omp_begin_tail(x, peeled, i, "end");
    tc_omp_point(x);
    tc_omp_end_tail(x, peeled, i);
  }
  tc_print_leave(&x->s, outer);
}

/* The vectors of jammed outer points, or of one.  Whether stores are nontemporal is asked in front of them, and of the most
 * points alone: asked at each store, it parts the points' sums, which have loads in common. */
static void put_outer_vectors(tc_omp_nest *x, const char *start, bool most) {
  const char *const nontemporal = x->s.nontemporal;
  const bool both = most && nontemporal;
  if (both) {
    tc_print_line(&x->s, "if (%s) {", nontemporal);
    x->s.indent += 2, x->s.nontemporal = "1";
    put_vectors(x, start);
    x->s.indent -= 2;
    tc_print_line(&x->s, "} else {");
    x->s.indent += 2;
  }
  x->s.nontemporal = NULL;
  put_vectors(x, start);
  x->s.nontemporal = nontemporal;
  if (!both) return;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* The outer points of a task: as many in one loop as there are, of a power of two. */
static void put_jammed_outers(tc_omp_nest *x, const char *start) {
  const char *i = x->axis_text[x->plan->outer];
  put_outers(x);
  tc_print_line(&x->s, "int64_t %s = outer * %lld;", i, (long long)x->plan->outer_tile);
  tc_print_line(&x->s, "const int64_t stop = %s + outers;", i);
  x->jammed = x->jam_outer = true;
  name_results(x);
  for (long long jam = x->plan->outer_tile; jam > 1; jam /= 2) {
    tc_print_line(&x->s, "for (; %s + %lld <= stop; %s += %lld) {", i, jam, i, jam);
    x->s.indent += 2;
    tc_print_line(&x->s, "enum { jam = %lld };", jam);
    put_outer_vectors(x, start, jam == x->plan->outer_tile);
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  x->jammed = x->jam_outer = false;
  name_results(x);
  tc_print_line(&x->s, "for (; %s < stop; ++%s) {", i, i);
  x->s.indent += 2;
  put_outer_vectors(x, start, false);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* One tile of a vectorised parallel axis. */
static void put_tile(tc_omp_nest *x) {
  const int v = x->plan->vector;
  const long long tile = x->plan->tile;
  char start[32];
  tc_buf e = {0};
  snprintf(start, sizeof start, "tile * %lld", tile);
  tc_print_extent(&x->s, &x->nest->axis[v], &e);
  tc_print_line(&x->s, "const int64_t end = TC_MIN(%s + %lld, %s);", start, tile, e.text);
  tc_buf_free(&e);
  if (x->plan->interchange) {
    tc_print_line(&x->s, "int64_t %s = %s;", x->axis_text[v], start);
    put_interchanged(x);
  } else if (x->plan->outer >= 0) put_jammed_outers(x, start);
  else put_vectors(x, start);
}

/* So many rows in one loop, where there are as many; opens what is done where not. */
static void put_rows_in_one_loop(tc_omp_nest *x, long long jam, const char *rows) {
  const char *i = x->axis_text[tc_omp_jam_axis(x->nest)];
  tc_print_line(&x->s, "if (%s + %lld <= %s) {", i, jam, rows);
  x->s.indent += 2;
  tc_print_line(&x->s, "enum { jam = %lld };", jam);
  x->jammed = x->jam_rows = true;
  name_results(x);
  tc_omp_point(x);
  x->jammed = x->jam_rows = false;
  name_results(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else");
}

/* Tasks are runs of rows, so that which rows are jammed does not depend on threads.  Of a product of two matrices there may
 * be no more rows than what is left of a run. */
static void put_jammed_rows(tc_omp_nest *x, bool team) {
  const int axis = tc_omp_jam_axis(x->nest);
  const long long jam = x->plan->jam_rows, least = axis == x->nest->nparallel - 1 ? jam : 2;
  const char *i = x->axis_text[axis];
  tc_buf rows = {0}, count = {0};
  tc_print_dim(x->s.p, x->nest->axis[axis].extent, &rows);
  tc_omp_put_task_count(x, &count);
  tc_print_line(&x->s, "const int64_t tasks = %s;", count.text);
  tc_omp_open_tasks(x, team);
  tc_print_line(&x->s, "int64_t %s = outer * %lld;", i, jam);
  for (long long some = jam; some >= least; --some) put_rows_in_one_loop(x, some, rows.text);
  tc_print_line(&x->s, "for (; %s < %s; ++%s) {", i, rows.text, i);
  put_body(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&rows);
  tc_buf_free(&count);
}

enum {
  PAGE = 4096, /* bytes: accesses so far apart, or */
  NEAR = 256   /* so much more or less, are taken for accesses to the same place */
};

static bool has_pairs(const tc_omp_nest *x) {
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    if (x->stage[i].pairs) return true;
  return false;
}

/* Groups of rows, jammed at run time where that pays: where the rows are in a cache, and their
 * distance is not near a multiple of a page, at which loads of one row would wait for stores of the
 * other. */
static void put_groups(tc_omp_nest *x, bool team) {
  const bool pairs = has_pairs(x);
  tc_buf bytes = {0};
  tc_omp_row_bytes(x, &bytes);
  tc_print_line(&x->s, "const int64_t bytes = TC_MAX(1, %s);", bytes.text);
  if (pairs)
    tc_print_line(&x->s, "const int jammed = %s(bytes + %d) %% %d >= TC_MIN(bytes, %d);",
                  x->s.nontemporal ? "!nontemporal && " : "", NEAR, PAGE, 2 * NEAR);
  tc_print_line(&x->s, "const int64_t fit = TC_GROUP_BYTES%s / bytes;",
                pairs ? " * (1 + jammed)" : "");
  tc_print_line(&x->s, "const int64_t group = TC_MAX(1, TC_MIN(%lld, fit));",
                (long long)x->plan->group);
  tc_omp_put_task_loop(x, team, "task += group");
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t count = TC_MIN(group, last - task);");
  tc_omp_group(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&bytes);
}

/* The last stage is left to the next point where its stores are nontemporal, but for the last
 * task. */
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

/* All tasks in order, by a loop for each parallel axis: their numbers are not divided. */
static void put_axis_loops(tc_omp_nest *x) {
  const tc_nest *n = x->nest;
  const int indent = x->s.indent;
  for (int i = 0; i < n->nparallel; ++i) {
    const char *name = tc_omp_task_variable(x, i), *end = i + 1 < n->nparallel ? "" : " {";
    tc_buf e = {0};
    tc_print_dim(x->s.p, n->axis[i].extent, &e);
    if (tc_omp_tile_of(x, i)) tc_print_line(&x->s, "for (int64_t %s = 0; %s < TC_CEILDIV(%s, %lld); ++%s)%s", name, name, e.text, tc_omp_tile_of(x, i), name, end);
    else tc_print_line(&x->s, "for (int64_t %s = 0; %s < %s; ++%s)%s", name, name, e.text, name, end);
    tc_buf_free(&e);
    x->s.indent += 2;
  }
  if (!n->nparallel) {
    tc_print_line(&x->s, "{");
    x->s.indent += 2;
  }
  put_split_guards(x);
  if (tc_omp_lanes_are_points(&x->f)) put_tile(x);
  else tc_omp_point(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  x->s.indent = indent;
}

/* Each thread takes one run of tasks.  Written out: a worksharing construct costs a call of the
 * OpenMP runtime even where one thread does it all. */
static void put_tasks(tc_omp_nest *x, bool team) {
  if (x->plan->jam_rows) {
    put_jammed_rows(x, team);
    return;
  }
  if (x->plan->collect) {
    tc_omp_put_collected(x, team);
    return;
  }
  if (!team && !x->plan->group && x->plan->pipeline < 0) {
    put_axis_loops(x);
    return;
  }
  tc_buf count = {0};
  tc_omp_put_task_count(x, &count);
  tc_print_line(&x->s, "const int64_t tasks = %s;", count.text);
  tc_buf_free(&count);
  if (x->plan->group) {
    put_groups(x, team);
    return;
  }
  if (x->plan->pipeline >= 0) tc_omp_declare_pipeline(x);
  tc_omp_open_tasks(x, team);
  put_split_guards(x);
  if (tc_omp_lanes_are_points(&x->f)) put_tile(x);
  else if (x->plan->pipeline >= 0) put_pipelined(x);
  else tc_omp_point(x);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

/* ---- a nest ---------------------------------------------------------------------------------- */

/* Per expression: is it computed to 17 bits? */
static bool mark_approximate(tc_omp_nest *x) {
  const tc_schedule_list *l = &x->plan->approximate;
  if (!l->n) return true;
  x->approximate = calloc(x->s.k->nexpr + 1, 1);
  for (uint32_t i = 0; x->approximate && i < l->n; ++i) x->approximate[l->at[i]] = 1;
  x->s.reduced_precision = x->approximate;
  return x->approximate;
}

/* Rows that points in lanes keep hold a vector at each place. */
static void put_kept_place(const tc_print_scope *s, const tc_address *a, uint32_t buffer,
                           tc_buf *out) {
  tc_putf(out, "b%u + (", buffer);
  tc_print_address(s, a, out);
  tc_put(out, ") * TC_L");
}

static const tc_buffer *kept_row(const tc_print_scope *s, uint32_t buffer) {
  const tc_buffer *b = &s->p->buffer[s->k->buffer[buffer]];
  return b->kind == TC_BUF_LOCAL ? b : NULL;
}

static bool load_kept(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_expr *e = &s->k->expr[id];
  const tc_buffer *b = kept_row(s, e->buffer);
  if (!b) return false;
  tc_putf(out, "tc_load_%s(", tc_print_storage(b->dtype));
  put_kept_place(s, &e->address, e->buffer, out);
  tc_put(out, ")");
  return true;
}

static bool store_kept(tc_print_scope *s, const tc_action *a) {
  const tc_buffer *b = kept_row(s, a->buffer);
  tc_buf at = {0};
  if (!b) return false;
  put_kept_place(s, &a->address, a->buffer, &at);
  tc_print_line(s, "tc_store_%s(%s, v%u);", tc_print_storage(b->dtype), at.text ? at.text : "",
                a->value.id);
  tc_buf_free(&at);
  return true;
}

static bool load_point(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  return load_kept(s, id, out) || tc_omp_load_row(s->self, id, out);
}

static bool store_point(tc_print_scope *s, const tc_action *a) {
  return store_kept(s, a) || tc_omp_store_row(s->self, a);
}

/* In place of the thread's rows, in the block of a variant whose rows are shorter than `width`. */
static void declare_kept(tc_omp_nest *x, int64_t width) {
  for (uint32_t i = 0; i < x->s.k->nbuffer; ++i) {
    const tc_buffer *b = kept_row(&x->s, i);
    if (b)
      tc_print_line(&x->s, "_Alignas(64) tc_%s b%u[%lld * TC_L];", tc_print_storage(b->dtype), i,
                    (long long)width);
  }
}

static bool open_nest(tc_omp_nest *x, const tc_kernel *k, const tc_program *p, const tc_nest *n,
                      const tc_schedule_variant *v, tc_buf *out) {
  *x = (tc_omp_nest){.nest = n, .plan = v->nest, .stage = v->stage};
  x->s = (tc_print_scope){.k = k,
                          .p = p,
                          .words = &tc_omp_words,
                          .out = out,
                          .indent = 2,
                          .naxis = n->naxis,
                          .vector = x->plan->vector};
  for (int i = 0; i < n->naxis; ++i) {
    snprintf(x->axis_text[i], sizeof x->axis_text[i], "i%d", i);
    x->s.axis[i] = x->axis_text[i];
  }
  x->result_text = calloc(n->nresult + 1, sizeof *x->result_text);
  x->result = calloc(n->nresult + 1, sizeof *x->result);
  x->hoisted = calloc(k->nexpr + 1, 1);
  x->s.printed = calloc(k->nexpr + 1, 1);
  if (!tc_omp_open_facts(&x->f, k, p, n, x->plan->vector) || !x->result_text || !x->result ||
      !x->hoisted || !x->s.printed || !mark_approximate(x))
    return false;
  x->s.result = x->result;
  x->s.result_axes = x->f.result_axes;
  x->s.depends = x->f.depends;
  x->s.self = x;
  x->s.whole_private = tc_omp_lanes_are_points(&x->f);
  if (tc_omp_has_tiled_rows(x) || (tc_omp_lanes_are_points(&x->f) && tc_omp_keeps_rows(&x->f)))
    x->s.load = load_point, x->s.store = store_point;
  name_results(x);
  return true;
}

static void close_nest(tc_omp_nest *x) {
  tc_omp_close_facts(&x->f);
  free(x->result_text);
  free(x->result);
  free(x->approximate);
  free(x->hoisted);
  free(x->s.printed);
}

/* Has the axis one point by the conditions of the variant? */
static bool is_one(const tc_schedule_variant *v, int axis) {
  bool least = false, most = false;
  for (uint32_t i = 0; i < v->nwhen; ++i) {
    const tc_schedule_compare *c = &v->when[i];
    if (c->axis != axis || c->vectors) continue;
    least |= !c->less && c->bound == 1;
    most |= c->less && c->bound == 2;
  }
  return least && most;
}

/* A symbol that is 1 where the variant runs: what is that far apart is contiguous. */
static void put_ones(tc_omp_nest *x, const tc_schedule_variant *v) {
  tc_dims *c = tc_graph_dims(x->s.p->graph);
  for (int i = 0; i < x->nest->naxis; ++i) {
    uint32_t sym;
    if (is_one(v, i) && tc_dim_is_sym(c, x->nest->axis[i].extent, &sym))
      tc_print_line(&x->s, "const int64_t s_%s = 1;", tc_dims_sym(c, sym)->name);
  }
}

static void put_variant(tc_omp_nest *x, const tc_schedule_variant *v, bool team) {
  x->s.indent += 2;
  put_ones(x, v);
  if (x->s.store) declare_kept(x, tc_omp_short_width(x->nest, v));
  if (tc_omp_has_tiled_rows(x)) tc_omp_declare_row_tiles(x, tc_omp_short_width(x->nest, v));
  if (x->plan->nontemporal) tc_omp_put_nontemporal(x);
  tc_omp_declare_tiles(x);
  put_tasks(x, team);
  if (x->s.nontemporal) tc_print_line(&x->s, "if (nontemporal) tc_fence();");
  x->s.indent -= 2;
}

/* The condition of a variant: "length < 16 && count >= TC_L". */
static void put_when(const tc_program *p, const tc_nest *n, const tc_schedule_variant *v,
                     tc_buf *out) {
  for (uint32_t i = 0; i < v->nwhen; ++i) {
    const tc_schedule_compare *c = &v->when[i];
    const tc_axis *a = &n->axis[c->axis];
    tc_put(out, i ? " && " : "");
    tc_print_dim(p, a->of < 0 ? a->extent : a->total, out);
    tc_put(out, c->less ? " < " : " >= ");
    if (!c->vectors || c->bound != 1) tc_putf(out, "%lld", (long long)c->bound);
    if (c->vectors) tc_put(out, c->bound == 1 ? "TC_L" : " * TC_L");
  }
}

/* One line at that indentation. */
static void put_at(tc_buf *out, int indent, const char *before, const char *text,
                   const char *after) {
  tc_putf(out, "%*s%s%s%s\n", indent, "", before, text, after);
}

static bool put_nest(const tc_kernel *k, const tc_program *p, uint32_t number, bool team,
                     tc_buf *out) {
  const tc_nest *n = &k->nest[number];
  const tc_schedule_nest *s = &k->schedule->nest[number];
  const int indent = s->nvariant > 1 ? 4 : 2;
  bool ok = true;
  tc_putf(out, "  { /* nest %u:%s */\n", number, n->serial ? " serial" : "");
  for (uint32_t i = 0; ok && i < s->nvariant; ++i) {
    tc_omp_nest x;
    tc_buf when = {0};
    put_when(p, n, &s->variant[i], &when);
    if (when.len) put_at(out, indent, i ? "} else if (" : "if (", when.text, ") {");
    else if (i) put_at(out, indent, "} else {", "", "");
    ok = open_nest(&x, k, p, n, &s->variant[i], out) && !when.failed;
    x.s.indent = indent;
    if (ok) put_variant(&x, &s->variant[i], team);
    close_nest(&x);
    tc_buf_free(&when);
  }
  if (s->nvariant > 1) put_at(out, indent, "}", "", "");
  tc_put(out, "  }\n");
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

/* The loop around all nests: of a team, each thread takes one run of its points. */
static void put_outer_loop(const tc_kernel *k, const tc_program *p, bool team, tc_buf *out) {
  const char *i = tc_dims_sym(tc_graph_dims(p->graph), k->outer.sym)->name;
  tc_buf n = {0};
  tc_print_dim(p, k->outer.extent, &n);
  if (team)
    tc_putf(out, "  for (int64_t s_%s = tc_share(%s, part, parts), last_%s = tc_share(%s, part + 1, parts); s_%s < last_%s; ++s_%s) {\n",
            i, n.text, i, n.text, i, i, i);
  else tc_putf(out, "  for (int64_t s_%s = 0; s_%s < %s; ++s_%s) {\n", i, i, n.text, i);
  out->failed |= n.failed;
  tc_buf_free(&n);
}

/* The loop around all nests by groups of its points, which each nest has a loop of its own over. */
static bool put_outer_groups(const tc_kernel *k, const tc_program *p, bool team, tc_buf *out) {
  const char *i = tc_dims_sym(tc_graph_dims(p->graph), k->outer.sym)->name;
  bool ok = true;
  tc_buf n = {0};
  tc_print_dim(p, k->outer.extent, &n);
  tc_put(out, "  const int64_t group = ");
  tc_omp_put_group(k, p, out);
  tc_put(out, ";\n");
  tc_putf(out, "  const int64_t last_%s = ", i);
  tc_putf(out, team ? "tc_share(%s, part + 1, parts);\n" : "%s;\n", n.text);
  tc_putf(out, "  for (int64_t first_%s = ", i);
  tc_putf(out, team ? "tc_share(%s, part, parts)" : "0", n.text);
  tc_putf(out, "; first_%s < last_%s; first_%s += group) {\n", i, i, i);
  for (uint32_t nest = 0; ok && nest < k->nnest; ++nest) {
    tc_putf(out, "  for (int64_t s_%s = first_%s; s_%s < TC_MIN(first_%s + group, last_%s); ++s_%s) {\n", i, i, i, i, i, i);
    tc_omp_locals_of_point(k, p, 2, out);
    ok = put_nest(k, p, nest, false, out);
    tc_put(out, "  }\n");
  }
  tc_put(out, "  }\n");
  ok = ok && !n.failed;
  tc_buf_free(&n);
  return ok;
}

/* The nests: in one loop around them, or with a barrier from one to the next. */
static bool put_nests(const tc_kernel *k, const tc_program *p, bool team, tc_buf *out) {
  bool ok = true;
  if (tc_omp_group_of(k) > 1) return put_outer_groups(k, p, team, out);
  if (k->outer.fused) put_outer_loop(k, p, team, out);
  for (uint32_t i = 0; ok && i < k->nnest; ++i) {
    if (team && i && !k->outer.fused) tc_put(out, "  if (parts > 1) tcrt_barrier();\n");
    ok = put_nest(k, p, i, team && !k->outer.fused, out);
  }
  if (k->outer.fused) tc_put(out, "  }\n");
  return ok;
}

bool tc_omp_emit_nests(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  if (!k->schedule) return false;
  const tc_omp_kernel_schedule *own = k->schedule->kernel;
  const bool team = own->threads > 0;
  tc_omp_team_head(k, p, out);
  tc_omp_locals(k, p, 2, out);
  bool ok = put_nests(k, p, team, out);
  tc_buf work = {0};
  put_work(k, p, &work);
  tc_omp_team_tail(k, p, team ? work.text : NULL, own->threads, out);
  ok = ok && !work.failed;
  tc_buf_free(&work);
  return ok && !out->failed;
}
