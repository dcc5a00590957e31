/* key.c - what a measurement is of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/schedule/words.h"
#include "backends/tuning/tuning.h"
#include "graph/support/sha256.h"

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool is_known(tc_dim d) { return tc_dim_is_const(d); }

static bool are_known(const tc_nest *n) {
  for (int i = 0; i < n->naxis; ++i)
    if (!is_known(n->axis[i].extent) || (n->axis[i].of >= 0 && !is_known(n->axis[i].total)))
      return false;
  return true;
}

const tc_kernel *tc_tuning_nests(const tc_program *p, uint32_t kernel) {
  const tc_kernel *k = &p->kernel[kernel];
  if (k->sibling || !k->schedule) return NULL;
  if (k->schedule->product) k = k->schedule->product;
  return k->kind == TC_KERNEL_NESTS && k->schedule && k->schedule->kernel ? k : NULL;
}

bool tc_tuning_is_fixed(const tc_program *p, uint32_t kernel) {
  const tc_kernel *k = tc_tuning_nests(p, kernel);
  if (!k) return false;
  for (uint32_t i = 0; i < k->nnest; ++i)
    if (!are_known(&k->nest[i])) return false;
  for (uint32_t i = 0; i < k->nbuffer; ++i)
    if (!is_known(p->buffer[k->buffer[i]].numel) || !is_known(k->base[i])) return false;
  return true;
}

/* Without the first line, which has the name of the function, and what the kernel has nothing to do
 * with. */
static void add_loops(const char *text, tc_sha256 *h) {
  for (const char *at = strchr(text, '\n'); at && *++at; at = strchr(at, '\n'))
    if (strncmp(at, "unread ", 7) != 0) tc_sha256_add_field(h, at, strcspn(at, "\n"));
}

bool tc_tuning_put_key(const tc_backend *b, const tc_program *p, uint32_t kernel,
                       const int64_t *sym, tc_buf *key) {
  tc_program alone;
  tc_buf loops = {0}, schedule = {0};
  tc_sha256 h;
  bool ok = tc_kernel_alone(p, kernel, tc_tuning_nests(p, kernel), &alone);
  if (ok) {
    tc_program_print(&alone, &loops);
    tc_schedule_print(b->schedule, &alone, TC_TUNING_NAME, &schedule);
    ok = !loops.failed && !schedule.failed;
  }
  if (ok) {
    tc_sha256_begin(&h);
    add_loops(loops.text, &h);
    tc_sha256_add_field(&h, schedule.text, schedule.len);
    if (sym) tc_sha256_add_field(&h, sym, tc_dims_sym_count(tc_graph_dims(p->graph)) * sizeof *sym);
    const tc_digest d = tc_sha256_end(&h);
    for (size_t i = 0; i < sizeof d.byte; ++i) tc_putf(key, "%02x", d.byte[i]);
  }
  tc_buf_free(&loops);
  tc_buf_free(&schedule);
  return ok && !key->failed;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static int level_here(void) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return TC_ISA_V2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512cd"))
    return TC_ISA_V3;
  if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vnni"))
    return TC_ISA_V4;
  return TC_ISA_BF16;
#else
  return TC_ISA_V2;
#endif
}

int tc_tuning_level(uint32_t levels) {
  int level = level_here();
  while (level && levels && !(levels >> level & 1)) --level;
  return level;
}

/* What stands behind "model name : "; characters that a line of the database does not take become
 * '?'. */
static void put_model(tc_buf *out) {
  char line[512];
  FILE *f = fopen("/proc/cpuinfo", "r");
  const char *name = NULL;
  while (f && !name && fgets(line, sizeof line, f))
    if (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8)) name = strchr(line, ':');
  if (f) fclose(f);
  if (name) name += 1 + strspn(name + 1, " \t");
  const size_t n = name ? strcspn(name, "\n") : 0;
  if (!n) tc_put(out, "unknown processor");
  for (size_t i = 0; i < n; ++i)
    tc_putf(out, "%c", name[i] < ' ' || name[i] == ';' || name[i] == 127 ? '?' : name[i]);
}

void tc_tuning_put_machine(uint32_t levels, tc_buf *out) {
  put_model(out);
  tc_putf(out, ", %s", tc_isa_name[tc_tuning_level(levels)]);
}
