// emulate.cpp - the emulator of emulate.h: of each unit of texts, one.
#include "tests/cuda/emulate.h"

#include <stdio.h>

#include <memory>
#include <vector>

#include "tests/cuda/coroutine.h"

tc_dim3 threadIdx, blockIdx, blockDim, gridDim;
uint4 tc_shared[14528];

// ---- threads ------------------------------------------------------------------------------------

enum { STACK = 1 << 17, MOST_THREADS = 1024 };

struct tc_pending {
  void *to;
  const void *from;
  size_t bytes, room; // of the latter, the others are zeros
  int group;
};
struct tc_fiber {
  tc_coroutine context;
  std::unique_ptr<char[]> stack;
  bool live = false;
  int meeting = 0;  // 0: none, 1: barrier, 2: shuffle, 3: an mbarrier
  uint64_t slot[2][6]; // what it offers to a shuffle; two, for the next must not overwrite the last
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
void __syncthreads() { tc_meet(1); }
void __syncwarp() { tc_meet(2); }
int __syncthreads_or(int x) {
  static int any;
  any |= x;
  __syncthreads();
  const int all = any;
  __syncthreads(); // all have read it
  any = 0;
  __syncthreads();
  return all;
}

static unsigned tc_round, tc_steps; // of threads that arrived at an mbarrier or went on behind one
void tc_mbarrier_init(tc_mbarrier *g, int count) { *g = {count, count, {0, 1}}; }
void tc_mbarrier_inval(tc_mbarrier *g) { *g = {}; }
void tc_mbarrier_arrive(tc_mbarrier *g) {
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
void tc_mbarrier_wait(tc_mbarrier *g, int phase) {
  if (g->count == 0) abort();
  while (!tc_mbarrier_is_over(g, phase)) tc_meet(3);
  ++tc_steps;
}
void tc_meet_at(tc_mbarrier *all, int *phase, int threads) {
  if (all->count == 0) tc_mbarrier_init(all, threads);
  tc_mbarrier_arrive(all);
  int &mine = phase[tc_current];
  tc_mbarrier_wait(all, mine);
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
int __shfl_xor_sync(unsigned mask, int v, int with) {
  const int to = tc_current ^ with;
  if (!(mask >> (tc_current & 31) & 1) || !(mask >> (to & 31) & 1)) abort();
  return tc_exchange(v, to);
}
int __shfl_up_sync(unsigned, int v, int by, int width) {
  const int lane = tc_current % width;
  return tc_exchange(v, lane < by ? tc_current : tc_current - by);
}
int __shfl_down_sync(unsigned, int v, int by) {
  const int lane = tc_current % 32;
  return tc_exchange(v, lane + by > 31 ? tc_current : tc_current + by);
}
int __shfl_sync(unsigned, int v, int from, int width) {
  return tc_exchange(v, tc_current / width * width + from);
}
unsigned __ballot_sync(unsigned mask, int v) {
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
    if (!f.stack) f.stack.reset(new char[STACK]); // of which pages are there once they are used
    tc_prepare(&f.context, f.stack.get(), STACK, tc_trampoline);
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

int tc_emulate(const tc_emulated_function *table, int n, const char *name, unsigned grid, unsigned block, unsigned shared,
               void *const *args) {
  if (shared > sizeof tc_shared || block > MOST_THREADS || block == 0) return 1;
  if (tc_fibers.size() < block) tc_fibers.resize(MOST_THREADS);
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
float __uint_as_float(unsigned v) { return tc_same_bits<float>(v); }
float __int_as_float(int v) { return tc_same_bits<float>(v); }
int __float_as_int(float v) { return tc_same_bits<int>(v); }
double __longlong_as_double(long long v) { return tc_same_bits<double>(v); }
long long __double_as_longlong(double v) { return tc_same_bits<long long>(v); }
unsigned __umulhi(unsigned a, unsigned b) {
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
int __float2int_rz(float x) { return tc_saturated<int>(x, 0); }
int __double2int_rz(double x) { return tc_saturated<int>(x, INT32_MIN); }
long long __float2ll_rz(float x) { return tc_saturated<long long>(x, INT64_MIN); }
long long __double2ll_rz(double x) { return tc_saturated<long long>(x, INT64_MIN); }
int __popc(unsigned v) { return __builtin_popcount(v); }
int __ffs(int v) { return __builtin_ffs(v); }
float __fdividef(float a, float b) { return a / b; }
float rsqrt(float x) { return 1 / sqrtf(x); }
double rsqrt(double x) { return 1 / sqrt(x); }
float tc_exp2_near(float x) { return exp2f(x); }
float tc_inverse_near(float x) { return 1 / x; }
float tc_log2_near(float x) { return log2f(x); }
float tc_sqrt_near(float x) { return sqrtf(x); }
float tc_ratio_near(float x, float y) { return x / y; }
double sinpi(double x) { return sin(M_PI * x); }
double cospi(double x) { return cos(M_PI * x); }

float tc_of_f16(unsigned short h) {
  const unsigned m = h & 0x3ff, e = h >> 10 & 31, sign = (h & 0x8000u) << 16;
  const float small = (float)m * 0x1p-24f;
  if (e == 0) return sign ? -small : small;
  return __uint_as_float(sign | (e < 31 ? (e + 112) << 23 | m << 13 : m ? 0x7fc00000 : 0x7f800000));
}
unsigned short tc_f16_of(float x) {
  const unsigned bits = (unsigned)__float_as_int(x), sign = bits >> 16 & 0x8000;
  if (x != x) return 0x7fff;
  const double a = fabs((double)x);
  if (a >= 65520) return (unsigned short)(sign | 0x7c00);
  const int exponent = (int)(bits >> 23 & 0xff) - 127, e = exponent < -14 ? -14 : exponent;
  const double unit = __longlong_as_double((long long)(1023 + e - 10) << 52), q = nearbyint(a / unit); // 0 .. 2048
  return (unsigned short)(sign | (unsigned)((e + 14) * 1024 + (int)q));
}
unsigned short tc_bf16_of(float x) {
  const unsigned u = (unsigned)__float_as_int(x);
  if (x != x) return 0x7fff;
  return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

float tc_minus(float x, float y) { return x - y; }
double tc_minus(double x, double y) { return x - y; }
float tc_plus(float x, float y) { return x + y; }
double tc_plus(double x, double y) { return x + y; }
float tc_larger(float x, float y) { return x > y || x != x ? x : y; }
float tc_smaller(float x, float y) { return x < y || x != x ? x : y; }
unsigned tc_two_bf16(float low, float high) {
  return tc_bf16_of(low) | (unsigned)tc_bf16_of(high) << 16;
}
unsigned tc_two_f16(float low, float high) {
  return tc_f16_of(low) | (unsigned)tc_f16_of(high) << 16;
}

// ---- copies in the background, tensor cores -----------------------------------------------------

// A copy is made when its group is waited for, not before: who reads early reads what was there.
void tc_copy_bytes(void *to, const void *from, size_t bytes, size_t room) {
  tc_fiber &me = tc_fibers[tc_current];
  if ((uintptr_t)to % room || (bytes && (uintptr_t)from % room)) abort();
  me.copies.push_back({to, from, bytes, room, me.group});
}
void tc_copy_async(void *to, const void *from, int count) {
  if (count < 0 || count > 8) abort();
  tc_copy_bytes(to, from, (size_t)count * 2, 16);
}
void tc_copy_async(void *to, const float *from, int count) {
  if (count < 0 || count > 4) abort();
  tc_copy_bytes(to, from, (size_t)count * 4, 16);
}
void tc_copies_end() { ++tc_fibers[tc_current].group; }
void tc_copies_wait_for(int left) {
  tc_fiber &me = tc_fibers[tc_current];
  size_t n = 0;
  for (; n < me.copies.size() && me.copies[n].group < me.group - left; ++n) {
    const auto &copy = me.copies[n];
    memset(copy.to, 0, copy.room);
    if (copy.bytes) memcpy(copy.to, copy.from, copy.bytes);
  }
  me.copies.erase(me.copies.begin(), me.copies.begin() + (long)n);
}
void tc_copies_arrive(tc_mbarrier *g) {
  tc_copies_end();
  tc_copies_wait<0>();
  tc_mbarrier_arrive(g);
}
void tc_fetch_matrices(unsigned *r, const unsigned short *row, bool transposed) {
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
// What a thread holds of both operands, low halves first.
struct tc_fragments {
  float a[4][2], b[2][2];
};
static tc_fragments tc_widened(const unsigned *a, const unsigned *b, bool bf16) {
  tc_fragments f;
  for (int high = 0; high < 2; ++high) {
    for (int i = 0; i < 4; ++i) f.a[i][high] = tc_half(a[i], high, bf16);
    for (int i = 0; i < 2; ++i) f.b[i][high] = tc_half(b[i], high, bf16);
  }
  return f;
}
static void tc_multiply_any(float *d, const unsigned *a, const unsigned *b, bool bf16) {
  const int warp = tc_current / 32 * 32, lane = tc_current % 32;
  tc_offer(tc_widened(a, b, bf16));
  for (int q = 0; q < 4; ++q) { // elements 2 q, 2 q + 1 of both halves of k
    const tc_fragments left = tc_offered<tc_fragments>(warp + lane / 4 * 4 + q);
    for (int c = 0; c < 2; ++c) {
      const tc_fragments right = tc_offered<tc_fragments>(warp + (lane % 4 * 2 + c) * 4 + q);
      for (int r = 0; r < 2; ++r)
        for (int e = 0; e < 2; ++e)
          d[r * 2 + c] += left.a[r][e] * right.b[0][e] + left.a[2 + r][e] * right.b[1][e];
    }
  }
}
void tc_multiply(const tc_f16 *, float *d, const unsigned *a, const unsigned *b) {
  tc_multiply_any(d, a, b, false);
}
void tc_multiply(const tc_bf16 *, float *d, const unsigned *a, const unsigned *b) {
  tc_multiply_any(d, a, b, true);
}
// As tensor cores round sums.
static float tc_towards_zero(double x) {
  const float y = (float)x;
  return fabs((double)y) > fabs(x) ? nextafterf(y, 0) : y;
}
// Thread l of a warp holds of a rows l / 4 and l / 4 + 8, of b column l / 4, of both l % 4 and l % 4 + 4 of k.
void tc_tf32_multiply(float *d, const unsigned *a, const unsigned *b) {
  const int warp = tc_current / 32 * 32, lane = tc_current % 32;
  struct tc_held {
    float a[4], b[2];
  } own;
  for (int i = 0; i < 4; ++i) own.a[i] = __uint_as_float(a[i] & 0xffffe000u);
  for (int i = 0; i < 2; ++i) own.b[i] = __uint_as_float(b[i] & 0xffffe000u);
  double sum[4] = {d[0], d[1], d[2], d[3]};
  tc_offer(own);
  for (int q = 0; q < 4; ++q) {
    const tc_held left = tc_offered<tc_held>(warp + lane / 4 * 4 + q);
    for (int c = 0; c < 2; ++c) {
      const tc_held right = tc_offered<tc_held>(warp + (lane % 4 * 2 + c) * 4 + q);
      for (int r = 0; r < 2; ++r) sum[r * 2 + c] += (double)left.a[r] * right.b[0] + (double)left.a[2 + r] * right.b[1];
    }
  }
  for (int i = 0; i < 4; ++i) d[i] = tc_towards_zero(sum[i]);
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
int tc_emulate_matmul(const tcrt_cuda_mm *mm) {
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
