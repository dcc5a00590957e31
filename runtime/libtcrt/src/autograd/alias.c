/* alias.c - what is written through one tensor, on the tape, is the history of all that share the
 * memory.
 *
 * The memory keeps its recorded writes: where they went, and which value.  A tensor that is used
 * after one becomes
 *   where(mask, written[index], what it was)
 * of those of its elements that were written, without `where` if all were; the next use finds that
 * value.  The writes are forgotten with the last tensor over the memory. */
#include "runtime/libtcrt/src/autograd/tape.h"

#include <stdlib.h>
#include <string.h>

typedef struct tape_write {
  struct tape_write *before; /* newest first */
  uint32_t version;
  tc_tensor at;      /* which elements; memory that it does not hold */
  tape_value *value; /* without memory, or the memory would hold itself; NULL: a constant */
} tape_write;

/* ---- the list -------------------------------------------------------------------------------- */

static void forget_all(tc_storage *s) {
  tape_write *w = s->written;
  s->written = NULL;
  while (w) {
    tape_write *before = w->before;
    tc_tape_unref(w->value);
    free(w);
    w = before;
  }
}

void tc_tape_leave(tc_storage *s) {
  if (tc_tape_headers(s) <= 1) forget_all(s); /* nobody is left to follow */
}

/* A header like x without memory. */
static tc_tensor shape_of(const tc_tensor *x) {
  tc_tensor t = tc_alias(x);
  t.data = NULL;
  t.storage = NULL;
  return t;
}

bool tc_tape_note(const tc_tensor *x, const tape_value *v) {
  tc_storage *s = x->storage;
  if (!s || tc_tape_headers(s) < 2) return true;
  const tc_tensor shape = shape_of(x);
  tape_write *w = calloc(1, sizeof *w);
  if (!w) return tc_tape_no_memory();
  *w = (tape_write){s->written, tc_tape_version(x), tc_alias(x), NULL};
  if (v) w->value = tc_tape_value(&shape, v->maker, v->result);
  s->written = w;
  return !v || w->value;
}

/* ---- which elements -------------------------------------------------------------------------- */

typedef struct map {
  tc_tensor *mask, *index; /* of x's shape, bool; of its number of elements, i64 */
  bool any, all;
} map;

/* For each element of w its address, or (to) for each address its element. */
static void place(const tc_tensor *t, uintptr_t lo, int64_t *element, map *m) {
  const tc_seq seq = tc_seq_of(t);
  const int64_t total = tc_elements(t), size = (int64_t)tc_dtype_bytes((tc_dtype)t->key.dtype);
  int64_t offset[TC_BLOCK];
  for (int64_t start = 0; start < total; start += TC_BLOCK) {
    const int64_t n = total - start < TC_BLOCK ? total - start : TC_BLOCK;
    tc_seq_offsets(&seq, start, n, offset);
    for (int64_t k = 0; k < n; k++) {
      const int64_t at = ((int64_t)((uintptr_t)t->data - lo)) / size + offset[k];
      if (!m) {
        element[at] = start + k + 1;
        continue;
      }
      ((bool *)m->mask->data)[start + k] = element[at] != 0;
      ((int64_t *)m->index->data)[start + k] = element[at] ? element[at] - 1 : 0;
      m->any |= element[at] != 0;
      m->all &= element[at] != 0;
    }
  }
}

/* Elements of x that w wrote. */
static bool compare(const tc_tensor *x, const tc_tensor *w, map *m) {
  uintptr_t lo, hi, wlo, whi;
  const int64_t total = tc_elements(x);
  *m = (map){NULL, NULL, false, true};
  if (!tcrt_extent(x, &lo, &hi) || !tcrt_extent(w, &wlo, &whi) || hi < wlo || whi < lo) return true;
  if (wlo < lo) lo = wlo;
  if (whi > hi) hi = whi;
  const size_t size = tc_dtype_bytes((tc_dtype)x->key.dtype);
  int64_t *element = calloc((hi - lo + 1) / size, sizeof *element);
  m->mask = element ? tc_tensor_new(TC_BOOL, x->key.rank, x->dim, TC_CPU) : NULL;
  m->index = m->mask ? tc_tensor_new(TC_I64, 1, &total, TC_CPU) : NULL;
  if (m->index) {
    place(w, lo, element, NULL);
    place(x, lo, element, m);
  } else if (!element) {
    tc_tape_no_memory();
  }
  free(element);
  return m->index != NULL;
}

/* ---- following ------------------------------------------------------------------------------- */

/* A constant operand where x is; takes t. */
static tape_value *constant(tc_tensor *t, const tc_tensor *x) {
  tc_tensor *there = t && tc_place(t) != tc_place(x) ? tc_to(t, tc_place(x)) : t;
  tape_value *v = there ? tc_tape_value(there, NULL, 0) : NULL;
  if (there != t) tc_free(there);
  tc_free(t);
  return v;
}

/* written[index], with the shape of x. */
static tape_value *picked(const char *name, const tape_write *w, tape_value *index,
                          const tc_tensor *x) {
  tc_tensor flat = shape_of(x), all = flat, shape = flat;
  tc_dim attr[TC_MAX_RANK + 1] = {tc_dim_const(1), tc_dim_const(tc_elements(&w->at))};
  flat.key.rank = all.key.rank = 1;
  all.dim[0] = tc_elements(&w->at);
  flat.dim[0] = tc_elements(x);
  if (!w->value) return tc_tape_value(&shape, NULL, 0);
  tape_value *row = tc_tape_node(OP_RESHAPE, name, 1, &w->value, 2, attr, &all);
  tape_value *in[2] = {row, index};
  const tc_dim axis = tc_dim_const(0);
  tape_value *part = row ? tc_tape_node(OP_INDEX_SELECT, name, 2, in, 1, &axis, &flat) : NULL;
  attr[0] = tc_dim_const(x->key.rank);
  for (int i = 0; i < x->key.rank; i++) attr[1 + i] = tc_dim_const(x->dim[i]);
  tape_value *y =
      part ? tc_tape_node(OP_RESHAPE, name, 1, &part, 1 + x->key.rank, attr, &shape) : NULL;
  tc_tape_unref(row);
  tc_tape_unref(part);
  return y;
}

/* x, which was `old`, after the write; takes old.  Nothing leads to `old` where all of it was
 * written: no gradient of 0 either, which times infinity is NaN. */
static tape_value *after(const char *name, const tape_write *w, const tc_tensor *x,
                         tape_value *old) {
  const tc_tensor shape = shape_of(x);
  map m;
  if (!compare(x, &w->at, &m)) {
    tc_free(m.mask);
    tc_tape_unref(old);
    return NULL;
  }
  if (!m.any) {
    tc_free(m.mask);
    tc_free(m.index);
    return old;
  }
  tape_value *mask = constant(m.mask, x), *index = constant(m.index, x);
  tape_value *v = mask && index ? picked(name, w, index, x) : NULL;
  if (v && !m.all) {
    tape_value *part = v, *in[3] = {mask, part, old};
    v = tc_tape_node(OP_WHERE, name, 3, in, 0, NULL, &shape);
    tc_tape_unref(part);
  }
  tc_tape_unref(mask);
  tc_tape_unref(index);
  tc_tape_unref(old);
  return v;
}

/* The writes since `version`, oldest first. */
static tape_value *replay(const char *name, const tape_write *w, uint32_t version,
                          const tc_tensor *x, tape_value *old) {
  for (uint32_t done = version; old;) {
    const tape_write *next = NULL;
    for (const tape_write *at = w; at && at->version > done; at = at->before) next = at;
    if (!next) return old;
    old = after(name, next, x, old);
    done = next->version;
  }
  return NULL;
}

/* The last recorded write is in the list. */
static bool is_known(const tc_storage *s) {
  const uint32_t last = atomic_load_explicit(&s->recorded, memory_order_relaxed);
  return s->written && s->written->version == last;
}

bool tc_tape_follow(const char *name, tc_tensor *x) {
  tape_value *link = tc_tape_link(x);
  if (!is_known(x->storage))
    return tc_fail("%s: %s shares its memory with a tensor that was written in place while "
                   "gradients were recorded, which it cannot follow",
                   name, tc_describe(x).text);
  const bool before = tc_set_grad_enabled(false);
  tc_tape_ref(link);
  tape_value *v = replay(name, x->storage->written, link->version, x, link);
  const bool moved = v && v != link, made = moved && v->maker;
  tape_value *own = made ? tc_tape_value(x, v->maker, v->result) : NULL;
  tc_set_grad_enabled(before);
  tc_tape_unref(v);
  if (moved && !made) return tc_tape_link_constant(x);
  if (own) tc_tape_relink(x, own);
  return v && (own || !moved);
}

/* ---- who follows ----------------------------------------------------------------------------- */

bool tc_tape_link_constant(tc_tensor *t) {
  tape_value *v = tc_tape_value(t, NULL, 0);
  if (!v) return false;
  v->at.autograd = v;
  tc_tape_relink(t, v);
  return true;
}

static void link_other(tc_tensor *t, void *ok) {
  if (!t->autograd && tc_is_float((tc_dtype)t->key.dtype)) *(bool *)ok &= tc_tape_link_constant(t);
}

static void look(tc_tensor *t, void *x) {
  if (t == *(tc_tensor **)x) *(tc_tensor **)x = NULL;
}

bool tc_tape_find_others(tc_tensor *x) {
  tc_tensor *self = x;
  bool ok = true;
  if (tc_tape_headers(x->storage) < 2) return true;
  const int found = tc_scope_over(x->storage, look, &self);
  if (found + (self != NULL) < tc_tape_headers(x->storage)) return false;
  tc_scope_over(x->storage, link_other, &ok);
  tc_tape_relink(x, NULL);
  return ok;
}
