// inner.h - parses of the user's file that the plugin makes beside the user's own.
#ifndef TC_DRIVER_INNER_H
#define TC_DRIVER_INNER_H

#include <string>
#include <vector>

#include "frontend/unit/rewrite.h"

namespace tc {

// Runs the action over the user's input with the user's flags; nothing is written or printed, and
// tc_compile and the other attributes become annotations (see attributes.h).  false: errors.
bool parse_inner(clang::CompilerInstance &user, clang::DiagnosticConsumer &diagnostics,
                 clang::FrontendAction &action);

// Whether an error is one in a system header, of what another compiler knows and this one does not.
// Nothing that is captured depends on it, or else that is not understood.
bool is_tolerable(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info);

// An error of a parse that is not given up for it.
struct KnownError {
  clang::SourceLocation loc;
  std::string text;
};

// Gives the new texts to a compilation that has not entered any of the files yet.
void apply_texts(const Rewriter &rewriter, clang::CompilerInstance &outer);

// Definitions of functions, as they are parsed, and among them those marked tc_compile.
struct Definitions {
  std::vector<const clang::FunctionDecl *> all, list;
  void add(clang::Decl *decl); // of the top level
};

} // namespace tc

#endif
