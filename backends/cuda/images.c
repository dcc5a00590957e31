/* images.c - compiles the kernels of a unit and describes the results in the host text:
 *
 *   extern const unsigned char tcd_<hash of the bytes>[] TC_HIDDEN;
 *   static const tcrt_cuda_blob <kernel>_blobs[] = {{80, 0, tcd_..., 12008, 4501}, ...};
 *   static const char *const <kernel>_functions[] = {"<kernel>_0"};
 *   static tcrt_cuda_image <kernel>_image = {"<kernel>", 1, 3, ...}; */
#include "backends/cuda/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc.h"
#include "backends/cuda/pack.h"

struct tc_image {
  char *name, *text, *launcher;
  uint32_t nfunction;
  bool put;
  char *problem; /* one line: why there is no code */
  tc_nvrtc_job job;
};

static tc_image *find(const tc_images *m, const char *name) {
  for (size_t i = 0; i < m->n; ++i)
    if (strcmp(m->at[i].name, name) == 0) return &m->at[i];
  return NULL;
}

static void image_free(tc_image *i) {
  free(i->name);
  free(i->text);
  free(i->launcher);
  free(i->problem);
  tc_nvrtc_job_free(&i->job);
}

void tc_images_add(tc_images *m, const tc_kernel_text *t) {
  if (find(m, t->name.text)) return;
  tc_image i = {.name = strdup(t->name.text),
                .text = strdup(t->text.text),
                .launcher = strdup(t->launcher.text ? t->launcher.text : ""),
                .nfunction = t->nfunction};
  if (!i.name || !i.text || !i.launcher || !tc_push(m, i)) image_free(&i);
}

/* ---- compilation ----------------------------------------------------------------------------- */

/* Where TC_CUDA_DUMP names a folder, a text that NVRTC refused is put there. */
static void dump_refused(const tc_nvrtc_job *job) {
  const char *folder = getenv("TC_CUDA_DUMP");
  tc_buf path = {0};
  if (!folder || !*folder) return;
  tc_putf(&path, "%s/%s.cu", folder, job->name);
  FILE *file = path.failed ? NULL : fopen(path.text, "w");
  if (file) {
    fprintf(file, "%s\n/* %s */\n", job->text, job->error);
    fclose(file);
  }
  tc_buf_free(&path);
}

/* The first error of a log, or its first line. */
static char *first_error(const char *log) {
  for (const char *line = log; line && *line;) {
    const size_t n = strcspn(line, "\n");
    const char *at = strstr(line, "error:");
    if (at && at < line + n) return strndup(line, n);
    line += n + (line[n] == '\n');
  }
  return strndup(log, strcspn(log, "\n"));
}

typedef struct tc_building {
  tc_nvrtc_job *job; /* one for each image */
  tc_buf *text;
  tc_nvrtc_run *run;
} tc_building;

static void end_building(tc_images *m) {
  tc_building *g = m->building;
  m->building = NULL;
  if (!g) return;
  for (size_t i = 0; g->text && i < m->n; ++i) tc_buf_free(&g->text[i]);
  free(g->text);
  free(g->job);
  free(g);
}

void tc_images_start(tc_images *m, const tc_backend *b, const tc_cuda_options *o) {
  tc_building *g = m->building = calloc(1, sizeof *g);
  if (!g) return;
  g->job = calloc(m->n + 1, sizeof *g->job);
  g->text = calloc(m->n + 1, sizeof *g->text);
  bool ok = g->job && g->text;
  for (size_t i = 0; ok && i < m->n; ++i) {
    ok = b->complete(m->at[i].text, &g->text[i]);
    g->job[i] = (tc_nvrtc_job){.name = m->at[i].name, .text = g->text[i].text};
  }
  if (ok) g->run = tc_nvrtc_start(o, g->job, m->n);
}

void tc_images_wait(tc_images *m) {
  tc_building *g = m->building;
  tc_buf why = {0};
  if (!g || !g->run) tc_put(&why, "out of memory");
  else tc_nvrtc_finish(g->run, &why);
  for (size_t i = 0; g && g->run && i < m->n; ++i) {
    const tc_nvrtc_job *job = &g->job[i];
    m->at[i].job = *job;
    if (job->error) {
      dump_refused(job);
      m->at[i].problem = first_error(job->error);
    }
    m->at[i].job.text = NULL;
  }
  if (why.len) m->problem = strdup(why.text);
  tc_buf_free(&why);
  end_building(m);
}

const char *tc_images_problem(const tc_images *m, const char *name) {
  const tc_image *i = find(m, name);
  if (!i) return "out of memory";
  return i->job.error && !i->problem ? "out of memory" : i->problem;
}

/* ---- the host text --------------------------------------------------------------------------- */

/* Packs a blob in place where that saves something.  0: it is as it was. */
static size_t pack(tc_nvrtc_blob *blob) {
  size_t packed = 0;
  unsigned char *bytes = tc_image_pack(blob->bytes, blob->size, &packed);
  if (!bytes) return 0;
  free(blob->bytes);
  blob->bytes = bytes;
  return packed;
}

/* Puts `size` bytes of a blob into the data under the name that they give it; NULL: out of memory.
 */
static const char *put_data(tc_nvrtc_blob *blob, size_t size, tc_texts *out) {
  char name[40];
  snprintf(name, sizeof name, "tcd_%016llx%016llx",
           (unsigned long long)tc_hash(blob->bytes, size, 0),
           (unsigned long long)tc_hash(blob->bytes, size, size + 1));
  for (size_t i = 0; i < out->ndata; ++i)
    if (strcmp(out->data[i].name, name) == 0) return out->data[i].name;
  tc_data *data = realloc(out->data, (out->ndata + 1) * sizeof *data);
  if (!data) return NULL;
  out->data = data;
  data[out->ndata] = (tc_data){strdup(name), blob->bytes, size};
  if (!data[out->ndata].name) return NULL;
  blob->bytes = NULL; /* moved */
  return data[out->ndata++].name;
}

static void put_blobs(tc_image *i, tc_texts *out) {
  tc_buf table = {0};
  for (uint32_t b = 0; b < i->job.nblob; ++b) {
    tc_nvrtc_blob *blob = &i->job.blob[b];
    const size_t packed = pack(blob);
    const char *name = put_data(blob, packed ? packed : blob->size, out);
    tc_putf(&out->host, "extern const unsigned char %s[] TC_HIDDEN;\n", name ? name : "");
    tc_putf(&table, "%s{%u, %d, %s, %zu, %zu}", b ? ", " : "", blob->arch, blob->ptx,
            name ? name : "0", blob->size, packed);
    out->host.failed |= !name;
  }
  tc_putf(&out->host, "static const tcrt_cuda_blob %s_blobs[] = {%s};\n", i->name, table.text);
  tc_buf_free(&table);
}

void tc_images_put(tc_images *m, const char *name, tc_texts *out) {
  tc_image *i = find(m, name);
  if (!i || i->put) return;
  i->put = true;
  tc_put(&out->host, "\n");
  put_blobs(i, out);
  tc_putf(&out->host, "static const char *const %s_functions[] = {", name);
  for (uint32_t f = 0; f < i->nfunction; ++f)
    tc_putf(&out->host, "%s\"%s_%u\"", f ? ", " : "", name, f);
  tc_putf(&out->host,
          "};\nstatic tcrt_cuda_image %s_image = {\"%s\", %u, %u, %s_functions, %s_blobs, 0};\n",
          name, name, i->nfunction, i->job.nblob, name, name);
  tc_put(&out->host, i->launcher);
  tc_putf(&out->close, "  tcrt_cuda_unload(&%s_image);\n", name);
}

void tc_images_free(tc_images *m) {
  for (size_t i = 0; i < m->n; ++i) image_free(&m->at[i]);
  free(m->at);
  free(m->problem);
  *m = (tc_images){0};
}
