/* unit.h - what the CUDA backend gives the driver beyond its tc_backend. */
#ifndef TC_CUDA_UNIT_H
#define TC_CUDA_UNIT_H

#include "backends/entry/entry.h"

extern const tc_entry_style tc_cuda_entry_style;

/* What variants and launchers use, once in a host text. */
void tc_cuda_put_host_helpers(tc_buf *out);

#endif
