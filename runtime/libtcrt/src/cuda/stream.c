/* Streams: queues of work that may run side by side.  A stream lives as long as the handle, memory
 * that was allocated on it, and threads that use it. */
#include "runtime/libtcrt/src/cuda/device.h"

#include <stdlib.h>

static TC_FAST_TLS tc_stream *current;

cu_stream tc_cuda_stream(const tc_cuda_device *d, tc_stream **owner) {
  tc_stream *s = current && current->device == d ? current : NULL;
  if (owner) *owner = s;
  return s ? s->stream : NULL;
}

void tc_cuda_stream_unref(tc_stream *s) {
  if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
  tc_cuda_current(s->device);
  s->device->cu->stream_wait(s->stream); /* its memory may go to a stream of the same handle */
  s->device->cu->stream_destroy(s->stream);
  free(s);
}

tc_stream *tc_stream_new(tc_device device) {
  if ((device & 0xff) != TC_CUDA)
    return tc_fail_as(TC_ERROR_ARGUMENT, "tc_stream_new: only a GPU has streams");
  tc_cuda_device *d = tc_cuda_enter("tc_stream_new", device >> 8);
  if (!d) return NULL;
  tc_stream *s = calloc(1, sizeof *s);
  if (!s) return tc_fail_as(TC_ERROR_MEMORY, "tc_stream_new: out of memory");
  cu_result r = d->cu->stream_create(&s->stream, CU_STREAM_NON_BLOCKING);
  if (r == CU_SUCCESS) {
    s->device = d;
    atomic_init(&s->refs, 1);
    return s;
  }
  free(s);
  return tc_cuda_fail("tc_stream_new", "cuStreamCreate", r);
}

void tc_stream_free(tc_stream *s) {
  if (s && s == current) current = NULL;
  tc_cuda_stream_unref(s);
}

tc_stream *tc_stream_use(tc_stream *s) {
  tc_stream *before = current;
  current = s;
  return before;
}

bool tc_stream_synchronize(tc_stream *s) {
  if (!s) return tc_synchronize();
  cu_result r = tc_cuda_current(s->device);
  if (r == CU_SUCCESS) return tc_cuda_wait("tc_stream_synchronize", s->device, s->stream);
  return tc_cuda_fail("tc_stream_synchronize", "entering the device", r);
}

bool tc_stream_after(tc_stream *s, tc_stream *other) {
  if (!s && !other) return true; /* the default stream is in order already */
  tc_cuda_device *d = (other ? other : s)->device;
  cu_event e = NULL;
  cu_result r = tc_cuda_current(d);
  if (r == CU_SUCCESS) r = d->cu->event_create(&e, CU_EVENT_NO_TIMING);
  if (r == CU_SUCCESS) {
    r = d->cu->event_record(e, other ? other->stream : NULL);
    if (r == CU_SUCCESS && s) r = tc_cuda_current(s->device);
    if (r == CU_SUCCESS) r = d->cu->stream_wait_event(s ? s->stream : NULL, e, 0);
    d->cu->event_destroy(e);
  }
  if (r != CU_SUCCESS) tc_cuda_fail("tc_stream_after", "ordering two streams", r);
  return r == CU_SUCCESS;
}
