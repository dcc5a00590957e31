/* kernel.c - a kernel's device text: for every nest the function template and its two instances. */
#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"

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
                                  .streams = true,
                                  .scan_lanes = true,
                                  .epilogue_in_place = true,
                                  .product_apart = true,
                                  .siblings = TC_SIBLINGS_POINTWISE};

bool tc_cuda_put_prelude(const char *device, tc_buf *out) {
  return tc_print_prelude_with_reductions(tc_cuda_prelude, device, tc_cuda_put_reducer, out);
}

/* ---- short functions ------------------------------------------------------------------------- */

/* Does another kernel of the program name the buffer? */
static bool is_shared(const tc_kernel *k, const tc_program *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->nkernel; ++i)
    for (uint32_t j = 0; p->kernel[i].buffer != k->buffer && j < p->kernel[i].nbuffer; ++j)
      if (p->kernel[i].buffer[j] == buffer) return true;
  return false;
}

/* Are all results of the kernel of 16 bits?  What passes between its own nests is none. */
static bool stores_halves(const tc_kernel *k, const tc_program *p) {
  bool any = false;
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = &p->buffer[k->buffer[i]];
    const bool half = b->dtype == TC_F16 || b->dtype == TC_BF16;
    if (b->kind == TC_BUF_LOCAL || !tc_kernel_writes(k, i)) continue;
    if (!half && (b->kind != TC_BUF_ARENA || is_shared(k, p, k->buffer[i]))) return false;
    any |= half;
  }
  return any;
}

/* `#define tc_exp_f32 tc_exp_short` for those functions that the kernel computes; and the end. */
void tc_cuda_put_approximate_math(const tc_kernel *k, const tc_program *p, bool begin,
                                  tc_buf *out) {
  static const struct {
    tc_op op;
    const char *name;
  } list[] = {{OP_EXP, "exp"},   {OP_SIGMOID, "sigmoid"}, {OP_TANH, "tanh"}, {OP_ERF, "erf"},
              {OP_ERF, "erf1p"}, {OP_LOG, "log"},         {OP_SQRT, "sqrt"}, {OP_DIV, "div"}};
  if (!stores_halves(k, p)) return;
  for (size_t j = 0; j < sizeof list / sizeof *list; ++j) {
    bool any = false;
    for (uint32_t i = 1; i < k->nexpr; ++i)
      any |= k->expr[i].kind == TC_EX_OP && k->expr[i].op == list[j].op;
    if (any && begin) tc_putf(out, "#define tc_%s_f32 tc_%s_approx\n", list[j].name, list[j].name);
    else if (any) tc_putf(out, "#undef tc_%s_f32\n", list[j].name);
  }
}

/* ---- functions ------------------------------------------------------------------------------- */

/* One nest on its way: the bodies of its two functions, and both in one text, which says what
 * parameters they take. */
typedef struct pair {
  const tc_kernel *k;
  const tc_program *p;
  const tc_cuda_plan *plan;
  uint32_t nest;
  tc_buf vectorized, general, unaligned, *both;
  bool joins; /* tc_cuda_joins */
} pair;

static void put_template(const pair *x, const char *name, const char *body, tc_buf *out) {
  tc_putf(
      out,
      "template <int TC_L, int TC_U, class tc_int, int TC_GROUP = 0, bool TC_FULL = false, bool "
      "TC_WARPS = false> TC_FN void %s(\n    ",
      name);
  if (x->joins) tc_put(out, "const tc_blocks blockIdx, const tc_blocks gridDim,\n    "); /* its own */
  tc_cuda_put_parameters(x->k, x->p, x->both->text, TC_CUDA_DECLARE, out);
  tc_putf(out, ") {\n%s}\n", body);
}

static int block_threads(const pair *x, const tc_cuda_instance *f) {
  if (x->plan->kind == TC_CUDA_COLUMNS) return TC_CUDA_BLOCK;
  if (x->plan->kind == TC_CUDA_FLAT) return f->threads;
  if (x->plan->kind != TC_CUDA_ROWS) return TC_CUDA_THREADS;
  return f->most > f->threads ? f->most : f->threads;
}

static void put_global(const pair *x, const tc_cuda_instance *f, const char *name,
                       const char *index, tc_buf *out) {
  char blocks[16] = "";
  if (f->blocks) snprintf(blocks, sizeof blocks, ", %d", f->blocks);
  tc_putf(out, "extern \"C\" __global__ void __launch_bounds__(%d%s) @NAME@_%u(\n    ",
          block_threads(x, f), blocks, f->number);
  if (x->joins) tc_put(out, tc_cuda_table_parameter);
  else tc_cuda_put_parameters(x->k, x->p, x->both->text, TC_CUDA_DECLARE, out);
  tc_put(out, ") {\n");
  if (x->joins) tc_cuda_put_own_parameters(x->k, x->p, x->both->text, out);
  tc_cuda_put_wait(x->k, x->p, x->both->text, x->plan->kind == TC_CUDA_TRANSPOSE, out);
  tc_putf(out, "  %s<%d, %d, %s", name, f->lanes, f->unroll, index);
  if (f->warps) tc_put(out, ", 0, true, true");
  else if (f->group) tc_putf(out, ", %d%s", f->group, f->full ? ", true" : "");
  tc_put(out, x->joins ? ">(block, blocks, " : ">(");
  tc_cuda_put_parameters(x->k, x->p, x->both->text, TC_CUDA_PASS, out);
  tc_put(out, ");\n}\n");
}

/* The templates for rows in registers, for unaligned rows and the plain one, and the instances of all. */
static void put_functions(const pair *x, tc_buf *out) {
  char in_registers[64], plain[64], unaligned[64];
  const bool one = !x->general.len;
  snprintf(in_registers, sizeof in_registers, "@NAME@_nest%u", x->nest);
  snprintf(plain, sizeof plain, "@NAME@_nest%u%s", x->nest, one ? "" : "_again");
  snprintf(unaligned, sizeof unaligned, "@NAME@_nest%u_odd", x->nest);
  put_template(x, in_registers, x->vectorized.text, out);
  if (!one) put_template(x, plain, x->general.text, out);
  if (x->unaligned.len) put_template(x, unaligned, x->unaligned.text, out);
  for (int i = 0; i < x->plan->nform; ++i) {
    const tc_cuda_instance *f = &x->plan->form[i];
    const char *index = f->small && !x->plan->far ? "int" : "tc_i64";
    put_global(x, f,
               f->unaligned             ? unaligned
               : f->in_registers || one ? in_registers
                                        : plain,
               index, out);
  }
}

bool tc_cuda_put_nest(const tc_kernel *k, const tc_kernel *plain, const tc_program *p, uint32_t i,
                      const tc_cuda_plan *plan, tc_buf *both, tc_buf *out) {
  pair x = {.k = k, .p = p, .plan = plan, .nest = i, .both = both};
  const tc_cuda_way first = plan->in_registers ? TC_CUDA_IN_REGISTERS : TC_CUDA_PLAIN;
  bool ok = tc_cuda_put_body(plan->in_registers ? k : plain, p, i, plan, first, &x.vectorized);
  if (ok && plan->in_registers) ok = tc_cuda_put_body(plain, p, i, plan, TC_CUDA_PLAIN, &x.general);
  if (ok && plan->unaligned)
    ok = tc_cuda_put_body(plain, p, i, plan, TC_CUDA_UNALIGNED, &x.unaligned);
  tc_put(both, x.vectorized.text ? x.vectorized.text : "");
  tc_put(both, x.general.text ? x.general.text : "");
  ok = ok && both->text && !both->failed;
  x.joins = ok && tc_cuda_joins(k, p, plan, both->text);
  if (ok) put_functions(&x, out);
  tc_buf_free(&x.vectorized);
  tc_buf_free(&x.general);
  tc_buf_free(&x.unaligned);
  return ok && !out->failed;
}

/* The kernel where no nest keeps rows. */
static bool streamed(const tc_kernel *k, tc_kernel *out, tc_arena *arena) {
  *out = *k;
  out->nest = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *out->nest);
  for (uint32_t i = 0; out->nest && i < k->nnest; ++i) out->nest[i] = tc_nest_streamed(&k->nest[i]);
  return out->nest;
}

static bool put_nests(const tc_kernel *k, const tc_program *p, tc_arena *arena, tc_buf *device,
                      tc_buf *host, uint32_t *functions) {
  tc_kernel plain;
  tc_cuda_plan *plan = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *plan);
  tc_buf *both = tc_arena_alloc(arena, (k->nnest + 1) * sizeof *both);
  bool ok = streamed(k, &plain, arena) && plan && both;
  tc_print_fused(k, p, device);
  tc_cuda_put_approximate_math(k, p, true, device);
  *functions = 0;
  for (uint32_t i = 0; ok && i < k->nnest; ++i) {
    plan[i] = tc_cuda_plan_nest(k, &plain, p, &k->nest[i]);
    *functions = tc_cuda_number(&plan[i], *functions);
    ok = tc_cuda_put_nest(k, &plain, p, i, &plan[i], &both[i], device);
  }
  tc_cuda_put_approximate_math(k, p, false, device);
  if (ok) tc_cuda_put_launcher(k, p, plan, both, host);
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
  bool ok = arena &&
            (k->kind == TC_KERNEL_MATMUL ? tc_cuda_put_matmul(k, p, &device, &host, &out->nfunction)
                                         : put_nests(k, p, arena, &device, &host, &out->nfunction));
  ok = ok && device.text && host.text &&
       tc_print_finish_pair(k, device.text, host.text, "_cuda", out);
  tc_buf_free(&device);
  tc_buf_free(&host);
  if (arena) tc_arena_free(arena);
  return ok;
}
