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
// A body that runs has a scope of its own: a variable at its head whose cleanup frees what was
// made, and calls around the expressions through which tensors leave it
// (frontend/ast_capture/ownership.h).  Where all that is done in place of the body is one call, the
// scope stands behind that.
//
// Where the place of a call is inside of what a macro expands to, the invocation is replaced by its
// expansion, on one line and without warnings.
//
// #line directives keep the lines (and padding the columns) of the body as they were; pragmas or
// line markers keep the inserted text silent under every warning flag; extra braces, or pragmas
// around declarations that calls stand in front of, do so for -Wdeclaration-after-statement.
#ifndef TC_UNIT_REWRITE_H
#define TC_UNIT_REWRITE_H

#include <map>
#include <string>
#include <vector>

#include "frontend/unit/expansion.h"
#include "frontend/ast_capture/capture.h"
#include "frontend/ast_capture/ownership.h"

namespace tc {

// Of the new text.  Clang: pragmas make inserted text silent.  Gnu: line markers say that it is a
// system header's, which GCC, Clang and their kin all understand.
enum class Dialect { Clang, Gnu };

class Rewriter {
public:
  // mixed: declarations behind statements make warnings.
  Rewriter(const clang::SourceManager &inner, const Expansions &expansions, Dialect dialect,
           bool mixed)
      : inner(inner), expansions(expansions), dialect(dialect), mixed(mixed) {}

  // Whether the function's text can be replaced; else why not.
  std::string obstacle(const clang::FunctionDecl *function) const;

  // Puts the guarded call of a segment, which stays where it is, around its statements.  Returns
  // why that cannot be, or "".
  // `scope`: the ownership of the body whose scope the call stands in, or null.
  std::string insert(const clang::FunctionDecl *function, const Segment &segment,
                     const Ownership *scope);

  // Opens the scope of a body, at its head; and puts the calls around what leaves it.  Likewise.
  std::string open_scope(const clang::FunctionDecl *function);
  std::string insert_exits(const clang::FunctionDecl *function, const std::vector<Exit> &exits);

  void withdraw(const Segment &segment);
  void withdraw(const clang::FunctionDecl *function);
  bool withdraw_scopes(); // of all functions, which rely on each other; whether there were any
  bool empty() const { return edits.empty(); }
  unsigned count() const { return expansions.count(); }

  // The calls of entries name them with the suffix: they are those of another object.
  void name_entries(const std::string &suffix);

  // Adds text behind the main file.
  void append(const std::string &text);

  // The new texts of the files that have some.
  std::map<clang::FileID, std::string> texts() const;
  const clang::SourceManager &original() const { return inner; }

  // What is new in the files, in order: what was inserted, and tokens of expansions.
  struct Piece {
    unsigned begin, size; // in the new text
    unsigned offset;      // what it stands for, or stands behind, in the original
    unsigned behind;      // where the original goes on
    bool inserted;
  };
  std::map<const clang::FileEntry *, std::vector<Piece>> pieces() const;

private:
  struct Edit {
    unsigned offset; // behind this many bytes of the original
    std::string text;
    const clang::FunctionDecl *function; // whose statements these are; none: appended
    const Segment *segment;              // whose call this is
    size_t token = Expansions::none;     // in the expansion at `offset`: in front of this one
    bool after = false;                  // or behind it
    bool scope = false;                  // of a body
    bool closes = false;                 // the end of a segment
    bool split = false;                  // of a declaration that the segment leads past
  };
  struct Output {
    std::string text;
    std::vector<Piece> pieces;
  };
  using Edits = std::vector<const Edit *>;

  std::string insert_whole(const clang::FunctionDecl *function, const Segment &segment,
                           const std::string &call);
  void put_splits(const clang::FunctionDecl *function, const Segment &segment);
  std::string insert_part(const clang::FunctionDecl *function, const Segment &segment,
                          const std::string &call, const std::string &tail);
  std::string put_beside(clang::SourceLocation loc, bool after, Edit edit);
  std::string put_inside(clang::SourceLocation loc, bool after, Edit edit);
  void put_line(clang::FileID file, Edit edit);
  void keep_order_silent(const clang::FunctionDecl *function, const Segment &segment);
  std::string silence(clang::SourceLocation loc) const;
  std::string end_silence(clang::SourceLocation loc) const;
  std::string marker(clang::SourceLocation loc, bool system) const;
  static Edits sorted(const std::vector<Edit> &edits);
  Output edited(clang::FileID file, const std::vector<Edit> &edits) const;
  void expand(const Expansions::Invocation &invocation, llvm::ArrayRef<const Edit *> inside,
              Output &out) const;
  template <class Which> void drop(Which which);

  const clang::SourceManager &inner;
  const Expansions &expansions;
  const Dialect dialect;
  const bool mixed;
  unsigned labels = 0;
  std::map<clang::FileID, std::vector<Edit>> edits; // in order of insertion
};

} // namespace tc

#endif
