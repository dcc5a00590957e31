/* sort.c - sorts: a call of what the prelude has for the dtype (prelude/86_sort.c). */
#include "backends/openmp/emit.h"
#include "backends/openmp/schedule/plan.h"
#include "backends/openmp/unit.h"

/* Elements are sorted as numbers of so many bytes: key, and place. */
static int pair_bytes(const tc_sort_loop *s) { return tc_dtype_bytes(s->dtype) == 8 ? 16 : 8; }

/* Of a thread: twice the row, or what a selection of k of it holds. */
void tc_omp_sort_scratch(const tc_kernel *k, const tc_program *p, tc_buf *per_thread) {
  enum { ROOM = 64 }; /* TC_SORT_ROOM */
  tc_dims *c = tc_graph_dims(p->graph);
  const tc_sort_loop *s = &k->sort;
  const tc_dim selected = tc_dim_add(c, tc_dim_mul(c, s->k, tc_dim_const(2)), tc_dim_const(ROOM));
  tc_put(per_thread, "(");
  tc_print_dim(p, tc_dim_min(c, s->n, selected), per_thread);
  tc_putf(per_thread, ") * %d", 2 * pair_bytes(s));
}

static void put_size(const char *name, tc_dim d, const tc_program *p, tc_buf *out) {
  tc_putf(out, ", .%s = ", name);
  tc_print_dim(p, d, out);
}

void tc_omp_put_sort(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  enum { STEPS = 16 }; /* for each element */
  const tc_sort_loop *s = &k->sort;
  tc_buf each = {0}, work = {0};
  tc_omp_sort_scratch(k, p, &each);
  tc_omp_team_head(k, p, out);
  tc_putf(out, "  const tc_sort s = {.descending = %d", s->descending);
  put_size("outer", s->outer, p, out);
  put_size("n", s->n, p, out);
  put_size("inner", s->inner, p, out);
  put_size("k", s->k, p, out);
  tc_putf(out, "};\n  const int64_t each = ((%s) + 63) / 64 * 64;\n", each.text ? each.text : "0");
  tc_putf(out, "  tc_sort_%s(&s, b1, b0, (char *)buf[3] + part * each, part, parts);\n",
          tc_print_storage(s->dtype));
  tc_put(&work, "(");
  tc_print_dim(p, s->outer, &work);
  tc_put(&work, ") * (");
  tc_print_dim(p, s->inner, &work);
  tc_put(&work, ") * (");
  tc_print_dim(p, s->n, &work);
  tc_putf(&work, ") * %d", STEPS);
  tc_omp_team_tail(k, p, work.text, TC_OMP_PARALLEL_WORK, out);
  if (!each.text || !work.text || each.failed || work.failed) out->failed = true;
  tc_buf_free(&each);
  tc_buf_free(&work);
}
