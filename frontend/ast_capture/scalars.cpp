// scalars.cpp - C arithmetic on integers and floating-point values: folded where constant, kept as
// an expression of sizes where the result is one, and always kept as C text of the same type.
#include "frontend/ast_capture/evaluator.h"

#include <cmath>

#include "graph/ops/scalar.h"

namespace tc {

using namespace clang;

// ---- types --------------------------------------------------------------------------------------

static QualType plain(ASTContext &context, QualType type) {
  type = context.getCanonicalType(type).getUnqualifiedType();
  if (const auto *en = type->getAs<EnumType>())
    type = context.getCanonicalType(en->getDecl()->getIntegerType()).getUnqualifiedType();
  return type;
}

static bool is_integer(QualType type) { return type->isIntegerType() || type->isBooleanType(); }

// Types whose arithmetic a double can follow exactly after rounding.
static bool folds(QualType type) {
  return type->isSpecificBuiltinType(BuiltinType::Float) ||
         type->isSpecificBuiltinType(BuiltinType::Double);
}

static double rounded(double v, QualType type) {
  return type->isSpecificBuiltinType(BuiltinType::Float) ? static_cast<float>(v) : v;
}

std::string Evaluator::type_name(QualType type) const {
  return type.getAsString(context.getPrintingPolicy());
}

static std::string floating_text(double v) {
  if (std::isnan(v)) return "__builtin_nan(\"\")";
  if (std::isinf(v)) return v < 0 ? "(-__builtin_inf())" : "__builtin_inf()";
  char text[40];
  snprintf(text, sizeof text, "(%.17g)", v);
  if (!strpbrk(text, ".e")) snprintf(text, sizeof text, "(%.17g.0)", v);
  return text;
}

// ---- making scalars -----------------------------------------------------------------------------

Scalar Evaluator::integer_constant(const llvm::APSInt &v, QualType type) {
  Scalar s;
  s.type = plain(context, type);
  s.constant = true;
  unsigned width = s.type->isBooleanType() ? 1 : context.getIntWidth(s.type);
  s.integer = v.extOrTrunc(width);
  s.integer.setIsUnsigned(s.type->isUnsignedIntegerOrEnumerationType());
  if (s.integer.getSignificantBits() <= 63) s.dim = tc_dim_const(s.integer.getExtValue());
  if (s.dim && tc_dim_bad(*s.dim)) s.dim.reset();
  std::string literal = llvm::toString(s.integer, 10);
  llvm::APSInt next = s.integer;
  ++next;
  if (s.integer.isSigned() && s.integer.isMinSignedValue()) // not a literal in C
    literal = llvm::toString(next, 10) + (width > 32 ? "LL - 1" : " - 1");
  else if (s.integer.isUnsigned() && width == 64) literal += "ULL";
  bool plain_int = s.type->isSpecificBuiltinType(BuiltinType::Int) && !s.integer.isNegative();
  if (plain_int) s.text = literal;
  else if (s.type->isSpecificBuiltinType(BuiltinType::UInt)) s.text = literal + "U";
  else s.text = "((" + type_name(s.type) + ")(" + literal + "))";
  return s;
}

Scalar Evaluator::floating_constant(double v, QualType type) {
  Scalar s;
  s.type = plain(context, type);
  s.constant = folds(s.type);
  s.floating = rounded(v, s.type);
  s.text = s.type->isSpecificBuiltinType(BuiltinType::Double)
               ? floating_text(s.floating)
               : "((" + type_name(s.type) + ")" + floating_text(v) + ")";
  return s;
}

Scalar Evaluator::opaque(std::string text, QualType type) {
  Scalar s;
  s.type = plain(context, type);
  s.text = std::move(text);
  return s;
}

Scalar Evaluator::late(std::string text, QualType type, tc_ref ref) {
  Scalar s = opaque(std::move(text), type);
  s.late = true;
  s.ref = ref;
  return s;
}

// A late value's node in the dtype of a C type: those that a graph computes like C.
static std::optional<tc_dtype> like_c(QualType type, ASTContext &context) {
  if (type->isSpecificBuiltinType(BuiltinType::Double)) return TC_F64;
  if (type->isSpecificBuiltinType(BuiltinType::Float)) return TC_F32;
  if (type->isSignedIntegerType() && context.getIntWidth(type) == 64) return TC_I64;
  return std::nullopt;
}

tc_ref Evaluator::late_ref(const Scalar &v, QualType type) {
  auto dtype = like_c(type, context);
  if (!dtype || (v.late && !v.ref.id)) return {0};
  tc_ref ref = v.ref;
  if (v.constant && is_integer(v.type) && v.integer.getSignificantBits() <= 64)
    ref = tc_graph_const_i(graph, TC_I64, true, v.integer.getExtValue(), graph_loc(begins));
  else if (v.constant) ref = tc_graph_const_f(graph, TC_F64, true, v.floating, graph_loc(begins));
  else if (!v.late) ref = as_operand(v, begins);
  return failed || !ref.id ? tc_ref{0} : tc_build_cast(graph, ref, *dtype, graph_loc(begins));
}

// Of a number in a variable: it has the text of all that it is made of, which doubles where the
// variable is read twice in each round of a loop; what an expression makes of it is no longer than
// the program has it.  What the kernels know is read from them; else the loop is one of segments,
// between which numbers are variables.
void Evaluator::bound_text(Scalar &v, SourceLocation loc) {
  static const size_t most = 4096;
  if (v.text.size() <= most) return;
  if (!v.ref.id)
    return fail(loc, "a number is computed of itself too often to be written as one expression");
  std::string &known = number_text_of[v.ref.id];
  if (known.empty()) known = read_behind(v.ref, is_integer(v.type) ? TC_I64 : TC_F64, loc);
  v.text = "((" + type_name(v.type) + ")" + known + ")";
}

static tc_op late_op(BinaryOperatorKind op, bool integers) {
  switch (op) {
  case BO_Add:
    return OP_ADD;
  case BO_Sub:
    return OP_SUB;
  case BO_Mul:
    return OP_MUL;
  case BO_Div:
    return integers ? OP_NONE : OP_DIV;
  case BO_LT:
    return OP_LT;
  case BO_LE:
    return OP_LE;
  case BO_GT:
    return OP_GT;
  case BO_GE:
    return OP_GE;
  case BO_EQ:
    return OP_EQ;
  case BO_NE:
    return OP_NE;
  default:
    return OP_NONE;
  }
}

// The value goes on in the graph where C's arithmetic is the graph's; a comparison's as a bool.  The
// text divides by what it is told to, for it is computed behind all guards, where the program does.
Scalar Evaluator::late_binary(BinaryOperatorKind op, const Scalar &a, const Scalar &b,
                              QualType type) {
  Scalar s =
      late(("(" + a.text + " " + BinaryOperator::getOpcodeStr(op) + " " + b.text + ")").str(), type,
           {0});
  const QualType in = BinaryOperator::isComparisonOp(op) ? a.type : s.type;
  const tc_op node = late_op(op, is_integer(in));
  if (node == OP_NONE || a.type != in || b.type != in) return s;
  tc_ref x = late_ref(a, in), y = late_ref(b, in);
  if (x.id && y.id) s.ref = tc_build2(graph, node, x, y, graph_loc(begins));
  return s;
}

// Whether the text asks for nothing that may not be there, or not be defined.
static bool always_defined(const std::string &text) {
  return text.find_first_of("*[>/%") == std::string::npos;
}

// condition ? a : b, of a late condition that goes on in the graph.
tc_ref Evaluator::late_choice(const Scalar &condition, const Scalar &a, const Scalar &b,
                              QualType type) {
  auto at_hand = [](const Scalar &v) { return v.late || v.constant || always_defined(v.text); };
  const tc_type *asked = condition.ref.id ? tc_graph_type(graph, condition.ref) : nullptr;
  if (!asked || asked->dtype != TC_BOOL || !at_hand(a) || !at_hand(b)) return {0};
  tc_ref x = late_ref(a, type), y = late_ref(b, type);
  if (!x.id || !y.id) return {0};
  return tc_build3(graph, OP_WHERE, condition.ref, x, y, graph_loc(begins));
}

// condition ? a : b, as C text.
Scalar Evaluator::choice_of(const Scalar &condition, const Scalar &a, const Scalar &b,
                            QualType type) {
  Scalar s = opaque("(" + condition.text + " ? " + a.text + " : " + b.text + ")", type);
  s.late = condition.late || a.late || b.late;
  s.ref = late_choice(condition, a, b, s.type);
  return s;
}

std::string text_of(tc_dims *dims, tc_dim dim, const char *prefix) {
  tc_buf out = {};
  tc_dim_print(dims, dim, prefix, &out);
  std::string text = out.text ? out.text : "0"; // out of memory
  tc_buf_free(&out);
  return text;
}

std::string Evaluator::dim_text(tc_dim dim) {
  const std::string text = text_of(dims, dim, size_prefix);
  const bool one = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return one || bare(text) != text ? text : "(" + text + ")";
}

Scalar Evaluator::from_dim(tc_dim dim, QualType type) {
  if (tc_dim_is_const(dim)) return integer_constant(llvm::APSInt::get(tc_dim_value(dim)), type);
  Scalar s = opaque("", type);
  s.text = "((" + type_name(s.type) + ")" + dim_text(dim) + ")";
  s.dim = dim;
  return s;
}

std::optional<Scalar> Evaluator::constant_expression(const Expr *e) {
  QualType type = e->getType();
  if (type->isIntegralOrEnumerationType()) {
    Expr::EvalResult r;
    if (e->EvaluateAsInt(r, context)) return integer_constant(r.Val.getInt(), type);
  } else if (type->isRealFloatingType()) {
    llvm::APFloat v(0.0);
    if (!e->EvaluateAsFloat(v, context)) return std::nullopt;
    bool inexact = false;
    v.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    if (!inexact) return floating_constant(v.convertToDouble(), type);
  }
  return std::nullopt;
}

// ---- conversion ---------------------------------------------------------------------------------

static llvm::APFloat as_float(ASTContext &context, const llvm::APSInt &v, QualType type) {
  llvm::APFloat f(context.getFloatTypeSemantics(type));
  f.convertFromAPInt(v, v.isSigned(), llvm::APFloat::rmNearestTiesToEven);
  bool lost;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return f;
}

// Whether the dim is in this range, which becomes a guard where that is not known.
bool Evaluator::within(tc_dim dim, int64_t least, int64_t most) {
  int64_t lo, hi;
  tc_dim_range(dims, dim, &lo, &hi);
  return (lo >= least && hi <= most) || tc_dim_assume_range(dims, dim, least, most);
}

// Whether `type` holds every value that the dim can take; a narrower one makes that a guard.
bool Evaluator::fits(tc_dim dim, QualType type) {
  if (type->isBooleanType()) return false;
  unsigned width = context.getIntWidth(type);
  bool is_signed = type->isSignedIntegerOrEnumerationType();
  int64_t least = is_signed ? (width >= 64 ? INT64_MIN : -(INT64_C(1) << (width - 1))) : 0;
  int64_t most = width >= 64 ? INT64_MAX : (INT64_C(1) << (width - is_signed)) - 1;
  int64_t lo, hi;
  tc_dim_range(dims, dim, &lo, &hi);
  return !(least == 0 && lo < 0) && within(dim, least, most);
}

// Does integer type `to` hold every value of integer type `from`?
static bool widens(ASTContext &context, QualType from, QualType to) {
  if (!is_integer(from) || !is_integer(to) || from->isBooleanType() || to->isBooleanType())
    return false;
  unsigned narrow = context.getIntWidth(from), wide = context.getIntWidth(to);
  if (from->isUnsignedIntegerOrEnumerationType()) return wide > narrow;
  return to->isSignedIntegerOrEnumerationType() && wide >= narrow;
}

// How a value is made; null for what nobody would follow so far.
static std::shared_ptr<const Arithmetic> arithmetic(BinaryOperatorKind op, const Scalar &a,
                                                    const Scalar &b) {
  const int most = 64;
  int depth = 1 + std::max(a.made ? a.made->depth : 0, b.made ? b.made->depth : 0);
  if (depth > most) return nullptr;
  return std::make_shared<const Arithmetic>(Arithmetic{op, a, b, depth});
}

Scalar Evaluator::convert(const Scalar &v, QualType to, bool explicit_cast) {
  to = plain(context, to);
  if (to == v.type && !explicit_cast) return v;
  if (v.constant && is_integer(v.type)) {
    if (to->isBooleanType()) return integer_constant(llvm::APSInt::get(v.integer != 0), to);
    if (is_integer(to)) return integer_constant(v.integer, to);
    if (folds(to)) return floating_constant(as_float(context, v.integer, to).convertToDouble(), to);
  } else if (v.constant) {
    if (to->isBooleanType()) return integer_constant(llvm::APSInt::get(v.floating != 0), to);
    if (folds(to)) return floating_constant(v.floating, to);
    if (is_integer(to)) {
      llvm::APSInt i(context.getIntWidth(to), to->isUnsignedIntegerOrEnumerationType());
      bool exact;
      if (llvm::APFloat(v.floating).convertToInteger(i, llvm::APFloat::rmTowardZero, &exact) !=
          llvm::APFloat::opInvalidOp)
        return integer_constant(i, to);
    }
  }
  Scalar s = opaque("((" + type_name(to) + ")" + v.text + ")", to);
  s.late = v.late;
  if (v.late && !is_integer(to)) s.ref = late_ref(v, to);
  else if (v.late && v.type == to) s.ref = v.ref;
  if (v.dim && is_integer(to) && fits(*v.dim, to)) s.dim = v.dim;
  else if (!s.late && widens(context, v.type, to)) s.made = arithmetic(BO_Comma, v, v);
  if (!s.late && to->isSpecificBuiltinType(BuiltinType::Double))
    s.whole = is_integer(v.type) && !v.type->isBooleanType() ? std::make_shared<const Scalar>(v)
                                                             : v.whole;
  return s;
}

Value Evaluator::as_kept(const Value &v, const FieldDecl *member) {
  if (!member || !member->isBitField() || v.kind != Value::Scalars) return v;
  const QualType type = member->getType(), wide = context.UnsignedLongLongTy;
  const int64_t width = member->getBitWidth()->EvaluateKnownConstInt(context).getExtValue();
  const int64_t lost = static_cast<int64_t>(context.getTypeSize(wide)) - width;
  const Scalar by = integer_constant(llvm::APSInt::get(lost), context.IntTy);
  const QualType filled =
      type->isSignedIntegerOrEnumerationType() ? QualType(context.LongLongTy) : wide;
  const Scalar high = convert(binary(BO_Shl, convert(v.scalar, wide), by, wide), filled);
  return Value::of(convert(binary(BO_Shr, high, by, filled), type));
}

// ---- operators ----------------------------------------------------------------------------------

std::optional<bool> compare(BinaryOperatorKind op, int order) {
  switch (op) {
  case BO_LT:
    return order < 0;
  case BO_LE:
    return order <= 0;
  case BO_GT:
    return order > 0;
  case BO_GE:
    return order >= 0;
  case BO_EQ:
    return order == 0;
  case BO_NE:
    return order != 0;
  default:
    return std::nullopt;
  }
}

template <class Number>
static std::optional<Number> fold_ring(BinaryOperatorKind op, const Number &a, const Number &b) {
  switch (op) {
  case BO_Add:
    return a + b;
  case BO_Sub:
    return a - b;
  case BO_Mul:
    return a * b;
  default:
    return std::nullopt;
  }
}

static std::optional<llvm::APSInt> fold_integers(BinaryOperatorKind op, const llvm::APSInt &a,
                                                 const llvm::APSInt &b) {
  unsigned width = a.getBitWidth();
  switch (op) {
  case BO_Div:
  case BO_Rem:
    if (b == 0 || (a.isSigned() && a.isMinSignedValue() && b.isAllOnes())) return std::nullopt;
    return op == BO_Div ? a / b : a % b;
  case BO_And:
    return a & b;
  case BO_Or:
    return a | b;
  case BO_Xor:
    return a ^ b;
  case BO_Shl:
  case BO_Shr: {
    if (b.isNegative() || b.getLimitedValue(width) >= width) return std::nullopt;
    unsigned n = static_cast<unsigned>(b.getZExtValue());
    return op == BO_Shl ? a << n : a >> n;
  }
  default:
    return fold_ring(op, a, b);
  }
}

static std::optional<double> fold_floats(BinaryOperatorKind op, double a, double b) {
  return op == BO_Div ? a / b : fold_ring(op, a, b);
}

// C's division truncates and a dim's floors: equal where both sides are known not to be negative.
std::optional<tc_dim> Evaluator::dim_arithmetic(BinaryOperatorKind op, const Scalar &a,
                                                const Scalar &b) {
  if (!a.dim || !b.dim) return std::nullopt;
  int64_t lo_a, lo_b, hi;
  tc_dim_range(dims, *a.dim, &lo_a, &hi);
  tc_dim_range(dims, *b.dim, &lo_b, &hi);
  tc_dim r = TC_DIM_INVALID;
  if (op == BO_Add) r = tc_dim_add(dims, *a.dim, *b.dim);
  else if (op == BO_Sub) r = tc_dim_sub(dims, *a.dim, *b.dim);
  else if (op == BO_Mul) r = tc_dim_mul(dims, *a.dim, *b.dim);
  else if (op == BO_Div && lo_a >= 0 && lo_b >= 1) r = tc_dim_div(dims, *a.dim, *b.dim);
  else if (op == BO_Rem && lo_a >= 0 && lo_b >= 1) r = tc_dim_mod(dims, *a.dim, *b.dim);
  if (tc_dim_bad(r)) return std::nullopt;
  return r;
}

std::optional<bool> Evaluator::compare_dims(BinaryOperatorKind op, tc_dim a, tc_dim b) {
  if (tc_dim_same(tc_dim_norm(dims, a), tc_dim_norm(dims, b))) return compare(op, 0);
  if (tc_dim_known_le(dims, tc_dim_add(dims, a, tc_dim_const(1)), b)) return compare(op, -1);
  if (tc_dim_known_le(dims, tc_dim_add(dims, b, tc_dim_const(1)), a)) return compare(op, 1);
  if (op == BO_LE && tc_dim_known_le(dims, a, b)) return true;
  if (op == BO_GT && tc_dim_known_le(dims, a, b)) return false;
  if (op == BO_GE && tc_dim_known_le(dims, b, a)) return true;
  if (op == BO_LT && tc_dim_known_le(dims, b, a)) return false;
  if ((op == BO_EQ || op == BO_NE) && tc_dim_known_ne(dims, a, b)) return op == BO_NE;
  return std::nullopt;
}

// The constant that `v` op `by` adds to what `v` adds one to: of (x + 1) - 1, 0.  Elements of an
// array that are named so are the same ones.
static std::optional<llvm::APSInt> added_to_sum(BinaryOperatorKind op, const Scalar &v,
                                                const Scalar &by) {
  auto adds = [](BinaryOperatorKind each) { return each == BO_Add || each == BO_Sub; };
  if (!adds(op) || !v.made || !adds(v.made->op) || !v.made->b.constant || !by.constant)
    return std::nullopt;
  if (by.type != v.type || v.made->a.type != v.type) return std::nullopt;
  const llvm::APSInt &first = v.made->b.integer, &second = by.integer;
  bool overflows = false;
  const llvm::APInt sum = op == v.made->op ? first.sadd_ov(second, overflows)
                                           : first.ssub_ov(second, overflows);
  if (first.isSigned() && (overflows || sum.isMinSignedValue())) return std::nullopt;
  return llvm::APSInt(v.made->op == BO_Add ? sum : -sum, first.isUnsigned());
}

Scalar Evaluator::binary(BinaryOperatorKind op, const Scalar &a, const Scalar &b, QualType type) {
  bool integers = is_integer(a.type) && is_integer(b.type);
  bool comparison = BinaryOperator::isComparisonOp(op);
  auto boolean = [&](bool v) { return integer_constant(llvm::APSInt::get(v), type); };
  if (a.constant && b.constant && integers) {
    if (comparison)
      return boolean(*compare(op, a.integer < b.integer ? -1 : a.integer > b.integer));
    if (auto v = fold_integers(op, a.integer, b.integer)) return integer_constant(*v, type);
  } else if (a.constant && b.constant && !is_integer(a.type) && !is_integer(b.type)) {
    bool ordered = !std::isnan(a.floating) && !std::isnan(b.floating);
    if (comparison)
      return boolean(ordered ? *compare(op, a.floating < b.floating ? -1 : a.floating > b.floating)
                             : op == BO_NE);
    if (auto v = fold_floats(op, a.floating, b.floating))
      return floating_constant(rounded(*v, plain(context, type)), type);
  } else if (comparison && a.dim && b.dim) {
    if (auto v = compare_dims(op, *a.dim, *b.dim)) return boolean(*v);
  }
  if (op == BO_LAnd || op == BO_LOr) {
    auto left = truth(a), right = truth(b);
    if (left && *left == (op == BO_LOr)) return boolean(*left);
    if (left && right) return boolean(*right);
  }
  if (a.late || b.late) return late_binary(op, a, b, type);
  if (auto added = added_to_sum(op, a, b)) {
    if (*added == 0) return a.made->a;
    return binary(BO_Add, a.made->a, integer_constant(*added, type), type);
  }
  auto text = [&](const Scalar &v) {
    if (!comparison || !a.dim || !b.dim) return v.text;
    if (!v.constant) return dim_text(*v.dim);
    return llvm::toString(v.integer, 10) + (v.integer.getSignificantBits() > 32 ? "LL" : "");
  };
  std::string whole = (text(a) + " " + BinaryOperator::getOpcodeStr(op) + " " + text(b)).str();
  if (integers && (op == BO_Div || op == BO_Rem) && !b.constant)
    // it may run where guards refuse the sizes that make sense of it
    whole = text(b) + " ? " + whole + " : 0";
  Scalar s = opaque("(" + whole + ")", type);
  if (integers)
    if (auto dim = dim_arithmetic(op, a, b); dim && fits(*dim, s.type)) s.dim = dim;
  bool follows = op == BO_Add || op == BO_Sub || op == BO_Mul;
  if (integers && follows && !s.dim && a.type == s.type && b.type == s.type)
    s.made = arithmetic(op, a, b);
  if (integers && (comparison || op == BO_LAnd || op == BO_LOr)) s.made = arithmetic(op, a, b);
  return s;
}

Scalar Evaluator::unary(UnaryOperatorKind op, const Scalar &a, QualType type) {
  if (op == UO_Plus) return a;
  if (op == UO_LNot) {
    if (auto v = truth(a)) return integer_constant(llvm::APSInt::get(!*v), type);
    Scalar s = opaque("(!" + a.text + ")", type);
    s.late = a.late;
    if (!s.late && is_integer(a.type))
      s.made = arithmetic(BO_EQ, a, integer_constant(llvm::APSInt::get(0), a.type));
    return s;
  }
  if (a.constant && is_integer(a.type) && (op == UO_Minus || op == UO_Not))
    return integer_constant(op == UO_Minus ? llvm::APSInt(-a.integer, a.integer.isUnsigned())
                                           : llvm::APSInt(~a.integer, a.integer.isUnsigned()),
                            type);
  if (a.constant && op == UO_Minus) return floating_constant(-a.floating, type);
  Scalar s = opaque((op == UO_Minus ? "(-" : "(~") + a.text + ")", type);
  s.late = a.late;
  if (a.late && op == UO_Minus)
    if (tc_ref x = late_ref(a, s.type); x.id)
      s.ref = tc_build1(graph, OP_NEG, x, graph_loc(begins));
  if (a.dim && op == UO_Minus) {
    tc_dim negative = tc_dim_sub(dims, tc_dim_const(0), *a.dim);
    if (!tc_dim_bad(negative) && fits(negative, s.type)) s.dim = negative;
  }
  return s;
}

std::optional<bool> Evaluator::truth(const Scalar &v) {
  if (v.constant) return is_integer(v.type) ? v.integer != 0 : v.floating != 0;
  if (v.dim) return compare_dims(BO_NE, *v.dim, tc_dim_const(0));
  return std::nullopt;
}

// ---- into the graph -----------------------------------------------------------------------------

std::optional<int64_t> Evaluator::as_constant(const Scalar &v) const {
  if (v.dim && tc_dim_is_const(*v.dim)) return tc_dim_value(*v.dim);
  return std::nullopt;
}

// Operands are evaluated in front of the kernels, also those of what may not run: then without what
// could go wrong, such as a read through a pointer or a division.
tc_ref Evaluator::scalar_node(const std::string &text, tc_dtype dtype, SourceLocation loc) {
  if (maybe && !always_defined(text)) {
    fail(loc, "whether this number is asked for is not known at build time");
    return {0};
  }
  auto index = static_cast<uint32_t>(scalar_index.size());
  auto [at, fresh] = scalar_index.insert({{text, dtype}, index});
  if (!fresh && !collecting) return tc_graph_scalar_at(graph, at->second)->node;
  if (!collecting) {
    fail(loc, "internal: a scalar appeared late");
    return {0};
  }
  if (fresh) discovered.scalars.push_back({text, dtype, loc});
  // A stand-in of the same type: types are all that the first evaluation is about.
  return dtype == TC_F64 ? tc_graph_const_f(graph, TC_F64, true, 0.5, graph_loc(loc))
                         : tc_graph_const_i(graph, TC_I64, true, 1, graph_loc(loc));
}

// Sums and products of run-time integers, such as `pos + 1`; values that C would wrap are left to
// guards.
std::optional<tc_dim> Evaluator::arithmetic_dim(const Arithmetic &made, SourceLocation loc) {
  Scalar a = made.a, b = made.b;
  a.dim = as_dim(made.a, loc);
  if (failed || made.op == BO_Comma) return a.dim;
  b.dim = as_dim(made.b, loc);
  if (failed) return std::nullopt;
  auto dim = dim_arithmetic(made.op, a, b);
  return dim && fits(*dim, made.a.type) ? dim : std::nullopt;
}

// A run-time integer becomes a symbol that is read from a scalar argument.
tc_dim Evaluator::as_dim(const Scalar &v, SourceLocation loc) {
  if (v.dim) return *v.dim;
  if (v.late) {
    fail(loc, "a size that is read from a tensor");
    return TC_DIM_INVALID;
  }
  if (!is_integer(v.type) || v.constant) {
    fail(loc, v.constant ? "a size of more than 61 bits" : "a size has to be an integer");
    return TC_DIM_INVALID;
  }
  if (v.made && !v.asks())
    if (auto dim = arithmetic_dim(*v.made, loc)) return *dim;
  if (failed) return TC_DIM_INVALID;
  std::string text = "((long long)" + v.text + ")";
  scalar_node(text, TC_I64, loc);
  if (failed) return TC_DIM_INVALID;
  for (const auto &[name, known] : scalar_symbols)
    if (known == text) return tc_dim_sym(dims, name.c_str(), INT64_MIN / 8, INT64_MAX / 8, 1);
  bool identifier = llvm::all_of(v.text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  std::string name = identifier ? v.text : "v" + std::to_string(scalar_symbols.size());
  uint32_t index;
  while (tc_dim_find_sym(dims, name.c_str(), &index)) name += "_";
  unsigned width = std::min(context.getIntWidth(v.type), 60u);
  bool is_signed = v.type->isSignedIntegerOrEnumerationType();
  int64_t most = (INT64_C(1) << (width - is_signed)) - 1;
  tc_dim dim = tc_dim_sym(dims, name.c_str(), is_signed ? -most - 1 : 0, most, 1);
  scalar_symbols[name] = text;
  if (tc_dim_find_sym(dims, name.c_str(), &index)) {
    tc_sym *symbol = tc_dims_sym(dims, index);
    symbol->axis = -1;
    symbol->input = static_cast<int32_t>(scalar_index.at({text, TC_I64}));
  }
  return dim;
}

// A double that an integer was converted to, as that integer, so that what is counted from it is
// known to be whole numbers; none where double does not hold every value that it may have.
tc_ref Evaluator::as_whole(const Scalar &v, SourceLocation loc) {
  const int64_t most = INT64_C(1) << 53;
  if (!v.whole) return {0};
  const tc_dim dim = as_dim(*v.whole, loc);
  if (failed || !within(dim, -most, most)) return {0};
  return tc_graph_dim_value(graph, dim, true, graph_loc(loc));
}

// A scalar operand, weak.
tc_ref Evaluator::as_operand(const Scalar &v, SourceLocation loc) {
  const bool integer = is_integer(v.type);
  if (v.constant && integer)
    return tc_graph_const_i(graph, TC_I64, true, v.integer.getExtValue(), graph_loc(loc));
  if (v.constant) return tc_graph_const_f(graph, TC_F64, true, v.floating, graph_loc(loc));
  if (v.late && !v.ref.id)
    fail(loc, "a number that is computed from a tensor in a way that is not captured; compute it "
              "with tensors of one element");
  if (v.late) return v.ref;
  std::string c_type = integer ? "long long" : "double";
  return scalar_node("((" + c_type + ")" + v.text + ")", integer ? TC_I64 : TC_F64, loc);
}

// ---- beside tensors of an integer dtype ---------------------------------------------------------

static std::string exact_text(double v) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", v);
  return std::string(text).find_first_of(".e") == std::string::npos ? std::string(text) + ".0"
                                                                    : text;
}

// v is truncated to a number of the dtype, the least of which is left to the body.  One comparison
// where that can be: of two, compilers make one of vectors, and a NaN in lanes that nobody uses
// raises an exception then.
static std::string truncates_into(const std::string &v, tc_dtype dtype) {
  const double most = static_cast<double>(tc_dtype_most(dtype));
  const std::string end = exact_text(dtype == TC_I64 ? 0x1p63 : most + 1);
  if (tc_dtype_least(dtype)) return "__builtin_fabs(" + v + ") < " + end;
  return v + " > -1.0 && " + v + " < " + end;
}

// What a number known at run time only has to fulfil to be handed to the kernels as a value of the
// dtype (tc_scalar_fit); "": nothing.  For all else the body runs.
static std::string fitting_condition(const std::string &v, tc_dtype dtype, tc_op op) {
  const tc_scalar_use use = tc_scalar_use_of(op);
  const double least = static_cast<double>(tc_dtype_least(dtype)),
               most = static_cast<double>(tc_dtype_most(dtype));
  if (use == TC_SCALAR_BOUND) return v + " == " + v;
  if (use == TC_SCALAR_VALUE && dtype == TC_BOOL) return "";
  if (use == TC_SCALAR_VALUE) return truncates_into(v, dtype);
  std::string inside = v + " >= " + exact_text(least) + " && " + v +
                       (dtype == TC_I64 ? " < " + exact_text(0x1p63) : " <= " + exact_text(most));
  if (op == OP_EQ || op == OP_NE) inside += " && (double)(long long)" + v + " == " + v;
  return inside;
}

// The scalar of an *_s form beside a tensor of dtype `like`; of integers, graph/ops/scalar.h says
// what it is.
tc_ref Evaluator::fitted(const Scalar &v, tc_dtype like, tc_op &op, const char *function,
                         const Expr *e) {
  SourceLocation loc = e->getExprLoc();
  const tc_loc at = graph_loc(loc);
  if (v.constant) {
    char why[TC_SCALAR_TEXT];
    tc_scalar_value value;
    double number = is_integer(v.type) ? static_cast<double>(v.integer.getExtValue()) : v.floating;
    if (tc_scalar_fit(&op, like, number, &value, why))
      return tc_dtype_is_float(value.dtype)
                 ? tc_graph_const_f(graph, value.dtype, true, value.f, at)
                 : tc_graph_const_i(graph, value.dtype, true, value.i, at);
    error(loc, std::string(function) + ": " + why,
          {CharSourceRange::getTokenRange(e->getSourceRange())});
    return {0};
  }
  const tc_scalar_use use = tc_scalar_use_of(op);
  if (like == TC_I64 && use != TC_SCALAR_REAL)
    if (const tc_ref whole = as_whole(v, loc); whole.id || failed) return whole;
  if (!tc_dtype_is_float(like) && use != TC_SCALAR_REAL) {
    std::string condition = fitting_condition("(" + bare(v.text) + ")", like, op);
    if (!condition.empty() && (v.late || !require(condition, true))) {
      fail(loc, std::string("whether this number is a value of ") + tc_dtype_text(like) +
                    " is known at run time only");
      return {0};
    }
  }
  tc_ref node = as_operand(v, loc);
  if (failed || (use == TC_SCALAR_REAL && !tc_dtype_is_float(like))) return node;
  if (use == TC_SCALAR_COMPARED && !tc_dtype_is_float(like)) {
    if (op == OP_LT || op == OP_GE) node = tc_build1(graph, OP_CEIL, node, at);
    if (op == OP_LE || op == OP_GT) node = tc_build1(graph, OP_FLOOR, node, at);
  }
  return tc_build_cast(graph, node, like, at);
}

} // namespace tc
