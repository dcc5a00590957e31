// version_check.cpp - whether the program that loads this library is the clang it is made for.
//
// A clang of another version would load it without complaint and then do nothing, or misread
// attributes; gcc takes the same option.  This constructor runs before every other one (101 is the
// first free priority), before any object of Clang's is touched, and stops with one line.  It comes
// to run in any program, since what that is to have is referred to weakly (weaken_main.c).
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

namespace {

// What the process has, not what this library has: the host's symbols come first.
template <class T> T *of_host(const char *name) {
  return reinterpret_cast<T *>(dlsym(RTLD_DEFAULT, name));
}

std::string name_of_host() {
  if (auto *version = of_host<std::string()>("_ZN5clang19getClangFullVersionB5cxx11Ev"))
    return version();
  if (of_host<void>("plugin_default_version_check")) return "gcc";
  return "a program that is no clang";
}

// "Debian clang version 14.0.6"; 0: no clang.
int major_of(const std::string &host) {
  static const char words[] = "clang version ";
  const size_t at = host.find(words);
  return at == std::string::npos ? 0 : atoi(host.c_str() + at + sizeof words - 1);
}

[[noreturn]] void stop(const std::string &why) {
  fprintf(stderr, "error: " TC_PLUGIN_FILE " is a plugin for clang %d%s\n", TC_PLUGIN_MAJOR,
          why.c_str());
  _exit(1);
}

// ---- what fits ----------------------------------------------------------------------------------

std::string own_folder() {
  Dl_info here = {};
  const std::string file =
      dladdr(reinterpret_cast<void *>(&own_folder), &here) && here.dli_fname ? here.dli_fname : "";
  return file.substr(0, file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
}

// A plugin of that name in an installation, or in a build; "": there is none.
std::string beside(const std::string &name) {
  for (const char *folder : {"", "clang/", "gcc/", "../", "../clang/", "../gcc/"})
    if (std::string path = own_folder() + folder + name; !access(path.c_str(), R_OK)) return path;
  return "";
}

std::string plugin_for(int major) {
  if (std::string thin = beside("libtcclang-" + std::to_string(major) + ".so"); !thin.empty())
    return thin;
  return major == TC_FULL_MAJOR ? beside("libtcplugin.so") : "";
}

// "clang 14, 16, 19, gcc 11, 12"
std::string all_plugins() {
  std::string list;
  auto add = [&](const char *compiler, int major, bool &first) {
    list += (list.empty() ? "" : ", ") + (first ? std::string(compiler) + " " : "");
    list += std::to_string(major);
    first = false;
  };
  bool first = true;
  for (int major = 5; major < 100; major++)
    if (!plugin_for(major).empty()) add("clang", major, first);
  first = true;
  for (int major = 5; major < 100; major++)
    if (!beside("libtcgcc-" + std::to_string(major) + ".so").empty()) add("gcc", major, first);
  return list;
}

// A function or object that this library uses and nothing defines, or NULL: another build of the
// same version may lack one.
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

[[noreturn]] void refuse(const std::string &host, const std::string &fits) {
  const std::string cannot = " and cannot be loaded by " + host + "; ";
  if (!fits.empty()) stop(cannot + "use " + fits);
  const std::string all = all_plugins();
  stop(cannot + (all.empty() ? "" : "there are plugins for " + all + "; ") +
       "without -fplugin the same file runs eagerly, and `tcompile` turns it into C for any "
       "compiler");
}

__attribute__((constructor(101))) void check_host() {
  const std::string host = name_of_host();
  const int major = major_of(host);
  if (host == "gcc") refuse(host, beside("libtcgcc.so"));
  if (major && major != TC_PLUGIN_MAJOR) refuse(host, plugin_for(major));
  if (const char *name = missing_symbol())
    stop(" and was built with another one than " + host + ", which has no " + name +
         "; build the plugin again");
}

} // namespace
