/* names.h - a set of texts, numbered in the order in which they came. */
#ifndef TC_NAMES_H
#define TC_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/support/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_names { /* {0}: empty */
  char **at;
  size_t n, cap;
  tc_table table;
} tc_names;

void tc_names_free(tc_names *s);
/* Number i of the text, which is at[i - 1] then; *fresh (or NULL): it was not there.  0: out of
 * memory. */
uint32_t tc_names_number(tc_names *s, const char *text, bool *fresh);

#ifdef __cplusplus
}
#endif
#endif
