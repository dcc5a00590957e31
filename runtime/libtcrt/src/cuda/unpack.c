/* Unpacking of images; liblzma is opened by name, as the driver is. */
#include "runtime/libtcrt/src/cuda/unpack.h"

#include <dlfcn.h>
#include <lzma.h>
#include <pthread.h>

static __typeof__(lzma_stream_buffer_decode) *decode;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Programs without kernels for GPUs, and machines without one, need no liblzma. */
static void open_library(void) {
  void *library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library) decode = (__typeof__(decode))dlsym(library, "lzma_stream_buffer_decode");
}

const char *tcrt_decompress(const void *from, size_t packed, void *to, size_t size) {
  pthread_once(&once, open_library);
  if (!decode) return "liblzma.so.5 (Debian: liblzma5) was not found";
  uint64_t limit = UINT64_MAX;
  size_t in = 0, out = 0;
  const lzma_ret r = decode(&limit, 0, NULL, from, &in, packed, to, &out, size);
  if (r == LZMA_MEM_ERROR) return "out of memory";
  return r == LZMA_OK && in == packed && out == size ? NULL : "the image is damaged";
}
