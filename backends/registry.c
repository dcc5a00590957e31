/* registry.c - see registry.h. */
#include "backends/registry.h"

#include <stdlib.h>
#include <string.h>

#include "backends/module_impl.h"

#define TC_BACKEND(name) extern const tc_backend tc_backend_##name;
#include "backends/backends.def"
#undef TC_BACKEND

#define TC_BACKEND(name) &tc_backend_##name,
static const tc_backend *const of_build[] = {
#include "backends/backends.def"
};
#undef TC_BACKEND
enum { OF_BUILD = sizeof of_build / sizeof *of_build };

const tc_backend tc_backend_eager = {.name = "eager",
                                     .about = "the original body: nothing is compiled",
                                     .device_name = "any",
                                     .device_label = "any device"};

const tc_backend *tc_backend_of_build(uint32_t i) { return i < OF_BUILD ? of_build[i] : NULL; }

/* Of this build, or none at all. */
static const tc_backend *linked_in(const char *name) {
  if (!strcmp(name, tc_backend_eager.name)) return &tc_backend_eager;
  for (uint32_t i = 0; i < OF_BUILD; ++i)
    if (!strcmp(name, of_build[i]->name)) return of_build[i];
  return NULL;
}

/* ---- by name --------------------------------------------------------------------------------- */

typedef struct wanted {
  const char *name;
  char *path; /* NULL: not found */
} wanted;

static void compare(const char *name, const char *path, void *arg) {
  wanted *w = arg;
  if (!w->path && !strcmp(name, w->name)) w->path = strdup(path);
}

static void put_name(const char *name, const char *path, void *arg) {
  (void)path;
  if (!linked_in(name)) tc_putf(arg, ", %s", name);
}

static void put_unknown(const char *name, bool paths, tc_buf *why) {
  tc_putf(why, "there is no backend '%s'; it can be all, %s", name, tc_backend_eager.name);
  for (uint32_t i = 0; i < OF_BUILD; ++i) tc_putf(why, ", %s", of_build[i]->name);
  tc_module_each(put_name, why);
  tc_put(why, paths ? ", or the path of a shared object with one" : "");
}

const tc_backend *tc_backend_find(const char *name, bool paths, tc_buf *why) {
  const tc_backend *b = linked_in(name);
  if (b) return b;
  if (strchr(name, '/') && paths) return tc_module_load(name, why);
  if (strchr(name, '/')) {
    tc_putf(why, "the path of a backend stands on the command line only; a function names it");
    return NULL;
  }
  wanted w = {name, NULL};
  tc_module_each(compare, &w);
  if (w.path) b = tc_module_load(w.path, why);
  else put_unknown(name, paths, why);
  free(w.path);
  return b;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct listing {
  tc_backend_each_fn *each;
  void *arg;
} listing;

static void list_module(const char *name, const char *path, void *arg) {
  const listing *l = arg;
  tc_buf why = {0};
  if (linked_in(name)) return;
  const tc_backend *b = tc_module_load(path, &why);
  l->each(name, path, b, why.text, l->arg);
  tc_buf_free(&why);
}

void tc_backend_each(tc_backend_each_fn *each, void *arg) {
  listing l = {each, arg};
  for (uint32_t i = 0; i < OF_BUILD; ++i) each(of_build[i]->name, NULL, of_build[i], NULL, arg);
  each(tc_backend_eager.name, NULL, &tc_backend_eager, NULL, arg);
  tc_module_each(list_module, &l);
}

/* ---- choices --------------------------------------------------------------------------------- */

void tc_choose_all(tc_choices *out) {
  *out = (tc_choices){.n = OF_BUILD};
  _Static_assert(OF_BUILD <= TC_MOST_CHOICES, "one for each device");
  for (uint32_t i = 0; i < OF_BUILD; ++i) out->at[i] = (tc_choice){of_build[i], TC_WISH_MAY};
}

bool tc_chose_eager(const tc_choices *c) {
  return c->n == 1 && c->at[0].backend == &tc_backend_eager;
}

/* The one for the CPU stands first. */
static bool add(tc_choices *c, const tc_backend *b, tc_buf *why) {
  for (uint32_t i = 0; i < c->n; ++i)
    if (c->at[i].backend->device == b->device || tc_chose_eager(c) || b == &tc_backend_eager) {
      tc_putf(why, "'%s' and '%s' are not for one function", c->at[i].backend->name, b->name);
      return false;
    }
  if (c->n == TC_MOST_CHOICES - 1) {
    tc_put(why, "these are too many");
    return false;
  }
  const uint32_t at = b->device == TC_CPU ? 0 : c->n;
  memmove(&c->at[at + 1], &c->at[at], (c->n++ - at) * sizeof *c->at);
  c->at[at] = (tc_choice){b, TC_WISH_WANT};
  return true;
}

static bool add_names(const char *text, bool paths, tc_choices *out, tc_buf *why) {
  for (;;) {
    const size_t n = strcspn(text, ",");
    char *name = strndup(text, n);
    const tc_backend *b = name ? tc_backend_find(name, paths, why) : NULL;
    free(name);
    if (!b || !add(out, b, why)) return false;
    if (!text[n]) return true;
    text += n + 1;
  }
}

bool tc_choose(const char *text, bool paths, tc_choices *out, tc_buf *why) {
  tc_choices chosen = {0};
  if (!strcmp(text, "all")) tc_choose_all(&chosen);
  else if (!add_names(text, paths, &chosen, why)) return false;
  if (chosen.at[0].backend->device != TC_CPU && !add(&chosen, of_build[0], why)) return false;
  *out = chosen;
  return true;
}
