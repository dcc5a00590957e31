// visitor.cpp - see visitor.h.
#include "frontend/visitor.h"

#include "clang/AST/RecursiveASTVisitor.h"

namespace tc {

using namespace clang;

namespace {

class Traversal : public RecursiveASTVisitor<Traversal> {
public:
  explicit Traversal(Visitor &visitor) : visitor(visitor) {}

  bool VisitExpr(Expr *e) {
    visitor.visit(e);
    return true;
  }
  bool VisitTypeLoc(TypeLoc type) {
    visitor.visit(type);
    return true;
  }

private:
  Visitor &visitor;
};

} // namespace

void Visitor::traverse(const Stmt *s) { Traversal(*this).TraverseStmt(const_cast<Stmt *>(s)); }

void Visitor::traverse(const Decl *decl) {
  Traversal(*this).TraverseDecl(const_cast<Decl *>(decl));
}

} // namespace tc
