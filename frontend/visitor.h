// visitor.h - a traversal of Clang's syntax trees with virtual steps.  Each class that derives from RecursiveASTVisitor takes
// longer to compile than all of the file around it; this one is compiled once.
#ifndef TC_VISITOR_H
#define TC_VISITOR_H

#include "frontend/clang_compat.h"

namespace tc {

class Visitor {
public:
  virtual ~Visitor() = default;

  // Each expression and each type that is written, before what it is made of.
  virtual void visit(const clang::Expr *) {}
  virtual void visit(clang::TypeLoc) {}

  void traverse(const clang::Stmt *);
  void traverse(const clang::Decl *);
};

} // namespace tc

#endif
