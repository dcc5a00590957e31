/* kernel.c - head and tail of a kernel: signature, buffers, symbols, scalars. */
#include "backends/openmp/emit.h"

#include <string.h>

#include "backends/openmp/schedule/schedule.h"
#include "backends/openmp/unit.h"

static const tc_buffer *buffer_of(const tc_kernel *k, const tc_program *p, uint32_t i) {
  return &p->buffer[k->buffer[i]];
}

bool tc_omp_on_stack(const tc_buffer *b) {
  return b->kind == TC_BUF_LOCAL && tc_dim_is_const(b->numel) &&
         tc_dim_value(b->numel) * (int64_t)tc_dtype_bytes(b->dtype) <= 65536;
}

static void put_pointer(const tc_kernel *k, const tc_program *p, uint32_t i, tc_buf *out) {
  tc_putf(out, "%stc_%s *%sb%u", tc_kernel_writes(k, i) ? "" : "const ",
          tc_print_storage(buffer_of(k, p, i)->dtype),
          tc_print_restrict(k, p, i) ? "restrict " : "", i);
}

static void put_buffers(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = buffer_of(k, p, i);
    if (tc_buffer_of_thread(b)) continue; /* the nests declare it */
    tc_put(out, "  ");
    put_pointer(k, p, i, out);
    tc_putf(out, " = buf[%u];", i);
    tc_print_shape(p, b, out);
  }
}

/* Is there one for each point of a group? */
static bool is_of_group(const tc_kernel *k, const tc_buffer *b) { return b->kind == TC_BUF_PRIVATE && tc_omp_group_of(k) > 1; }

/* Whole cache lines; of arrays whose vectors are loaded whole, with room for elements behind the last one. */
static void put_bytes(const tc_program *p, const tc_buffer *b, tc_buf *out) {
  enum { LANES = 16 };
  tc_put(out, "(((");
  tc_print_dim(p, b->numel, out);
  if (b->kind == TC_BUF_PRIVATE) tc_putf(out, " + %d", LANES);
  tc_putf(out, ") * %zu + 63) / 64 * 64)", tc_dtype_bytes(b->dtype));
}

void tc_omp_put_group(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  const long long most = tc_omp_group_of(k);
  bool known = true;
  tc_buf bytes = {0};
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = buffer_of(k, p, i);
    if (b->kind != TC_BUF_PRIVATE) continue;
    if (bytes.len) tc_put(&bytes, " + ");
    put_bytes(p, b, &bytes);
    known &= tc_dim_is_const(b->numel);
  }
  if (known) tc_putf(out, "%lld", most);
  else tc_putf(out, "TC_MAX(1, TC_MIN(%lld, %d / (%s)))", most, TC_OMP_GROUP_BYTES, bytes.text);
  out->failed |= bytes.failed;
  tc_buf_free(&bytes);
}

void tc_omp_local_bytes(const tc_kernel *k, const tc_program *p, const tc_buffer *b, tc_buf *out) {
  tc_buf bytes = {0};
  put_bytes(p, b, &bytes);
  if (!is_of_group(k, b)) tc_putf(out, "%s", bytes.text);
  else if (tc_dim_is_const(b->numel)) tc_putf(out, "%lld * %s", (long long)tc_omp_group_of(k), bytes.text);
  else /* several points have no more than TC_OMP_GROUP_BYTES */
    tc_putf(out, "(%s > %d ? %s : %d)", bytes.text, TC_OMP_GROUP_BYTES, bytes.text, TC_OMP_GROUP_BYTES);
  out->failed |= bytes.failed;
  tc_buf_free(&bytes);
}

void tc_omp_locals(const tc_kernel *k, const tc_program *p, int indent, tc_buf *out) {
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = buffer_of(k, p, i);
    if (!tc_buffer_of_thread(b)) continue;
    const char *t = tc_print_storage(b->dtype);
    if (tc_omp_on_stack(b)) {
      tc_putf(out, "%*s_Alignas(64) tc_%s b%u[%lld];", indent, "", t, i,
              (long long)(tc_dim_value(b->numel) > 0 ? tc_dim_value(b->numel) : 1));
    } else {
      tc_putf(out, "%*stc_%s *%s%u = (tc_%s *)((char *)buf[%u] + part * ", indent, "", t, is_of_group(k, b) ? "group" : "restrict b", i, t, i);
      tc_omp_local_bytes(k, p, b, out);
      tc_put(out, ");");
    }
    tc_print_shape(p, b, out);
  }
}

void tc_omp_locals_of_point(const tc_kernel *k, const tc_program *p, int indent, tc_buf *out) {
  const char *point = tc_dims_sym(tc_graph_dims(p->graph), k->outer.sym)->name;
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    const tc_buffer *b = buffer_of(k, p, i);
    if (!is_of_group(k, b)) continue;
    const char *t = tc_print_storage(b->dtype);
    tc_putf(out, "%*stc_%s *restrict b%u = (tc_%s *)((char *)group%u + (s_%s - first_%s) * ", indent, "", t, i, t, i, point, point);
    put_bytes(p, b, out);
    tc_put(out, ");\n");
  }
}

static void put_scalar(uint32_t i, bool f, void *out) {
  tc_putf(out, "  const %s a%u = scalar[%u].%s;\n", f ? "double" : "int64_t", i, i, f ? "f" : "i");
}

/* Symbols and scalars: all of the program's, those that the body does not name are silent. */
static void put_sizes(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(c); ++i)
    if (!k->outer.fused || i != k->outer.sym)
      tc_putf(out, "  const int64_t s_%s = sym[%u];\n", tc_dims_sym(c, i)->name, i);
  tc_print_each_scalar(k, p, put_scalar, out);
}

void tc_omp_unpack(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  put_buffers(k, p, out);
  put_sizes(k, p, out);
}

static const char signature[] = "TC_KERNEL int TC_NAME(@NAME@)(void *const *buf, const int64_t "
                                "*sym, const tc_value *scalar) {\n";

void tc_omp_kernel_head(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_print_fused(k, p, out);
  tc_put(out, signature);
  put_buffers(k, p, out);
  put_sizes(k, p, out);
  tc_put(out, "  int bad = 0;\n");
}

void tc_omp_kernel_tail(tc_buf *out) { tc_put(out, "  return bad != 0;\n}\n"); }

/* What thread `part` of `parts` runs: pointers are parameters, the only place where restrict is
 * heeded. */
void tc_omp_team_head(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_print_fused(k, p, out);
  tc_putf(out, "static __attribute__((noinline)) TC_VECTOR_WIDTH %sint TC_NAME(@NAME@_team)(\n", k->outer.fused ? "TC_SHORT_COPIES " : "");
  for (uint32_t i = 0; i < k->nbuffer; ++i) {
    if (tc_buffer_of_thread(buffer_of(k, p, i))) continue;
    tc_put(out, "    ");
    put_pointer(k, p, i, out);
    tc_put(out, ",");
    tc_print_shape(p, buffer_of(k, p, i), out);
  }
  tc_put(out, "    void *const *buf, const int64_t *sym, const tc_value *scalar, int64_t part, "
              "int64_t parts) {\n");
  put_sizes(k, p, out);
  tc_put(out, "  int bad = 0;\n");
}

/* The share of one thread, whose floating-point environment is as before when it is done.  The part
 * that computes is not inlined, so nothing of it moves out. */
static void put_thread(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  tc_put(out, "static int TC_NAME(@NAME@_thread)(void *const *buf, const int64_t *sym,\n"
              "    const tc_value *scalar, int64_t part, int64_t parts) {\n"
              "  const tc_fe env = tc_fe_hold();\n  const int bad = TC_NAME(@NAME@_team)(");
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (!tc_buffer_of_thread(buffer_of(k, p, i))) tc_putf(out, "buf[%u], ", i);
  tc_put(out, "buf, sym, scalar, part, parts);\n  tc_fe_restore(env);\n  return bad;\n}\n");
}

/* The kernel: a team of threads where the work pays for it, else this thread alone, which then asks
 * the OpenMP runtime for nothing.  Of siblings, all of a list (backends/entry/launch.c says how it
 * is passed). */
void tc_omp_team_tail(const tc_kernel *k, const tc_program *p, const char *work, int64_t least,
                      tc_buf *out) {
  tc_put(out, "  return bad != 0;\n}\n");
  put_thread(k, p, out);
  tc_put(out, signature);
  if (k->sibling) {
    tc_putf(out,
            "  return tc_run_siblings(TC_NAME(@NAME@_thread), buf, %u, sym, scalar, %lld);\n}\n",
            k->nbuffer, (long long)(least ? least : INT64_MAX));
    return;
  }
  put_sizes(k, p, out);
  if (work)
    tc_putf(
        out,
        "  if (TC_PAYS(%s, %lld)) return tc_run_team(TC_NAME(@NAME@_thread), buf, sym, scalar);\n",
        work, (long long)least);
  tc_put(out, "  return TC_NAME(@NAME@_thread)(buf, sym, scalar, 0, 1);\n}\n");
}
