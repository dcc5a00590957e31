/* sizes.c - prints what counts the sizes of calls for a profile: runtime/profile/abi.h. */
#include "backends/entry/entry.h"

#include <inttypes.h>

extern const char tc_entry_profile_abi[]; /* that header, embedded */

/* A call of the backward part is none of the program's. */
static bool counts(const tc_function *f) {
  return f->ncounted && f->part != TC_PART_BACKWARD && !f->always;
}

void tc_entry_sizes_table(const tc_function *f, tc_buf *out) {
  if (!counts(f)) return;
  tc_putf(out,
          "static uint64_t tc_slots_%s[TCRT_SIZES_SLOTS * (TCRT_SIZES_SLOT + %u)];\n"
          "static const char *const tc_size_names_%s[] = {",
          f->symbol, f->ncounted, f->symbol);
  for (uint32_t i = 0; i < f->ncounted; ++i) {
    tc_put(out, i ? ", " : "");
    tc_entry_put_quoted(out, f->counted[i].written);
  }
  tc_putf(out, "};\nstatic tcrt_sizes tc_sizes_%s = {", f->symbol);
  tc_entry_put_quoted(out, f->name);
  tc_put(out, ", ");
  tc_entry_put_quoted(out, f->file ? f->file : "");
  tc_putf(out, ", %u, %u, %u, tc_size_names_%s, tc_slots_%s, 0, 0, 0};\n", f->function_line,
          f->line, f->ncounted, f->symbol, f->symbol);
}

static void put_value(const tc_entry *e, const tc_counted_size *size) {
  uint32_t sym;
  if (size->symbol && tc_dim_find_sym(e->dims, size->symbol, &sym))
    tc_entry_dim(e, tc_dim_norm(e->dims, tc_dims_sym_dim(e->dims, sym)));
  else tc_putf(e->out, "%" PRId64, size->value);
}

void tc_entry_sizes_count(const tc_entry *e) {
  const tc_function *f = e->f;
  if (!counts(f)) return;
  tc_putf(e->out, "  tcrt_sizes_count(&tc_sizes_%s, (const int64_t[]){", f->symbol);
  for (uint32_t i = 0; i < f->ncounted; ++i) {
    tc_put(e->out, i ? ", " : "");
    put_value(e, &f->counted[i]);
  }
  tc_put(e->out, "});\n");
}

/* ---- the unit -------------------------------------------------------------------------------- */

bool tc_entry_counts_sizes(const tc_function *const *f, int n) {
  for (int i = 0; i < n; ++i)
    if (counts(f[i])) return true;
  return false;
}

void tc_entry_sizes_types(tc_buf *out) { tc_entry_put_header(tc_entry_profile_abi, out); }

void tc_entry_sizes_unit(const tc_function *const *f, int n, tc_buf *out) {
  const char *path = NULL;
  uint32_t count = 0;
  tc_put(out, "\nstatic tcrt_sizes *const tc_sizes_entries[] = {");
  for (int i = 0; i < n; ++i) {
    if (!counts(f[i])) continue;
    tc_putf(out, "%s&tc_sizes_%s", count++ ? ", " : "", f[i]->symbol);
    path = f[i]->profile_path;
  }
  tc_put(out, "};\nstatic tcrt_sizes_unit tc_sizes_of_unit = {");
  tc_entry_put_quoted(out, path ? path : "");
  tc_putf(out,
          ", %u, tc_sizes_entries, 0};\n"
          "__attribute__((constructor)) static void tc_sizes_of_unit_open(void) { "
          "tcrt_sizes_open(&tc_sizes_of_unit); }\n"
          "__attribute__((destructor)) static void tc_sizes_of_unit_close(void) { "
          "tcrt_sizes_close(&tc_sizes_of_unit); }\n",
          count);
}
