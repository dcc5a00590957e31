/* Gradients of the weights of convolutions with windows of 3 x 3 neighbours, by the transposed algorithm of
 * 85_winograd.c: sixteen multiplications in place of 36 for 2 x 2 places.
 *
 *   dW = G' [sum over tiles of (A dY A') * (B' d B)] G      dY: 2 x 2 places of row m, d: 4 x 4 points of channel c
 *
 *   task         some rows x some channels, whose sums stay in the second-level cache
 *     block      of tiles: A dY A' of the rows, B' d B of the channels, transposed so that channels are neighbours;
 *                sixteen products of row panels and panels of channels
 *   at its end   G' [..] G, the epilogue
 *
 * Blocks depend on nothing but the tiles, and so do results. */
/* @ tc_mm_winograd_gradient */
typedef struct tc_mm_winograd_gradient {
  const tc_mm *g;          /* C[m,(c,r,s)] = sum over (i,y,x) of A[m,(i,y,x)] * image[i,c,y + r,x + s] */
  int64_t images, c, h, w; /* channels; rows and columns of places */
  int64_t image_step, c_step, row_step;   /* of the images, in bytes; columns are neighbours */
  int64_t a_image_step, m_step, a_row_step; /* of A */
  int64_t lanes;           /* of a vector */
  const char *(*image)(const tc_mm *g, int64_t batch), *(*rows)(const tc_mm *g, int64_t batch);
  void (*tiles)(const char *x, int64_t row_step, int64_t height, int64_t width, int64_t n, float *v, int64_t step);
  /* v[16][..] = A dY A' of n tiles that follow each other in a row, from y on, where `height` rows of `width` places
   * are; `step` elements between positions.  Whole vectors are stored. */
  void (*places)(const char *y, int64_t row_step, int64_t height, int64_t width, int64_t n, float *v, int64_t step);
  /* to[j][i] = from[i][j] of `rows` x `cols` elements, numbers of whole vectors. */
  void (*transpose)(const float *from, int64_t from_step, float *to, int64_t to_step, int64_t rows, int64_t cols);
  /* y[9 n] = G' s G of n channels; s[16][..], `step` elements between positions.  Are all finite? */
  int (*weights)(const float *s, int64_t step, int64_t n, float *y);
} tc_mm_winograd_gradient;
/* @ tc_mm_winograd_places */
/* A of two vectors. */
TC_FN void tc_mm_winograd_expand(tc_vf32 a, tc_vf32 b, tc_vf32 t[4]) {
  t[0] = a, t[1] = a + b, t[2] = a - b, t[3] = -b;
}
TC_FN void tc_mm_winograd_place(const char *y, int64_t row_step, int64_t height, int64_t width, tc_f32 *v,
                                int64_t step) {
  tc_vf32 d[2][2], t[2][4];
  TC_UNROLL for (int p = 0; p < 2; ++p) {
    const tc_f32 *row = (const tc_f32 *)(y + p * row_step);
    const int64_t n = p < height ? width : 0;
    const tc_vf32 a = tc_mm_winograd_part(row, n), b = tc_mm_winograd_part(row + TC_L, n - TC_L);
    d[p][0] = __builtin_shufflevector(a, b, TC_EACH(TC_MM_EVEN, 0, 0));
    d[p][1] = __builtin_shufflevector(a, b, TC_EACH(TC_MM_ODD, 0, 0));
  }
  TC_UNROLL for (int q = 0; q < 2; ++q) tc_mm_winograd_expand(d[0][q], d[1][q], t[q]);
  TC_UNROLL for (int p = 0; p < 4; ++p) {
    tc_vf32 r[4];
    tc_mm_winograd_expand(t[0][p], t[1][p], r);
    TC_UNROLL for (int q = 0; q < 4; ++q) tc_store_f32(v + (4 * p + q) * step, r[q]);
  }
}
TC_SLOW void tc_mm_winograd_places(const char *y, int64_t row_step, int64_t height, int64_t width, int64_t n, tc_f32 *v,
                                   int64_t step) {
  for (int64_t j = 0; j < n; j += TC_L) tc_mm_winograd_place(y + j * 8, row_step, height, width - 2 * j, v + j, step);
}
/* @ tc_mm_winograd_transpose */
TC_SLOW void tc_mm_winograd_transpose(const tc_f32 *from, int64_t from_step, tc_f32 *to, int64_t to_step, int64_t rows,
                                 int64_t cols) {
  for (int64_t i = 0; i < rows; i += TC_L)
    for (int64_t j = 0; j < cols; j += TC_L)
      tc_mm_u32_transpose((const char *)(from + i * from_step + j), from_step * 4, (char *)(to + j * to_step + i),
                          to_step * 4, TC_L, TC_L);
}
/* @ tc_mm_winograd_sums */
/* G' of four vectors. */
TC_FN void tc_mm_winograd_fold(const tc_vf32 *p, int step, tc_vf32 r[3]) {
  const tc_vf32 sum = (p[step] + p[2 * step]) * 0.5f;
  r[0] = p[0] + sum, r[1] = (p[step] - p[2 * step]) * 0.5f, r[2] = sum + p[3 * step];
}
TC_SLOW int tc_mm_winograd_sums(const tc_f32 *s, int64_t step, int64_t n, tc_f32 *y) {
  tc_vf32 off = {0};
  for (int64_t j = 0; j < n; j += TC_L) {
    tc_vf32 m[4][4], t[3][4], r[3][3];
    TC_UNROLL for (int p = 0; p < 4; ++p)
      TC_UNROLL for (int q = 0; q < 4; ++q) m[p][q] = tc_mm_winograd_part(s + (4 * p + q) * step + j, n - j);
    TC_UNROLL for (int q = 0; q < 4; ++q) {
      tc_vf32 column[3];
      tc_mm_winograd_fold(&m[0][q], 4, column);
      TC_UNROLL for (int p = 0; p < 3; ++p) t[p][q] = column[p];
    }
    TC_UNROLL for (int p = 0; p < 3; ++p) {
      tc_mm_winograd_fold(t[p], 1, r[p]);
      TC_UNROLL for (int q = 0; q < 3; ++q) off += r[p][q] - r[p][q];
    }
    const int64_t some = TC_MIN(TC_L, n - j);
    TC_UNROLL for (int k = 0; k < 9; ++k)
      TC_ONE_BY_ONE for (int64_t l = 0; l < some; ++l) y[9 * (j + l) + k] = r[k / 3][k % 3][l];
  }
  int finite = 1;
  for (int l = 0; l < TC_L; ++l) finite &= off[l] == 0;
  return finite;
}
/* @ tc_mm_winograd_gradient_run */
#ifdef TC_ALONE
#define tc_mm_winograd_gradient_run TC_NAME(tc_mm_winograd_gradient_run_1)
#else
#define tc_mm_winograd_gradient_run tc_mm_winograd_gradient_run_1
#endif
#if TC_ISA != TC_LEVEL_v2 && !defined(TC_ALONE)
__attribute__((visibility("hidden"))) int tc_mm_winograd_gradient_run(const tc_mm_winograd_gradient *w, char *own,
                                                                      int64_t own_bytes);
#else
#define TC_MM_GRADIENT_POSITIONS 16
#define TC_MM_GRADIENT_TILES 32  /* of a block */
#define TC_MM_GRADIENT_ROWS 128   /* of a task at most */
#define TC_MM_GRADIENT_PANELS 1  /* of channels of a task at most */
#define TC_MM_GRADIENT_TASKS 4   /* for each thread, at least, where there are so many rows and channels */
/* What is done with vectors of tiles and each of these costs, in multiply-adds of vectors: B' d B in a channel, from
 * memory, transposed; A dY A' in a row.  Of an element that the product packs. */
#define TC_MM_GRADIENT_IMAGE 20
#define TC_MM_GRADIENT_IMAGE_TILE 50
#define TC_MM_GRADIENT_PLACES 10
#define TC_MM_GRADIENT_PLACES_TILE 12
#define TC_MM_GRADIENT_PACK 1.25

typedef struct tc_mm_gradient_call {
  const tc_mm_winograd_gradient *w;
  char *own;
  int64_t own_bytes;
  int64_t high, wide, tiles;  /* rows and columns of tiles of an image; of all images */
  int64_t rows, cols;         /* of a task: whole panels */
  int64_t tall, broad, next;  /* tasks along both; task that nobody has taken */
} tc_mm_gradient_call;

/* The parts of a thread's scratch. */
typedef struct tc_mm_gradient_scratch {
  float *sums, *rows, *image, *transposed, *y;
  tc_mm_winograd_packing packing; /* of what the product computes again */
} tc_mm_gradient_scratch;


/* Elements between positions of `n` rows of tiles: with room for a vector, in other cache sets. */
static inline int64_t tc_mm_gradient_step(int64_t n) { return n * TC_MM_GRADIENT_TILES + 16; }

TC_MM_FN int64_t tc_mm_gradient_parts(const tc_mm_gradient_call *x, char *own, tc_mm_gradient_scratch *p) {
  const tc_mm *g = x->w->g;
  float *at = (float *)own;
  p->sums = at, at += TC_MM_GRADIENT_POSITIONS * (x->rows * x->cols + 16);
  p->rows = at, at += TC_MM_GRADIENT_POSITIONS * tc_mm_gradient_step(x->rows);
  p->image = at, at += TC_MM_GRADIENT_POSITIONS * tc_mm_gradient_step(x->cols);
  p->transposed = at, at += TC_MM_GRADIENT_POSITIONS * tc_mm_gradient_step(x->cols);
  p->y = at, at += g->mr * 9 * x->cols;
  tc_mm_winograd_packing *s = &p->packing;
  s->a_stride = TC_MM_WINOGRAD_DEEP * g->es + 64;
  s->a = (char *)at, s->b = s->a + g->mr * s->a_stride;
  s->tile = s->b + (int64_t)TC_MM_WINOGRAD_DEEP * g->nr * g->es;
  return s->tile + g->mr * g->nr * g->cs - own + 64;
}

/* Of n tiles from t0 on, those of each row of tiles: transformed, of `lines` rows of A or channels, `pitch` bytes apart. */
TC_MM_FN void tc_mm_gradient_block(const tc_mm_gradient_call *x, int of_image, int64_t line, int64_t lines,
                                            int64_t t0, int64_t n, float *v, int64_t step) {
  const tc_mm_winograd_gradient *w = x->w;
  const int64_t each = x->high * x->wide, more = of_image ? 2 : 0;
  const int64_t image_step = of_image ? w->image_step : w->a_image_step;
  const int64_t row_step = of_image ? w->row_step : w->a_row_step, pitch = of_image ? w->c_step : w->m_step;
  const char *from = (of_image ? w->image(w->g, 0) : w->rows(w->g, 0)) + line * pitch;
  for (int64_t i = 0; i < lines; ++i, from += pitch, v += TC_MM_GRADIENT_TILES)
    for (int64_t t = 0, some; t < n; t += some) {
      const int64_t in = (t0 + t) % each, row = in / x->wide, column = in % x->wide;
      some = tc_mm_min(n - t, x->wide - column);
      const char *at = from + (t0 + t) / each * image_step + 2 * row * row_step + 2 * column * w->g->es;
      (of_image ? w->tiles : w->places)(at, row_step, w->h + more - 2 * row, w->w + more - 2 * column, some, v + t, step);
    }
}

/* Sums of rows m0 .. m0 + rows and channels c0 .. c0 + cn over a block of tiles. */
TC_MM_FN void tc_mm_gradient_products(const tc_mm_gradient_call *x, const tc_mm_gradient_scratch *p,
                                               int64_t rows, int64_t cn, int64_t n, int add) {
  const tc_mm *g = x->w->g;
  for (int64_t k = 0; k < TC_MM_GRADIENT_POSITIONS; ++k) {
    const float *a = p->rows + k * tc_mm_gradient_step(x->rows), *b = p->transposed + k * tc_mm_gradient_step(x->cols);
    float *c = p->sums + k * (x->rows * x->cols + 16);
    for (int64_t j = 0; j < cn; j += g->nr)
      for (int64_t i = 0; i < rows; i += g->mr)
        g->micro[tc_mm_fit(g->rows, tc_mm_min(g->mr, rows - i))]
                [tc_mm_fit(g->cols, tc_mm_min(g->nr, cn - j))](
                    n, (const char *)(a + i * TC_MM_GRADIENT_TILES), TC_MM_GRADIENT_TILES * g->es, g->es,
                    (const char *)(b + j), x->cols * g->es, (char *)(c + i * x->cols + j), x->cols * g->cs, add,
                    (const char *)b, 0);
  }
}

TC_MM_FN void tc_mm_gradient_task(const tc_mm_gradient_call *x, const tc_mm_gradient_scratch *p,
                                           int64_t task) {
  const tc_mm_winograd_gradient *w = x->w;
  const tc_mm *g = w->g;
  const int64_t m0 = task / x->broad * x->rows, rows = tc_mm_min(x->rows, g->m - m0);
  const int64_t c0 = task % x->broad * x->cols, cn = tc_mm_min(x->cols, w->c - c0);
  const int64_t step = tc_mm_gradient_step(x->cols), cols = tc_mm_round_up(cn, w->lanes);
  for (int64_t t = 0; t < x->tiles; t += TC_MM_GRADIENT_TILES) {
    const int64_t n = tc_mm_min(TC_MM_GRADIENT_TILES, x->tiles - t);
    tc_mm_gradient_block(x, 0, m0, rows, t, n, p->rows, tc_mm_gradient_step(x->rows));
    tc_mm_gradient_block(x, 1, c0, cn, t, n, p->image, step);
    for (int64_t k = 0; k < TC_MM_GRADIENT_POSITIONS; ++k)
      w->transpose(p->image + k * step, TC_MM_GRADIENT_TILES, p->transposed + k * step, x->cols, cols,
              tc_mm_round_up(n, w->lanes));
    tc_mm_gradient_products(x, p, rows, cn, n, t ? TC_MM_ADD : 0);
  }
  for (int64_t i = 0; i < rows; i += g->mr) {
    const int64_t some = tc_mm_min(g->mr, rows - i);
    int finite = 1;
    for (int64_t r = 0; r < some; ++r)
      finite &= w->weights(p->sums + (i + r) * x->cols, x->rows * x->cols + 16, cn, p->y + r * 9 * x->cols);
    const tc_mm_winograd_region part = {0, m0 + i, some, 9 * c0, 9 * cn};
    if (!finite) tc_mm_winograd_product(g, &p->packing, &part, p->y, 9 * x->cols);
    g->epilogue(g, 0, m0 + i, some, 9 * c0, 9 * cn, (const char *)p->y, 9 * x->cols * g->cs);
  }
}

TC_MM_FN void tc_mm_gradient_worker(void *call, int id, int threads) {
  tc_mm_gradient_call *x = (tc_mm_gradient_call *)call;
  tc_mm_gradient_scratch p;
  const tc_fe env = tc_fe_hold();
  (void)threads;
  tc_mm_gradient_parts(x, x->own + id * x->own_bytes, &p);
  __builtin_memset(p.rows, 0, (char *)p.y - (char *)p.rows); /* lines that no task fills are multiplied, too */
  for (int64_t i; (i = __atomic_fetch_add(&x->next, 1, __ATOMIC_RELAXED)) < x->tall * x->broad;)
    tc_mm_gradient_task(x, &p, i);
  tc_fe_restore(env);
}

/* Tasks of so many rows and channels at most. */
TC_MM_FN void tc_mm_gradient_cut(tc_mm_gradient_call *x, int64_t rows, int64_t cols) {
  const tc_mm *g = x->w->g;
  x->rows = tc_mm_round_up(tc_mm_min(rows, g->m), g->mr);
  x->cols = tc_mm_round_up(tc_mm_min(cols, x->w->c), g->nr);
  x->tall = tc_mm_ceil_div(g->m, x->rows), x->broad = tc_mm_ceil_div(x->w->c, x->cols);
}

/* Is that less than the product's work? */
TC_MM_FN int tc_mm_gradient_pays(const tc_mm_gradient_call *x) {
  const tc_mm_winograd_gradient *w = x->w;
  const tc_mm *g = w->g;
  const double m = tc_mm_round_up(g->m, g->mr), lanes = w->lanes;
  const double c = tc_mm_ceil_div(w->c, w->lanes), n = tc_mm_ceil_div(g->n, w->lanes);
  const double vectors = (double)w->images * x->high * tc_mm_ceil_div(x->wide, w->lanes);
  const double image = vectors * TC_MM_GRADIENT_IMAGE + (double)x->tiles * TC_MM_GRADIENT_IMAGE_TILE;
  const double places = vectors * TC_MM_GRADIENT_PLACES + (double)x->tiles * TC_MM_GRADIENT_PLACES_TILE;
  const double all = TC_MM_GRADIENT_POSITIONS * m * c * (x->tiles + lanes) + image * w->c * x->tall + places * m * x->broad;
  return all * 10 < (m * n + g->n * TC_MM_GRADIENT_PACK) * g->k * 9;
}

/* Returns 0, and does nothing, where the product costs less.  own: own_bytes for each thread. */
__attribute__((weak, visibility("hidden"), minsize)) int
tc_mm_winograd_gradient_run(const tc_mm_winograd_gradient *w, char *own, int64_t own_bytes) {
  const tc_mm *g = w->g;
  tc_mm_gradient_call x = {.w = w, .own = own, .own_bytes = own_bytes};
  tc_mm_gradient_scratch p;
  if (g->batch != 1 || g->m <= 0 || g->n <= 0 || g->k <= 0) return 0;
  x.high = tc_mm_ceil_div(w->h, 2), x.wide = tc_mm_ceil_div(w->w, 2);
  x.tiles = w->images * x.high * x.wide;
  tc_mm_gradient_cut(&x, TC_MM_GRADIENT_ROWS, TC_MM_GRADIENT_PANELS * g->nr);
  if (tc_mm_gradient_parts(&x, own, &p) > own_bytes || !tc_mm_gradient_pays(&x)) return 0;
  const int64_t threads = tc_mm_threads(g, g->m * g->n * g->k);
  for (int64_t rows = TC_MM_GRADIENT_ROWS / 2, cols = g->nr;
       threads > 1 && x.tall * x.broad < TC_MM_GRADIENT_TASKS * threads && rows >= 2 * g->mr; rows /= 2)
    tc_mm_gradient_cut(&x, rows, cols);
  tc_mm_team(tc_mm_gradient_worker, &x, tc_mm_min(threads, x.tall * x.broad));
  return 1;
}
#endif
