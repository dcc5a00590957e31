/* explain.c - the rows of explain.h, from a graph and the programs it became. */
#include "backends/explain.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
#define WORD(id, word, ...) [TC_EXPLAIN_##id] = word,
    TC_EXPLAIN_ROWS(WORD)
#undef WORD
};

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_escaped(const char *s, size_t n, tc_buf *out) {
  for (size_t i = 0; i < n; ++i) {
    if (s[i] == '\t') tc_put(out, "\\t");
    else if (s[i] == '\n') tc_put(out, "\\n");
    else if (s[i] == '\\') tc_put(out, "\\\\");
    else tc_putn(out, &s[i], 1);
  }
}

static void begin(tc_explain_row row, tc_buf *out) { tc_put(out, words[row]); }

static void text_n(const char *s, size_t n, tc_buf *out) {
  tc_put(out, "\t");
  put_escaped(s, n, out);
}

static void text(const char *s, tc_buf *out) { text_n(s ? s : "", s ? strlen(s) : 0, out); }

static void number(uint32_t n, tc_buf *out) { tc_putf(out, "\t%u", n); }

static void size(const tc_dims *dims, tc_dim d, tc_buf *out) {
  tc_put(out, "\t");
  tc_dim_print(dims, d, NULL, out);
}

static void end(tc_buf *out) { tc_put(out, "\n"); }

/* liblzma's preset: text that repeats itself becomes no smaller by higher ones, in five times the
 * time. */
enum { PRESET = 3 };

void tc_explain_pack(const char *rows, size_t n, tc_buf *out) {
  const size_t room = lzma_stream_buffer_bound(n);
  uint8_t *bytes = malloc(room);
  size_t packed = 0;
  if (bytes && lzma_easy_buffer_encode(PRESET, LZMA_CHECK_CRC32, NULL, (const uint8_t *)rows, n,
                                       bytes, &packed, room) == LZMA_OK) {
    tc_putf(out, "%s\t%zu\t%zu\n", TC_EXPLAIN_PACKED, n, packed);
    tc_putn(out, (const char *)bytes, packed);
  } else {
    out->failed = true;
  }
  free(bytes);
}

/* ---- units and functions --------------------------------------------------------------------- */

void tc_explain_unit(const char *file, tc_buf *out) {
  begin(TC_EXPLAIN_UNIT, out);
  text(TC_EXPLAIN_VERSION, out);
  text(file, out);
  end(out);
}

void tc_explain_function(const char *name, const char *file, uint32_t line, tc_buf *out) {
  begin(TC_EXPLAIN_FUNCTION, out);
  text(name, out);
  text(file, out);
  number(line, out);
  end(out);
}

void tc_explain_profile(const char *sizes, uint64_t calls, uint64_t all, tc_buf *out) {
  begin(TC_EXPLAIN_PROFILE, out);
  text(sizes, out);
  tc_putf(out, "\t%llu\t%llu", (unsigned long long)calls, (unsigned long long)all);
  end(out);
}

void tc_explain_signature(const char *symbol, const tc_explain_type *returns, tc_buf *out) {
  begin(TC_EXPLAIN_SIGNATURE, out);
  text(symbol, out);
  text(returns->text, out);
  text(returns->kind, out);
  text(returns->needs, out);
  text(returns->obstacle, out);
  end(out);
}

void tc_explain_parameter(const char *name, const char *shape, const tc_explain_type *type,
                          tc_buf *out) {
  begin(TC_EXPLAIN_PARAMETER, out);
  text(name, out);
  text(type->text, out);
  text(type->kind, out);
  text(shape, out);
  text(type->needs, out);
  text(type->obstacle, out);
  end(out);
}

void tc_explain_break(const char *file, uint32_t line, uint32_t column, const char *why,
                      tc_buf *out) {
  const char *remedy = strstr(why, "; ");
  begin(TC_EXPLAIN_BREAK, out);
  number(line, out);
  number(column, out);
  text_n(why, remedy ? (size_t)(remedy - why) : strlen(why), out);
  text(remedy ? remedy + 2 : "", out);
  text(file, out);
  end(out);
}

/* ---- segments -------------------------------------------------------------------------------- */

static void guard(tc_buf *condition, tc_buf *out) {
  begin(TC_EXPLAIN_GUARD, out);
  text(condition->text, out);
  end(out);
  out->failed |= condition->failed;
  tc_buf_free(condition);
}

static void operand_guards(tc_graph *g, tc_buf *out) {
  for (uint32_t i = 0; i < tc_graph_input_count(g); ++i) {
    const tc_input *in = tc_graph_input_at(g, i);
    tc_buf c = {0};
    tc_putf(&c, "%s is ", in->name ? in->name : "");
    tc_type_print(tc_graph_dims(g), &in->type, &c);
    if (in->written) tc_put(&c, ", contiguous, writable, and overlaps no other operand");
    guard(&c, out);
  }
}

/* "2 <= B <= 64" of a size, or of any expression (whose lower bound may be negative). */
static void range_guard(const tc_dims *dims, tc_dim d, int64_t lo, int64_t hi, int64_t least,
                        tc_buf *out) {
  if (lo <= least && hi == INT64_MAX) return;
  tc_buf c = {0};
  if (lo > least) tc_putf(&c, "%lld <= ", (long long)lo);
  tc_dim_print(dims, d, NULL, &c);
  if (hi != INT64_MAX) tc_putf(&c, " <= %lld", (long long)hi);
  guard(&c, out);
}

static void size_guards(tc_graph *g, tc_buf *out) {
  tc_dims *dims = tc_graph_dims(g);
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); ++i) {
    const tc_sym *s = tc_dims_sym(dims, i);
    if (s->input < 0) continue;
    range_guard(dims, tc_dims_sym_dim(dims, i), s->lo, s->hi, s->axis < 0 ? INT64_MIN : 0, out);
    tc_buf c = {0};
    if (s->multiple > 1) {
      tc_putf(&c, "%s %% %lld == 0", s->name, (long long)s->multiple);
      guard(&c, out);
    }
  }
  const tc_dim_pair *pair;
  for (uint32_t i = 0, n = tc_dims_assumed(dims, &pair); i < n; ++i) {
    tc_buf c = {0};
    tc_dim_print(dims, pair[i].a, NULL, &c);
    tc_put(&c, " == ");
    tc_dim_print(dims, pair[i].b, NULL, &c);
    guard(&c, out);
  }
  const tc_dim_bound *bound;
  for (uint32_t i = 0, n = tc_dims_bounds(dims, &bound); i < n; ++i) {
    uint32_t sym;
    if (!tc_dim_is_sym(dims, bound[i].d, &sym)) /* else part of the symbol's own range */
      range_guard(dims, bound[i].d, bound[i].lo, bound[i].hi, INT64_MIN, out);
  }
}

void tc_explain_segment(const tc_function *f, tc_graph *g, tc_buf *out) {
  tc_dims *dims = tc_graph_dims(g);
  tc_dim flops = tc_dim_const(0);
  for (uint32_t id = 1; id <= tc_graph_count(g); ++id) {
    const tc_dim sum = tc_dim_add(dims, flops, tc_node_flops(g, (tc_ref){id}));
    if (!tc_dim_bad(sum)) flops = sum;
  }
  begin(TC_EXPLAIN_SEGMENT, out);
  number(f->line, out);
  text(f->sizes, out); /* sizes and sides of branches that it is made for; "": any */
  number((uint32_t)f->ops, out);
  size(dims, flops, out);
  end(out);
  for (uint32_t i = 0; i < f->nsize_name; ++i) {
    begin(TC_EXPLAIN_SIZE, out);
    text(f->size_name[i].name, out);
    text(f->size_name[i].written, out);
    end(out);
  }
  operand_guards(g, out);
  size_guards(g, out);
  for (uint32_t i = 0; i < tc_graph_output_count(g); ++i) {
    tc_buf type = {0};
    tc_type_print(tc_graph_dims(g), tc_graph_type(g, tc_graph_output_at(g, i)), &type);
    begin(TC_EXPLAIN_RESULT, out);
    text(type.text, out);
    end(out);
    out->failed |= type.failed;
    tc_buf_free(&type);
  }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void level_list(uint32_t levels, tc_buf *out) {
  const char *comma = "\t";
  if (!levels) tc_put(out, "\t");
  for (int i = 0; i < TC_ISA_COUNT; ++i)
    if (levels >> i & 1) {
      tc_putf(out, "%s%s", comma, tc_isa_name[i]);
      comma = ",";
    }
}

/* The file of a place, "" where it is the function's.  (A comma would part it in a list.) */
static const char *other_file(const tc_function *f, tc_loc loc) {
  const char *file = f->file_of && loc.line ? f->file_of(f->sources, loc) : NULL;
  return file && strcmp(file, f->file) != 0 && !strchr(file, ',') ? file : "";
}

/* A line that a kernel comes from. */
typedef struct place {
  const char *file; /* "": the function's */
  uint32_t line;
} place;

/* By file, the function's first; by line. */
static int by_place(const void *a, const void *b) {
  const place *x = a, *y = b;
  const int files = strcmp(x->file, y->file);
  return files ? files : (x->line > y->line) - (x->line < y->line);
}

/* The kernel's lines in order, each once. */
static void line_list(const tc_function *f, const tc_program *p, const tc_kernel *k, tc_buf *out) {
  place *at = calloc(k->nfused + 1, sizeof *at);
  uint32_t n = 0;
  for (uint32_t i = 0; at && i < k->nfused; ++i) {
    const tc_loc loc = tc_graph_node(p->graph, k->fused[i])->loc;
    if (loc.line) at[n++] = (place){other_file(f, loc), loc.line};
  }
  if (n) qsort(at, n, sizeof *at, by_place);
  tc_put(out, "\t");
  for (uint32_t i = 0; i < n; ++i) {
    if (i && by_place(&at[i], &at[i - 1]) == 0) continue;
    if (i) tc_put(out, ",");
    if (*at[i].file) {
      put_escaped(at[i].file, strlen(at[i].file), out);
      tc_put(out, ":");
    }
    tc_putf(out, "%u", at[i].line);
  }
  if (!at) out->failed = true;
  free(at);
}

static void op_list(const tc_program *p, const tc_kernel *k, tc_buf *out) {
  if (!k->nfused) tc_put(out, "\t");
  for (uint32_t i = 0; i < k->nfused; ++i)
    tc_putf(out, "%s%s", i ? "," : "\t", tc_op_get(tc_graph_node(p->graph, k->fused[i])->op)->text);
}

static bool reads(const tc_kernel *k, uint32_t buffer) {
  uint32_t local = 0;
  while (local < k->nbuffer && k->buffer[local] != buffer) ++local;
  if (tc_kernel_takes_arrays(k)) return (local > 0 || k->effect) && local < k->nbuffer;
  for (uint32_t i = 1; local < k->nbuffer && i < k->nexpr; ++i)
    if (k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == local) return true;
  return false;
}

static const char stored_anyway[] =
    "it is stored in any case: a result, or the new value of an operand that is written";

/* The array `buffer`, between the kernel that makes it and one that reads it. */
static void stop(const tc_function *f, const tc_program *p, uint32_t buffer,
                 const tc_kernel *reader, tc_buf *out) {
  const tc_buffer *b = &p->buffer[buffer];
  tc_dims *dims = tc_graph_dims(p->graph);
  const tc_node *n = tc_graph_node(p->graph, b->node);
  const tc_dim bytes = tc_dim_const((int64_t)tc_dtype_bytes(b->dtype));
  begin(TC_EXPLAIN_STOP, out);
  text(tc_op_get(n->op)->text, out);
  number(n->loc.line, out);
  text(reader->name, out);
  size(dims, tc_dim_mul(dims, b->numel, bytes), out);
  text(b->why ? b->why : stored_anyway, out);
  text(other_file(f, n->loc), out);
  end(out);
}

static void stops(const tc_function *f, const tc_program *p, uint32_t kernel, tc_buf *out) {
  const tc_kernel *k = &p->kernel[kernel];
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const uint32_t b = k->buffer[i];
    if (!p->buffer[b].node.id || !tc_kernel_writes(k, i)) continue;
    for (uint32_t next = kernel + 1; next < p->nkernel; ++next)
      if (reads(&p->kernel[next], b)) stop(f, p, b, &p->kernel[next], out);
  }
}

/* ---- gradients ------------------------------------------------------------------------------- */

static tc_dim bytes_of(tc_graph *g, tc_ref r) {
  tc_dims *dims = tc_graph_dims(g);
  const tc_type *t = tc_graph_type(g, r);
  const tc_dim size = tc_dim_const((int64_t)tc_dtype_bytes((tc_dtype)t->dtype));
  return tc_dim_mul(dims, tc_type_numel(dims, t), size);
}

static void saved(const tc_function *f, tc_graph *g, tc_ref r, tc_buf *out) {
  const tc_node *n = tc_graph_node(g, r);
  begin(TC_EXPLAIN_SAVED, out);
  text(tc_op_get(n->op)->text, out);
  tc_put(out, "\t");
  tc_type_print(tc_graph_dims(g), tc_graph_type(g, r), out);
  number(n->loc.line, out);
  size(tc_graph_dims(g), bytes_of(g, r), out);
  text(other_file(f, n->loc), out);
  end(out);
}

void tc_explain_training(const tc_function *f, tc_graph *joint, const tc_partition *p,
                         tc_buf *out) {
  tc_dims *dims = tc_graph_dims(joint);
  tc_dim sum = tc_dim_const(0);
  for (uint32_t i = 0; i < p->nsaved; ++i)
    sum = tc_dim_add(dims, sum, bytes_of(joint, p->saved[i]));
  begin(TC_EXPLAIN_TRAINING, out);
  size(dims, sum, out);
  if (!p->nrepeated) tc_put(out, "\t");
  for (uint32_t i = 0; i < p->nrepeated; ++i)
    tc_putf(out, "%s%s", i ? "," : "\t", tc_op_get(tc_graph_node(joint, p->repeated[i])->op)->text);
  end(out);
  for (uint32_t i = 0; i < p->nsaved; ++i) saved(f, joint, p->saved[i], out);
}

/* ---- launches -------------------------------------------------------------------------------- */

static tc_dim flops_of(const tc_kernel *k) { return k->flops; }
static tc_dim traffic_of(const tc_kernel *k) { return k->bytes; }

/* Over the kernels of a launch. */
static tc_dim sum_of(const tc_program *p, uint32_t first, tc_dim (*f)(const tc_kernel *k)) {
  tc_dim sum = f(&p->kernel[first]);
  for (uint32_t k = first + 1; k < tc_launch_end(p, first); ++k) {
    const tc_dim more = tc_dim_add(tc_graph_dims(p->graph), sum, f(&p->kernel[k]));
    if (!tc_dim_bad(more)) sum = more;
  }
  return sum;
}

/* ---- variants -------------------------------------------------------------------------------- */

void tc_explain_variant(const tc_function *f, const char *device, const char *part,
                        const tc_program *p, const char *const *names, const uint32_t *levels,
                        tc_buf *out) {
  tc_dims *dims = tc_graph_dims(p->graph);
  begin(TC_EXPLAIN_VARIANT, out);
  text(device, out);
  text(part, out);
  size(dims, p->workspace, out);
  end(out);
  for (uint32_t i = 0; i < p->nkernel; i = tc_launch_end(p, i)) {
    const tc_kernel *k = &p->kernel[i];
    begin(TC_EXPLAIN_KERNEL, out);
    text(k->name, out);
    text(names[i], out);
    level_list(levels[i], out);
    line_list(f, p, k, out);
    op_list(p, k, out);
    size(dims, sum_of(p, i, flops_of), out);
    size(dims, sum_of(p, i, traffic_of), out);
    end(out);
    for (uint32_t j = i; j < tc_launch_end(p, i); ++j) stops(f, p, j, out);
  }
}
