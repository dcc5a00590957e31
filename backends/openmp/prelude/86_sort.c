/* Sorting: where the first k elements of each row are in order.
 *
 * An element becomes a number: its key, which ascends as unsigned numbers do, above its place in the row.  These are all
 * different, so the order is total, whatever sorts them.  A few are put in place by counting those below each; more are sorted
 * by radix, from the lowest byte of the keys to the highest (Knuth, The Art of Computer Programming, volume 3, section
 * 5.2.5).  Where k is small, keys that are not below the k-th so far are passed over; the others collect until there is no
 * more room, and the first k of them are kept. */
/* @ tc_sort TC_SORT_* tc_u128 */
typedef unsigned __int128 tc_u128;
typedef struct tc_sort {
  int64_t outer, n, inner, k; /* rows of n elements that are `inner` apart */
  int descending;
} tc_sort;

enum {
  TC_SORT_ROOM = 64,  /* beside 2 k, of a selection */
  TC_SORT_FIRST = 16, /* beside 2 k, sorted to have a k-th */
  TC_SORT_FEW = 64,   /* counted */
  TC_SORT_BLOCK = 64  /* keys that are compared with the k-th at once */
};

/* U: unsigned of the dtype's size.  -0 is 0, NaN is above infinity. */
#define TC_SORT_KEY_FLOAT(T, U, infinity)                                                          \
  TC_FN U tc_sort_key_##T(tc_##T v) {                                                              \
    const U sign = (U)1 << (8 * sizeof(U) - 1), bits = __builtin_bit_cast(U, v), size = bits & (U)~sign; \
    const U key = (bits & sign) && size ? (U)~bits : (U)(size | sign);                             \
    return size > (U)(infinity) ? (U)~(U)0 : key;                                                  \
  }
#define TC_SORT_KEY_SIGNED(T, U)                                                                   \
  TC_FN U tc_sort_key_##T(tc_##T v) { return (U)((U)v ^ (U)1 << (8 * sizeof(U) - 1)); }
#define TC_SORT_KEY_UNSIGNED(T, U)                                                                 \
  TC_FN U tc_sort_key_##T(tc_##T v) { return (U)v; }

/* Numbers P of which the keys are `bytes` bytes from bit `shift` on; a and b have room for m.  The one that has them in
 * order is given back. */
#define TC_SORT_NUMBERS(P, N)                                                                      \
  TC_FN void tc_sort_pass_##P(const tc_##P *restrict a, tc_##P *restrict b, int64_t m, int shift,  \
                              N *restrict count) {                                                 \
    N at = 0;                                                                                      \
    for (int d = 0; d < 256; ++d) {                                                                \
      const N n = count[d];                                                                        \
      count[d] = at;                                                                               \
      at += n;                                                                                     \
    }                                                                                              \
    TC_ONE_BY_ONE for (int64_t i = 0; i < m; ++i) b[count[(unsigned char)(a[i] >> shift)]++] = a[i]; \
  }                                                                                                \
  TC_FN tc_##P *tc_sort_numbers_##P(tc_##P *a, tc_##P *b, int64_t m, int shift, int bytes) {       \
    N count[8][256];                                                                               \
    if (m <= TC_SORT_FEW) {                                                                        \
      tc_sort_few_##P(a, b, m);                                                                    \
      return b;                                                                                    \
    }                                                                                              \
    for (int p = 0; p < bytes; ++p)                                                                \
      for (int d = 0; d < 256; ++d) count[p][d] = 0;                                               \
    TC_ONE_BY_ONE for (int64_t i = 0; i < m; ++i) {                                                \
      const uint64_t key = (uint64_t)(a[i] >> shift);                                              \
      TC_UNROLL for (int p = 0; p < bytes; ++p) ++count[p][(unsigned char)(key >> 8 * p)];         \
    }                                                                                              \
    for (int p = 0; p < bytes; ++p) {                                                              \
      if (count[p][(unsigned char)(a[0] >> (shift + 8 * p))] == (N)m) continue; /* all have that byte */ \
      tc_sort_pass_##P(a, b, m, shift + 8 * p, count[p]);                                          \
      tc_##P *const sorted = b;                                                                    \
      b = a;                                                                                       \
      a = sorted;                                                                                  \
    }                                                                                              \
    return a;                                                                                      \
  }

/* tc_sort_T: rows of dtype T, by keys U, in numbers P with places of `shift` bits.  room: of numbers, twice as many as a
 * row has, or as a selection holds. */
#define TC_SORT_ROWS(T, U, P, shift)                                                               \
  TC_SLOW tc_##P *tc_sort_of_##T(tc_##P *a, tc_##P *b, int64_t m) {                                \
    return tc_sort_numbers_##P(a, b, m, shift, sizeof(tc_##U));                                    \
  }                                                                                                \
  TC_FN void tc_sort_load_##T(const tc_##T *x, int64_t step, tc_##U flip, int64_t from, int64_t n, tc_##P *a) { \
    for (int64_t i = 0; i < n; ++i)                                                                \
      a[i] = (tc_##P)(tc_##U)(tc_sort_key_##T(x[(from + i) * step]) ^ flip) << shift | (tc_##P)(uint64_t)(from + i); \
  }                                                                                                \
  TC_FN int64_t tc_sort_collect_##T(const tc_##T *x, int64_t step, tc_##U flip, int64_t from, int64_t n, \
                                    tc_##U most, tc_##P *a) {                                      \
    tc_##U key[TC_SORT_BLOCK], any = 0;                                                            \
    for (int64_t i = 0; i < n; ++i) key[i] = tc_sort_key_##T(x[(from + i) * step]) ^ flip;         \
    for (int64_t i = 0; i < n; ++i) any |= key[i] < most;                                          \
    int64_t m = 0;                                                                                 \
    if (any) TC_ONE_BY_ONE for (int64_t i = 0; i < n; ++i) {                                       \
      a[m] = (tc_##P)key[i] << shift | (tc_##P)(uint64_t)(from + i);                               \
      m += key[i] < most;                                                                          \
    }                                                                                              \
    return m;                                                                                      \
  }                                                                                                \
  TC_FN void tc_sort_row_##T(const tc_##T *x, int64_t step, tc_##U flip, int64_t n, int64_t k,     \
                             tc_i64 *y, tc_##P *room) {                                            \
    const int64_t most = TC_MIN(n, 2 * k + TC_SORT_ROOM), first = TC_MIN(n, 2 * k + TC_SORT_FIRST); \
    tc_##P *a = room, *b = room + most, *sorted;                                                   \
    int64_t m = first;                                                                             \
    tc_##U last = 0;                                                                               \
    if (step == 1) tc_sort_load_##T(x, 1, flip, 0, first, a);                                      \
    else tc_sort_load_##T(x, step, flip, 0, first, a);                                             \
    for (int64_t at = first, now; at < n; at += now) {                                             \
      now = TC_MIN(n - at, TC_SORT_BLOCK);                                                         \
      if (at == first || m + now > most) {                                                         \
        sorted = tc_sort_of_##T(a, b, m);                                                          \
        if (sorted == b) b = a, a = sorted;                                                        \
        m = k;                                                                                     \
        last = (tc_##U)(a[k - 1] >> shift);                                                        \
      }                                                                                            \
      if (step == 1 && now == TC_SORT_BLOCK)                                                       \
        m += tc_sort_collect_##T(x, 1, flip, at, TC_SORT_BLOCK, last, a + m);                      \
      else m += tc_sort_collect_##T(x, step, flip, at, now, last, a + m);                          \
    }                                                                                              \
    sorted = tc_sort_of_##T(a, b, m);                                                              \
    for (int64_t i = 0; i < k; ++i) y[i * step] = (tc_i64)(sorted[i] & (((tc_##P)1 << shift) - 1)); \
  }                                                                                                \
  TC_SLOW void tc_sort_long_##T(const tc_##T *x, int64_t step, tc_##U flip, int64_t n, int64_t k,  \
                                tc_i64 *y, tc_u128 *heap) {                                        \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      const tc_u128 e = (tc_u128)(tc_##U)(tc_sort_key_##T(x[i * step]) ^ flip) << 64 | (uint64_t)i; \
      if (i >= k && e < heap[0]) tc_sort_sink(heap, k, 0, e);                                      \
      if (i < k) heap[i] = e;                                                                      \
      for (int64_t j = i + 1 == k ? k / 2 : 0; j-- > 0;) tc_sort_sink(heap, k, j, heap[j]);        \
    }                                                                                              \
    tc_sort_heap(heap, k);                                                                         \
    for (int64_t i = 0; i < k; ++i) y[i * step] = (tc_i64)heap[i];                                 \
  }                                                                                                \
  TC_FN void tc_sort_##T(const tc_sort *s, const tc_##T *x, tc_i64 *y, void *room, int64_t part, int64_t parts) { \
    const int64_t rows = s->outer * s->inner, end = tc_share(rows, part + 1, parts);               \
    const tc_##U flip = s->descending ? (tc_##U)~(tc_##U)0 : 0;                                    \
    for (int64_t r = s->k ? tc_share(rows, part, parts) : end; r < end; ++r) {                     \
      const tc_##T *const from = x + r / s->inner * s->n * s->inner + r % s->inner;                \
      tc_i64 *const to = y + r / s->inner * s->k * s->inner + r % s->inner;                        \
      if ((uint64_t)s->n >> 1 >> (shift - 1))                                                      \
        tc_sort_long_##T(from, s->inner, flip, s->n, s->k, to, (tc_u128 *)room);                   \
      else tc_sort_row_##T(from, s->inner, flip, s->n, s->k, to, (tc_##P *)room);                  \
    }                                                                                              \
  }

/* Rows whose places do not fit beside their keys: a heap of the first k so far, the last of them at its root, in the same
 * memory. */
TC_FN void tc_sort_sink(tc_u128 *heap, int64_t n, int64_t at, tc_u128 e) {
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    child += child + 1 < n && heap[child] < heap[child + 1];
    if (heap[child] <= e) break;
    heap[at] = heap[child];
  }
  heap[at] = e;
}
TC_FN void tc_sort_heap(tc_u128 *heap, int64_t k) {
  while (k-- > 1) {
    const tc_u128 last = heap[k];
    heap[k] = heap[0];
    tc_sort_sink(heap, k, 0, last);
  }
}
/* @ tc_sort_u64 */
/* b = a in order: as many as are below each in front of it.  Lanes are neighbouring elements. */
TC_FN void tc_sort_few_u64(const tc_u64 *restrict a, tc_u64 *restrict b, int64_t m) {
  const tc_u64 sign = (tc_u64)1 << 63; /* vectors compare signed numbers faster */
  for (int64_t i = 0; i < m; i += TC_L) {
    tc_vi64 own = {0}, below = {0};
    for (int l = 0; l < TC_L; ++l) own[l] = (int64_t)(a[TC_MIN(i + l, m - 1)] ^ sign);
    for (int64_t j = 0; j < m; ++j) below -= (tc_vi64)((int64_t)(a[j] ^ sign)) < own;
    for (int64_t l = 0; l < TC_L && i + l < m; ++l) b[below[l]] = a[i + l];
  }
}
TC_SORT_NUMBERS(u64, tc_u32)
/* @ tc_sort_u128 */
TC_FN void tc_sort_few_u128(const tc_u128 *restrict a, tc_u128 *restrict b, int64_t m) {
  for (int64_t i = 0; i < m; ++i) {
    int64_t below = 0;
    for (int64_t j = 0; j < m; ++j) below += a[j] < a[i];
    b[below] = a[i];
  }
}
TC_SORT_NUMBERS(u128, tc_u64)
/* @ tc_sort_f32 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_FLOAT(f32, tc_u32, 0x7f800000)
TC_SORT_ROWS(f32, u32, u64, 32)
/* @ tc_sort_f64 */
/* numbers: tc_sort_u128 */
TC_SORT_KEY_FLOAT(f64, tc_u64, 0x7ff0000000000000)
TC_SORT_ROWS(f64, u64, u128, 64)
/* @ tc_sort_f16 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_FLOAT(f16, tc_u16, 0x7c00)
TC_SORT_ROWS(f16, u16, u64, 32)
/* @ tc_sort_bf16 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_FLOAT(bf16, tc_u16, 0x7f80)
TC_SORT_ROWS(bf16, u16, u64, 32)
/* @ tc_sort_i8 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_SIGNED(i8, tc_u8)
TC_SORT_ROWS(i8, u8, u64, 32)
/* @ tc_sort_u8 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_UNSIGNED(u8, tc_u8)
TC_SORT_ROWS(u8, u8, u64, 32)
/* @ tc_sort_b8 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_UNSIGNED(b8, tc_u8)
TC_SORT_ROWS(b8, u8, u64, 32)
/* @ tc_sort_i16 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_SIGNED(i16, tc_u16)
TC_SORT_ROWS(i16, u16, u64, 32)
/* @ tc_sort_i32 */
/* numbers: tc_sort_u64 */
TC_SORT_KEY_SIGNED(i32, tc_u32)
TC_SORT_ROWS(i32, u32, u64, 32)
/* @ tc_sort_i64 */
/* numbers: tc_sort_u128 */
TC_SORT_KEY_SIGNED(i64, tc_u64)
TC_SORT_ROWS(i64, u64, u128, 64)
