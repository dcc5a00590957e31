/* module.c - backends in shared objects: where they are, and how they are loaded. */
#define _GNU_SOURCE
#include "backends/module.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "backends/folder.h"
#include "backends/module_impl.h"

#define PREFIX "libtc_backend_"

/* A backend that cannot be asked for anything is none. */
static bool is_whole(const tc_backend *b) {
  return b && b->name && b->about && b->device_name && b->device_label && b->target && b->entry &&
         b->supports && b->emit_kernel && (b->complete || b->compiler);
}

const tc_backend *tc_module_load(const char *path, tc_buf *why) {
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    const char *problem = dlerror();
    tc_putf(why, "cannot load the backend %s: %s", path, problem ? problem : "");
    return NULL;
  }
  const tc_backend_module *module = dlsym(object, TC_BACKEND_MODULE_SYMBOL);
  const tc_backend *b = module && module->abi == TC_BACKEND_ABI ? module->backend : NULL;
  if (!module) tc_putf(why, "%s is no backend: it has no TC_BACKEND_MODULE", path);
  else if (module->abi != TC_BACKEND_ABI)
    tc_putf(why,
            "the backend %s was built for another version of TCompile (interface %016llx, and this one "
            "has %016llx); build it again with this one's headers",
            path, (unsigned long long)module->abi, (unsigned long long)TC_BACKEND_ABI);
  else if (!is_whole(b)) tc_putf(why, "the backend %s lacks something that every backend has", path);
  else return b;
  dlclose(object);
  return NULL;
}

/* Colons part folders; an empty one is none. */
static void each_folder(void (*each)(const char *folder, void *arg), void *arg) {
  tc_buf folders = {0}, own = {0};
  const char *listed = getenv("TC_BACKEND_PATH");
  tc_own_folder(&own);
  tc_putf(&folders, "%s:", listed ? listed : "");
  if (own.len) tc_putf(&folders, "%s:%s/../%s", own.text, own.text, TC_LIBRARIES);
  for (char *at = folders.failed ? NULL : folders.text; at && *at;) {
    char *end = at + strcspn(at, ":");
    const bool last = !*end;
    *end = 0;
    if (*at) each(at, arg);
    at = last ? end : end + 1;
  }
  tc_buf_free(&folders);
  tc_buf_free(&own);
}

typedef struct search {
  tc_module_each_fn *each;
  void *arg;
  tc_buf seen; /* " name name " */
} search;

/* The first of a name counts. */
static bool is_new(search *s, const char *name) {
  tc_buf word = {0};
  tc_putf(&word, " %s ", name);
  const bool found = word.failed || (s->seen.text && strstr(s->seen.text, word.text));
  if (!found) tc_put(&s->seen, word.text);
  tc_buf_free(&word);
  return !found;
}

static void look_into(const char *folder, void *arg) {
  search *s = arg;
  tc_buf pattern = {0};
  glob_t found;
  tc_putf(&pattern, "%s/" PREFIX "*.so", folder);
  if (!pattern.failed && glob(pattern.text, 0, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const char *path = found.gl_pathv[i], *file = strrchr(path, '/') + 1 + strlen(PREFIX);
      char *name = strndup(file, strlen(file) - strlen(".so"));
      if (name && is_new(s, name)) s->each(name, path, s->arg);
      free(name);
    }
    globfree(&found);
  }
  tc_buf_free(&pattern);
}

void tc_module_each(tc_module_each_fn *each, void *arg) {
  search s = {each, arg, {0}};
  each_folder(look_into, &s);
  tc_buf_free(&s.seen);
}
