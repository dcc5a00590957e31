/* .npy: round trips of every dtype and layout, and files that are wrong in one place. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tcompile.h>

#include "tests/runtime/memory_file.h"

/* Loads n bytes; the caller owns the result. */
static tc_tensor *load(const void *bytes, size_t n) {
  memory_file f = memory_file_new(bytes, n);
  tc_tensor *t = tc_load_npy(f.path);
  memory_file_close(&f);
  return t;
}

/* A version 1.0 file of `header` and n bytes of elements. */
static size_t compose(char *out, const char *header, const void *elements, size_t n) {
  size_t length = strlen(header);
  memcpy(out, "\x93NUMPY\1\0", 8);
  out[8] = (char)(length & 0xFF);
  out[9] = (char)(length >> 8);
  memcpy(out + 10, header, length);
  memcpy(out + 10 + length, elements, n);
  return 10 + length + n;
}

static const float six[6] = {1, 2, 3, 4, 5, 6};

static tc_tensor *load_header(const char *header) {
  char file[1024];
  return load(file, compose(file, header, six, sizeof six));
}

static void expect_error(const char *header, const char *message) {
  tc_clear_error();
  tc_tensor *t = load_header(header);
  cr_expect_null(t, "accepted: %s", header);
  cr_expect(tc_error() && strstr(tc_error(), message), "%s: expected '%s', got '%s'", header,
            message, tc_error() ? tc_error() : "no error");
  tc_free(t);
}

#define GOOD "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"

Test(npy, reads_what_numpy_writes) {
  tc_tensor *t = load_header(GOOD);
  cr_assert_not_null(t, "%s", tc_error());
  cr_expect_eq(tc_rank(t), 2);
  cr_expect_eq(tc_size(t, 0), 2);
  cr_expect_eq(tc_size(t, 1), 3);
  cr_expect_eq(memcmp(tc_cdata(t), six, sizeof six), 0);
  tc_free(t);
}

Test(npy, reads_the_spellings_that_python_allows) {
  static const char *const headers[] = {
      "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(6,)}\n",
      "{'shape': (1, 2, 3,), 'fortran_order': False, 'descr': '<f4'}   \n",
      " { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 6 , ) , } \n",
  };
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    tc_tensor *t = load_header(headers[i]);
    cr_expect_not_null(t, "%s", tc_error());
    tc_free(t);
  }
}

Test(npy, names_what_is_wrong_in_the_header) {
  expect_error("", "is no dict");
  expect_error("[]\n", "is no dict");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "newline");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x\n", "newline");
  expect_error("{'fortran_order': False, 'shape': (2, 3), }\n", "lacks 'descr'");
  expect_error("{'descr': '<f4', 'shape': (2, 3), }\n", "lacks 'fortran_order'");
  expect_error("{'descr': '<f4', 'fortran_order': False, }\n", "lacks 'shape'");
  expect_error("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
               "a key twice");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}\n",
               "not known");
  expect_error("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", "big endian");
  expect_error("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }\n",
               "'<c8' is not one of");
  expect_error("{'descr': '<U6', 'fortran_order': False, 'shape': (1,), }\n",
               "'<U6' is not one of");
  expect_error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }\n",
               "not a simple type name");
  expect_error("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", "Fortran order");
  expect_error("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }\n", "no bool");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': 6, }\n", "no tuple");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (6), }\n", "no tuple");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }\n", "no size");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }\n", "lacks a comma");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (,), }\n", "no size");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3\n", "lacks a comma");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,6), }\n",
               "rank more than 8");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }\n",
               "past 2^63");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n",
               "past memory");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }\n",
               "24 bytes of elements where shape and type need 32");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }\n", "need 20");
  expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n",
               "need 4000");
  expect_error("{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3), }\n", "lacks a ','");
  expect_error("{'descr' '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", "lacks a ':'");
}

Test(npy, names_a_bad_front) {
  char file[256];
  size_t n = compose(file, GOOD, six, sizeof six);
  struct {
    size_t at;
    char byte;
    const char *message;
  } bad[] = {{0, 'x', "magic"}, {5, 'z', "magic"},     {6, 0, "version 0.0"},
             {6, 4, "version"}, {7, 1, "version 1.1"}, {9, 1, "ends within the header"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char copy[256];
    memcpy(copy, file, n);
    copy[bad[i].at] = bad[i].byte;
    tc_clear_error();
    cr_expect_null(load(copy, n));
    cr_expect(tc_error() && strstr(tc_error(), bad[i].message), "%s: %s", bad[i].message,
              tc_error());
  }
}

Test(npy, refuses_every_truncation_and_one_byte_more) {
  char file[256];
  size_t n = compose(file, GOOD, six, sizeof six);
  for (size_t k = 0; k <= n + 1; k++) {
    tc_clear_error();
    tc_tensor *t = load(file, k);
    cr_expect_eq(t != NULL, k == n, "length %zu", k);
    cr_expect_eq(tc_error() == NULL, k == n, "length %zu", k);
    tc_free(t);
  }
}

/* Every byte, every bit: an error or a tensor, never a crash; run under the sanitizers. */
Test(npy, survives_every_flipped_bit) {
  char file[256];
  size_t n = compose(file, GOOD, six, sizeof six);
  for (size_t bit = 0; bit < 8 * n; bit++) {
    char copy[256];
    memcpy(copy, file, n);
    copy[bit / 8] ^= (char)(1 << bit % 8);
    tc_clear_error();
    tc_tensor *t = load(copy, n);
    cr_expect_eq(t == NULL, tc_error() != NULL);
    tc_free(t);
  }
}

Test(npy, reads_versions_2_and_3) {
  for (char version = 2; version <= 3; version++) {
    char file[256] = "\x93NUMPY";
    file[6] = version;
    file[8] = (char)strlen(GOOD);
    memcpy(file + 12, GOOD, strlen(GOOD));
    memcpy(file + 12 + strlen(GOOD), six, sizeof six);
    tc_tensor *t = load(file, 12 + strlen(GOOD) + sizeof six);
    cr_expect_not_null(t, "%s", tc_error());
    tc_free(t);
    file[11] = 1; /* a header of 16 MiB */
    cr_expect_null(load(file, sizeof file));
    cr_expect(strstr(tc_error(), "at most 65536"));
    tc_clear_error();
  }
}

Test(npy, refuses_bools_beyond_one) {
  char file[256];
  static const char header[] = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n";
  tc_tensor *t = load(file, compose(file, header, "\0\1\1", 3));
  cr_expect_not_null(t, "%s", tc_error());
  tc_free(t);
  cr_expect_null(load(file, compose(file, header, "\0\2\1", 3)));
  cr_expect(strstr(tc_error(), "neither 0 nor 1"));
}

Test(npy, refuses_what_is_no_file) {
  cr_expect_null(tc_load_npy("/nonexistent/x.npy"));
  cr_expect(strstr(tc_error(), "/nonexistent/x.npy"));
  tc_clear_error();
  cr_expect_null(tc_load_npy("/"));
  cr_expect_not_null(tc_error());
  tc_clear_error();
  cr_expect_null(tc_load_npy(NULL));
  cr_expect_not_null(tc_error());
  tc_clear_error();
  tc_tensor *x = tc_zeros(TC_DIMS(2), TC_F32);
  cr_expect_not(tc_save_npy("/nonexistent/x.npy", x));
  cr_expect(strstr(tc_error(), "/nonexistent/x.npy"));
  tc_clear_error();
  cr_expect_not(tc_save_npy("/dev/full", x));
  cr_expect_not_null(tc_error());
  tc_free(x);
}

static void round_trip(const char *path, const tc_tensor *x) {
  cr_assert(tc_save_npy(path, x), "%s", tc_error());
  tc_tensor *y = tc_load_npy(path), *flat = tc_clone(x);
  cr_assert_not_null(y, "%s", tc_error());
  cr_expect_eq(tc_dtype_of(y), tc_dtype_of(x));
  cr_expect_eq(tc_rank(y), tc_rank(x));
  for (int i = 0; i < tc_rank(x); i++) cr_expect_eq(tc_size(y, i), tc_size(x, i));
  size_t bytes = (size_t)tc_numel(x) * tc_dtype_size(tc_dtype_of(x));
  cr_expect(bytes == 0 || memcmp(tc_cdata(y), tc_cdata(flat), bytes) == 0);
}

Test(npy, round_trips_every_dtype_rank_and_layout) {
  char path[] = "/tmp/tc_npy_XXXXXX";
  close(mkstemp(path));
  for (tc_dtype d = TC_BOOL; d < TC_DTYPE_COUNT; d++) TC_SCOPE {
      tc_tensor *x = tc_cast(tc_arange(24, 0, 1, TC_F32), d);
      if (d == TC_BF16) {
        cr_expect_not(tc_save_npy(path, x));
        cr_expect(strstr(tc_error(), "no bf16"));
        tc_clear_error();
        continue;
      }
      round_trip(path, x);
      round_trip(path, tc_reshape(x, TC_DIMS(2, 3, 4)));
      round_trip(path, tc_transpose(tc_reshape(x, TC_DIMS(4, 6)), 0, 1));
      round_trip(path, tc_slice(x, 0, 20, 3, -4));
      round_trip(path, tc_expand(tc_reshape(x, TC_DIMS(24, 1)), TC_DIMS(24, 2)));
      round_trip(path, tc_select(x, 0, 5));
      round_trip(path, tc_slice(x, 0, 0, 0, 1));
      round_trip(path, tc_reshape(x, TC_DIMS(1, 1, 2, 2, 1, 3, 2, 1)));
    }
  unlink(path);
}
