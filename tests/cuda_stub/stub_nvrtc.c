/* An NVRTC whose machine code is what the stub of the driver loads: "STUB:" and the names of the
 * kernels in the text.  With it entries for CUDA are tested where there is no NVRTC.  It refuses
 * the text "error", and dies of the text "crash".  STUB_NVRTC_SECONDS: how long a text takes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mark[] = "__global__", refused[] = "refused";
static const char log_text[] = "x.cu(1): warning: first\nx.cu(2): error: planted\n1 error\n";

static int is_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The name in front of the parameters of the kernel at `at`; the end of the text: none. */
static const char *kernel_name(const char *at, size_t *n) {
  const char *name = strstr(at, "tck_");
  for (*n = 0; name && is_name(name[*n]);) ++*n;
  return name ? name : at + strlen(at);
}

/* A program is its machine code; void * as callers declare it. */
int nvrtcCreateProgram(void **p, const char *text, const char *name, int n, const char *const *a,
                       const char *const *b) {
  (void)name, (void)n, (void)a, (void)b;
  char *code = malloc(strlen(text) + 8), *to = code;
  if (!code) return 1;
  if (strcmp(text, "crash") == 0) abort();
  to += sprintf(to, "STUB:");
  for (const char *at = text; (at = strstr(at, mark));) {
    size_t length;
    at = kernel_name(at + strlen(mark), &length);
    to += sprintf(to, " %.*s", (int)length, at);
  }
  if (strcmp(text, "error") == 0) strcpy(code, refused);
  *p = code;
  return 0;
}

int nvrtcCompileProgram(void *p, int n, const char *const *options) {
  (void)n, (void)options;
  const char *seconds = getenv("STUB_NVRTC_SECONDS");
  if (seconds) sleep((unsigned)atoi(seconds));
  return strcmp(p, refused) == 0;
}

int nvrtcDestroyProgram(void **p) {
  free(*p);
  return 0;
}

int nvrtcGetProgramLogSize(void *p, size_t *n) {
  (void)p;
  *n = sizeof log_text;
  return 0;
}

int nvrtcGetProgramLog(void *p, char *log) {
  (void)p;
  memcpy(log, log_text, sizeof log_text);
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
