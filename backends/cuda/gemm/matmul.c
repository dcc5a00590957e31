/* matmul.c - the matrix product as a kernel of its own, by the library where that is at hand, else
 * by one of two templates: operands and epilogue as their printers see them, and the launcher. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/gemm/chain.h"
#include "backends/cuda/gemm/k_parts.h"
#include "backends/cuda/gemm/mma.h"
#include "backends/cuda/gemm/skinny.h"

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Names of the results, and the axes that they change along. */
static void open_results(tc_cuda_product *x) {
  static const char *const name[TC_MM_RESULTS] = {"r0", "r1", "r2", "r3", "r4", "r5"};
  for (int i = 0; i < TC_MM_RESULTS; ++i) {
    x->result[i] = name[i];
    x->axes[i] = (2u << x->m) - 1; /* batches and m */
  }
  x->axes[TC_MM_PRODUCT] |= 1u << x->n;
  x->axes[TC_MM_BESIDE] |= 1u << x->n;
  for (int i = 0; i < TC_MM_INNERS; ++i) x->axes[tc_mm_inner_result(i)] |= 1u << x->kk;
}

static bool open_product(tc_cuda_product *x, const tc_kernel *k, const tc_program *p) {
  const tc_mm_loop *mm = &k->mm;
  *x = (tc_cuda_product){.k = k,
                         .p = p,
                         .mm = mm,
                         .plan = tc_cuda_kernel_schedule_of(k),
                         .m = mm->nbatch,
                         .n = mm->nbatch + 1,
                         .kk = mm->nbatch + 2};
  open_results(x);
  x->s = (tc_print_scope){.k = k,
                          .p = p,
                          .words = &tc_cuda_words,
                          .indent = 2,
                          .naxis = tc_mm_axes(mm),
                          .vector = -1,
                          .result = x->result,
                          .result_axes = x->axes};
  for (int i = 0; i < tc_mm_first_part(mm); ++i) {
    snprintf(x->text[i], sizeof x->text[i], "i%d", i);
    x->s.axis[i] = x->text[i];
  }
  tc_print_axis_parts(&x->s, mm, x->part);
  x->s.depends = calloc(k->nexpr + 1, sizeof *x->s.depends);
  x->s.printed = calloc(k->nexpr + 1, 1);
  if (!x->s.depends || !x->s.printed) return false;
  tc_print_depends(k, x->axes, x->s.depends);
  return true;
}

/* A of a chain. */
static bool is_nowhere(const tc_mm_loop *mm, int operand) {
  return operand == TC_CUDA_A && tc_mm_is_chain(mm);
}

/* Operands and epilogue as the schedule says. */
static bool open_operands(const tc_cuda_product *x, tc_cuda_operand *o) {
  const tc_cuda_kernel_schedule *s = x->plan;
  for (int i = 0; i < tc_cuda_operands(x->mm); ++i) {
    if (is_nowhere(x->mm, i)) continue;
    if (!tc_cuda_open_operand(x->k, x->p, i, s->along[i], &o[i])) return false;
    o[i].plan.width = s->width[i];
  }
  return true;
}

/* Where our tiles are faster than the library. */
static void put_own_tiles(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_template *t, tc_buf *out) {
  const int side = (int)x->plan->short_side, depth = (int)x->plan->short_depth;
  const bool wide = o[TC_CUDA_A].plan.width > 1 && o[TC_CUDA_B].plan.width > 1; /* single elements take longer than a pass */
  tc_putf(out, "(%s && (tc_cuda_is_short(c, &mm, %d, %d)", t->own, side, depth);
  if (x->plan->one_pass && wide) tc_putf(out, " || tc_cuda_saves_pass(c, &mm, %d, %d)", side, depth);
  if (x->plan->template == TC_CUDA_MMA) tc_putf(out, " || tc_cuda_is_unaligned(c, &mm, %d)", side);
  tc_put(out, "))");
}

/* Where our own product is faster than the library's. */
static void put_own(const tc_cuda_product *x, const tc_cuda_operand *o, const tc_cuda_template *t, tc_buf *out) {
  const bool skinny = x->plan->skinny, tiles = x->plan->short_side;
  if (skinny) tc_cuda_put_is_skinny(x, "mm.m", "mm.n", "mm.k", "mm.batch", out);
  if (skinny && tiles) tc_put(out, " || ");
  if (tiles) put_own_tiles(x, o, t, out);
  if (!skinny && !tiles) tc_put(out, "0");
  tc_cuda_put_beats_library(x, out);
}

static uint32_t put_library(const tc_cuda_product *x, const tc_cuda_operand *o, uint32_t first, const tc_cuda_template *t,
                            tc_buf *device, tc_buf *host, bool *failed) {
  tc_buf own = {0};
  put_own(x, o, t, &own);
  first = tc_cuda_put_library(x->k, x->p, first, own.text ? own.text : "", device, host, failed);
  *failed |= own.failed;
  tc_buf_free(&own);
  return first;
}

/* The launch, and behind it that of what puts parts of k, or of the keys, together. */
static void put_follow(const tc_cuda_product *x, const tc_cuda_operand *o, const char *body, unsigned gather, bool apart, tc_buf *out) {
  const bool parts = tc_cuda_has_k_parts(x->k), chain = tc_mm_is_chain(x->mm);
  if (parts && chain) tc_cuda_chain_put_parts(x, out);
  tc_putf(out,
          "  const int64_t grid = batches * tc_cuda_ceildiv(m, high) * tc_cuda_ceildiv(n, broad)%s;\n"
          "  void *const args[] = {",
          parts ? " * k_parts" : "");
  tc_cuda_put_parameters(x->k, x->p, body, TC_CUDA_ADDRESS, out);
  tc_putf(out,
          "};\n  %s tc_cuda_follow(c, &@NAME@_image, function, grid, block, shared, args,\n"
          "                        sizeof args / sizeof *args);\n",
          parts ? "const int status =" : "return");
  if (parts && chain) tc_cuda_chain_put_gather_launch(gather, out);
  else if (parts) tc_cuda_put_gather_launch(o, gather, apart ? "wide_results" : "vectorized", out);
  tc_put(out, "}\n");
}

static void put_launcher(const tc_cuda_product *x, const char *body, const tc_cuda_operand *o,
                         const tc_cuda_template *t, const char *library, unsigned gather, uint32_t skinny,
                         tc_buf *out) {
  tc_buf text = {0}, conditions = {0}, results = {0};
  const bool apart = t->unaligned_results && t->unaligned_results(x, o);
  for (int i = 0; i < tc_cuda_operands(x->mm); ++i) {
    if (is_nowhere(x->mm, i)) continue;
    tc_buf *const at = apart && i == TC_CUDA_EPILOGUE ? &results : &conditions;
    tc_cuda_put_aligned(x->k, x->p, &o[i].nest, &o[i].plan, at, at);
    tc_cuda_put_small(x->k, x->p, &o[i].nest, &o[i].plan, false, &conditions);
  }
  tc_putf(&text, "  const int vectorized = 1%s;\n", conditions.text ? conditions.text : "");
  if (apart) tc_putf(&text, "  const int64_t wide_results = 1%s;\n", results.text ? results.text : "");
  tc_cuda_put_outer_aligned(x, o, &text);
  tc_cuda_put_mma_f32_tiles(x, &text);
  tc_putf(&text, "%s  const int64_t group = 1, m = ", library);
  tc_cuda_put_size(x->p, x->mm, x->m, &text);
  tc_put(&text, ", n = ");
  tc_cuda_put_size(x->p, x->mm, x->n, &text);
  tc_put(&text, ", batches = ");
  tc_cuda_put_batch_count(x->p, x->mm, &text);
  tc_put(&text, ";\n");
  tc_cuda_put_skinny_launch(x, o, body, skinny, &text);
  t->launch(x, o, &text);
  put_follow(x, o, body, gather, apart, &text);
  tc_cuda_put_host_head(x->k, x->p, "@NAME@", "", text.text ? text.text : "", out);
  tc_put(out, text.text ? text.text : "");
  if (text.failed || conditions.failed || results.failed) out->failed = true;
  tc_buf_free(&text);
  tc_buf_free(&conditions);
  tc_buf_free(&results);
}

/* A body and what it declares, as it stands in a function template; nothing, if it is empty. */
static void put_whole_body(tc_cuda_product *x, const tc_cuda_operand *o,
                           void (*body)(tc_cuda_product *, const tc_cuda_operand *), tc_buf *out) {
  const bool checks = tc_print_checks(x->k);
  tc_buf text = {0};
  x->s.out = &text;
  if (body) body(x, o);
  if (text.text) {
    tc_putf(out, "  constexpr int TC_L = 1;\n  TC_TYPES\n%s", checks ? "  int bad = 0;\n" : "");
    tc_cuda_put_symbols(x->p, text.text, out);
    tc_putf(out, "%s%s", text.text, checks ? "  if (bad) *flag = 1;\n" : "");
  }
  out->failed |= text.failed;
  tc_buf_free(&text);
}

static const tc_cuda_template *template_of(const tc_cuda_product *x) {
  const bool same = x->mm->operand == x->mm->acc;
  switch (x->plan->template) {
  case TC_CUDA_CHAIN: return &tc_cuda_chain;
  case TC_CUDA_MMA: return &tc_cuda_mma;
  default:
    return !tc_mm_is_chain(x->mm) ? &tc_cuda_simt
           : same                 ? &tc_cuda_chain_wide
                                  : &tc_cuda_chain_simt;
  }
}

/* Device and host text; false: out of memory. */
static bool put_product(tc_cuda_product *x, const tc_cuda_operand *o, tc_buf *device, tc_buf *host,
                        uint32_t *functions) {
  tc_buf body = {0}, tensor = {0}, skinny = {0}, general = {0}, gather = {0}, all = {0}, library = {0};
  unsigned last = 0;
  const tc_cuda_template *t = template_of(x);
  bool failed = false;
  put_whole_body(x, o, t->body, &body);
  put_whole_body(x, o, t->tensor, &tensor);
  put_whole_body(x, o, t->general, &general);
  put_whole_body(x, o, tc_cuda_skinny, &skinny);
  tc_putf(&all, "%s%s%s%s", body.text ? body.text : "", tensor.text ? tensor.text : "", general.text ? general.text : "", skinny.text ? skinny.text : "");
  const tc_cuda_bodies b = {body.text ? body.text : "", tensor.text ? tensor.text : "", general.text ? general.text : "",
                            all.text ? all.text : ""};
  tc_print_fused(x->k, x->p, device);
  tc_cuda_put_approximate_math(x->k, true, device);
  *functions = t->put(x, o, &b, device);
  const uint32_t first_skinny = *functions;
  *functions = tc_cuda_put_skinny(x, o, &b, skinny.text ? skinny.text : "", first_skinny, device);
  if (tc_cuda_has_k_parts(x->k)) {
    const bool chain = tc_mm_is_chain(x->mm);
    put_whole_body(x, o, chain ? tc_cuda_chain_gather : tc_cuda_gather, &gather);
    const char *text = gather.text ? gather.text : "";
    last = *functions;
    if (chain) tc_cuda_chain_put_gather(x, &b, text, (*functions)++, device);
    else *functions = tc_cuda_put_gather(x, o, &b, text, last, device);
  }
  if (x->plan->library) *functions = put_library(x, o, *functions, t, device, &library, &failed);
  tc_cuda_put_approximate_math(x->k, false, device);
  put_launcher(x, b.all, o, t, library.text ? library.text : "", last, first_skinny, host);
  failed = failed || library.failed || body.failed || tensor.failed || skinny.failed || general.failed || gather.failed || all.failed;
  tc_buf_free(&gather);
  tc_buf_free(&body);
  tc_buf_free(&tensor);
  tc_buf_free(&skinny);
  tc_buf_free(&general);
  tc_buf_free(&all);
  tc_buf_free(&library);
  return !failed;
}

bool tc_cuda_put_matmul(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                        uint32_t *functions) {
  tc_cuda_product x;
  tc_cuda_operand o[TC_CUDA_OPERANDS];
  const bool ok =
      open_product(&x, k, p) && open_operands(&x, o) && put_product(&x, o, device, host, functions);
  for (int i = 0; i < x.s.naxis; ++i) tc_buf_free(&x.part[i]);
  free(x.s.depends);
  free(x.s.printed);
  return ok && !device->failed && !host->failed;
}
