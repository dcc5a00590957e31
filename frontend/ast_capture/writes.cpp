// writes.cpp - writes in place, as values.
//
// A write through a view becomes new contents of the whole tensor: the views are undone one after the
// other, and what a slice leaves out comes from the contents before.  Views that were taken before a
// write are taken again of the new contents when they are read.  Both hold as long as views share
// memory, which a reshape does of a tensor in row-major order: operands that are written are guarded to
// be so, and results are.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

// ---- views of other contents --------------------------------------------------------------------

// Views that copy what is not in row-major order share memory with the whole tensor alone.
static bool may_copy(const tc_node *n, tc_ref base) {
  bool reshapes = n->op == OP_RESHAPE || n->op == OP_FLATTEN || n->op == OP_CONTIGUOUS;
  return reshapes && n->in[0].id != base.id;
}

// The views that lead from the contents `base` to `ref`, of the contents `now`.
tc_ref Evaluator::view_again(tc_ref ref, tc_ref base, tc_ref now, SourceLocation loc) {
  if (ref.id == base.id || failed) return now;
  const tc_node *n = tc_graph_node(graph, ref);
  if (!n || tc_op_get(n->op)->cls != TC_CLASS_VIEW || may_copy(n, base)) {
    fail(loc, "whether this view shares memory with what was written is not known; take it after "
              "the write");
    return {0};
  }
  std::vector<tc_dim> attrs(n->attr, n->attr + n->nattr);
  tc_op op = n->op;
  tc_ref x = view_again(n->in[0], base, now, loc);
  return failed ? tc_ref{0}
                : tc_build(graph, op, 1, &x, static_cast<int>(attrs.size()), attrs.data(), nullptr,
                           graph_loc(loc));
}

// ---- undoing one view -----------------------------------------------------------------------------

static tc_ref flipped(tc_graph *graph, tc_ref x, tc_dim axis, tc_loc loc) {
  tc_dim attrs[2] = {tc_dim_const(1), axis};
  return tc_build(graph, OP_FLIP, 1, &x, 2, attrs, nullptr, loc);
}

static tc_ref sliced(tc_graph *graph, tc_ref x, tc_dim axis, tc_dim start, tc_dim stop, tc_loc loc) {
  tc_dim attrs[4] = {axis, start, stop, tc_dim_const(1)};
  return tc_build(graph, OP_SLICE, 1, &x, 4, attrs, nullptr, loc);
}

// x with `part` instead of the elements from `first` on along the axis; ref 0 where the sizes do not
// tell.
static tc_ref spliced(tc_graph *graph, tc_ref x, int axis, tc_dim first, tc_ref part, tc_loc loc) {
  tc_dims *dims = tc_graph_dims(graph);
  tc_dim count = tc_dim_norm(dims, tc_graph_type(graph, part)->dim[axis]);
  tc_dim size = tc_dim_norm(dims, tc_graph_type(graph, x)->dim[axis]);
  first = tc_dim_norm(dims, first);
  tc_dim end = tc_dim_add(dims, first, count), zero = tc_dim_const(0);
  if (tc_dim_bad(end)) return {0};
  std::vector<tc_ref> parts;
  if (!tc_dim_is(first, 0))
    parts.push_back(sliced(graph, x, tc_dim_const(axis), zero, first, loc));
  parts.push_back(part);
  if (!tc_dim_same(end, size))
    parts.push_back(sliced(graph, x, tc_dim_const(axis), end, size, loc));
  for (tc_ref each : parts)
    if (!each.id) return {0};
  tc_dim attr = tc_dim_const(axis);
  tc_ref joined = parts.size() == 1 ? part
                                    : tc_build(graph, OP_CONCAT, static_cast<int>(parts.size()),
                                               parts.data(), 1, &attr, nullptr, loc);
  if (!joined.id) return {0};
  tc_dim made = tc_dim_norm(dims, tc_graph_type(graph, joined)->dim[axis]);
  return tc_dim_same(made, size) ? joined : tc_ref{0};
}

// Contents of a slice's operand `x` after the slice became `value`.
static tc_ref undo_slice(tc_graph *graph, const tc_node *n, tc_ref x, tc_ref value, tc_loc loc) {
  tc_dims *dims = tc_graph_dims(graph);
  int axis = static_cast<int>(tc_dim_value(tc_attr_int(n, "axis")));
  int64_t step = tc_dim_value(tc_attr_int(n, "step"));
  tc_dim first, length, size = tc_graph_type(graph, x)->dim[axis];
  if ((step != 1 && step != -1) ||
      !tc_slice_bounds(dims, size, tc_attr_int(n, "start"), tc_attr_int(n, "stop"), step, &first,
                       &length))
    return {0};
  if (step == 1) return spliced(graph, x, axis, first, value, loc);
  value = flipped(graph, value, tc_dim_const(axis), loc);
  first = tc_dim_add(dims, tc_dim_sub(dims, first, length), tc_dim_const(1));
  return value.id && !tc_dim_bad(first) ? spliced(graph, x, axis, first, value, loc) : tc_ref{0};
}

static tc_ref undo_permute(tc_graph *graph, const tc_node *n, tc_ref value, tc_loc loc) {
  const tc_dim *axes;
  int back[TC_MAX_RANK], count = tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < count; i++) back[tc_dim_value(axes[i])] = i;
  return tc_build_permute(graph, value, count, back, loc);
}

// Contents of the view's operand `x` (type as before) after the view became `value`; ref 0: not known.
static tc_ref undo_view(tc_graph *graph, const tc_node *n, tc_ref x, tc_ref value, tc_loc loc) {
  tc_type before = *tc_graph_type(graph, x);
  switch (n->op) {
  case OP_RESHAPE:
  case OP_FLATTEN:
  case OP_SQUEEZE:
  case OP_UNSQUEEZE:
    return tc_build_reshape(graph, value, before.rank, before.dim, loc);
  case OP_CONTIGUOUS:
    return value;
  case OP_PERMUTE:
    return undo_permute(graph, n, value, loc);
  case OP_TRANSPOSE:
  case OP_FLIP:
    return tc_build(graph, n->op, 1, &value, n->nattr, n->attr, nullptr, loc);
  case OP_SLICE:
    return undo_slice(graph, n, x, value, loc);
  case OP_SELECT: {
    tc_dim axis = tc_attr_int(n, "axis"), index = tc_attr_int(n, "index");
    value = tc_build(graph, OP_UNSQUEEZE, 1, &value, 1, &axis, nullptr, loc);
    int at = static_cast<int>(tc_dim_value(axis));
    return value.id ? spliced(graph, x, at, index, value, loc) : tc_ref{0};
  }
  default: // an expand shows elements more than once
    return {0};
  }
}

// Contents of the whole after the view `ref` of the contents `base`, which are `now`, became `value`.
tc_ref Evaluator::put_back(tc_ref ref, tc_ref base, tc_ref now, tc_ref value, SourceLocation loc) {
  if (ref.id == base.id || failed) return value;
  const tc_node *n = tc_graph_node(graph, ref);
  tc_ref inner = n->in[0], x = view_again(inner, base, now, loc);
  CoreMessage core;
  tc_ref after = {0};
  if (!failed && !may_copy(tc_graph_node(graph, ref), base)) {
    CoreMessage::Catch here(diag, core);
    after = undo_view(graph, tc_graph_node(graph, ref), x, value, graph_loc(loc));
  }
  if (!failed && !after.id)
    fail(loc, std::string("a view made by tc_") + tc_op_get(tc_graph_node(graph, ref)->op)->text +
                  " is written whose place in the tensor is not followed; write the whole tensor, or "
                  "use tc_where or tc_concat");
  return put_back(inner, base, now, after, loc);
}

// ---- the operations -------------------------------------------------------------------------------

// value, converted to the dtype and broadcast to the shape of `like`
tc_ref Evaluator::spread(tc_ref value, const tc_type &like, const CallExpr *e) {
  tc_loc loc = graph_loc(e->getExprLoc());
  value = tc_build_cast(graph, value, static_cast<tc_dtype>(like.dtype), loc);
  const tc_type *type = value.id ? tc_graph_type(graph, value) : nullptr;
  bool same = type && type->rank == like.rank;
  for (int i = 0; same && i < like.rank; i++) same = tc_dim_same(type->dim[i], like.dim[i]);
  if (same || !type) return value;
  CoreMessage core;
  tc_ref wide;
  {
    CoreMessage::Catch here(diag, core);
    wide = tc_build_expand(graph, value, like.rank, like.dim, loc);
  }
  if (!wide.id)
    error(e->getExprLoc(),
          e->getDirectCallee()->getNameAsString() + ": " + describe(value) +
              " does not fit into the tensor that is written (" + core.text + ")",
          {CharSourceRange::getTokenRange(e->getArg(1)->getSourceRange())});
  return wide;
}

// The tensor that x is, or is a view of, has new contents: those of x are `value`.
void Evaluator::overwrite(const Tensor &x, tc_ref value, SourceLocation loc) {
  Storage &storage = storages[x.storage];
  if (!x.whole) value = put_back(x.ref, x.base, storage.current, value, loc);
  if (failed) return;
  storages[x.storage].current = value;
  storages[x.storage].version++;
}

// x = op(x, y) in the memory of x; op OP_NONE: x = y
Value Evaluator::write_in_place(const CallExpr *e, tc_op op) {
  SourceLocation loc = e->getExprLoc();
  Value target = evaluate(e->getArg(0));
  auto x = as_tensor(target, e->getArg(0));
  auto y = failed ? std::nullopt : tensor_argument(e->getArg(1));
  if (!x || !y) return {};
  ops++;
  tc_type type = *tc_graph_type(graph, x->ref);
  tc_ref value = y->ref;
  if (op != OP_NONE) {
    value = tc_build_cast(graph, value, static_cast<tc_dtype>(type.dtype), graph_loc(loc));
    value = build(op, {x->ref, value}, {}, nullptr, e);
  }
  if (failed) return {};
  value = spread(value, type, e);
  if (!failed) overwrite(*x, value, loc);
  return failed ? Value() : target;
}

Value Evaluator::do_tc_copy_(const CallExpr *e) { return write_in_place(e, OP_NONE); }
Value Evaluator::do_tc_add_(const CallExpr *e) { return write_in_place(e, OP_ADD); }
Value Evaluator::do_tc_sub_(const CallExpr *e) { return write_in_place(e, OP_SUB); }
Value Evaluator::do_tc_mul_(const CallExpr *e) { return write_in_place(e, OP_MUL); }
Value Evaluator::do_tc_div_(const CallExpr *e) { return write_in_place(e, OP_DIV); }

Value Evaluator::do_tc_fill_(const CallExpr *e) {
  Value target = evaluate(e->getArg(0));
  auto x = as_tensor(target, e->getArg(0));
  Value v = evaluate(e->getArg(1));
  if (failed || !x) return {};
  if (v.kind != Value::Scalars) {
    fail(e->getExprLoc(), "a number that is not followed");
    return {};
  }
  ops++;
  tc_ref number = as_operand(v.scalar, nullptr, e->getExprLoc());
  tc_ref value =
      build(OP_FULL, {number}, full_attributes(*tc_graph_type(graph, x->ref)), nullptr, e);
  if (!failed) overwrite(*x, value, e->getExprLoc());
  return failed ? Value() : target;
}

} // namespace tc
