/* images.c - the device compiler: compiles the kernels of a unit, one image per kernel, the blobs
 * of several of them packed together in the object's data, and describes the results in the host
 * text:
 *
 *   extern const unsigned char tcd_<hash of the bytes>[] TC_HIDDEN;
 *   static tcrt_cuda_packed tc_pack_0 = {tcd_..., 12032, 4501, 0};
 *   static const tcrt_cuda_blob <kernel>_blobs[] = {{80, 0, 0, &tc_pack_0, 0}, ...};
 *   static const char *const <kernel>_functions[] = {"<kernel>_0"};
 *   static tcrt_cuda_image <kernel>_image = {"<kernel>", 1, 3, ...}; */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/nvrtc/pack.h"
#include "backends/cuda/unit.h"

/* Where a blob is: from a byte of these data on, or of what is unpacked from this pack. */
typedef struct place {
  const char *data; /* NULL: in the pack */
  uint32_t pack;
  size_t at;
} place;

typedef struct tc_image {
  char *name, *text, *launcher;
  uint32_t nfunction;
  uint32_t file; /* that the kernel comes from; 0: not known */
  bool used;
  char *problem; /* one line: why there is no code */
  tc_nvrtc_job job;
  place place[TC_MAX_ARCH + 1]; /* of the blobs */
} tc_image;

typedef struct tc_images {
  tc_image *at; /* one per name */
  size_t n, cap;
  bool together; /* blobs are packed together: most of them are used */
  uint32_t npack;
  char *problem; /* NULL, or why there are none */
  tc_cache *cache;
  uint32_t jobs; /* 0: tc_jobs_take's */
  struct tc_building *building;
} tc_images;

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

/* Once per name.  Nothing is added when memory is short: the kernel then has a problem. */
static void add(tc_images *m, const tc_kernel_text *t, uint32_t file) {
  if (find(m, t->name.text)) return;
  tc_image i = {.name = strdup(t->name.text),
                .text = strdup(t->text.text),
                .launcher = strdup(t->launcher.text ? t->launcher.text : ""),
                .nfunction = t->nfunction,
                .file = file};
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

static void start_building(tc_images *m, const tc_cuda_options *o) {
  tc_building *g = m->building = calloc(1, sizeof *g);
  if (!g) return;
  g->job = calloc(m->n + 1, sizeof *g->job);
  g->text = calloc(m->n + 1, sizeof *g->text);
  bool ok = g->job && g->text;
  for (size_t i = 0; ok && i < m->n; ++i) {
    ok = tc_backend_cuda.complete(m->at[i].text, &g->text[i]);
    g->job[i] = (tc_nvrtc_job){.name = m->at[i].name, .text = g->text[i].text};
  }
  m->cache = o->cache;
  m->jobs = o->jobs;
  if (ok) g->run = tc_nvrtc_start(o, g->job, m->n);
}

static void *start(const tc_device_kernel *kernel, size_t n, const tc_unit_options *o) {
  tc_images *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  const tc_cuda_options gpu = tc_cuda_options_of(o);
  for (size_t i = 0; i < n; ++i) add(m, kernel[i].text, kernel[i].file);
  m->together = !o->apart;
  start_building(m, &gpu);
  return m;
}

static const char *wait_for(void *unit) {
  tc_images *m = unit;
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
  return m->problem;
}

static const char *problem(const void *unit, const char *name) {
  const tc_image *i = find(unit, name);
  if (!i) return "out of memory";
  return i->job.error && !i->problem ? "out of memory" : i->problem;
}

/* ---- packs -----------------------------------------------------------------------------------
 *
 * Device code has much in common, with that of other architectures too: the machine code of the
 * kernels that come from one source file is packed together, and so is their PTX, up to a size that
 * is unpacked in some milliseconds.  By file and in the order of their names, so that what a header
 * brings is equal in all objects. */

enum { PACK = 3 << 19, ALIGN = 64 /* what the driver's loader copies fastest */ };

/* Puts bytes, which are taken over, into the data under the name that they give it; NULL: out of
 * memory. */
static const char *put_data(unsigned char *bytes, size_t size, tc_texts *out) {
  char name[40];
  snprintf(name, sizeof name, "tcd_%016llx%016llx", (unsigned long long)tc_hash(bytes, size, 0),
           (unsigned long long)tc_hash(bytes, size, size + 1));
  tc_data *data = realloc(out->data, (out->ndata + 1) * sizeof *data);
  if (data) out->data = data;
  for (size_t i = 0; data && i < out->ndata; ++i)
    if (strcmp(data[i].name, name) == 0) {
      free(bytes);
      return data[i].name;
    }
  char *kept = data ? strdup(name) : NULL;
  if (kept) data[out->ndata++] = (tc_data){kept, bytes, size};
  else free(bytes);
  return kept;
}

/* Images that are packed together: their machine code, or their PTX. */
typedef struct group {
  tc_image *const *image;
  size_t n;
  bool ptx;
} group;

/* One behind the other. */
static void join(const group *g, tc_buf *out) {
  static const char zeros[ALIGN];
  for (size_t i = 0; i < g->n; ++i)
    for (uint32_t b = 0; b < g->image[i]->job.nblob; ++b) {
      const tc_nvrtc_blob *blob = &g->image[i]->job.blob[b];
      if (blob->ptx != g->ptx) continue;
      g->image[i]->place[b].at = out->len;
      if (g->ptx) tc_ptx_renumber((const char *)blob->bytes, out);
      else tc_putn(out, (const char *)blob->bytes, blob->size);
      tc_putn(out, zeros, (ALIGN - out->len % ALIGN) % ALIGN);
    }
}

/* The group's pack, or its bytes as they are where packing saves nothing. */
static void put_blobs(tc_images *m, const group *g, tc_pack *pack, tc_texts *out) {
  const size_t size = pack->bytes.len;
  if (!size && !pack->bytes.failed) return;
  const bool is_packed = pack->packed != NULL;
  if (is_packed || pack->bytes.failed) tc_buf_free(&pack->bytes);
  unsigned char *bytes = is_packed ? pack->packed : (unsigned char *)pack->bytes.text;
  const char *name = bytes ? put_data(bytes, is_packed ? pack->size : size, out) : NULL;
  if (!name) {
    out->host.failed = true;
    return;
  }
  for (size_t i = 0; i < g->n; ++i)
    for (uint32_t b = 0; b < g->image[i]->job.nblob; ++b) {
      if (g->image[i]->job.blob[b].ptx != g->ptx) continue;
      g->image[i]->place[b].data = is_packed ? NULL : name;
      g->image[i]->place[b].pack = m->npack;
    }
  tc_putf(&out->host, "extern const unsigned char %s[] TC_HIDDEN;\n", name);
  if (is_packed)
    tc_putf(&out->host, "static tcrt_cuda_packed tc_pack_%u = {%s, %zu, %zu, 0};\n", m->npack++,
            name, size, pack->size);
}

static int by_file(const void *a, const void *b) {
  const tc_image *x = *(tc_image *const *)a, *y = *(tc_image *const *)b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Bytes of machine code, or of PTX where that is more. */
static size_t size_of(const tc_image *i) {
  size_t size[2] = {0, 0};
  for (uint32_t b = 0; b < i->job.nblob; ++b) size[i->job.blob[b].ptx] += i->job.blob[b].size;
  return size[0] > size[1] ? size[0] : size[1];
}

/* The end of those from the first on that go together. */
static size_t end_of_group(const tc_images *m, tc_image *const *list, size_t n, size_t first) {
  size_t end = first + 1, size = size_of(list[first]);
  for (; m->together && end < n && list[end]->file == list[first]->file; ++end)
    if ((size += size_of(list[end])) > PACK) break;
  return end;
}

static void put_packs(tc_images *m, tc_texts *out) {
  tc_image **list = calloc(m->n + 1, sizeof *list);
  group *part = calloc(2 * m->n + 1, sizeof *part);
  tc_pack *pack = calloc(2 * m->n + 1, sizeof *pack);
  size_t n = 0, parts = 0;
  const bool ok = list && part && pack;
  for (size_t i = 0; ok && i < m->n; ++i)
    if (m->at[i].used) list[n++] = &m->at[i];
  if (n) qsort(list, n, sizeof *list, by_file);
  for (size_t first = 0, end; first < n; first = end) {
    end = end_of_group(m, list, n, first);
    for (int ptx = 0; ptx < 2; ++ptx) part[parts++] = (group){list + first, end - first, ptx};
  }
  for (size_t i = 0; i < parts; ++i) join(&part[i], &pack[i].bytes);
  if (ok) tc_image_pack_all(m->cache, pack, parts, m->jobs);
  for (size_t i = 0; i < parts; ++i) put_blobs(m, &part[i], &pack[i], out);
  if (!ok) out->host.failed = true;
  free(list);
  free(part);
  free(pack);
}

/* ---- the host text --------------------------------------------------------------------------- */

static void put_image(const tc_image *i, tc_texts *out) {
  tc_putf(&out->host, "\nstatic const tcrt_cuda_blob %s_blobs[] = {", i->name);
  for (uint32_t b = 0; b < i->job.nblob; ++b) {
    const place *at = &i->place[b];
    tc_putf(&out->host, "%s{%u, %d, ", b ? ", " : "", i->job.blob[b].arch, i->job.blob[b].ptx);
    if (at->data) tc_putf(&out->host, "%s + %zu, 0, 0}", at->data, at->at);
    else tc_putf(&out->host, "0, &tc_pack_%u, %zu}", at->pack, at->at);
  }
  tc_putf(&out->host, "};\nstatic const char *const %s_functions[] = {", i->name);
  for (uint32_t f = 0; f < i->nfunction; ++f)
    tc_putf(&out->host, "%s\"%s_%u\"", f ? ", " : "", i->name, f);
  tc_putf(&out->host,
          "};\nstatic tcrt_cuda_image %s_image = {\"%s\", %u, %u, %s_functions, %s_blobs, 0};\n",
          i->name, i->name, i->nfunction, i->job.nblob, i->name, i->name);
  tc_put(&out->host, i->launcher);
  tc_putf(&out->close, "  tcrt_cuda_unload(&%s_image);\n", i->name);
}

static void use(void *unit, const char *name) {
  tc_image *i = find(unit, name);
  if (i) i->used = true;
}

static void put(void *unit, tc_texts *out) {
  tc_images *m = unit;
  put_packs(m, out);
  for (size_t i = 0; i < m->n; ++i)
    if (m->at[i].used) put_image(&m->at[i], out);
  for (uint32_t i = 0; i < m->npack; ++i)
    tc_putf(&out->close, "  tcrt_cuda_drop(&tc_pack_%u);\n", i);
}

static void free_images(void *unit) {
  tc_images *m = unit;
  for (size_t i = 0; i < m->n; ++i) image_free(&m->at[i]);
  free(m->at);
  free(m->problem);
  free(m);
}

const tc_device_compiler tc_cuda_compiler = {
    .start = start,
    .wait = wait_for,
    .problem = problem,
    .use = use,
    .put = put,
    .free = free_images,
    .faster = "-fplugin-arg-tc-cuda-arch=90 makes those of one kind of GPU",
};
