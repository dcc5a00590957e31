/* What record.c and graph.c share: calls submitted as one CUDA graph. */
#ifndef TC_CUDA_RECORD_H
#define TC_CUDA_RECORD_H

#include "runtime/libtcrt/src/cuda/device.h"

typedef struct item {
  bool product, shares; /* shares: a product in the library's workspace */
  union {
    tc_cuda_kernel kernel;
    tcrt_cuda_mm mm;
  } as;
  uint32_t word; /* index of a kernel's first argument */
} item;

/* Items that run one after the other, behind other groups: kernels 0, 1, ... of the call are groups
 * 1, 2, ...; group 0 is what was queued in front of them. */
typedef struct group {
  uint32_t first;        /* item; the group ends where the next one begins */
  uint32_t nafter;       /* AFTER_ALL: behind all in front */
  const uint32_t *after; /* kernels, in a table of the program; none: behind group 0 */
} group;
#define AFTER_ALL UINT32_MAX

typedef struct list {
  item *at;
  uint64_t *word; /* arguments of the kernels */
  group *group;
  uint32_t n, words, groups, room, room_words, room_groups;
} list;

typedef struct graph {
  const void *tag;
  tc_cuda_device *device;
  list made;     /* what the executable graph holds now */
  void *scratch; /* of the products, when they were captured */
  unsigned epoch;
  cu_graph graph;
  cu_exec exec;
  cu_node *node;
  struct graph *next; /* less recently used */
} graph;

/* Of a thread. */
typedef struct recorder {
  bool busy, failed; /* failed: there was no memory for a group */
  const void *tag;
  list now;
  graph *newest;
  tc_cuda_device *device; /* of `capture` */
  cu_stream capture;
} recorder;

enum { MOST_ARGS = TCRT_CUDA_WORDS }; /* 4096 bytes of arguments: what drivers take */

/* What the driver wants to know of a kernel; args: MOST_ARGS of them. */
void tc_cuda_node_of(const list *l, const item *i, cu_kernel_node *node, void **args);
void tc_cuda_set_args(const list *l, const item *i, void **args);

/* The product's kernels as a graph of their own, which the caller destroys. */
cu_result tc_cuda_capture_product(recorder *r, const tcrt_cuda_call *c, const tcrt_cuda_mm *mm,
                                  cu_graph *child);

/* Nodes and edges for g->made in g->graph, and g->exec.  On failure what was made stays in g. */
cu_result tc_cuda_build_graph(recorder *r, const tcrt_cuda_call *c, graph *g);

#endif
