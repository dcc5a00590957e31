/* dlpack.c - exchange of tensors with other libraries, without copying.
 *
 * On a device both sides use the default stream, unless the program orders its streams itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/libtcrt/src/tensor.h"

#include <tcompile/dlpack.h>

static const DLDataType code_of[TC_DTYPE_COUNT] = {
    [TC_BOOL] = {kDLBool, 8, 1},  [TC_U8] = {kDLUInt, 8, 1},      [TC_I8] = {kDLInt, 8, 1},
    [TC_I16] = {kDLInt, 16, 1},   [TC_I32] = {kDLInt, 32, 1},     [TC_I64] = {kDLInt, 64, 1},
    [TC_F16] = {kDLFloat, 16, 1}, [TC_BF16] = {kDLBfloat, 16, 1}, [TC_F32] = {kDLFloat, 32, 1},
    [TC_F64] = {kDLFloat, 64, 1},
};

/* ---- export ---------------------------------------------------------------------------------- */

/* What a deleter frees: the managed tensor, its lists, a reference to the memory. */
typedef struct {
  union {
    DLManagedTensor plain;
    DLManagedTensorVersioned versioned;
  } managed;
  tc_storage *storage;
  int64_t shape[TC_MAX_RANK], stride[TC_MAX_RANK];
} exported;

static void drop(exported *e) {
  tc_storage_unref(e->storage);
  free(e);
}

static void delete_plain(DLManagedTensor *m) { drop(m->manager_ctx); }
static void delete_versioned(DLManagedTensorVersioned *m) { drop(m->manager_ctx); }

/* Without `managed`, which the caller fills from *out. */
static exported *export_tensor(const tc_tensor *x, DLTensor *out) {
  exported *e = calloc(1, sizeof *e);
  if (!e) return tc_fail_as(TC_ERROR_MEMORY, "tc_to_dlpack: out of memory");
  e->storage = tc_storage_ref(x->storage);
  for (int i = 0; i < x->key.rank; i++) {
    e->shape[i] = x->dim[i];
    e->stride[i] = x->stride[i];
  }
  *out = (DLTensor){.data = x->data,
                    .device = {x->key.device == TC_CPU ? kDLCPU : kDLCUDA, x->device_index},
                    .ndim = x->key.rank,
                    .dtype = code_of[x->key.dtype],
                    .shape = e->shape,
                    .strides = e->stride,
                    .byte_offset = 0};
  return e;
}

DLManagedTensor *tc_to_dlpack(const tc_tensor *x) {
  DLTensor t;
  if (!tc_given("tc_to_dlpack", 1, x)) return NULL;
  if (x->key.flags & TC_FLAG_READONLY)
    return tc_fail(
        "tc_to_dlpack: %s is read-only, which DLPack 0.x cannot say; export a tc_clone, or "
        "use tc_to_dlpack_versioned",
        tc_describe(x).text);
  exported *e = export_tensor(x, &t);
  if (!e) return NULL;
  e->managed.plain = (DLManagedTensor){t, e, delete_plain};
  return &e->managed.plain;
}

DLManagedTensorVersioned *tc_to_dlpack_versioned(const tc_tensor *x) {
  DLTensor t;
  exported *e = tc_given("tc_to_dlpack_versioned", 1, x) ? export_tensor(x, &t) : NULL;
  if (!e) return NULL;
  uint64_t flags = x->key.flags & TC_FLAG_READONLY ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  e->managed.versioned = (DLManagedTensorVersioned){
      {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, e, delete_versioned, flags, t};
  return &e->managed.versioned;
}

/* ---- import ---------------------------------------------------------------------------------- */

static void release_plain(void *context) {
  DLManagedTensor *m = context;
  if (m->deleter) m->deleter(m);
}

static void release_versioned(void *context) {
  DLManagedTensorVersioned *m = context;
  if (m->deleter) m->deleter(m);
}

/* The dtype, or -1. */
static int find_dtype(DLDataType d) {
  for (int i = 0; i < TC_DTYPE_COUNT; i++)
    if (code_of[i].code == d.code && code_of[i].bits == d.bits && d.lanes == 1) return i;
  return -1;
}

static tc_tensor *import_tensor(const DLTensor *d, void (*release)(void *), void *context) {
  bool gpu = d->device.device_type == kDLCUDA || d->device.device_type == kDLCUDAManaged;
  if (!gpu && d->device.device_type != kDLCPU && d->device.device_type != kDLCUDAHost)
    return tc_fail("tc_from_dlpack: device type %d is neither the CPU nor a CUDA device",
                   (int)d->device.device_type);
  int count = gpu ? tc_device_count(TC_CUDA) : 0;
  if (gpu && (d->device.device_id < 0 || d->device.device_id >= count))
    return tc_fail_as(TC_ERROR_DEVICE, "tc_from_dlpack: there is no cuda:%d",
                      (int)d->device.device_id);
  int dtype = find_dtype(d->dtype);
  if (dtype < 0)
    return tc_fail("tc_from_dlpack: no dtype for code %d of %d bits and %d lanes", d->dtype.code,
                   d->dtype.bits, d->dtype.lanes);
  if (d->ndim < 0 || d->ndim > TC_MAX_RANK)
    return tc_fail("tc_from_dlpack: rank %d; at most %d", (int)d->ndim, TC_MAX_RANK);
  if (d->ndim > 0 && !d->shape) return tc_fail("tc_from_dlpack: shape is NULL");
  if (!d->data && d->byte_offset) return tc_fail("tc_from_dlpack: an offset from NULL");
  tc_ints dims = {d->ndim, {0}};
  for (int i = 0; i < d->ndim; i++) dims.v[i] = d->shape[i];
  char *data = d->data ? (char *)d->data + d->byte_offset : NULL;
  tc_tensor *t = tc_wrap(dims, d->strides, data, (tc_dtype)dtype, release, context);
  if (t && gpu) {
    t->key.device = TC_CUDA;
    t->device_index = d->device.device_id;
  }
  return t;
}

tc_tensor *tc_from_dlpack(DLManagedTensor *m) {
  return m ? import_tensor(&m->dl_tensor, release_plain, m) : NULL;
}

tc_tensor *tc_from_dlpack_versioned(DLManagedTensorVersioned *m) {
  if (!m) return NULL;
  if (m->version.major != DLPACK_MAJOR_VERSION)
    return tc_fail("tc_from_dlpack: DLPack version %" PRIu32 ".%" PRIu32 "; only 1.x is read",
                   m->version.major, m->version.minor);
  tc_tensor *t = import_tensor(&m->dl_tensor, release_versioned, m);
  if (t && m->flags & DLPACK_FLAG_BITMASK_READ_ONLY) t->key.flags |= TC_FLAG_READONLY;
  return t;
}
