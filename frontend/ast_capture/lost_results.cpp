// lost_results.cpp - tensors that a function returns out of a scope that frees them.
#include "frontend/ast_capture/evaluator.h"
#include "frontend/ast_capture/ownership.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

namespace {

class LostResults {
public:
  LostResults(ASTContext &context, const FunctionDecl *function) : context(context) {
    walk(function->getBody());
    for (const Found &each : found)
      if (!each.variable || !settled.count(each.variable)) tell(each.e);
  }
  std::vector<Message> messages;

private:
  struct Found {
    const Expr *e;
    const VarDecl *variable; // that holds it, or null
  };

  void walk(const Stmt *s);
  void result(const Expr *e);
  void tell(const Expr *e);
  static bool makes(const Expr *e);

  ASTContext &context;
  int scopes = 0;
  std::set<const VarDecl *> made, settled; // in a scope that is open; assigned again, kept, shared
  std::vector<Found> found;
};

bool LostResults::makes(const Expr *e) {
  const auto *call = dyn_cast<CallExpr>(source_of(e));
  return call && is_library(call->getDirectCallee()) && makes_result(call->getDirectCallee());
}

// `return tc_relu(x);`, or of a variable of the scope that holds such a tensor all the time.
void LostResults::result(const Expr *e) {
  const Expr *written = e;
  e = source_of(e);
  if (const auto *choice = dyn_cast<ConditionalOperator>(e)) {
    result(choice->getTrueExpr());
    return result(choice->getFalseExpr());
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e);
  const auto *variable = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  if (makes(e)) found.push_back({written, nullptr});
  if (variable && made.count(variable)) found.push_back({written, variable});
}

void LostResults::walk(const Stmt *s) {
  if (!s || isa<UnaryExprOrTypeTraitExpr>(s)) return;
  const int before = scopes;
  scopes += opens_scope(s);
  if (const auto *declaration = dyn_cast<DeclStmt>(s); declaration && scopes)
    for (const Decl *d : declaration->decls())
      if (const auto *v = dyn_cast<VarDecl>(d); v && v->hasLocalStorage() && v->hasInit())
        if (is_tensor_pointer(v->getType()) && makes(v->getInit())) made.insert(v);
  const auto *returned = dyn_cast<ReturnStmt>(s);
  if (returned && scopes && returned->getRetValue()) result(returned->getRetValue());
  const Expr *changed = nullptr; // a variable that may not hold what it was declared with
  if (const auto *op = dyn_cast<BinaryOperator>(s); op && op->isAssignmentOp())
    changed = op->getLHS();
  if (const auto *op = dyn_cast<UnaryOperator>(s); op && op->getOpcode() == UO_AddrOf)
    changed = op->getSubExpr();
  if (const auto *call = dyn_cast<CallExpr>(s); call && call->getDirectCallee())
    if (call->getDirectCallee()->getDeclName().isIdentifier() && call->getNumArgs() &&
        !(is_library(call->getDirectCallee()) && call->getDirectCallee()->getName() != "tc_keep"))
      for (const Expr *arg : call->arguments())
        if (const auto *ref = dyn_cast<DeclRefExpr>(source_of(arg)))
          if (const auto *v = dyn_cast<VarDecl>(ref->getDecl())) settled.insert(v);
  if (changed)
    if (const auto *ref = dyn_cast<DeclRefExpr>(changed->IgnoreParens()))
      if (const auto *v = dyn_cast<VarDecl>(ref->getDecl())) settled.insert(v);
  for (const Stmt *child : s->children()) {
    walk(child);
    if (isa<CompoundStmt>(s)) scopes += opens_rest(child);
  }
  scopes = before;
}

void LostResults::tell(const Expr *e) {
  CharSourceRange range =
      Lexer::makeFileCharRange(CharSourceRange::getTokenRange(e->getSourceRange()),
                               context.getSourceManager(), context.getLangOpts());
  StringRef text = Lexer::getSourceText(range, context.getSourceManager(), context.getLangOpts());
  Message m = {TC_WARNING,
               range.isValid() ? range.getBegin() : e->getExprLoc(),
               "the tensor that is returned is freed at the end of its scope, before the caller "
               "sees it; hand it out with tc_keep",
               {range},
               {}};
  if (!text.empty()) m.fixits.push_back({range, "tc_keep(" + text.str() + ")"});
  messages.push_back(std::move(m));
}

} // namespace

std::vector<Message> lost_results(ASTContext &context, const FunctionDecl *function) {
  return function->getBody() ? LostResults(context, function).messages : std::vector<Message>();
}

} // namespace tc
