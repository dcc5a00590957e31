/* stub.h - a libcuda without a GPU: it records calls, checks handles, lifetimes and ranges, and
 * runs kernels as C functions.  Device memory is host memory.
 *
 * A test points TC_CUDA_LIBRARY at it and asks afterwards what happened.  The environment sets what
 * machine it pretends to be when cuInit is called: STUB_DEVICES (1), STUB_VERSION (12040),
 * STUB_ARCH (90), STUB_POOLS (1), STUB_GRAPHS (1), STUB_MEMORY (bytes of device memory). */
#ifndef TC_CUDA_STUB_H
#define TC_CUDA_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

typedef enum stub_kind {
  STUB_DEVICE_MEMORY,
  STUB_HOST_MEMORY,
  STUB_STREAM,
  STUB_EVENT,
  STUB_MODULE,
  STUB_FUNCTION,
  STUB_POOL,
  STUB_GRAPH,
  STUB_EXEC,
  STUB_KINDS
} stub_kind;

/* One launch of a kernel. */
typedef struct stub_launch {
  unsigned grid_x, grid_y, block_x, shared;
  void **args;
} stub_launch;

/* Registers what a kernel of that name does, and how many parameters it has (at most 64).  Kernels
 * that nobody registered take no parameters and do nothing. */
void stub_kernel(const char *name, int nargs, void (*run)(const stub_launch *l));

int stub_calls(const char *symbol);  /* how often "cuLaunchKernel" was called; NULL: all calls */
int stub_launches(const char *name); /* kernels that ran, in graphs or not; NULL: all */
int stub_live(stub_kind kind);       /* objects made and not yet destroyed */
size_t stub_live_bytes(void);        /* of device memory */
/* The first misuse of the interface: a handle that is none or is gone, a copy outside of a block,
 * an allocation never freed, a launch without a context.  NULL: none so far. */
const char *stub_misuse(void);

/* The n-th call from now (1: the next) fails, 0 none; memory functions fail as out of memory. */
void stub_fail_at(int n);
bool stub_failed(void); /* did it come to that? */
/* Every call of this function fails with the result; NULL: none. */
void stub_fail_always(const char *symbol, int result);

#pragma GCC visibility pop
#endif
