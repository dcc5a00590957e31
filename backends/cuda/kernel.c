/* kernel.c - a kernel's device text: for every nest the function template and its two instances. */
#include "backends/cuda/emit.h"
#include "backends/cuda/gemm/matmul.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char tc_cuda_prelude[];

const tc_target tc_cuda_target = {.name = "gpu",
                                  .chunk = 0,
                                  .split = 16384,
                                  .least_part = 256,
                                  .most_parts = 1024,
                                  .few_rows = 512,
                                  .few_columns = 65536,
                                  .long_column = 2048,
                                  .cut_unknown = true,
                                  .keep_loads = true,
                                  .scan_lanes = true,
                                  .epilogue_in_place = true,
                                  .product_apart = true};

bool tc_cuda_put_prelude(const char *device, tc_buf *out) {
  tc_buf prelude = {0};
  tc_put(&prelude, tc_cuda_prelude);
  tc_cuda_put_reductions(device, &prelude);
  const bool ok = !prelude.failed && tc_print_prelude(prelude.text, device, out);
  tc_buf_free(&prelude);
  return ok;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool tc_cuda_names(const char *text, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += n)
    if ((at == text || !is_word(at[-1])) && !is_word(at[n])) return true;
  return false;
}

typedef struct list {
  tc_buf *out;
  bool any;
} list;

static void separate(list *l, bool lines) {
  if (l->any) tc_put(l->out, lines ? ",\n    " : ", ");
  l->any = true;
}

static void put_buffer(const tc_kernel *k, const tc_program *p, uint32_t i, tc_cuda_use use,
                       list *l) {
  const tc_buffer *b = &p->buffer[k->buffer[i]];
  separate(l, use == TC_CUDA_DECLARE);
  if (use == TC_CUDA_PASS) tc_putf(l->out, "b%u", i);
  else if (use == TC_CUDA_ADDRESS) tc_putf(l->out, "(void *)&buf[%u]", i);
  else {
    tc_putf(l->out, "%stc_%s *%sb%u /* %s: ", tc_kernel_writes(k, i) ? "" : "const ",
            tc_print_storage(b->dtype), tc_print_restrict(k, p, i) ? "__restrict__ " : "", i,
            b->name ? b->name : "");
    tc_type_print(tc_graph_dims(p->graph), &b->type, l->out);
    tc_put(l->out, " */");
  }
}

typedef struct scalars {
  const char *body;
  tc_cuda_use use;
  list *l;
} scalars;

static void put_scalar(uint32_t i, bool f, void *arg) {
  const scalars *s = arg;
  char word[32];
  snprintf(word, sizeof word, "a%u", i);
  if (!tc_cuda_names(s->body, word)) return;
  separate(s->l, s->use == TC_CUDA_DECLARE);
  if (s->use == TC_CUDA_ADDRESS) tc_put(s->l->out, "(void *)&");
  if (s->use == TC_CUDA_DECLARE) tc_put(s->l->out, f ? "const double " : "const tc_i64 ");
  tc_put(s->l->out, word);
}

static void put_scalars(const tc_kernel *k, const tc_program *p, const char *body, tc_cuda_use use,
                        list *l) {
  tc_dims *c = tc_graph_dims(p->graph);
  char word[300];
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i) {
    snprintf(word, sizeof word, "z_%s", tc_dims_sym(c, i)->name);
    if (!tc_cuda_names(body, word)) continue;
    separate(l, use == TC_CUDA_DECLARE);
    if (use == TC_CUDA_ADDRESS) tc_putf(l->out, "(void *)&s_%s", word + 2);
    else tc_putf(l->out, "%s%s", use == TC_CUDA_DECLARE ? "const tc_i64 " : "", word);
  }
  tc_print_each_scalar(k, p, put_scalar, &(scalars){body, use, l});
}

void tc_cuda_put_parameters(const tc_kernel *k, const tc_program *p, const char *body,
                            tc_cuda_use use, tc_buf *out) {
  list l = {.out = out};
  char word[32];
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    snprintf(word, sizeof word, "b%u", i);
    if (p->buffer[k->buffer[i]].kind != TC_BUF_LOCAL && tc_cuda_names(body, word))
      put_buffer(k, p, i, use, &l);
  }
  put_scalars(k, p, body, use, &l);
  static const struct {
    const char *word; /* NULL: always */
    const char *text[3];
  } rest[] = {
      {NULL, {"const tc_i64 group", "group", "(void *)&group"}},
      {"cache_items", {"const tc_i64 cache_items", "cache_items", "(void *)&cache_items"}},
      {"release_from", {"const tc_i64 release_from", "release_from", "(void *)&release_from"}},
      {"flag", {"int *flag", "flag", "(void *)&c->bad"}}};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; ++i) {
    if (rest[i].word && !tc_cuda_names(body, rest[i].word)) continue;
    separate(&l, use == TC_CUDA_DECLARE);
    tc_put(out, rest[i].text[use]);
  }
}

void tc_cuda_put_wait(const tc_kernel *k, const tc_program *p, const char *body, bool global,
                      tc_buf *out) {
  char word[16];
  tc_put(out, "  tc_wait();\n");
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

/* ---- short functions ------------------------------------------------------------------------- */

/* `#define tc_exp_f32 tc_exp_short` for those functions that the kernel computes; and the end. */
void tc_cuda_put_approximate_math(const tc_kernel *k, bool begin, tc_buf *out) {
  static const struct {
    tc_op op;
    const char *name;
  } list[] = {{OP_EXP, "exp"},   {OP_SIGMOID, "sigmoid"}, {OP_TANH, "tanh"}, {OP_ERF, "erf"},
              {OP_ERF, "erf1p"}, {OP_LOG, "log"},         {OP_SQRT, "sqrt"}, {OP_DIV, "div"}};
  if (!tc_cuda_kernel_schedule_of(k)->approximate) return;
  for (size_t j = 0; j < sizeof list / sizeof *list; ++j) {
    bool any = false;
    for (uint32_t i = 1; i < k->nexpr; ++i)
      any |= k->expr[i].kind == TC_EX_OP && k->expr[i].op == list[j].op;
    if (any && begin) tc_putf(out, "#define tc_%s_f32 tc_%s_approx\n", list[j].name, list[j].name);
    else if (any) tc_putf(out, "#undef tc_%s_f32\n", list[j].name);
  }
}

/* ---- functions ------------------------------------------------------------------------------- */

/* One nest on its way: the bodies of its functions, and all in one text, which says what parameters
 * they take. */
typedef struct pair {
  const tc_cuda_text *t;
  const tc_cuda_nest_schedule *plan;
  tc_buf vectorized, general, unaligned, *both;
} pair;

static void put_template(const pair *x, const char *name, const char *body, tc_buf *out) {
  tc_putf(
      out,
      "template <int TC_L, int TC_U, class tc_int, int TC_GROUP = 0, bool TC_FULL = false, bool "
      "TC_WARPS = false> TC_FN void %s(\n    ",
      name);
  tc_cuda_put_parameters(x->t->k, x->t->p, x->both->text, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
}

static int block_threads(const pair *x, const tc_cuda_variant *f) {
  if (x->plan->form == TC_CUDA_COLUMNS) return TC_CUDA_BLOCK;
  if (x->plan->form == TC_CUDA_FLAT) return (int)f->threads;
  if (x->plan->form != TC_CUDA_ROWS) return TC_CUDA_THREADS;
  return (int)(f->most > f->threads ? f->most : f->threads);
}

static void put_global(const pair *x, uint32_t i, const char *name, tc_buf *out) {
  const tc_cuda_variant *f = tc_cuda_variant_of(x->t->schedule, i);
  const char *index = f->index32 && !x->plan->index64 ? "int" : "tc_i64";
  char blocks[24] = "";
  if (f->blocks) snprintf(blocks, sizeof blocks, ", %d", (int)f->blocks);
  tc_putf(out, "extern \"C\" __global__ void __launch_bounds__(%d%s) @NAME@_%u(\n    ",
          block_threads(x, f), blocks, x->t->first + i);
  tc_cuda_put_parameters(x->t->k, x->t->p, x->both->text, TC_CUDA_DECLARE, out);
  tc_put(out, ") {\n");
  tc_cuda_put_wait(x->t->k, x->t->p, x->both->text, x->plan->form == TC_CUDA_TRANSPOSE, out);
  tc_putf(out, "  %s<%d, %d, %s", name, (int)f->lanes, (int)f->unroll, index);
  if (f->warps) tc_put(out, ", 0, true, true");
  else if (f->group) tc_putf(out, ", %d%s", (int)f->group, f->full ? ", true" : "");
  tc_put(out, ">(");
  tc_cuda_put_parameters(x->t->k, x->t->p, x->both->text, TC_CUDA_PASS, out);
  tc_put(out, ");\n}\n");
}

/* The templates for rows in registers, for unaligned rows and the plain one, and the instances of all. */
static void put_functions(const pair *x, tc_buf *out) {
  char in_registers[64], plain[64], unaligned[64];
  const bool one = !x->general.len;
  snprintf(in_registers, sizeof in_registers, "@NAME@_nest%u", x->t->nest);
  snprintf(plain, sizeof plain, "@NAME@_nest%u%s", x->t->nest, one ? "" : "_again");
  snprintf(unaligned, sizeof unaligned, "@NAME@_nest%u_odd", x->t->nest);
  put_template(x, in_registers, x->vectorized.text, out);
  if (!one) put_template(x, plain, x->general.text, out);
  if (x->unaligned.len) put_template(x, unaligned, x->unaligned.text, out);
  for (uint32_t i = 0; i < x->t->schedule->nvariant; ++i) {
    const tc_cuda_variant *f = tc_cuda_variant_of(x->t->schedule, i);
    put_global(x, i, f->unaligned ? unaligned : f->registers || one ? in_registers : plain, out);
  }
}

static bool some_variant(const tc_schedule_nest *s, bool unaligned) {
  for (uint32_t i = 0; i < s->nvariant; ++i) {
    const tc_cuda_variant *v = tc_cuda_variant_of(s, i);
    if (unaligned ? v->unaligned : v->registers) return true;
  }
  return false;
}

bool tc_cuda_put_nest(const tc_cuda_text *t, tc_buf *both, tc_buf *out) {
  pair x = {.t = t, .plan = tc_cuda_nest_schedule_of(t->schedule), .both = both};
  const bool registers = some_variant(t->schedule, false);
  bool ok = tc_cuda_put_body(t, registers ? TC_CUDA_IN_REGISTERS : TC_CUDA_PLAIN, &x.vectorized);
  if (ok && registers) ok = tc_cuda_put_body(t, TC_CUDA_PLAIN, &x.general);
  if (ok && some_variant(t->schedule, true))
    ok = tc_cuda_put_body(t, TC_CUDA_UNALIGNED, &x.unaligned);
  tc_put(both, x.vectorized.text ? x.vectorized.text : "");
  tc_put(both, x.general.text ? x.general.text : "");
  ok = ok && both->text && !both->failed;
  if (ok) put_functions(&x, out);
  tc_buf_free(&x.vectorized);
  tc_buf_free(&x.general);
  tc_buf_free(&x.unaligned);
  return ok && !out->failed;
}

static bool put_nests(const tc_kernel *k, const tc_program *p, tc_arena *arena, tc_buf *device,
                      tc_buf *host, uint32_t *functions) {
  tc_cuda_plain plain;
  tc_cuda_text *text = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *text);
  tc_buf *both = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *both);
  bool ok = text && both && tc_cuda_without_rows(k, p, &plain, arena);
  tc_print_fused(k, p, device);
  tc_cuda_put_approximate_math(k, true, device);
  *functions = 0;
  for (uint32_t i = 0; ok && i < k->nnest; ++i) {
    text[i] = (tc_cuda_text){k, &plain, p, i, *functions, &k->schedule->nest[i]};
    *functions += text[i].schedule->nvariant;
    ok = tc_cuda_put_nest(&text[i], &both[i], device);
  }
  tc_cuda_put_approximate_math(k, false, device);
  if (ok) tc_cuda_put_launcher(k, p, text, both, host);
  for (uint32_t i = 0; both && i < k->nnest; ++i) tc_buf_free(&both[i]);
  return ok && !device->failed && !host->failed;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool is_split_outside(const tc_nest *n) {
  for (int i = 0; i < n->nparallel; ++i)
    if (n->axis[i].of >= 0) return true;
  return false;
}

bool tc_cuda_supports(const tc_kernel *k, const tc_program *p) {
  if (k->kind == TC_KERNEL_CALL) return false; /* functions of the program work on the host */
  (void)p;
  if (!tc_print_known(k)) return false;
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (is_split_outside(&k->nest[i])) return false;
  return true;
}

bool tc_cuda_emit_kernel(const tc_kernel *k, const tc_program *p, tc_kernel_text *out) {
  tc_buf device = {0}, host = {0};
  tc_arena *arena = tc_arena_new();
  bool ok = arena && k->schedule &&
            (k->kind == TC_KERNEL_MATMUL ? tc_cuda_put_matmul(k, p, &device, &host, &out->nfunction)
                                         : put_nests(k, p, arena, &device, &host, &out->nfunction));
  ok = ok && device.text && host.text &&
       tc_print_finish_pair(k, device.text, host.text, "_cuda", out);
  tc_buf_free(&device);
  tc_buf_free(&host);
  if (arena) tc_arena_free(arena);
  return ok;
}
