/* manifest.c - NAME.json, written and checked.
 *
 *   {"format": 1, "version": "0.1.0", "abi": 6,
 *    "function": "mlp", "file": "mlp.c", "line": 5, "static": false,
 *    "parameters": [...], "results": [...], "constants": [...], "sizes": "H=256",
 *    "compiled": what tc-explain --json says of the function,
 *    "files": [{"kind": "module", "name": "mlp.so", "bytes": 145992, "checksum": "0123456789abcdef"}, ...],
 *    "checksum": "0123456789abcdef"}
 *
 * The last one is of the text in front of its line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TC_NO_LOCATIONS
#include <tcompile.h>

#include "runtime/libtcrt/src/io/json.h"
#include "tools/export/export.h"

enum { FORMAT = 1 };
static const char last_line[] = "\n \"checksum\": \"";

/* ---- writing --------------------------------------------------------------------------------- */

static void put_field(const char *name, const char *value, const char *end, tc_buf *out) {
  tc_putf(out, "\"%s\": ", name);
  explain_put_json_text(value, strlen(value), out);
  tc_put(out, end);
}

static void put_parameters(const export_function *f, tc_buf *out) {
  tc_put(out, " \"parameters\": [");
  const char *comma = "";
  for (size_t i = 0; i < f->parameter.n; ++i) {
    const export_parameter *p = &f->parameter.at[i];
    if (p->tensor) continue;
    tc_putf(out, "%s\n  {", comma);
    put_field("name", p->name, ", ", out);
    put_field("declaration", p->declaration, ", ", out);
    put_field("kind", p->kind, ", ", out);
    put_field("shape", p->shape, "}", out);
    comma = ",";
  }
  tc_put(out, "],\n");
}

static void put_results(const export_request *r, const export_function *f, tc_buf *out) {
  const char *text;
  tc_put(out, " \"results\": [");
  for (int i = 0; (text = export_result_text(r, f, i)); ++i) {
    const size_t n = strcspn(text, " ");
    tc_put(out, i ? ", {" : "{");
    put_field("name", export_text(r, "%.*s", (int)n, text), ", ", out);
    put_field("type", text + n + (text[n] == ' '), "}", out);
  }
  tc_put(out, "],\n");
}

static void put_constants(const export_weights *w, tc_buf *out) {
  tc_put(out, " \"constants\": [");
  for (size_t i = 0; i < w->at.n; ++i) {
    const export_weight *one = &w->at.at[i];
    tc_put(out, i ? ",\n  {" : "\n  {");
    put_field("parameter", one->parameter, ", ", out);
    put_field("type", one->type, ", ", out);
    put_field("tensor", one->tensor, ", ", out);
    put_field("file", one->file, ", ", out);
    tc_putf(out, "\"bytes\": %zu}", one->bytes);
  }
  tc_put(out, "],\n ");
  put_field("sizes", w->sizes, ",\n", out);
}

static void put_files(const export_files *files, tc_buf *out) {
  tc_put(out, " \"files\": [");
  for (int i = 0; i < files->n; ++i) {
    tc_put(out, i ? ",\n  {" : "\n  {");
    put_field("kind", files->at[i].kind, ", ", out);
    put_field("name", files->at[i].name, ", ", out);
    tc_putf(out, "\"bytes\": %" PRIu64 ", \"checksum\": \"%016" PRIx64 "\"}", files->at[i].bytes,
            files->at[i].checksum);
  }
  tc_put(out, "],");
}

void export_manifest(const export_request *r, const export_function *f, const export_weights *w,
                     const export_files *files, tc_buf *out) {
  tc_putf(out, "{\"format\": %d, \"version\": \"" TC_VERSION "\", \"abi\": %d,\n ", FORMAT,
          TC_ABI_VERSION);
  put_field("function", f->name, ", ", out);
  put_field("file", f->file, ", ", out);
  tc_putf(out, "\"line\": %s, \"static\": %s,\n", f->line, r->is_static ? "true" : "false");
  put_parameters(f, out);
  put_results(r, f, out);
  put_constants(w, out);
  tc_put(out, " \"compiled\": ");
  explain_put_json_row(f->rows, f->row, out);
  tc_put(out, ",\n");
  put_files(files, out);
  const uint64_t checksum = out->failed ? 0 : tc_hash(out->text, out->len, FORMAT);
  tc_putf(out, "%s%016" PRIx64 "\"}\n", last_line, checksum);
}

/* ---- checking -------------------------------------------------------------------------------- */

static const char *last_of(const char *text, const char *part) {
  const char *found = NULL;
  for (const char *at = text; (at = strstr(at, part)); ++at) found = at;
  return found;
}

/* Whether the text is one that export_manifest wrote. */
static bool check_text(const char *path, const tc_buf *text) {
  int format;
  if (!text->text || sscanf(text->text, "{\"format\": %d,", &format) != 1)
    return export_fail("%s: this is no manifest of tc-export", path);
  if (format > FORMAT)
    return export_fail("%s: the manifest has format %d, and this program reads up to %d", path,
                       format, FORMAT);
  const char *end = last_of(text->text, last_line), *value = end ? end + strlen(last_line) : "";
  if (!end || strlen(value) != 16 + strlen("\"}\n") || strcmp(value + 16, "\"}\n") != 0)
    return export_fail("%s: the manifest is truncated: it does not end with its checksum", path);
  if (strtoull(value, NULL, 16) != tc_hash(text->text, (size_t)(end - text->text), FORMAT))
    return export_fail("%s: the manifest was altered: its checksum is another", path);
  return true;
}

/* Takes "NAME": "..." and what stands behind it. */
static bool take_text(tc_json *j, char end, char **value) {
  char *name = NULL;
  const bool ok = tc_json_string(j, &name) && tc_json_take(j, ':') && tc_json_string(j, value) &&
                  tc_json_take(j, end);
  free(name);
  return ok;
}

static bool check_file(const char *manifest, const char *name, uint64_t bytes, uint64_t checksum) {
  const char *slash = strrchr(manifest, '/');
  tc_buf path = {0}, file = {0};
  tc_putf(&path, "%.*s%s", slash ? (int)(slash - manifest + 1) : 0, manifest, name);
  bool ok = !path.failed && export_read(path.text, &file);
  if (ok && file.len != bytes)
    ok = export_fail("%s was %s: it has %zu bytes, and %" PRIu64 " in the manifest", path.text,
                     file.len < bytes ? "truncated" : "altered", file.len, bytes);
  if (ok && tc_hash(file.text, file.len, 0) != checksum)
    ok = export_fail("%s was altered: its checksum is another", path.text);
  tc_buf_free(&path);
  tc_buf_free(&file);
  return ok;
}

static bool take_file(const char *manifest, tc_json *j, bool *ok) {
  char *kind = NULL, *name = NULL, *checksum = NULL, *key = NULL;
  int64_t bytes = 0;
  const bool read = tc_json_take(j, '{') && take_text(j, ',', &kind) && take_text(j, ',', &name) &&
                    tc_json_string(j, &key) && tc_json_take(j, ':') && tc_json_natural(j, &bytes) &&
                    tc_json_take(j, ',') && take_text(j, '}', &checksum);
  if (read && !check_file(manifest, name, (uint64_t)bytes, strtoull(checksum, NULL, 16)))
    *ok = false;
  free(kind), free(name), free(checksum), free(key);
  return read;
}

static bool check_files(const char *path, const tc_buf *text) {
  static const char list[] = "\n \"files\": ";
  const char *files = last_of(text->text, list);
  if (!files) return export_fail("%s: the manifest names no files", path);
  tc_json j = {.text = files + strlen(list), .size = strlen(files + strlen(list))};
  bool first = true, ok = true;
  if (tc_json_take(&j, '['))
    while (tc_json_more(&j, &first, ']') && take_file(path, &j, &ok)) {
    }
  return j.error ? export_fail("%s: its list of files: %s", path, j.error) : ok;
}

bool export_check(const char *path) {
  tc_buf text = {0};
  const bool ok = export_read(path, &text) && check_text(path, &text) && check_files(path, &text);
  tc_buf_free(&text);
  if (ok) printf("%s: as it was made\n", path);
  return ok;
}
