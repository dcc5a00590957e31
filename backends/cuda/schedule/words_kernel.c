/* words_kernel.c - the words of a kernel, most of which are of products, and what refuses each. */
#include "backends/cuda/schedule/plan.h"
#include "backends/cuda/schedule/product.h"
#include "backends/cuda/schedule/sort.h"
#include "backends/cuda/schedule/words.h"

#include <stddef.h>

static const char *refuse_approximate(const tc_schedule_place *at) {
  return tc_cuda_stores_halves(at->k, at->p) ? NULL : "more than 16 bits of its results are seen";
}

static const tc_cuda_kernel_schedule *kernel_of(const tc_schedule_place *at) {
  return at->k->schedule->kernel;
}

static const char *refuse_product(const tc_schedule_place *at) {
  return at->k->kind == TC_KERNEL_MATMUL ? NULL : "the kernel is no product";
}

static const char *refuse_template(const tc_schedule_place *at) {
  const tc_mm_loop *mm = &at->k->mm;
  const int template = kernel_of(at)->template;
  if (refuse_product(at)) return refuse_product(at);
  if (template == TC_CUDA_CHAIN ? !tc_mm_is_chain(mm)
                                : template == TC_CUDA_MMA && tc_mm_is_chain(mm))
    return "chains of products have a template of their own";
  if (template == TC_CUDA_CHAIN && !tc_cuda_may_chain_mma(at->p, at->k))
    return "tensor cores multiply f16 and bf16, of widths that registers hold";
  return template != TC_CUDA_SIMT && !tc_cuda_may_mma(mm) ? "tensor cores multiply f16 and bf16"
                                                          : NULL;
}

static const char *refuse_operand(const tc_schedule_place *at, int which) {
  if (refuse_product(at)) return refuse_product(at);
  if (which >= tc_cuda_operands(&at->k->mm)) return "the product has no such inner product";
  return which == TC_CUDA_A && tc_mm_is_chain(&at->k->mm) ? "A is nowhere in memory" : NULL;
}

static const char *refuse_along_of(const tc_schedule_place *at, int which, const char *why) {
  static const uint8_t axes[TC_CUDA_OPERANDS] = {
      [TC_CUDA_A] = 1 << TC_CUDA_ALONG_M | 1 << TC_CUDA_ALONG_K,
      [TC_CUDA_B] = 1 << TC_CUDA_ALONG_N | 1 << TC_CUDA_ALONG_K,
      [TC_CUDA_INNER_A] = 1 << TC_CUDA_ALONG_M | 1 << TC_CUDA_ALONG_D,
      [TC_CUDA_INNER_B] = 1 << TC_CUDA_ALONG_K | 1 << TC_CUDA_ALONG_D,
      [TC_CUDA_SECOND_A] = 1 << TC_CUDA_ALONG_M | 1 << TC_CUDA_ALONG_D,
      [TC_CUDA_SECOND_B] = 1 << TC_CUDA_ALONG_K | 1 << TC_CUDA_ALONG_D,
  };
  if (refuse_operand(at, which)) return refuse_operand(at, which);
  return axes[which] >> kernel_of(at)->along[which] & 1 ? NULL : why;
}

static const char *refuse_width_of(const tc_schedule_place *at, int which) {
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  const int64_t width = s->width[which];
  tc_cuda_operand o;
  if (refuse_operand(at, which)) return refuse_operand(at, which);
  if (!tc_cuda_is_power(width)) return "it is no power of two";
  return !tc_cuda_open_operand(at->k, at->p, which, s->along[which], &o) || width > o.plan.width
             ? "sizes or 16-byte accesses do not allow so many elements"
             : NULL;
}

static const char *refuse_along_a(const tc_schedule_place *at) {
  return refuse_along_of(at, TC_CUDA_A, "A has no such axis");
}
static const char *refuse_along_b(const tc_schedule_place *at) {
  return refuse_along_of(at, TC_CUDA_B, "B has no such axis");
}
static const char *refuse_along_inner_a(const tc_schedule_place *at) {
  return refuse_along_of(at, TC_CUDA_INNER_A, "A of the inner product has no such axis");
}
static const char *refuse_along_inner_b(const tc_schedule_place *at) {
  return refuse_along_of(at, TC_CUDA_INNER_B, "B of the inner product has no such axis");
}
static const char *refuse_along_second_a(const tc_schedule_place *at) {
  return refuse_along_of(at, TC_CUDA_SECOND_A, "A of the second inner product has no such axis");
}
static const char *refuse_along_second_b(const tc_schedule_place *at) {
  return refuse_along_of(at, TC_CUDA_SECOND_B, "B of the second inner product has no such axis");
}
static const char *refuse_width_a(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_A); }
static const char *refuse_width_b(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_B); }
static const char *refuse_width_c(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_EPILOGUE); }
static const char *refuse_width_inner_a(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_INNER_A); }
static const char *refuse_width_inner_b(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_INNER_B); }
static const char *refuse_width_second_a(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_SECOND_A); }
static const char *refuse_width_second_b(const tc_schedule_place *at) { return refuse_width_of(at, TC_CUDA_SECOND_B); }

static const char *refuse_sides(const tc_schedule_place *at) {
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  const tc_schedule_list *l = &s->sides;
  if (refuse_product(at)) return refuse_product(at);
  for (uint32_t i = 0; i < l->n; ++i) {
    if (!tc_cuda_may_side(&at->k->mm, s->template, l->at[i]))
      return "the template has no tiles of that side";
    if (i && l->at[i] >= l->at[i - 1]) return "they descend";
  }
  return NULL;
}

static const char *refuse_library(const tc_schedule_place *at) {
  if (refuse_product(at)) return refuse_product(at);
  return tc_cuda_library_takes(at->k, at->p) ? NULL : "it takes no such operands";
}

static const char *refuse_short(const tc_schedule_place *at) {
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  if (!s->library) return "the library is not asked";
  return s->short_side > INT32_MAX || s->short_depth > INT32_MAX
             ? "it is more than an index of 32 bits counts"
             : NULL;
}

static const char *refuse_one_pass(const tc_schedule_place *at) {
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  if (!s->library) return "the library is not asked";
  return tc_cuda_may_one_pass(&at->k->mm, s->template) ? NULL
                                                       : "it is a choice for products of f32";
}

static const char *refuse_k_parts(const tc_schedule_place *at) {
  if (refuse_product(at)) return refuse_product(at);
  if (!tc_mm_is_chain(&at->k->mm) && kernel_of(at)->template != TC_CUDA_MMA) return "tensor cores do not make the product";
  if (kernel_of(at)->library) return "the library is asked for the product";
  return kernel_of(at)->k_parts > INT16_MAX ? "it is more than a grid counts" : NULL;
}

static const char *refuse_skinny(const tc_schedule_place *at) {
  if (refuse_product(at)) return refuse_product(at);
  return tc_cuda_skinny_ways(at->k, at->p, kernel_of(at)) ? NULL : "neither columns nor rows may be few, or their operands do not lie along k";
}

static const char *refuse_tf32(const tc_schedule_place *at) {
  if (!kernel_of(at)->library) return "the library is not asked";
  return at->k->mm.operand == TC_F32 ? NULL : "operands are not f32";
}

static const char *refuse_room(const tc_schedule_place *at) {
  enum { LEAST = 64 }; /* a warp collects as much again as it keeps */
  const int64_t room = kernel_of(at)->room;
  if (at->k->kind != TC_KERNEL_SORT) return "the kernel is no sort";
  if (!tc_cuda_is_power(room) || room < LEAST) return "it is no power of two from 64 on";
  return room > tc_cuda_sort_most(&at->k->sort) ? "shared memory has no room for so many numbers"
                                                : NULL;
}

const char *tc_cuda_lack_of_kernel(const tc_schedule_place *at) {
  enum { MMA_SIDES = 3, CHAIN_SIDES = 2 };
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  if (at->k->kind == TC_KERNEL_SORT && !s->room) return "no 'room' is said";
  if (at->k->kind != TC_KERNEL_MATMUL) return NULL;
  if (s->template <0) return "no 'template' is said";
  if (tc_mm_is_chain(&at->k->mm)) {
    if (s->along[TC_CUDA_INNER_A] < 0 || s->along[TC_CUDA_INNER_B] < 0 || s->along[TC_CUDA_B] < 0)
      return "'along-b', 'along-inner-a' and 'along-inner-b' are to be said";
    if (at->k->mm.inner.n > 1 && (s->along[TC_CUDA_SECOND_A] < 0 || s->along[TC_CUDA_SECOND_B] < 0))
      return "'along-second-a' and 'along-second-b' are to be said";
    return s->template != TC_CUDA_CHAIN || s->sides.n == CHAIN_SIDES
               ? NULL
               : "the template of chains has tiles of 128 and 64";
  }
  if (s->along[TC_CUDA_A] < 0 || s->along[TC_CUDA_B] < 0)
    return "'along-a' and 'along-b' are to be said";
  return s->template == TC_CUDA_MMA && s->sides.n != MMA_SIDES
             ? "the template for tensor cores has tiles of 256, 128 and 64"
             : NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define FIELD(field) offsetof(tc_cuda_kernel_schedule, field)

static const char *const templates[] = {
    [TC_CUDA_SIMT] = "simt", [TC_CUDA_MMA] = "mma", [TC_CUDA_CHAIN] = "chain", NULL};
static const char *const axes[] = {[TC_CUDA_ALONG_M] = "m",
                                   [TC_CUDA_ALONG_N] = "n",
                                   [TC_CUDA_ALONG_K] = "k",
                                   [TC_CUDA_ALONG_D] = "d",
                                   NULL};

const tc_schedule_word tc_cuda_kernel_words[TC_CUDA_KERNEL_WORDS] = {
    {"approximate", TC_WORD_FLAG, FIELD(approximate), 0, refuse_approximate, NULL, NULL},
    {"template", TC_WORD_NAME, FIELD(template), 0, refuse_template, templates, NULL},
    {"along-a", TC_WORD_NAME, FIELD(along[TC_CUDA_A]), 0, refuse_along_a, axes, NULL},
    {"along-b", TC_WORD_NAME, FIELD(along[TC_CUDA_B]), 0, refuse_along_b, axes, NULL},
    {"width-a", TC_WORD_COUNT, FIELD(width[TC_CUDA_A]), 1, refuse_width_a, NULL, NULL},
    {"width-b", TC_WORD_COUNT, FIELD(width[TC_CUDA_B]), 1, refuse_width_b, NULL, NULL},
    {"width-c", TC_WORD_COUNT, FIELD(width[TC_CUDA_EPILOGUE]), 1, refuse_width_c, NULL, NULL},
    {"along-inner-a", TC_WORD_NAME, FIELD(along[TC_CUDA_INNER_A]), 0, refuse_along_inner_a, axes, NULL},
    {"along-inner-b", TC_WORD_NAME, FIELD(along[TC_CUDA_INNER_B]), 0, refuse_along_inner_b, axes, NULL},
    {"width-inner-a", TC_WORD_COUNT, FIELD(width[TC_CUDA_INNER_A]), 1, refuse_width_inner_a, NULL, NULL},
    {"width-inner-b", TC_WORD_COUNT, FIELD(width[TC_CUDA_INNER_B]), 1, refuse_width_inner_b, NULL, NULL},
    {"along-second-a", TC_WORD_NAME, FIELD(along[TC_CUDA_SECOND_A]), 0, refuse_along_second_a, axes, NULL},
    {"along-second-b", TC_WORD_NAME, FIELD(along[TC_CUDA_SECOND_B]), 0, refuse_along_second_b, axes, NULL},
    {"width-second-a", TC_WORD_COUNT, FIELD(width[TC_CUDA_SECOND_A]), 1, refuse_width_second_a, NULL, NULL},
    {"width-second-b", TC_WORD_COUNT, FIELD(width[TC_CUDA_SECOND_B]), 1, refuse_width_second_b, NULL, NULL},
    {"index64", TC_WORD_FLAG, FIELD(index64), 0, refuse_product, NULL, NULL},
    {"sides", TC_WORD_COUNTS, FIELD(sides), 0, refuse_sides, NULL, NULL},
    {"library", TC_WORD_FLAG, FIELD(library), 0, refuse_library, NULL, NULL},
    {"tf32", TC_WORD_FLAG, FIELD(tf32), 0, refuse_tf32, NULL, NULL},
    {"short-side", TC_WORD_COUNT, FIELD(short_side), 0, refuse_short, NULL, NULL},
    {"short-depth", TC_WORD_COUNT, FIELD(short_depth), 0, refuse_short, NULL, NULL},
    {"room", TC_WORD_COUNT, FIELD(room), 0, refuse_room, NULL, NULL},
    {"one-pass", TC_WORD_FLAG, FIELD(one_pass), 0, refuse_one_pass, NULL, NULL},
    {"k-parts", TC_WORD_COUNT, FIELD(k_parts), 0, refuse_k_parts, NULL, NULL},
    {"skinny", TC_WORD_FLAG, FIELD(skinny), 0, refuse_skinny, NULL, NULL},
};
