// lines.h - with -g, kernels have line tables that point at the user's statements.
//
// Values in kernel texts tell in a comment which statement they come from.  That becomes #line, the
// texts are compiled with line tables alone, and of the assembly the line directives are kept: all
// parts share the line table that the assembler makes of the user's file.
#ifndef TC_DRIVER_LINES_H
#define TC_DRIVER_LINES_H

#include <map>
#include <string>
#include <vector>

#include "frontend/clang_compat.h"

namespace tc {

// Whether the user's object gets line tables that kernels can be part of.
bool wants_lines(const clang::CompilerInstance &user);

// Files by the number that places in the core name them by (tc_loc).
using FileNames = std::map<unsigned, std::string>;
FileNames file_names(const clang::SourceManager &sources);

// Kernel texts with #line in front of what comes from somewhere.
std::string with_lines(llvm::StringRef kernels, const FileNames &files);

// Flags that make line tables and leave the code as it is.
std::vector<std::string> line_flags(const clang::CompilerInstance &user);

// The files of several parts' assembly, numbered together.
class LineTables {
public:
  // The part with the numbers that its files have in the whole object, each declared once.
  std::string merge(llvm::StringRef part);

private:
  unsigned number(llvm::StringRef file, std::string &out);
  std::map<std::string, unsigned> numbers;
};

} // namespace tc

#endif
