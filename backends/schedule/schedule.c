/* schedule.c - see schedule.h. */
#include "backends/schedule/schedule.h"

bool tc_schedule_has(const tc_schedule_list *l, uint32_t number) {
  for (uint32_t i = 0; i < l->n; ++i)
    if (l->at[i] == number) return true;
  return false;
}
