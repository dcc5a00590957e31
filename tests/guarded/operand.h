/* operand.h - operands in guarded memory (pages.h). */
#ifndef TC_GUARDED_OPERAND_H
#define TC_GUARDED_OPERAND_H

#include <tcompile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Do operands belong there?  Where TC_GUARDED is set (tests/guarded/run sets it). */
bool guarded_wanted(void);

/* x with its elements in guarded memory in x's layout, the last one at its end; what lies between them is there as
 * well.  Read-only unless `writable`.  NULL where x is. */
tc_tensor *guarded_operand(tc_tensor *x, bool writable);

#ifdef __cplusplus
}
#endif
#endif
