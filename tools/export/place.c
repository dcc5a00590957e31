/* place.c - the files that come out, in the folder first and then where they belong. */
#include <stdio.h>
#include <string.h>

#include <tcompile/module.h>

#include "graph/file.h"
#include "tools/export/export.h"

static bool put(const tc_buf *b, const char *path) {
  return (!b->failed || export_fail("out of memory")) && export_write(path, b->text, b->len);
}

bool export_texts(const export_request *r, const export_function *f, const export_weights *w,
                  const char *glue) {
  tc_buf header = {0}, text = {0};
  export_header(r, f, w, &header);
  export_glue(r, f, w, &text);
  const bool ok =
      put(&header, export_text(r, "%s/%s.h", r->folder, export_base(r->name))) && put(&text, glue);
  tc_buf_free(&header);
  tc_buf_free(&text);
  return ok;
}

bool export_seal(const char *path) {
  tc_buf file = {0};
  bool ok = export_read(path, &file);
  tcrt_module_end end = {TCRT_MODULE_MAGIC, TC_ABI_VERSION, 0, file.len + sizeof end, 0};
  tc_putn(&file, (const char *)&end, sizeof end);
  if (ok && !file.failed) {
    end.checksum = tc_hash(file.text, file.len - sizeof end.checksum, end.abi);
    memcpy(file.text + file.len - sizeof end.checksum, &end.checksum, sizeof end.checksum);
    ok = export_write(path, file.text, file.len);
  }
  tc_buf_free(&file);
  return ok;
}

/* A file of the folder is one of those that are made. */
static bool add_file(const export_request *r, const char *kind, const char *from,
                     const char *extension, export_files *files) {
  tc_buf bytes = {0};
  const bool ok = export_read(from, &bytes);
  export_file *f = &files->at[files->n++];
  *f = (export_file){kind, export_text(r, "%s.%s", export_base(r->name), extension), bytes.len,
                     tc_hash(bytes.text, bytes.len, 0)};
  tc_buf_free(&bytes);
  return ok && export_place(from, export_text(r, "%s.%s", r->name, extension));
}

static void print_diag(void *self, tc_severity severity, tc_loc loc, const char *text) {
  (void)self, (void)severity, (void)loc;
  export_fail("the captured graphs: %s", text);
}

/* The captured graphs in their binary form, whose checksum tells damage. */
static bool add_graphs(const export_request *r, const export_function *f, export_files *files) {
  const char *saved = export_text(r, "%s/graphs/%s.tcg", r->folder, f->name);
  const char *packed = export_text(r, "%s/packed.tcg", r->folder);
  if (!export_exists(saved)) return true;
  tc_diag diag = {print_diag, NULL};
  tc_buf text = {0}, binary = {0};
  tc_file *file = export_read(saved, &text) ? tc_file_read(text.text, text.len, &diag) : NULL;
  if (file) tc_file_put_binary(file, &binary);
  const bool ok = file && put(&binary, packed) && add_file(r, "graphs", packed, "tcg", files);
  tc_file_free(file);
  tc_buf_free(&text);
  tc_buf_free(&binary);
  return ok;
}

/* ---- what is there already ------------------------------------------------------------------- */

static bool has_mark(const char *path, const char *mark) {
  tc_buf text = {0};
  const bool has = export_read(path, &text) && text.text && strstr(text.text, mark);
  tc_buf_free(&text);
  return has;
}

static bool may_replace(const export_request *r, const char *extension, const char *mark) {
  const char *path = export_text(r, "%s.%s", r->name, extension);
  const char *manifest = export_text(r, "%s.json", r->name);
  if (!export_exists(path) || (mark ? has_mark(path, mark) : export_exists(manifest))) return true;
  return export_fail("%s is there, and tc-export did not make it; -o names the files that are made",
                     path);
}

bool export_may_place(const export_request *r) {
  return may_replace(r, "h", EXPORT_MARK) && may_replace(r, "json", "{\"format\": ") &&
         may_replace(r, r->archive ? "a" : "so", NULL) && may_replace(r, "tcg", NULL);
}

/* ---- the files ------------------------------------------------------------------------------- */

bool export_files_of(const export_request *r, const export_function *f, const export_weights *w,
                     const char *made) {
  const char *base = export_base(r->name), *manifest = export_text(r, "%s/manifest", r->folder);
  export_files files = {0};
  tc_buf text = {0};
  bool ok = add_file(r, r->archive ? "archive" : "module", made, r->archive ? "a" : "so", &files) &&
            add_file(r, "header", export_text(r, "%s/%s.h", r->folder, base), "h", &files) &&
            add_graphs(r, f, &files);
  if (ok) export_manifest(r, f, w, &files, &text);
  ok = ok && put(&text, manifest) && export_place(manifest, export_text(r, "%s.json", r->name));
  tc_buf_free(&text);
  for (int i = 0; ok && i < files.n; ++i)
    printf("%s: %llu bytes\n", files.at[i].name, (unsigned long long)files.at[i].bytes);
  if (ok) printf("%s.json\n", base);
  return ok;
}
