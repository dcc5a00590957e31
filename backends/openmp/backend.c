/* backend.c - the OpenMP backend: kernels as C with vector types, one text for all ISA levels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

/* ---- what can be printed
 * ------------------------------------------------------------------------- */

static bool good_dim(tc_dim d) { return !tc_dim_bad(d); }

static bool known_expr(const tc_expr *e) {
  if (e->kind == TC_EX_OP && !tc_op_get(e->op)->expr) return false;
  if (e->kind == TC_EX_RANDOM && e->op != OP_RAND && e->op != OP_RANDN) return false;
  if (e->kind == TC_EX_DIM && !good_dim(e->dim)) return false;
  for (int i = 0; i < e->address.nterm; ++i)
    if (!good_dim(e->address.term[i].stride)) return false;
  return true;
}

static bool known_action(const tc_action *a) {
  if (a->kind != TC_ACT_REDUCE && a->kind != TC_ACT_SCAN) return true;
  switch (a->op) {
  case OP_SUM:
  case OP_PROD:
  case OP_AMAX:
  case OP_AMIN:
  case OP_ANY:
  case OP_ALL:
  case OP_ARGMAX:
  case OP_ARGMIN:
    return a->kind == TC_ACT_REDUCE;
  case OP_CUMSUM:
  case OP_CUMPROD:
    return a->kind == TC_ACT_SCAN &&
           (a->dtype == TC_I64 || a->dtype == TC_F32 || a->dtype == TC_F64);
  default:
    return false;
  }
}

static bool omp_supports(const tc_kernel *k, const tc_program *p) {
  for (uint32_t i = 1; i < k->nexpr; ++i)
    if (!known_expr(&k->expr[i])) return false;
  for (uint32_t n = 0; n < k->nnest; ++n)
    for (uint32_t s = 0; s < k->nest[n].nstage; ++s)
      for (uint32_t a = 0; a < k->nest[n].stage[s].naction; ++a)
        if (!known_action(&k->nest[n].stage[s].action[a])) return false;
  return k->kind != TC_KERNEL_MATMUL || tc_omp_supports_matmul(k, p);
}

/* Nests differ by register width; where bf16 is stored, rounding has an instruction of its own. */
static uint32_t omp_levels(const tc_kernel *k, const tc_program *p) {
  if (k->kind == TC_KERNEL_MATMUL) return tc_omp_matmul_levels(k, p);
  uint32_t levels = 1u << TC_ISA_V2 | 1u << TC_ISA_V3 | 1u << TC_ISA_V4;
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (p->buffer[k->buffer[i]].dtype == TC_BF16 && tc_omp_writes(k, i))
      levels |= 1u << TC_ISA_BF16;
  return levels;
}

/* ---- kernels
 * ------------------------------------------------------------------------------------------ */

/* Appends the text without comments: equal kernels of different lines have one name. */
static void strip(const char *text, tc_buf *out) {
  while (*text) {
    const char *open = strstr(text, "/*"), *close = open ? strstr(open, "*/") : NULL;
    if (!close) break;
    tc_putn(out, text, (size_t)(open - text));
    text = close + 2;
  }
  tc_put(out, text);
}

static bool names_again(const char *line_end, const char *name, size_t n) {
  for (const char *p = line_end; (p = strstr(p, name)); p += n) {
    const char c = p[n];
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return true;
  }
  return false;
}

/* Copies text without the symbols and scalars (`  const int64_t s_B = ...`) that nothing below
 * names. */
static void drop_unused(const char *text, tc_buf *out) {
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    const char *name = NULL;
    if (strncmp(line, "  const int64_t s_", 18) == 0) name = line + 16;
    if (strncmp(line, "  const int64_t a", 17) == 0) name = line + 16;
    if (strncmp(line, "  const double a", 16) == 0) name = line + 15;
    char word[256];
    const size_t length = name ? strcspn(name, " ") : 0;
    bool keep = true;
    if (name && length < sizeof word) {
      memcpy(word, name, length);
      word[length] = 0;
      keep = names_again(line + n, word, length);
    }
    if (keep) tc_putn(out, line, n);
    line += n;
  }
}

/* A C identifier: the kernel's readable name without its number, and the hash. */
static void put_name(const tc_kernel *k, uint64_t hash, tc_buf *name) {
  const char *text = k->name ? k->name : "kernel", *end = text + strlen(text);
  while (end > text && end[-1] >= '0' && end[-1] <= '9') --end;
  while (end > text && end[-1] == '_') --end;
  tc_put(name, "tck_");
  for (const char *c = text; c < end && name->len < 60; ++c) {
    const bool ok =
        (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    tc_putn(name, ok ? c : "_", 1);
  }
  tc_putf(name, "_%016llx", (unsigned long long)hash);
}

/* Replaces @NAME@ by the name and sets the kernel's levels in front. */
static void put_named(const char *text, const char *name, tc_buf *out) {
  for (const char *at; (at = strstr(text, "@NAME@")); text = at + 6) {
    tc_putn(out, text, (size_t)(at - text));
    tc_put(out, name);
  }
  tc_put(out, text);
}

static void put_condition(uint32_t levels, tc_buf *out) {
  tc_put(out, "#if");
  for (int i = 0, any = 0; i < TC_ISA_COUNT; ++i)
    if (levels >> i & 1) tc_putf(out, "%s TC_ISA == %d", any++ ? " ||" : "", i);
  tc_put(out, "\n");
}

static bool omp_emit_kernel(const tc_kernel *k, const tc_program *p, tc_buf *out, tc_buf *name) {
  tc_buf raw = {0}, body = {0}, bare = {0};
  bool ok =
      k->kind == TC_KERNEL_MATMUL ? tc_omp_emit_matmul(k, p, &raw) : tc_omp_emit_nests(k, p, &raw);
  ok = ok && raw.text && !raw.failed;
  if (ok) {
    drop_unused(raw.text, &body);
    strip(body.text, &bare);
    ok = !body.failed && !bare.failed;
  }
  if (ok) {
    put_name(k, tc_hash(bare.text, bare.len, 0), name);
    if (!out->text || !strstr(out->text, name->text)) { /* once in a unit */
      put_condition(omp_levels(k, p), out);
      put_named(body.text, name->text, out);
      tc_put(out, "#endif\n");
    }
  }
  tc_buf_free(&raw);
  tc_buf_free(&body);
  tc_buf_free(&bare);
  return ok && !out->failed && !name->failed;
}

/* ---- texts
 * ---------------------------------------------------------------------------------------------- */

static bool omp_emit_unit(const tc_function *f, const tc_result *result, int n, tc_texts *out) {
  tc_buf kernels = {0}, host = {0};
  bool ok = tc_omp_put_prelude(out->kernels.text ? out->kernels.text : "", &kernels);
  tc_put(&kernels, out->kernels.text ? out->kernels.text : "");
  tc_omp_put_abi(&host);
  tc_omp_put_host_helpers(&host);
  tc_put(&host, out->host.text ? out->host.text : "");
  tc_omp_put_registration(f, result, n, &host);
  ok = ok && !kernels.failed && !host.failed;
  tc_buf_free(&out->kernels);
  tc_buf_free(&out->host);
  out->kernels = kernels;
  out->host = host;
  return ok;
}

const tc_backend tc_backend_openmp = {
    .name = "openmp",
    .supports = omp_supports,
    .levels = omp_levels,
    .emit_kernel = omp_emit_kernel,
    .emit_entry = tc_omp_emit_entry,
    .emit_unit = omp_emit_unit,
};
