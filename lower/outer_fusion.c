/* outer_fusion.c - padded arrays, and what is computed of their windows, as nests of one kernel
 * whose outermost loops are fused.
 *
 *   kernel pad      nest i < N*C, ..   p[i, ..] = 0          kernel pad_max   for plane < N*C
 *                   nest i < N*C, ..   p[i, ..] = x[i, ..]                      nest ..  p[..] = 0
 *   kernel max      nest i < N*C, ..   r[i, ..] = max of p      =>              nest ..  p[..] = x[plane, ..]
 *   kernel max      nest i < N*C, ..   y[i, ..] = max of r                      nest ..  r[..] = max of p
 *                                                                               nest ..  y[plane, ..] = max of r
 *
 * So arrays between the nests are those of one plane, which are scratch of a thread and stay in its
 * caches.  A padded array is written twice, and windows read each element several times: from
 * memory, each of these is a pass of its own.
 *
 * The fused loop is over leading axes of the padded array that no window or padding lies along.
 * What a nest stores, others of the kernel load at the same point of the loop alone. */
#include "lower/lowering.h"

#include <stdio.h>
#include <string.h>

enum {
  MOST = 64,  /* kernels that are fused */
  /* axes that the fused loop runs over: images and channels.  With more, planes may be rows of a
   * few elements, of which each costs the beginning and end of loops */
  LEADING = 2
};

typedef struct fusion {
  lo *L;
  tc_kernel *first;
  uint32_t n;      /* kernels from `first` on */
  tc_dim extent;   /* of the fused loop */
  tc_dim symbol;   /* its variable */
  bool *stored;    /* per program buffer: by one of them */
} fusion;

/* How the fused loop is the outermost axis of a nest. */
typedef struct outermost {
  int axes;    /* so many axes are it; 0: axis 0 is longer */
  /* then axis 0 has extent * rest points, or counts chunks of axis `chunk`, which has in all */
  tc_dim rest;
  int chunk;   /* or -1 */
} outermost;

/* ---- nests ----------------------------------------------------------------------------------- */

/* d is factor * *rest. */
static bool divides(const fusion *f, tc_dim d, tc_dim factor, tc_dim *rest) {
  *rest = tc_dim_div(f->L->dims, d, factor);
  return !tc_dim_bad(*rest) && tc_dim_same(tc_dim_mul(f->L->dims, *rest, factor), d);
}

static int chunk_of(const tc_nest *n, int axis) {
  for (int i = 0; i < n->naxis; i++)
    if (n->axis[i].of == axis) return i;
  return -1;
}

static bool find_outermost(const fusion *f, const tc_nest *n, outermost *o) {
  tc_dim points = tc_dim_const(1);
  *o = (outermost){.chunk = -1};
  for (int i = 0; i < n->nparallel && i != n->vector && chunk_of(n, i) < 0 && n->axis[i].of < 0;
       i++) {
    points = tc_dim_mul(f->L->dims, points, n->axis[i].extent);
    if (!tc_dim_same(points, f->extent)) continue;
    o->axes = i + 1;
    return true;
  }
  if (n->nparallel == 0 || n->axis[0].of >= 0) return false;
  o->chunk = chunk_of(n, 0);
  if (o->chunk >= 0 && o->chunk < n->nparallel) return false;
  if (!divides(f, o->chunk < 0 ? n->axis[0].extent : n->axis[o->chunk].total, f->extent, &o->rest))
    return false;
  return n->vector != 0 || !tc_dim_is(o->rest, 1);
}

/* Elements from one point of the fused loop to the next.  false: they are no constant number. */
static bool find_step(const fusion *f, const tc_nest *n, const outermost *o, const tc_address *a,
                      tc_dim *step) {
  tc_dims *d = f->L->dims;
  for (int i = 0; i + 1 < o->axes; i++)
    if (!tc_dim_same(a->coef[i], tc_dim_mul(d, a->coef[i + 1], n->axis[i + 1].extent)))
      return false;
  if (o->axes) {
    *step = a->coef[o->axes - 1];
    return true;
  }
  const tc_dim one = o->chunk < 0 ? a->coef[0] : a->coef[o->chunk];
  if (o->chunk >= 0 && !tc_dim_same(a->coef[0], tc_dim_mul(d, one, n->axis[o->chunk].extent)))
    return false;
  *step = tc_dim_mul(d, one, o->rest);
  return !tc_dim_bad(*step);
}

static uint8_t *used_by(const fusion *f, const tc_kernel *k, const tc_nest *n) {
  uint8_t *used = lo_alloc(f->L, f->L->scratch, k->nexpr + 1u);
  for (uint32_t s = 0; s < n->nstage; s++) tc_mark_stage(&n->stage[s], used);
  tc_mark_operands(k, used);
  return used;
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* The places of an axis that an access has, of one over chunks together with the axis that counts
 * them. */
typedef struct places {
  tc_dim first, last;
} places;

/* A stage, and how the fused loop is the outermost axis of its nest. */
typedef struct site {
  const tc_kernel *k;
  const tc_nest *n;
  const tc_stage *s;
  const outermost *o;
} site;

static places places_of(const fusion *f, const site *at, int i) {
  const tc_nest *n = at->n;
  const outermost *o = at->o;
  const tc_axis *x = &n->axis[i];
  const bool interval = at->s->interval && i == n->vector,
             rest = !o->axes && i == (o->chunk < 0 ? 0 : o->chunk);
  const tc_dim end = interval ? at->s->end : rest ? o->rest : x->of >= 0 ? x->total : x->extent;
  return (places){interval ? at->s->first : tc_dim_const(0),
                  tc_dim_sub(f->L->dims, end, tc_dim_const(1))};
}

/* The comparison of an axis with a size: axis + x < y, or >=.  Narrows its places to those where it
 * holds. */
static void narrow_by_comparison(const fusion *f, const tc_kernel *k, const tc_expr *e,
                                 places *all) {
  const tc_expr *x = &k->expr[e->in[0].id], *y = &k->expr[e->in[1].id];
  tc_dims *d = f->L->dims;
  int axis = -1;
  if (x->kind != TC_EX_INDEX || y->kind != TC_EX_INDEX || x->address.nterm || y->address.nterm)
    return;
  for (int i = 0; i < TC_MAX_AXES; i++) {
    if (!tc_dim_is(y->address.coef[i], 0)) return;
    if (tc_dim_is(x->address.coef[i], 0)) continue;
    if (axis >= 0 || !tc_dim_is(x->address.coef[i], 1)) return;
    axis = i;
  }
  if (axis < 0) return;
  const tc_dim bound = tc_dim_sub(d, y->address.offset, x->address.offset);
  if (e->op == OP_GE) all[axis].first = tc_dim_max(d, all[axis].first, bound);
  if (e->op == OP_LT)
    all[axis].last = tc_dim_min(d, all[axis].last, tc_dim_sub(d, bound, tc_dim_const(1)));
}

static void narrow(const fusion *f, const tc_kernel *k, tc_val guard, places *all) {
  const tc_expr *e = &k->expr[guard.id];
  if (!guard.id || e->kind != TC_EX_OP) return;
  if (e->op == OP_AND) narrow(f, k, e->in[0], all), narrow(f, k, e->in[1], all);
  else if (e->op == OP_GE || e->op == OP_LT) narrow_by_comparison(f, k, e, all);
}

/* Do axes that are not the fused loop stay within the `plane` elements of its point? */
static bool stays_in_plane(const fusion *f, const site *at, const places *all, const tc_address *a,
                           tc_dim plane) {
  tc_dims *d = f->L->dims;
  const tc_nest *n = at->n;
  const tc_dim zero = tc_dim_const(0);
  tc_dim first = a->offset, last = a->offset;
  for (int i = at->o->axes; i < n->naxis; i++) {
    const int chunk = chunk_of(n, i);
    if (!tc_dim_known_le(d, zero, a->coef[i])) return false;
    if (chunk >= 0) { /* counted with its chunks */
      if (!tc_dim_same(a->coef[i], tc_dim_mul(d, a->coef[chunk], n->axis[chunk].extent)))
        return false;
      continue;
    }
    first = tc_dim_add(d, first, tc_dim_mul(d, a->coef[i], all[i].first));
    last = tc_dim_add(d, last, tc_dim_mul(d, a->coef[i], all[i].last));
  }
  return !a->nterm && !tc_dim_bad(first) && !tc_dim_bad(last) && tc_dim_known_le(d, zero, first) &&
         tc_dim_known_le(d, tc_dim_add(d, last, tc_dim_const(1)), plane);
}

/* Is what the nest reaches of an array that is stored at one point of the fused loop that
 * point's? */
static bool is_of_plane(const fusion *f, const site *at, uint32_t buffer, const tc_address *a,
                        tc_val guard) {
  const tc_buffer *b = &f->L->p->buffer[at->k->buffer[buffer]];
  places all[TC_MAX_AXES];
  tc_dim plane, step;
  for (int i = 0; i < at->n->naxis; i++) all[i] = places_of(f, at, i);
  narrow(f, at->k, guard, all);
  return !b->layout.strided && divides(f, b->numel, f->extent, &plane) &&
         find_step(f, at->n, at->o, a, &step) && tc_dim_same(step, plane) &&
         stays_in_plane(f, at, all, a, plane);
}

static bool is_store(const tc_action *a) { return a->kind == TC_ACT_STORE; }

static bool loads_fit(const fusion *f, const site *at) {
  const tc_kernel *k = at->k;
  uint8_t *used = lo_alloc(f->L, f->L->scratch, k->nexpr + 1u);
  tc_mark_stage(at->s, used);
  tc_mark_operands(k, used);
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    tc_dim step;
    if (!used[id] || !tc_expr_has_address(e)) continue;
    if (!at->o->axes && !find_step(f, at->n, at->o, &e->address, &step)) return false;
    if (e->kind != TC_EX_LOAD || !f->stored[k->buffer[e->buffer]]) continue;
    if (!is_of_plane(f, at, e->buffer, &e->address, e->guard)) return false;
  }
  return true;
}

static bool stage_fits(const fusion *f, const site *at) {
  const tc_stage *s = at->s;
  const outermost *o = at->o;
  if (s->if_skipped || s->skip_if.id) return false;
  if (s->interval && !o->axes && at->n->vector <= (o->chunk < 0 ? 0 : o->chunk)) return false;
  for (uint32_t i = 0; i < s->naction; i++) {
    const tc_action *a = &s->action[i];
    if (a->kind == TC_ACT_ADD) return false;
    if (is_store(a) && !is_of_plane(f, at, a->buffer, &a->address, a->guard)) return false;
  }
  return loads_fit(f, at);
}

static bool nest_fits(const fusion *f, const tc_kernel *k, const tc_nest *n) {
  outermost o;
  bool ok = n->when == TC_ALWAYS && !n->serial && !n->nstreamed && find_outermost(f, n, &o);
  for (uint32_t s = 0; ok && s < n->nstage; s++)
    ok = stage_fits(f, &(site){k, n, &n->stage[s], &o});
  return ok;
}

static bool kernel_fits(const fusion *f, const tc_kernel *k) {
  bool ok = k->kind == TC_KERNEL_NESTS && !tc_dim_is(f->extent, 0);
  for (uint32_t i = 0; ok && i < k->nbuffer; i++) {
    const tc_buf_kind kind = f->L->p->buffer[k->buffer[i]].kind;
    ok = kind == TC_BUF_INPUT || kind == TC_BUF_OUTPUT || kind == TC_BUF_ARENA;
  }
  for (uint32_t n = 0; ok && n < k->nnest; n++) ok = nest_fits(f, k, &k->nest[n]);
  return ok;
}

/* ---- which kernels --------------------------------------------------------------------------- */

static void note_stored(fusion *f, const tc_kernel *k) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (tc_kernel_writes(k, i)) f->stored[k->buffer[i]] = true;
}

/* Do the first n, with what all of them store? */
static bool fit(fusion *f, uint32_t n) {
  memset(f->stored, 0, f->L->p->nbuffer * sizeof *f->stored);
  for (uint32_t k = 0; k < n; k++) note_stored(f, &f->first[k]);
  for (uint32_t k = 0; k < n; k++)
    if (!kernel_fits(f, &f->first[k])) return false;
  return true;
}

static bool reads_stored(const fusion *f, const tc_kernel *k) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (f->stored[k->buffer[i]]) return true;
  return false;
}

/* As many of the following kernels as read what those in front of them store. */
static void count_kernels(fusion *f, uint32_t most) {
  f->n = 0;
  while (f->n < most && f->n < MOST && (f->n == 0 || reads_stored(f, &f->first[f->n])) &&
         fit(f, f->n + 1))
    f->n++;
  if (f->n) fit(f, f->n);
}

/* The array that the kernel pads: its nests write it one over the other. */
static const tc_buffer *padded_by(const lo *L, const tc_kernel *k) {
  for (uint32_t i = 0; k->kind == TC_KERNEL_NESTS && k->nnest > 1 && i < k->nbuffer; i++) {
    const tc_buffer *b = &L->p->buffer[k->buffer[i]];
    if (b->kind != TC_BUF_ARENA || !b->node.id || !tc_kernel_writes(k, i)) continue;
    const tc_op op = lo_node(L, b->node)->op;
    if (op == OP_PAD || op == OP_PUT) return b;
  }
  return NULL;
}

/* The longest run from kernel `at` on, by as many leading axes of what it pads as can be. */
static bool find_fusion(lo *L, uint32_t at, fusion *best) {
  tc_program *p = L->p;
  const tc_buffer *b = padded_by(L, &p->kernel[at]);
  fusion f = {.L = L, .first = &p->kernel[at], .extent = tc_dim_const(1)};
  best->n = 0;
  for (int axis = 0; b && axis + 1 < b->type.rank && axis < LEADING; axis++) {
    f.extent = tc_dim_mul(L->dims, f.extent, b->type.dim[axis]);
    f.stored = lo_alloc(L, L->scratch, (p->nbuffer + 1u) * sizeof *f.stored);
    if (lo_at_most(L, f.extent, L->target->few_rows - 1)) continue;
    count_kernels(&f, p->nkernel - at);
    if (f.n && f.n >= best->n) *best = f;
  }
  return best->n > 0;
}

/* ---- one kernel of them ---------------------------------------------------------------------- */

typedef struct maker {
  fusion *f;
  tc_kernel *to;
  uint32_t croom, broom, nroom;
  const tc_kernel *from; /* and the nest of it at hand */
  const tc_nest *nest;
  outermost o;
  uint32_t *moved; /* per expression of `from`: its number in `to`; 0: none yet */
} maker;

static uint32_t argument(maker *m, uint32_t buffer) {
  tc_kernel *k = m->to;
  const uint32_t of = m->from->buffer[buffer];
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (k->buffer[i] == of) return i;
  k->buffer = lo_grow(m->f->L, m->f->L->arena, k->buffer, &m->broom, k->nbuffer, sizeof *k->buffer);
  k->buffer[k->nbuffer] = of;
  return k->nbuffer++;
}

static tc_val moved(const maker *m, tc_val v) { return (tc_val){m->moved[v.id]}; }

/* What the axes that are the fused loop add to an address: by its variable, or by each axis's part
 * of it. */
static tc_dim at_point(const maker *m, const tc_address *a) {
  tc_dims *d = m->f->L->dims;
  tc_dim step, inner = tc_dim_const(1), sum = tc_dim_const(0);
  if (find_step(m->f, m->nest, &m->o, a, &step)) return tc_dim_mul(d, step, m->f->symbol);
  for (int i = m->o.axes; i-- > 0;) {
    const tc_dim extent = m->nest->axis[i].extent, all = tc_dim_div(d, m->f->symbol, inner);
    sum = tc_dim_add(d, sum, tc_dim_mul(d, a->coef[i], i ? tc_dim_mod(d, all, extent) : all));
    inner = tc_dim_mul(d, inner, extent);
  }
  return sum;
}

/* Without the axes that are the fused loop, whose variable is in the offset, but of scratch. */
static void move_address(const maker *m, tc_address *a, bool scratch) {
  lo *L = m->f->L;
  const int gone = m->o.axes ? m->o.axes : m->o.chunk >= 0;
  if (!scratch) a->offset = tc_dim_add(L->dims, a->offset, at_point(m, a));
  for (int i = 0; i < TC_MAX_AXES; i++)
    a->coef[i] = i + gone < TC_MAX_AXES ? a->coef[i + gone] : tc_dim_const(0);
  for (int t = 0; t < a->nterm; t++) a->term[t].value = moved(m, a->term[t].value);
}

static bool is_scratch(const maker *m, uint32_t argument) {
  return m->f->L->p->buffer[m->to->buffer[argument]].kind == TC_BUF_PRIVATE;
}

static void move_expr(maker *m, uint32_t id) {
  tc_kernel *k = m->to;
  tc_expr e = m->from->expr[id];
  for (int i = 0; i < 3; i++) e.in[i] = moved(m, e.in[i]);
  e.guard = moved(m, e.guard);
  if (e.kind == TC_EX_LOAD) e.buffer = argument(m, e.buffer);
  if (tc_expr_has_address(&e))
    move_address(m, &e.address, e.kind == TC_EX_LOAD && is_scratch(m, e.buffer));
  k->expr = lo_grow(m->f->L, m->f->L->arena, k->expr, &m->croom, k->nexpr, sizeof *k->expr);
  k->expr[k->nexpr] = e;
  m->moved[id] = k->nexpr++;
}

static void move_action(maker *m, tc_action *a) {
  a->value = moved(m, a->value);
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; i++) a->further[i] = moved(m, a->further[i]);
  a->term = moved(m, a->term);
  a->guard = moved(m, a->guard);
  if (!is_store(a)) return;
  a->buffer = argument(m, a->buffer);
  move_address(m, &a->address, is_scratch(m, a->buffer));
}

static void move_axes(const maker *m, tc_nest *n) {
  static const char *const name[TC_MAX_AXES] = {"i", "j", "k", "l", "m", "n", "o", "p",
                                                "q", "r", "s", "t", "u", "v", "w", "y"};
  const int gone = m->o.axes ? m->o.axes : m->o.chunk >= 0;
  if (!m->o.axes && m->o.chunk < 0) n->axis[0].extent = m->o.rest;
  if (m->o.chunk >= 0)
    n->axis[m->o.chunk] = (tc_axis){.extent = m->o.rest, .of = -1, .total = tc_dim_const(0)};
  for (int i = gone; i < n->naxis; i++) {
    n->axis[i - gone] = n->axis[i];
    n->axis[i - gone].name = name[i - gone];
    if (n->axis[i].of >= 0) n->axis[i - gone].of = n->axis[i].of - gone;
  }
  n->naxis -= gone, n->nparallel -= gone;
  if (n->vector >= 0) n->vector -= gone;
  for (uint32_t s = 0; s < n->nstage; s++) n->stage[s].axes >>= gone;
}

static void move_nest(maker *m) {
  lo *L = m->f->L;
  tc_nest n = *m->nest;
  const uint8_t *used = used_by(m->f, m->from, m->nest);
  m->moved = lo_alloc(L, L->scratch, (m->from->nexpr + 1u) * sizeof *m->moved);
  find_outermost(m->f, m->nest, &m->o);
  for (uint32_t id = 1; id < m->from->nexpr; id++)
    if (used[id]) move_expr(m, id);
  n.stage = lo_alloc(L, L->arena, (n.nstage + 1u) * sizeof *n.stage);
  for (uint32_t s = 0; s < n.nstage; s++) {
    tc_stage *stage = &n.stage[s];
    *stage = m->nest->stage[s];
    stage->action = lo_alloc(L, L->arena, (stage->naction + 1u) * sizeof *stage->action);
    memcpy(stage->action, m->nest->stage[s].action, stage->naction * sizeof *stage->action);
    for (uint32_t a = 0; a < stage->naction; a++) move_action(m, &stage->action[a]);
  }
  move_axes(m, &n);
  m->to->nest = lo_grow(L, L->arena, m->to->nest, &m->nroom, m->to->nnest, sizeof *m->to->nest);
  m->to->nest[m->to->nnest++] = n;
}

/* ---- arrays of one plane --------------------------------------------------------------------- */

/* Do kernels that are not fused name it? */
static bool is_named_elsewhere(const fusion *f, uint32_t buffer) {
  const tc_program *p = f->L->p;
  for (uint32_t k = 0; k < p->nkernel; k++)
    for (uint32_t i = 0; i < p->kernel[k].nbuffer; i++)
      if (p->kernel[k].buffer[i] == buffer &&
          (&p->kernel[k] < f->first || &p->kernel[k] >= f->first + f->n))
        return true;
  return false;
}

/* Its shape without the leading axes that are the fused loop, or a row of that many. */
static tc_type type_of_plane(const fusion *f, const tc_type *t, tc_dim plane) {
  tc_type own = *t;
  tc_dim points = tc_dim_const(1);
  for (int i = 0; i + 1 < t->rank; i++) {
    points = tc_dim_mul(f->L->dims, points, t->dim[i]);
    if (!tc_dim_same(points, f->extent)) continue;
    own.rank = (uint8_t)(t->rank - i - 1);
    memmove(own.dim, t->dim + i + 1, own.rank * sizeof *own.dim);
    return own;
  }
  own.rank = 1;
  own.dim[0] = plane;
  return own;
}

static void make_private(const fusion *f) {
  tc_program *p = f->L->p;
  for (uint32_t i = 0; i < p->nbuffer; i++) {
    tc_buffer *b = &p->buffer[i];
    tc_dim plane;
    if (!f->stored[i] || b->kind != TC_BUF_ARENA || is_named_elsewhere(f, i)) continue;
    divides(f, b->numel, f->extent, &plane);
    b->kind = TC_BUF_PRIVATE;
    b->type = type_of_plane(f, &b->type, plane);
    b->numel = plane;
  }
}

/* ---- the loop's variable --------------------------------------------------------------------- */

/* A symbol that only such kernels have; those of all programs of the same symbols share it. */
static uint32_t find_symbol(lo *L) {
  char name[24] = "plane";
  uint32_t sym;
  for (int i = 0;
       tc_dim_find_sym(L->dims, name, &sym) && tc_dims_sym(L->dims, sym)->input != TC_SYM_OWN; i++)
    snprintf(name, sizeof name, "plane%d", i);
  if (tc_dim_bad(tc_dim_sym(L->dims, name, 0, INT64_MAX, 1)) ||
      !tc_dim_find_sym(L->dims, name, &sym))
    lo_fail(L, (tc_loc){0}, "out of memory");
  tc_dims_sym(L->dims, sym)->input = TC_SYM_OWN;
  return sym;
}

static tc_kernel fused(fusion *f) {
  lo *L = f->L;
  tc_kernel k = {.kind = TC_KERNEL_NESTS, .loc = f->first->loc, .nexpr = 1};
  maker m = {.f = f, .to = &k};
  const uint32_t sym = find_symbol(L);
  uint32_t croom = 0;
  f->symbol = tc_dims_sym_dim(L->dims, sym);
  k.outer = (tc_outer_loop){.fused = true, .sym = sym, .extent = f->extent};
  k.expr = lo_grow(L, L->arena, NULL, &m.croom, 0, sizeof *k.expr);
  k.expr[0] = (tc_expr){0};
  make_private(f);
  for (uint32_t i = 0; i < f->n; i++) {
    m.from = &f->first[i];
    for (uint32_t n = 0; n < m.from->nnest; n++) {
      m.nest = &m.from->nest[n];
      move_nest(&m);
    }
    for (uint32_t j = 0; j < m.from->nfused; j++) {
      k.fused = lo_grow(L, L->arena, k.fused, &croom, k.nfused, sizeof *k.fused);
      k.fused[k.nfused++] = m.from->fused[j];
    }
  }
  return k;
}

void lo_fuse_outer_loops(lo *L) {
  tc_program *p = L->p;
  for (uint32_t i = 0; L->target->fused_outer && i < p->nkernel; i++) {
    fusion f;
    if (!find_fusion(L, i, &f)) continue;
    p->kernel[i] = fused(&f);
    memmove(&p->kernel[i + 1], &p->kernel[i + f.n], (p->nkernel - i - f.n) * sizeof *p->kernel);
    p->nkernel -= f.n - 1;
    lo_flatten_windows(L, &p->kernel[i]);
    lo_widen_planes(L, &p->kernel[i]);
  }
}
