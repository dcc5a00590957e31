/* Matrix products: what micro-kernels are, what a kernel tells the driver (struct tc_mm), and what all drivers of
 * products share: 81_matmul_run.c, 84_matmul_chain.c, 85_winograd.c, 87_winograd_gradient.c. */
/* @ tc_mm tc_mm_micro TC_MM_ADD TC_MM_KEEP TC_MM_OPEN TC_MM_ROUND TC_MM_AHEAD TC_MM_HALF TC_MM_ROWS_AHEAD TC_MM_COLUMNS */
enum { TC_MM_ADD = 1, TC_MM_KEEP = 2, TC_MM_OPEN = 4, TC_MM_ROUND = 8, TC_MM_AHEAD = 16, TC_MM_HALF = 32, TC_MM_COLUMNS = 8 /* bits */ };
enum { TC_MM_ROWS_AHEAD = 32 };

/* c[i][j] (+)= sum over k of a[i * rs + k * ks] * b[k * bs + j]; strides in bytes.  add: TC_MM_ADD
 * to what is in c; a micro-kernel with `begin` also goes on with the sums that the last call left
 * in registers (TC_MM_KEEP) and leaves them there (TC_MM_OPEN).  One of pairs of bf16 stores sums as
 * bf16 (TC_MM_ROUND), and may end with half a pair, behind which it reads nothing of a (TC_MM_HALF); of those of several vectors, high ones also ask for the rows of b that they come to TC_MM_ROWS_AHEAD
 * steps later (TC_MM_AHEAD).  Where `masked` says so, one of one vector takes from bit TC_MM_COLUMNS on how many columns of c
 * there are; 0: all.  On its way it asks for k / pace
 * lines of memory from `prefetch` on, `as` apart: a part of the next panel of B. */
typedef void tc_mm_micro(int64_t k, const char *a, int64_t rs, int64_t ks, const char *b,
                         int64_t bs, char *c, int64_t cs, int add, const char *prefetch, int64_t as);

typedef struct tc_mm tc_mm;
struct tc_mm {
  int64_t batch, m, n, k;
  int64_t kc;         /* wanted length of a k block */
  int64_t rows_bytes; /* bytes of A's rows of a task, for one k block: they stay in the second-level
                         cache */
  int64_t sums;       /* bytes of sums that a task keeps between k blocks */
  int es, cs;         /* bytes of an element of packed A and B, of an accumulator */
  int mr, nr;         /* rows and columns of the largest tile */
  int ku, kp;         /* k elements side by side in a packed row of B; k is padded to kp */
  int slices;         /* of k, between which a tile with `begin` computes parts of the epilogue of the one before */
  int pace;           /* steps of a micro-kernel for each line that it asks for */
  int piece;          /* bytes of a row of B to pack at a time, one panel at least */
  int rows[3], cols[3];     /* heights and widths of tiles, falling from mr and nr; 0: no more */
  tc_mm_micro *micro[3][3]; /* by height and width */
  tc_mm_micro *narrow; /* of the least width and more rows, where N is no more than that; or 0 */
  int narrow_rows;
  int b_shared;             /* every batch has the same B */
  int reuse; /* the shared memory begins with a line whose first int64_t is not 0 where the rest has
              * been in use by a product of the same B, N and K, and keeps what that packed */
  int a_cols;               /* A is packed with rows side by side, of each row ku values of k, else with k side by side, */
  int a_lines;              /* and then in lines of 64 bytes, the lines of all rows side by side */
  int masked;               /* tiles of one vector take a number of columns of c (TC_MM_COLUMNS) */
  int64_t a_rs, a_ks, b_ks, c_rs; /* strides in bytes where the callbacks below are given */
  /* Addresses of elements of operands that can be read in place, of a C that can be written in
   * place. */
  const char *(*a_at)(const tc_mm *g, int64_t batch, int64_t m, int64_t k);
  const char *(*b_at)(const tc_mm *g, int64_t batch, int64_t k, int64_t n);
  char *(*c_at)(const tc_mm *g, int64_t batch, int64_t m, int64_t n);
  int c_rounded;    /* C is written in place as bf16 (TC_MM_ROUND) */
  int b_transposed; /* B is read along k, else along n */
  /* Addresses in what B is read from, contiguous along that axis, with elements of b_size bytes, and
   * b_pitch along the other; or 0. */
  const char *(*b_from)(const tc_mm *g, int64_t batch, int64_t k, int64_t n);
  int64_t b_pitch, b_size;
  /* dst[i][k] with `stride` bytes between rows and `step` between the lines of 64 bytes of a row;
   * or, with a_cols, dst[k / ku][i][ku] with `stride` bytes for each value of k. */
  void (*a_pack)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t k0, int64_t kn,
                 char *dst, int64_t stride, int64_t step);
  /* dst[k][nr], columns past `cols` undefined, k padded with zeros to a multiple of kp. */
  void (*b_pack)(const tc_mm *g, int64_t batch, int64_t n0, int64_t cols, int64_t nr, int64_t k0,
                 int64_t kn, char *dst);
  /* Consumes a finished tile; stride in bytes. */
  void (*epilogue)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t n0,
                   int64_t cols, const char *tile, int64_t stride);
  /* Asks for the memory that the tile's epilogue will touch, while the sums are made. */
  void (*prefetch)(const tc_mm *g, int64_t batch, int64_t m0, int64_t rows, int64_t n0, int64_t cols);
  void (*begin)(void), (*end)(void); /* around a thread's tiles, or 0 */
  const char *row[2]; /* of a chain: the accumulators of rows row_first .. */
  int64_t row_first;
  void *const *buf;
  const int64_t *sym;
  const tc_value *scalar;
  int *bad;
};
/* @ TC_MM_FN tc_mm_min tc_mm_ceil_div tc_mm_round_up tc_mm_fit tc_mm_threads tc_mm_team tc_mm_wait */
/* What the drivers of products share.  They hold no vector code and are small rather than fast. */
#define TC_MM_FN static __attribute__((noinline, minsize, nodebug, unused))
static inline int64_t tc_mm_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tc_mm_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t tc_mm_round_up(int64_t a, int64_t multiple) { return tc_mm_ceil_div(a, multiple) * multiple; }

/* The smallest of the falling sizes that holds n: its number. */
TC_MM_FN int tc_mm_fit(const int *size, int64_t n) {
  int v = 0;
  while (v < 2 && size[v + 1] >= n) ++v;
  return v;
}

/* Round n of waiting for another thread, which may need this processor. */
extern int sched_yield(void);
TC_MM_FN void tc_mm_wait(int n) {
#if defined(__SSE2__)
  __builtin_ia32_pause();
#endif
  if (n > 1000) sched_yield();
}

/* Threads for so many multiply-adds.  Starting threads costs what one multiplies in the meantime; tiles are some eight
 * times faster. */
TC_MM_FN int64_t tc_mm_threads(const tc_mm *g, int64_t work) {
  const int64_t least = g->begin ? 4000000 : 500000;
  return work >= least && tcrt_team_pays(work, least) ? tcrt_max_threads() : 1;
}

/* Runs `worker` on so many threads, of which one is this one.  Each has a floating-point environment of its own
 * (tc_fe_hold); that of this thread is held once more, as the end of a team may clear its flags. */
TC_MM_FN void tc_mm_team(void (*worker)(void *call, int thread, int threads), void *call, int64_t threads) {
  if (threads == 1) {
    worker(call, 0, 1);
    return;
  }
  const tc_fe env = tc_fe_hold();
  tcrt_team(worker, call, (int)threads);
  tc_fe_restore(env);
}
