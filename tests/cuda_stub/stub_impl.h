/* stub_impl.h - the registry of objects that the entry points of the stub share. */
#ifndef TC_CUDA_STUB_IMPL_H
#define TC_CUDA_STUB_IMPL_H

#include "runtime/libtcrt/src/cuda/driver.h"
#include "tests/cuda_stub/stub.h"

typedef struct stub_object {
  stub_kind kind;
  void *at; /* memory: its address; else this object */
  size_t bytes;
  char name[96];             /* of a function */
  char *text;                /* of a module: its image */
  struct stub_object *owner; /* module of a function, pool of memory, graph of an executable */
  struct stub_node *node;    /* of a graph, in order; freed with it */
  int nodes;
  struct stub_object *next;
} stub_object;

enum { STUB_MOST_NODES = 64 };

typedef struct stub_node {
  cu_kernel_node kernel;
  uint64_t word[64]; /* arguments */
  bool child;
  bool after[STUB_MOST_NODES]; /* the nodes that it depends on */
  struct stub_node *inner; /* of a child graph */
  int inners;
} stub_node;

typedef struct stub_machine {
  int devices, version, arch, pools, graphs;
  size_t memory;
} stub_machine;
extern stub_machine stub_is;

/* Counts the call; nonzero: it is to fail with that result. Takes the lock, which stub_leave gives
 * back. */
cu_result stub_enter(const char *symbol);
cu_result stub_leave(cu_result r);
/* Records a misuse; CU_INVALID_VALUE. */
cu_result stub_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

stub_object *stub_make(stub_kind kind, size_t bytes);
/* The live object of that kind, or NULL after recording the misuse. */
stub_object *stub_find(const char *symbol, stub_kind kind, const void *handle);
void stub_drop(stub_object *o);
/* Is [p, p+bytes) inside one live block of the kind? */
bool stub_inside(const char *symbol, stub_kind kind, const void *p, size_t bytes);
bool stub_owns(stub_kind kind, const void *p); /* likewise for one byte, silently */
size_t stub_used(void);

int stub_nargs(const char *name);
cu_result stub_run(const char *symbol, const cu_kernel_node *k);

#endif
