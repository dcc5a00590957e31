/* Any bytes as a .npy file: a tensor or an error, and what was read can be written and read again.
 */
#include "tests/fuzz/input.h"

#include <stdint.h>
#include <string.h>

#include <tcompile.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *path = fuzz_file(bytes, n);
  tc_clear_error();
  tc_tensor *t = tc_load_npy(path);
  if ((t == NULL) != (tc_error() != NULL)) abort();
  if (!t) return 0;
  tc_tensor *again = tc_save_npy(path, t) ? tc_load_npy(path) : NULL;
  size_t size = (size_t)tc_numel(t) * tc_dtype_size(tc_dtype_of(t));
  if (!again || tc_dtype_of(again) != tc_dtype_of(t) || tc_rank(again) != tc_rank(t) ||
      (size && memcmp(tc_cdata(again), tc_cdata(t), size)))
    abort();
  tc_free(again);
  tc_free(t);
  return 0;
}
