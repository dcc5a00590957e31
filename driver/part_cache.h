// part_cache.h - compiled texts of earlier builds.
#ifndef TC_DRIVER_PART_CACHE_H
#define TC_DRIVER_PART_CACHE_H

#include <map>
#include <string>
#include <vector>

#include "backends/cache/cache.h"
#include "driver/kernels.h"

namespace tc {

// One text, compiled once.
struct UnitPart {
  std::string name; // "host", "v4"
  llvm::StringRef text;
  std::vector<std::string> flags;
  bool host;
  std::string suffix;    // of local names
  bool lines = false;    // with line tables
  llvm::StringRef plain; // the text without
  // results
  std::string output, error;

  // After an error: the same without line tables, which nobody should do without kernels for.
  void forgo_lines(size_t flags_of_lines) {
    lines = false;
    text = plain;
    flags.resize(flags.size() - flags_of_lines);
    error.clear();
  }
};

// What a part comes out as depends on its text and flags, the form, the names of entries (the host
// part's), the version of Clang, the sources of what compiles it, and the options that are the same
// for all compilations of the process (-mllvm).  Where all that is equal, plugins and the tool,
// whatever compiler they run for, find what another one made.
class PartCache {
public:
  // cache: NULL: there is none.  Kernel texts, which levels share, are read once, here.
  PartCache(tc_cache *cache, const clang::CompilerInstance &user, Form form,
            const std::vector<std::string> &entries, const std::vector<UnitPart> &parts);

  bool get(UnitPart &part) const; // threads may ask at once
  void put(const UnitPart &part) const;

private:
  tc_digest key(const UnitPart &part) const;

  tc_cache *cache;
  tc_sha256 common;                          // what all parts depend on
  std::map<const char *, tc_digest> kernels; // of kernel texts without their comments
  const std::vector<std::string> &entries;
};

} // namespace tc

#endif
