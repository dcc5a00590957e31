/* chain_values.c - what the kernels that become a chain compute, said in the chain's axes.
 *
 * Axes of these kernels need not be the same, for each merged its own: a place in an array tells
 * which points of two kernels meet. */
#include "lower/chain.h"

#include <string.h>

/* ---- axes ------------------------------------------------------------------------------------ */

static tc_address no_address(void) {
  tc_address a = {.offset = tc_dim_const(0)};
  for (int i = 0; i < TC_MAX_AXES; i++) a.coef[i] = tc_dim_const(0);
  return a;
}

static bool same_affine(const tc_address *a, const tc_address *b) {
  bool same = tc_dim_same(a->offset, b->offset);
  for (int i = 0; i < TC_MAX_AXES; i++) same = same && tc_dim_same(a->coef[i], b->coef[i]);
  return same;
}

bool lo_is_chain_axis(const tc_address *a, int axis) {
  tc_address one = no_address();
  one.coef[axis] = tc_dim_const(1);
  return same_affine(a, &one);
}

tc_address lo_translate_affine(const lo_translation *t, const tc_address *a) {
  tc_dims *d = t->c->L->dims;
  tc_address x = no_address();
  x.offset = a->offset;
  for (int y = 0; y < TC_MAX_AXES; y++)
    for (int i = 0; !tc_dim_is(a->coef[y], 0) && i < TC_MAX_AXES; i++)
      x.coef[i] = tc_dim_add(d, x.coef[i], tc_dim_mul(d, a->coef[y], t->axis[y].coef[i]));
  return x;
}

static void open_translation(lo_translation *t, lo_chain *c, const tc_kernel *k) {
  *t = (lo_translation){
      .c = c, .k = k, .to = lo_alloc(c->L, c->L->scratch, (k->nexpr + 1u) * sizeof *t->to)};
  for (int i = 0; i < TC_MAX_AXES; i++) t->axis[i] = no_address();
}

const tc_expr *lo_chain_operand(const lo_chain *c) {
  return &c->outer->expr[c->swapped ? c->outer->mm.b.id : c->outer->mm.a.id];
}

/* The chain's axis `at`, a batch or m, becomes two, of which the inner one has `inner` points; the
 * other is a batch. */
static void split_axis(lo_chain *c, int at, tc_dim inner) {
  tc_dims *d = c->L->dims;
  tc_mm_loop *mm = &c->mm;
  for (int i = mm->nbatch + 3; i > at; i--) mm->axis[i] = mm->axis[i - 1];
  mm->nbatch++;
  mm->axis[at + 1].extent = inner;
  mm->axis[at].extent = tc_dim_div(d, mm->axis[at].extent, inner);
  for (int y = 0; y < TC_MAX_AXES; y++) {
    tc_address *a = &c->t.axis[y];
    for (int i = TC_MAX_AXES - 1; i > at; i--) a->coef[i] = a->coef[i - 1];
    a->coef[at] = tc_dim_mul(d, a->coef[at], inner);
  }
}

/* A kernel whose axes step over the array by `stride` knows more axes than the outer product, which
 * has heads that share keys in one batch, or in one m with their rows: as many are made. */
static bool split_at(lo_chain *c, tc_dim stride) {
  const tc_address a = lo_translate_affine(&c->t, &lo_chain_operand(c)->address);
  tc_dims *d = c->L->dims;
  for (int i = 0; i < c->mm.nbatch + 3; i++)
    if (tc_dim_same(a.coef[i], stride)) return true;
  for (int i = 0; i <= c->mm.nbatch; i++) {
    if (tc_dim_is(a.coef[i], 0)) continue;
    const tc_dim inner = tc_dim_div(d, stride, a.coef[i]),
                 rest = tc_dim_div(d, c->mm.axis[i].extent, inner);
    if (!tc_dim_same(tc_dim_mul(d, inner, a.coef[i]), stride) || tc_dim_is(inner, 1)) continue;
    if (!tc_dim_same(tc_dim_mul(d, inner, rest), c->mm.axis[i].extent)) continue;
    if (c->mm.nbatch == TC_MAX_RANK) return false;
    split_axis(c, i, inner);
    return true;
  }
  return false;
}

static void name_axes(lo_chain *c) {
  static const char *const batch[TC_MAX_RANK] = {"b", "c", "e", "f", "g", "h", "i", "j"};
  for (int i = 0; i < c->mm.nbatch; i++) c->mm.axis[i].name = batch[i];
  for (int i = 0; i < 3; i++)
    c->mm.axis[c->mm.nbatch + i].name = (const char *const[]){"m", "n", "k"}[i];
}

bool lo_open_axes(lo_chain *c) {
  const int m = c->outer->mm.nbatch;
  open_translation(&c->t, c, c->outer);
  c->mm = c->outer->mm;
  for (int i = 0; i < m + 3; i++) c->t.axis[i].coef[i] = tc_dim_const(1);
  if (c->swapped) {
    const tc_axis rows = c->mm.axis[m];
    const tc_address row = c->t.axis[m];
    c->mm.axis[m] = c->mm.axis[m + 1], c->mm.axis[m + 1] = rows;
    c->t.axis[m] = c->t.axis[m + 1], c->t.axis[m + 1] = row;
  }
  for (uint32_t i = 0; i < c->nmade; i++)
    for (int y = 0; y < c->made[i].n; y++) {
      /* the others are rows and columns, whole or merged with batches */
      const bool outermost = y + 2 < c->made[i].n;
      const tc_dim stride = c->made[i].store->address.coef[y];
      if (!split_at(c, stride) && outermost) return false;
    }
  if (tc_mm_axes(&c->mm) + TC_MM_INNERS > TC_MAX_AXES) return false;
  name_axes(c);
  return true;
}

bool lo_take_beside(lo_chain *c, const lo_chain *other) {
  const int n = other->mm.nbatch + 3;
  if (other->mm.nbatch != c->mm.nbatch) return false;
  for (int i = 0; i < n; i++)
    if (!tc_dim_same(other->mm.axis[i].extent, c->mm.axis[i].extent)) return false;
  open_translation(&c->beside, c, other->outer);
  memcpy(c->beside.axis, other->t.axis, sizeof c->beside.axis);
  c->beside_swapped = other->swapped;
  return true;
}

bool lo_take_across(lo_chain *c, const lo_chain *other) {
  const int m = c->mm.nbatch, n = m + 3;
  if (other->mm.nbatch != m) return false;
  open_translation(&c->across, c, other->outer);
  memcpy(c->across.axis, other->t.axis, sizeof c->across.axis);
  c->across_swapped = other->swapped;
  for (int y = 0; y < TC_MAX_AXES; y++) {
    tc_dim *coef = c->across.axis[y].coef, rows = coef[m];
    coef[m] = coef[m + 2], coef[m + 2] = rows;
  }
  for (int i = 0; i < n; i++) {
    const int mine = i == m ? m + 2 : i == m + 2 ? m : i;
    if (!tc_dim_same(other->mm.axis[i].extent, c->mm.axis[mine].extent)) return false;
  }
  const tc_address at = lo_translate_affine(&c->across, &lo_chain_operand(other)->address);
  return same_affine(&at, &c->made[0].at);
}

/* An axis of `extent` points that steps by `stride` over an array, as axes of the chain, which
 * steps by `at`. */
static bool cover(const lo_chain *c, const tc_address *at, tc_dim stride, tc_dim extent,
                  tc_address *out) {
  tc_dims *d = c->L->dims;
  tc_dim points = tc_dim_const(1);
  *out = no_address();
  while (!tc_dim_same(points, extent)) {
    int i = 0;
    while (i < c->mm.nbatch + 3 &&
           !(tc_dim_same(at->coef[i], stride) && tc_dim_is(out->coef[i], 0)))
      i++;
    if (i == c->mm.nbatch + 3 || tc_dim_is(stride, 0)) return false;
    out->coef[i] = points;
    points = tc_dim_mul(d, points, c->mm.axis[i].extent);
    stride = tc_dim_mul(d, stride, c->mm.axis[i].extent);
  }
  return true;
}

/* Is it an axis of the chain, m or k, and batches that stand beside it (heads that share keys), and
 * not the other one? */
static bool runs_along(const lo_chain *c, const tc_address *a, int axis) {
  const int m = c->mm.nbatch, other = axis == m ? m + 2 : m;
  return tc_dim_is(a->coef[axis], 1) && tc_dim_is(a->coef[other], 0) && tc_dim_is(a->offset, 0);
}

/* A product of rows and keys is the chain's next inner one; its d becomes an axis. */
static bool take_inner(lo_chain *c, lo_made *made) {
  static const char *const deep[TC_MM_INNERS] = {"d", "l"};
  const tc_mm_loop *in = &made->k->mm;
  const int i = c->mm.inner.n, m = c->mm.nbatch, k = m + 2;
  const tc_address *rows = &made->t.axis[in->nbatch], *columns = &made->t.axis[in->nbatch + 1];
  const bool turned = runs_along(c, rows, k) && runs_along(c, columns, m);
  if (i == TC_MM_INNERS || in->operand != c->mm.operand) return false;
  if (!turned && !(runs_along(c, rows, m) && runs_along(c, columns, k))) return false;
  c->mm.inner.n++;
  made->inner = i;
  c->mm.axis[tc_mm_deep(&c->mm, i)] = in->axis[in->nbatch + 2];
  c->mm.axis[tc_mm_deep(&c->mm, i)].name = deep[i];
  made->t.axis[in->nbatch + 2].coef[tc_mm_deep(&c->mm, i)] = tc_dim_const(1);
  c->mm.inner.a[i] = lo_translate(&made->t, turned ? in->b : in->a);
  c->mm.inner.b[i] = lo_translate(&made->t, turned ? in->a : in->b);
  return true;
}

/* What the same product stores at the same place, found before. */
static const lo_made *find_twin(const lo_chain *c, const lo_made *m, const tc_address *at) {
  for (uint32_t i = 0; i < c->nmade; i++) {
    const lo_made *o = &c->made[i];
    if (o->found && !o->bare && o->k == m->k && m->k->kind == TC_KERNEL_MATMUL && same_affine(&o->at, at) &&
        lo_same_place(&o->store->address, &m->store->address))
      return o;
  }
  return NULL;
}

bool lo_find_made(lo_chain *c, lo_made *m, const tc_address *at) {
  if (m->found) return same_affine(&m->at, at);
  const lo_made *twin = find_twin(c, m, at);
  if (twin) {
    m->found = true, m->at = *at, m->inner = twin->inner, m->t = twin->t;
    return true;
  }
  open_translation(&m->t, c, m->k);
  for (int i = 0; i < m->n; i++)
    if (!cover(c, at, m->store->address.coef[i], m->axis[i].extent, &m->t.axis[i])) return false;
  const tc_address there = lo_translate_affine(&m->t, &m->store->address);
  m->found = true;
  m->at = *at;
  return same_affine(&there, at) && (m->k->kind != TC_KERNEL_MATMUL || m->bare || take_inner(c, m));
}

/* ---- values ---------------------------------------------------------------------------------- */

tc_address lo_translate_address(lo_translation *t, const tc_address *a) {
  tc_address x = lo_translate_affine(t, a);
  x.nterm = a->nterm;
  for (int i = 0; i < a->nterm; i++) {
    x.term[i] = a->term[i];
    x.term[i].value = lo_translate(t, a->term[i].value);
  }
  return x;
}

static tc_val fail(lo_translation *t) {
  t->c->failed = true;
  return (tc_val){0};
}

/* What a row that is kept between stages holds at the load's place. */
static tc_val local(lo_translation *t, const tc_expr *e) {
  const tc_nest *n = t->k->nest;
  for (uint32_t s = 0; s < n->nstage; s++)
    for (uint32_t i = 0; i < n->stage[s].naction; i++) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind == TC_ACT_STORE && a->buffer == e->buffer &&
          lo_same_place(&a->address, &e->address))
        return lo_translate(t, a->value);
    }
  return fail(t);
}

static tc_val translate_result(lo_translation *t, const tc_expr *e) {
  lo_chain *c = t->c;
  if (t->k == c->outer) return lo_result(&c->b, TC_MM_PRODUCT, e->loc);
  if (t->k == c->beside.k) return lo_result(&c->b, TC_MM_BESIDE, e->loc);
  if (t->k == c->across.k) return lo_result(&c->b, TC_MM_ACROSS, e->loc);
  for (uint32_t i = 0; i < c->nmade; i++)
    if (c->made[i].found && c->made[i].t.to == t->to && t->k->kind == TC_KERNEL_MATMUL)
      return lo_result(&c->b, tc_mm_inner_result(c->made[i].inner), e->loc);
  if (!c->reduces) return fail(t);
  return e->index == c->softmax->max->index ? lo_result(&c->b, TC_MM_ROWS, e->loc) : c->total;
}

static tc_val translate_load(lo_translation *t, const tc_expr *e) {
  lo_chain *c = t->c;
  const uint32_t buffer = t->k->buffer[e->buffer];
  for (uint32_t i = 0; i < c->nmade; i++) {
    lo_made *m = &c->made[i];
    if (m->buffer != buffer) continue;
    const tc_address at = lo_translate_affine(t, &e->address);
    if (e->guard.id || e->address.nterm || !lo_find_made(c, m, &at)) return fail(t);
    return lo_translate(&m->t, m->store->value);
  }
  if (c->L->p->buffer[buffer].kind == TC_BUF_LOCAL) return local(t, e);
  tc_expr x = *e;
  x.buffer = lo_kernel_buffer(&c->b, buffer);
  x.guard = lo_translate(t, e->guard);
  x.address = lo_translate_address(t, &e->address);
  return lo_expr(&c->b, &x);
}

tc_address lo_row_place(const lo_chain *c, const lo_softmax *s) {
  const tc_nest *n = s->k->nest;
  tc_address a = no_address();
  tc_dim stride = tc_dim_const(1);
  for (int i = n->nparallel; i-- > 0; stride = tc_dim_mul(c->L->dims, stride, n->axis[i].extent))
    a.coef[i] = stride;
  return a;
}

/* A value of the row as the array has it that the chain with the softmax writes; none yet: it is
 * made. */
static tc_val translate_kept(lo_translation *t, tc_val v, const tc_expr *e) {
  lo_chain *c = t->c;
  lo_softmax *s = c->softmax;
  const tc_nest *n = s->k->nest;
  uint32_t i = 0;
  while (i < s->nkept && s->kept[i].value.id != v.id) i++;
  if (i == LO_ROW_VALUES || tc_dtype_bytes(e->dtype) < 4) return fail(t);
  if (i == s->nkept) {
    tc_type type = {.rank = 1, .dtype = e->dtype};
    type.dim[0] = tc_dim_const(1);
    for (int y = 0; y < n->nparallel; y++)
      type.dim[0] = tc_dim_mul(c->L->dims, type.dim[0], n->axis[y].extent);
    s->kept[s->nkept++] =
        (lo_row_value){v, lo_new_buffer(c->L, TC_BUF_ARENA, 0, e->dtype, &type, "rows")};
  }
  const tc_address place = lo_row_place(c, s);
  const tc_expr x = {.kind = TC_EX_LOAD,
                     .dtype = e->dtype,
                     .buffer = lo_kernel_buffer(&c->b, s->kept[i].buffer),
                     .address = lo_translate_affine(t, &place),
                     .loc = e->loc};
  return lo_expr(&c->b, &x);
}

tc_val lo_translate(lo_translation *t, tc_val v) {
  const tc_expr *e = &t->k->expr[v.id];
  lo_chain *c = t->c;
  if (!v.id || t->to[v.id].id) return t->to[v.id];
  if (t->k == c->softmax->k && c->softmax->of_row && !c->reduces && c->softmax->of_row[v.id])
    return t->to[v.id] = translate_kept(t, v, e);
  if (e->kind == TC_EX_LOAD) return t->to[v.id] = translate_load(t, e);
  if (e->kind == TC_EX_RESULT) return t->to[v.id] = translate_result(t, e);
  tc_expr x = *e;
  for (int i = 0; i < 3; i++) x.in[i] = lo_translate(t, e->in[i]);
  if (tc_expr_has_address(e)) x.address = lo_translate_address(t, &e->address);
  return t->to[v.id] = lo_expr(&c->b, &x);
}
