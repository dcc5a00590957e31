/* A library with NVRTC's functions that obeys its source text: "good", "error", "crash". */
#include <stdlib.h>
#include <string.h>

typedef struct fake {
  char text[16];
} fake;

int nvrtcCreateProgram(fake **p, const char *text, const char *name, int n, const char *const *a,
                       const char *const *b) {
  (void)name, (void)n, (void)a, (void)b;
  *p = calloc(1, sizeof **p);
  strncpy((*p)->text, text, sizeof(*p)->text - 1);
  return 0;
}

int nvrtcCompileProgram(fake *p, int n, const char *const *options) {
  (void)n, (void)options;
  if (strcmp(p->text, "crash") == 0) abort();
  return strcmp(p->text, "good") != 0;
}

int nvrtcDestroyProgram(fake **p) {
  free(*p);
  return 0;
}

static const char log_text[] = "x.cu(1): warning: first\nx.cu(2): error: planted\n1 error\n";

int nvrtcGetProgramLogSize(fake *p, size_t *n) {
  (void)p;
  *n = sizeof log_text;
  return 0;
}

int nvrtcGetProgramLog(fake *p, char *log) {
  (void)p;
  memcpy(log, log_text, sizeof log_text);
  return 0;
}

int nvrtcGetCUBINSize(fake *p, size_t *n) {
  *n = strlen(p->text) + 1;
  return 0;
}

int nvrtcGetCUBIN(fake *p, char *out) {
  strcpy(out, p->text);
  return 0;
}

int nvrtcGetPTXSize(fake *p, size_t *n) { return nvrtcGetCUBINSize(p, n); }

int nvrtcGetPTX(fake *p, char *out) { return nvrtcGetCUBIN(p, out); }
