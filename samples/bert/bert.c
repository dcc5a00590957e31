/* bert - BERT learns to say which letters are hidden in a text, of sequences of different lengths.
 *
 * A step of training is one compiled function: forward, gradients, clipping, AdamW.  Naming what is
 * hidden is another.  Only hidden places have scores.
 *
 *   --size NAME      small (4 layers of 128 channels, the default) or base
 *   --weights FILE   BERT's, model.safetensors as of Hugging Face; else random ones
 *   --dtype NAME     f32 (the default) or bf16: of what is computed; weights that learn stay f32
 *   --text FILE      default: the GNU General Public License, as Debian has it
 *   --steps N        of training
 *   --least PERCENT  fails where the loss does not end that far below that of equally likely bytes */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/sample.h"
#include "common/text.h"
#include "common/weights.h"
#include "step.h"

enum { BATCH = 8, LENGTH = 64, HIDDEN = 10, MASK = 103, BYTES = 256, MOST_STEPS = 10000 };

static const struct size {
  int layers, heads;
  int64_t channels, tokens, positions;
} small = {4, 4, 128, BYTES, 256}, base = {12, 12, 768, 30522, 512};

/* ---- parameters ------------------------------------------------------------------------------ */

static dense load_dense(const tc_safetensors *file, const char *name, int64_t out, int64_t in) {
  char of[96];
  snprintf(of, sizeof of, "%s.weight", name);
  tc_tensor *w = weights_get(file, of, TC_DIMS(out, in), 0.02, TC_F32);
  snprintf(of, sizeof of, "%s.bias", name);
  return (dense){w, weights_get(file, of, TC_DIMS(out), 0, TC_F32)};
}

static norm load_norm(const tc_safetensors *file, const char *name, int64_t D) {
  char of[96];
  snprintf(of, sizeof of, "%s.weight", name);
  tc_tensor *w = weights_get(file, of, TC_DIMS(D), 1, TC_F32);
  snprintf(of, sizeof of, "%s.bias", name);
  return (norm){w, weights_get(file, of, TC_DIMS(D), 0, TC_F32)};
}

static block load_block(const tc_safetensors *file, int layer, int64_t D) {
  static const char *const part[] = {"attention.self.query",
                                     "attention.self.key",
                                     "attention.self.value",
                                     "attention.output.dense",
                                     "attention.output.LayerNorm",
                                     "intermediate.dense",
                                     "output.dense",
                                     "output.LayerNorm"};
  char of[8][80];
  for (int i = 0; i < 8; i++)
    snprintf(of[i], sizeof of[i], "bert.encoder.layer.%d.%s", layer, part[i]);
  return (block){load_dense(file, of[0], D, D),     load_dense(file, of[1], D, D),
                 load_dense(file, of[2], D, D),     load_dense(file, of[3], D, D),
                 load_norm(file, of[4], D),         load_dense(file, of[5], 4 * D, D),
                 load_dense(file, of[6], D, 4 * D), load_norm(file, of[7], D)};
}

static bert load(const struct size *s, const char *path) {
  const int64_t D = s->channels;
  tc_safetensors *file = weights_open(path);
  bert m = {.layers = s->layers, .heads = s->heads};
  m.words = weights_get(file, "bert.embeddings.word_embeddings.weight", TC_DIMS(s->tokens, D), 0.02,
                        TC_F32);
  m.positions = weights_get(file, "bert.embeddings.position_embeddings.weight",
                            TC_DIMS(s->positions, D), 0.02, TC_F32);
  m.types = weights_get(file, "bert.embeddings.token_type_embeddings.weight", TC_DIMS(2, D), 0.02,
                        TC_F32);
  m.first = load_norm(file, "bert.embeddings.LayerNorm", D);
  for (int i = 0; i < s->layers; i++) m.h[i] = load_block(file, i, D);
  m.transform = load_dense(file, "cls.predictions.transform.dense", D, D);
  m.last = load_norm(file, "cls.predictions.transform.LayerNorm", D);
  m.bias = weights_get(file, "cls.predictions.bias", TC_DIMS(s->tokens), 0, TC_F32);
  tc_safetensors_close(file);
  tc_tensor *p[MOST];
  const int n = list(&m, m.layers, p);
  for (int i = 0; i < n; i++) tc_requires_grad_(p[i], true);
  return m;
}

/* The same parameters in this dtype. */
static bert cast(const bert *m, tc_dtype dtype) {
  tc_tensor *z[MOST];
  weights_cast(list(m, m->layers, z), z, dtype);
  return model_of(m->layers, m->heads, z);
}

/* ---- hidden letters -------------------------------------------------------------------------- */

typedef struct riddle {
  tc_tensor *tokens, *lengths, *places, *hidden; /* i64[B,T], i64[B], i64[N], i64[N] */
} riddle;

/* HIDDEN letters, one in each tenth, of each of BATCH pieces of half of LENGTH or more. */
static riddle hide(const tc_tensor *text, uint64_t *seed) {
  bool is_hidden[BATCH * LENGTH] = {false};
  int64_t length[BATCH], place[BATCH * HIDDEN];
  const tc_device d = tc_default_device();
  const tc_tensor *pieces = text_pieces(text, BATCH, LENGTH, seed);
  for (int64_t b = 0; b < BATCH; b++) {
    length[b] = LENGTH - sample_random(seed) % (LENGTH / 2);
    for (int64_t i = 0; i < HIDDEN; i++) {
      const int64_t at =
          b * LENGTH + length[b] * i / HIDDEN + sample_random(seed) % (length[b] / HIDDEN);
      place[b * HIDDEN + i] = at;
      is_hidden[at] = true;
    }
  }
  riddle r = {.lengths = tc_to(tc_from(TC_DIMS(BATCH), length, TC_I64), d),
              .places = tc_to(tc_from(TC_DIMS(BATCH * HIDDEN), place, TC_I64), d)};
  const tc_tensor *mask = tc_to(tc_from(TC_DIMS(BATCH, LENGTH), is_hidden, TC_BOOL), d);
  r.hidden = sample_check(tc_index_select(tc_flatten(pieces, 0, 1), 0, r.places));
  r.tokens = sample_check(tc_masked_fill(pieces, mask, MASK));
  return r;
}

/* ---- training and naming --------------------------------------------------------------------- */

/* The likeliest tokens i64[N] at these places. */
// clang-format off
TC_COMPILE TC_SPECIALIZE("m->layers=4") TC_SPECIALIZE("m->layers=12")
static tc_tensor *named(const bert *m, const tc_tensor *tokens TC_SHAPE("i64[B,T]"),
                        const tc_tensor *lengths TC_SHAPE("i64[B]"), const tc_tensor *places TC_SHAPE("i64[N]")) {
  // clang-format on
  return tc_argmax(scores_at(m, tokens, lengths, places, tc_dtype_of(m->words)), TC_AXES(1), false);
}

/* The loss of the last step. */
static double train(const training *t, const tc_tensor *text, int64_t steps) {
  static double loss[MOST_STEPS];
  double started = 0;
  uint64_t seed = 1;
  for (int64_t i = 0; i < steps; i++) TC_SCOPE {
      const double rate = tc_rate_cosine(tc_rate_linear(2e-3, i, 20, 0.05, 1), i, steps, 0);
      const riddle r = hide(text, &seed);
      loss[i] = tc_item(
          sample_check(train_step(t, r.tokens, r.lengths, r.places, r.hidden, rate, i + 1)));
      if (i == 0) started = seconds_now();
    }
  printf("# %.0f tokens/s\n", BATCH * LENGTH * (double)(steps - 1) / (seconds_now() - started));
  sample_print_close("loss", t->half ? 2e-2 : 1e-3, loss, steps < 64 ? (int)steps : 64);
  return loss[steps - 1];
}

static void name_hidden(const bert *m, const tc_tensor *text) {
  uint64_t seed = 2;
  TC_SCOPE {
    const riddle r = hide(text, &seed);
    const double started = seconds_now();
    const tc_tensor *names = sample_check(named(m, r.tokens, r.lengths, r.places));
    printf("# %.0f tokens/s\n", BATCH * LENGTH / (seconds_now() - started));
    const double right = tc_item(sample_check(tc_mean(tc_eq(names, r.hidden), TC_ALL, false)));
    printf("# %.1f %% of hidden letters are named\n", 100 * right);
  }
}

/* The row of the table: steps of rate 0, which leave the weights as they are. */
static void measure(const training *t, const tc_tensor *text) {
  uint64_t seed = 3;
  const riddle r = hide(text, &seed);
  const training wide = training_of(cast(&t->net, TC_F64), false);
  for (sample_run run = sample_run_begin("train_step", NULL); sample_run_next(&run);)
    sample_run_done(&run, train_step(run.way == SAMPLE_WIDE ? &wide : t, r.tokens, r.lengths,
                                     r.places, r.hidden, 0, 1));
}

int main(int argc, char **argv) {
  sample_begin(argc, argv,
               "[--size small|base] [--weights FILE] [--dtype f32|bf16] [--text FILE] [--steps N] "
               "[--least PERCENT]");
  const bool is_base = !strcmp(sample_option("--size", "small"), "base");
  const bool half = !strcmp(sample_option("--dtype", "f32"), "bf16");
  const int64_t steps = atoll(sample_option("--steps", is_base ? "0" : "200"));
  if (steps < 0 || steps > MOST_STEPS) return fprintf(stderr, "--steps is out of range\n"), 2;
  bool learned = true;
  TC_SCOPE {
    const tc_tensor *text = text_read(sample_option("--text", LICENSE_TEXT), LENGTH + 1);
    const bert net = load(is_base ? &base : &small, sample_option("--weights", NULL));
    const training t = steps || sample_is_demo() ? training_of(net, half) : (training){0};
    const double first = log(BYTES), last = steps ? train(&t, text, steps) : first;
    printf("# loss: %.3f, where all bytes are as likely %.3f\n", last, first);
    learned = 100 * (1 - last / first) >= atof(sample_option("--least", "0"));
    puts(learned ? "bert: learned" : "bert: did not learn");
    const bert low = half ? cast(&net, TC_BF16) : net;
    TC_NO_GRAD name_hidden(&low, text);
    if (sample_is_demo() && !is_base) measure(&t, text);
  }
  return learned ? 0 : 1;
}
