/* k_parts.c - see k_parts.h. */
#include "backends/cuda/gemm/k_parts.h"

#include "backends/cuda/emit.h"
#include "backends/cuda/gemm/chain.h"

#include <stdio.h>

enum { THREADS = 128 /* of what adds parts */ };

/* ---- how many -------------------------------------------------------------------------------- */

static const char helpers[] =
    "/* Parts of k, at most `most`, of so many tiles of a product, each of so many steps along k.  A step takes `full` ns where a\n"
    " * multiprocessor has `held` blocks, `alone` where it has one; a tile takes `rest` beside; what adds the parts is one more launch,\n"
    " * and reads them one behind another.  *time: of the fastest. */\n"
    "TC_CUDA_FN int64_t tc_cuda_k_parts(const tcrt_cuda_info *info, int64_t tiles, int64_t steps, int64_t most, int64_t held,\n"
    "                                   double full, double alone, double rest, double *time) {\n"
    "  const int64_t room = held * (info->sms > 0 ? info->sms : 1);\n"
    "  int64_t fastest = 1;\n"
    "  *time = 0;\n"
    "  for (int64_t i = 1; i <= most && (i == 1 || (steps >= 4 * i && tiles * i <= room)); ++i) {\n"
    "    const int64_t each = tc_cuda_ceildiv(steps, i), parts = each > 0 ? tc_cuda_ceildiv(steps, each) : 1;\n"
    "    const int64_t rounds = tiles * parts / room, over = tiles * parts % room;\n"
    "    const double part = full * (double)over / (double)room, step = part > alone ? part : alone;\n"
    "    const double gather = parts > 1 ? 6500 + 120 * (double)parts : 0;\n"
    "    const double now = (double)rounds * (full * (double)each + rest) + (over ? step * (double)each + rest : 0) + gather;\n"
    "    if (i == 1 || now < *time) fastest = parts, *time = now;\n"
    "  }\n"
    "  return fastest;\n"
    "}\n";

/* Of the smallest tiles: their side, k of a step; and what these take, ns (of an H200, in convolutions). */
enum { SIDE = 64, STEP = 64, HELD = 3, FULL = 540, ALONE = 330, REST = 1800 };

void tc_cuda_put_k_parts_helpers(tc_buf *out) {
  tc_put(out, tc_cuda_chain_parts_helper);
  tc_put(out, helpers);
}

static void put_count(const tc_program *p, const tc_mm_loop *mm, int axis, int each, tc_buf *out) {
  tc_put(out, "tc_cuda_ceildiv(");
  tc_cuda_put_size(p, mm, axis, out);
  tc_putf(out, ", %d)", each);
}

static void put_parts(const tc_kernel *k, const tc_program *p, const char *info, const char *time, tc_buf *out) {
  const tc_mm_loop *mm = &k->mm;
  tc_putf(out, "tc_cuda_k_parts(%s, ", info);
  tc_cuda_put_batch_count(p, mm, out);
  for (int i = 0; i < 2; ++i) {
    tc_put(out, " * ");
    put_count(p, mm, mm->nbatch + i, SIDE, out);
  }
  tc_put(out, ", ");
  put_count(p, mm, mm->nbatch + TC_CUDA_ALONG_K, STEP, out);
  tc_putf(out, ", %lld, %d, %d, %d, %d, %s)", (long long)tc_cuda_kernel_schedule_of(k)->k_parts, HELD, FULL, ALONE, REST, time);
}

void tc_cuda_put_most_k_parts(const tc_kernel *k, const tc_program *p, const char *info, tc_buf *out) {
  if (tc_mm_is_chain(&k->mm)) tc_cuda_chain_put_most_parts(k, p, info, out);
  else put_parts(k, p, info, "&(double){0}", out);
}

/* Elements of all tiles along an axis. */
static void put_padded(const tc_program *p, const tc_mm_loop *mm, int axis, tc_buf *out) {
  put_count(p, mm, axis, SIDE, out);
  tc_putf(out, " * %d", SIDE);
}

void tc_cuda_put_k_sums_bytes(const tc_kernel *k, const tc_program *p, const char *parts, tc_buf *out) {
  const tc_mm_loop *mm = &k->mm;
  if (tc_mm_is_chain(mm)) {
    tc_cuda_chain_put_sums_bytes(k, p, parts, out);
    return;
  }
  tc_putf(out, "(%s > 1 ? %s * 4 * (", parts, parts);
  tc_cuda_put_batch_count(p, mm, out);
  tc_put(out, ") * ");
  put_padded(p, mm, mm->nbatch, out);
  tc_put(out, " * ");
  put_padded(p, mm, mm->nbatch + TC_CUDA_ALONG_N, out);
  tc_put(out, " : 0)");
}

void tc_cuda_put_k_parts(const tc_cuda_product *x, int smallest, tc_buf *out) {
  if (!tc_cuda_has_k_parts(x->k)) return;
  tc_put(out, "  double shared_out = 0;\n"
              "  int64_t k_parts = ");
  put_parts(x->k, x->p, "c->info", "&shared_out", out);
  tc_putf(out,
          ";\n"
          "  if (vectorized && shared_out >= time) k_parts = 1;\n"
          "  if (vectorized && k_parts > 1) at = %d;\n"
          "  void *const k_sums = buf[%u];\n",
          smallest, x->k->nbuffer);
}

/* ---- a block --------------------------------------------------------------------------------- */

void tc_cuda_put_part_of_k(tc_cuda_product *x) {
  if (!tc_cuda_has_k_parts(x->k)) return;
  tc_print_line(&x->s, "const tc_int k_all = k_end, each = TC_CEILDIV(TC_CEILDIV(k_all, %d), (tc_int)k_parts) * %d; /* of a part */", STEP, STEP);
  tc_print_line(&x->s, "const tc_int k_first = TC_MIN(share * each, k_all);");
  tc_print_line(&x->s, "const tc_int k_end = TC_MIN(k_all, k_first + each);");
}

static tc_buf batches_of(const tc_cuda_product *x) {
  tc_buf b = {0};
  tc_cuda_put_batch_count(x->p, x->mm, &b);
  return b;
}

void tc_cuda_put_leave_sums(tc_cuda_product *x, const tc_cuda_operand *o, void (*put)(tc_cuda_product *x, const tc_cuda_operand *o)) {
  if (!tc_cuda_has_k_parts(x->k)) {
    put(x, o);
    return;
  }
  tc_buf b = batches_of(x);
  tc_print_line(&x->s, "if (k_parts > 1) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "constexpr int TC_L = 4;");
  tc_print_line(&x->s, "const tc_i64 at = (share * (tc_i64)(%s) + tile / (m_tiles * n_tiles)) * (m_tiles * M) + m0;", b.text ? b.text : "1");
  tc_print_line(&x->s, "tc_f32 *const to = k_sums + at * (n_tiles * N) + n0;");
  tc_print_line(&x->s, "for (int e = (int)threadIdx.x * TC_L; e < M * N; e += THREADS * TC_L)");
  tc_print_line(&x->s, "  tc_store_f32(to + (e / N * (n_tiles * N) + e %% N), tc_load_f32(sums + e / N * LONG + e %% N));");
  x->s.indent -= 2;
  tc_print_line(&x->s, "} else {");
  x->s.indent += 2;
  put(x, o);
  tc_cuda_close_scope(x);
  tc_buf_free(&b);
}

/* ---- what adds them -------------------------------------------------------------------------- */

static void put_point(tc_cuda_product *x) {
  const char *m = x->text[x->m], *n = x->text[x->n];
  tc_print_line(&x->s, "const tc_int at = (tc_int)(e / pieces), %s = (tc_int)(e %% pieces) * c_lanes, %s = at %% m_end;", n, m);
  tc_print_line(&x->s, "tc_int rest = at / m_end;");
  tc_print_line(&x->s, "const tc_f32 *const from = k_sums + (rest * (tc_i64)m_padded + %s) * n_padded + %s;", m, n);
  tc_cuda_put_batch_numbers(x);
}

/* Parts in their order, so that results repeat. */
static void put_sum(tc_cuda_product *x) {
  tc_print_line(&x->s, "constexpr int TC_L = c_lanes;");
  tc_print_line(&x->s, "TC_TYPES");
  tc_print_line(&x->s, "tc_vf32 r0 = tc_load_f32(from);");
  tc_print_line(&x->s, "_Pragma(\"unroll 8\") for (tc_int share = 1; share < (tc_int)k_parts; ++share)");
  tc_print_line(&x->s, "  r0 = tc_add_f32(r0, tc_load_f32(from + share * part));");
}

void tc_cuda_gather(tc_cuda_product *x, const tc_cuda_operand *o) {
  tc_buf b = batches_of(x);
  const char *batches = b.text ? b.text : "1";
  tc_cuda_put_extent(x, "m_end", x->m);
  tc_cuda_put_extent(x, "n_end", x->n);
  tc_print_line(&x->s, "const tc_int m_padded = TC_CEILDIV(m_end, %d) * %d, n_padded = TC_CEILDIV(n_end, %d) * %d;", SIDE, SIDE, SIDE, SIDE);
  tc_print_line(&x->s, "const tc_int pieces = TC_CEILDIV(n_end, c_lanes); /* of a row */");
  tc_print_line(&x->s, "const tc_i64 part = (%s) * (tc_i64)m_padded * n_padded;", batches);
  tc_print_line(&x->s, "for (tc_i64 e = blockIdx.x * (tc_i64)%d + threadIdx.x; e < (%s) * (tc_i64)m_end * pieces; e += gridDim.x * (tc_i64)%d) {",
                THREADS, batches, THREADS);
  x->s.indent += 2;
  put_point(x);
  put_sum(x);
  tc_cuda_put_finish(x, &x->mm->epilogue, (int)o[TC_CUDA_EPILOGUE].plan.width);
  tc_cuda_close_scope(x);
  tc_buf_free(&b);
}

uint32_t tc_cuda_put_gather(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_bodies *b, const char *body,
                            uint32_t first, tc_buf *out) {
  const int lanes[] = {(int)o[TC_CUDA_EPILOGUE].plan.width, 1};
  tc_put(out, "/* adds what parts of k made */\n"
              "template <int c_lanes, class tc_int>\nTC_FN void @NAME@_gather(\n    ");
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  for (int i = 0; i < 2; ++i) {
    char arguments[32];
    snprintf(arguments, sizeof arguments, "%d, tc_i64", lanes[i]);
    tc_cuda_put_instance(x, b, "gather", (int)first + i, THREADS, false, 1, arguments, out);
  }
  return first + 2;
}

void tc_cuda_put_gather_launch(const tc_cuda_operand *o, uint32_t first, const char *wide, tc_buf *out) {
  const int width = (int)o[TC_CUDA_EPILOGUE].plan.width;
  tc_putf(out,
          "  if (status || k_parts == 1) return status;\n"
          "  const int64_t pieces = batches * m * tc_cuda_ceildiv(n, %s ? %d : 1);\n"
          "  return tc_cuda_follow(c, &@NAME@_image, %s ? %u : %u, tc_cuda_ceildiv(pieces, %d), %d, 0, args,\n"
          "                        sizeof args / sizeof *args);\n",
          wide, width, wide, first, first + 1, THREADS, THREADS);
}
