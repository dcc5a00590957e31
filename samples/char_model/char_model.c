/* char_model - a small transformer learns a text character by character, and writes one like it.
 *
 * A step of training is one compiled function: 16 pieces of the text, forward, gradients, clipping, AdamW.  What comes
 * next is another, over a window of the last 64 characters.
 *
 *   --text FILE      default: the GNU General Public License, as Debian has it
 *   --steps N        of training
 *   --write N        characters in the end
 *   --least PERCENT  fails where the mean loss of the last 20 steps is not that much below that of equally likely
 *                    characters */
#include <stdlib.h>
#include <string.h>
#include <tcompile/optim.h>

#include "common/sample.h"
#include "model.h"

enum { BATCH = 16, MOST_LOSSES = 64, LAST = 20 };

static const double highest_rate = 1e-2;

typedef struct text {
  int64_t n, characters;
  int64_t *at;             /* n numbers of characters, 0..characters-1 */
  unsigned char what[256]; /* character of each number */
} text;

typedef struct training {
  model net, mean, square; /* weights, and what AdamW keeps of their gradients */
} training;

/* A step on `pieces`, of LENGTH characters and the one behind; the loss before it, or NULL.  The first step is 1. */
TC_COMPILE static tc_tensor *train_step(const training *t,
                                        const tc_tensor *pieces TC_SHAPE("i64[B,65]"), double rate,
                                        int64_t step) {
  tc_tensor *p[PARAMETERS], *g[PARAMETERS], *mean[PARAMETERS], *square[PARAMETERS];
  list(&t->net, p);
  list(&t->mean, mean);
  list(&t->square, square);
  tc_tensor *y = logits(&t->net, tc_slice(pieces, 1, 0, LENGTH, 1));
  tc_tensor *next = tc_slice(pieces, 1, 1, LENGTH + 1, 1);
  tc_tensor *loss = tc_cross_entropy(tc_flatten(y, 0, 1), tc_flatten(next, 0, 1), TC_MEAN);
  if (!tc_grad(loss, PARAMETERS, p, g) || !tc_clip_norm_(PARAMETERS, g, 1)) return NULL;
  tc_adam_options o = tc_adam_defaults(rate);
  o.weight_decay = 0.01;
  return tc_adamw(PARAMETERS, p, g, mean, square, step, o) ? loss : NULL;
}

/* How likely each character comes behind i64[1,T], f32[V]. */
TC_COMPILE static tc_tensor *likely(const model *m, const tc_tensor *text TC_SHAPE("i64[1,T]")) {
  const tc_tensor *last = tc_select(logits(m, text), 1, tc_size(text, 1) - 1);
  return tc_softmax(tc_flatten(last, 0, 1), -1);
}

/* ---- text ------------------------------------------------------------------------------------ */

static text read_text(const char *path) {
  text t = {0};
  int number[256];
  int64_t room = 0;
  FILE *f = fopen(path, "rb");
  if (!f) perror(path), exit(1);
  for (int i = 0; i < 256; i++) number[i] = -1;
  for (int c; (c = getc(f)) != EOF;) {
    if (t.n == room) t.at = realloc(t.at, sizeof *t.at * (size_t)(room = 2 * room + 4096));
    if (!t.at) exit(1);
    if (number[c] < 0) t.what[number[c] = (int)t.characters++] = (unsigned char)c;
    t.at[t.n++] = number[c];
  }
  fclose(f);
  if (t.n > LENGTH + 1) return t;
  fprintf(stderr, "%s is too short\n", path);
  exit(1);
}

static tc_tensor *random_pieces(const text *t, uint64_t *seed) {
  int64_t piece[BATCH][LENGTH + 1];
  for (int i = 0; i < BATCH; i++)
    memcpy(piece[i], t->at + sample_random(seed) % (t->n - LENGTH), sizeof piece[i]);
  return sample_check(tc_from(TC_DIMS(BATCH, LENGTH + 1), piece, TC_I64));
}

/* ---- weights --------------------------------------------------------------------------------- */

static tc_tensor *leaf(tc_tensor *t) { return sample_check(tc_requires_grad_(t, true)); }

static tc_tensor *random_weights(int64_t in, int64_t out, double size, uint64_t *seed) {
  return leaf(tc_mul_s(tc_randn(TC_DIMS(in, out), ++*seed, TC_F32), size));
}

static tc_tensor *ones(void) { return leaf(tc_ones(TC_DIMS(WIDTH), TC_F32)); }

static model random_model(int64_t characters) {
  const double size = 1 / sqrt(WIDTH), small = size / sqrt(2 * BLOCKS);
  uint64_t seed = 0;
  model m = {.character = random_weights(characters, WIDTH, 0.1, &seed),
             .position = random_weights(LENGTH, WIDTH, 0.1, &seed)};
  for (int i = 0; i < BLOCKS; i++)
    m.at[i] = (block){ones(),
                      random_weights(WIDTH, 3 * WIDTH, size, &seed),
                      random_weights(WIDTH, WIDTH, small, &seed),
                      ones(),
                      random_weights(WIDTH, INNER, size, &seed),
                      random_weights(INNER, WIDTH, small / 2, &seed)};
  m.norm = ones(), m.head = random_weights(WIDTH, characters, size, &seed);
  return m;
}

/* The model with these parameters. */
static model model_of(tc_tensor *const z[PARAMETERS]) {
  model m = {.character = NULL};
  int n = 0;
  m.character = z[n++], m.position = z[n++];
  for (int i = 0; i < BLOCKS; i++, n += OF_BLOCK)
    m.at[i] = (block){z[n], z[n + 1], z[n + 2], z[n + 3], z[n + 4], z[n + 5]};
  m.norm = z[n++], m.head = z[n++];
  return m;
}

static training training_of(model net) {
  tc_tensor *p[PARAMETERS], *mean[PARAMETERS], *square[PARAMETERS];
  list(&net, p);
  const bool made = tc_optim_zeros(PARAMETERS, p, mean) && tc_optim_zeros(PARAMETERS, p, square);
  if (!made) sample_check(NULL);
  return (training){net, model_of(mean), model_of(square)};
}

/* ---- training and writing -------------------------------------------------------------------- */

/* The mean loss of the last steps. */
static double train(const training *t, const text *all, int64_t steps) {
  const int64_t every = (steps + MOST_LOSSES - 1) / MOST_LOSSES;
  double curve[MOST_LOSSES], last = 0;
  uint64_t seed = 1;
  int n = 0;
  for (int64_t step = 1; step <= steps; step++) TC_SCOPE {
      const double warm = tc_rate_linear(highest_rate, step, 20, 0.05, 1);
      const double rate = tc_rate_cosine(warm, step, steps, 0);
      const double loss =
          tc_item(sample_check(train_step(t, random_pieces(all, &seed), rate, step)));
      if ((step - 1) % every == 0) curve[n++] = loss;
      if (step % 50 == 0)
        printf("# step %3lld: loss %.3f\n", (long long)step, loss), fflush(stdout);
      if (step > steps - LAST) last += loss / (double)(steps < LAST ? steps : LAST);
    }
  sample_print_close("loss", 1e-3, curve, n);
  return last;
}

/* One of them, as likely as p says. */
static int64_t pick(const tc_tensor *p, uint64_t *seed) {
  const float *share = tc_cdata(p);
  double left = (double)(sample_random(seed) % (1 << 30)) / (1 << 30);
  int64_t i = 0;
  while (i < tc_numel(p) - 1 && (left -= share[i]) > 0) i++;
  return i;
}

/* n characters behind some from the middle of the text; in comments, as one number that is rounded otherwise may change all
 * that follows. */
static void write_text(const model *m, const text *all, int64_t n) {
  int64_t window[LENGTH];
  uint64_t seed = 2;
  memcpy(window, all->at + (all->n - LENGTH) / 2, sizeof window);
  printf("# ");
  for (int64_t i = 0; i < n; i++) TC_SCOPE TC_NO_GRAD {
      const tc_tensor *p = sample_check(likely(m, tc_from(TC_DIMS(1, LENGTH), window, TC_I64)));
      memmove(window, window + 1, sizeof window - sizeof *window);
      window[LENGTH - 1] = pick(p, &seed);
      const int c = all->what[window[LENGTH - 1]];
      printf(c == '\n' ? "\n# " : "%c", c);
    }
  putchar('\n');
}

/* The row of the table: steps of rate 0, which leave the weights as they are. */
static void measure(const training *t, const text *all) {
  TC_SCOPE {
    uint64_t seed = 1;
    tc_tensor *w[PARAMETERS], *pieces = random_pieces(all, &seed);
    list(&t->net, w);
    for (int i = 0; i < PARAMETERS; i++)
      w[i] = leaf(tc_clone(tc_detach(sample_widen_tensor(w[i]))));
    const training wide = training_of(model_of(w));
    for (sample_run run = sample_run_begin("train_step", NULL); sample_run_next(&run);)
      sample_run_done(&run, train_step(run.way == SAMPLE_WIDE ? &wide : t, pieces, 0, 1));
  }
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--text FILE] [--steps N] [--write N] [--least PERCENT]");
  text all = read_text(sample_option("--text", "/usr/share/common-licenses/GPL-3"));
  const int64_t steps = strtoll(sample_option("--steps", "800"), NULL, 10);
  const int64_t wanted = strtoll(sample_option("--write", "500"), NULL, 10);
  if (steps < 1 || wanted < 0) return fprintf(stderr, "--steps wants 1 or more, --write 0\n"), 2;
  bool learned = true;
  TC_SCOPE {
    const training t = training_of(random_model(all.characters));
    const double first = log((double)all.characters), last = train(&t, &all, steps);
    const double fell = 100 * (1 - last / first);
    printf("# loss fell from %.3f, where all %d characters are as likely, to %.3f: by %.0f %%\n",
           first, (int)all.characters, last, fell);
    learned = fell >= atof(sample_option("--least", "0"));
    puts(learned ? "char_model: learned" : "char_model: did not learn");
    write_text(&t.net, &all, wanted);
    measure(&t, &all);
  }
  free(all.at);
  return learned ? 0 : 1;
}
