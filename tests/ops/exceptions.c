#define _GNU_SOURCE /* feenableexcept */
#include "exceptions.h"

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int watched_exceptions(void) { return FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW; }

void name_exceptions(int exceptions, char text[64]) {
  snprintf(text, 64, "%s%s%s%s", exceptions & FE_DIVBYZERO ? " division by zero" : "",
           exceptions & FE_INVALID ? " invalid" : "", exceptions & FE_OVERFLOW ? " overflow" : "",
           exceptions & EXCEPTION_TRAPPED ? " trap" : "");
  if (!*text) snprintf(text, 64, " none");
}

static _Thread_local sigjmp_buf *trap_target; /* of the thread that runs an op */

static void on_trap(int signal) {
  static const char text[] = "a trap in a thread that an op has started\n";
  if (trap_target) siglongjmp(*trap_target, signal);
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(1);
}

static void catch_traps(void) {
  static bool caught;
  struct sigaction action = {.sa_handler = on_trap};
  if (!caught) sigaction(SIGFPE, &action, NULL);
  caught = true;
}

tc_tensor *run_watched(watched_fn *f, void *context, int traps, int *raised) {
  sigjmp_buf here;
  tc_tensor *volatile result = NULL;
  catch_traps();
  feclearexcept(FE_ALL_EXCEPT);
  trap_target = &here;
  const int fired = sigsetjmp(here, 1);
  if (!fired) {
    if (traps) feenableexcept(traps);
    result = f(context);
    *raised = fetestexcept(watched_exceptions());
  } else *raised = EXCEPTION_TRAPPED;
  fesetenv(FE_DFL_ENV);
  trap_target = NULL;
  return result;
}
