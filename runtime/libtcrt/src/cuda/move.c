/* Tensors between places: tc_to, assignments with a device at either end, reading on the host. */
#include "runtime/libtcrt/src/cuda/device.h"

#include <stdio.h>
#include <string.h>

#include "runtime/libtcrt/src/autograd/tape.h"
#include "runtime/libtcrt/src/device.h"

tc_place_text tc_describe_place(tc_device device) {
  tc_place_text p;
  if (device == TC_CPU) snprintf(p.text, sizeof p.text, "the CPU");
  else snprintf(p.text, sizeof p.text, "cuda:%d", (int)device >> 8);
  return p;
}

tc_storage *tc_device_storage(int index, size_t bytes) {
  tc_cuda_device *d = tc_cuda_enter("a tensor on a GPU", index);
  return d ? tc_cuda_storage(d, bytes) : NULL;
}

static tc_cuda_device *begin(const char *function, const tc_tensor *x, tcrt_cuda_call *c) {
  tc_cuda_device *d = tc_cuda_enter(function, x->device_index);
  if (d) tc_cuda_call_on(d, c);
  return d;
}

/* ---- copying --------------------------------------------------------------------------------- */

static size_t bytes_of(const tc_tensor *x) {
  return (size_t)tc_elements(x) * tc_dtype_size((tc_dtype)x->key.dtype);
}

static cu_ptr address(const tc_tensor *x) { return (cu_ptr)(uintptr_t)x->data; }

static bool contiguous(const tc_tensor *x) { return x->key.flags & TC_FLAG_CONTIGUOUS; }

/* Both contiguous, of one shape and dtype.  Page-locked memory is read while the program goes on,
 * and kept until then; other memory has been read when this returns. */
static bool upload(const char *function, const tc_tensor *y, const tc_tensor *x) {
  tcrt_cuda_call c;
  tc_cuda_device *d = begin(function, y, &c);
  cu_stream s = d ? (cu_stream)c.stream : NULL;
  cu_result r = CU_SUCCESS;
  if (!d) return false;
  if (bytes_of(x) == 0) return true;
  if (tc_cuda_is_pinned(x->storage)) {
    r = d->cu->to_device_async(address(y), x->data, bytes_of(x), s);
    if (r == CU_SUCCESS) r = tc_cuda_hold(d, x->storage, s);
  } else if (!s) {
    r = d->cu->to_device(address(y), x->data, bytes_of(x));
  } else {
    r = d->cu->to_device_async(address(y), x->data, bytes_of(x), s);
    if (r == CU_SUCCESS) r = d->cu->stream_wait(s);
  }
  if (r != CU_SUCCESS) tc_cuda_fail(function, "copying to the device", r);
  return r == CU_SUCCESS;
}

/* Likewise from the device; returns when the bytes are there, or (later) when page-locked memory
 * is written while the program goes on. */
static bool download(const char *function, const tc_tensor *y, const tc_tensor *x, bool later) {
  tcrt_cuda_call c;
  tc_cuda_device *d = begin(function, x, &c);
  cu_stream s = d ? (cu_stream)c.stream : NULL;
  cu_result r = CU_SUCCESS;
  if (!d) return false;
  if (bytes_of(x) > 0) r = d->cu->to_host_async(y->data, address(x), bytes_of(x), s);
  if (r == CU_SUCCESS && later) r = tc_cuda_hold(d, y->storage, s);
  if (r != CU_SUCCESS) tc_cuda_fail(function, "copying from the device", r);
  return r == CU_SUCCESS && (later || tc_cuda_wait(function, d, s));
}

/* From one device to another, both contiguous: in the order of the source's stream, which the
 * target's then follows. */
static bool transfer(const char *function, const tc_tensor *y, const tc_tensor *x) {
  tcrt_cuda_call to, from;
  tc_cuda_device *e = begin(function, y, &to), *d = e ? begin(function, x, &from) : NULL;
  cu_event done = NULL;
  if (!d) return false;
  cu_result r = d->cu->event_create(&done, CU_EVENT_NO_TIMING);
  if (r != CU_SUCCESS) return tc_cuda_fail(function, "cuEventCreate", r);
  if (bytes_of(x) > 0)
    r = d->cu->peer_async(address(y), e->context, address(x), d->context, bytes_of(x),
                          (cu_stream)from.stream);
  if (r == CU_SUCCESS) r = d->cu->event_record(done, (cu_stream)from.stream);
  if (r == CU_SUCCESS) r = tc_cuda_current(e);
  if (r == CU_SUCCESS) r = e->cu->stream_wait_event((cu_stream)to.stream, done, 0);
  d->cu->event_destroy(done);
  if (r != CU_SUCCESS) tc_cuda_fail(function, "copying between devices", r);
  return r == CU_SUCCESS;
}

/* A tensor like x elsewhere, not filled. */
static tc_tensor *like(const tc_tensor *x, tc_device device) {
  tc_tensor *y = tc_tensor_new((tc_dtype)x->key.dtype, x->key.rank, x->dim, device);
  if (y) y->key.flags = (uint8_t)(y->key.flags | (x->key.flags & TC_FLAG_WEAK));
  return y;
}

static bool move_contiguous(const char *function, const tc_tensor *y, const tc_tensor *x) {
  if (y->key.device == TC_CPU) return download(function, y, x, false);
  return x->key.device == TC_CPU ? upload(function, y, x) : transfer(function, y, x);
}

static tc_tensor *move_to(const char *function, const tc_tensor *x, tc_device device) {
  tc_tensor *dense = contiguous(x) ? NULL : tc_clone(x);
  if (!contiguous(x) && !dense) return NULL;
  tc_tensor *y = like(x, device);
  if (y && !move_contiguous(function, y, dense ? dense : x)) {
    tc_free(y);
    y = NULL;
  }
  tc_free(dense);
  return y;
}

tc_tensor *tc_to(const tc_tensor *x, tc_device device) {
  if (!tc_given("tc_to", 1, x)) return NULL;
  if (device != TC_CPU && (device & 0xff) != TC_CUDA)
    return tc_fail_as(TC_ERROR_DEVICE, "tc_to: %d is no device", (int)device);
  if (device != TC_CPU && !tc_cuda_enter("tc_to", (int)device >> 8)) return NULL;
  if (tc_place(x) != device) return tc_tape_identity("tc_to", x, move_to("tc_to", x, device));
  tc_tensor *y = tc_tensor_header((tc_dtype)x->key.dtype, x->key.rank, x->dim, device);
  if (!y) return NULL;
  memcpy(y->stride, x->stride, sizeof y->stride);
  tc_tensor_share(y, x, 0);
  y->key.flags = (uint8_t)(y->key.flags | (x->key.flags & TC_FLAG_WEAK));
  return tc_tape_identity("tc_to", x, y);
}

tc_tensor *tc_pin(const tc_tensor *x) {
  if (!tc_given("tc_pin", 1, x)) return NULL;
  tc_ints dims = {x->key.rank, {0}};
  memcpy(dims.v, x->dim, (size_t)dims.n * sizeof *dims.v);
  tc_tensor *y = tc_empty_pinned(dims, (tc_dtype)x->key.dtype);
  if (!y || tc_copy_(y, x) == NULL || (x->key.device != TC_CPU && !tc_synchronize())) {
    tc_free(y);
    return NULL;
  }
  return y;
}

const tc_tensor *tc_on_host(const char *function, const tc_tensor *x, tc_tensor **copy) {
  *copy = NULL;
  if (x->key.device == TC_CPU) return x;
  return *copy = move_to(function, x, TC_CPU);
}

/* ---- assignment ------------------------------------------------------------------------------ */

/* A one-element tensor's value in dst's dtype, as bits. */
static uint64_t bits_for(const tc_tensor *dst, const tc_tensor *value) {
  uint64_t bits = 0;
  tc_tensor one = {.key = {.dtype = dst->key.dtype}, .data = &bits};
  for (int i = 0; i < TC_MAX_RANK; i++) one.dim[i] = 1;
  tc_assign(&one, value);
  return bits;
}

static bool fill_bits(const tc_tensor *dst, uint64_t bits) {
  tcrt_cuda_call c;
  if (!begin("fill", dst, &c)) return false;
  cu_result r = tc_cuda_fill(&c, dst, bits);
  if (r != CU_SUCCESS) tc_cuda_fail("fill", "the kernel", r);
  return r == CU_SUCCESS;
}

bool tc_device_fill(const tc_tensor *dst, double value) {
  tc_tensor v = {.key = {.dtype = TC_F64}, .data = &value};
  for (int i = 0; i < TC_MAX_RANK; i++) v.dim[i] = 1;
  return fill_bits(dst, bits_for(dst, &v));
}

/* Both on one device and of one dtype. */
static bool assign_strided(const tc_tensor *dst, const tc_tensor *src) {
  tcrt_cuda_call c;
  if (!begin("copy", dst, &c)) return false;
  cu_result r = tc_cuda_strided(&c, dst, src);
  if (r != CU_SUCCESS) tc_cuda_fail("copy", "the kernel", r);
  return r == CU_SUCCESS;
}

static bool assign_freeing(const tc_tensor *dst, tc_tensor *src) {
  bool done = src && tc_assign(dst, src);
  tc_free(src);
  return done;
}

/* A page-locked target is written while the program goes on. */
static bool assign_to_host(const tc_tensor *dst, const tc_tensor *src) {
  bool whole = contiguous(dst) && contiguous(src) && dst->key.dtype == src->key.dtype &&
               dst->key.rank == src->key.rank && tc_elements(dst) == tc_elements(src);
  if (whole) return download("copy", dst, src, tc_cuda_is_pinned(dst->storage));
  return assign_freeing(dst, move_to("copy", src, TC_CPU));
}

bool tc_device_assign(const tc_tensor *dst, const tc_tensor *src) {
  bool whole = dst->key.rank == src->key.rank && tc_elements(dst) == tc_elements(src);
  if (dst->key.device == TC_CPU) return assign_to_host(dst, src);
  if (src->key.device == TC_CPU && tc_elements(src) == 1) return fill_bits(dst, bits_for(dst, src));
  if (dst->key.dtype != src->key.dtype)
    return assign_freeing(dst, tc_cast(src, (tc_dtype)dst->key.dtype));
  if (tc_place(dst) == tc_place(src)) return assign_strided(dst, src);
  if (whole && contiguous(dst) && contiguous(src)) return move_contiguous("copy", dst, src);
  return assign_freeing(dst, move_to("copy", src, tc_place(dst)));
}

bool tc_device_pack(const tc_tensor *x, void *dst) {
  tc_tensor to = tc_alias(x);
  to.data = dst;
  tc_set_row_major(&to);
  return assign_strided(&to, x);
}
