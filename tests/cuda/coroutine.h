// coroutine.h - switches between stacks.  Emulated threads meet millions of times: swapcontext(), which asks the kernel for
// the mask of signals each time, was nine tenths of the emulator's time.
#ifndef TC_TEST_CUDA_COROUTINE_H
#define TC_TEST_CUDA_COROUTINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
struct tc_coroutine {
  void **top = nullptr; // of its stack, while another one runs
};

// Leaves on the stack what functions keep for their callers; mask and floating-point modes are the same for all.
asm(".pushsection .text\n"
    ".type tc_change_stack, @function\n"
    "tc_change_stack:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size tc_change_stack, . - tc_change_stack\n"
    ".popsection\n");
extern "C" __attribute__((visibility("hidden"))) void tc_change_stack(void ***left, void **entered);

static void tc_switch(tc_coroutine *from, tc_coroutine *to) { tc_change_stack(&from->top, to->top); }

// The first switch to it calls f, which never returns, as if from the end of the stack.
static void tc_prepare(tc_coroutine *c, char *stack, size_t bytes, void (*f)()) {
  void **end = (void **)(((uintptr_t)stack + bytes) & ~(uintptr_t)15);
  *--end = nullptr; // where f would return to
  *--end = (void *)f;
  for (int i = 0; i < 6; ++i) *--end = nullptr;
  c->top = end;
}
#else
#include <ucontext.h>

struct tc_coroutine {
  ucontext_t context;
};
static void tc_switch(tc_coroutine *from, tc_coroutine *to) { swapcontext(&from->context, &to->context); }
static void tc_prepare(tc_coroutine *c, char *stack, size_t bytes, void (*f)()) {
  getcontext(&c->context);
  c->context.uc_stack.ss_sp = stack;
  c->context.uc_stack.ss_size = bytes;
  c->context.uc_link = nullptr;
  makecontext(&c->context, f, 0);
}
#endif

#endif
