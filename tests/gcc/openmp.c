// A program has one OpenMP runtime, which its own regions and kernels share, with what the program sets: the one that it is
// linked with, wherever that stands on the command line, or the one that libtcrt opens where there is none.
// RUN: %tcgcc -O2 -fopenmp %s -o %t %libs && %t | %check --check-prefixes=CHECK,GOMP %s
// RUN: %tcgcc -O2 -fopenmp -lgomp %s -o %t %libs && %t | %check --check-prefixes=CHECK,GOMP %s
// RUN: %tcgcc -O2 %s -o %t %libs && %t | %check --check-prefix=NONE %s
// CHECK: 3 threads behind the user's region, sum 4950
// CHECK-NEXT: 3 threads behind kernels; 2 hits
// CHECK-NEXT: 3 threads behind the user's next region
// CHECK-NEXT: a child is done: 0
// GOMP-NEXT: runtimes: libgomp
// NONE: 2 hits
// NONE: runtimes: lib{{omp|gomp}}{{$}}
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <tcompile.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#else
#define omp_set_num_threads(n) (void)(n)
#endif

TC_COMPILE static tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,512]")) {
  return tc_softmax(tc_exp(x), -1);
}

static int threads(void) {
  int n = 0;
  DIR *d = opendir("/proc/self/task");
  while (readdir(d)) n++;
  closedir(d);
  return n - 2;
}

// The threads of a parent are not in its child.
static void run_in_child(void) {
  int status = -1;
  const pid_t child = fork();
  if (!child) {
    alarm(20);
    TC_SCOPE f(tc_rand(TC_DIMS(4096, 512), 1, TC_F32));
    _exit(0);
  }
  waitpid(child, &status, 0);
  printf("a child is done: %d\n", status);
}

static void print_runtimes(void) {
  char line[512];
  int gomp = 0, omp = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    gomp |= strstr(line, "libgomp") != 0;
    omp |= strstr(line, "libomp") != 0;
  }
  fclose(maps);
  printf("runtimes:%s%s\n", gomp ? " libgomp" : "", omp ? " libomp" : "");
}

int main(void) {
  int sum = 0;
  omp_set_num_threads(3);
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d threads behind the user's region, sum %d\n", threads(), sum);
  TC_SCOPE {
    tc_tensor *x = tc_rand(TC_DIMS(4096, 512), 1, TC_F32);
    f(x);
    f(x);
  }
  printf("%d threads behind kernels; %d hits\n", threads(), (int)tc_stats_of("f").hits);
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d threads behind the user's next region\n", threads());
  fflush(stdout);
  run_in_child();
  print_runtimes();
}
