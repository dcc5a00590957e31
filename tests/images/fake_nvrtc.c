/* A library with NVRTC's functions that obeys its source text: "good", "error", "crash". */
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 }; /* bytes of a text */

int nvrtcVersion(int *major, int *minor) {
  *major = *minor = 0; /* no nvJitLink is of this version */
  return 0;
}

/* A program is its text; void * as callers declare it. */
int nvrtcCreateProgram(void **p, const char *text, const char *name, int n, const char *const *a,
                       const char *const *b) {
  (void)name, (void)n, (void)a, (void)b;
  *p = calloc(1, MOST);
  strncpy(*p, text, MOST - 1);
  return 0;
}

int nvrtcCompileProgram(void *p, int n, const char *const *options) {
  (void)n, (void)options;
  if (strcmp(p, "crash") == 0) abort();
  return strcmp(p, "good") != 0;
}

int nvrtcDestroyProgram(void **p) {
  free(*p);
  return 0;
}

static const char log_text[] = "x.cu(1): warning: first\nx.cu(2): error: planted\n1 error\n";

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
