/* text.c - the header for C programs, and the C of the module around the function's object. */
#include <ctype.h>
#include <string.h>

#include "tools/export/export.h"

static bool is_kind(const export_parameter *p, const char *kind) {
  return export_is_kind(p->kind, kind);
}

/* ---- what is said of parameters and results -------------------------------------------------- */

/* "double" of "double scale". */
static const char *type_of(const export_request *r, const export_parameter *p) {
  const size_t n = strlen(p->declaration), name = strlen(p->name);
  return export_text(r, "%.*s", (int)(n > name ? n - name - 1 : n), p->declaration);
}

/* What the module says of a parameter: "x f32[B,784]". */
static const char *operand_text(const export_request *r, const export_parameter *p) {
  const char *what = is_kind(p, "tensor") ? p->shape : type_of(r, p);
  return export_text(r, "%s%s%s", p->name, *what ? " " : "", what);
}

static const export_parameter *nth_result(const export_function *f, int i) {
  for (size_t k = 0; k < f->parameter.n; ++k)
    if (is_kind(&f->parameter.at[k], "result") && i-- == 0) return &f->parameter.at[k];
  return NULL;
}

const char *export_result_text(const export_request *r, const export_function *f, int i) {
  const bool returns = !export_is_kind(f->kind, "none");
  const char *type = f->result && !(returns && nth_result(f, 0)) ? f->result : "";
  if (returns && i == 0)
    return export_text(r, "return %s", export_is_kind(f->kind, "tensor") ? type : f->returns);
  const export_parameter *p = nth_result(f, i - returns);
  return p ? export_text(r, "%s%s%s", p->name, *type ? " " : "", type) : NULL;
}

/* Parts of the list "a,b". */
static void put_needs(const char *list, tc_buf *out, tc_buf *seen) {
  for (size_t n; *list; list += n + (list[n] == ',')) {
    n = strcspn(list, ",");
    tc_buf one = {0};
    tc_putf(&one, "%s%.*s%s\n", strncmp(list, "struct ", 7) ? "#include " : "", (int)n, list,
            strncmp(list, "struct ", 7) ? "" : ";");
    if (!seen->text || !strstr(seen->text, one.text)) tc_put(out, one.text), tc_put(seen, one.text);
    tc_buf_free(&one);
  }
}

/* ---- the header ------------------------------------------------------------------------------ */

static void put_guard(const export_request *r, tc_buf *out) {
  tc_put(out, "TC_EXPORT_");
  for (const char *s = export_base(r->name); *s; ++s)
    tc_putf(out, "%c", isalnum((unsigned char)*s) ? toupper((unsigned char)*s) : '_');
  tc_put(out, "_H");
}

static void put_prototype(const export_function *f, const char *name, tc_buf *out) {
  tc_putf(out, "%s%s%s(", f->returns, f->returns[strlen(f->returns) - 1] == '*' ? "" : " ", name);
  const char *comma = "";
  for (size_t i = 0; i < f->parameter.n; ++i) {
    if (f->parameter.at[i].tensor) continue;
    tc_putf(out, "%s%s", comma, f->parameter.at[i].declaration);
    comma = ", ";
  }
  tc_put(out, *comma ? ")" : "void)");
}

static void put_documentation(const export_request *r, const export_function *f,
                              const export_weights *w, tc_buf *out) {
  tc_putf(out, "/* %s.h - '%s' of %s:%s, " EXPORT_MARK "; %s.\n *\n", export_base(r->name), f->name,
          export_base(f->file), f->line,
          r->archive && r->is_static ? "its archive has libtcrt in it"
          : r->is_static             ? "its module has libtcrt in it"
                                     : "links with libtcrt");
  for (size_t i = 0; i < f->parameter.n; ++i)
    if (!f->parameter.at[i].tensor)
      tc_putf(out, " *   %s\n", operand_text(r, &f->parameter.at[i]));
  const char *result;
  for (int i = 0; (result = export_result_text(r, f, i)); ++i)
    tc_putf(out, " *   %s %s\n", strncmp(result, "return ", 7) ? "stores" : "returns",
            result + (strncmp(result, "return ", 7) ? 0 : 7));
  for (size_t i = 0; i < w->at.n; ++i)
    tc_putf(out, " *   constant: %s %s, '%s' of %s\n", w->at.at[i].parameter, w->at.at[i].type,
            w->at.at[i].tensor, w->at.at[i].file);
  if (*w->sizes) tc_putf(out, " *   with %s\n", w->sizes);
  tc_put(out, " *\n * Sizes of one name are equal.  Other operands than these run the function's "
              "body: results are the same.\n"
              " * Operands are borrowed; a result belongs to the open TC_SCOPE, or to the caller "
              "(tc_free).  NULL: see tc_error(). */\n");
}

void export_header(const export_request *r, const export_function *f, const export_weights *w,
                   tc_buf *out) {
  tc_buf seen = {0};
  put_documentation(r, f, w, out);
  tc_put(out, "#ifndef ");
  put_guard(r, out);
  tc_put(out, "\n#define ");
  put_guard(r, out);
  tc_put(out, "\n\n#include <tcompile.h>\n");
  put_needs(f->needs, out, &seen);
  for (size_t i = 0; i < f->parameter.n; ++i)
    if (!f->parameter.at[i].tensor) put_needs(f->parameter.at[i].needs, out, &seen);
  tc_put(out,
         "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n#pragma GCC visibility push(default)\n\n");
  put_prototype(f, f->name, out);
  tc_put(out, ";\n\n#pragma GCC visibility pop\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  out->failed |= seen.failed;
  tc_buf_free(&seen);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Tensors over read-only memory of the module, made when it is loaded; no scope owns them. */
static void put_weights(const export_weights *w, tc_buf *out) {
  const size_t n = w->at.n;
  for (size_t i = 0; i < n; ++i)
    tc_putf(out,
            "__asm__(\".pushsection .rodata.tc_weight_%zu,\\\"a\\\"\\n.balign 64\\n.hidden "
            "tc_weight_%zu\\n\"\n"
            "        \".globl tc_weight_%zu\\ntc_weight_%zu:\\n.incbin \\\"%s\\\"\\n.byte "
            "0\\n.popsection\");\n"
            "extern const char tc_weight_%zu[] __attribute__((visibility(\"hidden\")));\n",
            i, i, i, i, w->at.at[i].path, i);
  tc_putf(out,
          "\nstatic tc_tensor *tc_weight[%zu];\n\n__attribute__((constructor)) static void "
          "tc_weights_open(void) {\n",
          n);
  tc_put(out, "  tc_scope apart;\n  tc_scope_begin(&apart);\n  tc_scope *outer = apart.outer;\n"
              "  apart.outer = 0; /* what is kept belongs to no scope */\n");
  for (size_t i = 0; i < n; ++i)
    tc_putf(out,
            "  tc_weight[%zu] = tc_keep(tc_wrap_const((tc_ints){%d, {%s}}, 0, tc_weight_%zu, %s)); "
            "/* %s */\n",
            i, w->at.at[i].rank, w->at.at[i].dims, i, w->at.at[i].dtype, w->at.at[i].type);
  tc_put(out, "  apart.outer = outer;\n  tc_scope_end(&apart);\n}\n\n"
              "__attribute__((destructor)) static void tc_weights_close(void) {\n");
  tc_putf(out, "  for (int i = 0; i < %zu; ++i) tc_free(tc_weight[i]);\n}\n\n", n);
  tc_putf(out,
          "/* A result that is a weight itself is handed out as a view of it. */\n"
          "static tc_tensor *tc_apart(tc_tensor *t) {\n  for (int i = 0; i < %zu; ++i)\n"
          "    if (t && t == tc_weight[i]) return tc_contiguous(t);\n  return t;\n}\n\n",
          n);
}

/* ---- the exported function ------------------------------------------------------------------- */

static void put_body(const export_function *f, tc_buf *out) {
  tc_putf(out, "extern %s%s" EXPORT_BODY "(", f->returns,
          f->returns[strlen(f->returns) - 1] == '*' ? "" : " ");
  for (size_t i = 0; i < f->parameter.n; ++i)
    tc_putf(out, "%s%s", i ? ", " : "", f->parameter.at[i].declaration);
  tc_put(out, f->parameter.n ? ") __asm__(\"" EXPORT_BODY "\");\n\n"
                             : "void) __asm__(\"" EXPORT_BODY "\");\n\n");
}

static void put_function(const export_function *f, const export_weights *w, tc_buf *out) {
  put_prototype(f, f->name, out);
  const bool apart = w->at.n && export_is_kind(f->kind, "tensor");
  tc_putf(out, " {\n  %s%s" EXPORT_BODY "(", export_is_kind(f->kind, "none") ? "" : "return ",
          apart ? "tc_apart(" : "");
  for (size_t i = 0; i < f->parameter.n; ++i) {
    const export_parameter *p = &f->parameter.at[i];
    tc_put(out, i ? ", " : "");
    if (p->bound < 0) tc_put(out, p->name);
    else tc_putf(out, "tc_weight[%d]", p->bound);
  }
  tc_put(out, apart ? "));\n}\n" : ");\n}\n");
}

/* ---- for the loader -------------------------------------------------------------------------- */

/* Why tensors and numbers alone do not make a call of it. */
static const char *obstacle(const export_request *r, const export_function *f) {
  if (export_is_kind(f->kind, "struct") || export_is_kind(f->kind, "other") ||
      export_is_kind(f->kind, "result"))
    return export_text(r, "it returns '%s', neither a tensor nor a number: call it from C",
                       f->returns);
  for (size_t i = 0; i < f->parameter.n; ++i)
    if (is_kind(&f->parameter.at[i], "struct") || is_kind(&f->parameter.at[i], "other"))
      return export_text(r, "parameter '%s' is neither a tensor nor a number: call it from C",
                         f->parameter.at[i].declaration);
  return NULL;
}

static const char numbers[] =
    "/* The number in a tensor of one element. */\n"
    "static inline bool tc_real(const tc_tensor *t, const char *name, double *v) {\n"
    "  if (!t || tc_numel(t) != 1) return tc_fail_as(TC_ERROR_ARGUMENT, \"tc_module_call: %s is a "
    "number: give a tensor of one element\", name);\n"
    "  *v = tc_item(t);\n  return true;\n}\n"
    "static inline bool tc_whole(const tc_tensor *t, const char *name, int64_t *v) {\n"
    "  double f;\n  if (!tc_real(t, name, &f)) return false;\n"
    "  const tc_dtype d = tc_dtype_of(t);\n"
    "  if (d == TC_F16 || d == TC_BF16 || d == TC_F32 || d == TC_F64) {\n"
    "    if (!(f >= -0x1p63 && f < 0x1p63) || (double)(int64_t)f != f)\n"
    "      return tc_fail_as(TC_ERROR_ARGUMENT, \"tc_module_call: %s is a whole number, and not "
    "%g\", name, f);\n"
    "    *v = (int64_t)f;\n    return true;\n  }\n"
    "  *v = tc_item_int(t);\n  return true;\n}\n"
    "static inline bool tc_range(bool fits, const char *name, int64_t v) {\n"
    "  return fits || tc_fail_as(TC_ERROR_ARGUMENT, \"tc_module_call: %lld is out of the range of "
    "%s\", (long long)v, name);\n}\n"
    "/* Whether the call gave all n results; those of a failed one are freed, but for operands. "
    "*/\n"
    "static inline bool tc_given(tc_tensor **out, int n, const tc_tensor *const *in, int nin, int "
    "errors,\n"
    "                            const char *name) {\n"
    "  bool ok = n || tc_error_count() == errors;\n  for (int i = 0; i < n; ++i) ok = ok && "
    "out[i];\n"
    "  if (!ok && tc_error_count() == errors) tc_fail_as(TC_ERROR_ARGUMENT, \"%s: it returned "
    "NULL\", name);\n"
    "  for (int i = 0; !ok && i < n; ++i) {\n    bool own = out[i] != 0;\n"
    "    for (int k = 0; k < nin; ++k) own = own && out[i] != in[k];\n"
    "    for (int k = 0; k < i; ++k) own = own && out[i] != out[k];\n"
    "    if (own) tc_free(out[i]);\n  }\n  return ok;\n}\n\n";

/* Takes number k of the operands to a variable of its type. */
static void put_number(const export_request *r, const export_parameter *p, int k, tc_buf *out) {
  const char *type = type_of(r, p), *text = operand_text(r, p);
  if (is_kind(p, "float")) {
    tc_putf(out, "  double v%d;\n  if (!tc_real(in[%d], \"%s\", &v%d)) return false;\n", k, k, text,
            k);
    tc_putf(out, "  const %s n%d = (%s)v%d;\n", type, k, type, k);
    return;
  }
  tc_putf(out, "  int64_t v%d;\n  if (!tc_whole(in[%d], \"%s\", &v%d)) return false;\n", k, k, text,
          k);
  tc_putf(out, "  const %s n%d = (%s)v%d;\n", type, k, type, k);
  tc_putf(out,
          "  if (!tc_range((int64_t)n%d == v%d && (n%d < 0) == (v%d < 0), \"%s\", v%d)) return "
          "false;\n",
          k, k, k, k, text, k);
}

/* Operand k and result j of the call, by the parameter's kind. */
static void put_argument(const export_parameter *p, int k, int j, tc_buf *out) {
  if (is_kind(p, "result")) tc_putf(out, "&out[%d]", j);
  else if (export_is_number(p->kind)) tc_putf(out, "n%d", k);
  else tc_putf(out, strncmp(p->declaration, "const ", 6) ? "(tc_tensor *)in[%d]" : "in[%d]", k);
}

static void put_returned(const export_function *f, tc_buf *out) {
  static const char *const kinds[][3] = {
      {"float", "double", "TC_F64"}, {"int", "int64_t", "TC_I64"}, {"bool", "bool", "TC_BOOL"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (export_is_kind(f->kind, kinds[i][0]))
      tc_putf(out, "  const %s y = (%s)result;\n  out[0] = tc_from((tc_ints){0, {0}}, &y, %s);\n",
              kinds[i][1], kinds[i][1], kinds[i][2]);
}

static void put_call(const export_request *r, const export_function *f, tc_buf *out) {
  const bool number = export_is_number(f->kind), returns = !export_is_kind(f->kind, "none");
  int k = 0, j = returns;
  tc_put(out, "static bool tc_call(const struct tc_tensor *const *in, struct tc_tensor **out) {\n  "
              "(void)in;\n");
  for (size_t i = 0; i < f->parameter.n; ++i) {
    const export_parameter *p = &f->parameter.at[i];
    if (p->tensor || is_kind(p, "result")) continue;
    if (export_is_number(p->kind)) put_number(r, p, k, out);
    ++k;
  }
  tc_putf(out, "  const int errors = tc_error_count();\n  ");
  if (number) tc_putf(out, "const %s result = ", f->returns);
  else if (returns) tc_put(out, "out[0] = (tc_tensor *)");
  tc_putf(out, "%s(", f->name);
  const char *comma = "";
  k = 0;
  for (size_t i = 0; i < f->parameter.n; ++i) {
    const export_parameter *p = &f->parameter.at[i];
    if (p->tensor) continue;
    tc_put(out, comma);
    comma = ", ";
    put_argument(p, k, j, out);
    if (is_kind(p, "result")) ++j;
    else ++k;
  }
  tc_put(out, ");\n");
  put_returned(f, out);
  tc_putf(out, "  return tc_given(out, %d, in, %d, errors, \"%s\");\n}\n\n", j, k, f->name);
}

static void put_table(const export_request *r, const export_function *f, tc_buf *out) {
  const char *why = obstacle(r, f), *result;
  if (!why) tc_put(out, numbers), put_call(r, f, out);
  tc_put(out, "static const char *const tc_operands[] = {");
  for (size_t i = 0; i < f->parameter.n; ++i)
    if (!f->parameter.at[i].tensor && !is_kind(&f->parameter.at[i], "result"))
      tc_putf(out, "\"%s\", ", operand_text(r, &f->parameter.at[i]));
  tc_put(out, "0};\nstatic const char *const tc_results[] = {");
  for (int i = 0; (result = export_result_text(r, f, i)); ++i) tc_putf(out, "\"%s\", ", result);
  tc_putf(out, "0};\nstatic const tcrt_export tc_functions[] = {{\"%s\", tc_operands, tc_results, ",
          f->name);
  if (why) tc_putf(out, "\"%s\", 0", why);
  else tc_put(out, "0, tc_call");
  tc_put(out, "}};\n__attribute__((visibility(\"default\"))) const tcrt_module tcrt_module_table = "
              "{TC_ABI_VERSION, 1, tc_functions, tcrt_register};\n");
}

void export_glue(const export_request *r, const export_function *f, const export_weights *w,
                 tc_buf *out) {
  tc_putf(out, "#define TC_NO_LOCATIONS\n#include \"%s.h\"\n#include <tcompile/module.h>\n\n",
          export_base(r->name));
  put_body(f, out);
  if (w->at.n) put_weights(w, out);
  put_function(f, w, out);
  if (r->archive) return;
  tc_put(out, "\n");
  put_table(r, f, out);
}
