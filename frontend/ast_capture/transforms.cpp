// transforms.cpp - calls that take a function of tensors: its body is captured where they stand.
// tc_vmap is in batches.cpp.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

static const unsigned context_parameter = 1; // of functions that are handed over

// The function that the first argument is, which takes so many parameters, and the context that it
// gets.
std::optional<Given> Evaluator::given_function(const CallExpr *e, unsigned parameters) {
  Value function = evaluate(argument(e, 0)), context = evaluate(argument(e, 1));
  if (failed) return std::nullopt;
  const FunctionDecl *definition = nullptr;
  if (function.kind != Value::Function || !function.function->hasBody(definition) ||
      definition->getNumParams() != parameters) {
    fail(argument(e, 0)->getExprLoc(),
         "a function whose body is not visible in this file is handed over");
    return std::nullopt;
  }
  for (const Frame &f : frames)
    if (f.function->getCanonicalDecl() == definition->getCanonicalDecl()) {
      fail(e->getExprLoc(),
           "'" + definition->getNameAsString() + "' is handed over inside of itself");
      return std::nullopt;
    }
  return Given{definition, context};
}

// Lists are pointers to tensors, and not the union that they are handed over as.
Value Evaluator::call_given(const CallExpr *e, const Given &given, std::vector<Value> arguments) {
  for (unsigned i = 0; i < arguments.size(); i++)
    if (const QualType to = given.definition->getParamDecl(i)->getType()->getPointeeType();
        i != context_parameter && !to.isNull())
      arguments[i].place.type = to;
  return call_body(e, given.definition, std::move(arguments));
}

// A tc_function, called with these tensors (a pointer to them).
Value Evaluator::call_given(const CallExpr *e, const Value &tensors) {
  auto given = given_function(e, 2);
  return given ? call_given(e, *given, {tensors, given->context}) : Value();
}

// A pointer to the first of these, which are an array of their own.
Value Evaluator::pointer_to(const Value &array, QualType type) {
  Place first;
  first.slot = new_slot(array);
  first.path.push_back(0);
  first.type = type;
  return Value::of(Value::Pointer, first);
}

// ---- value and gradients ------------------------------------------------------------------------

// A pointer to n leaves over the memory of the tensors of the list, as tc_detach makes them.
std::optional<Value> Evaluator::own_leaves(const CallExpr *e, int64_t n,
                                           std::vector<tc_ref> &leaves,
                                           std::vector<unsigned> &versions) {
  Value list = evaluate(array_of(argument(e, 3))), made = Value::of(Value::Aggregate);
  std::vector<tc_ref> given;
  if (failed || !append_tensors(list, argument(e, 3), n, given)) return std::nullopt;
  for (int64_t k = 0; k < n && !failed; k++) {
    Tensor t = load(offset_place(list.place, k), argument(e, 3)->getExprLoc()).tensor;
    t.ref = given[static_cast<size_t>(k)];
    Value leaf = result(build(OP_DETACH, {t.ref}, {}, nullptr, e), OP_DETACH, &t);
    if (failed) break;
    leaves.push_back(leaf.tensor.ref);
    versions.push_back(storages[leaf.tensor.storage].version);
    made.parts.push_back(leaf);
  }
  if (failed) return std::nullopt;
  return pointer_to(made, argument(e, 3)->getType());
}

Value Evaluator::do_tc_value_and_grad(const CallExpr *e) {
  const SourceLocation loc = e->getExprLoc();
  std::vector<tc_ref> leaves;
  std::vector<unsigned> versions;
  auto n = constant_argument(e, 2, "how many gradients are wanted");
  const int outside = untracked;
  untracked = 0; // recorded, wherever the call stands
  auto given = n ? own_leaves(e, *n, leaves, versions) : std::nullopt;
  Value y = given ? call_given(e, *given) : Value();
  Value out = failed ? Value() : evaluate(argument(e, 4));
  untracked = outside;
  if (!failed && out.kind != Value::Pointer)
    fail(loc, "gradients go to a list that is not followed");
  auto value = failed ? std::nullopt : as_tensor(y, argument(e, 0));
  tc_ref one;
  if (!value || !cotangent_argument(e, -1, value->ref, one)) return {};
  own_leaf.insert(own_leaf.end(), leaves.begin(), leaves.end());
  inner_wrt.push_back({value->ref, loc});
  std::vector<tc_ref> gradients = gradients_of(e, value->ref, one, leaves, true);
  if (failed || !spend(value->ref, leaves, false, loc)) return {};
  ops++;
  for (size_t k = 0; k < leaves.size() && !failed; k++) {
    const unsigned storage = memory[given->place.slot].parts[k].tensor.storage;
    if (storages[storage].version != versions[k])
      fail(loc, "a tensor that gradients are taken with respect to is written");
    store(offset_place(out.place, static_cast<int64_t>(k)),
          result(detached(gradients[k], loc), OP_FULL, nullptr), loc);
  }
  return failed ? Value() : result(detached(value->ref, loc), OP_DETACH, &*value);
}

// ---- computed again -----------------------------------------------------------------------------

// A call like any other: what is kept until it is read is for the plan of the function's memory to
// say.
Value Evaluator::do_tc_checkpoint(const CallExpr *e) {
  Value list = evaluate(array_of(argument(e, 3)));
  return failed ? Value() : call_given(e, list);
}

} // namespace tc
