#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/sample.h"

/* The bytes of GPT-2's first 256 tokens: those that Latin-1 prints, then the others. */
static void list_bytes(unsigned char byte[256]) {
  int n = 0;
  for (int prints = 1; prints >= 0; prints--)
    for (int c = 0; c < 256; c++)
      if (((c > 32 && c < 127) || (c > 160 && c != 173)) == prints) byte[n++] = (unsigned char)c;
}

tc_tensor *text_read(const char *path, int64_t least) {
  int64_t n = 0, room = 0, *at = NULL, token[256];
  unsigned char byte[256];
  list_bytes(byte);
  for (int i = 0; i < 256; i++) token[byte[i]] = i;
  FILE *f = fopen(path, "rb");
  if (!f) perror(path), exit(1);
  for (int c; (c = getc(f)) != EOF; at[n++] = token[c])
    if (n == room && !(at = realloc(at, sizeof *at * (size_t)(room = 2 * room + 4096)))) exit(1);
  fclose(f);
  if (n < least) fprintf(stderr, "%s is too short\n", path), exit(1);
  tc_tensor *t = sample_check(tc_to(tc_from(TC_DIMS(n), at, TC_I64), tc_default_device()));
  free(at);
  return t;
}

tc_tensor *text_pieces(const tc_tensor *text, int64_t B, int64_t L, uint64_t *seed) {
  const tc_tensor *piece[64];
  for (int64_t i = 0; i < B; i++) {
    const int64_t at = sample_random(seed) % (tc_numel(text) - L);
    piece[i] = tc_slice(text, 0, at, at + L, 1);
  }
  return sample_check(tc_stack(piece, (int)B, 0));
}

void text_put(int64_t token) {
  unsigned char byte[256];
  list_bytes(byte);
  const int c = token < 256 && byte[token] < 127 ? byte[token] : '?';
  printf(c == '\n' ? "\n# " : "%c", c);
}

int64_t text_likeliest(const tc_tensor *scores) {
  return tc_item_int(sample_check(tc_argmax(scores, TC_ALL, false)));
}
