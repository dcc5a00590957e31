/* parameters.c - what the functions of a kernel take: those of its buffers, sizes and numbers that
 * a body's text names, and what the launcher finds out. */
#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"

#include <stdio.h>
#include <string.h>

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool tc_cuda_names(const char *text, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += n)
    if ((at == text || !is_word(at[-1])) && !is_word(at[n])) return true;
  return false;
}

/* ---- one after the other --------------------------------------------------------------------- */

typedef struct visit {
  const tc_kernel *k;
  const tc_program *p;
  const char *body;
  tc_cuda_each_parameter *each;
  void *arg;
} visit;

static void put_buffer_type(const visit *v, uint32_t i, tc_buf *out) {
  const tc_buffer *b = &v->p->buffer[v->k->buffer[i]];
  tc_putf(out, "%stc_%s *%s", tc_kernel_writes(v->k, i) ? "" : "const ", tc_print_storage(b->dtype),
          tc_print_restrict(v->k, v->p, i) ? "__restrict__ " : "");
}

static void put_buffer_shape(const visit *v, uint32_t i, tc_buf *out) {
  const tc_buffer *b = &v->p->buffer[v->k->buffer[i]];
  tc_putf(out, " /* %s: ", b->name ? b->name : "");
  tc_type_print(tc_graph_dims(v->p->graph), &b->type, out);
  tc_put(out, " */");
}

static bool visit_buffer(const visit *v, uint32_t i) {
  tc_buf type = {0}, shape = {0};
  char name[32], address[48];
  snprintf(name, sizeof name, "b%u", i);
  if (tc_cuda_is_local(v->k, v->p, i) || !tc_cuda_names(v->body, name)) return true;
  snprintf(address, sizeof address, "(void *)&buf[%u]", i);
  put_buffer_type(v, i, &type);
  put_buffer_shape(v, i, &shape);
  const bool ok = !type.failed && !shape.failed && type.text && shape.text;
  if (ok)
    v->each(&(tc_cuda_parameter){name, type.text, shape.text, address, TC_CUDA_POINTER, false},
            v->arg);
  tc_buf_free(&type);
  tc_buf_free(&shape);
  return ok;
}

static void visit_symbol(const visit *v, const tc_sym *s) {
  char name[300], address[320];
  snprintf(name, sizeof name, "z_%s", s->name);
  snprintf(address, sizeof address, "(void *)&s_%s", s->name);
  if (!tc_cuda_names(v->body, name)) return;
  v->each(&(tc_cuda_parameter){name, "const tc_i64 ", "", address, TC_CUDA_INTEGER,
                               s->input != TC_SYM_OWN},
          v->arg);
}

static void visit_scalar(uint32_t i, bool is_float, void *arg) {
  const visit *v = arg;
  char name[32], address[48];
  snprintf(name, sizeof name, "a%u", i);
  snprintf(address, sizeof address, "(void *)&%s", name);
  if (!tc_cuda_names(v->body, name)) return;
  v->each(&(tc_cuda_parameter){name, is_float ? "const double " : "const tc_i64 ", "", address,
                               is_float ? TC_CUDA_NUMBER : TC_CUDA_INTEGER,
                               i < tc_graph_scalar_count(v->p->graph)},
          v->arg);
}

/* Scratch memory of a product whose k is shared out, or of a chain whose keys are. */
static void visit_k_sums(const visit *v) {
  char type[16];
  snprintf(type, sizeof type, "tc_%s *", tc_print_compute(v->k->mm.acc));
  v->each(&(tc_cuda_parameter){"k_sums", type, "", "(void *)&k_sums", TC_CUDA_POINTER, false}, v->arg);
}

bool tc_cuda_visit_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                              tc_cuda_each_parameter *each, void *arg) {
  visit v = {k, p, body, each, arg};
  tc_dims *c = tc_graph_dims(p->graph);
  bool ok = true;
  for (uint32_t i = 0; ok && i < k->nbuffer; ++i) ok = visit_buffer(&v, i);
  for (uint32_t i = 0; ok && i < tc_dims_sym_count(c); ++i) visit_symbol(&v, tc_dims_sym(c, i));
  if (ok) tc_print_each_scalar(k, p, visit_scalar, &v);
  if (ok && tc_cuda_names(body, "k_sums")) visit_k_sums(&v);
  static const tc_cuda_parameter rest[] = {
      {"group", "const tc_i64 ", "", "(void *)&group", TC_CUDA_LAUNCH, true},
      {"cache_items", "const tc_i64 ", "", "(void *)&cache_items", TC_CUDA_LAUNCH, true},
      {"release_from", "const tc_i64 ", "", "(void *)&release_from", TC_CUDA_LAUNCH, true},
      {"wide_results", "const tc_i64 ", "", "(void *)&wide_results", TC_CUDA_LAUNCH, true},
      {"k_parts", "const tc_i64 ", "", "(void *)&k_parts", TC_CUDA_LAUNCH, true},
      {"flag", "int *", "", "(void *)&c->bad", TC_CUDA_POINTER, true}};
  for (size_t i = 0; ok && i < sizeof rest / sizeof *rest; ++i)
    if (i == 0 || tc_cuda_names(body, rest[i].name)) each(&rest[i], arg);
  return ok;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct list {
  tc_cuda_use use;
  tc_buf *out;
  bool any;
} list;

static void put_one(const tc_cuda_parameter *a, void *arg) {
  list *l = arg;
  if (l->any) tc_put(l->out, l->use == TC_CUDA_DECLARE ? ",\n    " : ", ");
  l->any = true;
  if (l->use == TC_CUDA_DECLARE) tc_putf(l->out, "%s%s%s", a->type, a->name, a->comment);
  else tc_put(l->out, l->use == TC_CUDA_PASS ? a->name : a->address);
}

void tc_cuda_put_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                            tc_cuda_use use, tc_buf *out) {
  list l = {.use = use, .out = out};
  if (!tc_cuda_visit_parameters(k, p, body, put_one, &l)) out->failed = true;
}

void tc_cuda_put_wait(const tc_kernel *k, const tc_program *p, const char *body, bool global,
                      tc_buf *out) {
  char word[16];
  tc_put(out, "  tc_wait();\n");
  if (tc_cuda_names(body, "k_sums")) tc_put(out, "  tc_behind(k_sums);\n");
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    snprintf(word, sizeof word, "b%u", i);
    if (!tc_cuda_is_local(k, p, i) && tc_cuda_names(body, word))
      tc_putf(out, "  tc_behind%s(b%u);\n", global ? "_global" : "", i);
  }
}

void tc_cuda_put_symbols(const tc_program *p, const char *text, tc_buf *out) {
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i) {
    char word[256];
    snprintf(word, sizeof word, "s_%s", tc_dims_sym(c, i)->name);
    if (tc_cuda_names(text, word))
      tc_putf(out, "  const tc_int %s = (tc_int)z_%s;\n", word, tc_dims_sym(c, i)->name);
  }
}
