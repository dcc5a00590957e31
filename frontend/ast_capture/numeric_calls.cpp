// numeric_calls.cpp - functions of numbers without side effects, of <math.h>, <stdlib.h> and the compiler: a number where
// the arguments are, else called in the text of a scalar.
#include "frontend/ast_capture/evaluator.h"

#include <cmath>

namespace tc {

using namespace clang;
using llvm::StringRef;

// Without the suffixes of their types.
static const char *const of_floating[] = {
    "fabs",  "sqrt",  "cbrt",  "exp",   "exp2",    "expm1",     "log",  "log2",   "log10",
    "log1p", "sin",   "cos",   "tan",   "asin",    "acos",      "atan", "atan2",  "sinh",
    "cosh",  "tanh",  "asinh", "acosh", "atanh",   "erf",       "erfc", "tgamma", "pow",
    "hypot", "floor", "ceil",  "round", "trunc",   "nearbyint", "rint", "fmod",   "remainder",
    "fmin",  "fmax",  "fma",   "fdim",  "copysign"};
static const char *const of_integers[] = {"abs",   "labs",    "llabs",    "clz",
                                          "ctz",   "ffs",     "popcount", "parity",
                                          "clrsb", "bswap16", "bswap32",  "bswap64"};

// Those that are exact, or are where the result is an integer, as counts of rounds are made with.
static const struct {
  const char *name;
  double (*function)(double);
} folded[] = {{"floor", std::floor}, {"ceil", std::ceil}, {"round", std::round},
              {"trunc", std::trunc}, {"sqrt", std::sqrt}, {"log2", std::log2}};

template <size_t N>
static bool is_one_of(StringRef name, const char *const (&names)[N], StringRef suffixes) {
  return llvm::any_of(names, [&](StringRef each) {
    if (!name.starts_with(each)) return false;
    const StringRef rest = name.drop_front(each.size());
    return rest.empty() || rest == "ll" || (rest.size() == 1 && suffixes.contains(rest));
  });
}

// A constant of C's int, or of a type that no promotion changes, as a literal.
static Expr *literal_of(const Scalar &v, ASTContext &context, SourceLocation loc) {
  if (!v.constant) return nullptr;
  if (v.type->isSpecificBuiltinType(BuiltinType::Double))
    return FloatingLiteral::Create(context, llvm::APFloat(v.floating), true, v.type, loc);
  if (!v.type->isIntegerType() || context.getIntWidth(v.type) < context.getIntWidth(context.IntTy))
    return nullptr;
  return IntegerLiteral::Create(context, v.integer, v.type, loc);
}

// The number that it is, for numbers as arguments: Clang knows what most builtins give.
std::optional<Scalar> Evaluator::fold_call(const CallExpr *e, StringRef name,
                                           const std::vector<Scalar> &arguments) {
  const QualType type = e->getType();
  if (arguments.size() == 1 && arguments[0].constant) {
    const Scalar &a = arguments[0];
    for (const auto &each : folded)
      if (name == each.name) return floating_constant(each.function(a.floating), type);
    if (name.ends_with("abs") && type->isIntegerType() && !a.integer.isMinSignedValue())
      return integer_constant(llvm::APSInt(a.integer.abs(), false), type);
  }
  std::vector<Expr *> literals;
  for (const Scalar &each : arguments) {
    literals.push_back(literal_of(each, context, e->getExprLoc()));
    if (!literals.back()) return std::nullopt;
  }
  Expr *callee = const_cast<Expr *>(e->getCallee());
  return constant_expression(CallExpr::Create(context, callee, literals, type, VK_PRValue,
                                              e->getExprLoc(), FPOptionsOverride()));
}

std::optional<Value> Evaluator::call_numeric(const CallExpr *e, const FunctionDecl *callee) {
  if (!callee->getBuiltinID() || !callee->getType()->isFunctionProtoType()) return std::nullopt;
  StringRef name = callee->getName();
  name.consume_front("__builtin_");
  if (!is_one_of(name, of_floating, "fl") && !is_one_of(name, of_integers, "l"))
    return std::nullopt;
  std::vector<Scalar> arguments;
  std::string text = "__builtin_" + name.str() + "(";
  bool late_argument = false;
  for (const Expr *arg : e->arguments()) {
    Value v = evaluate(arg);
    if (failed) return Value();
    if (v.kind != Value::Scalars) return std::nullopt;
    text += (arg == e->getArg(0) ? "" : ", ") + v.scalar.text;
    late_argument = late_argument || v.scalar.late;
    arguments.push_back(v.scalar);
  }
  if (auto known = fold_call(e, name, arguments)) return Value::of(*known);
  Scalar s = opaque(text + ")", e->getType());
  s.late = late_argument;
  return Value::of(s);
}

} // namespace tc
