/* nvrtc_link.c - nvJitLink, which makes machine code of PTX. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc.h"

typedef void *linker;
enum { INPUT_PTX = 2 }; /* nvJitLinkInputType */

/* Results are nvJitLinkResult, 0 for success. */
struct tc_jitlink {
  int (*create)(linker *, uint32_t n, const char **options);
  int (*add)(linker, int type, const void *data, size_t n, const char *name);
  int (*complete)(linker);
  int (*cubin_size)(linker, size_t *);
  int (*cubin)(linker, void *);
  int (*destroy)(linker *);
};

/* Every release exports its functions under names of its own too, and the header uses those; the
 * plain names are there since 12.0. */
static bool find_functions(void *library, tc_jitlink *l) {
  const struct {
    const char *name;
    void *to;
  } function[] = {
      {"nvJitLinkCreate", &l->create},        {"nvJitLinkAddData", &l->add},
      {"nvJitLinkComplete", &l->complete},    {"nvJitLinkGetLinkedCubinSize", &l->cubin_size},
      {"nvJitLinkGetLinkedCubin", &l->cubin}, {"nvJitLinkDestroy", &l->destroy},
  };
  for (size_t i = 0; i < sizeof function / sizeof *function; ++i) {
    void *address = dlsym(library, function[i].name);
    if (!address) return false;
    memcpy(function[i].to, &address, sizeof address);
  }
  return true;
}

/* A toolkit has both libraries in one folder; packages of PyPI have a folder for each. */
const tc_jitlink *tc_jitlink_open(const char *path, int major) {
  static const char *const place[] = {"", "../../nvjitlink/lib/"};
  static tc_jitlink l; /* of this process, which opens one */
  const char *slash = strrchr(path, '/');
  bool found = false;
  for (int i = 0; i < 2 && slash && !found; ++i) {
    tc_buf file = {0};
    tc_putn(&file, path, (size_t)(slash - path) + 1);
    tc_putf(&file, "%slibnvJitLink.so.%d", place[i], major);
    void *library = file.failed ? NULL : dlopen(file.text, RTLD_NOW | RTLD_LOCAL);
    found = library && find_functions(library, &l);
    tc_buf_free(&file);
  }
  return found ? &l : NULL;
}

unsigned char *tc_jitlink_compile(const tc_jitlink *l, const char *ptx, size_t n, uint32_t arch,
                                  size_t *size) {
  linker handle = NULL;
  unsigned char *bytes = NULL;
  tc_buf option = {0};
  tc_putf(&option, "-arch=sm_%u", arch);
  const char *options[] = {option.text};
  if (!option.failed && l->create(&handle, 1, options) == 0 &&
      l->add(handle, INPUT_PTX, ptx, n, "kernels") == 0 && l->complete(handle) == 0 &&
      l->cubin_size(handle, size) == 0 && (bytes = malloc(*size)) != NULL &&
      l->cubin(handle, bytes) != 0) {
    free(bytes);
    bytes = NULL;
  }
  if (handle) l->destroy(&handle);
  tc_buf_free(&option);
  return bytes;
}
