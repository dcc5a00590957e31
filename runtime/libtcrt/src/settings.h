/* settings.h - what the environment asks of the runtime; read once at load, constant afterwards. */
#ifndef TC_SETTINGS_H
#define TC_SETTINGS_H

#include <tcompile.h>

enum { TC_LOG_GUARDS = 1, TC_LOG_FALLBACK = 2, TC_LOG_KERNELS = 4 };

typedef enum {
  /* one line on a function that falls back 3 times in a row; where nothing is set */
  TC_FALLBACK_NOTICE,
  TC_FALLBACK_DEFAULT,   /* a miss runs the body, silently */
  TC_FALLBACK_WARN,      /* one line per function and reason */
  TC_FALLBACK_MANDATORY, /* compiled code never runs */
  TC_FALLBACK_DISABLED   /* a miss sets tc_error and says so on stderr; the body still runs */
} tc_fallback;

typedef enum {
  TC_ERRORS_KEEP,  /* an error is a value */
  TC_ERRORS_PRINT, /* and a line on stderr */
  TC_ERRORS_ABORT  /* and the end of the program */
} tc_errors;

typedef struct tc_settings {
  unsigned logs; /* TC_LOG_* */
  tc_fallback fallback;
  tc_errors errors;
} tc_settings;

extern tc_settings tc_settings_now;

/* What a miss leads to now: the environment's wish, or that of tc_set_stance. */
tc_fallback tc_fallback_now(void);

/* Parsers, for tests.  A word that is not known gives one line on stderr that names the known ones.
 */
unsigned tc_parse_logs(const char *text);
tc_fallback tc_parse_fallback(const char *text);
tc_errors tc_parse_errors(const char *text);

/* The CPU's level, lowered by `wish` ("v3"; NULL: no wish); -1 when the CPU is below TC_ISA_V2. */
int tc_detect_isa(const char *wish);

/* The first registered function, in order of registration from the last, and the next; NULL. */
tcrt_function *tc_first_function(void);
tcrt_function *tc_next_function(const tcrt_function *f);

/* Held while walking the functions. */
void tc_lock_functions(void);
void tc_unlock_functions(void);

/* One line on stderr with the counters of f, when it had a fallback. */
void tc_print_totals(const tcrt_function *f);

/* What a miss is called in logs and tables: "another size". */
const char *tc_miss_text(tc_miss why);

#endif
