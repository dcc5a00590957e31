// pointed.cpp - calls through pointers that are known at run time only: a way for each function that
// the pointer may lead to.
#include "frontend/ast_capture/evaluator.h"
#include "frontend/visitor.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;

namespace {

// Functions of a type whose address is taken.
class Addresses : public Visitor {
public:
  Addresses(ASTContext &context, QualType type) : context(context), type(type) {}

  void visit(const Expr *e) override {
    if (const auto *call = dyn_cast<CallExpr>(e))
      called.insert(call->getCallee()->IgnoreParenImpCasts());
    const auto *name = dyn_cast<DeclRefExpr>(e);
    const auto *function = name ? dyn_cast<FunctionDecl>(name->getDecl()) : nullptr;
    if (function && !called.count(e) && context.hasSameUnqualifiedType(function->getType(), type))
      list.insert(function->getCanonicalDecl());
  }

  llvm::SetVector<const FunctionDecl *> list;

private:
  ASTContext &context;
  QualType type;
  llvm::DenseSet<const Stmt *> called;
};

} // namespace

// Those that a pointer may lead to which lies there: of a constant table what stands in it, else of
// the file.
llvm::ArrayRef<const FunctionDecl *> Evaluator::pointed_to(const Place &place, bool &all) {
  const VarDecl *root = place.root;
  const bool table = root && root->hasGlobalStorage() && root->getType().isConstant(context);
  const Expr *init = table && !place.deref ? constant_initializer(root) : nullptr;
  const QualType type = place.type->getPointeeType();
  all = init != nullptr;
  const void *where = init ? static_cast<const void *>(init) : type.getCanonicalType().getTypePtr();
  auto [at, fresh] = reading.pointed.insert({where, {}});
  if (!fresh) return at->second;
  Addresses addresses(context, type);
  if (init) addresses.traverse(init);
  else addresses.traverse(context.getTranslationUnitDecl());
  at->second.assign(addresses.list.begin(), addresses.list.end());
  return at->second;
}

// The function that is called through a pointer; nullptr: see obstacle.
const FunctionDecl *Evaluator::pointed_function(const Value &pointer, const CallExpr *e) {
  if (pointer.kind == Value::Function) return pointer.function;
  const Place &place = pointer.place;
  bool all = false, asked = false;
  if (pointer.kind == Value::Foreign && place.at_entry && place.type->isFunctionPointerType())
    for (const FunctionDecl *each : pointed_to(place, all)) {
      if (!why_unnameable(each).empty()) {
        all = false;
        continue;
      }
      const std::string text = "(" + place.lvalue() + ") == " + each->getNameAsString();
      auto side = side_taken(text);
      if (!side) side = choose(text);
      if (side ? *side : guessing && !failed) return each; // any tells the types
      if (!side) break;
      asked = true;
    }
  if (failed) return nullptr;
  fail(e->getExprLoc(), asked ? "this pointer may lead to functions of other files, or such as are declared further on"
                              : "a function is called through a pointer; call it by its name");
  obstacle.dead = asked && all;
  return nullptr;
}

} // namespace tc
