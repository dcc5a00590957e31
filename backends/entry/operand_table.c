/* operand_table.c - guards and packing of entries with many operands, as loops over a table of
 * them: what each costs in text, code and time to compile it is a row.  Entries with few say it of
 * each operand, which is faster by a load and a branch or two (guards.c, memory.c). */
#include "backends/entry/entry.h"

enum { MANY_OPERANDS = 32 };

bool tc_entry_tabulates(const tc_graph *g) { return tc_graph_input_count(g) >= MANY_OPERANDS; }

/* What is asked of an operand, or done with it: bits of tc_operand.asks. */
#define ASKS(X) \
  X(TC_UNTRACKED, 1)  /* it has no link to the tape while gradients are recorded */ \
  X(TC_LEAF, 2)       /* gradients are taken with respect to it */ \
  X(TC_TRAINED, 4)    /* with such a link, the function's gradients are to be recorded */ \
  X(TC_WRITTEN, 8) \
  X(TC_OWN_MEMORY, 16) /* written, and it shares its memory with no leaf */ \
  X(TC_STRIDABLE, 32)  /* written, and its elements may lie anywhere */ \
  X(TC_PACKED, 64)     /* where elements do not follow each other, kernels work on a copy */ \
  X(TC_NO_RESULT, 128) /* its link to the tape, if it has one, is that of a leaf */

#define CONSTANT(name, bit) name = bit,
#define TEXT(name, bit) " " #name " = " #bit ","
enum { ASKS(CONSTANT) };

void tc_entry_operand_types(tc_buf *out) {
  tc_put(out,
         "\n/* An operand of an entry that has many: its key, what is asked of it, bytes of an element. */\n"
         "enum {" ASKS(TEXT) " };\n"
         "typedef struct tc_operand {\n  uint32_t key;\n  uint8_t asks, bytes;\n} tc_operand;\n"
         "/* Size `size` of a list is wanted of an operand's axis; fixed: it is a number. */\n"
         "typedef struct tc_wanted_size {\n  uint16_t operand, size;\n  uint8_t axis;\n  bool fixed;\n} "
         "tc_wanted_size;\n"
         "\n/* Of a copy without gaps, in whole lines. */\n"
         "static inline __attribute__((unused)) int64_t tc_packed_bytes(const struct tc_tensor *x, int64_t bytes) {\n"
         "  for (int a = 0; a < x->key.rank; ++a) bytes *= x->dim[a];\n"
         "  return (bytes + 63) / 64 * 64;\n}\n");
}

static uint32_t asks_of(const tc_entry *e, uint32_t i) {
  const tc_input *in = tc_graph_input_at(e->p->graph, i);
  uint32_t asks = 0;
  if (tc_entry_refuses_tracked(e, in)) asks |= TC_UNTRACKED;
  if (in->leaf) asks |= TC_LEAF;
  if (tc_entry_refuses_results(e, in)) asks |= TC_NO_RESULT;
  if (e->f->trains && !in->written && !in->detached) asks |= TC_TRAINED;
  if (in->written) asks |= TC_WRITTEN;
  if (in->written && !in->leaf && !in->detached) asks |= TC_OWN_MEMORY;
  if (in->written && tc_entry_may_be_strided(e, i)) asks |= TC_STRIDABLE;
  if (tc_entry_is_packed(e, i)) asks |= TC_PACKED;
  return asks;
}

static void put_loop(const tc_entry *e) {
  tc_putf(e->out,
          "  for (uint32_t i = 0; i < %u; ++i) {\n"
          "    const struct tc_tensor *const x = in[i];\n    const uint32_t asks = operand[i].asks;\n",
          tc_graph_input_count(e->p->graph));
}

/* ---- guards ---------------------------------------------------------------------------------- */

static void put_table(const tc_entry *e) {
  tc_put(e->out, "  static const tc_operand operand[] = {\n");
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i) {
    const tc_input *in = tc_graph_input_at(e->p->graph, i);
    tc_putf(e->out, "    {0x%08xu, %u, %zu}, /* %u: %s: ", tc_entry_key(e, in), asks_of(e, i),
            tc_dtype_bytes(in->type.dtype), i, in->name ? in->name : "");
    tc_type_print(e->dims, &in->type, e->out);
    tc_put(e->out, " */\n");
  }
  tc_put(e->out, "  };\n");
}

void tc_entry_table_keys(const tc_entry *e) {
  put_table(e);
  put_loop(e);
  tc_put(e->out,
         "    if (__builtin_expect(!x || tc_key_of(x) != operand[i].key ||\n"
         "                         (asks & TC_UNTRACKED && x->autograd && tcrt_recording()), 0))\n"
         "      return tc_key_miss(f, x, (int)i, operand[i].key);\n"
         "    TC_GUARD(!(asks & TC_LEAF) || tcrt_leaf(x), TC_MISS_GRAD, (int)i, -1, 0, 1);\n"
         "    TC_GUARD(!(asks & TC_NO_RESULT && x->autograd) || tcrt_leaf(x), TC_MISS_GRAD, (int)i, -1, 0, 0);\n");
  if (e->f->trains)
    tc_putf(e->out,
            "    if (__builtin_expect(asks & TC_TRAINED && x->autograd != 0, 0) && tcrt_recording())\n"
            "      return %s_train(in, scalar, out);\n",
            e->f->symbol);
  if (e->device != TC_CPU)
    tc_put(e->out,
           "    TC_GUARD(x->device_index == in[0]->device_index, TC_MISS_DEVICE, (int)i, -1,\n"
           "             x->device_index, in[0]->device_index);\n");
  tc_put(e->out, "  }\n");
}

/* The number of d among the n sizes of the list, where it is put if it is new. */
static uint32_t number_of(tc_dim d, tc_dim *list, uint32_t *n) {
  for (uint32_t i = 0; i < *n; ++i)
    if (tc_dim_same(list[i], d)) return i;
  list[*n] = d;
  return (*n)++;
}

void tc_entry_table_sizes(const tc_entry *e) {
  const uint32_t ninput = tc_graph_input_count(e->p->graph);
  tc_dim *list = tc_arena_alloc(e->p->arena, ninput * TC_MAX_RANK * sizeof *list);
  uint32_t n = 0, checks = 0;
  tc_buf rows = {0};
  for (uint32_t i = 0; list && i < ninput; ++i) {
    const tc_type *t = &tc_graph_input_at(e->p->graph, i)->type;
    for (int a = 0; a < t->rank; ++a) {
      if (tc_entry_binds(e, i, a)) continue;
      const uint32_t size = number_of(t->dim[a], list, &n);
      tc_putf(&rows, "%s{%u, %u, %d, %d}", checks++ % 8 ? ", " : ",\n    ", i, size, a,
              tc_dim_is_const(t->dim[a]));
    }
  }
  e->out->failed |= rows.failed || !list || ninput > UINT16_MAX || n > UINT16_MAX;
  if (checks) {
    tc_put(e->out, "  const int64_t size[] = {");
    for (uint32_t i = 0; i < n; ++i) tc_put(e->out, i ? ", " : ""), tc_entry_dim(e, list[i]);
    tc_putf(e->out,
            "};\n  static const tc_wanted_size wanted[] = {%s};\n"
            "  for (uint32_t i = 0; i < %u; ++i) {\n"
            "    const tc_wanted_size w = wanted[i];\n"
            "    const int64_t got = in[w.operand]->dim[w.axis];\n"
            "    TC_GUARD(got == size[w.size], w.fixed ? TC_MISS_SIZE : TC_MISS_EQUAL, w.operand, w.axis,\n"
            "             got, size[w.size]);\n  }\n",
            rows.text + 1, checks);
  }
  tc_buf_free(&rows);
}

void tc_entry_table_writes(const tc_entry *e) {
  put_loop(e);
  tc_put(e->out,
         "    if (!(asks & TC_WRITTEN)) continue;\n"
         "    TC_GUARD(!(asks & TC_OWN_MEMORY) || tcrt_may_write(x), TC_MISS_GRAD, (int)i, -1, 0, 0);\n"
         "    if ((x->key.flags & (TC_FLAG_CONTIGUOUS | TC_FLAG_READONLY)) != TC_FLAG_CONTIGUOUS &&\n"
         "        !(asks & TC_STRIDABLE && tcrt_may_unpack(x)))\n"
         "      return tcrt_miss(f, TC_MISS_STRIDE, (int)i, -1, 0, !(asks & TC_STRIDABLE));\n  }\n");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const char if_packed[] =
    "asks & TC_PACKED && __builtin_expect(!(x->key.flags & TC_FLAG_CONTIGUOUS), 0)";

void tc_entry_table_pack_sizes(const tc_entry *e) {
  tc_put(e->out, "  const int64_t packs = bytes; /* copies follow each other */\n");
  put_loop(e);
  tc_putf(e->out, "    if (%s) bytes += tc_packed_bytes(x, operand[i].bytes);\n  }\n", if_packed);
}

void tc_entry_table_packs(const tc_entry *e) {
  tc_putf(e->out, "  void *d[%u];\n  int64_t room = packs;\n", tc_graph_input_count(e->p->graph));
  put_loop(e);
  tc_putf(e->out,
          "    d[i] = x->data;\n    if (%s) {\n      d[i] = ws + room;\n      %s%sx, d[i]);\n"
          "      room += tc_packed_bytes(x, operand[i].bytes), packed = 1;\n    }\n  }\n",
          if_packed, e->style->all_can_fail ? "bad |= " : "", e->style->pack);
}

static bool writes(const tc_entry *e) {
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i)
    if (tc_graph_input_at(e->p->graph, i)->written) return true;
  return false;
}

void tc_entry_table_unpacks(const tc_entry *e) {
  if (!e->style->unpack || !writes(e)) return;
  put_loop(e);
  tc_putf(e->out, "    if (__builtin_expect(asks & TC_WRITTEN && d[i] != x->data, 0)%s) %s%sx, d[i]);\n  }\n",
          e->style->all_can_fail ? " && !bad" : "", e->style->all_can_fail ? "bad = " : "", e->style->unpack);
}

void tc_entry_table_written(const tc_entry *e) {
  if (!writes(e)) return;
  put_loop(e);
  tc_put(e->out, "    if (asks & TC_WRITTEN) tcrt_written(x);\n  }\n");
}
