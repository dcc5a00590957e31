// agreement.h - which functions mean to another compiler what they mean to this one.
//
// A function is compiled only if both read the same in it and in all that it reaches (functions and
// variables it refers to, types, enumerators), and make the same of types and constants there.
// What differs elsewhere in the file is no matter, and neither are errors there: this compiler may
// know less than the other.
#ifndef TC_DRIVER_AGREEMENT_H
#define TC_DRIVER_AGREEMENT_H

#include <optional>

#include "driver/types.h"
#include "driver/words.h"
#include "frontend/ast_capture/message.h"

namespace tc {

class Reach;

class Agreement {
public:
  // A TC_REC_TOKENS and a TC_REC_TYPES of the other compiler's; empty: it is trusted to read the
  // same, or to make the same of it.
  Agreement(const clang::Preprocessor &preprocessor, llvm::StringRef tokens, llvm::StringRef types);

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

  std::optional<Trouble> difference_of_types(const Reach &reach,
                                             const clang::ASTContext &context) const;

  const clang::SourceManager &sources;
  WordRecorder own;
  Words other;
  const OtherTypes types;
  bool compared = false, done = false;
  std::vector<Trouble> troubles;
};

} // namespace tc

#endif
