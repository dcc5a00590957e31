// calls.cpp - calls: the tensor API by its table, mathematical functions of C, functions with a
// visible body.
#include "frontend/ast_capture/evaluator.h"

#include "graph/ops/scalar.h"
#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::StringRef;

static const int max_ops = 10000; // of a segment: the time to compile it stays bearable

// ---- the table ----------------------------------------------------------------------------------

struct ApiRow {
  const char *name;
  tc_op op;
  const char *arguments;
};

static const ApiRow api_rows[] = {
#define TC_API(function, op, arguments) {#function, OP_##op, arguments},
#include "graph/ops/api.def"
};

bool is_api(const FunctionDecl *callee) {
  return callee && callee->getDeclName().isIdentifier() && callee->getName().starts_with("tc_");
}

static const ApiRow *find_row(StringRef name) {
  for (const ApiRow &row : api_rows)
    if (name == row.name) return &row;
  return nullptr;
}

// One attribute of an op, from its schema "axis:i keep:b".
struct AttributeSlot {
  StringRef name;
  char kind;
  bool size, offset; // may be an expression of sizes: not negative; of either sign
};

static llvm::SmallVector<AttributeSlot, 4> attribute_slots(tc_op op) {
  llvm::SmallVector<StringRef, 4> words;
  StringRef(tc_op_get(op)->attrs).split(words, ' ', -1, false);
  llvm::SmallVector<AttributeSlot, 4> slots;
  for (StringRef word : words) {
    auto [name, kind] = word.split(':');
    slots.push_back({name, kind.front(), kind.ends_with("+"), kind.ends_with("~")});
  }
  return slots;
}

// ---- operands -----------------------------------------------------------------------------------

tc_loc Evaluator::graph_loc(SourceLocation loc) const {
  return graph_location(sources, in_program(loc));
}

std::string Evaluator::describe(tc_ref ref) {
  tc_buf text = {};
  tc_type_print(dims, tc_graph_type(graph, ref), &text);
  std::string out(text.text ? text.text : "", text.len);
  tc_buf_free(&text);
  return out;
}

// An input that nobody knew of: it is noted, and the statements are evaluated once more, with it in
// front of the graph.  Up to their end a node of its type stands in for it, so that others are
// found.
bool Evaluator::note_input(const Place &place, SourceLocation loc) {
  if (!collecting) fail(loc, "internal: an input appeared late");
  auto type = failed ? std::nullopt : input_type(place);
  if (!type) return false;
  tc_loc at = graph_loc(loc);
  int64_t number = static_cast<int64_t>(input_refs.size()); // tells stand-ins apart
  tc_ref value = tc_graph_const_i(graph, TC_I64, true, number, at);
  std::vector<tc_dim> attrs = full_attributes(*type);
  tc_ref node = tc_build(graph, OP_FULL, 1, &value, static_cast<int>(attrs.size()), attrs.data(),
                         nullptr, at);
  discovered.inputs.push_back(place);
  input_refs.push_back(node);
  again = true;
  return node.id != 0;
}

// Do the sides that are taken say that there is no such tensor?
bool Evaluator::is_missing(const Place &place) const {
  const std::string tensor = place.lvalue();
  return llvm::any_of(chosen,
                      [&](const Choice &each) { return !each.holds && each.tensor == tensor; });
}

// The newest contents of a tensor.
tc_ref Evaluator::contents(const Tensor &t, SourceLocation loc) {
  Storage &storage = storages[t.storage];
  if (storage.source.at_entry && storage.input < 0) {
    if (is_missing(storage.source)) {
      fail(loc, "the operand is NULL");
      obstacle.dead = true; // on this path alone
      return {0};
    }
    auto [found, late] = inputs.insert({storage.source.lvalue(), input_refs.size()});
    if (late && maybe && storage.source.deref) {
      inputs.erase(found);
      fail(loc, "whether '" + storage.source.lvalue() + "' is read is not known at build time");
      return {0};
    }
    if (late && !note_input(storage.source, loc)) return {0};
    storage.input = static_cast<int>(found->second);
    storage.current = input_refs[found->second];
  }
  if (storage.source.layout && is_behind_store(storage, loc)) return {0};
  if (t.whole) return storage.current;
  return t.version == storage.version ? t.ref : view_again(t.ref, t.base, storage, loc);
}

// Argument i; the call itself after failing.  (A program may declare the functions itself.)
const Expr *Evaluator::argument(const CallExpr *e, unsigned i) {
  if (i < e->getNumArgs()) return e->getArg(i);
  fail(e->getExprLoc(), "fewer arguments than the function has");
  return e;
}

std::optional<Tensor> Evaluator::tensor_argument(const Expr *e) {
  return as_tensor(evaluate(e), e);
}

std::optional<Scalar> Evaluator::number_argument(const Expr *e) {
  Value v = evaluate(e);
  if (v.kind == Value::Scalars) return v.scalar;
  fail(e->getExprLoc(), "a number that is not followed");
  return std::nullopt;
}

std::optional<Tensor> Evaluator::as_tensor(Value v, const Expr *e) {
  if (failed) return std::nullopt;
  if (v.kind == Value::Foreign && is_tensor_pointer(v.place.type) &&
      entry_storages.count(v.place.lvalue()))
    v = import_tensor(storages[entry_storages[v.place.lvalue()]].source); // it is known by now
  if (v.kind == Value::Foreign && is_tensor_pointer(v.place.type)) {
    const auto *declared = v.place.declared;
    const char *what = llvm::isa_and_nonnull<ParmVarDecl>(declared) ? "parameter"
                       : llvm::isa_and_nonnull<FieldDecl>(declared) ? "member"
                                                                    : "variable";
    const std::string named = what + (" '" + v.place.lvalue()) + "'";
    if (declared && declared->isFromASTFile()) { // which has no attributes of plugins
      fail(e->getExprLoc(), named + " comes from a module, which hands on no TC_SHAPE; declare " +
                                "it in a header");
      return std::nullopt;
    }
    fail(llvm::isa_and_nonnull<ParmVarDecl>(declared) ? declared->getLocation() : e->getExprLoc(),
         named + " has no TC_SHAPE, so its rank is not known; write it behind the " + what +
             ", such as TC_SHAPE(\"f32[N,M]\")" +
             (v.place.indexed ? ", or where elements differ, behind a variable for each" : ""));
    return std::nullopt;
  }
  if (v.kind != Value::Tensors) {
    fail(e->getExprLoc(), v.kind == Value::Null ? "the operand is NULL"
                                                : "the operand is not a tensor that is followed");
    obstacle.dead = v.kind == Value::Null && !chosen.empty(); // on one path alone
    return std::nullopt;
  }
  v.tensor.ref = contents(v.tensor, e->getExprLoc());
  const Storage &storage = storages[v.tensor.storage];
  if (!v.tensor.whole && v.tensor.version != storage.version) {
    v.tensor.base = storage.current;
    v.tensor.version = storage.version;
  }
  return failed ? std::nullopt : std::optional<Tensor>(v.tensor);
}

bool Evaluator::append_tensors(const Value &array, const Expr *arg, int64_t n,
                               std::vector<tc_ref> &in) {
  if (n < 0) fail(arg->getExprLoc(), "the number of tensors in the list is negative");
  for (int64_t i = 0; i < n && !failed; i++) {
    if (array.kind != Value::Pointer) {
      fail(arg->getExprLoc(), "a list of tensors that is not a local array");
      return false;
    }
    Value v = load(offset_place(array.place, i), arg->getExprLoc());
    if (!failed && v.kind != Value::Tensors) {
      fail(arg->getExprLoc(), "an element of the list is not a tensor that is followed");
      obstacle.dead = v.kind == Value::Null && !chosen.empty();
    }
    if (!failed) in.push_back(contents(v.tensor, arg->getExprLoc()));
  }
  return !failed;
}

// A C scalar among the arguments of a call.
struct Number {
  Scalar value;
  const Expr *expression;
  size_t at; // in the operands
  bool like; // it takes the dtype of the first tensor, or else that of the result
};

// What the arguments of a call become.
struct ApiCall {
  const CallExpr *call = nullptr;
  llvm::SmallVector<AttributeSlot, 4> slots;
  unsigned next = 0;      // argument
  size_t slot = 0;        // next attribute
  std::vector<tc_ref> in; // {0}: NULL, or the place of one of `numbers`
  std::vector<tc_dim> attrs;
  std::string string;          // the attribute that is one
  std::optional<Tensor> first; // operand that is a tensor
  std::vector<Number> numbers;
  std::vector<std::pair<Value, const Expr *>> further; // addresses of results beside the first
};

// ---- attributes ---------------------------------------------------------------------------------

// A constant that is an end of a slice, and more than int64_t holds: it means the end of the axis.
static std::optional<int64_t> end_of_slice(llvm::StringRef name, const Scalar &v) {
  if ((name != "start" && name != "stop") || !v.constant || v.dim || !v.type->isIntegerType())
    return std::nullopt;
  bool high = v.integer.isNonNegative();
  return v.integer.isRepresentableByInt64() || high
             ? std::optional<int64_t>(high ? TC_SLICE_ALL : -TC_SLICE_ALL)
             : std::nullopt;
}

bool Evaluator::append_attribute(const AttributeSlot &slot, const Value &v, const Expr *arg,
                                 std::vector<tc_dim> &attrs, std::string &string) {
  SourceLocation loc = arg->getExprLoc();
  auto number = [&](const Value &element) {
    if (failed || element.kind != Value::Scalars) {
      fail(loc, "'" + slot.name.str() + "' is not a number that is followed");
      return false;
    }
    std::optional<int64_t> constant = as_constant(element.scalar);
    if (!constant) constant = end_of_slice(slot.name, element.scalar);
    if (!constant && !slot.size && !slot.offset) {
      fail(loc, "'" + slot.name.str() + "' has to be known at build time");
      obstacle.remedy = remedy_for(element);
      return false;
    }
    tc_dim dim = constant ? tc_dim_const(*constant) : as_dim(element.scalar, loc);
    // Sizes and positions known at run time only: negative ones are left to the original body.
    if (!failed && !constant && slot.size) tc_dim_assume_range(dims, dim, 0, INT64_MAX / 8);
    attrs.push_back(dim);
    return !failed;
  };
  if (slot.kind == 'S') {
    if (v.kind != Value::String) {
      fail(loc, "'" + slot.name.str() + "' has to be a string literal");
      return false;
    }
    string = v.string; // tc_build makes the attribute
    return true;
  }
  if (slot.kind != 'I') return number(v);
  // tc_ints: {n, {v[0], v[1], ...}}
  auto n = v.kind == Value::Aggregate && v.parts.size() == 2 && v.parts[0].kind == Value::Scalars
               ? as_constant(v.parts[0].scalar)
               : std::nullopt;
  if (!n || *n < 0 || *n > static_cast<int64_t>(v.parts[1].parts.size())) {
    fail(loc, "'" + slot.name.str() + "' is not a list whose length is known at build time");
    return false;
  }
  attrs.push_back(tc_dim_const(*n));
  for (int64_t i = 0; i < *n; i++)
    if (!number(v.parts[1].parts[static_cast<size_t>(i)])) return false;
  return true;
}

// ---- building -----------------------------------------------------------------------------------

void CoreMessage::keep(void *self, tc_severity severity, tc_loc, const char *text) {
  auto *first = static_cast<CoreMessage *>(self);
  if (first->text.empty()) {
    first->text = text;
    first->severity = severity;
  }
}

// Whether the inner sizes of a product are known to be equal, and the leading ones to broadcast.
static bool multiplies(tc_dims *dims, const tc_type &a, const tc_type &b) {
  if (!a.rank || !b.rank) return false;
  bool fits = tc_dim_known_eq(dims, a.dim[a.rank - 1], b.dim[b.rank == 1 ? 0 : b.rank - 2]);
  for (int i = 3; fits && i <= std::min(a.rank, b.rank); i++) {
    tc_dim x = a.dim[a.rank - i], y = b.dim[b.rank - i];
    fits = tc_dim_is(x, 1) || tc_dim_is(y, 1) || tc_dim_known_eq(dims, x, y);
  }
  return fits;
}

// Whether swapping the last two axes of operand i makes the product right: then that is the fix-it.
static bool transposing_helps(tc_graph *graph, tc_dims *dims, const std::vector<tc_ref> &in,
                              size_t i) {
  tc_type type[2] = {*tc_graph_type(graph, in[0]), *tc_graph_type(graph, in[1])};
  tc_type &t = type[i];
  if (t.rank < 2) return false;
  std::swap(t.dim[t.rank - 1], t.dim[t.rank - 2]);
  return multiplies(dims, type[0], type[1]);
}

// The core names the op, where the program called a function: "full: ..." becomes "zeros: ...".
static std::string with_function_name(const std::string &message, tc_op op, const CallExpr *e) {
  const FunctionDecl *callee = e->getDirectCallee();
  StringRef text = message, name;
  if (callee && callee->getDeclName().isIdentifier()) name = callee->getName();
  bool named = name.consume_front("tc_") && text.consume_front(tc_op_get(op)->text);
  return named && text.starts_with(":") ? (name + text).str() : message;
}

static std::string integer_condition(tc_graph *graph, const tc_node *n, tc_dtype d) {
  const auto index = static_cast<uint32_t>(tc_dim_value(tc_attr_int(n, "index")));
  const std::string v = tc_graph_scalar_at(graph, index)->name;
  return v + " >= " + std::to_string(tc_dtype_least(d)) + "LL && " + v +
         " <= " + std::to_string(tc_dtype_most(d)) + "LL";
}

// C integers are values of the dtype that an elementwise op computes in: those that are known, and
// the others where the kernels run.
void Evaluator::expect_integers_fit(tc_op op, const std::vector<tc_ref> &in, const CallExpr *e) {
  std::vector<const tc_type *> types;
  for (tc_ref each : in) types.push_back(tc_graph_type(graph, each));
  const tc_dtype d = tc_promote_all(types.data(), static_cast<int>(types.size()));
  if (tc_op_get(op)->cls != TC_CLASS_EW || !tc_dtype_is_int(d) || d == TC_I64) return;
  for (tc_ref each : in) {
    const tc_node *n = each.id ? tc_graph_node(graph, each) : nullptr;
    char why[TC_SCALAR_TEXT];
    int64_t v;
    if (!n || !n->type.weak || n->type.dtype != TC_I64) continue;
    if (tc_node_const(n, nullptr, &v) && !tc_scalar_int_fits(v, d, why))
      error(e->getExprLoc(), std::string(tc_op_get(op)->text) + ": " + why);
    else if (n->op != OP_CONST &&
             (n->op != OP_SCALAR || !require(integer_condition(graph, n, d), true)))
      fail(e->getExprLoc(), std::string("whether a number of it is a value of ") +
                                tc_dtype_text(d) + " is known at run time only");
  }
}

tc_ref Evaluator::build(tc_op op, const std::vector<tc_ref> &in, const std::vector<tc_dim> &attrs,
                        const char *string, const CallExpr *e) {
  if (!failed) expect_integers_fit(op, in, e);
  if (failed) return {0};
  // The core's message is completed with what only the source shows.
  CoreMessage core;
  tc_ref ref = {0};
  const bool is_view = tc_op_get(op)->cls == TC_CLASS_VIEW;
  std::vector<tc_ref> operands = in;
  if (!is_view)
    for (tc_ref &each : operands) each = shown_by(each);
  {
    CoreMessage::Catch here(diag, core);
    ref =
        tc_build(graph, op, static_cast<int>(in.size()), operands.data(),
                 static_cast<int>(attrs.size()), attrs.data(), string, graph_loc(e->getExprLoc()));
    if (is_view && !in.empty()) note_shown(ref, in[0], attrs, e->getExprLoc());
  }
  if (ref.id) return ref;
  core.text = with_function_name(core.text, op, e);
  if (core.severity != TC_ERROR) { // a limit of ours, not a mistake in the program
    fail(e->getExprLoc(), core.text.empty() ? "out of memory" : core.text);
    return {0};
  }
  std::vector<CharSourceRange> ranges;
  std::vector<FixIt> fixits;
  for (const Expr *arg : e->arguments())
    if (is_tensor_pointer(arg->getType()))
      ranges.push_back(CharSourceRange::getTokenRange(arg->getSourceRange()));
  for (size_t i = in.size(); op == OP_MATMUL && i-- > 0 && fixits.empty();) {
    if (!transposing_helps(graph, dims, in, i)) continue;
    CharSourceRange range = CharSourceRange::getTokenRange(e->getArg(i)->getSourceRange());
    CharSourceRange file = Lexer::makeFileCharRange(range, sources, context.getLangOpts());
    std::string text = Lexer::getSourceText(file, sources, context.getLangOpts()).str();
    int rank = tc_graph_type(graph, in[i])->rank;
    std::string call = "tc_transpose(" + text + ", " + (rank == 2 ? "0, 1)" : "-2, -1)");
    core.text += "; did you mean " + call + "?";
    fixits.push_back({range, call});
  }
  error(e->getExprLoc(), core.text, ranges, fixits);
  return {0};
}

static bool has_known_sizes(const tc_type &t) {
  return llvm::all_of(llvm::ArrayRef<tc_dim>(t.dim, size_t(t.rank)),
                      [](tc_dim d) { return tc_dim_is_const(d) && tc_dim_value(d) > 0; });
}

// Whether tc_contiguous copies what the statements made, which is row-major: where all sizes are
// known, that is.
bool Evaluator::surely_copies(tc_ref ref, tc_op op, const Tensor &viewed) {
  const tc_ref base = viewed.whole ? viewed.ref : viewed.base;
  return op == OP_CONTIGUOUS && !storages[viewed.storage].source.at_entry &&
         has_known_sizes(*tc_graph_type(graph, base)) &&
         has_known_sizes(*tc_graph_type(graph, ref)) && copies(ref, base);
}

// A view shares the memory of what it shows; everything else is new.
Value Evaluator::result(tc_ref ref, tc_op op, const Tensor *viewed) {
  if (failed || !ref.id) return {};
  if (viewed && surely_copies(ref, op, *viewed)) viewed = nullptr;
  if (untracked) ref = detached(ref, begins);
  Tensor t;
  t.ref = ref;
  if (viewed && tc_op_get(op)->cls == TC_CLASS_VIEW) {
    t.storage = viewed->storage;
    t.version = storages[viewed->storage].version;
    t.whole = false;
    t.handle = handles++;
    t.base = viewed->whole ? viewed->ref : viewed->base;
    storages[viewed->storage].viewed = true;
    if (tc_op_get(op)->may_copy) storages[viewed->storage].reshaped = true;
  } else {
    t.storage = static_cast<unsigned>(storages.size());
    Storage storage;
    storage.current = ref;
    storage.depth = scopes;
    storages.push_back(storage);
  }
  return Value::of(t);
}

// To an operation an operand that is NULL is a failure where an error is pending: none may be in
// front of the kernels, nor come of a layout that is none of a tensor's, be it used or not.
void Evaluator::expect_no_error(SourceLocation loc) {
  add_condition("!(tc_error)()");
  for (unsigned i = 0; i < storages.size() && !failed; i++) {
    Tensor t;
    t.storage = i;
    if (storages[i].source.layout) contents(t, loc);
  }
}

// A list of tensors whose length is not known at build time.
void Evaluator::fail_to_list(const Value &count, SourceLocation loc, tc_op op) {
  if (failed) return;
  fail(loc, "the length of the list has to be known at build time");
  std::string &remedy = obstacle.remedy;
  remedy = remedy_for(count);
  if (op != OP_CONCAT && op != OP_STACK) return;
  remedy += remedy.empty() ? "" : ", or ";
  remedy += "write its parts, one in each round of a loop, to a tensor made by tc_empty: ";
  remedy += op == OP_STACK ? "tc_copy_(tc_select(y, 0, i), x[i])"
                           : "tc_copy_(tc_slice(y, 0, from, to, 1), x[i])";
}

Value Evaluator::result_of_several(tc_ref ref, size_t i, const CallExpr *e) {
  const tc_dim index = tc_dim_const(static_cast<int64_t>(i));
  return result(build(OP_RESULT, {ref}, {index}, nullptr, e), OP_RESULT, nullptr);
}

// t: a tensor; o: a tensor, or NULL.
void Evaluator::take_tensor(char kind, const Expr *arg, ApiCall &c) {
  Value v = evaluate(arg);
  if (kind == 'o' && v.kind == Value::Null) {
    expect_no_error(arg->getExprLoc());
    c.in.push_back({0});
    return;
  }
  auto tensor = as_tensor(v, arg);
  if (!tensor) return;
  if (!c.first) c.first = tensor;
  c.in.push_back(tensor->ref);
}

static const size_t most_operands = 255; // of a node

// T: an array of tensors, and their number.
void Evaluator::take_tensors(const Expr *arg, ApiCall &c, tc_op op) {
  Value array = evaluate(arg);
  if (failed) return;
  Value count = evaluate(argument(c.call, c.next++));
  auto n = count.kind == Value::Scalars ? as_constant(count.scalar) : std::nullopt;
  if (n && *n > int64_t(most_operands) && op != OP_CONCAT && op != OP_STACK) // see joined_in_parts
    fail(arg->getExprLoc(), "operations of more than 255 tensors are not captured");
  else if (n) append_tensors(array, arg, *n, c.in);
  else fail_to_list(count, arg->getExprLoc(), op);
}

// l: the sizes of a tensor.
void Evaluator::take_sizes(const Expr *arg, ApiCall &c) {
  auto like = tensor_argument(arg);
  if (!like) return;
  const tc_type &type = *tc_graph_type(graph, like->ref);
  c.attrs.push_back(tc_dim_const(type.rank));
  c.attrs.insert(c.attrs.end(), type.dim, type.dim + type.rank);
  c.slot++;
}

// s, u: a C scalar that becomes an operand, with `x` the first one.
void Evaluator::take_number(const Expr *arg, ApiCall &c, bool front, bool like) {
  auto v = number_argument(arg);
  if (!v) return;
  c.numbers.push_back({*v, arg, front ? 0 : c.in.size(), like});
  c.in.insert(front ? c.in.begin() : c.in.end(), tc_ref{0});
}

// r: where a result beside the first goes.
void Evaluator::take_address(const Expr *arg, ApiCall &c) {
  Value v = evaluate(arg);
  if (!failed && v.kind != Value::Null && v.kind != Value::Pointer)
    fail(arg->getExprLoc(), "a result goes to an address that is not followed");
  if (!failed) c.further.push_back({v, arg});
}

// Takes what the letters of the row say (graph/ops/api.def).
bool Evaluator::take_arguments(const ApiRow &row, ApiCall &c) {
  bool like = false, front = false; // marks of the next letter
  for (const char *at = row.arguments; *at && !failed; at++) {
    if (*at == '~' || *at == 'x') {
      (*at == '~' ? like : front) = true;
      continue;
    }
    const Expr *arg = argument(c.call, c.next++);
    if (failed) return false;
    if (*at == 't' || *at == 'o') take_tensor(*at, arg, c);
    else if (*at == 'T') take_tensors(arg, c, row.op);
    else if (*at == 'l') take_sizes(arg, c);
    else if (*at == 's' || *at == 'u') take_number(arg, c, front, like);
    else if (*at == 'r') take_address(arg, c);
    else if (Value v = evaluate(arg); !failed)
      append_attribute(c.slots[c.slot++], v, arg, c.attrs, c.string);
    like = front = false;
  }
  return !failed;
}

// Numbers become operands, when the dtype of the tensors among them is known.
bool Evaluator::place_numbers(const ApiRow &row, tc_op &op, ApiCall &c) {
  const auto given = llvm::find_if(c.in, [](tc_ref each) { return each.id != 0; });
  for (const Number &each : c.numbers) {
    if (failed) return false;
    tc_dtype dtype = TC_F64;
    if (c.first) dtype = static_cast<tc_dtype>(tc_graph_type(graph, *given)->dtype);
    else if (each.like) dtype = static_cast<tc_dtype>(tc_dim_value(c.attrs.back()));
    const SourceLocation loc = each.expression->getExprLoc();
    if (op == OP_ARANGE) c.in[each.at] = as_whole(each.value, loc);
    if (failed || c.in[each.at].id) continue;
    c.in[each.at] = each.like && dtype < TC_DTYPE_COUNT
                        ? fitted(each.value, dtype, op, row.name, each.expression)
                        : as_operand(each.value, loc);
  }
  return !failed;
}

// Lists that are longer than a node's are joined in parts, and the parts along the same axis.
tc_op Evaluator::joined_in_parts(tc_op op, const std::vector<tc_dim> &attrs, const CallExpr *e,
                                 std::vector<tc_ref> &in) {
  for (; in.size() > most_operands && !failed; op = OP_CONCAT) {
    std::vector<tc_ref> parts;
    for (size_t i = 0; i < in.size() && !failed; i += most_operands) {
      const auto part = llvm::ArrayRef<tc_ref>(in).slice(i).take_front(most_operands);
      parts.push_back(build(op, part.vec(), attrs, nullptr, e));
    }
    in = std::move(parts);
  }
  return op;
}

Value Evaluator::call_api(const CallExpr *e, const ApiRow &row) {
  ApiCall c;
  c.call = e;
  c.slots = attribute_slots(row.op);
  if (!take_arguments(row, c)) return {};
  tc_op op = row.op;
  convert_operands(op, c.in, e);
  if (!place_numbers(row, op, c)) return {};
  ops++;
  op = joined_in_parts(op, c.attrs, e, c.in);
  tc_ref ref = build(op, c.in, c.attrs, c.string.empty() ? nullptr : c.string.c_str(), e);
  if (c.further.empty()) return result(ref, op, c.first ? &*c.first : nullptr);
  for (size_t i = 0; i < c.further.size() && !failed; i++)
    if (const auto &[to, expression] = c.further[i]; to.kind == Value::Pointer)
      store(to.place, result_of_several(ref, i + 1, e), expression->getExprLoc());
  return result_of_several(ref, 0, e);
}

// ---- other functions ----------------------------------------------------------------------------

// The object whose function is called, as C++'s this.
Value Evaluator::object_of_call(const Expr *object) {
  auto place = object->getType()->isPointerType() ? std::nullopt : refer(object);
  return place ? Value::of(Value::Pointer, *place) : evaluate(object);
}

// C++: a struct is copied, or a function with an operator's name is called.
Value Evaluator::call_operator(const CXXOperatorCallExpr *e, const FunctionDecl *callee) {
  const auto *method = dyn_cast<CXXMethodDecl>(callee);
  const FunctionDecl *definition = nullptr;
  if (auto v = method ? call_standard(e, method) : std::nullopt) return *v;
  if (method && method->isTrivial() && e->getOperator() == OO_Equal) {
    const Value v = evaluate(e->getArg(1));
    auto place = failed ? std::nullopt : locate(e->getArg(0));
    if (place) store(*place, v, e->getExprLoc());
    return failed || !place ? Value() : Value::of(Value::Pointer, *place);
  }
  if (callee->hasBody(definition) && !(method && method->isVirtual())) {
    const bool has_object = method && !method->isStatic();
    const Value self = has_object ? object_of_call(e->getArg(0)) : Value();
    return failed ? Value() : call_visible(e, definition, self);
  }
  fail(e->getExprLoc(),
       "'" + callee->getNameAsString() + "' is called" +
           (method && method->isVirtual() ? ", which is virtual"
                                          : ", whose body is not visible in this file"));
  return {};
}

// A function of an object, to which its body's `this` leads.
Value Evaluator::call_member(const CallExpr *e, const CXXMethodDecl *callee) {
  const auto *call = llvm::dyn_cast<CXXMemberCallExpr>(e);
  const FunctionDecl *definition = nullptr;
  if (auto v = call_standard(e, callee)) return *v;
  Value self;
  if (call && !callee->isVirtual() && callee->hasBody(definition))
    self = object_of_call(call->getImplicitObjectArgument());
  if (!failed && self.kind == Value::Pointer) return call_visible(e, definition, self);
  fail(e->getExprLoc(), "'" + callee->getNameAsString() + "' is a member of a class" +
                            (callee->isVirtual() ? ", and virtual" : ""));
  return {};
}

Value Evaluator::call_visible(const CallExpr *e, const FunctionDecl *callee, const Value &self) {
  // The object of a member that is an operator is among the arguments.
  const bool member = llvm::isa<CXXOperatorCallExpr>(e) && self.kind != Value::Unset;
  const unsigned first = member ? 1 : 0, given = e->getNumArgs() - first;
  if (callee->isVariadic() || callee->getNumParams() != given ||
      (callee->getNumParams() && !callee->hasWrittenPrototype()) || frames.size() >= max_frames) {
    auto same = [&](const Frame &f) {
      return f.function->getCanonicalDecl() == callee->getCanonicalDecl();
    };
    std::string name = "'" + callee->getNameAsString() + "'";
    fail(e->getExprLoc(),
         callee->isVariadic()
             ? "a function with a variable number of arguments is called: " + name +
                   "; write one that takes as many as here, or call it outside of "
                   "the function"
         : frames.size() < max_frames ? "the call of " + name + " is not captured"
         : llvm::none_of(frames, same)
             ? "calls are nested more than 64 deep"
             : name + " calls itself, and where that ends is not known at build time; use a loop");
    return {};
  }
  std::vector<Value> arguments = values_of(callee, {e->getArgs() + first, given});
  if (failed || !check_declared(callee, arguments, e)) return {};
  return call_body(e, callee, std::move(arguments), self);
}

// Arguments for the parameters; for C++'s references pointers to what they name.
std::vector<Value> Evaluator::values_of(const FunctionDecl *callee,
                                        llvm::ArrayRef<const Expr *> given) {
  std::vector<Value> arguments;
  for (unsigned i = 0; i < given.size() && !failed; i++) {
    const bool reference = callee->getParamDecl(i)->getType()->isReferenceType();
    auto place = reference ? refer(given[i]) : std::nullopt;
    arguments.push_back(place ? Value::of(Value::Pointer, *place) : evaluate(given[i]));
  }
  return arguments;
}

// The body of a function, for these arguments; those of C++'s references are pointers to what they
// name.
Value Evaluator::call_body(const Expr *e, const FunctionDecl *callee, std::vector<Value> arguments,
                           const Value &self) {
  enter(callee, e, std::move(arguments), self);
  if (is_lambda(callee)) bind_captures(callee);
  execute(callee->getBody());
  Value returned = leave(e);
  if (!failed && returned.kind == Value::Unset && !callee->getReturnType()->isVoidType())
    fail(e->getExprLoc(), "'" + callee->getNameAsString() + "' ends without a result");
  return returned;
}

void Evaluator::enter(const FunctionDecl *callee, const Expr *call, std::vector<Value> arguments,
                      const Value &self) {
  Frame frame;
  frame.function = callee;
  frame.called = call->getExprLoc();
  frame.self = self;
  for (unsigned i = 0; i < arguments.size(); i++) {
    const ParmVarDecl *parameter = callee->getParamDecl(i);
    if (parameter->getType()->isReferenceType())
      frame.referred[parameter] = std::move(arguments[i].place);
    else frame.variables[parameter] = new_slot(std::move(arguments[i]));
  }
  frames.push_back(std::move(frame));
}

// The end of the function that the expression called: what it returned.
Value Evaluator::leave(const Expr *call) {
  const FunctionDecl *callee = frames.back().function;
  Value returned = std::move(frames.back().returned);
  frames.pop_back();
  if (failed && frames.size() == 1 && obstacle.loc != call->getExprLoc())
    obstacle.notes.push_back({TC_NOTE,
                              call->getExprLoc(),
                              "'" + callee->getNameAsString() + "' is called here",
                              {},
                              {}});
  return returned;
}

static std::string why_not(StringRef name) {
  if (name == "setjmp" || name == "_setjmp" || name == "longjmp" || name == "sigsetjmp")
    return "'" + name.str() + "' is called, which control flow cannot be followed through";
  if (name.starts_with("tc_backward"))
    return "'" + name.str() + "' is called; the gradients of tc_grad are compiled";
  if (name == "tc_scope_begin" || name == "tc_scope_end")
    return "'" + name.str() +
           "' is called; write TC_SCOPE { ... }, which goto and return may leave";
  if (name.starts_with("tc_"))
    return "'" + name.str() + "' works on finished tensors; call it outside of the function";
  return "'" + name.str() +
         "' is called, whose body is not visible in this file; define it here, "
         "or call it outside of the function";
}

// While types are guessed: something of the type that a function returns whose body is not visible.
std::optional<Value> Evaluator::guess_result(const CallExpr *e) {
  const QualType type = e->getType();
  if (guessing && type->isVoidType()) return Value::of(Value::Void);
  if (guessing && type->isArithmeticType()) return Value::of(opaque("0", type));
  if (!guessing || !type->isPointerType()) return std::nullopt;
  Place unknown;
  unknown.type = type;
  return Value::of(Value::Foreign, unknown);
}

Value Evaluator::evaluate_call(const CallExpr *e) {
  const FunctionDecl *callee = e->getDirectCallee();
  if (!callee) {
    const Value pointer = evaluate(e->getCallee());
    callee = failed ? nullptr : pointed_function(pointer, e);
    if (failed) return {};
  }
  if (is_lambda(callee)) return call_lambda(e, llvm::cast<CXXMethodDecl>(callee));
  if (const auto *made = llvm::dyn_cast_or_null<CXXConversionDecl>(callee))
    return call_member(e, made);
  if (const auto *named = llvm::dyn_cast<CXXOperatorCallExpr>(e); named && callee)
    return call_operator(named, callee);
  if (!callee || !callee->getDeclName().isIdentifier()) {
    fail(e->getExprLoc(), "a function is called through a pointer; call it by its name");
    return {};
  }
  if (const auto *method = llvm::dyn_cast<CXXMethodDecl>(callee); method && !method->isStatic())
    return call_member(e, method);
  if (find_attribute(callee, disable_attribute)) {
    fail(e->getExprLoc(), "'" + callee->getNameAsString() + "' is marked TC_DISABLE");
    return {};
  }
  if (const FunctionDecl *other = stand_in(callee)) callee = other;
  StringRef name = callee->getName();
  if (ops >= max_ops) {
    fail(e->getExprLoc(), "more than " + std::to_string(max_ops) +
                              " operations; split the function, or work on larger tensors");
    return {};
  }
  if (const ApiRow *row = find_row(name)) return call_api(e, *row);
  if (const InPlaceRow *row = find_in_place(name)) return call_in_place(e, *row);
  if (Special special = find_special(name)) return (this->*special)(e);
  if (callee->getBuiltinID() == Builtin::BI__builtin_expect) // what is likely changes nothing
    return evaluate(argument(e, 0));
  if (callee->getBuiltinID())
    if (auto v = constant_expression(e)) return Value::of(*v);
  if (auto v = call_numeric(e, callee)) return *v;
  for (const FunctionDecl *each : callee->redecls())
    if (const auto *marked = find_attribute(each, op_attribute))
      return call_operation(e, callee, marked);
  for (const FunctionDecl *each : callee->redecls())
    if (find_attribute(each, effect_attribute)) return call_effect(e, callee);
  if (auto v = call_pure(e, callee)) return *v;
  const FunctionDecl *definition = nullptr;
  if (callee->hasBody(definition)) return call_visible(e, definition);
  if (auto v = guess_result(e)) return *v;
  check_unseen(callee, e);
  fail(e->getExprLoc(), why_not(name));
  return {};
}

} // namespace tc
