/* aligned.c - operands of products of halves whose rows do not begin at multiples of 16 bytes, as
 * those of odd width.
 *
 * Copies in the background are of 16 bytes, and so are the library's; without them a product takes
 * several times as long.  Where it does much with each element of an operand, a copy whose rows are
 * aligned costs less than it saves: what frameworks call shape padding. */
#include "backends/cuda/emit.h"
#include "backends/cuda/schedule/product.h"
#include "backends/cuda/unit.h"

enum { ROW_BYTES = 16 };

/* Numbers of an H100: products of unaligned rows reach 68 multiplications a picosecond, ours and the
 * library's, those of aligned ones 300; memory has 1.45 halves in it, of which products of unaligned rows take 0.5; a copy moves
 * each element twice, to be read once more, and is a launch.  Chains of unaligned rows go element by element: of an H200 they
 * reach 4 to 39 multiplications, and take 5 to 20 ps for an element of operands and result; aligned
 * ones 200. */
const char tc_cuda_worth_helper[] =
    "\n/* Is more time saved, in ps, than copies of so many elements take? */\n"
    "static inline __attribute__((unused)) int tc_cuda_saves_copies(double saved, double copied, int copies) {\n"
    "  return saved > copied * 3 / 1.45 + copies * 3e6;\n}\n"
    "\n/* Is a product of so many multiplications, which reads and writes so many elements, faster by\n"
    " * more than copies of so many take? */\n"
    "static inline __attribute__((unused)) int tc_cuda_copies_pay(double products, double elements, "
    "double copied, int copies) {\n"
    "  const double memory = elements / 1.45, single = elements / 0.5, before = products / 68, after = products / 300; /* ps */\n"
    "  const double saved = (before > single ? before : single) - (after > memory ? after : memory);\n"
    "  return tc_cuda_saves_copies(saved, copied, copies);\n}\n"
    "\n/* Of a chain of products? */\n"
    "static inline __attribute__((unused)) int tc_cuda_chain_copies_pay(double products, double "
    "elements, double copied, int copies) {\n"
    "  const double saved = products / 20 + elements * 10 - products / 200 - elements / 1.45;\n"
    "  return tc_cuda_saves_copies(saved, copied, copies);\n}\n";

/* Does the kernel multiply operand i? */
static bool multiplies(const tc_entry *e, const tc_kernel *k, uint32_t i) {
  return tc_cuda_multiplies_rows(k, e->p, (uint32_t)tc_entry_input_buffer(e->p, i));
}

int tc_cuda_row_bytes(const tc_entry *e, uint32_t i) {
  for (uint32_t k = 0; k < e->p->nkernel; ++k)
    if (multiplies(e, &e->p->kernel[k], i)) return ROW_BYTES;
  return 0;
}

/* ... of which there may be copies: not every operand has a pitch. */
static bool copies(const tc_entry *e, const tc_kernel *k, uint32_t i) {
  return multiplies(e, k, i) && tc_entry_row_bytes(e, i);
}

/* ---- what a product does --------------------------------------------------------------------- */

/* The number of points along these axes, as a C expression of type double. */
static void put_points(const tc_entry *e, const tc_mm_loop *mm, uint32_t axes) {
  tc_put(e->out, "1.0");
  for (int i = 0; i < tc_mm_first_part(mm); ++i)
    if (axes >> i & 1) {
      tc_put(e->out, " * (");
      tc_entry_dim(e, mm->axis[i].extent);
      tc_put(e->out, ")");
    }
}

/* Axes along which an array is indexed: of parts, the whole. */
static uint32_t axes_of(const tc_mm_loop *mm, const tc_address *a) {
  uint32_t axes = 0;
  for (int i = 0; i < tc_mm_axes(mm); ++i)
    if (!tc_dim_is(a->coef[i], 0)) axes |= 1u << (i < tc_mm_first_part(mm) ? i : mm->axis[i].of);
  return axes;
}

/* The axes of an array [batch, x, y]. */
static uint32_t axes_with(const tc_mm_loop *mm, int x, int y) {
  return ((1u << mm->nbatch) - 1) | 1u << x | 1u << y;
}

static int axis_along(const tc_mm_loop *mm, tc_cuda_along along) { return mm->nbatch + (int)along; }

/* Multiplications.  Each inner product of a chain has an axis of its own in the place of n. */
static void put_products(const tc_entry *e, const tc_mm_loop *mm) {
  const int m = axis_along(mm, TC_CUDA_ALONG_M), n = axis_along(mm, TC_CUDA_ALONG_N), k = axis_along(mm, TC_CUDA_ALONG_K);
  put_points(e, mm, axes_with(mm, m, k) | 1u << n);
  if (tc_mm_has_beside(mm)) tc_put(e->out, " * 2");
  for (int i = 0; i < mm->inner.n; ++i) {
    tc_put(e->out, " + ");
    put_points(e, mm, axes_with(mm, m, k) | 1u << tc_mm_deep(mm, i));
  }
}

static void put_elements(const tc_entry *e, const tc_kernel *k) {
  const tc_mm_loop *mm = &k->mm;
  put_points(e, mm, axes_with(mm, axis_along(mm, TC_CUDA_ALONG_M), axis_along(mm, TC_CUDA_ALONG_N)));
  for (int i = 0; i < tc_cuda_operands(mm); ++i) {
    const tc_val v = tc_cuda_operand_value(mm, i);
    if (!v.id || k->expr[v.id].kind != TC_EX_LOAD) continue;
    tc_put(e->out, " + ");
    put_points(e, mm, axes_of(mm, &k->expr[v.id].address));
  }
}

/* Copies of its operands: their elements, or how many they are. */
static void put_copies(const tc_entry *e, const tc_kernel *k, bool elements) {
  tc_put(e->out, "0");
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    if (!copies(e, k, i)) continue;
    tc_putf(e->out, " + off%u", i);
    if (!elements) continue;
    tc_put(e->out, " * 1.0 * (");
    tc_entry_dim(e, e->p->buffer[tc_entry_input_buffer(e->p, i)].numel);
    tc_put(e->out, ")");
  }
}

static void put_pays(const tc_entry *e, uint32_t k) {
  const tc_kernel *kernel = &e->p->kernel[k];
  tc_putf(e->out, "  const int pays%u = (", k);
  put_copies(e, kernel, false);
  tc_putf(e->out, ") && tc_cuda_%scopies_pay(", tc_mm_is_chain(&kernel->mm) ? "chain_" : "");
  put_products(e, &kernel->mm);
  tc_put(e->out, ",\n    ");
  put_elements(e, kernel);
  tc_put(e->out, ",\n    ");
  put_copies(e, kernel, true);
  tc_put(e->out, ", ");
  put_copies(e, kernel, false);
  tc_put(e->out, ");\n");
}

void tc_cuda_put_worth(const tc_entry *e) {
  const uint32_t n = tc_graph_input_count(e->p->graph);
  for (uint32_t k = 0; k < e->p->nkernel; ++k) {
    bool any = false;
    for (uint32_t i = 0; i < n; ++i) any = any || copies(e, &e->p->kernel[k], i);
    if (any) put_pays(e, k);
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (!tc_entry_row_bytes(e, i)) continue;
    tc_putf(e->out, "  const int worth%u = 0", i);
    for (uint32_t k = 0; k < e->p->nkernel; ++k)
      if (copies(e, &e->p->kernel[k], i)) tc_putf(e->out, " | pays%u", k);
    tc_put(e->out, ";\n");
  }
}
