/* pages.h - memory for tests that ends where a page that cannot be touched begins: whoever reads or writes past a
 * block, or uses it when it was freed, ends the program.  Addresses are never used again. */
#ifndef TC_GUARDED_PAGES_H
#define TC_GUARDED_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* A block of bytes 0xff (NaN in all floating dtypes), aligned, of which less than `alignment` bytes lie between
 * its end and the page that cannot be touched.  NULL: no memory. */
void *guarded_new(size_t bytes, size_t alignment);
size_t guarded_size(const void *block);
void guarded_seal(void *block); /* it can be read only from now on */
/* Ends the program with a message when somebody wrote behind its end. NULL is fine. */
void guarded_free(void *block);

#endif
