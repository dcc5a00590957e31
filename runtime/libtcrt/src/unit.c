/* unit.c - the compiled functions of the program: registration, and what a failed guard leads to.
 *
 * Functions hang in one list that ends in a sentinel, so that `next` tells whether a function is in
 * it: identical functions merged by the linker are registered by several units and listed once. */
#include "internal.h"
#include "settings.h"

#include "graph/support/support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tcrt_function last = {.name = ""};
static tcrt_function *first = &last;

void tc_lock_functions(void) { pthread_mutex_lock(&lock); }
void tc_unlock_functions(void) { pthread_mutex_unlock(&lock); }

tcrt_function *tc_first_function(void) { return first == &last ? NULL : first; }
tcrt_function *tc_next_function(const tcrt_function *f) {
  return f->next == &last ? NULL : f->next;
}

bool tcrt_register(const tcrt_unit *unit) {
  if (unit->abi != TC_ABI_VERSION) {
    fprintf(stderr,
            "tcompile: an object was compiled for runtime ABI %u, this libtcrt has ABI %d; its "
            "functions run uncompiled (rebuild it)\n",
            (unsigned)unit->abi, TC_ABI_VERSION);
    return false;
  }
  tc_lock_functions();
  for (uint32_t i = 0; i < unit->count; i++) {
    tcrt_function *f = unit->function[i];
    if (f->next) continue;
    f->next = first;
    first = f;
  }
  tc_unlock_functions();
  return true;
}

static void forget(tcrt_function *f) {
  for (tcrt_function **link = &first; *link != &last; link = &(*link)->next)
    if (*link == f) {
      *link = f->next;
      f->next = NULL;
      if (tc_settings_now.logs & TC_LOG_FALLBACK) tc_print_totals(f);
      return;
    }
}

void tcrt_unregister(const tcrt_unit *unit) {
  if (unit->abi != TC_ABI_VERSION) return;
  tc_lock_functions();
  for (uint32_t i = 0; i < unit->count; i++) forget(unit->function[i]);
  tc_unlock_functions();
}

/* ---- failed guards --------------------------------------------------------------------------- */

const char *tc_miss_text(tc_miss why) {
  static const char *const text[TC_MISS_COUNT] = {
      [TC_MISS_NULL] = "NULL operand",
      [TC_MISS_DTYPE] = "another dtype",
      [TC_MISS_DEVICE] = "another device",
      [TC_MISS_RANK] = "another rank",
      [TC_MISS_SIZE] = "another size",
      [TC_MISS_LEAST] = "below a range",
      [TC_MISS_MOST] = "above a range",
      [TC_MISS_MULTIPLE] = "no multiple",
      [TC_MISS_EQUAL] = "sizes differ",
      [TC_MISS_ALIAS] = "overlap",
      [TC_MISS_STRIDE] = "written operand read-only, or elements of it share memory",
      [TC_MISS_LAYOUT] = "no layout of a tensor",
      [TC_MISS_GRAD] = "gradients",
      [TC_MISS_AUTOCAST] = "another scope of TC_AUTOCAST",
      [TC_MISS_INDEX] = "index out of range",
      [TC_MISS_MEMORY] = "no memory",
      [TC_MISS_DISABLED] = "switched off",
  };
  return (unsigned)why < TC_MISS_COUNT ? text[why] : "unknown";
}

static const char *dtype_text(int64_t v) {
  return v >= 0 && v < TC_DTYPE_COUNT ? tc_dtype_name((tc_dtype)v) : "an unknown dtype";
}

/* Of a size to the number that it was compiled for. */
static const char *relation(tc_miss why) {
  switch (why) {
  case TC_MISS_LEAST:
    return "at least ";
  case TC_MISS_MOST:
    return "at most ";
  case TC_MISS_MULTIPLE:
    return "a multiple of ";
  default:
    return "";
  }
}

/* "operand 2 (w) ", counted as in errors of operations; 0: not of an operand.  How long that is. */
static int name_operand(const tcrt_function *f, char *out, size_t n, int nth) {
  const char *name = f->operands ? f->operands : "";
  if (!nth) return 0;
  for (int i = 1; i < nth && *name; i++) name += strcspn(name, "\n") + 1;
  const int length = (int)strcspn(name, "\n");
  return snprintf(out, n, length && length < 60 ? "operand %d (%.*s) " : "operand %d ", nth, length, name);
}

/* What was found and what the code was compiled for, as one phrase. */
static void describe(const tcrt_function *f, char *out, size_t n, tc_miss why, int operand, int axis,
                     int64_t got, int64_t want) {
  const bool recorded = why == TC_MISS_GRAD && !want; /* by whatever tensor */
  const int nth = recorded ? 0 : operand + 1, named = name_operand(f, out, n, nth);
  const long long g = got, w = want;
  out += named, n -= (size_t)named;
  switch (why) {
  case TC_MISS_NULL:
    snprintf(out, n, "is NULL");
    return;
  case TC_MISS_DTYPE:
    if (got == want) snprintf(out, n, "is a C number as a tensor, or was compiled for one"); /* but for TC_FLAG_WEAK */
    else snprintf(out, n, "is %s, compiled for %s", dtype_text(got), dtype_text(want));
    return;
  case TC_MISS_DEVICE:
    snprintf(out, n, got == TC_DEVICE_FREED ? "was freed already" : "is on device %lld, compiled for %lld", g, w);
    return;
  case TC_MISS_RANK:
    snprintf(out, n, "has rank %lld, compiled for %lld", g, w);
    return;
  case TC_MISS_SIZE:
  case TC_MISS_LEAST:
  case TC_MISS_MOST:
  case TC_MISS_MULTIPLE:
    if (!nth) /* of a number, or of a relation between sizes and numbers */
      snprintf(out, n, "a number is %lld, compiled for %s%lld", g, relation(why), w);
    else
      snprintf(out, n, "has size %lld along axis %d, compiled for %s%lld", g, axis, relation(why), w);
    return;
  case TC_MISS_EQUAL:
    if (!nth) snprintf(out, n, "a relation of sizes: %lld must equal %lld", g, w);
    else snprintf(out, n, "has size %lld along axis %d, which must equal %lld", g, axis, w);
    return;
  case TC_MISS_ALIAS:
    snprintf(out, n, "is written and overlaps another operand");
    return;
  case TC_MISS_STRIDE:
    snprintf(out, n, "is written, and is read-only or %s", w ? "strided" : "has elements that share memory");
    return;
  case TC_MISS_LAYOUT:
    snprintf(out, n, "is memory whose layout is none of a tensor");
    return;
  case TC_MISS_GRAD:
    snprintf(out, n,
             recorded    ? "gradients are being recorded"
             : want == 2 ? "is the same leaf as operand %lld"
                         : "is no leaf, or no gradients are recorded",
             g + 1);
    return;
  case TC_MISS_AUTOCAST:
    if (got == TC_DTYPE_COUNT) snprintf(out, n, "it is called outside of TC_AUTOCAST");
    else snprintf(out, n, "it is called inside of TC_AUTOCAST with %s", dtype_text(got));
    return;
  case TC_MISS_INDEX:
    snprintf(out, n, "an index is out of range");
    return;
  case TC_MISS_MEMORY:
    snprintf(out, n, "no memory for results or workspace");
    return;
  default: /* nobody is told of code that is switched off */
    *out = 0;
    return;
  }
}

/* What to do about a guard that fails again and again. */
static void remedy(char *out, size_t n, tc_miss why, int operand, int64_t got, int64_t want) {
  static const char wider[] = "write a wider range for it in TC_SHAPE, or add TC_SPECIALIZE";
  static const char *const text[TC_MISS_COUNT] = {
      [TC_MISS_NULL] = "pass a tensor, or compile both: b ? f(x, b) : f(x, NULL)",
      [TC_MISS_DTYPE] = "pass a tensor in place of a number, or the other way round",
      [TC_MISS_DEVICE] = "move it with tc_to",
      [TC_MISS_RANK] = "write a function for this rank, or reshape it",
      [TC_MISS_SIZE] = "write a name for it in TC_SHAPE, or add TC_SPECIALIZE",
      [TC_MISS_LEAST] = wider,
      [TC_MISS_MOST] = wider,
      [TC_MISS_MULTIPLE] = wider,
      [TC_MISS_EQUAL] = "give sizes that may differ names of their own in TC_SHAPE",
      [TC_MISS_ALIAS] = "write to memory that no other operand has",
      [TC_MISS_STRIDE] = "write to a tensor of tc_clone or tc_contiguous, and copy it back",
      [TC_MISS_LAYOUT] = "make its layout function give a dtype, strides and aligned data",
      [TC_MISS_GRAD] = "build it with grad=on, or call it in TC_NO_GRAD { }",
      [TC_MISS_AUTOCAST] = "call it inside of the scope that it is compiled for",
      [TC_MISS_INDEX] = "correct the index; the body tells which",
      [TC_MISS_MEMORY] = "give the program more memory",
  };
  if (why == TC_MISS_EQUAL && operand < 0)
    snprintf(out, n, "write 1 in TC_SHAPE for a size that repeats, or add TC_SPECIALIZE with it");
  else if (why == TC_MISS_AUTOCAST && got != TC_DTYPE_COUNT)
    snprintf(out, n, "write TC_COMPILE_WITH(\"autocast=%s\")", dtype_text(got));
  else if (why == TC_MISS_DTYPE && got != want)
    snprintf(out, n, "write TC_SHAPE(\"%s|%s[...]\"), or convert it with tc_cast", dtype_text(want),
             dtype_text(got));
  else if (why == TC_MISS_GRAD && want) snprintf(out, n, "pass leaves (tc_requires_grad_), each once");
  else snprintf(out, n, "%s", text[why] ? text[why] : "see TC_LOGS=guards");
}

enum { MANY = 3, TOLD = 1 << 30 }; /* of `row`; with TOLD stands which text was told */

/* Is this the third fallback without a hit between, for the first time?  The hits are those that
 * are counted anyway. */
static bool third_in_a_row(tcrt_function *f) {
  uint64_t hits = __atomic_load_n(&f->hits, __ATOMIC_RELAXED);
  if (__atomic_load_n(&f->row, __ATOMIC_RELAXED) >= TOLD) return false;
  if (__atomic_exchange_n(&f->row_hits, hits, __ATOMIC_RELAXED) != hits)
    __atomic_store_n(&f->row, 0, __ATOMIC_RELAXED);
  return __atomic_add_fetch(&f->row, 1, __ATOMIC_RELAXED) == MANY;
}

/* The first segment of its function to tell this? */
static bool tells_first(tcrt_function *f, const char *text) {
  const uint32_t told = TOLD | (uint32_t)tc_hash(text, strlen(text), 0);
  const size_t file = (size_t)(strrchr(f->location, ':') - f->location);
  bool fresh = true;
  tc_lock_functions();
  for (const tcrt_function *each = first; each != &last; each = each->next)
    fresh &= __atomic_load_n(&each->row, __ATOMIC_RELAXED) != told ||
             strcmp(each->name, f->name) != 0 ||
             strncmp(each->location, f->location, file + 1) != 0;
  __atomic_store_n(&f->row, told, __ATOMIC_RELAXED);
  tc_unlock_functions();
  return fresh;
}

static void notice(const tcrt_function *f, tc_miss why, int operand, const char *text, int64_t got,
                   int64_t want) {
  char what[160];
  remedy(what, sizeof what, why, operand, got, want);
  fprintf(stderr,
          "tcompile: %s (%s) ran its body 3 times in a row, which is slow: %s; %s "
          "(TC_FALLBACK=default silences this)\n",
          f->name, f->location, text, what);
}

int tcrt_miss(tcrt_function *f, tc_miss why, int operand, int axis, int64_t got, int64_t want) {
  uint64_t before = __atomic_fetch_add(&f->miss[why], 1, __ATOMIC_RELAXED);
  if (why == TC_MISS_DISABLED || f->passes) return 0;
  unsigned logs = tc_settings_now.logs;
  tc_fallback mode = tc_fallback_now();
  bool once = before == 0 && ((logs & TC_LOG_FALLBACK) || mode == TC_FALLBACK_WARN);
  bool many = mode == TC_FALLBACK_NOTICE && third_in_a_row(f);
  bool tells = once || logs & TC_LOG_GUARDS;
  if (!tells && !many && mode != TC_FALLBACK_DISABLED) return 0;
  char text[224];
  describe(f, text, sizeof text, why, operand, axis, got, want);
  if (many && tells_first(f, text)) notice(f, why, operand, text, got, want);
  if (mode == TC_FALLBACK_DISABLED) {
    tc_fail_as(TC_ERROR_FALLBACK, "%s fell back, which is not allowed now: %s", f->name, text);
    fprintf(stderr, "tcompile: error: %s (%s) fell back: %s\n", f->name, f->location, text);
  } else if (tells) {
    fprintf(stderr, "tcompile: %s (%s) ran its body: %s\n", f->name, f->location, text);
  }
  return 0;
}

int tcrt_late(tcrt_function *f) {
  tc_fail("%s: an index is out of range, or a function that it calls failed, behind an effect",
          f->name);
  return 1;
}

void tcrt_hit_log(tcrt_function *f) {
  fprintf(stderr, "tcompile: %s (%s)%s%s ran %d kernel%s for %d ops\n", f->name, f->location,
          f->sizes ? " for " : "", f->sizes ? f->sizes : "", (int)f->kernels,
          f->kernels == 1 ? "" : "s", (int)f->ops);
}
