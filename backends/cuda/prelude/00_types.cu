/* The prelude of device text.  It includes nothing.  A line that begins with slash-star-at opens a
 * chunk and lists the names it defines; the printer emits the chunks that a text needs, and all
 * chunks that list no name.
 *
 * A thread computes TC_L neighbouring elements; TC_L is a template parameter of the function at
 * hand, as is tc_int, the type of index arithmetic.  tc_v<T> has TC_L lanes, tc_u<T> one, for values
 * that all lanes share; functions take any mixture. */
/* @ */
#pragma nv_diag_suppress 177   /* a function of a chunk that the text does not use */
#pragma nv_diag_suppress 20012 /* __device__ on defaulted members */
typedef signed char tc_i8;
typedef unsigned char tc_u8, tc_b8; /* b8: 0 or 1 */
typedef short tc_i16;
typedef int tc_i32;
typedef long long tc_i64;
typedef unsigned int tc_u32;
typedef unsigned long long tc_u64;
typedef float tc_f32;
typedef double tc_f64;
struct tc_f16 {
  unsigned short bits;
};
struct tc_bf16 {
  unsigned short bits;
};

#define TC_FN static __device__ __forceinline__
#define TC_MEMBER __device__ __forceinline__
#define TC_SLOW static __device__ __noinline__
#define TC_UNROLL _Pragma("unroll")
#define TC_ROLLED _Pragma("unroll 1")
/* A statement for every i from 0 to n - 1, which is known while compiling.  Written out, not a loop
 * that is unrolled: before that pass an optimiser sees arrays with unknown indices, and takes up to
 * three times as long.  n has no comma outside of parentheses. */
#define TC_ONE_OF(n, k, ...)                                                                       \
  if constexpr ((n) > k) {                                                                         \
    constexpr int i = k;                                                                           \
    __VA_ARGS__;                                                                                   \
  }
#define TC_FOR_EACH(n, ...)                                                                        \
  do {                                                                                             \
    TC_ONE_OF(n, 0, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 1, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 2, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 3, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 4, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 5, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 6, __VA_ARGS__)                                                                   \
    TC_ONE_OF(n, 7, __VA_ARGS__)                                                                   \
    if constexpr ((n) > 8) TC_UNROLL for (int i = 8; i < (n); ++i) {                               \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  } while (0)
#define TC_INF __longlong_as_double(0x7ff0000000000000LL)
#define TC_NAN __longlong_as_double(0x7ff8000000000000LL)
#define TC_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TC_MAX(a, b) ((a) > (b) ? (a) : (b))
#define TC_CEILDIV(a, b) (((a) + (b) - 1) / (b))

template <class T, int N> struct tc_vec {
  T l[N];
  tc_vec() = default;
  __device__ __forceinline__ tc_vec(const tc_vec<T, N> &v) = default;
  template <int M> __device__ __forceinline__ tc_vec(const tc_vec<T, M> &v) {
    static_assert(M == 1, "only one value fits any number of lanes");
    TC_FOR_EACH(N, l[i] = v.l[0]);
  }
  tc_vec &operator=(const tc_vec<T, N> &v) = default;
  __device__ __forceinline__ T &operator[](int i) { return l[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return l[i]; }
};

/* Lane i of a vector, or the one value of all lanes. */
#define TC_AT(v, i) ((v).l[sizeof(v) == sizeof((v).l[0]) ? 0 : (i)])
constexpr int tc_most(int a, int b) { return a > b ? a : b; }

#define TC_TYPES                                                                                   \
  typedef tc_vec<tc_f32, TC_L> tc_vf32;                                                            \
  typedef tc_vec<tc_f64, TC_L> tc_vf64;                                                            \
  typedef tc_vec<tc_i8, TC_L> tc_vi8;                                                              \
  typedef tc_vec<tc_u8, TC_L> tc_vu8;                                                              \
  typedef tc_vec<tc_b8, TC_L> tc_vb8;                                                              \
  typedef tc_vec<tc_i16, TC_L> tc_vi16;                                                            \
  typedef tc_vec<tc_i32, TC_L> tc_vi32;                                                            \
  typedef tc_vec<tc_i64, TC_L> tc_vi64;                                                            \
  typedef tc_vec<tc_int, TC_L> tc_vidx;
typedef tc_vec<tc_f32, 1> tc_uf32;
typedef tc_vec<tc_f64, 1> tc_uf64;
typedef tc_vec<tc_i8, 1> tc_ui8;
typedef tc_vec<tc_u8, 1> tc_uu8, tc_ub8;
typedef tc_vec<tc_i16, 1> tc_ui16;
typedef tc_vec<tc_i32, 1> tc_ui32;
typedef tc_vec<tc_i64, 1> tc_ui64;
#define tc_uidx tc_vec<tc_int, 1>

template <class T, class X> TC_FN tc_vec<T, 1> tc_set(X x) {
  tc_vec<T, 1> v;
  v.l[0] = (T)x;
  return v;
}
#define tc_set_f32(x) tc_set<tc_f32>(x)
#define tc_set_f64(x) tc_set<tc_f64>(x)
#define tc_set_i8(x) tc_set<tc_i8>(x)
#define tc_set_u8(x) tc_set<tc_u8>(x)
#define tc_set_b8(x) tc_set<tc_b8>(x)
#define tc_set_i16(x) tc_set<tc_i16>(x)
#define tc_set_i32(x) tc_set<tc_i32>(x)
#define tc_set_i64(x) tc_set<tc_i64>(x)

template <class T, class F, int N> TC_FN tc_vec<T, N> tc_cast(const tc_vec<F, N> &a) {
  tc_vec<T, N> r;
  TC_FOR_EACH(N, r.l[i] = (T)a.l[i]);
  return r;
}
#define TC_CAST(T, v) tc_cast<tc_##T>(v)

template <class T, int N> TC_FN tc_vec<T, N> tc_lanes() {
  tc_vec<T, N> r;
  TC_FOR_EACH(N, r.l[i] = (T)i);
  return r;
}
#define TC_LANES(T) tc_lanes<tc_##T, TC_L>()
#define TC_LANES_IDX tc_lanes<tc_int, TC_L>()

/* Integers wrap: their arithmetic is done on the unsigned type. */
template <class T> struct tc_wrap {
  typedef T type;
};
template <> struct tc_wrap<tc_i8> {
  typedef tc_u32 type;
};
template <> struct tc_wrap<tc_u8> {
  typedef tc_u32 type;
};
template <> struct tc_wrap<tc_i16> {
  typedef tc_u32 type;
};
template <> struct tc_wrap<tc_i32> {
  typedef tc_u32 type;
};
template <> struct tc_wrap<tc_i64> {
  typedef tc_u64 type;
};
/* The wider of two types of indices, else the type of both. */
template <class A, class B> struct tc_joint;
template <class A> struct tc_joint<A, A> {
  typedef A type;
};
template <> struct tc_joint<tc_i64, tc_i32> {
  typedef tc_i64 type;
};
template <> struct tc_joint<tc_i32, tc_i64> {
  typedef tc_i64 type;
};

#define TC_OPERATOR(op)                                                                            \
  template <class A, class B, int M, int N>                                                        \
  TC_FN tc_vec<typename tc_joint<A, B>::type, tc_most(M, N)> operator op(                          \
      const tc_vec<A, M> &a, const tc_vec<B, N> &b) {                                              \
    typedef typename tc_joint<A, B>::type T;                                                       \
    typedef typename tc_wrap<T>::type W;                                                           \
    tc_vec<T, tc_most(M, N)> r;                                                                    \
    TC_FOR_EACH(tc_most(M, N), r.l[i] = (T)((W)TC_AT(a, i) op (W)TC_AT(b, i)));                    \
    return r;                                                                                      \
  }
TC_OPERATOR(+)
TC_OPERATOR(-)
TC_OPERATOR(*)
#define TC_BITWISE(op)                                                                             \
  template <class T, int M, int N>                                                                 \
  TC_FN tc_vec<T, tc_most(M, N)> operator op(const tc_vec<T, M> &a, const tc_vec<T, N> &b) {       \
    tc_vec<T, tc_most(M, N)> r;                                                                    \
    TC_FOR_EACH(tc_most(M, N), r.l[i] = (T)(TC_AT(a, i) op TC_AT(b, i)));                          \
    return r;                                                                                      \
  }
TC_BITWISE(&)
TC_BITWISE(|)
TC_BITWISE(^)
/* Quotients: `1 / v` and `v / w` of the op table. */
template <class T, int M, int N>
TC_FN tc_vec<T, tc_most(M, N)> operator/(const tc_vec<T, M> &a, const tc_vec<T, N> &b) {
  tc_vec<T, tc_most(M, N)> r;
  TC_FOR_EACH(tc_most(M, N), r.l[i] = TC_AT(a, i) / TC_AT(b, i));
  return r;
}
template <class T, int N> TC_FN tc_vec<T, N> operator/(int a, const tc_vec<T, N> &b) {
  tc_vec<T, N> r;
  TC_FOR_EACH(N, r.l[i] = (T)a / b.l[i]);
  return r;
}
/* scalar * vector: offsets of lanes */
template <class S, class T, int N> TC_FN tc_vec<T, N> operator*(S s, const tc_vec<T, N> &v) {
  tc_vec<T, N> r;
  TC_FOR_EACH(N, r.l[i] = (T)s * v.l[i]);
  return r;
}
/* @ tc_wait tc_behind tc_behind_global */
/* From Hopper on, kernels of a stream are launched while the ones in front of them run: this one
 * lets the next begin, and waits until all in front have ended.  Pointers are hidden from the
 * compiler until then: it might take reads through them for reads of constants, and move those.
 * tc_behind_global: the compiler learns again that they are of global memory, so that accesses do not
 * wait for those of shared memory.  Tiles gain from that; rows lose, for addresses of accesses behind
 * conditions are then found by each, and no access serves both memories. */
TC_FN void tc_wait() {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
template <class P> TC_FN void tc_behind(P &p) {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  asm volatile("" : "+l"(p)::"memory");
#else
  (void)p;
#endif
}
template <class P> TC_FN void tc_behind_global(P &p) {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  tc_u64 at = __cvta_generic_to_global(p);
  asm volatile("" : "+l"(at)::"memory");
  p = (P)__cvta_global_to_generic(at);
#else
  (void)p;
#endif
}
/* @ tc_rest_of tc_times_in */
/* Of indices, which are not negative: quotients of unsigned numbers take fewer instructions. */
template <class I> TC_FN I tc_rest_of(I a, I b) {
  typedef typename tc_wrap<I>::type W;
  return (I)((W)a % (W)b);
}
template <class I> TC_FN I tc_times_in(I a, I b) {
  typedef typename tc_wrap<I>::type W;
  return (I)((W)a / (W)b);
}
/* @ tc_divisor */
/* Quotients by a number known at run time.  32 bits: m = floor((2^32 - 1) / n) makes a m / 2^32 at
 * most 1 too small for a < 2^31, which the remainder shows. */
template <class I> struct tc_divisor {
  I n;
  tc_u32 m;
  TC_MEMBER tc_divisor(I by) : n(by), m(sizeof(I) == 4 ? 0xffffffffu / (tc_u32)by : 0) {}
  /* *a becomes the quotient; the remainder. */
  TC_MEMBER I split(I *a) const {
    typedef typename tc_wrap<I>::type W;
    W q = sizeof(I) == 4 ? (W)__umulhi((tc_u32)*a, m) : (W)*a / (W)n;
    W r = (W)*a - q * (W)n;
    if (sizeof(I) == 4 && r >= (W)n) ++q, r -= (W)n;
    *a = (I)q;
    return (I)r;
  }
  TC_MEMBER I quotient(I a) const {
    split(&a);
    return a;
  }
};
/* @ tc_first_steps tc_stepped TC_NO_END */
/* Indices of lanes that go on from row to row.  on: how far a lane is in front of the one before it along the axis at hand,
 * 0 or 1; along the axis in front of that, lanes go on where this one ends. */
#define TC_NO_END 0x7fffffff
template <int N, class I> TC_FN tc_vec<I, N> tc_first_steps() {
  tc_vec<I, N> on;
  TC_FOR_EACH(N, on.l[i] = i > 0);
  return on;
}
template <class I, int N> TC_FN tc_vec<I, N> tc_stepped(I first, I extent, tc_vec<I, N> *on) {
  tc_vec<I, N> r;
  I at = first;
  TC_FOR_EACH(N, {
    at += on->l[i];
    const bool ends = at == extent;
    at = ends ? (I)0 : at;
    on->l[i] = ends;
    r.l[i] = at;
  });
  return r;
}
/* @ tc_of_rows tc_two */
/* What two rows have; in lanes, those in front of `left` are in the first. */
template <class T> TC_FN tc_vec<T, 2> tc_two(const tc_vec<T, 1> &a, const tc_vec<T, 1> &b) {
  tc_vec<T, 2> r;
  r.l[0] = a.l[0], r.l[1] = b.l[0];
  return r;
}
template <int N, class I, class T> TC_FN tc_vec<T, N> tc_of_rows(I left, const tc_vec<T, 2> &rows) {
  tc_vec<T, N> r;
  TC_FOR_EACH(N, r.l[i] = i < left ? rows.l[0] : rows.l[1]);
  return r;
}
/* @ tc_head */
/* Elements in front of the first address that L of them may be accessed at together, at most n. */
template <int L, class T, class I> TC_FN I tc_head(const T *p, I n) {
  enum { BYTES = L * (int)sizeof(T) };
  const I head = (I)((BYTES - (int)((tc_u64)p % BYTES)) % BYTES / (int)sizeof(T));
  return head < n ? head : n;
}
/* @ tc_index */
/* Index operands: a live lane outside [0, bound) sets *bad; outside lanes become 0. */
template <class I, int N, int M>
TC_FN tc_vec<I, N> tc_checked(const tc_vec<tc_i64, N> &v, tc_i64 bound, const tc_vec<tc_b8, M> &live,
                              int *bad) {
  tc_vec<I, N> r;
  TC_FOR_EACH(N, {
    const bool out = (tc_u64)v.l[i] >= (tc_u64)bound;
    if (out && TC_AT(live, i)) *bad = 1;
    r.l[i] = out ? (I)0 : (I)v.l[i];
  });
  return r;
}
#define tc_index(v, bound, live, bad) tc_checked<tc_int>(v, bound, live, bad)
/* @ tc_index_free */
/* Index operands that are in range. */
template <class I, int N> TC_FN tc_vec<I, N> tc_unchecked(const tc_vec<tc_i64, N> &v) {
  tc_vec<I, N> r;
  TC_FOR_EACH(N, r.l[i] = (I)v.l[i]);
  return r;
}
#define tc_index_free(v) tc_unchecked<tc_int>(v)
