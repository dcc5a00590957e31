// Greedy decoding: a small transformer whose keys and values go to a cache at the position of the token.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { LAYERS = 2, HEADS = 2, TOKENS = 24 };

struct layer {
  tc_tensor *norm1 TC_SHAPE("f32[D]");
  tc_tensor *wqkv TC_SHAPE("f32[D,3*D]");
  tc_tensor *wo TC_SHAPE("f32[D,D]");
  tc_tensor *norm2 TC_SHAPE("f32[D]");
  tc_tensor *up TC_SHAPE("f32[D,F]");
  tc_tensor *down TC_SHAPE("f32[F,D]");
  tc_tensor *k TC_SHAPE("f32[2,L,E]"); // [HEADS, positions, D / HEADS]
  tc_tensor *v TC_SHAPE("f32[2,L,E]");
};

struct model {
  tc_tensor *embedding TC_SHAPE("f32[V,D]");
  tc_tensor *norm TC_SHAPE("f32[D]");
  struct layer layer[LAYERS];
};

static tc_tensor *heads(const tc_tensor *qkv, int which, int64_t d) { // -> [HEADS,1,D/HEADS]
  return tc_reshape(tc_slice(qkv, 0, which * d, (which + 1) * d, 1), TC_DIMS(HEADS, 1, d / HEADS));
}

static tc_tensor *attention(struct layer *l, const tc_tensor *x, int64_t at) {
  const int64_t d = tc_size(x, 0);
  tc_tensor *qkv = tc_matmul(tc_rms_norm(x, 1, l->norm1, 1e-5), l->wqkv);
  tc_copy_(tc_slice(l->k, 1, at, at + 1, 1), heads(qkv, 1, d));
  tc_copy_(tc_slice(l->v, 1, at, at + 1, 1), heads(qkv, 2, d));
  tc_tensor *k = tc_slice(l->k, 1, 0, at + 1, 1), *v = tc_slice(l->v, 1, 0, at + 1, 1);
  tc_tensor *scores = tc_mul_s(tc_matmul(heads(qkv, 0, d), tc_transpose(k, 1, 2)), 1 / sqrt((double)d / HEADS));
  tc_tensor *mixed = tc_matmul(tc_softmax(scores, -1), v);
  return tc_add(x, tc_matmul(tc_reshape(mixed, TC_DIMS(d)), l->wo));
}

static tc_tensor *feed_forward(const struct layer *l, const tc_tensor *x) {
  tc_tensor *h = tc_silu(tc_matmul(tc_rms_norm(x, 1, l->norm2, 1e-5), l->up));
  return tc_add(x, tc_matmul(h, l->down));
}

/* The token after `token`, which stands at `at`. */
TC_COMPILE static int64_t next_token(struct model *m, int64_t token, int64_t at) {
  int64_t next = -1;
  TC_SCOPE {
    tc_tensor *x = tc_select(m->embedding, 0, token);
    for (struct layer *l = m->layer; l != m->layer + LAYERS; ++l) x = feed_forward(l, attention(l, x, at));
    tc_tensor *logits = tc_matmul(m->embedding, tc_rms_norm(x, 1, m->norm, 1e-5));
    next = tc_item_int(tc_argmax(logits, TC_ALL, false));
  }
  return next;
}

/* Continues prompt[0..n) up to most tokens in out; stops at `end`. */
TC_COMPILE static int decode(struct model *m, const int *prompt, int n, int *out, int most, int end) {
  int64_t token = prompt[0];
  int made = 0;
  for (int at = 0; at < n + most - 1; at++) {
    int64_t next = -1;
    TC_SCOPE {
      tc_tensor *x = tc_select(m->embedding, 0, token);
      for (int i = 0; i < LAYERS; i++) x = feed_forward(&m->layer[i], attention(&m->layer[i], x, at));
      tc_tensor *logits = tc_matmul(m->embedding, tc_rms_norm(x, 1, m->norm, 1e-5));
      next = tc_item_int(tc_argmax(logits, TC_ALL, false));
    }
    if (at + 1 < n) {
      token = prompt[at + 1];
      continue;
    }
    out[made++] = (int)(token = next);
    if (token == end) break;
  }
  return made;
}

static tc_tensor *weight(tc_ints dims, uint64_t seed) {
  return tc_mul_s(tc_randn(dims, seed, TC_F32), 1 / sqrt((double)dims.v[0]));
}

static void run(int scale) {
  int64_t d = 16 * scale, f = 4 * d, v = 40 * scale;
  TC_SCOPE {
    struct model m = {.embedding = weight(TC_DIMS(v, d), 1), .norm = tc_ones(TC_DIMS(d), TC_F32)};
    for (int i = 0; i < LAYERS; i++) {
      uint64_t s = 10 * (uint64_t)(i + 1);
      m.layer[i] = (struct layer){
          .norm1 = tc_ones(TC_DIMS(d), TC_F32), .wqkv = weight(TC_DIMS(d, 3 * d), s), .wo = weight(TC_DIMS(d, d), s + 1),
          .norm2 = tc_ones(TC_DIMS(d), TC_F32), .up = weight(TC_DIMS(d, f), s + 2), .down = weight(TC_DIMS(f, d), s + 3),
          .k = tc_zeros(TC_DIMS(HEADS, TOKENS + 8, d / HEADS), TC_F32), .v = tc_zeros(TC_DIMS(HEADS, TOKENS + 8, d / HEADS), TC_F32)};
    }
    int out[TOKENS];
    int n = decode(&m, (const int[]){3, 14, 15}, 3, out, TOKENS, 0);
    for (int i = 0; i < n; i++) printf("%d ", out[i]);
    int64_t token = 3;
    for (int at = 0; at < 8; at++) printf("%d ", (int)(token = next_token(&m, token, at)));
    printf("\n");
  }
}

int main(void) {
  run(1);
  run(2);
  return finish();
}
// CHECK-DAG: remark: 'next_token' compiled: 59 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: remark: 'decode' compiled: 59 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'decode': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: decode {{.*}} 52 0 0 
// CHECK-DAG: next_token {{.*}} 16 0 0 
