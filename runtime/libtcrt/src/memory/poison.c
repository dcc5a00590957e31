/* poison.c - see poison.h.  The interface of AddressSanitizer is found by weak symbols, which the
 * program's runtime defines; requests to valgrind are a sequence of instructions that does nothing
 * elsewhere ("The Client Request mechanism" of its manual, memcheck's "Client Requests"). */
#include "runtime/libtcrt/src/memory/poison.h"

#include <stdint.h>

#define WEAK __attribute__((weak))
extern void __asan_poison_memory_region(const volatile void *p, size_t n) WEAK;
extern void __asan_unpoison_memory_region(const volatile void *p, size_t n) WEAK;
extern void __asan_report_load1(uintptr_t p) WEAK;

bool tc_poisons;
static bool in_valgrind;

enum {
  RUNNING_ON_VALGRIND = 0x1001,
  MEMCHECK = (int)(('M' & 0xffu) << 24 | ('C' & 0xffu) << 16),
  MAKE_MEM_NOACCESS = MEMCHECK,
  MAKE_MEM_UNDEFINED
};

/* What valgrind answers; 0 elsewhere. */
static uintptr_t request(uintptr_t what, uintptr_t a, uintptr_t b) {
  volatile uintptr_t arguments[6] = {what, a, b, 0, 0, 0};
#if defined(__x86_64__)
  uintptr_t result = 0;
  __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                   "xchgq %%rbx, %%rbx"
                   : "+d"(result)
                   : "a"(arguments)
                   : "cc", "memory");
  return result;
#elif defined(__aarch64__)
  register const volatile uintptr_t *where __asm__("x4") = arguments;
  register uintptr_t result __asm__("x3") = 0;
  __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13\n\t"
                   "ror x12, x12, #51; ror x12, x12, #61\n\t"
                   "orr x10, x10, x10"
                   : "+r"(result)
                   : "r"(where)
                   : "cc", "memory", "x12");
  return result;
#else
  return (void)arguments, 0;
#endif
}

/* Before any memory is handed out. */
__attribute__((constructor(101))) static void look_around(void) {
  in_valgrind = request(RUNNING_ON_VALGRIND, 0, 0) != 0;
  tc_poisons = in_valgrind || __asan_poison_memory_region;
}

void tc_poison_now(const void *p, size_t n) {
  if (__asan_poison_memory_region) __asan_poison_memory_region(p, n);
  if (in_valgrind) request(MAKE_MEM_NOACCESS, (uintptr_t)p, n);
}

void tc_unpoison_now(const void *p, size_t n) {
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(p, n);
  if (in_valgrind) request(MAKE_MEM_UNDEFINED, (uintptr_t)p, n);
}

void tc_report_use(const tc_tensor *freed) {
  if (__asan_report_load1) __asan_report_load1((uintptr_t)freed->dim);
  if (in_valgrind) (void)*(const volatile char *)freed->dim;
}
