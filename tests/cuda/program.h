/* program.h - programs of the CUDA backend run on the CPU: device text by emulate.h, launchers as
 * they are. */
#ifndef TC_TEST_CUDA_PROGRAM_H
#define TC_TEST_CUDA_PROGRAM_H

#include "backends/backend.h"
#include "lower/loop.h"
#include "tests/common/interp.h"

typedef struct cuda_unit {
  tc_program **program; /* of each graph; NULL: not lowered */
  tc_kernel_text **kernel; /* the texts of each program */
  int n;
  int kernels; /* different ones */
  void *library;
} cuda_unit;

extern int cuda_unit_arch, cuda_unit_sms; /* of the device that is emulated: 80, at first, or 90; multiprocessors */
extern const tc_target *cuda_unit_target; /* what graphs are lowered for: the backend's, at first */

/* Lowers optimised graphs (borrowed), prints their kernels and builds them.  false after printing
 * why. */
bool cuda_unit_build(cuda_unit *u, tc_graph *const *graph, int n);
/* The same by that plan. */
bool cuda_unit_build_by(cuda_unit *u, tc_graph *const *graph, int n, bool (*plan)(tc_program *p));
void cuda_unit_free(cuda_unit *u);

/* Device texts of the program's kernels, each with the prelude, handed to f. */
bool cuda_each_text(const tc_program *p, bool (*f)(const char *name, const char *text, void *arg),
                    void *arg);

/* Where buffers lie: at 16 bytes; none does; operands alone do not, and their rows lie apart where
 * they have a pitch; all do, and so do rows where they have a pitch. */
typedef enum cuda_layout { CUDA_ALIGNED, CUDA_SHIFTED, CUDA_APART, CUDA_PADDED, CUDA_LAYOUTS } cuda_layout;

typedef struct cuda_run {
  /* in */
  const tc_program *p;
  const interp_array *const *input;
  const tc_value *scalar;
  cuda_layout layout;
  bool alone; /* without the library */
  /* out, freed by cuda_run_free */
  interp_array **output, **after;
  bool bad_index;
} cuda_run;

bool cuda_program(const cuda_unit *u, int i, cuda_run *run);
void cuda_run_free(cuda_run *run);

#endif
