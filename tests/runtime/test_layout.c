/* Tensors over memory that the program describes: as tensors, and as headers of compiled calls. */
#include <criterion/criterion.h>
#include <string.h>

#include <tcompile.h>

/* What tc_wrap_layout says; both ways agree on what is a tensor. */
static const char *fault(tc_layout l) {
  tc_tensor header;
  tc_clear_error();
  bool broken = tcrt_borrow(&header, &l)->key.flags & TC_FLAG_BROKEN;
  tc_tensor *t = tc_wrap_layout(l);
  cr_expect_eq(t == NULL, broken);
  tc_free(t);
  return tc_error() ? tc_error() : "";
}

Test(layout, row_major) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  tc_layout l = tc_row_major(TC_DIMS(2, 3), data, TC_F32);
  tc_tensor *t = tc_wrap_layout(l), header;
  cr_assert_not_null(t);
  cr_expect_eq(tc_data(t), (void *)data);
  cr_expect(tc_is_contiguous(t));
  cr_expect_eq(tc_at(t, TC_INTS(1, 0)), 4);
  cr_expect_eq(tcrt_borrow(&header, &l), &header);
  cr_expect(!memcmp(&header.key, &t->key, sizeof header.key));
  cr_expect(!memcmp(header.dim, t->dim, 2 * sizeof *t->dim));
  cr_expect(!memcmp(header.stride, t->stride, 2 * sizeof *t->stride));
  cr_expect_eq(header.data, t->data);
  tc_free(t);
}

Test(layout, strides_in_bytes) {
  double data[12];
  for (int i = 0; i < 12; i++) data[i] = i;
  tc_layout l = {data + 3, TC_F64, 2, {2, 2}, {32, -16}, true};
  tc_tensor *t = tc_wrap_layout(l);
  cr_assert_not_null(t);
  cr_expect_eq(tc_at(t, TC_INTS(1, 1)), 5);
  cr_expect_eq(tc_stride(t, 1), -2);
  cr_expect_null(tc_fill_(t, 0));
  cr_expect_eq(data[3], 3);
  tc_free(t);
}

/* One thing wrong at a time. */
Test(layout, faults) {
  float data[16] = {0};
  const tc_layout fine = tc_row_major(TC_DIMS(2, 3), data, TC_F32);
  tc_layout l = fine;
  cr_expect_str_eq(fault(l), "");
  l = fine, l.dtype = TC_DTYPE_COUNT;
  cr_expect(strstr(fault(l), "tc_wrap_layout: its dtype is none of ours"));
  l = fine, l.dtype = (tc_dtype)-1;
  cr_expect(strstr(fault(l), "dtype"));
  l = fine, l.rank = 9;
  cr_expect(strstr(fault(l), "rank"));
  l = fine, l.rank = -1;
  cr_expect(strstr(fault(l), "rank"));
  l = fine, l.dim[0] = -2;
  cr_expect(strstr(fault(l), "a size is negative"));
  l = fine, l.stride[1] = 6;
  cr_expect(strstr(fault(l), "a stride is no multiple of the element's bytes"));
  l = fine, l.dim[0] = l.dim[1] = INT64_C(1) << 40;
  cr_expect(strstr(fault(l), "more than memory can hold"));
  l = fine, l.data = NULL;
  cr_expect(strstr(fault(l), "its data is NULL"));
  l = fine, l.data = (char *)data + 2;
  cr_expect(strstr(fault(l), "its data is not aligned"));
  l = fine, l.stride[0] = INT64_C(1) << 62;
  cr_expect(strstr(fault(l), "its strides leave the address space"));
}

/* What nobody steps along, and what has no elements, says nothing. */
Test(layout, lenient) {
  float data[4] = {1, 2, 3, 4};
  tc_layout l = {data, TC_F32, 2, {1, 4}, {7, 4}, false};
  cr_expect_str_eq(fault(l), "");
  tc_tensor header;
  cr_expect(tcrt_borrow(&header, &l)->key.flags & TC_FLAG_CONTIGUOUS);
  l = (tc_layout){NULL, TC_F32, 2, {0, 4}, {16, 4}, false};
  cr_expect_str_eq(fault(l), "");
  l = tc_row_major((tc_ints){9, {0}}, data, TC_F32);
  cr_expect(strstr(fault(l), "rank"));
}
