/* scatter.c - points in order that store at computed destinations: who owns those keeps the order.
 *
 * SERIAL: a thread has some destinations, and visits all points.
 * SCATTER: a warp has some, with a lane for each of their elements: all threads of its block look
 * for points whose destination is in the block, each at points of its own, and hand them to the
 * warps by way of shared memory. */
#include "backends/cuda/nest/nest.h"

#include "backends/print/print_impl.h"

static void open_block(tc_cuda_nest *x, const char *head) {
  tc_print_line(&x->s, "%s", head);
  x->s.indent += 2;
}

static void close_block(tc_cuda_nest *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static void put_size(tc_cuda_nest *x, const char *name, uint32_t along) {
  tc_buf n = {0};
  tc_cuda_put_count(x, along, &n);
  tc_print_line(&x->s, "const tc_int %s = %s;", name, n.text ? n.text : "1");
  tc_buf_free(&n);
}

/* The store of the point, whose destination xs_0 (if it is computed) is the thread's. */
static void put_own_store(tc_print_scope *s, const tc_action *a) {
  const tc_dtype dtype = s->p->buffer[s->k->buffer[a->buffer]].dtype;
  const char *t = tc_print_storage(dtype), *c = tc_print_compute(dtype);
  tc_print_place p = tc_print_locate(s, &a->address, "s");
  const uint32_t b = a->buffer, v = a->value.id;
  if (a->kind == TC_ACT_ADD)
    tc_print_line(s, "tc_store1_%s(b%u + %s, tc_add_%s(tc_splat_%s(b%u + %s), v%u));", t, b,
                  p.base.text, c, t, b, p.base.text, v);
  else tc_print_line(s, "tc_store1_%s(b%u + %s, v%u);", t, b, p.base.text, v);
  tc_print_place_free(&p);
}

/* ---- SERIAL ---------------------------------------------------------------------------------- */

/* Only the thread that owns the destination stores: order is that of the points. */
static bool take_owned_store(tc_print_scope *s, const tc_action *a) {
  tc_print_line(s, "{");
  s->indent += 2;
  tc_print_terms(s, &a->address, a->guard, "s");
  if (a->address.nterm) tc_print_line(s, "if (xs_0[0] %% (tc_int)group == owner)");
  else tc_print_line(s, "if (owner == 0)");
  if (a->guard.id) tc_print_line(s, "if (v%u[0])", a->guard.id);
  put_own_store(s, a);
  s->indent -= 2;
  tc_print_line(s, "}");
  return true;
}

static void put_serial_stage(tc_cuda_nest *x, const tc_stage *st, uint32_t mask) {
  uint32_t rest = st->axes | (x->parallel & ~mask);
  int depth = 0;
  open_block(x, "{");
  uint8_t *outer = tc_print_enter(&x->s);
  for (int i = 0; i < x->nest->naxis; ++i) {
    if (!(rest >> i & 1)) continue;
    tc_buf e = {0};
    tc_print_extent(&x->s, &x->nest->axis[i], &e);
    const char *n = x->axis_text[i];
    tc_print_line(&x->s, "for (tc_int %s = 0; %s < %s; ++%s) {", n, n, e.text, n);
    tc_buf_free(&e);
    x->s.indent += 2;
    ++depth;
  }
  for (uint32_t i = 0; i < st->naction; ++i) tc_print_hoist_action(&x->s, &st->action[i], ~0u);
  for (uint32_t i = 0; i < st->naction; ++i) tc_print_store(&x->s, &st->action[i]);
  for (; depth; --depth) close_block(x);
  tc_print_leave(&x->s, outer);
  close_block(x);
}

void tc_cuda_put_serial(tc_cuda_nest *x) {
  const uint32_t mask = tc_cuda_slice_axes(x->nest);
  put_size(x, "slices", mask);
  tc_print_line(&x->s,
                "const tc_int id = (tc_int)blockIdx.x * (tc_int)blockDim.x + (tc_int)threadIdx.x;");
  open_block(x, "if (id < slices * (tc_int)group) {");
  tc_print_line(&x->s, "const tc_int slice = id %% slices, owner = id / slices;");
  if (mask) tc_cuda_put_decode(x, mask, "slice");
  x->s.store = take_owned_store;
  for (uint32_t i = 0; i < x->nest->nstage; ++i) put_serial_stage(x, &x->nest->stage[i], mask);
  close_block(x);
}

/* ---- SCATTER --------------------------------------------------------------------------------- */

/* Axes that a point runs along: those that its destination does not lie along, and, as neighbours,
 * those along which each destination has an index of its own.  Slices are along the others. */
typedef struct axes {
  uint32_t source, other, slice;
} axes;

static axes axes_of(const tc_cuda_nest *x) {
  const uint32_t slice = tc_cuda_slice_axes(x->nest),
                 own = tc_cuda_index_axes(x->nest, x->s.depends);
  return (axes){((1u << x->nest->naxis) - 1) & ~slice, slice & own, slice & ~own};
}

static void decode_point(tc_cuda_nest *x, const axes *a, const char *point) {
  tc_print_line(&x->s, "const tc_int source = block.source(%s), other = block.other(%s);", point,
                point);
  if (a->source) tc_cuda_put_decode_by(x, a->source, "source", "rest_of_source");
  if (a->other) tc_cuda_put_decode_by(x, a->other, "other", "rest_of_other");
}

/* place[u]: of the points at hand, those whose destination is in the block. */
static void put_places(tc_cuda_nest *x, const tc_action *a, const axes *along) {
  tc_print_line(&x->s, "tc_int place[TC_U];");
  open_block(x, "TC_UNROLL for (int u = 0; u < TC_U; ++u) {");
  tc_print_line(&x->s, "const tc_int point = block.point(base, u);");
  tc_print_line(&x->s, "place[u] = -1;");
  open_block(x, "if (point < points && block.other(point) < others) {");
  uint8_t *outer = tc_print_enter(&x->s);
  decode_point(x, along, "point");
  tc_print_hoist(&x->s, a->address.term[0].value, ~0u);
  if (a->guard.id) tc_print_hoist(&x->s, a->guard, ~0u);
  tc_print_terms(&x->s, &a->address, a->guard, "s");
  if (a->guard.id) tc_print_line(&x->s, "if (v%u[0])", a->guard.id);
  tc_print_line(&x->s, "if (block.owns(point, xs_0[0])) place[u] = xs_0[0];");
  tc_print_leave(&x->s, outer);
  close_block(x);
  close_block(x);
}

/* What a warp does with a point of its own. */
static void put_match(tc_cuda_nest *x, const tc_action *a, const axes *along) {
  uint8_t *outer = tc_print_enter(&x->s);
  decode_point(x, along, "match.point");
  tc_print_line(&x->s, "const tc_uidx xs_0 = tc_one(match.place);");
  tc_print_hoist(&x->s, a->value, along->source | along->other);
  open_block(x, "_Pragma(\"unroll 4\") for (tc_int slice = block.first(slices); slice < end; slice += 32) {");
  uint8_t *inner = tc_print_enter(&x->s);
  if (along->slice) tc_cuda_put_decode(x, along->slice, "slice");
  tc_print_hoist(&x->s, a->value, ~0u);
  put_own_store(&x->s, a);
  tc_print_leave(&x->s, inner);
  close_block(x);
  tc_print_leave(&x->s, outer);
}

void tc_cuda_put_scatter(tc_cuda_nest *x) {
  const tc_action *a = &x->nest->stage[0].action[0];
  const axes along = axes_of(x);
  put_size(x, "sources", along.source);
  put_size(x, "others", along.other);
  put_size(x, "slices", along.slice);
  tc_print_line(&x->s, "tc_scatter<tc_int, TC_U> block(group);");
  tc_print_line(&x->s, "const tc_int points = block.points(sources), end = block.end(slices);");
  tc_print_line(&x->s, "int n = 0;");
  open_block(x, "for (tc_int base = 0; base < points; base += block.step()) {");
  put_places(x, a, &along);
  tc_print_line(&x->s, "n = block.collect(base, place, n);");
  tc_print_line(&x->s, "if (base + block.step() < points && block.has_room(n)) continue;");
  open_block(x, "for (int i = 0; i < n; i += 32) {");
  open_block(x, "for (tc_u32 own = block.own_of(i, n); own; own &= own - 1) {");
  tc_print_line(&x->s, "const tc_match<tc_int> match = block.found[i + __ffs((int)own) - 1];");
  put_match(x, a, &along);
  close_block(x);
  close_block(x);
  tc_print_line(&x->s, "n = 0;");
  tc_print_line(&x->s, "__syncthreads();");
  close_block(x);
}
