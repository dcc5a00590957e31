/* nontemporal.c - nontemporal stores, in whole lines (schedule/nontemporal.c). */
#include "backends/openmp/nest/nest.h"

#include <stdio.h>
#include <string.h>

/* Conditions on the rows of a store, each that is not there before. */
static void put_condition(const tc_buf *condition, tc_buf *out) {
  if (!out->text || !strstr(out->text, condition->text)) tc_put(out, condition->text);
  out->failed |= condition->failed;
}

static void put_blocks(const tc_omp_nest *x, const tc_action *a, tc_buf *out) {
  tc_buf text = {0};
  tc_put(&text, " && TC_NONTEMPORAL_BLOCKS((");
  tc_print_dim(x->s.p, a->address.coef[x->plan->vector], &text);
  tc_putf(&text, ") * %zu)", tc_dtype_bytes(tc_omp_buffer(&x->f, a->buffer)->dtype));
  put_condition(&text, out);
  tc_buf_free(&text);
}

/* What lies between two borders is written at once: of an axis in chunks, a chunk. */
static void put_rows(const tc_omp_nest *x, const tc_action *a, tc_buf *out) {
  const int bytes = (int)tc_dtype_bytes(tc_omp_buffer(&x->f, a->buffer)->dtype);
  tc_buf text = {0};
  tc_put(&text, " && TC_NONTEMPORAL_ROWS((");
  tc_print_dim(x->s.p, x->nest->axis[x->plan->vector].extent, &text);
  tc_putf(&text, ") * %d, (", bytes);
  const char *before = "";
  for (int i = 0; i < x->nest->naxis; ++i) {
    if (i == x->plan->vector || tc_dim_is(a->address.coef[i], 0)) continue;
    tc_put(&text, before);
    tc_print_dim(x->s.p, a->address.coef[i], &text);
    before = " | ";
  }
  tc_putf(&text, ") * %d)", bytes);
  put_condition(&text, out);
  tc_buf_free(&text);
}

static void put_conditions(const tc_omp_nest *x, uint32_t stage, tc_buf *out) {
  for (uint32_t j = 0; j < x->nest->stage[stage].naction; ++j) {
    const tc_action *a = &x->nest->stage[stage].action[j];
    if (tc_omp_has_borders(&x->f, a)) put_rows(x, a, out);
    if (tc_schedule_has(&x->stage[stage].transpose_store, j) &&
        tc_omp_buffer(&x->f, a->buffer)->kind == TC_BUF_OUTPUT)
      put_blocks(x, a, out);
  }
}

void tc_omp_put_nontemporal(tc_omp_nest *x) {
  tc_buf bytes = {0}, rows = {0};
  tc_print_dim(x->s.p, tc_omp_nontemporal_bytes(&x->f, x->stage), &bytes);
  for (uint32_t i = 0; i < x->nest->nstage; ++i) put_conditions(x, i, &rows);
  tc_print_line(&x->s, "const int nontemporal = %s >= TC_NONTEMPORAL_BYTES%s;", bytes.text,
                rows.text ? rows.text : "");
  tc_buf_free(&bytes);
  tc_buf_free(&rows);
  x->s.nontemporal = "nontemporal";
}

const char *tc_omp_nontemporal_flag(const tc_omp_nest *x, uint32_t buffer) {
  const bool output = tc_omp_buffer(&x->f, buffer)->kind == TC_BUF_OUTPUT;
  return x->s.nontemporal && output ? x->s.nontemporal : "0";
}

/* ---- lines ----------------------------------------------------------------------------------- */

void tc_omp_put_head_length(tc_omp_nest *x, const tc_action *a, const char *from, tc_buf *out) {
  const int v = x->plan->vector;
  const char *const axis = x->s.axis[v];
  tc_buf at = {0};
  x->s.axis[v] = from;
  tc_print_address(&x->s, &a->address, &at);
  x->s.axis[v] = axis;
  tc_putf(out, "tc_to_line(b%u + (%s), %zu)", a->buffer, at.text,
          tc_dtype_bytes(tc_omp_buffer(&x->f, a->buffer)->dtype));
  tc_buf_free(&at);
}

/* The innermost axis of rows of the store, of which the lanes' axis is no part; -1: none. */
static int row_axis(const tc_omp_nest *x, const tc_action *a) {
  const int v = x->plan->vector;
  for (int i = x->nest->nparallel - 1; i >= 0; --i)
    if (i != v && x->nest->axis[v].of != i && !tc_dim_is(a->address.coef[i], 0)) return i;
  return -1;
}

void tc_omp_put_border_prefetch(tc_omp_nest *x, uint32_t stage, const char *from) {
  const tc_action *a = x->nest->stage[stage].action;
  const int v = x->plan->vector, r = row_axis(x, a);
  if (r < 0) return;
  const char *const axis = x->s.axis[v], *const row = x->s.axis[r];
  char later[48];
  tc_buf at = {0};
  snprintf(later, sizeof later, "(%s + %lld)", row, (long long)x->plan->distance);
  x->s.axis[v] = from;
  x->s.axis[r] = later;
  tc_print_address(&x->s, &a->address, &at);
  x->s.axis[v] = axis;
  x->s.axis[r] = row;
  tc_print_line(&x->s, "if (%s) tc_prefetch_store(b%u, (%s) * %zu);", x->s.nontemporal, a->buffer,
                at.text, tc_dtype_bytes(tc_omp_buffer(&x->f, a->buffer)->dtype));
  tc_buf_free(&at);
}

bool tc_omp_begin_peeled(tc_omp_nest *x, uint32_t stage, const char *from, const char *end) {
  tc_buf distance = {0};
  if (!x->stage[stage].peel || !x->s.nontemporal || x->jammed) return false;
  tc_omp_put_head_length(x, x->nest->stage[stage].action, from, &distance);
  tc_print_line(&x->s, "const int64_t head = %s ? TC_MIN(%s + %s, %s) : %s;", x->s.nontemporal,
                from, distance.text, end, from);
  tc_buf_free(&distance);
  tc_omp_put_border_prefetch(x, stage, from);
  tc_print_line(&x->s, "for (;;) { /* up to the first whole line, whole vectors, the rest */");
  x->s.indent += 2;
  return true;
}

void tc_omp_begin_tail(tc_omp_nest *x, bool peeled, const char *i, const char *end) {
  if (peeled) {
    tc_print_line(&x->s, "if (%s >= %s) break;", i, end);
    tc_print_line(&x->s, "const int64_t n = TC_MIN(TC_L, (%s < head ? head : %s) - %s);", i, end,
                  i);
  } else {
    tc_print_line(&x->s, "for (; %s < %s; %s += TC_L) {", i, end, i);
    x->s.indent += 2;
    tc_print_line(&x->s, "const int64_t n = TC_MIN(TC_L, %s - %s);", end, i);
  }
  x->s.lanes = "n";
}

void tc_omp_end_tail(tc_omp_nest *x, bool peeled, const char *i) {
  x->s.lanes = NULL;
  if (peeled) tc_print_line(&x->s, "%s += n;", i);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
