/* layout.c - tensors over memory that the program describes in its own words (tc_layout): as
 * tensors of the eager API, and as headers on the stack of a compiled call.  Both are filled here.
 */
#include "graph/graph.h"
#include "runtime/libtcrt/src/tensor.h"

/* Fills key, sizes, strides, data.  Returns what keeps the layout from being a tensor, or NULL. */
static const char *fill(tc_tensor *t, const tc_layout *l) {
  if ((unsigned)l->dtype >= TC_DTYPE_COUNT) return "its dtype is none of ours";
  if (l->rank < 0 || l->rank > TC_MAX_RANK) return "its rank is not within 0 and 8";
  const size_t size = tc_dtype_bytes(l->dtype);
  t->key =
      (tc_key){(uint8_t)l->dtype, TC_CPU, (uint8_t)l->rank, l->readonly ? TC_FLAG_READONLY : 0};
  for (int i = 0; i < l->rank; i++) {
    if (l->dim[i] < 0) return "a size is negative";
    if (l->dim[i] > 1 && (uint64_t)l->stride[i] % size)
      return "a stride is no multiple of the element's bytes";
    t->dim[i] = l->dim[i];
    t->stride[i] = l->stride[i] / (int64_t)size;
  }
  const int64_t n = tc_count(l->rank, t->dim, size);
  if (n < 0) return "the product of its sizes is more than memory can hold";
  if (n > 0 && !l->data) return "its data is NULL";
  if ((uintptr_t)l->data % size) return "its data is not aligned";
  tc_update_contiguous(t);
  if (!(t->key.flags & TC_FLAG_CONTIGUOUS) && !tc_reachable(size, l->rank, t->dim, t->stride))
    return "its strides leave the address space";
  t->data = l->data;
  return NULL;
}

const struct tc_tensor *tcrt_borrow(struct tc_tensor *header, const tc_layout *layout) {
  header->device_index = 0;
  header->storage = NULL;
  header->autograd = NULL;
  header->scope = NULL;
  if (fill(header, layout)) header->key = (tc_key){0, TC_CPU, 0, TC_FLAG_BROKEN};
  return header;
}

tc_tensor *tc_wrap_layout(tc_layout layout) {
  tc_tensor header;
  const char *fault = fill(&header, &layout);
  if (fault) return tc_fail("tc_wrap_layout: %s", fault);
  tc_ints dims = {.n = layout.rank};
  for (int i = 0; i < layout.rank; i++) dims.v[i] = header.dim[i];
  return layout.readonly ? tc_wrap_const(dims, header.stride, layout.data, layout.dtype)
                         : tc_wrap(dims, header.stride, layout.data, layout.dtype, NULL, NULL);
}
