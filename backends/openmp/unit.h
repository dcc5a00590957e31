/* unit.h - what the files of the OpenMP backend share beyond the printers' interface in emit.h. */
#ifndef TC_OMP_UNIT_H
#define TC_OMP_UNIT_H

#include "backends/backend.h"
#include "backends/entry/entry.h"
#include "backends/print/print.h"

/* Declares b<i>, s_<name>, a<i> from buf, sym, scalar: what a kernel and its helpers begin with. */
void tc_omp_unpack(const tc_kernel *k, const tc_program *p, tc_buf *out);

/* LOCAL buffers: small constant ones live on the stack of each thread; the others are arguments of
 * tcrt_max_threads() parts, which the entry places behind the arena. */
bool tc_omp_on_stack(const tc_buffer *b);
/* How many points of the fused outer loop a group has, or may have, as text. */
void tc_omp_put_group(const tc_kernel *k, const tc_program *p, tc_buf *out);
/* Those of one thread, whole cache lines; with PRIVATE buffers of all points of a group. */
void tc_omp_local_bytes(const tc_kernel *k, const tc_program *p, const tc_buffer *b, tc_buf *out);
void tc_omp_locals(const tc_kernel *k, const tc_program *p, int indent, tc_buf *out);
/* PRIVATE buffers of point s_<name> of a group that begins at first_<name>. */
void tc_omp_locals_of_point(const tc_kernel *k, const tc_program *p, int indent, tc_buf *out);

/* A kernel of nests is two functions: what every thread of a team runs, and the kernel itself.
 * work: C expression of the scalar operations, of which `least` pay for a team; NULL to stay on one
 * thread. */
void tc_omp_team_head(const tc_kernel *k, const tc_program *p, tc_buf *out);
void tc_omp_team_tail(const tc_kernel *k, const tc_program *p, const char *work, int64_t least,
                      tc_buf *out);

/* Appends to out the chunks of the prelude that text needs, in their order. */
bool tc_omp_put_prelude(const char *text, tc_buf *out);
/* combine.c: the chunks of it for a reduction. */
void tc_omp_put_reducer(const tc_print_reducer *f, tc_buf *prelude);
extern const struct tc_schedule_words tc_omp_schedule_words; /* schedule/words.c */
extern const tc_backend tc_backend_openmp;
extern const tc_entry_style tc_omp_entry_style;

#endif
