/* tc-backends - lists the backends that `backend=NAME` finds: those of this build, and shared
 * objects. */
#include <stdio.h>
#include <string.h>

#include "backends/registry.h"

static void put_line(const char *name, const char *device, const char *about, const char *path) {
  printf("%-12s %-6s %s\n", name, device, about);
  if (path) printf("%-12s %-6s %s\n", "", "", path);
}

static void list(const char *name, const char *path, const tc_backend *b, const char *why,
                 void *arg) {
  (void)arg;
  if (b) put_line(name, b->device_name, b->about, path);
  else put_line(name, "-", why ? why : "cannot be loaded", path);
}

static const char usage[] = "usage: tc-backends\n"
                            "  lists the backends that backend=NAME finds, each with the device "
                            "that its kernels run on: those that\n"
                            "  are built in, and libtc_backend_NAME.so in the folders of "
                            "TC_BACKEND_PATH, beside this program or\n"
                            "  in its installation's folder of libraries\n";

int main(int argc, char **argv) {
  const bool help = argc == 2 && !strcmp(argv[1], "--help");
  if (argc > 1 && !help) {
    fprintf(stderr, "tc-backends: '%s' is not understood\n%s", argv[1], usage);
    return 2;
  }
  if (help) fputs(usage, stdout);
  else tc_backend_each(list, NULL);
  return fflush(stdout) || ferror(stdout);
}
