/* What the core writes about a function, read back. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/compile.h"
#include "backends/explain.h"
#include "graph/passes/pass.h"
#include "graph/text.h"
#include "tools/explain/explain.h"

static void print_diag(void *self, tc_severity s, tc_loc loc, const char *text) {
  (void)self, (void)loc;
  if (s >= TC_WARNING) fprintf(stderr, "%s\n", text);
}
static tc_diag diag = {print_diag, NULL};

static bool gradients; /* it brings kernels for them */

/* Compiles a graph; the section of a file that holds nothing else. */
static tc_buf section_of(const char *text) {
  tc_buf section = {0};
  tc_graph *g = tc_graph_parse(text, &diag);
  cr_assert(g);
  tc_function f = {.symbol = "f", .name = "f", .file = "f.c", .line = 7, .graph = g, .ops = 3};
  f.explain = &section;
  f.gradients = gradients;
  tc_explain_unit("f.c", &section);
  tc_explain_function("f", "f.c", 7, &section);
  tc_result result;
  tc_texts texts = {0};
  cr_assert(tc_compile_functions(&f, 1, NULL, &result, &texts) && result.compiled);
  tc_texts_free(&texts);
  return section;
}

static tc_buf printed(const char *graph, bool json, char *size) {
  tc_buf section = section_of(graph), out = {0};
  explain_rows rows = {0};
  const explain_sizes sizes = {size != NULL, &size, NULL, {0}};
  const char *error = NULL;
  size_t line;
  cr_assert(explain_parse(&section, &rows, &error, &line), "%s", error);
  (json ? explain_print_json : explain_print)(&rows, &sizes, &out);
  tc_buf_free(&section);
  free(rows.at);
  return out;
}

static void expect(const char *graph, bool json, char *size, const char *const *wanted) {
  tc_buf out = printed(graph, json, size);
  for (int i = 0; wanted[i]; ++i)
    cr_expect(strstr(out.text, wanted[i]), "no '%s' in\n%s", wanted[i], out.text);
  tc_buf_free(&out);
}

#define EXPECT(graph, json, size, ...)                                                             \
  expect(graph, json, size, (const char *[]){__VA_ARGS__, NULL})

static const char layer[] = "graph f\n%1 = param f32[B,64] \"x\"\n%2 = param f32[64,32] \"w\"\n"
                            "%3 = param f32[32] \"b\"\n%4 = matmul %1 %2\n%5 = add %4 %3\n"
                            "%6 = relu %5\nret %6\n";

static const char curve[] = "graph f\n%1 = param f32[B,64] \"x\"\n%2 = param f32[64,32] \"w\"\n"
                            "%3 = matmul %1 %2\n%4 = mul %3 %3\n%5 = tanh %4\nret %5\n";

/* The moments of Adam: m is read and written, g is read. */
static const char update[] = "graph f\n%1 = param f32[N] \"m\"\n%2 = param f32[N] \"g\"\n"
                             "%3 = add %1 %2\nwrite %3 -> %1\n";

Test(explain, bytes_in_place) { EXPECT(update, false, NULL, "12*N bytes"); }

/* 2*64*32 + 2*32 for each row; x, w, b and the result once. */
Test(explain, costs) {
  EXPECT(layer, false, NULL, "4160*B flops", "384*B+8320 bytes", "guard: x is f32[B,64]",
         "1 segment, 0 graph breaks", "ops: matmul, add, maximum");
  EXPECT(layer, false, "B=100", "416.0 kflops", "46.7 kbytes");
  EXPECT(layer, true, NULL, "\"flops\": \"4160*B\"", "\"lines\": [5, 6, 7]", "\"device\": \"cpu\"",
         "\"breaks\": []");
  EXPECT(layer, true, "B=2", "\"flops\": 8320");
}

/* What calls save for the gradients, and the kernels of both parts. */
Test(explain, gradients) {
  gradients = true;
  EXPECT(layer, false, NULL, "for its gradients a call saves 1 tensor, 32*B bytes\n",
         "saved: le bool[B,32] of line 7, 32*B bytes", "for cpu, training: 1 kernel",
         "for cpu, gradients: ");
  EXPECT(curve, false, "B=2",
         "for its gradients a call saves 1 tensor, 256 bytes\n      computed again, which is "
         "cheaper than to save: square, tanh\n",
         "saved: matmul f32[B,32] of line 4, 256 bytes");
  EXPECT(curve, true, NULL, "\"repeated\": [\"square\", \"tanh\"]", "\"value\": \"matmul\"",
         "\"type\": \"f32[B,32]\"", "\"part\": \"gradients\"");
  gradients = false;
}

Test(explain, results) {
  EXPECT(layer, true, NULL, "\"results\": [\n          {\"type\": \"f32[B,32]\"}],");
}

Test(explain, guards) {
  EXPECT("graph f\nsym N 2..64 %4\n%1 = param f32[N,M] \"x\"\n%2 = param f32[2*N+1,K] \"y\"\n"
         "%3 = sum %1 axes=[] keep=0\n%4 = sum %2 axes=[] keep=0\n%5 = add %3 %4\nret %5\n"
         "write %1 -> %1\n",
         false, NULL, "guard: x is f32[N,M], contiguous, writable", "guard: 2 <= N <= 64",
         "guard: N % 4 == 0", "guard: y is f32[2*N+1,K]");
}

/* The reason is that of the reader. */
Test(explain, stops) {
  EXPECT(
      "graph f\n%1 = param f32[R,256] \"x\"\n%2 = param f32[256,256] \"w\"\n"
      "%3 = matmul %1 %2\n%4 = softmax %3 axis=1\nret %4\n",
      false, NULL,
      "matmul of line 4 (1024*R bytes): its reader reduces, which the epilogue of a matmul cannot");
  EXPECT("graph f\n%1 = param f32[R,256] \"x\"\n%2 = param f32[256,256] \"w\"\n"
         "%3 = softmax %1 axis=1\n%4 = matmul %3 %2\nret %4\n",
         false, NULL,
         "mul of line 4 (1024*R bytes): it is dearer than what is computed while an operand");
  EXPECT("graph f\n%1 = param f32[R,C] \"x\"\n%2 = cumsum %1 axis=1\n%3 = exp %2\nret %3\n", false,
         NULL, ": a scan has a kernel of its own");
}

/* Every array between two kernels has a reason, in all kinds of graphs. */
Test(explain, every_stop_has_a_reason) {
  static const char *const graphs[] = {
      "graph f\n%1 = param f32[R,C] \"x\"\n%2 = sum %1 axes=[1] keep=1\n%3 = sum %1 axes=[0] "
      "keep=1\n"
      "%4 = mul %2 %3\n%5 = add %1 %4\nret %5\n",
      "graph f\n%1 = param f32[R,C] \"x\"\n%2 = exp %1\n%3 = permute %2 axes=[1,0]\n"
      "%4 = matmul %2 %3\n%5 = concat %4 %4 axis=0\n%6 = tanh %5\nret %6\n",
      "graph f\n%1 = param f32[N] \"x\"\n%2 = param i64[M] \"i\"\n%3 = exp %1\n"
      "%4 = gather %3 %2 axis=0\n%5 = sum %4 axes=[0] keep=0\n%6 = div %1 %5\nret %6 %3\n",
  };
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; ++i) {
    tc_buf out = printed(graphs[i], false, NULL);
    const char *stop = strstr(out.text, "not fused into");
    cr_expect(stop, "%s", out.text);
    for (; stop; stop = strstr(stop + 1, "not fused into"))
      cr_expect(strncmp(strstr(stop, "): "), "): it is stored in", 19) != 0 ||
                    strstr(graphs[i], "%3\n"),
                "%s", out.text);
    tc_buf_free(&out);
  }
}

Test(explain, signatures_are_for_programs) {
  const tc_explain_type returns = {"void", "none", "", "it is static"};
  const tc_explain_type x = {"const struct m *x", "struct", "\"a.h\",struct m", ""};
  tc_buf section = {0}, people = {0}, json = {0};
  tc_explain_unit("f.c", &section);
  tc_explain_function("f", "f.c", 1, &section);
  tc_explain_signature("", &returns, &section);
  tc_explain_parameter("x", "f32[N]", &x, &section);
  explain_rows rows = {0};
  const char *error = NULL;
  size_t line;
  cr_assert(explain_parse(&section, &rows, &error, &line), "%s", error);
  const explain_sizes sizes = {0};
  explain_print(&rows, &sizes, &people);
  explain_print_json(&rows, &sizes, &json);
  cr_expect(!strstr(people.text, "static") && !strstr(people.text, "f32[N]"), "%s", people.text);
  cr_expect(strstr(json.text, "\"needs\": [\"\\\"a.h\\\"\", \"struct m\"]"), "%s", json.text);
  tc_buf_free(&section);
  tc_buf_free(&people);
  tc_buf_free(&json);
  free(rows.at);
}

Test(explain, breaks_are_split_into_reason_and_remedy) {
  tc_buf section = {0};
  tc_explain_unit("a\tb\\c\n.c", &section);
  tc_explain_function("f", "f.c", 1, &section);
  tc_explain_break("", 3, 5, "'printf' is called; call it outside; or not", &section);
  explain_rows rows = {0};
  const char *error = NULL;
  size_t line;
  cr_assert(explain_parse(&section, &rows, &error, &line), "%s", error);
  cr_expect_str_eq(rows.at[0].field[1], "a\tb\\c\n.c");
  cr_expect_str_eq(rows.at[2].field[2], "'printf' is called");
  cr_expect_str_eq(rows.at[2].field[3], "call it outside; or not");
  tc_buf_free(&section);
  free(rows.at);
}
