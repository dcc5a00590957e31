// paths.h - names of files in full.
#ifndef TC_TOOL_PATHS_H
#define TC_TOOL_PATHS_H

#include <string>

#include "frontend/clang_compat.h"

namespace tc {

// A name without "." and "..", from the folder on; without one, from the current folder.
std::string absolute(llvm::StringRef folder, llvm::StringRef name);
std::string absolute(llvm::StringRef name);

} // namespace tc

#endif
