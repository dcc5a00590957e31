/* loader.c - libtcgcc.so: finds the plugin for the GCC that loads it, libtcgcc-N.so beside this
 * file.
 *
 * Structures and functions of GCC that are used here are the same in all of its versions that have
 * plugins. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plugin_name_args; /* passed on */

struct plugin_gcc_version {
  const char *basever, *datestamp, *devphase, *revision, *configuration_arguments;
};

typedef int init_function(struct plugin_name_args *, struct plugin_gcc_version *);

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

/* `/folder/libtcgcc-MAJOR.so` */
static void path_for(long major, char *path, size_t size) {
  Dl_info here = {0};
  const char *file = dladdr(&plugin_is_GPL_compatible, &here) ? here.dli_fname : "";
  const char *slash = strrchr(file, '/');
  snprintf(path, size, "%.*slibtcgcc-%ld.so", slash ? (int)(slash + 1 - file) : 0, file, major);
}

static void tell_missing(const char *version) {
  char path[4096];
  int found = 0;
  fprintf(stderr, "error: libtcgcc.so has no plugin for GCC %s; ", version);
  for (long major = 5; major < 100; ++major) {
    path_for(major, path, sizeof path);
    if (access(path, R_OK)) continue;
    fprintf(stderr, "%s%ld", found++ ? ", " : "there are those for ", major);
  }
  fprintf(
      stderr,
      "%s. Leave -fplugin out, and the same file runs eagerly; `tcompile` turns it into C for any "
      "compiler\n",
      found ? "" : "there is none");
}

/* The C family alone has parse_in: lto1 and compilers of other languages have nothing to do. */
__attribute__((visibility("default"))) int plugin_init(struct plugin_name_args *arguments,
                                                       struct plugin_gcc_version *version) {
  char path[4096];
  if (!dlsym(RTLD_DEFAULT, "parse_in")) return 0;
  path_for(strtol(version->basever, NULL, 10), path, sizeof path);
  if (access(path, R_OK)) {
    tell_missing(version->basever);
    return 1;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  init_function *init = library ? (init_function *)dlsym(library, "plugin_init") : NULL;
  if (init) return init(arguments, version);
  fprintf(stderr, "error: libtcgcc.so: %s\n", dlerror());
  return 1;
}
