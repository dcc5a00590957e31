/* weights.c - tensors of a .safetensors file in place of parameters. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define TC_NO_LOCATIONS
#include <tcompile.h>

#include "graph/graph.h"
#include "tools/export/export.h"

static export_parameter *parameter_of(export_function *f, const char *name, size_t n) {
  for (size_t i = 0; i < f->parameter.n; ++i)
    if (strlen(f->parameter.at[i].name) == n && !strncmp(f->parameter.at[i].name, name, n))
      return &f->parameter.at[i];
  return NULL;
}

/* ---- against TC_SHAPE ------------------------------------------------------------------------ */

/* The TC_SHAPE of the parameter, for one of its dtypes: "f32|bf16[N]". */
static bool parse_shape(const export_request *r, const char *shape, const char *dtype,
                        tc_dims *dims, tc_type *type) {
  const char *why, *bracket = strchr(shape, '[');
  size_t at;
  for (const char *s = shape; bracket && s < bracket; s += strcspn(s, "|[") + 1) {
    const size_t n = strcspn(s, "|[");
    if (n == strlen(dtype) && !strncmp(s, dtype, n))
      return tc_type_parse(dims, export_text(r, "%s%s", dtype, bracket), type, &why, &at);
  }
  return false;
}

static bool fits(const tc_tensor *t, tc_dims *dims, const tc_type *type) {
  bool ok = type->rank == tc_rank(t);
  for (int i = 0; ok && i < type->rank; ++i)
    ok = !tc_dim_bad(tc_dim_unify(dims, type->dim[i], tc_dim_const(tc_size(t, i))));
  return ok;
}

static const char *type_text(const export_request *r, const tc_tensor *t) {
  const char *text = export_text(r, "%s[", tc_dtype_name(tc_dtype_of(t)));
  for (int i = 0; i < tc_rank(t); ++i)
    text = export_text(r, "%s%s%" PRId64, text, i ? "," : "", tc_size(t, i));
  return export_text(r, "%s]", text);
}

static bool check(const export_request *r, const export_parameter *p, const tc_tensor *t,
                  tc_dims *dims) {
  tc_type type = {0};
  if (!*p->shape) return true;
  if (parse_shape(r, p->shape, tc_dtype_name(tc_dtype_of(t)), dims, &type) && fits(t, dims, &type))
    return true;
  return export_fail(
      "'%s' of %s is %s, which the TC_SHAPE of '%s', \"%s\", does not take beside the others",
      p->tensor, r->weights, type_text(r, t), p->name, p->shape);
}

/* ---- one binding ----------------------------------------------------------------------------- */

static const char *dims_text(const export_request *r, const tc_tensor *t) {
  const char *text = "";
  for (int i = 0; i < tc_rank(t); ++i)
    text = export_text(r, "%s%s%" PRId64, text, i ? ", " : "", tc_size(t, i));
  return *text ? text : "0";
}

static const char *dtype_text(const export_request *r, tc_dtype d) {
  char *text = (char *)export_text(r, "TC_%s", tc_dtype_name(d));
  for (char *s = text; *s; ++s) *s = (char)toupper(*s);
  return text;
}

static bool add(const export_request *r, export_parameter *p, const tc_tensor *t,
                export_weights *w) {
  const tc_dtype dtype = tc_dtype_of(t);
  const export_weight one = {.parameter = p->name,
                             .tensor = p->tensor,
                             .file = export_base(r->weights),
                             .type = type_text(r, t),
                             .rank = tc_rank(t),
                             .dtype = dtype_text(r, dtype),
                             .dims = dims_text(r, t),
                             .bytes = (size_t)tc_numel(t) * tc_dtype_size(dtype),
                             .path = export_text(r, "%s/weight-%zu", r->folder, w->at.n)};
  p->bound = (int)w->at.n;
  return (tc_push(&w->at, one) || export_fail("out of memory")) &&
         export_write(one.path, tc_cdata(t), one.bytes);
}

/* "w=layer.weight" */
static bool bind(const export_request *r, const char *binding, const tc_safetensors *file,
                 tc_dims *dims, export_function *f, export_weights *w) {
  const size_t n = strcspn(binding, "=");
  export_parameter *p = parameter_of(f, binding, n);
  if (!p) return export_fail("'%s': %s has no parameter '%.*s'", binding, f->name, (int)n, binding);
  if (!export_is_kind(p->kind, "tensor"))
    return export_fail("'%s': parameter '%s' is no tensor, but '%s'", binding, p->name,
                       p->declaration);
  if (strncmp(p->declaration, "const ", 6) != 0)
    return export_fail(
        "'%s': parameter '%s' is '%s', which may be written; a constant is for const", binding,
        p->name, p->declaration);
  if (p->tensor) return export_fail("'%s': parameter '%s' is bound already", binding, p->name);
  p->tensor = binding + n + 1;
  tc_tensor *t = tc_safetensors_get(file, p->tensor);
  if (!t) return export_fail("%s: %s", r->weights, tc_error());
  const bool ok = check(r, p, t, dims) && add(r, p, t, w);
  tc_free(t);
  return ok;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Sizes that became numbers. */
static const char *fixed_sizes(const export_request *r, tc_dims *dims) {
  const char *text = "";
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); ++i) {
    const tc_dim d = tc_dim_norm(dims, tc_dims_sym_dim(dims, i));
    if (tc_dim_is_const(d))
      text = export_text(r, "%s%s%s=%" PRId64, text, *text ? ", " : "", tc_dims_sym(dims, i)->name,
                         tc_dim_value(d));
  }
  return text;
}

bool export_bind(const export_request *r, export_function *f, export_weights *w) {
  w->sizes = "";
  if (!r->weights) return true;
  tc_safetensors *file = tc_safetensors_open(r->weights);
  tc_dims *dims = tc_dims_new();
  bool ok = file ? dims || export_fail("out of memory") : export_fail("%s", tc_error());
  for (size_t i = 0; ok && i < r->bindings.n; ++i)
    ok = bind(r, r->bindings.at[i], file, dims, f, w);
  if (ok) w->sizes = fixed_sizes(r, dims);
  if (dims) tc_dims_free(dims);
  tc_safetensors_close(file);
  return ok;
}
