// facts.h - what is known between segments: by flow (constants, likely types of tensors) and by
// reading the function (who mentions which variable where, whose address is taken).
#ifndef TC_CAPTURE_FACTS_H
#define TC_CAPTURE_FACTS_H

#include <map>
#include <optional>
#include <set>

#include "frontend/ast_capture/value.h"

namespace tc {

// A type without the graph that it was found in.  A guess: the guards of a segment check it.
struct TypeFact {
  tc_type type = {};     // dtype, rank, weak
  bool doubtful = false; // a valid program may violate it: what contradicts it is no error
  struct Size {
    bool constant;
    int64_t value;
    std::string symbol;
    int64_t lo, hi, multiple;
    bool operator==(const Size &other) const;
  };
  std::vector<Size> sizes;
  bool same(const TypeFact &other) const; // whatever their doubts
};

struct Facts {
  std::map<const clang::VarDecl *, Value> constants; // leaves: constants, NULL
  std::map<std::string, TypeFact> types;             // by place_key

  // What only one path through the program told since `before` is doubtful behind it.
  void doubt_since(const Facts &before);

  // Where another path joins: sizes that differ on the two are any.
  void join(const Facts &other);

  // What is known of the tensor at a place, or else, doubtful, where an index is known at run time
  // only: of those at others.
  std::optional<TypeFact> at(const Place &place) const;
};

std::string place_key(const Place &place);
std::string name_of_size(llvm::StringRef of, size_t axis); // where nothing else names it

// One walk over a function.  Statements and mentions are numbered in the order of the text.
class Reading {
public:
  explicit Reading(const clang::FunctionDecl *function);

  struct Range {
    unsigned first, last;
  };
  Range range(const clang::Stmt *s) const;

  // Whether the value of the variable behind `statements` can be asked for.
  bool live_behind(const clang::VarDecl *variable, Range statements) const;

  // Whether something that is not in sight may read or write the variable.
  bool escapes(const clang::VarDecl *variable) const { return escaped.count(variable); }

  // A local variable or parameter of this name exists.
  bool hides(llvm::StringRef name) const { return names.count(name.str()); }

  // Whether the label is a target of forward jumps alone, all of them in `statements`.
  bool only_from(const clang::LabelDecl *label, Range statements) const;

  // "setjmp"; "goto": there are jumps backwards, or to labels that are not named.
  bool has(const char *what) const { return oddities.count(what); }

  // Forgets what the statement may change.
  void forget(const clang::Stmt *s, Facts &facts, bool types) const;

private:
  void forget_inside(const clang::Stmt *s, Facts &facts, bool types) const;
  void walk(const clang::Stmt *s, bool allowed);
  void walk_call(const clang::CallExpr *call);
  void escape(const clang::Expr *e);
  void refer(const clang::Expr *e);
  void find_references(const clang::Stmt *s);
  void mention(const clang::DeclRefExpr *e);

  unsigned next = 1;
  std::map<const clang::Stmt *, Range> ranges;
  std::map<const clang::VarDecl *, std::vector<unsigned>> mentions;
  std::map<const clang::VarDecl *, unsigned> declared, scope_end;
  std::vector<const clang::VarDecl *> open; // variables whose scope is being walked
  std::vector<Range> loops;
  std::set<const clang::VarDecl *> escaped;
  std::set<const clang::LabelDecl *> passed; // while walking
  std::map<const clang::LabelDecl *, std::vector<unsigned>> jumps;
  std::set<std::string> names, oddities;

public:
  // What pointers to functions may lead to, as far as it was asked for: pointed.cpp.
  mutable std::map<const void *, std::vector<const clang::FunctionDecl *>> pointed;
};

} // namespace tc

#endif
