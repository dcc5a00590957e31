/* Scopes: who owns a tensor, on every way out. */
#include <criterion/criterion.h>
#include <pthread.h>

#include <tcompile.h>

static tc_tensor *one(void) { return tc_ones(TC_DIMS(10), TC_F32); }
static size_t live(void) { return tc_memory().live; }

static tc_tensor *kept_on_return(void) {
  TC_SCOPE {
    one();
    TC_SCOPE {
      one();
      return tc_keep(tc_keep(tc_add(one(), one()))); /* from the inner scope only: not yet out */
    }
  }
  return NULL;
}

Test(scope, end_frees_what_was_made_inside) {
  size_t before = live();
  TC_SCOPE {
    one();
    tc_reshape(one(), TC_DIMS(2, 5));
    cr_expect_gt(live(), before);
  }
  cr_expect_eq(live(), before);
}

Test(scope, break_continue_and_goto) {
  size_t before = live();
  for (int i = 0; i < 3; i++) {
    TC_SCOPE {
      one();
      if (i == 1) break; /* leaves the scope, which is a loop of one turn */
      one();
    }
  }
  for (int i = 0; i < 3; i++) TC_SCOPE {
      one();
      continue;
    }
  TC_SCOPE {
    TC_SCOPE {
      one();
      goto out;
    }
  }
out:
  cr_expect_eq(live(), before);
}

Test(scope, return_through_two_scopes_frees_what_only_left_one) {
  size_t before = live();
  tc_tensor *gone = kept_on_return();
  cr_expect_not_null(gone);
  cr_expect_eq(live(), before);
}

static tc_tensor *kept_twice(void) {
  tc_tensor *y = NULL;
  TC_SCOPE {
    TC_SCOPE { y = tc_keep(one()); }
    tc_keep(y);
  }
  return y;
}

Test(scope, keep_moves_one_scope_out) {
  size_t before = live();
  tc_tensor *y = kept_twice();
  cr_expect_gt(live(), before);
  cr_expect_eq(tc_at(y, TC_INTS(9)), 1);
  tc_free(y);
  cr_expect_eq(live(), before);
  cr_expect_null(tc_keep(NULL));
}

Test(scope, free_inside_a_scope) {
  size_t before = live();
  TC_SCOPE {
    tc_tensor *a = one(), *b = one(), *c = one();
    tc_free(b);
    tc_free(c);
    tc_free(a);
    cr_expect_eq(live(), before);
    one();
  }
  cr_expect_eq(live(), before);
}

Test(scope, a_view_outlives_its_base) {
  tc_tensor *v = NULL;
  TC_SCOPE { v = tc_keep(tc_slice(tc_arange(10, 0, 1, TC_F32), 0, 3, 6, 1)); }
  cr_expect_eq(tc_at(v, TC_INTS(2)), 5);
  tc_free(v);
}

static void *work(void *failed) {
  for (int i = 0; i < 200; i++) TC_SCOPE {
      tc_tensor *x = tc_full(TC_DIMS(17, 33), i, TC_F32), *y = tc_sum(tc_add(x, x), TC_ALL, false);
      if (tc_item(y) != 2.0 * i * 17 * 33) *(int *)failed = 1;
    }
  return NULL;
}

Test(scope, threads_have_their_own) {
  size_t before = live();
  pthread_t t[4];
  int failed[4] = {0};
  TC_SCOPE {
    one();
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, &failed[i]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  }
  for (int i = 0; i < 4; i++) cr_expect_not(failed[i]);
  cr_expect_eq(live(), before);
}
