/* print.c - the loop IR as text (TC_DUMP=loops), in the form that lower/read.c reads. */
#include "graph/text_sizes.h"
#include "lower/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct printer {
  const tc_program *p;
  const tc_kernel *k;
  tc_dims *dims;
  tc_buf *out;
  const tc_axis *axis;
  int naxis;
  bool *done; /* expressions of the kernel that are printed */
} printer;

static void put_dim(const printer *r, tc_dim d) { tc_dim_print_ordered(r->dims, d, r->out); }

static void put_type(const printer *r, const tc_type *t) {
  tc_putf(r->out, "%s%s[", t->weak ? "weak " : "", tc_dtype_text((tc_dtype)t->dtype));
  for (int i = 0; i < t->rank; i++) {
    if (i) tc_put(r->out, ",");
    put_dim(r, t->dim[i]);
  }
  tc_put(r->out, "]");
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_plain(const char *name) {
  for (const char *at = name; *at; at++)
    if (*at <= ' ' || *at == '"' || *at == ';') return false;
  return *name;
}

static const char *name_of(const tc_buffer *b) { return b->name ? b->name : "buffer"; }

static void put_name(const char *name, tc_buf *out) {
  if (is_plain(name)) tc_put(out, name);
  else tc_put_quoted(out, name);
}

static bool has_namesake(const tc_program *p, uint32_t input) {
  for (uint32_t i = 0; i < p->nbuffer; i++)
    if (i != input && p->buffer[i].kind == TC_BUF_INPUT &&
        !strcmp(name_of(&p->buffer[i]), name_of(&p->buffer[input])))
      return true;
  return false;
}

void lo_put_label(const tc_program *p, uint32_t buffer, tc_buf *out) {
  const tc_buffer *b = &p->buffer[buffer];
  put_name(name_of(b), out);
  if (b->kind != TC_BUF_INPUT || has_namesake(p, buffer)) tc_putf(out, ".%u", buffer);
}

static void put_label(const printer *r, uint32_t i) { lo_put_label(r->p, r->k->buffer[i], r->out); }

/* ---- addresses ------------------------------------------------------------------------------- */

static void put_plus(const printer *r, bool *any) {
  if (*any) tc_put(r->out, " + ");
  *any = true;
}

/* Names outside of parentheses are those of axes. */
static void put_factor(const printer *r, tc_dim d) {
  const bool plain = tc_dim_is_const(d);
  if (!plain) tc_put(r->out, "(");
  put_dim(r, d);
  if (!plain) tc_put(r->out, ")");
}

static void put_scaled(const printer *r, tc_dim d) {
  if (tc_dim_is(d, 1)) return;
  put_factor(r, d);
  tc_put(r->out, "*");
}

static void put_address(const printer *r, const tc_address *a) {
  bool any = false;
  for (int i = 0; i < TC_MAX_AXES; i++) {
    if (tc_dim_is(a->coef[i], 0)) continue;
    put_plus(r, &any);
    put_scaled(r, a->coef[i]);
    tc_put(r->out, i < r->naxis ? r->axis[i].name : "?");
  }
  for (int t = 0; t < a->nterm; t++) {
    put_plus(r, &any);
    put_scaled(r, a->term[t].stride);
    tc_putf(r->out, "%%%u", a->term[t].value.id);
    if (a->term[t].free) continue;
    tc_put(r->out, "{<");
    put_dim(r, a->term[t].bound);
    tc_put(r->out, "}");
  }
  if (any && tc_dim_is(a->offset, 0)) return;
  put_plus(r, &any);
  put_factor(r, a->offset);
}

static void put_place(const printer *r, uint32_t buffer, const tc_address *a) {
  put_label(r, buffer);
  tc_put(r->out, "[");
  put_address(r, a);
  tc_put(r->out, "]");
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_operands(const printer *r, const tc_expr *e) {
  for (int i = 0; i < 3; i++)
    if (e->in[i].id) tc_putf(r->out, " %%%u", e->in[i].id);
}

static void put_expr(const printer *r, const tc_expr *e) {
  switch (e->kind) {
  case TC_EX_NONE: tc_put(r->out, "none"); break;
  case TC_EX_CONST:
    if (tc_dtype_is_float(e->dtype)) tc_put_double(r->out, e->f);
    else tc_putf(r->out, "%lld", (long long)e->i);
    break;
  case TC_EX_SCALAR: tc_putf(r->out, "scalar %u", e->index); break;
  case TC_EX_DIM: tc_put(r->out, "dim "), put_dim(r, e->dim); break;
  case TC_EX_INDEX: tc_put(r->out, "index "), put_address(r, &e->address); break;
  case TC_EX_LOAD:
    tc_put(r->out, "load "), put_place(r, e->buffer, &e->address);
    if (e->guard.id) tc_putf(r->out, " where %%%u", e->guard.id);
    break;
  case TC_EX_OP:
    tc_putf(r->out, "%s%s", tc_op_get(e->op)->text, e->reproducible ? " reproducible" : ""),
        put_operands(r, e);
    break;
  case TC_EX_CAST: tc_put(r->out, "cast"), put_operands(r, e); break;
  case TC_EX_ROUND:
    tc_putf(r->out, "round %s", tc_dtype_text(e->storage)), put_operands(r, e);
    break;
  case TC_EX_RESULT: tc_putf(r->out, "#%u", e->index); break;
  case TC_EX_RANDOM:
    tc_put(r->out, tc_op_get(e->op)->text);
    if (e->storage != e->dtype) tc_putf(r->out, " %s", tc_dtype_text(e->storage));
    put_operands(r, e), tc_put(r->out, " at "), put_address(r, &e->address);
    break;
  }
  tc_putf(r->out, " : %s\n", tc_dtype_text(e->dtype));
}

/* Prints what v needs, operands first; depth is bounded by the size of a kernel. */
static void put_value(printer *r, tc_val v, int indent) {
  if (!v.id || r->done[v.id]) return;
  const tc_expr *e = &r->k->expr[v.id];
  r->done[v.id] = true;
  for (int i = 0; i < 3; i++) put_value(r, e->in[i], indent);
  put_value(r, e->guard, indent);
  for (int t = 0; t < e->address.nterm; t++) put_value(r, e->address.term[t].value, indent);
  tc_putf(r->out, "%*s%%%u = ", indent, "", v.id);
  put_expr(r, e);
}

/* ---- actions, stages, nests ------------------------------------------------------------------ */

static void put_action(printer *r, const tc_action *a, int indent) {
  put_value(r, a->value, indent);
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; i++) put_value(r, a->further[i], indent);
  put_value(r, a->term, indent);
  put_value(r, a->guard, indent);
  for (int t = 0; t < a->address.nterm; t++) put_value(r, a->address.term[t].value, indent);
  tc_putf(r->out, "%*s", indent, "");
  if (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) {
    tc_put(r->out, a->kind == TC_ACT_ADD ? "add " : "store ");
    put_place(r, a->buffer, &a->address);
    tc_putf(r->out, " %%%u", a->value.id);
    if (a->guard.id) tc_putf(r->out, " where %%%u", a->guard.id);
  } else {
    const tc_reducer_info *info = tc_reducer_get(a->reducer);
    for (int i = 0; i < info->n; i++)
      tc_putf(r->out, "%s#%u", i ? ", " : "", a->index + (uint32_t)i);
    tc_putf(r->out, " = %s%s %%%u", a->kind == TC_ACT_SCAN ? "running " : "", info->text,
            a->value.id);
    for (int i = 1; i < info->n; i++) tc_putf(r->out, ", %%%u", a->further[i - 1].id);
    if (a->term.id) tc_putf(r->out, " of terms %%%u", a->term.id);
    tc_putf(r->out, " : %s", tc_dtype_text(a->dtype));
    if (a->serves) tc_putf(r->out, " serves #%u", a->serves - 1);
  }
  tc_put(r->out, "\n");
}

static void put_known(printer *r, const tc_stage *s, int indent) {
  if (!s->skip_if.id) return;
  put_value(r, s->skip_if, indent);
  put_value(r, s->skip_value, indent);
  tc_putf(r->out, "%*s#%u = %%%u where %%%u", indent, "", s->action[0].index, s->skip_value.id,
          s->skip_if.id);
  if (s->skip_points) tc_putf(r->out, ", from %lld points on", (long long)s->skip_points);
  tc_put(r->out, ", else\n");
}

static void put_axis(const printer *r, const tc_axis *axis, const tc_axis *all) {
  tc_putf(r->out, " %s < ", axis->name);
  put_dim(r, axis->extent);
  if (axis->of < 0) return;
  tc_putf(r->out, " (chunk %s of ", all[axis->of].name);
  put_dim(r, axis->total);
  tc_put(r->out, ")");
}

static void put_interval(const printer *r, const tc_stage *s) {
  if (!s->interval) return;
  tc_put(r->out, " from "), put_dim(r, s->first);
  tc_put(r->out, " to "), put_dim(r, s->end);
}

static void put_stage(printer *r, const tc_nest *n, const tc_stage *s) {
  tc_put(r->out, "    stage {");
  for (int i = 0; i < n->naxis; i++)
    if (s->axes >> i & 1) {
      tc_putf(r->out, " %s", n->axis[i].name);
      if (i == n->vector) put_interval(r, s);
    }
  tc_put(r->out, " }\n");
  put_known(r, s, 6);
  for (uint32_t a = 0; a < s->naction; a++) put_action(r, &s->action[a], 6);
  if (!s->if_skipped) return;
  tc_putf(r->out, "      or, where the stage of #%u was skipped\n", s->skipped);
  for (uint32_t a = 0; a < s->naction; a++) put_action(r, &s->if_skipped[a], 6);
}

static void put_when(const printer *r, const tc_nest *n) {
  static const char *const when[] = {"", "cut", "whole"};
  if (n->when == TC_ALWAYS) return;
  tc_putf(r->out, "  where %s (", when[n->when]);
  put_dim(r, n->elements), tc_put(r->out, " elements, ");
  put_dim(r, n->results), tc_putf(r->out, " results, whole up to %lld or from %lld)",
                                  (long long)n->whole, (long long)n->many);
}

static void put_nest(printer *r, const tc_nest *n) {
  r->axis = n->axis;
  r->naxis = n->naxis;
  tc_put(r->out, "  nest");
  for (int i = 0; i < n->naxis; i++) {
    if (i == n->nparallel) tc_put(r->out, " |");
    put_axis(r, &n->axis[i], n->axis);
  }
  if (n->vector >= 0) tc_putf(r->out, "  lanes %s", n->axis[n->vector].name);
  if (n->serial) tc_put(r->out, "  serial");
  put_when(r, n);
  tc_put(r->out, "  work "), put_dim(r, n->work);
  tc_put(r->out, "\n");
  for (uint32_t s = 0; s < n->nstage; s++) put_stage(r, n, &n->stage[s]);
  if (n->nstreamed) tc_put(r->out, "    or, where rows are not kept\n");
  for (uint32_t s = 0; s < n->nstreamed; s++) put_stage(r, n, &n->stage[n->nstage + s]);
}

/* "(c < C, r < 3)" */
static void put_parts(const printer *r, const tc_mm_loop *m, uint32_t parts) {
  const char *between = " (";
  for (int i = tc_mm_first_part(m); i < tc_mm_axes(m); i++) {
    if (!(parts >> i & 1)) continue;
    tc_putf(r->out, "%s%s < ", between, m->axis[i].name);
    put_dim(r, m->axis[i].extent);
    between = ", ";
  }
  if (parts) tc_put(r->out, ")");
}

static void put_factors(printer *r, tc_val a, tc_val b) {
  tc_putf(r->out, "    a %%%u  b %%%u\n", a.id, b.id);
  put_value(r, a, 6);
  put_value(r, b, 6);
}

static void put_actions(printer *r, const tc_stage *s) {
  for (uint32_t a = 0; a < s->naction; a++) put_action(r, &s->action[a], 6);
}

static void put_row_stage(printer *r, const char *name, const tc_stage *s) {
  if (s->naction) tc_putf(r->out, "    %s\n", name);
  put_actions(r, s);
}

/* The rest of the line: their axes; the inner products, what the first one's rows are reduced to,
 * and what that becomes. */
static void put_inner(printer *r, const tc_mm_loop *m) {
  tc_put(r->out, "  inner");
  for (int i = 0; i < m->inner.n; i++) put_axis(r, &m->axis[tc_mm_deep(m, i)], m->axis);
  tc_put(r->out, "\n");
  for (int i = 0; i < m->inner.n; i++) {
    tc_put(r->out, "    inner\n");
    put_factors(r, m->inner.a[i], m->inner.b[i]);
  }
  put_row_stage(r, "rows", &m->inner.rows);
  put_row_stage(r, "finish", &m->inner.finish);
  tc_put(r->out, "    outer\n");
}

static void put_matmul(printer *r, const tc_mm_loop *m) {
  r->axis = m->axis;
  r->naxis = tc_mm_axes(m);
  tc_putf(r->out, "  matmul %s", tc_dtype_text(m->operand));
  for (int i = 0; i < m->nbatch + 3; i++) {
    put_axis(r, &m->axis[i], m->axis);
    put_parts(r, m, tc_mm_parts(m, i));
  }
  if (tc_mm_is_chain(m)) put_inner(r, m);
  else tc_put(r->out, "\n");
  put_factors(r, m->a, m->b);
  if (tc_mm_has_beside(m)) {
    tc_put(r->out, "    beside\n");
    put_factors(r, m->beside.a, m->beside.b);
  }
  if (m->product) {
    tc_put(r->out, "    product ");
    put_label(r, m->product - 1);
    tc_put(r->out, "\n");
  }
  tc_put(r->out, "    epilogue\n");
  put_actions(r, &m->epilogue);
  if (!tc_mm_has_across(m)) return;
  tc_putf(r->out, "    across b %%%u\n", m->across.b.id);
  put_value(r, m->across.b, 6);
  put_actions(r, &m->across.epilogue);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void put_base(const printer *r, uint32_t argument) {
  tc_put(r->out, "  ");
  put_label(r, argument);
  tc_put(r->out, " from element ");
  put_dim(r, r->k->base[argument]);
  tc_put(r->out, "\n");
}

/* In the order of the program's buffers: the text does not say that of the kernel's. */
static void put_bases(const printer *r, const tc_kernel *k) {
  for (uint32_t b = 0; b < r->p->nbuffer; b++)
    for (uint32_t i = 0; i < k->nbuffer; i++)
      if (k->buffer[i] == b && !tc_dim_is(k->base[i], 0)) put_base(r, i);
}

/* In whose launch it runs, and the sizes that are its own. */
static void put_siblings(const printer *r, const tc_kernel *k) {
  if (k->sibling)
    tc_put(r->out, k->joins ? "  in the launch in front\n" : "  the first of a launch\n");
  for (uint32_t i = 0; i < k->nsize; i++) {
    tc_putf(r->out, "  %s is ", tc_dims_sym(r->dims, k->size[i].sym)->name);
    put_dim(r, k->size[i].value);
    tc_put(r->out, "\n");
  }
}

static void put_sort(printer *r, const tc_sort_loop *s) {
  tc_put(r->out, "  sort ");
  put_label(r, 0);
  tc_put(r->out, " of ");
  put_label(r, 1);
  tc_put(r->out, "  outer ");
  put_dim(r, s->outer);
  tc_put(r->out, "  n ");
  put_dim(r, s->n);
  tc_put(r->out, "  inner ");
  put_dim(r, s->inner);
  tc_put(r->out, "  first ");
  put_dim(r, s->k);
  tc_put(r->out, s->descending ? "  descending\n" : "\n");
}

static void put_kernel(printer *r, const tc_kernel *k) {
  r->k = k;
  r->done = calloc(k->nexpr + 1u, sizeof *r->done);
  if (!r->done) {
    r->out->failed = true;
    return;
  }
  tc_putf(r->out, "kernel %s  flops ", k->name);
  put_dim(r, k->flops);
  tc_put(r->out, "  bytes ");
  put_dim(r, k->bytes);
  tc_put(r->out, "\n");
  put_siblings(r, k);
  put_bases(r, k);
  if (k->outer.fused) {
    tc_putf(r->out, "  for %s < ", tc_dims_sym(r->dims, k->outer.sym)->name);
    put_dim(r, k->outer.extent);
    tc_put(r->out, "\n");
  }
  for (uint32_t n = 0; n < k->nnest; n++) put_nest(r, &k->nest[n]);
  if (k->kind == TC_KERNEL_MATMUL) put_matmul(r, &k->mm);
  if (k->kind == TC_KERNEL_SORT) put_sort(r, &k->sort);
  if (k->kind == TC_KERNEL_CALL)
    tc_putf(r->out, "  calls a function of the program%s\n", k->effect ? " for its effect" : "");
  free(r->done);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Steps along each axis in elements; of an axis in blocks: "STRIDE per BLOCK by WITHIN". */
static void put_layout(const printer *r, const tc_buffer *b) {
  if (!b->layout.strided) return;
  tc_put(r->out, " layout [");
  for (int i = 0; i < b->type.rank; i++) {
    const tc_buf_axis *x = &b->layout.axis[i];
    if (i) tc_put(r->out, ", ");
    put_dim(r, x->stride);
    if (x->block <= 1) continue;
    tc_putf(r->out, " per %lld by ", (long long)x->block);
    put_dim(r, x->within);
  }
  tc_put(r->out, "]");
}

static bool is_input(const tc_buffer *b, uint32_t input) {
  return b->kind == TC_BUF_INPUT && b->index == input;
}

/* The buffer of a graph input, or nbuffer. */
static uint32_t find_input(const tc_program *p, uint32_t input) {
  uint32_t i = 0;
  while (i < p->nbuffer && !is_input(&p->buffer[i], input)) i++;
  return i;
}

static void put_version(const printer *r, const tc_buffer *b) {
  if (b->version == TC_STATE) {
    tc_put(r->out, " as the last call left it");
    return;
  }
  const uint32_t input = find_input(r->p, b->version);
  tc_put(r->out, " while ");
  if (input < r->p->nbuffer) lo_put_label(r->p, input, r->out);
  else put_name(tc_graph_input_at(r->p->graph, b->version)->name, r->out);
  tc_put(r->out, " is unchanged");
}

static void put_buffer(const printer *r, uint32_t i) {
  static const char *const kind[] = {"input", "output", "arena", "local", "kept", "private"};
  const tc_buffer *b = &r->p->buffer[i];
  tc_putf(r->out, "buffer %u %s", i, kind[b->kind]);
  if (b->kind == TC_BUF_INPUT || b->kind == TC_BUF_OUTPUT) tc_putf(r->out, " %u", b->index);
  tc_put(r->out, " "), put_name(name_of(b), r->out), tc_put(r->out, " ");
  put_type(r, &b->type);
  if (b->kind == TC_BUF_ARENA) {
    tc_put(r->out, " at ");
    put_dim(r, b->offset);
  }
  put_layout(r, b);
  if (b->kind == TC_BUF_KEPT) put_version(r, b);
  tc_put(r->out, b->written ? " written\n" : "\n");
}

static void put_scalars(const printer *r) {
  const uint32_t n = tc_graph_scalar_count(r->p->graph);
  for (uint32_t i = 0; i < n; i++) {
    const tc_scalar_arg *s = tc_graph_scalar_at(r->p->graph, i);
    tc_putf(r->out, "scalar %u %s ", i, tc_dtype_text(s->dtype));
    tc_put_quoted(r->out, s->name);
    tc_put(r->out, "\n");
  }
  for (uint32_t i = 0; i < r->p->nconstant; i++) {
    tc_putf(r->out, "constant %u ", n + i);
    tc_put_double(r->out, r->p->constant[i]);
    tc_put(r->out, "\n");
  }
}

/* In order of declaration, which is the order of terms in sums and products. */
static void put_symbols(const printer *r) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < tc_dims_sym_count(r->dims); i++) {
    if (tc_dims_sym(r->dims, i)->pitch && !tc_is_pitch(r->p, i)) continue; /* of another program */
    tc_put(r->out, n++ ? ", " : "sizes ");
    tc_put_symbol(tc_dims_sym(r->dims, i), r->out);
  }
  if (n) tc_put(r->out, "\n");
}

/* Inputs that no kernel names: sizes may be known by them. */
static void put_unread(const printer *r) {
  for (uint32_t i = 0; i < tc_graph_input_count(r->p->graph); i++) {
    const tc_input *in = tc_graph_input_at(r->p->graph, i);
    if (find_input(r->p, i) < r->p->nbuffer) continue;
    tc_putf(r->out, "unread input %u ", i);
    put_name(in->name, r->out), tc_put(r->out, " ");
    put_type(r, &in->type);
    tc_put(r->out, "\n");
  }
}

void tc_program_print(const tc_program *p, tc_buf *out) {
  printer r = {.p = p, .dims = tc_graph_dims(p->graph), .out = out};
  const uint32_t launches = tc_launch_count(p);
  tc_putf(out, "program %s: %u kernels", tc_graph_name(p->graph), p->nkernel);
  if (launches < p->nkernel) tc_putf(out, " in %u launch%s", launches, launches > 1 ? "es" : "");
  tc_put(out, ", workspace ");
  put_dim(&r, p->workspace);
  tc_put(out, " bytes\n");
  put_symbols(&r);
  put_scalars(&r);
  put_unread(&r);
  for (uint32_t i = 0; i < p->nbuffer; i++) put_buffer(&r, i);
  tc_put_assumptions(r.dims, out);
  for (uint32_t i = 0; i < p->nkernel; i++) put_kernel(&r, &p->kernel[i]);
}
