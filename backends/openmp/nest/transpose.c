/* transpose.c - blocks whose elements are apart in the lanes, transposed into tiles in front of a
 * stage's loops (schedule/transpose.c). */
#include "backends/openmp/nest/nest.h"

/* tile<id>[other axis][vector axis], its rows of whole vectors. */
static bool load(const tc_print_scope *s, uint32_t id, tc_buf *out) {
  const tc_omp_nest *x = s->self;
  const tc_expr *e = &s->k->expr[id];
  if (!tc_schedule_has(&x->stage[x->tiled].transpose, id)) return false;
  const int other = tc_omp_block_axis(&x->f, &x->nest->stage[x->tiled]);
  tc_putf(out, "tc_load%s_%s(&tile%u[%s][%s]", s->lanes ? "n" : "",
          tc_print_storage(tc_omp_buffer(&x->f, e->buffer)->dtype), id, s->axis[other],
          s->axis[s->vector]);
  if (s->lanes) tc_putf(out, ", %s", s->lanes);
  tc_put(out, ")");
  return true;
}

/* `far<id>`: are tiles of the load to be asked for before they are read? */
static void put_is_far(tc_omp_nest *x, uint32_t id) {
  const tc_expr *e = &x->s.k->expr[id];
  const tc_axis *a = &x->nest->axis[x->plan->vector];
  tc_buf step = {0}, all = {0};
  tc_print_dim(x->s.p, e->address.coef[x->plan->vector], &step);
  tc_print_dim(x->s.p, a->of < 0 ? a->extent : a->total, &all);
  tc_print_line(&x->s, "const int far%u = TC_TILE_IS_FAR((%s) * %d, %s, %lld);", id, step.text,
                (int)tc_dtype_bytes(tc_omp_buffer(&x->f, e->buffer)->dtype), all.text, (long long)tc_dim_value(a->extent));
  tc_buf_free(&step);
  tc_buf_free(&all);
}

void tc_omp_declare_tiles(tc_omp_nest *x) {
  for (uint32_t i = 0; i < x->nest->nstage && !tc_omp_lanes_are_points(&x->f); ++i)
    for (uint32_t j = 0; j < x->stage[i].transpose.n; ++j) put_is_far(x, x->stage[i].transpose.at[j]);
}

static void put_tile(tc_omp_nest *x, uint32_t id, int other) {
  enum { LANES = 16 };
  const int v = x->plan->vector;
  const tc_expr *e = &x->s.k->expr[id];
  const tc_dtype d = tc_omp_buffer(&x->f, e->buffer)->dtype;
  const int bytes = (int)tc_dtype_bytes(d);
  const int64_t tall = tc_dim_value(x->nest->axis[other].extent),
                wide = tc_dim_value(x->nest->axis[v].extent);
  const char *const row = x->s.axis[v], *const column = x->s.axis[other];
  tc_buf at = {0}, step = {0}, rows = {0}, columns = {0};
  x->s.axis[v] = x->s.axis[other] = "0";
  tc_print_address(&x->s, &e->address, &at);
  x->s.axis[v] = row, x->s.axis[other] = column;
  tc_print_dim(x->s.p, e->address.coef[v], &step);
  tc_print_extent(&x->s, &x->nest->axis[v], &rows);
  tc_print_extent(&x->s, &x->nest->axis[other], &columns);
  tc_print_line(&x->s, "_Alignas(64) tc_%s tile%u[%lld][%lld];", tc_print_storage(d), id, (long long)tall,
                (long long)((wide + LANES - 1) / LANES * LANES));
  tc_print_line(&x->s, "const char *const from%u = (const char *)(b%u + (%s));", id, e->buffer, at.text);
  tc_print_line(&x->s, "if (far%u) tc_tile_fetch(from%u, (%s) * %d, %s, %lld);", id, id, step.text, bytes, rows.text,
                (long long)tall * bytes);
  tc_print_line(&x->s, "tc_tile_u%d(from%u, (%s) * %d, (char *)tile%u, sizeof tile%u[0], %s, %s);", 8 * bytes, id, step.text, bytes,
                id, id, rows.text, columns.text);
  tc_buf_free(&at);
  tc_buf_free(&step);
  tc_buf_free(&rows);
  tc_buf_free(&columns);
}

bool tc_omp_begin_tiles(tc_omp_nest *x, uint32_t stage) {
  const tc_schedule_list *l = &x->stage[stage].transpose;
  if (!l->n) return false;
  for (uint32_t i = 0; i < l->n; ++i)
    put_tile(x, l->at[i], tc_omp_block_axis(&x->f, &x->nest->stage[stage]));
  x->tiled = stage;
  x->s.load = load;
  x->s.self = x;
  return true;
}

void tc_omp_end_tiles(tc_omp_nest *x) { x->s.load = NULL; }
