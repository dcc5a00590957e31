/* Parts of a function that do not depend on each other. */
#include "tests/lower/check.h"

/* x_i = x_i - 0.1 y_i, for i < count, of vectors of so many elements each. */
static tc_graph *updates(int count, const char *const *size) {
  tc_buf text = {0};
  tc_put(&text, "graph g\n");
  for (int i = 0; i < count; i++)
    tc_putf(&text, "%%%d = param f32[%s] \"x%d\"\n%%%d = param f32[%s] \"y%d\"\n", 2 * i + 1, size[i], i,
            2 * i + 2, size[i], i);
  tc_putf(&text, "%%%d = const weak f64 0.1\n", 2 * count + 1);
  for (int i = 0; i < count; i++) {
    const int at = 2 * (count + i) + 2;
    tc_putf(&text, "%%%d = mul %%%d %%%d\n%%%d = sub %%%d %%%d\n", at, 2 * i + 2, 2 * count + 1, at + 1,
            2 * i + 1, at);
    tc_putf(&text, "write %%%d -> %%%d\n", at + 1, 2 * i + 1);
  }
  tc_graph *g = graph_of(text.text);
  tc_buf_free(&text);
  return g;
}

/* Kernels that name many arrays are slow where nothing is saved by it. */
Test(siblings, arrays_of_one_update) {
  enum { MANY = 100 };
  const char *size[MANY];
  for (int i = 0; i < MANY; i++) size[i] = "N";
  tc_graph *g = updates(MANY, size);
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert(p);
  for (uint32_t k = 0; k < p->nkernel; k++) cr_expect_eq(p->kernel[k].nbuffer, 2);
  tc_program_free(p);
  tc_graph_free(g);
}
