/* What micro-kernels and packers of the matrix product are made of. */
/* @ tc_mm_opaque */
/* The compiler forgets where p came from. */
#define tc_mm_opaque(p) __asm__("" : "+r"(p))
/* @ tc_mm_pairs tc_mm_sums tc_mm_bf16_splat tc_mm_bf16_half tc_mm_store_sums */
#if TC_ISA >= TC_LEVEL_bf16
/* Pairs of bf16 at neighbouring k, one in every lane of the sums. */
typedef __bf16 tc_mm_pairs __attribute__((vector_size(64)));
typedef float tc_mm_sums __attribute__((vector_size(64)));
TC_FN tc_mm_pairs tc_mm_bf16_splat(const char *p) {
  typedef uint32_t word __attribute__((aligned(1), may_alias));
  typedef uint32_t words __attribute__((vector_size(64)));
  return (tc_mm_pairs)(*(const word *)p - (words){0});
}
/* The first of a pair, and zeros. */
TC_FN tc_mm_pairs tc_mm_bf16_half(const char *p) {
  typedef tc_u16 half __attribute__((aligned(1), may_alias));
  typedef uint32_t words __attribute__((vector_size(64)));
  return (tc_mm_pairs)((uint32_t)*(const half *)p - (words){0});
}
/* Two vectors of sums, rounded, as one. */
TC_FN void tc_mm_store_sums(char *p, tc_mm_sums first, tc_mm_sums second) {
  const __auto_type rounded = __builtin_ia32_cvtne2ps2bf16_512(second, first);
  __builtin_memcpy(p, &rounded, sizeof rounded);
}
#endif
/* @ tc_mm_amx_tile tc_mm_amx_begin tc_mm_amx_end */
#if TC_ISA == TC_LEVEL_amx
/* All eight tiles are 16 rows of 64 bytes: 0..3 sums, 4..5 rows of A, 6..7 rows of pairs of B.  The
 * numbers of tiles are part of the instruction, so the four products are written out.  A panel of B
 * meets one panel of A after the other: A is loaded as what will not be used again soon, so that
 * it does not drive B out of the first-level cache. */
static void tc_mm_amx_begin(void) {
  struct {
    tc_u8 palette, start, reserved[14];
    tc_u16 bytes[16];
    tc_u8 rows[16];
  } config = {.palette = 1};
  for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
  __builtin_ia32_tile_loadconfig(&config);
}
static void tc_mm_amx_end(void) { __builtin_ia32_tilerelease(); }
TC_FN void tc_mm_amx_tile(const int mr, const int nv, int64_t k, const char *a, int64_t rs,
                          int64_t ks, const char *b, int64_t bs, char *c, int64_t cs, int add,
                          const char *prefetch, int64_t as) {
  const int tall = mr > 16, broad = nv > 1;
  if (add & TC_MM_ADD) {
    __builtin_ia32_tileloadd64(0, c, cs);
    if (broad) __builtin_ia32_tileloadd64(1, c + 64, cs);
    if (tall) __builtin_ia32_tileloadd64(2, c + 16 * cs, cs);
    if (tall && broad) __builtin_ia32_tileloadd64(3, c + 16 * cs + 64, cs);
  } else if (!(add & TC_MM_KEEP)) {
    __builtin_ia32_tilezero(0);
    __builtin_ia32_tilezero(1);
    __builtin_ia32_tilezero(2);
    __builtin_ia32_tilezero(3);
  }
  for (; k > 0; k -= 16, a += 16 * ks, b += 16 * bs, prefetch += 4 * as) {
    TC_UNROLL for (int i = 0; i < 4; ++i) __builtin_prefetch(prefetch + i * as, 0, 2);
    __builtin_ia32_tileloadd64(6, b, bs);
    __builtin_ia32_tileloaddt164(4, a, rs);
    if (broad) __builtin_ia32_tileloadd64(7, b + 64, bs);
    if (tall) __builtin_ia32_tileloaddt164(5, a + 16 * rs, rs);
    __builtin_ia32_tdpbf16ps(0, 4, 6);
    if (broad) __builtin_ia32_tdpbf16ps(1, 4, 7);
    if (tall) __builtin_ia32_tdpbf16ps(2, 5, 6);
    if (tall && broad) __builtin_ia32_tdpbf16ps(3, 5, 7);
  }
  if (add & TC_MM_OPEN) return;
  __builtin_ia32_tilestored64(0, c, cs);
  if (broad) __builtin_ia32_tilestored64(1, c + 64, cs);
  if (tall) __builtin_ia32_tilestored64(2, c + 16 * cs, cs);
  if (tall && broad) __builtin_ia32_tilestored64(3, c + 16 * cs + 64, cs);
}
#endif
/* @ TC_MM_TRANSPOSE */
/* Transposition of TC_L x TC_L words: interleaving the halves of the list of rows, log2(TC_L)
 * times. */
#if TC_L == 16
#define TC_MM_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define TC_MM_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif TC_L == 8
#define TC_MM_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define TC_MM_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define TC_MM_LOW 0, 4, 1, 5
#define TC_MM_HIGH 2, 6, 3, 7
#endif
/* transpose: dst[j][i] = src[i][j] for j < rows, i < n; ss and ds bytes between rows, of which src has
 * TC_L. */
#define TC_MM_TRANSPOSE(T)                                                                              \
  TC_SLOW void tc_mm_##T##_transpose(const char *src, int64_t ss, char *dst, int64_t ds,           \
                                     int64_t rows, int64_t n) {                                    \
    tc_v##T x[TC_L], y[TC_L];                                                                      \
    TC_UNROLL for (int i = 0; i < TC_L; ++i) __builtin_memcpy(&x[i], src + i * ss, sizeof x[i]);   \
    TC_UNROLL for (int half = 1; half < TC_L; half *= 2) {                                         \
      TC_UNROLL for (int i = 0; i < TC_L; ++i) y[i] =                                              \
          i % 2 ? __builtin_shufflevector(x[i / 2], x[i / 2 + TC_L / 2], TC_MM_HIGH)               \
                : __builtin_shufflevector(x[i / 2], x[i / 2 + TC_L / 2], TC_MM_LOW);               \
      TC_UNROLL for (int i = 0; i < TC_L; ++i) x[i] = y[i];                                        \
    }                                                                                              \
    tc_mm_##T##_put(x, dst, ds, rows, n);                                                          \
  }
/* @ TC_MM_PUT TC_MM_TRANSPOSE_PADDED */
/* put: the first n of `rows` vectors of elements of S bytes to rows ds apart. */
#define TC_MM_PUT(T, S)                                                                            \
  TC_FN void tc_mm_##T##_put(const tc_v##T *x, char *dst, int64_t ds, int64_t rows, int64_t n) {   \
    if (rows == TC_L && n == TC_L) {                                                               \
      TC_UNROLL for (int i = 0; i < TC_L; ++i) __builtin_memcpy(dst + i * ds, &x[i], sizeof x[i]); \
      return;                                                                                      \
    }                                                                                              \
    tc_v##T y[TC_L];                                                                               \
    __builtin_memcpy(y, x, sizeof y);                                                              \
    for (int64_t i = 0; i < rows; ++i) tc_maskstore_##S(dst + i * ds, &y[i], n);                   \
  }
/* transpose_padded: the same where src has only `bytes` of each of `lanes` rows; what is missing is zero. */
#define TC_MM_TRANSPOSE_PADDED(T, S)                                                                         \
  TC_FN void tc_mm_##T##_transpose_padded(const char *src, int64_t ss, char *dst, int64_t ds,      \
                                          int64_t bytes, int64_t lanes, int64_t n) {               \
    const int64_t words = bytes / S, rest = bytes % S;                                             \
    if (words == TC_L && lanes == TC_L) {                                                          \
      tc_mm_##T##_transpose(src, ss, dst, ds, TC_L, n);                                            \
      return;                                                                                      \
    }                                                                                              \
    tc_v##T t[TC_L] = {0};                                                                         \
    for (int64_t i = 0; i < lanes; ++i) tc_maskload_##S(&t[i], src + i * ss, words);               \
    for (int64_t i = 0; rest && i < lanes; ++i)                                                    \
      __builtin_memcpy((char *)&t[i] + words * S, src + i * ss + words * S, rest);                 \
    tc_mm_##T##_transpose((const char *)t, sizeof t[0], dst, ds, words + (rest > 0), n);           \
  }
/* @ tc_mm_u16_transpose tc_mm_u16_transpose_padded */
TC_MM_PUT(u16, 2)
TC_MM_TRANSPOSE(u16)
TC_MM_TRANSPOSE_PADDED(u16, 2)
/* @ tc_mm_u64_transpose tc_mm_u64_transpose_padded */
TC_MM_PUT(u64, 8)
TC_MM_TRANSPOSE(u64)
TC_MM_TRANSPOSE_PADDED(u64, 8)
/* @ tc_mm_u32_pieces tc_mm_u32_cross */
/* Words of 4 bytes.  Loading puts pieces of four words of rows 0, 4, 8, .. side by side: insertions
 * from memory, which keep the port for shuffles free.  What remains are transpositions of 4 x 4
 * words in each 16 bytes: of the words 0 .. 3 of a piece from two vectors. */
#if TC_L == 16
#define TC_MM_PIECES(a, b, c, d)                                                                   \
  a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, d + 12
#elif TC_L == 8
#define TC_MM_PIECES(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4
#else
#define TC_MM_PIECES(a, b, c, d) a, b, c, d
#endif
TC_FN tc_vu32 tc_mm_u32_pieces(const char *src, int64_t ss) {
  tc_vu32 x;
  TC_UNROLL for (int i = 0; i < TC_L / 4; ++i)
      __builtin_memcpy((char *)&x + 16 * i, src + 4 * i * ss, 16);
  return x;
}
/* In each 16 bytes: word k of vector i changes places with word i of vector k. */
TC_FN void tc_mm_u32_cross(tc_vu32 *x) {
  const tc_vu32 a = __builtin_shufflevector(x[0], x[1], TC_MM_PIECES(0, TC_L, 1, TC_L + 1));
  const tc_vu32 b = __builtin_shufflevector(x[0], x[1], TC_MM_PIECES(2, TC_L + 2, 3, TC_L + 3));
  const tc_vu32 c = __builtin_shufflevector(x[2], x[3], TC_MM_PIECES(0, TC_L, 1, TC_L + 1));
  const tc_vu32 d = __builtin_shufflevector(x[2], x[3], TC_MM_PIECES(2, TC_L + 2, 3, TC_L + 3));
  x[0] = __builtin_shufflevector(a, c, TC_MM_PIECES(0, 1, TC_L, TC_L + 1));
  x[1] = __builtin_shufflevector(a, c, TC_MM_PIECES(2, 3, TC_L + 2, TC_L + 3));
  x[2] = __builtin_shufflevector(b, d, TC_MM_PIECES(0, 1, TC_L, TC_L + 1));
  x[3] = __builtin_shufflevector(b, d, TC_MM_PIECES(2, 3, TC_L + 2, TC_L + 3));
}
/* @ tc_mm_u32_transpose tc_mm_u32_transpose_padded */
TC_MM_PUT(u32, 4)
TC_SLOW void tc_mm_u32_transpose(const char *src, int64_t ss, char *dst, int64_t ds, int64_t rows,
                                 int64_t n) {
  tc_vu32 x[TC_L];
  TC_UNROLL for (int i = 0; i < TC_L; i += 4, src += 16) {
    TC_UNROLL for (int k = 0; k < 4; ++k) x[i + k] = tc_mm_u32_pieces(src + k * ss, ss);
    tc_mm_u32_cross(&x[i]);
  }
  tc_mm_u32_put(x, dst, ds, rows, n);
}
TC_MM_TRANSPOSE_PADDED(u32, 4)
/* @ tc_mm_u32_block */
/* dst[j][i] = src[i][j] of words of 4 bytes, of TC_L rows, or of `all` where these are fewer; ss and ds bytes between rows.
 * Pieces of four words are loaded where none reaches past the last one of all rows; `exact`: no more rows than that are written
 * to dst, else a multiple of four; `ahead`: the next block, which follows this one, is prefetched. */
TC_FN void tc_mm_u32_block(const char *src, int64_t ss, char *dst, int64_t ds, int64_t cols, int64_t all, int exact, int ahead) {
  enum { S = 4, piece = 4 };
  const char *from = src;
  const int64_t over = (piece - cols % piece) % piece * S;
  const int pieces = cols > 1 && over <= (all - TC_L) * ss; /* the last one, too */
  const int64_t whole = all < TC_L ? 0 : pieces ? cols : cols / piece * piece;
  int64_t j = 0;
  for (; j < whole; j += piece, src += piece * S) {
    tc_vu32 x[piece];
    if (ahead)
      TC_UNROLL for (int i = 0; i < piece; ++i)
        __builtin_prefetch((const char *)((uintptr_t)from + (uintptr_t)(TC_L * (ss + (j + i) * S))));
    TC_UNROLL for (int i = 0; i < piece; ++i) x[i] = tc_mm_u32_pieces(src + i * ss, ss);
    tc_mm_u32_cross(x);
    TC_UNROLL for (int i = 0; i < piece; ++i, dst += ds)
      if (!exact || i == 0 || i < cols - j) __builtin_memcpy(dst, &x[i], sizeof x[i]);
  }
  for (; j < cols; ++j, src += S, dst += ds) {
    const void *p = src;
    const tc_vi32 v = all < TC_L ? tc_rawstrided_i32(p, ss / S, all) : ss == S ? tc_rawload_i32(p) : tc_rawstrided_i32(p, ss / S, TC_L);
    __builtin_memcpy(dst, &v, sizeof v);
  }
}
/* @ tc_tile_fetch TC_TILE_IS_FAR */
/* Of an array of `all` rows ss bytes apart, which tiles have `high` of: does a cache not hold it, are its rows more, and further
 * apart, than hardware prefetchers follow, and do those of a tile, a power of two apart, not share the sets of a cache? */
#define TC_TILE_IS_FAR(ss, all, high)                                                              \
  ((all) > 16 && (ss) >= 512 && (ss) * (all) > 1 << 20 && ((ss) & -(ss)) * (high) <= 1 << 17)
/* Asks for the second next tile along the same rows, `bytes` of each. */
TC_SLOW void tc_tile_fetch(const char *src, int64_t ss, int64_t rows, int64_t bytes) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t line = 0; line < bytes; line += TC_LINE)
      __builtin_prefetch((const char *)((uintptr_t)src + (uintptr_t)(i * ss + 2 * bytes + line)));
}
/* @ TC_TILE */
/* tile: dst[j][i] = src[i][j] for i < rows, j < cols; ss and ds bytes between rows, those of dst a number of whole vectors.  Few
 * columns are loaded element by element: transposing takes as long for all of a vector. */
#define TC_TILE(T, S, TRANSPOSE, STRIDED)                                                          \
  TC_SLOW void tc_tile_##T(const char *src, int64_t ss, char *dst, int64_t ds, int64_t rows, int64_t cols) { \
    if (cols <= TC_L / 2) {                                                                        \
      for (int64_t j = 0; j < cols; ++j)                                                           \
        for (int64_t i = 0; i < rows; i += TC_L) {                                                 \
          const void *p = src + i * ss + j * S;                                                    \
          const __auto_type v = rows - i < TC_L ? STRIDED(p, ss / S, rows - i) : STRIDED(p, ss / S, TC_L); \
          __builtin_memcpy(dst + j * ds + i * S, &v, sizeof v);                                    \
        }                                                                                          \
      return;                                                                                      \
    }                                                                                              \
    for (int64_t i = 0; i < rows; i += TC_L)                                                       \
      for (int64_t j = 0; j < cols; j += TC_L)                                                     \
        TRANSPOSE(src + i * ss + j * S, ss, dst + j * ds + i * S, ds, TC_MIN(TC_L, cols - j) * S,  \
                  TC_MIN(TC_L, rows - i), TC_L);                                                   \
  }
/* @ tc_tile_u16 */
TC_TILE(u16, 2, tc_mm_u16_transpose_padded, tc_rawstrided_i16)
/* @ tc_tile_u32 */
TC_SLOW void tc_tile_u32(const char *src, int64_t ss, char *dst, int64_t ds, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; i += TC_L)
    if (cols == TC_L) tc_mm_u32_transpose_padded(src + i * ss, ss, dst + i * 4, ds, TC_L * 4, TC_MIN(TC_L, rows - i), TC_L);
    else tc_mm_u32_block(src + i * ss, ss, dst + i * 4, ds, cols, rows - i, 1, 0);
}
/* @ tc_tile_u64 */
TC_TILE(u64, 8, tc_mm_u64_transpose_padded, tc_rawstrided_i64)
/* @ tc_rows_u32 tc_torows_u32 */
/* Blocks of TC_L rows of few elements, `step` elements apart, and tiles with a vector for each place of the rows: tile[j][i] is
 * element j of row i.  `rows` are in the block; of what is loaded, `all` are down to the end of the array. */
enum { TC_PIECE = 4, TC_PIECE_BYTES = 16 };
TC_SLOW void tc_rows_u32(const void *src, int64_t step, void *tile, int64_t rows, int64_t cols, int64_t all) {
  enum { S = sizeof(tc_u32) };
  if (rows < TC_L) all = rows;
  /* Rows of a line or more are not met in an order that the processor foresees. */
  if (step == cols && cols * S >= TC_LINE) tc_mm_u32_block(src, step * S, tile, TC_L * S, cols, all, 0, 1);
  else tc_mm_u32_block(src, step * S, tile, TC_L * S, cols, all, 0, 0);
}
/* The first 1 to 3 of a piece. */
TC_FN void tc_mm_u32_few(char *to, const char *piece, int64_t n) {
  if (n == 1) __builtin_memcpy(to, piece, 4);
  else __builtin_memcpy(to, piece, 8);
  if (n == 3) __builtin_memcpy(to + 8, piece + 8, 4);
}
TC_SLOW void tc_torows_u32(void *dst, int64_t step, const void *tile, int64_t rows, int64_t cols) {
  const char *from = tile;
  char *to = dst;
  enum { S = sizeof(tc_u32), line = TC_L * S, whole = TC_L - TC_PIECE };
  if (rows < TC_L || step != cols) {
    for (int64_t j = 0; j < cols; ++j) {
      tc_vi32 v;
      __builtin_memcpy(&v, from + j * line, sizeof v);
      tc_rawstoreapart_i32((tc_i32 *)to + j, step, v, rows);
    }
    return;
  }
  /* What the last pieces write behind their rows is written again, by later rows and by the pieces in front of them. */
  for (int64_t j = (cols + TC_PIECE - 1) / TC_PIECE * TC_PIECE - TC_PIECE; j >= 0; j -= TC_PIECE) {
    const int64_t n = TC_MIN(TC_PIECE, cols - j);
    tc_vu32 x[TC_PIECE];
    __builtin_memcpy(x, from + j * line, sizeof x);
    tc_mm_u32_cross(x);
    char *row = to + j * S;
    TC_UNROLL for (int i = 0; i < TC_L; i += TC_PIECE, row = TC_OPAQUE(row + TC_PIECE * cols * S)) {
      TC_UNROLL for (int k = 0; k < TC_PIECE; ++k) {
        const char *piece = (const char *)&x[k] + i / TC_PIECE * TC_PIECE_BYTES;
        if (i < whole || TC_PIECE - n <= (TC_PIECE - 1 - k) * cols) __builtin_memcpy(row + k * cols * S, piece, TC_PIECE_BYTES);
        else tc_mm_u32_few(row + k * cols * S, piece, n);
      }
    }
  }
}
/* @ tc_tolines_u32 */
/* The same past the caches.  lines: memory for the block, of which whole vectors are stored. */
TC_FN void tc_tolines_u32(void *dst, int64_t step, const void *tile, int64_t rows, int64_t cols, tc_u32 *lines) {
  if (rows < TC_L || step != cols) {
    tc_torows_u32(dst, step, tile, rows, cols);
    return;
  }
  tc_torows_u32(lines, cols, tile, rows, cols);
  for (int64_t j = 0; j < cols; ++j)
    tc_rawnontemporal_i32((tc_i32 *)dst + j * TC_L, tc_rawload_i32((const tc_i32 *)lines + j * TC_L), 1);
}
/* @ tc_mm_fetch */
/* Asks for a line of each of TC_L rows, which need not exist. */
TC_FN void tc_mm_fetch(const char *line, int64_t ss) {
  TC_UNROLL for (int i = 0; i < TC_L; ++i)
      __builtin_prefetch((const char *)((uintptr_t)line + (uintptr_t)(i * ss)));
}
/* @ tc_mm_line tc_mm_copy tc_mm_rows */
typedef tc_u8 tc_mm_line __attribute__((vector_size(64), aligned(1), may_alias));
/* Rows of `bytes`, ss apart, become rows ds apart, whose pieces of 64 bytes are `step` apart. */
TC_SLOW void tc_mm_copy(const char *src, int64_t ss, char *dst, int64_t ds, int64_t step,
                        int64_t rows, int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r, src += ss, dst += ds) {
    int64_t i = 0;
    char *to = dst;
    for (; i + 64 <= bytes; i += 64, to += step) {
      __builtin_prefetch(src + 4 * ss + i);
      *(tc_mm_line *)to = *(const tc_mm_line *)(src + i);
    }
    if (i < bytes) __builtin_memcpy(to, src + i, bytes - i);
  }
}
/* Short rows that are far apart.  Prefetching more than a few of them only gets in the
 * way of the hardware prefetchers. */
TC_SLOW void tc_mm_rows(const char *src, int64_t ss, char *dst, int64_t ds, int64_t rows,
                        int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r, src += ss, dst += ds) {
    int64_t i = 0;
    __builtin_prefetch(src + 4 * ss + bytes - 1);
    for (; i + 64 <= bytes; i += 64) {
      __builtin_prefetch(src + 4 * ss + i);
      *(tc_mm_line *)(dst + i) = *(const tc_mm_line *)(src + i);
    }
    if (i < bytes) __builtin_memcpy(dst + i, src + i, bytes - i);
  }
}
/* @ TC_MM_WEAVE16 */
#define TC_MM_WEAVE(i) i, i + 32, i + 1, i + 33, i + 2, i + 34, i + 3, i + 35
#define TC_MM_WEAVE16(i) TC_MM_WEAVE(i), TC_MM_WEAVE(i + 4), TC_MM_WEAVE(i + 8), TC_MM_WEAVE(i + 12)
/* @ tc_mm_bf16_rows tc_mm_bf16_weave tc_mm_bf16_narrow */
#if TC_ISA >= TC_LEVEL_bf16
typedef tc_u16 tc_mm_halves __attribute__((vector_size(64), aligned(1), may_alias));
/* Two rows of bf16, the second of zeros where there is none, become one of words. */
TC_FN void tc_mm_bf16_weave(const char *low, const char *high, tc_u32 *dst, int64_t cols) {
  int64_t n = 0;
  for (; n + 32 <= cols; n += 32) {
    const tc_mm_halves x = *(const tc_mm_halves *)(low + n * 2);
    const tc_mm_halves y = high ? *(const tc_mm_halves *)(high + n * 2) : (tc_mm_halves){0};
    *(tc_mm_halves *)(dst + n) = __builtin_shufflevector(x, y, TC_MM_WEAVE16(0));
    *(tc_mm_halves *)(dst + n + 16) = __builtin_shufflevector(x, y, TC_MM_WEAVE16(16));
  }
  for (; n < cols; n += TC_L) {
    const int64_t rest = TC_MIN(TC_L, cols - n);
    tc_vu32 words = TC_CAST(u32, tc_rawloadn_bf16((const tc_u16 *)low + n, rest));
    if (high) words |= TC_CAST(u32, tc_rawloadn_bf16((const tc_u16 *)high + n, rest)) << 16;
    if (rest == TC_L) __builtin_memcpy(dst + n, &words, sizeof words);
    else tc_maskstore_4(dst + n, &words, rest);
  }
}
/* Of fewer columns than a vector has, whole vectors all the same, as far as these end in later rows: what is loaded behind the
 * columns is there, and what is stored there is stored again.  Moves of a part of a vector take several times as long.  Returns
 * how many of the kn rows that are. */
TC_FN int64_t tc_mm_bf16_narrow(const char *src, int64_t ss, tc_u32 *dst, int64_t nr, int64_t kn, int64_t cols) {
  const int64_t loads = (kn - 1) * ss - (TC_L - cols) * 2, stores = (kn / 2 - 1) * nr - (TC_L - cols);
  int64_t k = 0;
  for (; (k + 1) * ss <= loads && k / 2 * nr <= stores; k += 2) {
    const char *const low = src + k * ss;
    const tc_vu32 words = TC_CAST(u32, tc_rawload_bf16((const tc_u16 *)low)) |
                          TC_CAST(u32, tc_rawload_bf16((const tc_u16 *)(low + ss))) << 16;
    __builtin_memcpy(dst + k / 2 * nr, &words, sizeof words);
  }
  return k;
}
/* kn rows, two at a time. */
TC_SLOW void tc_mm_bf16_rows(const char *src, int64_t ss, tc_u32 *dst, int64_t nr, int64_t kn,
                             int64_t cols) {
  const int64_t full = cols == 32 ? kn & ~1 : 0; /* a tile's width, as a constant */
  for (int64_t k = 0; k < full; k += 2, src += 2 * ss, dst += nr)
    tc_mm_bf16_weave(src, src + ss, dst, 32);
  const int64_t narrow = cols < TC_L ? tc_mm_bf16_narrow(src, ss, dst, nr, kn, cols) : 0;
  src += narrow * ss, dst += narrow / 2 * nr;
  for (kn -= full + narrow; kn > 1; kn -= 2, src += 2 * ss, dst += nr)
    tc_mm_bf16_weave(src, src + ss, dst, cols);
  if (kn) tc_mm_bf16_weave(src, 0, dst, cols);
}
#endif
/* @ tc_mm_bf16_pair */
/* Two vectors of f32 that bf16 holds exactly, as words of two bf16. */
TC_FN void tc_mm_bf16_pair(tc_u32 *dst, tc_vf32 low, tc_vf32 high) {
  const tc_vu32 words = TC_BITS(u32, low) >> 16 | (TC_BITS(u32, high) & 0xffff0000u);
  __builtin_memcpy(dst, &words, sizeof words);
}
/* @ tc_mm_bf16_pair_n */
/* The first n of them. */
TC_FN void tc_mm_bf16_pair_n(tc_u32 *dst, tc_vf32 low, tc_vf32 high, int64_t n) {
  const tc_vu32 words = TC_BITS(u32, low) >> 16 | (TC_BITS(u32, high) & 0xffff0000u);
  tc_maskstore_4(dst, &words, n);
}
/* @ tc_mm_span TC_MM_WIDEST */
/* Columns of a panel of B at equal steps in memory: `count`, from column `to` of the panel and element `from` of a row
 * on. */
typedef struct tc_mm_span {
  int64_t from, to, count;
} tc_mm_span;
enum { TC_MM_WIDEST = 192 }; /* columns of a panel, at most */
/* @ TC_MM_SPANS */
/* Rows of B, which begin at b + row[i], become rows of a panel of nr columns: n spans of each, whose columns are `step`
 * apart.  EVENS: every second one. */
#define TC_MM_SPANS(NAME, T, EVENS)                                                                \
  TC_FN void NAME##_row(const tc_##T *row, int64_t step, const tc_mm_span *s, int64_t n, tc_##T *dst) { \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      const tc_##T *from = row + s[i].from;                                                        \
      tc_##T *to = dst + s[i].to;                                                                  \
      int64_t left = s[i].count;                                                                   \
      for (; step == 1 && left >= TC_L; left -= TC_L, from += TC_L, to += TC_L)                    \
        tc_store_##T(to, tc_load_##T(from));                                                       \
      if (step == 1 && left) tc_storen_##T(to, tc_loadn_##T(from, left), left);                    \
      for (; step == 2 && left > 0; left -= TC_L, from += 2 * TC_L, to += TC_L) {                  \
        const int64_t rest = TC_MIN(TC_L, left);                                                   \
        tc_storen_##T(to, EVENS(from, rest), rest);                                                \
      }                                                                                            \
      if (step != 1 && step != 2) TC_ONE_BY_ONE for (int64_t l = 0; l < left; ++l) to[l] = from[l * step]; \
    }                                                                                              \
  }                                                                                                \
  TC_SLOW void NAME(const tc_##T *b, const int64_t *row, int64_t rows, int64_t step, const tc_mm_span *s, int64_t n, \
                    tc_##T *dst, int64_t nr) {                                                     \
    for (int64_t i = 0; i < rows; ++i) NAME##_row(b + row[i], step, s, n, dst + i * nr);           \
  }
/* @ tc_mm_vector_of_spans */
#if TC_ISA >= TC_LEVEL_v4
/* One vector of columns, from `col` on, of all rows.  A load has the lanes of one span; others cannot fault, but must not be
 * where no memory is, for that would take long. */
TC_SLOW void tc_mm_vector_of_spans(const tc_f32 *b, const int64_t *row, int64_t rows, const tc_mm_span *s, int64_t n,
                                   int64_t col, tc_f32 *dst, int64_t nr) {
  typedef int words __attribute__((vector_size(64)));
  const words none = {0};
  uintptr_t from[TC_L] = {(uintptr_t)b, (uintptr_t)b};
  unsigned short mask[TC_L] = {0};
  int pieces = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = TC_MAX(s[i].to, col), count = TC_MIN(s[i].to + s[i].count, col + TC_L) - first;
    if (count <= 0) continue;
    from[pieces] = (uintptr_t)b + (uintptr_t)((s[i].from + col - s[i].to) * 4);
    mask[pieces++] = (unsigned short)(0xffffu >> (TC_L - count) << (first - col));
  }
  for (int64_t r = 0; r < rows; ++r) {
    const uintptr_t at = (uintptr_t)row[r] * 4;
    words x = __builtin_ia32_loaddqusi512_mask((const int *)(at + from[0]), none, mask[0]);
    x = __builtin_ia32_loaddqusi512_mask((const int *)(at + from[1]), x, mask[1]);
    for (int i = 2; i < pieces; ++i) x = __builtin_ia32_loaddqusi512_mask((const int *)(at + from[i]), x, mask[i]);
    __builtin_memcpy(dst + r * nr + col, &x, sizeof x);
  }
}
#endif
/* @ tc_mm_vector_of_apart */
#if TC_ISA >= TC_LEVEL_v4
/* The same of columns two elements apart: those of the first half of the lanes are in one vector, the others in the next. */
TC_SLOW void tc_mm_vector_of_apart(const tc_f32 *b, const int64_t *row, int64_t rows, const tc_mm_span *s, int64_t n,
                                   int64_t col, tc_f32 *dst, int64_t nr) {
  typedef int words __attribute__((vector_size(64)));
  const words none = {0};
  uintptr_t from[2][TC_L];
  unsigned short mask[2][TC_L];
  int pieces[2] = {0, 0};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = TC_MAX(s[i].to, col), count = TC_MIN(s[i].to + s[i].count, col + TC_L) - first;
    if (count <= 0) continue;
    const uintptr_t at = (uintptr_t)b + (uintptr_t)((s[i].from + 2 * (col - s[i].to)) * 4);
    const uint32_t all = 0x55555555u >> (32 - 2 * count) << 2 * (first - col);
    for (int half = 0; half < 2; ++half) {
      const unsigned short part = (unsigned short)(all >> 16 * half);
      if (!part) continue;
      from[half][pieces[half]] = at + (uintptr_t)(64 * half);
      mask[half][pieces[half]++] = part;
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const uintptr_t at = (uintptr_t)row[r] * 4;
    words x = none, y = none;
    for (int i = 0; i < pieces[0]; ++i) x = __builtin_ia32_loaddqusi512_mask((const int *)(at + from[0][i]), x, mask[0][i]);
    for (int i = 0; i < pieces[1]; ++i) y = __builtin_ia32_loaddqusi512_mask((const int *)(at + from[1][i]), y, mask[1][i]);
    x = __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __builtin_memcpy(dst + r * nr + col, &x, sizeof x);
  }
}
#endif
/* @ tc_mm_f32_spans */
TC_MM_SPANS(tc_mm_f32_spans_by_row, f32, tc_loadstride2n_f32)
TC_FN void tc_mm_f32_spans(const tc_f32 *b, const int64_t *row, int64_t rows, int64_t step, const tc_mm_span *s, int64_t n,
                           tc_f32 *dst, int64_t nr) {
#if TC_ISA >= TC_LEVEL_v4
  const int64_t cols = n ? s[n - 1].to + s[n - 1].count : 0;
  for (int64_t col = 0; step == 1 && col < cols; col += TC_L) tc_mm_vector_of_spans(b, row, rows, s, n, col, dst, nr);
  for (int64_t col = 0; step == 2 && col < cols; col += TC_L) tc_mm_vector_of_apart(b, row, rows, s, n, col, dst, nr);
  if (step == 1 || step == 2) return;
#endif
  tc_mm_f32_spans_by_row(b, row, rows, step, s, n, dst, nr);
}
/* @ tc_mm_f64_spans */
TC_MM_SPANS(tc_mm_f64_spans, f64, tc_loadstride2n_f64)
/* @ tc_mm_i16_spans */
TC_MM_SPANS(tc_mm_i16_spans, i16, tc_loadstride2n_i16)
/* @ tc_mm_i32_spans */
TC_MM_SPANS(tc_mm_i32_spans, i32, tc_loadstride2n_i32)
/* @ tc_mm_i64_spans */
TC_MM_SPANS(tc_mm_i64_spans, i64, tc_loadstride2n_i64)
/* @ tc_mm_piece tc_mm_add_pieces */
#if TC_ISA >= TC_LEVEL_bf16
/* What a span has of a line, which is as many columns of a panel of pairs as 32 neighbours in a row of B have: 32, or 16 that
 * are two elements apart.  `mask` says which elements from `from` on, where the line's first column would be, are the span's;
 * of the last one of a line, `vectors` of words are stored from column `to` on, of others none.  A step of more elements has no
 * lines: `count` columns. */
typedef struct tc_mm_piece {
  int64_t from, to, count;
  uint32_t mask, vectors;
} tc_mm_piece;
/* Adds `count` columns from `to` on, which begin at element `from` of a row, to n pieces of a panel of nr columns; gives how
 * many there are then. */
TC_SLOW int64_t tc_mm_add_pieces(tc_mm_piece *p, int64_t n, int64_t from, int64_t to, int64_t count, int64_t step, int64_t nr) {
  if (step != 1 && step != 2) {
    p[n] = (tc_mm_piece){from, to, count, 0, 0};
    return n + 1;
  }
  const int64_t line = step == 1 ? 32 : 16;
  for (int64_t some; count > 0; ++n, from += some * step, to += some, count -= some) {
    const int64_t at = to & (line - 1), first = to - at;
    some = TC_MIN(line - at, count);
    const uint32_t each = step == 1 ? ~0u : 0x55555555u, mask = each >> (32 - some * step) << at * step;
    if (at) p[n - 1].vectors = 0;
    p[n] = (tc_mm_piece){from - at * step, first, some, mask, (uint32_t)(TC_MIN(line, nr - first) / TC_L)};
  }
  return n;
}
#endif
/* @ tc_mm_bf16_spans */
#if TC_ISA >= TC_LEVEL_bf16
#define TC_MM_EVENS(i) i, i + 32, i + 2, i + 34, i + 4, i + 36, i + 6, i + 38
#define TC_MM_EVENS16 TC_MM_EVENS(0), TC_MM_EVENS(8), TC_MM_EVENS(16), TC_MM_EVENS(24)
/* All lines, of rows two by two, beside the last of which there may be none: zeros.  What is not of a piece cannot fault,
 * and is zero; so pieces meet without a store in between. */
TC_FN void tc_mm_bf16_lines(const tc_bf16 *b, const int64_t *row, int64_t rows, const int step, const tc_mm_piece *p,
                            int64_t n, tc_u32 *dst, int64_t nr) {
  typedef short halves __attribute__((vector_size(64)));
  const halves none = {0};
  for (const tc_mm_piece *end = p + n, *last; p < end; p = last + 1) {
    for (last = p; !last->vectors;) ++last;
    for (int64_t r = 0; r < rows; r += 2) {
      const int both = r + 1 < rows;
      const uintptr_t low = (uintptr_t)b + (uintptr_t)row[r] * 2, high = (uintptr_t)b + (uintptr_t)row[r + both] * 2;
      halves x = none, y = none;
      for (const tc_mm_piece *q = p; q <= last; ++q) {
        const uintptr_t from = (uintptr_t)(q->from * 2);
        x |= __builtin_ia32_loaddquhi512_mask((const halves *)(low + from), none, q->mask);
        y |= __builtin_ia32_loaddquhi512_mask((const halves *)(high + from), none, both ? q->mask : 0);
      }
      const halves first = step == 1 ? __builtin_shufflevector(x, y, TC_MM_WEAVE16(0)) : __builtin_shufflevector(x, y, TC_MM_EVENS16);
      const halves second = __builtin_shufflevector(x, y, TC_MM_WEAVE16(16));
      tc_u32 *const to = dst + r / 2 * nr + last->to;
      __builtin_memcpy(to, &first, sizeof first);
      if (last->vectors > 1) __builtin_memcpy(to + TC_L, &second, sizeof second);
    }
  }
}
/* Rows of B two by two, as rows of pairs of a panel of nr columns: n pieces of each. */
TC_SLOW void tc_mm_bf16_spans(const tc_bf16 *b, const int64_t *row, int64_t rows, int64_t step, const tc_mm_piece *p,
                              int64_t n, tc_u32 *dst, int64_t nr) {
  if (step == 1) {
    tc_mm_bf16_lines(b, row, rows, 1, p, n, dst, nr);
  } else if (step == 2) {
    tc_mm_bf16_lines(b, row, rows, 2, p, n, dst, nr);
  } else {
    for (int64_t r = 0; r < rows; r += 2, dst += nr)
      for (int64_t i = 0; i < n; ++i)
        TC_ONE_BY_ONE for (int64_t l = 0; l < p[i].count; ++l) {
          const int64_t at = p[i].from + l * step;
          dst[p[i].to + l] = b[row[r] + at] | (r + 1 < rows ? (tc_u32)b[row[r + 1] + at] << 16 : 0);
        }
  }
}
#endif
