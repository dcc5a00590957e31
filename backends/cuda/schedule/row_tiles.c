/* row_tiles.c - rows that follow one another in memory: those of a block are one piece of it, which
 * passes through shared memory, 16 bytes at a time, wherever rows begin. */
#include "backends/cuda/schedule/plan.h"

#include <stdlib.h>

/* Does each row begin where the one in front of it ends, in an operand as it is where it has no
 * pitch? */
static bool follows_on(const tc_program *p, const tc_nest *n, const tc_address *a) {
  tc_dims *c = tc_graph_dims(p->graph);
  tc_dim step = tc_dim_const(1);
  for (int i = n->naxis - 1; i >= 0; --i) {
    if (!tc_dim_same(tc_dense_step(p, a->coef[i]), step)) return false;
    step = tc_dim_mul(c, step, n->axis[i].extent);
  }
  return !a->nterm;
}

static bool is_by_tile(const tc_program *p, const tc_nest *n, const tc_address *a,
                       const tc_address *tile) {
  return tile && follows_on(p, n, a) && tc_dim_same(a->offset, tile->offset);
}

const tc_address *tc_cuda_row_tile(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                   const uint8_t *need, uint32_t buffer) {
  const tc_address *loaded = NULL, *stored = NULL;
  if (tc_cuda_is_local(k, p, buffer)) return NULL;
  for (uint32_t i = 1; i < k->nexpr && !loaded; ++i) {
    const tc_expr *e = &k->expr[i];
    if (need[i] && e->kind == TC_EX_LOAD && e->buffer == buffer && !e->guard.id &&
        follows_on(p, n, &e->address))
      loaded = &e->address;
  }
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction && !stored; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind == TC_ACT_STORE && a->buffer == buffer && !a->guard.id &&
          follows_on(p, n, &a->address))
        stored = &a->address;
    }
  return loaded ? loaded : stored;
}

bool tc_cuda_loads_by_tile(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                           const uint8_t *need, uint32_t id) {
  const tc_expr *e = &k->expr[id];
  return e->kind == TC_EX_LOAD && !e->guard.id &&
         is_by_tile(p, n, &e->address, tc_cuda_row_tile(k, p, n, need, e->buffer));
}

bool tc_cuda_stores_by_tile(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                            const uint8_t *need, const tc_action *a) {
  return a->kind == TC_ACT_STORE && !a->guard.id &&
         is_by_tile(p, n, &a->address, tc_cuda_row_tile(k, p, n, need, a->buffer));
}

/* An array that the nest both reads and writes would be in memory and in a tile at once. */
static bool changes_what_it_reads(const tc_kernel *k, const tc_program *p, const tc_nest *n,
                                  const uint8_t *need) {
  for (uint32_t s = 0; s < n->nstage; ++s)
    for (uint32_t i = 0; i < n->stage[s].naction; ++i) {
      const tc_action *a = &n->stage[s].action[i];
      if (tc_cuda_is_store(a) && !tc_cuda_is_local(k, p, a->buffer) &&
          tc_cuda_loads(k, need, a->buffer))
        return true;
    }
  return false;
}

static bool has_rows(const tc_nest *n) {
  const int v = n->vector;
  if (!n->nparallel || n->naxis != n->nparallel + 1 || v != n->nparallel ||
      tc_cuda_has_kind(n, TC_ACT_SCAN))
    return false;
  for (int i = 0; i < n->naxis; ++i)
    if (n->axis[i].of >= 0) return false;
  return true;
}

int tc_cuda_row_tiles(const tc_kernel *k, const tc_program *p, const tc_nest *n, int *bytes) {
  uint8_t *need = calloc(k->nexpr + 1, 1);
  int tiles = 0, all = 0;
  bool rows = need && has_rows(n);
  if (rows) tc_cuda_mark(k, n, need);
  rows = rows && !changes_what_it_reads(k, p, n, need);
  for (uint32_t b = 0; rows && b < k->nbuffer; ++b) {
    if (!tc_cuda_row_tile(k, p, n, need, b)) continue;
    all += (int)tc_dtype_bytes(p->buffer[k->buffer[b]].dtype);
    ++tiles;
  }
  free(need);
  if (bytes) *bytes = all;
  return tiles;
}

/* ---- functions ------------------------------------------------------------------------------- */

enum {
  EACH = 16,
  WORDS = 64,
  LONGEST = 128 /* elements: longer rows are lines of memory */,
  WARP = 32
};

/* Registers of an element of a row: what waits between stages. */
static int words_of(const tc_cuda_plan *x) {
  uint8_t *need = calloc(x->k->nexpr + 1, 1);
  const int words = need ? tc_cuda_count_rows(x->k, x->p, x->n, need) : WORDS;
  free(need);
  return words;
}

/* Elements of a thread. */
static int elements_of(const tc_cuda_plan *x) {
  const int words = words_of(x);
  int each = EACH;
  while (each > 1 && each * words > WORDS) each /= 2;
  return each;
}

/* Rows of that many elements that begin at 16 bytes, as the first one does. */
static bool are_aligned(const tc_cuda_plan *x, int64_t length) {
  enum { BYTES = 16 };
  for (uint32_t b = 0; b < x->k->nbuffer; ++b)
    if (tc_cuda_row_tile(x->k, x->p, x->n, x->need, b) &&
        length * (int64_t)tc_dtype_bytes(x->p->buffer[x->k->buffer[b]].dtype) % BYTES)
      return false;
  return true;
}

/* Twice as many where a word of memory holds two, and rows are not peeled. */
static int longest_of(const tc_cuda_plan *x) {
  enum { WORD = 4 };
  bool narrow = false;
  for (uint32_t b = 0; b < x->k->nbuffer; ++b)
    narrow |= tc_cuda_row_tile(x->k, x->p, x->n, x->need, b) &&
              tc_dtype_bytes(x->p->buffer[x->k->buffer[b]].dtype) < WORD;
  return narrow && !tc_cuda_may_peel(x->k, x->p, x->n, x->need) ? 2 * LONGEST : LONGEST;
}

/* Loads along the row that are no tile's: they are early. */
static int count_others(const tc_cuda_plan *x) {
  const int v = x->n->vector;
  int n = 0;
  for (uint32_t i = 1; i < x->k->nexpr; ++i) {
    const tc_expr *e = &x->k->expr[i];
    n += x->need[i] && e->kind == TC_EX_LOAD && !tc_cuda_is_local(x->k, x->p, e->buffer) &&
         !tc_dim_is(e->address.coef[v], 0) && !tc_cuda_loads_by_tile(x->k, x->p, x->n, x->need, i);
  }
  return n;
}

/* While a block waits for its tiles, others are to compute. */
static void add_tiled(tc_cuda_plan *x, tc_cuda_variant f, int group, int each) {
  enum { FILE_WORDS = 65536, OTHERS = 56 };
  f.aligned = f.shared = false;
  f.registers = f.tile = true;
  f.lanes = 1;
  f.unroll = f.items = each;
  f.most = group;
  f.longest = (int64_t)group * each;
  f.blocks = FILE_WORDS / (OTHERS + each * (words_of(x) + count_others(x))) / f.threads;
  tc_cuda_add(x, f);
}

void tc_cuda_plan_tiled_rows(tc_cuda_plan *x, tc_cuda_variant f) {
  int group = 1;
  if (!tc_cuda_row_tiles(x->k, x->p, x->n, NULL) ||
      !tc_dim_is_const(x->n->axis[x->n->vector].extent))
    return;
  const int64_t length = tc_dim_value(x->n->axis[x->n->vector].extent);
  const int each = elements_of(x);
  if (length < 2 || are_aligned(x, length) || length > longest_of(x)) return;
  while (group < WARP && group * each < length) group *= 2;
  if (group * each < length) return;
  f.group = group;
  add_tiled(x, f, group, (int)((length + group - 1) / group));
}

/* A thread for each of the shortest rows, for what is done once a row takes as long as some elements do; it does not test
 * twice as many as they have.  Of unknown length rows are read by warps sooner: what is not of the tiles, such as weights,
 * takes a load for each element of each row, or for a warp one.  (Least times of 20 nests of 33 to 123 elements on an H100,
 * and of 7 of 22 to 250 on an H200.) */
void tc_cuda_add_tiled_rows(tc_cuda_plan *x, tc_cuda_variant f) {
  enum { SHORT = 4, FREE = 128, WITH_OTHERS = 32 /* twice as many of halves */ };
  if (!tc_cuda_row_tiles(x->k, x->p, x->n, NULL) ||
      tc_dim_is_const(x->n->axis[x->n->vector].extent))
    return;
  const int each = elements_of(x) / 2;
  if (each < SHORT) return;
  f.group = 1;
  for (int own = SHORT; own <= 2 * each; own *= 2) add_tiled(x, f, 1, own);
  f.group = 0;
  add_tiled(x, f, (count_others(x) ? WITH_OTHERS * (longest_of(x) / LONGEST) : FREE) / each, each);
}
