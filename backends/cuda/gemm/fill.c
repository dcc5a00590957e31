/* fill.c - a tile of an operand on its way to shared memory: an array as it is by 16-byte copies in
 * the background or, where it is not aligned, in smaller parts by way of registers; any other value
 * is computed and stored where the copy would have put it.  Outside of the operand are zeros. */
#include "backends/cuda/gemm/matmul.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_deep(const tc_cuda_fill *f) { return f->o->along == f->deep.axis; }

/* Elements of a copy: 16 bytes. */
static int lanes_of(const tc_cuda_product *x) { return 16 / (int)tc_dtype_bytes(x->mm->operand); }

/* C: where the element at hand, `near` and `far`, is in the tile. */
static const char *place_of(const tc_cuda_product *x, const tc_cuda_fill *f) {
  if (x->mm->operand != TC_F32) return "tc_place<rows>(far, near)";
  return is_deep(f) ? "tc_place_f32<rows, width, true>(far, near)" : "tc_place_f32<rows, width, false>(far, near)";
}

static void put_sides(tc_cuda_product *x, const tc_cuda_fill *f) {
  tc_print_line(&x->s, "constexpr int width = %s, rows = %s;",
                is_deep(f) ? f->deep.count : f->outer.count,
                is_deep(f) ? f->outer.count : f->deep.count);
}

/* Item `number` of the thread, `step` neighbours along the operand's own axis: `near` and `far` in
 * the tile, the axes' numbers, and whether they are inside. */
static void put_item(tc_cuda_product *x, const tc_cuda_fill *f, const char *number,
                     const char *step) {
  const bool deep = is_deep(f);
  const char *outer = x->text[f->outer.axis], *k = x->text[f->deep.axis];
  tc_print_line(&x->s, "const int item = ((int)threadIdx.x + %s * THREADS) * %s;", number, step);
  tc_print_line(&x->s, "const int near = item %% width, far = item / width;");
  tc_print_line(&x->s, "const tc_int %s = %s + %s, %s = %s + %s;", outer, f->outer.from,
                deep ? "far" : "near", k, f->deep.from, deep ? "near" : "far");
  tc_print_line(&x->s, "const bool live = %s < %s && %s < %s;", outer, f->outer.end, k,
                f->deep.end);
}

/* `live` of the operand's own guard too, made of places: the name of what says so. */
static const char *put_guard(tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_val guard = x->k->expr[f->o->value.id].guard;
  if (!guard.id) return "live";
  tc_print_value(&x->s, guard);
  tc_print_line(&x->s, "const bool there = live && v%u[0];", guard.id);
  return "there";
}

/* Opens the loop over the tile. */
static void open_fill(tc_cuda_product *x, const tc_cuda_fill *f, const char *step) {
  put_sides(x, f);
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < %s * %s / (THREADS * %s); ++e) {",
                f->deep.count, f->outer.count, step);
  x->s.indent += 2;
  put_item(x, f, "e", step);
}

/* ---- copies in the background ---------------------------------------------------------------- */

static const tc_cuda_span *span_along(const tc_cuda_fill *f) {
  return is_deep(f) ? &f->deep : &f->outer;
}

/* May the operand's own axis end within a copy? */
static bool is_partial(const tc_cuda_product *x, const tc_cuda_fill *f) {
  return tc_dim_multiple(tc_graph_dims(x->p->graph), x->mm->axis[f->o->along].extent) % lanes_of(x) != 0;
}

/* `some`: how many elements are copied, of those from `at` on, where the copy is live. */
static void put_count(tc_cuda_product *x, const tc_cuda_fill *f, const char *at) {
  if (is_partial(x, f))
    tc_print_line(&x->s, "const int some = (int)TC_MIN((tc_int)%d, %s - (%s));", lanes_of(x), span_along(f)->end,
                  at);
  else tc_print_line(&x->s, "constexpr int some = %d;", lanes_of(x));
}

static void put_copies(tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  tc_buf at = {0};
  open_fill(x, f, lanes_of(x) == 8 ? "8" : "4");
  uint8_t *outer = tc_print_enter(&x->s);
  const char *live = put_guard(x, f);
  tc_print_address(&x->s, &e->address, &at);
  put_count(x, f, x->text[f->o->along]);
  tc_print_line(&x->s, "tc_copy_async(%c_tile + %s, b%u + (%s ? %s : 0), %s ? some : 0);", f->name, place_of(x, f), e->buffer,
                live, at.text ? at.text : "0", live);
  tc_print_leave(&x->s, outer);
  tc_cuda_close_scope(x);
  tc_buf_free(&at);
}

/* ---- a step from each copy to the next ------------------------------------------------------- */

bool tc_cuda_has_steps(const tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  return f->o->plain && tc_dtype_is_half(x->mm->operand) && f->o->plan.width == 8 && !e->guard.id && !e->address.nterm &&
         !tc_mm_parts(x->mm, f->deep.axis) && !tc_mm_parts(x->mm, f->outer.axis);
}

/* Of the tile's first copies of the thread: where they are, and the step.  They are as many as a row has parts: a warp's copies
 * fill lines. */
static void put_first_copies(tc_cuda_product *x, const tc_cuda_fill *f, const tc_cuda_span *own,
                             const tc_cuda_span *across, const char *thread) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  const char *const near = x->text[own->axis];
  tc_buf at = {0}, step = {0};
  tc_print_line(&x->s, "const int near = %s * 8 %% part, far = %s * 8 / part;", thread, thread);
  tc_print_line(&x->s, "const tc_int %s = %s + near, %s = TC_MIN(%s + far, %s - 1);", near, own->from, x->text[across->axis], across->from, across->end);
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_address(&x->s, &e->address, &at);
  tc_print_leave(&x->s, outer);
  tc_print_dim(x->p, e->address.coef[across->axis], &step);
  tc_print_line(&x->s, "typedef typename tc_wrap<tc_int>::type at_t; /* sums of which are addresses by one more instruction each */");
  tc_print_line(&x->s, "const at_t begin = (at_t)tc_kept((tc_int)(%s)), step = below * (%s);", at.text ? at.text : "0", step.text ? step.text : "0");
  tc_print_line(&x->s, "int at[turns];");
  tc_print_line(&x->s, "TC_UNROLL for (int i = 0; i < turns; ++i) at[i] = tc_place<rows>(far + i * below, near);");
  tc_buf_free(&at);
  tc_buf_free(&step);
}

static void put_copy(tc_cuda_product *x, const tc_cuda_fill *f, const char *from, const char *count) {
  tc_print_line(&x->s, "      tc_copy_async(%c_tile + at[e %% turns] + (e / turns * (turns * below * 64) + p * (part * rows)), %s, %s);", f->name, from, count);
}

/* Copies that share an address take its registers once, which are free again when they have been read. */
static void put_whole_steps(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *const type = tc_print_storage(x->mm->operand);
  tc_print_line(&x->s, "  TC_UNROLL for (int e = 0; e < rows / below; ++e) {");
  tc_print_line(&x->s, "    const tc_%s *const from = b%u + (at_t)(begin + e * step);", type, x->k->expr[f->o->value.id].buffer);
  tc_print_line(&x->s, "    TC_UNROLL for (int p = 0; p < parts; ++p)");
  put_copy(x, f, "from + p * part", "8");
  tc_print_line(&x->s, "  }");
}

/* Zeros where the tile goes beyond the operand. */
static void put_partial_steps(tc_cuda_product *x, const tc_cuda_fill *f, const tc_cuda_span *own) {
  char from[64];
  snprintf(from, sizeof from, "b%u + (some ? (at_t)(begin + e * step) + p * part : 0)", x->k->expr[f->o->value.id].buffer);
  tc_print_line(&x->s, "  int most[parts];");
  tc_print_line(&x->s, "  TC_UNROLL for (int p = 0; p < parts; ++p) most[p] = (int)TC_MAX(TC_MIN((tc_int)8, %s - (%s + near + p * part)), (tc_int)0);", own->end, own->from);
  tc_print_line(&x->s, "  TC_UNROLL for (int e = 0; e < rows / below; ++e)");
  tc_print_line(&x->s, "    TC_UNROLL for (int p = 0; p < parts; ++p) {");
  tc_print_line(&x->s, "      const int some = e * below < left ? most[p] : 0;");
  put_copy(x, f, from, "some");
  tc_print_line(&x->s, "    }");
}

/* Places lie as at first 8 rows below; columns of 64 follow one another. */
void tc_cuda_put_stepped_fill(tc_cuda_product *x, const tc_cuda_fill *f, const char *thread,
                              const char *threads) {
  const tc_cuda_span *const own = is_deep(f) ? &f->deep : &f->outer,
                     *const across = is_deep(f) ? &f->outer : &f->deep;
  put_sides(x, f);
  tc_print_line(&x->s, "constexpr int part = width <= 64 ? width : width %% 128 == 0 ? width / 2 : 64, parts = width / part; /* of a row */");
  tc_print_line(&x->s, "constexpr int below = %s * 8 / part; /* rows of the tile from a thread's copies to its next */", threads);
  tc_print_line(&x->s, "constexpr int turns = TC_MAX(8 / below, 1); /* copies until places lie as at first, 8 rows or more below */");
  tc_print_line(&x->s, "static_assert(part * parts == width && below * part == %s * 8 && rows %% (turns * below) == 0 && turns * below %% 8 == 0, \"copies that make the tile\");", threads);
  put_first_copies(x, f, own, across, thread);
  tc_print_line(&x->s, "const tc_int left = %s - (%s + far);", across->end, across->from);
  tc_print_line(&x->s, "if (left > rows - below && %s + width <= %s) { /* a length that is known takes fewer instructions */", own->from, own->end);
  put_whole_steps(x, f);
  tc_print_line(&x->s, "} else {");
  put_partial_steps(x, f, own);
  tc_print_line(&x->s, "}");
}

static uint32_t deep_axes(const tc_cuda_product *x, const tc_cuda_fill *f) {
  return 1u << f->deep.axis | tc_mm_parts(x->mm, f->deep.axis);
}

/* What of an address changes along the deep axis alone, or the rest of it. */
static void put_half(tc_cuda_product *x, const tc_cuda_fill *f, const tc_address *a, bool deep,
                     tc_buf *out) {
  tc_address half = *a;
  const uint32_t axes = deep_axes(x, f);
  if (deep) half.offset = tc_dim_const(0);
  for (int i = 0; i < TC_MAX_AXES; ++i)
    if ((bool)(axes >> i & 1) != deep) half.coef[i] = tc_dim_const(0);
  tc_print_address(&x->s, &half, out);
}

static bool is_place(const tc_cuda_product *x, const tc_expr *e) {
  bool any = false;
  for (int i = 0; i < x->s.naxis; ++i) any |= !tc_dim_is(e->address.coef[i], 0);
  return any && e->kind == TC_EX_INDEX;
}

/* The next place behind `after` that the guard of the operand asks for; 0: there are no more. */
static uint32_t next_place(const tc_cuda_product *x, const tc_cuda_fill *f, uint32_t after) {
  const tc_val guard = x->k->expr[f->o->value.id].guard;
  uint8_t *need = guard.id ? calloc(x->k->nexpr + 1, 1) : NULL;
  uint32_t i = after + 1;
  if (guard.id && !need) x->s.out->failed = true;
  if (!need) return 0;
  need[guard.id] = 1;
  tc_mark_operands(x->k, need);
  while (i <= guard.id && !(need[i] && is_place(x, &x->k->expr[i]))) ++i;
  free(need);
  return i <= guard.id ? i : 0;
}

static void put_begun(tc_cuda_product *x, const tc_cuda_fill *f, const char *name, uint32_t number,
                      const tc_address *a) {
  tc_buf at = {0};
  put_half(x, f, a, false, &at);
  tc_print_line(&x->s, "%c_%s%u[e] = tc_kept(%s);", f->name, name, number, at.text ? at.text : "0");
  tc_buf_free(&at);
}

void tc_cuda_begin_fill(tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  const char c = f->name, *outer = x->text[f->outer.axis];
  const int lanes = lanes_of(x);
  if (!f->o->plain) return;
  tc_print_line(&x->s, "constexpr int %c_items = %c_lanes == %d ? %s * %s / (THREADS * %d) : 1;", c,
                c, lanes, f->deep.count, f->outer.count, lanes);
  tc_print_line(&x->s, "tc_int %c_at%u[%c_items];", c, e->buffer, c);
  for (uint32_t i = 0; (i = next_place(x, f, i));)
    tc_print_line(&x->s, "tc_int %c_place%u[%c_items];", c, i, c);
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < %c_items; ++e) {", c);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int item = ((int)threadIdx.x + e * THREADS) * %d;", lanes);
  if (is_deep(f)) tc_print_line(&x->s, "const tc_int %s = TC_MIN(%s + item / %s, %s - 1);", outer, f->outer.from, f->deep.count, f->outer.end);
  else tc_print_line(&x->s, "const tc_int %s = TC_MIN(%s + item %% %s, (%s - 1) / %d * %d);", outer, f->outer.from, f->outer.count, f->outer.end, lanes, lanes);
  put_begun(x, f, "at", e->buffer, &e->address);
  for (uint32_t i = 0; (i = next_place(x, f, i));)
    put_begun(x, f, "place", i, &x->k->expr[i].address);
  tc_cuda_close_scope(x);
}

/* What changes along the deep axis of an address or a place. */
static void put_deep(tc_cuda_product *x, const tc_cuda_fill *f, const char *name, uint32_t number,
                     const tc_address *a) {
  tc_buf at = {0};
  put_half(x, f, a, true, &at);
  tc_print_line(&x->s, "const tc_int %s%u = %s;", name, number, at.text ? at.text : "0");
  tc_buf_free(&at);
}

/* At the point along the deep axis at hand. */
static void put_point(tc_cuda_product *x, const tc_cuda_fill *f) {
  const tc_expr *e = &x->k->expr[f->o->value.id];
  const char *k = x->text[f->deep.axis];
  tc_print_line(&x->s, "const tc_int %s = %s + %s;", k, f->deep.from, is_deep(f) ? "near" : "far");
  tc_print_line(&x->s, "const bool live = %s < %s;", k, f->deep.end);
  put_deep(x, f, "at", e->buffer, &e->address);
  for (uint32_t i = 0; (i = next_place(x, f, i));)
    put_deep(x, f, "place", i, &x->k->expr[i].address);
}

/* Those of a point beyond the outer axis are the last ones inside. */
static void put_begun_count(tc_cuda_product *x, const tc_cuda_fill *f) {
  char at[96];
  if (is_deep(f)) snprintf(at, sizeof at, "%s", x->text[f->deep.axis]);
  else snprintf(at, sizeof at, "TC_MIN(%s + near, (%s - 1) / %d * %d)", f->outer.from, f->outer.end, lanes_of(x), lanes_of(x));
  put_count(x, f, at);
}

/* A thread's items are below each other.  whole: no axis ends within the tile. */
static void put_begun_tile(tc_cuda_product *x, const tc_cuda_fill *f, bool whole) {
  const uint32_t buffer = x->k->expr[f->o->value.id].buffer;
  const int lanes = lanes_of(x);
  tc_print_line(&x->s, "const int item = (int)threadIdx.x * %d, near = item %% width, first = item / width;", lanes);
  if (is_deep(f)) put_point(x, f);
  put_begun_count(x, f);
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < %c_items; ++e) {", f->name);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int far = first + e * (THREADS * %d / width);", lanes);
  if (!is_deep(f)) put_point(x, f);
  uint8_t *outer = tc_print_enter(&x->s);
  for (uint32_t i = 0; (i = next_place(x, f, i));) {
    tc_print_line(&x->s, "const tc_ui64 v%u = tc_set_i64(%c_place%u[e] + place%u);", i, f->name, i,
                  i);
    x->s.printed[i] = 1;
  }
  const char *live = put_guard(x, f);
  tc_print_line(&x->s, "tc_copy_async(%c_tile + %s, b%u + (%c_at%u[e] + at%u), %s%s);", f->name, place_of(x, f), buffer, f->name, buffer,
                buffer, whole ? lanes == 8 ? "8" : "4" : live, whole ? "" : " ? some : 0");
  tc_print_leave(&x->s, outer);
  tc_cuda_close_scope(x);
}

/* Copies of a constant length are faster. */
static void put_begun_copies(tc_cuda_product *x, const tc_cuda_fill *f) {
  put_sides(x, f);
  if (x->k->expr[f->o->value.id].guard.id) {
    put_begun_tile(x, f, false);
    return;
  }
  tc_buf columns = {0};
  if (!is_deep(f)) tc_putf(&columns, " && %s + %s <= %s", f->outer.from, f->outer.count, f->outer.end);
  tc_print_line(&x->s, "if (%s + %s <= %s%s) {", f->deep.from, f->deep.count, f->deep.end,
                columns.text ? columns.text : "");
  tc_buf_free(&columns);
  x->s.indent += 2;
  put_begun_tile(x, f, true);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  put_begun_tile(x, f, false);
  tc_cuda_close_scope(x);
}

/* ---- by way of registers --------------------------------------------------------------------- */

static void put_values(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *type = tc_print_storage(x->mm->operand);
  tc_print_line(&x->s, "constexpr int TC_L = %c_lanes;", f->name);
  tc_print_line(&x->s, "TC_TYPES");
  open_fill(x, f, "TC_L");
  tc_print_line(&x->s, "tc_vf32 part = tc_set_f32(0);");
  tc_print_line(&x->s, "if (live) {");
  x->s.indent += 2;
  tc_cuda_put_part(x, f->o, (int)f->o->plan.width);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "tc_store_%s((tc_%s *)(%c_tile + %s), part);", type, type, f->name, place_of(x, f));
  tc_cuda_close_scope(x);
}

static void put_load(tc_cuda_product *x, const tc_cuda_fill *f, const char *live, const char *at) {
  const uint32_t buffer = x->k->expr[f->o->value.id].buffer;
  if (f->o->neighbours)
    tc_print_line(&x->s, "part[e] = tc_hold_first<L>(b%u + (%s ? %s : 0), %s ? some : 0);", buffer, live, at, live);
  else tc_print_line(&x->s, "part[e] = tc_hold<L>(b%u + (%s ? %s : 0));", buffer, live, at);
}

static void put_stored(tc_cuda_product *x, const tc_cuda_fill *f, const char *live) {
  const char *type = tc_print_storage(x->mm->operand);
  tc_buf value = {0};
  if (f->o->neighbours) tc_putf(&value, "tc_first(part[e], %s ? some : 0)", live);
  else tc_print_line(&x->s, "if (!%s) part[e] = {};", live), tc_put(&value, "part[e]");
  tc_print_line(&x->s, "tc_put_held((tc_%s *)(%c_tile + %s), %s);", type, f->name, place_of(x, f), value.text ? value.text : "");
  tc_buf_free(&value);
}

/* Of an array as it is that is not aligned: as many neighbours as a copy has, from the aligned words
 * that they lie in; or smaller parts where memory has no more neighbours.  Some of a thread's are
 * loaded before the first is stored. */
static void put_parts(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *type = tc_print_storage(x->mm->operand);
  const bool neighbours = f->o->neighbours;
  tc_buf at = {0};
  tc_print_address(&x->s, &x->k->expr[f->o->value.id].address, &at);
  put_sides(x, f);
  if (neighbours) tc_print_line(&x->s, "constexpr int L = %d, all = %s * %s / (THREADS * L), each = all %% 4 == 0 ? 4 : all %% 3 == 0 ? 3 : all %% 2 == 0 ? 2 : 1;", lanes_of(x), f->deep.count, f->outer.count);
  else tc_print_line(&x->s, "constexpr int L = %c_lanes, all = %s * %s / (THREADS * L), each = all < 16 ? all : 16;", f->name,
                f->deep.count, f->outer.count);
  tc_print_line(&x->s, "TC_ROLLED for (int chunk = 0; chunk < all; chunk += each) {");
  tc_print_line(&x->s, "  tc_held%s<tc_%s, L> part[each];", neighbours ? "_anywhere" : "", type);
  x->s.indent += 2;
  for (int stores = 0; stores < 2; ++stores) {
    tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < each; ++e) {");
    x->s.indent += 2;
    put_item(x, f, "(chunk + e)", "L");
    uint8_t *outer = tc_print_enter(&x->s);
    const char *live = put_guard(x, f);
    if (neighbours) put_count(x, f, x->text[f->o->along]);
    if (stores) put_stored(x, f, live);
    else put_load(x, f, live, at.text ? at.text : "0");
    tc_print_leave(&x->s, outer);
    tc_cuda_close_scope(x);
  }
  tc_cuda_close_scope(x);
  tc_buf_free(&at);
}

static void put_fill(tc_cuda_product *x, const tc_cuda_fill *f,
                     void (*copies)(tc_cuda_product *, const tc_cuda_fill *)) {
  if (!f->o->plain) {
    put_values(x, f);
    return;
  }
  tc_print_line(&x->s, "if constexpr (%c_lanes == %d) {", f->name, lanes_of(x));
  x->s.indent += 2;
  copies(x, f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  put_parts(x, f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_put_fill(tc_cuda_product *x, const tc_cuda_fill *f) { put_fill(x, f, put_copies); }

void tc_cuda_put_begun_fill(tc_cuda_product *x, const tc_cuda_fill *f) {
  put_fill(x, f, put_begun_copies);
}
