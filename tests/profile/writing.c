// Counts of many threads, of runs one after the other and at the same time, of forks; programs that end badly.
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s f.c
// RUN: %tc f.c -fplugin-arg-tc-profile=generate %run -o run
// RUN: ./run threads && ./run threads && grep '^calls 8000 B=3$' tcompile.profile && rm tcompile.profile
// RUN: for i in 1 2 3 4 5 6 7 8; do ./run calls & done; wait; grep '^calls 8000 B=3$' tcompile.profile && ls | grep -c '^tcompile.profile' | grep '^1$'
// RUN: rm tcompile.profile; ./run fork && grep '^calls 3000 B=3$' tcompile.profile
// What was counted by the first write is there after an abort.
// RUN: rm tcompile.profile; %not --crash ./run abort; grep '^calls 1 B=3$' tcompile.profile && grep '^end$' tcompile.profile
// The last second is lost at most, and what is left is whole, whenever a program is killed.
// RUN: rm tcompile.profile; ./run endless & sleep 2.5; kill -9 $!; wait; tail -n 1 tcompile.profile | grep '^end$' && grep '^calls [0-9]\{3,\} B=3$' tcompile.profile
// Another file, one of each process.
// RUN: env TC_PROFILE=of%%p.%%%%.profile ./run calls && ls of*.%%.profile | grep -c . | grep '^1$' && grep '^calls 1000 B=3$' of*.profile
// A file that is no profile is not touched; nor is the program.
// RUN: echo mine > notes && env TC_PROFILE=notes ./run calls 2>&1 | %check %s --check-prefix=NOTES && grep '^mine$' notes
// RUN: env TC_PROFILE=nowhere/there ./run calls 2>&1 | %check %s --check-prefix=NOWHERE
// More sizes than there is room for.
// RUN: env TC_PROFILE=many ./run many && grep '^others [0-9]*$' many && awk '$1 == "calls" || $1 == "others" { n += $2 } END { exit n != 5000 }' many
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tcompile.h>
#include <unistd.h>

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[B]")) { return tc_neg(x); }

static void *call(void *n) {
  tc_tensor *x = tc_ones(TC_DIMS(3), TC_F32);
  for (int i = 0; i < *(const int *)n; i++) tc_free(f(x));
  tc_free(x);
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  int n = 1000;
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, call, &n);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
}

static void many(void) {
  for (int i = 0; i < 5000; i++) {
    tc_tensor *x = tc_ones(TC_DIMS(1 + i % 2500), TC_F32);
    tc_free(f(x));
    tc_free(x);
  }
}

int main(int argc, char **argv) {
  int n = 1000;
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "threads")) return threads(), 0;
  if (!strcmp(what, "many")) return many(), 0;
  if (!strcmp(what, "fork")) {
    call(&n);
    const pid_t child = fork();
    call(&n);
    if (child) waitpid(child, NULL, 0);
    return 0;
  }
  do call(&n);
  while (!strcmp(what, "endless"));
  if (!strcmp(what, "abort")) abort();
  return 0;
}
// NOTES: tcompile: the profile notes is not written: line 1: this is no profile: expected 'tcompile profile 1'; it is left as it is
// NOWHERE: tcompile: the profile nowhere/there is not written: {{.*}}No such file or directory
