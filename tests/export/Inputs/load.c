// Opens a module by its path, tells what it has, and calls mlp.
#include <stdio.h>
#include <tcompile.h>

static int complain(void) { return printf("%s\n", tc_error()), 1; }

static void list(const tc_module *m) {
  const char *name, *text;
  for (int i = 0; (name = tc_module_name(m, i)); i++) {
    printf("%s:", name);
    for (int k = 0; (text = tc_module_operand(m, name, k)); k++) printf(" (%s)", text);
    for (int k = 0; (text = tc_module_result(m, name, k)); k++) printf(" -> (%s)", text);
    printf("\n");
  }
}

static int call(tc_module *m, int n) {
  TC_SCOPE {
    tc_tensor *in[] = {tc_load_npy("x.npy"), tc_load_npy("w1.npy"), tc_load_npy("b1.npy"), tc_load_npy("w2.npy"),
                       tc_load_npy("b2.npy")};
    tc_tensor *y;
    if (!tc_module_call(m, "mlp", n, in, 1, &y)) return complain();
    printf("right: %d, compiled calls: %d\n", tc_allclose(y, tc_load_npy("expected.npy"), 1.3e-6, 1e-5),
           (int)tc_stats_of("mlp").hits);
    if (tc_module_call(m, "mlp", n - 1, in, 1, &y) || y) return printf("one too few is no error\n"), 1;
    complain();
    tc_clear_error();
    if (tc_module_call(m, "softmax", n, in, 1, &y) || y) return printf("another name is no error\n"), 1;
    complain();
    tc_clear_error();
    if (tc_module_call(NULL, "mlp", n, in, 1, &y)) return printf("NULL is no error\n"), 1;
    tc_clear_error();
  }
  return 0;
}

int main(int argc, char **argv) {
  tc_module *m = NULL;
  if (argc < 2 || tc_module_open(NULL) || tc_module_name(NULL, 0) || tc_module_operand(NULL, "mlp", 0)) return 2;
  tc_module_close(NULL);
  tc_clear_error();
  TC_SCOPE m = tc_module_open(argv[1]); // what it makes there is not this scope's
  if (!m) return complain();
  list(m);
  int n = 0;
  while (tc_module_operand(m, "mlp", n)) n++;
  if (call(m, n)) return 1;
  tc_module_close(m);
  printf("left: %zu bytes, functions: %d\n", tc_memory().live, (int)tc_stats_of(NULL).functions);
}
