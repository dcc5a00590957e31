// lending.h - what functions do with the objects that they are given, and which local variables are
// a function's own.
//
// A helper of which all is visible may only read what it is lent: a list of tensors, a struct by
// its address, a struct as a whole.  What it makes leaves as its result alone.  Where that is a
// struct, tensors that it was lent may leave in it as well; they belong to whoever gets the struct.
#ifndef TC_CAPTURE_LENDING_H
#define TC_CAPTURE_LENDING_H

#include "frontend/ast_capture/ownership.h"

namespace tc {

// Whether objects of the type have pointers to tensors in them.
bool has_tensors(clang::QualType type);

// The variable that an lvalue is, or is a part of; null: it is found by a pointer.
const clang::VarDecl *object_of(const clang::Expr *lvalue);

// Whether a call of a contained function returns a struct in which tensors leave that the function
// made or was given.
bool gives_struct(Owners &owners, const clang::CallExpr *call);

// Whether such a struct may have tensors of the arguments themselves in it, and not only what was
// made of them.
bool passes_arguments(Owners &owners, const clang::CallExpr *call);

// Whether a function of which all is visible keeps nothing and only reads what the argument leads
// to, or has: tensors of a list, members of a struct.
bool lends(Owners &owners, const clang::CallExpr *call, const clang::Expr *argument);

// Of the local variables of a function that are not its own.
std::map<const clang::VarDecl *, Escape> escapes_of_locals(Owners &owners,
                                                           const clang::FunctionDecl *function);

} // namespace tc

#endif
