/* parts.c - the axes over which m, n or k of a product run. */
#include "lower/loop.h"

uint32_t tc_mm_parts(const tc_mm_loop *mm, int axis) {
  uint32_t parts = 0;
  for (int i = tc_mm_first_part(mm); i < tc_mm_axes(mm); i++)
    if (mm->axis[i].of == axis) parts |= 1u << i;
  return parts;
}

int tc_mm_innermost(const tc_mm_loop *mm, int axis) {
  const uint32_t parts = tc_mm_parts(mm, axis);
  return parts ? 31 - __builtin_clz(parts) : -1;
}

tc_dim tc_mm_inner(tc_dims *c, const tc_mm_loop *mm, int part) {
  tc_dim inner = tc_dim_const(1);
  for (int i = part + 1; i < tc_mm_axes(mm); i++)
    if (mm->axis[i].of == mm->axis[part].of) inner = tc_dim_mul(c, inner, mm->axis[i].extent);
  return inner;
}

tc_dim tc_mm_step(tc_dims *c, const tc_mm_loop *mm, const tc_address *a, int axis) {
  const int part = tc_mm_innermost(mm, axis);
  return part < 0 ? a->coef[axis] : tc_dim_add(c, a->coef[axis], a->coef[part]);
}

bool tc_mm_has_neighbours(tc_dims *c, const tc_mm_loop *mm, const tc_address *a, int axis) {
  enum { FEW = 8 };
  const int part = tc_mm_innermost(mm, axis);
  if (!tc_dim_is(tc_mm_step(c, mm, a, axis), 1)) return false;
  if (part < 0 || tc_dim_is(a->coef[part], 0)) return true;
  const tc_dim run = mm->axis[part].extent;
  return !tc_dim_is_const(run) || tc_dim_value(run) >= FEW;
}

bool tc_mm_by_parts(const tc_mm_loop *mm, const tc_address *a) {
  for (int i = tc_mm_first_part(mm); i < tc_mm_axes(mm); i++)
    if (!tc_dim_is(a->coef[i], 0)) return true;
  return false;
}
