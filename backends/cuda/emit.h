/* emit.h - the CUDA backend: one kernel of the loop IR as CUDA C, and the C function that launches
 * it.
 *
 * Every nest of a kernel becomes some device functions, launched in the order of the nests on one
 * stream: some with 16-byte accesses and 32-bit index arithmetic, for operands that are aligned and
 * small enough, the last one without conditions.  The launcher asks sizes and addresses which to
 * take. */
#ifndef TC_CUDA_EMIT_H
#define TC_CUDA_EMIT_H

#include "backends/backend.h"
#include "backends/print/print.h"
#include "lower/loop.h"

/* A GPU: thousands of threads, so that work is cut finely; on-chip memory for rows. */
extern const tc_target tc_cuda_target;

/* Never reports.  false: there is no code for the kernel. */
bool tc_cuda_supports(const tc_kernel *k, const tc_program *p);
/* The name is tck_<readable>_<hash>_cuda; the text CUDA C, complete apart from the prelude:
 * functions `<name>_<j>`, function j of the image; the launcher
 *   static int <name>(const tcrt_cuda_call *c, void *const *buf, const int64_t *sym,
 *                     const tc_value *scalar)
 * launches from <name>_image.  Its buf[] is in the order of the kernel's buffers, entries of LOCAL
 * buffers are not read.  false: out of memory. */
bool tc_cuda_emit_kernel(const tc_kernel *k, const tc_program *p, tc_kernel_text *out);

/* Appends the chunks of the prelude that device text needs: what is put in front of it. */
bool tc_cuda_put_prelude(const char *device, tc_buf *out);
/* combine.c: the chunks of it for a reduction. */
void tc_cuda_put_reducer(const tc_print_reducer *f, tc_buf *prelude);
/* C that launchers use, once in a host text, behind tcompile/cuda.h. */
void tc_cuda_put_launch_helpers(tc_buf *out);

/* gemm/k_parts.c, of products whose k may be shared out, and chains whose keys may be (tc_cuda_has_k_parts).  In C: among how
 * many blocks at most, `info` being the device's; and bytes of scratch memory for so many parts. */
void tc_cuda_put_most_k_parts(const tc_kernel *k, const tc_program *p, const char *info, tc_buf *out);
void tc_cuda_put_k_sums_bytes(const tc_kernel *k, const tc_program *p, const char *parts, tc_buf *out);
/* In front of launchers: what they call for parts of k, and for skinny products. */
void tc_cuda_put_k_parts_helpers(tc_buf *out);
void tc_cuda_put_skinny_helpers(tc_buf *out);

#endif
