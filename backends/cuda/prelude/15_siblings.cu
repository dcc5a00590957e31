/* @ tc_siblings tc_blocks tc_find_sibling */
/* Siblings of a launch: their number; what they share; then of each the first of its blocks, and what is its own.
 * Blocks as a template sees them: those of its sibling. */
struct tc_siblings {
  tc_u64 word[512];
};
struct tc_blocks {
  unsigned x;
};
/* What is the own of the block's sibling begins at that word. */
TC_FN int tc_find_sibling(const tc_siblings &all, int shared, int own, tc_blocks *block, tc_blocks *blocks) {
  const int first = 1 + shared, step = 1 + own, n = (int)all.word[0];
  int low = 0, high = n; /* the block is one of siblings low .. high - 1 */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if ((unsigned)all.word[first + middle * step] <= blockIdx.x) low = middle;
    else high = middle;
  }
  const int at = first + low * step;
  const unsigned begin = (unsigned)all.word[at];
  block->x = blockIdx.x - begin;
  blocks->x = (low + 1 < n ? (unsigned)all.word[at + step] : gridDim.x) - begin;
  return at + 1;
}
