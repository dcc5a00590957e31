/* device.h - what the rest of libtcrt asks of devices.  On tensors of the CPU none of it is called.
 */
#ifndef TC_DEVICE_H
#define TC_DEVICE_H

#include "runtime/libtcrt/src/eager/eager.h"

/* Memory of cuda:index.  NULL with an error. */
tc_storage *tc_device_storage(int index, size_t bytes);
/* Unused memory of devices goes back; bytes. */
size_t tc_cuda_trim(void);

/* tc_assign, tc_assign_f and tcrt_pack where an operand is on a device.  false with an error. */
bool tc_device_assign(const tc_tensor *dst, const tc_tensor *src);
bool tc_device_fill(const tc_tensor *dst, double value);
bool tc_device_pack(const tc_tensor *x, void *dst);

/* Does the CPU's function of the op work on a device too, because it only makes views and assigns?
 */
bool tc_device_native(tc_op op);
/* Runs any other op on device operands. NULL with an error. */
tc_tensor *tc_device_run(const tc_eager_call *c, int nattr);

/* x itself, or a copy on the CPU that the caller frees (*copy, else NULL).  NULL with an error in
 * the name of `function`. */
const tc_tensor *tc_on_host(const char *function, const tc_tensor *x, tc_tensor **copy);
/* "cuda:0" */
typedef struct tc_place_text {
  char text[24];
} tc_place_text;
tc_place_text tc_describe_place(tc_device device);

#endif
