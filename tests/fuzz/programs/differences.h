/* differences.h - gradients of a random program against central differences of its result. */
#ifndef TC_FUZZ_DIFFERENCES_H
#define TC_FUZZ_DIFFERENCES_H

#include "driver.h"

typedef enum fuzz_verdict { FUZZ_AS_GRADIENTS, FUZZ_NOT_AS_GRADIENTS, FUZZ_UNKNOWN } fuzz_verdict;

/* Runs the body over operands in f64.  Output k is the gradient with respect to operand k of those that are leaves.
 * Unknown where the result is not f64, or differences of several widths tell nothing. */
fuzz_verdict fuzz_differences(const fuzz_case *c, char why[200]);

#endif
