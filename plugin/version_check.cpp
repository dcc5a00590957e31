// version_check.cpp - whether the program that loads this library is the clang it is made for.
//
// A clang of another version would load it without complaint and then do nothing, or misread
// attributes; gcc takes the same option.  This constructor runs before every other one (101 is the
// first free priority), before any object of Clang's is touched, and stops with one line.  It comes to
// run in any program, since what that is to have is referred to weakly (weaken_main.c).
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <string>

#include "llvm/Config/llvm-config.h"

namespace {

// What the process has, not what this library has: the host's symbols come first.
template <class T> T *of_host(const char *name) {
  return reinterpret_cast<T *>(dlsym(RTLD_DEFAULT, name));
}

unsigned llvm_version_of_host() {
  unsigned major = 0, minor = 0, patch = 0;
  if (auto *get = of_host<void(unsigned *, unsigned *, unsigned *)>("LLVMGetVersion")) // from 16 on
    get(&major, &minor, &patch);
  return major;
}

std::string name_of_host() {
  if (auto *version = of_host<std::string()>("_ZN5clang19getClangFullVersionB5cxx11Ev"))
    return version();
  if (of_host<void>("plugin_default_version_check")) return "gcc";
  return "a program that is no clang";
}

[[noreturn]] void stop(const std::string &why) {
  fprintf(stderr, "error: libtcplugin.so is a plugin for clang %d%s\n", LLVM_VERSION_MAJOR,
          why.c_str());
  _exit(1);
}

// A function or object that this library uses and nothing defines, or NULL: another build of the same
// version may lack one.
const char *missing_symbol() {
  Dl_info info;
  link_map *here = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&missing_symbol), &info, reinterpret_cast<void **>(&here),
               RTLD_DL_LINKMAP))
    return nullptr;
  const ElfW(Sym) *symbol = nullptr;
  const char *names = nullptr;
  const uint32_t *hash = nullptr;
  for (const ElfW(Dyn) *d = here->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_SYMTAB) symbol = reinterpret_cast<const ElfW(Sym) *>(d->d_un.d_ptr);
    if (d->d_tag == DT_STRTAB) names = reinterpret_cast<const char *>(d->d_un.d_ptr);
    if (d->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const uint32_t *>(d->d_un.d_ptr);
  }
  // The second word: how many symbols, all of them undefined, are in front of those with a hash.
  for (uint32_t i = 1; symbol && names && hash && i < hash[1]; i++) {
    const char *name = names + symbol[i].st_name;
    bool cplusplus = !strncmp(name, "_Z", 2) && symbol[i].st_shndx == SHN_UNDEF;
    if (cplusplus && !dlsym(RTLD_DEFAULT, name)) return name;
  }
  return nullptr;
}

__attribute__((constructor(101))) void check_host() {
  const std::string use = "use clang-" + std::to_string(LLVM_VERSION_MAJOR);
  const unsigned major = llvm_version_of_host();
  if (major > LLVM_VERSION_MAJOR)
    stop(" and cannot be loaded by " + name_of_host() + "; " + use +
         ", or build the plugin with -DTC_LLVM=" + std::to_string(major));
  if (major < LLVM_VERSION_MAJOR)
    stop(" and cannot be loaded by " + name_of_host() + "; " + use +
         ", or leave -fplugin out: the same file then runs eagerly");
  if (const char *name = missing_symbol())
    stop(" and was built with another one than " + name_of_host() + ", which has no " + name +
         "; build the plugin again");
}

} // namespace
