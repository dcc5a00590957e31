/* entry.c - what entries of the CUDA backend say.
 *
 * A call is what stands between tcrt_cuda_begin and tcrt_cuda_end: everything is queued on the
 * thread's stream, nothing waits.  Every way out behind the begin goes through the end. */
#include "backends/cuda/unit.h"

#include "backends/cuda/emit.h"
#include "backends/cuda/options.h"
#include "backends/cuda/schedule/product.h"

extern const char tc_entry_cuda[]; /* cuda.h, embedded */

static const char helpers[] =
    "\nstatic inline __attribute__((unused)) int tc_is_on_cuda(const struct tc_tensor *x) {\n"
    "  return x && x->key.device == TC_CUDA;\n}\n"
    "\ntc_device tc_default_device(void);\n"
    "static inline __attribute__((unused)) int tc_creates_on_cuda(void) {\n"
    "  return (tc_default_device() & 255) == TC_CUDA;\n}\n"
    "\n/* x to memory with rows `pitch` elements apart. */\n"
    "static __attribute__((noinline, cold, unused)) int tc_cuda_pack_rows(const tcrt_cuda_call *c, "
    "const struct tc_tensor *x, void *to, int64_t pitch) {\n"
    "  int64_t stride[TC_MAX_RANK];\n"
    "  stride[x->key.rank - 1] = 1;\n"
    "  for (int i = x->key.rank - 1; i > 0; pitch *= x->dim[--i]) stride[i - 1] = pitch;\n"
    "  return tcrt_cuda_copy(c, x, to, stride);\n}\n"
    "\n/* The elements of x from row-major memory. */\n"
    "static __attribute__((noinline, cold, unused)) int tc_cuda_unpack(const tcrt_cuda_call *c, "
    "const struct tc_tensor *x, void *from) {\n"
    "  struct tc_tensor packed = *x;\n"
    "  int64_t step = 1;\n"
    "  packed.data = from;\n"
    "  for (int i = x->key.rank; i-- > 0; step *= x->dim[i]) packed.stride[i] = step;\n"
    "  return tcrt_cuda_copy(c, &packed, x->data, x->stride);\n}\n"
    "\n/* A launch failed behind one that wrote an operand: the body must not run. */\n"
    "static __attribute__((noinline, cold, unused)) int tc_cuda_late(tcrt_function *f, int code) "
    "{\n"
    "  tcrt_fail(\"%s: a kernel could not be launched (CUDA error %d)\", f->name, code);\n"
    "  return 1;\n}\n";

static void put_helpers(tc_buf *out) {
  tc_entry_put_header(tc_entry_cuda, out);
  tc_put(out, helpers);
  tc_put(out, tc_cuda_worth_helper);
  tc_cuda_put_launch_helpers(out);
}

static void put_begin(const tc_entry *e) {
  tc_putf(e->out,
          "  tcrt_cuda_call call;\n"
          "  if (!tcrt_cuda_begin(&call, %s)) return tcrt_miss(f, TC_MISS_DEVICE, -1, -1, 0, 0);\n"
          "  int bad = 0;\n",
          tc_graph_input_count(e->p->graph) ? "in[0]" : "0");
  if (tc_cuda_records(e->f)) tc_put(e->out, "  tcrt_cuda_record(&call, f);\n");
}

/* Sums of parts of k, or of a chain's keys, where these are shared out. */
static bool put_scratch(const tc_entry *e, uint32_t k, tc_buf *out) {
  if (!tc_cuda_has_k_parts(&e->p->kernel[k])) return false;
  tc_put(out, "  const int64_t k_parts@ = ");
  tc_cuda_put_most_k_parts(&e->p->kernel[k], e->p, "call.info", out);
  tc_put(out, ";\n  const int64_t k_sums@ = scratch@;\n  scratch@ += (");
  tc_cuda_put_k_sums_bytes(&e->p->kernel[k], e->p, "k_parts@", out);
  tc_put(out, " + 63) / 64 * 64;\n");
  return true;
}

static void put_more(const tc_entry *e, uint32_t k) {
  if (e->scratch[k]) tc_putf(e->out, ", ws + k_sums%u", e->scratch[k]);
}

static void put_call(const tc_entry *e, uint32_t k) {
  tc_putf(e->out, "%s(&call, buf, own_sym, own_scalar)", e->name[k]);
}

const tc_entry_style tc_cuda_entry_style = {
    .helpers = put_helpers,
    .has_operand = "tc_is_on_cuda(in[0])",
    .creates = "tc_creates_on_cuda()",
    .numbered = true,
    .workspace = "tcrt_cuda_workspace(&call, ",
    .create = "tcrt_cuda_new(&call, ",
    .pack = "tcrt_cuda_pack(&call, ",
    .pitched = true,
    .row_bytes = tc_cuda_row_bytes,
    .worth = tc_cuda_put_worth,
    .pack_rows = "tc_cuda_pack_rows(&call, ",
    .unpack = "tc_cuda_unpack(&call, ",
    .call = put_call,
    .scratch = put_scratch,
    .more = put_more,
    .side_by_side = tc_cuda_records,
    .after = "tcrt_cuda_after(&call, ",
    .after_all = "tcrt_cuda_after_all(&call)",
    .failure = "TC_MISS_MEMORY",
    .all_can_fail = true,
    .late = "tc_cuda_late(f, bad)",
    .leave = "tcrt_cuda_end(&call, 1)",
    .end = "bad = tcrt_cuda_end(&call, bad)",
    .begin = put_begin,
};
