/* nontemporal.c - nontemporal stores, in whole lines (schedule/nontemporal.c). */
#include "backends/openmp/nest/nest.h"

void tc_omp_put_nontemporal(tc_omp_nest *x) {
  tc_buf bytes = {0};
  tc_print_dim(x->s.p, tc_omp_nontemporal_bytes(&x->f), &bytes);
  tc_print_line(&x->s, "const int nontemporal = %s >= TC_NONTEMPORAL_BYTES;", bytes.text);
  tc_buf_free(&bytes);
  x->s.nontemporal = "nontemporal";
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

bool tc_omp_begin_peeled(tc_omp_nest *x, uint32_t stage, const char *from, const char *end) {
  tc_buf distance = {0};
  if (!x->stage[stage].peel || !x->s.nontemporal || x->jammed) return false;
  tc_omp_put_head_length(x, x->nest->stage[stage].action, from, &distance);
  tc_print_line(&x->s, "const int64_t head = %s ? TC_MIN(%s + %s, %s) : %s;", x->s.nontemporal,
                from, distance.text, end, from);
  tc_buf_free(&distance);
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
