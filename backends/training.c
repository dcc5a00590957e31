/* training.c - see training.h. */
#include "backends/training.h"

#include <stdlib.h>
#include <string.h>

#include "backends/entry/entry.h"
#include "backends/explain.h"

/* ---- the parts ------------------------------------------------------------------------------- */

static void set_part(const tc_function *f, tc_pair *p, tc_part part) {
  const bool back = part == TC_PART_BACKWARD;
  tc_function *to = back ? &p->backward : &p->forward;
  tc_putf(&p->symbol[back], "%s_%s", f->symbol, back ? "backward" : "forward");
  tc_putf(&p->sizes[back], "%s%s%s", f->sizes ? f->sizes : "", f->sizes ? ", " : "",
          back ? "gradients" : "training");
  *to = *f;
  to->symbol = p->symbol[back].text;
  to->sizes = p->sizes[back].text;
  to->graph = back ? p->made.backward : p->made.forward;
  to->part = part;
  to->passes = f->passes && !back;
  to->gradients = false;
  to->explain = NULL;
}

static tc_severity severity_of(const tc_function *f) {
  return f->gradient_wish == TC_WISH_WANT ? TC_MISSED : TC_REMARK;
}

static void tell_why(const tc_function *f, const char *why) {
  if (*why)
    tc_report(tc_graph_diag(f->graph), severity_of(f), (tc_loc){0},
              "'%s' has no kernels for its gradients: %s", f->name, why);
}

tc_pair *tc_pair_make(const tc_function *f) {
  tc_buf why = {0};
  tc_pair *p = f->gradients && f->graph ? calloc(1, sizeof *p) : NULL;
  if (p && !tc_training_make(f->graph, f->max_saved, &p->made, &why)) {
    tell_why(f, why.text ? why.text : "");
    free(p);
    p = NULL;
  }
  tc_buf_free(&why);
  if (!p) return NULL;
  set_part(f, p, TC_PART_FORWARD);
  set_part(f, p, TC_PART_BACKWARD);
  p->made.forward = p->made.backward = NULL; /* taken over */
  return p;
}

void tc_pair_free(tc_pair *p) {
  if (!p) return;
  for (int k = 0; k < 2; ++k) tc_buf_free(&p->symbol[k]), tc_buf_free(&p->sizes[k]);
  tc_graph_free(p->forward.graph);
  tc_graph_free(p->backward.graph);
  tc_training_free(&p->made);
  free(p);
}

bool tc_pair_settle(tc_pair *p) {
  for (uint32_t i = 0; i < p->job[0]->nvariant; ++i) {
    tc_variant *forward = &p->job[0]->v[i], *backward = &p->job[1]->v[i];
    if (forward->p && backward->p) continue;
    tc_variant_free(forward);
    tc_variant_free(backward);
  }
  return p->job[0]->v[0].p != NULL; /* without the first there is none */
}

/* ---- what ties them together ----------------------------------------------------------------- */

/* Whether some variant of the backward part reads the elements of the input. */
static bool reads_input(const tc_pair *p, uint32_t input) {
  for (uint32_t i = 0; i < p->job[1]->nvariant; ++i) {
    const tc_program *of = p->job[1]->v[i].p;
    if (of && tc_entry_input_buffer(of, input) >= 0) return true;
  }
  return false;
}

static void put_flag(bool needed, bool moves, tc_buf *out) {
  tc_putf(out, "%d, ", (needed ? 1 : 0) | (moves ? 2 : 0)); /* TCRT_NEEDED, TCRT_MOVES */
}

static void put_flags(const char *symbol, const tc_pair *p, tc_buf *out) {
  const tc_training *t = &p->made;
  uint32_t cotangents = 0;
  tc_putf(out, "static const uint8_t tc_operands_%s[] = {", symbol);
  for (uint32_t i = 0; i < t->nin; ++i) put_flag(reads_input(p, i), t->gradient[i], out);
  tc_putf(out, "0};\nstatic const uint8_t tc_results_%s[] = {", symbol);
  for (uint32_t i = 0; i < t->nout; ++i) cotangents += t->cotangent[i];
  for (uint32_t i = 0; i < t->nout + t->part.nsaved; ++i)
    put_flag(reads_input(p, t->nin + cotangents + i), i < t->nout && t->cotangent[i], out);
  tc_put(out, "0};\n");
}

static void put_depends(const char *symbol, const tc_training *t, tc_buf *out) {
  tc_putf(out, "static const uint64_t tc_depends_%s[] = {", symbol);
  for (size_t i = 0; i < (size_t)t->nout * t->words; ++i)
    tc_putf(out, "0x%llx, ", (unsigned long long)t->depends[i]);
  tc_put(out, "0};\n");
}

/* The level that some kernel of the backward part needs at least: a machine below it may run the
 * forward part. */
static int least_level(const tc_pair *p) {
  int least = 0;
  for (uint32_t i = 0; i < p->job[1]->nvariant; ++i) {
    const tc_variant *v = &p->job[1]->v[i];
    for (uint32_t k = 0; v->p && k < v->p->nkernel; ++k)
      if (v->levels[k] && __builtin_ctz(v->levels[k]) > least) least = __builtin_ctz(v->levels[k]);
  }
  return least;
}

static void put_gradient(const tc_function *f, const tc_pair *p, tc_buf *out) {
  const tc_training *t = &p->made;
  const uint32_t scalars = tc_graph_scalar_count(p->job[0]->graph);
  tc_putf(out,
          "\n/* What is kept of a call of %s for its gradients, and how they are computed. */\n",
          f->name);
  put_flags(f->symbol, p, out);
  put_depends(f->symbol, t, out);
  tc_putf(out,
          "static const tcrt_gradient tc_gradient_%s = {&tc_function_%s, %u, %u, %u, %u,\n"
          "    tc_operands_%s, tc_results_%s, tc_depends_%s, %s, %s};\n",
          f->symbol, p->forward.symbol, t->nin, scalars, t->nout, t->part.nsaved, f->symbol,
          f->symbol, f->symbol, p->forward.symbol, p->backward.symbol);
  tc_putf(out,
          "static __attribute__((noinline, cold)) int %s_train(const struct tc_tensor *const *in, "
          "const tc_value *scalar,\n    struct tc_tensor **out) {\n",
          f->symbol);
  if (least_level(p) > 0)
    tc_putf(
        out,
        "  if (tcrt_isa < %d) return tcrt_miss(&tc_function_%s, TC_MISS_DISABLED, -1, -1, 0, 0);\n",
        least_level(p), p->forward.symbol);
  tc_putf(out, "  return tcrt_train(&tc_gradient_%s, in, scalar, out);\n}\n", f->symbol);
}

bool tc_pair_put(const tc_function *f, tc_pair *p, tc_texts *out) {
  for (int k = 0; k < 2; ++k)
    if (!tc_put_entries(p->job[k], out)) return false;
  put_gradient(f, p, &out->host);
  return true;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static tc_dim saved_bytes(const tc_pair *p) {
  tc_graph *g = p->made.joint;
  tc_dims *dims = tc_graph_dims(g);
  tc_dim sum = tc_dim_const(0);
  for (uint32_t i = 0; i < p->made.part.nsaved; ++i) {
    const tc_type *t = tc_graph_type(g, p->made.part.saved[i]);
    const tc_dim size = tc_dim_const((int64_t)tc_dtype_bytes((tc_dtype)t->dtype));
    sum = tc_dim_add(dims, sum, tc_dim_mul(dims, tc_type_numel(dims, t), size));
  }
  return sum;
}

void tc_pair_remark(const tc_function *f, const tc_pair *p, tc_graph *g) {
  const tc_partition *part = &p->made.part;
  tc_buf text = {0};
  tc_putf(
      &text,
      "'%s' compiled with its gradients%s%s: %u kernel%s forward, %u backward; saves %u tensor%s",
      f->name, f->sizes ? " for " : "", f->sizes ? f->sizes : "", p->job[0]->v[0].p->nkernel,
      p->job[0]->v[0].p->nkernel == 1 ? "" : "s", p->job[1]->v[0].p->nkernel, part->nsaved,
      part->nsaved == 1 ? "" : "s");
  if (part->nsaved) {
    tc_put(&text, ", ");
    tc_dim_print(tc_graph_dims(g), saved_bytes(p), NULL, &text);
    tc_put(&text, " bytes");
  }
  if (part->nrepeated)
    tc_putf(&text, "; %u value%s computed again", part->nrepeated, part->nrepeated == 1 ? "" : "s");
  if (text.text) tc_report(tc_graph_diag(g), TC_REMARK, (tc_loc){0}, "%s", text.text);
  tc_buf_free(&text);
}

void tc_pair_explain(const tc_function *f, const tc_pair *p, tc_buf *out) {
  static const char *const name[2] = {"training", "gradients"};
  tc_explain_training(f, p->made.joint, &p->made.part, out);
  for (int k = 0; k < 2; ++k)
    for (uint32_t i = 0; i < p->job[k]->nvariant; ++i) {
      const tc_variant *v = &p->job[k]->v[i];
      if (v->p) tc_explain_variant(f, v->b->device_name, name[k], v->p, v->names, v->levels, out);
    }
}
