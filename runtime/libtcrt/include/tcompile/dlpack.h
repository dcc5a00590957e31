/* tcompile/dlpack.h - the C structures of DLPack, and exchange with tensors.
 *
 * An own declaration of the ABI that DLPack 0.x (DLManagedTensor) and 1.x (DLManagedTensorVersioned)
 * define, under the include guard of the original: where a program includes <dlpack/dlpack.h> first,
 * that one counts.
 *
 *   DLManagedTensor *m = tc_to_dlpack(x);     consumer calls m->deleter(m) once
 *   tc_tensor *y = tc_from_dlpack(m);         y calls it with its last view gone */
#ifndef TCOMPILE_DLPACK_H
#define TCOMPILE_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#include <tcompile.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

typedef struct {
  uint32_t major, minor;
} DLPackVersion;

#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U
} DLDataTypeCode;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;     /* in elements; NULL: row-major */
  uint64_t byte_offset; /* from data to the first element */
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self); /* may be NULL */
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags; /* DLPACK_FLAG_BITMASK_* */
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif

#pragma GCC visibility push(default)

/* The 1.x forms of tc_to_dlpack and tc_from_dlpack (tcompile.h).  They carry the read-only flag,
 * which 0.x cannot: tc_to_dlpack of a read-only tensor is an error.  On an error of an import the
 * managed tensor still belongs to the caller. */
struct DLManagedTensorVersioned *tc_to_dlpack_versioned(const tc_tensor *x);
tc_tensor *tc_from_dlpack_versioned(struct DLManagedTensorVersioned *m);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
