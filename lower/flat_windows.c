/* flat_windows.c - windows of a padded plane (outer_fusion.c) whose rows are short or a step apart, reduced for neighbouring
 * places of the plane, rows and all:
 *
 *   nest i < 7, j < 7 | k < 3, l < 3     lanes j      #0 = sum of w[k, l] * p[9 i + j + 9 k + l];  y[7 i + j] = max(#0, 0)
 * =>
 *   nest q < 61       | k < 3, l < 3     lanes q      #0 = sum of w[k, l] * p[q + 9 k + l];        s[q] = #0
 *   nest i < 7, j < 7                    lanes j      y[7 i + j] = max(s[9 i + j], 0)
 *
 * A row of 7 leaves half of a vector empty, and has one accumulator, each sum of which waits for the one before; places from
 * the first result to the last one fill vectors, of which several are reduced together.  Sums at places between two rows are in
 * vain.  Of windows two apart each second sum is, but a load of every second element is two loads and a shuffle; where too much
 * lies between their rows, these stay an axis, with places of one row along the lanes.
 *
 * Sums have the same terms in the same order. */
#include "lower/lowering.h"

#include <string.h>

enum {
  JAMMED = 4, /* vectors whose accumulators hide what an addition takes */
  ALONE = 2,  /* so many times as long takes one that is not among them */
  COPY = 2    /* accesses of what is stored and loaded again */
};

/* A nest of results (i, j) whose windows lie `row` and `column` elements apart in the plane. */
typedef struct windows {
  lo *L;
  tc_kernel *k;
  uint32_t nest;
  int64_t rows, columns, row, column, points, lanes;
  bool narrow;           /* elements of the plane have 16 bits or less */
  bool keeps_rows;       /* they stay an axis */
  int64_t places, pitch; /* of a row, or of all rows; from one row of sums to the next */
  tc_expr result;        /* the sum */
} windows;

/* ---- which nests ----------------------------------------------------------------------------- */

static bool is_const(tc_dim d, int64_t *v) {
  if (!tc_dim_is_const(d)) return false;
  *v = tc_dim_value(d);
  return true;
}

/* One reduction to one accumulator, and behind it what is made of that for each result. */
static bool has_form(const tc_nest *n) {
  if (n->nparallel != 2 || n->vector != 1 || n->naxis == 2 || n->nstage != 2 || n->nstreamed || n->serial) return false;
  const tc_stage *s = n->stage;
  const uint32_t inner = (1u << n->naxis) - 4;
  if (s[0].axes != inner || s[1].axes || s[0].interval || s[1].interval || s[0].naction != 1) return false;
  const tc_action *a = s[0].action;
  if (a->kind != TC_ACT_REDUCE || tc_reducer_get(a->reducer)->n != 1 || a->guard.id || a->serves) return false;
  for (uint32_t i = 0; i < s[1].naction; i++)
    if (s[1].action[i].kind != TC_ACT_STORE) return false;
  return true;
}

/* How far windows of neighbouring results lie apart: the same in all loads of planes; what else is loaded is the same for
 * all results. */
static bool takes_load(windows *w, const tc_expr *e) {
  int64_t row, column;
  const tc_address *a = &e->address;
  if (!is_const(a->coef[0], &row) || !is_const(a->coef[1], &column)) return false;
  if (!row && !column) return true;
  if (e->kind != TC_EX_LOAD || w->L->p->buffer[w->k->buffer[e->buffer]].kind != TC_BUF_PRIVATE) return false;
  if (e->guard.id || a->nterm || column <= 0 || row < column * w->columns) return false;
  if (w->column && (w->column != column || w->row != row)) return false;
  w->row = row, w->column = column;
  w->narrow |= tc_dtype_bytes(w->L->p->buffer[w->k->buffer[e->buffer]].dtype) < 4;
  return true;
}

static bool reads_planes(windows *w) {
  const tc_nest *n = &w->k->nest[w->nest];
  uint8_t *used = lo_alloc(w->L, w->L->scratch, w->k->nexpr + 1u);
  tc_mark_stage(&n->stage[0], used);
  tc_mark_operands(w->k, used);
  w->points = 1;
  for (int i = 2; i < n->naxis; i++) {
    int64_t extent;
    if (n->axis[i].of >= 0 || !is_const(n->axis[i].extent, &extent) || w->points * extent > INT32_MAX) return false;
    w->points *= extent;
  }
  for (uint32_t id = 1; id < w->k->nexpr; id++)
    if (used[id] && tc_expr_has_address(&w->k->expr[id]) && !takes_load(w, &w->k->expr[id])) return false;
  return w->column != 0;
}

/* ---- what pays ------------------------------------------------------------------------------- */

/* Accesses of so many rows of so many results, each of which needs `each`. */
static int64_t cost(const windows *w, int64_t rows, int64_t columns, int64_t each) {
  const int64_t vectors = (columns + w->lanes - 1) / w->lanes;
  return rows * vectors * each * (vectors < JAMMED ? ALONE : 1);
}

/* Elements a few apart come from as many vectors, and halves are converted; beside that, it does not matter how long a sum
 * takes. */
static int64_t cost_apart(const windows *w) {
  return w->rows * ((w->columns + w->lanes - 1) / w->lanes) * w->points * (w->column + w->narrow);
}

/* What reads the sums, and stores the results. */
static int64_t cost_of_copy(const windows *w) {
  return w->rows * ((w->columns + w->lanes - 1) / w->lanes) * (COPY + w->column - 1);
}

/* The cheaper way to take places of the plane; does it take a fifth less than results in rows do? */
static bool pays(windows *w) {
  const int64_t row = w->column * (w->columns - 1) + 1, all = w->row * (w->rows - 1) + row,
                as_is = w->column == 1 ? cost(w, w->rows, w->columns, w->points) : cost_apart(w),
                in_rows = cost(w, w->rows, row, w->points), flat = cost(w, 1, all, w->points);
  w->keeps_rows = in_rows < flat;
  w->places = w->keeps_rows ? row : all;
  w->pitch = w->keeps_rows ? row : w->row;
  return 5 * ((w->keeps_rows ? in_rows : flat) + cost_of_copy(w)) < 4 * as_is;
}

static bool find(lo *L, tc_kernel *k, uint32_t nest, windows *w) {
  enum { MOST = 1 << 16 /* elements of a plane, which is to stay in the near caches */ };
  const tc_nest *n = &k->nest[nest];
  *w = (windows){.L = L, .k = k, .nest = nest};
  if (!has_form(n) || !is_const(n->axis[0].extent, &w->rows) || !is_const(n->axis[1].extent, &w->columns)) return false;
  if (n->axis[0].of >= 0 || n->axis[1].of >= 0 || w->rows < 1 || w->columns < 1) return false;
  w->lanes = tc_dtype_bytes(n->stage[0].action->dtype) > 4 ? 8 : 16;
  return reads_planes(w) && w->row <= MOST / w->rows && pays(w);
}

/* ---- the two nests --------------------------------------------------------------------------- */

/* Room for copies of all expressions for each of the nests, and one of its own. */
static void grow(const windows *w) {
  tc_kernel *k = w->k;
  tc_expr *pool = lo_alloc(w->L, w->L->arena, (3u * k->nexpr + 1) * sizeof *pool);
  memcpy(pool, k->expr, k->nexpr * sizeof *pool);
  k->expr = pool;
}

static tc_val add(const windows *w, const tc_expr *e) {
  tc_kernel *k = w->k;
  k->expr[k->nexpr] = *e;
  return (tc_val){k->nexpr++};
}

/* An array of the sums, in the kernel's list. */
static uint32_t add_sums(const windows *w, tc_dtype dtype) {
  tc_kernel *k = w->k;
  tc_type t = {.rank = 1, .dtype = (uint8_t)dtype};
  t.dim[0] = tc_dim_const(w->keeps_rows ? w->rows * w->pitch : w->places);
  uint32_t *list = lo_alloc(w->L, w->L->arena, (k->nbuffer + 1u) * sizeof *list);
  memcpy(list, k->buffer, k->nbuffer * sizeof *list);
  list[k->nbuffer] = lo_new_buffer(w->L, TC_BUF_PRIVATE, 0, dtype, &t, "sums");
  k->buffer = list;
  return k->nbuffer++;
}

/* a at a place: windows are neighbours, and rows an axis or none. */
static void move_to_places(const windows *w, tc_address *a) {
  const bool planes = !tc_dim_is(a->coef[1], 0);
  const int gone = !w->keeps_rows;
  a->coef[1] = tc_dim_const(planes);
  for (int i = 0; i < TC_MAX_AXES; i++) a->coef[i] = i + gone < TC_MAX_AXES ? a->coef[i + gone] : tc_dim_const(0);
}

/* Copies of what the stage takes, the first `end` expressions: at places, or with e in the place of the reduction. */
static uint32_t *copied(const windows *w, const tc_stage *s, uint32_t end, const tc_expr *e) {
  uint8_t *used = lo_alloc(w->L, w->L->scratch, w->k->nexpr + 1u);
  uint32_t *to = lo_alloc(w->L, w->L->scratch, (end + 1u) * sizeof *to);
  tc_mark_stage(s, used);
  tc_mark_operands(w->k, used);
  for (uint32_t id = 1; id < end; id++) {
    tc_expr x = w->k->expr[id];
    if (!used[id]) continue;
    for (int i = 0; i < 3; i++) x.in[i].id = to[x.in[i].id];
    x.guard.id = to[x.guard.id];
    for (int t = 0; tc_expr_has_address(&x) && t < x.address.nterm; t++) x.address.term[t].value.id = to[x.address.term[t].value.id];
    if (!e && tc_expr_has_address(&x)) move_to_places(w, &x.address);
    to[id] = add(w, e && x.kind == TC_EX_RESULT ? e : &x).id;
  }
  return to;
}

static tc_action *copied_actions(const windows *w, const tc_stage *s, const uint32_t *to) {
  tc_action *action = lo_alloc(w->L, w->L->arena, (s->naction + 1u) * sizeof *action);
  memcpy(action, s->action, s->naction * sizeof *action);
  for (tc_action *a = action; a < action + s->naction; a++) {
    a->value.id = to[a->value.id];
    a->guard.id = to[a->guard.id];
    for (int t = 0; t < a->address.nterm; t++) a->address.term[t].value.id = to[a->address.term[t].value.id];
  }
  return action;
}

/* Where the sum is, by the axes of places or by those of results. */
static tc_address address_of_sum(const windows *w, bool results) {
  tc_address a = {.offset = tc_dim_const(0)};
  for (int i = 0; i < TC_MAX_AXES; i++) a.coef[i] = tc_dim_const(0);
  if (results || w->keeps_rows) a.coef[0] = tc_dim_const(w->pitch);
  a.coef[results || w->keeps_rows] = tc_dim_const(results ? w->column : 1);
  return a;
}

static tc_nest nest_of_places(const windows *w, const tc_nest *from, uint32_t sums, uint32_t end) {
  tc_nest n = *from;
  const int lanes = w->keeps_rows, gone = !w->keeps_rows;
  n.axis[1].extent = tc_dim_const(w->places);
  for (int i = 0; i + gone < from->naxis; i++) {
    n.axis[i] = n.axis[i + gone];
    n.axis[i].name = from->axis[i].name;
  }
  n.naxis -= gone, n.nparallel -= gone, n.vector = lanes;
  n.stage = lo_alloc(w->L, w->L->arena, 3 * sizeof *n.stage);
  n.stage[0] = from->stage[0];
  n.stage[0].axes >>= gone;
  n.stage[0].action = copied_actions(w, &from->stage[0], copied(w, &from->stage[0], end, NULL));
  tc_action *store = lo_alloc(w->L, w->L->arena, 2 * sizeof *store);
  *store = (tc_action){.kind = TC_ACT_STORE, .buffer = sums, .address = address_of_sum(w, false)};
  store->value = add(w, &w->result);
  n.stage[1] = (tc_stage){.naction = 1, .action = store};
  return n;
}

static tc_nest nest_of_results(const windows *w, const tc_nest *from, uint32_t sums, uint32_t end) {
  tc_nest n = *from;
  tc_expr load = w->result;
  load.kind = TC_EX_LOAD, load.buffer = sums, load.address = address_of_sum(w, true);
  n.naxis = 2, n.nstage = 1, n.nresult = 0;
  n.work = tc_dim_div(w->L->dims, n.work, tc_dim_const(w->points));
  n.stage = lo_alloc(w->L, w->L->arena, 2 * sizeof *n.stage);
  n.stage[0] = from->stage[1];
  n.stage[0].action = copied_actions(w, &from->stage[1], copied(w, &from->stage[1], end, &load));
  return n;
}

static void replace(windows *w) {
  tc_kernel *k = w->k;
  const tc_nest from = k->nest[w->nest];
  const tc_action *reduced = from.stage[0].action;
  w->result = (tc_expr){.kind = TC_EX_RESULT,
                        .index = reduced->index,
                        .dtype = tc_accumulator_dtype(reduced->reducer, 0, reduced->dtype),
                        .loc = k->expr[reduced->value.id].loc};
  const uint32_t end = k->nexpr, sums = add_sums(w, w->result.dtype);
  tc_nest *nest = lo_alloc(w->L, w->L->arena, (k->nnest + 2u) * sizeof *nest);
  grow(w);
  memcpy(nest, k->nest, w->nest * sizeof *nest);
  nest[w->nest] = nest_of_places(w, &from, sums, end);
  nest[w->nest + 1] = nest_of_results(w, &from, sums, end);
  memcpy(nest + w->nest + 2, k->nest + w->nest + 1, (k->nnest - w->nest - 1) * sizeof *nest);
  k->nest = nest;
  k->nnest++;
}

void lo_flatten_windows(lo *L, tc_kernel *k) {
  bool any = false;
  for (uint32_t i = 0; i < k->nnest; i++) {
    windows w;
    if (!find(L, k, i, &w)) continue;
    replace(&w);
    any = true;
    i++; /* the nest of results */
  }
  if (any) *k = lo_canonical(L, k); /* without what no nest takes */
}
