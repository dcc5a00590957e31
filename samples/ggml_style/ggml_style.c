/* ggml_style - inference code with tensors of its own: a transformer of 6 blocks in a loop over an
 * array of structs, with debug prints, run-time sizes and an error path.  With the plugin the block
 * is compiled once and called for each layer; the code around it stays as it is. */
#include "common/sample.h"
#include "ggml_style/model.h"

#include <stdlib.h>

/* The result of a model, as a tensor of the caller's scope. */
static tc_tensor *run(const struct model *m, enum type type, int64_t tokens) {
  struct pool pool = {.size = 4096 + 2 * sizeof(double) * (size_t)(tokens * m->embd)};
  tc_tensor *result = NULL;
  pool.memory = malloc(pool.size);
  struct tensor x = tensor_new(&pool, type, m->embd, tokens);
  struct tensor out = tensor_new(&pool, type, m->embd, tokens);
  if (pool.memory && x.data && out.data) {
    tensor_fill(&x, 7, 1);
    if (model_forward(m, &x, &out)) result = tc_clone(view(&out, 2));
  }
  free(pool.memory);
  return result;
}

static void print_row(const char *what, const tc_tensor *t) {
  sample_print(what, tc_slice(tc_select(sample_check((tc_tensor *)t), 0, 1), 0, 0, 4, 1));
}

static void make(struct model *m, enum type type, int embd, int ff, int layers) {
  if (model_new(m, type, embd, ff, layers)) return;
  fprintf(stderr, "no memory\n");
  exit(1);
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--tokens N] [--debug 1]");
  const int64_t tokens = strtoll(sample_option("--tokens", "128"), NULL, 10);
  struct model model, wide, small;
  make(&model, TYPE_F32, 256, 704, 6);
  model.debug = sample_option("--debug", NULL) != NULL;
  make(&wide, TYPE_F64, 256, 704, 6);
  make(&small, TYPE_F32, 64, 96, 2);
  TC_SCOPE {
    print_row("second token", run(&model, TYPE_F32, tokens));
    printf("more tokens than positions: %s\n",
           run(&model, TYPE_F32, model.max_tokens + 1) ? "taken" : "refused");
    tc_clear_error();

    /* More tokens than x was declared to have: the guard sends each call to the body. */
    const tc_stats before = tc_stats_of("forward");
    print_row("second token of a foreign shape", run(&small, TYPE_F32, 300));
    printf("# foreign shape: %d fallbacks\n",
           (int)(tc_stats_of("forward").fallbacks - before.fallbacks));

    for (sample_run r = sample_run_begin("forward", NULL); sample_run_next(&r);)
      sample_run_done(&r, r.way == SAMPLE_WIDE ? run(&wide, TYPE_F64, tokens)
                                               : run(&model, TYPE_F32, tokens));
  }
  model_free(&model);
  model_free(&wide);
  model_free(&small);
}
