/* program.c - see program.h. */
#include "tests/cuda/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcompile/cuda.h>
#include <unistd.h>

#include "backends/cuda/emit.h"
#include "backends/cuda/unit.h"

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct texts {
  tc_buf device, host, table; /* all kernels; launchers; the table of device functions */
  int kernels, functions;
} texts;

int cuda_unit_arch = 80, cuda_unit_sms = 4;

static void add_kernel(texts *t, const tc_kernel_text *k) {
  char word[256];
  snprintf(word, sizeof word, "int %s(", k->name.text);
  if (t->host.text && strstr(t->host.text, word)) return;
  const char *name = k->name.text;
  tc_put(&t->device, k->text.text);
  tc_putf(&t->host, "static const char *const %s_functions[] = {", name);
  for (uint32_t f = 0; f < k->nfunction; f++) {
    tc_putf(&t->host, "\"%s_%u\", ", name, f);
    tc_putf(&t->device, "static void run_%s_%u(void *const *args) { tc_call(%s_%u, args); }\n",
            name, f, name, f);
    tc_putf(&t->table, "{\"%s_%u\", run_%s_%u},\n", name, f, name, f);
  }
  tc_putf(&t->host, "};\nstatic const tcrt_cuda_blob %s_blob = {.arch = %d};\n", name, cuda_unit_arch);
  tc_putf(&t->host, "static tcrt_cuda_image %s_image = {\"%s\", %u, 1, %s_functions, &%s_blob, 0};\n",
          name, name, k->nfunction, name, name);
  tc_put(&t->host, k->launcher.text);
  tc_putf(&t->host,
          "int launch_%s(const tcrt_cuda_call *c, void *const *buf, const int64_t *sym,\n"
          "  const tc_value *scalar) { return %s(c, buf, sym, scalar); }\n",
          name, name);
  t->kernels++;
  t->functions += (int)k->nfunction;
}

static bool emit(const tc_program *p, texts *t, tc_kernel_text *kernel) {
  for (uint32_t k = 0; k < p->nkernel; k++) {
    if (!tc_cuda_supports(&p->kernel[k], p) ||
        !tc_cuda_emit_kernel(&p->kernel[k], p, &kernel[k])) {
      fprintf(stderr, "no code for kernel %s\n", p->kernel[k].name);
      return false;
    }
    add_kernel(t, &kernel[k]);
  }
  return true;
}

bool cuda_each_text(const tc_program *p, bool (*f)(const char *name, const char *text, void *arg),
                    void *arg) {
  bool ok = true;
  for (uint32_t k = 0; ok && k < p->nkernel; k++) {
    tc_kernel_text text = {0};
    tc_buf whole = {0};
    ok = tc_cuda_supports(&p->kernel[k], p) && tc_cuda_emit_kernel(&p->kernel[k], p, &text) &&
         tc_cuda_put_prelude(text.text.text, &whole);
    if (!ok) fprintf(stderr, "no code for kernel %s\n", p->kernel[k].name);
    tc_put(&whole, text.text.text ? text.text.text : "");
    ok = ok && f(text.name.text, whole.text, arg);
    tc_buf_free(&whole);
    tc_kernel_text_free(&text);
  }
  return ok;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Copies text with `from` replaced by `to`. */
static void replaced(const char *text, const char *from, const char *to, tc_buf *out) {
  for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
    tc_putn(out, text, (size_t)(at - text));
    tc_put(out, to);
  }
  tc_put(out, text);
}

static bool write_file(const char *dir, const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "w");
  const bool ok = f && fputs(text, f) >= 0;
  return f && fclose(f) == 0 && ok;
}

/* format: of a command, with one %s, which is the folder. */
static bool sh(const char *format, const char *dir) {
  char command[2000];
  snprintf(command, sizeof command, format, dir);
  const int status = system(command);
  if (status) fprintf(stderr, "failed: %s\n", command);
  return status == 0;
}

static bool write_texts(const char *dir, const texts *t) {
  tc_buf device = {0}, own = {0}, all = {0}, host = {0};
  if (cuda_unit_arch == 90) tc_put(&device, "#define TC_PRODUCERS 128\n");
  tc_put(&device, "#include \"tests/cuda/emulate.h\"\n");
  bool ok = tc_cuda_put_prelude(t->device.text ? t->device.text : "", &own);
  tc_put(&own, t->device.text ? t->device.text : "");
  replaced(own.text, "extern __shared__", "extern", &all);
  replaced(all.text, "__shared__", "static", &device);
  tc_putf(
      &device,
      "static const tc_emulated_function table[] = {\n%s{0, 0}};\n"
      "extern \"C\" int emulate(const char *name, unsigned grid, unsigned block, unsigned shared,\n"
      "  void *const *args) { return tc_emulate(table, %d, name, grid, block, shared, args); }\n"
      "extern \"C\" int multiply(const tcrt_cuda_mm *mm) { return tc_emulate_matmul(mm); }\n",
      t->table.text ? t->table.text : "", t->functions);
  tc_put(&host, "#include <tcompile/cuda.h>\n"
                "int emulate(const char *, unsigned, unsigned, unsigned, void *const *);\n"
                "int multiply(const tcrt_cuda_mm *);\n"
                "#define tcrt_cuda_matmul(c, mm) ((c)->device ? multiply(mm) : 1)\n"
                "#define tcrt_cuda_launch(c, im, f, gx, gy, bx, shared, args, n) \\\n"
                "  ((void)(c), (void)(n), emulate((im)->function[f], gx, bx, shared, args))\n"
                "#define tcrt_cuda_follow(c, im, f, g, b, shared, args, n) \\\n"
                "  tcrt_cuda_launch(c, im, f, g, 1, b, shared, args, n)\n"
                "#define tcrt_cuda_follow_table(c, im, f, g, b, table) \\\n"
                "  tcrt_cuda_launch(c, im, f, g, 1, b, 0, ((void *const[]){(void *)(table)}), 1)\n");
  tc_cuda_put_launch_helpers(&host);
  tc_put(&host, t->host.text ? t->host.text : "");
  ok = ok && !device.failed && !host.failed && write_file(dir, "device.cpp", device.text) &&
       write_file(dir, "host.c", host.text);
  tc_buf_free(&device);
  tc_buf_free(&own);
  tc_buf_free(&all);
  tc_buf_free(&host);
  return ok;
}

/* Names are relative, for a compiler cache. */
static bool build(cuda_unit *u, const texts *t) {
  char dir[] = "/tmp/tc-cuda-XXXXXX", path[300];
  if (!mkdtemp(dir)) return false;
  bool ok = write_texts(dir, t) &&
            sh("cd %s && " TC_TEST_CXX " -std=c++17 -O0 -fno-exceptions -w -fPIC -I" TC_TEST_ROOT " -I" TC_TEST_ROOT
               "/runtime/libtcrt/include -c -o device.o device.cpp", dir) &&
            sh("cd %s && " TC_TEST_CC " -O0 -Wall -Wextra -Werror -fPIC -I" TC_TEST_ROOT
               "/runtime/libtcrt/include -c -o host.o host.c", dir) &&
            sh("cd %s && " TC_TEST_CXX " -shared -o unit.so host.o device.o " TC_TEST_EMULATOR, dir);
  snprintf(path, sizeof path, "%s/unit.so", dir);
  if (ok && !(u->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) fprintf(stderr, "%s\n", dlerror());
  ok = ok && u->library;
  if (!ok || getenv("TC_TEST_KEEP")) fprintf(stderr, "texts are in %s\n", dir);
  else sh("rm -r %s", dir);
  return ok;
}

const tc_target *cuda_unit_target = &tc_cuda_target;

bool cuda_unit_build(cuda_unit *u, tc_graph *const *graph, int n) {
  return cuda_unit_build_by(u, graph, n, tc_backend_cuda.plan);
}

bool cuda_unit_build_by(cuda_unit *u, tc_graph *const *graph, int n, bool (*plan)(tc_program *p)) {
  texts t = {0};
  *u = (cuda_unit){.n = n};
  u->program = calloc((size_t)n + 1, sizeof *u->program);
  u->kernel = calloc((size_t)n + 1, sizeof *u->kernel);
  bool ok = true;
  for (int i = 0; ok && i < n; i++) {
    u->program[i] = tc_lower(graph[i], cuda_unit_target);
    if (!u->program[i]) continue;
    if (!plan(u->program[i])) return false;
    u->kernel[i] = calloc(u->program[i]->nkernel + 1, sizeof *u->kernel[i]);
    ok = emit(u->program[i], &t, u->kernel[i]);
  }
  u->kernels = t.kernels;
  ok = ok && build(u, &t);
  tc_buf_free(&t.device);
  tc_buf_free(&t.host);
  tc_buf_free(&t.table);
  return ok;
}

void cuda_unit_free(cuda_unit *u) {
  for (int i = 0; i < u->n; i++) {
    for (uint32_t k = 0; u->program[i] && u->kernel[i] && k < u->program[i]->nkernel; k++)
      tc_kernel_text_free(&u->kernel[i][k]);
    free(u->kernel[i]);
    if (u->program[i]) tc_program_free(u->program[i]);
  }
  free(u->kernel);
  free(u->program);
  if (u->library) dlclose(u->library);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct machine {
  cuda_run *run;
  const tc_program *p;
  int64_t sym[64];
  char **data; /* of each program buffer */
  void **allocation;
  char *arena, *scratch;
} machine;

enum { SCRATCH = 1 << 22 }; /* bytes behind all buffers, for sums of parts of keys */

static int64_t value_of(const machine *m, tc_dim d) {
  int64_t v = 0;
  if (tc_dim_is_const(d)) return tc_dim_value(d);
  if (!tc_dim_eval(tc_graph_dims(m->p->graph), d, m->sym, &v))
    fprintf(stderr, "a size has no value\n");
  return v;
}

/* Elements between rows of so many: those that lie apart have an odd number, padded ones go on where 16 bytes of halves do. */
static int64_t gap_of(const machine *m, int64_t width) {
  enum { GAP = 3, PADDED = 8 };
  return m->run->layout == CUDA_APART ? GAP : m->run->layout == CUDA_PADDED ? 2 * PADDED - width % PADDED : 0;
}

static void bind(machine *m) {
  tc_dims *c = tc_graph_dims(m->p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c) && i < 64; i++) {
    const tc_sym *s = tc_dims_sym(c, i);
    if (s->input < 0) continue;
    m->sym[i] = s->axis < 0 ? m->run->scalar[s->input].i : m->run->input[s->input]->dim[s->axis];
    if (tc_is_pitch(m->p, i)) m->sym[i] += gap_of(m, m->sym[i]);
  }
}

static uint16_t half_of(double v, bool brain) {
  const _Float16 h = (_Float16)v;
  const float f = (float)v;
  uint16_t r;
  uint32_t u;
  memcpy(&r, &h, 2);
  memcpy(&u, &f, 4);
  if (!brain) return r;
  return f != f ? 0x7fff : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static double of_half(uint16_t bits, bool brain) {
  const uint32_t u = (uint32_t)bits << 16;
  float f;
  _Float16 h;
  memcpy(&f, &u, 4);
  memcpy(&h, &bits, 2);
  return brain ? (double)f : (double)h;
}

/* Element k at `place`. */
static void store(char *to, tc_dtype d, const interp_array *a, int64_t k, int64_t place) {
  const int64_t i = a->i ? a->i[k] : 0;
  const double f = a->f ? a->f[k] : 0;
  const float single = (float)f;
  const uint16_t half = half_of(f, d == TC_BF16);
  const size_t bytes = tc_dtype_bytes(d);
  to += (size_t)place * bytes;
  if (d == TC_F64) memcpy(to, &f, 8);
  else if (d == TC_F32) memcpy(to, &single, 4);
  else if (d == TC_F16 || d == TC_BF16) memcpy(to, &half, 2);
  else memcpy(to, &i, bytes); /* little endian */
}

static void fetch(const char *from, interp_array *a, int64_t k) {
  const size_t bytes = tc_dtype_bytes(a->dtype);
  from += (size_t)k * bytes;
  int64_t i = 0;
  float single;
  uint16_t half;
  memcpy(&i, from, bytes);
  memcpy(&single, from, bytes < 4 ? bytes : 4);
  memcpy(&half, from, bytes < 2 ? bytes : 2);
  if (a->dtype == TC_F64) memcpy(&a->f[k], from, 8);
  else if (a->dtype == TC_F32) a->f[k] = single;
  else if (a->f) a->f[k] = of_half(half, a->dtype == TC_BF16);
  else if (a->dtype == TC_U8 || a->dtype == TC_BOOL || bytes == 8) a->i[k] = i;
  else a->i[k] = (int64_t)((uint64_t)i << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* Fresh memory is poison, and has room on both sides. */
static void allocate(machine *m, uint32_t i) {
  const tc_buffer *b = &m->p->buffer[i];
  const int64_t bytes = value_of(m, tc_buffer_span(m->p, i)) * (int64_t)tc_dtype_bytes(b->dtype);
  const bool operand = b->kind == TC_BUF_INPUT, apart = m->run->layout == CUDA_APART && operand;
  if (b->kind == TC_BUF_ARENA) m->data[i] = m->arena + value_of(m, b->offset);
  if (b->kind != TC_BUF_INPUT && b->kind != TC_BUF_OUTPUT) return;
  char *p = aligned_alloc(64, ((size_t)bytes + 255) / 64 * 64);
  memset(p, 0x7e, (size_t)bytes + 128);
  m->allocation[i] = p;
  m->data[i] = p + 64 + (apart || m->run->layout == CUDA_SHIFTED ? tc_dtype_bytes(b->dtype) : 0);
  if (!operand) return;
  const interp_array *a = m->run->input[b->index];
  const int64_t gap = b->pitched ? gap_of(m, a->dim[a->rank - 1]) : 0;
  for (int64_t k = 0; k < a->count; k++)
    store(m->data[i], a->dtype, a, k, gap ? k + k / a->dim[a->rank - 1] * gap : k);
}

static interp_array *read_back(const machine *m, uint32_t i) {
  const tc_buffer *b = &m->p->buffer[i];
  int64_t dim[TC_MAX_RANK];
  for (int a = 0; a < b->type.rank; a++) dim[a] = value_of(m, b->type.dim[a]);
  interp_array *r = interp_new(b->dtype, b->type.rank, dim);
  for (int64_t k = 0; k < r->count; k++) fetch(m->data[i], r, k);
  return r;
}

/* ---- running --------------------------------------------------------------------------------- */

typedef int launcher(const tcrt_cuda_call *, void *const *, const int64_t *, const tc_value *);

static void *argument(const machine *m, const tc_kernel *k, uint32_t i) {
  char *data = m->data[k->buffer[i]]; /* NULL: a LOCAL buffer, which the kernel has itself */
  const size_t size = tc_dtype_bytes(m->p->buffer[k->buffer[i]].dtype);
  return data ? data + value_of(m, k->base[i]) * (int64_t)size : NULL;
}

static tc_value scalar_of(const machine *m, uint32_t i) {
  const uint32_t n = tc_graph_scalar_count(m->p->graph);
  return i < n ? m->run->scalar[i] : (tc_value){.f = m->p->constant[i - n]};
}

/* The value of a symbol in a kernel. */
static int64_t symbol_of(const machine *m, const tc_kernel *k, uint32_t sym) {
  for (uint32_t i = 0; i < k->nsize; i++)
    if (k->size[i].sym == sym) return value_of(m, k->size[i].value);
  return m->sym[sym];
}

typedef struct arguments {
  TC_VEC(void *) buf;
  TC_VEC(int64_t) sym;
  TC_VEC(tc_value) scalar;
} arguments;

static void add_arguments(const machine *m, const tc_kernel *k, const tc_kernel_text *text, arguments *a) {
  bool ok = true;
  if (k->sibling) ok = tc_push(&a->sym, value_of(m, k->nest->work));
  for (uint32_t j = 0; j < k->nbuffer; j++) ok = ok && tc_push(&a->buf, argument(m, k, j));
  for (uint32_t j = 0; j < text->nsym; j++) ok = ok && tc_push(&a->sym, symbol_of(m, k, text->sym[j]));
  for (uint32_t j = 0; j < text->nscalar; j++) ok = ok && tc_push(&a->scalar, scalar_of(m, text->scalar[j]));
  if (!ok) abort();
}

/* The first kernel behind the launch of kernel k: a launch ends where texts differ (backends/variant.c). */
static uint32_t launch_end(const tc_program *p, const tc_kernel_text *text, uint32_t k) {
  const uint32_t end = tc_launch_end(p, k);
  uint32_t same = k + 1;
  while (same < end && !strcmp(text[k].name.text, text[same].name.text)) same++;
  return same;
}

static bool launch(const cuda_unit *u, int i, machine *m) {
  int bad = 0;
  const int shared = cuda_unit_arch == 90 ? 227 * 1024 : 163 * 1024;
  const tcrt_cuda_info info = {.arch = cuda_unit_arch, .sms = cuda_unit_sms, .max_shared = shared,
                               .shared_per_sm = shared + 1024, .threads_per_sm = 2048, .l2_bytes = 4096};
  const tcrt_cuda_call call = {.info = &info,
                               .bad = &bad,
                               .device = m->run->layout != CUDA_SHIFTED && !m->run->alone}; /* 1: the library is there */
  const tc_kernel_text *text = u->kernel[i];
  for (uint32_t k = 0, end; k < m->p->nkernel; k = end) {
    char symbol[300];
    arguments a = {0};
    const tc_kernel *kernel = &m->p->kernel[k];
    end = launch_end(m->p, text, k);
    const int64_t head[] = {end - k, text[k].nsym, text[k].nscalar};
    for (int j = 0; kernel->sibling && j < 3; j++)
      if (!tc_push(&a.sym, head[j])) abort();
    for (uint32_t j = k; j < end; j++) add_arguments(m, &m->p->kernel[j], &text[j], &a);
    if (!tc_push(&a.buf, m->scratch)) abort();
    snprintf(symbol, sizeof symbol, "launch_%s", text[k].name.text);
    launcher *f = NULL;
    *(void **)&f = dlsym(u->library, symbol);
    const int status = f ? f(&call, a.buf.at, a.sym.at, a.scalar.at) : -1;
    free(a.buf.at);
    free(a.sym.at);
    free(a.scalar.at);
    if (status) fprintf(stderr, "%s: status %d\n", symbol, status);
    if (status) return false;
  }
  m->run->bad_index = bad != 0;
  return true;
}

static void collect(machine *m) {
  cuda_run *run = m->run;
  run->output = calloc(m->p->noutput + 1, sizeof *run->output);
  for (uint32_t i = 0; i < m->p->noutput; i++) run->output[i] = read_back(m, m->p->output[i]);
  run->after = calloc(tc_graph_input_count(m->p->graph) + 1, sizeof *run->after);
  for (uint32_t i = 0; i < m->p->nbuffer; i++)
    if (m->p->buffer[i].kind == TC_BUF_INPUT) run->after[m->p->buffer[i].index] = read_back(m, i);
}

bool cuda_program(const cuda_unit *u, int i, cuda_run *run) {
  machine m = {.run = run, .p = u->program[i]};
  run->p = m.p;
  bind(&m);
  m.data = calloc(m.p->nbuffer + 1, sizeof *m.data);
  m.allocation = calloc(m.p->nbuffer + 1, sizeof *m.allocation);
  const size_t arena = (size_t)value_of(&m, m.p->workspace);
  m.arena = aligned_alloc(64, (arena + 127) / 64 * 64);
  memset(m.arena, 0x7e, arena);
  m.scratch = aligned_alloc(64, SCRATCH);
  memset(m.scratch, 0x7e, SCRATCH);
  for (uint32_t b = 0; b < m.p->nbuffer; b++) allocate(&m, b);
  const bool ok = launch(u, i, &m);
  if (ok) collect(&m);
  for (uint32_t b = 0; b < m.p->nbuffer; b++) free(m.allocation[b]);
  free(m.allocation);
  free(m.data);
  free(m.arena);
  free(m.scratch);
  return ok;
}

void cuda_run_free(cuda_run *run) {
  for (uint32_t i = 0; run->output && i < run->p->noutput; i++) interp_free(run->output[i]);
  for (uint32_t i = 0; run->after && i < tc_graph_input_count(run->p->graph); i++)
    if (run->after[i]) interp_free(run->after[i]);
  free(run->output);
  free(run->after);
}
