/* einsum.c - the batch is one more label, in front of those of each mapped operand and of the
 * result. */
#include "batching/rules.h"

#include <string.h>

static bool is_letter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

/* A letter that is not in the text; 0: there is none. */
static char unused(const char *spec) {
  for (const char *ch = "BNZabcdefghijklmnopqrstuvwxyzACDEFGHIJKLMOPQRSTUVWXY"; *ch; ch++)
    if (!strchr(spec, *ch)) return *ch;
  return 0;
}

/* The labels of a result that the text does not name: what "..." stands for, then letters that
 * occur once, in order. */
static void put_implicit(const char *spec, tc_buf *out) {
  int count[128] = {0};
  if (strchr(spec, '.')) tc_put(out, "...");
  for (; *spec; spec++)
    if (is_letter(*spec)) count[(int)*spec]++;
  for (int ch = 'A'; ch <= 'z'; ch++)
    if (count[ch] == 1) tc_putf(out, "%c", ch);
}

static void put_spec(const tc_bat *b, const char *spec, char batch, tc_buf *out) {
  const char *arrow = strstr(spec, "->"), *end = arrow ? arrow : spec + strlen(spec);
  int i = 0;
  if (b->mapped[0]) tc_putf(out, "%c", batch);
  for (const char *ch = spec; ch < end; ch++) {
    if (*ch != ' ') tc_putf(out, "%c", *ch);
    if (*ch == ',' && b->mapped[++i]) tc_putf(out, "%c", batch);
  }
  tc_putf(out, "->%c", batch);
  if (arrow) tc_put(out, arrow + 2);
  else put_implicit(spec, out);
}

tc_ref tc_bat_einsum(const tc_bat *b) {
  const char *spec = tc_graph_string(b->c.g, tc_attr_int(b->n, "spec"));
  const char batch = spec ? unused(spec) : 0;
  tc_buf text = {0};
  tc_ref r = {0};
  if (!batch) return r;
  put_spec(b, spec, batch, &text);
  if (text.text) r = tc_build(b->c.g, OP_EINSUM, b->n->nin, b->in, 0, NULL, text.text, b->c.loc);
  tc_buf_free(&text);
  return r;
}
