/* Loads and stores.  n is 1 .. TC_L; elements past n are neither read nor written. */
/* @ TC_MASKED tc_maskload_ tc_maskstore_ */
#if TC_AVX512
/* AVX-512 moves of the first n elements of `size` bytes; a masked-out element cannot fault. */
typedef char tc_q16 __attribute__((vector_size(16)));
typedef short tc_q32 __attribute__((vector_size(32)));
typedef int tc_q64 __attribute__((vector_size(64)));
typedef long long tc_o64 __attribute__((vector_size(64)));
#define TC_MASK(n) ((uint32_t)((1u << (n)) - 1))
TC_FN void tc_maskload_1(void *d, const void *p, int64_t n) {
  *(tc_q16 *)d =
      __builtin_ia32_loaddquqi128_mask((const tc_q16 *)p, (tc_q16){0}, (tc_u16)TC_MASK(n));
}
TC_FN void tc_maskload_2(void *d, const void *p, int64_t n) {
  *(tc_q32 *)d =
      __builtin_ia32_loaddquhi256_mask((const tc_q32 *)p, (tc_q32){0}, (tc_u16)TC_MASK(n));
}
TC_FN void tc_maskload_4(void *d, const void *p, int64_t n) {
  *(tc_q64 *)d = __builtin_ia32_loaddqusi512_mask((const int *)p, (tc_q64){0}, (tc_u16)TC_MASK(n));
}
TC_FN void tc_maskload_8(void *d, const void *p, int64_t n) {
  const uint32_t m = TC_MASK(n);
  ((tc_o64 *)d)[0] = __builtin_ia32_loaddqudi512_mask((const long long *)p, (tc_o64){0}, (tc_u8)m);
  ((tc_o64 *)d)[1] =
      __builtin_ia32_loaddqudi512_mask((const long long *)p + 8, (tc_o64){0}, (tc_u8)(m >> 8));
}
TC_FN void tc_maskstore_1(void *p, const void *s, int64_t n) {
  __builtin_ia32_storedquqi128_mask((tc_q16 *)p, *(const tc_q16 *)s, (tc_u16)TC_MASK(n));
}
TC_FN void tc_maskstore_2(void *p, const void *s, int64_t n) {
  __builtin_ia32_storedquhi256_mask((tc_q32 *)p, *(const tc_q32 *)s, (tc_u16)TC_MASK(n));
}
TC_FN void tc_maskstore_4(void *p, const void *s, int64_t n) {
  __builtin_ia32_storedqusi512_mask((int *)p, *(const tc_q64 *)s, (tc_u16)TC_MASK(n));
}
TC_FN void tc_maskstore_8(void *p, const void *s, int64_t n) {
  const uint32_t m = TC_MASK(n);
  __builtin_ia32_storedqudi512_mask((long long *)p, ((const tc_o64 *)s)[0], (tc_u8)m);
  __builtin_ia32_storedqudi512_mask((long long *)p + 8, ((const tc_o64 *)s)[1], (tc_u8)(m >> 8));
}
#else
/* Pieces of 4, 2, 1 elements. */
#define TC_MASKED(name, size)                                                                      \
  TC_LONG void tc_mask##name##_##size(void *d, const void *p, int64_t n) {                         \
    char *to = d;                                                                                  \
    const char *from = p;                                                                          \
    if (n >= TC_L) {                                                                               \
      __builtin_memcpy(to, from, TC_L *size);                                                      \
      return;                                                                                      \
    }                                                                                              \
    if (n & 4) __builtin_memcpy(to, from, 4 * size), to += 4 * size, from += 4 * size;             \
    if (n & 2) __builtin_memcpy(to, from, 2 * size), to += 2 * size, from += 2 * size;             \
    if (n & 1) __builtin_memcpy(to, from, size);                                                   \
  }
TC_MASKED(load, 1)
TC_MASKED(load, 2)
TC_MASKED(load, 4)
TC_MASKED(load, 8)
TC_MASKED(store, 1)
TC_MASKED(store, 2)
TC_MASKED(store, 4)
TC_MASKED(store, 8)
#endif
/* @ TC_RAW */
/* Elements at a distance: TC_APART addresses are sums of few registers, the next ones follow from them.  The compiler
 * would rather keep all in memory. */
#define TC_APART 4
#define TC_OPAQUE(pointer) ({ __typeof__(pointer) q = (pointer); __asm__("" : "+r"(q)); q; })
/* The compiler forgets how a vector of elements of so many bytes was computed: where it knows that, and elements are stored one
 * by one, it computes each by itself, too.  Not of vectors of more or less than a register. */
#define TC_OPAQUE_1(v) (void)0
#define TC_OPAQUE_2(v) (void)0
#define TC_OPAQUE_8(v) (void)0
#if TC_AVX512
#define TC_OPAQUE_4(v) __asm__("" : "+v"(v))
#elif defined(__SSE2__)
#define TC_OPAQUE_4(v) __asm__("" : "+x"(v))
#else
#define TC_OPAQUE_4(v) (void)0
#endif
/* t[l] = p[l * s] of TC_L elements of 4 bytes, by gathers.  false: there are none. */
TC_FN int tc_gatherapart_4(void *t, const void *p, int64_t s) {
#if TC_AVX512
  typedef float tc_f8 __attribute__((vector_size(32)));
  typedef long long tc_i8x8 __attribute__((vector_size(64)));
  const tc_i8x8 at = s * (tc_i8x8){0, 1, 2, 3, 4, 5, 6, 7};
  const tc_f8 low = __builtin_ia32_gatherdiv16sf((tc_f8){0}, p, at, (unsigned char)-1, 4);
  const tc_f8 high = __builtin_ia32_gatherdiv16sf((tc_f8){0}, (const float *)p + 8 * s, at, (unsigned char)-1, 4);
  __builtin_memcpy(t, &low, sizeof low);
  __builtin_memcpy((char *)t + sizeof low, &high, sizeof high);
  return 1;
#else
  (void)t, (void)p, (void)s;
  return 0;
#endif
}
#define tc_gatherapart_1(t, p, s) 0
#define tc_gatherapart_2(t, p, s) 0
#define tc_gatherapart_8(t, p, s) 0
/* Moves of memory type T with element size `size`, unconverted. */
#define TC_RAW(T, V, size)                                                                         \
  TC_FN tc_v##V tc_rawload_##T(const tc_##T *p) {                                                  \
    tc_v##V v;                                                                                     \
    __builtin_memcpy(&v, p, sizeof v);                                                             \
    return v;                                                                                      \
  }                                                                                                \
  TC_FN tc_v##V tc_rawloadn_##T(const tc_##T *p, int64_t n) {                                      \
    tc_v##V v = (tc_v##V)(tc_##V)0;                                                                \
    tc_maskload_##size(&v, p, n);                                                                  \
    return v;                                                                                      \
  }                                                                                                \
  TC_FN tc_v##V tc_rawstrided_##T(const tc_##T *p, int64_t s, int64_t n) {                         \
    if (__builtin_constant_p(s) && s == 1) return n == TC_L ? tc_rawload_##T(p) : tc_rawloadn_##T(p, n); \
    tc_##T t[TC_L] = {0};                                                                          \
    if (__builtin_constant_p(n) && __builtin_constant_p(s))                                        \
      for (int64_t l = 0; l < n; ++l) t[l] = p[l * s];                                             \
    else if (__builtin_constant_p(n) && n == TC_L && tc_gatherapart_##size(t, p, s)) (void)0;      \
    else if (__builtin_constant_p(n) && n % TC_APART == 0)                                         \
      TC_UNROLL for (int64_t l = 0; l < n; l += TC_APART, p = TC_OPAQUE(p + TC_APART * s)) {       \
        TC_UNROLL for (int j = 0; j < TC_APART; ++j) t[l + j] = p[j * s];                          \
      }                                                                                            \
    else TC_ONE_BY_ONE for (int64_t l = 0; l < n; ++l) t[l] = p[l * s];                            \
    return tc_rawload_##T(t);                                                                      \
  }                                                                                                \
  TC_FN tc_v##V tc_rawgather_##T(const tc_##T *p, tc_vi64 i, int64_t n) {                          \
    tc_##T t[TC_L] = {0};                                                                          \
    tc_i64 at[TC_L];                                                                               \
    __builtin_memcpy(at, &i, sizeof at);                                                           \
    for (int64_t l = 0; l < n; ++l) t[l] = p[at[l]];                                               \
    return tc_rawload_##T(t);                                                                      \
  }                                                                                                \
  TC_FN tc_v##V tc_rawgatherg_##T(const tc_##T *p, tc_vi64 i, tc_vb8 g, int64_t n) {               \
    tc_##T t[TC_L] = {0};                                                                          \
    for (int64_t l = 0; l < n; ++l)                                                                \
      if (g[l]) t[l] = p[i[l]];                                                                    \
    return tc_rawload_##T(t);                                                                      \
  }                                                                                                \
  TC_FN void tc_rawstore_##T(tc_##T *p, tc_v##V v) { __builtin_memcpy(p, &v, sizeof v); }          \
  TC_FN void tc_rawstoren_##T(tc_##T *p, tc_v##V v, int64_t n) { tc_maskstore_##size(p, &v, n); }  \
  TC_FN void tc_rawnontemporal_##T(tc_##T *p, tc_v##V v, int nontemporal) {                        \
    enum { line = sizeof v < 64 ? sizeof v : 64 };                                                 \
    typedef tc_v##V tc_lines __attribute__((aligned(line)));                                       \
    if (nontemporal & (((uintptr_t)p & (line - 1)) == 0))                                          \
      __builtin_nontemporal_store(v, (tc_lines *)p);                                               \
    else tc_rawstore_##T(p, v);                                                                    \
  }                                                                                                \
  TC_FN void tc_rawstoreapart_##T(tc_##T *p, int64_t s, tc_v##V v, int64_t n) {                    \
    TC_OPAQUE_##size(v);                                                                           \
    if (__builtin_constant_p(n) && n % TC_APART == 0)                                              \
      TC_UNROLL for (int64_t l = 0; l < n; l += TC_APART, p = TC_OPAQUE(p + TC_APART * s)) {       \
        TC_UNROLL for (int j = 0; j < TC_APART; ++j) p[j * s] = v[l + j];                          \
      }                                                                                            \
    else TC_ONE_BY_ONE for (int64_t l = 0; l < n; ++l) p[l * s] = v[l];                            \
  }                                                                                                \
  TC_FN void tc_rawscatter_##T(tc_##T *p, tc_vi64 i, tc_v##V v, tc_vb8 g, int64_t n) {             \
    for (int64_t l = 0; l < n; ++l)                                                                \
      if (g[l]) p[i[l]] = v[l];                                                                    \
  }
/* @ TC_MEMORY */
/* The public forms: memory type T, in registers V; IN widens, OUT rounds. */
#define TC_MEMORY(T, V, IN, OUT)                                                                   \
  TC_FN tc_v##V tc_load_##T(const tc_##T *p) { return IN(tc_rawload_##T(p)); }                     \
  TC_FN tc_v##V tc_loadn_##T(const tc_##T *p, int64_t n) { return IN(tc_rawloadn_##T(p, n)); }     \
  TC_FN tc_v##V tc_splat_##T(const tc_##T *p) { return IN(*p); }                                   \
  TC_FN tc_v##V tc_strided_##T(const tc_##T *p, int64_t s, int64_t n) {                            \
    return IN(tc_rawstrided_##T(p, s, n));                                                         \
  }                                                                                                \
  TC_FN tc_v##V tc_gather_##T(const tc_##T *p, tc_vi64 i, int64_t n) {                             \
    return IN(tc_rawgather_##T(p, i, n));                                                          \
  }                                                                                                \
  /* guarded: g[l] ? p[i[l]] : 0 */                                                                \
  TC_FN tc_v##V tc_gatherg_##T(const tc_##T *p, tc_vi64 i, tc_vb8 g, int64_t n) {                  \
    return IN(tc_rawgatherg_##T(p, i, g, n));                                                      \
  }                                                                                                \
  /* guarded and neighbouring: g[l] ? p[l] : 0; mostly all or none */                              \
  TC_FN tc_v##V tc_loadg_##T(const tc_##T *p, tc_vb8 g, int64_t n) {                               \
    if (n == TC_L && tc_alltrue(g)) return tc_load_##T(p);                                         \
    if (!tc_anytrue(g)) return IN(((tc_##T)0));                                                    \
    return tc_gatherg_##T(p, TC_LANES(i64), g, n);                                                 \
  }                                                                                                \
  TC_FN void tc_store_##T(tc_##T *p, tc_v##V v) { tc_rawstore_##T(p, OUT(v)); }                    \
  TC_FN void tc_storen_##T(tc_##T *p, tc_v##V v, int64_t n) { tc_rawstoren_##T(p, OUT(v), n); }    \
  TC_FN void tc_store1_##T(tc_##T *p, tc_v##V v) { *p = OUT(v)[0]; }                               \
  TC_FN void tc_nontemporal_##T(tc_##T *p, tc_v##V v, int nontemporal) {                           \
    tc_rawnontemporal_##T(p, OUT(v), nontemporal);                                                 \
  }                                                                                                \
  /* p[l * s] = v[l] */                                                                            \
  TC_FN void tc_storeapart_##T(tc_##T *p, int64_t s, tc_v##V v, int64_t n) {                       \
    tc_rawstoreapart_##T(p, s, OUT(v), n);                                                         \
  }                                                                                                \
  /* where g: p[i[l]] = v[l], in the order of the lanes */                                         \
  TC_FN void tc_scatter_##T(tc_##T *p, tc_vi64 i, tc_v##V v, tc_vb8 g, int64_t n) {                \
    tc_rawscatter_##T(p, i, OUT(v), g, n);                                                         \
  }                                                                                                \
  /* where g: p[i[l]] += v[l], in the order of the lanes */                                        \
  TC_FN void tc_scatteradd_##T(tc_##T *p, tc_vi64 i, tc_v##V v, tc_vb8 g, int64_t n) {             \
    for (int64_t l = 0; l < n; ++l)                                                                \
      if (g[l]) tc_store1_##T(p + i[l], tc_splat_##T(p + i[l]) + v[l]);                            \
  }
/* @ tc_alltrue tc_anytrue */
TC_FN int tc_alltrue(tc_vb8 g) { return __builtin_reduce_min(g) != 0; }
TC_FN int tc_anytrue(tc_vb8 g) { return __builtin_reduce_max(g) != 0; }
/* @ tc_prefetch_store */
/* Prefetches the line at p + distance, which need not exist, into the first-level cache, to be stored to. */
TC_FN void tc_prefetch_store(const void *p, int64_t distance) {
  __builtin_prefetch((const char *)((uintptr_t)p + (uintptr_t)distance), 1);
}
/* @ tc_prefetch tc_prefetch_once */
/* Prefetches the lines of `bytes` at p + distance, which need not exist, into the second-level cache. */
TC_FN void tc_prefetch_once(const void *p, int64_t distance, int bytes) {
  const char *line = (const char *)((uintptr_t)p + (uintptr_t)distance);
  TC_UNROLL for (int i = 0; i < bytes; i += 64) __builtin_prefetch(line + i, 0, 2);
}
/* And again some that were prefetched before: processors drop requests while they wait for
 * others. */
TC_FN void tc_prefetch(const void *p, int64_t distance, int bytes) {
  tc_prefetch_once(p, distance, bytes);
  tc_prefetch_once(p, distance - 512, bytes);
}
/* @ tc_join_rows tc_in_order */
/* Elements `first` .. `first` + `count`, of `size` bytes each, of rows of `width` elements with a gap of so many between two of
 * them, copied to `to`. */
TC_SLOW void tc_join_rows(const char *x, int64_t first, int64_t count, int64_t width, int64_t gap, int64_t size, char *to) {
  const char *from = x + (first + first / width * gap) * size;
  for (int64_t some = TC_MIN(width - first % width, count); count > 0; count -= some, some = TC_MIN(width, count)) {
    __builtin_memcpy(to, from, some * size);
    to += some * size, from += (some + gap) * size;
  }
}
/* The same elements as they lie, if there is no gap. */
TC_FN const void *tc_in_order(const void *x, int64_t first, int64_t count, int64_t width, int64_t gap, int64_t size, void *to) {
  if (!gap) return (const char *)x + first * size;
  tc_join_rows(x, first, count, width, gap, size, to);
  return to;
}
/* @ tc_to_line */
/* Elements of so many bytes from p to where the next line begins. */
TC_FN int64_t tc_to_line(const void *p, int bytes) { return (int64_t)(-(uintptr_t)p & 63) / bytes; }
/* @ tc_fence */
/* Streaming stores become visible before what follows. */
TC_FN void tc_fence(void) {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
/* @ TC_PLAIN_* */
#define TC_PLAIN_f32(x) ((tc_vf32)(x))
#define TC_PLAIN_f64(x) ((tc_vf64)(x))
#define TC_PLAIN_i8(x) ((tc_vi8)(x))
#define TC_PLAIN_u8(x) ((tc_vu8)(x))
#define TC_PLAIN_i16(x) ((tc_vi16)(x))
#define TC_PLAIN_i32(x) ((tc_vi32)(x))
#define TC_PLAIN_i64(x) ((tc_vi64)(x))
/* @ tc_*_f32 */
TC_RAW(f32, f32, 4)
TC_MEMORY(f32, f32, TC_PLAIN_f32, TC_PLAIN_f32)
/* @ tc_*_f64 */
TC_RAW(f64, f64, 8)
TC_MEMORY(f64, f64, TC_PLAIN_f64, TC_PLAIN_f64)
/* @ tc_*_i8 */
TC_RAW(i8, i8, 1)
TC_MEMORY(i8, i8, TC_PLAIN_i8, TC_PLAIN_i8)
/* @ tc_*_u8 */
TC_RAW(u8, u8, 1)
TC_MEMORY(u8, u8, TC_PLAIN_u8, TC_PLAIN_u8)
/* @ tc_*_b8 */
TC_RAW(b8, u8, 1)
TC_MEMORY(b8, u8, TC_PLAIN_u8, TC_PLAIN_u8)
/* @ tc_*_i16 */
TC_RAW(i16, i16, 2)
TC_MEMORY(i16, i16, TC_PLAIN_i16, TC_PLAIN_i16)
/* @ tc_*_i32 */
TC_RAW(i32, i32, 4)
TC_MEMORY(i32, i32, TC_PLAIN_i32, TC_PLAIN_i32)
/* @ tc_*_i64 */
TC_RAW(i64, i64, 8)
TC_MEMORY(i64, i64, TC_PLAIN_i64, TC_PLAIN_i64)
/* @ tc_widen_bf16 tc_narrow_bf16 tc_round_bf16 */
/* bf16 is the upper half of an f32; rounding to nearest even, NaN stays NaN.  contract(off): Clang 22
 * makes one rounding of two otherwise, and of an f64 it calls the C library for each. */
TC_FN tc_vf32 tc_widen_bf16(tc_vu16 b) { return TC_BITS(f32, TC_CAST(u32, b) << 16); }
TC_FN tc_vu16 tc_narrow_bf16(tc_vf32 v) {
#pragma clang fp contract(off)
#if TC_AVX512 && defined(__AVX512BF16__)
  typedef __bf16 tc_vbrain __attribute__((ext_vector_type(TC_L)));
  return __builtin_bit_cast(tc_vu16, __builtin_convertvector(v, tc_vbrain)); /* vcvtneps2bf16 */
#else
  const tc_vu32 u = TC_BITS(u32, v);
  const tc_vu32 rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  return TC_CAST(u16, v != v ? (u >> 16) | 0x40 : rounded);
#endif
}
TC_FN tc_vf32 tc_round_bf16(tc_vf32 v) { return tc_widen_bf16(tc_narrow_bf16(v)); }
/* @ tc_loadevenodd_bf16 tc_storeevenodd_bf16 */
/* Elements 0, 2, 4, .. of the two vectors at p; with odd: elements 1, 3, .. of those at p - TC_L.
 */
TC_FN tc_vf32 tc_loadevenodd_bf16(const tc_bf16 *p, int odd) {
  tc_vu32 w;
  __builtin_memcpy(&w, odd ? p - TC_L : p, sizeof w);
  return TC_BITS(f32, odd ? w & 0xffff0000u : w << 16);
}
/* Stores even and odd elements, rounded, in turn. */
TC_FN void tc_storeevenodd_bf16(tc_bf16 *p, tc_vf32 even, tc_vf32 odd, int nontemporal) {
#if TC_AVX512 && defined(__AVX512BF16__)
  typedef tc_u16 tc_words __attribute__((ext_vector_type(2 * TC_L)));
  typedef float tc_w __attribute__((vector_size(64)));
  const tc_words s = __builtin_bit_cast(
      tc_words, __builtin_ia32_cvtne2ps2bf16_512((tc_w)odd, (tc_w)even)); /* even ones, odd ones */
  const tc_vu32 w =
      __builtin_bit_cast(tc_vu32, __builtin_shufflevector(s, s, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                                          5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26,
                                                          11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
#else
  const tc_vu32 w = TC_BITS(u32, tc_round_bf16(even)) >> 16 | TC_BITS(u32, tc_round_bf16(odd));
#endif
  if (nontemporal & (((uintptr_t)p & (sizeof w - 1)) == 0))
    __builtin_nontemporal_store(w, (tc_vu32 *)p);
  else __builtin_memcpy(p, &w, sizeof w);
}
/* @ tc_addsquares_bf16 tc_addelements_bf16 */
/* acc + the elements, or their squares, that tc_loadevenodd_bf16 reads.  A machine that multiplies pairs
 * takes even and odd elements at once, numbers below the normal range as 0. */
#if TC_AVX512 && defined(__AVX512BF16__)
typedef __bf16 tc_pairs __attribute__((vector_size(64)));
TC_FN tc_vf32 tc_dotpairs_bf16(tc_vf32 acc, tc_pairs a, tc_pairs b) {
  typedef float tc_w __attribute__((vector_size(64)));
  return (tc_vf32)__builtin_ia32_dpbf16ps_512((tc_w)acc, a, b);
}
TC_FN tc_pairs tc_rawpairs_bf16(const tc_bf16 *p, int odd) {
  tc_pairs x;
  __builtin_memcpy(&x, odd ? p - TC_L : p, sizeof x);
  return x;
}
TC_FN tc_vf32 tc_addsquares_bf16(tc_vf32 acc, const tc_bf16 *p, int odd) {
  const tc_pairs x = tc_rawpairs_bf16(p, odd);
  return odd ? acc : tc_dotpairs_bf16(acc, x, x);
}
TC_FN tc_vf32 tc_addelements_bf16(tc_vf32 acc, const tc_bf16 *p, int odd) {
  const tc_pairs ones = __builtin_bit_cast(tc_pairs, (tc_vu32)0x3f803f80u);
  return odd ? acc : tc_dotpairs_bf16(acc, tc_rawpairs_bf16(p, odd), ones);
}
#else
TC_FN tc_vf32 tc_addsquares_bf16(tc_vf32 acc, const tc_bf16 *p, int odd) {
  const tc_vf32 x = tc_loadevenodd_bf16(p, odd);
  return acc + x * x;
}
TC_FN tc_vf32 tc_addelements_bf16(tc_vf32 acc, const tc_bf16 *p, int odd) {
  return acc + tc_loadevenodd_bf16(p, odd);
}
#endif
/* @ tc_*_bf16 */
TC_RAW(bf16, u16, 2)
TC_MEMORY(bf16, f32, tc_widen_bf16, tc_narrow_bf16)
/* @ tc_widen_f16 tc_narrow_f16 tc_round_f16 */
#if defined(__F16C__)
typedef _Float16 tc_half __attribute__((ext_vector_type(TC_L)));
TC_FN tc_vf32 tc_widen_f16(tc_vu16 h) { return TC_CAST(f32, __builtin_bit_cast(tc_half, h)); }
TC_FN tc_vu16 tc_narrow_f16(tc_vf32 v) {
#pragma clang fp contract(off) /* as for bf16 */
  return TC_BITS(u16, __builtin_convertvector(v, tc_half));
}
#else
/* Normal halves are rebiased by 112; subnormal ones are made by a float subtraction. */
TC_FN tc_vf32 tc_widen_f16(tc_vu16 h) {
  const tc_vu32 u = TC_CAST(u32, h), sign = (u & 0x8000) << 16, m = (u & 0x7fff) << 13;
  const tc_vu32 normal = m + ((tc_vu32)112u << 23);
  const tc_vu32 special = m + ((tc_vu32)224u << 23);
  const tc_vf32 tiny = TC_BITS(f32, m + ((tc_vu32)113u << 23)) - 0x1p-14f;
  tc_vu32 r = m >= (0x7c00u << 13) ? special : normal;
  r = m < (0x0400u << 13) ? TC_BITS(u32, tiny) : r;
  return TC_BITS(f32, r | sign);
}
/* Adding 2^(e-10) * 1.5-like constants lets the float unit round to nearest even. */
TC_FN tc_vu16 tc_narrow_f16(tc_vf32 v) {
  const tc_vu32 u = TC_BITS(u32, v), sign = (u >> 16) & 0x8000, a = u & 0x7fffffff;
  const tc_vu32 normal = (a + 0xfff + ((a >> 13) & 1) - (112u << 23)) >> 13;
  const tc_vu32 tiny = TC_BITS(u32, TC_BITS(f32, a) + 0.5f) - 0x3f000000u;
  tc_vu32 r = a < (113u << 23) ? tiny : normal;
  r = a >= 0x477ff000u ? (tc_vu32)0x7c00u : r;
  r = a > 0x7f800000u ? (tc_vu32)0x7e00u : r;
  return TC_CAST(u16, r | sign);
}
#endif
TC_FN tc_vf32 tc_round_f16(tc_vf32 v) { return tc_widen_f16(tc_narrow_f16(v)); }
/* @ tc_*_f16 */
TC_RAW(f16, u16, 2)
TC_MEMORY(f16, f32, tc_widen_f16, tc_narrow_f16)
