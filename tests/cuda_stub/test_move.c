/* Tensors to and from a device, views there, assignments, what reads elements. */
#include "tests/cuda_stub/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcompile/dlpack.h>

TestSuite(move, .init = device_begin);

static void expect_equal(const tc_tensor *a, const tc_tensor *b) {
  cr_assert_not_null(a, "%s", tc_error());
  cr_assert_not_null(b, "%s", tc_error());
  cr_expect_eq(tc_max_abs_diff(a, b), 0, "%s", tc_error());
}

Test(move, there_and_back) {
  for (int pinned = 0; pinned < 2; pinned++)
    for (int n = 0; n < 3; n++) TC_SCOPE {
        tc_tensor *x = device_counting(TC_DIMS(n, 5));
        if (pinned) x = tc_pin(x);
        tc_tensor *y = tc_to(x, TC_CUDA);
        cr_assert_not_null(y, "%s", tc_error());
        cr_expect_eq(tc_device_of(y), TC_CUDA);
        cr_expect(tc_is_contiguous(y));
        tc_tensor *z = tc_to(y, TC_CPU);
        expect_equal(x, z);
        expect_equal(x, y);
      }
  device_end();
}

Test(move, to_the_same_place_is_a_view) {
  TC_SCOPE {
    tc_tensor *y = tc_to(device_counting(TC_DIMS(4)), TC_CUDA), *z = tc_to(y, TC_CUDA);
    cr_expect_eq(tc_device_data(y), tc_device_data(z));
  }
  device_end();
}

Test(move, strided_sources) {
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(6, 7)), *t = tc_transpose(x, 0, 1);
    expect_equal(t, tc_to(t, TC_CUDA));
    tc_tensor *y = tc_to(x, TC_CUDA), *ty = tc_transpose(y, 0, 1);
    expect_equal(t, ty);
    expect_equal(t, tc_to(ty, TC_CPU));
    expect_equal(tc_flip(t, TC_AXES(1)), tc_contiguous(tc_flip(ty, TC_AXES(1))));
  }
  device_end();
}

/* Neighbours are copied as larger elements where addresses and rows allow it. */
Test(move, columns_of_every_width) {
  static const tc_dtype dtypes[] = {TC_U8, TC_BF16, TC_F32, TC_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (int wide = 24; wide < 26; wide++)
      for (int left = 0; left < 5; left++)
        for (int n = 1; n < 20; n++) TC_SCOPE {
            const tc_tensor *x = tc_cast(device_counting(TC_DIMS(3, wide)), dtypes[d]);
            tc_tensor *y = tc_to(x, TC_CUDA),
                      *z = tc_to(tc_zeros(TC_DIMS(3, wide), dtypes[d]), TC_CUDA);
            const tc_tensor *columns = tc_slice(x, 1, left, left + n, 1);
            expect_equal(columns, tc_contiguous(tc_slice(y, 1, left, left + n, 1)));
            cr_assert_not_null(
                tc_copy_(tc_slice(z, 1, left, left + n, 1), tc_slice(y, 1, left, left + n, 1)));
            expect_equal(tc_slice(z, 1, left, left + n, 1), columns);
            cr_expect_eq(tc_item(tc_sum(tc_cast(tc_to(z, TC_CPU), TC_F64), TC_ALL, false)),
                         tc_item(tc_sum(tc_cast(columns, TC_F64), TC_ALL, false)));
            cr_assert_not_null(tc_fill_(tc_slice(y, 1, left, left + n, 1), 7));
            expect_equal(tc_slice(y, 1, left, left + n, 1), tc_full(TC_DIMS(3, n), 7, dtypes[d]));
            expect_equal(tc_slice(y, 1, left + n, wide, 1), tc_slice(x, 1, left + n, wide, 1));
          }
  device_end();
}

/* All dtypes and every path of the index through the axes. */
/* Sides of a copy that run along different axes go through tiles. */
Test(move, turned_sources) {
  static const tc_dtype dtypes[] = {TC_U8, TC_BF16, TC_F32, TC_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) TC_SCOPE {
      tc_tensor *x = tc_cast(device_counting(TC_DIMS(3, 20, 2, 70)), dtypes[d]);
      tc_tensor *y = tc_to(x, TC_CUDA);
      tc_tensor *from[] = {tc_transpose(x, 1, 3), tc_permute(x, TC_AXES(3, 2, 0, 1)),
                           tc_transpose(tc_slice(x, 3, 1, 69, 1), 1, 3)};
      tc_tensor *to[] = {tc_transpose(y, 1, 3), tc_permute(y, TC_AXES(3, 2, 0, 1)),
                         tc_transpose(tc_slice(y, 3, 1, 69, 1), 1, 3)};
      for (int i = 0; i < 3; i++)
        cr_expect_eq(tc_max_abs_diff(tc_contiguous(to[i]), tc_contiguous(from[i])), 0);
    }
  cr_expect_eq(stub_launches("tc_transpose_4"), 3);
  cr_expect_eq(stub_launches("tc_strided_4"), 0);
  device_end();
}

Test(move, views_of_rank_8_are_packed) {
  TC_SCOPE {
    tc_ints dims = TC_DIMS(2, 3, 1, 2, 3, 2, 2, 3);
    for (int d = 0; d < TC_DTYPE_COUNT; d++) {
      tc_tensor *x = tc_cast(device_counting(dims), (tc_dtype)d);
      tc_ints order = TC_AXES(7, 1, 3, 0, 5, 2, 6, 4);
      tc_tensor *y = tc_permute(tc_to(x, TC_CUDA), order);
      expect_equal(tc_permute(x, order), tc_contiguous(y));
    }
  }
  device_end();
}

Test(move, views_share) {
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(4, 6)), *y = tc_to(x, TC_CUDA);
    expect_equal(tc_slice(x, 1, 1, 6, 2), tc_slice(y, 1, 1, 6, 2));
    expect_equal(tc_select(x, 0, 2), tc_select(y, 0, 2));
    expect_equal(tc_expand(tc_select(x, 0, 2), TC_DIMS(3, 6)),
                 tc_expand(tc_select(y, 0, 2), TC_DIMS(3, 6)));
    expect_equal(tc_reshape(tc_transpose(x, 0, 1), TC_DIMS(3, 8)),
                 tc_reshape(tc_transpose(y, 0, 1), TC_DIMS(3, 8)));
  }
  device_end();
}

Test(move, joins_and_fills_need_no_library) {
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(4, 6)), *y = tc_to(x, TC_CUDA);
    const tc_tensor *xs[] = {x, tc_transpose(tc_reshape(x, TC_DIMS(6, 4)), 0, 1)};
    const tc_tensor *ys[] = {y, tc_transpose(tc_reshape(y, TC_DIMS(6, 4)), 0, 1)};
    expect_equal(tc_concat(xs, 2, 1), tc_concat(ys, 2, 1));
    expect_equal(tc_stack(xs, 2, 0), tc_stack(ys, 2, 0));
    expect_equal(tc_pad(x, TC_DIMS(1, 0), TC_DIMS(0, 2), 3),
                 tc_pad(y, TC_DIMS(1, 0), TC_DIMS(0, 2), 3));
    expect_equal(tc_roll(x, 2, 1), tc_roll(y, 2, 1));
    expect_equal(tc_full_like(x, 1.5), tc_full_like(y, 1.5));
    expect_equal(tc_clone(x), tc_clone(y));
    cr_assert(tc_set_default_device(TC_CUDA));
    for (int d = 0; d < TC_DTYPE_COUNT; d++) {
      tc_tensor *z = tc_full(TC_DIMS(3, 2), 1, (tc_dtype)d);
      cr_expect_eq(tc_device_of(z), TC_CUDA);
      cr_expect_eq(tc_at(z, TC_INTS(2, 1)), 1);
    }
  }
  device_end();
}

Test(move, assignments) {
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(4, 6)), *y = tc_to(tc_zeros_like(x), TC_CUDA);
    cr_expect_not_null(tc_copy_(y, x)); /* from the CPU */
    expect_equal(x, y);
    cr_expect_not_null(tc_copy_(tc_transpose(y, 0, 1), tc_full(TC_DIMS(6, 1), 2, TC_F32)));
    expect_equal(tc_full_like(x, 2), y);
    cr_expect_not_null(tc_fill_(tc_slice(y, 0, 1, 2, 1), 7));
    cr_expect_eq(tc_at(y, TC_INTS(1, 3)), 7);
    cr_expect_eq(tc_at(y, TC_INTS(0, 3)), 2);
    tc_tensor *pinned = tc_empty_pinned(TC_DIMS(4, 6), TC_F32);
    cr_expect_not_null(tc_copy_(pinned, y));
    cr_expect(tc_synchronize());
    expect_equal(pinned, y);
    cr_expect_not_null(tc_copy_(tc_transpose(pinned, 0, 1), tc_transpose(tc_to(x, TC_CUDA), 0, 1)));
    expect_equal(pinned, x);
    cr_expect_not_null(tc_copy_(tc_slice(y, 0, 0, 3, 1), tc_slice(y, 0, 1, 4, 1))); /* overlap */
    cr_expect_eq(tc_at(y, TC_INTS(0, 3)), 7);
  }
  device_end();
}

Test(move, reading) {
  TC_SCOPE {
    tc_tensor *x = tc_to(device_counting(TC_DIMS(3, 4)), TC_CUDA);
    cr_expect_eq(tc_item(tc_slice(tc_select(x, 0, 2), 0, 1, 2, 1)), 9);
    cr_expect_eq(tc_item_int(tc_to(tc_full(TC_DIMS(1), 5, TC_I64), TC_CUDA)), 5);
    cr_expect(tc_allclose(x, device_counting(TC_DIMS(3, 4)), 0, 0));
    cr_expect_null(tc_data(x));
    device_expect_error("tc_data: operand 1 is on cuda:0; copy it with tc_to(x, TC_CPU)");
    cr_expect_null(tc_cdata(x));
    device_expect_error("tc_cdata");
    cr_expect_null(tc_device_data(device_counting(TC_DIMS(1))));
    device_expect_error("on the CPU");
    char path[] = "/tmp/tc_device_XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0 && tc_save_npy(path, x), "%s", tc_error());
    expect_equal(x, tc_load_npy(path));
    remove(path);
  }
  device_end();
}

Test(move, dlpack) {
  tc_tensor *v = device_counting(TC_DIMS(3, 4)), *x = tc_to(v, TC_CUDA);
  tc_free(v);
  DLManagedTensor *m = tc_to_dlpack(x);
  cr_assert_not_null(m);
  cr_expect_eq(m->dl_tensor.device.device_type, kDLCUDA);
  tc_tensor *y = tc_from_dlpack(m);
  expect_equal(x, y);
  cr_expect_eq(tc_device_of(y), TC_CUDA);
  tc_free(x);
  cr_expect_eq(tc_at(y, TC_INTS(2, 3)), 11);
  tc_free(y);
  device_end();
}

Test(move, operands_on_two_places) {
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(4)), *y = tc_to(x, TC_CUDA);
    cr_expect_null(tc_add(x, y));
    device_expect_error(
        "tc_add: operand 2 is on cuda:0 and others on the CPU; move one of them with tc_to");
    cr_expect_null(tc_add(y, y));
    device_expect_error("tc_add: eager ops on a GPU need libtcrt-cuda.so");
    cr_expect_null(tc_add(y, tc_scalar(1))); /* a C scalar goes along */
    device_expect_error("libtcrt-cuda.so");
    cr_expect_null(tc_to(x, (tc_device)7));
    device_expect_error("tc_to: 7 is no device");
    cr_expect_null(tc_to(x, tc_gpu(3)));
    device_expect_error("there is no cuda:3; the driver has 1 device");
    cr_expect_not(tc_set_default_device(tc_gpu(1)));
    device_expect_error("tc_set_default_device");
  }
  device_end();
}

static void two_devices(void) {
  setenv("STUB_DEVICES", "2", 1);
  device_begin();
}

Test(devices, two, .init = two_devices) {
  TC_SCOPE {
    cr_expect_eq(tc_device_count(TC_CUDA), 2);
    tc_tensor *x = device_counting(TC_DIMS(4, 5)), *a = tc_to(x, TC_CUDA), *b = tc_to(a, tc_gpu(1));
    cr_expect_eq(tc_device_of(b), tc_gpu(1));
    expect_equal(x, b);
    cr_expect_not_null(tc_copy_(tc_transpose(a, 0, 1), tc_transpose(b, 0, 1)));
    expect_equal(a, b);
    const tc_tensor *both[] = {a, b};
    cr_expect_null(tc_concat(both, 2, 0));
    device_expect_error("operand 2 is on cuda:1 and others on cuda:0");
    cr_expect_gt(tc_device_memory(tc_gpu(1)).live, 0);
  }
  device_end();
}

static void no_pools(void) {
  setenv("STUB_POOLS", "0", 1);
  setenv("STUB_MEMORY", "1000000", 1);
  device_begin();
}

Test(devices, without_pools_freed_memory_is_kept, .init = no_pools) {
  TC_SCOPE {
    void *first = NULL;
    for (int i = 0; i < 4; i++) {
      tc_tensor *x = tc_to(device_counting(TC_DIMS(1000)), TC_CUDA);
      cr_assert_not_null(x);
      if (!first) first = tc_device_data(x);
      cr_expect_eq(tc_device_data(x), first);
      tc_free(x);
    }
    cr_expect_eq(stub_calls("cuMemAlloc_v2"), 1);
    cr_expect_gt(tc_device_memory(TC_CUDA).cached, 0);
    tc_tensor *large = tc_to(device_counting(TC_DIMS(249000)), TC_CUDA); /* needs what is kept */
    cr_expect_not_null(large, "%s", tc_error());
    cr_expect_null(tc_to(large, TC_CPU) ? tc_to(device_counting(TC_DIMS(2000)), TC_CUDA) : NULL);
    device_expect_error("out of memory: 8000 bytes on cuda:0");
  }
  device_end();
}

Test(move, streams) {
  tc_stream *s = tc_stream_new(TC_CUDA), *t = tc_stream_new(TC_CUDA);
  cr_assert(s && t);
  TC_SCOPE {
    tc_tensor *x = device_counting(TC_DIMS(100));
    cr_expect_null(tc_stream_use(s));
    tc_tensor *y = tc_to(x, TC_CUDA), *z = tc_to(tc_pin(x), TC_CUDA);
    expect_equal(y, z);
    cr_expect_eq(tc_stream_use(t), s);
    cr_expect(tc_stream_after(t, s));
    tc_tensor *c = tc_clone(y);
    cr_expect(tc_stream_after(s, t));
    cr_expect(tc_stream_after(NULL, t));
    cr_expect(tc_stream_synchronize(t));
    expect_equal(c, x);
    tc_stream_free(s); /* y's memory keeps what it needs of it */
    tc_stream_free(t);
  }
  cr_expect_null(tc_stream_new(TC_CPU));
  device_expect_error("only a GPU has streams");
  device_end();
}
