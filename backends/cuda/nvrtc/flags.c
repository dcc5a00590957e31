/* flags.c - what a text is compiled with, and which results come out of one compilation. */
#include <stdio.h>

#include "backends/cuda/nvrtc/nvrtc.h"

/* Machine code of this architecture; job->nblob: none. */
static uint32_t code_for(const tc_nvrtc_job *job, uint32_t arch) {
  uint32_t i = 0;
  while (i < job->nblob && (job->blob[i].ptx || job->blob[i].arch != arch)) ++i;
  return i;
}

static bool has_ptx(const tc_nvrtc_job *job, uint32_t arch) {
  bool found = false;
  for (uint32_t i = 0; i < job->nblob; ++i) found |= job->blob[i].ptx && job->blob[i].arch == arch;
  return found;
}

uint32_t tc_nvrtc_leader(const tc_nvrtc_job *job, uint32_t b) {
  const uint32_t beside = job->blob[b].ptx ? code_for(job, job->blob[b].arch) : b;
  return beside == job->nblob ? b : beside;
}

void tc_nvrtc_put_flags(const tc_nvrtc_job *job, uint32_t b, tc_nvrtc_flags *out) {
  const tc_nvrtc_blob *blob = &job->blob[b];
  /* All devices of major version 9 are Hopper, whose own instructions no PTX may ask for. */
  const bool hopper = blob->arch == 90 && !blob->ptx && !has_ptx(job, 90);
  snprintf(out->arch, sizeof out->arch, "-arch=%s_%u%s", blob->ptx ? "compute" : "sm", blob->arch,
           hopper ? "a" : "");
  out->flag[0] = out->arch;
  out->flag[1] = "-std=c++17";
  out->flag[2] = "-default-device";
  out->flag[3] = "-w";
}
