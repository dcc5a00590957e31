/* DLPack: memory is shared both ways, references are held and dropped once, misuse is an error. */
#include <criterion/criterion.h>
#include <string.h>

#include <tcompile/dlpack.h>

Test(dlpack, export_shares_memory_and_outlives_the_tensor) {
  tc_tensor *x = tc_arange(6, 0, 1, TC_F32), *flat = tc_reshape(x, TC_DIMS(2, 3));
  tc_tensor *y = tc_transpose(flat, 0, 1);
  DLManagedTensor *m = tc_to_dlpack(y);
  cr_assert_not_null(m, "%s", tc_error());
  cr_expect_eq(m->dl_tensor.ndim, 2);
  cr_expect_eq(m->dl_tensor.shape[0], 3);
  cr_expect_eq(m->dl_tensor.strides[0], 1);
  cr_expect_eq(m->dl_tensor.strides[1], 3);
  cr_expect_eq(m->dl_tensor.device.device_type, kDLCPU);
  cr_expect_eq(m->dl_tensor.dtype.code, kDLFloat);
  cr_expect_eq(m->dl_tensor.dtype.bits, 32);
  cr_expect_eq(m->dl_tensor.data, tc_data(x));
  tc_free(x);
  tc_free(flat);
  tc_free(y);
  cr_expect_eq(((float *)m->dl_tensor.data)[5], 5);
  m->deleter(m);
}

Test(dlpack, round_trips_every_dtype) {
  for (tc_dtype d = TC_BOOL; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_tensor *x = tc_cast(tc_arange(8, 0, 1, TC_F32), d);
      tc_tensor *y = tc_from_dlpack(tc_to_dlpack(x));
      cr_assert_not_null(y, "%s", tc_error());
      cr_expect_eq(tc_dtype_of(y), d);
      cr_expect_eq(tc_cdata(y), tc_cdata(x));
      tc_tensor *z = tc_from_dlpack_versioned(tc_to_dlpack_versioned(tc_select(x, 0, 3)));
      cr_assert_not_null(z, "%s", tc_error());
      cr_expect_eq(tc_rank(z), 0);
    }
}

static int deleted;
static void count_deletion(DLManagedTensor *m) {
  (void)m;
  deleted++;
}

static float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static int64_t shape[9] = {2, 2, 1, 1, 1, 1, 1, 1, 1}, strides[2] = {-2, 1};

/* Rows in reverse order, from an offset. */
static DLManagedTensor foreign(void) {
  return (DLManagedTensor){.dl_tensor = {.data = values,
                                         .device = {kDLCPU, 0},
                                         .ndim = 2,
                                         .dtype = {kDLFloat, 32, 1},
                                         .shape = shape,
                                         .strides = strides,
                                         .byte_offset = 16},
                           .deleter = count_deletion};
}

Test(dlpack, import_deletes_with_the_last_view) {
  DLManagedTensor m = foreign();
  deleted = 0;
  tc_tensor *x = tc_from_dlpack(&m);
  cr_assert_not_null(x, "%s", tc_error());
  cr_expect_eq(tc_at(x, TC_DIMS(0, 0)), 4);
  cr_expect_eq(tc_at(x, TC_DIMS(1, 1)), 3);
  tc_tensor *row = tc_select(x, 0, 1);
  tc_free(x);
  cr_expect_eq(deleted, 0);
  cr_expect_eq(tc_at(row, TC_DIMS(0)), 2);
  tc_free(row);
  cr_expect_eq(deleted, 1);
}

static void expect_refused(DLManagedTensor m, const char *message) {
  tc_clear_error();
  deleted = 0;
  cr_expect_null(tc_from_dlpack(&m));
  cr_expect(tc_error() && strstr(tc_error(), message), "expected '%s', got '%s'", message,
            tc_error());
  cr_expect_eq(deleted, 0); /* still the caller's */
}

Test(dlpack, import_refuses_what_tensors_cannot_be) {
  DLManagedTensor m = foreign();
  m.dl_tensor.device.device_type = kDLVulkan;
  expect_refused(m, "device type 7");
  m = foreign();
  m.dl_tensor.device = (DLDevice){kDLCUDA, 999};
  expect_refused(m, "no cuda:999");
  m = foreign();
  m.dl_tensor.dtype.lanes = 4;
  expect_refused(m, "4 lanes");
  m = foreign();
  m.dl_tensor.dtype.code = kDLComplex;
  expect_refused(m, "code 5");
  m = foreign();
  m.dl_tensor.dtype.bits = 4;
  expect_refused(m, "4 bits");
  m = foreign();
  m.dl_tensor.ndim = 9;
  expect_refused(m, "rank 9");
  m = foreign();
  m.dl_tensor.ndim = -1;
  expect_refused(m, "rank -1");
  m = foreign();
  m.dl_tensor.shape = NULL;
  expect_refused(m, "shape is NULL");
  m = foreign();
  m.dl_tensor.data = NULL;
  expect_refused(m, "NULL");
  m = foreign();
  m.dl_tensor.byte_offset = 2;
  expect_refused(m, "not aligned");
  static int64_t negative[2] = {2, -2};
  m = foreign();
  m.dl_tensor.shape = negative;
  expect_refused(m, "negative");
}

Test(dlpack, read_only_travels_in_version_1_alone) {
  tc_tensor *x = tc_wrap_const(TC_DIMS(8), NULL, values, TC_F32);
  cr_expect_null(tc_to_dlpack(x));
  cr_expect(strstr(tc_error(), "read-only"));
  tc_clear_error();
  DLManagedTensorVersioned *m = tc_to_dlpack_versioned(x);
  cr_assert_not_null(m, "%s", tc_error());
  cr_expect(m->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
  tc_tensor *y = tc_from_dlpack_versioned(m);
  cr_expect_null(tc_fill_(y, 0));
  tc_clear_error();
  tc_free(y);
  tc_free(x);
  DLManagedTensorVersioned other = {.version = {2, 0}};
  cr_expect_null(tc_from_dlpack_versioned(&other));
  cr_expect(strstr(tc_error(), "version 2.0"));
}

Test(dlpack, null_in_null_out) {
  cr_expect_null(tc_to_dlpack(NULL));
  cr_expect_null(tc_from_dlpack(NULL));
  cr_expect_null(tc_to_dlpack_versioned(NULL));
  cr_expect_null(tc_from_dlpack_versioned(NULL));
}
