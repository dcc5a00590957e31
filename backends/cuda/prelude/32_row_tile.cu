/* @ tc_row_tile */
/* `n` elements of an array, from number `begin` on, in shared memory: as far from a boundary of 16 bytes as in memory,
 * so that both ends move 16 bytes at a time; those in front of the first boundary and behind the last one by one.
 * base: the array; most: elements that there is room for. */
template <class T, class I> struct tc_row_tile {
  enum { V = 16 / (int)sizeof(T), FLIGHT = 4 /* 16 bytes each, of a thread */ };
  T *memory, *tile;
  int n, head, whole; /* elements in front of the first boundary; 16 bytes behind it */
  template <class B>
  __device__ __forceinline__ tc_row_tile(B *base, I begin, I count, I most, uint4 **room) {
    memory = (T *)base + begin;
    const int away = (int)((tc_u64)memory % 16 / sizeof(T));
    tile = (T *)*room + away;
    *room += ((int)most + 2 * V - 1) / V;
    n = (int)count;
    head = TC_MIN(n, (V - away) % V);
    whole = (n - head) / V;
  }
  __device__ __forceinline__ T *at(int e) const { return tile + e; }
  /* Element e of those that are moved one by one. */
  __device__ __forceinline__ int single(int e) const { return e < head ? e : e + whole * V; }
  static __device__ __forceinline__ void copy(T *to, const T *from, int head, int whole) {
    uint4 *const t = (uint4 *)(to + head);
    const uint4 *const f = (const uint4 *)(from + head);
    const int step = (int)blockDim.x;
    for (int i = (int)threadIdx.x; i < whole; i += FLIGHT * step) {
      uint4 w[FLIGHT];
      TC_UNROLL for (int u = 0; u < FLIGHT; ++u)
        if (i + u * step < whole) w[u] = f[i + u * step];
      TC_UNROLL for (int u = 0; u < FLIGHT; ++u)
        if (i + u * step < whole) t[i + u * step] = w[u];
    }
  }
  __device__ __forceinline__ void copy(T *to, const T *from) const {
    copy(to, from, head, whole);
    for (int e = (int)threadIdx.x; e < n - whole * V; e += (int)blockDim.x) to[single(e)] = from[single(e)];
  }
  __device__ __forceinline__ void fill() const { copy(tile, memory); }
  /* From rows of `length` elements with `gap` between them. */
  __device__ __forceinline__ void fill(I length, I gap) const {
    if (gap == 0) {
      fill();
      return;
    }
    const tc_divisor<I> rows(length);
    const int step = (int)blockDim.x;
    for (int i = (int)threadIdx.x; i < n; i += FLIGHT * step) {
      T w[FLIGHT];
      TC_UNROLL for (int u = 0; u < FLIGHT; ++u) {
        I row = i + u * step;
        rows.split(&row);
        if (i + u * step < n) w[u] = memory[i + u * step + row * gap];
      }
      TC_UNROLL for (int u = 0; u < FLIGHT; ++u)
        if (i + u * step < n) tile[i + u * step] = w[u];
    }
  }
  __device__ __forceinline__ void drain() const { copy(memory, tile); }
};
