/* serial.c - a backend in a shared object: every kernel as plain C on one thread.
 *
 * A nest is a loop for each axis; at each point everything is computed from memory, in the words of the
 * table of formulas.  That is slow, and shows what the loop IR means.  What entries look like, how
 * kernels are named and how they take sizes comes from the interface; the rest is here. */
#include "serial.h"

#include <string.h>

#include "backends/entry/entry.h"

/* ---- loops ----------------------------------------------------------------------------------- */

/* A split axis ends with its longer one. */
static void put_extent(writer *w, const tc_axis *axis) {
  tc_buf n = {0}, total = {0};
  tc_print_dim(w->p, axis->extent, &n);
  if (axis->of < 0) tc_put(w->out, n.text);
  else {
    tc_print_dim(w->p, axis->total, &total);
    tc_putf(w->out, "(%s < %s - i%d * (%s) ? %s : %s - i%d * (%s))", n.text, total.text, axis->of,
            n.text, n.text, total.text, axis->of, n.text);
  }
  tc_buf_free(&n);
  tc_buf_free(&total);
}

static void open_loops(writer *w, const tc_axis *axis, int n, uint32_t mask) {
  for (int i = 0; i < n; ++i) {
    if (!(mask >> i & 1)) continue;
    tc_putf(w->out, "%*sfor (int64_t i%d = 0, n%d = ", w->indent, "", i, i);
    put_extent(w, &axis[i]);
    tc_putf(w->out, "; i%d < n%d; ++i%d) {\n", i, i, i);
    w->indent += 2;
  }
}

static void close_loops(writer *w, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    w->indent -= 2;
    put_line(w, "}");
  }
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Accumulators of floating numbers are double; the others have their own dtype. */
static tc_dtype kept_in(tc_dtype d) { return tc_dtype_is_float(d) ? TC_F64 : d; }

static const char *accumulator(const tc_action *a, int i) {
  return tc_print_compute(kept_in(tc_accumulator_dtype(a->reducer, i, a->dtype)));
}

static void put_accumulator(writer *w, const tc_action *a) {
  for (int i = 0; i < tc_reducer_get(a->reducer)->n; ++i) {
    const tc_expr e = tc_accumulator_identity(a->reducer, i, kept_in(a->dtype));
    tc_buf id = {0};
    put_const(&e, &id);
    put_line(w, "tc_%s r%u = %s; /* %s */", accumulator(a, i), a->index + (uint32_t)i, id.text ? id.text : "0",
             tc_reducer_get(a->reducer)->text);
    tc_buf_free(&id);
  }
}

/* The rule of the reduction, of which RESULT 0 .. n-1 are the accumulators and n .. 2n-1 what joins them. */
static void put_combine(writer *w, const tc_action *a) {
  const uint32_t n = (uint32_t)tc_reducer_get(a->reducer)->n;
  tc_rule rule;
  if (!tc_combine_rule(a->reducer, kept_in(a->dtype), &rule)) w->out->failed = true;
  for (uint32_t i = 0; i < n; ++i)
    put_line(w, "const tc_%s b%u = v%u;", accumulator(a, (int)i), i, i ? a->further[i - 1].id : a->value.id);
  put_line(w, "{");
  w->indent += 2;
  put_rule(w, &rule, a->index, n);
  for (uint32_t i = 0; i < n; ++i) put_line(w, "r%u = v%u;", a->index + i, rule.value[i].id);
  w->indent -= 2;
  put_line(w, "}");
}

/* ---- actions, stages, nests ------------------------------------------------------------------ */

static void put_store(writer *w, const tc_action *a) {
  const char *t = tc_print_storage(w->p->buffer[w->k->buffer[a->buffer]].dtype);
  put_terms(w, &a->address, a->guard, "s");
  tc_putf(w->out, "%*sconst int64_t at = ", w->indent, "");
  put_place(w, &a->address, "s", w->out);
  tc_put(w->out, ";\n");
  tc_putf(w->out, "%*s", w->indent, "");
  if (a->guard.id) tc_putf(w->out, "if (v%u) ", a->guard.id);
  tc_putf(w->out, "b%u[at] = tc_store_%s(", a->buffer, t);
  if (a->kind == TC_ACT_ADD) tc_putf(w->out, "tc_load_%s(b%u[at]) + ", t, a->buffer);
  tc_putf(w->out, "v%u);\n", a->value.id);
}

static void put_action(writer *w, const tc_action *a) {
  put_line(w, "{");
  w->indent += 2;
  put_values(w, a);
  if (a->kind == TC_ACT_REDUCE || a->kind == TC_ACT_SCAN) put_combine(w, a);
  else put_store(w, a);
  w->indent -= 2;
  put_line(w, "}");
}

static void put_stage(writer *w, const tc_nest *n, const tc_stage *s) {
  for (uint32_t j = 0; j < s->naction; ++j)
    if (s->action[j].kind == TC_ACT_REDUCE || s->action[j].kind == TC_ACT_SCAN)
      put_accumulator(w, &s->action[j]);
  open_loops(w, n->axis, n->naxis, s->axes);
  for (uint32_t j = 0; j < s->naction; ++j) put_action(w, &s->action[j]);
  close_loops(w, s->axes);
}

static void put_nest(writer *w, const tc_nest *n) {
  const uint32_t parallel = (1u << n->nparallel) - 1;
  put_line(w, "{");
  w->indent += 2;
  open_loops(w, n->axis, n->nparallel, parallel);
  for (uint32_t i = 0; i < n->nstage; ++i) put_stage(w, n, &n->stage[i]);
  close_loops(w, parallel);
  w->indent -= 2;
  put_line(w, "}");
}

/* C[b,m,n] = sum_k A[b,m,k] * B[b,k,n], and what follows at each place. */
static void put_matmul(writer *w, const tc_mm_loop *mm) {
  const int k = mm->nbatch + 2;
  const bool floating = tc_dtype_is_float(mm->acc);
  open_loops(w, mm->axis, k, (1u << k) - 1);
  put_line(w, "%s c0 = 0;", floating ? "double" : "uint64_t");
  open_loops(w, mm->axis, k + 1, 1u << k);
  const tc_action both = {.kind = TC_ACT_REDUCE, .value = mm->a, .further = {mm->b}};
  put_values(w, &both);
  put_line(w, "c0 += (%s)v%u * v%u;", floating ? "double" : "uint64_t", mm->a.id, mm->b.id);
  close_loops(w, 1u << k);
  put_line(w, "const tc_%s r0 = (tc_%s)c0;", tc_print_compute(mm->acc), tc_print_compute(mm->acc));
  for (uint32_t j = 0; j < mm->epilogue.naction; ++j) put_action(w, &mm->epilogue.action[j]);
  close_loops(w, (1u << k) - 1);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void put_scalar(uint32_t i, bool is_float, void *out) {
  tc_putf(out, "  const %s a%u = scalar[%u].%s;\n", is_float ? "double" : "int64_t", i, i,
          is_float ? "f" : "i");
}

static void put_arguments(writer *w) {
  tc_dims *dims = tc_graph_dims(w->p->graph);
  for (uint32_t i = 0; i < w->k->nbuffer; ++i) {
    const char *t = tc_print_storage(w->p->buffer[w->k->buffer[i]].dtype);
    put_line(w, "tc_%s *const b%u = buf[%u];", t, i, i);
  }
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); ++i)
    tc_putf(w->out, "  const int64_t s_%s = sym[%u];\n", tc_dims_sym(dims, i)->name, i);
  tc_print_each_scalar(w->k, w->p, put_scalar, w->out);
}

static bool supports(const tc_kernel *k, const tc_program *p) {
  (void)p;
  return k->kind == TC_KERNEL_CALL || has_values(k); /* the entry calls functions */
}

static bool emit_kernel(const tc_kernel *k, const tc_program *p, tc_kernel_text *out) {
  if (k->kind == TC_KERNEL_CALL) {
    tc_put(&out->name, k->name);
    tc_put(&out->text, "");
    return !out->name.failed && !out->text.failed;
  }
  tc_buf raw = {0};
  writer w = {k, p, &raw, 2};
  tc_print_fused(k, p, &raw);
  tc_put(
      &raw,
      "static int @NAME@_body(void *const *buf, const int64_t *sym, const tc_value *scalar) {\n");
  put_arguments(&w);
  put_line(&w, "int bad = 0;");
  if (k->kind == TC_KERNEL_MATMUL) put_matmul(&w, &k->mm);
  for (uint32_t i = 0; k->kind == TC_KERNEL_NESTS && i < k->nnest; ++i) put_nest(&w, &k->nest[i]);
  put_line(&w, "return bad;");
  tc_put(
      &raw,
      "}\n"
      "int TC_NAME(@NAME@_serial)(void *const *buf, const int64_t *sym, const tc_value *scalar) {\n"
      "  const unsigned env = tc_hold();\n"
      "  const int bad = @NAME@_body(buf, sym, scalar);\n"
      "  tc_restore(env);\n"
      "  return bad;\n}\n");
  out->levels = 1u << TC_ISA_V2; /* for every x86-64 */
  const bool ok = !raw.failed && tc_print_finish(k, raw.text, out, &out->text);
  tc_buf_free(&raw);
  return ok;
}

static bool complete(const char *kernels, tc_buf *out) {
  put_prelude(out);
  tc_put(out, kernels);
  return !out->failed;
}

/* ---- the entry ------------------------------------------------------------------------------- */

static void declare(const tc_entry *e) {
  for (uint32_t k = 0; k < e->p->nkernel; ++k)
    if (e->p->kernel[k].kind != TC_KERNEL_CALL)
      tc_putf(e->out, "extern tcrt_kernel %s_serial_v2 TC_HIDDEN;\n", e->name[k]);
}

/* Rows that stay between stages: behind the arena. */
static bool scratch(const tc_entry *e, uint32_t k, tc_buf *out) {
  for (uint32_t i = 0; i < e->p->kernel[k].nbuffer; ++i) {
    const tc_buffer *b = &e->p->buffer[e->p->kernel[k].buffer[i]];
    if (b->kind != TC_BUF_LOCAL) continue;
    tc_putf(out, "  const int64_t local@_%u = scratch@;\n  scratch@ += ((", i);
    tc_print_dim(e->p, b->numel, out);
    tc_putf(out, ") * %zu + 63) / 64 * 64;\n", tc_dtype_bytes(b->dtype));
  }
  return out->len > 0;
}

static void local(const tc_entry *e, uint32_t k, uint32_t i) {
  tc_putf(e->out, "ws + local%u_%u", e->scratch[k], i);
}

static void call(const tc_entry *e, uint32_t k) {
  tc_putf(e->out, "%s_serial_v2(buf, own_sym, own_scalar)", e->name[k]);
}

static const tc_entry_style entry = {
    .workspace = "tcrt_workspace(",
    .create = "tcrt_new(",
    .pack = "tcrt_pack(",
    .numbered = true,
    .call = call,
    .failure = "TC_MISS_INDEX",
    .late = "tcrt_late(f)",
    .declare = declare,
    .scratch = scratch,
    .local = local,
};

/* One thread: nothing is cut to feed others. */
static const tc_target target = {
    .name = "one thread", .split = 16384, .least_part = 1, .few_rows = 1, .few_columns = 1};

static const tc_backend serial = {
    .name = "serial",
    .about = "plain C on one thread, a sample of how a backend is written",
    .device = TC_CPU,
    .device_name = "cpu",
    .device_label = "CPU",
    .target = &target,
    .entry = &entry,
    .supports = supports,
    .emit_kernel = emit_kernel,
    .complete = complete,
};
TC_BACKEND_MODULE(serial);
