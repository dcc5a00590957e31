/* Chains of products: 16 rows of a warp.  Lane l has of each 16 x 8 sums rows l / 4 and l / 4 + 8, columns 2 (l % 4)
 * and the next; of 16 x 16 of an operand the same, twice.  wgmma's sums are those, of four warps. */
/* @ tc_chain_ready tc_chain_start tc_chain_start_none tc_chain_finish tc_chain_left */
/* tc_chain_ready() and a barrier stand between the filling of tiles and products that read them.
 *
 *   tc_chain_start       begins sum += A B, A in registers; B are N columns of [COLUMNS][DEEP] (by_deep) or [DEEP][COLUMNS]; N is a
 *                        multiple of 16, the others are of 64
 *   tc_chain_start_none  begins nothing, which counts as a product begun
 *   tc_chain_left        the warp's rows of an A in shared memory, which lies as [M][D] (by_deep) or [D][M] and stays
 *                        there: start() begins sum = A B, B as [N][D] or [D][N], of which the first LIVE of D, a multiple of
 *                        16, are summed over
 *   tc_chain_finish      waits until at most LEFT of the products begun are under way: until then nobody touches the
 *                        sums of the others, nor A in registers */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define TC_CHAIN_FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TC_CHAIN_8(d, i) TC_CHAIN_FOUR(d, i), TC_CHAIN_FOUR(d, i + 4)
#define TC_CHAIN_16(d, i) TC_CHAIN_8(d, i), TC_CHAIN_8(d, i + 8)
#define TC_CHAIN_24(d, i) TC_CHAIN_16(d, i), TC_CHAIN_8(d, i + 16)
#define TC_CHAIN_32(d, i) TC_CHAIN_16(d, i), TC_CHAIN_16(d, i + 16)
#define TC_CHAIN_40(d, i) TC_CHAIN_32(d, i), TC_CHAIN_8(d, i + 32)
#define TC_CHAIN_48(d, i) TC_CHAIN_32(d, i), TC_CHAIN_16(d, i + 32)
#define TC_CHAIN_56(d, i) TC_CHAIN_32(d, i), TC_CHAIN_24(d, i + 32)
#define TC_CHAIN_64(d, i) TC_CHAIN_32(d, i), TC_CHAIN_32(d, i + 32)
#define TC_CHAIN_TO_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define TC_CHAIN_TO_16 TC_CHAIN_TO_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define TC_CHAIN_TO_24 TC_CHAIN_TO_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define TC_CHAIN_TO_32 TC_CHAIN_TO_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define TC_CHAIN_TO_40 TC_CHAIN_TO_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define TC_CHAIN_TO_48 TC_CHAIN_TO_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define TC_CHAIN_TO_56 TC_CHAIN_TO_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define TC_CHAIN_TO_64 TC_CHAIN_TO_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
/* d += a b or, where !add, d = a b, begun: 64 x 16 by 16 x WIDE; a in registers or, as b, described as wgmma has it. */
template <class T, int WIDE> struct tc_chain_step;
/* A, .., F: the numbers of what follows the sums. */
#define TC_CHAIN_STEP(T, WIDE, SUMS, A, B, C, D, E, F)                                                                 \
  template <> struct tc_chain_step<tc_##T, WIDE> {                                                                     \
    template <bool by_deep> static TC_MEMBER void begin(tc_f32 *d, const tc_u32 *a, tc_u64 b) {                        \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #WIDE "k16.f32." #T "." #T " {" TC_CHAIN_TO_##SUMS              \
                   "}, {%" #A ", %" #B ", %" #C ", %" #D "}, %" #E ", 1, 1, 1, %" #F ";"                               \
                   : TC_CHAIN_##SUMS(d, 0)                                                                             \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(by_deep ? 0 : 1));                        \
    }                                                                                                                  \
    template <bool add, bool a_by_deep, bool by_deep> static TC_MEMBER void begin(tc_f32 *d, tc_u64 a, tc_u64 b) {     \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #WIDE "k16.f32." #T "." #T " {" TC_CHAIN_TO_##SUMS              \
                   "}, %" #A ", %" #B ", %" #C ", 1, 1, %" #D ", %" #E ";"                                             \
                   : TC_CHAIN_##SUMS(d, 0)                                                                             \
                   : "l"(a), "l"(b), "n"(add), "n"(a_by_deep ? 0 : 1), "n"(by_deep ? 0 : 1));                          \
    }                                                                                                                  \
  };
#define TC_CHAIN_STEPS(T)                                                                                              \
  TC_CHAIN_STEP(T, 16, 8, 8, 9, 10, 11, 12, 13)                                                                        \
  TC_CHAIN_STEP(T, 32, 16, 16, 17, 18, 19, 20, 21)                                                                     \
  TC_CHAIN_STEP(T, 48, 24, 24, 25, 26, 27, 28, 29)                                                                     \
  TC_CHAIN_STEP(T, 64, 32, 32, 33, 34, 35, 36, 37)                                                                     \
  TC_CHAIN_STEP(T, 80, 40, 40, 41, 42, 43, 44, 45)                                                                     \
  TC_CHAIN_STEP(T, 96, 48, 48, 49, 50, 51, 52, 53)                                                                     \
  TC_CHAIN_STEP(T, 112, 56, 56, 57, 58, 59, 60, 61)                                                                    \
  TC_CHAIN_STEP(T, 128, 64, 64, 65, 66, 67, 68, 69)
TC_CHAIN_STEPS(f16)
TC_CHAIN_STEPS(bf16)
TC_FN void tc_chain_ready() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/* Rows of 128 bytes, of which 8 are 1024 bytes apart, in panels. */
TC_FN tc_u64 tc_chain_describe(tc_u32 at, int panel) {
  return (tc_u64)((at & 0x3ffff) >> 4) | (tc_u64)(panel >> 4) << 16 | (tc_u64)(1024 >> 4) << 32 | (tc_u64)1 << 62;
}
/* `units` of 16 bytes behind; no carry leaves the low half. */
TC_FN tc_u64 tc_chain_behind(tc_u64 place, int units) {
  return (place & 0xffffffff00000000) | (tc_u32)((tc_u32)place + (tc_u32)units);
}
/* 16 of DEEP, from number i on, of the outer axis, from j on, as units of a description: panels are 64 wide. */
template <int OUTER, int DEEP, bool by_deep> TC_FN int tc_chain_at(int i, int j) {
  return (by_deep ? i / 4 * (OUTER * 128) + j * 128 + i % 4 * 32 : j / 64 * (DEEP * 128) + i * 2048) / 16;
}
template <int N> TC_FN void tc_chain_hold(tc_f32 (&sum)[N]) { /* the compiler is to leave the registers alone */
  TC_UNROLL for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}
TC_FN void tc_chain_begun() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
TC_FN void tc_chain_start_none() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  tc_chain_begun();
}
template <int LEFT, int N> TC_FN void tc_chain_finish(tc_f32 (&sum)[N]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
  tc_chain_hold(sum);
}
template <int LEFT, int N, int M> TC_FN void tc_chain_finish(tc_f32 (&sum)[N], const tc_u32 (&left)[M][4]) {
  tc_chain_finish<LEFT>(sum);
  TC_UNROLL for (int i = 0; i < M; ++i) /* until here they are read */
    asm volatile("" ::"r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]) : "memory");
}
/* Of N columns those from J on, in as few products as there may be. */
template <class T, int COLUMNS, int DEEP, int N, bool by_deep, int J = 0>
TC_FN void tc_chain_columns(tc_f32 *sum, const tc_u32 *left, tc_u64 right, int i) {
  constexpr int WIDE = N - J < 128 ? N - J : 128;
  tc_chain_step<T, WIDE>::template begin<by_deep>(sum + J / 2, left,
                                                  tc_chain_behind(right, tc_chain_at<COLUMNS, DEEP, by_deep>(i, J)));
  if constexpr (J + WIDE < N) tc_chain_columns<T, COLUMNS, DEEP, N, by_deep, J + WIDE>(sum, left, right, i);
}
template <class T, int DEEP, int N, bool by_deep, int COLUMNS>
TC_FN void tc_chain_start(tc_f32 (&sum)[N / 2], const tc_u32 (&left)[DEEP / 16][4], const unsigned short *b) {
  const tc_u64 right = tc_chain_describe(tc_shared_address(b), DEEP * 128);
  tc_chain_hold(sum);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  TC_UNROLL for (int i = 0; i < DEEP / 16; ++i) tc_chain_columns<T, COLUMNS, DEEP, N, by_deep>(sum, left[i], right, i);
  tc_chain_begun();
}
template <class T, int M, int D, int LIVE, bool a_by_deep> struct tc_chain_left {
  tc_u64 left;
  TC_MEMBER tc_chain_left(const unsigned short *a)
      : left(tc_chain_describe(tc_shared_address(a), D * 128) +
             tc_chain_at<M, D, a_by_deep>(0, tc_warp_uniform((int)threadIdx.x / 128) * 64 % M)) {}
  template <bool add, int N, bool by_deep> TC_MEMBER void begin(tc_f32 (&sum)[N / 2], tc_u64 right, int i) const {
    constexpr int WIDE = N % 128 ? 64 : 128;
    TC_UNROLL for (int j = 0; j < N; j += WIDE)
      tc_chain_step<T, WIDE>::template begin<add, a_by_deep, by_deep>(
          &sum[j / 2], tc_chain_behind(left, tc_chain_at<M, D, a_by_deep>(i, 0)),
          tc_chain_behind(right, tc_chain_at<N, D, by_deep>(i, j)));
  }
  template <int N, bool by_deep> TC_MEMBER void start(tc_f32 (&sum)[N / 2], const unsigned short *b) const {
    const tc_u64 right = tc_chain_describe(tc_shared_address(b), D * 128);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    begin<false, N, by_deep>(sum, right, 0);
    TC_UNROLL for (int i = 1; i < LIVE / 16; ++i) begin<true, N, by_deep>(sum, right, i);
    tc_chain_begun();
  }
};
#else
TC_FN void tc_chain_ready() {}
TC_FN void tc_chain_start_none() {}
template <int LEFT, int N> TC_FN void tc_chain_finish(tc_f32 (&)[N]) {}
template <int LEFT, int N, int M> TC_FN void tc_chain_finish(tc_f32 (&)[N], const tc_u32 (&)[M][4]) {}
template <class T, int LIVE, int DEEP, int N, bool by_deep, int COLUMNS>
TC_FN void tc_chain_add(tc_f32 (&sum)[N / 2], const tc_u32 (&left)[LIVE / 16][4], const unsigned short *b) {
  const int lane = (int)threadIdx.x % 32, low = lane % 8, second = lane / 8 % 2, third = lane / 16;
  TC_UNROLL for (int i = 0; i < LIVE / 16; ++i)
    TC_UNROLL for (int j = 0; j < N / 16; ++j) {
      tc_u32 right[4];
      if (by_deep) tc_matrices<false>(right, b + tc_place<COLUMNS>(j * 16 + third * 8 + low, i * 16 + second * 8));
      else tc_matrices<true>(right, b + tc_place<DEEP>(i * 16 + second * 8 + low, j * 16 + third * 8));
      tc_multiply((const T *)0, &sum[j * 8], left[i], &right[0]);
      tc_multiply((const T *)0, &sum[j * 8 + 4], left[i], &right[2]);
    }
}
template <class T, int DEEP, int N, bool by_deep, int COLUMNS>
TC_FN void tc_chain_start(tc_f32 (&sum)[N / 2], const tc_u32 (&left)[DEEP / 16][4], const unsigned short *b) {
  tc_chain_add<T, DEEP, DEEP, N, by_deep, COLUMNS>(sum, left, b);
}
template <class T, int M, int D, int LIVE, bool a_by_deep> struct tc_chain_left {
  tc_u32 left[LIVE / 16][4];
  TC_MEMBER tc_chain_left(const unsigned short *a) {
    const int lane = (int)threadIdx.x % 32, low = lane % 8, second = lane / 8 % 2, third = lane / 16;
    const int m = (int)threadIdx.x / 32 * 16 % M;
    TC_UNROLL for (int i = 0; i < LIVE / 16; ++i)
      if (a_by_deep) tc_matrices<false>(left[i], a + tc_place<M>(m + second * 8 + low, i * 16 + third * 8));
      else tc_matrices<true>(left[i], a + tc_place<D>(i * 16 + third * 8 + low, m + second * 8));
  }
  template <int N, bool by_deep> TC_MEMBER void start(tc_f32 (&sum)[N / 2], const unsigned short *b) const {
    TC_UNROLL for (int i = 0; i < N / 2; ++i) sum[i] = 0;
    tc_chain_add<T, LIVE, D, N, by_deep, N>(sum, left, b);
  }
};
#endif
/* @ tc_chain_begin_loads */
/* Loads of these are begun here, not where they are used. */
template <int N> TC_FN void tc_chain_begin_loads(tc_f32 (&x)[N]) {
#ifndef TC_EMULATED
  TC_UNROLL for (int i = 0; i < N; ++i) asm volatile("" : "+f"(x[i])::"memory");
#endif
}
template <int N> TC_FN void tc_chain_begin_loads(tc_f64 (&x)[N]) {
#ifndef TC_EMULATED
  TC_UNROLL for (int i = 0; i < N; ++i) asm volatile("" : "+d"(x[i])::"memory");
#endif
}
/* @ tc_chain_any */
TC_FN bool tc_chain_any(bool x) { return __ballot_sync(0xffffffffu, x) != 0; } /* of the warp */
/* @ tc_chain_pairs */
TC_FN tc_u32 tc_chain_pair(const tc_bf16 *, tc_f32 low, tc_f32 high) { return tc_two_bf16(low, high); }
TC_FN tc_u32 tc_chain_pair(const tc_f16 *, tc_f32 low, tc_f32 high) { return tc_two_f16(low, high); }
/* Sums as an operand. */
template <class T, int N> TC_FN void tc_chain_pairs(tc_u32 (&left)[N / 16][4], const tc_f32 (&sum)[N / 2]) {
  TC_UNROLL for (int i = 0; i < N / 16; ++i)
    TC_UNROLL for (int j = 0; j < 4; ++j)
      left[i][j] = tc_chain_pair((const T *)0, sum[i * 8 + j * 2], sum[i * 8 + j * 2 + 1]);
}
