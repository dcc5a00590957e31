/* Matrix products: blocking, packing and work split.  C[b,m,n] = sum over k of A[b,m,k] * B[b,k,n].
 *
 * A micro-kernel keeps a tile of C (up to mr rows by two vectors) in registers while k runs.  It
 * reads A by any two strides, one broadcast per row, and B in panels of nr columns whose rows of
 * two vectors follow each other.  K is cut in blocks of kc, so that a panel of B (kc x nr) and the
 * rows of A that meet it (up to TC_MM_ROWS x kc) stay in the near caches.
 *
 *   superblock   batches x column panels whose packed B fits the shared scratch
 *     all threads pack B together; barrier
 *     task       rows x panels of C, taken from a counter by any thread
 *       k block  A's rows are packed where their strides hurt, else read in place
 *         panel of B, panel of A: micro-kernel; after the last k block the epilogue
 *
 * An element of C is a sum in order of k, cut only at multiples of kc: no choice made here changes a
 * result, so tasks may depend on the number of threads. */
/* @ tc_mm tc_mm_micro TC_MM_ROWS TC_MM_COLS TC_MM_ALIGN */
#define TC_MM_ROWS 144  /* most rows of a task */
#define TC_MM_COLS 1024 /* most bytes of a row of C that a task accumulates */
#define TC_MM_PAD 64    /* between packed rows of A, so that they meet different cache sets */

/* c[i][j] (+)= sum over k of a[i * rs + k * ks] * b[k * bs + j]; strides in bytes. */
typedef void tc_mm_micro(int64_t k, const char *a, int64_t rs, int64_t ks, const char *b, int64_t bs,
                         char *c, int64_t cs, int add);

typedef struct tc_mm tc_mm;
struct tc_mm {
  int64_t batch, m, n, k;
  int64_t kc;               /* a multiple of ku; the last block is shorter */
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
  void (*begin)(void), (*end)(void); /* around a thread's tiles, or 0 */
  void *const *buf;
  const int64_t *sym;
  const tc_value *scalar;
  int *bad;
};
/* @ tc_mm_run */
extern int omp_get_max_threads(void);
extern int omp_get_num_threads(void);
extern int omp_get_thread_num(void);

/* What one call shares. */
typedef struct tc_mm_call {
  const tc_mm *g;
  char *b, *own;             /* packed B; the threads' parts */
  int64_t own_bytes;
  int64_t npanel, mpanel, kblocks;
  int64_t group, panels;     /* batches and column panels of a superblock */
  int a_direct, b_direct;
  int64_t next[2];           /* task counters of even and odd superblocks */
} tc_mm_call;

/* One superblock: batches b0 .. b0+nb, panels q0 .. q0+nq. */
typedef struct tc_mm_super {
  int64_t b0, nb, q0, nq;
  int64_t gm, gn;            /* its tasks per batch */
} tc_mm_super;

TC_FN int64_t tc_mm_min(int64_t a, int64_t b) { return a < b ? a : b; }
TC_FN int64_t tc_mm_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Columns of panel q, and the width it is computed with. */
TC_FN int64_t tc_mm_cols(const tc_mm *g, int64_t q) { return tc_mm_min(g->nr, g->n - q * g->nr); }
TC_FN int64_t tc_mm_width(const tc_mm *g, int64_t q) {
  return tc_mm_cols(g, q) * 2 <= g->nr ? g->nr / 2 : g->nr;
}
/* Panels whose columns are all there are read in place. */
TC_FN int tc_mm_b_inplace(const tc_mm_call *c, int64_t q) {
  return c->b_direct && tc_mm_cols(c->g, q) == tc_mm_width(c->g, q);
}
TC_FN int64_t tc_mm_panel_bytes(const tc_mm *g) {
  return tc_mm_up(g->k, g->kp) * g->kp * g->nr * g->es;
}
/* Smallest tile height that holds `rows`. */
TC_FN int tc_mm_height(const tc_mm *g, int64_t rows) {
  int v = 0;
  while (v < 2 && g->rows[v + 1] >= rows) ++v;
  return v;
}

/* Packs this thread's share of B's panels. */
TC_SLOW void tc_mm_pack_b(const tc_mm_call *c, const tc_mm_super *s, int id, int threads) {
  const tc_mm *g = c->g;
  const int64_t batches = g->b_shared ? 1 : s->nb, per = s->nq * c->kblocks;
  for (int64_t i = id; i < batches * per; i += threads) {
    const int64_t batch = i / per, q = i % per / c->kblocks, kb = i % c->kblocks;
    if (tc_mm_b_inplace(c, s->q0 + q)) continue;
    const int64_t width = tc_mm_width(g, s->q0 + q), k0 = kb * g->kc;
    char *dst = c->b + (batch * s->nq + q) * tc_mm_panel_bytes(g) + k0 * width * g->es;
    g->b_pack(g, s->b0 + batch, (s->q0 + q) * g->nr, tc_mm_cols(g, s->q0 + q), width, k0,
              tc_mm_min(g->kc, g->k - k0), dst);
  }
}

/* The rows of one A panel for one k block: in place, or packed to dst. */
TC_FN const char *tc_mm_a_panel(const tc_mm_call *c, int64_t batch, int64_t p, int64_t k0, int64_t kn,
                                char *dst, int64_t *rs, int64_t *ks, int fresh) {
  const tc_mm *g = c->g;
  const int64_t m0 = p * g->mr, rows = tc_mm_min(g->mr, g->m - m0);
  const int64_t height = g->rows[tc_mm_height(g, rows)];
  if (c->a_direct && rows == height) {
    *rs = g->a_rs, *ks = g->a_ks;
    return g->a_at(g, batch, m0, k0);
  }
  const int64_t kn_pad = tc_mm_up(kn, g->kp) * g->kp;
  *rs = g->a_cols ? g->es : g->kc * g->es + TC_MM_PAD;
  *ks = g->a_cols ? height * g->es : g->es;
  if (!fresh) return dst;
  if (rows < height || kn < kn_pad) __builtin_memset(dst, 0, g->a_cols ? kn_pad * *ks : height * *rs);
  g->a_pack(g, batch, m0, rows, k0, kn, dst, g->a_cols ? *ks : *rs);
  return dst;
}

typedef struct tc_mm_task {
  int64_t batch, p0, p1, q0, q1; /* row panels, column panels (of the whole product) */
  const char *b;                 /* packed panel q0 */
  int fresh;                     /* A's rows are not in the thread's scratch from the last task */
} tc_mm_task;

/* One panel of B against the task's panels of A. */
TC_FN void tc_mm_column(const tc_mm_call *c, const tc_mm_task *t, int64_t q, int64_t kb,
                        const char *const *a, const int64_t *rs, const int64_t *ks, char *acc) {
  const tc_mm *g = c->g;
  const int64_t k0 = kb * g->kc, kn = tc_mm_min(g->kc, g->k - k0), n0 = q * g->nr;
  const int64_t cols = tc_mm_cols(g, q), width = tc_mm_width(g, q), steps = tc_mm_up(kn, g->kp) * (g->kp / g->ku);
  const int last = kb == c->kblocks - 1, inplace = tc_mm_b_inplace(c, q);
  const char *b = inplace ? g->b_at(g, t->batch, k0, n0)
                          : t->b + (q - t->q0) * tc_mm_panel_bytes(g) + k0 * width * g->es;
  const int64_t bs = inplace ? g->b_ks : width * g->es * g->ku;
  for (int64_t p = t->p0; p < t->p1; ++p) {
    const int64_t m0 = p * g->mr, rows = tc_mm_min(g->mr, g->m - m0);
    const int v = tc_mm_height(g, rows);
    char *out = acc;
    int64_t cs = g->nr * g->cs;
    const int direct = g->c_at && rows == g->rows[v] && cols == width;
    if (direct) {
      out = g->c_at(g, t->batch, m0, n0), cs = g->c_rs;
    } else if (c->kblocks > 1) {
      out = acc + ((q - t->q0) * (t->p1 - t->p0) + (p - t->p0)) * g->mr * cs;
    }
    g->micro[v][width < g->nr](steps, a[p - t->p0], rs[p - t->p0], ks[p - t->p0] * g->ku, b, bs, out, cs, kb > 0);
    if (last && !direct) g->epilogue(g, t->batch, m0, rows, n0, cols, out, cs);
  }
}

TC_SLOW void tc_mm_do(const tc_mm_call *c, const tc_mm_task *t, char *own) {
  const tc_mm *g = c->g;
  const char *a[TC_MM_ROWS];
  int64_t rs[TC_MM_ROWS], ks[TC_MM_ROWS];
  char *acc = own + TC_MM_ROWS * (g->kc * g->es + TC_MM_PAD);
  for (int64_t kb = 0; kb < c->kblocks; ++kb) {
    const int64_t k0 = kb * g->kc, kn = tc_mm_min(g->kc, g->k - k0);
    for (int64_t p = t->p0; p < t->p1; ++p)
      a[p - t->p0] = tc_mm_a_panel(c, t->batch, p, k0, kn, own + (p - t->p0) * g->mr * (g->kc * g->es + TC_MM_PAD),
                                   &rs[p - t->p0], &ks[p - t->p0], t->fresh || kb > 0);
    for (int64_t q = t->q0; q < t->q1; ++q) tc_mm_column(c, t, q, kb, a, rs, ks, acc);
  }
}

/* Tasks of a superblock, until none is left.  Neighbours in number share A's rows. */
TC_SLOW void tc_mm_tasks(tc_mm_call *c, const tc_mm_super *s, int64_t *next, char *own) {
  const tc_mm *g = c->g;
  int64_t held = -1;
  for (;;) {
    const int64_t i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
    if (i >= s->nb * s->gm * s->gn) return;
    const int64_t batch = i / (s->gm * s->gn), gi = i / s->gn % s->gm, gj = i % s->gn;
    const int64_t row = i / s->gn;
    tc_mm_task t = {.batch = s->b0 + batch,
                    .p0 = gi * c->mpanel / s->gm,
                    .p1 = (gi + 1) * c->mpanel / s->gm,
                    .q0 = s->q0 + gj * s->nq / s->gn,
                    .q1 = s->q0 + (gj + 1) * s->nq / s->gn,
                    .fresh = c->kblocks > 1 || row != held};
    t.b = c->b + ((g->b_shared ? 0 : batch) * s->nq + (t.q0 - s->q0)) * tc_mm_panel_bytes(g);
    tc_mm_do(c, &t, own);
    held = row;
  }
}

/* Cuts a superblock into tasks: no larger than the scratch, at least four per thread where the tiles
 * allow it, and a multiple of the number of threads when there are few. */
TC_FN void tc_mm_split(const tc_mm_call *c, tc_mm_super *s, int64_t threads) {
  const tc_mm *g = c->g;
  const int64_t wide = TC_MM_COLS / (g->nr * g->cs), high = TC_MM_ROWS / g->mr;
  s->gn = tc_mm_up(s->nq, wide > 0 ? wide : 1), s->gm = tc_mm_up(c->mpanel, high);
  if (threads == 1) return;
  while (s->nb * s->gm * s->gn < 4 * threads || (s->nb * s->gm * s->gn) % threads) {
    const int64_t tall = c->mpanel / s->gm * g->mr, broad = s->nq / s->gn * g->nr;
    if (s->gm < c->mpanel && (tall >= broad || s->gn >= s->nq)) ++s->gm;
    else if (s->gn < s->nq) ++s->gn;
    else break;
    if (s->nb * s->gm * s->gn > 16 * threads) break;
  }
}

TC_SLOW void tc_mm_worker(tc_mm_call *c, int id, int threads) {
  const tc_mm *g = c->g;
  char *own = c->own + id * c->own_bytes;
  int parity = 0, packs = !c->b_direct || g->n % g->nr;
  if (g->begin) g->begin();
  for (int64_t b0 = 0; b0 < g->batch; b0 += c->group)
    for (int64_t q0 = 0; q0 < c->npanel; q0 += c->panels, parity ^= 1) {
      tc_mm_super s = {.b0 = b0, .nb = tc_mm_min(c->group, g->batch - b0), .q0 = q0,
                       .nq = tc_mm_min(c->panels, c->npanel - q0)};
      tc_mm_split(c, &s, threads);
      if (packs) tc_mm_pack_b(c, &s, id, threads);
      if (threads > 1 && packs) {
#pragma omp barrier
        if (id == 0) c->next[!parity] = 0;
      }
      tc_mm_tasks(c, &s, &c->next[parity], own);
      if (threads == 1) {
        c->next[!parity] = 0;
      } else if (b0 + c->group < g->batch || q0 + c->panels < c->npanel) {
#pragma omp barrier
      }
    }
  if (g->end) g->end();
}

/* How much of B is packed at a time: what the shared scratch holds. */
TC_FN void tc_mm_plan(tc_mm_call *c, int64_t shared_bytes) {
  const tc_mm *g = c->g;
  const int64_t fit = shared_bytes / (tc_mm_panel_bytes(g) > 0 ? tc_mm_panel_bytes(g) : 1);
  c->panels = tc_mm_min(c->npanel, fit > 0 ? fit : 1);
  c->group = g->batch;
  if (c->b_direct && g->n % g->nr == 0) c->panels = c->npanel;
  else if (!g->b_shared) c->group = tc_mm_min(g->batch, c->panels < c->npanel ? 1 : fit / c->npanel);
}

/* shared: packed B, shared_bytes; own: own_bytes for each thread. */
TC_SLOW void tc_mm_run(const tc_mm *g, char *shared, int64_t shared_bytes, char *own, int64_t own_bytes) {
  if (g->batch <= 0 || g->m <= 0 || g->n <= 0) return;
  tc_mm_call c = {.g = g, .b = shared, .own = own, .own_bytes = own_bytes,
                  .npanel = tc_mm_up(g->n, g->nr), .mpanel = tc_mm_up(g->m, g->mr),
                  .kblocks = g->k > 0 ? tc_mm_up(g->k, g->kc) : 1};
  const int even = g->k % g->kp == 0;
  c.a_direct = g->a_at && even && (g->a_rs % 2048 != 0 || g->m <= 2 * g->mr);
  c.b_direct = g->b_at && even && (g->m <= 2 * g->mr || g->k * g->b_ks <= 65536);
  tc_mm_plan(&c, shared_bytes);
  const int64_t tiles = g->batch * c.mpanel * c.npanel;
  const int most = omp_get_max_threads();
  const int threads = g->batch * g->m * g->n * (g->k + 4) < 500000 ? 1 : (int)tc_mm_min(most, tiles);
  if (threads == 1) {
    tc_mm_worker(&c, 0, 1);
    return;
  }
#pragma omp parallel num_threads(threads)
  tc_mm_worker(&c, omp_get_thread_num(), omp_get_num_threads());
}
