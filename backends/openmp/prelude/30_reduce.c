/* What reductions and scans over the lanes are made of (openmp/combine.c prints the functions from the table of
 * reductions), always by the same tree, so that results repeat bit for bit. */
/* @ TC_SWAP */
/* Lanes that are s apart, a power of two, change places. */
#define TC_SWAPPED(l, s, u) (((l) ^ (s)) & (TC_L - 1))
#define TC_SWAP(v, s) __builtin_shufflevector(v, v, TC_EACH(TC_SWAPPED, s, 0))
/* @ TC_LOWER TC_UPPER */
/* The lower, and the upper, halves of v and w, lane by lane in turn. */
#define TC_LOWERLANE(l, s, u) ((l) / 2 + ((l) % 2 ? TC_L : 0))
#define TC_UPPERLANE(l, s, u) (TC_L / 2 + (l) / 2 + ((l) % 2 ? TC_L : 0))
#define TC_LOWER(v, w) __builtin_shufflevector(v, w, TC_EACH(TC_LOWERLANE, 0, 0))
#define TC_UPPER(v, w) __builtin_shufflevector(v, w, TC_EACH(TC_UPPERLANE, 0, 0))
/* @ TC_SHIFT TC_LAST */
/* Lane l of v moves to lane l + s; the first s are those of w, all equal.  And the last lane, in all. */
#define TC_BEHIND(l, s, u) ((l) >= (s) ? (l) - (s) : TC_L)
#define TC_SHIFT(v, w, s) __builtin_shufflevector(v, w, TC_EACH(TC_BEHIND, s, 0))
#define TC_LASTLANE(l, s, u) (TC_L - 1)
#define TC_LAST(v) __builtin_shufflevector(v, v, TC_EACH(TC_LASTLANE, 0, 0))
