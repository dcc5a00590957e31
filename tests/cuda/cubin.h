/* cubin.h - what machine code says of its functions. */
#ifndef TC_TEST_CUDA_CUBIN_H
#define TC_TEST_CUDA_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cubin_function {
  const char *name;   /* inside the image */
  uint32_t registers; /* of a thread */
  uint32_t frame;     /* bytes of local memory of a thread: spills, arrays that are indexed */
} cubin_function;

/* Functions of the image in *list (freed by the caller), their number; -1: not such an image. */
int cubin_functions(const unsigned char *image, size_t size, cubin_function **list);

#endif
