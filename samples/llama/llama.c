/* llama - a model like Llama (Touvron et al., 2023) reads a text and writes on, a token at a time.
 *
 * One compiled function takes the tokens at some positions, all of a prompt or the last one, writes
 * their keys and values to the cache and gives the scores of what comes next.
 *
 *   --size NAME      small (the default) or 110M (the Llama that was trained on TinyStories)
 *   --weights FILE   model.safetensors as of Hugging Face; else random ones
 *   --dtype NAME     f32 (the default) or bf16; built with LLAMA_BITS of 8 or 4 (llama_int8, llama_int4): f32
 *   --text FILE      default: the GNU General Public License, as Debian has it
 *   --read N         tokens of the text
 *   --write N        tokens behind them */
#include <stdlib.h>
#include <string.h>

#include "common/sample.h"
#include "common/text.h"
#include "common/weights.h"
#include "model.h"

enum { MOST_PROMPT = 2048 };

static const struct size {
  const char *name;
  int layers, heads, kv_heads, of_head;
  int64_t channels, inner, tokens;
  double base, eps;
} sizes[] = {{"small", 4, 8, 2, 32, 256, 704, 256, 1e4, 1e-5},
             {"110M", 12, 12, 12, 64, 768, 2048, 32000, 1e4, 1e-5}};

/* The scores [1,V] of what comes behind `tokens`, which are at the positions `at` and following. */
// clang-format off
TC_COMPILE_WITH("fullgraph") TC_SPECIALIZE("T=1,m->layers=4") TC_SPECIALIZE("m->layers=4")
TC_SPECIALIZE("T=1,m->layers=12") TC_SPECIALIZE("m->layers=12")
static tc_tensor *next_scores(const llama *m, const tc_tensor *tokens TC_SHAPE("i64[1,T]"),
                              int64_t at) {
  // clang-format on
  const tc_tensor *x = tc_rms_norm(states(m, tokens, at), 1, m->norm, m->eps);
  return PRODUCT(tc_select(x, 1, tc_size(tokens, 1) - 1), m, head);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The matrix as it is stored. */
static tc_tensor *stored(llama *m, tc_tensor *w, tc_tensor **scale) {
#if LLAMA_BITS == 8
  w = tc_quantize_per_channel(w, scale);
#elif LLAMA_BITS == 4
  w = tc_quantize_int4(w, 32, scale, NULL);
#endif
  const tc_tensor *parts[] = {sample_check(w), *scale};
  for (int i = 0; i < 2 && parts[i]; i++)
    m->bytes += tc_numel(parts[i]) * (int64_t)tc_dtype_size(tc_dtype_of(parts[i]));
  return w;
}

/* The weights of the file, and a cache for P positions. */
static llama load(const struct size *s, const char *path, tc_dtype dtype, int64_t P) {
  tc_safetensors *file = weights_open(path);
  const int64_t D = s->channels, E = s->of_head, Q = s->heads * E, K = s->kv_heads * E;
  const tc_ints cached = TC_DIMS(1, s->kv_heads, P, E);
  block b = {0};
  const struct {
    const char *name;
    tc_ints dims;
    tc_tensor **to, **scale;
  } part[] = {{"input_layernorm", TC_DIMS(D), &b.norm1, NULL},
              {"self_attn.q_proj", TC_DIMS(Q, D), &b.q, &b.q_scale},
              {"self_attn.k_proj", TC_DIMS(K, D), &b.k, &b.k_scale},
              {"self_attn.v_proj", TC_DIMS(K, D), &b.v, &b.v_scale},
              {"self_attn.o_proj", TC_DIMS(D, Q), &b.out, &b.out_scale},
              {"post_attention_layernorm", TC_DIMS(D), &b.norm2, NULL},
              {"mlp.gate_proj", TC_DIMS(s->inner, D), &b.gate, &b.gate_scale},
              {"mlp.up_proj", TC_DIMS(s->inner, D), &b.up, &b.up_scale},
              {"mlp.down_proj", TC_DIMS(D, s->inner), &b.down, &b.down_scale}};
  llama m = {.layers = s->layers, .heads = s->heads, .kv_heads = s->kv_heads, .eps = s->eps};
  const tc_ints table = TC_DIMS(s->tokens, D);
  m.embedding = weights_get(file, "model.embed_tokens.weight", table, 0.02, dtype);
  m.head = stored(&m, weights_get(file, "lm_head.weight", table, 0.02, dtype), &m.head_scale);
  m.norm = weights_get(file, "model.norm.weight", TC_DIMS(D), 1, dtype);
  m.cosines = sample_check(tc_rope_tables(P, 0, E, s->base, &m.sines));
  for (int i = 0; i < s->layers; i++) {
    for (int k = 0; k < 9; k++) {
      char name[64];
      snprintf(name, sizeof name, "model.layers.%d.%s.weight", i, part[k].name);
      const double size = part[k].scale ? 0.5 / sqrt((double)part[k].dims.v[1]) : 1;
      tc_tensor *w = weights_get(file, name, part[k].dims, size, dtype);
      *part[k].to = part[k].scale ? stored(&m, w, part[k].scale) : w;
    }
    b.keys = tc_zeros(cached, dtype);
    b.values = sample_check(tc_zeros(cached, dtype));
    m.h[i] = b;
  }
  tc_safetensors_close(file);
  return m;
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* The scores behind n tokens of the text. */
static tc_tensor *read_text(const llama *m, const tc_tensor *text, int64_t n) {
  const double started = seconds_now();
  const tc_tensor *tokens = tc_reshape(tc_slice(text, 0, 0, n, 1), TC_DIMS(1, n));
  tc_tensor *scores = sample_check(next_scores(m, tokens, 0));
  tc_synchronize();
  printf("# read %.1f tokens/s\n", (double)n / (seconds_now() - started));
  return scores;
}

/* The same, one by one; they leave the same in the cache. */
static tc_tensor *read_one_by_one(const llama *m, const tc_tensor *text, int64_t n) {
  tc_tensor *scores = NULL;
  for (int64_t i = 0; i < n; i++) {
    const tc_tensor *token = tc_reshape(tc_slice(text, 0, i, i + 1, 1), TC_DIMS(1, 1));
    scores = sample_check(next_scores(m, token, i));
  }
  return scores;
}

/* n tokens, of which `scores` tells the first, at the positions `at` and following. */
static void write_text(const llama *m, const tc_tensor *scores, int64_t at, int64_t n) {
  int64_t token = text_likeliest(scores);
  const double started = seconds_now();
  printf("# ");
  for (int64_t i = 0; i < n; i++) TC_SCOPE {
      text_put(token);
      const tc_tensor *here = tc_to(tc_from(TC_DIMS(1, 1), &token, TC_I64), tc_default_device());
      token = text_likeliest(sample_check(next_scores(m, here, at + i)));
    }
  const double rate = (double)n / (seconds_now() - started);
  printf("\n# wrote %.1f tokens/s, reading %.2f GB/s of weights\n", rate,
         1e-9 * rate * (double)m->bytes);
}

/* The row of the table: the token at a position, again and again; `wide` has the weights in f64. */
static void measure(const llama *m, const llama *wide, const tc_tensor *text, int64_t at) {
  const tc_tensor *token = tc_reshape(tc_slice(text, 0, at, at + 1, 1), TC_DIMS(1, 1));
  const bool before = tc_set_enabled(false); /* there are no kernels for f64 */
  read_one_by_one(wide, text, at);
  tc_set_enabled(before);
  for (sample_run run = sample_run_begin("next_scores", NULL); sample_run_next(&run);)
    sample_run_done(&run, next_scores(run.way == SAMPLE_WIDE ? wide : m, token, at));
}

int main(int argc, char **argv) {
  sample_begin(argc, argv,
               "[--size small|110M] [--weights FILE] [--dtype f32|bf16] "
               "[--text FILE] [--read N] [--write N]");
  const bool bf16 = !LLAMA_BITS && strcmp(sample_option("--dtype", "f32"), "bf16") == 0;
  const tc_dtype dtype = bf16 ? TC_BF16 : TC_F32;
  const int64_t n = atoll(sample_option("--read", "64")),
                more = atoll(sample_option("--write", "64"));
  const struct size *s = sizes;
  while (strcmp(s->name, sample_option("--size", "small")) != 0)
    if (++s == sizes + 2) return fprintf(stderr, "--size wants small or 110M\n"), 2;
  if (n < 1 || more < 0 || n > MOST_PROMPT || more > MOST_PROMPT)
    return fprintf(stderr, "--read and --write want up to %d\n", MOST_PROMPT), 2;
  bool same = false;
  TC_SCOPE {
    const tc_tensor *text = text_read(sample_option("--text", LICENSE_TEXT), n);
    const char *path = sample_option("--weights", NULL);
    const llama m = load(s, path, dtype, n + more);
    const tc_tensor *all = tc_cast(read_text(&m, text, n), TC_F32);
    const tc_tensor *one = tc_cast(read_one_by_one(&m, text, n), TC_F32);
    same = tc_allclose(one, all, dtype == TC_F32 ? 1e-4 : 5e-2, dtype == TC_F32 ? 1e-4 : 5e-2);
    printf("tokens at once and one by one: %s\n", same ? "the same" : "not the same");
    write_text(&m, all, n, more);
    if (sample_is_demo() && dtype == TC_F32 && !LLAMA_BITS) {
      const llama wide = load(s, path, TC_F64, n);
      measure(&m, &wide, text, n - 1);
    }
  }
  return same ? 0 : 1;
}
