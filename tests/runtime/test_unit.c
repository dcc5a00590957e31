/* What generated code and the runtime agree on: registration, misses, counters, switches, levels.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tcompile.h>

#include "runtime/libtcrt/src/settings.h"

static tcrt_function f = {.name = "f", .location = "t.c:1", .ops = 12, .kernels = 1};
static tcrt_function g = {.name = "g", .location = "t.c:9", .ops = 3, .kernels = 2};
static tcrt_function *const both[] = {&f, &g};
static const tcrt_unit unit = {TC_ABI_VERSION, 2, both};

/* stderr up to now. */
static const char *said(char *buf, size_t cap) {
  FILE *e = cr_get_redirected_stderr();
  fflush(stderr);
  size_t n = fread(buf, 1, cap - 1, e);
  buf[n] = 0;
  return buf;
}

Test(unit, counts_by_function_and_in_all) {
  cr_assert(tcrt_register(&unit));
  cr_assert(tcrt_register(&unit)); /* merged functions are registered by several units */
  f.hits = 5;
  f.packed = 2;
  cr_expect_eq(tcrt_miss(&f, TC_MISS_SIZE, 0, 1, 5, 784), 0);
  cr_expect_eq(tcrt_miss(&f, TC_MISS_SIZE, 0, 1, 6, 784), 0);
  cr_expect_eq(tcrt_miss(&g, TC_MISS_ALIAS, 1, -1, 0, 0), 0);
  cr_expect_eq(tcrt_miss(&g, TC_MISS_DISABLED, -1, -1, 0, 0), 0);
  tc_stats s = tc_stats_of("f"), all = tc_stats_of(NULL), none = tc_stats_of("h");
  cr_expect(s.functions == 1 && s.ops == 12 && s.kernels == 1 && s.hits == 5 && s.packed == 2);
  cr_expect_eq(s.fallbacks, 2);
  cr_expect(all.functions == 2 && all.ops == 15 && all.kernels == 3 && all.fallbacks == 3);
  cr_expect(none.functions == 0 && none.fallbacks == 0);
  tc_stats_reset();
  all = tc_stats_of(NULL);
  cr_expect(all.hits == 0 && all.fallbacks == 0 && all.functions == 2 &&
            g.miss[TC_MISS_DISABLED] == 0);
  tcrt_unregister(&unit);
  cr_expect_eq(tc_stats_of(NULL).functions, 0);
  tcrt_unregister(&unit);
  cr_assert(tcrt_register(&unit));
  cr_expect_eq(tc_stats_of(NULL).functions, 2);
}

Test(unit, another_abi_is_refused_with_one_line, .init = cr_redirect_stderr) {
  char text[512], ours[32];
  tcrt_unit other = {TC_ABI_VERSION + 1, 1000, NULL};
  snprintf(ours, sizeof ours, "this libtcrt has ABI %d;", TC_ABI_VERSION);
  cr_expect_not(tcrt_register(&other));
  tcrt_unregister(&other);
  cr_expect_eq(tc_stats_of(NULL).functions, 0);
  said(text, sizeof text);
  cr_expect(strstr(text, ours) && strchr(text, '\n') == text + strlen(text) - 1, "%s", text);
}

Test(unit, the_third_miss_in_a_row_is_told_once, .init = cr_redirect_stderr) {
  char text[512];
  for (int i = 0; i < 8; i++) { /* a hit behind every second one */
    tcrt_miss(&g, TC_MISS_SIZE, 1, 0, 5, 784);
    g.hits += (uint64_t)(i & 1);
  }
  for (int i = 0; i < 8; i++) tcrt_miss(&f, TC_MISS_DTYPE, 1, -1, TC_I32, TC_I64);
  cr_expect_str_eq(
      said(text, sizeof text),
      "tcompile: f (t.c:1) ran its body 3 times in a row, which is slow: operand 2 is i32, "
      "compiled for i64; write TC_SHAPE(\"i64|i32[...]\"), or convert it with tc_cast "
      "(TC_FALLBACK=default silences this)\n");
}

/* Segments of one function, of which each is registered; h is of another file. */
Test(unit, what_segments_have_in_common_is_told_once, .init = cr_redirect_stderr) {
  tcrt_function first = {.name = "s", .location = "t.c:3"},
                second = {.name = "s", .location = "t.c:5"},
                other = {.name = "s", .location = "u.c:3"};
  tcrt_function *const list[] = {&first, &second, &other};
  const tcrt_unit unit = {.abi = TC_ABI_VERSION, .count = 3, .function = list};
  cr_assert(tcrt_register(&unit));
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) tcrt_miss(list[k], TC_MISS_RANK, 0, -1, 3, 2);
  char text[1024];
  said(text, sizeof text);
  cr_expect(strstr(text, "s (t.c:3) ran") && strstr(text, "s (u.c:3) ran"), "%s", text);
  cr_expect_not(strstr(text, "t.c:5"), "%s", text);
  tcrt_unregister(&unit);
}

Test(unit, variants_and_switched_off_code_are_no_fallbacks, .init = cr_redirect_stderr) {
  char text[512];
  tcrt_function variant = {.name = "v", .location = "t.c:2", .passes = true};
  for (int i = 0; i < 5; i++) tcrt_miss(&variant, TC_MISS_SIZE, 1, 0, 5, 784);
  for (int i = 0; i < 5; i++) tcrt_miss(&f, TC_MISS_DISABLED, -1, -1, 0, 0);
  cr_expect_str_empty(said(text, sizeof text));
}

Test(unit, misses_are_silent_where_asked_for, .init = cr_redirect_stderr) {
  char text[512];
  tc_settings_now.fallback = TC_FALLBACK_DEFAULT;
  for (int why = 0; why < TC_MISS_COUNT; why++) tcrt_miss(&f, (tc_miss)why, 0, 0, 1, 2);
  cr_expect_str_empty(said(text, sizeof text));
  cr_expect_null(tc_error());
}

Test(unit, warn_says_each_reason_once, .init = cr_redirect_stderr) {
  char text[512];
  tc_settings_now.fallback = TC_FALLBACK_WARN;
  for (int i = 0; i < 3; i++) tcrt_miss(&f, TC_MISS_SIZE, 1, 0, 5, 784);
  tcrt_miss(&f, TC_MISS_DTYPE, 2, -1, TC_F64, TC_F32);
  cr_expect_str_eq(
      said(text, sizeof text),
      "tcompile: f (t.c:1) ran its body: operand 2 has size 5 along axis 0, compiled for 784\n"
      "tcompile: f (t.c:1) ran its body: operand 3 is f64, compiled for f32\n");
}

Test(unit, sizes_out_of_a_range, .init = cr_redirect_stderr) {
  char text[512];
  tc_settings_now.fallback = TC_FALLBACK_WARN;
  tcrt_miss(&f, TC_MISS_MOST, 0, 1, 9, 8);
  tcrt_miss(&f, TC_MISS_LEAST, -1, -1, 1, 2);
  tcrt_miss(&g, TC_MISS_MULTIPLE, 2, 0, 6, 4);
  cr_expect_str_eq(said(text, sizeof text),
                   "tcompile: f (t.c:1) ran its body: operand 1 has size 9 along axis 1, compiled "
                   "for at most 8\n"
                   "tcompile: f (t.c:1) ran its body: a number is 1, compiled for at least 2\n"
                   "tcompile: g (t.c:9) ran its body: operand 3 has size 6 along axis 0, compiled "
                   "for a multiple of 4\n");
}

Test(unit, operands_have_names, .init = cr_redirect_stderr) {
  char text[512];
  tcrt_function h = {.name = "h", .location = "t.c:5", .operands = "x\nn->w[1]\n"};
  tc_settings_now.fallback = TC_FALLBACK_WARN;
  tcrt_miss(&h, TC_MISS_RANK, 1, -1, 3, 2);
  tcrt_miss(&h, TC_MISS_NULL, 0, -1, 0, 0);
  tcrt_miss(&h, TC_MISS_LAYOUT, 2, -1, 0, 0);
  cr_expect_str_eq(said(text, sizeof text),
                   "tcompile: h (t.c:5) ran its body: operand 2 (n->w[1]) has rank 3, compiled for 2\n"
                   "tcompile: h (t.c:5) ran its body: operand 1 (x) is NULL\n"
                   "tcompile: h (t.c:5) ran its body: operand 3 is memory whose layout is none of a tensor\n");
}

Test(unit, disabled_makes_a_miss_an_error, .init = cr_redirect_stderr) {
  char text[512];
  tc_settings_now.fallback = TC_FALLBACK_DISABLED;
  tcrt_miss(&f, TC_MISS_RANK, 0, -1, 3, 2);
  cr_expect(tc_error() && strstr(tc_error(), "f fell back") && strstr(tc_error(), "rank 3"));
  cr_expect(strstr(said(text, sizeof text), "error: f (t.c:1) fell back: operand 1 has rank 3"));
}

Test(unit, every_reason_reads_as_a_sentence, .init = cr_redirect_stderr) {
  char text[4096];
  tc_settings_now.logs = TC_LOG_GUARDS;
  tc_settings_now.fallback = TC_FALLBACK_DEFAULT;
  for (int why = 0; why < TC_MISS_DISABLED; why++) tcrt_miss(&f, (tc_miss)why, 1, 0, 1, 2);
  said(text, sizeof text);
  int lines = 0;
  for (const char *p = text; *p; p++) lines += *p == '\n';
  cr_expect_eq(lines, TC_MISS_DISABLED);
  for (int why = 0; why < TC_MISS_COUNT; why++) cr_expect_not_null(tc_miss_text((tc_miss)why));
  cr_expect_null(strstr(text, "unknown"));
}

Test(unit, logs_and_fallback_words, .init = cr_redirect_stderr) {
  char text[512];
  cr_expect_eq(tc_parse_logs(NULL), 0);
  cr_expect_eq(tc_parse_logs(""), 0);
  cr_expect_eq(tc_parse_logs("guards"), TC_LOG_GUARDS);
  cr_expect_eq(tc_parse_logs("fallback,kernels"), TC_LOG_FALLBACK | TC_LOG_KERNELS);
  cr_expect_eq(tc_parse_logs(",guards, kernels,"), TC_LOG_GUARDS | TC_LOG_KERNELS);
  cr_expect_eq(tc_parse_fallback(NULL), TC_FALLBACK_NOTICE);
  cr_expect_eq(tc_parse_fallback("default"), TC_FALLBACK_DEFAULT);
  cr_expect_eq(tc_parse_fallback("warn"), TC_FALLBACK_WARN);
  cr_expect_eq(tc_parse_fallback("mandatory"), TC_FALLBACK_MANDATORY);
  cr_expect_eq(tc_parse_fallback("disabled"), TC_FALLBACK_DISABLED);
  cr_expect_eq(tc_parse_logs("all"), TC_LOG_GUARDS | TC_LOG_FALLBACK | TC_LOG_KERNELS);
  cr_expect_eq(tc_parse_errors(NULL), TC_ERRORS_KEEP);
  cr_expect_eq(tc_parse_errors("print"), TC_ERRORS_PRINT);
  cr_expect_eq(tc_parse_errors("abort"), TC_ERRORS_ABORT);
  cr_expect_eq(tc_parse_logs("guards,gurads"), TC_LOG_GUARDS);
  cr_expect_eq(tc_parse_fallback("never"), TC_FALLBACK_NOTICE);
  cr_expect_eq(tc_parse_errors("exit"), TC_ERRORS_KEEP);
  cr_expect_str_eq(
      said(text, sizeof text),
      "tcompile: TC_LOGS=gurads is not known; it can list guards, fallback, kernels, or be all\n"
      "tcompile: TC_FALLBACK=never is not known; it can be notice, default, warn, mandatory or "
      "disabled\n"
      "tcompile: TC_ERRORS=exit is not known; it can be keep, print or abort\n");
}

Test(unit, isa_can_only_be_lowered, .init = cr_redirect_stderr) {
  char text[512];
  int machine = tc_detect_isa(NULL);
  cr_expect(machine >= TC_ISA_V2 && machine < TC_ISA_COUNT);
  cr_expect_eq(tc_detect_isa("v2"), TC_ISA_V2);
  cr_expect_leq(tc_detect_isa("v3"), TC_ISA_V3);
  cr_expect_leq(tc_detect_isa("bf16"), TC_ISA_BF16);
  cr_expect_eq(tc_detect_isa("amx"), machine);
  cr_expect_eq(tc_detect_isa("avx9"), machine);
  cr_expect(strstr(said(text, sizeof text), "TC_ISA=avx9 is not known; it can be v2, v3, v4"));
}

Test(unit, set_enabled_returns_what_was_set) {
  cr_expect(tc_set_enabled(false));
  cr_expect_eq(tcrt_enabled, 0);
  cr_expect_not(tc_set_enabled(true));
  cr_expect_eq(tcrt_enabled, 1);
  tc_settings_now.fallback = TC_FALLBACK_MANDATORY;
  tc_set_enabled(true);
  cr_expect_eq(tcrt_enabled, 0);
}

Test(unit, a_stance_holds_until_the_next, .init = cr_redirect_stderr) {
  char text[512];
  cr_expect_eq(tc_set_stance(TC_STANCE_EAGER), TC_STANCE_DEFAULT);
  cr_expect_eq(tcrt_enabled, 0);
  cr_expect_eq(tc_set_stance(TC_STANCE_FAIL_ON_FALLBACK), TC_STANCE_EAGER);
  cr_expect_eq(tcrt_enabled, 1);
  tcrt_miss(&f, TC_MISS_DISABLED, -1, -1, 0, 0);
  cr_expect_null(tc_error());
  tcrt_miss(&f, TC_MISS_RANK, 0, -1, 3, 2);
  cr_expect(tc_error() && strstr(tc_error(), "f fell back") && strstr(tc_error(), "rank 3"));
  tc_clear_error();
  cr_expect_eq(tc_set_stance(TC_STANCE_DEFAULT), TC_STANCE_FAIL_ON_FALLBACK);
  cr_expect(strstr(said(text, sizeof text), "error: f (t.c:1) fell back"));
  tcrt_miss(&f, TC_MISS_RANK, 0, -1, 3, 2);
  cr_expect_null(tc_error());
  cr_expect_eq(tc_set_stance((tc_stance)7), TC_STANCE_DEFAULT);
  cr_expect(tc_error() && strstr(tc_error(), "7 is no stance"));
}

Test(unit, version_is_the_headers) { cr_expect_str_eq(tc_version(), TC_VERSION); }

Test(unit, table_names_functions_and_reasons, .init = cr_redirect_stderr) {
  char text[2048];
  tcrt_register(&unit);
  tcrt_miss(&g, TC_MISS_ALIAS, 1, -1, 0, 0);
  tc_stats_print();
  said(text, sizeof text);
  cr_expect(strstr(text, "f ") && strstr(text, "t.c:9") && strstr(text, "overlap 1"), "%s", text);
}

/* Where the words of a line end. */
static int ends_of(const char *line, int end[8]) {
  int n = 0;
  for (const char *p = line; *p && *p != '\n' && n < 8; p++)
    if (*p != ' ' && (p[1] == ' ' || p[1] == '\n')) end[n++] = (int)(p - line);
  return n;
}

Test(unit, columns_of_the_table_stand_below_each_other, .init = cr_redirect_stderr) {
  char text[4096];
  static tcrt_function wide = {.name = "a_function_with_a_name_of_more_than_thirty_letters",
                               .location = "a/folder/of/some/length/with/a/file.c:1234",
                               .sizes = "B=1,T=2048",
                               .ops = 100000,
                               .kernels = 330,
                               .hits = UINT64_C(123456789012345678),
                               .packed = UINT64_C(98765432101234)};
  static tcrt_function *const three[] = {&f, &wide, &g};
  const tcrt_unit all = {TC_ABI_VERSION, 3, three};
  tcrt_register(&all);
  tc_stats_print();
  said(text, sizeof text);
  int head[8], row[8], lines = 0;
  cr_assert_eq(ends_of(text, head), 8, "%s", text);
  for (const char *at = strchr(text, '\n') + 1; *at; at = strchr(at, '\n') + 1, lines++) {
    int n =
        ends_of(at, row); /* words at the left may have spaces, numbers end where the column does */
    cr_expect(n >= 7, "%s", text);
    for (int i = 1; i <= 5; i++) cr_expect_eq(row[n - i], head[7 - i], "%s", text);
  }
  cr_expect_eq(lines, 3);
  cr_expect(strstr(text, "thirty_letters [B=1,T=2048] ") && strstr(text, "123456789012345678"));
  tcrt_unregister(&all);
}

/* Programs unregister at exit: TC_LOGS=fallback ends with what happened in all. */
Test(unit, totals_are_told_at_the_end, .init = cr_redirect_stderr) {
  char text[512];
  tcrt_register(&unit);
  f.hits = 7;
  for (int i = 0; i < 2; i++) tcrt_miss(&f, TC_MISS_SIZE, 0, 0, 1, 2);
  tc_settings_now.logs = TC_LOG_FALLBACK;
  tcrt_unregister(&unit);
  cr_expect_str_eq(said(text, sizeof text),
                   "tcompile: f (t.c:1) in all: 7 calls ran kernels, 2 the body: another size 2\n");
}

/* ---- the workspace --------------------------------------------------------------------------- */

Test(workspace, is_aligned_kept_and_grown) {
  char *p = tcrt_workspace(100);
  cr_assert_not_null(p);
  cr_expect_eq((uintptr_t)p % 64, 0);
  memset(p, 1, 100);
  cr_expect_eq(tcrt_workspace(50), p);
  cr_expect_eq(tcrt_workspace(0), p);
  for (size_t n = 1; n < (size_t)1 << 26; n = n * 3 + 1) {
    char *q = tcrt_workspace(n);
    cr_assert_not_null(q);
    cr_expect_eq((uintptr_t)q % 64, 0);
    q[0] = q[n - 1] = 1;
    cr_expect_eq(tcrt_workspace(n), q);
  }
}

Test(workspace, refuses_what_does_not_exist_and_works_after) {
  cr_expect_null(tcrt_workspace(SIZE_MAX));
  cr_expect_null(tcrt_workspace(SIZE_MAX / 2));
  char *p = tcrt_workspace(1000);
  cr_assert_not_null(p);
  p[999] = 1;
}

static void *other_thread(void *mine) {
  char *p = tcrt_workspace(4096);
  if (p) memset(p, 2, 4096);
  return p && p != mine ? p : NULL;
}

Test(workspace, belongs_to_one_thread) {
  char *p = tcrt_workspace(4096);
  memset(p, 1, 4096);
  for (int i = 0; i < 8; i++) {
    pthread_t t;
    void *theirs;
    cr_assert_eq(pthread_create(&t, NULL, other_thread, p), 0);
    pthread_join(t, &theirs);
    cr_expect_not_null(theirs);
  }
  for (int i = 0; i < 4096; i++) cr_assert_eq(p[i], 1);
}
