/* options.c - the list of architectures: "80,90,ptx80". */
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"

const tc_cuda_options tc_cuda_defaults = {.narch = 2, .arch = {80, 90}, .ptx = 80};

/* Skips `word` in front of *at. */
static bool skip(const char **at, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(*at, word, n) != 0) return false;
  *at += n;
  return true;
}

bool tc_cuda_parse_arch(const char *text, tc_cuda_options *o) {
  tc_cuda_options read = {.nvrtc = o->nvrtc, .cache = o->cache, .jobs = o->jobs};
  for (const char *at = text;; ++at) {
    const bool ptx = skip(&at, "ptx") || skip(&at, "compute_");
    if (!ptx) (void)(skip(&at, "sm_"));
    char *end;
    const unsigned long number = strtoul(at, &end, 10);
    if (*at < '0' || *at > '9' || number < 50 || number > 999) return false;
    if (ptx ? read.ptx != 0 : read.narch == TC_MAX_ARCH) return false;
    if (ptx) read.ptx = (uint32_t)number;
    else read.arch[read.narch++] = (uint32_t)number;
    at = end;
    if (*at == 0) break;
    if (*at != ',') return false;
  }
  *o = read;
  return true;
}
