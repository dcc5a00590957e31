/* safetensors.c - files of named tensors, mapped.
 *
 *   u64 n, little endian | n bytes of JSON | elements
 *   {"name": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...,
 *    "__metadata__": {"key": "text", ...}}
 *
 * Opening checks all of it: every entry has exactly its three keys, offsets agree with shape and
 * dtype, and the entries cover the elements without gap or overlap, each name once.  A file may
 * hold dtypes that tc_dtype has not; asking for such a tensor is the error then. */
#define _DEFAULT_SOURCE /* MAP_PRIVATE and friends under -std=c17 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/libtcrt/src/io/json.h"
#include "runtime/libtcrt/src/tensor.h"

enum { LONGEST_HEADER = 100000000 }; /* the limit of the format's reference implementation */

typedef struct {
  const char *name; /* in the file */
  int bytes;        /* of an element */
  int dtype;        /* tc_dtype, or -1 */
} element_type;

static const element_type types[] = {
    {"BOOL", 1, TC_BOOL}, {"U8", 1, TC_U8},   {"I8", 1, TC_I8},   {"I16", 2, TC_I16},
    {"I32", 4, TC_I32},   {"I64", 8, TC_I64}, {"F16", 2, TC_F16}, {"BF16", 2, TC_BF16},
    {"F32", 4, TC_F32},   {"F64", 8, TC_F64}, {"U16", 2, -1},     {"U32", 4, -1},
    {"U64", 8, -1},       {"F8_E4M3", 1, -1}, {"F8_E5M2", 1, -1}, {"F8_E8M0", 1, -1},
    {"C64", 8, -1},
};

typedef struct {
  char *name;
  const element_type *type;
  tc_ints dims;
  int64_t begin, end; /* bytes from the first element */
} entry;

struct tc_safetensors {
  _Atomic int refs; /* the handle and each tensor's storage */
  unsigned char *map;
  size_t size;
  const unsigned char *elements;
  entry *entry; /* in the order of the file's elements */
  int count, cap;
};

static void unref(void *context) {
  tc_safetensors *s = context;
  if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
  for (int i = 0; i < s->count; i++) free(s->entry[i].name);
  free(s->entry);
  if (s->map) munmap(s->map, s->size);
  free(s);
}

/* ---- one entry ------------------------------------------------------------------------------- */

static bool read_dtype(tc_json *j, entry *e) {
  char *text;
  if (!tc_json_string(j, &text)) return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, text)) e->type = &types[i];
  free(text);
  return e->type || tc_json_fail(j, "a dtype that the format does not have");
}

static bool read_shape(tc_json *j, entry *e) {
  bool first = true;
  if (!tc_json_take(j, '[')) return false;
  while (tc_json_more(j, &first, ']')) {
    if (e->dims.n == TC_MAX_RANK) return tc_json_fail(j, "a shape of rank more than 8");
    if (!tc_json_natural(j, &e->dims.v[e->dims.n])) return false;
    e->dims.n++;
  }
  return !j->error;
}

static bool read_offsets(tc_json *j, entry *e) {
  return tc_json_take(j, '[') && tc_json_natural(j, &e->begin) && tc_json_take(j, ',') &&
         tc_json_natural(j, &e->end) && tc_json_take(j, ']');
}

/* Do shape and dtype need the bytes that the offsets give? */
static bool check_bytes(tc_json *j, const entry *e) {
  int64_t n = tc_count(e->dims.n, e->dims.v, (size_t)e->type->bytes);
  if (n < 0) return tc_json_fail(j, "a shape whose product is past memory");
  if (e->end < e->begin) return tc_json_fail(j, "data_offsets that end before they begin");
  return n * e->type->bytes == e->end - e->begin ||
         tc_json_fail(j, "data_offsets that disagree with shape and dtype");
}

static bool read_info(tc_json *j, entry *e) {
  static const char *const keys[3] = {"dtype", "shape", "data_offsets"};
  static bool (*const value[3])(tc_json *, entry *) = {read_dtype, read_shape, read_offsets};
  unsigned seen = 0;
  bool first = true;
  if (!tc_json_take(j, '{')) return false;
  while (tc_json_more(j, &first, '}')) {
    char *key;
    int i = 0;
    if (!tc_json_string(j, &key)) return false;
    while (i < 3 && strcmp(keys[i], key)) i++;
    free(key);
    if (i == 3) return tc_json_fail(j, "a key that is not dtype, shape or data_offsets");
    if (seen & 1u << i) return tc_json_fail(j, "a key twice");
    seen |= 1u << i;
    if (!tc_json_take(j, ':') || !value[i](j, e)) return false;
  }
  if (j->error) return false;
  if (seen != 7) return tc_json_fail(j, "a tensor without dtype, shape or data_offsets");
  return check_bytes(j, e);
}

/* {"key": "text", ...}: checked and not kept. */
static bool read_metadata(tc_json *j) {
  bool first = true;
  if (!tc_json_take(j, '{')) return false;
  while (tc_json_more(j, &first, '}')) {
    char *text;
    if (!tc_json_string(j, &text)) return false;
    free(text);
    if (!tc_json_take(j, ':') || !tc_json_string(j, &text)) return false;
    free(text);
  }
  return !j->error;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Room for one more entry, zeroed. */
static entry *push(tc_safetensors *s) {
  if (s->count == s->cap) {
    int cap = s->cap ? 2 * s->cap : 64;
    entry *more = realloc(s->entry, (size_t)cap * sizeof *more);
    if (!more) return NULL;
    s->entry = more;
    s->cap = cap;
  }
  s->entry[s->count] = (entry){0};
  return &s->entry[s->count];
}

static bool read_entry(tc_json *j, tc_safetensors *s, bool *metadata) {
  char *name;
  if (!tc_json_string(j, &name)) return false;
  if (!strcmp(name, "__metadata__")) {
    free(name);
    if (*metadata) return tc_json_fail(j, "__metadata__ twice");
    *metadata = true;
    return tc_json_take(j, ':') && read_metadata(j);
  }
  entry *e = push(s);
  if (!e) {
    free(name);
    return tc_json_fail(j, "out of memory");
  }
  e->name = name;
  s->count++;
  return tc_json_take(j, ':') && read_info(j, e);
}

static bool read_header(tc_json *j, tc_safetensors *s) {
  bool first = true, metadata = false;
  if (!tc_json_take(j, '{')) return false;
  while (tc_json_more(j, &first, '}'))
    if (!read_entry(j, s, &metadata)) return false;
  return tc_json_end(j);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static int by_place(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return by_name(a, b);
}

static void sort(tc_safetensors *s, int (*order)(const void *, const void *)) {
  if (s->count) qsort(s->entry, (size_t)s->count, sizeof *s->entry, order);
}

static bool check_names(const char *path, tc_safetensors *s) {
  sort(s, by_name);
  for (int i = 1; i < s->count; i++)
    if (!by_name(&s->entry[i - 1], &s->entry[i])) {
      tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: the name '%.80s' twice", path,
                 s->entry[i].name);
      return false;
    }
  return true;
}

/* Each entry begins where the one before ended, the last ends with the file. */
static bool check_cover(const char *path, tc_safetensors *s, int64_t bytes) {
  int64_t at = 0;
  sort(s, by_place);
  for (int i = 0; i < s->count; i++) {
    const entry *e = &s->entry[i];
    const char *what = e->begin < at    ? "overlaps another tensor"
                       : e->begin > at  ? "leaves a gap before it"
                       : e->end > bytes ? "reaches past the end of the file"
                                        : NULL;
    if (what) {
      tc_fail_as(TC_ERROR_FILE,
                 "tc_safetensors_open: %s: '%.80s', bytes %" PRId64 " to %" PRId64 ", %s", path,
                 e->name, e->begin, e->end, what);
      return false;
    }
    at = e->end;
  }
  if (at == bytes) return true;
  tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: %" PRId64 " bytes after the last tensor",
             path, bytes - at);
  return false;
}

static bool parse(const char *path, tc_safetensors *s) {
  uint64_t n = 0;
  if (s->size < 8) {
    tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: the file ends within the header length",
               path);
    return false;
  }
  for (int i = 0; i < 8; i++) n |= (uint64_t)s->map[i] << 8 * i;
  if (n > LONGEST_HEADER || n > s->size - 8) {
    tc_fail_as(TC_ERROR_FILE,
               "tc_safetensors_open: %s: a header of %" PRIu64
               " bytes in a file of %zu (at most %d)",
               path, n, s->size, LONGEST_HEADER);
    return false;
  }
  tc_json j = {(const char *)s->map + 8, 0, (size_t)n, NULL};
  if (!read_header(&j, s)) {
    const char *name = s->count ? s->entry[s->count - 1].name : "";
    tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: header byte %zu%s%.80s%s: %s", path, j.at,
               s->count ? ", at or after '" : "", name, s->count ? "'" : "", j.error);
    return false;
  }
  s->elements = s->map + 8 + n;
  return check_names(path, s) && check_cover(path, s, (int64_t)(s->size - 8 - n));
}

/* ---- the handle ------------------------------------------------------------------------------ */

static bool map_file(const char *path, int fd, tc_safetensors *s) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: not a regular file", path);
    return false;
  }
  if (st.st_size == 0) {
    tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: the file is empty", path);
    return false;
  }
  void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) {
    tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: %s", path, strerror(errno));
    return false;
  }
  s->map = map;
  s->size = (size_t)st.st_size;
  return true;
}

tc_safetensors *tc_safetensors_open(const char *path) {
  if (!path) return tc_fail("tc_safetensors_open: path is NULL");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return tc_fail_as(TC_ERROR_FILE, "tc_safetensors_open: %s: %s", path, strerror(errno));
  tc_safetensors *s = calloc(1, sizeof *s);
  bool ok = false;
  if (!s) tc_fail_as(TC_ERROR_MEMORY, "tc_safetensors_open: %s: out of memory", path);
  else {
    s->refs = 1;
    ok = map_file(path, fd, s) && parse(path, s);
  }
  close(fd);
  if (ok) return s;
  if (s) unref(s);
  return NULL;
}

void tc_safetensors_close(tc_safetensors *s) {
  if (s) unref(s);
}

int tc_safetensors_count(const tc_safetensors *s) { return s ? s->count : 0; }

const char *tc_safetensors_name(const tc_safetensors *s, int i) {
  return s && i >= 0 && i < s->count ? s->entry[i].name : NULL;
}

static const entry *find(const tc_safetensors *s, const char *name) {
  for (int i = 0; i < s->count; i++)
    if (!strcmp(s->entry[i].name, name)) return &s->entry[i];
  return NULL;
}

/* A read-only view that holds a reference to the mapping. */
static tc_tensor *view(tc_safetensors *s, const entry *e) {
  void *data = (void *)(uintptr_t)(s->elements + e->begin);
  atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
  tc_tensor *t = tc_wrap(e->dims, NULL, data, (tc_dtype)e->type->dtype, unref, s);
  if (!t) {
    unref(s);
    return NULL;
  }
  t->key.flags |= TC_FLAG_READONLY;
  return t;
}

static bool bools_valid(const unsigned char *p, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (p[i] > 1) return false;
  return true;
}

tc_tensor *tc_safetensors_get(const tc_safetensors *file, const char *name) {
  if (!file) return NULL;
  if (!name) return tc_fail("tc_safetensors_get: name is NULL");
  const entry *e = find(file, name);
  if (!e) return tc_fail("tc_safetensors_get: no tensor '%.80s' among %d", name, file->count);
  if (e->type->dtype < 0)
    return tc_fail_as(TC_ERROR_FILE, "tc_safetensors_get: '%.80s' is %s, which tensors cannot have",
                      name, e->type->name);
  const unsigned char *data = file->elements + e->begin;
  if (e->type->dtype == TC_BOOL && !bools_valid(data, e->end - e->begin))
    return tc_fail_as(TC_ERROR_FILE,
                      "tc_safetensors_get: '%.80s' has a bool that is neither 0 nor 1", name);
  if ((uintptr_t)data % (uintptr_t)e->type->bytes)
    return tc_from(e->dims, data, (tc_dtype)e->type->dtype);
  return view((tc_safetensors *)(uintptr_t)file, e); /* only the reference count changes */
}
