/* isa.c - levels of CPUs by name. */
#include "backends/backend.h"

const char *const tc_isa_name[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};
