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

std::optional<bool> Evaluator::decide(const Expr *condition, bool loop) {
  Value v = evaluate(condition);
  if (failed) return std::nullopt;
  auto known = v.kind == Value::Scalars ? truth(v.scalar) : pointer_truth(v);
  if (!known)
    fail(condition->getExprLoc(),
         std::string(loop ? "the number of rounds of the loop" : "the branch") +
             " depends on a value that is not known at build time; " +
             remedy(v, loop ? "its body is compiled, and called in each round"
                            : "its sides are compiled, each for itself; compute with tc_where, or "
                              "decide outside of the function"));
  return known;
}

// Whether control does not come out behind the statement.
static bool leaves(const Stmt *s) {
  if (const auto *block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && leaves(block->body_back());
  return isa<ReturnStmt>(s) || isa<GotoStmt>(s) || isa<BreakStmt>(s) || isa<ContinueStmt>(s);
}

Evaluator::Flow Evaluator::execute_if(const IfStmt *s) {
  if (s->getInit() || s->getConditionVariable()) {
    fail(s->getIfLoc(), "a declaration in a condition is not captured");
    return Flow::Return;
  }
  // `if (!t) return NULL;`
  bool before = exits;
  exits = !s->getElse() && leaves(s->getThen());
  auto taken = decide(s->getCond(), false);
  exits = before;
  if (!taken) return Flow::Return;
  return execute(*taken ? s->getThen() : s->getElse());
}

Evaluator::Flow Evaluator::execute_switch(const SwitchStmt *s) {
  Value v = evaluate(s->getCond());
  const auto *body = dyn_cast<CompoundStmt>(s->getBody());
  if (failed) return Flow::Return;
  if (v.kind != Value::Scalars || !v.scalar.constant || !body) {
    fail(s->getSwitchLoc(), "the switch depends on a value that is not known at build time; " +
                                remedy(v, "its cases are compiled, each for itself"));
    return Flow::Return;
  }
  const SwitchCase *target = nullptr;
  for (const SwitchCase *label = s->getSwitchCaseList(); label;
       label = label->getNextSwitchCase()) {
    const auto *one = dyn_cast<CaseStmt>(label);
    if (!one) {
      target = target ? target : label;
      continue;
    }
    llvm::APSInt lo = one->getLHS()->EvaluateKnownConstInt(context);
    llvm::APSInt hi = one->getRHS() ? one->getRHS()->EvaluateKnownConstInt(context) : lo;
    if (llvm::APSInt::compareValues(lo, v.scalar.integer) <= 0 &&
        llvm::APSInt::compareValues(v.scalar.integer, hi) <= 0)
      target = label;
    else continue;
    break;
  }
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
      auto again = decide(condition, true);
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
