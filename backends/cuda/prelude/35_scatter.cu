/* @ tc_scatter tc_match */
/* A point of a scatter that has its place, the index of its destination, in the block. */
template <class I> struct tc_match {
  I point, place;
};
/* The destinations of a block, and of each of its warps, are those of equal residues.  group: how many blocks share
 * them out, a power of 2, and above 32 bits the parts of the slices, of which each block has one.
 *
 * All threads look at U points each; found has those whose place is in the block, in the order of points, and then
 * each warp does what is to be done for its own: so every destination sees its points in order. */
template <class I, int U> struct tc_scatter {
  int lane, warp, warps, shift;
  unsigned blocks, own;
  I part, parts;
  int *count; /* of each warp: matches in the round at hand */
  tc_match<I> *found;
  __device__ __forceinline__ tc_scatter(tc_i64 group) {
    lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    blocks = (unsigned)group, parts = (I)(group >> 32);
    shift = __ffs((int)blocks) - 1;
    own = blockIdx.x & (blocks - 1);
    part = (I)(blockIdx.x >> shift);
    count = (int *)tc_shared;
    found = (tc_match<I> *)(tc_shared + 8);
  }
  __device__ __forceinline__ I point(I base, int u) const { return base + (warp * U + u) * 32 + lane; }
  __device__ __forceinline__ I step() const { return (I)blockDim.x * U; }
  /* The block's own part of so many slices, in multiples of a warp. */
  __device__ __forceinline__ I first(I slices) const { return part * each(slices) + lane; }
  __device__ __forceinline__ I end(I slices) const { return TC_MIN((part + 1) * each(slices), slices); }
  __device__ __forceinline__ I each(I slices) const { return TC_CEILDIV(TC_CEILDIV(slices, parts), 32) * 32; }
  __device__ __forceinline__ bool owns(I place) const { return ((unsigned)place & (blocks - 1)) == own; }
  __device__ __forceinline__ bool is_own(const tc_match<I> &m) const {
    return (int)((tc_u64)m.place >> shift & (unsigned)(warps - 1)) == warp;
  }
  /* place[u]: of point(base, u), or -1.  The number of matches found. */
  __device__ __forceinline__ int collect(I base, const I (&place)[U]) {
    tc_u32 mask[U];
    int n = 0, before = 0, all = 0;
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
