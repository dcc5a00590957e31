/* @ tc_scatter tc_match */
/* A point of a scatter that has its place, the index of its destination, in the block. */
template <class I> struct tc_match {
  I point, place;
};
/* Destinations of a scatter are a place, and one of `wide` neighbours that have indices of their own; points run along
 * these first.  Those of a block, and of each of its warps, are of equal residues.  group: how many blocks share
 * destinations out (16 bits), the parts of the slices, of which each block has one (16 bits), and the neighbours; all
 * but the parts are powers of 2.
 *
 * All threads look at U points each, again and again; found has those whose destination is the block's, in the order of
 * points.  Where it may not have room for the next round, and at the end, each warp does what is to be done for its own,
 * of which warps have about as many then: so every destination sees its points in order. */
template <class I, int U> struct tc_scatter {
  int lane, warp, warps, shift, width;
  unsigned blocks, own;
  I part, parts, neighbour;
  int *count; /* of each warp: matches in the round at hand */
  tc_match<I> *found;
  __device__ __forceinline__ tc_scatter(tc_i64 group) {
    lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    blocks = (unsigned)group & 0xffff, parts = (I)(group >> 16 & 0xffff);
    shift = __ffs((int)blocks) - 1, width = __ffs((int)(group >> 32)) - 1;
    const unsigned rest = blockIdx.x >> shift;
    own = blockIdx.x & (blocks - 1);
    part = (I)(rest % (unsigned)parts);
    neighbour = (I)(rest / (unsigned)parts) << width;
    count = (int *)tc_shared;
    found = (tc_match<I> *)(tc_shared + 8);
  }
  __device__ __forceinline__ I point(I base, int u) const { return base + (warp * U + u) * 32 + lane; }
  __device__ __forceinline__ I step() const { return (I)blockDim.x * U; }
  __device__ __forceinline__ bool has_room(int n) const { return n <= (int)step(); } /* for 2 * step() */
  __device__ __forceinline__ I points(I sources) const { return sources << width; }
  __device__ __forceinline__ I source(I point) const { return point >> width; }
  __device__ __forceinline__ I other(I point) const { return neighbour + (point & (((I)1 << width) - 1)); }
  /* The block's own part of so many slices, in multiples of a warp. */
  __device__ __forceinline__ I first(I slices) const { return part * each(slices) + lane; }
  __device__ __forceinline__ I end(I slices) const { return TC_MIN((part + 1) * each(slices), slices); }
  __device__ __forceinline__ I each(I slices) const { return TC_CEILDIV(TC_CEILDIV(slices, parts), 32) * 32; }
  __device__ __forceinline__ tc_u64 destination(I point, I place) const {
    return (tc_u64)place << width | (tc_u64)(other(point) - neighbour);
  }
  __device__ __forceinline__ bool owns(I point, I place) const {
    return ((unsigned)destination(point, place) & (blocks - 1)) == own;
  }
  __device__ __forceinline__ bool is_own(const tc_match<I> &m) const {
    return (int)(destination(m.point, m.place) >> shift & (unsigned)(warps - 1)) == warp;
  }
  /* Of the matches from number i on, the warp's own. */
  __device__ __forceinline__ tc_u32 own_of(int i, int n) const {
    return __ballot_sync(0xffffffffu, i + lane < n && is_own(found[TC_MIN(i + lane, n - 1)]));
  }
  /* place[u]: of point(base, u), or -1.  Matches found so far, behind `before` of them. */
  __device__ __forceinline__ int collect(I base, const I (&place)[U], int before) {
    tc_u32 mask[U];
    int n = 0, all = before;
    TC_UNROLL for (int u = 0; u < U; ++u) {
      mask[u] = __ballot_sync(0xffffffffu, place[u] >= 0);
      n += __popc(mask[u]);
    }
    if (lane == 0) count[warp] = n;
    __syncthreads();
    for (int w = 0; w < warps; ++w) {
      before += w < warp ? count[w] : 0;
      all += count[w];
    }
    TC_UNROLL for (int u = 0; u < U; ++u) {
      if (place[u] >= 0) found[before + __popc(mask[u] & ((1u << lane) - 1))] = {point(base, u), place[u]};
      before += __popc(mask[u]);
    }
    __syncthreads();
    return all;
  }
};
