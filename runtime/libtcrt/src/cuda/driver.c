/* Opening libcuda.  TC_CUDA_LIBRARY names another file than the system's libcuda.so.1. */
#include "runtime/libtcrt/src/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OLDEST_DRIVER = 11040 };

static tc_cuda_driver driver;
static bool usable;
static char absent[400];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Name of a symbol, and where its address goes. */
static const struct {
  const char *symbol;
  size_t offset;
  bool optional;
} function[] = {
#define NEEDED(name, symbol, parameters) {#symbol, offsetof(tc_cuda_driver, name), false},
#define OPTIONAL(name, symbol, parameters) {#symbol, offsetof(tc_cuda_driver, name), true},
    TC_CUDA_FUNCTIONS(NEEDED, OPTIONAL)};

void *tc_open_library(const char *const *names, int n, char *why, size_t size) {
  for (int i = 0; i < n; i++) {
    void *library = names[i] ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) return library;
    const char *error = names[i] ? dlerror() : NULL;
    if (error) snprintf(why, size, "%s", error);
  }
  return NULL;
}

/* Addresses of all functions; the name of a needed one that is missing, or NULL. */
static const char *find_functions(void *library) {
  driver.pools = driver.graphs = true;
  for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
    void *address = dlsym(library, function[i].symbol);
    if (!address && !function[i].optional) return function[i].symbol;
    if (!address && function[i].offset < offsetof(tc_cuda_driver, graph_create))
      driver.pools = false;
    if (!address && function[i].offset < offsetof(tc_cuda_driver, launch_with))
      driver.graphs = false;
    *(void **)((char *)&driver + function[i].offset) = address;
  }
  return NULL;
}

static void start(void) {
  const char *given = getenv("TC_CUDA_LIBRARY");
  const char *name[] = {given && *given ? given : "libcuda.so.1"};
  char why[200] = "";
  void *library = tc_open_library(name, 1, why, sizeof why);
  if (!library) {
    snprintf(absent, sizeof absent, "no CUDA driver is installed (%s)", why);
    return;
  }
  const char *missing = find_functions(library);
  cu_result r = missing ? CU_SUCCESS : driver.init(0);
  if (!missing && r == CU_SUCCESS) r = driver.driver_version(&driver.version);
  if (!missing && r == CU_SUCCESS) r = driver.device_count(&driver.devices);
  bool old = missing || (r == CU_SUCCESS && driver.version < OLDEST_DRIVER);
  if (old)
    snprintf(
        absent, sizeof absent,
        "the CUDA driver is too old (it has no %s); version 470 (CUDA 11.4) or newer is needed",
        missing ? missing : "CUDA 11.4");
  else if (r == CU_NO_DEVICE || (r == CU_SUCCESS && driver.devices <= 0))
    snprintf(absent, sizeof absent, "the CUDA driver finds no GPU (see CUDA_VISIBLE_DEVICES)");
  else if (r != CU_SUCCESS)
    snprintf(absent, sizeof absent, "the CUDA driver does not start: %s", tc_cuda_describe(r).text);
  else usable = true;
}

const tc_cuda_driver *tc_cuda(void) {
  pthread_once(&once, start);
  return usable ? &driver : NULL;
}

const char *tc_cuda_absent(void) { return absent; }

tc_cuda_text tc_cuda_describe(cu_result r) {
  const char *name = NULL, *text = NULL;
  tc_cuda_text t;
  if (driver.error_name(r, &name) != CU_SUCCESS || !name) name = "an unknown error";
  if (driver.error_string(r, &text) != CU_SUCCESS || !text) text = "of a newer driver";
  snprintf(t.text, sizeof t.text, "%s (%d): %s", name, r, text);
  return t;
}
