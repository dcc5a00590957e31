// numeric_calls.cpp - functions of numbers without side effects, of <math.h>, <stdlib.h> and the
// compiler: a number where the arguments are, else called in the text of a scalar.
#include "frontend/ast_capture/evaluator.h"

#include <cmath>

namespace tc {

using namespace clang;
using llvm::StringRef;

// Functions of floating numbers, without the suffixes of their types; the op of those that the
// graph has, for numbers that are read from tensors.
static const struct Floating {
  const char *name;
  tc_op op;
} of_floating[] = {
    {"fabs", OP_ABS},          {"sqrt", OP_SQRT},   {"cbrt", OP_NONE},   {"exp", OP_EXP},
    {"exp2", OP_EXP2},         {"expm1", OP_EXPM1}, {"log", OP_LOG},     {"log2", OP_LOG2},
    {"log10", OP_LOG10},       {"log1p", OP_LOG1P}, {"sin", OP_SIN},     {"cos", OP_COS},
    {"tan", OP_TAN},           {"asin", OP_ASIN},   {"acos", OP_ACOS},   {"atan", OP_ATAN},
    {"atan2", OP_ATAN2},       {"sinh", OP_SINH},   {"cosh", OP_COSH},   {"tanh", OP_TANH},
    {"asinh", OP_ASINH},       {"acosh", OP_ACOSH}, {"atanh", OP_ATANH}, {"erf", OP_ERF},
    {"erfc", OP_ERFC},         {"tgamma", OP_NONE}, {"pow", OP_POW},     {"hypot", OP_HYPOT},
    {"floor", OP_FLOOR},       {"ceil", OP_CEIL},   {"round", OP_NONE},  {"trunc", OP_TRUNC},
    {"nearbyint", OP_NONE},    {"rint", OP_NONE},   {"fmod", OP_FMOD},   {"remainder", OP_NONE},
    {"fmin", OP_LT},           {"fmax", OP_GT},     {"fma", OP_NONE},    {"fdim", OP_NONE},
    {"copysign", OP_COPYSIGN}, {"ldexp", OP_NONE}};
static const char *const of_integers[] = {"abs",   "labs",    "llabs",    "clz",
                                          "ctz",   "ffs",     "popcount", "parity",
                                          "clrsb", "bswap16", "bswap32",  "bswap64"};

// Classes of floating numbers, which are asked for by macros of <math.h>; the op of those whose
// result is 0 or 1.
static const Floating classes[] = {{"isnan", OP_ISNAN},       {"isinf", OP_ISINF},
                                   {"isfinite", OP_ISFINITE}, {"isinf_sign", OP_NONE},
                                   {"isnormal", OP_NONE},     {"signbit", OP_NONE}};

// Those that are exact, or are where the result is an integer, as counts of rounds are made with.
static const struct {
  const char *name;
  double (*function)(double);
} folded[] = {{"floor", std::floor}, {"ceil", std::ceil}, {"round", std::round},
              {"trunc", std::trunc}, {"sqrt", std::sqrt}, {"log2", std::log2}};

// Whether `name` is `function` with the suffix of a type.
static bool is_function(StringRef name, StringRef function, StringRef suffixes) {
  if (!name.consume_front(function)) return false;
  return name.empty() || name == "ll" || (name.size() == 1 && suffixes.contains(name));
}

static const Floating *find_floating(StringRef name) {
  const auto *found =
      llvm::find_if(of_floating, [&](auto &each) { return is_function(name, each.name, "fl"); });
  return found == std::end(of_floating) ? nullptr : found;
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

// The node of the call, with arguments of which some are read from tensors; none where the graph
// has no such op.
tc_ref Evaluator::late_call(StringRef name, const std::vector<Scalar> &arguments, QualType type) {
  const Floating *known = find_floating(name);
  std::vector<tc_ref> in;
  for (const Scalar &each : arguments) {
    if (!known || known->op == OP_NONE || each.type != context.getCanonicalType(type)) return {0};
    in.push_back(late_ref(each, type));
    if (!in.back().id) return {0};
  }
  const tc_loc loc = graph_loc(begins);
  if (in.size() == 1) return tc_build1(graph, known->op, in[0], loc);
  tc_ref y = tc_build2(graph, known->op, in[0], in[1], loc);
  if (known->op != OP_LT && known->op != OP_GT) return y;
  /* The extremum of two, or the one that is no NaN. */
  y = tc_build3(graph, OP_WHERE, y, in[0], in[1], loc);
  return tc_build3(graph, OP_WHERE, tc_build1(graph, OP_ISNAN, in[1], loc), in[0], y, loc);
}

// A string as C text: a literal where it is known, or what a pointer leads to when the statements
// begin.  None: it is written by them, or cannot be named.
std::optional<std::string> Evaluator::string_text(const Value &v, SourceLocation loc) {
  if (auto known = known_string(v, loc)) {
    const bool plain = llvm::all_of(
        *known, [](char c) { return llvm::isPrint(c) && !StringRef("\"\\?").contains(c); });
    return plain ? std::optional<std::string>("\"" + *known + "\"") : std::nullopt;
  }
  if (failed || v.kind != Value::Pointer || !v.place.at_entry || !v.place.type->isCharType())
    return std::nullopt;
  for (const auto &each : stored)
    if (may_alias(context, each.first, v.place)) return std::nullopt;
  return value_text(v, loc);
}

// Lengths and comparisons of strings: numbers where these are known, as tables are searched by
// name; else calls in the text of a scalar, as options are asked for that the program has as
// strings.
std::optional<Value> Evaluator::call_on_strings(const CallExpr *e, StringRef name) {
  const bool part = name == "strncmp";
  const unsigned strings = name == "strlen" ? 1 : part || name == "strcmp" ? 2 : 0;
  if (!strings || e->getNumArgs() != strings + part) return std::nullopt;
  std::string known[2], text = "__builtin_" + name.str() + "(";
  bool all_known = true, nameable = true;
  for (unsigned i = 0; i < strings; i++) {
    const Value v = evaluate(e->getArg(i));
    auto letters = failed ? std::nullopt : known_string(v, e->getExprLoc());
    auto named = failed ? std::nullopt : string_text(v, e->getExprLoc());
    if (failed) return Value();
    if (!letters && !named) return std::nullopt;
    all_known = all_known && letters;
    known[i] = letters.value_or("");
    nameable = nameable && named;
    text += (i ? ", " : "") + named.value_or("");
  }
  if (part) {
    const Value count = evaluate(e->getArg(strings));
    auto n = count.kind == Value::Scalars ? as_constant(count.scalar) : std::nullopt;
    if (failed) return Value();
    if (!n || *n < 0) return std::nullopt;
    for (std::string &each : known) each = each.substr(0, static_cast<size_t>(*n));
    text += ", " + count.scalar.text;
  }
  if (!all_known && !nameable) return std::nullopt;
  if (!all_known) return Value::of(opaque(text + ")", e->getType()));
  const auto length = static_cast<int64_t>(known[0].size());
  const int order = known[0].compare(known[1]);
  const int64_t result = strings == 1 ? length : (order > 0) - (order < 0);
  return Value::of(integer_constant(llvm::APSInt::get(result), e->getType()));
}

// isnan(x) and its kin, which have no prototypes: they take numbers of any floating type as they
// are.
std::optional<Value> Evaluator::call_class(const CallExpr *e, StringRef name) {
  const Floating *known = llvm::find_if(classes, [&](auto &each) { return name == each.name; });
  if (known == std::end(classes) || e->getNumArgs() != 1) return std::nullopt;
  const Value v = evaluate(e->getArg(0));
  if (failed) return Value();
  if (v.kind != Value::Scalars || !v.scalar.type->isRealFloatingType()) return std::nullopt;
  const Scalar &x = v.scalar;
  if (auto folded = fold_call(e, name, {x})) return Value::of(*folded);
  Scalar s = opaque("__builtin_" + name.str() + "((" + type_name(x.type) + ")" + x.text + ")",
                    e->getType());
  s.late = x.late;
  const tc_ref ref = s.late && known->op != OP_NONE ? late_ref(x, x.type) : tc_ref{0};
  if (ref.id) s.ref = tc_build1(graph, known->op, ref, graph_loc(begins));
  return Value::of(s);
}

std::optional<Value> Evaluator::call_numeric(const CallExpr *e, const FunctionDecl *callee) {
  if (!callee->getBuiltinID()) return std::nullopt;
  StringRef name = callee->getName();
  name.consume_front("__builtin_");
  if (auto v = call_class(e, name)) return v;
  if (!callee->getType()->isFunctionProtoType()) return std::nullopt;
  if (auto v = call_on_strings(e, name)) return v;
  const bool integers =
      llvm::any_of(of_integers, [&](auto each) { return is_function(name, each, "l"); });
  if (!integers && !find_floating(name)) return std::nullopt;
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
  if (s.late) s.ref = late_call(name, arguments, e->getType());
  return Value::of(s);
}

// C++'s std::min and std::max of two floating numbers, whose result is a reference to one of them:
// that number.  (Of integers, which sizes may depend on, there is code for each.)
std::optional<Value> Evaluator::call_extremum(const CallExpr *e) {
  const FunctionDecl *callee = e->getDirectCallee();
  if (!callee || !callee->isInStdNamespace() || !callee->getDeclName().isIdentifier() ||
      e->getNumArgs() != 2 || !e->getType()->isRealFloatingType())
    return std::nullopt;
  const bool most = callee->getName() == "max";
  if (!most && callee->getName() != "min") return std::nullopt;
  const Value a = evaluate(e->getArg(0)), b = evaluate(e->getArg(1));
  if (failed) return Value();
  if (a.kind != Value::Scalars || b.kind != Value::Scalars) return std::nullopt;
  const Scalar &x = a.scalar, &y = b.scalar;
  const Scalar second =
      most ? binary(BO_LT, x, y, context.IntTy) : binary(BO_LT, y, x, context.IntTy);
  if (auto known = truth(second)) return *known ? b : a;
  return Value::of(choice_of(second, y, x, e->getType()));
}

} // namespace tc
