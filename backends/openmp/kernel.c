/* kernel.c - head and tail of a kernel: signature, buffers, symbols, scalars. */
#include "backends/openmp/emit.h"

#include <string.h>

#include "backends/openmp/unit.h"

void tc_omp_dim(const tc_program *p, tc_dim d, tc_buf *out) {
  tc_dim_print(tc_graph_dims(p->graph), d, "s_", out);
}

static const tc_buffer *buffer_of(const tc_kernel *k, const tc_program *p, uint32_t i) {
  return &p->buffer[k->buffer[i]];
}

static void each_action(const tc_kernel *k, void (*f)(const tc_action *, void *), void *arg) {
  for (uint32_t n = 0; n < k->nnest; ++n)
    for (uint32_t s = 0; s < k->nest[n].nstage; ++s)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; ++a)
        f(&k->nest[n].stage[s].action[a], arg);
  if (k->kind == TC_KERNEL_MATMUL)
    for (uint32_t a = 0; a < k->mm.epilogue.naction; ++a) f(&k->mm.epilogue.action[a], arg);
}

typedef struct query {
  uint32_t buffer;
  bool found;
} query;

static void is_write(const tc_action *a, void *arg) {
  query *q = arg;
  if ((a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD) && a->buffer == q->buffer) q->found = true;
}

bool tc_omp_writes(const tc_kernel *k, uint32_t buffer) {
  query q = {buffer, false};
  each_action(k, is_write, &q);
  return q.found;
}

static void has_terms(const tc_action *a, void *arg) {
  if (a->address.nterm && (a->kind == TC_ACT_STORE || a->kind == TC_ACT_ADD)) *(bool *)arg = true;
}

bool tc_omp_checks(const tc_kernel *k) {
  bool any = false;
  each_action(k, has_terms, &any);
  for (uint32_t i = 1; i < k->nexpr; ++i) {
    const tc_expr *e = &k->expr[i];
    if ((e->kind == TC_EX_LOAD || e->kind == TC_EX_INDEX) && e->address.nterm) any = true;
  }
  return any;
}

bool tc_omp_reads(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (k->expr[i].kind == TC_EX_LOAD && k->expr[i].buffer == buffer) return true;
  return false;
}

/* Two arena buffers at one place (an input dying where an output is born) must not be restrict, nor
 * inputs that a kernel writes. */
static bool is_restrict(const tc_kernel *k, const tc_program *p, uint32_t i) {
  const tc_buffer *b = buffer_of(k, p, i);
  if (b->kind == TC_BUF_INPUT) return !b->written;
  if (b->kind != TC_BUF_ARENA) return true;
  for (uint32_t j = 0; j < k->nbuffer; ++j) {
    const tc_buffer *o = buffer_of(k, p, j);
    if (j != i && o->kind == TC_BUF_ARENA && tc_dim_same(o->offset, b->offset)) return false;
  }
  return true;
}

bool tc_omp_on_stack(const tc_buffer *b) {
  return b->kind == TC_BUF_LOCAL && tc_dim_is_const(b->numel) &&
         tc_dim_value(b->numel) * (int64_t)tc_dtype_bytes(b->dtype) <= 65536;
}

static void put_shape(const tc_program *p, const tc_buffer *b, tc_buf *out) {
  tc_putf(out, " /* %s: ", b->name ? b->name : "");
  tc_type_print(tc_graph_dims(p->graph), &b->type, out);
  tc_put(out, b->kind == TC_BUF_LOCAL ? ", one row of this thread */\n" : " */\n");
}

static void put_pointer(const tc_kernel *k, const tc_program *p, uint32_t i, tc_buf *out) {
  tc_putf(out, "%stc_%s *%sb%u", tc_omp_writes(k, i) ? "" : "const ",
          tc_omp_storage(buffer_of(k, p, i)->dtype), is_restrict(k, p, i) ? "restrict " : "", i);
}

static void put_buffers(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = buffer_of(k, p, i);
    if (b->kind == TC_BUF_LOCAL) continue; /* per thread: the nests declare it */
    tc_put(out, "  ");
    put_pointer(k, p, i, out);
    tc_putf(out, " = buf[%u];", i);
    put_shape(p, b, out);
  }
}

void tc_omp_locals(const tc_kernel *k, const tc_program *p, int indent, tc_buf *out) {
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = buffer_of(k, p, i);
    if (b->kind != TC_BUF_LOCAL) continue;
    const char *t = tc_omp_storage(b->dtype);
    if (tc_omp_on_stack(b)) {
      tc_putf(out, "%*s_Alignas(64) tc_%s b%u[%lld];", indent, "", t, i,
              (long long)(tc_dim_value(b->numel) > 0 ? tc_dim_value(b->numel) : 1));
    } else {
      tc_putf(out, "%*stc_%s *restrict b%u = (tc_%s *)((char *)buf[%u] + omp_get_thread_num() * ",
              indent, "", t, i, t, i);
      tc_omp_local_bytes(p, b, out);
      tc_put(out, ");");
    }
    put_shape(p, b, out);
  }
}

/* Bytes of one thread's part, whole cache lines. */
void tc_omp_local_bytes(const tc_program *p, const tc_buffer *b, tc_buf *out) {
  tc_put(out, "(((");
  tc_omp_dim(p, b->numel, out);
  tc_putf(out, ") * %zu + 63) / 64 * 64)", tc_dtype_bytes(b->dtype));
}

/* Symbols and scalars: all of the program's, those that the body does not name are silent. */
static void put_sizes(const tc_program *p, tc_buf *out) {
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i)
    tc_putf(out, "  const int64_t s_%s = sym[%u];\n", tc_dims_sym(c, i)->name, i);
  for (uint32_t i = 0; i < tc_graph_scalar_count(p->graph); ++i) {
    const tc_scalar_arg *a = tc_graph_scalar_at(p->graph, i);
    const bool f = tc_dtype_is_float(a->dtype);
    tc_putf(out, "  const %s a%u = scalar[%u].%s;\n", f ? "double" : "int64_t", i, i,
            f ? "f" : "i");
  }
}

void tc_omp_unpack(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  put_buffers(k, p, out);
  put_sizes(p, out);
}

static void put_comment(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_putf(out, "\n/* %s", k->name ? k->name : "kernel");
  for (uint32_t i = 0; i < k->nfused; ++i) {
    const tc_node *n = tc_graph_node(p->graph, k->fused[i]);
    tc_putf(out, "%s%s", i ? ", " : ": ", tc_op_get(n->op)->text);
    if (n->loc.line) tc_putf(out, " (line %u)", n->loc.line);
  }
  tc_put(out, " */\n");
}

static const char signature[] = "TC_KERNEL int TC_NAME(@NAME@)(void *const *buf, const int64_t "
                                "*sym, const tc_value *scalar) {\n";

void tc_omp_kernel_head(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  put_comment(k, p, out);
  tc_put(out, signature);
  put_buffers(k, p, out);
  put_sizes(p, out);
  tc_put(out, "  int bad = 0;\n");
}

void tc_omp_kernel_tail(tc_buf *out) { tc_put(out, "  return bad != 0;\n}\n"); }

/* What every thread runs: pointers are parameters, the only place where restrict is heeded. */
void tc_omp_team_head(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  put_comment(k, p, out);
  tc_put(out, "static __attribute__((noinline)) TC_WIDE int TC_NAME(@NAME@_team)(\n");
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    if (buffer_of(k, p, i)->kind == TC_BUF_LOCAL) continue;
    tc_put(out, "    ");
    put_pointer(k, p, i, out);
    tc_put(out, ",");
    put_shape(p, buffer_of(k, p, i), out);
  }
  tc_put(out, "    void *const *buf, const int64_t *sym, const tc_value *scalar) {\n");
  put_sizes(p, out);
  tc_put(out, "  int bad = 0;\n");
}

static void put_call(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_put(out, "TC_NAME(@NAME@_team)(");
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (buffer_of(k, p, i)->kind != TC_BUF_LOCAL) tc_putf(out, "buf[%u], ", i);
  tc_put(out, "buf, sym, scalar)");
}

/* The kernel: a team of threads where the work pays for it, else this thread alone.  Inside a
 * parallel region of the caller's the team is one of its own, so that its loops do not bind to that
 * region. */
void tc_omp_team_tail(const tc_kernel *k, const tc_program *p, const char *work, tc_buf *out) {
  const bool checks = tc_omp_checks(k);
  tc_put(out, "  return bad != 0;\n}\n");
  tc_put(out, signature);
  put_sizes(p, out);
  tc_put(out, "  int bad = 0;\n");
  if (work) {
    tc_putf(out,
            "  const int team = %s > TC_PARALLEL_WORK;\n"
            "  if (team | omp_in_parallel()) {\n#pragma omp parallel if (team)\n    %s",
            work, checks ? "if (" : "");
    put_call(k, p, out);
    tc_put(out, checks ? ") __atomic_store_n(&bad, 1, __ATOMIC_RELAXED);\n  } else\n  "
                       : ";\n  } else\n  ");
  }
  tc_put(out, "  bad = ");
  put_call(k, p, out);
  tc_put(out, ";\n  return bad;\n}\n");
}
