// invocation.h - flags of a compiler's command line, as Clang's libraries take them.
#ifndef TC_TOOL_INVOCATION_H
#define TC_TOOL_INVOCATION_H

#include <memory>
#include <string>
#include <vector>

#include "frontend/clang_compat.h"

namespace tc {

// What Clang's driver makes of the flags for this file, with code as its aim but for -fsyntax-only;
// null after an error, which goes to `diagnostics`; null: to standard error.
std::shared_ptr<clang::CompilerInvocation> make_invocation(const std::vector<std::string> &flags,
                                                           const std::string &file,
                                                           clang::DiagnosticConsumer *diagnostics);

// Likewise for flags of -cc1 of some Clang: what this one does not know does not count.
std::shared_ptr<clang::CompilerInvocation> from_clang(const std::vector<std::string> &flags,
                                                      const std::string &file,
                                                      clang::DiagnosticConsumer *diagnostics);

// Of GCC's flags those that change what a file says or what its code has to share with the
// kernels', as Clang spells them, and that the compiler is GCC.  Headers of GCC's own become
// Clang's, where these are installed.
std::vector<std::string> from_gcc(const std::vector<std::string> &flags);

// Of the flags that a project's own compiler gets, GCC or some Clang, those that Clang's driver
// knows, without what names outputs.  Warnings are for that compiler to give, but for those about
// annotated functions.
std::vector<std::string> from_project(const std::vector<std::string> &flags);

// The folder of the headers that belong to the compiler, or "".
std::string builtin_headers();

} // namespace tc

#endif
