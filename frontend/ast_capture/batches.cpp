// batches.cpp - tc_vmap: a function of one example is captured once, and batched (batching/).
//
// The body sees a value that stands for an operand of one example, of no other use.  What it does
// beside computing its results would be done once for each example: that is left to the original
// body.
#include "frontend/ast_capture/evaluator.h"

#define TC_NO_LOCATIONS
#include <tcompile.h> /* TC_UNMAPPED */

#include "batching/batching.h"

namespace tc {

using namespace clang;

struct Batch {
  tc_dim size = {0};
  Value operands = Value::of(Value::Aggregate); // of one example
  std::vector<tc_ref> one, all;                 // mapped ones
  std::vector<tc_ref> results;                  // of one example
};

// What was there before the body.
struct Outside {
  uint32_t nodes;
  std::vector<std::pair<unsigned, bool>> storages; // version, freed
  size_t effects, own_leaves, inner_wrt;
  tc_ref effect;
  std::set<uint32_t> spent;
};

// ---- operands -----------------------------------------------------------------------------------

std::optional<int64_t> Evaluator::mapped_axis(const CallExpr *e, const Value &axes, int64_t k) {
  if (axes.kind == Value::Null) return 0;
  Value v = axes.kind == Value::Pointer
                ? load(offset_place(axes.place, k), argument(e, 4)->getExprLoc())
                : Value();
  if (failed) return std::nullopt;
  auto axis = v.kind == Value::Scalars ? as_constant(v.scalar) : std::nullopt;
  if (!axis) fail(argument(e, 4)->getExprLoc(), "the axes have to be known at build time");
  return axis;
}

bool Evaluator::map_operand(const CallExpr *e, const Tensor &x, int64_t axis, Batch &batch) {
  const SourceLocation loc = e->getExprLoc();
  const tc_type *type = tc_graph_type(graph, x.ref);
  const int64_t at = axis < 0 ? axis + type->rank : axis;
  if (at < 0 || at >= type->rank) {
    error(loc, "vmap: axis " + std::to_string(axis) + " is out of range for " + describe(x.ref));
    return false;
  }
  const tc_dim size = type->dim[at];
  const tc_dim both = batch.one.empty() ? size : tc_dim_unify(dims, batch.size, size);
  const bool known = tc_dim_is_const(size) && !tc_dims_guessed(dims);
  if (tc_dim_bad(both)) {
    const std::string what = "vmap: " + describe(x.ref) + " has " + dim_text(size) +
                             " examples along axis " + std::to_string(at) + ", others have " +
                             dim_text(batch.size);
    if (known && tc_dim_is_const(batch.size)) error(loc, what);
    else fail(loc, what);
    return false;
  }
  if (!tc_dim_assume_range(dims, both, 1, INT64_MAX)) {
    fail(loc, "a batch of 0 examples, whose results have no known shape");
    return false;
  }
  tc_type example = *type;
  std::vector<int> order = {static_cast<int>(at)};
  example.rank = 0;
  for (int i = 0; i < type->rank; i++) {
    if (i == at) continue;
    order.push_back(i);
    example.dim[example.rank++] = type->dim[i];
  }
  const int rank = type->rank;
  const tc_ref stand_in = tc_batch_example(graph, &example, graph_loc(loc));
  batch.size = both;
  batch.one.push_back(stand_in);
  batch.all.push_back(at ? tc_build_permute(graph, x.ref, rank, order.data(), graph_loc(loc))
                         : x.ref);
  batch.operands.parts.push_back(result(stand_in, OP_FULL, nullptr));
  if (!stand_in.id || !batch.all.back().id) fail(loc, "out of memory");
  return !failed;
}

bool Evaluator::map_operands(const CallExpr *e, int64_t n, Batch &batch) {
  const Expr *arg = array_of(argument(e, 3));
  Value list = evaluate(arg), axes = evaluate(argument(e, 4));
  std::vector<tc_ref> given;
  if (failed || !append_tensors(list, arg, n, given)) return false;
  for (int64_t k = 0; k < n && !failed; k++) {
    Value v = load(offset_place(list.place, k), arg->getExprLoc());
    auto axis = mapped_axis(e, axes, k);
    if (!axis) return false;
    v.tensor.ref = given[static_cast<size_t>(k)];
    if (*axis == TC_UNMAPPED) batch.operands.parts.push_back(v);
    else map_operand(e, v.tensor, *axis, batch);
  }
  if (!failed && batch.one.empty()) error(e->getExprLoc(), "vmap: no operand is mapped");
  return !failed;
}

// ---- the body -----------------------------------------------------------------------------------

// Does it depend on an operand of one example?
bool Evaluator::is_of_example(tc_ref ref) {
  if (examples.empty()) return false;
  std::vector<bool> depends(ref.id + 1);
  for (tc_ref each : examples)
    if (each.id <= ref.id) depends[each.id] = true;
  for (uint32_t id = 1; id <= ref.id; id++) {
    const tc_node *n = tc_graph_node(graph, {id});
    for (int i = 0; i < n->nin; i++) depends[id] = depends[id] || depends[n->in[i].id];
  }
  return depends[ref.id];
}

// Does the body do nothing but compute its results?
bool Evaluator::leaves_alone(SourceLocation loc, const Outside &before) {
  for (size_t i = 0; i < storages.size(); i++) {
    const bool older = i < before.storages.size();
    if (!older && !storages[i].source.at_entry) continue; // the body's own
    const auto was = older ? before.storages[i] : std::pair(0u, false);
    if (was == std::pair(storages[i].version, storages[i].freed)) continue;
    fail(loc, "a function that tc_vmap applies to each example writes or frees a tensor that is "
              "not its own");
    return false;
  }
  bool acts = tc_graph_effect(graph).id != before.effect.id;
  for (size_t i = before.effects; i < effects.size(); i++)
    acts = acts || *effects[i].call; // what frees numbers that were read has none
  if (acts) fail(loc, "a function that tc_vmap applies to each example has effects");
  return !failed;
}

// The results of one example.
bool Evaluator::call_example(const CallExpr *e, const Given &given, int64_t m, Batch &batch) {
  const SourceLocation loc = e->getExprLoc();
  const size_t around = examples.size(), slots = outside;
  examples.insert(examples.end(), batch.one.begin(), batch.one.end());
  mapped.insert(mapped.end(), batch.all.begin(), batch.all.end());
  outside = memory.size();
  Value list = Value::of(Value::Aggregate);
  list.parts.assign(static_cast<size_t>(m), Value::of(Value::Null));
  const Value to = pointer_to(list, argument(e, 6)->getType()),
              from = pointer_to(batch.operands, argument(e, 3)->getType());
  const Value done = call_given(e, given, {from, given.context, to});
  examples.resize(around);
  mapped.resize(around);
  outside = slots;
  if (failed) return false;
  if (done.kind != Value::Scalars || truth(done.scalar) != true) {
    fail(loc, "whether the function that tc_vmap is given fails is not known at build time");
    return false;
  }
  for (int64_t j = 0; j < m && !failed; j++) {
    const Value made = load(offset_place(to.place, j), loc);
    if (made.kind == Value::Null)
      fail(loc, "the function that tc_vmap is given sets no result " + std::to_string(j + 1));
    auto y = as_tensor(made, e);
    if (y) batch.results.push_back(y->ref);
  }
  return !failed;
}

// What the body noted of tapes holds of all examples.
bool Evaluator::follow_gradients(SourceLocation loc, const Outside &before,
                                 const std::vector<tc_ref> &batched) {
  auto of_all = [&](tc_ref ref) {
    return ref.id < batched.size() && batched[ref.id].id ? batched[ref.id] : ref;
  };
  for (size_t i = before.inner_wrt; i < inner_wrt.size(); i++)
    inner_wrt[i].first = of_all(inner_wrt[i].first);
  for (size_t i = before.own_leaves, n = own_leaf.size(); i < n; i++)
    own_leaf.push_back(of_all(own_leaf[i]));
  std::vector<uint32_t> freed;
  for (uint32_t id : spent) {
    if (before.spent.count(id)) continue;
    if (id <= before.nodes) {
      fail(loc,
           "a function that tc_vmap applies to each example frees the tape behind a value that "
           "is not its own");
      return false;
    }
    freed.push_back(of_all({id}).id);
  }
  spent.insert(freed.begin(), freed.end());
  return true;
}

// ---- the call -----------------------------------------------------------------------------------

Value Evaluator::do_tc_vmap(const CallExpr *e) {
  const SourceLocation loc = e->getExprLoc();
  Batch batch;
  auto given = given_function(e, 3);
  auto n = given ? constant_argument(e, 2, "how many operands there are") : std::nullopt;
  auto m = n ? constant_argument(e, 5, "how many results there are") : std::nullopt;
  if (!m || !map_operands(e, *n, batch)) return {};
  if (*m < 0) fail(loc, "the number of tensors in the list is negative");
  Value out = evaluate(argument(e, 6));
  if (!failed && out.kind != Value::Pointer) fail(loc, "results go to a list that is not followed");
  if (failed) return {};
  Outside before = {tc_graph_count(graph),  {},   effects.size(), own_leaf.size(), inner_wrt.size(),
                    tc_graph_effect(graph), spent};
  for (const Storage &each : storages) before.storages.emplace_back(each.version, each.freed);
  if (!call_example(e, *given, *m, batch) || !leaves_alone(loc, before)) return {};
  tc_batching b = {};
  b.size = batch.size;
  b.nmapped = static_cast<uint32_t>(batch.one.size());
  b.one = batch.one.data();
  b.all = batch.all.data();
  b.noutput = static_cast<uint32_t>(*m);
  b.output = batch.results.data();
  b.loc = graph_loc(loc);
  std::vector<tc_ref> results(batch.results.size()), batched(tc_graph_count(graph) + 1);
  CoreMessage core;
  bool done;
  {
    CoreMessage::Catch here(diag, core);
    done = tc_batch(graph, &b, results.data(), batched.data());
  }
  if (!done) fail(loc, core.text.empty() ? "out of memory" : core.text);
  if (failed || !follow_gradients(loc, before, batched)) return {};
  ops++;
  for (size_t j = 0; j < results.size() && !failed; j++) // in memory of their own
    store(offset_place(out.place, static_cast<int64_t>(j)),
          result(build(OP_CONTIGUOUS, {results[j]}, {}, nullptr, e), OP_FULL, nullptr), loc);
  return failed ? Value() : Value::of(integer_constant(llvm::APSInt::get(1), e->getType()));
}

} // namespace tc
