/* helper.c - what functions that the blocked driver calls begin and end with. */
#include "backends/openmp/gemm/matmul.h"

void tc_omp_mm_open(tc_omp_matmul *x, const char *signature) {
  tc_putf(x->out, "%s {\n", signature);
  tc_put(x->out, "  void *const *buf = g->buf;\n  const int64_t *sym = g->sym;\n"
                 "  const tc_value *scalar = g->scalar;\n");
  tc_omp_unpack(x->k, x->p, x->out);
  if (x->checks) tc_put(x->out, "  int bad = 0;\n");
  for (int i = x->mm->nbatch - 1; i >= 0; --i) {
    tc_buf e = {0};
    tc_print_dim(x->p, x->mm->axis[i].extent, &e);
    if (i)
      tc_putf(x->out, "  const int64_t %s = batch %% (%s);\n  batch /= %s;\n", x->axis[i], e.text,
              e.text);
    else tc_putf(x->out, "  const int64_t %s = batch;\n", x->axis[i]);
    tc_buf_free(&e);
  }
  x->s.indent = 2;
}

void tc_omp_mm_close(tc_omp_matmul *x) {
  if (x->checks) tc_put(x->out, "  if (bad) __atomic_store_n(g->bad, 1, __ATOMIC_RELAXED);\n");
  tc_put(x->out, "}\n");
}
