/* Matrix products: blocking, packing and work split.  C[b,m,n] = sum over k of A[b,m,k] * B[b,k,n].
 *
 * A micro-kernel keeps a tile of C (up to mr rows by two vectors) in registers while k runs.  It
 * reads A by any two strides, one broadcast per row, and B in panels of nr columns whose rows of
 * two vectors follow each other.  K is cut in blocks of about kc, so that a panel of B (kc x nr) and
 * the rows of A that meet it (TC_MM_A_BYTES) stay in the near caches.
 *
 *   superblock   batches x column panels whose packed B fits the shared scratch
 *     all threads pack B together; barrier
 *     task       rows x panels of C, taken from a counter by any thread
 *       k block  A's rows are packed where their strides hurt, else read in place
 *         panel of B, panel of A: micro-kernel; after the last k block the epilogue
 *
 * An element of C is a sum in order of k, cut at blocks that depend on K alone: no other choice made
 * here changes a result, so tasks may depend on the number of threads. */
/* @ tc_mm tc_mm_micro TC_MM_A_BYTES TC_MM_PANELS TC_MM_PAD */
#define TC_MM_A_BYTES 573440 /* A's rows of a task, for one k block: half of a second-level cache */
#define TC_MM_PANELS 64      /* most panels of rows in a task */
#define TC_MM_PAD 64         /* between packed rows of A, so that they meet different cache sets */

/* c[i][j] (+)= sum over k of a[i * rs + k * ks] * b[k * bs + j]; strides in bytes.  On its way it
 * asks for k lines of memory from `ahead` on: a part of the next panel of B. */
typedef void tc_mm_micro(int64_t k, const char *a, int64_t rs, int64_t ks, const char *b, int64_t bs,
                         char *c, int64_t cs, int add, const char *ahead);

typedef struct tc_mm tc_mm;
struct tc_mm {
  int64_t batch, m, n, k;
  int64_t kc;               /* wanted length of a k block */
  int64_t sums;             /* bytes of sums that a task keeps between k blocks */
  int es, cs;               /* bytes of an element of packed A and B, of an accumulator */
  int mr, nr;               /* rows and columns of the largest tile */
  int ku, kp;               /* k elements side by side in a packed row of B; k is padded to kp */
  int rows[3];              /* tile heights, falling from mr; 0: no more */
  tc_mm_micro *micro[3][2]; /* by height, for nr and nr / 2 columns */
  int b_shared;             /* every batch has the same B */
  int a_cols;               /* A is packed with rows side by side, else with k side by side */
  int64_t a_rs, a_ks, b_ks, c_rs; /* strides in bytes where the callbacks below are given */
  /* Addresses of elements of operands that can be read in place, of a C that can be written in place. */
  const char *(*a_at)(const tc_mm *g, int64_t batch, int64_t m, int64_t k);
  const char *(*b_at)(const tc_mm *g, int64_t batch, int64_t k, int64_t n);
  char *(*c_at)(const tc_mm *g, int64_t batch, int64_t m, int64_t n);
  /* dst[i][k] with `stride` bytes between rows, or, with a_cols, between values of k. */
  void (*a_pack)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t k0, int64_t kn,
                 char *dst, int64_t stride);
  /* dst[k][nr], columns past `cols` undefined, k padded with zeros to a multiple of kp. */
  void (*b_pack)(const tc_mm *g, int64_t batch, int64_t n0, int64_t cols, int64_t nr, int64_t k0,
                 int64_t kn, char *dst);
  /* Consumes a finished tile; stride in bytes. */
  void (*epilogue)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t n0, int64_t cols,
                   const char *tile, int64_t stride);
  /* Asks for the memory that the tile's epilogue will touch, while the sums are made; or 0. */
  void (*ahead)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t n0, int64_t cols);
  void (*begin)(void), (*end)(void); /* around a thread's tiles, or 0 */
  void *const *buf;
  const int64_t *sym;
  const tc_value *scalar;
  int *bad;
};
/* @ tc_mm_run */
/* The driver holds no vector code: one copy, compiled with the lowest level, serves all levels and
 * units.  The number in its name grows with every change of struct tc_mm or of its meaning, because
 * objects of two versions may meet at link.  TC_ALONE: a text of one level is compiled by itself. */
#define tc_mm_run tc_mm_run_1
#if TC_ISA != TC_LEVEL_v2 && !defined(TC_ALONE)
__attribute__((visibility("hidden"))) void tc_mm_run(const tc_mm *g, char *shared, int64_t shared_bytes,
                                                     char *own, int64_t own_bytes);
#else
#define TC_MM_FN static __attribute__((noinline, minsize, nodebug))
extern int omp_get_max_threads(void);
extern int omp_get_num_threads(void);
extern int omp_get_thread_num(void);

/* What one call shares. */
typedef struct tc_mm_call {
  const tc_mm *g;
  char *b, *own;          /* packed B; the threads' parts */
  int64_t own_bytes;
  int64_t npanel, mpanel; /* panels of nr columns, of mr rows */
  int64_t kc, kblocks;    /* length of a k block, a multiple of kp (the last is shorter) */
  int64_t panel_bytes;    /* of a packed panel of B */
  int64_t row_bytes;      /* between packed rows of A */
  int64_t high, wide;     /* most row panels, column panels of a task */
  int64_t group, panels;  /* batches and column panels of a superblock */
  int a_direct, b_direct;
  int64_t next[2];        /* task counters of even and odd superblocks */
} tc_mm_call;

/* One superblock: batches b0 .. b0+nb, panels q0 .. q0+nq; gm x gn tasks a batch. */
typedef struct tc_mm_super {
  int64_t b0, nb, q0, nq, gm, gn;
} tc_mm_super;

/* A column panel: its first column, how many there are, and the width it is computed with. */
typedef struct tc_mm_panel {
  int64_t n0, cols, width;
  int inplace; /* all columns are there, and B can be read in place */
} tc_mm_panel;

/* A task: row panels p0 .. p1, column panels q0 .. q1, packed B of q0, and of the k block at hand
 * where the rows of each A panel are. */
typedef struct tc_mm_task {
  int64_t batch, p0, p1, q0, q1;
  const char *b;
  int fresh; /* A's rows are not in the thread's scratch from the last task */
  char *rows, *sums;
  const char *a[TC_MM_PANELS];
  int64_t rs[TC_MM_PANELS], ks[TC_MM_PANELS];
} tc_mm_task;

static inline int64_t tc_mm_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tc_mm_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

TC_MM_FN tc_mm_panel tc_mm_panel_at(const tc_mm_call *c, int64_t q) {
  const tc_mm *g = c->g;
  tc_mm_panel p = {q * g->nr, tc_mm_min(g->nr, g->n - q * g->nr), g->nr, 0};
  if (p.cols * 2 <= g->nr) p.width = g->nr / 2;
  p.inplace = c->b_direct && p.cols == p.width;
  return p;
}

/* Smallest tile height that holds `rows`. */
TC_MM_FN int tc_mm_height(const tc_mm *g, int64_t rows) {
  int v = 0;
  while (v < 2 && g->rows[v + 1] >= rows) ++v;
  return v;
}

/* Packs this thread's share of B's panels. */
TC_MM_FN void tc_mm_pack_b(const tc_mm_call *c, const tc_mm_super *s, int id, int threads) {
  const tc_mm *g = c->g;
  const int64_t per = s->nq * c->kblocks, count = per * (g->b_shared ? 1 : s->nb);
  for (int64_t i = id; i < count; i += threads) {
    const int64_t batch = i / per, q = i % per / c->kblocks, k0 = i % c->kblocks * c->kc;
    const tc_mm_panel p = tc_mm_panel_at(c, s->q0 + q);
    if (!p.inplace)
      g->b_pack(g, s->b0 + batch, p.n0, p.cols, p.width, k0, tc_mm_min(c->kc, g->k - k0),
                c->b + (batch * s->nq + q) * c->panel_bytes + k0 * p.width * g->es);
  }
}

/* The rows of the task's A panel p for one k block: in place, or packed. */
TC_MM_FN void tc_mm_a_panel(const tc_mm_call *c, tc_mm_task *t, int64_t p, int64_t k0, int64_t kn) {
  const tc_mm *g = c->g;
  const int64_t m0 = p * g->mr, rows = tc_mm_min(g->mr, g->m - m0), i = p - t->p0;
  const int64_t height = g->rows[tc_mm_height(g, rows)], deep = tc_mm_up(kn, g->kp) * g->kp;
  char *dst = t->rows + i * g->mr * c->row_bytes;
  if (c->a_direct && rows == height) {
    t->rs[i] = g->a_rs, t->ks[i] = g->a_ks * g->ku;
    t->a[i] = g->a_at(g, t->batch, m0, k0);
    return;
  }
  const int64_t step = g->a_cols ? height * g->es : g->es; /* between values of k */
  t->rs[i] = g->a_cols ? g->es : c->row_bytes;
  t->ks[i] = step * g->ku;
  t->a[i] = dst;
  if (!t->fresh && k0 == 0) return;
  if (rows < height || kn < deep) __builtin_memset(dst, 0, g->a_cols ? deep * step : height * c->row_bytes);
  g->a_pack(g, t->batch, m0, rows, k0, kn, dst, g->a_cols ? step : c->row_bytes);
}

/* Where a tile's sums wait for the next k block.  Where C is written in place only tiles at its edge
 * wait: those of the last, incomplete column panel, else of the last row panel. */
TC_MM_FN int64_t tc_mm_slot(const tc_mm_call *c, const tc_mm_task *t, int64_t q, int64_t i, int edge) {
  if (c->kblocks == 1) return 0;
  if (!c->g->c_at) return (q - t->q0) * (t->p1 - t->p0) + i;
  return edge ? t->q1 - t->q0 + i : q - t->q0;
}

/* One panel of B against the task's panels of A. */
TC_MM_FN void tc_mm_column(const tc_mm_call *c, const tc_mm_task *t, int64_t q, int64_t k0, int64_t kn) {
  const tc_mm *g = c->g;
  const tc_mm_panel n = tc_mm_panel_at(c, q);
  const int64_t steps = tc_mm_up(kn, g->kp) * (g->kp / g->ku), cs = g->nr * g->cs;
  const char *b = n.inplace ? g->b_at(g, t->batch, k0, n.n0)
                            : t->b + (q - t->q0) * c->panel_bytes + k0 * n.width * g->es;
  const int64_t bs = n.inplace ? g->b_ks : n.width * g->es * g->ku;
  const char *next = q + 1 < t->q1 && !n.inplace ? b + c->panel_bytes : b, *stop = next + kn * n.width * g->es;
  for (int64_t i = 0; i < t->p1 - t->p0; ++i) {
    const int64_t m0 = (t->p0 + i) * g->mr, rows = tc_mm_min(g->mr, g->m - m0);
    const int v = tc_mm_height(g, rows);
    if (g->ahead && k0 + kn == g->k) g->ahead(g, t->batch, m0, rows, n.n0, n.cols);
    tc_mm_micro *micro = g->micro[v][n.width < g->nr];
    const char *line = next + i * steps * 64;
    if (line >= stop) line = b;
    if (g->c_at && rows == g->rows[v] && n.cols == n.width) {
      micro(steps, t->a[i], t->rs[i], t->ks[i], b, bs, g->c_at(g, t->batch, m0, n.n0), g->c_rs, k0 > 0, line);
      continue;
    }
    char *sums = t->sums + tc_mm_slot(c, t, q, i, n.cols < n.width) * g->mr * cs;
    micro(steps, t->a[i], t->rs[i], t->ks[i], b, bs, sums, cs, k0 > 0, line);
    if (k0 + kn == g->k) g->epilogue(g, t->batch, m0, rows, n.n0, n.cols, sums, cs);
  }
}

TC_MM_FN void tc_mm_do(const tc_mm_call *c, tc_mm_task *t) {
  const tc_mm *g = c->g;
  for (int64_t kb = 0; kb < c->kblocks; ++kb) {
    const int64_t k0 = kb * c->kc, kn = tc_mm_min(c->kc, g->k - k0);
    for (int64_t p = t->p0; p < t->p1; ++p) tc_mm_a_panel(c, t, p, k0, kn);
    for (int64_t q = t->q0; q < t->q1; ++q) tc_mm_column(c, t, q, k0, kn);
  }
}

/* Tasks of a superblock, until none is left.  Neighbours in number share A's rows. */
TC_MM_FN void tc_mm_tasks(tc_mm_call *c, const tc_mm_super *s, int64_t *next, char *own) {
  tc_mm_task t;
  int64_t held = -1;
  t.rows = own, t.sums = own + TC_MM_A_BYTES;
  for (;;) {
    const int64_t i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
    if (i >= s->nb * s->gm * s->gn) return;
    const int64_t row = i / s->gn, gj = i % s->gn, batch = row / s->gm, gi = row % s->gm;
    t.batch = s->b0 + batch;
    t.p0 = gi * c->mpanel / s->gm, t.p1 = (gi + 1) * c->mpanel / s->gm;
    t.q0 = s->q0 + gj * s->nq / s->gn, t.q1 = s->q0 + (gj + 1) * s->nq / s->gn;
    t.fresh = c->kblocks > 1 || row != held;
    t.b = c->b + ((c->g->b_shared ? 0 : batch) * s->nq + t.q0 - s->q0) * c->panel_bytes;
    tc_mm_do(c, &t);
    held = row;
  }
}

/* Cuts a superblock into tasks: no larger than the scratch, at least four per thread where the tiles
 * allow it, and a multiple of the number of threads when there are few. */
TC_MM_FN void tc_mm_split(const tc_mm_call *c, tc_mm_super *s, int64_t threads) {
  const tc_mm *g = c->g;
  s->gn = tc_mm_up(s->nq, c->wide), s->gm = tc_mm_up(c->mpanel, c->high);
  if (threads == 1) return;
  for (;;) {
    const int64_t n = s->nb * s->gm * s->gn;
    const int64_t tall = c->mpanel / s->gm * g->mr, broad = s->nq / s->gn * g->nr;
    if (n > 16 * threads || (n >= 4 * threads && n % threads == 0)) return;
    if (s->gm < c->mpanel && (tall >= broad || s->gn >= s->nq)) ++s->gm;
    else if (s->gn < s->nq) ++s->gn;
    else return;
  }
}

TC_MM_FN void tc_mm_worker(tc_mm_call *c, int id, int threads) {
  const tc_mm *g = c->g;
  const int packs = !c->b_direct || g->n % g->nr;
  int odd = 0;
  if (g->begin) g->begin();
  for (int64_t b0 = 0; b0 < g->batch; b0 += c->group)
    for (int64_t q0 = 0; q0 < c->npanel; q0 += c->panels, odd ^= 1) {
      tc_mm_super s = {b0, tc_mm_min(c->group, g->batch - b0), q0, tc_mm_min(c->panels, c->npanel - q0), 1, 1};
      tc_mm_split(c, &s, threads);
      if (packs) tc_mm_pack_b(c, &s, id, threads);
      if (packs && threads > 1) {
#pragma omp barrier
      }
      if (id == 0) c->next[!odd] = 0; /* all have left the superblock before */
      tc_mm_tasks(c, &s, &c->next[odd], c->own + id * c->own_bytes);
      if (threads > 1 && (b0 + c->group < g->batch || q0 + c->panels < c->npanel)) {
#pragma omp barrier
      }
    }
  if (g->end) g->end();
}

/* Blocks of k: of equal length, one where it is not much longer than wanted.  How many rows of A and
 * sums that allows.  How much of B is packed at a time: what the shared scratch holds. */
TC_MM_FN void tc_mm_plan(tc_mm_call *c, int64_t shared_bytes) {
  const tc_mm *g = c->g;
  c->kblocks = g->k * 2 <= g->kc * 3 ? 1 : tc_mm_up(g->k, g->kc);
  c->kc = tc_mm_up(tc_mm_up(g->k, c->kblocks), 32) * 32;
  c->row_bytes = c->kc * g->es + TC_MM_PAD;
  c->high = tc_mm_min(TC_MM_A_BYTES / (c->row_bytes * g->mr), TC_MM_PANELS);
  c->high = tc_mm_up(c->mpanel, tc_mm_up(c->mpanel, c->high));
  const int64_t slots = g->sums / (g->mr * g->nr * g->cs);
  c->wide = c->kblocks == 1 ? c->npanel : g->c_at ? slots - c->high : slots / c->high;
  const int64_t fit = c->panel_bytes ? shared_bytes / c->panel_bytes : c->npanel;
  c->panels = tc_mm_min(c->npanel, fit > 0 ? fit : 1);
  c->group = g->batch;
  if (c->b_direct && g->n % g->nr == 0) c->panels = c->npanel;
  else if (!g->b_shared && c->panels < c->npanel) c->group = 1;
  else if (!g->b_shared) c->group = tc_mm_min(g->batch, fit / c->npanel);
}

/* shared: packed B, shared_bytes; own: own_bytes for each thread. */
__attribute__((weak, visibility("hidden"), minsize)) void tc_mm_run(const tc_mm *g, char *shared,
                                                                    int64_t shared_bytes, char *own,
                                                                    int64_t own_bytes) {
  if (g->batch <= 0 || g->m <= 0 || g->n <= 0) return;
  tc_mm_call c = {.g = g, .b = shared, .own = own, .own_bytes = own_bytes,
                  .npanel = tc_mm_up(g->n, g->nr), .mpanel = tc_mm_up(g->m, g->mr),
                  .panel_bytes = tc_mm_up(g->k, g->kp) * g->kp * g->nr * g->es};
  const int even = g->k % g->kp == 0;
  c.a_direct = g->a_at && even && (g->a_rs % 2048 != 0 || g->m <= 2 * g->mr);
  c.b_direct = g->b_at && even && (g->m <= 2 * g->mr || g->k * g->b_ks <= 65536);
  tc_mm_plan(&c, shared_bytes);
  const int64_t tiles = g->batch * c.mpanel * c.npanel, work = g->batch * g->m * g->n * (g->k + 4);
  const int threads = work < 500000 ? 1 : (int)tc_mm_min(omp_get_max_threads(), tiles);
  if (threads == 1) {
    tc_mm_worker(&c, 0, 1);
    return;
  }
#pragma omp parallel num_threads(threads)
  tc_mm_worker(&c, omp_get_thread_num(), omp_get_num_threads());
}
#endif
