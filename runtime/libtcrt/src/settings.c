/* settings.c - reads TC_ISA, TC_LOGS, TC_FALLBACK and TC_ERRORS before any generated code
 * registers. */
#include "internal.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tcrt_isa = TC_ISA_V2;
int tcrt_enabled = 1;
int tcrt_log_kernels = 0;
tc_settings tc_settings_now = {0, TC_FALLBACK_NOTICE, TC_ERRORS_KEEP};

static const char *const log_name[] = {"guards", "fallback", "kernels", "all"};
static const unsigned log_bits[] = {TC_LOG_GUARDS, TC_LOG_FALLBACK, TC_LOG_KERNELS,
                                    TC_LOG_GUARDS | TC_LOG_FALLBACK | TC_LOG_KERNELS};
static const char *const fallback_name[] = {"notice", "default", "warn", "mandatory", "disabled"};
enum { FALLBACKS = sizeof fallback_name / sizeof *fallback_name };
static const char *const errors_name[] = {"keep", "print", "abort"};

/* Index of the word among n names, or -1. */
static int find_word(const char *word, size_t len, const char *const *name, int n) {
  for (int i = 0; i < n; i++)
    if (strlen(name[i]) == len && !memcmp(name[i], word, len)) return i;
  return -1;
}

unsigned tc_parse_logs(const char *text) {
  unsigned logs = 0;
  for (const char *p = text ? text : ""; *p;) {
    size_t len = strcspn(p, ", ");
    int i = find_word(p, len, log_name, 4);
    if (i >= 0) logs |= log_bits[i];
    else if (len)
      fprintf(
          stderr,
          "tcompile: TC_LOGS=%.*s is not known; it can list guards, fallback, kernels, or be all\n",
          (int)len, p);
    p += len + (p[len] != 0);
  }
  return logs;
}

tc_fallback tc_parse_fallback(const char *text) {
  if (!text || !*text) return TC_FALLBACK_NOTICE;
  int i = find_word(text, strlen(text), fallback_name, FALLBACKS);
  if (i >= 0) return (tc_fallback)i;
  fprintf(stderr,
          "tcompile: TC_FALLBACK=%s is not known; it can be notice, default, warn, mandatory or "
          "disabled\n",
          text);
  return TC_FALLBACK_NOTICE;
}

tc_errors tc_parse_errors(const char *text) {
  if (!text || !*text) return TC_ERRORS_KEEP;
  int i = find_word(text, strlen(text), errors_name, 3);
  if (i >= 0) return (tc_errors)i;
  fprintf(stderr, "tcompile: TC_ERRORS=%s is not known; it can be keep, print or abort\n", text);
  return TC_ERRORS_KEEP;
}

/* Before the constructors of generated code, also when libtcrt is linked statically. */
__attribute__((constructor(101))) static void load_settings(void) {
  tc_settings_now.logs = tc_parse_logs(getenv("TC_LOGS"));
  tc_settings_now.fallback = tc_parse_fallback(getenv("TC_FALLBACK"));
  tc_settings_now.errors = tc_parse_errors(getenv("TC_ERRORS"));
  tcrt_log_kernels = (tc_settings_now.logs & TC_LOG_KERNELS) != 0;
  int isa = tc_detect_isa(getenv("TC_ISA"));
  tcrt_isa = isa < 0 ? TC_ISA_V2 : isa;
  tcrt_enabled = isa >= 0 && tc_settings_now.fallback != TC_FALLBACK_MANDATORY;
  if (isa < 0) tc_settings_now.fallback = TC_FALLBACK_MANDATORY;
}

bool tc_set_enabled(bool enabled) {
  int allowed = enabled && tc_settings_now.fallback != TC_FALLBACK_MANDATORY;
  return __atomic_exchange_n(&tcrt_enabled, allowed, __ATOMIC_RELAXED) != 0;
}

/* ---- the program's own wish ------------------------------------------------------------------ */

static int stance = TC_STANCE_DEFAULT;

tc_fallback tc_fallback_now(void) {
  int now = __atomic_load_n(&stance, __ATOMIC_RELAXED);
  return now == TC_STANCE_FAIL_ON_FALLBACK ? TC_FALLBACK_DISABLED : tc_settings_now.fallback;
}

tc_stance tc_set_stance(tc_stance wish) {
  if ((unsigned)wish > TC_STANCE_FAIL_ON_FALLBACK) {
    tc_fail("tc_set_stance: %d is no stance", (int)wish);
    return (tc_stance)__atomic_load_n(&stance, __ATOMIC_RELAXED);
  }
  tc_set_enabled(wish != TC_STANCE_EAGER);
  return (tc_stance)__atomic_exchange_n(&stance, (int)wish, __ATOMIC_RELAXED);
}
