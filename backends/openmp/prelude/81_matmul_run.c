/* Matrix products: blocking, packing and work split.  C[b,m,n] = sum over k of A[b,m,k] * B[b,k,n].
 *
 * A micro-kernel keeps a tile of C (up to mr rows by some vectors) in registers while k runs.  It
 * reads A by any two strides, one broadcast per row, and B in panels of nr columns whose rows of
 * vectors follow each other.  K is cut in blocks of about kc, so that a panel of B (kc x nr)
 * and the rows of A that meet it (rows_bytes) stay in the near caches.
 *
 *   superblock   batches x column panels whose packed B fits the shared scratch
 *     task       rows x panels of C: a thread takes ever smaller ones from its own run, then from
 *                what others left.  Where B is packed, runs are columns: what a thread packs it uses
 *                itself, from its own cache
 *       k block  A's rows are packed where their strides hurt, else read in place
 *         panel of B, packed by the first thread that needs it, from lines that the micro-kernels
 *           of the panel before have asked for, or with some panels after it (where a task has all
 *           rows of C: by the only one, into its own scratch, which stays in the near caches)
 *           panel of A: micro-kernel; after the last k block the epilogue
 *
 * An element of C is a sum in order of k, cut at blocks that depend on K alone: no other choice
 * made here changes a result, so tasks may depend on the number of threads. */
/* @ tc_mm_run */
/* The driver holds no vector code: one copy, compiled with the lowest level, serves all levels and
 * units.  The number in its name grows with every change of struct tc_mm or of its meaning, because
 * objects of two versions may meet at link.  TC_ALONE: no text of that level is compiled beside this
 * one, which has a driver of its own. */
#ifdef TC_ALONE
#define tc_mm_run TC_NAME(tc_mm_run_15)
#else
#define tc_mm_run tc_mm_run_15
#endif
#if TC_ISA != TC_LEVEL_v2 && !defined(TC_ALONE)
__attribute__((visibility("hidden"))) void
tc_mm_run(const tc_mm *g, char *shared, int64_t shared_bytes, char *own, int64_t own_bytes);
#else
#define TC_MM_BLOCK 128  /* steps of a micro-kernel of f32 or f64 whose sums join the total */
#define TC_MM_SETS (1 << 17) /* bytes from a line to the next one of its set in a second-level cache */
#define TC_MM_WAYS 4     /* lines of a set that are kept for B, of 8 or more */
#define TC_MM_SHORT 8    /* lines that a micro-kernel asks for in no more time than asking for what the epilogue touches takes */
#define TC_MM_VECTOR 64  /* bytes of a vector of sums where tiles are masked */
#define TC_MM_PANELS 64  /* most panels of rows in a task */
#define TC_MM_FEW_IN_PLACE 8 /* panels of rows, for which a B in a second-level cache is not packed */
#define TC_MM_TWICE 2    /* panels of B that read columns of A in place in no more time than packing them takes, wherever they lie, */
#define TC_MM_MANY_IN_PLACE 48 /* and where a cache keeps them */
#define TC_MM_FEW 4      /* panels of rows that make a block of packed B worth fetching */
#define TC_MM_BLOCKS 8   /* blocks of rows in a thread's run, where rows are many */
#define TC_MM_UNITS 8    /* units of work in it, where tiles are many */
#define TC_MM_DEEP 8     /* most of those that are packed for all of k: one k block stays near */
#define TC_MM_TAKEN 128  /* bytes of counters at the end of a thread's scratch */
#define TC_MM_PAD 64     /* between packed rows of A, so that they meet different cache sets */

/* What one call shares. */
typedef struct tc_mm_call {
  const tc_mm *g;
  char *b, *own; /* packed B; the threads' parts */
  int64_t own_bytes;
  int64_t npanel, mpanel; /* panels of nr columns, of mr rows */
  int64_t kc, kblocks;    /* length of a k block, a multiple of kp (the last is shorter) */
  int64_t head;           /* bytes in front of a packed panel: a uint32_t for each k block */
  int64_t panel_bytes;    /* of a packed panel of B with its head */
  int64_t block_bytes;    /* of a k block of it that is kept, with a line to spare */
  int64_t span;           /* panels that are packed together */
  int64_t row_bytes;      /* between packed rows of A */
  int64_t deep;           /* k blocks of A's rows that a thread's scratch holds: all, or one */
  int64_t high, wide;     /* most row panels of a task, column panels with sums at a time */
  int64_t group, panels;  /* batches and column panels of a superblock */
  int a_direct, b_direct, c_direct;
  int own_columns; /* threads have columns of their own */
  int once;  /* a task has all rows of C, so that packed B is used once */
  int own_b; /* what a thread packs of B stays its own */
} tc_mm_call;

/* One superblock, number `epoch`: batches b0 .. b0+nb, panels q0 .. q0+nq, rows in gm blocks. */
typedef struct tc_mm_super {
  int64_t b0, nb, q0, nq, gm;
  uint32_t epoch;
} tc_mm_super;

/* What a thread does first, or others when they have nothing left: units from .. to of those of the
 * panels q0 .. q0+nq.  A unit is a block of rows of one panel.  They are numbered by batch, block,
 * panel; where packed B is used once, by batch, panel, block.  Those that follow each other are a
 * line of `line` units, of which a batch has `lines`, and a task at most `high`. */
typedef struct tc_mm_part {
  int64_t q0, nq, from, to, line, lines, high;
} tc_mm_part;

/* A column panel: its first column, how many there are, and the width it is computed with, which
 * is number v. */
typedef struct tc_mm_panel {
  int64_t n0, cols, width;
  int v;
  int whole;   /* all columns are there, or its tiles are told how many are: C can be written in place */
  int inplace; /* all are there, and B can be read in place */
} tc_mm_panel;

/* A finished tile whose epilogue waits until the next one is under way (or, where the multiplier of
 * tiles leaves the vector units idle, goes along with it). */
typedef struct tc_mm_done {
  int64_t m0, rows, n0, cols;
  const char *tile;
} tc_mm_done;

/* A task: row panels p0 .. p1, column panels q0 .. q1, packed B of q0, and of the k block at hand
 * where the rows of each A panel are. */
typedef struct tc_mm_task {
  int64_t batch, p0, p1, q0, q1;
  char *b;
  int64_t b0, b1, bk; /* in B of its own: the panels and the k block that are there */
  uint32_t epoch;
  int64_t g0, g1;  /* the column panels at hand: q0 .. q1, or as many as `wide` allows */
  int id, threads; /* threads that share B begin with different columns */
  int slot;        /* of two, the one that the last tile took */
  tc_mm_done done; /* rows 0: none */
  int fresh;       /* A's rows are not in the thread's scratch from the last task or columns */
  char *rows, *sums;
  const char *a[TC_MM_PANELS];
  int64_t rs[TC_MM_PANELS], ks[TC_MM_PANELS];
} tc_mm_task;

/* How many units of a thread's run are taken, in even and odd superblocks. */
static inline int64_t *tc_mm_taken(const tc_mm_call *c, int thread, uint32_t epoch) {
  char *end = c->own + (thread + 1) * c->own_bytes;
  return (int64_t *)(end - TC_MM_TAKEN) + (epoch & 1);
}

TC_MM_FN tc_mm_panel tc_mm_panel_at(const tc_mm_call *c, int64_t q) {
  const tc_mm *g = c->g;
  tc_mm_panel p = {.n0 = q * g->nr, .cols = tc_mm_min(g->nr, g->n - q * g->nr)};
  p.v = tc_mm_fit(g->cols, p.cols);
  p.width = g->cols[p.v];
  p.whole = p.cols == p.width || (g->masked && p.width * g->cs == TC_MM_VECTOR);
  p.inplace = c->b_direct && p.cols == p.width;
  return p;
}

/* Are all panels of B read in place?  The last one is the one that may not be whole. */
TC_MM_FN int tc_mm_b_in_place(const tc_mm_call *c) { return tc_mm_panel_at(c, c->npanel - 1).inplace; }

/* Block kb of the packed panel q; and its word in the panel's head, where threads share B. */
static inline char *tc_mm_packed(const tc_mm_call *c, const tc_mm_task *t, int64_t q, int64_t kb,
                                 uint32_t **state) {
  const tc_mm *g = c->g;
  if (c->own_b) return t->b + (q - t->b0) * c->block_bytes;
  char *panel = t->b + (q - t->q0) * c->panel_bytes;
  *state = (uint32_t *)panel + kb;
  return panel + c->head + kb * c->kc * tc_mm_panel_at(c, q).width * g->es;
}

/* Packs block kb of `count` panels from q on, some rows of one after the other: they are neighbours
 * in memory, where one panel's pieces are a row apart. */
TC_MM_FN void tc_mm_b_pack(const tc_mm_call *c, const tc_mm_task *t, int64_t q, int64_t count,
                           int64_t kb) {
  const tc_mm *g = c->g;
  const int64_t k0 = kb * c->kc, kn = tc_mm_min(c->kc, g->k - k0);
  const int64_t rows = count > 1 ? tc_mm_round_up(16, g->kp) : kn;
  for (int64_t k = 0; k < kn; k += rows)
    for (int64_t i = 0; i < count; ++i) {
      const tc_mm_panel n = tc_mm_panel_at(c, q + i);
      uint32_t *state;
      char *dst = tc_mm_packed(c, t, q + i, kb, &state);
      g->b_pack(g, g->b_shared ? 0 : t->batch, n.n0, n.cols, n.width, k0 + k,
                tc_mm_min(rows, kn - k), dst + k * n.width * g->es);
    }
}

/* Block kb of the packed panel q, packed by whoever needs it first, with the panels after it that
 * nobody has begun.  Its word in the head is 2 * epoch + 1 while that goes on, then 2 * epoch + 2. */
TC_MM_FN const char *tc_mm_b_block(const tc_mm_call *c, tc_mm_task *t, int64_t q, int64_t kb) {
  const uint32_t ready = 2 * t->epoch + 2;
  if (c->own_b && (kb != t->bk || q < t->b0 || q >= t->b1)) {
    t->b0 = q, t->b1 = tc_mm_min(q + c->span, t->g1), t->bk = kb;
    tc_mm_b_pack(c, t, q, t->b1 - q, kb);
  }
  uint32_t *state;
  if (c->own_b) return tc_mm_packed(c, t, q, kb, &state);
  int64_t count = 0;
  for (; count < c->span && q + count < t->g1; ++count) {
    tc_mm_packed(c, t, q + count, kb, &state);
    uint32_t seen = __atomic_load_n(state, __ATOMIC_RELAXED);
    if (seen >= ready - 1 || !__atomic_compare_exchange_n(state, &seen, ready - 1, 0,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      break;
  }
  if (count) tc_mm_b_pack(c, t, q, count, kb);
  for (int64_t i = 0; i < count; ++i) {
    tc_mm_packed(c, t, q + i, kb, &state);
    __atomic_store_n(state, ready, __ATOMIC_RELEASE);
  }
  const char *block = tc_mm_packed(c, t, q, kb, &state);
  for (int i = 0; __atomic_load_n(state, __ATOMIC_ACQUIRE) != ready; ++i) tc_mm_wait(i);
  return block;
}

/* The rows of the task's A panel p for k block kb: in place, or packed. */
TC_MM_FN void tc_mm_a_panel(const tc_mm_call *c, tc_mm_task *t, int64_t p, int64_t kb, int64_t kn) {
  const tc_mm *g = c->g;
  const int64_t m0 = p * g->mr, rows = tc_mm_min(g->mr, g->m - m0), i = p - t->p0, k0 = kb * c->kc;
  const int64_t height = g->rows[tc_mm_fit(g->rows, rows)], deep = tc_mm_round_up(kn, g->kp);
  char *dst = t->rows + ((c->deep > 1 ? kb : 0) * (t->p1 - t->p0) + i) * g->mr * c->row_bytes;
  if (c->a_direct && rows == height) {
    t->rs[i] = g->a_rs, t->ks[i] = g->a_ks * g->ku;
    t->a[i] = g->a_at(g, t->batch, m0, k0);
    return;
  }
  const int64_t side = height * g->es; /* of all rows */
  t->rs[i] = g->a_cols ? g->es * g->ku : g->a_lines ? 64 : c->row_bytes;
  t->ks[i] = (g->a_cols || g->a_lines ? side : g->es) * g->ku;
  t->a[i] = dst;
  if (!t->fresh) return;
  if (rows < height || kn < deep)
    __builtin_memset(dst, 0, g->a_cols || g->a_lines ? deep * side : height * c->row_bytes);
  if (kn > 0) /* the parts of a k without points cannot be placed */
    g->a_pack(g, t->batch, m0, rows, k0, kn, dst, g->a_cols ? side : t->rs[i],
            g->a_lines ? height * 64 : 64);
}

/* Where a tile's sums wait for the next k block, or the epilogue.  Where C is written in place only
 * tiles at its edge wait: those of the last, incomplete column panel, else of the last row panel.
 */
static inline int64_t tc_mm_slot(const tc_mm_call *c, const tc_mm_task *t, int64_t q, int64_t i,
                            int edge) {
  if (c->kblocks == 1) return t->slot;
  if (!c->c_direct) return (q - t->g0) * (t->p1 - t->p0) + i;
  return edge ? t->g1 - t->g0 + i : q - t->g0;
}

/* Where a micro-kernel finds lines of the next panel of B: packed, or where it will be packed from.
 * Line i is at line + i / per * jump + i % per * step. */
typedef struct tc_mm_next {
  const char *line;
  int64_t count, per, step, jump;
} tc_mm_next;

TC_MM_FN tc_mm_next tc_mm_next_panel(const tc_mm_call *c, const tc_mm_task *t, int64_t q,
                                     int64_t kb, int64_t kn) {
  const tc_mm *g = c->g;
  const tc_mm_panel n = tc_mm_panel_at(c, q);
  const char *packed = c->own_b ? t->b : t->b + (q - t->q0) * c->panel_bytes;
  const int64_t lines = tc_mm_ceil_div(kn * n.width * g->es, 64);
  tc_mm_next x = {packed + c->head + kb * c->kc * n.width * g->es, lines, lines, 64, 0};
  if (!n.inplace && !c->own_b &&
      __atomic_load_n((const uint32_t *)packed + kb, __ATOMIC_RELAXED) == 2 * t->epoch + 2)
    return x;
  x.count = 0;
  if (!g->b_from || (c->span > 1 && !n.inplace)) return x;
  x.line = g->b_from(g, t->batch, kb * c->kc, n.n0);
  x.per = g->b_transposed ? tc_mm_ceil_div(kn * g->b_size, 64) : kn;
  x.step = g->b_transposed ? 64 : g->b_pitch;
  x.jump = g->b_transposed ? g->b_pitch : 64;
  x.count = x.per * (g->b_transposed ? n.cols : tc_mm_ceil_div(n.cols * g->b_size, 64));
  return x;
}

/* The rows of the task's A panel p, where they lie side by side; where A is stored by columns, a line of each: the last one that
 * the rows are in, for the panel before reads the others. */
TC_MM_FN tc_mm_next tc_mm_next_rows(const tc_mm_call *c, const tc_mm_task *t, int64_t p, int64_t kb,
                                    int64_t kn) {
  const tc_mm *g = c->g;
  tc_mm_next x = {0, 0, 1, 64, 0};
  const int columns = g->a_rs == g->es;
  if (!g->a_at || (!columns && (g->a_ks != g->es || g->a_rs != kn * g->es)) || p >= t->p1) return x;
  const int64_t m0 = p * g->mr, rows = tc_mm_min(g->mr, g->m - m0);
  x.line = g->a_at(g, t->batch, columns ? m0 + rows - 1 : m0, kb * c->kc);
  x.count = columns ? kn : (int64_t)((uint64_t)(rows * g->a_rs + 63) / 64);
  x.per = x.count;
  if (columns) x.step = g->a_ks;
  return x;
}

/* What micro-kernel number i of a panel shall ask for: a part of the next panel of B. */
TC_MM_FN const char *tc_mm_line_to_prefetch(const tc_mm_next *x, int64_t i, int64_t lines, const char *none) {
  const int64_t from = i * lines;
  return from < x->count ? x->line + from / x->per * x->jump + from % x->per * x->step : none;
}

/* Rows from .. to of the tile that waits. */
TC_MM_FN void tc_mm_finish(const tc_mm_call *c, const tc_mm_task *t, int64_t from, int64_t to) {
  const tc_mm_done *d = &t->done;
  const int64_t stride = c->g->nr * c->g->cs;
  if (from < to)
    c->g->epilogue(c->g, t->batch, d->m0 + from, to - from, d->n0, d->cols, d->tile + from * stride,
                   stride);
}

/* What a micro-kernel is called with, but for its tile. */
typedef struct tc_mm_args {
  const char *a, *b, *line;
  int64_t steps, rs, ks, bs, step;
} tc_mm_args;

/* One micro-kernel and the epilogue of the tile before: after it, or interleaved, some rows after each slice of k. */
TC_MM_FN void tc_mm_interleave(const tc_mm_call *c, tc_mm_task *t, tc_mm_micro *micro,
                         const tc_mm_args *x, char *sums, int add) {
  const tc_mm *g = c->g;
  const int64_t cs = g->nr * g->cs, rows = t->done.rows;
  if (g->slices == 1 || !rows) { /* without divisions, which are a good part of a small tile */
    micro(x->steps, x->a, x->rs, x->ks, x->b, x->bs, sums, cs, add, x->line, x->step);
    tc_mm_finish(c, t, 0, rows);
    t->done.rows = 0;
    return;
  }
  const int64_t unit = g->kp / g->ku, all = x->steps / unit, slices = all > 1 ? tc_mm_min(all, g->slices) : 1;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t from = all * i / slices * unit, to = all * (i + 1) / slices * unit;
    const int held = (i ? TC_MM_KEEP : add) | (i + 1 < slices ? TC_MM_OPEN : 0);
    micro(slices > 1 ? to - from : x->steps, x->a + from * x->ks, x->rs, x->ks, x->b + from * x->bs,
          x->bs, sums, cs, held, x->line + from / g->pace * x->step, x->step);
    tc_mm_finish(c, t, rows * i / slices, rows * (i + 1) / slices);
  }
  t->done.rows = 0;
}

/* Steps of the blocks that a micro-kernel's sums of `kn` steps are made in. */
TC_MM_FN int64_t tc_mm_block(int64_t kn) {
  return kn > TC_MM_BLOCK ? tc_mm_ceil_div(kn, tc_mm_ceil_div(kn, TC_MM_BLOCK)) : kn;
}

/* Of lines that are `step` bytes apart, how many a second-level cache keeps: those a multiple of a power of two apart share
 * sets. */
TC_MM_FN int64_t tc_mm_kept(int64_t step) { return step ? TC_MM_SETS * TC_MM_WAYS / (step & -step) : __INT64_MAX__; }

/* Steps of k that all panels of A take of a panel of B in place before the next ones. */
TC_MM_FN int64_t tc_mm_steps_in_place(const tc_mm *g, int64_t kn) {
  const int64_t block = tc_mm_block(kn), kept = tc_mm_kept(g->b_ks);
  return kept < block || !block ? block : kept / block * block;
}

/* The first steps of the `left` ones of kn.  No sum changes: they are whole blocks, or what is left of the last one. */
TC_MM_FN int64_t tc_mm_next_steps(int64_t kn, int64_t left, int64_t part) {
  const int64_t block = tc_mm_block(kn);
  if (part >= kn) return left;
  return tc_mm_min(part, left > block ? (left - 1) / block * block : left);
}

/* What a micro-kernel of the panel is told of its columns. */
static inline int tc_mm_columns_of(const tc_mm_panel *n) { return n->cols < n->width ? (int)n->cols << TC_MM_COLUMNS : 0; }

/* The flag of the last steps of k: do pairs end with half of one? */
static inline int tc_mm_half_of(const tc_mm *g) { return g->kp == 2 && g->k % 2 ? TC_MM_HALF : 0; }

/* The task's panels of A that have all rows, in place, against a panel of B, of so few steps that to begin a tile takes as long as
 * to compute it.  C is written in place, from `out` on.  Returns how many there are. */
TC_MM_FN int64_t tc_mm_short_tiles(const tc_mm_call *c, tc_mm_task *t, const tc_mm_panel *n, int64_t steps, const char *b,
                                   int64_t bs, char *out) {
  const tc_mm *g = c->g;
  const int64_t panels = tc_mm_min(t->p1, g->m / g->mr) - t->p0, rs = g->a_rs, ks = g->a_ks * g->ku;
  const int flags = tc_mm_columns_of(n) | (g->c_rounded ? TC_MM_ROUND : 0) | tc_mm_half_of(g);
  const char *a = panels > 0 ? g->a_at(g, t->batch, t->p0 * g->mr, 0) : 0;
  tc_mm_micro *micro = g->micro[0][n->v];
  for (int64_t i = 0; i < panels; ++i, a += g->mr * rs, out += g->mr * g->c_rs) {
    t->a[i] = a, t->rs[i] = rs, t->ks[i] = ks;
    micro(steps, a, rs, ks, b, bs, out, g->c_rs, flags, b, 0);
  }
  return panels > 0 ? panels : 0;
}

/* One panel of B against the task's panels of A.  The first one has the rows of A packed, each panel
 * when it is needed, while the panel before has asked for what it is packed from. */
TC_MM_FN void tc_mm_column(const tc_mm_call *c, tc_mm_task *t, int64_t q, int64_t kb, int64_t kn,
                           int first) {
  const tc_mm *g = c->g;
  const tc_mm_panel n = tc_mm_panel_at(c, q);
  const int64_t k0 = kb * c->kc, steps = tc_mm_ceil_div(kn, g->kp) * (g->kp / g->ku), cs = g->nr * g->cs;
  const int64_t panels = t->p1 - t->p0;
  const char *b = n.inplace ? g->b_at(g, t->batch, k0, n.n0) : tc_mm_b_block(c, t, q, kb);
  const int64_t bs = n.inplace ? g->b_ks : n.width * g->es * g->ku;
  const int last = k0 + kn == g->k, whole = n.whole;
  const int64_t part = n.inplace && c->c_direct && whole && panels > 1 ? tc_mm_steps_in_place(g, kn) : steps;
  const int64_t most = tc_mm_min(part, steps) / g->pace;
  tc_mm_next next = {b, 0, 0, 64, 0};
  if (q + 1 < t->g1) next = tc_mm_next_panel(c, t, q + 1, kb, kn);
  /* Lines that follow each other are asked for in parts of a line. */
  int64_t lines = most, step = next.step;
  if (step == 64 && most > 0) {
    lines = tc_mm_min(most, tc_mm_ceil_div(next.count, panels));
    step = tc_mm_ceil_div(lines * 64, most);
  }
  /* Few panels of A have no time to ask for all of the next panel of B in place: the first one asks for rows of its own. */
  const int few = n.inplace && panels * most < next.count;
  if (few) next.count = 0;
  char *const out = c->c_direct && whole ? g->c_at(g, t->batch, t->p0 * g->mr, n.n0) : 0;
  int64_t k = 0, some, i0 = 0;
  if (out && c->a_direct && most < TC_MM_SHORT && steps == tc_mm_min(part, steps) && c->kblocks == 1 && !g->begin)
    i0 = tc_mm_short_tiles(c, t, &n, steps, b, bs, out);
  do {
    some = tc_mm_next_steps(steps, steps - k, part);
    const int end = last && k + some == steps;
    for (int64_t i = i0; i < panels; ++i) {
      const int64_t m0 = (t->p0 + i) * g->mr, rows = tc_mm_min(g->mr, g->m - m0);
      const int v = rows == g->mr ? 0 : tc_mm_fit(g->rows, rows), direct = out && rows == g->rows[v];
      /* Micro-kernels ask for C themselves, but for those with `begin`.  While few steps are made nothing arrives. */
      if (most >= TC_MM_SHORT && (direct ? g->begin && (last || kb > 0) : end))
        g->prefetch(g, t->batch, m0, rows, n.n0, n.cols);
      tc_mm_micro *micro = g->micro[v][n.v];
      const char *line = !k && next.count ? tc_mm_line_to_prefetch(&next, i, lines, b) : b;
      int64_t pitch = line == b ? 0 : step;
      if (first && !k) {
        tc_mm_a_panel(c, t, t->p0 + i, kb, kn);
        const tc_mm_next more = tc_mm_next_rows(c, t, t->p0 + i + 1, kb, kn);
        if (more.count && more.count <= most) line = more.line, pitch = more.step;
      }
      const int add = (kb > 0 || k > 0 ? TC_MM_ADD : 0) | (end ? tc_mm_half_of(g) : 0) | (direct ? tc_mm_columns_of(&n) : 0) | (n.inplace && !i && (few || first) ? TC_MM_AHEAD : 0);
      const char *const a = t->a[i] + k * t->ks[i];
      if (direct) {
        micro(some, a, t->rs[i], t->ks[i], b + k * bs, bs, out + i * g->mr * g->c_rs, g->c_rs,
              add | (g->c_rounded ? TC_MM_ROUND : 0), line, pitch);
        continue;
      }
      if (!k) t->slot ^= 1;
      char *sums = t->sums + tc_mm_slot(c, t, q, i, !whole) * g->mr * cs;
      const tc_mm_args x = {a, b + k * bs, line, some, t->rs[i], t->ks[i], bs, pitch};
      tc_mm_interleave(c, t, micro, &x, sums, add);
      if (end) t->done = (tc_mm_done){m0, rows, n.n0, n.cols, sums};
    }
    k += some;
  } while (k < steps);
}

/* All k blocks of the column panels at hand. */
TC_MM_FN void tc_mm_columns(const tc_mm_call *c, tc_mm_task *t) {
  const int64_t first = t->g0 + (t->g1 - t->g0) * t->id / t->threads;
  for (int64_t kb = 0; kb < c->kblocks; ++kb) {
    const int64_t kn = tc_mm_min(c->kc, c->g->k - kb * c->kc);
    for (int64_t q = first; q < t->g1; ++q) tc_mm_column(c, t, q, kb, kn, q == first);
    for (int64_t q = t->g0; q < first; ++q) tc_mm_column(c, t, q, kb, kn, 0);
  }
}

TC_MM_FN void tc_mm_run_task(const tc_mm_call *c, tc_mm_task *t) {
  t->done.rows = 0;
  for (t->g0 = t->q0; t->g0 < t->q1; t->g0 = t->g1, t->fresh = c->deep < c->kblocks) {
    t->g1 = tc_mm_min(t->g0 + c->wide, t->q1);
    tc_mm_columns(c, t);
  }
  tc_mm_finish(c, t, 0, t->done.rows);
}

TC_MM_FN tc_mm_part tc_mm_part_of(const tc_mm_call *c, const tc_mm_super *s, int run,
                                  int64_t threads) {
  tc_mm_part p = {.q0 = s->q0, .nq = s->nq};
  if (c->own_columns) {
    p.q0 = s->q0 + s->nq * run / threads;
    p.nq = s->q0 + s->nq * (run + 1) / threads - p.q0;
  }
  const int64_t units = s->nb * s->gm * p.nq;
  p.from = c->own_columns ? 0 : units * run / threads;
  p.to = c->own_columns ? units : units * (run + 1) / threads;
  p.line = c->once ? s->gm : p.nq, p.lines = c->once ? p.nq : s->gm;
  p.high = c->once ? p.nq : c->high / tc_mm_ceil_div(c->mpanel, s->gm);
  return p;
}

/* How many units from number i on make a task: half of those that are left, so that threads end
 * together, but a rectangle. */
TC_MM_FN int64_t tc_mm_size(const tc_mm_part *p, int64_t i, int threads) {
  const int64_t in = i % p->line, across = i / p->line % p->lines;
  const int64_t n = threads > 1 ? tc_mm_ceil_div(p->to - i, 2) : p->to - i;
  if (in || n < p->line) return tc_mm_min(n, p->line - in);
  return tc_mm_min(tc_mm_min(n / p->line, p->high), p->lines - across) * p->line;
}

/* Makes a task of n units from number i on. */
TC_MM_FN void tc_mm_make_task(const tc_mm_call *c, const tc_mm_super *s, const tc_mm_part *p, int64_t i,
                          int64_t n, tc_mm_task *t) {
  const int64_t batch = i / (p->line * p->lines), along = i % p->line,
                across = i / p->line % p->lines;
  const int64_t length = tc_mm_min(n, p->line), width = tc_mm_ceil_div(n, p->line);
  const int64_t g0 = c->once ? along : across, gn = c->once ? length : width;
  t->batch = s->b0 + batch;
  t->p0 = g0 * c->mpanel / s->gm, t->p1 = (g0 + gn) * c->mpanel / s->gm;
  t->q0 = p->q0 + (c->once ? across : along), t->q1 = t->q0 + (c->once ? width : length);
  t->b = c->own_b ? t->sums + c->g->sums
                 : c->b + ((c->g->b_shared ? 0 : batch) * s->nq + t->q0 - s->q0) * c->panel_bytes;
}

/* Takes a task from a part of which `taken` units are gone; 0 when none is left. */
TC_MM_FN int tc_mm_take(const tc_mm_call *c, const tc_mm_super *s, const tc_mm_part *p,
                        int64_t *taken, tc_mm_task *t) {
  int64_t seen = __atomic_load_n(taken, __ATOMIC_RELAXED), n;
  do {
    if (p->from + seen >= p->to) return 0;
    n = tc_mm_size(p, p->from + seen, t->threads);
  } while (
      !__atomic_compare_exchange_n(taken, &seen, seen + n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  tc_mm_make_task(c, s, p, p->from + seen, n, t);
  return 1;
}

/* Tasks of a superblock, until none is left.  A thread begins with the part that would also be its
 * own in the next product of this shape: what it wrote then is in its caches. */
TC_MM_FN void tc_mm_tasks(tc_mm_call *c, const tc_mm_super *s, int id, int threads) {
  int64_t batch = -1, p0 = 0, p1 = 0; /* whose rows of A are in the scratch */
  tc_mm_task t;
  t.rows = c->own + id * c->own_bytes, t.sums = t.rows + c->g->rows_bytes;
  t.epoch = s->epoch, t.slot = 0, t.id = c->own_columns || c->own_b ? 0 : id, t.threads = threads;
  t.b0 = t.b1 = 0, t.bk = -1;
  for (int v = 0; v < threads; ++v) {
    const int run = (id + v) % threads;
    const tc_mm_part p = tc_mm_part_of(c, s, run, threads);
    while (tc_mm_take(c, s, &p, tc_mm_taken(c, run, s->epoch), &t)) {
      t.fresh = c->deep < c->kblocks || t.batch != batch || t.p0 != p0 || t.p1 != p1;
      if (t.batch != batch) t.b1 = 0;
      tc_mm_run_task(c, &t);
      batch = t.batch, p0 = t.p0, p1 = t.p1;
    }
  }
}

/* Blocks of rows of a superblock: no larger than the scratch, and some for each thread, but not so
 * low that B is fetched for few rows, unless there are few tiles. */
TC_MM_FN int64_t tc_mm_blocks(const tc_mm_call *c, const tc_mm_super *s, int64_t threads) {
  const int64_t least = tc_mm_ceil_div(c->mpanel, c->high), runs = c->own_columns ? 1 : threads;
  if (threads == 1) return least;
  const int64_t some = tc_mm_min(tc_mm_ceil_div(TC_MM_BLOCKS * runs, s->nb), c->mpanel / TC_MM_FEW);
  const int64_t many = tc_mm_min(tc_mm_ceil_div(TC_MM_UNITS * threads, s->nb * s->nq), c->mpanel);
  const int64_t most = some > many ? some : many;
  return most > least ? most : least;
}

TC_MM_FN void tc_mm_worker(void *call, int id, int threads) {
  tc_mm_call *c = (tc_mm_call *)call;
  const tc_mm *g = c->g;
  const tc_fe env = tc_fe_hold();
  uint32_t epoch = 0;
  if (g->begin) g->begin();
  for (int64_t b0 = 0; b0 < g->batch; b0 += c->group)
    for (int64_t q0 = 0; q0 < c->npanel; q0 += c->panels, ++epoch) {
      tc_mm_super s = {b0, tc_mm_min(c->group, g->batch - b0),
                       q0, tc_mm_min(c->panels, c->npanel - q0),
                       1,  epoch};
      s.gm = tc_mm_blocks(c, &s, threads);
      *tc_mm_taken(c, id, ~epoch) = 0; /* all have left the superblock before */
      tc_mm_tasks(c, &s, id, threads);
      if (threads > 1 && (b0 + c->group < g->batch || q0 + c->panels < c->npanel)) tcrt_barrier();
    }
  if (g->end) g->end();
  tc_fe_restore(env);
}

/* Does reading A in place cost less than packing it?  Rows a power of two apart share cache sets: that pays for few uses only,
 * as lines of tiles do.  Columns that a cache keeps are as good for any but many panels of B: the part of a line that a tile
 * does not use costs some percent of a micro-kernel's time, packing as long as some micro-kernels. */
TC_MM_FN int tc_mm_a_in_place(const tc_mm *g) {
  if (g->a_ks > g->es)
    return g->n <= (tc_mm_min(g->k, g->kc) <= tc_mm_kept(g->a_ks) ? TC_MM_MANY_IN_PLACE : TC_MM_TWICE) * g->nr;
  return (g->a_rs % 2048 != 0 || g->m <= 2 * g->mr) && (!g->a_lines || g->n <= 16 * g->nr);
}

/* Does all of B stay near, several rows of it in a page? */
TC_MM_FN int tc_mm_b_near(const tc_mm *g) {
  return g->k * g->b_ks <= (g->b_ks < 4096 ? 1 << 18 : 1 << 16);
}

/* Is B read by so few panels of rows that packing it costs more than a second-level cache as the place where it stays? */
TC_MM_FN int tc_mm_b_for_few(const tc_mm *g) {
  return g->m <= 2 * g->mr || (g->m <= TC_MM_FEW_IN_PLACE * g->mr && g->b_ks < 2048 && g->k * g->b_ks <= 1 << 20);
}

/* Tasks of at most `high` row panels, with one k block of A at a time. */
TC_MM_FN void tc_mm_area(tc_mm_call *c, int64_t high) {
  const tc_mm *g = c->g;
  const int64_t slots = g->sums / (g->mr * g->nr * g->cs);
  high = tc_mm_min(high, TC_MM_PANELS);
  c->deep = 1;
  c->high = tc_mm_ceil_div(c->mpanel, tc_mm_ceil_div(c->mpanel, high));
  c->wide = c->kblocks == 1 ? c->npanel : c->c_direct ? slots - c->high : slots / c->high;
}

/* Blocks of k: of equal length, one where it is not much longer than wanted.  How many rows of A
 * and sums that allows.  How much of B is packed at a time: what the shared scratch holds. */
TC_MM_FN void tc_mm_plan(tc_mm_call *c, int64_t shared_bytes, int64_t threads) {
  const tc_mm *g = c->g;
  c->kblocks = g->k * 2 <= g->kc * 3 ? 1 : tc_mm_ceil_div(g->k, g->kc);
  c->kc = tc_mm_round_up(tc_mm_ceil_div(g->k, c->kblocks), 32);
  c->c_direct = g->c_at && (!g->c_rounded || c->kblocks == 1); /* rounded once */
  c->row_bytes = c->kc * g->es + TC_MM_PAD;
  const int64_t panel = c->row_bytes * g->mr;
  const int64_t deep = g->rows_bytes / (panel * c->kblocks); /* row panels of all of k */
  tc_mm_area(c, g->rows_bytes / panel);
  if (c->wide < c->npanel && deep >= TC_MM_FEW)
    tc_mm_area(c, tc_mm_min(deep, TC_MM_DEEP)), c->deep = c->kblocks;
  c->head = tc_mm_round_up(c->kblocks * 4, 64);
  c->panel_bytes = tc_mm_round_up(g->k, g->kp) * g->nr * g->es + c->head;
  c->span = g->b_transposed ? 1 : tc_mm_ceil_div(g->piece, g->nr * g->es);
  const int64_t fit = (shared_bytes - (g->reuse ? 64 : 0)) / c->panel_bytes;
  c->panels = tc_mm_min(c->npanel, fit > 0 ? fit : 1);
  c->group = g->batch;
  const int64_t room = c->own_bytes - TC_MM_TAKEN - g->rows_bytes - g->sums;
  c->block_bytes = c->kc * g->nr * g->es + 64;
  c->once = !g->reuse && c->high >= c->mpanel && c->npanel >= 4 * threads &&
            (!g->b_shared || g->batch == 1) && room >= c->block_bytes;
  c->own_b = c->once || (c->b_direct && c->kblocks == 1 && room >= c->block_bytes);
  if (c->own_b) c->span = tc_mm_min(c->span, room / c->block_bytes);
  /* Where all threads read what any packed of B, lines move between their caches; where they have
   * columns of their own, each packs all rows of A.  No share of the columns shall be a quarter
   * larger than others are on average. */
  const int64_t share = tc_mm_ceil_div(c->npanel, threads) * g->nr;
  c->own_columns = threads > 1 && !(c->b_direct && tc_mm_b_near(g)) &&
             (g->b_shared || g->batch < threads) && (c->a_direct || g->m <= g->n) &&
             share * threads * 4 <= g->n * 5;
  if (c->own_b || tc_mm_b_in_place(c)) c->panels = c->npanel;
  else if (!g->b_shared && c->panels < c->npanel) c->group = 1;
  else if (!g->b_shared) c->group = tc_mm_min(g->batch, fit / c->npanel);
}

/* Rows that are computed by tiles of height rows[first] and, for what is left, the lowest that holds it. */
TC_MM_FN int64_t tc_mm_computed(const tc_mm *g, int first) {
  const int64_t left = g->m % g->rows[first];
  int tail = first;
  while (tail < 2 && g->rows[tail + 1] >= left) ++tail;
  return left ? g->m - left + g->rows[tail] : g->m;
}

/* g, or, where a ninth of what its highest tiles compute is not wanted, without them: of 16 rows, 8 and 8, not 14 and 2. */
TC_MM_FN const tc_mm *tc_mm_lower(const tc_mm *g, tc_mm *low) {
  if (g->begin || !g->rows[1] || g->m <= g->mr || tc_mm_computed(g, 1) * 9 >= tc_mm_computed(g, 0) * 8) return g;
  *low = *g;
  low->mr = g->rows[1];
  for (int i = 0; i < 3; ++i) {
    low->rows[i] = i < 2 ? g->rows[i + 1] : 0;
    for (int j = 0; j < 3; ++j) low->micro[i][j] = i < 2 ? g->micro[i + 1][j] : 0;
  }
  return low;
}

/* g, or, where all columns are in one panel of the least width, with its higher tile and no other widths. */
TC_MM_FN const tc_mm *tc_mm_narrow(const tc_mm *g, tc_mm *narrow) {
  int v = 0;
  while (v < 2 && g->cols[v + 1]) ++v;
  if (!g->narrow || g->n > g->cols[v] || g->m < 2 * g->narrow_rows) return g;
  *narrow = *g;
  narrow->mr = g->narrow_rows, narrow->nr = g->cols[v];
  narrow->cols[0] = g->cols[v], narrow->cols[1] = narrow->cols[2] = 0;
  for (int i = 0; i < 3; ++i) {
    narrow->rows[i] = i ? g->rows[i - 1] : g->narrow_rows;
    narrow->micro[i][0] = i ? g->micro[i - 1][v] : g->narrow;
  }
  return narrow;
}

/* Are there packed panels of B from an earlier product?  From now on there may be. */
TC_MM_FN int tc_mm_is_packed(const tc_mm_call *c, char *shared) {
  int64_t *const there = (int64_t *)shared;
  if (!c->g->reuse) return 0;
  const int all = c->panels == c->npanel, before = (int)*there;
  *there = all;
  return all && before;
}

/* shared: packed B, shared_bytes; own: own_bytes for each thread. */
__attribute__((weak, visibility("hidden"), minsize)) void
tc_mm_run(const tc_mm *g, char *shared, int64_t shared_bytes, char *own, int64_t own_bytes) {
  if (g->batch <= 0 || g->m <= 0 || g->n <= 0) return;
  tc_mm low, narrow;
  g = tc_mm_narrow(tc_mm_lower(g, &low), &narrow);
  tc_mm_call c = {.g = g,
                  .b = shared + (g->reuse ? 64 : 0),
                  .own = own,
                  .own_bytes = own_bytes,
                  .npanel = tc_mm_ceil_div(g->n, g->nr),
                  .mpanel = tc_mm_ceil_div(g->m, g->mr)};
  const int even = g->k % g->kp == 0;
  c.a_direct = g->a_at && (even || tc_mm_half_of(g)) && tc_mm_a_in_place(g);
  /* Reading B in place costs less than packing it where it is used a few times only, too. */
  c.b_direct = g->b_at && even && (tc_mm_b_for_few(g) || tc_mm_b_near(g));
  const int64_t tiles = g->batch * c.mpanel * c.npanel;
  const int64_t threads = tc_mm_min(tc_mm_threads(g, g->batch * g->m * g->n * (g->k + 4)), tiles);
  tc_mm_plan(&c, shared_bytes, threads);
  if (!c.own_b && !tc_mm_b_in_place(&c) && !tc_mm_is_packed(&c, shared))
    for (int64_t i = 0; i < (g->b_shared ? 1 : c.group) * c.panels; ++i)
      __builtin_memset(c.b + i * c.panel_bytes, 0, c.head);
  for (int i = 0; i < threads; ++i) *tc_mm_taken(&c, i, 0) = *tc_mm_taken(&c, i, 1) = 0;
  tc_mm_team(tc_mm_worker, &c, threads);
}
#endif
