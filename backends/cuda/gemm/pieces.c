/* pieces.c - a tile of an operand that every thread has pieces of: from memory to registers, and
 * from there to shared memory, where it lies [deep][outer] in the type that sums have. */
#include "backends/cuda/gemm/matmul.h"

static bool is_deep(const tc_cuda_fill *f) { return f->o->along == f->deep.axis; }

/* Opens the loop over the pieces, TC_L neighbours along the operand's own axis each: `row` and
 * `deep` are where a piece is.  Neighbours along the deep axis are transposed on their way: a warp
 * takes 16 elements of some rows, which go to different banks, or to two each. */
static void open_pieces(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *side = f->outer.count, *deep = f->deep.count;
  tc_print_line(&x->s, "{ /* %s */", f->what);
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = %c_lanes;", f->name);
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "TC_UNROLL for (int e = 0; e < %s * %s / (%d * TC_L); ++e) {", side, deep,
                TC_CUDA_THREADS);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int item = (int)threadIdx.x + e * %d;", TC_CUDA_THREADS);
  if (is_deep(f)) {
    tc_print_line(&x->s, "constexpr int run = tc_most(TC_MIN(16, %s) / TC_L, 32 / %s);", deep,
                  side);
    tc_print_line(&x->s, "constexpr int rows = 32 / run;");
    tc_print_line(&x->s, "constexpr int runs = %s / (run * TC_L);", deep);
    tc_print_line(&x->s, "const int row = item / 32 / runs * rows + item %% rows;");
    tc_print_line(&x->s, "const int deep = (item / 32 %% runs * run + item / rows %% run) * TC_L;");
  } else {
    tc_print_line(&x->s, "const int row = item %% (%s / TC_L) * TC_L;", side);
    tc_print_line(&x->s, "const int deep = item / (%s / TC_L);", side);
  }
}

static void close_pieces(tc_cuda_product *x) {
  for (int i = 0; i < 2; ++i) {
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
}

/* A piece of an array as it is; nothing is loaded where its guard does not hold. */
static void put_loaded(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_expr *e = &x->k->expr[o->value.id];
  tc_buf at = {0};
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_address(&x->s, &e->address, &at);
  if (e->guard.id) tc_print_value(&x->s, e->guard);
  if (e->guard.id) tc_print_line(&x->s, "if (v%u[0]) part = tc_load_%s(b%u + (%s));", e->guard.id, tc_print_storage(x->mm->operand), e->buffer, at.text ? at.text : "0");
  else tc_print_line(&x->s, "part = tc_load_%s(b%u + (%s));", tc_print_storage(x->mm->operand), e->buffer, at.text ? at.text : "0");
  tc_print_leave(&x->s, outer);
  tc_buf_free(&at);
}

/* Rows of a chain's operands may end within a piece. */
static void put_tail(tc_cuda_product *x, const tc_cuda_fill *f) {
  const char *k = x->text[f->deep.axis], *end = f->deep.end;
  if (!is_deep(f) || !tc_mm_is_chain(x->mm)) return;
  tc_print_line(&x->s, "if (%s + TC_L > %s)", k, end);
  tc_print_line(&x->s, "  TC_UNROLL for (int l = 0; l < TC_L; ++l) part.l[l] = %s + l < %s ? part.l[l] : 0;", k, end);
}

void tc_cuda_put_fetch(tc_cuda_product *x, const tc_cuda_fill *f, const char *to) {
  const char *type = tc_cuda_acc(x), *across = x->text[f->outer.axis], *k = x->text[f->deep.axis];
  open_pieces(x, f);
  tc_print_line(&x->s, "const tc_int %s = %s + row, %s = %s + deep;", across, f->outer.from, k,
                f->deep.from);
  tc_print_line(&x->s, "tc_v%s part = tc_set_%s(0);", type, type);
  tc_print_line(&x->s, "if (%s < %s && %s < %s) {", across, f->outer.end, k, f->deep.end);
  x->s.indent += 2;
  if (f->o->plain) put_loaded(x, f->o);
  else tc_cuda_put_part(x, f->o, (int)f->o->plan.width);
  put_tail(x, f);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "%s[e] = part;", to);
  close_pieces(x);
}

void tc_cuda_put_place(tc_cuda_product *x, const tc_cuda_fill *f, const char *from,
                       const char *to) {
  open_pieces(x, f);
  if (is_deep(f))
    tc_print_line(&x->s, "TC_UNROLL for (int l = 0; l < TC_L; ++l) %s[deep + l][row] = %s[e][l];",
                  to, from);
  else tc_print_line(&x->s, "tc_store_%s(&%s[deep][row], %s[e]);", tc_cuda_acc(x), to, from);
  close_pieces(x);
}

int tc_cuda_piece(const tc_cuda_operand *o) {
  enum { PIECE = 4 };
  return (int)o->plan.width < PIECE ? (int)o->plan.width : PIECE;
}
