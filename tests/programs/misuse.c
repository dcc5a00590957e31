/* misuse WAY: what a program does wrong, for the tools that find it (misuse_found). */
#include <stdio.h>
#include <string.h>
#include <tcompile.h>
#include <tcompile/nn.h>

static tc_tensor *leaked;

static void freed_twice(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  tc_free(x);
  tc_free(x); /* second */
}

static void used_when_freed(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32); /* made */
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

/* Inside of functions of the library, which are made of others: the place is the program's own. */
static tc_tensor *attend(const tc_tensor *q, const tc_tensor *k) {
  return tc_attention(q, k, q, (tc_attention_options){.causal = true}); /* attends */
}

static void wrong_in_library(void) {
  TC_SCOPE {
    tc_tensor *q = tc_ones(TC_DIMS(2, 3, 4), TC_F32), *k = tc_ones(TC_DIMS(2, 5, 4), TC_F32);
    tc_tensor *y = tc_neg(attend(q, k));
    if (y) printf("attended\n");
  }
}

static void never_freed_of_library(void) {
  tc_tensor *x = tc_ones(TC_DIMS(2, 3), TC_F32);
  leaked = tc_huber(x, x, 1, TC_NONE); /* of library */
  tc_free(x);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } way[] = {
      {"freed_twice", freed_twice},           {"used_when_freed", used_when_freed},
      {"used_much_later", used_much_later},   {"read_when_freed", read_when_freed},
      {"never_freed", never_freed},           {"written_when_freed", written_when_freed},
      {"wrong_in_library", wrong_in_library}, {"never_freed_of_library", never_freed_of_library}};
  for (size_t i = 0; i < sizeof way / sizeof *way; i++)
    if (argc > 1 && !strcmp(argv[1], way[i].name)) way[i].run();
  printf("%s\n", tc_error() ? tc_error() : "no error");
  return 0;
}
