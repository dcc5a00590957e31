// agreement.h - which functions mean to another compiler what they mean to this one.
//
// A function is compiled only if both read the same in it and in all that it reaches: functions and variables it
// refers to, types, enumerators.  What differs elsewhere in the file is no matter, and neither are errors there: this
// compiler may know less than the other.
#ifndef TC_DRIVER_AGREEMENT_H
#define TC_DRIVER_AGREEMENT_H

#include <optional>

#include "driver/words.h"
#include "frontend/ast_capture/message.h"

namespace tc {

class Agreement {
public:
  // tokens: a TC_REC_TOKENS of the other compiler's; empty: it is trusted to read the same.
  Agreement(const clang::Preprocessor &preprocessor, llvm::StringRef tokens);

  // Of the parse, as they come.
  void add(const clang::Token &token) {
    if (compared) own.add(token);
  }
  void add_error(clang::SourceLocation loc, llvm::StringRef text);

  // Behind the parse: why the function must stay as it is, or nothing.
  std::optional<Message> objection(const clang::FunctionDecl *function);

private:
  struct Place {
    unsigned file, line; // a number of own.words.files
  };
  // What is wrong with some lines.
  struct Trouble {
    std::vector<Place> places;
    clang::SourceLocation loc; // where to point to; invalid: the function
    std::string text;
  };
  void compare();
  Trouble trouble_of(const Difference &d);
  bool concerns(const Trouble &trouble, const clang::Decl *decl);

  const clang::SourceManager &sources;
  WordRecorder own;
  Words other;
  bool compared = false, done = false;
  std::vector<Trouble> troubles;
};

} // namespace tc

#endif
