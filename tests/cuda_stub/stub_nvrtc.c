/* An NVRTC whose machine code is what the stub of the driver loads: "STUB:" and the names of the
 * kernels in the text.  With it entries for CUDA are tested where there is no NVRTC. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "__global__";

static int is_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The name in front of the parameters of the kernel at `at`; the end of the text: none. */
static const char *kernel_name(const char *at, size_t *n) {
  const char *name = strstr(at, "tck_");
  for (*n = 0; name && is_name(name[*n]);) ++*n;
  return name ? name : at + strlen(at);
}

int nvrtcVersion(int *major, int *minor) {
  *major = *minor = 0;
  return 0;
}

/* A program is its machine code; void * as callers declare it. */
int nvrtcCreateProgram(void **p, const char *text, const char *name, int n, const char *const *a,
                       const char *const *b) {
  (void)name, (void)n, (void)a, (void)b;
  char *code = malloc(strlen(text) + 8), *to = code;
  if (!code) return 1;
  to += sprintf(to, "STUB:");
  for (const char *at = text; (at = strstr(at, mark));) {
    size_t length;
    at = kernel_name(at + strlen(mark), &length);
    to += sprintf(to, " %.*s", (int)length, at);
  }
  *p = code;
  return 0;
}

int nvrtcCompileProgram(void *p, int n, const char *const *options) {
  (void)p, (void)n, (void)options;
  return 0;
}

int nvrtcDestroyProgram(void **p) {
  free(*p);
  return 0;
}

int nvrtcGetProgramLogSize(void *p, size_t *n) {
  (void)p;
  *n = 1;
  return 0;
}

int nvrtcGetProgramLog(void *p, char *log) {
  (void)p;
  *log = 0;
  return 0;
}

int nvrtcGetCUBINSize(void *p, size_t *n) {
  *n = strlen(p) + 1;
  return 0;
}

int nvrtcGetCUBIN(void *p, char *out) {
  strcpy(out, p);
  return 0;
}

int nvrtcGetPTXSize(void *p, size_t *n) { return nvrtcGetCUBINSize(p, n); }

int nvrtcGetPTX(void *p, char *out) { return nvrtcGetCUBIN(p, out); }
