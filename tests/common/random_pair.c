#include "tests/common/random_pair.h"

#include <criterion/criterion.h>

static void free_graph(random_graph *r) {
  random_graph_free_input(r, r->input);
  tc_graph_free(r->g);
}

bool random_pair_make(const random_options *o, tc_diag *diag, random_pair *p) {
  random_graph copy;
  if (!random_graph_make(o, diag, &p->r)) {
    free_graph(&p->r);
    return false;
  }
  cr_assert(random_graph_make(o, diag, &copy), "the same graph once more");
  random_graph_free_input(&copy, copy.input);
  p->copy = copy.g;
  p->t = allowance_of(random_coarsest_dtype(p->r.g));
  p->near = random_graph_perturbed(&p->r, p->t.change);
  return true;
}

interp_run random_pair_interpret(const random_pair *p, interp_array **input) {
  interp_run run = {.g = p->r.g,
                    .input = (const interp_array *const *)input,
                    .scalar = p->r.scalar,
                    .round = p->t.round};
  if (!interp_graph(&run)) run.noutput = run.nwrite = 0;
  return run;
}

void random_pair_free(random_pair *p) {
  random_graph_free_input(&p->r, p->near);
  free_graph(&p->r);
}
