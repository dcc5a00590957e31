/* save.h - tensors to a safetensors file.
 *
 *   u64 little endian: bytes of the header | header, JSON: names, dtypes, shapes, offsets | elements */
#ifndef SAMPLE_SAVE_H
#define SAMPLE_SAVE_H

#include <tcompile.h>

/* Writes the n tensors, f32, under their names; a message and exit when that fails. */
void save_safetensors(const char *path, int n, const char *const *name, tc_tensor *const *t);

#endif
