/* launch.c - prints the launches of a variant, and what follows from failed ones.
 *
 * The body may run after a failure only while no operand has been written in place.  So failures
 * are looked at in front of the first kernel that writes one; lowering sees to it that no kernel
 * from there on has index operands (lower/memory/inplace.c). */
#include "backends/entry/entry.h"
#include "backends/print/print.h"

/* The pointer that kernel k takes for buffer i. */
static void put_argument(const tc_entry *e, uint32_t k, uint32_t i) {
  const tc_kernel *kernel = &e->p->kernel[k];
  if (tc_dim_is(kernel->base[i], 0)) {
    tc_entry_buffer(e, k, i);
    return;
  }
  tc_put(e->out, "(void *)((uintptr_t)(");
  tc_entry_buffer(e, k, i);
  tc_put(e->out, ") + (uintptr_t)(");
  tc_entry_dim(e, kernel->base[i]);
  tc_putf(e->out, ") * %zu)", tc_dtype_bytes(e->p->buffer[kernel->buffer[i]].dtype));
}

static bool can_fail(const tc_entry *e, uint32_t k) {
  return e->style->all_can_fail || tc_print_checks(&e->p->kernel[k]);
}

static void put_scalar(const tc_entry *e, uint32_t i) {
  const uint32_t n = tc_graph_scalar_count(e->p->graph);
  if (i < n) tc_putf(e->out, "scalar[%u]", i);
  else tc_putf(e->out, "{.f = %a}", e->p->constant[i - n]);
}

/* A symbol of the program, as kernel k has it. */
static void put_symbol(const tc_entry *e, uint32_t k, uint32_t sym) {
  const tc_kernel *kernel = &e->p->kernel[k];
  for (uint32_t i = 0; i < kernel->nsize; ++i)
    if (kernel->size[i].sym == sym) {
      tc_entry_dim(e, kernel->size[i].value);
      return;
    }
  tc_putf(e->out, "s_%s", tc_dims_sym(e->dims, sym)->name);
}

static void put_own_symbols(const tc_entry *e, uint32_t k) {
  const tc_kernel_text *t = &e->kernel[k];
  tc_putf(e->out, "    %s",
          t->nsym ? "const int64_t own_sym[] = {" : "const int64_t *const own_sym = 0");
  for (uint32_t i = 0; i < t->nsym; ++i) {
    if (i) tc_put(e->out, ", ");
    put_symbol(e, k, t->sym[i]);
  }
  tc_put(e->out, t->nsym ? "};\n" : ";\n");
}

/* Of kernels first to end - 1, one behind the other. */
static void put_own_scalars(const tc_entry *e, uint32_t first, uint32_t end) {
  const uint32_t n = e->kernel[first].nscalar;
  tc_put(e->out,
         n ? "    const tc_value own_scalar[] = {" : "    const tc_value *const own_scalar = 0");
  for (uint32_t k = first; k < end; ++k)
    for (uint32_t i = 0; i < n; ++i) {
      tc_put(e->out, k > first || i ? ", " : "");
      put_scalar(e, e->kernel[k].scalar[i]);
    }
  tc_put(e->out, n ? "};\n" : ";\n");
}

/* ---- siblings ---------------------------------------------------------------------------------
 *
 * The kernel of siblings first to end - 1 takes the arguments of each behind those of the one in
 * front:
 *
 *   buf     buffers
 *   sym     the number of siblings, of symbols and of scalars of one; then for each its work, and symbols
 *   scalar  scalars */
static void put_sibling_symbols(const tc_entry *e, uint32_t first, uint32_t end) {
  const tc_kernel_text *t = &e->kernel[first];
  tc_putf(e->out, "    const int64_t own_sym[] = {%u, %u, %u", end - first, t->nsym, t->nscalar);
  for (uint32_t k = first; k < end; ++k) {
    tc_put(e->out, ", ");
    tc_entry_dim(e, e->p->kernel[k].nest->work);
    for (uint32_t i = 0; i < t->nsym; ++i) {
      tc_put(e->out, ", ");
      put_symbol(e, k, e->kernel[k].sym[i]);
    }
  }
  tc_put(e->out, "};\n");
}

/* What each launch waits for, as one table. */
static void put_dependences(const tc_entry *e) {
  tc_put(e->out, "  static const uint32_t after[] = {");
  for (uint32_t i = 0; i < e->depends->n; ++i)
    tc_putf(e->out, "%s%u", i ? ", " : "", e->depends->on[i]);
  tc_putf(e->out, "%s};\n", e->depends->n ? "" : "0");
}

static void put_after(const tc_entry *e, uint32_t launch) {
  const uint32_t first = e->depends->first[launch];
  tc_putf(e->out, "  %safter + %u, %u);\n", e->style->after, first,
          e->depends->first[launch + 1] - first);
}

static void put_buffers(const tc_entry *e, uint32_t first, uint32_t end) {
  const uint32_t n = e->p->kernel[first].nbuffer;
  tc_put(e->out, "    void *const buf[] = {");
  for (uint32_t k = first; k < end; ++k)
    for (uint32_t i = 0; i < n; ++i) {
      tc_put(e->out, k > first || i ? ", " : "");
      put_argument(e, k, i);
    }
  if (e->style->more) e->style->more(e, first);
  tc_putf(e->out, "%s};\n", n ? "" : "0");
}

/* Launch number `launch`: kernels first to end - 1. */
static void put_launch(const tc_entry *e, uint32_t launch, uint32_t first, uint32_t end) {
  const tc_kernel *kernel = &e->p->kernel[first];
  if (e->depends) put_after(e, launch);
  if (kernel->kind == TC_KERNEL_CALL) {
    tc_entry_call(e, first);
    return;
  }
  if (e->serves) tc_putf(e->out, "  if (want & 0x%llx)", (unsigned long long)e->serves[first]);
  tc_put(e->out, "  {\n");
  put_buffers(e, first, end);
  if (kernel->sibling) {
    put_sibling_symbols(e, first, end);
  } else if (e->style->numbered) {
    put_own_symbols(e, first);
  }
  if (kernel->sibling || e->style->numbered) put_own_scalars(e, first, end);
  if (e->style->all_can_fail) tc_put(e->out, "    if (!bad) bad = ");
  else tc_put(e->out, can_fail(e, first) ? "    bad |= " : "    ");
  e->style->call(e, first);
  tc_put(e->out, ";\n  }\n");
}

/* The first kernel behind which the body must not run: it writes an operand, or has an effect.
 * nkernel: there is none. */
static uint32_t first_final(const tc_program *p) {
  for (uint32_t k = 0; k < p->nkernel; ++k) {
    if (p->kernel[k].effect) return k;
    for (uint32_t i = 0; i < p->kernel[k].nbuffer; ++i)
      if (p->buffer[p->kernel[k].buffer[i]].kind == TC_BUF_INPUT &&
          tc_kernel_writes(&p->kernel[k], i))
        return k;
  }
  return p->nkernel;
}

static bool any_can_fail(const tc_entry *e, uint32_t from, uint32_t to) {
  for (uint32_t k = from; k < to; ++k)
    if (can_fail(e, k)) return true;
  return false;
}

static void put_drop(const tc_entry *e) {
  if (tc_entry_calls(e->p)) tc_put(e->out, "    tcrt_delete(hold);\n");
  if (e->p->noutput) tc_putf(e->out, "    tc_drop(out, %u);\n", e->p->noutput);
}

/* Before anything was written: the body runs. */
static void put_check(const tc_entry *e, bool ended) {
  tc_put(e->out, "  if (__builtin_expect(bad, 0)) {\n");
  if (!ended && e->style->leave) tc_putf(e->out, "    %s;\n", e->style->leave);
  put_drop(e);
  tc_putf(e->out, "    return tcrt_miss(f, %s, -1, -1, %s, 0);\n  }\n", e->style->failure,
          e->style->all_can_fail ? "bad" : "0");
}

/* Operands have been written, or there was an effect: the body must not run.  The function fails as
 * an operation does. */
static void put_late_check(const tc_entry *e) {
  tc_put(e->out, "  if (__builtin_expect(bad, 0)) {\n");
  put_drop(e);
  tc_putf(e->out, "    return %s;\n  }\n", e->style->late);
}

/* What saved a written operand for a gradient has to know. */
static void put_written(const tc_entry *e) {
  if (e->tabulates) {
    tc_entry_table_written(e);
    return;
  }
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i)
    if (tc_graph_input_at(e->p->graph, i)->written) tc_putf(e->out, "  tcrt_written(x%u);\n", i);
}

void tc_entry_launches(const tc_entry *e) {
  const uint32_t n = e->p->nkernel, final = first_final(e->p);
  const bool check = e->style->all_can_fail || any_can_fail(e, 0, final);
  const bool late = any_can_fail(e, final, n);
  if (!e->style->all_can_fail && (check || late)) tc_put(e->out, "  int bad = 0;\n");
  if (e->depends) put_dependences(e);
  for (uint32_t k = 0, launch = 0; k < n; k = tc_launch_end(e->p, k)) {
    if (k == final && check) put_check(e, false);
    put_launch(e, launch++, k, tc_launch_end(e->p, k));
  }
  if (e->depends) tc_putf(e->out, "  %s;\n", e->style->after_all);
  tc_entry_unpacks(e);
  if (e->style->end) tc_putf(e->out, "  %s;\n", e->style->end);
  if (final == n && check) put_check(e, true);
  put_written(e);
  if (late) put_late_check(e);
  if (tc_entry_calls(e->p)) tc_put(e->out, "  tcrt_delete(hold);\n");
}
