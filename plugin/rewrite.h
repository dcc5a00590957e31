// rewrite.h - the source text that the user's compilation sees instead of what is on disk.
//
//   tc_tensor *f(const tc_tensor *x) {            tc_tensor *f(const tc_tensor *x) {
//     return tc_exp(x);                 =>        { ...guarded call... }{
//   }                                               return tc_exp(x);
//                                                 }}
//
// A segment that is not the whole body is called in front of its first statement; when the call
// did the work, a goto leads behind the last one.
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

class Rewriter {
public:
  explicit Rewriter(const clang::SourceManager &inner) : inner(inner) {}

  // Whether the function's text can be replaced; else why not.
  std::string obstacle(const clang::FunctionDecl *function) const;

  // Puts the guarded call of a segment around its statements.
  void insert(const clang::FunctionDecl *function, const Segment &segment);

  // Adds text behind the main file.
  void append(const std::string &text);

  // Gives the new texts to the user's compilation, which has not entered any of the files yet.
  void apply(clang::CompilerInstance &outer) const;

private:
  struct Edit {
    unsigned offset; // behind this many bytes of the original
    std::string text;
  };
  void insert_whole(const clang::FunctionDecl *function, const std::string &call);
  void insert_part(const Segment &segment, const std::string &call, const std::string &tail);
  std::string edited(clang::FileID file, const std::vector<Edit> &edits) const;

  const clang::SourceManager &inner;
  unsigned labels = 0;
  std::map<clang::FileID, std::vector<Edit>> edits; // in order of insertion
};

} // namespace tc

#endif
