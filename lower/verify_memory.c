/* verify_memory.c - the rules of buffers, and of what kernels load and store. */
#include "lower/verify.h"

#include <stdlib.h>

static tc_dims *dims_of(const lo_checker *c) { return tc_graph_dims(c->p->graph); }

/* ---- buffers --------------------------------------------------------------------------------- */

static void check_place(lo_checker *c, const tc_buffer *b, uint32_t i) {
  tc_dims *d = dims_of(c);
  const tc_dim size = tc_dim_const((int64_t)tc_dtype_bytes(b->dtype));
  if (b->kind != TC_BUF_ARENA) {
    if (!tc_dim_is(b->offset, 0)) lo_wrong(c, "buffer %u has a place in the workspace", i);
    return;
  }
  const tc_dim end = tc_dim_add(d, b->offset, tc_dim_mul(d, b->numel, size));
  if (tc_dim_multiple(d, b->offset) % 64) lo_wrong(c, "buffer %u is not aligned", i);
  if (tc_dim_known_le(d, tc_dim_add(d, c->p->workspace, tc_dim_const(1)), end))
    lo_wrong(c, "buffer %u leaves the workspace", i);
}

void lo_check_buffer(lo_checker *c, uint32_t i) {
  const tc_buffer *b = &c->p->buffer[i];
  const tc_dim numel = tc_layout_numel(dims_of(c), &b->type, &b->layout);
  if (b->layout.strided && b->kind != TC_BUF_ARENA && b->kind != TC_BUF_KEPT)
    lo_wrong(c, "buffer %u has a layout of its own", i);
  if (b->layout.strided && tc_dim_bad(numel)) lo_wrong(c, "elements of buffer %u share places", i);
  if (!tc_dim_bad(numel) && !tc_dim_known_eq(dims_of(c), b->numel, numel))
    lo_wrong(c, "buffer %u has another size than its layout", i);
  if (b->kind == TC_BUF_KEPT && b->version != TC_STATE &&
      b->version >= tc_graph_input_count(c->p->graph))
    lo_wrong(c, "buffer %u depends on operand %u", i, b->version);
  if (c->ok) check_place(c, b, i);
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* Adds what lies between the first and the last point of an axis to the first or last element.
 * false: that is not known. */
static bool add_axis(lo_checker *c, const tc_address *a, int i, tc_dim *first, tc_dim *last) {
  tc_dims *d = dims_of(c);
  const tc_axis *axis = &c->axis[i];
  const tc_dim zero = tc_dim_const(0), one = tc_dim_const(1), coef = a->coef[i];
  const bool up = tc_dim_known_le(d, zero, coef), down = tc_dim_known_le(d, coef, zero);
  /* a part, beside no step of the whole */
  const bool apart = i >= c->part && tc_dim_is(a->coef[axis->of], 0);
  if ((axis->of >= 0 && !apart) || (!up && !down)) return false;
  const bool interval = c->stage && i == c->vector;
  const tc_dim from = interval ? c->stage->first : zero,
               to = tc_dim_sub(d, interval ? c->stage->end : axis->extent, one);
  if (interval && !tc_dim_known_le(d, from, to)) return false;
  *first = tc_dim_add(d, *first, tc_dim_mul(d, coef, up ? from : to));
  *last = tc_dim_add(d, *last, tc_dim_mul(d, coef, up ? to : from));
  return true;
}

static bool has_points(lo_checker *c, const tc_axis *axis) {
  return tc_dim_known_le(dims_of(c), tc_dim_const(1), axis->extent);
}

/* Elements from the first to behind the last of b, with what lies between rows. */
static tc_dim room_of(lo_checker *c, const tc_buffer *b) {
  tc_dims *d = dims_of(c);
  for (uint32_t i = 0; b->pitched && i < tc_dims_sym_count(d); i++) {
    const tc_sym *s = tc_dims_sym(d, i);
    if (tc_is_pitch(c->p, i) && s->input == (int32_t)b->index)
      return tc_dim_mul(d, tc_dim_div(d, b->numel, b->type.dim[s->axis]), tc_dims_sym_dim(d, i));
  }
  return b->numel;
}

void lo_check_access(lo_checker *c, uint32_t buffer, const tc_address *a) {
  tc_dims *d = dims_of(c);
  const tc_buffer *b = &c->p->buffer[c->k->buffer[buffer]];
  tc_dim first = tc_dim_add(d, c->k->base[buffer], a->offset), last = first;
  if (a->nterm && a->term[0].free) return; /* not known */
  for (int i = 0; i < c->naxis; i++) {
    if (!has_points(c, &c->axis[i])) return;
    if (tc_dim_is(a->coef[i], 0)) continue;
    if (!add_axis(c, a, i, &first, &last)) return;
  }
  const tc_dim room = room_of(c, b);
  if (tc_dim_bad(first) || tc_dim_bad(last) || tc_dim_bad(room)) return;
  if (tc_dim_known_le(d, room, last) || tc_dim_known_le(d, first, tc_dim_const(-1)))
    lo_wrong(c, "an access leaves buffer %u", c->k->buffer[buffer]);
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* What the marked values load, and which axes and results they name. */
static void check_marked(lo_checker *c, const uint8_t *used) {
  for (uint32_t id = c->k->nexpr; id-- > 1;) {
    const tc_expr *e = &c->k->expr[id];
    if (!used[id]) continue;
    if (e->kind == TC_EX_RESULT && e->index >= c->nresult)
      lo_wrong(c, "expression %u: there is no result %u", id, e->index);
    for (int i = c->naxis; tc_expr_has_address(e) && i < TC_MAX_AXES; i++)
      if (!tc_dim_is(e->address.coef[i], 0)) lo_wrong(c, "expression %u uses axis %d", id, i);
    if (e->kind == TC_EX_LOAD && !e->guard.id) lo_check_access(c, e->buffer, &e->address);
  }
}

void lo_check_loads(lo_checker *c, const tc_stage *stage, uint32_t n, tc_val x, tc_val y) {
  uint8_t *used = calloc(c->k->nexpr + 1u, sizeof *used);
  if (!used || !c->ok) {
    if (!used) lo_wrong(c, "out of memory");
    free(used);
    return;
  }
  for (uint32_t s = 0; s < n; s++)
    if (!stage[s].interval || c->stage) tc_mark_stage(&stage[s], used);
  used[x.id] = used[y.id] = 1;
  tc_mark_operands(c->k, used);
  check_marked(c, used);
  free(used);
}

/* ---- what outlives a call -------------------------------------------------------------------- */

static bool has_version(const tc_buffer *b) {
  return b->kind == TC_BUF_KEPT && b->version != TC_STATE;
}

/* The KEPT buffer with a version that a stage stores to, or NULL; `other`: it stores elsewhere
 * too. */
static const tc_buffer *kept_by(const lo_checker *c, const tc_stage *s, bool *other) {
  const tc_buffer *kept = NULL;
  for (uint32_t i = 0; i < s->naction; i++) {
    const tc_action *a = &s->action[i];
    if (a->kind != TC_ACT_STORE && a->kind != TC_ACT_ADD) continue;
    const tc_buffer *b = &c->p->buffer[c->k->buffer[a->buffer]];
    if (has_version(b)) kept = b;
    else *other |= b->kind != TC_BUF_LOCAL;
  }
  return kept;
}

/* Is all that the kernel reads known by the version? */
static void check_sources(lo_checker *c, uint32_t version) {
  for (uint32_t i = 1; i < c->k->nexpr; i++) {
    const tc_expr *e = &c->k->expr[i];
    if (e->kind == TC_EX_SCALAR && e->index < tc_graph_scalar_count(c->p->graph))
      lo_wrong(c, "what is kept depends on a number");
    if (e->kind != TC_EX_LOAD) continue;
    const tc_buffer *b = &c->p->buffer[c->k->buffer[e->buffer]];
    const bool known = tc_buffer_of_thread(b) || (has_version(b) && b->version == version) ||
                       (b->kind == TC_BUF_INPUT && b->index == version);
    if (!known) lo_wrong(c, "what is kept depends on buffer %u", c->k->buffer[e->buffer]);
  }
}

static void check_arrays(lo_checker *c) {
  for (uint32_t i = 0; i < c->k->nbuffer; i++) {
    const tc_buffer *b = &c->p->buffer[c->k->buffer[i]];
    if (b->layout.strided) lo_wrong(c, "a kernel of whole arrays is passed a layout");
    if (i == 0 && !c->k->effect && has_version(b))
      lo_wrong(c, "a kernel of whole arrays makes what is kept");
  }
}

static void check_kept(lo_checker *c) {
  const tc_kernel *k = c->k;
  bool other = false;
  const tc_buffer *kept = kept_by(c, &k->mm.epilogue, &other);
  for (uint32_t n = 0; n < k->nnest; n++)
    for (uint32_t s = 0; s < k->nest[n].nstage; s++) {
      const tc_buffer *b = kept_by(c, &k->nest[n].stage[s], &other);
      other |= b && kept && b->version != kept->version;
      if (b) kept = b;
    }
  if (!kept) return;
  if (other) lo_wrong(c, "a kernel stores what is kept, and more");
  check_sources(c, kept->version);
}

void lo_check_memory(lo_checker *c) {
  if (tc_kernel_takes_arrays(c->k)) check_arrays(c);
  else check_kept(c);
}

/* ---- siblings -------------------------------------------------------------------------------- */

static bool is_sibling(const tc_program *p, const tc_kernel *k, const tc_kernel *first) {
  bool ok = k->sibling && k->kind == TC_KERNEL_NESTS && k->nnest == 1 && !k->nest->serial &&
            k->nest->when == TC_ALWAYS && k->nbuffer == first->nbuffer && k->nsize == first->nsize;
  for (uint32_t i = 0; ok && i < k->nbuffer; i++)
    ok = p->buffer[k->buffer[i]].dtype == p->buffer[first->buffer[i]].dtype &&
         p->buffer[k->buffer[i]].kind == p->buffer[first->buffer[i]].kind;
  for (uint32_t i = 0; ok && i < k->nsize; i++) ok = k->size[i].sym == first->size[i].sym;
  return ok;
}

static bool stores_to_workspace(const tc_program *p, const tc_kernel *k) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (p->buffer[k->buffer[i]].kind == TC_BUF_ARENA && tc_kernel_writes(k, i)) return true;
  return false;
}

/* by[b]: 1 + the kernel that stores to program buffer b. */
static void check_stores(lo_checker *c, uint32_t first, uint32_t end, uint32_t *by) {
  const tc_kernel *kernel = c->p->kernel;
  for (uint32_t k = first; k < end; k++)
    for (uint32_t i = 0; i < kernel[k].nbuffer; i++)
      if (tc_kernel_writes(&kernel[k], i)) by[kernel[k].buffer[i]] = k + 1;
  for (uint32_t k = first; k < end; k++)
    for (uint32_t i = 0; i < kernel[k].nbuffer; i++) {
      const uint32_t other = by[kernel[k].buffer[i]];
      c->k = &kernel[k];
      if (other && other != k + 1)
        lo_wrong(c, "waits for %s, and is in its launch", kernel[other - 1].name);
    }
}

void lo_check_siblings(lo_checker *c, uint32_t first, uint32_t end) {
  const tc_kernel *kernel = c->p->kernel;
  if (end - first == 1) return;
  for (uint32_t k = first; k < end; k++) {
    c->k = &kernel[k];
    if (!is_sibling(c->p, c->k, &kernel[first])) lo_wrong(c, "is in a launch of others");
    for (uint32_t j = first; j < k && stores_to_workspace(c->p, c->k); j++)
      if (tc_kernels_meet(c->p, c->k, &kernel[j]))
        lo_wrong(c, "waits for %s, and is in its launch", kernel[j].name);
  }
  uint32_t *by = calloc(c->p->nbuffer + 1u, sizeof *by);
  if (!by) lo_wrong(c, "out of memory");
  else if (c->ok) check_stores(c, first, end, by);
  free(by);
}
