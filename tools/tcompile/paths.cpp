// paths.cpp - see paths.h.
#include "tools/tcompile/paths.h"

namespace tc {

using llvm::StringRef;

std::string absolute(StringRef folder, StringRef name) {
  llvm::SmallString<256> whole(name);
  llvm::sys::fs::make_absolute(folder, whole);
  llvm::sys::path::remove_dots(whole, /*remove_dot_dot=*/true);
  return std::string(whole);
}

std::string absolute(StringRef name) {
  llvm::SmallString<256> whole(name);
  llvm::sys::fs::make_absolute(whole);
  llvm::sys::path::remove_dots(whole, /*remove_dot_dot=*/true);
  return std::string(whole);
}

} // namespace tc
