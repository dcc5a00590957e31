/* Sizes as text that reads back to the same text: what has no order of its own, terms, factors,
 * operands of min and max, stands in one that does not depend on which of them was made first.
 * Symbols by declaration, then other atoms by their text. */
#include "graph/dim/dim_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A term, a factor or an operand. */
typedef struct piece {
  tc_buf text;
  uint32_t degree, at; /* of a term; where it is kept */
  bool opaque;
} piece;

static int compare_pieces(const void *x, const void *y) {
  const piece *a = x, *b = y;
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  if (a->opaque != b->opaque) return a->opaque ? 1 : -1;
  if (a->opaque && a->text.text && b->text.text) return strcmp(a->text.text, b->text.text);
  return (a->at > b->at) - (a->at < b->at);
}

static const char *text_of(const piece *p) { return p->text.text ? p->text.text : ""; }

static void free_pieces(piece *p, uint32_t n, tc_buf *out) {
  for (uint32_t i = 0; i < n; i++) {
    out->failed |= p[i].text.failed;
    tc_buf_free(&p[i].text);
  }
}

static bool is_opaque(const tc_dims *c, const dim_mono *m) {
  bool opaque = false;
  for (uint32_t i = 0; i < m->n; i++) opaque |= c->atom.at[m->atom[i]]->kind != ATOM_SYM;
  return opaque;
}

static void put_grouped(const tc_dims *c, tc_dim d, tc_buf *out) {
  const bool simple = tc_dim_is_sym(c, d, NULL) || (tc_dim_is_const(d) && tc_dim_value(d) >= 0);
  if (!simple) tc_put(out, "(");
  tc_dim_print_ordered(c, d, out);
  if (!simple) tc_put(out, ")");
}

/* A constant operand is the second. */
static void put_choice(const tc_dims *c, const dim_atom *a, tc_buf *out) {
  const bool opaque = !tc_dim_is_const(a->b);
  piece p[2] = {{.at = 0, .opaque = opaque}, {.at = 1, .opaque = opaque}};
  tc_dim_print_ordered(c, a->a, &p[0].text);
  tc_dim_print_ordered(c, a->b, &p[1].text);
  qsort(p, 2, sizeof *p, compare_pieces);
  tc_putf(out, "%s(%s, %s)", a->kind == ATOM_MIN ? "min" : "max", text_of(&p[0]), text_of(&p[1]));
  free_pieces(p, 2, out);
}

static void put_atom(const tc_dims *c, const dim_atom *a, tc_buf *out) {
  if (a->kind == ATOM_SYM) return tc_put(out, c->sym.at[a->sym]->name);
  if (a->kind == ATOM_MIN || a->kind == ATOM_MAX) return put_choice(c, a, out);
  tc_put(out, "(");
  put_grouped(c, a->a, out);
  tc_put(out, a->kind == ATOM_DIV ? "/" : "%");
  put_grouped(c, a->b, out);
  tc_put(out, ")");
}

static void put_mono(const tc_dims *c, const dim_mono *m, tc_buf *out) {
  piece *p = calloc(m->n + 1u, sizeof *p);
  const uint32_t n = p ? m->n : 0;
  out->failed |= !p;
  for (uint32_t i = 0; i < n; i++) {
    const dim_atom *a = c->atom.at[m->atom[i]];
    p[i] = (piece){.at = i, .opaque = a->kind != ATOM_SYM};
    put_atom(c, a, &p[i].text);
  }
  if (n) qsort(p, n, sizeof *p, compare_pieces);
  for (uint32_t i = 0; i < n; i++) tc_putf(out, "%s%s", i ? "*" : "", text_of(&p[i]));
  free_pieces(p, n, out);
  free(p);
}

static void put_coefficient(dim_term t, bool first, bool alone, tc_buf *out) {
  const uint64_t magnitude = t.coef < 0 ? 0 - (uint64_t)t.coef : (uint64_t)t.coef;
  if (!first || t.coef < 0) tc_put(out, t.coef < 0 ? "-" : "+");
  if (magnitude != 1 || alone) tc_putf(out, "%" PRIu64 "%s", magnitude, alone ? "" : "*");
}

static void put_sum(const tc_dims *c, const dim_poly *poly, tc_buf *out) {
  piece *p = calloc(poly->n + 1u, sizeof *p);
  const uint32_t n = p ? poly->n : 0;
  out->failed |= !p;
  for (uint32_t i = 0; i < n; i++) {
    const dim_mono *m = c->mono.at[poly->term[i].mono];
    p[i] = (piece){.degree = m->n, .at = i, .opaque = is_opaque(c, m)};
    put_mono(c, m, &p[i].text);
  }
  if (n) qsort(p, n, sizeof *p, compare_pieces);
  for (uint32_t i = 0; i < n; i++) {
    put_coefficient(poly->term[p[i].at], i == 0, !p[i].degree, out);
    tc_put(out, text_of(&p[i]));
  }
  free_pieces(p, n, out);
  free(p);
}

void tc_dim_print_ordered(const tc_dims *c, tc_dim d, tc_buf *out) {
  const dim_poly *p = c && !tc_dim_bad(d) ? dim_poly_of(c, d) : NULL;
  if (p && p->opaque) put_sum(c, p, out);
  else tc_dim_print(c, d, NULL, out);
}
