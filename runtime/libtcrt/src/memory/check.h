/* check.h - TC_CHECK=1: freed headers and blocks wait before they are used again, what is wrong is
 * said on stderr with the places, and what was never freed is listed when the program ends. */
#ifndef TC_CHECK_H
#define TC_CHECK_H

#include "runtime/libtcrt/src/memory/storage.h"

/* Where the thread last called a function of the API (tc_here); file NULL: unknown. */
typedef struct tc_place_called {
  const char *file;
  int line;
} tc_place_called;
tc_place_called tc_last_place(void); /* error.c */

extern bool tc_checks; /* TC_CHECK is set.  Constant after load. */

/* In place of malloc and free for headers.  A freed one waits until MAX_WAITING others were. */
tc_tensor *tc_check_header_new(void);
void tc_check_header_free(tc_tensor *t);

/* Says that a function was given a freed header, and where that was made and freed. */
void tc_check_refused(const char *function, int number, const tc_tensor *freed);

/* Fills a freed block from `data` to its end and keeps it.  Returns the block whose time is over,
 * or NULL; it was looked at for writes. */
tc_storage *tc_check_block_free(tc_storage *s, void *data);

#endif
