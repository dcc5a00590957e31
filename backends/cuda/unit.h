/* unit.h - the parts of the CUDA backend's tc_backend. */
#ifndef TC_CUDA_UNIT_H
#define TC_CUDA_UNIT_H

#include "backends/entry/entry.h"

extern const tc_backend tc_backend_cuda;
extern const struct tc_schedule_words tc_cuda_schedule_words; /* schedule/words.c */
extern const tc_entry_style tc_cuda_entry_style;
extern const tc_device_compiler tc_cuda_compiler; /* images.c */

/* aligned.c: of tc_entry_style; and what the text of the latter calls, in front of entries */
int tc_cuda_row_bytes(const tc_entry *e, uint32_t i);
void tc_cuda_put_worth(const tc_entry *e);
extern const char tc_cuda_worth_helper[];

#endif
