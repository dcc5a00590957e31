/* Chains of products: 16 rows of a warp.  Lane l has of each 16 x 8 sums rows l / 4 and l / 4 + 8, columns 2 (l % 4)
 * and the next; of 16 x 16 of an operand the same, twice.  wgmma's sums are those, of four warps. */
/* @ tc_chain_ready tc_chain_multiply tc_chain_left */
/* tc_chain_ready() and a barrier stand between the filling of tiles and products that read them.
 *
 *   tc_chain_multiply    sum += A B, A in registers; B as [N][DEEP] (by_deep) or [DEEP][N], both multiples of 64
 *   tc_chain_left        the warp's rows of an A in shared memory, which lies as [M][D] (by_deep) or [D][M] and stays
 *                        there: multiply() is the same product, B as [N][D] or [D][N] */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define TC_CHAIN_FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TC_CHAIN_EIGHT(d, i) TC_CHAIN_FOUR(d, i), TC_CHAIN_FOUR(d, i + 4)
#define TC_CHAIN_SUMS                                                                                                  \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, " \
  "%25, %26, %27, %28, %29, %30, %31}, "
/* d += a b, begun: 64 x 16 by 16 x 64; a in registers or, as b, described as wgmma has it. */
#define TC_CHAIN_MULTIPLY(T)                                                                                           \
  template <bool by_deep> TC_FN void tc_chain_begin(const tc_##T *, tc_f32 *d, const tc_u32 *a, tc_u64 b) {            \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." #T "." #T " " TC_CHAIN_SUMS                             \
                 "{%32, %33, %34, %35}, %36, 1, 1, 1, %37;"                                                            \
                 : TC_CHAIN_EIGHT(d, 0), TC_CHAIN_EIGHT(d, 8), TC_CHAIN_EIGHT(d, 16), TC_CHAIN_EIGHT(d, 24)            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(by_deep ? 0 : 1));                          \
  }                                                                                                                    \
  template <bool a_by_deep, bool by_deep> TC_FN void tc_chain_begin(const tc_##T *, tc_f32 *d, tc_u64 a, tc_u64 b) {   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." #T "." #T " " TC_CHAIN_SUMS                             \
                 "%32, %33, 1, 1, 1, %34, %35;"                                                                        \
                 : TC_CHAIN_EIGHT(d, 0), TC_CHAIN_EIGHT(d, 8), TC_CHAIN_EIGHT(d, 16), TC_CHAIN_EIGHT(d, 24)            \
                 : "l"(a), "l"(b), "n"(a_by_deep ? 0 : 1), "n"(by_deep ? 0 : 1));                                      \
  }
TC_CHAIN_MULTIPLY(f16)
TC_CHAIN_MULTIPLY(bf16)
TC_FN void tc_chain_ready() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/* Rows of 128 bytes, of which 8 are 1024 bytes apart. */
TC_FN tc_u64 tc_chain_describe(tc_u32 at) {
  return (tc_u64)((at & 0x3ffff) >> 4) | (tc_u64)(8192 >> 4) << 16 | (tc_u64)(1024 >> 4) << 32 | (tc_u64)1 << 62;
}
/* 16 of DEEP, from number i on, of 64 of the outer axis, from j on, in bytes: panels are 64 wide. */
template <int OUTER, int DEEP, bool by_deep> TC_FN tc_u32 tc_chain_at(int i, int j) {
  return by_deep ? i / 4 * (OUTER * 128) + j * 8192 + i % 4 * 32 : j * (DEEP * 128) + i * 2048;
}
template <int N> TC_FN void tc_chain_hold(tc_f32 (&sum)[N]) { /* the compiler is to leave the registers alone */
  TC_UNROLL for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}
TC_FN void tc_chain_end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
template <class T, int DEEP, int N, bool by_deep>
TC_FN void tc_chain_multiply(tc_f32 (&sum)[N / 2], const tc_u32 (&left)[DEEP / 16][4], const unsigned short *b) {
  const tc_u32 right = tc_shared_address(b);
  tc_chain_hold(sum);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  TC_UNROLL for (int i = 0; i < DEEP / 16; ++i)
    TC_UNROLL for (int j = 0; j < N / 64; ++j)
      tc_chain_begin<by_deep>((const T *)0, &sum[j * 32], left[i],
                              tc_chain_describe(right + tc_chain_at<N, DEEP, by_deep>(i, j)));
  tc_chain_end();
  TC_UNROLL for (int i = 0; i < DEEP / 16; ++i) /* until here they are read */
    asm volatile("" ::"r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]) : "memory");
  tc_chain_hold(sum);
}
template <class T, int M, int D, bool a_by_deep> struct tc_chain_left {
  tc_u32 at;
  TC_MEMBER tc_chain_left(const unsigned short *a)
      : at(tc_shared_address(a) + tc_chain_at<M, D, a_by_deep>(0, (int)threadIdx.x / 128)) {}
  template <int N, bool by_deep> TC_MEMBER void multiply(tc_f32 (&sum)[N / 2], const unsigned short *b) const {
    const tc_u32 right = tc_shared_address(b);
    tc_chain_hold(sum);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    TC_UNROLL for (int i = 0; i < D / 16; ++i)
      TC_UNROLL for (int j = 0; j < N / 64; ++j)
        tc_chain_begin<a_by_deep, by_deep>((const T *)0, &sum[j * 32],
                                           tc_chain_describe(at + tc_chain_at<M, D, a_by_deep>(i, 0)),
                                           tc_chain_describe(right + tc_chain_at<N, D, by_deep>(i, j)));
    tc_chain_end();
    tc_chain_hold(sum);
  }
};
#else
TC_FN void tc_chain_ready() {}
template <class T, int DEEP, int N, bool by_deep>
TC_FN void tc_chain_multiply(tc_f32 (&sum)[N / 2], const tc_u32 (&left)[DEEP / 16][4], const unsigned short *b) {
  const int lane = (int)threadIdx.x % 32, low = lane % 8, second = lane / 8 % 2, third = lane / 16;
  TC_UNROLL for (int i = 0; i < DEEP / 16; ++i)
    TC_UNROLL for (int j = 0; j < N / 16; ++j) {
      tc_u32 right[4];
      if (by_deep) tc_matrices<false>(right, b + tc_place<N>(j * 16 + third * 8 + low, i * 16 + second * 8));
      else tc_matrices<true>(right, b + tc_place<DEEP>(i * 16 + second * 8 + low, j * 16 + third * 8));
      tc_multiply((const T *)0, &sum[j * 8], left[i], &right[0]);
      tc_multiply((const T *)0, &sum[j * 8 + 4], left[i], &right[2]);
    }
}
template <class T, int M, int D, bool a_by_deep> struct tc_chain_left {
  tc_u32 left[D / 16][4];
  TC_MEMBER tc_chain_left(const unsigned short *a) {
    const int lane = (int)threadIdx.x % 32, low = lane % 8, second = lane / 8 % 2, third = lane / 16;
    const int m = (int)threadIdx.x / 32 * 16;
    TC_UNROLL for (int i = 0; i < D / 16; ++i)
      if (a_by_deep) tc_matrices<false>(left[i], a + tc_place<M>(m + second * 8 + low, i * 16 + third * 8));
      else tc_matrices<true>(left[i], a + tc_place<D>(i * 16 + third * 8 + low, m + second * 8));
  }
  template <int N, bool by_deep> TC_MEMBER void multiply(tc_f32 (&sum)[N / 2], const unsigned short *b) const {
    tc_chain_multiply<T, D, N, by_deep>(sum, left, b);
  }
};
#endif
/* @ tc_chain_pairs */
TC_FN tc_u32 tc_chain_pair(const tc_bf16 *, tc_f32 low, tc_f32 high) { return tc_two_bf16(low, high); }
TC_FN tc_u32 tc_chain_pair(const tc_f16 *, tc_f32 low, tc_f32 high) { return tc_two_f16(low, high); }
/* Sums as an operand. */
template <class T, int N> TC_FN void tc_chain_pairs(tc_u32 (&left)[N / 16][4], const tc_f32 (&sum)[N / 2]) {
  TC_UNROLL for (int i = 0; i < N / 16; ++i)
    TC_UNROLL for (int j = 0; j < 4; ++j)
      left[i][j] = tc_chain_pair((const T *)0, sum[i * 8 + j * 2], sum[i * 8 + j * 2 + 1]);
}
