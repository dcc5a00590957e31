/* Loads and stores. */
/* @ tc_f16_of tc_bf16_of tc_of_f16 tc_two_bf16 tc_two_f16 */
#ifndef TC_EMULATED /* tests run this text on the CPU, with these in C */
TC_FN tc_f32 tc_of_f16(unsigned short bits) {
  tc_f32 r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits));
  return r;
}
TC_FN unsigned short tc_f16_of(tc_f32 x) {
  unsigned short r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
TC_FN tc_u32 tc_two_bf16(tc_f32 low, tc_f32 high) {
  tc_u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
/* The instruction for one takes four times as long as that for two. */
TC_FN unsigned short tc_bf16_of(tc_f32 x) { return (unsigned short)tc_two_bf16(x, 0); }
TC_FN tc_u32 tc_two_f16(tc_f32 low, tc_f32 high) {
  tc_u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
#endif
/* @ tc_policy tc_evict_last_while tc_release tc_widen tc_narrow tc_load_* tc_splat_* tc_gather_* tc_gatherg_* tc_loadg_* tc_store_* tc_store1_* tc_scatter_* tc_scatteradd_* tc_hold tc_hold_once tc_held tc_arrived tc_round_f16 tc_round_bf16 tc_load1 tc_row_put tc_column tc_column_held tc_put_held */
/* f16 and bf16 compute as f32. */
template <class T> struct tc_computed {
  typedef T type;
};
template <> struct tc_computed<tc_f16> {
  typedef tc_f32 type;
};
template <> struct tc_computed<tc_bf16> {
  typedef tc_f32 type;
};
template <class T> TC_FN T tc_widen(T x) { return x; }
TC_FN tc_f32 tc_widen(tc_bf16 x) { return __uint_as_float((tc_u32)x.bits << 16); }
TC_FN tc_f32 tc_widen(tc_f16 x) { return tc_of_f16(x.bits); }
template <class T, class C> TC_FN void tc_narrow(C x, T *r) { *r = (T)x; }
TC_FN void tc_narrow(tc_f32 x, tc_bf16 *r) { r->bits = tc_bf16_of(x); }
TC_FN void tc_narrow(tc_f32 x, tc_f16 *r) { r->bits = tc_f16_of(x); }

/* One access of `bytes` bytes, aligned to them, at most 16. */
template <int bytes> struct tc_word;
template <> struct tc_word<1> {
  typedef unsigned char type;
};
template <> struct tc_word<2> {
  typedef unsigned short type;
};
template <> struct tc_word<4> {
  typedef unsigned int type;
};
template <> struct tc_word<8> {
  typedef uint2 type;
};
template <> struct tc_word<16> {
  typedef uint4 type;
};
template <class T, int N> union tc_raw {
  enum { all = (int)sizeof(T) * N, each = all < 16 ? all : 16, count = all / each };
  typedef typename tc_word<each>::type word;
  T e[N];
  word w[count];
  tc_u32 pair[all > 4 ? all / 4 : 1];
};
/* All elements to the compute type: halves of bf16 from their pairs, one instruction each. */
template <int N, class T>
TC_FN tc_vec<typename tc_computed<T>::type, N> tc_widened(const tc_raw<T, N> &u) {
  tc_vec<typename tc_computed<T>::type, N> r;
  TC_FOR_EACH(N, r.l[i] = tc_widen(u.e[i]));
  return r;
}
template <int N> TC_FN tc_vec<tc_f32, N> tc_widened(const tc_raw<tc_bf16, N> &u) {
  tc_vec<tc_f32, N> r;
  if (N == 1) r.l[0] = tc_widen(u.e[0]);
  TC_FOR_EACH(N / 2, {
    r.l[2 * i] = __uint_as_float(u.pair[i] << 16);
    r.l[2 * i + 1] = __uint_as_float(u.pair[i] & 0xffff0000u);
  });
  return r;
}
template <int N, class T> TC_FN tc_vec<typename tc_computed<T>::type, N> tc_loaded(const T *p) {
  typedef tc_raw<T, N> raw;
  raw u;
  const typename raw::word *from = (const typename raw::word *)p;
  TC_FOR_EACH(raw::count, u.w[i] = from[i]);
  return tc_widened<N>(u);
}
/* Elements on their way from memory, not converted yet: a conversion would wait for them. */
template <class T, int N> struct tc_held {
  tc_raw<T, N> raw;
};
template <int N, class T> TC_FN tc_held<T, N> tc_hold(const T *p) {
  typedef tc_raw<T, N> raw;
  tc_held<T, N> h;
  const typename raw::word *from = (const typename raw::word *)p;
  TC_FOR_EACH(raw::count, h.raw.w[i] = from[i]);
  return h;
}
/* What nobody writes meanwhile and only this load reads: it passes the first cache by.  The compiler
 * leaves such loads where they are, in front of what uses the first of them. */
template <int N, class T> TC_FN tc_held<T, N> tc_hold_once(const T *p) {
#if defined __CUDA_ARCH__
  typedef tc_raw<T, N> raw;
  if constexpr (raw::each == 16) {
    tc_held<T, N> h;
    TC_FOR_EACH(raw::count, {
      uint4 &w = h.raw.w[i];
      asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
          : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
          : "l"(__cvta_generic_to_global(p) + 16 * i));
    });
    return h;
  }
#endif
  return tc_hold<N>(p);
}
/* How long lines stay in the cache: for as long as others can go, or as usual.  Where everything is
 * written once and read once, written lines had better go first. */
typedef tc_u64 tc_policy;
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
TC_FN tc_policy tc_evict_last_while(bool large) {
  tc_policy last, usual;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(usual));
  return large ? last : usual;
}
/* Nobody writes there while the kernel runs; any: is it to stay at all? */
template <int N, bool any, class T> TC_FN tc_held<T, N> tc_hold(const T *p, tc_policy policy) {
  typedef tc_raw<T, N> raw;
  if constexpr (!any || raw::each < 16) return tc_hold<N>(p);
  else {
    tc_held<T, N> h;
    TC_FOR_EACH(raw::count, {
      const tc_u64 at = __cvta_generic_to_global(p) + 16 * i;
      uint4 &w = h.raw.w[i];
      asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
          : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
          : "l"(at), "l"(policy));
    });
    return h;
  }
}
/* The line that begins among the elements p[0] to p[N - 1] stays as usual from now on. */
template <int N, class T> TC_FN void tc_release(const T *p) {
  enum { LINE = 128, BYTES = N * (int)sizeof(T) };
  const tc_u64 at = __cvta_generic_to_global(p) + BYTES - 1;
  if (BYTES >= 16 && at % LINE < BYTES)
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(at / LINE * LINE) : "memory");
}
#else
TC_FN tc_policy tc_evict_last_while(bool) { return 0; }
template <int N, bool any, class T> TC_FN tc_held<T, N> tc_hold(const T *p, tc_policy) { return tc_hold<N>(p); }
template <int N, class T> TC_FN void tc_release(const T *) {}
#endif
template <class T, int N> TC_FN tc_vec<typename tc_computed<T>::type, N> tc_arrived(const tc_held<T, N> &h) {
  return tc_widened<N>(h.raw);
}
/* N neighbours to a row of a tile, in words of 4 bytes, and N elements `bytes` apart from a column. */
template <class T, int N> TC_FN void tc_row_put(T *to, const tc_held<T, N> &h) {
  if (sizeof(T) < 4 && sizeof(T) * N >= 4)
    TC_FOR_EACH((int)sizeof(h) / 4, ((tc_u32 *)to)[i] = h.raw.pair[i]);
  else
    TC_FOR_EACH(N, to[i] = h.raw.e[i]);
}
template <int N, class T> TC_FN tc_held<T, N> tc_column_held(const T *from, int bytes) {
  tc_held<T, N> h;
  TC_FOR_EACH(N, h.raw.e[i] = *(const T *)((const char *)from + i * bytes));
  return h;
}
template <int N, class T>
TC_FN tc_vec<typename tc_computed<T>::type, N> tc_column(const T *from, int bytes) {
  return tc_arrived(tc_column_held<N>(from, bytes));
}
/* Elements stored as they are. */
template <class T, int N> TC_FN void tc_put_held(T *p, const tc_held<T, N> &h) {
  typedef tc_raw<T, N> raw;
  typename raw::word *to = (typename raw::word *)p;
  TC_FOR_EACH(raw::count, to[i] = h.raw.w[i]);
}
template <class T> TC_FN tc_vec<typename tc_computed<T>::type, 1> tc_load1(const T *p) {
  tc_vec<typename tc_computed<T>::type, 1> r;
  r.l[0] = tc_widen(*p);
  return r;
}
template <class T, class I, int N>
TC_FN tc_vec<typename tc_computed<T>::type, N> tc_gathered(const T *p, const tc_vec<I, N> &at) {
  tc_vec<typename tc_computed<T>::type, N> r;
  TC_FOR_EACH(N, r.l[i] = tc_widen(p[at.l[i]]));
  return r;
}
template <class T, class I, int M, int N>
TC_FN tc_vec<typename tc_computed<T>::type, tc_most(M, N)>
tc_gathered_where(const T *p, const tc_vec<I, M> &at, const tc_vec<tc_b8, N> &g) {
  typedef typename tc_computed<T>::type C;
  tc_vec<C, tc_most(M, N)> r;
  TC_FOR_EACH(tc_most(M, N), {
    r.l[i] = (C)0;
    if (TC_AT(g, i)) r.l[i] = tc_widen(p[TC_AT(at, i)]);
  });
  return r;
}
/* All lanes to the storage type; halves in pairs, one instruction each. */
template <int N, class T, class C, int M> TC_FN void tc_packed(const tc_vec<C, M> &v, tc_raw<T, N> *u) {
  TC_FOR_EACH(N, tc_narrow(TC_AT(v, i), &u->e[i]));
}
#define TC_PAIRS(T)                                                                                \
  template <int N, int M>                                                                          \
  TC_FN void tc_packed(const tc_vec<tc_f32, M> &v, tc_raw<tc_##T, N> *u) {                         \
    TC_FOR_EACH(N / 2, u->pair[i] = tc_two_##T(TC_AT(v, 2 * i), TC_AT(v, 2 * i + 1)));             \
    if (N == 1) tc_narrow(v.l[0], &u->e[0]);                                                       \
  }
TC_PAIRS(bf16)
TC_PAIRS(f16)
template <class T, int N> TC_FN tc_vec<tc_f32, N> tc_through(const tc_vec<tc_f32, N> &v) {
  tc_raw<T, N> u;
  tc_packed(v, &u);
  return tc_widened<N>(u);
}
#define tc_round_f16(v) tc_through<tc_f16>(v)
#define tc_round_bf16(v) tc_through<tc_bf16>(v)
template <int N, class T, class C, int M> TC_FN void tc_stored(T *p, const tc_vec<C, M> &v) {
  typedef tc_raw<T, N> raw;
  raw u;
  tc_packed(v, &u);
  typename raw::word *to = (typename raw::word *)p;
  TC_FOR_EACH(raw::count, to[i] = u.w[i]);
}
template <class T, class C, int M> TC_FN void tc_stored1(T *p, const tc_vec<C, M> &v) {
  tc_narrow(v.l[0], p);
}
/* where g: p[at[l]] = v[l], in the order of the lanes */
template <int N, class T, class I, int K, class C, int M, int G>
TC_FN void tc_scattered(T *p, const tc_vec<I, K> &at, const tc_vec<C, M> &v,
                        const tc_vec<tc_b8, G> &g) {
  TC_FOR_EACH(N, if (TC_AT(g, i)) tc_narrow(TC_AT(v, i), p + TC_AT(at, i)));
}
template <int N, class T, class I, int K, class C, int M, int G>
TC_FN void tc_scatter_added(T *p, const tc_vec<I, K> &at, const tc_vec<C, M> &v,
                            const tc_vec<tc_b8, G> &g) {
  TC_FOR_EACH(N, if (TC_AT(g, i)) {
      tc_vec<C, 1> x;
      x.l[0] = TC_AT(v, i);
      tc_stored1(p + TC_AT(at, i), tc_load1(p + TC_AT(at, i)) + x);
    });
}
#define tc_load_f32(p) tc_loaded<TC_L>(p)
#define tc_splat_f32(p) tc_load1(p)
#define tc_gather_f32(p, i, n) tc_gathered(p, i)
#define tc_gatherg_f32(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_f32(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_f32(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_f32(p, v) tc_stored1(p, v)
#define tc_scatter_f32(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_f32(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_f64(p) tc_loaded<TC_L>(p)
#define tc_splat_f64(p) tc_load1(p)
#define tc_gather_f64(p, i, n) tc_gathered(p, i)
#define tc_gatherg_f64(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_f64(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_f64(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_f64(p, v) tc_stored1(p, v)
#define tc_scatter_f64(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_f64(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_i8(p) tc_loaded<TC_L>(p)
#define tc_splat_i8(p) tc_load1(p)
#define tc_gather_i8(p, i, n) tc_gathered(p, i)
#define tc_gatherg_i8(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_i8(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_i8(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_i8(p, v) tc_stored1(p, v)
#define tc_scatter_i8(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_i8(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_u8(p) tc_loaded<TC_L>(p)
#define tc_splat_u8(p) tc_load1(p)
#define tc_gather_u8(p, i, n) tc_gathered(p, i)
#define tc_gatherg_u8(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_u8(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_u8(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_u8(p, v) tc_stored1(p, v)
#define tc_scatter_u8(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_u8(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_b8(p) tc_loaded<TC_L>(p)
#define tc_splat_b8(p) tc_load1(p)
#define tc_gather_b8(p, i, n) tc_gathered(p, i)
#define tc_gatherg_b8(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_b8(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_b8(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_b8(p, v) tc_stored1(p, v)
#define tc_scatter_b8(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_b8(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_i16(p) tc_loaded<TC_L>(p)
#define tc_splat_i16(p) tc_load1(p)
#define tc_gather_i16(p, i, n) tc_gathered(p, i)
#define tc_gatherg_i16(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_i16(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_i16(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_i16(p, v) tc_stored1(p, v)
#define tc_scatter_i16(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_i16(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_i32(p) tc_loaded<TC_L>(p)
#define tc_splat_i32(p) tc_load1(p)
#define tc_gather_i32(p, i, n) tc_gathered(p, i)
#define tc_gatherg_i32(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_i32(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_i32(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_i32(p, v) tc_stored1(p, v)
#define tc_scatter_i32(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_i32(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_i64(p) tc_loaded<TC_L>(p)
#define tc_splat_i64(p) tc_load1(p)
#define tc_gather_i64(p, i, n) tc_gathered(p, i)
#define tc_gatherg_i64(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_i64(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_i64(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_i64(p, v) tc_stored1(p, v)
#define tc_scatter_i64(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_i64(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_f16(p) tc_loaded<TC_L>(p)
#define tc_splat_f16(p) tc_load1(p)
#define tc_gather_f16(p, i, n) tc_gathered(p, i)
#define tc_gatherg_f16(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_f16(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_f16(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_f16(p, v) tc_stored1(p, v)
#define tc_scatter_f16(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_f16(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
#define tc_load_bf16(p) tc_loaded<TC_L>(p)
#define tc_splat_bf16(p) tc_load1(p)
#define tc_gather_bf16(p, i, n) tc_gathered(p, i)
#define tc_gatherg_bf16(p, i, g, n) tc_gathered_where(p, i, g)
#define tc_loadg_bf16(p, g, n) tc_gathered_where(p, TC_LANES_IDX, g)
#define tc_store_bf16(p, v) tc_stored<TC_L>(p, v)
#define tc_store1_bf16(p, v) tc_stored1(p, v)
#define tc_scatter_bf16(p, i, v, g, n) tc_scattered<TC_L>(p, i, v, g)
#define tc_scatteradd_bf16(p, i, v, g, n) tc_scatter_added<TC_L>(p, i, v, g)
/* @ tc_held_anywhere tc_hold_anywhere tc_held_from tc_hold_from tc_hold_once_from tc_loaded_from */
/* N neighbours at any address, on their way: the aligned words that they lie in, and the bytes of
 * the first in front of them.  Each word has a byte of theirs: nothing else is touched. */
template <class T, int N> struct tc_held_anywhere {
  typedef tc_raw<T, N> raw;
  raw low;
  typename raw::word high;
  int away;
  tc_held_anywhere() = default;
  TC_MEMBER tc_held_anywhere(const tc_held<T, N> &h) : low(h.raw), high(h.raw.w[0]), away(0) {}
  TC_MEMBER operator tc_held<T, N>() const;
};
TC_FN tc_u32 tc_funnel(tc_u32 low, tc_u32 high, int bits) {
#ifdef TC_EMULATED
  return (tc_u32)(((tc_u64)high << 32 | low) >> bits);
#else
  return __funnelshift_r(low, high, (tc_u32)bits);
#endif
}
template <int N, class T> TC_FN tc_held_anywhere<T, N> tc_hold_anywhere(const T *p) {
  typedef tc_raw<T, N> raw;
  tc_held_anywhere<T, N> h;
  if (raw::each < 4) {
    TC_UNROLL for (int i = 0; i < N; ++i) h.low.e[i] = p[i];
    h.away = 0;
    return h;
  }
  h.away = (int)((tc_u64)p % raw::each);
  const typename raw::word *from = (const typename raw::word *)((const char *)p - h.away);
  TC_FOR_EACH(raw::count, h.low.w[i] = from[i]);
  h.high = from[h.away ? raw::count : raw::count - 1];
  return h;
}
template <class T, int N> TC_MEMBER tc_held_anywhere<T, N>::operator tc_held<T, N>() const {
  enum { W = raw::all / 4, E = raw::each / 4 }; /* words of 4 bytes: all, and of an access */
  tc_held<T, N> h;
  if constexpr (E == 0) {
    h.raw = low;
    return h;
  } else {
    tc_u32 v[W + E];
    union {
      typename raw::word all;
      tc_u32 each[E];
    } last;
    last.all = high;
    TC_UNROLL for (int i = 0; i < W; ++i) v[i] = low.pair[i];
    TC_UNROLL for (int i = 0; i < E; ++i) v[W + i] = last.each[i];
    TC_UNROLL for (int hop = E / 2; hop; hop /= 2)
      TC_UNROLL for (int i = 0; i + hop < W + E; ++i) v[i] = away & 4 * hop ? v[i + hop] : v[i];
    TC_UNROLL for (int i = 0; i < W; ++i) h.raw.pair[i] = tc_funnel(v[i], v[i + 1], (away & 3) * 8);
    return h;
  }
}
template <class T, int N>
TC_FN tc_vec<typename tc_computed<T>::type, N> tc_arrived(const tc_held_anywhere<T, N> &h) {
  return tc_arrived((tc_held<T, N>)h);
}
/* Of functions that are compiled for both: any says whether loads begin anywhere. */
template <class T, int N, bool any> struct tc_held_of {
  typedef tc_held<T, N> type;
};
template <class T, int N> struct tc_held_of<T, N, true> {
  typedef tc_held_anywhere<T, N> type;
};
template <class T, int N, bool any> using tc_held_from = typename tc_held_of<T, N, any>::type;
template <int N, bool any, class T> TC_FN tc_held_from<T, N, any> tc_hold_from(const T *p) {
  if constexpr (any) return tc_hold_anywhere<N>(p);
  else return tc_hold<N>(p);
}
template <int N, bool any, class T> TC_FN tc_held_from<T, N, any> tc_hold_once_from(const T *p) {
  if constexpr (any) return tc_hold_anywhere<N>(p);
  else return tc_hold_once<N>(p);
}
template <int N, bool any, bool stays, class T>
TC_FN tc_held_from<T, N, any> tc_hold_from(const T *p, tc_policy policy) {
  if constexpr (any) return tc_hold_anywhere<N>(p);
  else return tc_hold<N, stays>(p, policy);
}
template <int N, bool any, class T>
TC_FN tc_vec<typename tc_computed<T>::type, N> tc_loaded_from(const T *p) {
  if constexpr (any) return tc_arrived(tc_hold_anywhere<N>(p));
  else return tc_loaded<N>(p);
}
/* @ tc_stored_from */
/* The store of such a function: element by element where the address is not aligned. */
template <int N, bool any, class T, class C, int M> TC_FN void tc_stored_from(T *p, const tc_vec<C, M> &v) {
  typedef tc_raw<T, N> raw;
  if (any && (tc_u64)p % raw::each) {
    raw u;
    tc_packed(v, &u);
    TC_FOR_EACH(N, p[i] = u.e[i]);
  } else {
    tc_stored<N>(p, v);
  }
}
/* @ tc_hold_first tc_first */
/* The same of the first `some` of N, and those with zeros behind them. */
template <int N, class T> TC_FN tc_held_anywhere<T, N> tc_hold_first(const T *p, int some) {
  typedef tc_raw<T, N> raw;
  static_assert(raw::each >= 4, "words");
  tc_held_anywhere<T, N> h = {};
  h.away = (int)((tc_u64)p % raw::each);
  const typename raw::word *from = (const typename raw::word *)((const char *)p - h.away);
  const int end = some > 0 ? h.away + some * (int)sizeof(T) : 0;
  TC_UNROLL for (int i = 0; i < raw::count; ++i)
    if (i * raw::each < end) h.low.w[i] = from[i];
  if (raw::all < end) h.high = from[raw::count];
  return h;
}
template <class T, int N> TC_FN tc_held<T, N> tc_first(const tc_held_anywhere<T, N> &h, int some) {
  enum { E = 4 / (int)sizeof(T) }; /* elements of a word of 4 bytes */
  tc_held<T, N> x = h;
  TC_UNROLL for (int i = 0; i < tc_raw<T, N>::all / 4; ++i) {
    const int left = some - i * E; /* that are of the first */
    x.raw.pair[i] &= left >= E ? ~0u : left > 0 ? (1u << left * 8 * (int)sizeof(T)) - 1 : 0;
  }
  return x;
}
/* @ tc_tile_head tc_tile_row tc_tile_place tc_tile_shift tc_tile_fill tc_picked */
/* Tiles of arrays whose rows begin anywhere: element (i, j) is from[i * stride + j].  A row of a tile
 * has 16 times 16 bytes, and begins at the last boundary of 16 bytes in front of element
 * (i, column): `head` elements before it.  256 threads fill a tile. */
template <class T, class I> TC_FN int tc_tile_head(const T *from, I stride, I i, I column) {
  return (int)(((tc_u64)from / sizeof(T) + (tc_u64)i * (tc_u64)stride + (tc_u64)column) % (16 / sizeof(T)));
}
/* Where row r of a tile begins.  16 bytes lie between groups of as many rows as 16 bytes have
 * elements: their heads differ where the array's rows are odd, so that what a warp reads of a column
 * lies in different banks.  Bytes: a word behind each row. */
template <class T> TC_FN int tc_tile_row(int r) {
  constexpr int group = 16 / (int)sizeof(T);
  return sizeof(T) == 1 ? r * 260 : r * 16 * group + r / group * group;
}
/* Where element (i, column) lies in a tile whose first row is `row`. */
template <class T, class I>
TC_FN const T *tc_tile_place(const T *t, const T *from, I stride, I row, I i, I column) {
  return t + tc_tile_row<T>((int)(i - row)) + tc_tile_head(from, stride, i, column);
}
/* Elements from the last boundary of 32 bytes to p. */
template <class T> TC_FN int tc_tile_shift(const T *p) {
  return (int)((tc_u64)p / sizeof(T) % (32 / sizeof(T)));
}
/* Rows `row` to `row` + ROWS - 1 of an array of rows x columns, as far as it has them.  16 bytes are
 * read wherever all of them lie between the array's first element and its last, across the ends of
 * its rows, too; else one by one.  What is put where no row is, nobody reads. */
template <int ROWS, class T, class I>
TC_FN void tc_tile_fill(T *t, const T *from, I stride, I row, I rows, I column, I columns) {
  enum { V = 16 / (int)sizeof(T), STEP = 16, N = (ROWS + STEP - 1) / STEP, BYTES = sizeof(T) == 1 };
  const int x = (int)threadIdx.x;
  const int v = (BYTES ? x % 8 + x / 32 % 2 * 8 : x % 16) * V, r = BYTES ? x / 8 % 4 + x / 64 * 4 : x / 16;
  const I j = column - tc_tile_head(from, stride, (I)(row + r), column) + v; /* of all N rows */
  const I reach = (rows - 1) * stride, low = reach < 0 ? reach : 0; /* elements there are from low */
  const I high = reach - low + columns - V;                         /* to high + V - 1 */
  const int first = row < 0 ? (int)-row : 0; /* that is there */
  const int end = j < columns ? (int)TC_MIN((I)ROWS, rows - row) : 0;
  tc_held<T, V> w[N];
  bool rest = false;
  TC_UNROLL for (int e = 0; e < N; ++e) {
    const int at = r + e * STEP;
    if (at < first || at >= end) continue;
    const I near = (row + at) * stride + j;
    if (near >= low && near <= high) w[e] = tc_hold<V>(from + near);
    else rest = true;
  }
  TC_UNROLL for (int e = 0; e < N; ++e) {
    const int at = r + e * STEP;
    if (ROWS % STEP && at >= ROWS) continue;
    if (BYTES) tc_row_put(t + tc_tile_row<T>(at) + v, w[e]);
    else tc_put_held(t + tc_tile_row<T>(at) + v, w[e]);
  }
  if (rest) TC_ROLLED for (int at = r; at < end; at += STEP) {
    const I near = (row + at) * stride + j;
    if (at < first || (near >= low && near <= high)) continue;
    TC_ROLLED for (int k = 0; k < V; ++k)
      if (j + k >= 0 && j + k < columns) t[tc_tile_row<T>(at) + v + k] = from[near + k];
  }
}
/* Element e of N rows. */
template <int N, class T> TC_FN tc_held<T, N> tc_picked(const T *const (&row)[N], int e) {
  tc_held<T, N> h;
  TC_UNROLL for (int i = 0; i < N; ++i) h.raw.e[i] = row[i][e];
  return h;
}
