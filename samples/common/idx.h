/* idx.h - the files of MNIST and Fashion-MNIST, gzipped.
 *
 *   0 0 type rank | rank sizes, u32 big endian | elements; type 8 is unsigned bytes, the only one
 * read */
#ifndef SAMPLE_IDX_H
#define SAMPLE_IDX_H

#include <tcompile.h>

#define FASHION_MNIST "/usr/share/datasets/fashion-mnist"

/* FOLDER/file as u8[...], at most `most` along the first axis; a message and exit when it is
 * missing or wrong.  FASHION_MNIST comes with Debian's package dataset-fashion-mnist. */
tc_tensor *idx_load(const char *folder, const char *file, int64_t most);

#endif
