// statements.cpp - control flow: what C decides at build time is followed, what it cannot ends
// capture.
#include "frontend/ast_capture/evaluator.h"
#include "frontend/ast_capture/ownership.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

static const int max_iterations = 16384; // of all loops of a segment together
// Operations of a loop, whose body is a segment where there are more.  In a called function, where
// it cannot be, as many as the caller may have.
static const int max_unrolled = 2048;

static const char *kind_of(const Stmt *s) {
  if (isa<GotoStmt>(s) || isa<IndirectGotoStmt>(s)) return "goto";
  if (isa<AsmStmt>(s)) return "inline assembly";
  if (isa<CXXTryStmt>(s)) return "a try block";
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

// Of C++'s references what they name, as a pointer to it.
Value Evaluator::returned_by(const Expr *e) {
  if (!e) return Value::of(Value::Void);
  if (!frames.back().function->getReturnType()->isReferenceType()) return evaluate(e);
  auto place = refer(e);
  return place ? Value::of(Value::Pointer, *place) : Value();
}

Evaluator::Flow Evaluator::execute_block(const CompoundStmt *block) {
  const int before = scopes;
  Flow flow = Flow::Next;
  for (const Stmt *step : block->body())
    if (flow = execute(step); flow != Flow::Next) break;
  scopes = before;
  return flow;
}

Evaluator::Flow Evaluator::execute_attributed(const AttributedStmt *s) {
  if (frames.size() > 1 || !isa<NullStmt>(s->getSubStmt())) return execute(s->getSubStmt());
  fail(s->getBeginLoc(),
       "internal: an attribute of the statements around it"); // such as fallthrough
  obstacle.quiet = true;
  return Flow::Return;
}

Evaluator::Flow Evaluator::execute_one(const Stmt *s) {
  if (const auto *block = dyn_cast<CompoundStmt>(s)) return execute_block(block);
  if (opens_rest(s)) {
    scopes++;
    return Flow::Next;
  }
  if (opens_scope(s)) return execute_once(llvm::cast<ForStmt>(s)->getBody(), scopes);
  if (opens_no_grad(s)) return execute_once(llvm::cast<ForStmt>(s)->getBody(), untracked);
  if (const Expr *dtype = opens_autocast(s)) return execute_autocast(s, dtype);
  if (const auto *declaration = dyn_cast<DeclStmt>(s)) {
    for (const Decl *d : declaration->decls())
      if (const auto *variable = dyn_cast<VarDecl>(d)) declare(variable);
    return failed ? Flow::Return : Flow::Next;
  }
  if (const auto *e = dyn_cast<Expr>(s)) {
    if (isa<CallExpr>(e) && e->isGLValue()) locate(e); // C++: what a reference names is not read
    else evaluate(e);
    return failed ? Flow::Return : Flow::Next;
  }
  if (const auto *ret = dyn_cast<ReturnStmt>(s)) {
    frames.back().return_loc = ret->getReturnLoc();
    frames.back().returned = returned_by(ret->getRetValue());
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
  if (const auto *loop = dyn_cast<CXXForRangeStmt>(s)) return execute_range(loop);
  if (isa<BreakStmt>(s)) return Flow::Break;
  if (isa<ContinueStmt>(s)) return Flow::Continue;
  if (const auto *attributed = dyn_cast<AttributedStmt>(s)) return execute_attributed(attributed);
  if (const auto *label = dyn_cast<SwitchCase>(s)) return execute(label->getSubStmt());
  if (const auto *label = dyn_cast<LabelStmt>(s)) return execute(label->getSubStmt());
  fail(s->getBeginLoc(), std::string(kind_of(s)) + " is not captured");
  return Flow::Return;
}

// Whether the loop goes on.
std::optional<bool> Evaluator::goes_on(const Expr *condition, bool first) {
  const auto *sides = std::exchange(choices, nullptr);
  Value v = evaluate(condition);
  auto known = failed                     ? std::nullopt
               : v.kind == Value::Scalars ? truth(v.scalar)
                                          : pointer_truth(v);
  choices = sides;
  if (!known && guessing && !failed) return first; // one round tells the types
  if (!known)
    fail_to_follow("the number of rounds of the loop", v, condition->getExprLoc(),
                   "its body is compiled, and called in each round",
                   "compute with tc_where in a number of rounds that is known");
  return known;
}

// Whether control does not come out behind the statement.
static bool leaves(const Stmt *s) {
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && leaves(block->body_back());
  return isa<ReturnStmt>(s) || isa<GotoStmt>(s) || isa<BreakStmt>(s) || isa<ContinueStmt>(s) ||
         ends_program(s);
}

// Whether the statement makes tensors, or calls what may.
static bool computes(const Stmt *s) {
  if (!s) return false;
  if (const auto *call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (!callee || callee->hasBody() || is_tensor_pointer(call->getType())) return true;
  }
  return llvm::any_of(s->children(), [](const Stmt *child) { return computes(child); });
}

static const Stmt *last_of(const Stmt *s) {
  const auto *block = dyn_cast<CompoundStmt>(s);
  return block ? last_of(block->body_back()) : s;
}

// Whether a jump leads to what makes tensors: a label that is not one of the outermost block's, or
// from there on.
static bool goes_on_computing(const FunctionDecl *function, const Stmt *jump) {
  const auto *to = dyn_cast<GotoStmt>(jump);
  const auto *body = dyn_cast<CompoundStmt>(function->getBody());
  if (!to || !body) return to;
  auto is_label = [&](const Stmt *s) {
    const auto *label = dyn_cast<LabelStmt>(s);
    return label && label->getDecl() == to->getLabel();
  };
  auto from = llvm::find_if(body->body(), is_label);
  return from == body->body_end() || std::any_of(from, body->body_end(), computes);
}

// Whether the statement returns NULL.
static bool returns_null(ASTContext &context, const Stmt *s) {
  const auto *out = dyn_cast<ReturnStmt>(last_of(s));
  const Expr *value = out ? out->getRetValue() : nullptr;
  return value && value->getType()->isPointerType() &&
         value->IgnoreParenImpCasts()->isNullPointerConstant(
             context, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull;
}

// `if (m->n != 6) return NULL;`: a side that leads out and computes nothing is left to the original
// statements.  Behind an operation, only where no result is made there, since all in front of it
// runs as written then, too.
bool Evaluator::refuses(const Stmt *side) const {
  if (frames.size() > 1 || blocks || !side || !leaves(side) || computes(side)) return false;
  if (goes_on_computing(function, last_of(side))) return false;
  return !ops || returns_null(context, side);
}

Evaluator::Flow Evaluator::execute_if(const IfStmt *s) {
  if (s->getInit() || s->getConditionVariable()) {
    fail(s->getIfLoc(), "a declaration in a condition is not captured");
    return Flow::Return;
  }
  // `if (!t) return NULL;`
  bool before = exits;
  exits = (!s->getElse() && leaves(s->getThen())) || refuses(s->getElse()) ||
          ends_program(s->getElse());
  Value v;
  std::optional<bool> taken;
  const bool refuses_then = refuses(s->getThen());
  if (refuses_then || refuses(s->getElse())) {
    taken = outcome(s->getCond(), !refuses_then, v);
  } else {
    v = evaluate(pointer_asked(s->getCond()));
    if (!failed) taken = side_of(v, s->getThen(), s->getElse());
    const bool inside = frames.size() > 1 || blocks; // where no segment can stand in a side
    if (!failed && !taken && v.kind == Value::Pointer && inside) taken = pointer_side(v);
  }
  exits = before;
  if (!taken && guessing && !failed) taken = !leaves(s->getThen()); // either tells the types
  if (!taken) {
    fail_to_follow("the branch", v, s->getCond()->getExprLoc(),
                   "its sides are compiled, each for itself", "compute with tc_where");
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
  if (!known && guessing && !failed && body) { // any case tells the types
    known = true;
    for (const SwitchCase *label = s->getSwitchCaseList(); label; label = label->getNextSwitchCase())
      if (isa<CaseStmt>(label)) target = label;
  }
  if (!known) {
    fail_to_follow("the switch", v, s->getSwitchLoc(), "its cases are compiled, each for itself",
                   "compute with tc_where");
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

// TC_SCOPE, TC_NO_GRAD and TC_AUTOCAST are loops that run once, inside of which one more of them is
// open.  What a scope frees at its end lives on in the graph where needed.
Evaluator::Flow Evaluator::execute_once(const Stmt *body, int &open) {
  open++;
  Flow flow = execute(body);
  open--;
  return flow == Flow::Break || flow == Flow::Continue ? Flow::Next : flow;
}

Evaluator::Flow Evaluator::execute_loop(const Stmt *init, const Expr *condition, const Expr *step,
                                        const Stmt *body, bool body_first, SourceLocation loc,
                                        const Stmt *head) {
  execute(init);
  const int before = ops;
  for (bool first = true; !failed; first = false) {
    if (condition && !(first && body_first)) {
      auto again = goes_on(condition, first);
      if (!again) return Flow::Return;
      if (!*again) return Flow::Next;
    }
    if (++iterations > max_iterations) {
      fail(loc, "loops of more than " + std::to_string(max_iterations) +
                    " rounds in all are not unrolled; work on a whole tensor instead");
      return Flow::Return;
    }
    if (frames.size() == 1 && ops - before > max_unrolled) {
      fail(loc, "the loop makes more than " + std::to_string(max_unrolled) +
                    " operations; its body is compiled instead");
      return Flow::Return;
    }
    execute(head);
    Flow flow = execute(body);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
    if (step) evaluate(step);
  }
  return Flow::Return;
}

static const Expr *without_temporaries(const Expr *e) {
  for (;; e = e->IgnoreParenImpCasts()) {
    if (const auto *full = dyn_cast<FullExpr>(e)) e = full->getSubExpr();
    else if (const auto *made = dyn_cast<MaterializeTemporaryExpr>(e)) e = made->getSubExpr();
    else if (e == e->IgnoreParenImpCasts()) return e;
  }
}

// The elements that a std::initializer_list is made of.
static const InitListExpr *list_of(const Expr *e) {
  const auto *list = e ? dyn_cast<CXXStdInitializerListExpr>(without_temporaries(e)) : nullptr;
  return list ? dyn_cast<InitListExpr>(without_temporaries(list->getSubExpr())) : nullptr;
}

// A variable of the loop's own, which is a pointer to an element.
void Evaluator::point_to(const DeclStmt *variable, const Place &element) {
  const auto *v = llvm::cast<VarDecl>(variable->getSingleDecl());
  if (frames.size() == 1) inner.insert(v);
  frames.back().variables[v] = new_slot(Value::of(Value::Pointer, element));
}

// for (x : range), by the pointers that begin and end it.
Evaluator::Flow Evaluator::execute_range(const CXXForRangeStmt *s) {
  execute(s->getInit());
  if (const InitListExpr *list = list_of(s->getRangeInit()); list && !failed) {
    Place element;
    element.slot = new_slot(evaluate_initializer(list, list->getType()));
    element.type = context.getAsArrayType(list->getType())->getElementType();
    element.path = {0};
    point_to(s->getBeginStmt(), element);
    element.path = {static_cast<int64_t>(list->getNumInits())};
    point_to(s->getEndStmt(), element);
  } else {
    execute(s->getRangeStmt());
    execute(s->getBeginStmt());
    execute(s->getEndStmt());
  }
  return execute_loop(nullptr, s->getCond(), s->getInc(), s->getBody(), false, s->getForLoc(),
                      s->getLoopVarStmt());
}

} // namespace tc
