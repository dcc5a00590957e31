/* The cache of freed storages. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tcompile.h>

static void step(void) {
  TC_SCOPE {
    tc_tensor *x = tc_rand(TC_DIMS(300, 200), 1, TC_F32), *w = tc_rand(TC_DIMS(200, 50), 2, TC_F32);
    tc_tensor *y = tc_softmax(tc_relu(tc_matmul(x, w)), -1);
    tc_concat((const tc_tensor *[]){y, y, y}, 3, 0);
    tc_var(y, TC_AXES(0), 1, false);
  }
}

Test(storage, the_steady_state_takes_nothing_from_the_system) {
  step();
  tc_memory_stats before = tc_memory();
  for (int i = 0; i < 20; i++) step();
  tc_memory_stats after = tc_memory();
  cr_expect_eq(after.mallocs, before.mallocs);
  cr_expect_geq(after.reuses, before.reuses + 20 * 7);
  cr_expect_eq(after.live, before.live);
  cr_expect_eq(after.cached, before.cached);
}

Test(storage, a_cap_that_is_none_is_told_of_once, .init = cr_redirect_stderr) {
  char text[512];
  setenv("TC_CACHE", "1.5G", 1);
  step();
  step();
  cr_expect_gt(tc_memory().cached, 0); /* the default */
  fflush(stderr);
  size_t n = fread(text, 1, sizeof text - 1, cr_get_redirected_stderr());
  text[n] = 0;
  cr_expect_str_eq(text, "tcompile: TC_CACHE=1.5G is no number of bytes such as 0, 4096, 64K, 512M "
                         "or 2G; it is ignored\n");
}

Test(storage, trim_gives_everything_back) {
  step();
  size_t cached = tc_memory().cached;
  cr_expect_gt(cached, 0);
  cr_expect_eq(tc_trim(), cached);
  cr_expect_eq(tc_memory().cached, 0);
  cr_expect_eq(tc_trim(), 0);
  step();
}

static void fill_and_drop(int64_t n) { tc_free(tc_zeros(TC_DIMS(n), TC_F32)); }

Test(storage, the_cap_holds_and_the_oldest_go_first) {
  setenv("TC_CACHE", "4M", 1);
  for (int64_t i = 1; i <= 12; i++) fill_and_drop(i * 100000);
  cr_expect_leq(tc_memory().cached, 4u << 20);
  cr_expect_gt(tc_memory().cached, 0);
  uint64_t mallocs = tc_memory().mallocs;
  fill_and_drop(100000);
  cr_expect_eq(tc_memory().mallocs, mallocs + 1);
}

Test(storage, no_cache) {
  setenv("TC_CACHE", "0", 1);
  step();
  cr_expect_eq(tc_memory().cached, 0);
  cr_expect_eq(tc_memory().live, 0);
}

static void *take_over(void *x) {
  tc_free(x);
  return NULL;
}

Test(storage, freed_by_another_thread) {
  for (int i = 0; i < 50; i++) {
    pthread_t t;
    pthread_create(&t, NULL, take_over, tc_ones(TC_DIMS(1000), TC_F32));
    pthread_join(t, NULL);
  }
  cr_expect_eq(tc_memory().live, 0);
  cr_expect_leq(tc_memory().mallocs, 3);
}

static void *share(void *x) {
  for (int i = 0; i < 500; i++) tc_free(tc_reshape(x, TC_DIMS(10, 10)));
  return NULL;
}

Test(storage, references_from_many_threads) {
  tc_tensor *x = tc_ones(TC_DIMS(100), TC_F32);
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, share, x);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  cr_expect_eq(tc_at(x, TC_INTS(99)), 1);
  tc_free(x);
  cr_expect_eq(tc_memory().live, 0);
}

Test(storage, a_forked_child_goes_on) {
  step();
  pid_t child = fork();
  if (child == 0) {
    TC_SCOPE {
      tc_tensor *x = tc_ones(TC_DIMS(1000, 100), TC_F32);
      _exit(tc_item(tc_sum(tc_add(x, x), TC_ALL, false)) == 200000 ? 0 : 1);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  cr_expect_eq(status, 0);
}
