/* @ tc_place_f32 */
/* As tc_place, of f32: 32 elements of each row.  Where rows are of k, they lie one after the other, 8 elements apart: what
 * four of them have of 8 columns is in different banks. */
template <int ROWS, int WIDTH, bool by_k> TC_FN int tc_place_f32(int row, int at) {
  if (by_k) return row * 32 + (((at >> 2) ^ (row & 7)) << 2) + (at & 3);
  return row * (WIDTH + 8) + at;
}
/* @ tc_square_f32 */
/* As tc_square, of f32: tiles at 32 elements of k.  A warp has HIGH x WIDE sums.  Tensor cores round sums towards zero: what they
 * add is the products of 16 of k, small ones first, and what joins a sum is rounded to the nearest.
 *
 * What parts of an infinite factor make is NaN, and so is what is beyond the largest number when it is rounded: sums that are not
 * finite are made again, by multiplications and additions. */
template <int M, int N, int GROUPS, bool a_by_k, bool b_by_k> struct tc_square_f32 {
  enum { HIGH = M / GROUPS / 2, WIDE = N / 2, DEEP = 32 }; /* of a warp: four are two by two */
  static constexpr int behind = 0;
  tc_f32 sum[HIGH / 16][WIDE / 8][4];
  bool exact; /* by multiplications and additions */
  TC_MEMBER tc_square_f32() : exact(false) { clear(); }
  TC_MEMBER void clear() {
    TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
      TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
        TC_UNROLL for (int e = 0; e < 4; ++e) sum[i][j][e] = 0;
  }
  static TC_MEMBER int lane() { return (int)threadIdx.x % 32; }
  static TC_MEMBER int row() { return (int)threadIdx.x / 64 * HIGH; }
  static TC_MEMBER int column() { return (int)threadIdx.x / 32 % 2 * WIDE; }
  static TC_MEMBER tc_f32 of_a(const tc_f32 *a, int m, int k) {
    return a[a_by_k ? tc_place_f32<M, DEEP, true>(m, k) : tc_place_f32<DEEP, M, false>(k, m)];
  }
  static TC_MEMBER tc_f32 of_b(const tc_f32 *b, int n, int k) {
    return b[b_by_k ? tc_place_f32<N, DEEP, true>(n, k) : tc_place_f32<DEEP, N, false>(k, n)];
  }
  /* Of 8 of k, what the lane has of 16 rows from m on, and of twice 8 columns from n on. */
  static TC_MEMBER void fetch_a(tc_u32 *x, const tc_f32 *a, int m, int k) {
    if (a_by_k) tc_matrices<false>(x, (const unsigned short *)(a + tc_place_f32<M, DEEP, true>(m + lane() % 16, k + lane() / 16 * 4)));
    else TC_UNROLL for (int e = 0; e < 4; ++e) x[e] = (tc_u32)__float_as_int(of_a(a, m + lane() / 4 + e % 2 * 8, k + lane() % 4 + e / 2 * 4));
  }
  static TC_MEMBER void fetch_b(tc_u32 *x, const tc_f32 *b, int n, int k) {
    if (b_by_k) tc_matrices<false>(x, (const unsigned short *)(b + tc_place_f32<N, DEEP, true>(n + lane() / 16 * 8 + lane() % 8, k + lane() / 8 % 2 * 4)));
    else TC_UNROLL for (int e = 0; e < 4; ++e) x[e] = (tc_u32)__float_as_int(of_b(b, n + lane() / 4 + e / 2 * 8, k + lane() % 4 + e % 2 * 4));
  }
  template <int COUNT> static TC_MEMBER void split(tc_u32 (&high)[COUNT], tc_u32 (&low)[COUNT]) {
    TC_UNROLL for (int e = 0; e < COUNT; ++e) tc_tf32_split(high[e], low[e], __uint_as_float(high[e]));
  }
  typedef tc_u32 rows_t[2][2][4], columns_t[2][WIDE / 16][4]; /* of 16 of k: of A, 32 rows, and of B, all columns */
  /* Products that follow one another are of different sums. */
  static TC_MEMBER void add_products(tc_f32 (&part)[2][WIDE / 8][4], const rows_t &left, const columns_t &right) {
    TC_UNROLL for (int s = 0; s < 2; ++s)
      TC_UNROLL for (int h = 0; h < 2; ++h)
        TC_UNROLL for (int j = 0; j < WIDE / 8; ++j) tc_tf32_multiply(part[h][j], left[s][h], &right[s][j / 2][j % 2 * 2]);
  }
  TC_MEMBER void add_rows(int i, const rows_t &left, const rows_t &left_low, const columns_t &right, const columns_t &right_low) {
    tc_f32 part[2][WIDE / 8][4] = {};
    add_products(part, left_low, right);
    add_products(part, left, right_low);
    add_products(part, left, right);
    TC_UNROLL for (int h = 0; h < 2; ++h)
      TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
        TC_UNROLL for (int e = 0; e < 4; ++e) sum[i + h][j][e] += part[h][j][e];
  }
  TC_MEMBER void multiply_parts(const tc_f32 *a, const tc_f32 *b) {
    TC_ROLLED for (int k = 0; k < DEEP; k += 16) {
      columns_t right, right_low;
      TC_UNROLL for (int s = 0; s < 2; ++s)
        TC_UNROLL for (int j = 0; j < WIDE / 16; ++j) fetch_b(right[s][j], b, column() + j * 16, k + s * 8), split(right[s][j], right_low[s][j]);
      TC_UNROLL for (int i = 0; i < HIGH / 16; i += 2) {
        rows_t left, left_low;
        TC_UNROLL for (int s = 0; s < 2; ++s)
          TC_UNROLL for (int h = 0; h < 2; ++h) fetch_a(left[s][h], a, row() + i * 16 + h * 16, k + s * 8), split(left[s][h], left_low[s][h]);
        add_rows(i, left, left_low, right, right_low);
      }
    }
  }
  /* Thread l of a warp holds rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next, of every 16 x 8. */
  static TC_MEMBER int own_row(int i, int e) { return row() + i * 16 + e / 2 * 8 + lane() / 4; }
  static TC_MEMBER int own_column(int j, int e) { return column() + j * 8 + lane() % 4 * 2 + e % 2; }
  TC_MEMBER void multiply_exactly(const tc_f32 *a, const tc_f32 *b) {
    TC_ROLLED for (int k = 0; k < DEEP; ++k)
      TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
        TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
          TC_UNROLL for (int e = 0; e < 4; ++e) sum[i][j][e] = tc_mad(of_a(a, own_row(i, e), k), of_b(b, own_column(j, e), k), sum[i][j][e]);
  }
  TC_MEMBER void ready() {}
  TC_MEMBER void start(const tc_f32 *, const tc_f32 *) {}
  TC_MEMBER void finish(const tc_f32 *a, const tc_f32 *b) {
    if (exact) multiply_exactly(a, b);
    else multiply_parts(a, b);
  }
  TC_MEMBER void end() {}
  /* Are the sums to be made again? */
  TC_MEMBER bool again() {
    if (exact) return false;
    tc_f32 none[4] = {}; /* NaN where a sum is not finite */
    TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
      TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
        TC_UNROLL for (int e = 0; e < 4; ++e) none[e] = tc_mad(sum[i][j][e], 0.0f, none[e]);
    exact = __syncthreads_or(!(none[0] + none[1] + none[2] + none[3] == 0));
    if (exact) clear();
    return exact;
  }
  template <int LONG, class F> TC_MEMBER void leave(tc_f32 *to, const F &shift) const {
    TC_UNROLL for (int i = 0; i < HIGH / 16; ++i)
      TC_UNROLL for (int half = 0; half < 4; half += 2) {
        const int r = own_row(i, half);
        tc_f32 *const at = to + r * LONG + shift(r);
        TC_UNROLL for (int j = 0; j < WIDE / 8; ++j)
          TC_UNROLL for (int e = 0; e < 2; ++e) at[own_column(j, e)] = sum[i][j][half + e];
      }
  }
};
