// writes.cpp - writes in place, as values.
//
// A write through a view becomes new contents of the whole tensor: those before, with a part put at
// the place that the views lead to.  Views that were taken before a write are taken again of the
// new contents when they are read.  Both hold as long as views share memory.  Whether a reshape
// does follows from the strides, for a tensor in row-major order: operands that are reshaped and
// written are guarded to be so, and results are.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

// ---- views of other contents --------------------------------------------------------------------

// The views that lead from the contents `base` to `ref`, of those that the storage has now.
tc_ref Evaluator::view_again(tc_ref ref, tc_ref base, const Storage &storage, SourceLocation loc) {
  if (ref.id == base.id || failed) return storage.current;
  if (storage.leaf) {
    fail(loc, "what 'tc_requires_grad_' made a leaf is read behind a write to its memory");
    return {0};
  }
  const tc_node *n = tc_graph_node(graph, ref);
  if (!n || tc_op_get(n->op)->cls != TC_CLASS_VIEW ||
      (tc_op_get(n->op)->may_copy && copies(ref, base))) {
    fail(loc, "whether this view shares memory with what was written is not known; take it after "
              "the write");
    return {0};
  }
  std::vector<tc_dim> attrs(n->attr, n->attr + n->nattr);
  tc_op op = n->op;
  tc_ref x = view_again(n->in[0], base, storage, loc);
  if (failed) return {0};
  tc_ref view = tc_build(graph, op, 1, &x, static_cast<int>(attrs.size()), attrs.data(), nullptr,
                         graph_loc(loc));
  const Overwritten &last = storage.last;
  if (last.contents.id == storage.current.id && last.view.id == ref.id)
    overwritten[view.id] = last.value;
  else note_shown(view, x, attrs, loc);
  return view;
}

// A view of one of which it is known what it shows.
void Evaluator::note_shown(tc_ref view, tc_ref of, const std::vector<tc_dim> &attrs,
                           SourceLocation loc) {
  tc_ref x = shown_by(of);
  if (!view.id || x.id == of.id) return;
  overwritten[view.id] =
      tc_build(graph, static_cast<tc_op>(tc_graph_node(graph, view)->op), 1, &x,
               static_cast<int>(attrs.size()), attrs.data(), nullptr, graph_loc(loc));
}

// What the view shows, where that was just written: views of that follow it.
tc_ref Evaluator::shown_by(tc_ref view) const {
  auto found = overwritten.find(view.id);
  return found == overwritten.end() ? view : found->second;
}

// ---- where a view lies --------------------------------------------------------------------------

// A value and its place in an array of the same rank: from `first` on in steps of `step`.
struct Part {
  tc_ref value;
  llvm::SmallVector<tc_dim, TC_MAX_RANK> first, step;

  Part(tc_graph *graph, tc_ref value) : value(value) {
    size_t rank = value.id ? tc_graph_type(graph, value)->rank : 0;
    first.assign(rank, tc_dim_const(0));
    step.assign(rank, tc_dim_const(1));
  }
  void insert(int64_t axis, tc_dim at) {
    first.insert(first.begin() + axis, at);
    step.insert(step.begin() + axis, tc_dim_const(1));
  }
};

static tc_ref on_axis(tc_graph *graph, tc_op op, tc_ref x, int64_t axis, tc_loc loc) {
  tc_dim attr = tc_dim_const(axis);
  return tc_build(graph, op, 1, &x, 1, &attr, nullptr, loc);
}

static bool leave_slice(tc_graph *graph, const tc_node *n, const tc_type &before, Part &part) {
  tc_dims *dims = tc_graph_dims(graph);
  int64_t axis = tc_dim_value(tc_attr_int(n, "axis"));
  tc_dim step = tc_attr_int(n, "step"), first, length;
  if (!tc_slice_bounds(dims, before.dim[axis], tc_attr_int(n, "start"), tc_attr_int(n, "stop"),
                       tc_dim_value(step), &first, &length))
    return false;
  part.first[axis] = tc_dim_add(dims, first, tc_dim_mul(dims, part.first[axis], step));
  part.step[axis] = tc_dim_mul(dims, part.step[axis], step);
  return true;
}

static bool leave_permute(tc_graph *graph, const tc_node *n, Part &part, tc_loc loc) {
  const tc_dim *axes;
  int back[TC_MAX_RANK], count = tc_attr_list(n, "axes", &axes);
  Part old = part;
  for (int i = 0; i < count; i++) {
    int64_t to = tc_dim_value(axes[i]);
    back[to] = i;
    part.first[to] = old.first[i];
    part.step[to] = old.step[i];
  }
  part.value = tc_build_permute(graph, part.value, count, back, loc);
  return true;
}

static bool leave_flip(tc_graph *graph, const tc_node *n, const tc_type &before, Part &part) {
  tc_dims *dims = tc_graph_dims(graph);
  const tc_dim *axes;
  int count = tc_attr_list(n, "axes", &axes);
  for (int i = 0; i < count; i++) {
    int64_t axis = tc_dim_value(axes[i]);
    tc_dim last = tc_dim_sub(dims, before.dim[axis], tc_dim_const(1));
    part.first[axis] = tc_dim_sub(dims, last, part.first[axis]);
    part.step[axis] = tc_dim_sub(dims, tc_dim_const(0), part.step[axis]);
  }
  return true;
}

// From the place in a view to that in its operand, of type `before`; false: it is none.
static bool leave_view(tc_graph *graph, const tc_node *n, const tc_type &before, Part &part,
                       tc_loc loc) {
  tc_dim axis = tc_attr_int(n, "axis");
  switch (n->op) {
  case OP_SLICE:
    return leave_slice(graph, n, before, part);
  case OP_SELECT:
    part.insert(tc_dim_value(axis), tc_attr_int(n, "index"));
    part.value = on_axis(graph, OP_UNSQUEEZE, part.value, tc_dim_value(axis), loc);
    return true;
  case OP_SQUEEZE:
    part.insert(tc_dim_value(axis), tc_dim_const(0));
    part.value = on_axis(graph, OP_UNSQUEEZE, part.value, tc_dim_value(axis), loc);
    return true;
  case OP_UNSQUEEZE:
    part.first.erase(part.first.begin() + tc_dim_value(axis));
    part.step.erase(part.step.begin() + tc_dim_value(axis));
    part.value = on_axis(graph, OP_SQUEEZE, part.value, tc_dim_value(axis), loc);
    return true;
  case OP_PERMUTE:
    return leave_permute(graph, n, part, loc);
  case OP_TRANSPOSE: {
    int64_t a = tc_dim_value(tc_attr_int(n, "a")), b = tc_dim_value(tc_attr_int(n, "b"));
    std::swap(part.first[a], part.first[b]);
    std::swap(part.step[a], part.step[b]);
    part.value = tc_build(graph, OP_TRANSPOSE, 1, &part.value, n->nattr, n->attr, nullptr, loc);
    return true;
  }
  case OP_FLIP:
    return leave_flip(graph, n, before, part);
  case OP_DETACH:
    return true;
  default: // an expand and windows show elements more than once
    return false;
  }
}

// Along axis i of an array of this size: is the part all of it, in this or the opposite direction?
static bool spans(tc_graph *graph, const Part &part, size_t i, tc_dim size) {
  tc_dims *dims = tc_graph_dims(graph);
  tc_dim count = tc_dim_norm(dims, tc_graph_type(graph, part.value)->dim[i]), first, last;
  size = tc_dim_norm(dims, size);
  first = tc_dim_norm(dims, part.first[i]);
  last = tc_dim_norm(dims, tc_dim_sub(dims, size, tc_dim_const(1)));
  if (!tc_dim_same(count, size)) return false;
  return tc_dim_is(part.step[i], -1)
             ? tc_dim_same(first, last)
             : tc_dim_is(first, 0) && (tc_dim_is(part.step[i], 1) || tc_dim_is(count, 1));
}

static bool is_all_of(tc_graph *graph, const Part &part, const tc_type &type) {
  if (!part.value.id || part.first.size() != type.rank) return false;
  for (size_t i = 0; i < part.first.size(); i++)
    if (!spans(graph, part, i, type.dim[i])) return false;
  return true;
}

// x with the part at its place.
static tc_ref put(tc_graph *graph, tc_ref x, Part part, tc_loc loc) {
  tc_dims *dims = tc_graph_dims(graph);
  if (!part.value.id || !x.id) return {0};
  size_t rank = part.first.size();
  const bool whole = is_all_of(graph, part, *tc_graph_type(graph, x));
  for (size_t i = 0; i < rank && part.value.id; i++) {
    tc_dim count = tc_graph_type(graph, part.value)->dim[i], one = tc_dim_const(1);
    if (tc_dim_value(part.step[i]) < 0) {
      tc_dim steps = tc_dim_sub(dims, count, one);
      part.first[i] = tc_dim_add(dims, part.first[i], tc_dim_mul(dims, steps, part.step[i]));
      part.step[i] = tc_dim_sub(dims, tc_dim_const(0), part.step[i]);
      tc_dim attrs[2] = {one, tc_dim_const(static_cast<int64_t>(i))};
      part.value = tc_build(graph, OP_FLIP, 1, &part.value, 2, attrs, nullptr, loc);
    }
    part.first[i] = tc_dim_norm(dims, part.first[i]);
  }
  if (whole) return part.value;
  std::vector<tc_dim> attrs = {tc_dim_const(static_cast<int64_t>(rank))};
  attrs.insert(attrs.end(), part.first.begin(), part.first.end());
  attrs.push_back(attrs[0]);
  attrs.insert(attrs.end(), part.step.begin(), part.step.end());
  for (tc_dim each : attrs)
    if (tc_dim_bad(each)) return {0};
  tc_ref in[2] = {x, part.value};
  return tc_build(graph, OP_PUT, 2, in, static_cast<int>(attrs.size()), attrs.data(), nullptr, loc);
}

// Contents of the whole after the view `ref` of its contents `base` became `value`.
tc_ref Evaluator::put_back(tc_ref ref, tc_ref base, Storage &storage, tc_ref value,
                           SourceLocation loc) {
  Part part(graph, value), all = part;
  tc_ref view = ref; // `all` is all of it
  CoreMessage core;
  for (tc_ref inner; ref.id != base.id && !failed; ref = inner) {
    tc_op op = tc_graph_node(graph, ref)->op;
    inner = tc_graph_node(graph, ref)->in[0];
    tc_type before = *tc_graph_type(graph, inner);
    const bool reshapes = tc_op_get(op)->may_copy, complete = view.id == ref.id;
    bool placed = !reshapes || !copies(ref, base);
    if (placed && reshapes) {
      tc_ref x = view_again(ref, base, storage, loc);
      CoreMessage::Catch here(diag, core);
      tc_ref y = failed ? x : put(graph, x, part, graph_loc(loc));
      part = Part(graph, y.id ? tc_build_reshape(graph, y, before.rank, before.dim, graph_loc(loc))
                              : tc_ref{0});
    } else if (placed) {
      CoreMessage::Catch here(diag, core);
      placed = leave_view(graph, tc_graph_node(graph, ref), before, part, graph_loc(loc));
    }
    if (!failed && (!placed || !part.value.id))
      fail(loc, std::string("a view made by tc_") + tc_op_get(op)->text +
                    " is written whose place in the tensor is not followed; write the whole "
                    "tensor, or use tc_where or tc_concat");
    if (!failed && complete && is_all_of(graph, part, before)) view = inner, all = part;
  }
  if (failed) return {0};
  CoreMessage::Catch here(diag, core);
  tc_ref after = put(graph, storage.current, part, graph_loc(loc));
  if (!after.id)
    fail(loc,
         "a part is written whose place in the tensor is not followed; write the whole tensor, "
         "or use tc_where or tc_concat");
  storage.last = {after, view, put(graph, view, all, graph_loc(loc))};
  return after;
}

// Ends of slices that are known at run time only are clamped to the axis.  Those that are written
// are assumed to lie inside, and others are left to the original body.
void Evaluator::assume_inside(const Tensor &x) {
  for (tc_ref ref = x.ref; !x.whole && ref.id != x.base.id;) {
    const tc_node *n = tc_graph_node(graph, ref);
    if (tc_op_get(n->op)->cls != TC_CLASS_VIEW) return;
    ref = n->in[0];
    if (n->op != OP_SLICE) continue;
    auto axis = tc_dim_value(tc_attr_int(n, "axis"));
    tc_dim size = tc_dim_norm(dims, tc_graph_type(graph, ref)->dim[axis]);
    for (tc_dim each : {tc_attr_int(n, "start"), tc_attr_int(n, "stop"), n->type.dim[axis]})
      tc_dim_assume_unclamped(dims, tc_dim_norm(dims, each), size);
  }
}

// ---- the operations -----------------------------------------------------------------------------

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
  if (wide.id) return wide;
  std::string why = e->getDirectCallee()->getNameAsString() + ": " + describe(value) +
                    " does not fit into the tensor that is written (" + core.text + ")";
  if (core.severity == TC_ERROR)
    error(e->getExprLoc(), why, {CharSourceRange::getTokenRange(e->getArg(1)->getSourceRange())});
  else fail(e->getExprLoc(), why); // it contradicts what was taken to be so, and may be right
  return wide;
}

// The type of what is written.
tc_type Evaluator::written_type(const Tensor &x) {
  assume_inside(x);
  tc_type type = *tc_graph_type(graph, x.ref);
  for (int i = 0; i < type.rank; i++) type.dim[i] = tc_dim_norm(dims, type.dim[i]);
  return type;
}

// The tensor that x is, or is a view of, has new contents: those of x are `value`.
void Evaluator::overwrite(const Tensor &x, tc_ref value, SourceLocation loc) {
  Storage &storage = storages[x.storage];
  if (!x.whole) value = put_back(x.ref, x.base, storage, value, loc);
  if (failed) return;
  storages[x.storage].current = value;
  storages[x.storage].version++;
  storages[x.storage].written_at = loc;
  written_values.push_back({value, x.storage});
}

// The tensor that the first argument of the call is, to be written; nothing: not followed.
std::optional<Tensor> Evaluator::target_argument(const CallExpr *e, Value &target) {
  target = evaluate(argument(e, 0));
  return as_tensor(target, argument(e, 0));
}

// The tensor has the value now, which is spread to it.
Value Evaluator::written(const Tensor &x, tc_ref value, const tc_type &type, const Value &target,
                         const CallExpr *e) {
  if (failed) return {};
  value = spread(value, type, e);
  if (untracked) value = detached(value, e->getExprLoc());
  else storages[x.storage].tracked_write = true;
  const Storage &storage = storages[x.storage];
  if (storage.leaf && !(untracked && storage.source.at_entry))
    fail(e->getExprLoc(), "what 'tc_requires_grad_' made a leaf is written");
  if (!failed) check_leaf_write(storages[x.storage], e->getExprLoc(), e);
  if (!failed) overwrite(x, value, e->getExprLoc());
  return failed ? Value() : target;
}

Value Evaluator::do_tc_copy_(const CallExpr *e) {
  Value target;
  auto x = target_argument(e, target);
  auto y = failed ? std::nullopt : tensor_argument(argument(e, 1));
  if (!x || !y) return {};
  ops++;
  return written(*x, y->ref, written_type(*x), target, e);
}

Value Evaluator::fill(const CallExpr *e, llvm::function_ref<tc_ref(tc_dtype)> number) {
  Value target;
  auto x = target_argument(e, target);
  if (!x) return {};
  const auto dtype = static_cast<tc_dtype>(tc_graph_type(graph, x->ref)->dtype);
  const tc_ref value = number(dtype);
  if (failed) return {};
  ops++;
  const tc_type type = written_type(*x);
  return written(*x, build(OP_FULL, {value}, full_attributes(type), nullptr, e), type, target, e);
}

Value Evaluator::do_tc_fill_(const CallExpr *e) {
  return fill(e, [&](tc_dtype dtype) {
    auto v = number_argument(argument(e, 1));
    tc_op op = OP_FULL;
    return v ? fitted(*v, dtype, op, "tc_fill_", argument(e, 1)) : tc_ref{0};
  });
}

Value Evaluator::do_tc_zero_(const CallExpr *e) {
  return fill(e, [&](tc_dtype) {
    return tc_graph_const_f(graph, TC_F64, true, 0, graph_loc(e->getExprLoc()));
  });
}

struct InPlaceRow {
  const char *name;
  tc_op op;
  const char *arguments;
};

static const InPlaceRow in_place_rows[] = {
#define TC_IN_PLACE(function, op, arguments) {#function, OP_##op, arguments},
#include "graph/ops/api.def"
};

const InPlaceRow *find_in_place(llvm::StringRef name) {
  for (const InPlaceRow &row : in_place_rows)
    if (name == row.name) return &row;
  return nullptr;
}

// x = op(x, ...) in the memory of x: tensors but masks are converted to its dtype in front, as
// numbers are.
Value Evaluator::call_in_place(const CallExpr *e, const InPlaceRow &row) {
  const SourceLocation loc = e->getExprLoc();
  Value target;
  auto x = target_argument(e, target);
  if (!x) return {};
  const auto dtype = static_cast<tc_dtype>(tc_graph_type(graph, x->ref)->dtype);
  std::vector<tc_ref> in = {x->ref};
  tc_op op = row.op;
  bool front = false;
  unsigned arg = 1;
  for (const char *at = row.arguments + 1; *at && !failed; at++) {
    if (*at == 'x') front = true;
    if (*at != 't' && *at != 's') continue;
    const Expr *expression = argument(e, arg++);
    if (*at == 't') {
      auto y = tensor_argument(expression);
      if (!y) return {};
      const bool mask = tc_graph_type(graph, y->ref)->dtype == TC_BOOL;
      in.push_back(mask ? y->ref : tc_build_cast(graph, y->ref, dtype, graph_loc(loc)));
    } else {
      auto v = number_argument(expression);
      if (!v) return {};
      const tc_ref number = fitted(*v, dtype, op, row.name, expression);
      in.insert(front ? in.begin() : in.end(), number);
    }
  }
  if (failed) return {};
  ops++;
  const tc_type type = written_type(*x);
  return written(*x, build(op, in, {}, nullptr, e), type, target, e);
}

} // namespace tc
