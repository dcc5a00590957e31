// lambdas.cpp - C++'s lambdas: a closure is a struct of what is captured, by value or as a pointer
// to what a reference names; its call binds these and follows the body.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;

bool is_lambda(const FunctionDecl *callee) {
  const auto *method = llvm::dyn_cast_or_null<CXXMethodDecl>(callee);
  return method && method->getParent()->isLambda();
}

Value Evaluator::evaluate_lambda(const LambdaExpr *e) {
  Value closure = Value::of(Value::Aggregate);
  auto init = e->capture_init_begin();
  for (const LambdaCapture &each : e->captures()) {
    const Expr *captured = *init++;
    if (failed) return {};
    if (each.getCaptureKind() == LCK_ByRef && each.capturesVariable()) {
      auto place = refer(captured);
      closure.parts.push_back(place ? Value::of(Value::Pointer, *place) : Value());
    } else if (each.getCaptureKind() == LCK_ByCopy || each.getCaptureKind() == LCK_This) {
      closure.parts.push_back(evaluate_initializer(captured, captured->getType()));
    } else {
      fail(e->getExprLoc(), "a lambda captures a copy of its object, or an array without a "
                            "constant length");
    }
  }
  return failed ? Value() : closure;
}

// In the frame of the body: the names of what the closure has.
void Evaluator::bind_captures(const FunctionDecl *callee) {
  Frame &frame = frames.back();
  const Value closure = std::move(frame.self);
  frame.self = Value();
  size_t i = 0;
  for (const LambdaCapture &each : llvm::cast<CXXMethodDecl>(callee)->getParent()->captures()) {
    const Value &part = closure.parts[i++];
    if (each.capturesThis()) {
      frame.self = part;
      continue;
    }
    const auto *variable = llvm::cast<VarDecl>(each.getCapturedVar());
    if (each.getCaptureKind() == LCK_ByRef) frame.referred[variable] = part.place;
    else frame.variables[variable] = new_slot(part);
  }
}

// A call of a closure, of what a lambda without captures became as a pointer, or that conversion.
Value Evaluator::call_lambda(const CallExpr *e, const CXXMethodDecl *callee) {
  const CXXRecordDecl *type = callee->getParent();
  const CXXMethodDecl *body = type->getLambdaCallOperator();
  if (llvm::isa<CXXConversionDecl>(callee)) {
    if (type->isGenericLambda()) fail(e->getExprLoc(), "a lambda of any types becomes a pointer");
    Value v = Value::of(Value::Function);
    v.function = body;
    return failed ? Value() : v;
  }
  const auto *member = dyn_cast<CXXMemberCallExpr>(e);
  Value self = member                              ? object_of_call(member->getImplicitObjectArgument())
               : llvm::isa<CXXOperatorCallExpr>(e) ? object_of_call(e->getArg(0))
                                                   : Value::of(Value::Aggregate);
  if (!failed && self.kind == Value::Pointer) self = load(self.place, e->getExprLoc());
  const size_t captured = static_cast<size_t>(std::distance(type->captures_begin(), type->captures_end()));
  const bool copies = llvm::any_of(type->captures(), [](const LambdaCapture &each) {
    return each.getCaptureKind() == LCK_ByCopy;
  });
  const FunctionDecl *definition = nullptr;
  if (failed) return {};
  const bool made = self.kind == Value::Aggregate && self.parts.size() == captured;
  if ((made || !captured) && callee->hasBody(definition) &&
      !(copies && !callee->isConst()))
    return call_visible(e, definition, self);
  fail(e->getExprLoc(), copies && !callee->isConst()
                            ? "a lambda changes its copies of variables; capture them by reference"
                            : "a lambda is called that these statements do not make");
  return {};
}

} // namespace tc
