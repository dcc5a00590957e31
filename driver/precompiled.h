// precompiled.h - a precompiled header, for parses that need it as it was written: what the
// attributes of TCompile say is not in it.
#ifndef TC_DRIVER_PRECOMPILED_H
#define TC_DRIVER_PRECOMPILED_H

#include <set>
#include <string>

#include "frontend/clang_compat.h"

namespace tc {

struct Precompiled {
  // That it was made from; "": none is used, or one that is made on top of another.
  std::string header;
  std::set<const clang::FileEntry *> files; // that are in it

  bool has(const clang::SourceManager &sources, clang::SourceLocation loc) const;
};

Precompiled precompiled_of(clang::CompilerInstance &user);

// Includes the header as text.
void read_as_text(const Precompiled &precompiled, clang::PreprocessorOptions &options);

} // namespace tc

#endif
