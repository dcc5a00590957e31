/* Tensor cores: products of halves, sums in f32.  A tile in shared memory lies as panels of 64
 * elements of each of its rows, 128 bytes; the 16-byte chunks of row r in the order of (chunk ^ r % 8),
 * so that eight rows are read at one chunk without a conflict of banks.  That is the swizzle of 128
 * bytes of wgmma too. */
/* @ tc_place */
template <int ROWS> TC_FN int tc_place(int row, int at) {
  return ((at >> 6) * ROWS + row) * 64 + (((at >> 3 & 7) ^ (row & 7)) << 3) + (at & 7);
}
/* @ tc_places */
/* The first place in shared memory: wgmma's swizzle counts in units of 1024 bytes.  (A sum, so that the compiler knows the
 * pointer as one to shared memory.) */
TC_FN unsigned short *tc_places() {
  char *const shared = (char *)tc_shared;
  return (unsigned short *)(shared + (0 - (unsigned)(tc_u64)shared) % 1024);
}
/* @ tc_kept */
/* x, which is not to be computed again where it is used. */
TC_FN int tc_kept(int x) {
#ifndef TC_EMULATED
  asm volatile("" : "+r"(x));
#endif
  return x;
}
TC_FN tc_i64 tc_kept(tc_i64 x) {
#ifndef TC_EMULATED
  asm volatile("" : "+l"(x));
#endif
  return x;
}
/* @ tc_copy_async tc_copies_end tc_copies_wait */
#ifndef TC_EMULATED
TC_FN tc_u32 tc_shared_address(const void *p) { return (tc_u32)__cvta_generic_to_shared(p); }
/* Eight halves to shared memory, in the background: `count` of them as they are at `from`, which is read no further, the rest
 * zeros. */
TC_FN void tc_copy_async(void *to, const void *from, int count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tc_shared_address(to)),
               "l"(from), "r"(count * 2)
               : "memory");
}
/* ... four of f32. */
TC_FN void tc_copy_async(void *to, const tc_f32 *from, int count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tc_shared_address(to)),
               "l"(from), "r"(count * 4)
               : "memory");
}
/* Ends a group of copies; waits until at most LEFT groups are under way. */
TC_FN void tc_copies_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> TC_FN void tc_copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
#endif
/* @ tc_matrices tc_multiply */
#ifndef TC_EMULATED
/* Four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8, and receives elements 2 (l % 4) and
 * 2 (l % 4) + 1 of row l / 4 of each (transposed: of its transpose). */
template <bool transposed> TC_FN void tc_matrices(tc_u32 *r, const unsigned short *row) {
  const tc_u32 at = tc_shared_address(row);
  if (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
/* d += a b: 16 x 16 by 16 x 8 */
#define TC_MULTIPLY(T)                                                                             \
  TC_FN void tc_multiply(const tc_##T *, tc_f32 *d, const tc_u32 *a, const tc_u32 *b) {            \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." #T "." #T ".f32 "                                 \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                          \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                       \
  }
TC_MULTIPLY(f16)
TC_MULTIPLY(bf16)
#endif
/* @ tc_square */
/* The sums of M x N, of which each 128 threads have M / groups rows.  step by step: ready(), a barrier,
 * start(), finish() with the tiles of A and B at 64 elements of k; end() behind the last.  A lies as
 * [m][k] (a_by_k) or [k][m], B as [n][k] or [k][n].  `behind` steps may be unfinished behind finish(), or, where there are tensor
 * cores that go on by themselves, as many as it is told. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define TC_FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TC_EIGHT(d, i) TC_FOUR(d, i), TC_FOUR(d, i + 4)
/* d += a b, begun: 64 x 16 by 16 x 128 or 64, operands described as wgmma has them. */
#define TC_GROUP_MULTIPLY(T)                                                                       \
  template <bool a_by_k, bool b_by_k>                                                              \
  TC_FN void tc_group_multiply(const tc_##T *, tc_f32 (&d)[64], tc_u64 a, tc_u64 b) {               \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." #T "." #T " "                        \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
        "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
        "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, " \
        "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, " \
        "%60, %61, %62, %63}, " \
        "%64, %65, 1, 1, 1, %66, %67;" \
        : TC_EIGHT(d, 0), TC_EIGHT(d, 8), TC_EIGHT(d, 16), TC_EIGHT(d, 24), TC_EIGHT(d, 32), TC_EIGHT(d, 40), TC_EIGHT(d, 48), TC_EIGHT(d, 56) \
        : "l"(a), "l"(b), "n"(a_by_k ? 0 : 1), "n"(b_by_k ? 0 : 1)); \
  } \
  template <bool a_by_k, bool b_by_k>                                                              \
  TC_FN void tc_group_multiply(const tc_##T *, tc_f32 (&d)[32], tc_u64 a, tc_u64 b) {               \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." #T "." #T " "                        \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
        "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
        "%30, %31}, " \
        "%32, %33, 1, 1, 1, %34, %35;" \
        : TC_EIGHT(d, 0), TC_EIGHT(d, 8), TC_EIGHT(d, 16), TC_EIGHT(d, 24) \
        : "l"(a), "l"(b), "n"(a_by_k ? 0 : 1), "n"(b_by_k ? 0 : 1)); \
  }

TC_GROUP_MULTIPLY(f16)
TC_GROUP_MULTIPLY(bf16)
template <class T, int M, int N, int GROUPS, bool a_by_k, bool b_by_k> struct tc_square {
  enum { HIGH = M / GROUPS, WIDE = N < 128 ? N : 128, PANEL = 64 * 128 };
  static constexpr int behind = GROUPS > 1;
  tc_f32 sum[HIGH / 64][N / WIDE][WIDE / 2]; /* of an instruction */
  TC_MEMBER tc_square() {
    TC_UNROLL for (int i = 0; i < HIGH / 64; ++i)
      TC_UNROLL for (int j = 0; j < N / 2; ++j) sum[i][j * 2 / WIDE][j % (WIDE / 2)] = 0;
  }
  TC_MEMBER void hold() { /* the compiler is to leave the registers alone */
    TC_UNROLL for (int i = 0; i < HIGH / 64; ++i)
      TC_UNROLL for (int j = 0; j < N / 2; ++j) asm volatile("" : "+f"(sum[i][j * 2 / WIDE][j % (WIDE / 2)])::"memory");
  }
  /* 8 rows are 1024 bytes apart; panels of an operand that lies along m or n, PANEL. */
  static TC_MEMBER tc_u64 describe(tc_u32 at) {
    return (tc_u64)((at & 0x3ffff) >> 4) | (tc_u64)(PANEL >> 4) << 16 | (tc_u64)(1024 >> 4) << 32 |
           (tc_u64)1 << 62;
  }
  TC_MEMBER void ready() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
  TC_MEMBER void start(const unsigned short *a, const unsigned short *b) {
    const int group = GROUPS > 1 ? __shfl_sync(~0u, (int)threadIdx.x / 128, 0) : 0;
    const tc_u64 left = describe(tc_shared_address(a) + group * (HIGH / 64) * PANEL);
    const tc_u64 right = describe(tc_shared_address(b)); /* units of 16 bytes */
    hold();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    TC_UNROLL for (int k = 0; k < 4; ++k)
      TC_UNROLL for (int i = 0; i < HIGH / 64; ++i)
        TC_UNROLL for (int j = 0; j < N / WIDE; ++j)
          tc_group_multiply<a_by_k, b_by_k>((const T *)0, sum[i][j], left + (i * PANEL + k * (a_by_k ? 32 : 2048)) / 16,
                                            right + (j * (WIDE / 64) * PANEL + k * (b_by_k ? 32 : 2048)) / 16);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    hold();
  }
  template <int LEFT = behind> TC_MEMBER void finish(const unsigned short *, const unsigned short *) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
    if (!LEFT) hold();
  }
  TC_MEMBER void end() {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold();
  }
  /* To rows of LONG floats, of which row r begins shift(r) behind that. */
  template <int LONG, class F> TC_MEMBER void leave(tc_f32 *to, const F &shift) const {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32 % 4;
    const int row = (int)threadIdx.x / 128 * HIGH + warp * 16 + lane / 4;
    TC_UNROLL for (int i = 0; i < HIGH / 64; ++i)
      TC_UNROLL for (int half = 0; half < 2; ++half) {
        const int r = row + i * 64 + half * 8;
        tc_f32 *const at = to + r * LONG + shift(r) + lane % 4 * 2;
        TC_UNROLL for (int j = 0; j < N / 8; ++j)
          TC_UNROLL for (int e = 0; e < 2; ++e) at[j * 8 + e] = sum[i][j * 8 / WIDE][j % (WIDE / 8) * 4 + half * 2 + e];
      }
  }
};
#else
template <class T, int M, int N, int GROUPS, bool a_by_k, bool b_by_k> struct tc_square {
  enum { HIGH = M / GROUPS / 2, WIDE = N / 2 }; /* of a warp: four are two by two */
  static constexpr int behind = 0;
  tc_f32 sum[HIGH / 16][WIDE / 8][4];
  TC_MEMBER tc_square() {
    TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
      TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
        TC_UNROLL for (int e = 0; e < 4; ++e) sum[i][j][e] = 0;
  }
  static TC_MEMBER int row() { return (int)threadIdx.x / 64 * HIGH; }
  static TC_MEMBER int column() { return (int)threadIdx.x / 32 % 2 * WIDE; }
  TC_MEMBER void ready() {}
  TC_MEMBER void start(const unsigned short *, const unsigned short *) {}
  template <int LEFT = behind> TC_MEMBER void finish(const unsigned short *a, const unsigned short *b) {
    const int lane = (int)threadIdx.x % 32, low = lane % 8, second = lane / 8 % 2, third = lane / 16;
    TC_UNROLL for (int k = 0; k < 64; k += 16) {
      tc_u32 left[HIGH / 16][4], right[WIDE / 16][4];
      TC_UNROLL for (int i = 0; i < HIGH / 16; ++i) {
        const int m = row() + i * 16;
        if (a_by_k) tc_matrices<false>(left[i], a + tc_place<M>(m + second * 8 + low, k + third * 8));
        else tc_matrices<true>(left[i], a + tc_place<64>(k + third * 8 + low, m + second * 8));
      }
      TC_UNROLL for (int j = 0; j < WIDE / 16; ++j) {
        const int n = column() + j * 16;
        if (b_by_k) tc_matrices<false>(right[j], b + tc_place<N>(n + third * 8 + low, k + second * 8));
        else tc_matrices<true>(right[j], b + tc_place<64>(k + second * 8 + low, n + third * 8));
      }
      TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
        TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
          tc_multiply((const T *)0, sum[i][j], left[i], &right[j / 2][j % 2 * 2]);
    }
  }
  TC_MEMBER void end() {}
  /* Thread l of a warp holds rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next, of every 16 x 8. */
  template <int LONG, class F> TC_MEMBER void leave(tc_f32 *to, const F &shift) const {
    const int lane = (int)threadIdx.x % 32;
    TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
      TC_UNROLL for (int half = 0; half < 2; ++half) {
        const int r = row() + i * 16 + lane / 4 + half * 8;
        tc_f32 *const at = to + r * LONG + shift(r) + column() + lane % 4 * 2;
        TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
          TC_UNROLL for (int e = 0; e < 2; ++e) at[j * 8 + e] = sum[i][j][half * 2 + e];
      }
  }
};
#endif
