/* Convolutions with windows of 3 x 3 neighbours, by Winograd's F(2 x 2, 3 x 3) (Lavin and Gray, Fast algorithms for
 * convolutional neural networks, 2016): sixteen multiplications for each channel in place of 36 for 2 x 2 results.
 *
 *   Y = A' [sum over c of (G w G') * (B' d B)] A      d: 4 x 4 points of channel c, a tile; *: element by element
 *
 *   G w G' of all weights, by all threads
 *   task       row panels x a panel of tiles, of as many images as have them
 *     B' d B of the panel, which stays in the second-level cache
 *     row panel: sixteen products by micro-kernels; A' [..] A; the epilogue
 *
 * Sums over c are made in blocks of TC_MM_WINOGRAD_BLOCK, with which results are about as far from those of exact
 * arithmetic as those of the product are.  Each depends on its own window alone, so that NaN stays where it is, but a
 * difference of infinities is NaN: results that are not finite are computed again by the product.  What is chosen here
 * depends on sizes alone, not on the number of threads. */
/* @ tc_mm_winograd TC_MM_POSITIONS TC_MM_WINOGRAD_BLOCK */
enum { TC_MM_POSITIONS = 16, TC_MM_WINOGRAD_BLOCK = 64 };

typedef struct tc_mm_winograd {
  const tc_mm *g;           /* C[b,m,(i,y,x)] = sum over (c,r,s) of A[m,(c,r,s)] * image[b,i,c,y + r,x + s] */
  int64_t images, c, h, w;  /* images of a batch; channels; rows and columns of results of an image */
  int64_t image_step, c_step, row_step; /* in bytes; columns are neighbours */
  int64_t lanes;              /* of a vector */
  const char *(*image)(const tc_mm *g, int64_t batch); /* the first point of the first one */
  /* u[16][..][high] = G w G' of `count` channels of the first `rows` rows of A, packed as rows `stride` bytes apart,
   * or, with a_cols, as columns; `step` elements between positions.  Rows that are missing are zero.  pair: rows of two
   * row panels together are a vector; the second panel is so many elements behind the first; or 0. */
  void (*weights)(const tc_mm *g, const char *a, int64_t stride, int64_t rows, int64_t high, int64_t count, float *u,
                  int64_t step, int64_t pair);
  /* v[16][..] = B' d B of n tiles that follow each other in a row, from x on, where `height` rows of `width` points are;
   * `step` elements between positions. */
  void (*tiles)(const char *x, int64_t row_step, int64_t height, int64_t width, int64_t n, float *v, int64_t step);
  /* y = A' s A of n tiles of some rows: `high` rows of `cols` results for each row of C, `pitch` elements between
   * those of the next one.  s[16][row][..], `step` elements between positions, s_pitch between rows.  Are all finite?
   *
   * These three store whole vectors: what is behind is stored later, or is nothing. */
  int (*results)(const float *s, int64_t step, int64_t s_pitch, int64_t rows, int64_t n, int64_t high, int64_t cols,
                 float *y, int64_t pitch);
} tc_mm_winograd;
/* @ tc_mm_winograd_weights */
TC_FN void tc_mm_winograd_put(tc_f32 *u, tc_vf32 x, int64_t pair) {
  if (!pair) {
    tc_store_f32(u, x);
    return;
  }
  __builtin_memcpy(u, &x, sizeof x / 2);
  __builtin_memcpy(u + pair, (const char *)&x + sizeof x / 2, sizeof x / 2);
}
/* One vector of rows: w[9], `pitch` floats apart. */
TC_FN void tc_mm_winograd_weight(const tc_f32 *w, int64_t pitch, tc_f32 *u, int64_t step, int64_t pair) {
  tc_vf32 t[4][3];
  TC_UNROLL for (int s = 0; s < 3; ++s) {
    const tc_vf32 a = tc_load_f32(w + s * pitch), b = tc_load_f32(w + (3 + s) * pitch);
    const tc_vf32 c = tc_load_f32(w + (6 + s) * pitch), ends = a + c;
    t[0][s] = a, t[1][s] = (ends + b) * 0.5f, t[2][s] = (ends - b) * 0.5f, t[3][s] = c;
  }
  TC_UNROLL for (int i = 0; i < 4; ++i) {
    const tc_vf32 ends = t[i][0] + t[i][2];
    tc_mm_winograd_put(u + (4 * i) * step, t[i][0], pair);
    tc_mm_winograd_put(u + (4 * i + 1) * step, (ends + t[i][1]) * 0.5f, pair);
    tc_mm_winograd_put(u + (4 * i + 2) * step, (ends - t[i][1]) * 0.5f, pair);
    tc_mm_winograd_put(u + (4 * i + 3) * step, t[i][2], pair);
  }
}
/* w: [channel, position][row] of some rows.  A pair has as many rows as a vector. */
TC_FN void tc_mm_winograd_channels(const tc_f32 *w, int64_t pitch, int64_t high, int64_t count, tc_f32 *u,
                                   int64_t step, int64_t pair) {
  for (int64_t c = 0; c < count && pair; ++c)
    tc_mm_winograd_weight(w + 9 * c * TC_L, TC_L, u + c * (TC_L / 2), step, pair);
  for (int64_t c = 0; c < count && !pair; ++c) tc_mm_winograd_weight(w + 9 * c * pitch, pitch, u + c * high, step, 0);
}
TC_SLOW void tc_mm_winograd_weights(const tc_mm *g, const char *a, int64_t stride, int64_t rows, int64_t high,
                                    int64_t count, tc_f32 *u, int64_t step, int64_t pair) {
  _Alignas(64) tc_f32 transposed[9 * TC_L][TC_L];
  const int64_t all = pair ? TC_L : high;
  for (int64_t c = 0; c < count; c += TC_L)
    for (int64_t i = (all - 1) / TC_L * TC_L; i >= 0; i -= TC_L) { /* what the end stores of the next channel comes later */
      const int64_t some = TC_MIN(TC_L, count - c), there = TC_MAX(0, TC_MIN(TC_L, rows - i));
      for (int64_t k = 0; k < 9 * some && !g->a_cols; k += TC_L)
        tc_mm_u32_transpose_padded(a + i * stride + (9 * c + k) * 4, stride, (char *)transposed[k], sizeof transposed[0],
                                   TC_MIN(TC_L, 9 * some - k) * 4, there, TC_L);
      const tc_f32 *w = g->a_cols ? (const tc_f32 *)a + 9 * c * all + i : transposed[0];
      tc_mm_winograd_channels(w, g->a_cols ? all : TC_L, high, some, u + c * high + i, step, pair);
    }
}
/* @ tc_mm_winograd_part TC_MM_EVEN TC_MM_ODD */
#define TC_MM_EVEN(l, s, u) (2 * (l))
#define TC_MM_ODD(l, s, u) (2 * (l) + 1)
TC_FN tc_vf32 tc_mm_winograd_part(const tc_f32 *x, int64_t n) {
  return n >= TC_L ? tc_load_f32(x) : tc_loadn_f32(x, TC_MAX(n, 0));
}
/* @ tc_mm_winograd_tiles */
/* x[2 l + p] of lanes l, p = 0 .. 3, where there are n points. */
TC_FN void tc_mm_winograd_row(const tc_f32 *x, int64_t n, tc_vf32 d[4]) {
  const tc_vf32 a = tc_mm_winograd_part(x, n), b = tc_mm_winograd_part(x + TC_L, n - TC_L);
  const tc_vf32 e = tc_mm_winograd_part(x + 2, n - 2), f = tc_mm_winograd_part(x + TC_L + 2, n - TC_L - 2);
  d[0] = __builtin_shufflevector(a, b, TC_EACH(TC_MM_EVEN, 0, 0));
  d[1] = __builtin_shufflevector(a, b, TC_EACH(TC_MM_ODD, 0, 0));
  d[2] = __builtin_shufflevector(e, f, TC_EACH(TC_MM_EVEN, 0, 0));
  d[3] = __builtin_shufflevector(e, f, TC_EACH(TC_MM_ODD, 0, 0));
}
/* B' of four vectors. */
TC_FN void tc_mm_winograd_combine(const tc_vf32 *d, int step, tc_vf32 t[4]) {
  t[0] = d[0] - d[2 * step], t[1] = d[step] + d[2 * step];
  t[2] = d[2 * step] - d[step], t[3] = d[step] - d[3 * step];
}
/* One vector of tiles. */
TC_FN void tc_mm_winograd_tile(const char *x, int64_t row_step, int64_t height, int64_t width, tc_f32 *v,
                               int64_t step) {
  tc_vf32 d[4][4], t[4][4];
  TC_UNROLL for (int p = 0; p < 4; ++p) {
    if (p < height) tc_mm_winograd_row((const tc_f32 *)(x + p * row_step), width, d[p]);
    else TC_UNROLL for (int q = 0; q < 4; ++q) d[p][q] = (tc_vf32){0};
  }
  TC_UNROLL for (int q = 0; q < 4; ++q) {
    tc_vf32 column[4];
    tc_mm_winograd_combine(&d[0][q], 4, column);
    TC_UNROLL for (int p = 0; p < 4; ++p) t[p][q] = column[p];
  }
  TC_UNROLL for (int p = 0; p < 4; ++p) {
    tc_vf32 row[4];
    tc_mm_winograd_combine(t[p], 1, row);
    TC_UNROLL for (int q = 0; q < 4; ++q) tc_store_f32(v + (4 * p + q) * step, row[q]);
  }
}
TC_SLOW void tc_mm_winograd_tiles(const char *x, int64_t row_step, int64_t height, int64_t width, int64_t n, tc_f32 *v,
                                  int64_t step) {
  for (int64_t j = 0; j < n; j += TC_L) tc_mm_winograd_tile(x + j * 8, row_step, height, width - 2 * j, v + j, step);
}
/* @ tc_mm_winograd_results */
#define TC_MM_ZIP(l, s, u) ((l) % 2 * TC_L + ((u)*TC_L + (l)) / 2)
/* Two vectors, interleaved. */
TC_FN void tc_mm_winograd_zip(tc_f32 *y, tc_vf32 a, tc_vf32 b) {
  tc_store_f32(y, __builtin_shufflevector(a, b, TC_EACH(TC_MM_ZIP, 2, 0)));
  tc_store_f32(y + TC_L, __builtin_shufflevector(a, b, TC_EACH(TC_MM_ZIP, 2, 1)));
}
/* A' of four vectors. */
TC_FN void tc_mm_winograd_pair(const tc_vf32 *m, int step, tc_vf32 *first, tc_vf32 *second) {
  const tc_vf32 sum = m[step] + m[2 * step], difference = m[step] - m[2 * step];
  *first = m[0] + sum, *second = difference - m[3 * step];
}
/* The first n tiles of a vector in one row of C; *off: not 0 in lanes with a result that is not finite. */
TC_FN void tc_mm_winograd_result(const tc_f32 *s, int64_t step, int64_t n, int64_t high, int64_t cols, tc_f32 *y,
                                 tc_vf32 *off) {
  tc_vf32 m[4][4], t[2][4], r[2][2];
  TC_UNROLL for (int p = 0; p < 4; ++p)
    TC_UNROLL for (int q = 0; q < 4; ++q) m[p][q] = tc_mm_winograd_part(s + (4 * p + q) * step, n);
  TC_UNROLL for (int q = 0; q < 4; ++q) tc_mm_winograd_pair(&m[0][q], 4, &t[0][q], &t[1][q]);
  TC_UNROLL for (int a = 0; a < 2; ++a) {
    tc_mm_winograd_pair(t[a], 1, &r[a][0], &r[a][1]);
    *off += (r[a][0] - r[a][0]) + (r[a][1] - r[a][1]);
  }
  tc_mm_winograd_zip(y, r[0][0], r[0][1]);
  if (high > 1) tc_mm_winograd_zip(y + cols, r[1][0], r[1][1]);
}
TC_SLOW int tc_mm_winograd_results(const tc_f32 *s, int64_t step, int64_t s_pitch, int64_t rows, int64_t n,
                                   int64_t high, int64_t cols, tc_f32 *y, int64_t pitch) {
  tc_vf32 off = {0};
  for (int64_t i = 0; i < rows; ++i, s += s_pitch, y += pitch)
    for (int64_t j = (n - 1) / TC_L * TC_L; j >= 0; j -= TC_L) /* what the end stores of the second row comes later */
      tc_mm_winograd_result(s + j, step, n - j, high, cols, y + 2 * j, &off);
  int finite = 1;
  for (int l = 0; l < TC_L; ++l) finite &= off[l] == 0;
  return finite;
}
/* @ tc_mm_winograd_product tc_mm_winograd_packing tc_mm_winograd_rows TC_MM_WINOGRAD_DEEP */
#define TC_MM_WINOGRAD_DEEP 128 /* k block of what the product computes again */

/* Scratch: packed rows of A, `a_stride` bytes apart, a packed panel of B, a tile of C. */
typedef struct tc_mm_winograd_packing {
  char *a, *b, *tile;
  int64_t a_stride;
} tc_mm_winograd_packing;

/* Elements of C; `batch`: of B. */
typedef struct tc_mm_winograd_region {
  int64_t batch, m0, rows, n0, cols;
} tc_mm_winograd_region;

/* Packs `rows` rows of A, of `high` that a micro-kernel reads, for kn values of k. */
TC_MM_FN void tc_mm_winograd_rows(const tc_mm *g, const tc_mm_winograd_packing *s, int64_t m0, int64_t rows,
                                  int64_t high, int64_t k0, int64_t kn) {
  const int64_t side = high * g->es;
  if (rows < high) __builtin_memset(s->a, 0, g->a_cols ? kn * side : high * s->a_stride);
  g->a_pack(g, 0, m0, rows, k0, kn, s->a, g->a_cols ? side : s->a_stride, 64);
}

/* y[row][column], rows `pitch` elements apart: results as the product has them, of one row panel. */
TC_MM_FN void tc_mm_winograd_product(const tc_mm *g, const tc_mm_winograd_packing *s, const tc_mm_winograd_region *c,
                                     float *y, int64_t pitch) {
  const int v = tc_mm_fit(g->rows, c->rows);
  const int64_t high = g->rows[v], cs = g->nr * g->cs;
  for (int64_t n = 0; n < c->cols; n += g->nr) {
    const int64_t cols = tc_mm_min(g->nr, c->cols - n);
    const int q = tc_mm_fit(g->cols, cols);
    for (int64_t k = 0; k < g->k; k += TC_MM_WINOGRAD_DEEP) {
      const int64_t kn = tc_mm_min(TC_MM_WINOGRAD_DEEP, g->k - k);
      g->b_pack(g, c->batch, c->n0 + n, cols, g->cols[q], k, kn, s->b);
      tc_mm_winograd_rows(g, s, c->m0, c->rows, high, k, kn);
      g->micro[v][q](kn, s->a, g->a_cols ? g->es : s->a_stride, g->a_cols ? high * g->es : g->es, s->b,
                     (int64_t)g->cols[q] * g->es, s->tile, cs, k ? TC_MM_ADD : 0, s->b, 0);
    }
    for (int64_t i = 0; i < c->rows; ++i) __builtin_memcpy(y + i * pitch + n, s->tile + i * cs, cols * g->cs);
  }
}
/* @ tc_mm_winograd_run */
#ifdef TC_ALONE
#define tc_mm_winograd_run TC_NAME(tc_mm_winograd_run_1)
#else
#define tc_mm_winograd_run tc_mm_winograd_run_1
#endif
#if TC_ISA != TC_LEVEL_v2 && !defined(TC_ALONE)
__attribute__((visibility("hidden"))) int tc_mm_winograd_run(const tc_mm_winograd *w, char *shared,
                                                             int64_t shared_bytes, char *own, int64_t own_bytes);
#else
#define TC_MM_WINOGRAD_SPANS 192      /* of a panel at most: its tiles */
#define TC_MM_WINOGRAD_CHANNELS 64    /* whose weights are packed at a time */
#define TC_MM_WINOGRAD_TASKS 4        /* for each thread, at least, where rows allow that */
#define TC_MM_WINOGRAD_NEAR 900000    /* bytes of a panel of tiles, in a second-level cache of 1 MiB */
/* What elements cost, in multiply-adds of vectors: G w G' of a weight, which goes to memory and comes back; B' d B of a
 * vector of tiles in a channel; A' s A of one in a row, and its epilogue by short rows. */
#define TC_MM_WINOGRAD_WEIGHT 16
#define TC_MM_WINOGRAD_TILES 72
#define TC_MM_WINOGRAD_RESULTS 90

typedef struct tc_mm_winograd_call {
  const tc_mm_winograd *w;
  char *u, *own;
  int64_t own_bytes;
  int64_t high, wide;            /* rows and columns of tiles of an image */
  int64_t tiles;                 /* of all images */
  int64_t cols, npanel, mpanel;  /* tiles of a panel, panels of tiles and of rows */
  int64_t chunks;                /* of row panels: a task has one of them */
  int64_t next_weights, next;    /* row panel and task that nobody has taken */
} tc_mm_winograd_call;

/* The parts of a thread's scratch. */
typedef struct tc_mm_winograd_scratch {
  char *v, *s, *y;
  int64_t y_pitch; /* elements between rows of results */
  tc_mm_winograd_packing packing; /* its A has two row panels of TC_MM_WINOGRAD_CHANNELS channels */
  int64_t panel;   /* whose tiles v has, or -1 */
} tc_mm_winograd_scratch;

/* Tiles that follow each other in a row of an image, from (y,x) on; `at`: where their results are. */
typedef struct tc_mm_winograd_span {
  int64_t batch, image, y, x, n, high, cols, at;
} tc_mm_winograd_span;

/* Results that are neighbours in C and in memory. */
typedef struct tc_mm_winograd_points {
  int64_t batch, n0, cols, at;
} tc_mm_winograd_points;


/* Elements between positions of tiles or of weights, `cols` of them in each channel: they do not meet the same cache
 * sets, and have room for a vector behind the last channel. */
static inline int64_t tc_mm_winograd_step(const tc_mm_winograd *w, int64_t cols) { return w->c * cols + 16; }

/* Elements between the weights of row panels; and where those of the panel from m0 on are. */
static inline int64_t tc_mm_winograd_next(const tc_mm_winograd *w) {
  return TC_MM_POSITIONS * tc_mm_winograd_step(w, w->g->mr);
}
static inline char *tc_mm_winograd_u(const tc_mm_winograd_call *x, int64_t m0) {
  return x->u + m0 / x->w->g->mr * tc_mm_winograd_next(x->w) * x->w->g->es;
}

/* Bytes of a thread's scratch, and its parts, with panels of `cols` tiles. */
TC_MM_FN int64_t tc_mm_winograd_parts(const tc_mm_winograd *w, int64_t cols, char *own,
                                               tc_mm_winograd_scratch *p) {
  const tc_mm *g = w->g;
  const int64_t tile = (int64_t)g->mr * g->nr * g->cs, deep = 9 * TC_MM_WINOGRAD_CHANNELS;
  char *at = own;
  p->y_pitch = 4 * cols + 2 * w->lanes, p->packing.a_stride = deep * g->es + 64;
  p->panel = -1;
  p->v = at, at += TC_MM_POSITIONS * tc_mm_winograd_step(w, cols) * g->es;
  p->s = at, at += TC_MM_POSITIONS * tile;
  p->y = at, at += g->mr * p->y_pitch * g->cs;
  p->packing.a = at, at += 2 * g->mr * p->packing.a_stride + 64; /* of two row panels, and a vector */
  p->packing.b = at, at += (int64_t)TC_MM_WINOGRAD_DEEP * g->nr * g->es;
  p->packing.tile = at, at += tile;
  return at - own + 64;
}

/* The weights of `rows` rows from m0 on: of one row panel, or of two. */
TC_MM_FN void tc_mm_winograd_transform(const tc_mm_winograd_call *x, const tc_mm_winograd_scratch *p,
                                                int64_t m0, int64_t rows) {
  const tc_mm *g = x->w->g;
  const int64_t high = g->rows[tc_mm_fit(g->rows, rows)], step = tc_mm_winograd_step(x->w, high);
  const int64_t pair = rows > g->mr ? tc_mm_winograd_next(x->w) : 0;
  float *u = (float *)tc_mm_winograd_u(x, m0);
  for (int64_t c = 0; c < x->w->c; c += TC_MM_WINOGRAD_CHANNELS) {
    const int64_t count = tc_mm_min(TC_MM_WINOGRAD_CHANNELS, x->w->c - c);
    tc_mm_winograd_rows(g, &p->packing, m0, rows, pair ? rows : high, 9 * c, 9 * count);
    x->w->weights(g, p->packing.a, p->packing.a_stride, rows, high, count, u + c * high, step, pair);
  }
}

/* Row panels i and i + 1, which may fill a vector together. */
TC_MM_FN void tc_mm_winograd_two(const tc_mm_winograd_call *x, const tc_mm_winograd_scratch *p, int64_t i) {
  const tc_mm *g = x->w->g;
  const int64_t m0 = i * g->mr, left = g->m - m0;
  if (2 * g->mr == x->w->lanes && left >= x->w->lanes) {
    tc_mm_winograd_transform(x, p, m0, x->w->lanes);
    return;
  }
  tc_mm_winograd_transform(x, p, m0, tc_mm_min(g->mr, left));
  if (left > g->mr) tc_mm_winograd_transform(x, p, m0 + g->mr, tc_mm_min(g->mr, left - g->mr));
}

/* The span from tile t on, of at most n tiles, whose results are behind those of *s. */
TC_MM_FN void tc_mm_winograd_span_at(const tc_mm_winograd_call *x, int64_t t, int64_t n,
                                              tc_mm_winograd_span *s) {
  const tc_mm_winograd *w = x->w;
  const int64_t each = x->high * x->wide, in = t % each, left = x->wide - in % x->wide;
  s->at += s->high * s->cols;
  s->batch = t / each / w->images, s->image = t / each % w->images;
  s->y = in / x->wide * 2, s->x = in % x->wide * 2;
  s->n = tc_mm_min(n, left);
  s->high = tc_mm_min(2, w->h - s->y), s->cols = tc_mm_min(2 * s->n, w->w - s->x);
}

/* The panel of n tiles from t0 on, `width` wide. */
TC_MM_FN void tc_mm_winograd_panel(const tc_mm_winograd_call *x, const tc_mm_winograd_scratch *p, int64_t t0,
                                            int64_t n, int64_t width) {
  const tc_mm_winograd *w = x->w;
  const int64_t step = tc_mm_winograd_step(w, width);
  tc_mm_winograd_span s[TC_MM_WINOGRAD_SPANS];
  const char *from[TC_MM_WINOGRAD_SPANS];
  int spans = 0;
  for (int64_t t = 0; t < n; t += s[spans++].n) {
    s[spans] = (tc_mm_winograd_span){0};
    tc_mm_winograd_span_at(x, t0 + t, n - t, &s[spans]);
    from[spans] = w->image(w->g, s[spans].batch) + s[spans].image * w->image_step + s[spans].y * w->row_step +
                  s[spans].x * w->g->es;
  }
  for (int64_t c = 0; c < w->c; ++c) {
    float *v = (float *)p->v + c * width;
    for (int i = 0; i < spans; v += s[i++].n)
      w->tiles(from[i] + c * w->c_step, w->row_step, w->h + 2 - s[i].y, w->w + 2 - s[i].x, s[i].n, v, step);
  }
}

/* Hands the results of a row panel over. */
TC_MM_FN void tc_mm_winograd_finish(const tc_mm_winograd_call *x, const tc_mm_winograd_scratch *p, int64_t m0,
                                             int64_t rows, const tc_mm_winograd_points *c, int finite) {
  const tc_mm *g = x->w->g;
  const tc_mm_winograd_region part = {g->b_shared ? 0 : c->batch, m0, rows, c->n0, c->cols};
  float *y = (float *)p->y + c->at;
  if (!c->cols) return;
  if (!finite) tc_mm_winograd_product(g, &p->packing, &part, y, p->y_pitch);
  g->epilogue(g, c->batch, m0, rows, c->n0, c->cols, (const char *)y, p->y_pitch * g->cs);
}

/* The results of n tiles from t0 on, whose sums are there. */
TC_MM_FN void tc_mm_winograd_store(const tc_mm_winograd_call *x, const tc_mm_winograd_scratch *p, int64_t m0,
                                            int64_t rows, int64_t t0, int64_t n, int64_t high, int64_t width) {
  const tc_mm_winograd *w = x->w;
  tc_mm_winograd_span s = {0};
  int finite = 1;
  for (int64_t t = 0; t < n; t += s.n) {
    tc_mm_winograd_span_at(x, t0 + t, n - t, &s);
    finite &= w->results((const float *)p->s + t, high * width, width, rows, s.n, s.high, s.cols,
                         (float *)p->y + s.at, p->y_pitch);
  }
  tc_mm_winograd_points all = {0};
  s = (tc_mm_winograd_span){0};
  for (int64_t t = 0; t < n; t += s.n) {
    tc_mm_winograd_span_at(x, t0 + t, n - t, &s);
    for (int64_t i = 0; i < s.high; ++i) {
      const int64_t n0 = (s.image * w->h + s.y + i) * w->w + s.x, at = s.at + i * s.cols;
      if (!all.cols || all.batch != s.batch || n0 != all.n0 + all.cols) {
        tc_mm_winograd_finish(x, p, m0, rows, &all, finite);
        all = (tc_mm_winograd_points){s.batch, n0, 0, at};
      }
      all.cols += s.cols;
    }
  }
  tc_mm_winograd_finish(x, p, m0, rows, &all, finite);
}

TC_MM_FN void tc_mm_winograd_task(const tc_mm_winograd_call *x, tc_mm_winograd_scratch *p, int64_t task) {
  const tc_mm *g = x->w->g;
  const int64_t q = task / x->chunks, i = task % x->chunks, t0 = q * x->cols, c = x->w->c;
  const int64_t n = tc_mm_min(x->cols, x->tiles - t0);
  const int wide = tc_mm_fit(g->cols, n);
  const int64_t width = g->cols[wide], bs = width * g->es;
  if (p->panel != q) tc_mm_winograd_panel(x, p, t0, n, width), p->panel = q;
  for (int64_t m = i * x->mpanel / x->chunks; m < (i + 1) * x->mpanel / x->chunks; ++m) {
    const int64_t m0 = m * g->mr, rows = tc_mm_min(g->mr, g->m - m0);
    const int tall = tc_mm_fit(g->rows, rows);
    const int64_t high = g->rows[tall], side = high * g->es;
    for (int64_t k = 0; k < TC_MM_POSITIONS; ++k) {
      const char *u = tc_mm_winograd_u(x, m0) + k * tc_mm_winograd_step(x->w, high) * g->es;
      const char *v = p->v + k * tc_mm_winograd_step(x->w, width) * g->es;
      for (int64_t c0 = 0, some; c0 < c; c0 += some, u += some * side, v += some * bs) {
        some = tc_mm_min(TC_MM_WINOGRAD_BLOCK, c - c0);
        g->micro[tall][wide](some, u, g->es, side, v, bs, p->s + k * high * bs, bs, c0 ? TC_MM_ADD : 0, v, 0);
      }
    }
    tc_mm_winograd_store(x, p, m0, rows, t0, n, high, width);
  }
}

TC_MM_FN void tc_mm_winograd_worker(void *call, int id, int threads) {
  tc_mm_winograd_call *x = (tc_mm_winograd_call *)call;
  tc_mm_winograd_scratch p;
  const tc_fe env = tc_fe_hold();
  tc_mm_winograd_parts(x->w, x->cols, x->own + id * x->own_bytes, &p);
  for (int64_t i; (i = __atomic_fetch_add(&x->next_weights, 2, __ATOMIC_RELAXED)) < x->mpanel;)
    tc_mm_winograd_two(x, &p, i);
  if (threads > 1) tcrt_barrier();
  for (int64_t i; (i = __atomic_fetch_add(&x->next, 1, __ATOMIC_RELAXED)) < x->npanel * x->chunks;)
    tc_mm_winograd_task(x, &p, i);
  tc_fe_restore(env);
}

/* Columns that tiles of n columns compute. */
TC_MM_FN int64_t tc_mm_winograd_columns(const tc_mm_winograd *w, int64_t n) {
  return tc_mm_round_up(n, w->lanes);
}

/* Panels of equal numbers of tiles, as many as a near cache holds; 0: not even the smallest fit. */
TC_MM_FN int64_t tc_mm_winograd_cols(const tc_mm_winograd_call *x, int64_t own_bytes) {
  const tc_mm_winograd *w = x->w;
  tc_mm_winograd_scratch p;
  int64_t most = w->g->nr;
  while (most > w->lanes && TC_MM_POSITIONS * w->c * most * w->g->es > TC_MM_WINOGRAD_NEAR) most -= w->lanes;
  if (tc_mm_winograd_parts(w, most, x->own, &p) > own_bytes) return 0;
  return tc_mm_winograd_columns(w, tc_mm_ceil_div(x->tiles, tc_mm_ceil_div(x->tiles, most)));
}

/* Is that less than the product's work? */
TC_MM_FN int tc_mm_winograd_pays(const tc_mm_winograd_call *x) {
  const tc_mm_winograd *w = x->w;
  const tc_mm *g = w->g;
  const int64_t m = x->mpanel * g->mr, last = x->tiles - (x->npanel - 1) * x->cols;
  const int64_t columns = (x->npanel - 1) * x->cols + tc_mm_winograd_columns(w, last);
  const int64_t vectors = g->batch * w->images * x->high * tc_mm_ceil_div(x->wide, w->lanes);
  const double product = (double)g->batch * m * tc_mm_winograd_columns(w, g->n) / w->lanes * g->k;
  const double tiles = (double)TC_MM_POSITIONS * m * columns / w->lanes * w->c;
  const double more = (double)m * w->c * TC_MM_WINOGRAD_WEIGHT + (double)vectors * w->c * TC_MM_WINOGRAD_TILES +
                      (double)vectors * m * TC_MM_WINOGRAD_RESULTS;
  return (tiles + more) * 10 < product * 9;
}

/* Returns 0, and does nothing, where the product costs less.  shared: weights; own: own_bytes for each thread. */
__attribute__((weak, visibility("hidden"), minsize)) int
tc_mm_winograd_run(const tc_mm_winograd *w, char *shared, int64_t shared_bytes, char *own, int64_t own_bytes) {
  const tc_mm *g = w->g;
  tc_mm_winograd_call x = {.w = w, .u = shared, .own = own, .own_bytes = own_bytes};
  if (g->batch <= 0 || g->m <= 0 || g->n <= 0 || w->c <= 0) return 0;
  x.high = tc_mm_ceil_div(w->h, 2), x.wide = tc_mm_ceil_div(w->w, 2);
  x.tiles = g->batch * w->images * x.high * x.wide;
  x.cols = tc_mm_winograd_cols(&x, own_bytes);
  if (!x.cols) return 0;
  x.mpanel = tc_mm_ceil_div(g->m, g->mr), x.npanel = tc_mm_ceil_div(x.tiles, x.cols);
  if (tc_mm_winograd_next(w) * x.mpanel * g->es > shared_bytes || !tc_mm_winograd_pays(&x)) return 0;
  const int64_t threads = tc_mm_min(tc_mm_threads(g, g->batch * g->m * g->n * g->k), x.npanel * x.mpanel);
  x.chunks = threads > 1 ? tc_mm_min(tc_mm_ceil_div(TC_MM_WINOGRAD_TASKS * threads, x.npanel), x.mpanel) : 1;
  tc_mm_team(tc_mm_winograd_worker, &x, threads);
  return 1;
}
#endif
