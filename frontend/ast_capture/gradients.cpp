// gradients.cpp - tc_grad and its kin: gradients of what was captured are nodes of the same graph.
//
// What the tape would do at run time is followed here.  An operand that gradients are taken with
// respect to has to be a leaf, which a guard checks; others have no gradients, as in any compiled
// function.  What is computed in TC_NO_GRAD, and gradients themselves, are detached.  tc_grad frees
// the tape that it went through: what leaves the statements is not tracked, so it may not be such
// that the body would still track it.
#include "frontend/ast_capture/evaluator.h"

#include <clang/AST/ParentMapContext.h>
#include <clang/Lex/Lexer.h>

#define TC_NO_LOCATIONS
#include <tcompile.h> /* tc_grad_flags */

#include "autodiff/autodiff.h"

namespace tc {

using namespace clang;

// ---- what is tracked ----------------------------------------------------------------------------

// By id: the values that move with one of the sources.
static std::vector<bool> moving_with(tc_graph *graph, const std::vector<tc_ref> &sources) {
  std::vector<bool> moves(tc_graph_count(graph) + 1);
  for (tc_ref each : sources) moves[each.id] = true;
  for (uint32_t id = 1; id < moves.size(); id++) {
    const tc_node *n = tc_graph_node(graph, {id});
    for (int i = 0; i < n->nin && !moves[id]; i++)
      moves[id] = moves[n->in[i].id] && tc_autodiff_passes(graph, {id}, i);
  }
  return moves;
}

// Marks, by id, what the marked values are computed from, through operands that "passes" accepts.
static void mark_back(tc_graph *graph, std::vector<bool> &leads,
                      llvm::function_ref<bool(uint32_t id, int i)> passes) {
  for (uint32_t id = static_cast<uint32_t>(leads.size()) - 1; id > 0; id--) {
    const tc_node *n = tc_graph_node(graph, {id});
    for (int i = 0; leads[id] && i < n->nin; i++)
      if (passes(id, i)) leads[n->in[i].id] = true;
  }
}

// By id: what y is computed from, through values that move.
static std::vector<bool> leading_to(tc_graph *graph, tc_ref y, const std::vector<bool> &moves) {
  std::vector<bool> leads(moves.size());
  leads[y.id] = moves[y.id];
  mark_back(graph, leads,
            [&](uint32_t id, int i) { return moves[tc_graph_node(graph, {id})->in[i].id]; });
  return leads;
}

tc_ref Evaluator::detached(tc_ref ref, SourceLocation loc) {
  const tc_type *type = ref.id ? tc_graph_type(graph, ref) : nullptr;
  const bool floating = type && tc_dtype_is_float(static_cast<tc_dtype>(type->dtype));
  return floating ? tc_build1(graph, OP_DETACH, ref, graph_loc(loc)) : ref;
}

Value Evaluator::do_tc_detach(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  if (!x) return {};
  ops++;
  return result(build(OP_DETACH, {x->ref}, {}, nullptr, e), OP_DETACH, &*x);
}

// Is it the result of a call, perhaps behind the place that a macro of it notes?
static bool is_call(const Expr *e) {
  e = e->IgnoreParenImpCasts();
  const auto *comma = llvm::dyn_cast<BinaryOperator>(e);
  return comma && comma->getOpcode() == BO_Comma ? is_call(comma->getRHS())
                                                 : llvm::isa<CallExpr>(e);
}

// A tensor that the statements made becomes a leaf: a view of what it was, as for
// tc_value_and_grad, which the body does not track yet (settle_gradients).  Where the argument is a
// call nobody else knows the tensor; else it is changed for all that do, so that there may be no
// views of it, which the body would not track.
Value Evaluator::do_tc_requires_grad_(const CallExpr *e) {
  const SourceLocation loc = e->getExprLoc();
  const Expr *arg = argument(e, 0);
  Value target = evaluate(arg);
  auto on = failed ? std::nullopt : constant_argument(e, 1, "'on'");
  auto x = on ? as_tensor(target, arg) : std::nullopt;
  if (!x) return {};
  const Storage &storage = storages[x->storage];
  const bool fresh = is_call(arg);
  const auto dtype = static_cast<tc_dtype>(tc_graph_type(graph, x->ref)->dtype);
  if (!*on || (x->whole && storage.source.at_entry) || !tc_dtype_is_float(dtype) ||
      (!fresh && (!x->whole || storage.viewed))) {
    fail(loc, "'tc_requires_grad_' works on finished tensors; call it outside of the function");
    return {};
  }
  ops++;
  const int outside = std::exchange(untracked, 0);
  const tc_ref leaf = build(OP_DETACH, {x->ref}, {}, nullptr, e);
  const Value made = fresh ? result(leaf, OP_DETACH, &*x) : target;
  untracked = outside;
  if (failed) return {};
  if (!fresh) overwrite(*x, leaf, loc);
  storages[x->storage].leaf = true;
  own_leaf.push_back(leaf);
  made_leaves.push_back({x->ref, loc});
  return made;
}

// ---- the calls ----------------------------------------------------------------------------------

// Positions of arguments; -1: the function has none.
struct GradientCall {
  int cotangent, n, flags, out;
};

Value Evaluator::do_tc_grad(const CallExpr *e) { return differentiate(e, {-1, 1, -1, 3}); }
Value Evaluator::do_tc_vjp(const CallExpr *e) { return differentiate(e, {1, 2, -1, 4}); }
Value Evaluator::do_tc_grad_with(const CallExpr *e) { return differentiate(e, {1, 2, 4, 5}); }

// A number that has to be known, such as the length of a list.
std::optional<int64_t> Evaluator::constant_argument(const CallExpr *e, int i, const char *what) {
  const Expr *arg = argument(e, static_cast<unsigned>(i));
  Value v = evaluate(arg);
  if (failed) return std::nullopt;
  auto n = v.kind == Value::Scalars ? as_constant(v.scalar) : std::nullopt;
  if (!n) {
    fail(arg->getExprLoc(), std::string(what) + " has to be known at build time");
    obstacle.remedy = remedy_for(v);
  }
  return n;
}

// "y" becomes "tc_sum(y, TC_ALL, false)".
std::vector<FixIt> Evaluator::summed(const Expr *y) const {
  const CharSourceRange file = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(y->getSourceRange()), sources, context.getLangOpts());
  if (file.isInvalid()) return {};
  const CharSourceRange front = CharSourceRange::getCharRange(file.getBegin(), file.getBegin()),
                        behind = CharSourceRange::getCharRange(file.getEnd(), file.getEnd());
  return {{front, "tc_sum("}, {behind, ", TC_ALL, false)"}};
}

// The cotangent, ref 0 where it is 1; false after failing.
bool Evaluator::cotangent_argument(const CallExpr *e, int i, tc_ref y, tc_ref &cotangent) {
  cotangent = {0};
  Value v = i < 0 ? Value::of(Value::Null) : evaluate(argument(e, static_cast<unsigned>(i)));
  if (failed) return false;
  if (i >= 0) expect_no_error(e->getExprLoc()); // or NULL is what an operation failed to make
  if (v.kind != Value::Null) {
    auto t = as_tensor(v, argument(e, static_cast<unsigned>(i)));
    if (t) cotangent = t->ref;
    return t.has_value();
  }
  const tc_type *type = tc_graph_type(graph, y);
  for (int k = 0; k < type->rank; k++) {
    const tc_dim size = tc_dim_norm(dims, type->dim[k]);
    if (tc_dim_is(size, 1)) continue;
    const std::string what = "the gradient of " + describe(y) +
                             ", which is not one number; "
                             "tc_vjp takes a cotangent of its shape";
    if (tc_dim_is_const(size))
      error(e->getExprLoc(), what, {},
            is_tensor_pointer(e->getArg(0)->getType()) ? summed(argument(e, 0))
                                                       : std::vector<FixIt>());
    else fail(e->getExprLoc(), what);
    return false;
  }
  return true;
}

// The array behind a tc_tensor_list: in C a union made of it, which no program writes.
const Expr *array_of(const Expr *list) {
  const auto *made = llvm::dyn_cast<CompoundLiteralExpr>(list->IgnoreParenImpCasts());
  const auto *parts = made ? llvm::dyn_cast<InitListExpr>(made->getInitializer()) : nullptr;
  const bool is_union = parts && made->getType()->isUnionType() && parts->getNumInits() == 1;
  return is_union ? parts->getInit(0) : list;
}

// Does the call make up a whole statement, but for what its macro puts around it?
static bool is_statement(ASTContext &context, const Expr *e) {
  const auto parents = context.getParents(*e);
  const auto *parent = parents.size() == 1 ? parents[0].get<Stmt>() : nullptr;
  const auto *comma = llvm::dyn_cast_or_null<BinaryOperator>(parent);
  const bool around = comma && comma->getOpcode() == BO_Comma && comma->getRHS() == e;
  if (parent && (around || llvm::isa<ParenExpr, CastExpr, ExprWithCleanups>(parent)))
    return is_statement(context, llvm::cast<Expr>(parent));
  return parent && !llvm::isa<Expr, ReturnStmt, DeclStmt>(parent);
}

// A write to a leaf fails at run time.  write: the call, if it is what is looked at.
void Evaluator::check_leaf_write(const Storage &storage, SourceLocation loc,
                                 const CallExpr *write) {
  if (!storage.tracked_write || !storage.source.at_entry || !leaf_inputs.count(storage.input))
    return;
  std::vector<FixIt> fixits;
  const SourceLocation begin = sources.getExpansionLoc(loc);
  if (write && is_statement(context, write))
    fixits.push_back({CharSourceRange::getCharRange(begin, begin), "TC_NO_GRAD "});
  error(loc,
        "'" + storage.source.lvalue() +
            "' is written while its gradient is tracked; write it in TC_NO_GRAD { ... }",
        {}, fixits);
}

// The tensors of a list, and which of them are operands.
bool Evaluator::wrt_argument(const CallExpr *e, int i, int64_t n, std::vector<tc_ref> &wrt) {
  const Expr *arg = array_of(argument(e, static_cast<unsigned>(i)));
  Value list = evaluate(arg);
  if (failed || !append_tensors(list, arg, n, wrt)) return false;
  for (int64_t k = 0; k < n && !failed; k++) {
    const Tensor t = load(offset_place(list.place, k), arg->getExprLoc()).tensor;
    const Storage &storage = storages[t.storage];
    const bool operand = storage.source.at_entry && t.whole;
    if (operand) leaf_inputs.insert(storage.input);
    check_leaf_write(storage, arg->getExprLoc(), nullptr);
    if (!operand) inner_wrt.push_back({wrt[static_cast<size_t>(k)], arg->getExprLoc()});
  }
  return !failed;
}

// What the tape frees behind a pass from y to wrt, unless it is retained; false: it was freed
// before.
bool Evaluator::spend(tc_ref y, const std::vector<tc_ref> &wrt, bool retain, SourceLocation loc) {
  std::vector<bool> path = leading_to(graph, y, moving_with(graph, wrt));
  for (tc_ref end : wrt) path[end.id] = false;
  for (uint32_t id = 1; id < path.size(); id++) {
    if (!path[id]) continue;
    if (spent.count(id)) {
      fail(loc, "an earlier call has freed the tape behind this value; give that one "
                "TC_RETAIN_GRAPH (tc_grad_with)");
      return false;
    }
    if (!retain) spent.insert(id);
  }
  return true;
}

Value Evaluator::differentiate(const CallExpr *e, const GradientCall &call) {
  const SourceLocation loc = e->getExprLoc();
  auto y = tensor_argument(argument(e, 0));
  tc_ref cotangent;
  if (!y || !cotangent_argument(e, call.cotangent, y->ref, cotangent)) return {};
  auto n = constant_argument(e, call.n, "how many gradients are wanted");
  auto flags = n && call.flags >= 0 ? constant_argument(e, call.flags, "'flags'") : int64_t{0};
  std::vector<tc_ref> wrt;
  if (!n || !flags || !wrt_argument(e, call.n + 1, *n, wrt)) return {};
  Value out = evaluate(argument(e, static_cast<unsigned>(call.out)));
  if (!failed && out.kind != Value::Pointer)
    fail(loc, "gradients go to a list that is not followed");
  if (untracked) fail(loc, "gradients are asked for in TC_NO_GRAD");
  if (failed) return {};
  std::vector<tc_ref> gradients = gradients_of(e, y->ref, cotangent, wrt, *flags & TC_ALLOW_UNUSED);
  if (failed || !spend(y->ref, wrt, *flags & (TC_RETAIN_GRAPH | TC_CREATE_GRAPH), loc)) return {};
  ops++;
  for (int64_t i = 0; i < *n && !failed; i++) {
    tc_ref g = gradients[static_cast<size_t>(i)];
    if (!(*flags & TC_CREATE_GRAPH)) g = detached(g, loc);
    store(offset_place(out.place, i), result(g, OP_FULL, nullptr), loc);
  }
  return Value::of(integer_constant(llvm::APSInt::get(1), e->getType()));
}

// Reports what the engine does.
bool Evaluator::differentiated(const CallExpr *e, llvm::function_ref<bool()> engine) {
  CoreMessage core;
  bool done;
  {
    CoreMessage::Catch here(diag, core);
    done = engine();
  }
  if (!done && core.severity == TC_ERROR) error(e->getExprLoc(), core.text);
  else if (!done) fail(e->getExprLoc(), core.text.empty() ? "out of memory" : core.text);
  return done;
}

// The way from wrt to an operand of one example, through that of all examples, is one that the
// graph does not have.
bool Evaluator::avoids_examples(const std::vector<tc_ref> &wrt, SourceLocation loc) {
  if (mapped.empty()) return true;
  const std::vector<bool> moves = moving_with(graph, wrt);
  if (llvm::none_of(mapped, [&](tc_ref all) { return moves[all.id]; })) return true;
  fail(loc, "a function that tc_vmap applies to each example takes gradients with respect to what "
            "the examples are computed from");
  return false;
}

std::vector<tc_ref> Evaluator::gradients_of(const CallExpr *e, tc_ref y, tc_ref cotangent,
                                            const std::vector<tc_ref> &wrt, bool unused) {
  const SourceLocation loc = e->getExprLoc();
  std::vector<tc_ref> gradients(wrt.size());
  if (!avoids_examples(wrt, loc)) return gradients;
  const std::unique_ptr<bool[]> reached(new bool[wrt.size() + 1]);
  tc_autodiff a = {};
  a.noutput = 1;
  a.output = &y;
  a.cotangent = cotangent.id ? &cotangent : nullptr;
  a.nwrt = static_cast<uint32_t>(wrt.size());
  a.wrt = wrt.data();
  a.pattern = &tc_autodiff_softmax;
  a.loc = graph_loc(loc);
  differentiated(e, [&] { return tc_autodiff_vjp(graph, &a, gradients.data(), reached.get()); });
  for (size_t i = 0; i < wrt.size() && !failed; i++)
    if (!reached[i] && !unused) {
      fail(loc, "what gradient " + std::to_string(i) + " is wanted of does not lead to " +
                    describe(y) + " within the statements from here on");
      obstacle.follows = true;
    }
  return gradients;
}

// Forward mode; the tape is kept.
Value Evaluator::do_tc_jvp(const CallExpr *e) {
  const SourceLocation loc = e->getExprLoc();
  auto y = tensor_argument(argument(e, 0));
  auto n = y ? constant_argument(e, 1, "how many tangents there are") : std::nullopt;
  std::vector<tc_ref> wrt, tangents;
  if (!n || !wrt_argument(e, 2, *n, wrt)) return {};
  const Expr *list = array_of(argument(e, 3));
  Value v = evaluate(list);
  if (failed || !append_tensors(v, list, *n, tangents)) return {};
  if (untracked) fail(loc, "gradients are asked for in TC_NO_GRAD");
  if (failed || !avoids_examples(wrt, loc)) return {};
  tc_ref out = {0};
  tc_autodiff a = {};
  a.noutput = 1;
  a.output = &y->ref;
  a.nwrt = static_cast<uint32_t>(*n);
  a.wrt = wrt.data();
  a.loc = graph_loc(loc);
  if (!differentiated(e, [&] { return tc_autodiff_jvp(graph, &a, tangents.data(), &out); }))
    return {};
  ops++;
  inner_wrt.push_back({y->ref, loc});
  return result(detached(out, loc), OP_FULL, nullptr);
}

// ---- the end ------------------------------------------------------------------------------------

// Marks the operands that are leaves.  false: the body would do what kernels do not.
bool Evaluator::settle_gradients(SourceLocation loc) {
  if (leaf_inputs.empty() && inner_wrt.empty() && own_leaf.empty()) return true;
  std::vector<tc_ref> sources = own_leaf;
  for (int input : leaf_inputs) sources.push_back(input_refs[static_cast<size_t>(input)]);
  for (const Storage &storage : storages) {
    const bool leaf = storage.source.at_entry && leaf_inputs.count(storage.input);
    if (leaf && storage.version) sources.push_back(storage.current);
  }
  const std::vector<bool> tracked = moving_with(graph, sources);
  for (const auto &[ref, at] : inner_wrt)
    if (!tracked[ref.id])
      fail(at, "the gradient of a value that is computed from none of the operands that gradients "
               "are taken with respect to");
  for (const auto &[ref, at] : made_leaves)
    if (tracked[ref.id])
      fail(at, "what 'tc_requires_grad_' is called for is tracked already: it is computed from what "
               "gradients are taken with respect to");
  for (unsigned i = 0; i < storages.size(); i++)
    if (storages[i].leaf && exported.count(i))
      fail(loc, "a leaf that 'tc_requires_grad_' made is handed on; hand on tc_detach of it");
  std::vector<tc_ref> gone;
  for (uint32_t id : spent) gone.push_back({id});
  const std::vector<bool> freed = moving_with(graph, gone);
  auto leaves_tracked = [&](tc_ref ref) { return tracked[ref.id] && !freed[ref.id]; };
  for (size_t i = 0; i < results.size(); i++)
    if (leaves_tracked(results[i]) && !numbers.count(i))
      fail(loc, describe(results[i]) + " is handed on while its gradient is tracked; hand on "
                                       "tc_detach of it");
  for (const Storage &storage : storages)
    if (storage.source.at_entry && storage.version && !leaf_inputs.count(storage.input) &&
        leaves_tracked(storage.current))
      fail(loc, "'" + storage.source.lvalue() + "' is written with what gradients are tracked of");
  for (int input : leaf_inputs) tc_graph_require_leaf(graph, static_cast<uint32_t>(input));
  return !failed;
}

// By id: what a tape leads to from what leaves the statements, up to where it was freed.
std::vector<bool> Evaluator::recorded() {
  std::vector<bool> leads(tc_graph_count(graph) + 1);
  for (size_t i = 0; i < results.size(); i++)
    if (!numbers.count(i)) leads[results[i].id] = true;
  for (const Storage &storage : storages)
    if (storage.source.at_entry && storage.tracked_write) leads[storage.current.id] = true;
  for (tc_ref effect = tc_graph_effect(graph); effect.id;) { // each names the one before it
    const tc_node *n = tc_graph_node(graph, effect);
    for (int i = 0; i < n->nin; i++) leads[n->in[i].id] = true;
    effect = n->in[1];
  }
  mark_back(graph, leads, [&](uint32_t id, int i) {
    return !spent.count(id) && tc_autodiff_passes(graph, {id}, i);
  });
  return leads;
}

// Marks the operands that are constants to a tape: leaves among them, which an optimiser writes,
// are no reason for the body to run.  Where the statements take gradients with respect to operands,
// the tape behind another one may lead to these: guards ask that it is a leaf, and not one of them.
void Evaluator::mark_detached() {
  const std::vector<bool> leads = recorded();
  std::set<int> tracked;
  for (const Storage &storage : storages)
    if (storage.tracked_write) tracked.insert(storage.input);
  for (const auto &[value, storage] : written_values) // read again, it is the operand
    if (leads[value.id]) tracked.insert(storages[storage].input);
  for (size_t i = 0; i < input_refs.size(); i++)
    if (!leads[input_refs[i].id] && !tracked.count(static_cast<int>(i)) &&
        !leaf_inputs.count(static_cast<int>(i)))
      tc_graph_set_detached(graph, static_cast<uint32_t>(i));
}

} // namespace tc
