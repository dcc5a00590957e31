/* Every rule against examples computed one by one, for each choice of operands that are mapped, at constant and symbolic sizes, in
 * all floating dtypes; and once more batched.
 *
 * Tests go over the op table: an op that has a rule and no case fails. */
#include <criterion/criterion.h>

#include "batching/batching.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tests/common/case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const case_line lines[] = {
#define CASE(line) {line, 2},
#define CASE1(line) {line, 1},
#include "tests/autodiff/cases.def"
#include "tests/batching/cases.def"
};
enum { LINES = sizeof lines / sizeof *lines, EXAMPLES = 3 };

static const tc_loc nowhere = {0, 0, 0, 0};

static void say(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)s, (void)loc;
  fprintf(stderr, "reported: %s\n", text);
}
static tc_diag loud = {say, NULL};

/* ---- the table ----------------------------------------------------------------------------------- */

/* Elementwise ops need none. */
Test(rules, each_op_has_one_row) {
  int rows[OP_COUNT] = {0};
#define TC_BATCH(id, ...) rows[OP_##id]++;
#define TC_NO_BATCH(id, why) rows[OP_##id] += sizeof(why) > 1;
#include "batching/rules.def"
  for (int op = 1; op < OP_COUNT; op++) {
    const bool may_lack = tc_op_get((tc_op)op)->cls == TC_CLASS_EW;
    cr_expect(rows[op] == 1 || (may_lack && !rows[op]), "%s has %d rows", tc_op_get((tc_op)op)->text, rows[op]);
  }
}

static bool has_rule(tc_op op) {
  bool any = false;
  for (int i = 0; i < tc_op_get(op)->max_in; i++) any |= !tc_batch_refusal(op, i);
  return any;
}

/* RESULT occurs in the cases of ops with several results; a TUPLE is no op of a captured graph. */
Test(rules, each_op_with_a_rule_has_a_case) {
  int cases[OP_COUNT] = {0};
  for (int k = 0; k < LINES; k++) cases[case_op(lines[k].text)]++;
  cr_expect_eq(cases[OP_NONE], 0, "a case names no op");
  for (int op = 1; op < OP_COUNT; op++)
    if (has_rule((tc_op)op) && op != OP_RESULT && op != OP_TUPLE)
      cr_expect(cases[op], "%s has no case", tc_op_get((tc_op)op)->text);
}

/* ---- one case ------------------------------------------------------------------------------------ */

/* The op of a case: results[] are those of operands in[]. */
typedef struct op_of {
  tc_op op;
  int nin, nattr, nresult;
  tc_ref in[32];
  tc_dim attr[32];
  char string[64];
} op_of;

static op_of last_op(tc_graph *g) {
  uint32_t id = tc_graph_count(g);
  while (tc_graph_node(g, (tc_ref){id})->op == OP_RESULT) id--;
  const tc_node *n = tc_graph_node(g, (tc_ref){id});
  op_of o = {.op = n->op, .nin = n->nin, .nattr = n->nattr, .nresult = n->nresult};
  memcpy(o.in, n->in, n->nin * sizeof *o.in);
  memcpy(o.attr, n->attr, n->nattr * sizeof *o.attr);
  if (n->op == OP_EINSUM) snprintf(o.string, sizeof o.string, "%s", tc_graph_string(g, n->attr[--o.nattr]));
  return o;
}

static bool build(tc_graph *g, const op_of *o, const tc_ref *in, tc_ref *results) {
  const tc_ref r = tc_build(g, o->op, o->nin, in, o->nattr, o->attr, o->string[0] ? o->string : NULL, nowhere);
  results[0] = r;
  for (int k = 0; r.id && o->nresult > 1 && k < o->nresult; k++) results[k] = tc_build_result(g, r, k, nowhere);
  return r.id;
}

/* x as it is in example k: other elements of the same range. */
static tc_ref varied(tc_graph *g, tc_ref x, int k) {
  const tc_type t = *tc_graph_type(g, x);
  tc_dim attr[2] = {tc_dim_const(k), tc_dim_const(t.rank - 1)};
  if (!k) return x;
  if (!t.rank && tc_dtype_is_float((tc_dtype)t.dtype))
    return tc_build2(g, OP_MUL, x, tc_graph_const_f(g, TC_F64, true, 1 - 0.05 * k, nowhere), nowhere);
  if (!t.rank) return x;
  if (k == 1) return tc_build(g, OP_FLIP, 1, &x, 1, &(tc_dim){0}, NULL, nowhere);
  return tc_build(g, OP_ROLL, 1, &x, 2, attr, NULL, nowhere);
}

static tc_ref stacked(tc_graph *g, const tc_ref *x, int n) {
  return tc_build(g, OP_STACK, n, x, 1, &(tc_dim){0}, NULL, nowhere);
}

/* An array of examples, and the same from the last to the first. */
static tc_ref twice(tc_graph *g, tc_ref x) {
  tc_dim front[2] = {tc_dim_const(1), tc_dim_const(0)};
  return stacked(g, (tc_ref[]){x, tc_build(g, OP_FLIP, 1, &x, 2, front, NULL, nowhere)}, 2);
}

/* The same, of examples that stand for themselves, as they do where functions are nested. */
static tc_ref batch_of_batches(tc_graph *g, const tc_batching *inner, uint32_t nresult, tc_ref *out) {
  tc_ref one[32], all[32], results[8];
  tc_batching b = *inner, around = {.size = tc_dim_const(2), .nmapped = inner->nmapped, .one = one, .all = all};
  for (uint32_t i = 0; i < inner->nmapped; i++) {
    one[i] = tc_batch_example(g, tc_graph_type(g, inner->all[i]), nowhere);
    all[i] = twice(g, inner->all[i]);
  }
  b.all = one;
  if (!tc_batch(g, &b, results, NULL)) return (tc_ref){0};
  around.noutput = nresult;
  around.output = results;
  return tc_batch(g, &around, out, NULL) ? out[0] : (tc_ref){0};
}

/* Outputs: pairs of what the rule gives, and what examples one by one do.  false: beyond what graphs hold. */
static bool map(tc_graph *g, const op_of *o, unsigned mapped) {
  tc_ref in[32], one[32], all[32], each[EXAMPLES][TC_MAX_RESULTS], results[TC_MAX_RESULTS], out[TC_MAX_RESULTS];
  tc_batching b = {.size = tc_dim_const(EXAMPLES), .one = one, .all = all, .output = results};
  memcpy(in, o->in, sizeof in);
  for (int k = 0; k < EXAMPLES; k++) {
    for (int i = 0; i < o->nin; i++)
      if (mapped >> i & 1) in[i] = varied(g, o->in[i], k);
    if (!build(g, o, in, each[k])) return false;
  }
  for (int i = 0; i < o->nin; i++) {
    tc_ref x[EXAMPLES];
    if (!(mapped >> i & 1)) continue;
    for (int k = 0; k < EXAMPLES; k++) x[k] = varied(g, o->in[i], k);
    all[b.nmapped] = stacked(g, x, EXAMPLES);
    in[i] = one[b.nmapped++] = tc_batch_example(g, tc_graph_type(g, o->in[i]), nowhere);
  }
  b.noutput = (uint32_t)o->nresult;
  if (!build(g, o, in, results) || !tc_batch(g, &b, out, NULL)) return false;
  for (int j = 0; j < o->nresult; j++) {
    tc_ref x[EXAMPLES];
    for (int k = 0; k < EXAMPLES; k++) x[k] = each[k][j];
    tc_graph_output(g, out[j]), tc_graph_output(g, stacked(g, x, EXAMPLES));
  }
  if (!batch_of_batches(g, &b, b.noutput, out).id) return false;
  for (int j = 0; j < o->nresult; j++) {
    tc_ref x[EXAMPLES];
    for (int k = 0; k < EXAMPLES; k++) x[k] = each[k][j];
    tc_graph_output(g, out[j]), tc_graph_output(g, twice(g, stacked(g, x, EXAMPLES)));
  }
  return true;
}

/* Operands that may be mapped, but for C's numbers. */
static unsigned mappable(tc_graph *g, const op_of *o) {
  unsigned set = 0;
  for (int i = 0; i < o->nin; i++)
    if (o->in[i].id && !tc_graph_type(g, o->in[i])->weak && !tc_batch_refusal(o->op, i)) set |= 1u << i;
  return set;
}

static void compare(const char *line, const interp_run *run, double tolerance) {
  for (uint32_t i = 0; i + 1 < run->noutput; i += 2)
    cr_expect_eq(interp_distance(run->output[i], run->output[i + 1], tolerance, tolerance), 0,
                 "%s: result %u is not what examples one by one give", line, i / 2);
}

static int check_case(const char *line, const case_options *options) {
  grad_case c;
  int n = 0;
  if (!case_make(line, options, &c)) return 0;
  const op_of o = last_op(c.g);
  const unsigned all = mappable(c.g, &o);
  for (unsigned set = all; set; set = (set - 1) & all, n++)
    cr_assert(map(c.g, &o, set), "%s: operands %x are not mapped", line, set);
  const bool narrow = options->dtype == TC_F16 || options->dtype == TC_BF16;
  const double tolerance = options->dtype == TC_F64 ? 1e-12 : narrow ? 2e-2 : 1e-5;
  char message[256] = "";
  cr_expect(tc_graph_verify(c.g, message, sizeof message), "%s: %s", line, message);
  interp_run run = case_run(&c, c.g, options->dtype != TC_F64);
  cr_assert(run.noutput || !n, "%s: %s", line, run.message);
  compare(line, &run, tolerance);
  interp_run_free(&run);
  if (n && options->dtype == TC_F64) {
    c.g = tc_graph_optimize(c.g);
    cr_assert_not_null(c.g, "%s: not optimised", line);
    run = case_run(&c, c.g, false);
    cr_assert(run.noutput, "%s: %s behind the passes", line, run.message);
    compare(line, &run, 1e-9);
    interp_run_free(&run);
  }
  case_free(&c);
  return n;
}

static int for_each_case(tc_dtype dtype) {
  int n = 0;
  const char *only = getenv("TC_TEST_CASE");
  for (int k = 0; k < LINES; k++) {
    const char *line = lines[k].text;
    if (only && strncmp(only, line, strlen(only))) continue;
    for (int shape = 0; shape < (case_has_shapes(line) ? case_shapes : 1); shape++)
      for (int symbolic = 0; symbolic < 2; symbolic++) {
        case_options o = {.dtype = dtype, .symbolic = symbolic, .shape = shape};
        if (!symbolic) o.diag = &loud;
        n += check_case(line, &o);
      }
  }
  fprintf(stderr, "%s: %d choices of mapped operands\n", tc_dtype_text(dtype), n);
  return n;
}

Test(rules, f64) { cr_expect_gt(for_each_case(TC_F64), 1000); }
Test(rules, f32) { for_each_case(TC_F32); }
Test(rules, f16) { for_each_case(TC_F16); }
Test(rules, bf16) { for_each_case(TC_BF16); }
