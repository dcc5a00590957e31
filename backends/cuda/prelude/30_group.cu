/* Thread groups: the threads that share one outer point (rows), or one group of TC_L outer points (columns).
 * Their partial results are combined by trees whose shape depends on the group's size alone, so that
 * results repeat bit for bit.  Dynamic shared memory holds what crosses warps. */
/* @ tc_rows tc_columns tc_team tc_shared */
extern __shared__ uint4 tc_shared[];

/* `size` threads for each outer point: a power of 2 up to 32, or a multiple of 32 that is the whole
 * block.  t: this thread among them.  first, step: its items of a row that is kept; each warp has `run`
 * times 32 that are neighbours (0: the items of all threads alternate).  together: a group is a warp or a part of
 * one, and all threads of the block go from row to row together; known: the compiler knows its size. */
struct tc_rows {
  int t, size, row, rows, first, step;
  bool together, known;
  mutable int place; /* which of two places the next tc_combine uses */
  __device__ __forceinline__ tc_rows(tc_i64 group, int run = 0, bool together = false, bool known = true)
      : together(together), known(known), place(0) {
    size = (int)group;
    if (together) __builtin_assume(size <= 32);
    t = (int)threadIdx.x, row = 0, rows = 1;
    if (size <= 32) { /* a power of 2 */
      const int shift = __ffs(size) - 1;
      t = (int)threadIdx.x & (size - 1);
      row = (int)threadIdx.x >> shift;
      rows = (int)blockDim.x >> shift;
    }
    first = run ? t / 32 * 32 * run + t % 32 : t;
    step = run ? 32 : size;
    __builtin_assume(t >= 0 && t < size);
  }
  __device__ __forceinline__ tc_u32 mask() const {
    return together || size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (threadIdx.x & 31 & (unsigned)-size);
  }
};
/* `size` threads for each column of TC_L outer points; the block has `width` columns, neighbouring
 * ones on neighbouring threads, of `rows` outer points (1 where size is not: threads are combined over the block).
 * All are powers of 2: divisions would be half of a short block's work.  group: size, and rows above 16 bits; one: the
 * size is 1, as the compiler is to know. */
struct tc_columns {
  int t, size, x, width, shift, row, rows;
  __device__ __forceinline__ tc_columns(tc_i64 group, bool one = false) {
    size = one ? 1 : (int)group & 0xffff;
    rows = (int)group >> 16;
    width = (int)blockDim.x >> (__ffs(size * rows) - 1);
    shift = __ffs(width) - 1;
    t = (int)threadIdx.x >> shift;
    row = rows > 1 ? t : 0;
    if (one || rows > 1) t = 0;
    x = (int)threadIdx.x & (width - 1);
  }
  /* Blocks side by side that have `columns` columns. */
  template <class I> __device__ __forceinline__ I tiles(I columns) const {
    return (columns + (width - 1)) >> shift;
  }
};
/* @ tc_shuffle */
template <class T> TC_FN T tc_shuffle(tc_u32 mask, T v, int with) {
  return (T)__shfl_xor_sync(mask, (int)v, with);
}
TC_FN tc_f32 tc_shuffle(tc_u32 mask, tc_f32 v, int with) {
  return __int_as_float(__shfl_xor_sync(mask, __float_as_int(v), with));
}
TC_FN tc_i64 tc_shuffle(tc_u32 mask, tc_i64 v, int with) {
  const int lo = __shfl_xor_sync(mask, (int)v, with), hi = __shfl_xor_sync(mask, (int)(v >> 32), with);
  return (tc_i64)hi << 32 | (tc_u32)lo;
}
TC_FN tc_f64 tc_shuffle(tc_u32 mask, tc_f64 v, int with) {
  return __longlong_as_double(tc_shuffle(mask, (tc_i64)__double_as_longlong(v), with));
}
/* @ tc_shuffle_down tc_shuffle_first */
template <class T> TC_FN T tc_shuffle_down(T v, int by) {
  return (T)__shfl_down_sync(0xffffffffu, (int)v, by);
}
TC_FN tc_f32 tc_shuffle_down(tc_f32 v, int by) { return __int_as_float(tc_shuffle_down(__float_as_int(v), by)); }
TC_FN tc_i64 tc_shuffle_down(tc_i64 v, int by) {
  const int lo = tc_shuffle_down((int)v, by), hi = tc_shuffle_down((int)(v >> 32), by);
  return (tc_i64)hi << 32 | (tc_u32)lo;
}
TC_FN tc_f64 tc_shuffle_down(tc_f64 v, int by) {
  return __longlong_as_double(tc_shuffle_down((tc_i64)__double_as_longlong(v), by));
}
template <class T> TC_FN T tc_shuffle_first(T v) { return (T)__shfl_sync(0xffffffffu, (int)v, 0, 32); }
TC_FN tc_f32 tc_shuffle_first(tc_f32 v) { return __int_as_float(tc_shuffle_first(__float_as_int(v))); }
TC_FN tc_i64 tc_shuffle_first(tc_i64 v) {
  const int lo = tc_shuffle_first((int)v), hi = tc_shuffle_first((int)(v >> 32));
  return (tc_i64)hi << 32 | (tc_u32)lo;
}
TC_FN tc_f64 tc_shuffle_first(tc_f64 v) {
  return __longlong_as_double(tc_shuffle_first((tc_i64)__double_as_longlong(v)));
}
/* @ tc_one */
template <class T> TC_FN tc_vec<T, 1> tc_one(T x) {
  tc_vec<T, 1> v;
  v.l[0] = x;
  return v;
}
/* @ tc_later */
/* Items: the one at hand in the lanes where `later` holds, elsewhere what was there. */
template <class I, int M, int N> TC_FN tc_vec<I, N> tc_later(const tc_vec<tc_b8, M> &later, I item, const tc_vec<I, N> &at) {
  tc_vec<I, N> r;
  TC_FOR_EACH(N, r.l[i] = TC_AT(later, i) ? item : at.l[i]);
  return r;
}
/* @ tc_across */
/* The combination of all lanes, as a tree. */
template <class T, int N, class F> TC_FN tc_vec<T, 1> tc_across(tc_vec<T, N> v, F f) {
  TC_UNROLL for (int s = N / 2; s > 0; s /= 2)
    TC_UNROLL for (int i = 0; i < s; ++i) v.l[i] = f(tc_one(v.l[i]), tc_one(v.l[i + s])).l[0];
  return tc_one(v.l[0]);
}
/* @ tc_combine TC_COMBINE */
#define TC_COMBINE(op, T) [](const auto &a, const auto &b) { return tc_##op##_##T(a, b); }
/* The combination of all lanes of all threads of the group, in every thread. */
template <class T, int N, class F>
TC_FN tc_vec<T, 1> tc_combine(const tc_rows &group, tc_vec<T, N> v, F f) {
  tc_vec<T, 1> x = tc_across(v, f);
  if (sizeof(T) > 8) /* tuples: code that is short, with registers for loads */
    for (int s = TC_MIN(group.size, 32) / 2; s > 0; s /= 2) x = f(x, tc_one(tc_shuffle(group.mask(), x.l[0], s)));
  else
    TC_UNROLL for (int s = 16; s > 0; s /= 2) {
      if ((!group.together || group.known) && s >= group.size) continue;
      const tc_vec<T, 1> y = tc_one(tc_shuffle(group.mask(), x.l[0], s));
      if (s < group.size) x = f(x, y);
    }
  if (group.size > 32) { /* two places, alternately: the last one is still read behind the barrier */
    enum { PLACE = 32, FEW = 8 }; /* 512 bytes: 32 warps, 16 bytes each */
    static_assert(sizeof(T) <= 16, "a tuple is larger than its place");
    T *const part = (T *)(tc_shared + group.place * PLACE);
    const int warps = group.size / 32;
    group.place ^= 1;
    if (group.t % 32 == 0) part[group.t / 32] = x.l[0];
    __syncthreads();
    x = tc_one(part[warps > FEW ? TC_MIN(group.t % 32, warps - 1) : 0]);
    if (warps > FEW) {
      for (int s = 16; s > 0; s /= 2) {
        const tc_vec<T, 1> y = tc_one(tc_shuffle_down(x.l[0], s));
        if (group.t % 32 + s < warps) x = f(x, y);
      }
      x = tc_one(tc_shuffle_first(x.l[0]));
    } else
      TC_UNROLL for (int w = 1; w < FEW; ++w)
        if (w < warps) x = f(x, tc_one(part[w]));
  }
  return x;
}
/* The combination, lane by lane, over the threads of a column: those of a warp as a tree, then the
 * results of all warps in order, each by one thread; lanes lie apart in shared memory, so that
 * neighbouring threads use neighbouring banks. */
template <class T, int N, class F>
TC_FN tc_vec<T, N> tc_combine(const tc_columns &group, tc_vec<T, N> v, F f) {
  if (group.size == 1) return v;
  const int threads = group.size * group.width, warp = TC_MIN(threads, 32);
  const tc_u32 mask = 0xffffffffu >> (32 - warp);
  TC_ROLLED for (int s = group.width; s < warp; s *= 2)
    TC_UNROLL for (int i = 0; i < N; ++i)
      v.l[i] = f(tc_one(v.l[i]), tc_one(tc_shuffle(mask, v.l[i], s))).l[0];
  const int shift = group.width < warp ? __ffs(warp) - 1 : group.shift;
  const int parts = threads >> shift, lanes = N * group.width;
  if (parts == 1) return v;
  T *const part = (T *)tc_shared;
  const int own = ((int)threadIdx.x >> shift) * lanes + group.x;
  __syncthreads();
  if (((int)threadIdx.x & ((1 << shift) - 1)) < group.width)
    TC_FOR_EACH(N, part[own + i * group.width] = v.l[i]);
  __syncthreads();
  TC_ROLLED for (int lane = (int)threadIdx.x; lane < lanes; lane += threads) {
    tc_vec<T, 1> x = tc_one(part[lane]);
    TC_ROLLED for (int w = 1; w < parts; ++w) x = f(x, tc_one(part[w * lanes + lane]));
    part[lane] = x.l[0];
  }
  __syncthreads();
  TC_FOR_EACH(N, v.l[i] = part[i * group.width + group.x]);
  return v;
}
/* @ tc_shuffle_up tc_shuffle_from */
template <class T> TC_FN T tc_shuffle_up(tc_u32 mask, T v, int by, int width) {
  return (T)__shfl_up_sync(mask, (int)v, by, width);
}
TC_FN tc_f32 tc_shuffle_up(tc_u32 mask, tc_f32 v, int by, int width) {
  return __int_as_float(__shfl_up_sync(mask, __float_as_int(v), by, width));
}
template <class T> TC_FN T tc_shuffle_from(tc_u32 mask, T v, int from, int width) {
  return (T)__shfl_sync(mask, (int)v, from, width);
}
TC_FN tc_f32 tc_shuffle_from(tc_u32 mask, tc_f32 v, int from, int width) {
  return __int_as_float(__shfl_sync(mask, __float_as_int(v), from, width));
}
TC_FN tc_i64 tc_shuffle_up(tc_u32 mask, tc_i64 v, int by, int width) {
  const int lo = __shfl_up_sync(mask, (int)v, by, width),
            hi = __shfl_up_sync(mask, (int)(v >> 32), by, width);
  return (tc_i64)hi << 32 | (tc_u32)lo;
}
TC_FN tc_f64 tc_shuffle_up(tc_u32 mask, tc_f64 v, int by, int width) {
  return __longlong_as_double(tc_shuffle_up(mask, (tc_i64)__double_as_longlong(v), by, width));
}
TC_FN tc_i64 tc_shuffle_from(tc_u32 mask, tc_i64 v, int from, int width) {
  const int lo = __shfl_sync(mask, (int)v, from, width),
            hi = __shfl_sync(mask, (int)(v >> 32), from, width);
  return (tc_i64)hi << 32 | (tc_u32)lo;
}
TC_FN tc_f64 tc_shuffle_from(tc_u32 mask, tc_f64 v, int from, int width) {
  return __longlong_as_double(tc_shuffle_from(mask, (tc_i64)__double_as_longlong(v), from, width));
}
/* @ tc_scan */
/* Running combination along the lanes of the group's threads in order; *carry comes in from what was
 * before and goes out.  A: type of the accumulator. */
template <class T, class A, int N, class F>
TC_FN tc_vec<T, N> tc_scan(const tc_rows &group, const tc_vec<T, N> &v, tc_vec<A, 1> *carry,
                           const tc_vec<A, 1> &identity, F f) {
  A sum[N];
  sum[0] = (A)v.l[0];
  TC_UNROLL for (int i = 1; i < N; ++i) sum[i] = f(tc_one(sum[i - 1]), tc_one((A)v.l[i])).l[0];
  const int width = TC_MIN(group.size, 32), lane = group.t % width;
  A all = sum[N - 1]; /* of this thread and those before it in the warp */
  for (int s = 1; s < width; s *= 2) {
    const A before = tc_shuffle_up(group.mask(), all, s, width);
    if (lane >= s) all = f(tc_one(before), tc_one(all)).l[0];
  }
  A before = tc_shuffle_up(group.mask(), all, 1, width);
  if (lane == 0) before = identity.l[0];
  A total = tc_shuffle_from(group.mask(), all, width - 1, width);
  if (group.size > 32) {
    A *const part = (A *)tc_shared; /* a nest with a scan has nothing else that is combined */
    __syncthreads();
    if (lane == 31) part[group.t / 32] = all;
    __syncthreads();
    A prior = identity.l[0];
    total = identity.l[0];
    TC_ROLLED for (int w = 0; w < group.size / 32; ++w) {
      if (w == group.t / 32) prior = total;
      total = f(tc_one(total), tc_one(part[w])).l[0];
    }
    before = f(tc_one(prior), tc_one(before)).l[0];
  }
  before = f(*carry, tc_one(before)).l[0];
  *carry = f(*carry, tc_one(total));
  tc_vec<T, N> r;
  TC_UNROLL for (int i = 0; i < N; ++i) r.l[i] = (T)f(tc_one(before), tc_one(sum[i])).l[0];
  return r;
}
