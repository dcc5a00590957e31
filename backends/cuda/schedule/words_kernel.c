/* words_kernel.c - the words of a kernel, most of which are of products, and what refuses each. */
#include "backends/cuda/schedule/plan.h"
#include "backends/cuda/schedule/product.h"
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
  if (refuse_product(at)) return refuse_product(at);
  return kernel_of(at)->template == TC_CUDA_MMA && !tc_cuda_may_mma(&at->k->mm)
             ? "tensor cores multiply f16 and bf16"
             : NULL;
}

static const char *refuse_along_a(const tc_schedule_place *at) {
  if (refuse_product(at)) return refuse_product(at);
  return kernel_of(at)->along_a == TC_CUDA_ALONG_N ? "A has no such axis" : NULL;
}

static const char *refuse_along_b(const tc_schedule_place *at) {
  if (refuse_product(at)) return refuse_product(at);
  return kernel_of(at)->along_b == TC_CUDA_ALONG_M ? "B has no such axis" : NULL;
}

static const char *refuse_width_of(const tc_schedule_place *at, int which, int64_t width) {
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  tc_cuda_operand o;
  if (refuse_product(at)) return refuse_product(at);
  if (!tc_cuda_is_power(width)) return "it is no power of two";
  return !tc_cuda_open_operand(at->k, at->p, which, which ? s->along_b : s->along_a, &o) ||
                 width > o.plan.width
             ? "sizes or 16-byte accesses do not allow so many elements"
             : NULL;
}

static const char *refuse_width_a(const tc_schedule_place *at) {
  return refuse_width_of(at, 0, kernel_of(at)->width_a);
}

static const char *refuse_width_b(const tc_schedule_place *at) {
  return refuse_width_of(at, 1, kernel_of(at)->width_b);
}

static const char *refuse_width_c(const tc_schedule_place *at) {
  return refuse_width_of(at, 2, kernel_of(at)->width_c);
}

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
  return tc_cuda_may_one_pass(&at->k->mm, s->template) ? NULL : "it is a choice for products of f32";
}

const char *tc_cuda_lack_of_kernel(const tc_schedule_place *at) {
  enum { MMA_SIDES = 3 };
  const tc_cuda_kernel_schedule *s = kernel_of(at);
  if (at->k->kind != TC_KERNEL_MATMUL) return NULL;
  if (s->template <0) return "no 'template' is said";
  if (s->along_a < 0 || s->along_b < 0) return "'along-a' and 'along-b' are to be said";
  return s->template == TC_CUDA_MMA && s->sides.n != MMA_SIDES
             ? "the template for tensor cores has tiles of 256, 128 and 64"
             : NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define FIELD(field) offsetof(tc_cuda_kernel_schedule, field)

static const char *const templates[] = {[TC_CUDA_SIMT] = "simt", [TC_CUDA_MMA] = "mma", NULL};
static const char *const axes[] = {
    [TC_CUDA_ALONG_M] = "m", [TC_CUDA_ALONG_N] = "n", [TC_CUDA_ALONG_K] = "k", NULL};

const tc_schedule_word tc_cuda_kernel_words[TC_CUDA_KERNEL_WORDS] = {
    {"approximate", TC_WORD_FLAG, FIELD(approximate), 0, refuse_approximate, NULL},
    {"template", TC_WORD_NAME, FIELD(template), 0, refuse_template, templates},
    {"along-a", TC_WORD_NAME, FIELD(along_a), 0, refuse_along_a, axes},
    {"along-b", TC_WORD_NAME, FIELD(along_b), 0, refuse_along_b, axes},
    {"width-a", TC_WORD_COUNT, FIELD(width_a), 1, refuse_width_a, NULL},
    {"width-b", TC_WORD_COUNT, FIELD(width_b), 1, refuse_width_b, NULL},
    {"width-c", TC_WORD_COUNT, FIELD(width_c), 1, refuse_width_c, NULL},
    {"index64", TC_WORD_FLAG, FIELD(index64), 0, refuse_product, NULL},
    {"sides", TC_WORD_COUNTS, FIELD(sides), 0, refuse_sides, NULL},
    {"library", TC_WORD_FLAG, FIELD(library), 0, refuse_library, NULL},
    {"short-side", TC_WORD_COUNT, FIELD(short_side), 0, refuse_short, NULL},
    {"short-depth", TC_WORD_COUNT, FIELD(short_depth), 0, refuse_short, NULL},
    {"one-pass", TC_WORD_FLAG, FIELD(one_pass), 0, refuse_one_pass, NULL},
};
