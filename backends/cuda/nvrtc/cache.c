/* cache.c - what NVRTC made of a text, by everything that it depends on. */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/nvrtc.h"

static void add_text(tc_sha256 *h, const char *text) {
  tc_sha256_add_field(h, text ? text : "", text ? strlen(text) : 0);
}

/* NVRTC reads flags from the environment too. */
static tc_digest key_of(const tc_digest *library, const tc_nvrtc_job *job, uint32_t b) {
  tc_nvrtc_flags flags;
  tc_sha256 h;
  tc_nvrtc_put_flags(job, tc_nvrtc_leader(job, b), &flags);
  tc_sha256_begin(&h);
  add_text(&h, job->blob[b].ptx ? "PTX" : "cubin");
  tc_sha256_add_field(&h, library, sizeof *library);
  for (int i = 0; i < TC_NVRTC_FLAGS; ++i) add_text(&h, flags.flag[i]);
  add_text(&h, getenv("NVRTC_PREPEND_FLAGS"));
  add_text(&h, getenv("NVRTC_APPEND_FLAGS"));
  add_text(&h, job->name);
  tc_buf bare = {0};
  tc_put_bare(job->text, &bare);
  add_text(&h, bare.failed ? job->text : bare.text);
  tc_buf_free(&bare);
  return tc_sha256_end(&h);
}

static void forget(tc_nvrtc_blob *blob) {
  free(blob->bytes);
  *blob = (tc_nvrtc_blob){.arch = blob->arch, .ptx = blob->ptx};
}

void tc_nvrtc_recall(tc_cache *c, const tc_digest *library, tc_nvrtc_job *job) {
  for (uint32_t b = 0; b < job->nblob; ++b) {
    const tc_digest key = key_of(library, job, b);
    tc_buf found = {0};
    if (!tc_cache_get(c, &key, &found)) continue;
    job->blob[b].bytes = (unsigned char *)found.text;
    job->blob[b].size = found.len;
    job->blob[b].kept = true;
  }
  for (uint32_t b = 0; b < job->nblob; ++b)
    for (uint32_t i = 0; i < job->nblob; ++i)
      if (!job->blob[i].bytes && tc_nvrtc_leader(job, i) == tc_nvrtc_leader(job, b))
        forget(&job->blob[b]);
}

void tc_nvrtc_remember(tc_cache *c, const tc_digest *library, const tc_nvrtc_job *job) {
  for (uint32_t b = 0; !job->error && b < job->nblob; ++b) {
    const tc_nvrtc_blob *blob = &job->blob[b];
    if (!blob->bytes || blob->kept) continue;
    const tc_digest key = key_of(library, job, b);
    tc_cache_put(c, &key, blob->bytes, blob->size);
  }
}
