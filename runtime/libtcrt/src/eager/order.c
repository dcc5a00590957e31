/* order.c - positions of elements in the order of their values, and sorting by them.
 *
 * Values compare by a key: an unsigned number that ascends with them.  A row is read once, and a
 * heap keeps the first k of what was read, the last of these at its root; equal keys are in the
 * order of their positions, so the order is total. */
#include "runtime/libtcrt/src/eager/eager.h"

#include <string.h>

typedef struct entry {
  uint64_t key;
  int64_t position;
} entry;

/* -0 is 0; every NaN is above infinity. */
static uint64_t key_of_f(double v) {
  uint64_t bits;
  const double x = v == 0 ? 0 : v;
  memcpy(&bits, &x, sizeof bits);
  if (v != v) return UINT64_MAX;
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t key_of_i(int64_t v) { return (uint64_t)v ^ UINT64_C(1) << 63; }

static bool precedes(entry a, entry b) {
  return a.key != b.key ? a.key < b.key : a.position < b.position;
}

/* Puts e in the place of heap[at] of n, which no child may follow. */
static void sink(entry *heap, int64_t n, int64_t at, entry e) {
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && precedes(heap[child], heap[child + 1])) child++;
    if (!precedes(e, heap[child])) break;
    heap[at] = heap[child];
  }
  heap[at] = e;
}

/* heap[0 .. k) has the first k of what came before; `position` counts that. */
static void offer(entry *heap, int64_t k, entry e) {
  if (e.position >= k) {
    if (precedes(e, heap[0])) sink(heap, k, 0, e);
    return;
  }
  heap[e.position] = e;
  for (int64_t i = e.position + 1 == k ? k / 2 : 0; i-- > 0;) sink(heap, k, i, heap[i]);
}

static void sort_heap(entry *heap, int64_t k) {
  while (k-- > 1) {
    const entry last = heap[k];
    heap[k] = heap[0];
    sink(heap, k, 0, last);
  }
}

typedef struct rows_to_order {
  tc_rows x, y;
  bool is_float;
  uint64_t flip; /* of keys: all bits where larger ones come first */
  entry *memory; /* k for each row */
} rows_to_order;

static void order_row(const rows_to_order *s, int64_t row, entry *heap) {
  const int64_t n = s->x.inner, k = s->y.inner;
  for (int64_t at = 0, m; at < n; at += m) {
    double f[TC_BLOCK];
    int64_t v[TC_BLOCK];
    m = n - at < TC_BLOCK ? n - at : TC_BLOCK;
    if (s->is_float) tc_seq_read_f(&s->x.seq, row * n + at, m, f);
    else tc_seq_read_i(&s->x.seq, row * n + at, m, v);
    for (int64_t i = 0; i < m; i++)
      offer(heap, k, (entry){(s->is_float ? key_of_f(f[i]) : key_of_i(v[i])) ^ s->flip, at + i});
  }
  sort_heap(heap, k);
  for (int64_t i = 0; i < k; i++) tc_seq_write_i(&s->y.seq, row * k + i, 1, &heap[i].position);
}

static void order_rows(const void *p, int64_t begin, int64_t end) {
  const rows_to_order *s = p;
  for (int64_t row = begin; row < end; row++) order_row(s, row, s->memory + row * s->y.inner);
}

/* Of what is on a device: here. */
static bool order_on_host(tc_eager_call *c) {
  tc_tensor *x = tc_to(c->in[0], TC_CPU);
  tc_eager_call here = *c;
  here.device = TC_CPU;
  here.in = (const tc_tensor *[]){x};
  tc_tensor *y = x ? tc_eager_run(&here, 3) : NULL;
  const bool done = y && tc_assign(c->out, y);
  tc_free(x);
  tc_free(y);
  return done;
}

bool tc_eager_order(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  if (c->device != TC_CPU) return order_on_host(c);
  const uint32_t mask = x->key.rank ? 1u << tc_arg_axis(c, 1, x->key.rank) : 0;
  rows_to_order s = {tc_rows_of(x, mask), tc_rows_of(c->out, mask),
                     tc_is_float((tc_dtype)x->key.dtype), tc_arg(c, 2) ? UINT64_MAX : 0, NULL};
  if (!tc_elements(c->out)) return true;
  tc_storage *memory = tc_storage_new((size_t)tc_elements(c->out) * sizeof(entry));
  if (!memory) return false;
  s.memory = memory->data;
  tc_for_rows(&s.x, order_rows, &s);
  tc_storage_unref(memory);
  return true;
}

/* The first k positions along the axis. */
static tc_tensor *positions(tc_eager_call *c, int64_t k, int64_t axis, int64_t descending) {
  const tc_dim attr[] = {tc_dim_const(k), tc_dim_const(axis), tc_dim_const(descending)};
  return tc_eager_part(c, OP_ORDER, 3, attr);
}

static int64_t size_along(const tc_eager_call *c, int attr) {
  const tc_tensor *x = c->in[0];
  return x->key.rank ? x->dim[tc_arg_axis(c, attr, x->key.rank)] : 1;
}

/* Elements at positions; a scalar is its own. */
static tc_tensor *elements_at(const tc_eager_call *c, int64_t axis, const tc_tensor *position) {
  const tc_type type = tc_type_of(position);
  const tc_dim attr = tc_dim_const(axis);
  tc_eager_call gather = *c;
  if (!c->in[0]->key.rank) return tc_clone(c->in[0]);
  gather.op = OP_GATHER;
  gather.nin = 2;
  gather.in = (const tc_tensor *[]){c->in[0], position};
  gather.type = (const tc_type *[]){c->type[0], &type};
  gather.attr = &attr;
  return tc_eager_run(&gather, 1);
}

static bool sorted(tc_eager_call *c, int64_t k, int64_t axis, int64_t descending) {
  tc_tensor *position = positions(c, k, axis, descending);
  c->out = position ? elements_at(c, axis, position) : NULL;
  if (c->further[0] && c->out) *c->further[0] = position;
  else tc_free(position);
  return c->out;
}

bool tc_eager_sort(tc_eager_call *c) {
  return sorted(c, size_along(c, 0), tc_arg(c, 0), tc_arg(c, 1));
}

bool tc_eager_topk(tc_eager_call *c) { return sorted(c, tc_arg(c, 0), tc_arg(c, 1), tc_arg(c, 2)); }

bool tc_eager_argsort(tc_eager_call *c) {
  tc_free(c->out);
  c->out = positions(c, size_along(c, 0), tc_arg(c, 0), tc_arg(c, 1));
  return c->out;
}
