// rewrite.h - the source text that the user's compilation sees instead of what is on disk.
//
//   tc_tensor *f(const tc_tensor *x) {            tc_tensor *f(const tc_tensor *x) {
//     return tc_exp(x);                 =>        { ...guarded call... }{
//   }                                               return tc_exp(x);
//                                                 }}
//
// #line directives keep the lines (and padding the columns) of the body as they were; pragmas keep
// the inserted text silent under every warning flag; the extra braces keep declarations in front of
// statements for -Wdeclaration-after-statement.
#ifndef TC_PLUGIN_REWRITE_H
#define TC_PLUGIN_REWRITE_H

#include <map>
#include <string>
#include <vector>

#include "frontend/ast_capture/capture.h"

namespace tc {

// The statement that calls the entry and returns if it did the work.
std::string guarded_call(const CapturedFunction &function);

class Rewriter {
public:
  explicit Rewriter(const clang::SourceManager &inner) : inner(inner) {}

  // Whether the function's text can be replaced; else why not.
  std::string obstacle(const clang::FunctionDecl *function) const;

  void insert(const clang::FunctionDecl *function, const std::string &call);

  // Adds text behind the main file.
  void append(const std::string &text);

  // Gives the new texts to the user's compilation, which has not entered any of the files yet.
  void apply(clang::CompilerInstance &outer) const;

private:
  struct Edit {
    unsigned offset; // behind this many bytes of the original
    std::string text;
  };
  std::string edited(clang::FileID file, const std::vector<Edit> &edits) const;

  const clang::SourceManager &inner;
  std::map<clang::FileID, std::vector<Edit>> edits; // in order of insertion
};

} // namespace tc

#endif
