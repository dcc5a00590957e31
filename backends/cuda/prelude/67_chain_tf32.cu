/* Chains of products of f32 on tensor cores.  Lane l of a warp has of sums of 16 x 8 rows l / 4 and l / 4 + 8, columns 2 (l % 4)
 * and the next; of A rows l / 4 and l / 4 + 8, of B column l / 4, of both l % 4 and l % 4 + 4 of 8 numbers of what is summed over:
 * which of them these are is ours to say, if A and B agree. */
/* @ tc_pair_at */
/* Where rows begin in pairs, of which four are in different banks by two elements of each of their columns. */
template <int WIDTH> TC_FN constexpr int tc_pair_at(int row) { return row / 2 * (WIDTH * 2 + 8) + row % 2 * WIDTH; }
/* @ tc_tf32_parts */
TC_FN void tc_tf32_put_parts(tc_f32 *to, tc_f32 *low, const tc_f32 (&x)[4]) {
  tc_vec<tc_f32, 4> high, rest;
  TC_UNROLL for (int e = 0; e < 4; ++e) {
    tc_u32 h, l;
    tc_tf32_split(h, l, x[e]);
    high.l[e] = __uint_as_float(h), rest.l[e] = __uint_as_float(l);
  }
  tc_stored<4>(to, high);
  tc_stored<4>(low, rest);
}
/* A tile of ROWS rows of WIDTH elements in both parts, of which the high ones take its place. */
template <int THREADS, int ROWS, int WIDTH> TC_FN void tc_tf32_parts(tc_f32 *tile, tc_f32 *low) {
  _Pragma("unroll 4") for (int item = (int)threadIdx.x * 4; item < ROWS * WIDTH; item += THREADS * 4) {
    const int at = tc_row_at<WIDTH>(item / WIDTH) + item % WIDTH;
    tc_tf32_put_parts(tile + at, low + at, tc_loaded<4>(tile + at).l);
  }
}
/* @ tc_tf32_pair_parts */
/* ... of pairs of rows, which a warp has by itself, and then both elements of a column beside each other. */
template <int THREADS, int ROWS, int WIDTH> TC_FN void tc_tf32_pair_parts(tc_f32 *tile, tc_f32 *low) {
  constexpr int LANES = TC_MIN(WIDTH / 4, 32), EACH = TC_CEILDIV(WIDTH, LANES * 4); /* of a pair, and four columns of a lane */
  constexpr int PAIRS = 32 / LANES;                                                 /* that a warp has at once */
  const int lane = (int)threadIdx.x % 32, column = lane % LANES * 4;
  TC_ROLLED for (int first = (int)threadIdx.x / 32 * PAIRS; first < ROWS / 2; first += THREADS / 32 * PAIRS) {
    const int pair = first + lane / LANES, at = tc_pair_at<WIDTH>(pair * 2);
    const bool live = lane / LANES < PAIRS && pair < ROWS / 2;
    tc_vec<tc_f32, 4> row[EACH][2] = {};
    TC_UNROLL for (int i = 0; i < EACH; ++i)
      TC_UNROLL for (int e = 0; e < 2; ++e)
        if (live && column + i * (LANES * 4) < WIDTH) row[i][e] = tc_loaded<4>(tile + at + e * WIDTH + column + i * (LANES * 4));
    __syncwarp();
    TC_UNROLL for (int i = 0; i < EACH; ++i)
      TC_UNROLL for (int h = 0; h < 4; h += 2) {
        const tc_f32 x[4] = {row[i][0].l[h], row[i][1].l[h], row[i][0].l[h + 1], row[i][1].l[h + 1]};
        const int to = at + (column + i * (LANES * 4) + h) * 2;
        if (live && column + i * (LANES * 4) < WIDTH) tc_tf32_put_parts(tile + to, low + to, x);
      }
  }
}
/* @ tc_tf32_add */
/* Operands of two steps of 8 numbers: of 16 rows of A, and of 8 columns of B. */
struct tc_tf32_a {
  tc_u32 high[2][4], low[2][4];
};
struct tc_tf32_b {
  tc_u32 high[2][2], low[2][2];
};
/* sum += a b.  Tensor cores round sums towards zero: what they add is few products, small ones first, and what joins that is
 * rounded to the nearest. */
TC_FN void tc_tf32_add(tc_f32 *sum, const tc_tf32_a &a, const tc_tf32_b &b) {
  tc_f32 part[4] = {};
  TC_UNROLL for (int s = 0; s < 2; ++s) tc_tf32_multiply(part, a.low[s], b.high[s]);
  TC_UNROLL for (int s = 0; s < 2; ++s) tc_tf32_multiply(part, a.high[s], b.low[s]);
  TC_UNROLL for (int s = 0; s < 2; ++s) tc_tf32_multiply(part, a.high[s], b.high[s]);
  TC_UNROLL for (int e = 0; e < 4; ++e) sum[e] += part[e];
}
/* @ tc_tf32_inner */
TC_FN void tc_tf32_fetch(tc_u32 *to, const tc_f32 *row) { tc_matrices<false>(to, (const unsigned short *)row); }
/* sum[16 rows][8 keys] = the product of the warp's rows of a, in parts if not RAW, and of b, in parts, of WIDTH elements each. */
template <bool RAW, int ROWS, int COLS, int WIDTH>
TC_FN void tc_tf32_inner(tc_f32 (&sum)[ROWS * COLS * 4], const tc_f32 *a, const tc_f32 *a_low, const tc_f32 *b, const tc_f32 *b_low, int deep) {
  const int lane = (int)threadIdx.x % 32;
  const int of_a = tc_row_at<WIDTH>(lane % 16) + lane / 16 * 4, of_b = tc_row_at<WIDTH>(lane % 8) + lane / 8 * 4;
  TC_UNROLL for (int i = 0; i < ROWS * COLS * 4; ++i) sum[i] = 0;
  _Pragma("unroll 2") for (int d = 0; d < deep; d += 16) {
    tc_tf32_a left[ROWS];
    TC_UNROLL for (int i = 0; i < ROWS; ++i)
      TC_UNROLL for (int s = 0; s < 2; ++s) {
        const int at = of_a + tc_row_at<WIDTH>(i * 16) + d + s * 8;
        tc_tf32_fetch(left[i].high[s], a + at);
        if (!RAW) tc_tf32_fetch(left[i].low[s], a_low + at);
        TC_UNROLL for (int e = 0; e < 4 && RAW; ++e) tc_tf32_split(left[i].high[s][e], left[i].low[s][e], __uint_as_float(left[i].high[s][e]));
      }
    TC_UNROLL for (int j = 0; j < COLS; ++j) {
      tc_tf32_b right;
      const int at = of_b + tc_row_at<WIDTH>(j * 8) + d;
      tc_tf32_fetch(right.high[0], b + at);
      tc_tf32_fetch(right.low[0], b_low + at);
      TC_UNROLL for (int i = 0; i < ROWS; ++i) tc_tf32_add(&sum[(i * COLS + j) * 4], left[i], right);
    }
  }
}
/* @ tc_tf32_outer */
/* A thread's two keys of 8 are neighbours, as those of scores are.  B lies as rows, or as pairs of them. */
template <bool PAIRS, int WIDTH> TC_FN void tc_tf32_keys(tc_u32 *to, const tc_f32 *b, int key) {
  if constexpr (PAIRS) {
    const tc_vec<tc_f32, 2> x = tc_loaded<2>(b + tc_pair_at<WIDTH>(key));
    TC_UNROLL for (int e = 0; e < 2; ++e) to[e] = (tc_u32)__float_as_int(x.l[e]);
  } else
    TC_UNROLL for (int e = 0; e < 2; ++e) to[e] = (tc_u32)__float_as_int(b[tc_row_at<WIDTH>(key + e)]);
}
/* sum[16 rows][8 columns] += the product of scores and of b, in parts, which lies as [key][WIDTH]. */
template <bool PAIRS, int ROWS, int COLS, int N, int WIDTH>
TC_FN void tc_tf32_outer(tc_f32 (&sum)[ROWS * (N / 2)], const tc_f32 (&score)[ROWS * COLS * 4], const tc_f32 *b, const tc_f32 *b_low, int deep) {
  const int lane = (int)threadIdx.x % 32, column = lane / 4 * (PAIRS ? 2 : 1), own = lane % 4 * 2;
  TC_UNROLL for (int k = 0; k < COLS; k += 2) {
    if (k * 8 >= deep) break;
    tc_tf32_a left[ROWS];
    TC_UNROLL for (int i = 0; i < ROWS; ++i)
      TC_UNROLL for (int e = 0; e < 8; ++e) {
        const int to = e % 2 * 2 + e / 2 % 2;
        tc_tf32_split(left[i].high[e / 4][to], left[i].low[e / 4][to], score[(i * COLS + k) * 4 + e]);
      }
    TC_UNROLL for (int n = 0; n < N / 8; ++n) {
      tc_tf32_b right;
      TC_UNROLL for (int s = 0; s < 2; ++s) {
        const int at = column + n * (PAIRS ? 16 : 8), key = (k + s) * 8 + own;
        tc_tf32_keys<PAIRS, WIDTH>(right.high[s], b + at, key);
        tc_tf32_keys<PAIRS, WIDTH>(right.low[s], b_low + at, key);
      }
      TC_UNROLL for (int i = 0; i < ROWS; ++i) tc_tf32_add(&sum[(i * (N / 8) + n) * 4], left[i], right);
    }
  }
}
