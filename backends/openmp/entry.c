/* entry.c - prints tcrt_entry functions: guards, workspace, results, launches.
 *
 * Guards, in order: enabled; each operand's NULL, key (dtype, device, rank, weak) and autograd
 * link; symbols bound from sizes; every other size; ranges and multiples; assumed equalities and
 * bounds; overlap of written operands.  Nothing is allocated before the last of them held. */
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

typedef struct entry {
  const tc_function *f;
  const tc_program *p;
  tc_dims *c;
  const char *const *name;
  const uint32_t *levels;
  tc_buf *out;
} entry;

static void put_dim(entry *e, tc_dim d) { tc_dim_print(e->c, d, "s_", e->out); }

static void put_quoted(tc_buf *out, const char *s) {
  tc_put(out, "\"");
  for (; s && *s; ++s) {
    if (*s == '"' || *s == '\\') tc_put(out, "\\");
    if ((unsigned char)*s >= ' ') tc_putn(out, s, 1);
  }
  tc_put(out, "\"");
}

/* ---- operands
 * --------------------------------------------------------------------------------------- */

static void put_key_guard(entry *e, uint32_t i, const tc_input *in) {
  const uint32_t want =
      in->type.dtype | (uint32_t)in->type.rank << 16 | (in->type.weak ? 0x02000000u : 0);
  tc_putf(e->out, "  const struct tc_tensor *const x%u = in[%u]; /* %s: ", i, i,
          in->name ? in->name : "");
  tc_type_print(e->c, &in->type, e->out);
  tc_put(e->out, " */\n");
  tc_putf(e->out,
          "  if (__builtin_expect(!x%u || tc_key_of(x%u) != 0x%08xu || x%u->autograd, 0))\n"
          "    return tc_key_miss(f, x%u, %u, 0x%08xu);\n",
          i, i, want, i, i, i, want);
}

static bool binds(const entry *e, uint32_t input, int axis, tc_dim d, uint32_t *sym) {
  if (!tc_dim_is_sym(e->c, d, sym)) return false;
  const tc_sym *s = tc_dims_sym(e->c, *sym);
  return s->input == (int32_t)input && s->axis == axis;
}

/* s_<name> of every symbol, from a size or a scalar; sym[] holds them for the kernels. */
static void put_symbols(entry *e) {
  const uint32_t n = tc_dims_sym_count(e->c);
  for (uint32_t i = 0; i < n; ++i) {
    const tc_sym *s = tc_dims_sym(e->c, i);
    tc_putf(e->out, "  const int64_t s_%s = ", s->name);
    if (s->input < 0) tc_put(e->out, "0; /* replaced by an equal size */\n");
    else if (s->axis < 0) tc_putf(e->out, "scalar[%d].i;\n", s->input);
    else tc_putf(e->out, "x%d->dim[%d];\n", s->input, s->axis);
  }
  tc_putf(e->out, "  const int64_t sym[%u] = {", n ? n : 1);
  for (uint32_t i = 0; i < n; ++i)
    tc_putf(e->out, "%ss_%s", i ? ", " : "", tc_dims_sym(e->c, i)->name);
  tc_put(e->out, n ? "};\n" : "0};\n");
}

static void put_size_guards(entry *e, uint32_t i, const tc_input *in) {
  for (int a = 0; a < in->type.rank; ++a) {
    const tc_dim d = in->type.dim[a];
    uint32_t sym;
    if (binds(e, i, a, d, &sym)) continue;
    tc_putf(e->out, "  TC_GUARD(x%u->dim[%d] == ", i, a);
    put_dim(e, d);
    tc_putf(e->out, ", %s, %u, %d, x%u->dim[%d], ",
            tc_dim_is_const(d) ? "TC_MISS_SIZE" : "TC_MISS_EQUAL", i, a, i, a);
    put_dim(e, d);
    tc_put(e->out, ");\n");
  }
}

static void put_range(entry *e, const char *what, int64_t lo, int64_t hi, int input, int axis) {
  if (lo > 0 || (input < 0 && lo != INT64_MIN)) /* sizes of tensors are never negative */
    tc_putf(e->out, "  TC_GUARD(%s >= %lld, TC_MISS_SIZE, %d, %d, %s, %lld);\n", what,
            (long long)lo, input, axis, what, (long long)lo);
  if (hi != INT64_MAX)
    tc_putf(e->out, "  TC_GUARD(%s <= %lld, TC_MISS_SIZE, %d, %d, %s, %lld);\n", what,
            (long long)hi, input, axis, what, (long long)hi);
}

static void put_symbol_guards(entry *e) {
  for (uint32_t i = 0; i < tc_dims_sym_count(e->c); ++i) {
    const tc_sym *s = tc_dims_sym(e->c, i);
    if (s->input < 0) continue;
    tc_buf name = {0};
    tc_putf(&name, "s_%s", s->name);
    put_range(e, name.text, s->lo, s->hi, s->axis < 0 ? -1 : s->input, s->axis);
    if (s->multiple > 1)
      tc_putf(e->out, "  TC_GUARD(s_%s %% %lld == 0, TC_MISS_SIZE, %d, %d, s_%s, %lld);\n", s->name,
              (long long)s->multiple, s->input, s->axis, s->name, (long long)s->multiple);
    tc_buf_free(&name);
  }
}

static void put_assumptions(entry *e) {
  const tc_dim_pair *pair;
  for (uint32_t i = 0, n = tc_dims_assumed(e->c, &pair); i < n; ++i) {
    tc_buf a = {0}, b = {0};
    tc_dim_print(e->c, pair[i].a, "s_", &a);
    tc_dim_print(e->c, pair[i].b, "s_", &b);
    tc_putf(e->out, "  TC_GUARD((%s) == (%s), TC_MISS_EQUAL, -1, -1, %s, %s);\n", a.text, b.text,
            a.text, b.text);
    tc_buf_free(&a);
    tc_buf_free(&b);
  }
  const tc_dim_bound *bound;
  for (uint32_t i = 0, n = tc_dims_bounds(e->c, &bound); i < n; ++i) {
    uint32_t sym;
    if (tc_dim_is_sym(e->c, bound[i].d, &sym)) continue; /* part of the symbol's own range */
    tc_buf d = {0};
    tc_putf(&d, "(");
    tc_dim_print(e->c, bound[i].d, "s_", &d);
    tc_putf(&d, ")");
    if (bound[i].lo != INT64_MIN)
      tc_putf(e->out, "  TC_GUARD(%s >= %lld, TC_MISS_SIZE, -1, -1, %s, %lld);\n", d.text,
              (long long)bound[i].lo, d.text, (long long)bound[i].lo);
    if (bound[i].hi != INT64_MAX)
      tc_putf(e->out, "  TC_GUARD(%s <= %lld, TC_MISS_SIZE, -1, -1, %s, %lld);\n", d.text,
              (long long)bound[i].hi, d.text, (long long)bound[i].hi);
    tc_buf_free(&d);
  }
}

/* Written operands: contiguous, writable, apart from every other operand. */
static void put_write_guards(entry *e) {
  const uint32_t n = tc_graph_input_count(e->p->graph);
  for (uint32_t i = 0; i < n; ++i) {
    if (!tc_graph_input_at(e->p->graph, i)->written) continue;
    tc_putf(
        e->out,
        "  if ((x%u->key.flags & (TC_FLAG_CONTIGUOUS | TC_FLAG_READONLY)) != TC_FLAG_CONTIGUOUS)\n"
        "    return tcrt_miss(f, TC_MISS_STRIDE, %u, -1, 0, 0);\n",
        i, i);
    for (uint32_t j = 0; j < n; ++j)
      if (j != i)
        tc_putf(e->out,
                "  if (tc_overlap(x%u, x%u)) return tcrt_miss(f, TC_MISS_ALIAS, %u, -1, %u, 0);\n",
                i, j, i, j);
  }
}

/* ---- memory
 * ------------------------------------------------------------------------------------------- */

static int input_buffer(const tc_program *p, uint32_t input) {
  for (uint32_t i = 0; i < p->nbuffer; ++i)
    if (p->buffer[i].kind == TC_BUF_INPUT && p->buffer[i].index == input) return (int)i;
  return -1;
}

/* Strided operands get room in the workspace: pack<i> is its offset. */
static void put_pack_sizes(entry *e) {
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    const int b = input_buffer(e->p, i);
    if (b < 0 || tc_graph_input_at(e->p->graph, i)->written) continue;
    const tc_buffer *buffer = &e->p->buffer[b];
    tc_putf(e->out, "  const int64_t pack%u = bytes;\n", i);
    tc_putf(e->out,
            "  if (__builtin_expect(!(x%u->key.flags & TC_FLAG_CONTIGUOUS), 0))\n    bytes += ((",
            i);
    put_dim(e, buffer->numel);
    tc_putf(e->out, ") * %zu + 63) / 64 * 64;\n", tc_dtype_bytes(buffer->dtype));
  }
}

static void put_packs(entry *e) {
  tc_putf(e->out, "  uint64_t packed = 0;\n");
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    const int b = input_buffer(e->p, i);
    if (b < 0) continue;
    tc_putf(e->out, "  void *d%u = x%u->data;\n", i, i);
    if (tc_graph_input_at(e->p->graph, i)->written) continue;
    tc_putf(e->out,
            "  if (__builtin_expect(!(x%u->key.flags & TC_FLAG_CONTIGUOUS), 0)) {\n"
            "    d%u = ws + pack%u;\n    tcrt_pack(x%u, d%u);\n    packed = 1;\n  }\n",
            i, i, i, i, i);
  }
  tc_put(e->out, "  if (packed) __atomic_fetch_add(&f->packed, 1, __ATOMIC_RELAXED);\n");
}

static bool needs_workspace(const entry *e) {
  if (!tc_dim_is(e->p->workspace, 0)) return true;
  for (uint32_t i = 0; i < e->p->nbuffer; ++i)
    if (e->p->buffer[i].kind == TC_BUF_LOCAL && !tc_omp_on_stack(&e->p->buffer[i])) return true;
  return false;
}

/* Bytes of a kernel's LOCAL memory and scratch, behind the arena; all kernels share the place. */
static bool put_kernel_scratch(entry *e, uint32_t k) {
  const tc_kernel *kernel = &e->p->kernel[k];
  bool any = false;
  tc_buf t = {0}, shared = {0}, each = {0};
  for (uint32_t i = 0; i < kernel->nbuffer; ++i) {
    const tc_buffer *b = &e->p->buffer[kernel->buffer[i]];
    if (b->kind != TC_BUF_LOCAL || tc_omp_on_stack(b)) continue;
    tc_putf(&t, "  const int64_t local%u_%u = scratch%u;\n  scratch%u += threads * ", k, i, k, k);
    tc_omp_local_bytes(e->p, b, &t);
    tc_put(&t, ";\n");
    any = true;
  }
  if (kernel->kind == TC_KERNEL_MATMUL) tc_omp_matmul_scratch(kernel, e->p, &shared, &each);
  if (shared.len || each.len) {
    tc_putf(&t, "  const int64_t shared%u = scratch%u;\n  scratch%u += ((%s) + 63) / 64 * 64;\n", k,
            k, k, shared.len ? shared.text : "0");
    tc_putf(
        &t,
        "  const int64_t each%u = scratch%u;\n  scratch%u += threads * (((%s) + 63) / 64 * 64);\n",
        k, k, k, each.len ? each.text : "0");
    any = true;
  }
  if (any) {
    tc_putf(e->out, "  int64_t scratch%u = arena;\n%s", k, t.text);
    tc_putf(e->out, "  if (scratch%u > bytes) bytes = scratch%u;\n", k, k);
  }
  tc_buf_free(&t);
  tc_buf_free(&shared);
  tc_buf_free(&each);
  return any;
}

static void put_workspace(entry *e, bool *scratch) {
  tc_put(e->out, "  const int64_t arena = ((");
  put_dim(e, e->p->workspace);
  tc_put(e->out, ") + 63) / 64 * 64;\n  int64_t bytes = arena;\n");
  bool threads = needs_workspace(e);
  for (uint32_t k = 0; k < e->p->nkernel; ++k) threads |= e->p->kernel[k].kind == TC_KERNEL_MATMUL;
  if (threads)
    tc_put(e->out, "  const int64_t threads = omp_get_max_threads();\n  (void)threads;\n");
  for (uint32_t k = 0; k < e->p->nkernel; ++k) scratch[k] = put_kernel_scratch(e, k);
  put_pack_sizes(e);
  tc_put(e->out, "  char *ws = 0;\n  if (bytes && !(ws = tcrt_workspace((size_t)bytes)))\n"
                 "    return tcrt_miss(f, TC_MISS_MEMORY, -1, -1, bytes, 0);\n");
}

/* ---- results and launches
 * ---------------------------------------------------------------------------------- */

static void put_drop(entry *e, uint32_t made) {
  for (uint32_t i = 0; i < made; ++i) tc_putf(e->out, "    tcrt_delete(o%u);\n", i);
}

static void put_results(entry *e) {
  for (uint32_t i = 0; i < e->p->noutput; ++i) {
    const tc_type *t = &e->p->buffer[e->p->output[i]].type;
    tc_putf(e->out, "  struct tc_tensor *const o%u = tcrt_new(%d, %d, (const int64_t[8]){", i,
            t->dtype, t->rank);
    for (int a = 0; a < t->rank; ++a) {
      tc_put(e->out, a ? ", " : "");
      put_dim(e, t->dim[a]);
    }
    tc_putf(e->out, "%s}); /* ", t->rank ? "" : "0");
    tc_type_print(e->c, t, e->out);
    tc_putf(e->out, " */\n  if (!o%u) {\n", i);
    put_drop(e, i);
    tc_put(e->out, "    return tcrt_miss(f, TC_MISS_MEMORY, -1, -1, 0, 0);\n  }\n");
  }
}

static uint32_t output_of(const tc_program *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->noutput; ++i)
    if (p->output[i] == buffer) return i;
  return 0;
}

static void put_argument(entry *e, uint32_t k, uint32_t i) {
  const uint32_t id = e->p->kernel[k].buffer[i];
  const tc_buffer *b = &e->p->buffer[id];
  switch (b->kind) {
  case TC_BUF_INPUT:
    tc_putf(e->out, "d%u", b->index);
    break;
  case TC_BUF_OUTPUT:
    tc_putf(e->out, "o%u->data", output_of(e->p, id));
    break;
  case TC_BUF_ARENA:
    tc_put(e->out, "ws + (");
    put_dim(e, b->offset);
    tc_put(e->out, ")");
    break;
  case TC_BUF_LOCAL:
    if (tc_omp_on_stack(b)) tc_put(e->out, "0");
    else tc_putf(e->out, "ws + local%u_%u", k, i);
    break;
  }
}

static void put_launch(entry *e, uint32_t k, bool scratch) {
  const tc_kernel *kernel = &e->p->kernel[k];
  tc_put(e->out, "  {\n    void *const buf[] = {");
  for (uint32_t i = 0; i < kernel->nbuffer; ++i) {
    tc_put(e->out, i ? ", " : "");
    put_argument(e, k, i);
  }
  if (kernel->kind == TC_KERNEL_MATMUL && scratch)
    tc_putf(e->out, ", ws + shared%u, ws + each%u", k, k);
  tc_putf(e->out, "%s};\n", kernel->nbuffer ? "" : "0");
  const bool checks = tc_print_checks(kernel);
  tc_putf(e->out, checks ? "    bad |= " : "    ");
  tc_putf(e->out, "%s[tcrt_isa](buf, sym, scalar);\n", e->name[k]);
  tc_put(e->out, "  }\n");
}

static void put_launches(entry *e, const bool *scratch) {
  bool checks = false;
  for (uint32_t k = 0; k < e->p->nkernel; ++k) checks |= tc_print_checks(&e->p->kernel[k]);
  if (checks) tc_put(e->out, "  int bad = 0;\n");
  for (uint32_t k = 0; k < e->p->nkernel; ++k) put_launch(e, k, scratch[k]);
  if (checks) {
    tc_put(e->out, "  if (__builtin_expect(bad, 0)) {\n");
    put_drop(e, e->p->noutput);
    tc_put(e->out, "    return tcrt_miss(f, TC_MISS_INDEX, -1, -1, 0, 0);\n  }\n");
  }
  for (uint32_t i = 0; i < e->p->noutput; ++i) tc_putf(e->out, "  out[%u] = o%u;\n", i, i);
}

/* ---- the function
 * ---------------------------------------------------------------------------------------------- */

static const char *const level_name[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};

/* Level i runs the best text at or below it; a hole means that the machine is too old. */
static int lowest_level(uint32_t levels) {
  for (int i = 0; i < TC_ISA_COUNT; ++i)
    if (levels >> i & 1) return i;
  return TC_ISA_COUNT;
}

static void put_tables(entry *e) {
  for (uint32_t k = 0; k < e->p->nkernel; ++k) {
    tc_buf declared = {0};
    tc_putf(&declared, "tcrt_kernel *const %s[", e->name[k]);
    if (e->out->text && strstr(e->out->text, declared.text)) {
      tc_buf_free(&declared);
      continue; /* another function of the unit launches it too */
    }
    tc_buf_free(&declared);
    for (int i = 0; i < TC_ISA_COUNT; ++i)
      if (e->levels[k] >> i & 1)
        tc_putf(e->out, "extern tcrt_kernel %s_%s TC_HIDDEN;\n", e->name[k], level_name[i]);
    tc_putf(e->out, "static tcrt_kernel *const %s[TC_ISA_COUNT] = {", e->name[k]);
    for (int i = 0, best = -1; i < TC_ISA_COUNT; ++i) {
      if (e->levels[k] >> i & 1) best = i;
      tc_put(e->out, i ? ", " : "");
      if (best < 0) tc_put(e->out, "0");
      else tc_putf(e->out, "%s_%s", e->name[k], level_name[best]);
    }
    tc_put(e->out, "};\n");
  }
}

static void put_record(entry *e) {
  tc_putf(e->out, "static tcrt_function tc_function_%s = {.name = ", e->f->symbol);
  put_quoted(e->out, e->f->name);
  tc_buf at = {0};
  tc_putf(&at, "%s:%u", e->f->file ? e->f->file : "", e->f->line);
  tc_put(e->out, ", .location = ");
  put_quoted(e->out, at.text);
  tc_putf(e->out, ", .ops = %d, .kernels = %u};\n", e->f->ops, e->p->nkernel);
  tc_buf_free(&at);
}

static void put_guards(entry *e) {
  const tc_graph *g = e->p->graph;
  int least = 0;
  for (uint32_t k = 0; k < e->p->nkernel; ++k)
    if (lowest_level(e->levels[k]) > least) least = lowest_level(e->levels[k]);
  if (least > 0)
    tc_putf(e->out,
            "  if (__builtin_expect(!tcrt_enabled | !tc_unit_accepted | (tcrt_isa < %d), 0))\n",
            least);
  else tc_put(e->out, "  if (__builtin_expect(!tcrt_enabled | !tc_unit_accepted, 0))\n");
  tc_put(e->out, "    return tcrt_miss(f, TC_MISS_DISABLED, -1, -1, 0, 0);\n");
  for (uint32_t i = 0; i < tc_graph_input_count(g); ++i)
    put_key_guard(e, i, tc_graph_input_at(g, i));
  put_symbols(e);
  for (uint32_t i = 0; i < tc_graph_input_count(g); ++i)
    put_size_guards(e, i, tc_graph_input_at(g, i));
  put_symbol_guards(e);
  put_assumptions(e);
  put_write_guards(e);
}

bool tc_omp_emit_entry(const tc_function *f, const tc_program *p, const char *const *kernel_names,
                       const uint32_t *kernel_levels, tc_buf *out) {
  entry e = {f, p, tc_graph_dims(p->graph), kernel_names, kernel_levels, out};
  bool *scratch = tc_arena_alloc(p->arena, p->nkernel + 1);
  if (!scratch) return false;
  tc_putf(out, "\n/* %s (%s:%u) */\n", f->name, f->file ? f->file : "", f->line);
  put_tables(&e);
  put_record(&e);
  tc_putf(out,
          "int %s(const struct tc_tensor *const *in, const tc_value *scalar, struct tc_tensor "
          "**out) {\n",
          f->symbol);
  tc_putf(out, "  tcrt_function *const f = &tc_function_%s;\n", f->symbol);
  put_guards(&e);
  put_workspace(&e, scratch);
  put_results(&e);
  put_packs(&e);
  put_launches(&e, scratch);
  tc_put(out, "  __atomic_fetch_add(&f->hits, 1, __ATOMIC_RELAXED);\n"
              "  if (__builtin_expect(tcrt_log_kernels, 0)) tcrt_hit_log(f);\n  return 1;\n}\n");
  return !out->failed;
}

/* ---- the unit
 * ----------------------------------------------------------------------------------------------------
 */

static const char helpers[] =
    "#define TC_HIDDEN __attribute__((visibility(\"hidden\")))\n"
    "int omp_get_max_threads(void);\n"
    "static int tc_unit_accepted; /* the runtime has our ABI */\n"
    "\n"
    "/* A condition on sizes, or the reason why the body runs. */\n"
    "#define TC_GUARD(holds, why, operand, axis, got, want) \\\n"
    "  if (__builtin_expect(!(holds), 0)) return tcrt_miss(f, why, operand, axis, got, want)\n"
    "\n"
    "/* dtype, device, rank and the weak flag in one word. */\n"
    "static inline uint32_t tc_key_of(const struct tc_tensor *x) {\n"
    "  const tc_key k = x->key;\n"
    "  return (uint32_t)k.dtype | (uint32_t)k.device << 8 | (uint32_t)k.rank << 16 |\n"
    "         (uint32_t)(k.flags & TC_FLAG_WEAK) << 24;\n"
    "}\n"
    "\n"
    "static __attribute__((noinline, cold)) int tc_key_miss(tcrt_function *f, const struct "
    "tc_tensor *x,\n"
    "                                                       int operand, uint32_t want) {\n"
    "  if (!x) return tcrt_miss(f, TC_MISS_NULL, operand, -1, 0, 0);\n"
    "  const tc_key k = x->key;\n"
    "  if (k.device != (want >> 8 & 255))\n"
    "    return tcrt_miss(f, TC_MISS_DEVICE, operand, -1, k.device, want >> 8 & 255);\n"
    "  if (k.rank != (want >> 16 & 255))\n"
    "    return tcrt_miss(f, TC_MISS_RANK, operand, -1, k.rank, want >> 16 & 255);\n"
    "  if (tc_key_of(x) != want) return tcrt_miss(f, TC_MISS_DTYPE, operand, -1, k.dtype, want & "
    "255);\n"
    "  return tcrt_miss(f, TC_MISS_GRAD, operand, -1, 0, 0);\n"
    "}\n"
    "\n"
    "static inline __attribute__((unused)) int tc_overlap(const struct tc_tensor *a, const struct "
    "tc_tensor *b) {\n"
    "  uintptr_t alo, ahi, blo, bhi;\n"
    "  return tcrt_extent(a, &alo, &ahi) && tcrt_extent(b, &blo, &bhi) && alo <= bhi && blo <= "
    "ahi;\n"
    "}\n";

void tc_omp_put_host_helpers(tc_buf *out) { tc_put(out, helpers); }

void tc_omp_put_registration(const tc_function *f, const tc_result *result, int n, tc_buf *out) {
  int count = 0;
  tc_put(out, "\nstatic tcrt_function *const tc_unit_functions[] = {");
  for (int i = 0; i < n; ++i)
    if (result[i].compiled) tc_putf(out, "%s&tc_function_%s", count++ ? ", " : "", f[i].symbol);
  tc_putf(out,
          "};\nstatic const tcrt_unit tc_unit = {TC_ABI_VERSION, %d, tc_unit_functions};\n"
          "__attribute__((constructor)) static void tc_unit_open(void) { tc_unit_accepted = "
          "tcrt_register(&tc_unit); }\n"
          "__attribute__((destructor)) static void tc_unit_close(void) { "
          "tcrt_unregister(&tc_unit); }\n",
          count);
}
