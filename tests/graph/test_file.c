/* Files of graphs: both forms read back, and no damage passes. */
#include "check.h"

#include "graph/file.h"

static const char text[] = "tcg 1\n"
                           "function \"mlp\" \"dir/m l p.c\" 5\n"
                           "variant \"B=1\"\n"
                           "graph mlp\n"
                           "%1 = param f32[1,4] \"x\"\n"
                           "%2 = exp %1 : f32[1,4]\n"
                           "ret %2\n"
                           "variant \"\"\n"
                           "graph mlp\n"
                           "sym B 0..64 %8\n"
                           "%1 = param bf16[B,4] \"x\"\n"
                           "%2 = param f32[4] \"variant \\\"w\\\"\"\n"
                           "%3 = scalar f64 \"lr\"\n"
                           "%4 = mul %2 %3 : f32[4]\n"
                           "%5 = max_with_index %1 axes=[1] keep=0 : bf16[B] i64[B]\n"
                           "%6 = result %5 index=0 : bf16[B]\n"
                           "write %4 -> %2\n"
                           "ret %6 %4\n"
                           "end\n";

static tc_file *read_file(const void *bytes, size_t n, messages *m) {
  return tc_file_read(bytes, n, listen(m));
}

/* Both forms of a file. */
static void forms(const tc_file *f, tc_buf *words, tc_buf *binary) {
  tc_file_put_text(f, words);
  tc_file_put_binary(f, binary);
  cr_assert(!words->failed && !binary->failed);
}

Test(file, reads_back_in_both_forms) {
  messages m;
  tc_buf words = {0}, binary = {0}, again = {0}, same = {0};
  tc_file *f = read_file(text, strlen(text), &m);
  cr_assert(f, "%s", m.last);
  cr_expect_str_eq(f->function, "mlp");
  cr_expect_str_eq(f->file, "dir/m l p.c");
  cr_expect_eq(f->line, 5);
  cr_assert_eq(f->graph.n, 2);
  cr_expect_str_eq(f->graph.at[0].sizes, "B=1");
  forms(f, &words, &binary);
  tc_file *g = read_file(binary.text, binary.len, &m);
  cr_assert(g, "%s", m.last);
  forms(g, &again, &same);
  tc_file_free(f), tc_file_free(g);
  g = read_file(words.text, words.len, &m);
  cr_assert(g, "%s", m.last);
  cr_expect_eq(again.len, strlen(again.text));
  cr_expect_str_eq(tc_graph_input_at(g->graph.at[1].graph, 1)->name, "variant \"w\"");
  tc_file_free(g);
  tc_buf_free(&words), tc_buf_free(&binary), tc_buf_free(&again), tc_buf_free(&same);
}

Test(file, takes_the_text_of_a_graph) {
  messages m;
  static const char plain[] = "; no head\n%1 = param f32[2] \"x\"\nret %1\n";
  tc_file *f = read_file(plain, strlen(plain), &m);
  cr_assert(f && f->graph.n == 1, "%s", m.last);
  cr_expect_str_eq(f->function, "");
  tc_file_free(f);
}

static void expect_refused(const char *bytes, size_t n, const char *part) {
  messages m;
  tc_file *f = read_file(bytes, n, &m);
  cr_expect(!f && m.n && strstr(m.last, part), "expected \"%s\", not \"%s\"", part, m.last);
  tc_file_free(f);
}

Test(file, errors_name_what_is_wrong) {
#define REFUSED(bytes, part) expect_refused(bytes, sizeof(bytes) - 1, part)
  REFUSED("", "there is no graph");
  REFUSED("\177ELF\2\1\1\0\0\0", "no file of graphs");
  REFUSED("\x89PNG\r\n\x1a\n0000", "no file of graphs");
  REFUSED("\x89TCG", "truncated");
  REFUSED("tcg 2\nvariant \"\"\ngraph g\n", "line 1: the file has format version 2");
  REFUSED("tcg 0\n", "no format version 0");
  REFUSED("tcg 1\n", "ends before its first graph");
  REFUSED("tcg 1\nfunction \"f\" 3\n", "line 2: expected '\"'");
  REFUSED("tcg 1\nvariation\n", "line 2: expected 'variant'");
  REFUSED("tcg 1\nvariant \"\"\ngraph g\n%1 = param f32[2] \"x\"\n%2 = frob %1\n",
          "line 5: unknown op");
  REFUSED("tcg 1\nvariant \"\"\ngraph g\n%1 = param f32[2] \"x\"\n%2 = exp %1 : f32[3]\n",
          "line 5: the type is f32[2]");
  REFUSED("tcg 1\nend\n", "line 2: expected 'variant'");
  REFUSED("tcg 1\nvariant \"\"\ngraph g\n%1 = param f32[2] \"x\"\nret %1\nend\nend\n",
          "line 7: there is text behind the end");
  REFUSED("tcg 1\nvariant \"\"\ngraph g\n%1 = param f32[2] \"x\"\nret %1\nend of it\n",
          "line 6: expected");
#undef REFUSED
}

/* Every truncation, and every byte changed, each in a block of its own size so that reading past it is seen
 * by ASan. */
static tc_file *read_copy(const char *bytes, size_t n, messages *m) {
  char *copy = malloc(n ? n : 1);
  cr_assert(copy);
  memcpy(copy, bytes, n);
  tc_file *f = read_file(copy, n, m);
  free(copy);
  return f;
}

Test(file, text_without_its_end_is_refused) {
  const size_t whole = strlen(text);
  for (size_t n = 0; n + 1 < whole; n++) {
    messages m;
    tc_file *f = read_copy(text, n, &m);
    cr_expect(!f && m.n, "%zu bytes were read", n);
    if (f) tc_file_free(f);
  }
  expect_refused(text, whole - strlen("end\n"),
                 "line 18: the file is truncated: it ends without 'end'");
}

Test(file, binary_with_any_damage_is_refused) {
  messages m;
  tc_buf words = {0}, binary = {0};
  tc_file *f = read_file(text, strlen(text), &m);
  cr_assert(f, "%s", m.last);
  forms(f, &words, &binary);
  tc_file_free(f);
  for (size_t n = 0; n < binary.len; n++) {
    f = read_copy(binary.text, n, &m);
    cr_expect(!f && m.n, "%zu bytes", n);
    cr_expect(!n || strstr(m.last, "truncated"), "%zu bytes: %s", n, m.last);
  }
  for (size_t i = 0; i < binary.len; i++)
    for (int bit = 0; bit < 8; bit++) {
      binary.text[i] ^= (char)(1 << bit);
      f = read_copy(binary.text, binary.len, &m);
      cr_expect(!f && m.n, "byte %zu, bit %d", i, bit);
      tc_file_free(f);
      binary.text[i] ^= (char)(1 << bit);
    }
  tc_buf_free(&words), tc_buf_free(&binary);
}

/* A text may still be one; what is not is refused with a message, and nothing breaks. */
Test(file, text_with_any_damage_is_read_or_refused) {
  messages m;
  char copy[sizeof text];
  memcpy(copy, text, sizeof text);
  for (size_t n = 0; n < sizeof text - 1; n++) {
    tc_file *f = read_copy(copy, n, &m);
    cr_expect(f || m.n, "%zu bytes", n);
    tc_file_free(f);
  }
  uint64_t state = 1;
  for (int round = 0; round < 20000; round++) {
    memcpy(copy, text, sizeof text);
    for (int k = 0; k <= round % 3; k++) {
      state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
      copy[(state >> 33) % (sizeof text - 1)] = (char)(state >> 25);
    }
    tc_file *f = read_copy(copy, sizeof text - 1, &m);
    cr_expect(f || m.n, "round %d", round);
    tc_file_free(f);
  }
}
