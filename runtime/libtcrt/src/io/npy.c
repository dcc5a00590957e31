/* npy.c - NumPy's .npy files, format versions 1.0 to 3.0.
 *
 *   "\x93NUMPY" major minor | header length: u16 (1.0) or u32 (2.0, 3.0), little endian
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   spaces, then a newline
 *   elements, row-major
 *
 * The header must be a dict of exactly these three keys, and the file must end with the last
 * element.  Nothing is allocated for elements that the file does not hold. */
#define _DEFAULT_SOURCE /* fileno */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/libtcrt/src/device.h"

/* Headers of real files are some hundred bytes; structured types are not read. */
enum { LONGEST_HEADER = 1 << 16 };

enum { MAGIC = 6 };
static const char magic[] = "\x93NUMPY";

static const char *const descr_of[TC_DTYPE_COUNT] = {
    [TC_BOOL] = "|b1", [TC_U8] = "|u1",  [TC_I8] = "|i1",  [TC_I16] = "<i2", [TC_I32] = "<i4",
    [TC_I64] = "<i8",  [TC_F16] = "<f2", [TC_F32] = "<f4", [TC_F64] = "<f8",
};

/* ---- the header's text ----------------------------------------------------------------------- */

typedef struct {
  const char *path;
  const char *at, *end;
} reader;

typedef struct {
  tc_dtype dtype;
  bool fortran;
  tc_ints dims;
  unsigned seen; /* bit i: key i of `keys` */
} header;

static bool fail(const reader *r, const char *what) {
  tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: the header %s", r->path, what);
  return false;
}

static void skip_spaces(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
}

/* Takes the character c after spaces, if it is next. */
static bool take(reader *r, char c) {
  skip_spaces(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

/* 'text' or "text", without escapes, into out. */
static bool read_quoted(reader *r, char *out, size_t cap) {
  skip_spaces(r);
  if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) return false;
  char quote = *r->at++;
  const char *stop = memchr(r->at, quote, (size_t)(r->end - r->at));
  if (!stop || (size_t)(stop - r->at) >= cap || memchr(r->at, '\\', (size_t)(stop - r->at)))
    return false;
  memcpy(out, r->at, (size_t)(stop - r->at));
  out[stop - r->at] = 0;
  r->at = stop + 1;
  return true;
}

static bool read_descr(reader *r, header *h) {
  char text[32];
  if (!read_quoted(r, text, sizeof text))
    return fail(r, "has a 'descr' that is not a simple type name");
  for (int i = 0; i < TC_DTYPE_COUNT; i++)
    if (descr_of[i] && !strcmp(descr_of[i], text)) {
      h->dtype = (tc_dtype)i;
      return true;
    }
  tc_fail_as(
      TC_ERROR_FILE,
      "tc_load_npy: %s: element type '%.31s' is not one of |b1 |u1 |i1 <i2 <i4 <i8 <f2 <f4 <f8%s",
      r->path, text, text[0] == '>' ? " (big endian)" : "");
  return false;
}

static bool read_word(reader *r, const char *word) {
  size_t n = strlen(word);
  skip_spaces(r);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n)) return false;
  r->at += n;
  return true;
}

static bool read_order(reader *r, header *h) {
  h->fortran = read_word(r, "True");
  return h->fortran || read_word(r, "False") || fail(r, "has a 'fortran_order' that is no bool");
}

static bool read_size(reader *r, int64_t *size) {
  const char *start = r->at;
  for (*size = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    if (__builtin_mul_overflow(*size, 10, size) ||
        __builtin_add_overflow(*size, *r->at - '0', size))
      return fail(r, "has a size past 2^63 in 'shape'");
  return r->at > start || fail(r, "has a 'shape' entry that is no size");
}

/* (), (3,), (3, 4), (3, 4,) - as Python writes tuples. */
static bool read_shape(reader *r, header *h) {
  if (!take(r, '(')) return fail(r, "has a 'shape' that is no tuple");
  bool comma = true;
  while (!take(r, ')')) {
    if (!comma) return fail(r, "lacks a comma in 'shape'");
    if (h->dims.n == TC_MAX_RANK) return fail(r, "has a 'shape' of rank more than 8");
    if (!read_size(r, &h->dims.v[h->dims.n])) return false;
    h->dims.n++;
    comma = take(r, ',');
  }
  return h->dims.n != 1 || comma || fail(r, "has a 'shape' that is no tuple: (n) for (n,)");
}

static bool read_entry(reader *r, header *h) {
  static const char *const keys[3] = {"descr", "fortran_order", "shape"};
  static bool (*const value[3])(reader *, header *) = {read_descr, read_order, read_shape};
  char text[16];
  int i = 0;
  if (!read_quoted(r, text, sizeof text)) return fail(r, "has a key that is not known");
  while (i < 3 && strcmp(keys[i], text)) i++;
  if (i == 3) return fail(r, "has a key that is not known");
  if (h->seen & 1u << i) return fail(r, "has a key twice");
  h->seen |= 1u << i;
  if (!take(r, ':')) return fail(r, "lacks a ':' after a key");
  return value[i](r, h);
}

static bool read_header(reader *r, header *h) {
  if (!take(r, '{')) return fail(r, "is no dict");
  bool comma = true;
  while (!take(r, '}')) {
    if (!comma) return fail(r, "lacks a ',' or the closing '}'");
    if (!read_entry(r, h)) return false;
    comma = take(r, ',');
  }
  if (!(h->seen & 1)) return fail(r, "lacks 'descr'");
  if (!(h->seen & 2)) return fail(r, "lacks 'fortran_order'");
  if (!(h->seen & 4)) return fail(r, "lacks 'shape'");
  skip_spaces(r);
  if (r->end - r->at != 1 || *r->at != '\n')
    return fail(r, "does not end with a newline after the dict");
  if (h->fortran) return fail(r, "says Fortran order; save numpy.ascontiguousarray(x)");
  return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads exactly n bytes. */
static bool read_bytes(FILE *f, const char *path, void *out, size_t n, const char *what) {
  if (fread(out, 1, n, f) == n) return true;
  if (ferror(f)) tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: %s", path, strerror(errno));
  else tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: the file ends within the %s", path, what);
  return false;
}

/* Magic, version and header text; *size receives the bytes up to the first element. */
static bool read_front(FILE *f, const char *path, header *h, int64_t *size) {
  uint8_t front[8], length[4];
  if (!read_bytes(f, path, front, 8, "magic number")) return false;
  if (memcmp(front, magic, MAGIC)) {
    tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: not a .npy file (bad magic number)", path);
    return false;
  }
  if (front[6] < 1 || front[6] > 3 || front[7] != 0) {
    tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: format version %d.%d is not 1.0, 2.0 or 3.0", path,
               front[6], front[7]);
    return false;
  }
  size_t wide = front[6] == 1 ? 2 : 4, n = 0;
  if (!read_bytes(f, path, length, wide, "header length")) return false;
  for (size_t i = 0; i < wide; i++) n |= (size_t)length[i] << 8 * i;
  if (n > LONGEST_HEADER) {
    tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: a header of %zu bytes; at most %d", path, n,
               LONGEST_HEADER);
    return false;
  }
  char *text = malloc(n + 1);
  if (!text) return tc_fail_as(TC_ERROR_MEMORY, "tc_load_npy: %s: out of memory", path) != NULL;
  reader r = {path, text, text + n};
  bool ok = read_bytes(f, path, text, n, "header") && read_header(&r, h);
  free(text);
  *size = (int64_t)(8 + wide + n);
  return ok;
}

/* Does the file hold exactly the elements that its header announces? */
static bool check_size(FILE *f, const char *path, const header *h, int64_t front) {
  struct stat st;
  int64_t n = tc_count(h->dims.n, h->dims.v, tc_dtype_size(h->dtype));
  if (n < 0) {
    tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: the product of the sizes in 'shape' is past memory",
               path);
    return false;
  }
  if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
    tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: not a regular file", path);
    return false;
  }
  int64_t want = n * (int64_t)tc_dtype_size(h->dtype), have = (int64_t)st.st_size - front;
  if (have == want) return true;
  tc_fail_as(TC_ERROR_FILE,
             "tc_load_npy: %s: %" PRId64 " bytes of elements where shape and type need %" PRId64,
             path, have, want);
  return false;
}

static bool bools_valid(const tc_tensor *t) {
  const uint8_t *p = t->data;
  for (int64_t i = 0, n = tc_elements(t); i < n; i++)
    if (p[i] > 1) return false;
  return true;
}

static tc_tensor *read_tensor(FILE *f, const char *path) {
  header h = {0};
  int64_t front = 0;
  if (!read_front(f, path, &h, &front) || !check_size(f, path, &h, front)) return NULL;
  tc_tensor *t = tc_tensor_new(h.dtype, h.dims.n, h.dims.v, TC_CPU);
  if (!t) return NULL;
  size_t bytes = (size_t)tc_elements(t) * tc_dtype_size(h.dtype);
  bool ok = bytes == 0 || read_bytes(f, path, t->data, bytes, "elements");
  if (ok && h.dtype == TC_BOOL && !bools_valid(t)) {
    tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: a bool that is neither 0 nor 1", path);
    ok = false;
  }
  if (ok) return t;
  tc_free(t);
  return NULL;
}

tc_tensor *tc_load_npy(const char *path) {
  if (!path) return tc_fail("tc_load_npy: path is NULL");
  FILE *f = fopen(path, "rb");
  if (!f) return tc_fail_as(TC_ERROR_FILE, "tc_load_npy: %s: %s", path, strerror(errno));
  tc_tensor *t = read_tensor(f, path);
  fclose(f);
  return t;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Version 1.0; the elements begin at a multiple of 64 bytes.  Returns the length. */
static size_t format_front(char out[512], const tc_tensor *x) {
  int n = snprintf(out + 10, 500, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                   descr_of[x->key.dtype]);
  for (int i = 0; i < x->key.rank; i++)
    n += snprintf(out + 10 + n, 500 - (size_t)n, "%s%" PRId64 "%s", i ? ", " : "", x->dim[i],
                  x->key.rank == 1 ? "," : "");
  n += snprintf(out + 10 + n, 500 - (size_t)n, "), }");
  size_t length = (10 + (size_t)n + 1 + 63) / 64 * 64;
  memset(out + 10 + n, ' ', length - 10 - (size_t)n);
  out[length - 1] = '\n';
  memcpy(out, magic, MAGIC);
  out[6] = 1;
  out[7] = 0;
  out[8] = (char)((length - 10) & 0xFF);
  out[9] = (char)((length - 10) >> 8);
  return length;
}

static bool write_elements(FILE *f, const tc_tensor *x) {
  size_t bytes = (size_t)tc_elements(x) * tc_dtype_size(x->key.dtype);
  if (bytes == 0) return true;
  if (x->key.flags & TC_FLAG_CONTIGUOUS) return fwrite(x->data, 1, bytes, f) == bytes;
  void *packed = malloc(bytes);
  if (!packed) return false;
  tcrt_pack(x, packed);
  bool ok = fwrite(packed, 1, bytes, f) == bytes;
  free(packed);
  return ok;
}

static bool save(const char *path, const tc_tensor *x) {
  if (!path) return tc_fail("tc_save_npy: path is NULL") != NULL;
  if (!descr_of[x->key.dtype])
    return tc_fail("tc_save_npy: .npy has no %s; cast to f32", tc_dtype_name(x->key.dtype)) != NULL;
  FILE *f = fopen(path, "wb");
  if (!f) return tc_fail_as(TC_ERROR_FILE, "tc_save_npy: %s: %s", path, strerror(errno)) != NULL;
  char front[512];
  size_t n = format_front(front, x);
  bool ok = fwrite(front, 1, n, f) == n && write_elements(f, x);
  int error = errno;
  if (fclose(f) != 0 && ok) ok = false, error = errno;
  if (!ok) tc_fail_as(TC_ERROR_FILE, "tc_save_npy: %s: %s", path, strerror(error));
  return ok;
}

bool tc_save_npy(const char *path, const tc_tensor *x) {
  tc_tensor *copy;
  if (!tc_given("tc_save_npy", 1, x) || !(x = tc_on_host("tc_save_npy", x, &copy))) return false;
  bool ok = save(path, x);
  tc_free(copy);
  return ok;
}
