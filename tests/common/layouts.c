/* layouts.c - see layouts.h. */
#include "tests/common/layouts.h"

/* Behind `room` elements, `count` steps that leave `gap` elements of padding behind the last one. */
static tc_dim step(tc_dims *c, tc_dim *room, tc_dim count, int64_t gap) {
  const tc_dim stride = *room;
  *room = tc_dim_add(c, tc_dim_mul(c, stride, count), tc_dim_const(gap));
  return stride;
}

tc_buf_layout test_layout(tc_dims *c, const tc_type *t, uint32_t number) {
  enum { BLOCK = 4 };
  tc_buf_layout l = {.strided = true};
  tc_dim room = tc_dim_const(1 + number / 5 % 2);
  const uint32_t rank = t->rank;
  const bool blocks = rank && number % 3 == 2;
  const uint32_t blocked = blocks ? number / 3 % rank : rank;
  if (blocks) {
    l.axis[blocked].block = BLOCK;
    l.axis[blocked].within = step(c, &room, tc_dim_const(BLOCK), 0);
  }
  for (uint32_t i = 0; i < rank; i++) {
    const uint32_t axis = number & 1 ? (i + number / 7) % rank : rank - 1 - i;
    if (axis != blocked) l.axis[axis].stride = step(c, &room, t->dim[axis], number % 4);
  }
  if (blocks)
    l.axis[blocked].stride =
        step(c, &room, tc_dim_ceildiv(c, t->dim[blocked], tc_dim_const(BLOCK)), 0);
  return l;
}

uint32_t test_layouts_from;

bool test_layouts(const tc_program *p, uint32_t i, tc_buf_layout *out) {
  *out = test_layout(tc_graph_dims(p->graph), &p->buffer[i].type, test_layouts_from + i);
  return true;
}

uint32_t count_layouts(const tc_program *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffer; i++) n += p->buffer[i].layout.strided;
  return n;
}
