// special.cpp - the functions of the API that graph/ops/api.def lists as special: shorthands and
// questions about shapes.  Writes in place are in writes.cpp.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

Evaluator::Special Evaluator::find_special(llvm::StringRef name) {
  static const struct {
    const char *name;
    Special function;
  } rows[] = {
#define TC_API(function, op, arguments)
#define TC_API_SPECIAL(function) {#function, &Evaluator::do_##function},
#include "graph/ops/api.def"
      {"tc_dtype_size", &Evaluator::do_tc_dtype_size},
      {"tc_wrap_layout", &Evaluator::do_tc_wrap_layout},
      {"tc_wrap", &Evaluator::do_tc_wrap},
      {"tc_wrap_const", &Evaluator::do_tc_wrap_const},
      {"tc_free", &Evaluator::do_tc_free},
      {"tc_fail_as", &Evaluator::do_tc_fail_as},
      {"tc_dtype_of", &Evaluator::do_tc_dtype_of},
      {"tc_autocast_dtype", &Evaluator::do_tc_autocast_dtype},
      {"tc_item", &Evaluator::do_tc_item},
      {"tc_item_int", &Evaluator::do_tc_item_int},
      {"tc_is_compiling", &Evaluator::do_tc_is_compiling},
      {"tc_error", &Evaluator::do_tc_error},
      {"tc_error_code", &Evaluator::do_no_error_number},
      {"tc_error_count", &Evaluator::do_no_error_number},
      {"tc_detach", &Evaluator::do_tc_detach},
      {"tc_requires_grad_", &Evaluator::do_tc_requires_grad_},
      {"tc_grad", &Evaluator::do_tc_grad},
      {"tc_vjp", &Evaluator::do_tc_vjp},
      {"tc_grad_with", &Evaluator::do_tc_grad_with},
      {"tc_jvp", &Evaluator::do_tc_jvp},
      {"tc_value_and_grad", &Evaluator::do_tc_value_and_grad},
      {"tc_checkpoint", &Evaluator::do_tc_checkpoint},
      {"tc_vmap", &Evaluator::do_tc_vmap},
      {"tc_optim_expect", &Evaluator::do_tc_optim_expect},
  };
  for (const auto &row : rows)
    if (name == row.name) return row.function;
  return nullptr;
}

// ---- creation -----------------------------------------------------------------------------------

std::vector<tc_dim> full_attributes(const tc_type &type) {
  std::vector<tc_dim> attrs = {tc_dim_const(type.rank)};
  attrs.insert(attrs.end(), type.dim, type.dim + type.rank);
  attrs.push_back(tc_dim_const(type.dtype));
  return attrs;
}

// The length of a tc_ints, where it is known and the numbers are.
static std::optional<int64_t> length_of(const Value &list, std::optional<int64_t> n) {
  if (!n || *n < 0 || *n > TC_MAX_RANK) return std::nullopt;
  return llvm::all_of(llvm::ArrayRef(list.parts[1].parts).take_front(static_cast<size_t>(*n)),
                      [](const Value &v) { return v.kind == Value::Scalars; })
             ? n
             : std::nullopt;
}

// The numbers of a list of sizes or indices; none: they are not followed.
std::optional<std::vector<Scalar>> Evaluator::numbers_of(const Value &list) {
  const bool is_list = list.kind == Value::Aggregate && list.parts.size() == 2 &&
                       list.parts[0].kind == Value::Scalars;
  auto n = is_list ? length_of(list, as_constant(list.parts[0].scalar)) : std::nullopt;
  if (!n) return std::nullopt;
  std::vector<Scalar> numbers;
  for (int64_t i = 0; i < *n; i++)
    numbers.push_back(list.parts[1].parts[static_cast<size_t>(i)].scalar);
  return numbers;
}

// The type of a tensor that is made of these.
std::optional<tc_type> Evaluator::made_type(const CallExpr *e, unsigned dims_at,
                                            unsigned dtype_at) {
  Value list = evaluate(argument(e, dims_at)), dtype = evaluate(argument(e, dtype_at));
  if (failed) return std::nullopt;
  auto type = type_made_of(list, dtype, e->getExprLoc());
  if (!type && !failed) fail(e->getExprLoc(), "rank and dtype have to be known at build time");
  return type;
}

// Likewise; none without failing where the rank or the dtype is not known.
std::optional<tc_type> Evaluator::type_made_of(const Value &list, const Value &dtype,
                                               SourceLocation loc) {
  auto sizes_given = numbers_of(list);
  auto d = dtype.kind == Value::Scalars ? as_constant(dtype.scalar) : std::nullopt;
  if (!sizes_given || !d || *d < 0 || *d >= TC_DTYPE_COUNT) return std::nullopt;
  tc_type type = {};
  type.dtype = static_cast<uint8_t>(*d);
  type.rank = static_cast<uint8_t>(sizes_given->size());
  for (size_t i = 0; i < sizes_given->size() && !failed; i++) {
    type.dim[i] = as_dim((*sizes_given)[i], loc);
    if (!failed && !tc_dim_is_const(type.dim[i]))
      tc_dim_assume_range(dims, type.dim[i], 0, INT64_MAX / 8);
  }
  return failed ? std::nullopt : std::optional<tc_type>(type);
}

Value Evaluator::filled(const CallExpr *e, const std::optional<tc_type> &type, double value) {
  if (!type) return {};
  ops++;
  tc_ref v = tc_graph_const_f(graph, TC_F64, true, value, graph_loc(e->getExprLoc()));
  return result(build(OP_FULL, {v}, full_attributes(*type), nullptr, e), OP_FULL, nullptr);
}

// What nobody has written may be anything: 0.
Value Evaluator::do_tc_empty(const CallExpr *e) { return filled(e, made_type(e, 0, 1), 0); }
Value Evaluator::do_tc_zeros(const CallExpr *e) { return filled(e, made_type(e, 0, 1), 0); }
Value Evaluator::do_tc_ones(const CallExpr *e) { return filled(e, made_type(e, 0, 1), 1); }

Value Evaluator::filled_like(const CallExpr *e, std::optional<double> value) {
  auto like = tensor_argument(argument(e, 0));
  if (!like) return {};
  tc_ref v;
  if (value) {
    v = tc_graph_const_f(graph, TC_F64, true, *value, graph_loc(e->getExprLoc()));
  } else {
    auto given = number_argument(argument(e, 1));
    if (!given) return {};
    tc_op fill = OP_FULL;
    v = fitted(*given, static_cast<tc_dtype>(tc_graph_type(graph, like->ref)->dtype), fill,
               "tc_full_like", argument(e, 1));
  }
  ops++;
  tc_type type = *tc_graph_type(graph, like->ref);
  return result(build(OP_FULL, {v}, full_attributes(type), nullptr, e), OP_FULL, nullptr);
}

Value Evaluator::do_tc_zeros_like(const CallExpr *e) { return filled_like(e, 0.0); }
Value Evaluator::do_tc_ones_like(const CallExpr *e) { return filled_like(e, 1.0); }
Value Evaluator::do_tc_full_like(const CallExpr *e) { return filled_like(e, std::nullopt); }

Value Evaluator::do_tc_scalar(const CallExpr *e) {
  auto v = number_argument(argument(e, 0));
  if (!v) return {};
  ops++;
  return result(as_operand(*v, e->getExprLoc()), OP_CONST, nullptr);
}

Value Evaluator::do_tc_scalar_int(const CallExpr *e) { return do_tc_scalar(e); }

// New memory, same contents.
Value Evaluator::do_tc_clone(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  if (!x) return {};
  ops++;
  return result(build(OP_CONTIGUOUS, {x->ref}, {}, nullptr, e), OP_CONTIGUOUS, nullptr);
}

// ---- structure ----------------------------------------------------------------------------------

// tc_split(x, n, axis, out): n views along the axis
Value Evaluator::do_tc_split(const CallExpr *e) {
  SourceLocation loc = e->getExprLoc();
  auto x = tensor_argument(argument(e, 0));
  Value count = evaluate(argument(e, 1)), where = evaluate(argument(e, 2)),
        out = evaluate(argument(e, 3));
  if (failed) return {};
  auto n = count.kind == Value::Scalars ? as_constant(count.scalar) : std::nullopt;
  auto axis = where.kind == Value::Scalars ? as_constant(where.scalar) : std::nullopt;
  if (!n || !axis || *n < 1 || out.kind != Value::Pointer) {
    fail(loc, "the number of pieces and the axis have to be known at build time, and the pieces go "
              "to a local array");
    obstacle.remedy = remedy_for(n ? where : count);
    return {};
  }
  const tc_type *type = tc_graph_type(graph, x->ref);
  int64_t at = *axis < 0 ? *axis + type->rank : *axis;
  if (at < 0 || at >= type->rank) {
    error(loc, "split: axis " + std::to_string(*axis) + " of " + describe(x->ref));
    return {};
  }
  tc_dim size = type->dim[at];
  if (!tc_dim_is(tc_dim_mod(dims, size, tc_dim_const(*n)), 0)) {
    if (tc_dim_is_const(size) && !tc_dims_guessed(dims))
      error(loc, "split: size " + std::to_string(tc_dim_value(size)) + " does not divide into " +
                     std::to_string(*n) + " pieces");
    else
      fail(loc, "the size is not known to divide into " + std::to_string(*n) +
                    " pieces; declare a multiple in TC_SHAPE, such as N%" + std::to_string(*n));
    return {};
  }
  tc_dim piece = tc_dim_div(dims, size, tc_dim_const(*n));
  ops++;
  for (int64_t i = 0; i < *n && !failed; i++) {
    std::vector<tc_dim> attrs = {tc_dim_const(at), tc_dim_mul(dims, piece, tc_dim_const(i)),
                                 tc_dim_mul(dims, piece, tc_dim_const(i + 1)), tc_dim_const(1)};
    Value view = result(build(OP_SLICE, {x->ref}, attrs, nullptr, e), OP_SLICE, &*x);
    store(offset_place(out.place, i), view, loc);
  }
  return count;
}

// A scope that the statements open themselves leaves no trace: what it would free need not exist.
// What a tensor does beyond that is done behind the kernels.
Value Evaluator::do_tc_keep(const CallExpr *e) {
  Value v = evaluate(argument(e, 0));
  if (failed || v.kind == Value::Null) return v;
  if (v.kind != Value::Tensors && v.kind != Value::Foreign) {
    fail(e->getExprLoc(), "a tensor that is not followed is kept");
    return {};
  }
  bool made = v.kind == Value::Tensors && !storages[v.tensor.storage].source.at_entry;
  if (made && (scopes || !v.tensor.whole)) {
    Storage &storage = storages[v.tensor.storage];
    if (storage.depth == scopes) storage.depth = scopes - 1;
    if (scopes) return v;
  }
  if (scopes) return v; // of an outer scope already
  if (v.kind == Value::Tensors && storages[v.tensor.storage].source.layout) {
    fail(e->getExprLoc(), "a tensor over memory of the caller's own kind is kept");
    return {};
  }
  effects.push_back({"(tc_keep)(", v, "", true});
  return v;
}

Value Evaluator::do_tc_free(const CallExpr *e) {
  Value v = evaluate(argument(e, 0));
  if (failed || v.kind == Value::Null) return Value::of(Value::Void);
  if (v.kind == Value::Tensors && storages[v.tensor.storage].source.layout)
    return Value::of(Value::Void); // nothing was made
  bool at_entry = v.kind == Value::Foreign ||
                  (v.kind == Value::Tensors && storages[v.tensor.storage].source.at_entry);
  if (at_entry && (v.kind == Value::Foreign || v.tensor.whole) && !maybe) {
    effects.push_back({"(tc_free)(", v, ""});
  } else if (v.kind != Value::Tensors) {
    fail(e->getExprLoc(), "what is freed is not followed");
  }
  if (v.kind == Value::Tensors && v.tensor.whole) storages[v.tensor.storage].freed = true;
  return Value::of(Value::Void);
}

// ---- questions ----------------------------------------------------------------------------------

Value Evaluator::do_tc_size(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  Value where = evaluate(argument(e, 1));
  if (failed) return {};
  auto axis = where.kind == Value::Scalars ? as_constant(where.scalar) : std::nullopt;
  if (!axis) {
    fail(e->getExprLoc(), "the axis has to be known at build time");
    obstacle.remedy = remedy_for(where);
    return {};
  }
  const tc_type *type = tc_graph_type(graph, x->ref);
  int64_t at = *axis < 0 ? *axis + type->rank : *axis;
  if (at < 0 || at >= type->rank) {
    error(e->getExprLoc(), "size: axis " + std::to_string(*axis) + " of " + describe(x->ref));
    return {};
  }
  return Value::of(from_dim(type->dim[at], e->getType()));
}

// tc_ints: {n, {v[0], v[1], ...}}
Value Evaluator::do_tc_shape(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  if (!x) return {};
  Value list = zero_of(e->getType());
  const tc_type *type = tc_graph_type(graph, x->ref);
  if (list.kind != Value::Aggregate || list.parts.size() != 2) {
    fail(e->getExprLoc(), "'tc_ints' is not what tcompile.h declares");
    return {};
  }
  auto set = [&](Value &part, tc_dim size) { part = Value::of(from_dim(size, part.scalar.type)); };
  set(list.parts[0], tc_dim_const(type->rank));
  for (int i = 0; i < type->rank; i++)
    set(list.parts[1].parts[static_cast<size_t>(i)], type->dim[i]);
  return list;
}

Value Evaluator::do_tc_rank(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  return x ? Value::of(from_dim(tc_dim_const(tc_graph_type(graph, x->ref)->rank), e->getType()))
           : Value();
}

Value Evaluator::do_tc_numel(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  if (!x) return {};
  const tc_type *type = tc_graph_type(graph, x->ref);
  tc_dim n = tc_dim_const(1);
  for (int i = 0; i < type->rank; i++) n = tc_dim_mul(dims, n, type->dim[i]);
  if (tc_dim_bad(n)) {
    fail(e->getExprLoc(), "internal: a tensor of more elements than 64 bits count");
    return {};
  }
  return Value::of(from_dim(n, e->getType()));
}

Value Evaluator::do_tc_dtype_of(const CallExpr *e) {
  auto x = tensor_argument(argument(e, 0));
  return x ? Value::of(from_dim(tc_dim_const(tc_graph_type(graph, x->ref)->dtype), e->getType()))
           : Value();
}

// C's text for the element of x, a result of the kernels that is freed behind them.
std::string Evaluator::read_behind(tc_ref x, tc_dtype dtype, SourceLocation loc) {
  std::string result = new_result(x, loc);
  if (failed) return "";
  numbers.insert(results.size() - 1);
  effects.push_back({"", {}, "(tc_free)(" + result + ");"});
  return (dtype == TC_F64 ? "(tc_item)(" : "(tc_item_int)(") + result + ")";
}

// The value of a tensor with one element: read from a result of the kernels, behind them.  A number
// has no history, so that what is computed with it is a constant for derivatives.
Value Evaluator::read(const CallExpr *e, tc_ref x, tc_dtype dtype) {
  const tc_type *type = tc_graph_type(graph, x);
  for (int i = 0; i < type->rank; i++)
    if (!tc_dim_is(type->dim[i], 1)) {
      fail(e->getExprLoc(),
           "tc_item of " + describe(x) + ", which is not known to have one element");
      return {};
    }
  if (is_of_example(x)) {
    fail(e->getExprLoc(), "a number is read that differs from example to example of tc_vmap");
    return {};
  }
  const std::string text = read_behind(x, dtype, e->getExprLoc());
  if (failed) return {};
  ops++;
  tc_loc loc = graph_loc(e->getExprLoc());
  tc_ref ref = type->rank ? tc_build_reshape(graph, x, 0, nullptr, loc) : x;
  ref = detached(tc_build_cast(graph, ref, dtype, loc), e->getExprLoc());
  return Value::of(late(text, e->getType(), ref));
}

Value Evaluator::item(const CallExpr *e, tc_dtype dtype) {
  auto x = tensor_argument(argument(e, 0));
  return x ? read(e, x->ref, dtype) : Value();
}

// tc_at(x, index): the element that is left of selecting along each axis
Value Evaluator::do_tc_at(const CallExpr *e) {
  const SourceLocation loc = e->getExprLoc();
  auto x = tensor_argument(argument(e, 0));
  Value list = failed ? Value() : evaluate(argument(e, 1));
  if (!x || failed) return {};
  auto index = numbers_of(list);
  if (!index) {
    fail(loc, "'index' is not a list whose length is known at build time");
    return {};
  }
  tc_ref element = x->ref;
  for (const Scalar &each : *index) {
    const tc_dim at = as_dim(each, loc);
    if (failed) return {};
    if (!tc_dim_is_const(at)) tc_dim_assume_range(dims, at, 0, INT64_MAX / 8);
    element = build(OP_SELECT, {element}, {tc_dim_const(0), at}, nullptr, e);
    if (failed) return {};
  }
  return read(e, element, TC_F64);
}

Value Evaluator::do_tc_item(const CallExpr *e) { return item(e, TC_F64); }
Value Evaluator::do_tc_item_int(const CallExpr *e) { return item(e, TC_I64); }

Value Evaluator::do_tc_is_compiling(const CallExpr *e) {
  return Value::of(integer_constant(llvm::APSInt::get(1), e->getType()));
}

// Kernels run where no error is pending, and record none; functions of the program's own may.
bool Evaluator::asks_for_error(const CallExpr *e) {
  if (guessing) return true;
  if (!tc_graph_effect(graph).id) expect_no_error(e->getExprLoc());
  else fail(e->getExprLoc(), "errors are asked for behind a call of a function marked TC_EFFECT");
  return !failed;
}

Value Evaluator::do_tc_error(const CallExpr *e) {
  return asks_for_error(e) ? Value::of(Value::Null) : Value();
}

Value Evaluator::do_no_error_number(const CallExpr *e) { // TC_ERROR_NONE, or how many there were
  if (!asks_for_error(e)) return {};
  return Value::of(integer_constant(llvm::APSInt::get(0), e->getType()));
}

} // namespace tc
