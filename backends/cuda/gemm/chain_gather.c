/* chain_gather.c - the function that puts together what parts of a chain's keys made (chain_parts.c): a thread
 * for each result. */
#include "backends/cuda/gemm/chain.h"

enum { THREADS = 128 };

/* Accumulator 0 of all parts: r2. */
static void put_top(tc_cuda_product *x, const tc_action *a) {
  const char *t = tc_cuda_acc(x), *op = tc_print_combine_part(a->reducer, 0).text;
  tc_buf id = {0};
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "tc_u%s r2 = %s;", t, id.text ? id.text : "");
  tc_print_line(&x->s, "_Pragma(\"unroll 8\") for (tc_int share = 0; share < (tc_int)k_parts; ++share) {");
  x->s.indent += 2;
  tc_cuda_chain_put_place(x, "from", "share", "at");
  tc_print_line(&x->s, "r2 = tc_%s_%s(r2, tc_set_%s(from[%d * n_end]));", op, t, t, tc_cuda_chain_outers(x));
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&id);
}

/* `factor`: of what a part has, where r2 is accumulator 0 of all. */
static void put_factor(tc_cuda_product *x) {
  static const char *const from[] = {"top", "r2"};
  const char *t = tc_cuda_acc(x);
  tc_print_line(&x->s, "const tc_u%s top = tc_set_%s(from[%d * n_end]);", t, t, tc_cuda_chain_outers(x));
  tc_print_line(&x->s, "const tc_%s factor = v%u.l[0];", t, tc_cuda_chain_put_factor(x, from));
  tc_print_line(&x->s, "total += factor * from[%d * n_end + 1];", tc_cuda_chain_outers(x));
}

static void put_sums(tc_cuda_product *x, const tc_action *a) {
  const char *t = tc_cuda_acc(x);
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "tc_%s %s = 0;", t, tc_cuda_chain_outer_of(x, i).sum);
  if (a) tc_print_line(&x->s, "tc_%s total = 0;", t);
  tc_print_line(&x->s, "_Pragma(\"unroll 8\") for (tc_int share = 0; share < (tc_int)k_parts; ++share) {");
  x->s.indent += 2;
  tc_cuda_chain_put_place(x, "from", "share", "at");
  if (a) put_factor(x);
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "%s += %sfrom[%d * n_end + %s];", tc_cuda_chain_outer_of(x, i).sum,
                  a ? "factor * " : "", i, x->text[x->n]);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  for (int i = 0; i < tc_cuda_chain_outers(x); ++i)
    tc_print_line(&x->s, "const tc_v%s r%u = tc_load_%s(&%s);", t,
                  tc_cuda_chain_outer_of(x, i).result, t, tc_cuda_chain_outer_of(x, i).sum);
  if (a) tc_print_line(&x->s, "const tc_u%s r3 = tc_set_%s(total);", t, t);
}

static void put_point(tc_cuda_product *x) {
  tc_print_line(&x->s, "const tc_int at = (tc_int)(e / n_end), %s = (tc_int)(e %% n_end), %s = at %% m_end;",
                x->text[x->n], x->text[x->m]);
  tc_print_line(&x->s, "tc_int rest = at / m_end;");
  tc_cuda_put_batch_numbers(x);
}

void tc_cuda_chain_gather(tc_cuda_product *x, const tc_cuda_operand *o) {
  const tc_action *a = tc_cuda_chain_rows(x);
  (void)o;
  tc_cuda_put_extent(x, "m_end", x->m);
  tc_cuda_put_extent(x, "n_end", x->n);
  tc_cuda_chain_put_all_rows(x);
  tc_print_line(&x->s, "for (tc_i64 e = blockIdx.x * (tc_i64)%d + threadIdx.x; e < (tc_i64)all_rows * n_end; e += gridDim.x * (tc_i64)%d) {",
                THREADS, THREADS);
  x->s.indent += 2;
  put_point(x);
  if (a) put_top(x, a);
  put_sums(x, a);
  if (x->mm->inner.finish.naction) {
    tc_print_line(&x->s, "if (%s == 0) {", x->text[x->n]);
    x->s.indent += 2;
    tc_cuda_put_finish(x, &x->mm->inner.finish, 1);
    x->s.indent -= 2;
    tc_print_line(&x->s, "}");
  }
  tc_cuda_put_finish(x, &x->mm->epilogue, 1);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

void tc_cuda_chain_put_gather(const tc_cuda_product *x, const tc_cuda_bodies *b, const char *body,
                              unsigned number, tc_buf *out) {
  tc_put(out, "/* puts together what parts of the keys made */\n"
              "template <class tc_int>\nTC_FN void @NAME@_gather(\n    ");
  tc_cuda_put_parameters(x->k, x->p, b->all, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
  tc_cuda_put_instance(x, b, "gather", (int)number, THREADS, false, 1, "tc_i64", out);
}

void tc_cuda_chain_put_gather_launch(unsigned function, tc_buf *out) {
  tc_putf(out,
          "  if (status || k_parts == 1) return status;\n"
          "  return tc_cuda_follow(c, &@NAME@_image, %u, tc_cuda_ceildiv(batches * m * n, %d), %d, 0, args,\n"
          "                        sizeof args / sizeof *args);\n",
          function, THREADS, THREADS);
}
