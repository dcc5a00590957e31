/* packed_rows.c - elements of rows that may lie apart, in order, piece by piece of a stage's loop
 * (schedule/packed_rows.c). */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>

/* Elements of a piece: few enough that the hardware prefetches the next one while this one is computed. */
enum { PIECE = 1024 };

static const char *type_of(const tc_omp_nest *x, uint32_t id) {
  return tc_print_storage(tc_omp_buffer(&x->f, x->s.k->expr[id].buffer)->dtype);
}

bool tc_omp_put_packed(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_omp_nest *x = s->self;
  if (!tc_schedule_has(&x->stage[x->tiled].pack, id)) return false;
  tc_putf(out, "rows%u + (%s - first)", id, s->axis[s->vector]);
  return true;
}

static bool load(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_omp_nest *x = s->self;
  if (!tc_schedule_has(&x->stage[x->tiled].pack, id)) return false;
  tc_putf(out, "tc_load%s_%s(", s->lanes ? "n" : "", type_of(x, id));
  tc_omp_put_packed(s, id, out);
  if (s->lanes) tc_putf(out, ", %s", s->lanes);
  tc_put(out, ")");
  return true;
}

static const tc_term *gap_of(const tc_omp_nest *x, uint32_t id) { return &x->s.k->expr[id].address.term[0]; }

/* gap<id>: what lies between two rows; chunk<id>: room for a piece. */
static void declare(tc_omp_nest *x, uint32_t id) {
  tc_buf gap = {0};
  tc_print_dim(x->s.p, gap_of(x, id)->stride, &gap);
  tc_print_line(&x->s, "const int64_t gap%u = %s;", id, gap.text);
  tc_print_line(&x->s, "_Alignas(64) tc_%s chunk%u[%d];", type_of(x, id), id, PIECE);
  tc_buf_free(&gap);
}

/* rows<id>: the elements of the piece. */
static void put_rows(tc_omp_nest *x, uint32_t id) {
  const int v = x->plan->vector;
  const tc_expr *e = &x->s.k->expr[id];
  const char *const element = x->s.axis[v];
  tc_buf at = {0}, width = {0};
  x->s.axis[v] = "first";
  tc_print_address(&x->s, &e->address, &at);
  x->s.axis[v] = element;
  tc_print_dim(x->s.p, x->s.k->expr[x->s.k->expr[gap_of(x, id)->value.id].in[1].id].dim, &width);
  tc_print_line(&x->s, "const tc_%s *const rows%u = tc_in_order(b%u, %s, stop - first, %s, gap%u, sizeof *chunk%u, chunk%u);",
                type_of(x, id), id, e->buffer, at.text, width.text, id, id, id);
  x->s.printed[gap_of(x, id)->value.id] = 0xff; /* no loop needs it */
  tc_buf_free(&at);
  tc_buf_free(&width);
}

bool tc_omp_begin_packed_rows(tc_omp_nest *x, uint32_t stage, char from[16], char end[16]) {
  const tc_schedule_list *l = &x->stage[stage].pack;
  tc_buf gaps = {0};
  if (!l->n) return false;
  for (uint32_t i = 0; i < l->n; ++i) declare(x, l->at[i]);
  for (uint32_t i = 0; i < l->n; ++i) tc_putf(&gaps, "%sgap%u", i ? " | " : "", l->at[i]);
  tc_print_line(&x->s, "const int64_t piece = %s ? %d : %s;", gaps.text, PIECE, end);
  tc_print_line(&x->s, "for (int64_t first = %s, stop; first < %s; first = stop) {", from, end);
  x->s.indent += 2;
  tc_print_line(&x->s, "stop = TC_MIN(first + piece, %s);", end);
  for (uint32_t i = 0; i < l->n; ++i) put_rows(x, l->at[i]);
  snprintf(from, 16, "first");
  snprintf(end, 16, "stop");
  x->s.load = load;
  tc_buf_free(&gaps);
  return true;
}

void tc_omp_end_packed_rows(tc_omp_nest *x) {
  x->s.load = NULL;
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
