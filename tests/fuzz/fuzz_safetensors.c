/* Any bytes as a safetensors file: a handle or an error; every byte of every tensor can be read. */
#include "tests/fuzz/input.h"

#include <stdint.h>

#include <tcompile.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static unsigned read_all(const tc_tensor *t) {
  const unsigned char *p = tc_cdata(t);
  unsigned sum = 0;
  for (size_t i = 0, n = (size_t)tc_numel(t) * tc_dtype_size(tc_dtype_of(t)); i < n; i++)
    sum += p[i];
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  volatile unsigned sum = 0;
  tc_clear_error();
  tc_safetensors *s = tc_safetensors_open(fuzz_file(bytes, n));
  if ((s == NULL) != (tc_error() != NULL)) abort();
  for (int i = 0; i < tc_safetensors_count(s); i++) {
    tc_tensor *t = tc_safetensors_get(s, tc_safetensors_name(s, i));
    if (t) sum += read_all(t);
    else if (!tc_error()) abort();
    tc_free(t);
    tc_clear_error();
  }
  tc_safetensors_close(s);
  return 0;
}
