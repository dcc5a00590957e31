/* A thread outlives the library whose compiled function it called. */
#include <stdio.h>

#ifdef LIBRARY
#include <tcompile.h>

TC_COMPILE static tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) {
  return tc_sort(tc_softmax(tc_exp(x), 0), 0, true, NULL); // sorts have scratch of the thread
}

int compiled_calls(void) {
  TC_SCOPE { tc_print(f(tc_arange(3000, 0, 0.001, TC_F32))); }
  return (int)tc_stats_of("f").hits;
}
#else
#include <dlfcn.h>
#include <pthread.h>

static void *library;

static void *work(void *unused) {
  int (*compiled_calls)(void) = (int (*)(void))(size_t)dlsym(library, "compiled_calls");
  printf("%d compiled call\n", compiled_calls ? compiled_calls() : -1);
  dlclose(library);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  pthread_create(&thread, NULL, work, NULL);
  return pthread_join(thread, NULL);
}
#endif
