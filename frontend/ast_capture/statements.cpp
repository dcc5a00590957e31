// statements.cpp - control flow: what C decides at build time is followed, what it cannot ends
// capture.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

static const int max_iterations = 16384; // of all loops of a segment together
static const int max_unrolled = 2048;    // operations of one loop

static const char *kind_of(const Stmt *s) {
  if (isa<GotoStmt>(s) || isa<IndirectGotoStmt>(s)) return "goto";
  if (isa<AsmStmt>(s)) return "inline assembly";
  return "a statement of this kind";
}

Evaluator::Flow Evaluator::execute(const Stmt *s) {
  if (s && depth >= max_depth) fail(s->getBeginLoc(), "the code is nested too deeply");
  if (failed || !s || isa<NullStmt>(s)) return failed ? Flow::Return : Flow::Next;
  depth++;
  Flow flow = execute_one(s);
  depth--;
  return flow;
}

Evaluator::Flow Evaluator::execute_one(const Stmt *s) {
  if (const auto *block = dyn_cast<CompoundStmt>(s)) {
    for (const Stmt *step : block->body())
      if (Flow flow = execute(step); flow != Flow::Next) return flow;
    return Flow::Next;
  }
  if (const auto *declaration = dyn_cast<DeclStmt>(s)) {
    for (const Decl *d : declaration->decls())
      if (const auto *variable = dyn_cast<VarDecl>(d)) declare(variable);
    return failed ? Flow::Return : Flow::Next;
  }
  if (const auto *e = dyn_cast<Expr>(s)) {
    evaluate(e);
    return failed ? Flow::Return : Flow::Next;
  }
  if (const auto *ret = dyn_cast<ReturnStmt>(s)) {
    frames.back().return_loc = ret->getReturnLoc();
    frames.back().returned =
        ret->getRetValue() ? evaluate(ret->getRetValue()) : Value::of(Value::Void);
    return Flow::Return;
  }
  if (const auto *branch = dyn_cast<IfStmt>(s)) return execute_if(branch);
  if (const auto *choice = dyn_cast<SwitchStmt>(s)) return execute_switch(choice);
  if (const auto *loop = dyn_cast<ForStmt>(s))
    return execute_loop(loop->getInit(), loop->getCond(), loop->getInc(), loop->getBody(), false,
                        loop->getForLoc());
  if (const auto *loop = dyn_cast<WhileStmt>(s))
    return execute_loop(nullptr, loop->getCond(), nullptr, loop->getBody(), false,
                        loop->getWhileLoc());
  if (const auto *loop = dyn_cast<DoStmt>(s))
    return execute_loop(nullptr, loop->getCond(), nullptr, loop->getBody(), true, loop->getDoLoc());
  if (isa<BreakStmt>(s)) return Flow::Break;
  if (isa<ContinueStmt>(s)) return Flow::Continue;
  if (const auto *attributed = dyn_cast<AttributedStmt>(s)) {
    if (frames.size() == 1 && isa<NullStmt>(attributed->getSubStmt())) {
      fail(s->getBeginLoc(),
           "internal: an attribute of the statements around it"); // such as fallthrough
      obstacle.quiet = true;
      return Flow::Return;
    }
    return execute(attributed->getSubStmt());
  }
  if (const auto *label = dyn_cast<SwitchCase>(s)) return execute(label->getSubStmt());
  if (const auto *label = dyn_cast<LabelStmt>(s)) return execute(label->getSubStmt());
  fail(s->getBeginLoc(), std::string(kind_of(s)) + " is not captured");
  return Flow::Return;
}

static bool names(StringRef text, StringRef name) {
  auto word = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    StringRef before = text.substr(0, at), after = text.substr(at + name.size());
    bool member = before.ends_with(".") || before.ends_with("->");
    if (!member && !(before.size() && word(before.back())) && !(after.size() && word(after[0])))
      return true;
  }
  return false;
}

// What to do where control depends on a value known at run time only.  In a function that is called
// there are no segments: code for some values of a parameter folds it, or it is marked itself.
std::string Evaluator::remedy(const Value &v, const char *otherwise) const {
  if (frames.size() == 1) return otherwise;
  const std::string text = v.kind == Value::Scalars && !v.scalar.late ? v.scalar.text : "";
  for (const ParmVarDecl *parameter : function->parameters())
    if (parameter->getType()->isIntegerType() && names(text, parameter->getName()))
      return "TC_SPECIALIZE(\"" + parameter->getNameAsString() +
             "=...\") compiles for a value of it";
  return "mark '" + frames.back().function->getNameAsString() +
         "' TC_COMPILE, so that its parts are compiled";
}

// ---- what is known at run time only -------------------------------------------------------------

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

// A condition of the call, unless it cannot stand there.
bool Evaluator::require(const std::string &text, bool holds) {
  auto there = text.empty() || maybe ? std::nullopt : with_sizes_read(text);
  if (!there) return false;
  add_condition(Choice{*there, holds, false}.side());
  return true;
}

// Of the call, once; in the order in which they may be evaluated.
void Evaluator::add_condition(const std::string &text) {
  if (!llvm::is_contained(conditions, text)) conditions.push_back(text);
}

std::optional<bool> Evaluator::choose(const std::string &condition, bool pointer) {
  if (!choices) return std::nullopt;
  const std::string text = bare(condition);
  auto is_it = [&](const Choice &each) { return each.text == text; };
  auto given = llvm::find_if(*choices, is_it);
  const Choice choice = {text, given == choices->end() || given->holds, pointer};
  if (!require(text, choice.holds)) return std::nullopt;
  if (llvm::none_of(chosen, is_it)) chosen.push_back(choice);
  return choice.holds;
}

bool ends_program(const Stmt *s) {
  if (!s) return false;
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && ends_program(block->body_back());
  const auto *e = dyn_cast<Expr>(s);
  const auto *call = e ? dyn_cast<CallExpr>(e->IgnoreParenCasts()) : nullptr;
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->isNoReturn();
}

// What a comparison of sizes that came out so tells of them; whether all of it became a guard.
bool Evaluator::learn(const Scalar &v, bool holds) {
  if (!v.made || maybe || !BinaryOperator::isComparisonOp(v.made->op)) return false;
  const auto op = holds ? v.made->op : BinaryOperator::negateComparisonOp(v.made->op);
  const bool less = op == BO_LT || op == BO_LE, strict = op == BO_LT || op == BO_GT;
  const tc_dim a = *v.made->a.dim, b = *v.made->b.dim;
  if (op == BO_NE) return false;
  if (op == BO_EQ) return !tc_dim_bad(tc_dim_unify(dims, a, b));
  const tc_dim by = less ? tc_dim_sub(dims, b, a) : tc_dim_sub(dims, a, b);
  return tc_dim_assume_range(dims, by, strict, INT64_MAX);
}

// Where the condition leads, as far as that can be told: the program goes on (assert); each side is
// followed, one at a time, where no segment can stand in it.
std::optional<bool> Evaluator::side_of(const Value &condition, const Stmt *yes, const Stmt *no) {
  if (condition.kind != Value::Scalars) return pointer_truth(condition);
  const Scalar &v = condition.scalar;
  if (auto known = truth(v)) return known;
  if (v.late) return std::nullopt;
  const std::string text = bare(v.text);
  for (const Choice &each : chosen)
    if (each.text == text) return each.holds;
  if (ends_program(no) && (learn(v, true) || require(text, true))) return true;
  if (ends_program(yes) && (learn(v, false) || require(text, false))) return false;
  auto side = frames.size() > 1 || blocks ? choose(v.text) : std::nullopt;
  if (side) learn(v, *side);
  return side;
}

// Whether the loop goes on.
std::optional<bool> Evaluator::goes_on(const Expr *condition) {
  const auto *sides = std::exchange(choices, nullptr);
  Value v = evaluate(condition);
  auto known = failed                     ? std::nullopt
               : v.kind == Value::Scalars ? truth(v.scalar)
                                          : pointer_truth(v);
  choices = sides;
  if (!known)
    fail(condition->getExprLoc(),
         "the number of rounds of the loop depends on a value that is not known at build time; " +
             remedy(v, "its body is compiled, and called in each round"));
  return known;
}

// Whether control does not come out behind the statement.
static bool leaves(const Stmt *s) {
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && leaves(block->body_back());
  return isa<ReturnStmt>(s) || isa<GotoStmt>(s) || isa<BreakStmt>(s) || isa<ContinueStmt>(s) ||
         ends_program(s);
}

Evaluator::Flow Evaluator::execute_if(const IfStmt *s) {
  if (s->getInit() || s->getConditionVariable()) {
    fail(s->getIfLoc(), "a declaration in a condition is not captured");
    return Flow::Return;
  }
  // `if (!t) return NULL;`
  bool before = exits;
  exits = (!s->getElse() && leaves(s->getThen())) || ends_program(s->getElse());
  Value v = evaluate(s->getCond());
  auto taken = failed ? std::nullopt : side_of(v, s->getThen(), s->getElse());
  exits = before;
  if (!taken) {
    fail(s->getCond()->getExprLoc(),
         "the branch depends on a value that is not known at build time; " +
             remedy(v, "its sides are compiled, each for itself; compute with tc_where, or decide "
                       "outside of the function"));
    return Flow::Return;
  }
  return execute(*taken ? s->getThen() : s->getElse());
}

std::optional<bool> Evaluator::is_case(const Scalar &v, const CaseStmt *label) {
  llvm::APSInt lo = label->getLHS()->EvaluateKnownConstInt(context);
  llvm::APSInt hi = label->getRHS() ? label->getRHS()->EvaluateKnownConstInt(context) : lo;
  if (v.constant)
    return llvm::APSInt::compareValues(lo, v.integer) <= 0 &&
           llvm::APSInt::compareValues(v.integer, hi) <= 0;
  if (frames.size() == 1 && !blocks) return std::nullopt;
  if (v.dim && lo == hi)
    return side_of(Value::of(binary(BO_EQ, v, integer_constant(lo, v.type), context.IntTy)),
                   nullptr, nullptr);
  auto text = [&](const char *op, const llvm::APSInt &n) {
    bool small = n.getSignificantBits() < 32;
    return v.text + op +
           (small ? llvm::toString(n, 10) : integer_constant(n, label->getLHS()->getType()).text);
  };
  return choose(lo == hi ? text(" == ", lo) : text(" >= ", lo) + " && " + text(" <= ", hi));
}

Evaluator::Flow Evaluator::execute_switch(const SwitchStmt *s) {
  Value v = evaluate(s->getCond());
  const auto *body = dyn_cast<CompoundStmt>(s->getBody());
  if (failed) return Flow::Return;
  const SwitchCase *target = nullptr, *otherwise = nullptr;
  bool known = v.kind == Value::Scalars && !v.scalar.late && body;
  for (const SwitchCase *label = s->getSwitchCaseList(); label && known && !target;
       label = label->getNextSwitchCase()) {
    const auto *one = dyn_cast<CaseStmt>(label);
    auto taken = one ? is_case(v.scalar, one) : std::optional<bool>(false);
    known = taken.has_value();
    if (!one) otherwise = label;
    else if (known && *taken) target = label;
  }
  if (!known) {
    fail(s->getSwitchLoc(), "the switch depends on a value that is not known at build time; " +
                                remedy(v, "its cases are compiled, each for itself"));
    return Flow::Return;
  }
  if (!target) target = otherwise;
  if (!target) return Flow::Next;
  // Runs from the label on; labels stand directly in the body, maybe one behind the other.
  bool found = false;
  for (const Stmt *step : body->body()) {
    const Stmt *inner = step;
    while (const auto *label = dyn_cast<SwitchCase>(inner)) {
      found = found || label == target;
      inner = label->getSubStmt();
    }
    if (!found) continue;
    Flow flow = execute(step);
    if (flow == Flow::Break) return Flow::Next;
    if (flow != Flow::Next) return flow;
  }
  if (!found)
    fail(target->getKeywordLoc(), "a case label inside of another statement is not captured");
  return failed ? Flow::Return : Flow::Next;
}

// TC_SCOPE is a loop that runs once; what it frees at its end lives on in the graph where needed.
static bool is_scope(const Stmt *init) {
  const auto *declaration = init ? dyn_cast<DeclStmt>(init) : nullptr;
  if (!declaration) return false;
  for (const Decl *d : declaration->decls())
    if (const auto *variable = dyn_cast<VarDecl>(d)) return variable->getName() == "tc_scope_here";
  return false;
}

Evaluator::Flow Evaluator::execute_loop(const Stmt *init, const Expr *condition, const Expr *step,
                                        const Stmt *body, bool body_first, SourceLocation loc) {
  if (is_scope(init)) {
    scopes++;
    Flow flow = execute(body);
    scopes--;
    return flow == Flow::Break || flow == Flow::Continue ? Flow::Next : flow;
  }
  execute(init);
  const int before = ops;
  for (bool first = true; !failed; first = false) {
    if (condition && !(first && body_first)) {
      auto again = goes_on(condition);
      if (!again) return Flow::Return;
      if (!*again) return Flow::Next;
    }
    if (++iterations > max_iterations) {
      fail(loc, "loops of more than " + std::to_string(max_iterations) +
                    " rounds in all are not unrolled; work on a whole tensor instead");
      return Flow::Return;
    }
    if (ops - before > max_unrolled) {
      fail(loc, "the loop makes more than " + std::to_string(max_unrolled) +
                    " operations; its body is compiled instead");
      return Flow::Return;
    }
    Flow flow = execute(body);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
    if (step) evaluate(step);
  }
  return Flow::Return;
}

} // namespace tc
