/* Sorting: where the first k elements of each row are in order.
 *
 * An element becomes a number: its key, which ascends as unsigned numbers do, above its place in the row.  These are all
 * different, so the order is total, whatever sorts them.  A block sorts numbers in shared memory by bitonic merging
 * (Batcher, Sorting networks and their applications, 1968), up to three steps at a time in registers: a thread has 8
 * numbers then.  Rows that find no room there are read once for each half of the room that is wanted: numbers behind
 * those that are done, and not behind the last one that is wanted so far, collect until there is no more room, and the
 * first of them are kept. */
/* @ tc_sort_rows */
struct tc_sort_wide { /* of elements of 8 bytes */
  tc_u64 key, place;
};
TC_FN bool tc_sort_less(tc_u64 a, tc_u64 b) { return a < b; }
TC_FN bool tc_sort_less(const tc_sort_wide &a, const tc_sort_wide &b) {
  return a.key < b.key || (a.key == b.key && a.place < b.place);
}
TC_FN tc_u64 tc_sort_number(tc_u32 key, tc_u32 place) { return (tc_u64)key << 32 | place; }
TC_FN tc_sort_wide tc_sort_number(tc_u64 key, tc_u32 place) {
  tc_sort_wide v;
  v.key = key, v.place = place;
  return v;
}
TC_FN tc_i64 tc_sort_place(tc_u64 v) { return (tc_i64)(tc_u32)v; }
TC_FN tc_i64 tc_sort_place(const tc_sort_wide &v) { return (tc_i64)v.place; }

/* -0 is 0, NaN is above infinity.  sign: the highest bit. */
template <class U> TC_FN U tc_sort_float(U bits, U sign, U infinity) {
  const U all = (U)(sign | (sign - 1)), size = (U)(bits & (sign - 1));
  const U key = (bits & sign) && size ? (U)(~bits & all) : (U)(size | sign);
  return size > infinity ? all : key;
}
TC_FN tc_u32 tc_sort_key(tc_f32 v) { return tc_sort_float<tc_u32>((tc_u32)__float_as_int(v), 0x80000000u, 0x7f800000u); }
TC_FN tc_u64 tc_sort_key(tc_f64 v) {
  return tc_sort_float<tc_u64>((tc_u64)__double_as_longlong(v), 0x8000000000000000ull, 0x7ff0000000000000ull);
}
TC_FN tc_u32 tc_sort_key(tc_f16 v) { return tc_sort_float<tc_u32>(v.bits, 0x8000u, 0x7c00u); }
TC_FN tc_u32 tc_sort_key(tc_bf16 v) { return tc_sort_float<tc_u32>(v.bits, 0x8000u, 0x7f80u); }
TC_FN tc_u32 tc_sort_key(tc_u8 v) { return v; }
TC_FN tc_u32 tc_sort_key(tc_i8 v) { return (tc_u32)v ^ 0x80000000u; }
TC_FN tc_u32 tc_sort_key(tc_i16 v) { return (tc_u32)v ^ 0x80000000u; }
TC_FN tc_u32 tc_sort_key(tc_i32 v) { return (tc_u32)v ^ 0x80000000u; }
TC_FN tc_u64 tc_sort_key(tc_i64 v) { return (tc_u64)v ^ 0x8000000000000000ull; }

/* Number i in shared memory: 8 neighbours of one thread are in other banks than those of the next. */
TC_FN int tc_sort_at(int i) { return i + i / 8; }

template <class N> TC_FN void tc_sort_exchange(N &a, N &b, bool up) {
  const bool swap = tc_sort_less(b, a) == up;
  const N first = swap ? b : a, second = swap ? a : b;
  a = first, b = second;
}
/* The last steps of a merge, at distances of `span / 2` to 1. */
template <int SPAN, class N, int COUNT> TC_FN void tc_sort_steps(N (&v)[COUNT], bool up) {
  TC_UNROLL for (int d = SPAN / 2; d > 0; d /= 2)
    TC_UNROLL for (int m = 0; m < COUNT; ++m)
      if (!(m & d)) tc_sort_exchange(v[m], v[m + d], up);
}
/* Runs of 8, every other one descending, and those of `whole` numbers ascending. */
template <class N> TC_FN void tc_sort_eights(N *a, int numbers, int whole) {
  for (int first = 8 * (int)threadIdx.x; first < numbers; first += 8 * (int)blockDim.x) {
    N v[8];
    TC_UNROLL for (int m = 0; m < 8; ++m) v[m] = a[tc_sort_at(first + m)];
    TC_UNROLL for (int m = 0; m < 8; m += 2) tc_sort_exchange(v[m], v[m + 1], !(m & 2));
    TC_UNROLL for (int d = 2; d > 0; --d)
      TC_UNROLL for (int m = 0; m < 8; ++m)
        if (!(m & d)) tc_sort_exchange(v[m], v[m + d], !(m & 4));
    tc_sort_steps<8>(v, whole == 8 || !(first & 8));
    TC_UNROLL for (int m = 0; m < 8; ++m) a[tc_sort_at(first + m)] = v[m];
  }
  __syncthreads();
}
/* Of a merge to runs of `size`, the steps at distances of SPAN / 2 to 1, times `step`. */
template <int SPAN, class N> TC_FN void tc_sort_merge(N *a, int numbers, int whole, int size, int step) {
  for (int t = (int)threadIdx.x; t < numbers / SPAN; t += (int)blockDim.x) {
    const int first = (t & -step) * SPAN | (t & (step - 1));
    N v[SPAN];
    TC_UNROLL for (int m = 0; m < SPAN; ++m) v[m] = a[tc_sort_at(first + m * step)];
    tc_sort_steps<SPAN>(v, size == whole || !(first & size));
    TC_UNROLL for (int m = 0; m < SPAN; ++m) a[tc_sort_at(first + m * step)] = v[m];
  }
  __syncthreads();
}
/* Runs of `whole`, a power of 2 from 8 on, of which `numbers` is a multiple. */
template <class N> TC_FN void tc_sort_numbers(N *a, int numbers, int whole) {
  __syncthreads();
  tc_sort_eights(a, numbers, whole);
  TC_ROLLED for (int size = 16; size <= whole; size *= 2) {
    int span = size;
    TC_ROLLED for (; span >= 8; span /= 8) tc_sort_merge<8>(a, numbers, whole, size, span / 8);
    if (span == 4) tc_sort_merge<4>(a, numbers, whole, size, 1);
    else if (span == 2) tc_sort_merge<2>(a, numbers, whole, size, 1);
  }
}

/* x[outer,n,inner], y[outer,k,inner]; points: outer * inner.  flip: all bits of a key, for descending order.  group:
 * numbers of a row, or a selection, in shared memory, and rows of a block above 32 bits; both powers of 2. */
template <class T, class K> struct tc_sort_job {
  const T *x;
  tc_i64 *y;
  tc_i64 points, n, inner, k;
  K flip;
  int whole, rows;
  typedef decltype(tc_sort_number(K(), 0u)) N;
  TC_MEMBER N number(tc_i64 point, tc_i64 j) const {
    const tc_i64 at = inner == 1 ? point * n + j : (point / inner * n + j) * inner + point % inner;
    return tc_sort_number((K)(tc_sort_key(x[at]) ^ flip), (tc_u32)j);
  }
  TC_MEMBER void store(tc_i64 point, tc_i64 p, const N &v) const {
    y[inner == 1 ? point * k + p : (point / inner * k + p) * inner + point % inner] = tc_sort_place(v);
  }
  static TC_MEMBER N last() { return tc_sort_number((K)~(K)0, 0xffffffffu); }
  /* Rows that are in shared memory as a whole; neighbouring threads have neighbours in memory. */
  TC_MEMBER void sort_rows(N *a) const {
    const int numbers = whole * rows, by_row = __ffs(whole) - 1, by_rows = __ffs(rows) - 1;
    for (tc_i64 first = (tc_i64)blockIdx.x * rows; first < points; first += (tc_i64)gridDim.x * rows) {
      for (int e = (int)threadIdx.x; e < numbers; e += (int)blockDim.x) {
        const int row = inner == 1 ? e >> by_row : e & (rows - 1), j = inner == 1 ? e & (whole - 1) : e >> by_rows;
        a[tc_sort_at(row * whole + j)] = first + row < points && j < n ? number(first + row, j) : last();
      }
      tc_sort_numbers(a, numbers, whole);
      for (int e = (int)threadIdx.x; e < rows * (int)k; e += (int)blockDim.x) {
        const int row = inner == 1 ? e / (int)k : e & (rows - 1), p = inner == 1 ? e % (int)k : e >> by_rows;
        if (first + row < points) store(first + row, p, a[tc_sort_at(row * whole + p)]);
      }
      __syncthreads();
    }
  }
  /* The first `wanted` of those that were collected; `held` becomes their number.  The last of them, or last(). */
  TC_MEMBER N keep(N *a, int *count, int &held, int wanted) const {
    int room = 8;
    while (room < held) room *= 2;
    for (int i = held + (int)threadIdx.x; i < room; i += (int)blockDim.x) a[tc_sort_at(i)] = last();
    tc_sort_numbers(a, room, room);
    const N bound = held < wanted ? last() : a[tc_sort_at(wanted - 1)];
    held = TC_MIN(held, wanted);
    if (threadIdx.x == 0) *count = held;
    __syncthreads();
    return bound;
  }
  /* Neighbours of a warp that are kept are neighbours of the collection. */
  TC_MEMBER void collect(N *a, int *count, const N &v, bool kept) const {
    const int lane = (int)threadIdx.x % 32;
    const tc_u32 mask = __ballot_sync(0xffffffffu, kept);
    int at = 0;
    if (lane == 0 && mask) at = atomicAdd(count, __popc(mask));
    at = __shfl_sync(0xffffffffu, at, 0, 32) + __popc(mask & ((1u << lane) - 1));
    if (kept) a[tc_sort_at(at)] = v;
  }
  /* The first `wanted` numbers of a row behind `from`, if any are done. */
  TC_MEMBER void select(N *a, int *count, tc_i64 point, int wanted, bool any, const N &from) const {
    enum { FLIGHT = 4 };
    const int step = TC_MIN(FLIGHT * (int)blockDim.x, whole / 2);
    int held = 0;
    N bound = last();
    if (threadIdx.x == 0) *count = 0;
    __syncthreads();
    for (tc_i64 base = 0; base < n; base += step) {
      N v[FLIGHT];
      TC_UNROLL for (int u = 0; u < FLIGHT; ++u) {
        const int own = u * (int)blockDim.x + (int)threadIdx.x;
        v[u] = own < step && base + own < n ? number(point, base + own) : last();
      }
      TC_UNROLL for (int u = 0; u < FLIGHT; ++u)
        collect(a, count, v[u], tc_sort_less(v[u], bound) && (!any || tc_sort_less(from, v[u])));
      __syncthreads();
      held = *count;
      __syncthreads();
      if (held > whole - step && base + step < n) bound = keep(a, count, held, wanted);
    }
    keep(a, count, held, wanted);
  }
  TC_MEMBER void select_rows(N *a, int *count) const {
    for (tc_i64 point = blockIdx.x; point < points; point += gridDim.x) {
      N from = last();
      for (tc_i64 done = 0; done < k;) {
        const int wanted = (int)TC_MIN((tc_i64)whole / 2, k - done);
        select(a, count, point, wanted, done > 0, from);
        for (int i = (int)threadIdx.x; i < wanted; i += (int)blockDim.x) store(point, done + i, a[tc_sort_at(i)]);
        from = a[tc_sort_at(wanted - 1)];
        done += wanted;
        __syncthreads();
      }
    }
  }
};
template <class T>
TC_FN void tc_sort_rows(const T *x, tc_i64 *y, tc_i64 points, tc_i64 n, tc_i64 inner, tc_i64 k, bool descending, tc_i64 group) {
  typedef decltype(tc_sort_key(T())) K;
  typedef typename tc_sort_job<T, K>::N N;
  const tc_sort_job<T, K> job = {x, y, points, n, inner, k, descending ? (K)~(K)0 : (K)0, (int)group, (int)(group >> 32)};
  N *const a = (N *)(tc_shared + 1);
  if (n <= job.whole) job.sort_rows(a);
  else job.select_rows(a, (int *)tc_shared);
}
