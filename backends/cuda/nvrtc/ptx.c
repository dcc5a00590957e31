/* ptx.c - PTX as it packs best.
 *
 * NVRTC numbers registers in the order in which it came to define them; most of what tells two
 * functions of one template apart are such numbers.  Numbered in the order in which the text names
 * them they repeat from function to function: a tenth less when packed. */
#include "backends/cuda/nvrtc/pack.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"rd", "rs", "fd", "p", "r", "f"}; /* of registers: %rd12 */
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The new numbers of one kind, plus 1, by the old ones. */
typedef struct numbers {
  uint32_t *to;
  size_t cap;
  uint32_t next;
} numbers;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The register at `at`, behind the %: its kind and number, and where it ends; NULL: it is none. */
static const char *read_register(const char *at, int *kind, size_t *number) {
  enum { MOST = 1 << 24 };
  for (*kind = 0; *kind < KINDS; ++*kind) {
    const size_t n = strlen(kinds[*kind]);
    if (strncmp(at, kinds[*kind], n) != 0 || !is_digit(at[n])) continue;
    const char *end = at + n;
    for (*number = 0; is_digit(*end) && *number < MOST; ++end)
      *number = *number * 10 + (size_t)(*end - '0');
    return is_digit(*end) ? NULL : end;
  }
  return NULL;
}

/* The new number of an old one, from 0 on; UINT32_MAX: out of memory. */
static uint32_t renumber(numbers *k, size_t number) {
  if (number >= k->cap) {
    const size_t cap = 2 * number + 64;
    uint32_t *to = realloc(k->to, cap * sizeof *to);
    if (!to) return UINT32_MAX;
    memset(to + k->cap, 0, (cap - k->cap) * sizeof *to);
    k->to = to;
    k->cap = cap;
  }
  if (!k->to[number]) k->to[number] = ++k->next;
  return k->to[number] - 1;
}

static void begin_function(numbers *k) {
  for (int i = 0; i < KINDS; ++i) {
    if (k[i].to) memset(k[i].to, 0, k[i].cap * sizeof *k[i].to);
    k[i].next = 0;
  }
}

void tc_ptx_renumber(const char *text, tc_buf *out) {
  numbers list[KINDS] = {0};
  const char *from = text;
  int depth = 0, kind;
  size_t number;
  for (const char *at = text; *at;) {
    if (*at == '{' && depth++ == 0) begin_function(list);
    depth -= *at == '}';
    const char *end = *at++ == '%' ? read_register(at, &kind, &number) : NULL;
    if (!end) continue;
    tc_putn(out, from, (size_t)(at - from));
    const uint32_t to = renumber(&list[kind], number);
    out->failed |= to == UINT32_MAX;
    tc_putf(out, "%s%u", kinds[kind], to);
    from = at = end;
  }
  tc_putn(out, from, strlen(from) + 1);
  for (int i = 0; i < KINDS; ++i) free(list[i].to);
}
