/* parts.c - the axes over which m, n or k of a product run. */
#include "lower/loop.h"

static bool is_part_of(const tc_mm_loop *mm, int part, int axis) {
  return part >= mm->nbatch + 3 && part < tc_mm_axes(mm) && mm->axis[part].of == axis;
}

uint32_t tc_mm_parts(const tc_mm_loop *mm, int axis) {
  uint32_t parts = 0;
  for (int i = mm->nbatch + 3; i < tc_mm_axes(mm); i++)
    if (is_part_of(mm, i, axis)) parts |= 1u << i;
  return parts;
}

int tc_mm_innermost(const tc_mm_loop *mm, int axis) {
  int last = -1;
  for (int i = mm->nbatch + 3; i < tc_mm_axes(mm); i++)
    if (is_part_of(mm, i, axis)) last = i;
  return last;
}

tc_dim tc_mm_inner(tc_dims *c, const tc_mm_loop *mm, int part) {
  tc_dim inner = tc_dim_const(1);
  for (int i = part + 1; i < tc_mm_axes(mm); i++)
    if (is_part_of(mm, i, mm->axis[part].of)) inner = tc_dim_mul(c, inner, mm->axis[i].extent);
  return inner;
}

bool tc_mm_by_parts(const tc_mm_loop *mm, const tc_address *a) {
  for (int i = mm->nbatch + 3; i < tc_mm_axes(mm); i++)
    if (!tc_dim_is(a->coef[i], 0)) return true;
  return false;
}
