/* entry.c - prints tcrt_entry functions, their records and the unit around them. */
#include "backends/entry/entry.h"
#include "backends/print/print.h"

extern const char tc_entry_abi[]; /* abi.h, embedded */

/* ---- the function ---------------------------------------------------------------------------- */

static void put_operands(const tc_graph *g, tc_buf *out) {
  const uint32_t n = tc_graph_input_count(g);
  if (n) tc_put(out, ", .operands = ");
  for (uint32_t i = 0; i < n; ++i) {
    const char *name = tc_graph_input_at(g, i)->name;
    tc_entry_put_quoted(out, name ? name : "");
    tc_put(out, " \"\\n\"");
  }
}

void tc_entry_record(const tc_function *f, const tc_graph *g, int kernels, tc_buf *out) {
  tc_putf(out, "\n/* %s (%s:%u) */\n", f->name, f->file ? f->file : "", f->line);
  tc_putf(out, "static tcrt_function tc_function_%s = {.name = ", f->symbol);
  tc_entry_put_quoted(out, f->name);
  tc_buf at = {0};
  tc_putf(&at, "%s:%u", f->file ? f->file : "", f->line);
  tc_put(out, ", .location = ");
  tc_entry_put_quoted(out, at.text);
  if (f->sizes) {
    tc_put(out, ", .sizes = ");
    tc_entry_put_quoted(out, f->sizes);
  }
  put_operands(g, out);
  if (f->passes) tc_put(out, ", .passes = 1");
  tc_putf(out, ", .ops = %d, .kernels = %d};\n", f->ops, kernels);
  tc_buf_free(&at);
  tc_entry_sizes_table(f, out);
}

/* Backwards: a kernel serves the gradients that its arrays go into. */
static bool find_served(tc_entry *e) {
  const tc_program *p = e->p;
  if (e->f->part != TC_PART_BACKWARD) return true;
  e->serves = tc_arena_alloc(p->arena, (p->nkernel + 1) * sizeof *e->serves);
  uint64_t *of = tc_arena_alloc(p->arena, (p->nbuffer + 1) * sizeof *of);
  if (!e->serves || !of) return false;
  for (uint32_t i = 0; i < p->noutput; ++i) of[p->output[i]] |= UINT64_C(1) << (i < 63 ? i : 63);
  for (uint32_t k = p->nkernel; k-- > 0;) {
    const tc_kernel *kernel = &p->kernel[k];
    for (uint32_t i = 0; i < kernel->nbuffer; ++i)
      if (tc_kernel_writes(kernel, i)) e->serves[k] |= of[kernel->buffer[i]];
    for (uint32_t i = 0; i < kernel->nbuffer; ++i) of[kernel->buffer[i]] |= e->serves[k];
  }
  return true;
}

static void put_function(tc_entry *e, const char *suffix, bool external) {
  const tc_entry_style *style = e->style;
  if (style->declare) style->declare(e);
  tc_putf(e->out,
          "%sint %s%s%s(const struct tc_tensor *const *in, const tc_value *scalar, struct "
          "tc_tensor **out) {\n",
          external ? "" : "static ", e->f->symbol, suffix ? "_" : "", suffix ? suffix : "");
  tc_putf(e->out, "  tcrt_function *const f = &tc_function_%s;\n", e->f->symbol);
  if (e->serves)
    tc_putf(e->out, "  const uint64_t want = (uint64_t)scalar[%u].i;\n",
            tc_graph_scalar_count(e->p->graph));
  tc_entry_guards(e);
  if (style->begin) style->begin(e);
  tc_entry_workspace(e);
  tc_entry_results(e);
  tc_entry_packs(e);
  tc_entry_launches(e);
  tc_entry_sizes_count(e);
  tc_put(e->out, "  __atomic_fetch_add(&f->hits, 1, __ATOMIC_RELAXED);\n"
                 "  if (__builtin_expect(tcrt_log_kernels, 0)) tcrt_hit_log(f);\n  return 1;\n}\n");
}

bool tc_entry_emit(const tc_backend *b, const tc_function *f, const tc_program *p,
                   const char *const *kernel_names, const uint32_t *kernel_levels,
                   const tc_kernel_text *kernels, bool alone, tc_texts *out) {
  const tc_entry_style *style = b->entry;
  tc_dependences depends = {0};
  uint32_t *scratch = tc_arena_alloc(p->arena, (p->nkernel + 1) * sizeof *scratch);
  tc_entry e = {.style = style,
                .device = b->device,
                .f = f,
                .p = p,
                .dims = tc_graph_dims(p->graph),
                .name = kernel_names,
                .levels = kernel_levels,
                .kernel = kernels,
                .scratch = scratch,
                .tabulates = tc_entry_tabulates(p->graph),
                .declared = &out->declared,
                .out = &out->host};
  if (!scratch || !find_served(&e)) return false;
  if (style->side_by_side && style->side_by_side(f)) {
    if (!tc_program_dependences(p, &depends)) return false;
    e.depends = &depends;
  }
  put_function(&e, alone ? NULL : b->device_name, alone && f->part == TC_PART_WHOLE);
  tc_dependences_free(&depends);
  return !out->host.failed;
}

void tc_entry_dispatch_begin(const tc_function *f, tc_buf *out) {
  tc_putf(out,
          "%sint %s(const struct tc_tensor *const *in, const tc_value *scalar, struct tc_tensor "
          "**out) {\n  return ",
          f->part == TC_PART_WHOLE ? "" : "static ", f->symbol);
}

void tc_entry_dispatch_to(const tc_backend *b, const tc_function *f, bool operands, tc_buf *out) {
  tc_putf(out,
          "%s ? %s_%s(in, scalar, out) : ", operands ? b->entry->has_operand : b->entry->creates,
          f->symbol, b->device_name);
}

void tc_entry_dispatch_end(const tc_backend *first, const tc_function *f, tc_buf *out) {
  tc_putf(out, "%s_%s(in, scalar, out);\n}\n", f->symbol, first->device_name);
}

/* ---- the unit -------------------------------------------------------------------------------- */

static const char helpers[] =
    "#define TC_HIDDEN __attribute__((visibility(\"hidden\")))\n"
    "static __attribute__((unused)) int tc_unit_accepted; /* the runtime has our ABI */\n"
    "\n"
    "/* A condition on sizes, or the reason why the body runs. */\n"
    "#define TC_GUARD(holds, why, operand, axis, got, want) \\\n"
    "  if (__builtin_expect(!(holds), 0)) return tcrt_miss(f, why, operand, axis, got, want)\n"
    "\n"
    "/* dtype, device, rank and two of the flags in one word. */\n"
    "static inline uint32_t tc_key_of(const struct tc_tensor *x) {\n"
    "  const tc_key k = x->key;\n"
    "  return (uint32_t)k.dtype | (uint32_t)k.device << 8 | (uint32_t)k.rank << 16 |\n"
    "         (uint32_t)(k.flags & (TC_FLAG_WEAK | TC_FLAG_BROKEN)) << 24;\n"
    "}\n"
    "\n"
    "static __attribute__((noinline, cold)) int tc_key_miss(tcrt_function *f, const struct "
    "tc_tensor *x,\n"
    "                                                       int operand, uint32_t want) {\n"
    "  if (!x) return tcrt_miss(f, TC_MISS_NULL, operand, -1, 0, 0);\n"
    "  const tc_key k = x->key;\n"
    "  if (k.flags & TC_FLAG_BROKEN) return tcrt_miss(f, TC_MISS_LAYOUT, operand, -1, 0, 0);\n"
    "  if (k.device != (want >> 8 & 255))\n"
    "    return tcrt_miss(f, TC_MISS_DEVICE, operand, -1, k.device, want >> 8 & 255);\n"
    "  if (k.rank != (want >> 16 & 255))\n"
    "    return tcrt_miss(f, TC_MISS_RANK, operand, -1, k.rank, want >> 16 & 255);\n"
    "  if (tc_key_of(x) != want) return tcrt_miss(f, TC_MISS_DTYPE, operand, -1, k.dtype, want & "
    "255);\n"
    "  return tcrt_miss(f, TC_MISS_GRAD, operand, -1, 0, 0);\n"
    "}\n"
    "\n"
    "/* Frees the results made so far. */\n"
    "static __attribute__((noinline, cold, unused)) void tc_drop(struct tc_tensor **out, int n) {\n"
    "  while (n-- > 0) tcrt_delete(out[n]), out[n] = 0;\n"
    "}\n"
    "\n"
    "/* Rows of elements that follow each other, at equal distances, none in front of the one before. */\n"
    "static __attribute__((noinline, cold, unused)) int tc_rows_apart(const struct tc_tensor *x) {\n"
    "  const int last = x->key.rank - 1;\n"
    "  int apart = (x->stride[last] == 1 || x->dim[last] == 1) && x->stride[last - 1] >= x->dim[last];\n"
    "  for (int a = last - 1; a > 0; --a) apart &= x->stride[a - 1] == x->stride[a] * x->dim[a];\n"
    "  return apart;\n"
    "}\n"
    "\n"
    "/* Strided so: kernels take its pitch. */\n"
    "static inline __attribute__((unused)) int tc_is_apart(const struct tc_tensor *x) {\n"
    "  return __builtin_expect(!(x->key.flags & TC_FLAG_CONTIGUOUS), 0) && tc_rows_apart(x);\n"
    "}\n"
    "\n"
    "/* Kernels work on a copy of it, whatever they want. */\n"
    "static inline __attribute__((unused)) int tc_is_packed(const struct tc_tensor *x, int apart) {\n"
    "  return __builtin_expect(!(x->key.flags & TC_FLAG_CONTIGUOUS), 0) && !apart;\n"
    "}\n"
    "\n"
    "/* Do some of its rows, `pitch` bytes apart, begin between multiples of so many bytes? */\n"
    "static inline __attribute__((unused)) int tc_begins_off(const struct tc_tensor *x, int64_t pitch, int bytes) {\n"
    "  return (((uintptr_t)x->data | (uintptr_t)pitch) & (uintptr_t)(bytes - 1)) != 0;\n"
    "}\n"
    "\n"
    "/* How many bytes at most it has of each `pitch` bytes of memory. */\n"
    "static inline __attribute__((unused)) int64_t tc_width(const struct tc_tensor *x, int64_t bytes, int64_t pitch) {\n"
    "  int64_t width = bytes;\n"
    "  for (int a = 0; a < x->key.rank; ++a) {\n"
    "    const int64_t step = x->stride[a] * bytes;\n"
    "    if (x->dim[a] > 1 && step % pitch) width += step < 0 ? pitch : step * (x->dim[a] - 1);\n"
    "  }\n"
    "  return width;\n"
    "}\n"
    "\n"
    "/* Each lies in gaps of the other, as columns of one matrix do, and members of an array of structs. */\n"
    "static __attribute__((noinline, cold, unused)) int tc_in_gaps(const struct tc_tensor *a, int64_t abytes, const struct "
    "tc_tensor *b, int64_t bbytes) {\n"
    "  for (int axis = 0; axis < a->key.rank; ++axis) {\n"
    "    const int64_t step = a->stride[axis] * abytes, pitch = step < 0 ? -step : step;\n"
    "    if (!pitch || a->dim[axis] < 2) continue;\n"
    "    int64_t from = (int64_t)((uintptr_t)b->data - (uintptr_t)a->data) % pitch;\n"
    "    from += from < 0 ? pitch : 0;\n"
    "    if (from >= tc_width(a, abytes, pitch) && from + tc_width(b, bbytes, pitch) <= pitch) return 1;\n"
    "  }\n"
    "  return 0;\n"
    "}\n"
    "\n"
    "static inline __attribute__((unused)) int tc_overlap(const struct tc_tensor *a, int64_t abytes, const struct "
    "tc_tensor *b, int64_t bbytes) {\n"
    "  uintptr_t alo, ahi, blo, bhi;\n"
    "  return tcrt_extent(a, &alo, &ahi) && tcrt_extent(b, &blo, &bhi) && alo <= bhi && blo <= "
    "ahi &&\n"
    "         !tc_in_gaps(a, abytes, b, bbytes) && !tc_in_gaps(b, bbytes, a, abytes);\n"
    "}\n"
    "\n"
    "/* Addresses from low to high; alone: no other may meet them. */\n"
    "typedef struct tc_span {\n"
    "  uintptr_t low, high;\n"
    "  uint32_t operand;\n"
    "  bool alone;\n"
    "} tc_span;\n"
    "\n"
    "/* Sorts the spans; the operands of two that meet and should not, the one that is to be alone first; or 0. */\n"
    "static __attribute__((noinline, unused)) int tc_spans_meet(tc_span *s, uint32_t n, uint32_t "
    "*hit) {\n"
    "  for (uint32_t gap = n / 2; gap; gap /= 2)\n"
    "    for (uint32_t i = gap, k; i < n; ++i) {\n"
    "      const tc_span x = s[i];\n"
    "      for (k = i; k >= gap && s[k - gap].low > x.low; k -= gap) s[k] = s[k - gap];\n"
    "      s[k] = x;\n"
    "    }\n"
    "  const tc_span *all = 0, *alone = 0; /* those that reach highest so far */\n"
    "  for (uint32_t i = 0; i < n; ++i) {\n"
    "    const tc_span *other = s[i].alone ? all : alone;\n"
    "    if (other && other->high >= s[i].low) return hit[!s[i].alone] = s[i].operand, "
    "hit[s[i].alone] = other->operand, 1;\n"
    "    if (!all || s[i].high > all->high) all = &s[i];\n"
    "    if (s[i].alone && (!alone || s[i].high > alone->high)) alone = &s[i];\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

/* The few types that the headers take from the C library. */
static const char types[] = "#if __STDC_VERSION__ < 202311L\ntypedef _Bool bool;\n#endif\n"
                            "typedef __SIZE_TYPE__ size_t;\ntypedef __UINTPTR_TYPE__ uintptr_t;\n"
                            "typedef __UINT8_TYPE__ uint8_t;\ntypedef __UINT16_TYPE__ uint16_t;\n"
                            "typedef __INT32_TYPE__ int32_t;\n"
                            "typedef __UINT32_TYPE__ uint32_t;\ntypedef __INT64_TYPE__ int64_t;\n"
                            "typedef __UINT64_TYPE__ uint64_t;\n";

void tc_entry_put_abi(tc_buf *out) {
  tc_put(out, types);
  tc_entry_put_header(tc_entry_abi, out);
  tc_put(out, helpers);
  tc_entry_operand_types(out);
}

/* Functions that run always are nobody's business: they are not registered. */
static int put_functions(const tc_function *const *f, int n, tc_buf *out) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (!f[i]->always) tc_putf(out, "%s&tc_function_%s", count++ ? ", " : "", f[i]->symbol);
  return count;
}

void tc_entry_put_registration(const tc_function *const *f, int n, const char *close, tc_buf *out) {
  tc_buf list = {0};
  const int count = put_functions(f, n, &list);
  if (count > 0)
    tc_putf(out,
            "\nstatic tcrt_function *const tc_unit_functions[] = {%s};\n"
            "static const tcrt_unit tc_unit = {TC_ABI_VERSION, %d, tc_unit_functions};\n"
            "__attribute__((constructor)) static void tc_unit_open(void) { tc_unit_accepted = "
            "tcrt_register(&tc_unit); }\n",
            list.text ? list.text : "", count);
  tc_putf(out, "__attribute__((destructor)) static void tc_unit_close(void) {%s%s%s}\n",
          *close ? "\n" : " ", close, count > 0 ? "  tcrt_unregister(&tc_unit);\n" : "");
  out->failed |= list.failed;
  tc_buf_free(&list);
}
