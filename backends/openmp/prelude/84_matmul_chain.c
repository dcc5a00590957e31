/* Chains of products: C[b,m,n] = sum over k of A[b,m,k] * B[b,k,n], where A is made of an inner product, sum over d of
 * a[b,m,d] * b[b,d,k], or of two, row by row.
 *
 *   task         some rows of C of one batch
 *     k block    all B are packed for it
 *       row block  tiles of the inner products; they become A, and its rows' accumulators move on (`rows`), by which
 *                  earlier sums of C are rescaled where they change; tiles of the outer product, and of a second one,
 *                  whose A is made of the same inner ones; and what A adds to sums along m
 *   at its end stores of rows, and the epilogues
 *
 * Sums along m are those of a batch, and tasks add to them in order: for each k block one waits for the one before it, and
 * the last one stores what they are.  So the order in which an element is summed depends on M and K alone.  Micro-kernels
 * are those of products. */
/* @ tc_mm_chain */
typedef struct tc_mm_chain {
  const tc_mm *inner, *second, *outer; /* the inner ones' n is the outer one's k; second: NULL where there is one */
  const tc_mm *beside; /* a second outer product, of the same sizes, where no rows are reduced; or NULL */
  const tc_mm *across; /* sums along m of what `outer` has as A: its m is their k, its k their m; or NULL */
  int64_t over;        /* rows of their tiles at most, and so what these read and write behind keys; or 0 */
  /* dst[j][i] = src[i][j] of elements of A, where micro-kernels read them side by side along k; ss and ds bytes between
   * rows, those of dst whole vectors, of which the rest is zero; or 0: anywhere. */
  void (*turn)(const char *src, int64_t ss, char *dst, int64_t ds, int64_t rows, int64_t cols);
  int64_t kc;    /* length of a k block: a multiple of all widths of tiles, and of what k is padded to */
  int64_t block; /* rows of a block, at least one tile's; a multiple of all heights */
  int64_t most;  /* rows of a task at most, a multiple of `block` */
  /* Rows of the inner products, `pitch` bytes apart, become packed rows of A, and of that of `beside`, `stride` bytes
   * apart.  top, sum: the accumulators of each row, which begin where `begin` says so; sums: the rows of C so far. */
  void (*rows)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t k0, int64_t kn, int begin,
               const char *tile, const char *second, int64_t pitch, char *dst, char *beside, int64_t stride, char *top,
               char *sum, char *sums, int64_t sums_stride);
  void (*finish)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows); /* of rows that are complete; or NULL */
  /* Moves *first up and *end down to the keys that those rows have terms of; or 0: all. */
  void (*keys)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t *first, int64_t *end);
  int every; /* no rows are reduced: keys that no row has terms of are not left out, as their weights may be no numbers */
} tc_mm_chain;
/* @ tc_mm_chain_run */
#ifdef TC_ALONE
#define tc_mm_chain_run TC_NAME(tc_mm_chain_run_3)
#else
#define tc_mm_chain_run tc_mm_chain_run_3
#endif
#if TC_ISA != TC_LEVEL_v2 && !defined(TC_ALONE)
__attribute__((visibility("hidden"))) void tc_mm_chain_run(const tc_mm_chain *c, char *shared, char *own, int64_t own_bytes);
#else
#define TC_MM_CHAIN_TASKS 4 /* tasks for each thread, where rows are many */

typedef struct tc_mm_chain_call {
  const tc_mm_chain *c;
  char *own;
  int64_t own_bytes;
  int64_t high, tasks;         /* rows of a task, tasks of a batch */
  int64_t a_bytes, p_bytes, s_bytes, c_bytes; /* between rows of a, of A, of inner sums, of sums */
  int64_t t_bytes, y_bytes; /* between rows of A turned, of sums along m */
  int64_t slots;            /* batches whose sums along m have a place at a time */
  int64_t next;             /* task that nobody has taken */
  int32_t *done;            /* of each task: k blocks for which its rows are added to sums along m */
} tc_mm_chain_call;

/* The parts of a thread's scratch. */
typedef struct tc_mm_chain_parts {
  char *b_inner, *b_second, *a, *s, *s_second, *top, *sum;
  char *b[2], *p[2], *sums[2]; /* of each outer product */
  char *b_across, *turned, *y; /* of sums along m: B, A turned, sums */
} tc_mm_chain_parts;

static inline int64_t tc_mm_chain_deep(const tc_mm *g) { return g ? tc_mm_round_up(g->k, g->kp) : 0; }

TC_MM_FN tc_mm_chain_parts tc_mm_chain_scratch(const tc_mm_chain_call *x, int id) {
  const tc_mm_chain *c = x->c;
  const tc_mm *out = c->outer;
  tc_mm_chain_parts p;
  char *at = x->own + id * x->own_bytes;
  p.b_inner = at, at += c->kc * tc_mm_chain_deep(c->inner) * out->es;
  p.b_second = at, at += c->kc * tc_mm_chain_deep(c->second) * out->es;
  p.a = at, at += c->block * x->a_bytes;
  p.s = at, at += c->block * x->s_bytes;
  p.s_second = at, at += c->second ? c->block * x->s_bytes : 0;
  for (int i = 0; i < 2; ++i) {
    const int64_t there = i == 0 || c->beside;
    p.b[i] = at, at += there * tc_mm_round_up(out->n, out->nr) * c->kc * out->es;
    p.p[i] = at, at += there * c->block * x->p_bytes;
    p.sums[i] = at, at += there * c->most * x->c_bytes;
  }
  p.top = at, at += c->most * out->cs;
  p.sum = at, at = (char *)tc_mm_round_up((int64_t)(at + c->most * out->cs), 64);
  p.b_across = p.turned = p.y = at;
  if (!c->across) return p;
  p.turned += tc_mm_round_up(c->block, c->across->kp) * tc_mm_round_up(out->n, out->nr) * out->es;
  p.y = p.turned + (c->turn ? (c->kc + c->over) * x->t_bytes : 0);
  return p;
}

/* Panels of B for k block k0 .. k0 + kn: of the inner product columns, of the outer one rows. */
TC_MM_FN void tc_mm_chain_pack(const tc_mm *g, int64_t batch, int64_t n0, int64_t nn, int64_t k0, int64_t kn,
                                     char *dst) {
  const int64_t deep = tc_mm_round_up(kn, g->kp);
  for (int64_t n = 0; n < nn; n += g->nr) {
    const int64_t cols = tc_mm_min(g->nr, nn - n);
    g->b_pack(g, batch, n0 + n, cols, g->cols[tc_mm_fit(g->cols, cols)], k0, kn, dst + n * deep * g->es);
  }
}

/* The product of one tile's rows and packed panels of B: their first n columns, and k rows from `from` on, of those that are
 * packed. */
typedef struct tc_mm_chain_tile {
  int v; /* number of the tile's height */
  const char *a;
  int64_t rs, ks; /* bytes between rows of A, between steps of a micro-kernel */
  const char *b;
  int64_t n, packed_n, from, k, packed_k;
  char *c;
  int64_t cs;
  int add; /* TC_MM_ADD: to what c holds */
} tc_mm_chain_tile;

TC_MM_FN void tc_mm_chain_multiply(const tc_mm *g, const tc_mm_chain_tile *t) {
  const int64_t steps = tc_mm_round_up(t->k, g->kp) / g->ku, column = tc_mm_round_up(t->packed_k, g->kp) * g->es;
  for (int64_t n = 0; n < t->n; n += g->nr) {
    const int w = tc_mm_fit(g->cols, tc_mm_min(g->nr, t->packed_n - n));
    const char *panel = t->b + n * column + t->from * g->cols[w] * g->es;
    g->micro[t->v][w](steps, t->a, t->rs, t->ks, panel, (int64_t)g->cols[w] * g->es * g->ku, t->c + n * g->cs, t->cs,
                      t->add, panel, 0);
  }
}

/* Some rows of C: those of one batch from m0 on, which are the task's from number `first` on. */
typedef struct tc_mm_chain_rows {
  int64_t batch, m0, rows, first;
} tc_mm_chain_rows;

/* All rows of a task.  Those of `slots` batches are taken in turn, so that few wait for the one before of their batch. */
TC_MM_FN tc_mm_chain_rows tc_mm_chain_take(const tc_mm_chain_call *x, int64_t task) {
  const tc_mm *g = x->c->outer;
  const int64_t group = task / (x->slots * x->tasks), batch = group * x->slots, rest = task - batch * x->tasks;
  const int64_t batches = tc_mm_min(x->slots, g->batch - batch), m0 = rest / batches * x->high;
  return (tc_mm_chain_rows){batch + rest % batches, m0, tc_mm_min(x->high, g->m - m0), 0};
}

/* Keys k0 + from .. k0 + from + kn, of the `packed` from k0 on that are packed; `from` is a number of whole panels. */
typedef struct tc_mm_chain_keys {
  int64_t k0, from, kn, packed;
} tc_mm_chain_keys;

/* An inner product of some rows and keys, whose columns of B are packed as b, to s. */
TC_MM_FN void tc_mm_chain_inner(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm *g, const char *b,
                                char *s, const tc_mm_chain_rows *r, const tc_mm_chain_keys *keys) {
  const int64_t deep = tc_mm_chain_deep(g);
  for (int64_t i = 0; i < r->rows; i += g->mr) {
    const int64_t left = tc_mm_min(g->mr, r->rows - i);
    const int v = tc_mm_fit(g->rows, left);
    const int64_t height = g->rows[v], side = height * g->es;
    const char *a = p->a;
    int64_t rs = g->a_cols ? g->es * g->ku : x->a_bytes, ks = g->a_cols ? side : g->es;
    if (g->a_at && left == height && g->k % g->kp == 0) {
      a = g->a_at(g, r->batch, r->m0 + i, 0), rs = g->a_rs, ks = g->a_ks;
    } else {
      if (left < height || g->k < deep) __builtin_memset(p->a, 0, g->a_cols ? deep * side : height * x->a_bytes);
      g->a_pack(g, r->batch, r->m0 + i, left, 0, g->k, p->a, g->a_cols ? side : rs, 64);
    }
    const tc_mm_chain_tile t = {.v = v,
                                .a = a,
                                .rs = rs,
                                .ks = ks * g->ku,
                                .b = b + keys->from * deep * g->es,
                                .n = keys->kn,
                                .packed_n = keys->packed - keys->from,
                                .k = g->k,
                                .packed_k = g->k,
                                .c = s + i * x->s_bytes,
                                .cs = x->s_bytes};
    tc_mm_chain_multiply(g, &t);
  }
}

/* Inner products of some rows and keys to rows of A. */
TC_MM_FN void tc_mm_chain_to_rows(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm_chain_rows *r,
                                  int64_t k0, int64_t kn, int begin) {
  const tc_mm *g = x->c->outer;
  x->c->rows(g, r->batch, r->m0, r->rows, k0, kn, begin, p->s, p->s_second, x->s_bytes, p->p[0], p->p[1], x->p_bytes,
             p->top + r->first * g->cs, p->sum + r->first * g->cs, p->sums[0] + r->first * x->c_bytes, x->c_bytes);
}

/* Some rows of C that have no keys. */
TC_MM_FN void tc_mm_chain_none(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm_chain_rows *r) {
  for (int i = 0; i < (x->c->beside ? 2 : 1); ++i)
    __builtin_memset(p->sums[i] + r->first * x->c_bytes, 0, r->rows * x->c_bytes);
  tc_mm_chain_to_rows(x, p, r, 0, 0, 1);
}

/* Outer product number o of some rows and keys, whose rows of B are packed. */
TC_MM_FN void tc_mm_chain_outer(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, int o, const tc_mm_chain_rows *r,
                                const tc_mm_chain_keys *keys, int begin) {
  const tc_mm *g = o ? x->c->beside : x->c->outer;
  const int64_t pad = tc_mm_round_up(keys->kn, g->kp) - keys->kn;
  for (int64_t i = 0; pad && i < r->rows; ++i)
    __builtin_memset(p->p[o] + i * x->p_bytes + keys->kn * g->es, 0, pad * g->es);
  for (int64_t i = 0; i < r->rows; i += g->mr) {
    const tc_mm_chain_tile t = {.v = tc_mm_fit(g->rows, tc_mm_min(g->mr, r->rows - i)),
                                .a = p->p[o] + i * x->p_bytes,
                                .rs = x->p_bytes,
                                .ks = g->es * g->ku,
                                .b = p->b[o],
                                .n = g->n,
                                .packed_n = g->n,
                                .from = keys->from,
                                .k = keys->kn,
                                .packed_k = keys->packed,
                                .c = p->sums[o] + (r->first + i) * x->c_bytes,
                                .cs = x->c_bytes,
                                .add = begin ? 0 : TC_MM_ADD};
    tc_mm_chain_multiply(g, &t);
  }
}

/* The sums along m of a batch, from key k0 of a k block on. */
TC_MM_FN char *tc_mm_chain_y(const tc_mm_chain_call *x, int64_t batch, int64_t k0) {
  const int64_t kc = x->c->kc;
  return tc_mm_chain_scratch(x, (int)(batch % x->slots)).y + k0 / kc * (kc + x->c->over) * x->y_bytes;
}

/* What some rows of A add to the sums along m of some keys; to those that the last tile has behind them, zeros. */
TC_MM_FN void tc_mm_chain_across(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm_chain_rows *r,
                                 const tc_mm_chain_keys *keys) {
  const tc_mm *g = x->c->across;
  const char *a = p->p[0];
  const int64_t over = tc_mm_round_up(keys->kn, g->mr) - keys->kn;
  int64_t rs = g->es, ks = x->p_bytes;
  for (int64_t i = 0; over && i < r->rows; ++i) __builtin_memset(p->p[0] + i * ks + keys->kn * rs, 0, over * rs);
  tc_mm_chain_pack(g, r->batch, 0, g->n, r->m0, r->rows, p->b_across);
  if (x->c->turn) {
    if (r->rows % g->kp) __builtin_memset(p->turned, 0, (keys->kn + over) * x->t_bytes);
    x->c->turn(a, ks, p->turned, x->t_bytes, r->rows, keys->kn + over);
    a = p->turned, rs = x->t_bytes, ks = g->es * g->ku;
  }
  char *y = tc_mm_chain_y(x, r->batch, keys->k0) + keys->from * x->y_bytes;
  for (int64_t i = 0; i < keys->kn; i += g->mr) {
    const tc_mm_chain_tile t = {.v = tc_mm_fit(g->rows, tc_mm_min(g->mr, keys->kn - i)),
                                .a = a + i * rs,
                                .rs = rs,
                                .ks = ks,
                                .b = p->b_across,
                                .n = g->n,
                                .packed_n = g->n,
                                .k = r->rows,
                                .packed_k = r->rows,
                                .c = y + i * x->y_bytes,
                                .cs = x->y_bytes,
                                .add = TC_MM_ADD};
    tc_mm_chain_multiply(g, &t);
  }
}

/* Some rows of C, for some keys, whose rows of B are packed; begin: the first ones. */
TC_MM_FN void tc_mm_chain_block(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm_chain_rows *r,
                                const tc_mm_chain_keys *keys, int begin) {
  tc_mm_chain_inner(x, p, x->c->inner, p->b_inner, p->s, r, keys);
  if (x->c->second) tc_mm_chain_inner(x, p, x->c->second, p->b_second, p->s_second, r, keys);
  tc_mm_chain_to_rows(x, p, r, keys->k0 + keys->from, keys->kn, begin);
  for (int i = 0; i < (x->c->beside ? 2 : 1); ++i) tc_mm_chain_outer(x, p, i, r, keys, begin);
  if (x->c->across) tc_mm_chain_across(x, p, r, keys);
}

/* The keys that those rows have terms of. */
TC_MM_FN void tc_mm_chain_range(const tc_mm_chain *c, int64_t batch, int64_t m0, int64_t rows, int64_t *first, int64_t *end) {
  const tc_mm *g = c->outer;
  int64_t least = 0, most = g->k;
  *first = 0, *end = g->k;
  if (!c->keys) return;
  c->keys(g, batch, m0, rows, first, end);
  if (!c->every) return;
  c->keys(g, batch, 0, g->m, &least, &most);
  if (least > 0) *first = 0;
  if (most < g->k) *end = g->k;
}

/* Of keys k0 .. k0 + kn, those from `first` to before `end`, in whole panels of the inner products from which rows of the
 * outer one begin. */
TC_MM_FN tc_mm_chain_keys tc_mm_chain_between(const tc_mm_chain *c, int64_t k0, int64_t kn, int64_t first, int64_t end) {
  int64_t unit = c->inner->nr;
  while (unit % c->outer->kp) unit += c->inner->nr;
  const int64_t from = first > k0 ? (first - k0) / unit * unit : 0;
  return (tc_mm_chain_keys){k0, from, tc_mm_min(kn, end - k0) - from, kn};
}

/* All blocks of the task's rows that have terms among keys k0 .. k0 + kn. */
TC_MM_FN void tc_mm_chain_blocks(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm_chain_rows *task,
                                 int64_t k0, int64_t kn) {
  const tc_mm_chain *c = x->c;
  for (int64_t i = 0; i < task->rows; i += c->block) {
    const tc_mm_chain_rows r = {task->batch, task->m0 + i, tc_mm_min(c->block, task->rows - i), i};
    int64_t first, end;
    tc_mm_chain_range(c, r.batch, r.m0, r.rows, &first, &end);
    const tc_mm_chain_keys keys = tc_mm_chain_between(c, k0, kn, first, end);
    if (first < end && k0 + kn > first && k0 < end) tc_mm_chain_block(x, p, &r, &keys, k0 <= first);
    else if (first >= end && k0 == 0) tc_mm_chain_none(x, p, &r);
  }
}

static inline void tc_mm_chain_until(const int32_t *done, int32_t blocks) {
  for (int i = 0; __atomic_load_n(done, __ATOMIC_ACQUIRE) < blocks; ++i) tc_mm_wait(i);
}

/* Of some rows: of their task. */
static inline int32_t *tc_mm_chain_done(const tc_mm_chain_call *x, const tc_mm_chain_rows *all) {
  return x->done + all->batch * x->tasks + all->m0 / x->high;
}

/* In front of a k block: the task before has added to its sums along m, or they begin, where those of another batch have
 * been stored.  Tasks are taken in order, so what is waited for is taken. */
TC_MM_FN void tc_mm_chain_enter(const tc_mm_chain_call *x, const tc_mm_chain_rows *all, int64_t k0, int64_t kn) {
  const int32_t *done = tc_mm_chain_done(x, all), blocks = (int32_t)tc_mm_ceil_div(x->c->outer->k, x->c->kc);
  if (all->m0) {
    tc_mm_chain_until(done - 1, (int32_t)(k0 / x->c->kc + 1));
    return;
  }
  if (all->batch >= x->slots) tc_mm_chain_until(done + x->tasks - 1 - x->slots * x->tasks, blocks);
  __builtin_memset(tc_mm_chain_y(x, all->batch, k0), 0, kn * x->y_bytes);
}

/* Behind it: the next task may add, or nothing will. */
TC_MM_FN void tc_mm_chain_leave(const tc_mm_chain_call *x, const tc_mm_chain_rows *all, int64_t k0, int64_t kn) {
  const tc_mm *g = x->c->across;
  if (all->m0 + all->rows == g->k) g->epilogue(g, all->batch, k0, kn, 0, g->n, tc_mm_chain_y(x, all->batch, k0), x->y_bytes);
  __atomic_store_n(tc_mm_chain_done(x, all), (int32_t)(k0 / x->c->kc + 1), __ATOMIC_RELEASE);
}

/* B of all products for a k block, and what rows make of it. */
TC_MM_FN void tc_mm_chain_keys_block(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, const tc_mm_chain_rows *all,
                                     int64_t k0, int64_t kn) {
  const tc_mm_chain *c = x->c;
  const int64_t batch = all->batch;
  tc_mm_chain_pack(c->inner, batch, k0, kn, 0, c->inner->k, p->b_inner);
  if (c->second) tc_mm_chain_pack(c->second, batch, k0, kn, 0, c->second->k, p->b_second);
  tc_mm_chain_pack(c->outer, batch, 0, c->outer->n, k0, kn, p->b[0]);
  if (c->beside) tc_mm_chain_pack(c->beside, batch, 0, c->outer->n, k0, kn, p->b[1]);
  tc_mm_chain_blocks(x, p, all, k0, kn);
}

TC_MM_FN void tc_mm_chain_task(const tc_mm_chain_call *x, const tc_mm_chain_parts *p, int64_t task) {
  const tc_mm_chain *c = x->c;
  const tc_mm_chain_rows all = tc_mm_chain_take(x, task);
  const int64_t batch = all.batch, m0 = all.m0;
  tc_mm g = *c->outer;
  int64_t first, end;
  tc_mm_chain_range(c, batch, m0, all.rows, &first, &end);
  for (int64_t k0 = 0; k0 < g.k; k0 += c->kc) {
    const int64_t kn = tc_mm_min(c->kc, g.k - k0);
    const int any = k0 == 0 || (k0 < end && k0 + kn > first); /* the first one counts rows that have none */
    if (c->across) tc_mm_chain_enter(x, &all, k0, kn);
    if (any) tc_mm_chain_keys_block(x, p, &all, k0, kn);
    if (c->across) tc_mm_chain_leave(x, &all, k0, kn);
  }
  if (g.k <= 0) tc_mm_chain_none(x, p, &all);
  g.row[0] = p->top, g.row[1] = p->sum, g.row_first = m0;
  if (c->finish) c->finish(&g, batch, m0, all.rows);
  g.epilogue(&g, batch, m0, all.rows, 0, g.n, p->sums[0], x->c_bytes);
  if (c->beside) c->beside->epilogue(c->beside, batch, m0, all.rows, 0, g.n, p->sums[1], x->c_bytes);
}

TC_MM_FN void tc_mm_chain_worker(void *call, int id, int threads) {
  tc_mm_chain_call *x = (tc_mm_chain_call *)call;
  const tc_mm *g = x->c->outer;
  const tc_mm_chain_parts p = tc_mm_chain_scratch(x, id);
  const tc_fe env = tc_fe_hold();
  (void)threads;
  if (g->begin) g->begin();
  for (;;) {
    const int64_t task = __atomic_fetch_add(&x->next, 1, __ATOMIC_RELAXED);
    if (task >= g->batch * x->tasks) break;
    tc_mm_chain_task(x, &p, task);
  }
  if (g->end) g->end();
  tc_fe_restore(env);
}

/* shared: with sums along m, 4 bytes for each task; own: own_bytes for each thread. */
__attribute__((weak, visibility("hidden"), minsize)) void tc_mm_chain_run(const tc_mm_chain *c, char *shared, char *own,
                                                                          int64_t own_bytes) {
  const tc_mm *in = c->inner, *g = c->outer;
  if (g->batch <= 0 || (g->m <= 0 && !c->across) || (g->n <= 0 && !c->finish)) return;
  const int64_t d = tc_mm_chain_deep(in), e = tc_mm_chain_deep(c->second);
  tc_mm_chain_call x = {.c = c, .own = own, .own_bytes = own_bytes};
  x.a_bytes = (d > e ? d : e) * g->es + 64;
  x.p_bytes = (c->kc + c->over) * g->es + 64;
  x.s_bytes = c->kc * g->cs + 64;
  x.c_bytes = x.y_bytes = tc_mm_round_up(g->n, g->nr) * g->cs;
  x.t_bytes = tc_mm_round_up(c->block, 32) * g->es + 64;
  const int64_t blocks = g->m > 0 ? tc_mm_ceil_div(g->m, c->block) : 1, outers = 1 + (c->beside != 0) + (c->across != 0);
  const int64_t work = g->batch * g->m * (g->k + 1) * (g->n * outers + d + e + 8);
  const int64_t threads = tc_mm_min(tc_mm_threads(g, work), g->batch * blocks);
  /* Packed B is used by all rows of a task, and tasks of a batch may wait for each other; so there are as few as keep
   * threads busy. */
  const int whole = threads == 1 || (c->across && g->batch % threads == 0);
  const int64_t wanted = !whole ? tc_mm_ceil_div(TC_MM_CHAIN_TASKS * threads, g->batch) : 1;
  x.high = tc_mm_min(tc_mm_ceil_div(blocks, tc_mm_min(wanted, blocks)) * c->block, c->most);
  x.tasks = g->m > 0 ? tc_mm_ceil_div(g->m, x.high) : 1;
  x.slots = c->across ? threads : 1;
  x.done = (int32_t *)shared;
  if (c->across) __builtin_memset(shared, 0, g->batch * x.tasks * (int64_t)sizeof *x.done);
  tc_mm_team(tc_mm_chain_worker, &x, threads);
}
#endif
