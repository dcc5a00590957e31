/* The floating-point environment of a thread that runs a kernel.  Kernels compute what nobody
 * asked for - lanes past the end of a row, columns past the edge of a product, lanes that a
 * selection drops, both sides of a branch that the compiler turned into a selection - and raise
 * exceptions there that the body does not.  So every thread computes as between feholdexcept and
 * fesetenv of C: without traps, and with the flags at the end that were there at the beginning.
 * The rounding mode and the treatment of subnormal numbers stay those of the caller. */
/* @ tc_fe tc_fe_hold tc_fe_restore */
typedef uint64_t tc_fe; /* MXCSR; on Arm FPCR (high) and FPSR */
#if defined(__x86_64__)
/* Loading the register takes longer than looking whether all exceptions are masked already. */
TC_FN tc_fe tc_fe_hold(void) {
  const uint32_t masks = 0x1f80, env = __builtin_ia32_stmxcsr();
  if ((env & masks) != masks) __builtin_ia32_ldmxcsr(env | masks);
  return env;
}
TC_FN void tc_fe_restore(tc_fe env) { __builtin_ia32_ldmxcsr((uint32_t)env); }
#elif defined(__aarch64__)
TC_FN tc_fe tc_fe_hold(void) {
  const uint64_t traps = 0x9f00;
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status)::"memory");
  if (control & traps) __asm__ volatile("msr fpcr, %0" ::"r"(control & ~traps) : "memory");
  return control << 32 | status;
}
TC_FN void tc_fe_restore(tc_fe env) {
  __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(env >> 32), "r"(env & 0xffffffff)
                   : "memory");
}
#endif
