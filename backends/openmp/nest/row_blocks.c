/* row_blocks.c - blocks of neighbouring rows, transposed into tiles in front of the stages at these
 * rows, and out of tiles behind a stage (schedule/row_blocks.c). */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>

static int row_axis(const tc_omp_nest *x) { return x->nest->nparallel; }

static bool is_tiled(const tc_omp_nest *x, uint32_t id) {
  for (uint32_t i = 0; i < x->nest->nstage; ++i)
    if (tc_schedule_has(&x->stage[i].transpose, id)) return true;
  return false;
}

/* The number of the store among the actions of the stage at hand; -1: it goes to no tile.  `a` may
 * be a copy, of a stage that is printed without its serving sums. */
static int tiled_store(const tc_omp_nest *x, const tc_action *a) {
  const tc_schedule_list *l = &x->stage[x->tiled].transpose_store;
  for (uint32_t i = 0; i < l->n; ++i) {
    const tc_action *b = &x->nest->stage[x->tiled].action[l->at[i]];
    if (a->kind == b->kind && a->buffer == b->buffer && a->value.id == b->value.id &&
        tc_address_same(&a->address, &b->address))
      return (int)l->at[i];
  }
  return -1;
}

bool tc_omp_load_row(const tc_omp_nest *x, uint32_t id, tc_buf *out) {
  const tc_expr *e = &x->s.k->expr[id];
  if (!is_tiled(x, id)) return false;
  tc_putf(out, "tc_load_%s(tile%u[%s])", tc_print_storage(tc_omp_buffer(&x->f, e->buffer)->dtype),
          id, x->s.axis[row_axis(x)]);
  return true;
}

bool tc_omp_store_row(tc_omp_nest *x, const tc_action *a) {
  const int at = tiled_store(x, a);
  if (at < 0) return false;
  tc_print_line(&x->s, "tc_store_%s(rows%u_%d[%s], v%u);",
                tc_print_storage(tc_omp_buffer(&x->f, a->buffer)->dtype), x->tiled, at,
                x->s.axis[row_axis(x)], a->value.id);
  return true;
}

bool tc_omp_has_tiled_rows(const tc_omp_nest *x) {
  for (uint32_t i = 0; tc_omp_lanes_are_points(&x->f) && i < x->nest->nstage; ++i)
    if (x->stage[i].transpose.n || x->stage[i].transpose_store.n) return true;
  return false;
}

/* A tile has whole pieces of four places. */
static void declare(tc_omp_nest *x, tc_dtype d, const char *name, int64_t width) {
  enum { PIECE = 4 };
  tc_print_line(&x->s, "_Alignas(64) tc_%s %s[%lld][TC_L];", tc_print_storage(d), name,
                (long long)((width - 1 + PIECE - 1) / PIECE * PIECE));
}

/* Rows that follow one another, of so few known places that their vectors are interleaved in
 * registers. */
static bool is_interleaved(const tc_omp_nest *x, const tc_action *a) {
  const tc_dim step = a->address.coef[x->plan->vector];
  return tc_dim_is_const(step) && tc_dim_same(step, x->nest->axis[row_axis(x)].extent) &&
         tc_dim_value(step) >= 2 && tc_dim_value(step) <= TC_OMP_INTERLEAVE;
}

/* Are rows of a block put in order first, and stored past the caches in whole vectors? */
static bool is_in_lines(const tc_omp_nest *x, const tc_action *a) {
  return x->plan->nontemporal && tc_omp_buffer(&x->f, a->buffer)->kind == TC_BUF_OUTPUT &&
         !is_interleaved(x, a);
}

void tc_omp_declare_row_tiles(tc_omp_nest *x, int64_t width) {
  char name[40];
  bool lines = false;
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (!is_tiled(x, id)) continue;
    snprintf(name, sizeof name, "tile%u", id);
    declare(x, tc_omp_buffer(&x->f, x->s.k->expr[id].buffer)->dtype, name, width);
  }
  for (uint32_t i = 0; i < x->nest->nstage; ++i) {
    const tc_schedule_list *l = &x->stage[i].transpose_store;
    for (uint32_t j = 0; j < l->n; ++j) {
      const tc_action *a = &x->nest->stage[i].action[l->at[j]];
      snprintf(name, sizeof name, "rows%u_%u", i, l->at[j]);
      declare(x, tc_omp_buffer(&x->f, a->buffer)->dtype, name, width);
      lines |= is_in_lines(x, a);
    }
  }
  if (lines) tc_print_line(&x->s, "_Alignas(64) tc_u32 lines[%lld * TC_L];", (long long)width - 1);
}

/* One call of `function`: the rows from b<buffer> + address on, their distance, the tile, how many
 * rows of the block there are, how many places, and `rest`. */
static void put_move(tc_omp_nest *x, const char *function, const tc_address *a, uint32_t buffer,
                     const char *tile, const char *rest) {
  const int v = x->plan->vector, inner = row_axis(x);
  const char *const column = x->s.axis[inner];
  tc_buf at = {0}, step = {0}, places = {0};
  x->s.axis[inner] = "0";
  tc_print_address(&x->s, a, &at);
  x->s.axis[inner] = column;
  tc_print_dim(x->s.p, a->coef[v], &step);
  tc_print_extent(&x->s, &x->nest->axis[inner], &places);
  tc_print_line(&x->s, "%s(b%u + (%s), %s, %s[0], %s, %s%s);", function, buffer,
                at.text ? at.text : "0", step.text, tile, x->s.lanes ? x->s.lanes : "TC_L",
                places.text, rest);
  x->s.out->failed |= at.failed || step.failed || places.failed;
  tc_buf_free(&at);
  tc_buf_free(&step);
  tc_buf_free(&places);
}

/* Loads may go on into rows behind the block: so many are down to the last one. */
void tc_omp_fill_row_tiles(tc_omp_nest *x) {
  const int v = x->plan->vector;
  char name[40];
  tc_buf all = {0};
  tc_put(&all, ", ");
  tc_print_extent(&x->s, &x->nest->axis[v], &all);
  tc_putf(&all, " - %s", x->s.axis[v]);
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!is_tiled(x, id)) continue;
    snprintf(name, sizeof name, "tile%u", id);
    put_move(x, "tc_rows_u32", &e->address, e->buffer, name, all.text ? all.text : "");
  }
  x->s.out->failed |= all.failed;
  tc_buf_free(&all);
}

static void put_interleaved(tc_omp_nest *x, const tc_action *a, const char *tile) {
  const int64_t channels = tc_dim_value(a->address.coef[x->plan->vector]);
  const tc_buffer *b = tc_omp_buffer(&x->f, a->buffer);
  const char *const column = x->s.axis[row_axis(x)], *t = tc_print_storage(b->dtype);
  tc_buf at = {0}, values = {0};
  x->s.axis[row_axis(x)] = "0";
  tc_print_address(&x->s, &a->address, &at);
  x->s.axis[row_axis(x)] = column;
  for (int64_t c = 0; c < channels; ++c)
    tc_putf(&values, ", tc_load_%s(%s[%lld])", t, tile, (long long)c);
  tc_print_line(&x->s, "tc_interleave%lld%s_%s(b%u + (%s), %s%s);", (long long)channels,
                x->s.lanes ? "n" : "", t, a->buffer, at.text ? at.text : "0",
                x->s.lanes ? x->s.lanes : "0", values.text ? values.text : "");
  x->s.out->failed |= at.failed || values.failed;
  tc_buf_free(&at);
  tc_buf_free(&values);
}

static void put_store(tc_omp_nest *x, const tc_action *a, const char *tile) {
  const char *const flag = tc_omp_nontemporal_flag(x, a->buffer);
  if (is_interleaved(x, a)) {
    put_interleaved(x, a, tile);
    return;
  }
  if (*flag != '0') {
    tc_print_line(&x->s, "if (%s)", flag);
    put_move(x, "  tc_tolines_u32", &a->address, a->buffer, tile, ", lines");
    tc_print_line(&x->s, "else");
  }
  put_move(x, "tc_torows_u32", &a->address, a->buffer, tile, "");
}

void tc_omp_empty_row_tiles(tc_omp_nest *x, uint32_t stage) {
  const tc_schedule_list *l = &x->stage[stage].transpose_store;
  char name[40];
  for (uint32_t i = 0; i < l->n; ++i) {
    snprintf(name, sizeof name, "rows%u_%u", stage, l->at[i]);
    put_store(x, &x->nest->stage[stage].action[l->at[i]], name);
  }
}
