// check.h - whether rewritten text still means what the programmer wrote.
//
// An edit goes to a place in a file, and what stands there may be a part of something else: the
// text of a macro, a declaration that has to come first, a statement under a pragma.  So the new
// text is parsed before it is used.  A function passes when it parses without errors and its
// statements, but for what was inserted, are those of the original at their places and lines; and
// when the file counts as far as before (__COUNTER__), so that the rest of it reads the same.
#ifndef TC_DRIVER_CHECK_H
#define TC_DRIVER_CHECK_H

#include "driver/inner.h"
#include "frontend/unit/unit.h"

namespace tc {

// Errors that the original has, too, do not count (known: none is in these functions).
// Which of `functions`, defined in `original`, do not pass.  Their edits are withdrawn from
// `rewriter`.  Scopes of bodies are tried first to be done without: scopes_fit tells of that.
std::vector<Suspect> check_rewritten(clang::CompilerInstance &user, Rewriter &rewriter,
                                     clang::ASTContext &original,
                                     const std::vector<const clang::FunctionDecl *> &functions,
                                     const std::vector<KnownError> &known, bool &scopes_fit);

} // namespace tc

#endif
