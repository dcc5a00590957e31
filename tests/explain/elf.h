/* elf.h - small ELF files and archives in memory, for the reader. */
#ifndef TC_TEST_EXPLAIN_ELF_H
#define TC_TEST_EXPLAIN_ELF_H

#include "graph/support/support.h"

/* An object whose sections are: none, names, and n sections of this name with these contents. */
void make_elf(const char *name, const char *const *contents, int n, tc_buf *out);
/* Adds a member to an archive (begun where out is empty). */
void add_member(const tc_buf *file, tc_buf *out);

#endif
