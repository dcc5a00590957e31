/* The reader against files that are cut off, changed at random, or hostile: an error or an output,
 * never a read outside of the file (the sanitizer build sees those). */
#define _GNU_SOURCE /* memmem */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "backends/explain.h"
#include "tests/explain/elf.h"
#include "tools/explain/explain.h"

static const char unit[] =
    "unit\t6\ta.c\nfunction\tf\ta.c\t3\nprofile\tB=8\t3\t10\nbreak\t4\t5\twhy\tremedy\tb.h\nsegment\t6\t\t2\t8*B\n"
    "guard\tx is f32[B]\nvariant\tcpu\t\t64\n"
    "kernel\texp_1\ttc_exp_1\tv3,v4\t6,7\texp,add\t2*B\tmin(8*B,2*(B + 1))\n"
    "stop\texp\t6\tadd_2\t4*B\ta reason\tc.h\n";

/* Whole files: where everything succeeds the output; else NULL and the error. */
static bool explain(const tc_buf *file, bool json, tc_buf *out, const char **error) {
  char size[] = "B=3", *given = size;
  const explain_sizes sizes = {1, &given, NULL, {0}};
  explain_rows rows = {0};
  tc_buf text = {0};
  size_t line;
  /* a copy of exactly this size, so that reads behind the end are seen */
  unsigned char *exact = malloc(file->len ? file->len : 1);
  memcpy(exact, file->text, file->len);
  bool ok = explain_read(exact, file->len, &text, error);
  free(exact);
  ok = ok && explain_parse(&text, &rows, error, &line);
  if (ok) (json ? explain_print_json : explain_print)(&rows, &sizes, out);
  tc_buf_free(&text);
  free(rows.at);
  return ok;
}

static tc_buf archive(void) {
  const char *twice[] = {unit, unit};
  tc_buf object = {0}, out = {0};
  make_elf(TC_EXPLAIN_SECTION, twice, 2, &object);
  add_member(&object, &out);
  add_member(&(tc_buf){.text = "odd", .len = 3}, &out);
  add_member(&object, &out);
  tc_buf_free(&object);
  return out;
}

Test(damage, a_sound_archive) {
  tc_buf file = archive(), out = {0};
  const char *error = NULL;
  cr_assert(explain(&file, false, &out, &error), "%s", error);
  cr_expect(strstr(out.text, "4 functions, 4 segments, 4 graph breaks, 4 kernels (1 distinct)"),
            "%s", out.text);
  cr_expect(strstr(out.text, "6 flops, 8 bytes"), "%s", out.text);
  tc_buf_free(&file);
  tc_buf_free(&out);
}

Test(damage, cut_off) {
  tc_buf file = archive(), out = {0};
  const size_t whole = file.len;
  size_t refused = 0;
  for (file.len = 0; file.len < whole; ++file.len) {
    const char *error = NULL;
    const bool fine = explain(&file, false, &out, &error);
    cr_expect(fine || error, "at %zu", file.len);
    refused += !fine;
    tc_buf_clear(&out);
  }
  cr_expect_geq(refused, whole - 64 * 3, "%zu of %zu", refused, whole);
  tc_buf_free(&file);
  tc_buf_free(&out);
}

Test(damage, changed_bytes, .timeout = 120) {
  tc_buf file = archive(), out = {0};
  uint64_t random = 1;
  int refused = 0;
  enum { ROUNDS = 20000 };
  for (int i = 0; i < ROUNDS; ++i) {
    tc_buf damaged = {0};
    tc_putn(&damaged, file.text, file.len);
    for (int k = 0; k <= i % 3; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      damaged.text[(random >> 33) % damaged.len] = (char)(random >> 20);
    }
    const char *error = NULL;
    const bool fine = explain(&damaged, i & 1, &out, &error);
    cr_expect(fine || error);
    refused += !fine;
    tc_buf_clear(&out);
    tc_buf_free(&damaged);
  }
  cr_log_info("%d of %d damaged files are refused", refused, (int)ROUNDS);
  cr_expect(refused > ROUNDS / 4 && refused < ROUNDS);
  tc_buf_free(&file);
  tc_buf_free(&out);
}

static void refused(const char *contents, const char *why) {
  tc_buf file = {0}, out = {0};
  const char *error = NULL;
  make_elf(TC_EXPLAIN_SECTION, &contents, 1, &file);
  cr_expect(!explain(&file, false, &out, &error) && error && strstr(error, why), "%s: %s", contents,
            error ? error : "taken");
  tc_buf_free(&file);
  tc_buf_free(&out);
}

Test(damage, rows_that_are_not_understood) {
  refused("unit\t1\ta.c\n", "another version");
  refused("unit\t1\ta.c\tnew\n", "another version");
  refused("unit\t6\ta.c\tmore\n", "too many");
  refused("unit\t6\n", "too few");
  refused("unit\n", "without fields");
  refused("unit\t6\ta.c", "cut off");
  refused("unit\t6\ta\\x.c\n", "kind");
  refused("nonsense\t1\n", "unknown");
  refused("segment\t6\t\t2\t8*B\n", "belongs to none");
  refused("unit\t6\ta.c\nsegment\t6\t\t2\t8*B\n", "belongs to none");
  refused("unit\t6\ta.c\nfunction\tf\ta.c\t-3\n", "kind");
  refused("unit\t6\ta.c\nfunction\tf\ta.c\t99999999999999999999\n", "kind");
}

/* An object with a section of these bytes. */
static void make_object(const tc_buf *bytes, tc_buf *file) {
  tc_buf text = {0};
  for (size_t i = 0; i < bytes->len; ++i) tc_put(&text, "#"); /* not in names */
  make_elf(TC_EXPLAIN_SECTION, (const char *[]){text.text}, 1, file);
  char *at = memmem(file->text, file->len, text.text, text.len);
  cr_assert(at);
  memcpy(at, bytes->text, bytes->len);
  tc_buf_free(&text);
}

/* What a linker makes of two objects, and that with an object of former versions. */
Test(damage, packed_sections) {
  tc_buf section = {0}, file = {0}, out = {0};
  const char *error = NULL;
  tc_explain_pack(unit, strlen(unit), &section);
  tc_explain_pack(unit, strlen(unit), &section);
  make_object(&section, &file);
  cr_assert(explain(&file, false, &out, &error), "%s", error);
  cr_expect(strstr(out.text, "2 functions, 2 segments"), "%s", out.text);
  tc_put(&section, "unit\t1\ta.c\n");
  tc_buf_clear(&file);
  make_object(&section, &file);
  cr_expect(!explain(&file, false, &out, &error) && strstr(error, "another version"), "%s", error);
  tc_buf_free(&section);
  tc_buf_free(&file);
  tc_buf_free(&out);
}

Test(damage, packed_bytes) {
  tc_buf section = {0}, out = {0};
  tc_explain_pack(unit, strlen(unit), &section);
  const size_t whole = section.len;
  for (size_t n = 1; n < whole; ++n) { /* cut off: the text comes to another size */
    tc_buf file = {0};
    const char *error = NULL;
    section.len = n;
    make_object(&section, &file);
    cr_expect(!explain(&file, false, &out, &error) && error, "%zu of %zu", n, whole);
    tc_buf_free(&file);
  }
  section.len = whole;
  uint64_t random = 1;
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    tc_buf file = {0};
    const char *error = NULL;
    make_object(&section, &file);
    char *at = memmem(file.text, file.len, section.text, section.len);
    for (int k = 0; k <= i % 3; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      at[(random >> 33) % whole] = (char)(random >> 20);
    }
    const bool fine = explain(&file, i & 1, &out, &error);
    cr_expect(fine || error);
    taken += fine;
    tc_buf_clear(&out);
    tc_buf_free(&file);
  }
  cr_expect(taken < 20000 / 2, "%d", taken);
  refused("packed\t", "damaged");
  refused("packed\t99999999999999999999\t1\n", "damaged");
  refused("packed\t4\t5\nunit", "damaged");
  tc_buf_free(&section);
  tc_buf_free(&out);
}

/* Expressions are evaluated as numbers: no polynomial grows, nothing is divided by 0. */
Test(damage, hostile_expressions) {
  tc_buf text = {0};
  tc_put(&text, "unit\t6\ta.c\nfunction\tf\ta.c\t1\nsegment\t6\t\t2\t");
  for (int i = 0; i < 100000; ++i) tc_put(&text, "(");
  tc_put(&text, "\nsegment\t6\t\t2\t");
  for (int i = 0; i < 4000; ++i) tc_put(&text, "(B+C)*(1+B)*");
  tc_put(&text, "1\nsegment\t6\t\t2\tB/(B-3)\nsegment\t6\t\t2\t99999999999999999999*B\n");
  tc_buf file = {0}, out = {0};
  const char *error = NULL;
  make_elf(TC_EXPLAIN_SECTION, (const char *[]){text.text}, 1, &file);
  cr_expect(explain(&file, false, &out, &error), "%s", error);
  tc_buf_free(&text);
  tc_buf_free(&file);
  tc_buf_free(&out);
}

/* What a terminal would act on, and bytes that are no UTF-8. */
Test(damage, text_of_strangers) {
  const char *contents = "unit\t6\t\x1b[2J\"\xff\xc3\xa9\n";
  tc_buf file = {0}, out = {0};
  const char *error = NULL;
  make_elf(TC_EXPLAIN_SECTION, &contents, 1, &file);
  cr_assert(explain(&file, false, &out, &error));
  cr_expect(!strchr(out.text, 0x1b));
  tc_buf_clear(&out);
  cr_assert(explain(&file, true, &out, &error));
  cr_expect(strstr(out.text, "\"\\u001b[2J\\\"\\ufffd\xc3\xa9\""), "%s", out.text);
  tc_buf_free(&file);
  tc_buf_free(&out);
}
