// conditions.cpp - what branches ask of values that are known at run time only.
//
// A condition that has to have one value becomes a condition in front of the call, and what it
// tells holds for all that is captured: `if (m->n != 6) return NULL;` makes m->n the constant 6.
#include "frontend/ast_capture/evaluator.h"

#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

// Without the parentheses around it.
std::string bare(StringRef text) {
  const bool plain = !text.contains('"') && !text.contains('\'');
  while (plain && text.starts_with("(") && text.ends_with(")")) {
    int open = 0;
    size_t i = 0;
    do open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    while (open && ++i < text.size());
    if (i + 1 != text.size()) break;
    text = text.drop_front().drop_back();
  }
  return text.str();
}

std::string Choice::side() const {
  auto in_name = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  if (holds) return text;
  return llvm::all_of(text, in_name) ? "!" + text : "!(" + text + ")";
}

// ---- conditions of the call ---------------------------------------------------------------------

// A condition of the call, unless it cannot stand there.
bool Evaluator::require(const std::string &text, bool holds) {
  auto there = text.empty() || maybe ? std::nullopt : with_sizes_read(text);
  if (!there) return false;
  add_condition(Choice{*there, holds}.side());
  return true;
}

// Of the call, once; in the order in which they may be evaluated.
void Evaluator::add_condition(const std::string &text) {
  if (!llvm::is_contained(conditions, text)) conditions.push_back(text);
}

std::optional<bool> Evaluator::choose(const std::string &condition, const Place *tensor) {
  if (!choices) return std::nullopt;
  const std::string text = bare(condition);
  auto is_it = [&](const Choice &each) { return each.text == text; };
  auto decides = [&](const Choice &each) {
    if (!tensor || each.tensor.empty()) return false;
    return presence == Presence::Together ||
           (presence == Presence::Alike && each.name == tensor->declared);
  };
  const auto given = llvm::find_if(*choices, is_it);
  const auto first = llvm::find_if(chosen, decides);
  Choice choice = {text, true};
  if (given != choices->end()) choice.holds = given->holds;
  else if (first != chosen.end()) choice.holds = first->holds;
  choice.free = first == chosen.end();
  if (tensor) {
    choice.tensor = tensor->lvalue();
    choice.name = tensor->declared;
  }
  if (!require(text, choice.holds)) return std::nullopt;
  if (llvm::none_of(chosen, is_it)) chosen.push_back(choice);
  return choice.holds;
}

std::optional<bool> Evaluator::side_taken(const std::string &condition) const {
  const std::string text = bare(condition);
  for (const Choice &each : chosen)
    if (each.text == text) return each.holds;
  if (llvm::is_contained(conditions, text)) return true;
  return std::nullopt;
}

// ---- what they tell -----------------------------------------------------------------------------

// What comparisons of sizes that came out so tell of them, all parts of && or none of || too, and what
// ! says; whether all of it became a guard.
bool Evaluator::learn_sizes(const Scalar &v, bool holds) {
  if (auto known = truth(v)) return *known == holds;
  if (!v.made || maybe) return false;
  if (v.made->op == (holds ? BO_LAnd : BO_LOr)) {
    const bool left = learn_sizes(v.made->a, holds), right = learn_sizes(v.made->b, holds);
    return left && right;
  }
  if (!BinaryOperator::isComparisonOp(v.made->op)) return false;
  const Scalar &left = v.made->a, &right = v.made->b;
  const bool with_zero = right.constant && right.integer == 0;
  if (left.asks() && with_zero && (v.made->op == BO_EQ || v.made->op == BO_NE))
    return learn_sizes(left, holds == (v.made->op == BO_NE));
  if (!left.dim || !right.dim) return false;
  const auto op = holds ? v.made->op : BinaryOperator::negateComparisonOp(v.made->op);
  const bool less = op == BO_LT || op == BO_LE, strict = op == BO_LT || op == BO_GT;
  const tc_dim a = *left.dim, b = *right.dim;
  if (op == BO_NE) return false;
  if (op == BO_EQ) return !tc_dim_bad(tc_dim_unify(dims, a, b));
  const tc_dim by = less ? tc_dim_sub(dims, b, a) : tc_dim_sub(dims, a, b);
  return tc_dim_assume_range(dims, by, strict, INT64_MAX);
}

// v is the constant: so are the numbers that it is a wider type's value of.
void Evaluator::learn_number(const Scalar &v, const llvm::APSInt &value) {
  if (v.constant || v.late || v.dim) return;
  known_numbers.insert({bare(v.text), value});
  if (v.made && v.made->op == BO_Comma) learn_number(v.made->a, value);
}

// What a condition of the call, which comes out so, tells of the numbers in it.
void Evaluator::learn_numbers(const Scalar &v, bool holds) {
  if (maybe || v.constant || v.late) return;
  if (v.type->isBooleanType() || !holds) {
    const bool integer = v.type->isIntegerType() || v.type->isBooleanType();
    if (integer) learn_number(v, llvm::APSInt::get(holds));
  }
  if (!v.made) return;
  const Scalar &a = v.made->a, &b = v.made->b;
  const auto op = v.made->op;
  if ((op == BO_LAnd && holds) || (op == BO_LOr && !holds)) {
    learn_numbers(a, holds);
    learn_numbers(b, holds);
  } else if (op == (holds ? BO_EQ : BO_NE)) {
    if (b.constant) learn_number(a, b.integer);
    if (a.constant) learn_number(b, a.integer);
  }
}

bool Evaluator::learn(const Scalar &v, bool holds) {
  learn_numbers(v, holds);
  return learn_sizes(v, holds);
}

// The number, where a condition tells it.
Value Evaluator::as_known(Value v) {
  if (known_numbers.empty() || v.kind != Value::Scalars) return v;
  if (v.scalar.constant || v.scalar.late || v.scalar.dim) return v;
  auto found = known_numbers.find(bare(v.scalar.text));
  if (found == known_numbers.end()) return v;
  Value known = Value::of(integer_constant(found->second, v.scalar.type));
  known.origin = v.origin;
  return known;
}

// ---- where branches lead ------------------------------------------------------------------------

bool ends_program(const Stmt *s) {
  if (!s) return false;
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && ends_program(block->body_back());
  const auto *e = dyn_cast<Expr>(s);
  const auto *call = e ? dyn_cast<CallExpr>(e->IgnoreParenCasts()) : nullptr;
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->isNoReturn();
}

// Does it end in `return tc_fail_as(...)`, which says what is wrong with an argument?
static bool fails(const Stmt *s) {
  if (!s) return false;
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && fails(block->body_back());
  const auto *leaves = dyn_cast<ReturnStmt>(s);
  const Expr *value = leaves && leaves->getRetValue() ? leaves->getRetValue()->IgnoreParenCasts() : nullptr;
  const auto *both = value ? dyn_cast<BinaryOperator>(value) : nullptr; // its place is noted first
  if (both && both->getOpcode() == BO_Comma) value = both->getRHS()->IgnoreParenCasts();
  const auto *call = value ? dyn_cast<CallExpr>(value) : nullptr;
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->getIdentifier() && callee->getName() == "tc_fail_as";
}

// A message with what stands in the places of its conversions.
static std::string formatted(StringRef format, llvm::ArrayRef<std::string> values) {
  std::string text;
  for (size_t at; (at = format.find('%')) != StringRef::npos;) {
    text += format.take_front(at);
    format = format.drop_front(at + 1);
    if (format.consume_front("%")) {
      text += '%';
      continue;
    }
    format =
        format
            .drop_while([](char c) { return !llvm::isAlpha(c) || StringRef("lhzjtL").contains(c); })
            .drop_front();
    text += values.empty() ? "..." : values[0];
    if (!values.empty()) values = values.drop_front();
  }
  return text + format.str();
}

// A function that is called refuses its arguments, whatever the call is given at run time.
Value Evaluator::do_tc_fail_as(const CallExpr *e) {
  if (guessing) return Value::of(Value::Null);
  const Value format = evaluate(argument(e, 1));
  std::vector<std::string> values; // integers and strings that are known
  for (unsigned i = 2; i < e->getNumArgs(); i++) {
    const Value v = evaluate(argument(e, i));
    const bool number = v.kind == Value::Scalars && v.scalar.constant;
    if (failed) values.push_back("...");
    else if (number && v.scalar.type->isIntegerType())
      values.push_back(llvm::toString(v.scalar.integer, 10));
    else values.push_back(known_string(v, e->getExprLoc()).value_or("..."));
    failed = false; // what cannot be followed is not told
  }
  const bool known = format.kind == Value::String;
  fail(e->getExprLoc(), "this is an error: " + formatted(known ? format.string : "%s", values));
  return {};
}

// Where the condition leads, as far as that can be told: the program goes on (assert, checks of
// arguments); each side is followed, one at a time, where no segment can stand in it.
std::optional<bool> Evaluator::side_of(const Value &condition, const Stmt *yes, const Stmt *no) {
  if (condition.kind != Value::Scalars) return pointer_truth(condition);
  const Scalar &v = condition.scalar;
  if (auto known = truth(v)) return known;
  if (v.late) return std::nullopt;
  if (auto side = side_taken(v.text)) return side;
  if ((ends_program(no) || fails(no)) && demand(v, true)) return true;
  if ((ends_program(yes) || fails(yes)) && demand(v, false)) return false;
  auto side = frames.size() > 1 || blocks ? choose(v.text) : std::nullopt;
  if (side) learn(v, *side);
  return side;
}

// The number comes out as `holds` where kernels run; false: that cannot be asked for.
bool Evaluator::demand(const Scalar &v, bool holds) {
  if (v.late || maybe) return false;
  if (!learn_sizes(v, holds) && !require(bare(v.text), holds)) return false;
  learn_numbers(v, holds);
  return true;
}

const Expr *pointer_asked(const Expr *condition) {
  const auto *cast = dyn_cast<CastExpr>(condition->IgnoreParens());
  const bool asks = cast && cast->getCastKind() == CK_PointerToBoolean;
  return asks ? cast->getSubExpr() : condition;
}

// Without what changes nothing about whether the condition holds.
static const Expr *condition_of(ASTContext &context, const Expr *e) {
  e = e->IgnoreParens();
  if (const auto *full = dyn_cast<FullExpr>(e)) return condition_of(context, full->getSubExpr());
  if (const auto *call = dyn_cast<CallExpr>(e))
    return call->getBuiltinCallee() == Builtin::BI__builtin_expect
               ? condition_of(context, call->getArg(0))
               : e;
  const auto *cast = dyn_cast<CastExpr>(e);
  if (!cast) return e;
  const Expr *from = cast->getSubExpr();
  const auto kind = cast->getCastKind();
  const bool asks =
      kind == CK_IntegralToBoolean || kind == CK_FloatingToBoolean || kind == CK_PointerToBoolean;
  const bool keeps = kind == CK_IntegralCast &&
                     context.getIntWidth(e->getType()) >= context.getIntWidth(from->getType());
  return asks || keeps ? condition_of(context, from) : e;
}

// How a condition comes out that is wanted to be `holds`: so where a condition of the call can ask
// for it.  The parts of && and || are asked for one by one, each behind those that it is evaluated
// behind.  None: that is not known of `asked`, a part of it.
std::optional<bool> Evaluator::outcome(const Expr *e, bool holds, Value &asked) {
  e = condition_of(context, e);
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_LNot) {
    auto inner = outcome(op->getSubExpr(), !holds, asked);
    return inner ? std::optional<bool>(!*inner) : std::nullopt;
  }
  const auto *chain = dyn_cast<BinaryOperator>(e);
  if (chain && chain->getOpcode() == (holds ? BO_LAnd : BO_LOr)) {
    auto left = outcome(chain->getLHS(), holds, asked);
    return left && *left == holds ? outcome(chain->getRHS(), holds, asked) : left;
  }
  asked = evaluate(e);
  if (failed) return std::nullopt;
  if (asked.kind != Value::Scalars) return pointer_truth(asked);
  if (auto known = truth(asked.scalar)) return known;
  return demand(asked.scalar, holds) ? std::optional<bool>(holds) : std::nullopt;
}

// ---- remedies -----------------------------------------------------------------------------------

// What a text asks for: TC_SPECIALIZE's names of its numbers, such as "n=...,m->k=..."; "" where
// one of them cannot be named there.
std::string Evaluator::specialized(StringRef text) const {
  std::string names;
  auto in_path = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!(text = text.drop_until([](char c) { return llvm::isAlpha(c) || c == '_'; })).empty()) {
    size_t end = 0;
    while (end < text.size() &&
           (in_path(text[end]) || text[end] == '.' || text.substr(end).starts_with("->")))
      end += text[end] == '-' ? 2 : 1;
    const StringRef path = text.take_front(end);
    text = text.drop_front(end);
    StringRef size = path;
    const bool is_size = size.consume_front(size_prefix);
    const Named named = is_size ? Named::Number : named_number(context, function, reading, path);
    if (named == Named::Nothing) continue; // a type
    if (named == Named::Other) return "";
    const std::string name = (is_size ? size : path).str() + "=...";
    if (!StringRef(names).contains(name)) names += (names.empty() ? "" : ",") + name;
  }
  return names;
}

// What makes v known at build time; "" if nothing does.
std::string Evaluator::remedy_for(const Value &v) const {
  if (v.kind != Value::Scalars || v.scalar.late) return "";
  const std::string names = specialized(v.scalar.text);
  return names.empty() ? "" : "TC_SPECIALIZE(\"" + names + "\") compiles for a value of it";
}

// The functions that are entered, each of which would have to be compiled for itself.
std::string Evaluator::mark_entered() const {
  std::string names;
  bool marked = true, shapes = false, several = false;
  for (size_t i = 1; i < frames.size(); i++) {
    const FunctionDecl *f = frames[i].function;
    if (is_api(f)) continue; // nobody's to mark
    several = !names.empty();
    names += (several ? " and '" : "'") + f->getNameAsString() + "'";
    marked = marked && find_attribute(f, compile_attribute);
    for (const ParmVarDecl *parameter : f->parameters())
      shapes |= is_tensor_pointer(parameter->getType()) && !declared_shape(parameter);
  }
  if (names.empty()) return "";
  if (marked) return names + (several ? " are" : " is") + " compiled apart from this call";
  return "mark " + names + " TC_COMPILE" + (shapes ? ", with TC_SHAPE at the tensors" : "") +
         ": parts are compiled then, and the call stays";
}

// Control depends on v, which is not known at build time.  `inside`: what is so where segments can
// stand in the statement.
void Evaluator::fail_to_follow(const char *what, const Value &v, SourceLocation loc,
                               const char *inside, const char *data) {
  if (failed) return;
  const bool decided_by_data = v.kind == Value::Scalars && v.scalar.late;
  const bool pointer = v.kind != Value::Scalars && v.kind != Value::Tensors;
  fail(loc, std::string(what) + " depends on a " + (pointer ? "pointer" : "value") +
                " that is not known at build time");
  const bool entered = frames.size() > 1;
  if (!entered && !blocks) obstacle.inside = inside;
  obstacle.remedy = remedy_for(v);
  if (!obstacle.remedy.empty()) return;
  if (entered) obstacle.remedy = mark_entered();
  else obstacle.remedy = decided_by_data ? data : "";
}

} // namespace tc
