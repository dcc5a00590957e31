/* Chains of products by multiplications and additions of every thread.  Eight threads of a warp have the same rows, its
 * four groups of eight the same keys and columns: of rows ROWS each, 4 apart, of keys COLS, 8 apart, of columns as many as a
 * 16-byte access has, and again after eight of these. */
/* @ tc_row_at */
/* Where rows of WIDTH elements begin, so that neighbours of a column are in different banks. */
template <int WIDTH, class T = tc_f32> TC_FN constexpr int tc_row_at(int row) { return row * (WIDTH + 16 / (int)sizeof(T)); }
/* @ tc_copy_few */
#ifndef TC_EMULATED
/* LANES elements to shared memory, in the background, 16 bytes at most: `count` of them as they are at `from`, which is read no
 * further, the rest zeros. */
template <int LANES, class T> TC_FN void tc_copy_few(T *to, const T *from, int count) {
  constexpr int bytes = LANES * (int)sizeof(T);
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((tc_u32)__cvta_generic_to_shared(to)), "l"(from),
                 "r"(count * (int)sizeof(T))
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"((tc_u32)__cvta_generic_to_shared(to)), "l"(from),
                 "r"(count * (int)sizeof(T)), "n"(bytes)
                 : "memory");
}
#endif
/* @ tc_fma_column */
/* The i-th of the columns of thread x of eight. */
template <class T> TC_FN int tc_fma_column(int x, int i) {
  constexpr int V = 16 / (int)sizeof(T);
  return (i / V * 8 + x) * V + i % V;
}
/* @ tc_fma_inner */
/* sum[row][key] = the product of the thread's rows of a, which lie as WIDE elements each, and its rows of b. */
template <int ROWS, int COLS, int WIDE, class T> TC_FN void tc_fma_inner(T (&sum)[ROWS * COLS], const T *a, const T *b, int deep) {
  constexpr int V = 16 / (int)sizeof(T);
  TC_UNROLL for (int i = 0; i < ROWS * COLS; ++i) sum[i] = 0;
  _Pragma("unroll 2") for (int d = 0; d < deep; d += V) {
    tc_vec<T, V> left[ROWS];
    TC_UNROLL for (int i = 0; i < ROWS; ++i) left[i] = tc_loaded<V>(a + i * 4 * WIDE + d);
    TC_UNROLL for (int j = 0; j < COLS; ++j) {
      const tc_vec<T, V> right = tc_loaded<V>(b + j * 8 * WIDE + d);
      TC_UNROLL for (int l = 0; l < V; ++l)
        TC_UNROLL for (int i = 0; i < ROWS; ++i) sum[i * COLS + j] = tc_mad(left[i].l[l], right.l[l], sum[i * COLS + j]);
    }
  }
}
/* @ tc_fma_outer */
/* sum[row][column] += the product of the thread's rows of a, of LONG elements each, and its columns of b, which lies as [key][WIDE]. */
template <int ROWS, int COLUMNS, int LONG, int WIDE, class T>
TC_FN void tc_fma_outer(T (&sum)[ROWS * COLUMNS], const T *a, const T *b, int deep) {
  constexpr int V = 16 / (int)sizeof(T);
  _Pragma("unroll 2") for (int k = 0; k < deep; k += V) {
    tc_vec<T, V> left[ROWS];
    TC_UNROLL for (int i = 0; i < ROWS; ++i) left[i] = tc_loaded<V>(a + i * 4 * LONG + k);
    TC_UNROLL for (int l = 0; l < V; ++l)
      TC_UNROLL for (int j = 0; j < COLUMNS; j += V) {
        const tc_vec<T, V> right = tc_loaded<V>(b + (k + l) * WIDE + j * 8);
        TC_UNROLL for (int i = 0; i < ROWS; ++i)
          TC_UNROLL for (int c = 0; c < V; ++c)
            sum[i * COLUMNS + j + c] = tc_mad(left[i].l[l], right.l[c], sum[i * COLUMNS + j + c]);
      }
  }
}
