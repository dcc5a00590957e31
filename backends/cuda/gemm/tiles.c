/* tiles.c - what the templates of products print alike: sizes, the loop over tiles, instances, values
 * and stores at a point. */
#include "backends/cuda/gemm/matmul.h"

#include <stdio.h>

void tc_cuda_put_size(const tc_program *p, const tc_mm_loop *mm, int axis, tc_buf *out) {
  tc_put(out, "(");
  tc_print_dim(p, mm->axis[axis].extent, out);
  tc_put(out, ")");
}

void tc_cuda_put_extent(tc_cuda_product *x, const char *name, int axis) {
  tc_buf t = {0};
  tc_print_dim(x->p, x->mm->axis[axis].extent, &t);
  tc_print_line(&x->s, "const tc_int %s = %s;", name, t.text);
  tc_buf_free(&t);
}

const char *tc_cuda_acc(const tc_cuda_product *x) { return tc_print_compute(x->mm->acc); }

void tc_cuda_put_batches(tc_cuda_product *x) {
  tc_print_line(&x->s, "tc_int rest = tile / (m_tiles * n_tiles);");
  tc_cuda_put_batch_numbers(x);
}

void tc_cuda_put_batch_numbers(tc_cuda_product *x) {
  for (int i = x->mm->nbatch - 1; i >= 0; --i) {
    tc_buf e = {0};
    tc_print_dim(x->p, x->mm->axis[i].extent, &e);
    tc_print_line(&x->s, "const tc_int %s = rest %% (%s);", x->text[i], e.text);
    tc_print_line(&x->s, "rest /= %s;", e.text);
    tc_buf_free(&e);
  }
}

void tc_cuda_put_batch_count(const tc_program *p, const tc_mm_loop *mm, tc_buf *out) {
  tc_put(out, "1");
  for (int i = 0; i < mm->nbatch; ++i) {
    tc_put(out, " * ");
    tc_cuda_put_size(p, mm, i, out);
  }
}

static void open_tiles(tc_cuda_product *x, const char *high, const char *broad, bool of_all) {
  tc_buf batches = {0};
  tc_cuda_put_batch_count(x->p, x->mm, &batches);
  tc_cuda_put_extent(x, "m_end", x->m);
  tc_cuda_put_extent(x, "n_end", x->n);
  tc_cuda_put_extent(x, "k_end", x->kk);
  tc_print_line(&x->s,
                "const tc_int m_tiles = TC_CEILDIV(m_end, %s), n_tiles = TC_CEILDIV(n_end, %s);",
                high, broad);
  const bool parts = tc_cuda_has_k_parts(x->k);
  const char *const count = batches.text ? batches.text : "1";
  const char *const name = parts ? "shared_out" : of_all ? "at" : "tile";
  tc_print_line(&x->s,
                "for (tc_int %s = blockIdx.x; %s < %s * m_tiles * n_tiles%s; %s += gridDim.x) {",
                name, name, count, parts ? " * (tc_int)k_parts" : "", name);
  x->s.indent += 2;
  if (parts)
    tc_print_line(&x->s, "const tc_int %s = shared_out / (tc_int)k_parts, share = shared_out %% (tc_int)k_parts;", of_all ? "at" : "tile");
  if (of_all)
    tc_print_line(&x->s, "const tc_int tile = at %% (%s) * (m_tiles * n_tiles) + at / (%s);", count,
                  count);
  tc_buf_free(&batches);
}

void tc_cuda_open_tiles(tc_cuda_product *x, const char *high, const char *broad) {
  open_tiles(x, high, broad, false);
}

void tc_cuda_open_tiles_of_all(tc_cuda_product *x, const char *high, const char *broad) {
  open_tiles(x, high, broad, true);
}

void tc_cuda_close_scope(tc_cuda_product *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_put_instance(const tc_cuda_product *x, const tc_cuda_bodies *b, const char *of,
                          int number, int threads, bool producers, int blocks, const char *arguments,
                          tc_buf *out) {
  char bound[48];
  snprintf(bound, sizeof bound, producers ? "%d + TC_PRODUCERS" : "%d", threads);
  tc_cuda_put_instance_of(x, b, of, number, bound, blocks, arguments, out);
}

void tc_cuda_put_instance_of(const tc_cuda_product *x, const tc_cuda_bodies *b, const char *of, int number,
                             const char *threads, int blocks, const char *arguments, tc_buf *out) {
  tc_putf(out, "extern \"C\" __global__ void __launch_bounds__(%s, %d) @NAME@_%d(\n    ", threads, blocks, number);
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_put(out, ") {\n");
  tc_cuda_put_wait(x->k, x->p, b->all, false, out);
  tc_putf(out, "  @NAME@_%s<%s>(", of, arguments ? arguments : "");
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_PASS, out);
  tc_put(out, ");\n}\n");
}

void tc_cuda_put_part(tc_cuda_product *x, const tc_cuda_operand *o, int lanes) {
  const bool half = tc_dtype_is_half(x->mm->operand) && x->plan->template != TC_CUDA_SIMT;
  x->s.vector = lanes > 1 ? o->along : -1;
  uint8_t *outer = tc_print_enter(&x->s);
  tc_print_value(&x->s, o->value);
  if (half)
    tc_print_line(&x->s, "part = tc_round_%s(v%u);", tc_print_storage(x->mm->operand), o->value.id);
  else tc_print_line(&x->s, "part = v%u;", o->value.id);
  tc_print_leave(&x->s, outer);
  x->s.vector = -1;
}

bool tc_cuda_may_be_unaligned(const tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_dim n = x->mm->axis[x->n].extent;
  const int64_t width = o[TC_CUDA_EPILOGUE].plan.width;
  return width > 1 && !tc_dim_is_const(n) &&
         tc_dim_multiple(tc_graph_dims(x->p->graph), n) % width != 0;
}

void tc_cuda_put_finish(tc_cuda_product *x, const tc_stage *st, int lanes) {
  x->s.vector = lanes > 1 ? x->n : -1;
  uint8_t *outer = tc_print_enter(&x->s);
  for (uint32_t i = 0; i < st->naction; ++i) tc_print_hoist_action(&x->s, &st->action[i], ~0u);
  for (uint32_t i = 0; i < st->naction; ++i) tc_print_store(&x->s, &st->action[i]);
  tc_print_leave(&x->s, outer);
  x->s.vector = -1;
}
