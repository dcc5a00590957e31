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
                                  .enough_rows = 128,
                                  .few_columns = 65536,
                                  .long_column = 2048,
                                  .few_kept_rows = 32,
                                  .few_kept_columns = 8192,
                                  .long_kept_row = 131072,
                                  .long_kept_column = 8192,
                                  .cut_unknown = true,
                                  .keep_loads = true,
                                  .streams = true,
                                  .across = 24,
                                  .row_tiles = true,
                                  .lanes_along_stores = true,
                                  .split_scans = true,
                                  .scan_lanes = true,
                                  .epilogue_in_place = true,
                                  .prologue_results = 128, /* a tile's */
                                  .sorts = true,
                                  .windows_at_once = true,
                                  .windows_summed = true,
                                  .guards = true,
                                  .product_apart = true,
                                  .product_parts = TC_PARTS_HALVES,
                                  .channels_last = true,
                                  .chain = tc_cuda_takes_chain,
                                  .row_bytes = 16,
                                  .siblings = TC_SIBLINGS_POINTWISE,
                                  .share_products = true,
                                  .pitched = 16,
                                  /* of 12 registers each, four lanes and their totals in f64; as
                                   * many are for loads */
                                  .most_sums = 8};

bool tc_cuda_put_prelude(const char *device, tc_buf *out) {
  return tc_print_prelude_with_reductions(tc_cuda_prelude, device, tc_cuda_put_reducer, out);
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

/* One nest on its way: the bodies of its functions, empty where no variant takes one, and those in
 * one text, which says what parameters they take. */
typedef struct pair {
  const tc_cuda_text *t;
  const tc_cuda_nest_schedule *plan;
  tc_buf body[TC_CUDA_BODY_KINDS], *both;
  bool joins; /* tc_cuda_joins */
} pair;

static void put_template(const pair *x, const char *name, const char *body, tc_buf *out) {
  tc_putf(
      out,
      "template <int TC_L, int TC_U, class tc_int, int TC_GROUP = 0, bool TC_FULL = false, bool "
      "TC_WARPS = false%s> TC_FN void %s(\n    ",
      tc_cuda_has_loads_anywhere(x->t->schedule) ? ", bool TC_ANYWHERE = false" : "", name);
  /* its own */
  if (x->joins) tc_put(out, "const tc_blocks blockIdx, const tc_blocks gridDim,\n    ");
  tc_cuda_put_parameters(x->t->k, x->t->p, x->both->text, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
}

static int block_threads(const pair *x, const tc_cuda_variant *f) {
  if (x->plan->form == TC_CUDA_COLUMNS) return TC_CUDA_BLOCK;
  if (x->plan->form == TC_CUDA_FLAT || x->plan->form == TC_CUDA_SCATTER) return (int)f->threads;
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
  if (x->joins) tc_put(out, tc_cuda_table_parameter);
  else tc_cuda_put_parameters(x->t->k, x->t->p, x->both->text, TC_CUDA_DECLARE, out);
  tc_put(out, ") {\n");
  if (x->joins) tc_cuda_put_own_parameters(x->t->k, x->t->p, x->both->text, out);
  tc_cuda_put_wait(x->t->k, x->t->p, x->both->text, x->plan->form == TC_CUDA_TRANSPOSE, out);
  tc_putf(out, "  %s<%d, %d, %s", name, (int)f->lanes, (int)f->unroll, index);
  if (f->warps) tc_put(out, ", 0, true, true");
  else if (f->aligned_stores || f->stores_in_phase || f->dense || f->overlapping) tc_putf(out, ", %d, false, false, true", (int)f->group);
  else if (f->group) tc_putf(out, ", %d%s", (int)f->group, f->full ? ", true" : "");
  tc_put(out, x->joins ? ">(block, blocks, " : ">(");
  tc_cuda_put_parameters(x->t->k, x->t->p, x->both->text, TC_CUDA_PASS, out);
  tc_put(out, ");\n}\n");
}

/* The body that variant v is an instance of. */
static tc_cuda_body_kind body_kind_of(const tc_cuda_variant *v) {
  if (v->dense) return TC_CUDA_DENSE;
  if (tc_cuda_is_phased(v)) return v->registers ? TC_CUDA_PHASED_IN_REGISTERS : TC_CUDA_PHASED;
  return v->unaligned   ? TC_CUDA_UNALIGNED
         : v->narrow    ? TC_CUDA_NARROW
         : v->tile      ? TC_CUDA_ROW_TILES
         : v->registers ? TC_CUDA_IN_REGISTERS
                        : TC_CUDA_PLAIN;
}

static bool some_variant(const tc_schedule_nest *s, tc_cuda_body_kind kind) {
  for (uint32_t i = 0; i < s->nvariant; ++i)
    if (body_kind_of(tc_cuda_variant_of(s, i)) == kind) return true;
  return false;
}

typedef struct name {
  char text[64];
} name;

static name name_of(const pair *x, tc_cuda_body_kind kind) {
  const bool again = x->body[TC_CUDA_IN_REGISTERS].len || x->body[TC_CUDA_ROW_TILES].len;
  const char *suffix[TC_CUDA_BODY_KINDS] = {[TC_CUDA_PLAIN] = again ? "_again" : "",
                                      [TC_CUDA_IN_REGISTERS] = "",
                                      [TC_CUDA_ROW_TILES] = "_tiled",
                                      [TC_CUDA_UNALIGNED] = "_unaligned",
                                      [TC_CUDA_NARROW] = "_narrow",
                                      [TC_CUDA_PHASED] = "_phased_again",
                                      [TC_CUDA_PHASED_IN_REGISTERS] = "_phased",
                                      [TC_CUDA_DENSE] = "_dense"};
  name n;
  snprintf(n.text, sizeof n.text, "@NAME@_nest%u%s", x->t->nest, suffix[kind]);
  return n;
}

/* The templates and their instances. */
static void put_functions(const pair *x, tc_buf *out) {
  for (tc_cuda_body_kind kind = 0; kind < TC_CUDA_BODY_KINDS; ++kind)
    if (x->body[kind].len) put_template(x, name_of(x, kind).text, x->body[kind].text, out);
  for (uint32_t i = 0; i < x->t->schedule->nvariant; ++i)
    put_global(x, i, name_of(x, body_kind_of(tc_cuda_variant_of(x->t->schedule, i))).text, out);
}

bool tc_cuda_put_nest(const tc_cuda_text *t, tc_buf *both, tc_buf *out) {
  pair x = {.t = t, .plan = tc_cuda_nest_schedule_of(t->schedule), .both = both};
  bool ok = true;
  for (tc_cuda_body_kind kind = 0; ok && kind < TC_CUDA_BODY_KINDS; ++kind)
    if (kind == TC_CUDA_PLAIN || some_variant(t->schedule, kind))
      ok = tc_cuda_put_body(t, kind, &x.body[kind]);
  for (tc_cuda_body_kind kind = 0; kind <= TC_CUDA_PLAIN; ++kind)
    tc_put(both, x.body[kind].text ? x.body[kind].text : "");
  ok = ok && both->text && !both->failed;
  x.joins = ok && tc_cuda_joins(t, both->text);
  if (ok) put_functions(&x, out);
  for (tc_cuda_body_kind kind = 0; kind < TC_CUDA_BODY_KINDS; ++kind) tc_buf_free(&x.body[kind]);
  return ok && !out->failed;
}

static bool put_nests(const tc_kernel *k, const tc_program *p, tc_arena *arena, tc_buf *device,
                      tc_buf *host, uint32_t *functions) {
  tc_cuda_text *text = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *text);
  tc_buf *both = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *both);
  bool ok = text && both;
  tc_print_fused(k, p, device);
  tc_cuda_put_approximate_math(k, true, device);
  *functions = 0;
  for (uint32_t i = 0; ok && i < k->nnest; ++i) {
    text[i] = (tc_cuda_text){k, p, i, *functions, &k->schedule->nest[i]};
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
  if (!tc_print_known(k) || (tc_mm_is_chain(&k->mm) && !tc_cuda_may_chain(p, k))) return false;
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (is_split_outside(&k->nest[i])) return false;
  return true;
}

static bool put_kernel(const tc_kernel *k, const tc_program *p, tc_arena *arena, tc_buf *device,
                       tc_buf *host, uint32_t *functions) {
  if (k->kind == TC_KERNEL_MATMUL) return tc_cuda_put_matmul(k, p, device, host, functions);
  if (k->kind == TC_KERNEL_SORT) return tc_cuda_put_sort(k, p, device, host, functions);
  return put_nests(k, p, arena, device, host, functions);
}

bool tc_cuda_emit_kernel(const tc_kernel *k, const tc_program *p, tc_kernel_text *out) {
  tc_buf device = {0}, host = {0};
  tc_arena *arena = tc_arena_new();
  bool ok = arena && k->schedule && put_kernel(k, p, arena, &device, &host, &out->nfunction);
  ok = ok && device.text && host.text &&
       tc_print_finish_pair(k, device.text, host.text, "_cuda", out);
  tc_buf_free(&device);
  tc_buf_free(&host);
  if (arena) tc_arena_free(arena);
  return ok;
}
