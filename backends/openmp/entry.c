/* entry.c - what entries of the OpenMP backend say: kernels by ISA level, memory by threads. */
#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

/* A machine below it is too old for the kernel. */
static int lowest_level(uint32_t levels) {
  for (int i = 0; i < TC_ISA_COUNT; ++i)
    if (levels >> i & 1) return i;
  return TC_ISA_COUNT;
}

/* The texts of a kernel, one for each level of the machine: the best at or below it. */
static void put_table(const tc_entry *e, uint32_t k) {
  for (int i = 0; i < TC_ISA_COUNT; ++i)
    if (e->levels[k] >> i & 1)
      tc_putf(e->out, "extern tcrt_kernel %s_%s TC_HIDDEN;\n", e->name[k], tc_isa_name[i]);
  tc_putf(e->out, "static tcrt_kernel *const %s[TC_ISA_COUNT] = {", e->name[k]);
  for (int i = 0, best = -1; i < TC_ISA_COUNT; ++i) {
    if (e->levels[k] >> i & 1) best = i;
    tc_put(e->out, i ? ", " : "");
    if (best < 0) tc_put(e->out, "0");
    else tc_putf(e->out, "%s_%s", e->name[k], tc_isa_name[best]);
  }
  tc_put(e->out, "};\n");
}

static void put_tables(const tc_entry *e) {
  for (uint32_t k = 0; k < e->p->nkernel; ++k) {
    if (e->p->kernel[k].kind == TC_KERNEL_CALL || e->p->kernel[k].joins) continue;
    bool fresh; /* else another launch of the unit has it */
    if (!tc_names_number(e->declared, e->name[k], &fresh)) e->out->failed = true;
    if (fresh) put_table(e, k);
  }
}

static void put_refuse(const tc_entry *e) {
  int least = 0;
  for (uint32_t k = 0; k < e->p->nkernel; ++k)
    if (e->p->kernel[k].kind != TC_KERNEL_CALL && lowest_level(e->levels[k]) > least)
      least = lowest_level(e->levels[k]);
  if (least > 0) tc_putf(e->out, " | (tcrt_isa < %d)", least);
}

static bool is_threaded(const tc_entry *e) {
  for (uint32_t k = 0; k < e->p->nkernel; ++k)
    if (e->p->kernel[k].kind == TC_KERNEL_MATMUL || e->p->kernel[k].kind == TC_KERNEL_SORT)
      return true;
  for (uint32_t i = 0; i < e->p->nbuffer; ++i)
    if (tc_buffer_of_thread(&e->p->buffer[i]) && !tc_omp_on_stack(&e->p->buffer[i])) return true;
  return !tc_dim_is(e->p->workspace, 0);
}

/* Packed panels that several kernels use: `packed<i>`, of which kernel i is the first, and nothing
 * is there when the function begins. */
static void put_kept(const tc_entry *e, bool begin) {
  for (uint32_t k = 0; k < e->p->nkernel; ++k) {
    const tc_kernel *kernel = &e->p->kernel[k];
    if (kernel->mm.packed != k + 1) continue;
    if (begin) {
      tc_putf(e->out, "  *(int64_t *)(ws + packed%u) = 0;\n", k);
      continue;
    }
    tc_buf shared = {0}, each = {0};
    tc_omp_matmul_scratch(kernel, e->p, &shared, &each);
    tc_putf(e->out, "  const int64_t packed%u = arena;\n  arena += ((%s) + 63) / 64 * 64;\n", k,
            shared.text ? shared.text : "0");
    tc_buf_free(&shared);
    tc_buf_free(&each);
  }
}

/* LOCAL and PRIVATE buffers of all threads, the packed panels of a matmul, and what a sort
 * moves. */
static bool put_scratch(const tc_entry *e, uint32_t k, tc_buf *out) {
  const tc_kernel *kernel = &e->p->kernel[k];
  tc_buf shared = {0}, each = {0};
  for (uint32_t i = 0; i < kernel->nbuffer; ++i) {
    const tc_buffer *b = &e->p->buffer[kernel->buffer[i]];
    if (!tc_buffer_of_thread(b) || tc_omp_on_stack(b)) continue;
    tc_putf(out, "  const int64_t local@_%u = scratch@;\n  scratch@ += threads * ", i);
    tc_omp_local_bytes(kernel, e->p, b, out);
    tc_put(out, ";\n");
  }
  if (kernel->kind == TC_KERNEL_MATMUL) tc_omp_matmul_scratch(kernel, e->p, &shared, &each);
  if (kernel->kind == TC_KERNEL_SORT) tc_omp_sort_scratch(kernel, e->p, &each);
  if (each.len && kernel->mm.packed)
    tc_putf(out, "  const int64_t shared@ = packed%u;\n", kernel->mm.packed - 1);
  else if (each.len)
    tc_putf(out, "  const int64_t shared@ = scratch@;\n  scratch@ += ((%s) + 63) / 64 * 64;\n",
            shared.len ? shared.text : "0");
  if (each.len)
    tc_putf(out,
            "  const int64_t each@ = scratch@;\n  scratch@ += threads * (((%s) + 63) / 64 * "
            "64);\n",
            each.text);
  tc_buf_free(&shared);
  tc_buf_free(&each);
  return out->len > 0;
}

static void put_local(const tc_entry *e, uint32_t k, uint32_t i) {
  if (tc_omp_on_stack(&e->p->buffer[e->p->kernel[k].buffer[i]])) tc_put(e->out, "0");
  else tc_putf(e->out, "ws + local%u_%u", e->scratch[k], i);
}

static void put_more(const tc_entry *e, uint32_t k) {
  const tc_kernel_kind kind = e->p->kernel[k].kind;
  if ((kind == TC_KERNEL_MATMUL || kind == TC_KERNEL_SORT) && e->scratch[k])
    tc_putf(e->out, ", ws + shared%u, ws + each%u", e->scratch[k], e->scratch[k]);
}

static void put_call(const tc_entry *e, uint32_t k) {
  tc_putf(e->out, "%s[tcrt_isa](buf, own_sym, own_scalar)", e->name[k]);
}

const tc_entry_style tc_omp_entry_style = {
    .numbered = true,
    .workspace = "tcrt_workspace(",
    .create = "tcrt_new(",
    .pack = "tcrt_pack(",
    .pitched = true,
    .unpack = "tcrt_unpack(",
    .call = put_call,
    .failure = "TC_MISS_INDEX",
    .late = "tcrt_late(f)",
    .declare = put_tables,
    .refuse = put_refuse,
    .kept = put_kept,
    .scratch = put_scratch,
    .threaded = is_threaded,
    .local = put_local,
    .more = put_more,
};
