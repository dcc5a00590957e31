// autocast.cpp - TC_AUTOCAST: operands of calls are converted as the eager library converts them,
// by graph/autocast.h.  Conversions of one value are one node, as equal nodes are.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

// Scopes that the statements open themselves are theirs wherever they run; of what is around them a
// guard makes sure.
void Evaluator::depends_on_autocast(uint32_t alike) {
  if (!autocast_inside) autocasts &= alike;
}

Evaluator::Flow Evaluator::execute_autocast(const Stmt *s, const Expr *dtype) {
  const Value v = evaluate(dtype);
  if (failed) return Flow::Return;
  auto number = v.kind == Value::Scalars ? as_constant(v.scalar) : std::nullopt;
  if (!number) {
    fail(dtype->getExprLoc(), "the dtype of TC_AUTOCAST has to be known at build time");
    return Flow::Return;
  }
  const auto inside = static_cast<tc_dtype>(*number);
  if (inside != TC_NO_AUTOCAST_DTYPE && !tc_autocast_is_dtype(inside)) {
    error(dtype->getExprLoc(), "TC_AUTOCAST takes TC_F16 or TC_BF16");
    return Flow::Return;
  }
  const tc_dtype outside = std::exchange(autocast, inside);
  const Flow flow = execute_once(llvm::cast<ForStmt>(s)->getBody(), autocast_inside);
  autocast = outside;
  return flow;
}

// Operands that are no tensors are none yet.
void Evaluator::convert_operands(tc_op op, std::vector<tc_ref> &in, const CallExpr *e) {
  if (failed) return;
  std::vector<const tc_type *> types;
  std::vector<tc_type> kept; // building may move what the graph has
  for (tc_ref each : in) kept.push_back(each.id ? *tc_graph_type(graph, each) : tc_type());
  for (size_t i = 0; i < in.size(); i++) types.push_back(in[i].id ? &kept[i] : nullptr);
  const int n = static_cast<int>(in.size());
  depends_on_autocast(tc_autocast_alike(op, autocast, n, types.data()));
  for (int i = 0; i < n && !failed; i++) {
    tc_ref &each = in[static_cast<size_t>(i)];
    const tc_dtype to = tc_autocast_operand(op, autocast, n, types.data(), i);
    if (!each.id || to == kept[static_cast<size_t>(i)].dtype) continue;
    each = build(OP_CAST, {each}, {tc_dim_const(to)}, nullptr, e);
  }
}

Value Evaluator::do_tc_autocast_dtype(const CallExpr *e) {
  depends_on_autocast(1u << autocast);
  return Value::of(from_dim(tc_dim_const(autocast), e->getType()));
}

} // namespace tc
