/* generate - compiles the one-op graphs of oneop.h for GPUs and writes C.
 *
 *   generate part I N FILE.c FILE.list [--arch=80,90,ptx80]   graphs I, I+N, I+2N, ...
 *   generate table FILE.c FILE.list...                        tcrt_cuda_one_ops
 *
 * A part is host text, its device code as constant data, and a list of `key symbol` for the table.
 * Keys that the compiler has no code for are named on stderr and left out: libtcrt decomposes
 * those ops, or says that they do not work on a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/compile.h"
#include "backends/cuda/options.h"
#include "backends/cuda/unit.h"
#include "runtime/libtcrt-cuda/oneop.h"

typedef struct part {
  int index, parts, seen;
  TC_VEC(tc_oneop) op;
} part;

static void print_diag(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self;
  (void)loc;
  if (s >= TC_MISSED) fprintf(stderr, "generate: %s\n", text);
}
static tc_diag diag = {print_diag, NULL};

static bool collect(const tc_oneop *o, void *context) {
  part *p = context;
  return p->seen++ % p->parts != p->index || tc_push(&p->op, *o);
}

/* "add.f32.vv" -> "tco_add_f32_vv" */
static void put_symbol(const char *key, char *symbol, size_t size) {
  snprintf(symbol, size, "tco_%s", key);
  for (char *c = symbol; *c; ++c)
    if (*c == '.') *c = '_';
}

/* ---- a part: kernels of several parts may be equal, and so their data ------------------------ */

static void put_data(const tc_data *d, FILE *out) {
  fprintf(out, "\n__attribute__((weak, aligned(64))) TC_HIDDEN const unsigned char %s[%zu] = {",
          d->name, d->size);
  for (size_t i = 0; i < d->size; ++i) fprintf(out, i % 32 ? "%u," : "\n%u,", d->bytes[i]);
  fputs("};\n", out);
}

static bool write_part(const part *p, const tc_result *result, const tc_texts *t, FILE *text,
                       FILE *list) {
  char symbol[2 * TC_ONEOP_KEY];
  fputs(t->host.text ? t->host.text : "", text);
  for (size_t i = 0; i < t->ndata; ++i) put_data(&t->data[i], text);
  for (size_t i = 0; i < p->op.n; ++i) {
    if (!result[i].compiled) continue;
    put_symbol(p->op.at[i].key, symbol, sizeof symbol);
    fprintf(list, "%s %s\n", p->op.at[i].key, symbol);
  }
  return !ferror(text) && !ferror(list);
}

static bool compile_part(const part *p, const char *arch, FILE *text, FILE *list) {
  static const tc_choice gpu = {&tc_backend_cuda, TC_WISH_WANT};
  const tc_setting setting = {"cuda-arch", arch};
  const tc_unit_options options = {.setting = &setting, .nsetting = arch != NULL, .apart = true};
  const size_t n = p->op.n;
  tc_function *f = calloc(n + 1, sizeof *f);
  char(*symbol)[2 * TC_ONEOP_KEY] = calloc(n + 1, sizeof *symbol);
  tc_result *result = calloc(n + 1, sizeof *result);
  tc_texts texts = {0};
  bool ok = f && symbol && result;
  for (size_t i = 0; ok && i < n; ++i) {
    const tc_oneop *o = &p->op.at[i];
    put_symbol(o->key, symbol[i], sizeof symbol[i]);
    f[i] = (tc_function){.symbol = symbol[i],
                         .name = o->key,
                         .file = "libtcrt-cuda",
                         .graph = tc_oneop_graph(o, &diag),
                         .ops = 1,
                         .choice = &gpu,
                         .nchoice = 1,
                         .always = true};
    ok = f[i].graph != NULL;
  }
  ok = ok && tc_compile_functions(f, (int)n, &options, result, &texts) && texts.functions > 0 &&
       write_part(p, result, &texts, text, list);
  if (!ok) fprintf(stderr, "generate: nothing was compiled\n");
  tc_texts_free(&texts);
  free(f);
  free(symbol);
  free(result);
  return ok;
}

static int make_part(char **argument, int n) {
  part p = {.index = atoi(argument[0]), .parts = atoi(argument[1])};
  const char *arch = n > 4 ? argument[4] : NULL;
  tc_cuda_options known = tc_cuda_defaults;
  if (arch && (strncmp(arch, "--arch=", 7) != 0 || !tc_cuda_parse_arch(arch += 7, &known)))
    return 2;
  if (p.parts <= 0 || p.index < 0 || !tc_oneop_each(collect, &p)) return 2;
  FILE *text = fopen(argument[2], "w"), *list = fopen(argument[3], "w");
  bool ok = text && list && compile_part(&p, arch, text, list);
  ok = (!text || fclose(text) == 0) && ok;
  ok = (!list || fclose(list) == 0) && ok;
  free(p.op.at);
  return ok ? 0 : 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct row {
  char key[TC_ONEOP_KEY], symbol[2 * TC_ONEOP_KEY];
} row;

typedef struct rows {
  row *at;
  size_t n, cap;
} rows;

static int by_key(const void *a, const void *b) {
  return strcmp(((const row *)a)->key, ((const row *)b)->key);
}

static bool read_list(const char *path, rows *r) {
  FILE *file = fopen(path, "r");
  row one;
  bool ok = file != NULL;
  while (ok && fscanf(file, "%47s %95s", one.key, one.symbol) == 2) ok = tc_push(r, one);
  if (file) fclose(file);
  return ok;
}

static void write_table(const rows *r, FILE *out) {
  fputs("#include <tcompile/cuda.h>\n\n", out);
  for (size_t i = 0; i < r->n; ++i)
    fprintf(out, "extern tcrt_entry %s __attribute__((visibility(\"hidden\")));\n",
            r->at[i].symbol);
  fputs("\nstatic const tcrt_cuda_op ops[] = {\n", out);
  for (size_t i = 0; i < r->n; ++i)
    fprintf(out, "  {\"%s\", %s},\n", r->at[i].key, r->at[i].symbol);
  fprintf(out, "};\n\nconst tcrt_cuda_table tcrt_cuda_one_ops = {TC_ABI_VERSION, %zu, ops};\n",
          r->n);
}

static int make_table(char **argument, int n) {
  rows r = {0};
  bool ok = true;
  for (int i = 1; i < n && ok; ++i) ok = read_list(argument[i], &r);
  FILE *out = ok ? fopen(argument[0], "w") : NULL;
  if (out) {
    if (r.n) qsort(r.at, r.n, sizeof *r.at, by_key);
    write_table(&r, out);
  }
  ok = out && fclose(out) == 0;
  free(r.at);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  int status = 2;
  if (argc >= 6 && !strcmp(argv[1], "part")) status = make_part(argv + 2, argc - 2);
  else if (argc >= 4 && !strcmp(argv[1], "table")) status = make_table(argv + 2, argc - 2);
  if (status == 2)
    fprintf(stderr, "usage: generate part I N C LIST [--arch=LIST] | table C LIST...\n");
  return status;
}
