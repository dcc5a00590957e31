// ownership.h - which tensors leave the body of a function, and where.
//
// A body that runs has a scope of its own, which frees what its statements made
// (frontend/unit/rewrite.h).  For that to mean what the text means without it, every tensor that
// somebody else may still have when the body ends is handed out, at the moment when its address
// leaves what is known to be the body's: local variables that nobody else looks into, and calls of
// functions that do not keep it.  Where that moment cannot be told, the tensor is handed out too
// soon, or the body gets no scope: what is made then stays with the caller, as it would without all
// this.
#ifndef TC_CAPTURE_OWNERSHIP_H
#define TC_CAPTURE_OWNERSHIP_H

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/ast_capture/message.h"

namespace tc {

struct Exit {
  enum Kind {
    HandedOut, // the tensor is put or passed where it may be kept
    Returned,  // the tensor is the result
    Unseen,    // the call may make tensors and keep them
    Argument   // of such a call: what is made on the way to it is the body's again
  } kind;
  const clang::Expr *e;
  std::vector<Exit> inside;
};

// How far what is put in a local variable goes.
enum class Escape {
  None,   // nobody else looks into the variable
  Result, // it leaves as the result of the function, a struct
  Shared  // others may look into it
};

struct Ownership {
  std::string obstacle; // why the body can have no scope of its own; "": it can
  bool makes = false;   // there is something to free
  bool own = false;     // it begins with TC_FUNCTION_SCOPE, or does behind what makes nothing
  bool contained =
      false; // what is made in there can leave as the result only, and no argument is kept
  bool gives =
      false; // the result is a struct, and has tensors in it that were made there or are arguments
  bool passes = false;     // arguments among them, or whatever else is no new tensor
  std::vector<Exit> exits; // in the order of the text
  std::map<const clang::VarDecl *, Escape>
      escapes; // of local variables that are not the function's own

  bool wanted() const { return makes && !own; }
  // Whether it is an object of the body's own: C++'s references are names of others.
  bool holds(const clang::VarDecl *variable) const {
    return is_object(variable) && !escapes.count(variable);
  }
  // Whether it leaves as the result, and by nothing else.
  bool returns(const clang::VarDecl *variable) const {
    if (!is_object(variable)) return false;
    auto at = escapes.find(variable);
    return at != escapes.end() && at->second == Escape::Result;
  }

private:
  static bool is_object(const clang::VarDecl *variable) {
    return variable && variable->hasLocalStorage() && !variable->getType()->isReferenceType();
  }
};

// Those of the functions of a file.  `scoped` are the compiled functions: their texts can be
// changed.
class Owners {
public:
  Owners(clang::ASTContext &context, std::set<const clang::FunctionDecl *> scoped)
      : context(context), scoped(std::move(scoped)) {}

  // Of a definition; null while it is being looked at.
  const Ownership *of(const clang::FunctionDecl *definition);
  bool has_scope(const clang::FunctionDecl *definition) const { return scoped.count(definition); }

  clang::ASTContext &context;

private:
  std::set<const clang::FunctionDecl *> scoped;
  std::map<const clang::FunctionDecl *, std::unique_ptr<Ownership>> known;
};

// Whether it opens a scope: TC_SCOPE for its body, TC_FUNCTION_SCOPE for the rest of its block.
bool opens_scope(const clang::Stmt *s);
bool opens_rest(const clang::Stmt *s);
// Whether it is TC_NO_GRAD, a loop that runs its body once.
bool opens_no_grad(const clang::Stmt *s);
// The dtype that TC_AUTOCAST is given, likewise such a loop; nullptr: it is none.
const clang::Expr *opens_autocast(const clang::Stmt *s);

// Whether the function is one of tcompile.h.
bool is_library(const clang::FunctionDecl *callee);

// What gives the value of e, behind parentheses, casts and commas (as in the macros of
// locations.h).
const clang::Expr *source_of(const clang::Expr *e);

// Whether such a function returns a tensor that it made: not in place, and not tc_keep.
bool makes_result(const clang::FunctionDecl *callee);

// What `function` returns out of an open scope that frees it.
std::vector<Message> lost_results(clang::ASTContext &context, const clang::FunctionDecl *function);

} // namespace tc

#endif
