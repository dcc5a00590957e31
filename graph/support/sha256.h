/* sha256.h - SHA-256 of data that comes in parts. */
#ifndef TC_SHA256_H
#define TC_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_sha256 {
  uint32_t state[8];
  uint64_t length; /* bytes so far */
  unsigned char block[64];
} tc_sha256;

typedef struct tc_digest {
  unsigned char byte[32];
} tc_digest;

void tc_sha256_begin(tc_sha256 *h);
void tc_sha256_add(tc_sha256 *h, const void *data, size_t n);
/* With its length in front: lists of fields are equal only field by field. */
void tc_sha256_add_field(tc_sha256 *h, const void *data, size_t n);
tc_digest tc_sha256_end(tc_sha256 *h);

#ifdef __cplusplus
}
#endif
#endif
