/* The verifier: one planted violation at a time, each named. */
#include "check.h"

static const char text[] =
    "%1 = param f32[4,4] \"x\"\n%2 = param f32[4] \"y\"\n%3 = scalar f64 \"s\"\n"
    "%4 = add %1 %2\n%5 = sum %4 axes=[0] keep=0\n%6 = add %1 %1\n"
    "%7 = einsum %1 spec=\"ij->ji\"\n%8 = linear %1 %1 _\nwrite %4 -> %1\nret %5\n";

/* Tests reach behind the const of the interface: nothing else can break a graph. */
static tc_node *at(tc_graph *g, uint32_t id) { return (tc_node *)tc_graph_node(g, (tc_ref){id}); }
static tc_ref *operand(tc_graph *g, uint32_t id, int i) { return (tc_ref *)&at(g, id)->in[i]; }
static tc_dim *attr(tc_graph *g, uint32_t id, int i) { return (tc_dim *)&at(g, id)->attr[i]; }

static void wrong_dtype(tc_graph *g) { at(g, 4)->type.dtype = TC_F64; }
static void wrong_size(tc_graph *g) { at(g, 5)->type.dim[0] = tc_dim_const(5); }
static void wrong_weak(tc_graph *g) { at(g, 4)->type.weak = true; }
static void later_operand(tc_graph *g) { operand(g, 4, 1)->id = 6; }
static void own_operand(tc_graph *g) { operand(g, 4, 0)->id = 4; }
static void missing_operand(tc_graph *g) { operand(g, 4, 0)->id = 0; }
static void missing_weight(tc_graph *g) { operand(g, 8, 1)->id = 0; }
static void few_operands(tc_graph *g) { at(g, 4)->nin = 1; }
static void unknown_op(tc_graph *g) { at(g, 4)->op = OP_COUNT; }
static void other_op(tc_graph *g) { at(g, 4)->op = OP_MUL; }
static void same_key(tc_graph *g) { operand(g, 6, 1)->id = 2; }
static void bad_axis(tc_graph *g) { *attr(g, 5, 1) = tc_dim_const(7); }
static void few_attrs(tc_graph *g) { at(g, 5)->nattr = 2; }
static void bad_string(tc_graph *g) { *attr(g, 7, 0) = tc_dim_const(3); }
static void late_leaf(tc_graph *g) { *at(g, 6) = *at(g, 1); }
static void bad_index(tc_graph *g) { *attr(g, 2, 0) = tc_dim_const(9); }
static void same_index(tc_graph *g) { *attr(g, 2, 0) = tc_dim_const(0); }
static void other_input(tc_graph *g) { at(g, 2)->type.dtype = TC_F64; }
static void strong_scalar(tc_graph *g) { at(g, 3)->type.weak = false; }
static void unmarked(tc_graph *g) { ((tc_input *)tc_graph_input_at(g, 0))->written = false; }

Test(verify, names_each_violation) {
  static const struct {
    void (*damage)(tc_graph *g);
    const char *says;
  } rows[] = {
      {wrong_dtype, "%4 = add: has type f64[4,4], not f32[4,4]"},
      {wrong_size, "%5 = sum: has type f32[5], not f32[4]"},
      {wrong_weak, "%4 = add: has type weak f32[4,4], not f32[4,4]"},
      {later_operand, "%4 = add: operand 2 is not older: %6"},
      {own_operand, "%4 = add: operand 1 is not older: %4"},
      {missing_operand, "%4 = add: operand 1 is missing"},
      {missing_weight, "%8 = linear: operand 2 is missing"},
      {few_operands, "%4 = add: has 1 operands"},
      {unknown_op, "%4 = ?: no such op"},
      {other_op, "%4 = mul: is not found under its key: %0 is"},
      {same_key, "%6 = add: is not found under its key: %4 is"},
      {bad_axis, "%5 = sum: sum: axis 7 is out of range for [4,4]"},
      {few_attrs, "%5 = sum: sum: too few attributes"},
      {bad_string, "%7 = einsum: its string is not in the graph"},
      {late_leaf, "%6 = param: stands behind other nodes"},
      {bad_index, "%2 = param: is not declared"},
      {same_index, "%2 = param: is not the node of its declaration"},
      {other_input, "%2 = param: differs from its declaration"},
      {strong_scalar, "%3 = scalar: differs from its declaration"},
      {unmarked, "write 0: \"x\" is not marked as written"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    messages m;
    char why[512];
    tc_graph *g = parse(text, &m);
    rows[i].damage(g);
    cr_expect(!tc_graph_verify(g, why, sizeof why), "not found: %s", rows[i].says);
    cr_expect_str_eq(why, rows[i].says, "says  %s\nnot   %s", why, rows[i].says);
    tc_graph_free(g);
  }
}

/* Types inferred before an assumption still hold after it. */
Test(verify, older_types_may_be_refined) {
  messages m;
  tc_graph *g = parse(
      "%1 = param f32[B] \"x\"\n%2 = param f32[N] \"y\"\n%3 = exp %2\n%4 = slice %3 axis=0 start=0 "
      "stop=7 step=1\n%5 = add %1 %3\n%6 = expand %5 dims=[9]\n",
      &m);
  tc_graph_free(g);
}
