// Calls functions of kinds.c by name, those of a kind that can be called so.
#include <stdio.h>
#include <string.h>
#include <tcompile.h>

static void tell(bool ok, int n, tc_tensor **out) {
  if (!ok) printf("error: %s\n", tc_error());
  for (int i = 0; i < n; i++) {
    if (!ok) printf(out[i] ? "left behind\n" : "");
    else tc_print(out[i]);
  }
  tc_clear_error();
}

#define CALL(n, ...) \
  do { \
    tc_tensor *out[4] = {0}; \
    tc_tensor *in[] = {__VA_ARGS__}; \
    tell(tc_module_call(m, name, (int)(sizeof in / sizeof *in), in, n, out), n, out); \
  } while (0)

int main(int argc, char **argv) {
  tc_module *m = tc_module_open(argc > 1 ? argv[1] : "");
  if (!m) return printf("%s\n", tc_error()), 1;
  const char *name = tc_module_name(m, 0);
  TC_SCOPE {
    tc_tensor *x = tc_arange(3, 1, 1, TC_F32);
    if (!strcmp(name, "numbers")) {
      CALL(1, x, tc_scalar(0.5), tc_scalar(200), tc_scalar(1), tc_scalar(-1000));
      CALL(1, x, tc_scalar(2), tc_full(TC_DIMS(1), 1, TC_F32), tc_from(TC_DIMS(1), &(bool){false}, TC_BOOL), tc_scalar(0));
      CALL(1, x, tc_scalar(2), tc_scalar(256), tc_scalar(0), tc_scalar(0));
      CALL(1, x, tc_scalar(2), tc_scalar(-1), tc_scalar(0), tc_scalar(0));
      CALL(1, x, tc_scalar(2), tc_scalar(1.5), tc_scalar(0), tc_scalar(0));
      CALL(1, x, x, tc_scalar(1), tc_scalar(0), tc_scalar(0));
      CALL(1, x, tc_scalar(2), NULL, tc_scalar(0), tc_scalar(0));
      CALL(1, NULL, tc_scalar(2), tc_scalar(1), tc_scalar(0), tc_scalar(0));
    } else if (!strcmp(name, "several")) {
      CALL(3, x);
      CALL(2, x);
    } else if (!strcmp(name, "in_place")) {
      CALL(0, x, x);
      tc_print(x);
      CALL(0, (tc_tensor *)tc_wrap_const(TC_DIMS(1), NULL, &(float){1}, TC_F32), x);
    } else if (!strcmp(name, "count")) {
      CALL(1, x);
    } else {
      CALL(1, x, tc_scalar(2));
    }
    printf("compiled calls: %d\n", (int)tc_stats_of(name).hits);
  }
  tc_module_close(m);
}
