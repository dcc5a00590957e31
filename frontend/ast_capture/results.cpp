// results.cpp - what the function gives back: new tensors are results of the graph, parameters and
// numbers are C text of the guarded call, writes to parameters are writes of the graph.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

// C text of a value that leaves the function; "" after failing.
std::string Evaluator::result_text(const Value &v, SourceLocation loc, CapturedFunction &result) {
  if (v.kind == Value::Null) return "0";
  if (v.kind == Value::Scalars) return v.scalar.text;
  if (v.kind == Value::Foreign) return "(struct tc_tensor *)" + v.parameter->getNameAsString();
  if (v.kind != Value::Tensors) {
    fail(loc, "a result that is not a tensor or a number");
    return "";
  }
  const Tensor &t = v.tensor;
  const Storage &storage = storages[t.storage];
  if (storage.parameter && t.whole)
    return "(struct tc_tensor *)" + storage.parameter->getNameAsString();
  if (storage.parameter) {
    fail(loc, "the result is a view of parameter '" + storage.parameter->getNameAsString() +
                  "' and shares its memory; return tc_clone of it");
    return "";
  }
  auto [known, fresh] =
      results.insert({t.storage, "__tc_out[" + std::to_string(result.results) + "]"});
  if (!fresh && t.whole) return known->second;
  if (!fresh) {
    fail(loc, "two results share memory; return tc_clone of one");
    return "";
  }
  tc_ref ref = contents(t, loc);
  if (failed) return "";
  if (!tc_graph_output(graph, ref)) {
    fail(loc, "out of memory");
    return "";
  }
  result.results++;
  return known->second;
}

// Sizes that texts of scalars speak of are read from the operands, which the guards check later.
bool Evaluator::bind_sizes(CapturedFunction &result) {
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++) {
    const tc_sym *symbol = tc_dims_sym(dims, i);
    std::string name = std::string("__tc_size_") + symbol->name;
    bool named = llvm::any_of(
        result.scalars, [&](const auto &s) { return llvm::StringRef(s.text).contains(name); });
    named = named || llvm::StringRef(result.returned).contains(name);
    if (symbol->input < 0) {
      fail(function->getLocation(), std::string("size '") + symbol->name +
                                        "' stands only inside of expressions; declare a "
                                        "parameter with '" +
                                        symbol->name + "' as a size of its own");
      return false;
    }
    if (!named) continue;
    if (symbol->axis < 0) {
      result.sizes.push_back({name, scalar_symbols[symbol->name]});
    } else {
      const std::string &x = result.inputs[static_cast<size_t>(symbol->input)];
      result.sizes.push_back(
          {name, "(" + x + " ? " + x + "->dim[" + std::to_string(symbol->axis) + "] : 1)"});
    }
  }
  return true;
}

bool Evaluator::finish(const Value &returned, CapturedFunction &result) {
  SourceLocation loc = frames.back().return_loc;
  if (loc.isInvalid()) loc = function->getLocation();
  for (const ParmVarDecl *parameter : discovered.inputs)
    result.inputs.push_back(parameter->getNameAsString());
  for (const auto &scalar : discovered.scalars)
    result.scalars.push_back({scalar.text, scalar.dtype == TC_F64});
  if (returned.kind != Value::Void && returned.kind != Value::Unset)
    result.returned = result_text(returned, loc, result);
  else if (!function->getReturnType()->isVoidType())
    fail(loc, "the function ends without a result");
  for (const auto &[where, v] : outputs) {
    std::string lvalue = where.first->getNameAsString() + "[" + std::to_string(where.second) + "]";
    result.stores.push_back({lvalue, result_text(v, loc, result)});
  }
  bool writes = false;
  for (const Storage &storage : storages) {
    auto input = std::find(discovered.inputs.begin(), discovered.inputs.end(), storage.parameter);
    if (failed || !storage.version || !storage.parameter || input == discovered.inputs.end())
      continue;
    writes = true;
    if (storage.parameter->getType()->getPointeeType().isConstQualified())
      fail(loc, "parameter '" + storage.parameter->getNameAsString() + "' is const and written");
    else if (!tc_graph_write(graph, static_cast<uint32_t>(input - discovered.inputs.begin()),
                             storage.current))
      fail(loc, "a write in place is not possible");
  }
  if (!failed && !result.results && !writes)
    fail(loc, "there is nothing to compile: no tensor is computed");
  result.ops = ops;
  return !failed && bind_sizes(result);
}

} // namespace tc
