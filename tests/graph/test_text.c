/* The text form: every op of the table reads back, and errors name their line. */
#include "check.h"

#include "graph/graph_impl.h"

/* The text without the comments, which hold places in some other text. */
static void strip(const char *text, tc_buf *out) {
  for (; *text; text += strcspn(text, "\n") + 1) {
    tc_putn(out, text, strcspn(text, ";\n"));
    while (out->len && out->text[out->len - 1] == ' ') out->text[--out->len] = 0;
    tc_put(out, "\n");
  }
}

static void check_round_trip(tc_graph *g) {
  messages m;
  tc_buf a = {0}, b = {0}, x = {0}, y = {0};
  char why[512];
  tc_graph_print(g, &a);
  tc_graph *again = tc_graph_parse(a.text, listen(&m));
  cr_assert(again, "%s\nof\n%s", m.last, a.text);
  cr_assert(tc_graph_verify(again, why, sizeof why), "%s\nof\n%s", why, a.text);
  tc_graph_print(again, &b);
  strip(a.text, &x);
  strip(b.text, &y);
  cr_assert_str_eq(x.text, y.text);
  tc_graph_free(again);
  tc_buf_free(&a), tc_buf_free(&b), tc_buf_free(&x), tc_buf_free(&y);
}

/* ---- one node of every op, found by trying operands and attributes until inference accepts --- */

static const char pool[] =
    "%1 = param f32[4,4] \"x\"\n%2 = param i64[4,4] \"i\"\n%3 = param bool[4,4] \"p\"\n"
    "%4 = param f32[4] \"v\"\n%5 = param i64[4] \"k\"\n%6 = param f32[B,4] \"b\"\n"
    "%7 = scalar f64 \"s\"\n%8 = scalar i64 \"n\"\n%9 = const f16 0.1\n"
    "%10 = var_mean %1 axes=[1] correction=1 keep=1\n";
enum { POOL = 9, SEVERAL = 10, VARIANTS = 6 };

/* Attribute values of one variant, by kind. */
static int fill(const char *schema, int variant, tc_dim *attr, const char **string) {
  static const int64_t lists[VARIANTS][3] = {{1, 0},    {2, 1, 0}, {2, 4, 4},
                                             {2, 2, 2}, {2, 1, 1}, {0}};
  int n = 0;
  *string = NULL;
  for (const char *s = schema; *s; s += strcspn(s, " "), s += *s == ' ') {
    switch (s[strcspn(s, ":") + 1]) {
    case 'S':
      *string = variant % 2 ? "ij,jk->ik" : "ij->ji";
      break;
    case 'D':
      attr[n++] = tc_dim_const(variant % 2 ? TC_BF16 : TC_I16);
      break;
    case 'I':
      for (int64_t i = 0; i <= lists[variant][0]; i++) attr[n++] = tc_dim_const(lists[variant][i]);
      break;
    default:
      attr[n++] = tc_dim_const(s == schema ? variant % 3 : 1);
    }
  }
  return n;
}

/* The node, or 0.  Operands are the digits of `code` in base POOL: %1 .. %8, and what has several results. */
static tc_ref attempt(tc_graph *g, tc_op op, int nin, uint32_t code, int variant) {
  tc_ref in[8];
  tc_dim attr[20];
  const char *string;
  refusal why;
  for (int i = 0; i < nin; i++, code /= POOL)
    in[i] = (tc_ref){code % POOL == POOL - 1 ? SEVERAL : 1 + code % POOL};
  if (op == OP_EFFECT) in[1] = (tc_ref){0}; /* the first one */
  int n = fill(tc_op_get(op)->attrs, variant, attr, &string);
  return tc_graph_try(g, op, nin, in, n, attr, string, (tc_loc){0}, &why);
}

static tc_ref any_node(tc_graph *g, tc_op op) {
  int nin = tc_op_get(op)->min_in;
  uint32_t codes = 1;
  for (int i = 0; i < nin; i++) codes *= POOL;
  for (int v = 0; v < VARIANTS; v++)
    for (uint32_t code = 0; code < codes; code++) {
      tc_ref r = attempt(g, op, nin, code, v);
      if (r.id) return r;
    }
  return (tc_ref){0};
}

Test(text, every_op_reads_back) {
  int ops = 0;
  for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
    if (tc_op_get((tc_op)op)->cls == TC_CLASS_LEAF) continue;
    messages m;
    tc_graph *g = parse(pool, &m);
    tc_ref r = any_node(g, (tc_op)op);
    cr_assert(r.id, "no operands found for %s", tc_op_get((tc_op)op)->text);
    cr_assert_eq(tc_graph_node(g, r)->op, (tc_op)op);
    const bool several = tc_graph_node(g, r)->nresult > 1, effect = tc_graph_set_effect(g, r);
    cr_assert_neq(tc_graph_output(g, r), several || effect); /* a result is one value */
    if (several) tc_graph_output(g, tc_build_result(g, r, 1, (tc_loc){0}));
    check_round_trip(g);
    tc_graph_free(g);
    ops++;
  }
  cr_assert_gt(ops, 100);
}

Test(text, leaves_assumptions_and_roots_read_back) {
  messages m;
  tc_graph *g = parse("graph step\n"
                      "sym T 1..4096 %8\n"
                      "sym n 0..inf = scalar 1\n"
                      "%1 = param f32[B,T] \"a \\\"quoted\\\\ name\"\n"
                      "%2 = param f32[N,2*T] \"y\"\n"
                      "%3 = scalar f64 \"lr * 0.5\"\n"
                      "%4 = scalar i64 \"n\"\n"
                      "%5 = concat %1 %1 axis=-1\n"
                      "%6 = add %5 %2\n"
                      "%7 = const f32 -0.0\n"
                      "%8 = const f64 1e-300\n"
                      "%9 = const weak f64 0.1\n"
                      "%10 = const bf16 NAN\n"
                      "%11 = const f32 -INFINITY\n"
                      "%12 = const i64 -9223372036854775808\n"
                      "%13 = const bool 1\n"
                      "%14 = dim weak B*T+n\n"
                      "%15 = dim (B%3)\n"
                      "%16 = layer_norm %1 _ _ %9 naxes=1\n"
                      "%17 = slice %1 axis=0 start=2 stop=-1 step=1\n"
                      "%18 = max %1 axes=[0] keep=1\n"
                      "write %6 -> %2\n"
                      "ret %16 %17\n",
                      &m);
  check_round_trip(g);
  tc_buf b = {0};
  tc_graph_print(g, &b);
  cr_expect(strstr(b.text, "assume B = N\n"), "%s", b.text);
  cr_expect(strstr(b.text, "sym n 0..inf = scalar 1\n"), "%s", b.text);
  cr_expect(strstr(b.text, "write %6 -> %2\nret %16 %17\n"), "%s", b.text);
  tc_buf_free(&b);
  tc_graph_free(g);
}

Test(text, numbers_may_leave_gaps) {
  messages m;
  tc_graph *g =
      parse("%2 = param f32[4]\n%7 = exp %2 : f32[4] ; a comment\n\n%9 = exp %2\nret %9", &m);
  cr_expect_eq(tc_graph_count(g), 2, "equal nodes are one");
  cr_expect_eq(tc_graph_node(g, (tc_ref){2})->loc.line, 2);
  tc_graph_free(g);
}

Test(text, errors_name_their_line) {
  static const char *const bad[][2] = {
      {"", "line 0: no graph"},
      {"%1 = param f32[4]\n%2 = blah %1\n", "line 2: unknown op 'blah'"},
      {"%1 = exp %1\n", "line 1: %1 is not defined"},
      {"%1 = param q8[4]\n", "line 1: unknown element type; known are bool u8 i8 i16 i32 i64 f16 "
                             "bf16 f32 f64: \"q8[4]\""},
      {"%2 = param f32[4]\n%1 = exp %2\n", "line 2: %1 is out of order"},
      {"%1 = param f32[4]\n%2 = sum %1 axes=[0]\n", "line 2: expected keep= before \"\""},
      {"%1 = param f32[4]\n%2 = sum %1 axes=[0,] keep=0\n", "line 2: not a size: \"] keep=0\""},
      {"%1 = param f32[4]\n%2 = exp %1 : f64[4]\n", "line 2: the type is f32[4]"},
      {"%1 = param f32[4]\n%2 = exp %1 %1\n", "line 2: exp: takes 1 operand, not 2"},
      {"%1 = param f32[4]\n%2 = exp %1 stray\n", "line 2: unexpected \"stray\""},
      {"%1 = param f32[4]\n%2 = exp %1\n%3 = param f32[4]\n",
       "line 3: param must come before other nodes"},
      {"%1 = param f32[4]\nret %1 %2\n", "line 2: %2 is not defined"},
      {"%1 = param f32[4]\n%2 = cummax %1 axis=0\nret %2\n",
       "line 3: an effect, or several results at once, cannot be returned"},
      {"%1 = param f32[4]\nwrite %1 -> %1 -> %1\n", "line 2: unexpected \"-> %1\""},
      {"sym B 5..4\n", "line 1: B contradicts what is known of it"},
      {"%1 = param f32[B]\nassume B in -5..-1\n", "line 2: the assumption cannot hold"},
      {"%1 = const f32 abc\n", "line 1: expected a number before \"abc\""},
      {"%99999999999 = const f32 1\n", "line 1: %99999999999 is out of order"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    messages m;
    cr_expect(!tc_graph_parse(bad[i][0], listen(&m)), "%s", bad[i][0]);
    cr_expect_str_eq(m.last, bad[i][1], "%s\n  says  %s\n  not   %s", bad[i][0], m.last, bad[i][1]);
  }
}

/* Any cut or changed byte gives a graph or a message. */
Test(text, damaged_text_is_refused_or_read) {
  static const char text[] =
      "graph g\nsym T 1..64 %8\n%1 = param f32[B,T] \"x\"\n%2 = const weak f64 0.5\n"
      "%3 = mul %1 %2 : f32[B,T]\n%4 = sum %3 axes=[0,-1] keep=0\n%5 = einsum %1 %1 "
      "spec=\"ij,kj->ik\"\nwrite %3 -> %1\nret %4 %5\n";
  char copy[sizeof text];
  for (size_t at = 0; at < sizeof text - 1; at++) {
    static const char with[] = {0, '%', '=', '[', '"', '9', ' ', '~', '_', -1};
    for (size_t w = 0; w < sizeof with; w++) {
      memcpy(copy, text, sizeof text);
      copy[at] = with[w];
      messages m;
      tc_graph *g = tc_graph_parse(copy, listen(&m));
      cr_assert(g || m.n, "no message");
      tc_graph_free(g);
    }
  }
}
