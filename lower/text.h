/* text.h - what printing and reading the loop IR share. */
#ifndef TC_LOWER_TEXT_H
#define TC_LOWER_TEXT_H

#include "lower/loop.h"

/* What kernels call a buffer: the name of an input, else name and number; a name that is no word of
 * a line is quoted. */
void lo_put_label(const tc_program *p, uint32_t buffer, tc_buf *out);

#endif
