// options.h - options of one annotated function, and of a whole file (-fplugin-arg-tc-KEY=VALUE).
#ifndef TC_PLUGIN_OPTIONS_H
#define TC_PLUGIN_OPTIONS_H

#include <string>

#include "clang_compat.h"

namespace tc {

struct Options {
  bool fullgraph = false; // "could not be compiled" is an error
};

// Applies "key" or "key=value".  Returns what is wrong with it, or "".
std::string apply_option(llvm::StringRef text, Options &options);

// The options of an annotated function: those of the file, then those of its attributes.
Options options_of(const clang::FunctionDecl *function, const Options &file);

} // namespace tc

#endif
