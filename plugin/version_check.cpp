// version_check.cpp - a clang of another LLVM version loads this library without complaint and then
// does nothing, or misreads attributes.  This constructor runs before every other one (101 is the
// first free priority), before any object of Clang's is touched, and stops with one line.
//
// It asks the process, not this library: dlsym finds the host's LLVM first.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "llvm/Config/llvm-config.h"

namespace {

__attribute__((constructor(101))) void check_llvm_version() {
  using VersionFn = void(unsigned *, unsigned *, unsigned *);
  auto *get = reinterpret_cast<VersionFn *>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  unsigned major = 0, minor = 0, patch = 0;
  if (get) get(&major, &minor, &patch);
  if (major == LLVM_VERSION_MAJOR) return;
  if (get)
    fprintf(stderr,
            "error: libtcplugin.so was built for clang %d and cannot be loaded by clang %u; "
            "use clang-%d, or build the plugin with -DTC_LLVM=%u\n",
            LLVM_VERSION_MAJOR, major, LLVM_VERSION_MAJOR, major);
  else
    fprintf(stderr,
            "error: libtcplugin.so is a plugin for clang %d; this is an older clang or another "
            "program\n",
            LLVM_VERSION_MAJOR);
  _exit(1);
}

} // namespace
