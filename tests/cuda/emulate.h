// emulate.h - runs device text on the CPU: the blocks of a grid one after the other, the threads of
// a block as coroutines that meet at barriers and shuffles.  What it checks beyond results: that
// all threads of a block that are still there meet at one barrier, that mbarriers end their phases, and that none
// writes behind the shared memory that the launch asked for.
#ifndef TC_TEST_CUDA_EMULATE_H
#define TC_TEST_CUDA_EMULATE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcompile/cuda.h>

#include <utility>
#include <vector>

#include "tests/cuda/coroutine.h"

#define TC_EMULATED 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct tc_dim3 {
  unsigned x = 0, y = 0, z = 0;
};
static tc_dim3 threadIdx, blockIdx, blockDim, gridDim;
uint4 tc_shared[14528]; // 227 KiB

// ---- threads ------------------------------------------------------------------------------------

struct tc_pending {
  void *to;
  const void *from;
  size_t bytes, room; // of the latter, the others are zeros
  int group;
};
struct tc_fiber {
  tc_coroutine context;
  std::vector<char> stack;
  bool live = false;
  int meeting = 0;  // 0: none, 1: barrier, 2: shuffle, 3: an mbarrier
  uint64_t slot[2][3]; // what it offers to a shuffle; two, for the next must not overwrite the last
  unsigned turn = 0;
  std::vector<tc_pending> copies; // under way, in the order of their groups
  int group = 0;                  // of the next copy
};
static tc_coroutine tc_main;
static std::vector<tc_fiber> tc_fibers;
static int tc_current;
static void (*tc_body)(void *const *);
static void *const *tc_arguments;

static void tc_trampoline() {
  tc_body(tc_arguments);
  tc_fibers[tc_current].live = false;
  tc_switch(&tc_fibers[tc_current].context, &tc_main);
}
static void tc_meet(int kind) {
  tc_fibers[tc_current].meeting = kind;
  tc_switch(&tc_fibers[tc_current].context, &tc_main);
}
static inline void __syncthreads() { tc_meet(1); }
static inline void __syncwarp() { tc_meet(2); }

// mbarriers.  A phase that ends in a round is seen from the next one on: threads of a warp go on together.
static unsigned tc_round, tc_steps; // of threads that arrived at an mbarrier or went on behind one
struct tc_mbarrier {
  int count = 0, left = 0;
  unsigned ended[2] = {}; // the round in which the last phase of each parity did, + 1; 0: it has not
};
static inline void tc_mbarrier_init(tc_mbarrier *g, int count) { *g = {count, count, {0, 1}}; }
static inline void tc_mbarrier_inval(tc_mbarrier *g) { *g = {}; }
static inline void tc_mbarrier_arrive(tc_mbarrier *g) {
  if (g->count == 0) abort(); // it was not started
  ++tc_steps;
  if (--g->left) return;
  const int phase = g->ended[1] != 0 ? 0 : 1;
  g->left = g->count;
  g->ended[phase] = tc_round + 1;
  g->ended[!phase] = 0;
}
static inline bool tc_mbarrier_is_over(const tc_mbarrier *g, int phase) {
  return g->ended[phase] && g->ended[phase] <= tc_round;
}
static inline void tc_mbarrier_wait(tc_mbarrier *g, int phase) {
  if (g->count == 0) abort();
  while (!tc_mbarrier_is_over(g, phase)) tc_meet(3);
  ++tc_steps;
}
template <int THREADS> static inline void tc_meet_consumers() {
  static tc_mbarrier all;
  static int phase[1024];
  if (all.count == 0) tc_mbarrier_init(&all, THREADS);
  tc_mbarrier_arrive(&all);
  int &mine = phase[tc_current];
  tc_mbarrier_wait(&all, mine);
  mine = !mine;
}

// Shuffles: behind tc_offer, each thread of the warp sees what the others have offered.
template <class T> static inline void tc_offer(T v) {
  tc_fiber &me = tc_fibers[tc_current];
  static_assert(sizeof v <= sizeof me.slot[0], "room");
  memcpy(me.slot[++me.turn & 1], &v, sizeof v);
  tc_meet(2);
}
template <class T> static inline T tc_offered(int by) {
  T r;
  memcpy(&r, tc_fibers[by].slot[tc_fibers[tc_current].turn & 1], sizeof r);
  return r;
}
template <class T> static T tc_exchange(T v, int from) {
  tc_offer(v);
  return tc_offered<T>(from);
}
static inline int __shfl_xor_sync(unsigned mask, int v, int with) {
  const int to = tc_current ^ with;
  if (!(mask >> (tc_current & 31) & 1) || !(mask >> (to & 31) & 1)) abort();
  return tc_exchange(v, to);
}
static inline int __shfl_up_sync(unsigned, int v, int by, int width) {
  const int lane = tc_current % width;
  return tc_exchange(v, lane < by ? tc_current : tc_current - by);
}
static inline int __shfl_down_sync(unsigned, int v, int by) {
  const int lane = tc_current % 32;
  return tc_exchange(v, lane + by > 31 ? tc_current : tc_current + by);
}
static inline int __shfl_sync(unsigned, int v, int from, int width) {
  return tc_exchange(v, tc_current / width * width + from);
}
static inline int atomicAdd(int *at, int v) { return (*at += v) - v; }
static inline unsigned __ballot_sync(unsigned mask, int v) {
  const int first = tc_current / 32 * 32;
  if (mask != 0xffffffffu) abort();
  tc_offer(v != 0);
  unsigned all = 0;
  for (int i = 0; i < 32; ++i) all |= (unsigned)tc_offered<bool>(first + i) << i;
  return all;
}

// One block: rounds of running every thread up to its next meeting.
static bool tc_run_block() {
  const int n = (int)blockDim.x;
  bool any = true;
  for (int t = 0; t < n; ++t) {
    tc_fiber &f = tc_fibers[t];
    if (f.stack.empty()) f.stack.resize(1 << 17);
    tc_prepare(&f.context, f.stack.data(), f.stack.size(), tc_trampoline);
    f.live = true;
    f.meeting = 0;
    f.turn = 0;
    f.copies.clear();
    f.group = 0;
  }
  int barrier = 0, shut = 0, live = n;
  const unsigned begun = tc_steps;
  unsigned idle = 0; // rounds in which nobody got anywhere
  tc_round = 1;
  while (any) {
    const bool together = barrier == live; // those at a barrier go on with the last one
    any = false;
    ++tc_round;
    int now = 0;
    const unsigned steps = tc_steps;
    bool moved = false;
    barrier = shut = 0;
    for (int t = 0; t < n; ++t) {
      tc_fiber &f = tc_fibers[t];
      if (!f.live) continue;
      if (f.meeting != 1 || together) {
        tc_current = t;
        threadIdx.x = (unsigned)t;
        tc_switch(&tc_main, &f.context);
        moved |= !f.live || f.meeting != 3;
        if (!f.live) continue;
      }
      any = true;
      ++now;
      barrier += f.meeting == 1;
      shut += f.meeting == 3;
    }
    live = now;
    idle = moved || steps != tc_steps ? 0 : idle + 1;
    const bool apart = tc_steps != begun; // warps have parts of their own
    if (barrier && barrier != live && !apart) {
      fprintf(stderr, "%d of %d threads at a barrier\n", barrier, live);
      return false;
    }
    if (idle > 4) {
      fprintf(stderr, "%d of %d threads at mbarriers whose phase does not end\n", shut, live);
      return false;
    }
  }
  return true;
}

template <class... A, size_t... I>
static void tc_apply(void (*f)(A...), void *const *args, std::index_sequence<I...>) {
  f(*(A *)args[I]...);
}
template <class... A> static void tc_call(void (*f)(A...), void *const *args) {
  tc_apply(f, args, std::index_sequence_for<A...>());
}

struct tc_emulated_function {
  const char *name;
  void (*run)(void *const *args);
};

static int tc_emulate(const tc_emulated_function *table, int n, const char *name, unsigned grid,
                      unsigned block, unsigned shared, void *const *args) {
  if (shared > sizeof tc_shared || block > 1024 || block == 0) return 1;
  if (tc_fibers.size() < block) tc_fibers.resize(1024);
  for (int i = 0; i < n; ++i) {
    if (strcmp(table[i].name, name) != 0) continue;
    tc_body = table[i].run;
    tc_arguments = args;
    blockDim.x = block;
    gridDim.x = grid;
    const size_t behind = sizeof tc_shared - shared;
    std::vector<char> untouched(behind, 0x5a);
    memset((char *)tc_shared + shared, 0x5a, behind);
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x) {
      memset(tc_shared, 0xff, shared);
      if (!tc_run_block()) return 2;
    }
    if (memcmp((char *)tc_shared + shared, untouched.data(), behind) != 0) {
      fprintf(stderr, "%s wrote behind %u bytes of shared memory\n", name, shared);
      return 4;
    }
    return 0;
  }
  return 3;
}

// ---- functions of CUDA --------------------------------------------------------------------------

template <class To, class From> static inline To tc_same_bits(From v) {
  To r;
  static_assert(sizeof r == sizeof v, "one size");
  memcpy(&r, &v, sizeof r);
  return r;
}
static inline float __uint_as_float(unsigned v) { return tc_same_bits<float>(v); }
static inline float __int_as_float(int v) { return tc_same_bits<float>(v); }
static inline int __float_as_int(float v) { return tc_same_bits<int>(v); }
static inline double __longlong_as_double(long long v) { return tc_same_bits<double>(v); }
static inline long long __double_as_longlong(double v) { return tc_same_bits<long long>(v); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((uint64_t)a * b >> 32);
}
// NaN is 0 in the first, the least integer in the others.
template <class T, class F> static inline T tc_saturated(F x, T of_nan) {
  const F end = (F)9223372036854775808.0 / (sizeof(T) == 4 ? (F)4294967296.0 : (F)1);
  if (x != x) return of_nan;
  return x >= end    ? (T)(~(uint64_t)0 >> (65 - 8 * sizeof(T)))
         : x <= -end ? (T)((uint64_t)1 << (8 * sizeof(T) - 1))
                     : (T)x;
}
static inline int __float2int_rz(float x) { return tc_saturated<int>(x, 0); }
static inline int __double2int_rz(double x) { return tc_saturated<int>(x, INT32_MIN); }
static inline long long __float2ll_rz(float x) { return tc_saturated<long long>(x, INT64_MIN); }
static inline long long __double2ll_rz(double x) { return tc_saturated<long long>(x, INT64_MIN); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float rsqrt(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float tc_exp2_near(float x) { return exp2f(x); }
static inline float tc_inverse_near(float x) { return 1 / x; }
static inline float tc_log2_near(float x) { return log2f(x); }
static inline float tc_sqrt_near(float x) { return sqrtf(x); }
static inline float tc_ratio_near(float x, float y) { return x / y; }
static inline double sinpi(double x) { return sin(M_PI * x); }
static inline double cospi(double x) { return cos(M_PI * x); }

static inline float tc_of_f16(unsigned short h) {
  const unsigned m = h & 0x3ff, e = h >> 10 & 31;
  const double v = e == 31 ? (m ? NAN : INFINITY)
                   : e     ? ldexp(1024.0 + m, (int)e - 25)
                           : ldexp(m, -24);
  return (float)(h & 0x8000 ? -v : v);
}
static inline unsigned short tc_f16_of(float x) {
  const unsigned short sign = (unsigned short)(__float_as_int(x) >> 16 & 0x8000);
  if (x != x) return 0x7fff;
  const double a = fabs((double)x);
  if (a >= 65520) return sign | 0x7c00;
  int e = a > 0 ? ilogb(a) : -14;
  e = e < -14 ? -14 : e;
  const double q = nearbyint(ldexp(a, 10 - e)); // 0 .. 2048
  return sign | (unsigned short)((e + 14) * 1024 + (int)q);
}
static inline unsigned short tc_bf16_of(float x) {
  const unsigned u = (unsigned)__float_as_int(x);
  if (x != x) return 0x7fff;
  return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline float tc_minus(float x, float y) { return x - y; }
static inline double tc_minus(double x, double y) { return x - y; }
static inline float tc_plus(float x, float y) { return x + y; }
static inline double tc_plus(double x, double y) { return x + y; }
static inline float tc_larger(float x, float y) { return x > y || x != x ? x : y; }
static inline float tc_smaller(float x, float y) { return x < y || x != x ? x : y; }
static inline unsigned tc_two_bf16(float low, float high) {
  return tc_bf16_of(low) | (unsigned)tc_bf16_of(high) << 16;
}
static inline unsigned tc_two_f16(float low, float high) {
  return tc_f16_of(low) | (unsigned)tc_f16_of(high) << 16;
}

// ---- copies in the background, tensor cores -----------------------------------------------------

// A copy is made when its group is waited for, not before: who reads early reads what was there.
static inline void tc_copy_async(void *to, const void *from, int count) {
  tc_fiber &me = tc_fibers[tc_current];
  if ((uintptr_t)to % 16 || (count && (uintptr_t)from % 16) || count < 0 || count > 8) abort();
  me.copies.push_back({to, from, (size_t)count * 2, 16, me.group});
}
template <int LANES, class T> static inline void tc_copy_few(T *to, const T *from, int count) {
  tc_fiber &me = tc_fibers[tc_current];
  const size_t room = LANES * sizeof(T);
  if ((uintptr_t)to % room || (count && (uintptr_t)from % room) || count < 0 || count > LANES) abort();
  me.copies.push_back({to, from, (size_t)count * sizeof(T), room, me.group});
}
static inline void tc_copies_end() { ++tc_fibers[tc_current].group; }
template <int LEFT> static inline void tc_copies_wait() {
  tc_fiber &me = tc_fibers[tc_current];
  size_t n = 0;
  for (; n < me.copies.size() && me.copies[n].group < me.group - LEFT; ++n) {
    const auto &copy = me.copies[n];
    memset(copy.to, 0, copy.room);
    if (copy.bytes) memcpy(copy.to, copy.from, copy.bytes);
  }
  me.copies.erase(me.copies.begin(), me.copies.begin() + (long)n);
}
static inline void tc_copies_arrive(tc_mbarrier *g) {
  tc_copies_end();
  tc_copies_wait<0>();
  tc_mbarrier_arrive(g);
}
template <bool transposed> static inline void tc_matrices(unsigned *r, const unsigned short *row) {
  const int warp = tc_current / 32 * 32, lane = tc_current % 32;
  tc_offer(row);
  for (int j = 0; j < 4; ++j) {
    const int from = warp + j * 8 + (transposed ? lane % 4 * 2 : lane / 4);
    const unsigned short *one = tc_offered<const unsigned short *>(from);
    const unsigned short *two = transposed ? tc_offered<const unsigned short *>(from + 1) : one;
    const int at = transposed ? lane / 4 : lane % 4 * 2;
    r[j] = one[at] | (unsigned)two[transposed ? at : at + 1] << 16;
  }
}
static inline float tc_half(unsigned pair, int high, bool bf16) {
  const unsigned short bits = (unsigned short)(high ? pair >> 16 : pair);
  return bf16 ? __uint_as_float((unsigned)bits << 16) : tc_of_f16(bits);
}
struct tc_fragments {
  unsigned a[4], b[2];
};
static inline void tc_multiply_any(float *d, const unsigned *a, const unsigned *b, bool bf16) {
  const int warp = tc_current / 32 * 32, lane = tc_current % 32;
  tc_offer(tc_fragments{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
  for (int q = 0; q < 4; ++q) { // elements 2 q, 2 q + 1 of both halves of k
    const tc_fragments left = tc_offered<tc_fragments>(warp + lane / 4 * 4 + q);
    for (int c = 0; c < 2; ++c) {
      const tc_fragments right = tc_offered<tc_fragments>(warp + (lane % 4 * 2 + c) * 4 + q);
      for (int r = 0; r < 2; ++r)
        for (int e = 0; e < 2; ++e)
          d[r * 2 + c] += tc_half(left.a[r], e, bf16) * tc_half(right.b[0], e, bf16) +
                          tc_half(left.a[2 + r], e, bf16) * tc_half(right.b[1], e, bf16);
    }
  }
}
struct tc_f16;
struct tc_bf16;
static inline void tc_multiply(const tc_f16 *, float *d, const unsigned *a, const unsigned *b) {
  tc_multiply_any(d, a, b, false);
}
static inline void tc_multiply(const tc_bf16 *, float *d, const unsigned *a, const unsigned *b) {
  tc_multiply_any(d, a, b, true);
}

// ---- products of the library --------------------------------------------------------------------

static double tc_element(const void *p, int64_t i, int dtype) {
  if (dtype == TC_F64) return ((const double *)p)[i];
  if (dtype == TC_F32) return ((const float *)p)[i];
  const unsigned short bits = ((const unsigned short *)p)[i];
  return dtype == TC_F16 ? tc_of_f16(bits) : __uint_as_float((unsigned)bits << 16);
}
static void tc_put_element(void *p, int64_t i, int dtype, double v) {
  if (dtype == TC_F64) ((double *)p)[i] = v;
  else if (dtype == TC_F32) ((float *)p)[i] = (float)v;
  else ((unsigned short *)p)[i] = dtype == TC_F16 ? tc_f16_of((float)v) : tc_bf16_of((float)v);
}
// As tcrt_cuda_matmul says; it takes everything but an empty k.
static int tc_emulate_matmul(const tcrt_cuda_mm *mm) {
  if (mm->k == 0 || mm->epilogue == TCRT_MM_GELU_TANH) return 1;
  const int d = mm->dtype;
  for (int64_t p = 0; p < mm->batch; ++p)
    for (int64_t i = 0; i < mm->m; ++i)
      for (int64_t j = 0; j < mm->n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < mm->k; ++k) {
          const int64_t a = mm->transposed_a ? k * mm->lda + i : i * mm->lda + k;
          const int64_t b = mm->transposed_b ? j * mm->ldb + k : k * mm->ldb + j;
          sum +=
              tc_element(mm->a, p * mm->step_a + a, d) * tc_element(mm->b, p * mm->step_b + b, d);
        }
        if (mm->bias) sum += tc_element(mm->bias, j, d);
        if (mm->epilogue == TCRT_MM_RELU && sum < 0) sum = 0;
        tc_put_element(mm->c, p * mm->step_c + i * mm->ldc + j, mm->wide_c ? TC_F32 : d, sum);
      }
  return 0;
}

#endif
