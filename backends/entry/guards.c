/* guards.c - prints what must hold before kernels run.
 *
 * In order: enabled; the scope of TC_AUTOCAST; each operand's NULL, key (dtype, device, rank, weak)
 * and, while gradients are recorded, autograd link; one device; symbols bound from sizes; every
 * other size; ranges and multiples; assumed equalities and bounds; overlap of written operands;
 * leaves that are one; elements for index operands to pick.  Nothing is allocated before the last
 * of them held. */
#include "backends/entry/entry.h"
#include "backends/print/print.h"
#include "graph/autocast.h"

/* ---- operands -------------------------------------------------------------------------------- */

static void put_key_guard(const tc_entry *e, uint32_t i, const tc_input *in) {
  const uint32_t want = tc_entry_key(e, in);
  tc_putf(e->out, "  const struct tc_tensor *const x%u = in[%u]; /* %s: ", i, i,
          in->name ? in->name : "");
  tc_type_print(e->dims, &in->type, e->out);
  tc_put(e->out, " */\n");
  tc_putf(e->out, "  if (__builtin_expect(!x%u || tc_key_of(x%u) != 0x%08xu", i, i, want);
  if (tc_entry_refuses_tracked(e, in))
    tc_putf(e->out, " || (x%u->autograd && tcrt_recording())", i);
  tc_putf(e->out, ", 0))\n    return tc_key_miss(f, x%u, %u, 0x%08xu);\n", i, i, want);
  if (in->leaf) tc_putf(e->out, "  TC_GUARD(tcrt_leaf(x%u), TC_MISS_GRAD, %u, -1, 0, 1);\n", i, i);
  if (tc_entry_refuses_results(e, in))
    tc_putf(e->out, "  TC_GUARD(!x%u->autograd || tcrt_leaf(x%u), TC_MISS_GRAD, %u, -1, 0, 0);\n", i, i, i);
  if (e->f->trains && !in->written && !in->detached)
    tc_putf(e->out,
            "  if (__builtin_expect(x%u->autograd != 0, 0) && tcrt_recording())\n"
            "    return %s_train(in, scalar, out);\n",
            i, e->f->symbol);
}

/* There are several GPUs; there is one CPU. */
static void put_key_guards(const tc_entry *e) {
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i)
    put_key_guard(e, i, tc_graph_input_at(e->p->graph, i));
  if (e->device == TC_CPU) return;
  for (uint32_t i = 1; i < tc_graph_input_count(e->p->graph); ++i)
    tc_putf(e->out,
            "  TC_GUARD(x%u->device_index == x0->device_index, TC_MISS_DEVICE, %u, -1,\n"
            "           x%u->device_index, x0->device_index);\n",
            i, i, i);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void put_pitch(const tc_entry *e, const tc_sym *s) {
  const int i = s->input, a = s->axis;
  const bool may_change = tc_entry_row_bytes(e, (uint32_t)i) > 0;
  tc_putf(e->out,
          "  const int apart%d = tc_is_apart(in[%d]);\n"
          "  %sint64_t s_%s = apart%d ? in[%d]->stride[%d] : in[%d]->dim[%d];\n",
          i, i, may_change ? "" : "const ", s->name, i, i, a - 1, i, a);
}

static int element_bytes(const tc_entry *e, uint32_t i) {
  return (int)tc_dtype_bytes(tc_graph_input_at(e->p->graph, i)->type.dtype);
}

static void put_off(const tc_entry *e, uint32_t i, int bytes) {
  tc_putf(e->out, "  const int off%u = tc_begins_off(in[%u], s_%s * %d, %d);\n", i, i,
          tc_entry_pitch(e, i)->name, element_bytes(e, i), bytes);
}

static void put_alignment(const tc_entry *e, uint32_t i, int bytes) {
  const tc_sym *s = tc_entry_pitch(e, i);
  const int n = bytes / element_bytes(e, i);
  tc_putf(e->out,
          "  const int align%u = off%u && (worth%u || tc_is_packed(in[%u], apart%u));\n"
          "  if (align%u) s_%s = (in[%u]->dim[%d] + %d) / %d * %d;\n",
          i, i, i, i, i, i, s->name, i, s->axis, n - 1, n, n);
}

/* Operands whose rows are to be aligned: `align<i>`, with the pitch of the copy. */
static void put_alignments(const tc_entry *e) {
  const uint32_t n = tc_graph_input_count(e->p->graph);
  bool any = false;
  for (uint32_t i = 0; i < n; ++i) {
    const int bytes = tc_entry_row_bytes(e, i);
    if (bytes) put_off(e, i, bytes), any = true;
  }
  if (any) e->style->worth(e);
  for (uint32_t i = 0; any && i < n; ++i) {
    const int bytes = tc_entry_row_bytes(e, i);
    if (bytes) put_alignment(e, i, bytes);
  }
}

/* s_<name> of every symbol, from a size or a scalar; sym[] holds them for the kernels. */
static void put_symbols(const tc_entry *e) {
  const uint32_t n = tc_dims_sym_count(e->dims);
  for (uint32_t i = 0; i < n; ++i) {
    const tc_sym *s = tc_dims_sym(e->dims, i);
    if (s->input == TC_SYM_OWN) continue;
    if (tc_is_pitch(e->p, i)) {
      put_pitch(e, s);
      continue;
    }
    tc_putf(e->out, "  const int64_t s_%s = ", s->name);
    if (s->input < 0) tc_put(e->out, "0; /* replaced by an equal size */\n");
    else if (s->axis < 0) tc_putf(e->out, "scalar[%d].i;\n", s->input);
    else if (s->pitch) tc_put(e->out, "0; /* of another program */\n");
    else tc_putf(e->out, "in[%d]->dim[%d];\n", s->input, s->axis);
  }
  put_alignments(e);
  tc_putf(e->out, "  const int64_t sym[%u] = {", n ? n : 1);
  for (uint32_t i = 0; i < n; ++i) {
    const tc_sym *s = tc_dims_sym(e->dims, i);
    tc_putf(e->out, "%s%s%s", i ? ", " : "", s->input == TC_SYM_OWN ? "0" : "s_",
            s->input == TC_SYM_OWN ? "" : s->name);
  }
  tc_put(e->out, n ? "};\n" : "0};\n");
}

static void put_size_guards(const tc_entry *e, uint32_t i, const tc_input *in) {
  for (int a = 0; a < in->type.rank; ++a) {
    const tc_dim d = in->type.dim[a];
    if (tc_entry_binds(e, i, a)) continue;
    tc_putf(e->out, "  TC_GUARD(x%u->dim[%d] == ", i, a);
    tc_entry_dim(e, d);
    tc_putf(e->out, ", %s, %u, %d, x%u->dim[%d], ",
            tc_dim_is_const(d) ? "TC_MISS_SIZE" : "TC_MISS_EQUAL", i, a, i, a);
    tc_entry_dim(e, d);
    tc_put(e->out, ");\n");
  }
}

static void put_range(const tc_entry *e, const char *what, int64_t lo, int64_t hi, int input,
                      int axis) {
  if (lo > 0 || (input < 0 && lo != INT64_MIN)) /* sizes of tensors are never negative */
    tc_putf(e->out, "  TC_GUARD(%s >= %lld, TC_MISS_LEAST, %d, %d, %s, %lld);\n", what,
            (long long)lo, input, axis, what, (long long)lo);
  if (hi != INT64_MAX)
    tc_putf(e->out, "  TC_GUARD(%s <= %lld, TC_MISS_MOST, %d, %d, %s, %lld);\n", what,
            (long long)hi, input, axis, what, (long long)hi);
}

static void put_symbol_guards(const tc_entry *e) {
  for (uint32_t i = 0; i < tc_dims_sym_count(e->dims); ++i) {
    const tc_sym *s = tc_dims_sym(e->dims, i);
    if (s->input < 0) continue;
    tc_buf name = {0};
    tc_putf(&name, "s_%s", s->name);
    put_range(e, name.text, s->lo, s->hi, s->axis < 0 ? -1 : s->input, s->axis);
    if (s->multiple > 1)
      tc_putf(e->out, "  TC_GUARD(s_%s %% %lld == 0, TC_MISS_MULTIPLE, %d, %d, s_%s, %lld);\n",
              s->name, (long long)s->multiple, s->input, s->axis, s->name, (long long)s->multiple);
    tc_buf_free(&name);
  }
}

static void put_equalities(const tc_entry *e) {
  const tc_dim_pair *pair;
  for (uint32_t i = 0, n = tc_dims_assumed(e->dims, &pair); i < n; ++i) {
    tc_buf a = {0}, b = {0};
    tc_dim_print(e->dims, pair[i].a, "s_", &a);
    tc_dim_print(e->dims, pair[i].b, "s_", &b);
    tc_putf(e->out, "  TC_GUARD((%s) == (%s), TC_MISS_EQUAL, -1, -1, %s, %s);\n", a.text, b.text,
            a.text, b.text);
    tc_buf_free(&a);
    tc_buf_free(&b);
  }
}

static void put_bounds(const tc_entry *e) {
  const tc_dim_bound *bound;
  for (uint32_t i = 0, n = tc_dims_bounds(e->dims, &bound); i < n; ++i) {
    uint32_t sym;
    if (tc_dim_is_sym(e->dims, bound[i].d, &sym)) continue; /* part of the symbol's own range */
    tc_buf d = {0};
    tc_putf(&d, "(");
    tc_dim_print(e->dims, bound[i].d, "s_", &d);
    tc_putf(&d, ")");
    if (bound[i].lo != INT64_MIN)
      tc_putf(e->out, "  TC_GUARD(%s >= %lld, TC_MISS_LEAST, -1, -1, %s, %lld);\n", d.text,
              (long long)bound[i].lo, d.text, (long long)bound[i].lo);
    if (bound[i].hi != INT64_MAX)
      tc_putf(e->out, "  TC_GUARD(%s <= %lld, TC_MISS_MOST, -1, -1, %s, %lld);\n", d.text,
              (long long)bound[i].hi, d.text, (long long)bound[i].hi);
    tc_buf_free(&d);
  }
}

/* ---- writes ---------------------------------------------------------------------------------- */

enum { MANY_PAIRS = 64 }; /* of operands: they are sorted, not compared each with each */

/* The operands that overlap, of those that some condition holds for, in a loop; span: how one
 * begins and ends; miss: what to say of one. */
static void put_spans(const tc_entry *e, bool (*belongs)(const tc_input *),
                      bool (*alone)(const tc_input *), const char *span, const char *miss) {
  const uint32_t n = tc_graph_input_count(e->p->graph);
  tc_put(e->out, "  {\n    static const uint32_t spans[][2] = {");
  for (uint32_t i = 0; i < n; ++i) {
    const tc_input *in = tc_graph_input_at(e->p->graph, i);
    if (belongs(in)) tc_putf(e->out, "{%u, %d}, ", i, alone(in));
  }
  tc_putf(e->out,
          "};\n"
          "    tc_span span[sizeof spans / sizeof *spans], *s = span;\n"
          "    uint32_t hit[2];\n"
          "    for (uint32_t i = 0; i < sizeof spans / sizeof *spans; ++i) {\n"
          "      const struct tc_tensor *x = in[spans[i][0]];\n"
          "      s->operand = spans[i][0], s->alone = spans[i][1];\n"
          "      s += %s;\n"
          "    }\n"
          "    if (tc_spans_meet(span, (uint32_t)(s - span), hit))\n"
          "      return tcrt_miss(f, %s);\n"
          "  }\n",
          span, miss);
}

static bool any_input(const tc_input *in) { return in != NULL; }
static bool is_written(const tc_input *in) { return in->written; }
static bool is_read_leaf(const tc_input *in) { return in->leaf && !in->written; }
static bool is_read_leaf_or_constant(const tc_input *in) {
  return (in->leaf || in->detached) && !in->written;
}

static uint32_t count_inputs(const tc_entry *e, bool (*belongs)(const tc_input *)) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i)
    n += belongs(tc_graph_input_at(e->p->graph, i));
  return n;
}

static void put_overlap_guards(const tc_entry *e, uint32_t i) {
  for (uint32_t j = 0; j < tc_graph_input_count(e->p->graph); ++j)
    if (j != i)
      tc_putf(e->out,
              "  if (tc_overlap(x%u, %d, x%u, %d)) return tcrt_miss(f, TC_MISS_ALIAS, %u, -1, %u, 0);\n",
              i, element_bytes(e, i), j, element_bytes(e, j), i, j);
}

static void put_each_write_guard(const tc_entry *e, bool overlap) {
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    const tc_input *in = tc_graph_input_at(e->p->graph, i);
    if (!in->written) continue;
    if (!in->leaf && !in->detached)
      tc_putf(e->out, "  TC_GUARD(tcrt_may_write(x%u), TC_MISS_GRAD, %u, -1, 0, 0);\n", i, i);
    tc_putf(
        e->out,
        "  if ((x%u->key.flags & (TC_FLAG_CONTIGUOUS | TC_FLAG_READONLY)) != TC_FLAG_CONTIGUOUS",
        i);
    if (tc_entry_may_be_strided(e, i)) tc_putf(e->out, " && !tcrt_may_unpack(x%u)", i);
    tc_putf(e->out, ")\n    return tcrt_miss(f, TC_MISS_STRIDE, %u, -1, 0, %d);\n", i,
            !tc_entry_may_be_strided(e, i));
    if (overlap) put_overlap_guards(e, i);
  }
}

/* Written operands: writable, apart from every other operand, and contiguous where they are not
 * packed. */
static void put_write_guards(const tc_entry *e) {
  const uint32_t written = count_inputs(e, is_written);
  if (!written) return;
  const bool many = e->tabulates || written * tc_graph_input_count(e->p->graph) > MANY_PAIRS;
  if (e->tabulates) tc_entry_table_writes(e);
  else put_each_write_guard(e, !many);
  if (many)
    put_spans(e, any_input, is_written, "tcrt_extent(x, &s->low, &s->high)",
              "TC_MISS_ALIAS, (int)hit[0], -1, hit[1], 0");
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Gradients with respect to a tensor that is given twice are the sum of what the graph has for
 * both, and for one that is a constant there.  Written ones are apart from all others already. */
static void put_leaf_guards(const tc_entry *e) {
  if (count_inputs(e, is_read_leaf) && count_inputs(e, is_read_leaf_or_constant) > 1)
    put_spans(e, is_read_leaf_or_constant, is_read_leaf,
              "(s->low = s->high = (uintptr_t)x->autograd, 1)",
              "TC_MISS_GRAD, (int)hit[0], -1, hit[1], 2");
}

/* ---- index operands -------------------------------------------------------------------------- */

/* Some nest of the kernel runs over a point at all. */
static void put_has_points(const tc_entry *e, const tc_kernel *k) {
  for (uint32_t n = 0; n < k->nnest; ++n) {
    tc_put(e->out, n ? " || (1" : "(1");
    for (int a = 0; a < k->nest[n].naxis; ++a) {
      const tc_dim extent = k->nest[n].axis[a].extent;
      if (tc_dim_is_const(extent) && tc_dim_value(extent) > 0) continue;
      tc_put(e->out, " && (");
      tc_entry_dim(e, extent);
      tc_put(e->out, ") > 0");
    }
    tc_put(e->out, ")");
  }
  if (!k->nnest) tc_put(e->out, "1"); /* a product */
}

typedef struct indexed {
  const tc_entry *e;
  const tc_kernel *k;
  tc_dim last; /* what the guard before asks for */
  bool any;
} indexed;

/* Sizes of its own, by their names in its text. */
static void put_own_sizes(const tc_entry *e, const tc_kernel *k) {
  tc_put(e->out, "  {\n");
  for (uint32_t i = 0; i < k->nsize; ++i) {
    tc_putf(e->out, "  const int64_t s_%s __attribute__((unused)) = ",
            tc_dims_sym(e->dims, k->size[i].sym)->name);
    tc_entry_dim(e, k->size[i].value);
    tc_put(e->out, ";\n");
  }
}

static void put_index_guard(tc_dim bound, void *arg) {
  indexed *x = arg;
  int64_t lo, hi;
  tc_dim_range(x->e->dims, bound, &lo, &hi);
  if (lo > 0 || tc_dim_same(bound, x->last)) return;
  x->last = bound;
  if (!x->any && x->k->nsize) put_own_sizes(x->e, x->k);
  x->any = true;
  tc_put(x->e->out, "  TC_GUARD((");
  tc_entry_dim(x->e, bound);
  tc_put(x->e->out, ") > 0 || !(");
  put_has_points(x->e, x->k);
  tc_put(x->e->out, "), TC_MISS_INDEX, -1, -1, 0, 0);\n");
}

/* Kernels take element 0 for one that is out of range, and say so: there has to be one. */
static void put_index_guards(const tc_entry *e) {
  for (uint32_t i = 0; i < e->p->nkernel; ++i) {
    indexed x = {e, &e->p->kernel[i], tc_dim_const(1), false};
    tc_print_each_bound(x.k, put_index_guard, &x);
    if (x.any && x.k->nsize) tc_put(e->out, "  }\n");
  }
}

static void put_switches(const tc_entry *e) {
  tc_put(e->out, "  if (__builtin_expect(!tcrt_enabled | !tc_unit_accepted");
  if (e->style->refuse) e->style->refuse(e);
  tc_put(e->out, ", 0))\n    return tcrt_miss(f, TC_MISS_DISABLED, -1, -1, 0, 0);\n");
}

/* The body's operands would be converted otherwise. */
static void put_autocast_guard(const tc_entry *e) {
  const uint32_t allowed = e->f->autocasts ? e->f->autocasts : TC_AUTOCAST_ANY;
  if (allowed == TC_AUTOCAST_ANY || e->f->part == TC_PART_BACKWARD) return;
  const bool none = allowed >> TC_NO_AUTOCAST_DTYPE & 1;
  tc_putf(e->out,
          "  TC_GUARD(%s0x%xu >> tcrt_autocast() & 1, TC_MISS_AUTOCAST, -1, -1, tcrt_autocast(), "
          "0);\n",
          none ? "!tcrt_autocasts || " : "", allowed);
}

void tc_entry_guards(const tc_entry *e) {
  const tc_graph *g = e->p->graph;
  if (!e->f->always && e->f->part != TC_PART_BACKWARD) put_switches(e);
  put_autocast_guard(e);
  if (e->tabulates) tc_entry_table_keys(e);
  else put_key_guards(e);
  put_symbols(e);
  if (e->tabulates) tc_entry_table_sizes(e);
  else
    for (uint32_t i = 0; i < tc_graph_input_count(g); ++i)
      put_size_guards(e, i, tc_graph_input_at(g, i));
  put_symbol_guards(e);
  put_equalities(e);
  put_bounds(e);
  put_write_guards(e);
  put_leaf_guards(e);
  put_index_guards(e);
}
