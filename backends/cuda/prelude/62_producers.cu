/* Warps of a block that bring tiles to the others, and what they meet at. */
/* @ tc_warp_uniform */
/* The same number in all lanes, which the compiler need not keep for each. */
TC_FN int tc_warp_uniform(int x) { return __shfl_sync(0xffffffffu, x, 0, 32); }
/* @ TC_PRODUCERS tc_mbarrier tc_mbarrier_init tc_mbarrier_inval tc_mbarrier_arrive tc_mbarrier_wait tc_registers_fewer tc_registers_more */
/* Warps of a block that have no part in products, but bring their tiles (CUTLASS: producers and consumers): so many threads,
 * behind the others, where code may give a warp's registers to others; else none. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define TC_PRODUCERS 128
/* From here on a thread of these four warps has N registers, a multiple of 8. */
template <int N> TC_FN void tc_registers_fewer() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> TC_FN void tc_registers_more() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
#else
#ifndef TC_PRODUCERS
#define TC_PRODUCERS 0
#endif
template <int N> TC_FN void tc_registers_fewer() {}
template <int N> TC_FN void tc_registers_more() {}
#endif
/* An mbarrier in shared memory: every `count` arrivals end a phase; phases are 0 and 1 by turns. */
#ifndef TC_EMULATED
typedef tc_u64 tc_mbarrier;
TC_FN void tc_mbarrier_init(tc_mbarrier *g, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(tc_shared_address(g)), "r"(count) : "memory");
}
TC_FN void tc_mbarrier_inval(tc_mbarrier *g) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(tc_shared_address(g)) : "memory"); }
TC_FN void tc_mbarrier_arrive(tc_mbarrier *g) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(tc_shared_address(g)) : "memory");
}
/* Until that phase is over; of one that begins, phase 1 is. */
TC_FN void tc_mbarrier_wait(tc_mbarrier *g, int phase) {
  asm volatile("{\n"
               "  .reg .pred over;\n"
               "again_%=:\n"
               "  mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
               "  @!over bra again_%=;\n"
               "}" ::"r"(tc_shared_address(g)), "r"(phase) : "memory");
}
#endif
/* @ tc_meet_consumers */
#ifndef TC_EMULATED
template <int THREADS> TC_FN void tc_meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory"); }
#endif
/* @ tc_copies_arrive */
#ifndef TC_EMULATED
/* An arrival at the mbarrier when all copies of the thread so far are there. */
TC_FN void tc_copies_arrive(tc_mbarrier *g) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(tc_shared_address(g)) : "memory");
}
#endif
