/* model.h - a transformer as inference code has it: structs of weights, sizes in a header. */
#ifndef GGML_STYLE_MODEL_H
#define GGML_STYLE_MODEL_H

#include "ggml_style/tensor.h"

enum { HEAD = 32, MOST_TOKENS = 512 }; /* numbers in a head; positions */

/* Weights of one block; names of sizes belong to each block of its own. */
struct layer {
  struct tensor norm TC_SHAPE("f32[E]"), ff_norm TC_SHAPE("f32[E]");
  struct tensor wqkv TC_SHAPE("f32[E,3*E]"), wo TC_SHAPE("f32[E,E]");
  struct tensor gate TC_SHAPE("f32[E,F]"), up TC_SHAPE("f32[E,F]"), down TC_SHAPE("f32[F,E]");
};

struct model {
  int embd, ff, layers, max_tokens;
  float eps;
  bool debug; /* prints a line for each block */
  struct layer *layer;
  struct tensor norm TC_SHAPE("f32[E]");
  /* Of the rotary embedding, one row for each position. */
  struct tensor cosine TC_SHAPE("f32[512,16]"), sine TC_SHAPE("f32[512,16]");
  struct pool pool;
};

/* Random weights, the same for the same sizes; embd is a multiple of HEAD.  false: no memory. */
bool model_new(struct model *m, enum type type, int embd, int ff, int layers);
void model_free(struct model *m);

/* out[T,E] of the tokens' embeddings x[T,E]; false after a message. */
bool model_forward(const struct model *m, const struct tensor *x, struct tensor *out);

#endif
