/* store.c - STORE and ADD actions. */
#include "backends/print/print_impl.h"

#include <stdio.h>

/* All in different places. */
static void put_add_neighbours(tc_print_scope *s, const char *base, const char *t,
                               const tc_action *a) {
  const char *compute = tc_print_compute(s->p->buffer[s->k->buffer[a->buffer]].dtype);
  const uint32_t b = a->buffer, v = a->value.id;
  if (s->lanes)
    tc_print_line(s, "tc_storen_%s(b%u + %s, tc_add_%s(tc_loadn_%s(b%u + %s, %s), v%u), %s);", t, b,
                  base, compute, t, b, base, s->lanes, v, s->lanes);
  else
    tc_print_line(s, "tc_store_%s(b%u + %s, tc_add_%s(tc_load_%s(b%u + %s), v%u));", t, b, base,
                  compute, t, b, base, v);
}

static void put_add(tc_print_scope *s, const tc_print_place *p, const char *t, const tc_action *a,
                    const char *guard) {
  const char *base = p->base.text;
  const char *compute = tc_print_compute(s->p->buffer[s->k->buffer[a->buffer]].dtype);
  const uint32_t b = a->buffer, v = a->value.id;
  if (p->fixed) {
    if (a->guard.id) tc_print_line(s, "if (v%u[0])", a->guard.id);
    tc_print_line(s, "tc_store1_%s(b%u + %s, tc_add_%s(tc_splat_%s(b%u + %s), v%u));", t, b, base,
                  compute, t, b, base, v);
  } else if (p->unit && !a->guard.id) put_add_neighbours(s, base, t, a);
  else
    tc_print_line(s, "tc_scatteradd_%s(b%u + %s, %s, v%u, %s, %s);", t, b, base,
                  p->unit ? s->words->lanes : p->lane.text, v, guard, tc_print_valid(s));
}

static void put_store(tc_print_scope *s, const tc_print_place *p, const char *t, const tc_action *a,
                      const char *guard) {
  const tc_buffer *buffer = &s->p->buffer[s->k->buffer[a->buffer]];
  const char *base = p->base.text;
  const uint32_t b = a->buffer, v = a->value.id;
  if (p->fixed) {
    if (a->guard.id) tc_print_line(s, "if (v%u[0])", a->guard.id);
    tc_print_line(s, "tc_store1_%s(b%u + %s, v%u);", t, b, base, v);
  } else if (s->words->strided && p->step.len && !a->guard.id)
    tc_print_line(s, "tc_storeapart_%s(b%u + %s, %s, v%u, %s);", t, b, base, p->step.text, v,
                  tc_print_valid(s));
  else if (!p->unit || a->guard.id)
    tc_print_line(s, "tc_scatter_%s(b%u + %s, %s, v%u, %s, %s);", t, b, base,
                  p->unit ? s->words->lanes : p->lane.text, v, guard, tc_print_valid(s));
  else if (s->lanes) tc_print_line(s, "tc_storen_%s(b%u + %s, v%u, %s);", t, b, base, v, s->lanes);
  else if (s->nontemporal && buffer->kind == TC_BUF_OUTPUT)
    tc_print_line(s, "tc_nontemporal_%s(b%u + %s, v%u, %s);", t, b, base, v, s->nontemporal);
  else if (s->store_neighbours) tc_print_line(s, "%s(b%u + %s, v%u);", s->store_neighbours, b, base, v);
  else tc_print_line(s, "tc_store_%s(b%u + %s, v%u);", t, b, base, v);
}

void tc_print_store(tc_print_scope *s, const tc_action *a) {
  tc_print_hoist_action(s, a, ~0u);
  if (s->store && s->store(s, a)) return;
  const char *t = tc_print_storage(s->p->buffer[s->k->buffer[a->buffer]].dtype);
  const bool block = a->address.nterm > 0; /* holds the names of the index operands */
  if (block) {
    tc_print_line(s, "{");
    s->indent += 2;
    tc_print_terms(s, &a->address, a->guard, "s");
  }
  tc_print_place p = tc_print_locate(s, &a->address, "s");
  char guard[24] = "tc_set_b8(1)";
  if (a->guard.id) snprintf(guard, sizeof guard, "v%u", a->guard.id);
  if (a->kind == TC_ACT_ADD) put_add(s, &p, t, a, guard);
  else put_store(s, &p, t, a, guard);
  tc_print_place_free(&p);
  if (block) {
    s->indent -= 2;
    tc_print_line(s, "}");
  }
}
