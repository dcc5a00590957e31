/* misuse WAY: what a program does wrong, for the tools that find it (misuse_found). */
#include <stdio.h>
#include <string.h>
#include <tcompile.h>

static tc_tensor *leaked;

static void freed_twice(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  tc_free(x);
  tc_free(x); /* second */
}

static void used_when_freed(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  TC_SCOPE { tc_exp(x); }
  tc_free(x);             /* gone */
  TC_SCOPE { tc_exp(x); } /* used */
}

/* Many headers later: only TC_CHECK remembers. */
static void used_much_later(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  tc_free(x);
  for (int i = 0; i < 1000; i++) TC_SCOPE tc_zeros(TC_DIMS(2, 3), TC_F32);
  tc_tensor *y = tc_zeros(TC_DIMS(2, 3), TC_F32);
  tc_free(tc_exp(x)); /* used */
  tc_free(y);
}

static void read_when_freed(void) {
  tc_tensor *x = tc_ones(TC_DIMS(200, 3), TC_F32);
  const float *p = tc_cdata(x);
  tc_free(x);
  printf("%g\n", (double)p[7]);
}

static void written_when_freed(void) {
  tc_tensor *x = tc_ones(TC_DIMS(200, 3), TC_F32);
  float *p = tc_data(x);
  tc_free(x);
  p[7] = 1;
}

static void never_freed(void) {
  for (int i = 0; i < 3; i++) leaked = tc_ones(TC_DIMS(4, 5), TC_F32); /* leaked */
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } way[] = {{"freed_twice", freed_twice},         {"used_when_freed", used_when_freed},
             {"used_much_later", used_much_later}, {"read_when_freed", read_when_freed},
             {"never_freed", never_freed},         {"written_when_freed", written_when_freed}};
  for (size_t i = 0; i < sizeof way / sizeof *way; i++)
    if (argc > 1 && !strcmp(argv[1], way[i].name)) way[i].run();
  printf("%s\n", tc_error() ? tc_error() : "no error");
  return 0;
}
