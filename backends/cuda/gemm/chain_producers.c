/* chain_producers.c - tiles of chains on tensor cores, and the warps that bring them to the others. */
#include <stdio.h>

#include "backends/cuda/gemm/chain_mma.h"

/* ---- tiles ----------------------------------------------------------------------------------- */

const char *tc_cuda_tile_width(int which) {
  return which == TC_CUDA_B ? "N" : which == TC_CUDA_INNER_B ? "D" : "E";
}

tc_cuda_fill tc_cuda_tile_fill(const tc_cuda_product *x, const tc_cuda_operand *o, int which, const char *key) {
  tc_cuda_fill f = tc_cuda_chain_fill(x, o, which, key);
  if (which == TC_CUDA_B) { /* as of any product: columns, and what is summed over */
    const tc_cuda_span keys = f.outer;
    f.outer = f.deep;
    f.deep = keys;
  }
  return f;
}

void tc_cuda_open_tile(tc_cuda_product *x, const tc_cuda_fill *f, const char *tile) {
  tc_print_line(&x->s, "{ /* %s */", f->what);
  x->s.indent += 2;
  tc_print_line(&x->s, "unsigned short *const %c_tile = %s;", f->name, tile);
}

/* ---- producers ------------------------------------------------------------------------------- */

/* Does an outer product read the tile? */
static bool is_outer(const tc_cuda_product *x, int which) {
  bool any = false;
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i) any |= tc_cuda_chain_outer_of(x, i).b == which;
  return any;
}

void tc_cuda_put_mbarriers(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_cuda_chain_tiles t = tc_cuda_chain_tiles_of(x);
  if (!tc_cuda_chain_has_producers(x, o)) return;
  for (int i = 0; i < t.n; ++i) {
    const char c = tc_cuda_chain_letter[t.which[i]];
    tc_print_line(&x->s, "__shared__ tc_mbarrier %c_full[SLOTS], %c_empty[SLOTS];", c, c);
  }
  tc_print_line(&x->s, "constexpr int COPIERS = PRODUCERS / %d; /* of a tile */",
                TC_CUDA_PRODUCERS / tc_cuda_chain_copiers(x));
  tc_print_line(&x->s, "bool begun = false;");
}

/* Each block's rows begin with mbarriers of phase 0. */
void tc_cuda_put_mbarrier_inits(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_cuda_chain_tiles t = tc_cuda_chain_tiles_of(x);
  if (!tc_cuda_chain_has_producers(x, o)) return;
  tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "if (threadIdx.x == 0)");
  tc_print_line(&x->s, "  for (int i = 0; i < SLOTS; ++i) {");
  for (int i = 0; i < t.n; ++i) {
    const char c = tc_cuda_chain_letter[t.which[i]];
    tc_print_line(&x->s, "    if (begun) tc_mbarrier_inval(&%c_full[i]), tc_mbarrier_inval(&%c_empty[i]);", c, c);
    tc_print_line(&x->s, "    tc_mbarrier_init(&%c_full[i], COPIERS), tc_mbarrier_init(&%c_empty[i], THREADS / 32);", c, c);
  }
  tc_print_line(&x->s, "  }");
  tc_print_line(&x->s, "begun = true;");
  tc_print_line(&x->s, "__syncthreads();");
  tc_cuda_close_scope(x);
}

/* Brings all tiles of an operand, each as soon as its place is empty. */
static void put_copier(tc_cuda_product *x, const tc_cuda_operand *o, int which) {
  const char c = tc_cuda_chain_letter[which];
  const tc_cuda_fill f = tc_cuda_tile_fill(x, o, which, "key0");
  char place[64];
  tc_print_line(&x->s, "for (tc_int key0 = first; key0 < end; key0 += KEYS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "tc_mbarrier_wait(&%c_empty[now], !phase);", c);
  snprintf(place, sizeof place, "%c_place + now * (KEYS * %s)", c, tc_cuda_tile_width(which));
  tc_cuda_open_tile(x, &f, place);
  tc_cuda_put_stepped_fill(x, &f, "copier", "COPIERS");
  tc_cuda_close_scope(x);
  tc_print_line(&x->s, "tc_copies_arrive(&%c_full[now]);", c);
  tc_print_line(&x->s, "if (++now == SLOTS) now = 0, phase = !phase;");
  tc_cuda_close_scope(x);
}

/* Opens what the block's other warps do. */
void tc_cuda_put_producers(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_cuda_chain_tiles t = tc_cuda_chain_tiles_of(x);
  if (!tc_cuda_chain_has_producers(x, o)) return;
  tc_cuda_open_producers(x, TC_CUDA_FEW_REGISTERS);
  tc_print_line(&x->s, "const int copier = ((int)threadIdx.x - THREADS) %% COPIERS, tile_of = ((int)threadIdx.x - THREADS) / COPIERS;");
  for (int i = 0; i < t.n; ++i) {
    tc_print_line(&x->s, "if (tile_of == %d) {", i);
    x->s.indent += 2;
    put_copier(x, o, t.which[i]);
    tc_cuda_close_scope(x);
  }
  tc_cuda_close_scope(x);
  tc_print_line(&x->s, "__syncthreads();");
  tc_cuda_open_consumers(x, TC_CUDA_FEW_REGISTERS, "1");
}

void tc_cuda_close_producers(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (tc_cuda_chain_has_producers(x, o)) tc_cuda_close_scope(x);
}

/* Waits until tiles are there that inner products read, or, inner: false, those that outer ones alone do. */
void tc_cuda_put_waits(tc_cuda_product *x, const tc_cuda_operand *o, bool inner, const char *at,
                      const char *phase) {
  const tc_cuda_chain_tiles t = tc_cuda_chain_tiles_of(x);
  bool any = false;
  for (int i = 0; tc_cuda_chain_has_producers(x, o) && i < t.n; ++i) {
    if ((t.which[i] != TC_CUDA_B) != inner) continue;
    any = true;
    tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) tc_mbarrier_wait(&%c_full[%s], %s);",
                  tc_cuda_chain_letter[t.which[i]], at, phase);
  }
  if (any) tc_print_line(&x->s, "if constexpr (PRODUCERS > 0) tc_chain_ready();");
}

/* The warp has read the tiles that outer products read, or that none does. */
void tc_cuda_put_releases(tc_cuda_product *x, const tc_cuda_operand *o, bool outer, const char *at,
                       const char *condition) {
  const tc_cuda_chain_tiles t = tc_cuda_chain_tiles_of(x);
  for (int i = 0; tc_cuda_chain_has_producers(x, o) && i < t.n; ++i)
    if (is_outer(x, t.which[i]) == outer)
      tc_print_line(&x->s, "if (PRODUCERS > 0 && lane == 0%s) tc_mbarrier_arrive(&%c_empty[%s]);",
                    condition, tc_cuda_chain_letter[t.which[i]], at);
}

/* What is done where there are no producers. */
void tc_cuda_open_alone(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (!tc_cuda_chain_has_producers(x, o)) return;
  tc_print_line(&x->s, "if constexpr (PRODUCERS == 0) {");
  x->s.indent += 2;
}

void tc_cuda_close_alone(tc_cuda_product *x, const tc_cuda_operand *o) {
  if (tc_cuda_chain_has_producers(x, o)) tc_cuda_close_scope(x);
}
