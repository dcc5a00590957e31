// words.h - what a file says behind its preprocessing, to this compiler and to another one.
//
// The tool parses with Clang what another compiler compiles.  Both read the same files, but
// conditions and macros that depend on the compiler may choose other code.  So the other one's
// tokens (TC_REC_TOKENS) are compared with those of the inner parse.  Tokens of system headers are
// not: what a macro of theirs makes counts by its value.
#ifndef TC_DRIVER_WORDS_H
#define TC_DRIVER_WORDS_H

#include <string>
#include <vector>

#include "frontend/clang_compat.h"

namespace tc {

// A token; or what a macro of the system's makes, as one.
struct Word {
  unsigned file = 0, line = 0;    // a number of Words::files
  std::string text;               // or the macro's name
  bool system = false;            // such a macro
  bool place = false;             // __LINE__ and its kin, which compilers count in their own way
  std::vector<std::string> made;  // by it, without its arguments
  clang::SourceLocation loc = {}; // of this compiler's
};

struct Words {
  std::vector<std::string> files; // by number, without "./"
  std::vector<Word> list;
  bool precompiled = false; // some headers are missing

  unsigned number(llvm::StringRef file);
};

// false: the record is not whole.
bool read_words(llvm::StringRef record, Words &words);

// What this compiler reads, from its preprocessor.
class WordRecorder {
public:
  explicit WordRecorder(const clang::Preprocessor &preprocessor) : preprocessor(preprocessor) {}
  void add(const clang::Token &token);
  Words words;

private:
  struct Origin {
    clang::SourceLocation loc;
    bool passed; // by an argument of a macro of the system's
  };
  Origin origin_of(clang::SourceLocation loc) const;
  clang::SourceLocation system_macro(clang::SourceLocation loc) const;
  bool is_system(clang::SourceLocation loc) const;
  bool defined_by_system(clang::SourceLocation made) const;

  const clang::Preprocessor &preprocessor;
  bool in_pragma = false;
  clang::SourceLocation place;                                  // whose tokens come
  std::vector<std::pair<clang::SourceLocation, size_t>> macros; // of there, and their words
  std::vector<clang::SourceLocation> passed;                    // once is enough
};

// Whether both mean the same.
bool same_word(const Word &a, const Word &b);

// What one of them reads and the other does not, or otherwise: [first, last) of each list.
struct Difference {
  size_t first, last, other_first, other_last;
};
std::vector<Difference> differences(const Words &own, const Words &other);

} // namespace tc

#endif
