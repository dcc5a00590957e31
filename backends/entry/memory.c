/* memory.c - prints what an entry allocates: workspace, packed operands, results. */
#include "backends/entry/entry.h"

#include <stdlib.h>
#include <string.h>

bool tc_entry_has_memory(const tc_program *p) {
  for (uint32_t i = 0; i < p->nbuffer; ++i)
    if (p->buffer[i].kind == TC_BUF_KEPT) return false;
  return true;
}

static void put_if_strided(const tc_entry *e, uint32_t i) {
  tc_putf(e->out, "  if (tc_is_packed(x%u, ", i);
  tc_putf(e->out, tc_entry_pitch(e, i) ? "apart%u)" : "0)", i);
  if (tc_entry_row_bytes(e, i)) tc_putf(e->out, " || align%u", i);
  tc_put(e->out, ")");
}

/* Strided operands get room in the workspace: pack<i> is its offset. */
static void put_pack_sizes(const tc_entry *e) {
  if (e->tabulates) {
    tc_entry_table_pack_sizes(e);
    return;
  }
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    if (!tc_entry_is_packed(e, i)) continue;
    const uint32_t buffer = (uint32_t)tc_entry_input_buffer(e->p, i);
    tc_putf(e->out, "  const int64_t pack%u = bytes;\n", i);
    put_if_strided(e, i);
    tc_put(e->out, "\n    bytes += ((");
    tc_entry_dim(e, tc_entry_row_bytes(e, i) ? tc_buffer_span(e->p, buffer) : e->p->buffer[buffer].numel);
    tc_putf(e->out, ") * %zu + 63) / 64 * 64;\n", tc_dtype_bytes(e->p->buffer[buffer].dtype));
  }
}

static void put_pack(const tc_entry *e, uint32_t i) {
  const bool rows = tc_entry_row_bytes(e, i) > 0;
  put_if_strided(e, i);
  tc_putf(e->out, " {\n    d%u = ws + pack%u;\n    %s%sx%u, d%u%s%s);\n    packed = 1;\n  }\n", i, i,
          e->style->all_can_fail ? "bad |= " : "", rows ? e->style->pack_rows : e->style->pack, i, i,
          rows ? ", s_" : "", rows ? tc_entry_pitch(e, i)->name : "");
}

static void put_packs(const tc_entry *e) {
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    if (tc_entry_input_buffer(e->p, i) < 0) continue;
    tc_putf(e->out, "  void *d%u = x%u->data;\n", i, i);
    if (tc_entry_is_packed(e, i)) put_pack(e, i);
  }
}

void tc_entry_packs(const tc_entry *e) {
  tc_putf(e->out, "  uint64_t packed = 0;\n");
  if (e->tabulates) tc_entry_table_packs(e);
  else put_packs(e);
  tc_put(e->out, "  if (packed) __atomic_fetch_add(&f->packed, 1, __ATOMIC_RELAXED);\n");
}

void tc_entry_unpacks(const tc_entry *e) {
  if (e->tabulates) {
    tc_entry_table_unpacks(e);
    return;
  }
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i)
    if (tc_entry_is_packed(e, i) && tc_graph_input_at(e->p->graph, i)->written)
      tc_putf(e->out, "  if (__builtin_expect(d%u != x%u->data, 0)%s) %s%sx%u, d%u);\n", i, i,
              e->style->all_can_fail ? " && !bad" : "", e->style->all_can_fail ? "bad = " : "",
              e->style->unpack, i, i);
}

/* The text with a number for @. */
static void put_numbered(const char *text, uint32_t number, tc_buf *out) {
  for (const char *at; (at = strchr(text, '@')); text = at + 1) {
    tc_putn(out, text, (size_t)(at - text));
    tc_putf(out, "%u", number);
  }
  tc_put(out, text);
}

/* Scratch memory lies behind the arena; all kernels share the place unless they may run side by side,
 * and equal ones (layers of a model have them) what is said of it.  `list` has the texts so far. */
static void put_scratch(const tc_entry *e, uint32_t k, tc_names *list) {
  tc_buf t = {0};
  if (e->style->scratch && e->style->scratch(e, k, &t)) {
    bool fresh = true;
    const uint32_t i = e->depends ? k + 1 : tc_names_number(list, t.text ? t.text : "", &fresh);
    e->scratch[k] = i;
    if (fresh) {
      tc_putf(e->out, "  int64_t scratch%u = %s;\n", i, e->depends ? "bytes" : "arena");
      put_numbered(t.text ? t.text : "", i, e->out);
      tc_putf(e->out, "  if (scratch%u > bytes) bytes = scratch%u;\n", i, i);
    }
    e->out->failed |= t.failed || !i;
  }
  tc_buf_free(&t);
}

/* Functions that are called may want the thread's workspace for themselves. */
static void put_held_workspace(const tc_entry *e) {
  tc_put(e->out, "  struct tc_tensor *const hold = tcrt_new(TC_U8, 1, (const int64_t[8]){bytes});\n"
                 "  if (!hold) return tcrt_miss(f, TC_MISS_MEMORY, -1, -1, bytes, 0);\n"
                 "  char *const ws = hold->data;\n");
}

static void put_workspace(const tc_entry *e) {
  tc_putf(e->out, "  %sint64_t arena = ((", e->style->kept ? "" : "const ");
  tc_entry_dim(e, e->p->workspace);
  tc_put(e->out, ") + 63) / 64 * 64;\n");
  if (e->style->kept) e->style->kept(e, false);
  tc_put(e->out, "  int64_t bytes = arena;\n");
  if (e->style->threaded && e->style->threaded(e))
    tc_put(e->out, "  const int64_t threads = tcrt_max_threads();\n  (void)threads;\n");
  tc_names scratches = {0};
  for (uint32_t k = 0; k < e->p->nkernel; ++k) put_scratch(e, k, &scratches);
  tc_names_free(&scratches);
  put_pack_sizes(e);
  if (tc_entry_calls(e->p)) {
    put_held_workspace(e);
    return;
  }
  tc_putf(e->out, "  char *ws = 0;\n  if (bytes && !(ws = %s(size_t)bytes)))%s\n",
          e->style->workspace, e->style->leave ? " {" : "");
  tc_entry_leave(e, 0);
  tc_putf(e->out, "    return tcrt_miss(f, TC_MISS_MEMORY, -1, -1, bytes, 0);\n%s",
          e->style->leave ? "  }\n" : "");
}

/* ---- where buffers lie ------------------------------------------------------------------------
 *
 * at<i> is the offset of buffer i in the arena: bytes of all slots in front of it
 * (lower/memory/workspace.c), a sum as long as the program has slots.  Printed is what each adds to
 * the one in front, and a slot once. */

typedef struct place {
  uint32_t buffer;
  int64_t guess; /* the offset for some sizes: the order of the slots */
} place;

static int by_guess(const void *x, const void *y) {
  const place *a = x, *b = y;
  if (a->guess != b->guess) return a->guess < b->guess ? -1 : 1;
  return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static uint32_t list_places(const tc_entry *e, place *list) {
  const uint32_t nsym = tc_dims_sym_count(e->dims);
  int64_t *sym = tc_arena_alloc(e->p->arena, (nsym + 1) * sizeof *sym);
  uint32_t n = 0;
  for (uint32_t i = 0; sym && i < nsym; ++i) sym[i] = 128 + (int64_t)i;
  for (uint32_t i = 0; i < e->p->nbuffer; ++i) {
    if (e->p->buffer[i].kind != TC_BUF_ARENA) continue;
    int64_t guess;
    if (!sym || !tc_dim_eval(e->dims, e->p->buffer[i].offset, sym, &guess)) guess = INT64_MAX;
    list[n++] = (place){i, guess};
  }
  qsort(list, n, sizeof *list, by_guess);
  return n;
}

/* front: the buffer in front, or NULL.  Whatever the order is, the sum that is printed is the
 * offset. */
static void put_offset(const tc_entry *e, uint32_t buffer, const place *front) {
  const tc_dim at = e->p->buffer[buffer].offset;
  tc_dim step = TC_DIM_INVALID;
  if (front && !tc_dim_is_const(at))
    step = tc_dim_sub(e->dims, at, e->p->buffer[front->buffer].offset);
  tc_putf(e->out, "  const int64_t at%u = ", buffer);
  if (tc_dim_bad(step)) {
    tc_entry_dim(e, at);
  } else {
    tc_putf(e->out, "at%u", front->buffer);
    if (!tc_dim_is(step, 0)) tc_put(e->out, " + "), tc_entry_dim(e, step);
  }
  tc_put(e->out, ";\n");
}

static void put_offsets(const tc_entry *e) {
  place *list = tc_arena_alloc(e->p->arena, (e->p->nbuffer + 1) * sizeof *list);
  const uint32_t n = list ? list_places(e, list) : 0;
  for (uint32_t i = 0; i < n; ++i) put_offset(e, list[i].buffer, i ? &list[i - 1] : NULL);
  if (!list) e->out->failed = true;
}

void tc_entry_workspace(const tc_entry *e) {
  put_workspace(e);
  put_offsets(e);
  if (e->style->kept) e->style->kept(e, true);
}

/* ---- results --------------------------------------------------------------------------------- */

void tc_entry_leave(const tc_entry *e, uint32_t made) {
  if (e->style->leave) tc_putf(e->out, "    %s;\n", e->style->leave);
  if (tc_entry_calls(e->p)) tc_put(e->out, "    tcrt_delete(hold);\n");
  if (made) tc_putf(e->out, "    tc_drop(out, %u);\n", made);
}

/* The new tensor of result i. */
static void put_new(const tc_entry *e, const tc_type *t) {
  tc_putf(e->out, "%s%d, %d, (const int64_t[8]){", e->style->create, t->dtype, t->rank);
  for (int a = 0; a < t->rank; ++a) {
    tc_put(e->out, a ? ", " : "");
    tc_entry_dim(e, t->dim[a]);
  }
  tc_put(e->out, t->rank ? "})" : "0})");
}

/* The gradients that kernels need which read or write result i, or write it beside others. */
static uint64_t served_through(const tc_entry *e, uint32_t i) {
  uint64_t set = 0;
  for (uint32_t k = 0; k < e->p->nkernel; ++k)
    for (uint32_t b = 0; b < e->p->kernel[k].nbuffer; ++b)
      if (e->p->kernel[k].buffer[b] == e->p->output[i]) set |= e->serves[k];
  return set;
}

static void put_result(const tc_entry *e, uint32_t i) {
  const tc_type *t = &e->p->buffer[e->p->output[i]].type;
  const uint64_t set = e->serves ? served_through(e, i) : 0;
  tc_putf(e->out, "  struct tc_tensor *const o%u = ", i);
  if (e->serves) tc_putf(e->out, "!(want & 0x%llx) ? 0 : ", (unsigned long long)set);
  put_new(e, t);
  tc_put(e->out, "; /* ");
  tc_type_print(e->dims, t, e->out);
  tc_putf(e->out, " */\n  if (!o%u", i);
  if (e->serves) tc_putf(e->out, " && want & 0x%llx", (unsigned long long)set);
  tc_put(e->out, ") {\n");
  tc_entry_leave(e, i);
  tc_putf(e->out, "    return tcrt_miss(f, TC_MISS_MEMORY, -1, -1, 0, 0);\n  }\n  out[%u] = o%u;\n",
          i, i);
  if (!tc_graph_type(e->p->graph, tc_graph_output_at(e->p->graph, i))->weak) return;
  if (e->serves) tc_putf(e->out, "  if (o%u)\n  ", i);
  tc_putf(e->out, "  o%u->key.flags |= TC_FLAG_WEAK;\n", i);
}

void tc_entry_results(const tc_entry *e) {
  for (uint32_t i = 0; i < e->p->noutput; ++i) put_result(e, i);
}
