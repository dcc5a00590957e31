/* tcompile/module.h - what modules and tc_module_open agree on.  tc-export writes it; programs see tcompile.h alone.
 *
 * A module is a shared library with the symbol tcrt_module_table and, behind what ELF knows of the file, a tcrt_module_end:
 * whether the file is whole is known before any of it runs. */
#ifndef TCOMPILE_MODULE_H
#define TCOMPILE_MODULE_H

#include <tcompile/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tcrt_export {
  const char *name;
  const char *const *operand, *const *result; /* "x f32[B,784]"; a NULL ends them */
  const char *obstacle;                       /* why only C can call it, or NULL */
  /* Takes and gives as many as there are.  false with an error: out[] is not all set. */
  bool (*call)(const struct tc_tensor *const *in, struct tc_tensor **out);
} tcrt_export;

typedef struct tcrt_module {
  uint32_t abi; /* TC_ABI_VERSION */
  uint32_t count;
  const tcrt_export *function;
  bool (*runtime)(const tcrt_unit *); /* tcrt_register of the libtcrt that it is linked with */
} tcrt_module;

#define TCRT_MODULE_TABLE "tcrt_module_table"
#define TCRT_MODULE_MAGIC "TCMODULE"

typedef struct tcrt_module_end {
  char magic[8];
  uint32_t abi, zero;
  uint64_t bytes;    /* of the file */
  uint64_t checksum; /* tc_hash of all in front of it, of seed abi */
} tcrt_module_end;

#ifdef __cplusplus
}
#endif
#endif
