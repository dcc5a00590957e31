// report.h - messages at the caret.
//
// They arise in the inner parse, or in the core, at places of the inner source manager, and are
// shown by the user's compilation before it has entered the file, whose text may be replaced later.
// So the text as the user wrote it gets a buffer of its own in the outer source manager, and
// messages point there: snippets, carets and fix-its never show generated text.
#ifndef TC_DRIVER_REPORT_H
#define TC_DRIVER_REPORT_H

#include <map>

#include "frontend/ast_capture/message.h"

namespace tc {

class Reporter {
public:
  Reporter(clang::CompilerInstance &outer, const clang::SourceManager &inner)
      : outer(outer), inner(inner) {}

  void show(const Message &message);

private:
  void show_one(const Message &message);
  clang::FileID mirror(clang::FileID file);
  clang::SourceLocation translate(clang::SourceLocation loc);
  clang::CharSourceRange translate(clang::CharSourceRange range);
  bool wanted(tc_severity severity) const;

  clang::CompilerInstance &outer;
  const clang::SourceManager &inner;
  std::map<clang::FileID, clang::FileID> mirrors;
};

} // namespace tc

#endif
