// inclusions.h - which file includes which, and where that is written.
#ifndef TC_TOOL_INCLUSIONS_H
#define TC_TOOL_INCLUSIONS_H

#include <string>
#include <vector>

#include "frontend/clang_compat.h"

namespace tc {

// Files are named by their real paths.
struct Inclusion {
  std::string in; // the file that the directive stands in; "": the command line
  unsigned offset,
      size; // of the name with its quotes, or of the macro that makes it, in the text that was parsed
  std::string file; // which is included
  std::string name; // the file as messages name it
  bool system;      // it is a header of the system
};

// Collects the directives of a parse that finds their files.
void watch_inclusions(clang::CompilerInstance &ci, std::vector<Inclusion> &list);

// The path with all links followed, or as it is where there is none of the name.
std::string real_path(llvm::StringRef path);

} // namespace tc

#endif
