/* What generated code calls: a call's device and stream, launches, results. */
#include "runtime/libtcrt/src/cuda/device.h"

void tc_cuda_call_on(tc_cuda_device *d, tcrt_cuda_call *c) {
  *c = (tcrt_cuda_call){.info = &d->info, .device = d->index, .state = d};
  c->stream = tc_cuda_stream(d, NULL);
  c->bad = (int *)(uintptr_t)d->bad_address;
}

int tcrt_cuda_begin(tcrt_cuda_call *c, const struct tc_tensor *first) {
  int index = first ? first->device_index : (int)tc_default_device() >> 8;
  tc_cuda_device *d = tc_cuda_enter("a compiled function", index);
  if (!d) return 0;
  tc_cuda_call_on(d, c);
  return 1;
}

int tcrt_cuda_end(tcrt_cuda_call *c, int failed) {
  return c->recording ? tc_cuda_submit(c, failed) : failed;
}

cu_result tc_cuda_start(tc_cuda_device *d, const tc_cuda_kernel *k, void *const *args,
                        cu_stream s) {
  return d->cu->launch(k->function, k->grid_x, k->grid_y, 1, k->block, 1, 1, k->shared, s,
                       (void **)(uintptr_t)args, NULL);
}

/* The kernel need not wait for those in front of it to end. */
static cu_result start_early(tc_cuda_device *d, const tc_cuda_kernel *k, void *const *args,
                             cu_stream s) {
  const cu_launch_attribute early = {.id = 6, .value.allowed = 1};
  const cu_launch l = {k->grid_x, k->grid_y, 1, k->block, 1, 1, k->shared, s, &early, 1};
  return d->cu->launch_with(&l, k->function, (void **)(uintptr_t)args, NULL);
}

static int launch(const tcrt_cuda_call *c, tc_cuda_kernel k, void *const *args) {
  tc_cuda_device *d = c->state;
  if (c->recording) return tc_cuda_record_kernel(c, &k, args);
  if (k.waits && d->cu->launch_with) return start_early(d, &k, args, (cu_stream)c->stream);
  return tc_cuda_start(d, &k, args, (cu_stream)c->stream);
}

static int follow(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function,
                  tc_cuda_kernel k, void *const *args) {
  tc_cuda_device *d = c->state;
  if (k.grid_x == 0) return CU_SUCCESS;
  cu_result r = tc_cuda_function(d, image, function, k.shared, &k.function);
  k.waits = r == CU_SUCCESS && tc_cuda_waits(d, image);
  return r == CU_SUCCESS ? launch(c, k, args) : r;
}

int tcrt_cuda_follow(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function,
                     unsigned grid, unsigned block, unsigned shared, void *const *args,
                     unsigned nargs) {
  const tc_cuda_kernel k = {
      .grid_x = grid, .grid_y = 1, .block = block, .shared = shared, .nargs = nargs};
  return follow(c, image, function, k, args);
}

int tcrt_cuda_follow_table(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function,
                           unsigned grid, unsigned block, const uint64_t word[TCRT_CUDA_WORDS]) {
  const tc_cuda_kernel k = {
      .grid_x = grid, .grid_y = 1, .block = block, .nargs = TCRT_CUDA_WORDS, .table = true};
  void *const args[] = {(void *)(uintptr_t)word};
  return follow(c, image, function, k, args);
}

int tcrt_cuda_launch(const tcrt_cuda_call *c, tcrt_cuda_image *image, unsigned function,
                     unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned shared,
                     void *const *args, unsigned nargs) {
  tc_cuda_kernel k = {
      .grid_x = grid_x, .grid_y = grid_y, .block = block_x, .shared = shared, .nargs = nargs};
  if (grid_x == 0 || grid_y == 0) return CU_SUCCESS;
  cu_result r = tc_cuda_function(c->state, image, function, shared, &k.function);
  return r == CU_SUCCESS ? launch(c, k, args) : r;
}

void *tcrt_cuda_workspace(const tcrt_cuda_call *c, size_t bytes) {
  return tc_cuda_scratch(c->state, TC_SCRATCH_KERNELS, bytes);
}

struct tc_tensor *tcrt_cuda_new(const tcrt_cuda_call *c, tc_dtype dtype, int rank,
                                const int64_t *dim) {
  return tc_tensor_new(dtype, rank, dim, tc_gpu(c->device));
}

int tcrt_cuda_copy(const tcrt_cuda_call *c, const struct tc_tensor *x, void *dst,
                   const int64_t *stride) {
  tc_tensor to = tc_alias(x);
  to.data = dst;
  for (int i = 0; i < x->key.rank; i++) to.stride[i] = stride[i];
  return tc_cuda_strided(c, &to, x);
}

int tcrt_cuda_pack(const tcrt_cuda_call *c, const struct tc_tensor *x, void *dst) {
  tc_tensor to = tc_alias(x);
  tc_set_row_major(&to);
  return tcrt_cuda_copy(c, x, dst, to.stride);
}

int tcrt_cuda_matmul(const tcrt_cuda_call *c, const tcrt_cuda_mm *mm) {
  if (mm->batch == 0 || mm->m == 0 || mm->n == 0) return CU_SUCCESS;
  if (mm->k == 0) return CU_NOT_SUPPORTED;
  if (!c->recording) return tc_cuda_product(c, mm, (cu_stream)c->stream, NULL);
  size_t bytes;
  const cu_result r = tc_cuda_product(c, mm, (cu_stream)c->stream, &bytes);
  return r == CU_SUCCESS ? tc_cuda_record_product(c, mm, bytes) : r;
}
