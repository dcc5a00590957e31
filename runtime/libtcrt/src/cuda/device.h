/* device.h - GPUs inside libtcrt: contexts, memory, streams, launches.
 *
 * A device is opened by the first call that needs it and stays open.  Work is queued on the
 * thread's current stream (tc_stream_use; at first the default stream, which all threads share);
 * memory comes from a pool in the order of that stream.  Functions that give cu_result leave it to
 * the caller to say what failed; others set an error. */
#ifndef TC_CUDA_DEVICE_H
#define TC_CUDA_DEVICE_H

#include <pthread.h>

#include "runtime/libtcrt/src/cuda/driver.h"
#include "runtime/libtcrt/src/tensor.h"

#include <tcompile/cuda.h>

/* Memory that is kept for the next allocation of the same stream, where there are no pools. */
typedef struct tc_cuda_block {
  cu_ptr data;
  size_t bytes;
  cu_stream stream;
  struct tc_cuda_block *next;
} tc_cuda_block;

/* Host memory that a queued copy reads: referenced until the event has happened. */
typedef struct tc_cuda_pending {
  cu_event event;
  tc_storage *storage;
  struct tc_cuda_pending *next;
} tc_cuda_pending;

typedef struct tc_cuda_device {
  int index;
  const tc_cuda_driver *cu;
  cu_device handle;
  cu_context context;
  tcrt_cuda_info info;
  cu_pool pool; /* NULL: plain allocation and `kept` */
  int *bad;     /* host address of the word that kernels set, and the device's */
  cu_ptr bad_address;
  pthread_mutex_t lock; /* of what follows */
  tc_cuda_block *kept;
  tc_cuda_pending *pending;
  size_t live, cached; /* bytes; cached: in `kept` */
  struct tc_cuda_products *products;
} tc_cuda_device;

struct tc_stream {
  _Atomic int32_t refs;
  tc_cuda_device *device;
  cu_stream stream;
};

/* The device, opened and made current for this thread.  NULL with an error in the name of
 * `function`. */
tc_cuda_device *tc_cuda_enter(const char *function, int index);
/* Likewise for one that is open. */
cu_result tc_cuda_current(const tc_cuda_device *d);
/* Has a device been opened? */
bool tc_cuda_any(void);
/* The device of an index below tc_cuda()->devices, or NULL when it is not open. */
tc_cuda_device *tc_cuda_opened(int index);

/* Sets an error: "function: what: CUDA_ERROR_..."; NULL. */
void *tc_cuda_fail(const char *function, const char *what, cu_result r);

/* The thread's stream for the device; owner (may be NULL) gets the object, or NULL for the default
 * one. */
cu_stream tc_cuda_stream(const tc_cuda_device *d, struct tc_stream **owner);
void tc_cuda_stream_unref(struct tc_stream *s); /* NULL is fine */
/* Waits for the stream, then reports an index that was out of range.  false with an error. */
bool tc_cuda_wait(const char *function, tc_cuda_device *d, cu_stream s);
/* false with an error when a kernel found an index out of range since the last look. */
bool tc_cuda_indices_fine(const char *function, tc_cuda_device *d);

/* A call on a device that was entered. */
void tc_cuda_call_on(tc_cuda_device *d, tcrt_cuda_call *c);

/* ---- memory ---------------------------------------------------------------------------------- */

/* In the order of the stream; *bytes becomes the size of the block.  Unused memory is given back
 * before out of memory is said. */
cu_result tc_cuda_alloc(tc_cuda_device *d, size_t *bytes, cu_stream s, cu_ptr *p);
void tc_cuda_release(tc_cuda_device *d, cu_ptr p, size_t bytes, cu_stream s);
/* A storage of device memory for the thread's stream.  NULL with an error. */
tc_storage *tc_cuda_storage(tc_cuda_device *d, size_t bytes);
/* Gives unused memory of all open devices back; bytes. */
size_t tc_cuda_trim(void);
/* Memory of the thread's stream that stays with this thread; see tcrt_cuda_workspace. */
typedef enum tc_scratch_use { TC_SCRATCH_KERNELS, TC_SCRATCH_PRODUCT } tc_scratch_use;
void *tc_cuda_scratch(tc_cuda_device *d, tc_scratch_use use, size_t bytes);
void tc_cuda_forget_scratch(void); /* of this thread */

/* Is it page-locked memory of ours? */
bool tc_cuda_is_pinned(const tc_storage *s);
/* Keeps s until what is queued on the stream by now is done. */
cu_result tc_cuda_hold(tc_cuda_device *d, tc_storage *s, cu_stream on);

/* ---- kernels --------------------------------------------------------------------------------- */

/* Counts images that were unloaded: functions found before may be gone. */
extern _Atomic unsigned tc_cuda_epoch;

/* Is the image's code on this device made for Hopper or newer? */
bool tc_cuda_waits(tc_cuda_device *d, tcrt_cuda_image *image);
/* The function of an image on the device, loaded if need be. */
cu_result tc_cuda_function(tc_cuda_device *d, tcrt_cuda_image *image, unsigned index,
                           unsigned shared, cu_function *f);

/* dst = src, over dst's shape: src broadcasts, both of one dtype and of any strides. */
cu_result tc_cuda_strided(const tcrt_cuda_call *c, const tc_tensor *dst, const tc_tensor *src);
/* Every element of dst = the low bytes of bits. */
cu_result tc_cuda_fill(const tcrt_cuda_call *c, const tc_tensor *dst, uint64_t bits);

/* The product on the stream at once; see tcrt_cuda_matmul.  With `ask` it only finds out whether it
 * could, and how many bytes of the library's workspace it would use. */
cu_result tc_cuda_product(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm, cu_stream s,
                          size_t *ask);

/* ---- recording ------------------------------------------------------------------------------- */

typedef struct tc_cuda_kernel {
  cu_function function;
  unsigned grid_x, grid_y, block, shared;
  unsigned nargs;
  bool table; /* its arguments are one parameter */
  bool waits; /* by itself for those in front of it */
} tc_cuda_kernel;

/* Adds a kernel (with nargs 8-byte arguments) or a product (with bytes of workspace) to what
 * tcrt_cuda_record collects. */
cu_result tc_cuda_record_kernel(const tcrt_cuda_call *c, const tc_cuda_kernel *k,
                                void *const *args);
cu_result tc_cuda_record_product(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm,
                                 size_t workspace);
cu_result tc_cuda_start(tc_cuda_device *d, const tc_cuda_kernel *k, void *const *args, cu_stream s);
cu_result tc_cuda_submit(tcrt_cuda_call *c, bool failed);
void tc_cuda_forget_graphs(void); /* of this thread */

#endif
