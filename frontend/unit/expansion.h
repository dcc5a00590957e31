// expansion.h - what macros expanded to, token by token.
//
// A call of kernels that belongs between two statements of one macro invocation has no place in the
// file.  The invocation is replaced by its expansion then, and the call goes between two tokens.
#ifndef TC_UNIT_EXPANSION_H
#define TC_UNIT_EXPANSION_H

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/clang_compat.h"

namespace tc {

class Expansions {
public:
  // Takes note of everything that the preprocessor, which lives longer, makes from now on.
  // also: gets every token.
  void watch(clang::Preprocessor &made_by,
             std::function<void(const clang::Token &)> also = nullptr);

  // Tokens are numbered; those of one invocation in the file stand together.
  static constexpr size_t none = SIZE_MAX;
  size_t find(clang::SourceLocation loc) const;
  bool is_semicolon(size_t token) const {
    return token < tokens.size() && tokens[token].is(clang::tok::semi);
  }

  // An invocation that stands in the file itself.
  struct Invocation {
    clang::FileID file;
    unsigned begin, end; // bytes of the file
    size_t first, last;  // tokens [first, last)
    bool fixed;          // not to be replaced: pragmas are no tokens, and __COUNTER__ counts
  };
  Invocation around(size_t token) const;

  // How often __COUNTER__ stands in the file.
  unsigned count() const { return preprocessor->getCounterValue(); }

  std::string spelling(size_t token) const;
  clang::SourceLocation location(size_t token) const { return tokens[token].getLocation(); }
  // Names of the invocation that are macros, and must not be expanded once more.
  std::set<std::string> macros(const Invocation &invocation) const;

private:
  bool fixes(llvm::StringRef word, clang::SourceLocation at,
             std::set<const clang::IdentifierInfo *> &seen) const;

  clang::Preprocessor *preprocessor = nullptr;
  std::vector<clang::Token> tokens; // out of macros
  std::map<unsigned, size_t> numbers;
};

} // namespace tc

#endif
