/* isa.c - levels of CPUs: their names, and which of them a kernel needs. */
#include "backends/backend.h"

const char *const tc_isa_name[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};

uint32_t tc_isa_limit(uint32_t levels, uint32_t wanted) {
  uint32_t out = 0;
  for (int i = 0; i < TC_ISA_COUNT; ++i) {
    if (!(wanted >> i & 1)) continue;
    int best = i;
    while (best > 0 && !(levels >> best & 1)) --best;
    out |= levels & 1u << best;
  }
  return wanted ? out : levels;
}
