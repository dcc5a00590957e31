/* weights.h - parameters of a model from a safetensors file, or random ones; times. */
#ifndef SAMPLE_WEIGHTS_H
#define SAMPLE_WEIGHTS_H

#include <tcompile.h>

/* The file, or NULL where there is no path; a message and exit when it cannot be read. */
tc_safetensors *weights_open(const char *path);
/* The parameter `name` of the file, which has these sizes, or, without one, normal numbers of this
 * deviation, or all ones where that is 1.  It is of the dtype, on the default device, and may be
 * written.  A message and exit when there is none. */
tc_tensor *weights_get(const tc_safetensors *file, const char *name, tc_ints dims, double deviation,
                       tc_dtype dtype);
/* Each of p[n] in this dtype, as a leaf of its own. */
void weights_cast(int n, tc_tensor *p[], tc_dtype dtype);
/* By a clock that does not go back. */
double seconds_now(void);

#endif
