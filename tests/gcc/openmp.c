// A program with regions of its own has one OpenMP runtime: that of libtcrt serves GCC's code too, and what
// the program sets holds for kernels.
// RUN: %tcgcc -O2 -fopenmp %s -o %t %libs && %t | %check %s
// RUN: ldd %t | %check --check-prefix=LIBRARIES %s
// LIBRARIES-NOT: libgomp
// CHECK: 3 threads behind the user's region, sum 4950
// CHECK-NEXT: 3 threads behind kernels; 2 hits
// CHECK-NEXT: 3 threads behind the user's next region
#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <tcompile.h>
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

int main(void) {
  int sum = 0;
  omp_set_num_threads(3);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d threads behind the user's region, sum %d\n", threads(), sum);
  TC_SCOPE {
    tc_tensor *x = tc_rand(TC_DIMS(4096, 512), 1, TC_F32);
    f(x);
    f(x);
  }
  printf("%d threads behind kernels; %d hits\n", threads(), (int)tc_stats_of("f").hits);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d threads behind the user's next region\n", threads());
}
