/* Decoding with a cache of keys and values: each step writes one row at a position that is known at run
 * time only, and attends over the rows so far.  One compiled function serves every position, equals the
 * body at each, never falls back, and writes nothing but the row. */
#include "check.h"

enum { LAYERS = 2, HEADS = 4, SIZE = 16, LENGTH = 40, WIDTH = HEADS * SIZE };

typedef struct layer {
  tc_tensor *query TC_SHAPE("f32[64,64]"), *key TC_SHAPE("f32[64,64]"), *value TC_SHAPE("f32[64,64]"), *out TC_SHAPE("f32[64,64]");
  tc_tensor *keys TC_SHAPE("f32[4,L,16]"), *values TC_SHAPE("f32[4,L,16]"); /* the cache: head, position, element */
} layer;

static tc_tensor *heads(const tc_tensor *x) { return tc_reshape(x, TC_DIMS(HEADS, 1, SIZE)); }

static tc_tensor *attention(const layer *l, const tc_tensor *x, int position) {
  tc_copy_(tc_select(l->keys, 1, position), tc_select(heads(tc_matmul(x, l->key)), 1, 0));
  tc_copy_(tc_select(l->values, 1, position), tc_select(heads(tc_matmul(x, l->value)), 1, 0));
  tc_tensor *keys = tc_slice(l->keys, 1, 0, position + 1, 1), *values = tc_slice(l->values, 1, 0, position + 1, 1);
  tc_tensor *scores = tc_mul_s(tc_matmul(heads(tc_matmul(x, l->query)), tc_transpose(keys, 1, 2)), 0.25);
  return tc_matmul(tc_reshape(tc_matmul(tc_softmax(scores, -1), values), TC_DIMS(1, WIDTH)), l->out);
}

TC_COMPILE_WITH("fullgraph")
static tc_tensor *decode(layer *model, const tc_tensor *table TC_SHAPE("f32[V,64]"), const tc_tensor *token TC_SHAPE("i64[1]"),
                         int position) {
  tc_tensor *x = tc_embedding(table, token);
  for (int i = 0; i < LAYERS; i++) x = tc_add(x, attention(&model[i], tc_rms_norm(x, 1, NULL, 1e-5), position));
  return tc_matmul(x, tc_transpose(table, 0, 1));
}

static tc_tensor *weight(uint64_t seed) { return tc_mul_s(tc_randn(TC_DIMS(WIDTH, WIDTH), seed, TC_F32), 0.125); }

/* Room for more than is used: what lies behind must stay as it is. */
static void make(layer *model) {
  for (int i = 0; i < LAYERS; i++) {
    uint64_t seed = 10 * (uint64_t)i;
    model[i] = (layer){weight(seed + 1), weight(seed + 2), weight(seed + 3), weight(seed + 4),
                       tc_full(TC_DIMS(HEADS, LENGTH, SIZE), 7, TC_F32), tc_full(TC_DIMS(HEADS, LENGTH, SIZE), 7, TC_F32)};
  }
}

static bool same(const tc_tensor *a, const tc_tensor *b) { return a && b && tc_allclose(a, b, 1.3e-6, 1e-5); }

int main(void) {
  TC_SCOPE {
    layer model[LAYERS], eager[LAYERS];
    make(model);
    make(eager);
    tc_tensor *table = tc_mul_s(tc_randn(TC_DIMS(50, WIDTH), 99, TC_F32), 0.125);
    int64_t token = 3;
    for (int position = 0; position < LENGTH; position++) TC_SCOPE {
      tc_tensor *id = tc_wrap(TC_DIMS(1), NULL, &token, TC_I64, NULL, NULL);
      tc_tensor *got = decode(model, table, id, position);
      tc_set_enabled(false);
      tc_tensor *want = decode(eager, table, id, position);
      tc_set_enabled(true);
      CHECK(same(got, want));
      for (int i = 0; i < LAYERS; i++) CHECK(same(model[i].keys, eager[i].keys) && same(model[i].values, eager[i].values));
      token = tc_item_int(tc_argmax(want, TC_AXES(1), false));
    }
    tc_stats stats = tc_stats_of("decode");
    printf("kv_cache: %d positions, %d kernels a step, %d fallbacks\n", (int)stats.hits, (int)stats.kernels, (int)stats.fallbacks);
    CHECK(stats.hits == LENGTH && stats.fallbacks == 0);
    CHECK(stats.kernels <= 7 * LAYERS); /* a copy of the whole cache would be one more */
    CHECK(!decode(model, table, tc_wrap(TC_DIMS(1), NULL, &token, TC_I64, NULL, NULL), LENGTH) && tc_error()); /* the body's error */
    tc_clear_error();
  }
  return 0;
}
