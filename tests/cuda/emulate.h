// emulate.h - what device text sees where it runs on the CPU: the blocks of a grid one after the other, the threads of a
// block as coroutines that meet at barriers and shuffles.  What is checked beyond results: that all threads of a block that
// are still there meet at one barrier, that mbarriers end their phases, and that none writes behind the shared memory that
// the launch asked for.
//
// Texts are compiled with -O0, for that takes longer than running them once.  What is no template is in emulate.cpp,
// optimised, and compiled once for all of them.
#ifndef TC_TEST_CUDA_EMULATE_H
#define TC_TEST_CUDA_EMULATE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tcompile/cuda.h>

#include <utility>

#define TC_EMULATED 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

#pragma GCC visibility push(hidden) // each unit has an emulator of its own

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct tc_dim3 {
  unsigned x = 0, y = 0, z = 0;
};
extern tc_dim3 threadIdx, blockIdx, blockDim, gridDim;
extern uint4 tc_shared[14528]; // 227 KiB

// ---- threads ------------------------------------------------------------------------------------

void __syncthreads();
int __syncthreads_or(int x);
void __syncwarp();

// mbarriers.  A phase that ends in a round is seen from the next one on: threads of a warp go on together.
struct tc_mbarrier {
  int count = 0, left = 0;
  unsigned ended[2] = {}; // the round in which the last phase of each parity did, + 1; 0: it has not
};
void tc_mbarrier_init(tc_mbarrier *g, int count);
void tc_mbarrier_inval(tc_mbarrier *g);
void tc_mbarrier_arrive(tc_mbarrier *g);
void tc_mbarrier_wait(tc_mbarrier *g, int phase);
void tc_meet_at(tc_mbarrier *all, int *phase, int threads); // phase: of each thread
template <int THREADS> static inline void tc_meet_consumers() {
  static tc_mbarrier all;
  static int phase[1024];
  tc_meet_at(&all, phase, THREADS);
}

int __shfl_xor_sync(unsigned mask, int v, int with);
int __shfl_up_sync(unsigned mask, int v, int by, int width);
int __shfl_down_sync(unsigned mask, int v, int by);
int __shfl_sync(unsigned mask, int v, int from, int width);
unsigned __ballot_sync(unsigned mask, int v);
static inline int atomicAdd(int *at, int v) { return (*at += v) - v; }

// ---- launches -----------------------------------------------------------------------------------

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
// 0, or what failed.
int tc_emulate(const tc_emulated_function *table, int n, const char *name, unsigned grid, unsigned block, unsigned shared,
               void *const *args);

// ---- functions of CUDA --------------------------------------------------------------------------

float __uint_as_float(unsigned v);
float __int_as_float(int v);
int __float_as_int(float v);
double __longlong_as_double(long long v);
long long __double_as_longlong(double v);
unsigned __umulhi(unsigned a, unsigned b);
int __float2int_rz(float x);
int __double2int_rz(double x);
long long __float2ll_rz(float x);
long long __double2ll_rz(double x);
int __popc(unsigned v);
int __ffs(int v);
float __fdividef(float a, float b);
float rsqrt(float x);
double rsqrt(double x);
float tc_exp2_near(float x);
float tc_inverse_near(float x);
float tc_log2_near(float x);
float tc_sqrt_near(float x);
float tc_ratio_near(float x, float y);
double sinpi(double x);
double cospi(double x);

float tc_of_f16(unsigned short h);
unsigned short tc_f16_of(float x);
unsigned short tc_bf16_of(float x);

float tc_minus(float x, float y);
double tc_minus(double x, double y);
float tc_plus(float x, float y);
double tc_plus(double x, double y);
float tc_larger(float x, float y);
float tc_smaller(float x, float y);
unsigned tc_two_bf16(float low, float high);
unsigned tc_two_f16(float low, float high);

// ---- copies in the background, tensor cores -----------------------------------------------------

void tc_copy_async(void *to, const void *from, int count);
void tc_copy_async(void *to, const float *from, int count);
void tc_copy_bytes(void *to, const void *from, size_t bytes, size_t room); // the rest of the room: zeros
template <int LANES, class T> static inline void tc_copy_few(T *to, const T *from, int count) {
  if (count < 0 || count > LANES) abort();
  tc_copy_bytes(to, from, (size_t)count * sizeof(T), LANES * sizeof(T));
}
void tc_copies_end();
void tc_copies_wait_for(int left); // groups that may be under way
template <int LEFT> static inline void tc_copies_wait() { tc_copies_wait_for(LEFT); }
void tc_copies_arrive(tc_mbarrier *g);
void tc_fetch_matrices(unsigned *r, const unsigned short *row, bool transposed);
template <bool TRANSPOSED> static inline void tc_matrices(unsigned *r, const unsigned short *row) {
  tc_fetch_matrices(r, row, TRANSPOSED);
}
struct tc_f16;
struct tc_bf16;
void tc_multiply(const tc_f16 *, float *d, const unsigned *a, const unsigned *b);
void tc_multiply(const tc_bf16 *, float *d, const unsigned *a, const unsigned *b);
void tc_tf32_multiply(float *d, const unsigned *a, const unsigned *b);

// ---- products of the library --------------------------------------------------------------------

// As tcrt_cuda_matmul says; it takes everything but an empty k.
int tc_emulate_matmul(const tcrt_cuda_mm *mm);

#pragma GCC visibility pop

#endif
