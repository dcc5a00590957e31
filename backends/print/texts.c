/* texts.c - ownership of what the driver and the backends hand over. */
#include "backends/backend.h"

#include <stdlib.h>
#include <string.h>

void tc_texts_free(tc_texts *t) {
  tc_buf_free(&t->host);
  tc_buf_free(&t->close);
  tc_names_free(&t->declared);
  for (size_t i = 0; i < t->nkernels; ++i) tc_buf_free(&t->kernels[i].text);
  for (size_t i = 0; i < t->ndata; ++i) {
    free(t->data[i].name);
    free(t->data[i].bytes);
  }
  free(t->kernels);
  free(t->data);
  *t = (tc_texts){0};
}

void tc_kernel_text_free(tc_kernel_text *t) {
  tc_buf_free(&t->name);
  tc_buf_free(&t->text);
  tc_buf_free(&t->launcher);
  free(t->sym);
  free(t->scalar);
}

const char *tc_setting_of(const tc_setting *s, uint32_t n, const char *key) {
  while (n-- > 0)
    if (!strcmp(s[n].key, key)) return s[n].value;
  return NULL;
}
