/* safetensors: views of the mapping, and headers that are wrong in one place. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcompile.h>

#include "tests/runtime/memory_file.h"

enum { MOST = 4096 };

static size_t compose(unsigned char *out, const char *header, size_t elements) {
  size_t n = strlen(header);
  for (int i = 0; i < 8; i++) out[i] = (unsigned char)(n >> 8 * i);
  memcpy(out + 8, header, n);
  for (size_t i = 0; i < elements; i++) out[8 + n + i] = (unsigned char)(i % 2);
  return 8 + n + elements;
}

static tc_safetensors *open_bytes(const void *bytes, size_t n) {
  memory_file f = memory_file_new(bytes, n);
  tc_safetensors *s = tc_safetensors_open(f.path);
  memory_file_close(&f);
  return s;
}

static tc_safetensors *open_header(const char *header, size_t elements) {
  unsigned char file[MOST];
  return open_bytes(file, compose(file, header, elements));
}

static void expect_error(const char *header, size_t elements, const char *message) {
  tc_clear_error();
  tc_safetensors *s = open_header(header, elements);
  cr_expect_null(s, "accepted: %s", header);
  cr_expect(tc_error() && strstr(tc_error(), message), "%s: expected '%s', got '%s'", header,
            message, tc_error() ? tc_error() : "no error");
  tc_safetensors_close(s);
}

#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}"
#define B "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]}"

Test(safetensors, reads_tensors_that_outlive_the_handle) {
  tc_safetensors *s = open_header("{\"__metadata__\":{\"format\":\"pt\"}," B "," A "}     ", 32);
  cr_assert_not_null(s, "%s", tc_error());
  cr_expect_eq(tc_safetensors_count(s), 2);
  cr_expect_str_eq(tc_safetensors_name(s, 0), "a");
  cr_expect_str_eq(tc_safetensors_name(s, 1), "b");
  cr_expect_null(tc_safetensors_name(s, 2));
  cr_expect_null(tc_safetensors_name(s, -1));
  tc_tensor *a = tc_safetensors_get(s, "a"), *b = tc_safetensors_get(s, "b");
  cr_assert(a && b, "%s", tc_error());
  cr_expect_null(tc_safetensors_get(s, "c"));
  cr_expect(strstr(tc_error(), "no tensor 'c' among 2"));
  tc_clear_error();
  tc_safetensors_close(s);
  cr_expect_eq(tc_dtype_of(a), TC_F32);
  cr_expect_eq(tc_size(a, 1), 3);
  cr_expect_eq(tc_rank(b), 0);
  cr_expect_eq(((const unsigned char *)tc_cdata(a))[1], 1);
  cr_expect_eq(tc_item_int(b), 0x0100010001000100);
  tc_free(a);
  tc_free(b);
}

Test(safetensors, tensors_are_read_only) {
  tc_safetensors *s = open_header("{" A "}       ", 24);
  tc_tensor *a = tc_safetensors_get(s, "a");
  cr_assert_not_null(a, "%s", tc_error());
  cr_expect_null(tc_fill_(a, 1));
  cr_expect_not_null(tc_error());
  tc_free(a);
  tc_safetensors_close(s);
}

Test(safetensors, copies_what_is_not_aligned) {
  for (int spaces = 0; spaces < 8; spaces++) {
    char header[256];
    snprintf(header, sizeof header, "{" A "}%*s", spaces, "");
    tc_safetensors *s = open_header(header, 24);
    tc_tensor *a = tc_safetensors_get(s, "a");
    cr_assert_not_null(a, "%s", tc_error());
    cr_expect_eq((uintptr_t)tc_cdata(a) % 4, 0);
    cr_expect_eq(((const unsigned char *)tc_cdata(a))[3], 1);
    tc_free(a);
    tc_safetensors_close(s);
  }
}

Test(safetensors, reads_every_dtype_and_empty_files) {
  static const char *const name[] = {"BOOL", "U8",  "I8",   "I16", "I32",
                                     "I64",  "F16", "BF16", "F32", "F64"};
  for (int d = 0; d < TC_DTYPE_COUNT; d++) {
    char header[256];
    size_t size = tc_dtype_size((tc_dtype)d);
    snprintf(header, sizeof header,
             "{\"x\":{\"dtype\":\"%s\",\"shape\":[3],\"data_offsets\":[0,%zu]}}", name[d],
             3 * size);
    tc_safetensors *s = open_header(header, 3 * size);
    tc_tensor *x = tc_safetensors_get(s, "x");
    cr_assert_not_null(x, "%s", tc_error());
    cr_expect_eq(tc_dtype_of(x), (tc_dtype)d);
    tc_free(x);
    tc_safetensors_close(s);
  }
  tc_safetensors *s = open_header("{}", 0);
  cr_expect_not_null(s, "%s", tc_error());
  tc_safetensors_close(s);
  s = open_header("{\"e\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[0,0]}}", 0);
  tc_tensor *e = tc_safetensors_get(s, "e");
  cr_expect_not_null(e, "%s", tc_error());
  tc_free(e);
  tc_safetensors_close(s);
}

Test(safetensors, foreign_dtypes_fail_only_when_asked_for) {
  tc_safetensors *s =
      open_header("{" A ",\"u\":{\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[24,28]}}", 28);
  cr_assert_not_null(s, "%s", tc_error());
  cr_expect_null(tc_safetensors_get(s, "u"));
  cr_expect(strstr(tc_error(), "'u' is U32"));
  tc_safetensors_close(s);
}

Test(safetensors, decodes_names) {
  tc_safetensors *s = open_header("{\"\\u00e9\\n\\\"\\ud83d\\ude00\xc3\xa4\":{\"dtype\":\"U8\","
                                  "\"shape\":[1],\"data_offsets\":[0,1]}}",
                                  1);
  cr_assert_not_null(s, "%s", tc_error());
  cr_expect_str_eq(tc_safetensors_name(s, 0), "\xc3\xa9\n\"\xf0\x9f\x98\x80\xc3\xa4");
  tc_safetensors_close(s);
}

#define WITH(info) "{\"a\":{" info "}}"
#define D "\"dtype\":\"F32\""
#define S "\"shape\":[6]"
#define O "\"data_offsets\":[0,24]"

Test(safetensors, names_what_is_wrong_in_an_entry) {
  expect_error(WITH(D "," S), 24, "without dtype, shape or data_offsets");
  expect_error(WITH(D "," O), 24, "without dtype");
  expect_error(WITH(S "," O), 24, "without dtype");
  expect_error(WITH(D "," D "," S "," O), 24, "a key twice");
  expect_error(WITH(D "," S "," O ",\"x\":1"), 24, "a key that is not dtype");
  expect_error(WITH("\"dtype\":\"F33\"," S "," O), 24, "a dtype that the format does not have");
  expect_error(WITH("\"dtype\":7," S "," O), 24, "a string is expected");
  expect_error(WITH(D ",\"shape\":6," O), 24, "an array is expected");
  expect_error(WITH(D ",\"shape\":[-6]," O), 24, "non-negative integer");
  expect_error(WITH(D ",\"shape\":[6.0]," O), 24, "without fraction");
  expect_error(WITH(D ",\"shape\":[06]," O), 24, "leading 0");
  expect_error(WITH(D ",\"shape\":[6,]," O), 24, "non-negative integer");
  expect_error(WITH(D ",\"shape\":[1,1,1,1,1,1,1,1,6]," O), 24, "rank more than 8");
  expect_error(WITH(D ",\"shape\":[9223372036854775808]," O), 24, "past 2^63");
  expect_error(WITH(D ",\"shape\":[4294967296,4294967296]," O), 24, "past memory");
  expect_error(WITH(D ",\"shape\":[7]," O), 24, "disagree with shape");
  expect_error(WITH(D "," S ",\"data_offsets\":[24,0]"), 24, "end before they begin");
  expect_error(WITH(D "," S ",\"data_offsets\":[0]"), 24, "',' or the closing");
  expect_error(WITH(D "," S ",\"data_offsets\":[0,24,48]"), 24, "closing bracket");
}

Test(safetensors, names_what_is_wrong_in_the_file) {
  expect_error("{" A "," A "}", 24, "the name 'a' twice");
  expect_error("{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[20,24]}}", 24,
               "overlaps");
  expect_error("{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[25,29]}}", 29,
               "gap");
  expect_error("{" A "}", 23, "past the end of the file");
  expect_error("{" A "}", 25, "1 bytes after the last tensor");
  expect_error("{\"__metadata__\":{\"x\":1}," A "}", 24, "a string is expected");
  expect_error("{\"__metadata__\":{},\"__metadata__\":{}," A "}", 24, "__metadata__ twice");
  expect_error("[]", 0, "an object is expected");
  expect_error("", 0, "an object is expected");
  expect_error("{" A "}x", 24, "text after the end");
  expect_error("{" A ",}", 24, "a string is expected");
  expect_error("{" A " " B "}", 32, "',' or the closing bracket");
  expect_error("{\"\xff\":{" D "," S "," O "}}", 24, "bad UTF-8");
  expect_error("{\"\xc0\x80\":{" D "," S "," O "}}", 24, "bad UTF-8");
  expect_error("{\"\xed\xa0\x80\":{" D "," S "," O "}}", 24, "bad UTF-8");
  expect_error("{\"\n\":{" D "," S "," O "}}", 24, "control character");
  expect_error("{\"\\u0000\":{" D "," S "," O "}}", 24, "\\u0000");
  expect_error("{\"\\ud800\":{" D "," S "," O "}}", 24, "surrogate");
  expect_error("{\"\\udc00\":{" D "," S "," O "}}", 24, "surrogate");
  expect_error("{\"\\ud800\\u0041\":{" D "," S "," O "}}", 24, "surrogate");
  expect_error("{\"\\x\":{" D "," S "," O "}}", 24, "an escape");
  expect_error("{\"\\u12g4\":{" D "," S "," O "}}", 24, "hexadecimal");
  expect_error("{\"abc", 0, "closing quote");
}

Test(safetensors, refuses_every_truncation) {
  unsigned char file[MOST];
  size_t n = compose(file, "{\"__metadata__\":{\"k\":\"v\"}," A "," B "}", 32);
  for (size_t k = 0; k <= n + 1; k++) {
    tc_clear_error();
    tc_safetensors *s = open_bytes(file, k);
    cr_expect_eq(s != NULL, k == n, "length %zu", k);
    cr_expect_eq(tc_error() == NULL, k == n, "length %zu", k);
    tc_safetensors_close(s);
  }
}

Test(safetensors, survives_every_flipped_bit) {
  unsigned char file[MOST], copy[MOST];
  size_t n = compose(file, "{\"__metadata__\":{\"k\":\"v\"}," A "," B "}", 32);
  for (size_t bit = 0; bit < 8 * n; bit++) {
    memcpy(copy, file, n);
    copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    tc_clear_error();
    tc_safetensors *s = open_bytes(copy, n);
    cr_expect_eq(s == NULL, tc_error() != NULL);
    for (int i = 0; i < tc_safetensors_count(s); i++)
      tc_free(tc_safetensors_get(s, tc_safetensors_name(s, i)));
    tc_safetensors_close(s);
  }
}

Test(safetensors, refuses_bad_lengths_and_paths) {
  unsigned char file[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}'};
  cr_expect_null(open_bytes(file, 10));
  cr_expect(strstr(tc_error(), "a header of 18446744073709551615 bytes"));
  tc_clear_error();
  cr_expect_null(tc_safetensors_open("/nonexistent"));
  cr_expect(strstr(tc_error(), "/nonexistent"));
  tc_clear_error();
  cr_expect_null(tc_safetensors_open("/"));
  cr_expect(strstr(tc_error(), "regular"));
  cr_expect_null(tc_safetensors_get(NULL, "x"));
  cr_expect_eq(tc_safetensors_count(NULL), 0);
  tc_safetensors_close(NULL);
}
