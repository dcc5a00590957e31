/* gpt2 - GPT-2 learns a text and writes one like it, or writes as it has learnt elsewhere.
 *
 * A step of training is one compiled function: forward, gradients, clipping, AdamW.  What comes
 * next is another: of some tokens at once, or of one, with a cache of the keys and values in front.
 *
 *   --size NAME      small (4 layers of 128 channels, the default) or 124M
 *   --weights FILE   GPT-2's, model.safetensors as of Hugging Face; else random ones
 *   --dtype NAME     f32 (the default) or bf16: of what is computed; weights that learn stay f32
 *   --text FILE      default: the GNU General Public License, as Debian has it
 *   --steps N        of training
 *   --write N        tokens in the end
 *   --least PERCENT  fails where the loss does not end that far below that of equally likely bytes */
#include <stdlib.h>
#include <string.h>

#include "common/sample.h"
#include "common/text.h"
#include "common/weights.h"
#include "step.h"

enum { BATCH = 4, LENGTH = 64, MOST_STEPS = 10000, PROMPT = 32 };

static const struct size {
  int layers, heads;
  int64_t channels, tokens, positions;
} small = {4, 4, 128, 256, 256}, large = {12, 12, 768, 50257, 1024};

/* The scores [1,V] of what comes behind `tokens`, which are at the positions `at` and following. */
// clang-format off
TC_COMPILE_WITH("fullgraph") TC_SPECIALIZE("T=1,m->layers=4") TC_SPECIALIZE("m->layers=4")
TC_SPECIALIZE("T=1,m->layers=12") TC_SPECIALIZE("m->layers=12")
static tc_tensor *next_scores(const gpt2 *m, const cache *c,
                              const tc_tensor *tokens TC_SHAPE("i64[1,T]"), int64_t at) {
  // clang-format on
  if (!c) return NULL;
  const tc_tensor *x = states(m, tokens, c, at, tc_dtype_of(m->wte));
  return scores(m, tc_select(x, 1, tc_size(tokens, 1) - 1));
}

/* ---- weights --------------------------------------------------------------------------------- */

static gpt2 load(const struct size *s, const char *path) {
  static const char *const part[] = {"ln_1", "attn.c_attn", "attn.c_proj",
                                     "ln_2", "mlp.c_fc",    "mlp.c_proj"};
  static const int in[] = {0, 1, 1, 0, 1, 4}, out[] = {1, 3, 1, 1, 4, 1}; /* 0: a norm's */
  const int64_t D = s->channels;
  tc_safetensors *file = weights_open(path);
  tc_tensor *z[MOST];
  z[0] = weights_get(file, "wte.weight", TC_DIMS(s->tokens, D), 0.02, TC_F32);
  z[1] = weights_get(file, "wpe.weight", TC_DIMS(s->positions, D), 0.01, TC_F32);
  z[2] = weights_get(file, "ln_f.weight", TC_DIMS(D), 1, TC_F32);
  z[3] = weights_get(file, "ln_f.bias", TC_DIMS(D), 0, TC_F32);
  for (int i = 0; i < 6 * s->layers; i++) {
    const int k = i % 6;
    const tc_ints dims = in[k] ? TC_DIMS(in[k] * D, out[k] * D) : TC_DIMS(D);
    const double size = k % 3 == 2 ? 0.02 / sqrt(2 * s->layers) : in[k] ? 0.02 : 1;
    char name[64];
    snprintf(name, sizeof name, "h.%d.%s.weight", i / 6, part[k]);
    z[4 + 2 * i] = weights_get(file, name, dims, size, TC_F32);
    snprintf(name, sizeof name, "h.%d.%s.bias", i / 6, part[k]);
    z[5 + 2 * i] = weights_get(file, name, TC_DIMS(out[k] * D), 0, TC_F32);
  }
  tc_safetensors_close(file);
  for (int i = 0; i < 4 + 12 * s->layers; i++) tc_requires_grad_(z[i], true);
  return model_of(s->layers, s->heads, z);
}

/* The same parameters in this dtype. */
static gpt2 cast(const gpt2 *m, tc_dtype dtype) {
  tc_tensor *z[MOST];
  weights_cast(list(m, m->layers, z), z, dtype);
  return model_of(m->layers, m->heads, z);
}

/* ---- training and writing -------------------------------------------------------------------- */

/* The loss of the last step. */
static double train(training t, const tc_tensor *text, int64_t steps) {
  static double loss[MOST_STEPS];
  double started = 0;
  uint64_t seed = 1;
  for (int64_t i = 0; i < steps; i++) TC_SCOPE {
      const double rate = tc_rate_cosine(tc_rate_linear(3e-3, i, 20, 0.05, 1), i, steps, 0);
      const tc_tensor *pieces = text_pieces(text, BATCH, LENGTH + 1, &seed);
      loss[i] = tc_item(sample_check(train_step(&t, pieces, rate, i + 1)));
      if (i == 0) started = seconds_now();
    }
  printf("# %.0f tokens/s\n", BATCH * LENGTH * (double)(steps - 1) / (seconds_now() - started));
  sample_print_close("loss", t.half ? 2e-2 : 1e-3, loss, steps < 64 ? (int)steps : 64);
  return loss[steps - 1];
}

/* n tokens behind some of the text, which are given at once, and then, as a check, one by one. */
static void write_text(const gpt2 *m, const tc_tensor *text, int64_t n) {
  cache c[MOST_LAYERS];
  const tc_dtype dtype = tc_dtype_of(m->wte);
  const tc_ints dims = TC_DIMS(1, m->heads, tc_size(m->wpe, 0), tc_size(m->wpe, 1) / m->heads);
  for (int i = 0; i < m->layers; i++) c[i] = (cache){tc_zeros(dims, dtype), tc_zeros(dims, dtype)};
  const tc_tensor *prompt = tc_reshape(tc_slice(text, 0, 0, PROMPT, 1), TC_DIMS(1, PROMPT));
  tc_tensor *all = sample_check(tc_cast(next_scores(m, c, prompt, 0), TC_F32)), *one = NULL;
  for (int i = 0; i < PROMPT; i++) one = next_scores(m, c, tc_slice(prompt, 1, i, i + 1, 1), i);
  const double near = dtype == TC_F32 ? 1e-4 : 5e-2;
  const bool same = tc_allclose(sample_check(tc_cast(one, TC_F32)), all, near, near);
  printf("tokens at once and one by one: %s\n# ", same ? "the same" : "not the same");
  int64_t token = text_likeliest(one);
  const double started = seconds_now();
  for (int64_t i = 0; i < n; i++) TC_SCOPE {
      text_put(token);
      const tc_tensor *here = tc_to(tc_from(TC_DIMS(1, 1), &token, TC_I64), tc_default_device());
      token = text_likeliest(sample_check(next_scores(m, c, here, PROMPT + i)));
    }
  printf("\n# %.1f tokens/s\n", (double)n / (seconds_now() - started));
  if (!same) exit(1);
}

/* The row of the table: steps of rate 0, which leave the weights as they are. */
static void measure(training t, const tc_tensor *text) {
  uint64_t seed = 1;
  const tc_tensor *pieces = text_pieces(text, BATCH, LENGTH + 1, &seed);
  const training wide = training_of(cast(&t.net, TC_F64), false);
  for (sample_run run = sample_run_begin("train_step", NULL); sample_run_next(&run);)
    sample_run_done(&run, train_step(run.way == SAMPLE_WIDE ? &wide : &t, pieces, 0, 1));
}

int main(int argc, char **argv) {
  sample_begin(argc, argv,
               "[--size small|124M] [--weights FILE] [--dtype f32|bf16] [--text FILE] "
               "[--steps N] [--write N] [--least PERCENT]");
  const struct size *s = strcmp(sample_option("--size", "small"), "124M") ? &small : &large;
  const bool half = !strcmp(sample_option("--dtype", "f32"), "bf16");
  const int64_t steps = atoll(sample_option("--steps", "200"));
  const int64_t wanted = atoll(sample_option("--write", "200"));
  if (steps < 0 || steps > MOST_STEPS || wanted < 0 || wanted + PROMPT > s->positions)
    return fprintf(stderr, "--steps or --write is out of range\n"), 2;
  bool learned = true;
  TC_SCOPE {
    const tc_tensor *text = text_read(sample_option("--text", LICENSE_TEXT), LENGTH + 2);
    const gpt2 net = load(s, sample_option("--weights", NULL));
    const double first = log(256),
                 last = steps ? train(training_of(net, half), text, steps) : first;
    printf("# loss: %.3f, where all bytes are as likely %.3f\n", last, first);
    learned = 100 * (1 - last / first) >= atof(sample_option("--least", "0"));
    puts(learned ? "gpt2: learned" : "gpt2: did not learn");
    const gpt2 low = half ? cast(&net, TC_BF16) : net;
    TC_NO_GRAD write_text(&low, text, wanted);
    if (sample_is_demo()) measure(training_of(net, half), text);
  }
  return learned ? 0 : 1;
}
