// functions.cpp - what the programmer says about functions of his own: TC_REPLACES, TC_CONST.
#include "frontend/ast_capture/evaluator.h"

#include "frontend/attributes.h"

namespace tc {

using namespace clang;

// The function that stands in for this one: the last that says so, but not within itself, where the
// call means the original.
const FunctionDecl *Evaluator::stand_in(const FunctionDecl *callee) {
  const FunctionDecl *found = nullptr;
  if (llvm::none_of(callee->redecls(),
                    [](const Decl *d) { return find_attribute(d, replaced_attribute); }))
    return nullptr;
  for (const Decl *decl : context.getTranslationUnitDecl()->decls()) {
    const auto *function = llvm::dyn_cast<FunctionDecl>(decl);
    const auto *name =
        function ? first_argument(find_attribute(function, replaces_attribute)) : nullptr;
    if (name && name->getString() == callee->getName()) found = function;
  }
  auto inside = [&](const Frame &f) {
    return found && f.function->getCanonicalDecl() == found->getCanonicalDecl();
  };
  return found && llvm::none_of(frames, inside) ? found : nullptr;
}

// A number that depends on the arguments alone: the call becomes part of the text that is evaluated
// in front of the kernels.  With an expected value, that value, and a condition.
std::optional<Value> Evaluator::call_pure(const CallExpr *e, const FunctionDecl *callee) {
  const AnnotateAttr *marked = find_attribute(callee, const_attribute);
  QualType type = callee->getReturnType();
  if (!marked && (!callee->hasAttr<ConstAttr>() || callee->hasBody())) return std::nullopt;
  if (!type->isArithmeticType() || callee->isVariadic() ||
      callee->getNumParams() != e->getNumArgs())
    return std::nullopt;
  std::string text = callee->getNameAsString() + "(";
  for (const Expr *argument : e->arguments()) {
    Value v = evaluate(argument);
    if (failed) return Value();
    if (v.kind != Value::Scalars || v.scalar.late) {
      fail(argument->getExprLoc(), "an argument of '" + callee->getNameAsString() +
                                       "', which is TC_CONST, is not a number that is known "
                                       "before the statements run");
      return Value();
    }
    text += (argument == e->getArg(0) ? "" : ", ") + v.scalar.text;
  }
  if (!nameable(callee, e->getExprLoc())) return Value();
  Scalar call = opaque("(" + text + "))", type);
  const StringLiteral *expected = marked ? first_argument(marked) : nullptr;
  if (!expected) return Value::of(call);
  if (maybe) {
    fail(e->getExprLoc(), "whether '" + callee->getNameAsString() +
                              "' is called is not known at build time, and so not its value");
    return Value();
  }
  double number = 0;
  long long whole = 0;
  bool integer = !expected->getString().getAsInteger(0, whole);
  expected->getString().getAsDouble(number);
  Scalar value = integer ? integer_constant(llvm::APSInt::get(whole), context.LongLongTy)
                         : floating_constant(number, context.DoubleTy);
  value = convert(value, type);
  add_condition(call.text + " == " + value.text);
  return Value::of(value);
}

} // namespace tc
