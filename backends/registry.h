/* registry.h - which backends there are: those of this build (backends.def), and shared objects
 * libtc_backend_<name>.so in the folders of TC_BACKEND_PATH (parted by colons), beside this program
 * or plugin, and in the folder of libraries of its installation. */
#ifndef TC_REGISTRY_H
#define TC_REGISTRY_H

#include "backends/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Backend i of this build, in the order of preference; NULL: there are no more. */
const tc_backend *tc_backend_of_build(uint32_t i);

/* No backend: the original body, whose functions are not compiled. */
extern const tc_backend tc_backend_eager;

/* By its name; `paths`: or in the shared object that a path, which has a slash in it, leads to.
 * What is loaded stays loaded.  NULL: why says what is wrong, and what there is. */
const tc_backend *tc_backend_find(const char *name, bool paths, tc_buf *why);

/* One that there is.  path: NULL: it is of this build.  b: NULL: it cannot be loaded, `why`. */
typedef void tc_backend_each_fn(const char *name, const char *path, const tc_backend *b,
                                const char *why, void *arg);
void tc_backend_each(tc_backend_each_fn *each, void *arg);

/* ---- choices --------------------------------------------------------------------------------- */

enum { TC_MOST_CHOICES = 8 };
typedef struct tc_choices {
  uint32_t n;
  tc_choice at[TC_MOST_CHOICES];
} tc_choices;

/* All of this build, each where it can be made. */
void tc_choose_all(tc_choices *out);

/* What `backend=TEXT` says: all; eager; or names of backends (see tc_backend_find), parted by
 * commas.  Of these each is wanted; the first of this build is there for the CPU where none of them
 * is for it.  false: why says what it can be. */
bool tc_choose(const char *text, bool paths, tc_choices *out, tc_buf *why);

/* backend=eager. */
bool tc_chose_eager(const tc_choices *c);

#ifdef __cplusplus
}
#endif
#endif
