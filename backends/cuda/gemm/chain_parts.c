/* chain_parts.c - a chain of few rows and many keys, as decoding has: blocks of rows are too few for
 * the machine, so keys are shared out, too.  A block leaves its sums and its rows' accumulators in
 * scratch memory, and one more function (chain_gather.c) puts them together (Dao et al., Flash-Decoding,
 * 2023).
 *
 * Scratch memory: for each part of the keys and each row of all batches, sums of the columns of each
 * outer product, then the row's two accumulators.  Parts are added in their order. */
#include "backends/cuda/gemm/chain.h"

#include "backends/cuda/emit.h"

#include <stdio.h>

enum { ROWS = 64 }; /* of a block */

const char tc_cuda_chain_parts_helper[] =
    "/* Parts of so many keys, at most `most`, for so many blocks of rows: as many as multiprocessors that\n"
    " * hold `held` blocks have room for, with keys enough, `least`, to be worth one more launch. */\n"
    "TC_CUDA_FN int64_t tc_cuda_key_parts(const tcrt_cuda_info *info, int64_t blocks, int64_t held, int64_t keys,\n"
    "                                     int64_t least, int64_t most) {\n"
    "  const int64_t wanted = held * info->sms / (blocks > 0 ? blocks : 1), longest = keys / least;\n"
    "  const int64_t parts = wanted < longest ? wanted : longest;\n"
    "  return parts < 2 ? 1 : parts < most ? parts : most;\n"
    "}\n"
    "/* Blocks of so much shared memory that a multiprocessor holds, if not more than `most`. */\n"
    "TC_CUDA_FN int64_t tc_cuda_held(const tcrt_cuda_info *info, int64_t shared, int64_t most) {\n"
    "  const int64_t fit = info->shared_per_sm / (shared + 1024);\n"
    "  return fit < 1 ? 1 : fit < most ? fit : most;\n"
    "}\n";

/* Blocks of a multiprocessor that threads have registers for, and keys that are worth a block: four
 * tiles. */
static int most_held(const tc_kernel *k) {
  return tc_cuda_kernel_schedule_of(k)->template == TC_CUDA_CHAIN ? 4 : 8;
}

static int least_keys(const tc_kernel *k) {
  return tc_cuda_kernel_schedule_of(k)->template == TC_CUDA_CHAIN ? 256 : 128;
}

/* ---- the host -------------------------------------------------------------------------------- */

static void put_parts(const tc_kernel *k, const tc_program *p, const char *info, const char *held,
                          tc_buf *out) {
  const tc_mm_loop *mm = &k->mm;
  tc_putf(out, "tc_cuda_key_parts(%s, ", info);
  tc_cuda_put_batch_count(p, mm, out);
  tc_put(out, " * tc_cuda_ceildiv(");
  tc_cuda_put_size(p, mm, mm->nbatch, out);
  tc_putf(out, ", %d), %s, ", ROWS, held);
  tc_cuda_put_size(p, mm, mm->nbatch + TC_CUDA_ALONG_K, out);
  tc_putf(out, ", %d, %lld)", least_keys(k), (long long)tc_cuda_kernel_schedule_of(k)->k_parts);
}

void tc_cuda_chain_put_most_parts(const tc_kernel *k, const tc_program *p, const char *info, tc_buf *out) {
  char held[16];
  snprintf(held, sizeof held, "%d", most_held(k));
  put_parts(k, p, info, held, out);
}

void tc_cuda_chain_put_parts(const tc_cuda_product *x, tc_buf *out) {
  char held[64];
  snprintf(held, sizeof held, "tc_cuda_held(c->info, shared, %d)", most_held(x->k));
  tc_put(out, "  const int64_t k_parts = ");
  put_parts(x->k, x->p, "c->info", held, out);
  tc_putf(out, ";\n  void *const k_sums = buf[%u];\n", x->k->nbuffer);
}

void tc_cuda_chain_put_sums_bytes(const tc_kernel *k, const tc_program *p, const char *parts, tc_buf *out) {
  const tc_mm_loop *mm = &k->mm;
  tc_putf(out, "(%s > 1 ? %s * %zu * (", parts, parts, tc_dtype_bytes(mm->acc));
  tc_cuda_put_batch_count(p, mm, out);
  tc_put(out, ") * ");
  tc_cuda_put_size(p, mm, mm->nbatch, out);
  tc_putf(out, " * (%d * ", 1 + tc_mm_has_beside(mm));
  tc_cuda_put_size(p, mm, mm->nbatch + TC_CUDA_ALONG_N, out);
  tc_put(out, " + 2) : 0)");
}

/* ---- the device ------------------------------------------------------------------------------ */

void tc_cuda_chain_put_share(tc_cuda_product *x) {
  if (!tc_cuda_has_k_parts(x->k)) return;
  tc_print_line(&x->s, "const tc_int each = TC_CEILDIV(TC_CEILDIV(end - first, KEYS), (tc_int)k_parts) * KEYS; /* keys of a part */");
  tc_print_line(&x->s, "first += share * each;");
  tc_print_line(&x->s, "end = TC_MIN(end, first + each);");
}

void tc_cuda_chain_put_place(tc_cuda_product *x, const char *name, const char *part, const char *row) {
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "tc_%s *const %s = k_sums + (%s * all_rows + %s) * (%d * n_end + 2);", t, name,
                part, row, tc_cuda_chain_outers(x));
}

void tc_cuda_chain_put_all_rows(tc_cuda_product *x) {
  tc_buf batches = {0};
  tc_cuda_put_batch_count(x->p, x->mm, &batches);
  tc_print_line(&x->s, "const tc_int all_rows = %s * m_end;", batches.text ? batches.text : "1");
  tc_buf_free(&batches);
}

void tc_cuda_chain_put_leave(tc_cuda_product *x) {
  const int outers = tc_cuda_chain_outers(x);
  if (!tc_cuda_has_k_parts(x->k)) return;
  tc_print_line(&x->s, "if (k_parts > 1) {");
  x->s.indent += 2;
  tc_cuda_chain_put_all_rows(x);
  tc_print_line(&x->s, "const tc_int row0 = tile / (m_tiles * n_tiles) * m_end;");
  tc_print_line(&x->s, "TC_ROLLED for (int e = (int)threadIdx.x; e < M * N; e += THREADS) {");
  x->s.indent += 2;
  tc_print_line(&x->s, "const tc_int m = m0 + e / N, n = n0 + e %% N;");
  tc_print_line(&x->s, "if (m >= m_end || n >= n_end) continue;");
  tc_cuda_chain_put_place(x, "to", "share", "(row0 + m)");
  for (int i = 0; i < outers; ++i)
    tc_print_line(&x->s, "to[%d * n_end + n] = sums[(%d * M + e / N) * (N + %d) + e %% N];", i, i,
                  TC_CUDA_CHAIN_PAD);
  if (tc_cuda_chain_rows(x))
    tc_print_line(&x->s, "if (n == 0) to[%d * n_end] = tops[e / N], to[%d * n_end + 1] = totals[e / N];",
                  outers, outers);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_print_line(&x->s, "__syncthreads();");
  tc_print_line(&x->s, "continue;");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
