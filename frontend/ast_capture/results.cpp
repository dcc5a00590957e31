// results.cpp - what the statements leave behind: new tensors are results of the graph, views and
// numbers are C text behind the call, writes to operands are writes of the graph.
#include <functional>

#include "frontend/ast_capture/evaluator.h"
#include "graph/strides.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

// ---- text of values -----------------------------------------------------------------------------

std::string Evaluator::new_result(tc_ref ref, SourceLocation loc) {
  if (results.size() >= 1024) {
    fail(loc, "more than 1024 tensors are handed on");
    return "";
  }
  results.push_back(ref);
  return "__tc_out[" + std::to_string(results.size() - 1) + "]";
}

std::string Evaluator::number_text(const tc_node *n, const char *name) {
  tc_dim dim = tc_attr_int(n, name);
  return tc_dim_is_const(dim) ? "(" + std::to_string(tc_dim_value(dim)) + "LL)" : dim_text(dim);
}

std::string Evaluator::list_text(const tc_node *n, const char *name) {
  const tc_dim *items;
  int count = tc_attr_list(n, name, &items);
  std::string text = "(struct tc_ints){" + std::to_string(count) + ", {";
  for (int i = 0; i < count; i++) {
    text += i ? ", " : "";
    text += tc_dim_is_const(items[i]) ? std::to_string(tc_dim_value(items[i])) + "LL"
                                      : dim_text(items[i]);
  }
  return text + (count ? "}}" : "0}}");
}

// Where the view `ref` of the row-major contents `base` lies; *copies: in memory of its own.
static tc_strides strides_of(tc_graph *graph, tc_ref ref, tc_ref base, bool *copies) {
  tc_dims *dims = tc_graph_dims(graph);
  const tc_node *n = tc_graph_node(graph, ref);
  *copies = false;
  if (ref.id == base.id || tc_op_get(n->op)->cls != TC_CLASS_VIEW)
    return tc_strides_row_major(dims, &n->type);
  tc_strides s = strides_of(graph, n->in[0], base, copies);
  *copies = !tc_strides_view(dims, n, tc_graph_type(graph, n->in[0]), &s);
  return s;
}

bool Evaluator::copies(tc_ref ref, tc_ref base) {
  bool copies;
  strides_of(graph, ref, base, &copies);
  return copies;
}

// The variable that holds what the text makes.
std::string Evaluator::made_view(const std::string &text) {
  views.push_back(text);
  made.push_back("__tc_view" + std::to_string(views.size() - 1));
  return made.back();
}

// What the call that makes a view has behind its operand.
std::string Evaluator::view_arguments(const tc_node *n) {
  auto numbers = [&](std::initializer_list<const char *> names) {
    std::string text;
    for (const char *name : names) text += ", " + number_text(n, name);
    return text;
  };
  switch (n->op) {
  case OP_RESHAPE:
  case OP_EXPAND:
    return ", " + list_text(n, "dims");
  case OP_PERMUTE:
  case OP_FLIP:
    return ", " + list_text(n, "axes");
  case OP_SLICE:
    return numbers({"axis", "start", "stop", "step"});
  case OP_UNFOLD:
    return numbers({"axis", "size", "step"});
  case OP_TRANSPOSE:
    return numbers({"a", "b"});
  case OP_SELECT:
    return numbers({"axis", "index"});
  case OP_SQUEEZE:
  case OP_UNSQUEEZE:
    return numbers({"axis"});
  case OP_FLATTEN:
    return numbers({"first", "last"});
  default:
    return "";
  }
}

// The variable that holds the view `ref` of `source`, whose contents are `base`.  Each step of the
// way there borrows the one before and makes a tensor of its own, which ends with the segment
// unless it is handed on.  What strides force the body to copy is a result of the kernels: whether
// they do is seen when the view is made.
std::string Evaluator::remade_view(tc_ref ref, tc_ref base, const std::string &source) {
  if (ref.id == base.id) return source;
  const tc_node *n = tc_graph_node(graph, ref);
  if (!n || tc_op_get(n->op)->cls != TC_CLASS_VIEW) {
    fail(begins, "internal: a view that cannot be made again");
    return "";
  }
  std::string x = remade_view(n->in[0], base, source);
  if (failed) return "";
  if (copies(ref, base))
    return made_view("tcrt_view_or_copy(" + x + ", " + new_result(ref, begins) +
                     (n->op == OP_CONTIGUOUS ? ", 1)" : ", 0)"));
  return made_view(std::string("(tc_") + tc_op_get(n->op)->text + ")(" + x + view_arguments(n) +
                   ")");
}

// A view is made again of what it shows, so that it shares its memory; a view that is all that is
// left of its tensor is a tensor of its own, unless the function looks at its layout later.  One
// from before a write that may be a copy would be one of the new contents: those fail, but for
// copies that are results of the kernels.
std::string Evaluator::tensor_text(const Tensor &t, SourceLocation loc) {
  Storage &storage = storages[t.storage];
  const bool old = !t.whole && t.version != storage.version;
  bool kept = false, unknown = false;
  for_copies(t, [&](uint32_t id) { (copies({id}, t.base) ? kept : unknown) = true; });
  const bool strided = !kept && !unknown;
  if (!t.whole && !storage.freed && (unknown || !kept)) contents(t, loc);
  if (failed) return "";
  std::string base;
  if (storage.source.layout) {
    std::string &known = result_of[t.storage];
    if (known.empty()) known = made_view("(tc_wrap_layout)(" + storage.source.text + ")");
    base = known;
  } else if (storage.source.at_entry) {
    base = storage.input >= 0 ? "__tc_in[" + std::to_string(storage.input) + "]"
                              : storage.source.lvalue();
    base = "((struct tc_tensor *)" + base + ")";
  } else if (storage.freed) {
    return "0";
  } else if (!t.whole && exported[t.storage] <= 1 && !(old && kept) &&
             !(layouts_matter && strided)) {
    tc_ref ref = contents(t, loc);
    return failed ? "" : new_result(ref, loc);
  } else {
    std::string &known = result_of[t.storage];
    if (known.empty()) made.push_back(known = new_result(storage.current, loc));
    base = known;
  }
  // Two values that share what may be a copy would not share it, made again one by one.
  for_copies(t, [&](uint32_t id) {
    if (copied[id] > 1)
      fail(loc, "several values that are used from here on share what tc_contiguous, tc_reshape or "
                "tc_flatten may have copied; write tc_clone in its place where it need not be a "
                "view");
  });
  if (failed) return "";
  std::string &text = t.whole ? base : view_of[t.handle];
  if (text.empty()) text = remade_view(t.ref, t.base, base);
  owned.insert(text);
  return text;
}

// What the texts need on the way to what they hand on ends with the segment: views of views, and
// results that only views are left of.
void Evaluator::drop_unowned(Segment &result) {
  for (const std::string &name : llvm::reverse(made))
    if (!owned.count(name)) result.effects.push_back("(tc_free)(" + name + ");");
}

// C text of a value behind the call; "" after failing.
std::string Evaluator::value_text(const Value &v, SourceLocation loc) {
  switch (v.kind) {
  case Value::Null:
    return "0";
  case Value::Scalars:
    return v.scalar.text;
  case Value::Tensors:
    return tensor_text(v.tensor, loc);
  case Value::Foreign:
    return (is_tensor_pointer(v.place.type) ? "(struct tc_tensor *)" : "") + v.place.lvalue();
  case Value::Pointer:
    if (v.place.at_entry && !v.place.indexed) return "(&" + v.place.text + ")";
    if (v.place.at_entry)
      return v.place.index ? "(" + v.place.text + " + " + std::to_string(v.place.index) + ")"
                           : v.place.text;
    break;
  case Value::AtEntry: // a struct, or a part of one
    if (!v.place.type->isArrayType()) return v.place.lvalue();
    break;
  default:
    break;
  }
  fail(loc, "a value that cannot be handed on from here");
  return "";
}

// ---- what is handed on --------------------------------------------------------------------------

// Calls do(node) for the views from t to what it shows that may copy.  Where the strides of that
// are known (results are in row-major order, and guards ask it of operands that are reshaped and
// written), they tell.
void Evaluator::for_copies(const Tensor &t, llvm::function_ref<void(uint32_t)> act) {
  const Storage &storage = storages[t.storage];
  const bool known = !storage.source.at_entry || storage.version;
  for (tc_ref r = t.ref; !t.whole && r.id != t.base.id;) {
    const tc_node *n = tc_graph_node(graph, r);
    if (!n || tc_op_get(n->op)->cls != TC_CLASS_VIEW) return;
    const bool shares =
        known ? !copies(r, t.base) : tc_graph_node(graph, n->in[0])->op == OP_CONTIGUOUS;
    if (tc_op_get(n->op)->may_copy && !shares) act(r.id);
    r = n->in[0];
  }
}

void Evaluator::count_export(const Value &v) {
  if (v.kind != Value::Tensors) return;
  exported[v.tensor.storage]++;
  for_copies(v.tensor, [&](uint32_t id) { copied[id]++; });
}

// Whether what nobody has looked at came from another object.
static bool is_copy(const Value &v, const std::string &lvalue, bool is_inner) {
  return is_inner || v.place.lvalue() != lvalue;
}

void Evaluator::gather(const Value &v, const std::string &lvalue, QualType type,
                       const VarDecl *variable, bool is_inner, std::vector<Export> &out) {
  if (v.kind == Value::Unset || v.kind == Value::Void) return;
  if (v.kind == Value::AtEntry && !is_copy(v, lvalue, is_inner)) return;
  if (v.kind == Value::AtEntry && type->isArrayType()) { // in a struct that was opened
    Value parts = v;
    open(parts);
    if (parts.kind == Value::Aggregate) return gather(parts, lvalue, type, variable, is_inner, out);
  }
  if (v.kind == Value::Aggregate) {
    if (const auto *array = context.getAsConstantArrayType(type)) {
      for (size_t i = 0; i < v.parts.size(); i++)
        gather(v.parts[i], lvalue + "[" + std::to_string(i) + "]", array->getElementType(),
               variable, is_inner, out);
    } else if (const auto *record = type->getAs<RecordType>()) {
      size_t i = 0;
      for (const FieldDecl *field : record->getDecl()->fields()) {
        std::string name = field->getName().empty() ? "" : "." + field->getNameAsString();
        if (i < v.parts.size())
          gather(v.parts[i++], lvalue + name, field->getType(), variable, is_inner, out);
      }
    }
    return;
  }
  if (v.origin == lvalue) return;
  out.push_back(
      {is_inner ? Segment::Store::Inner : Segment::Store::Variable, variable, lvalue, type, v});
}

// In order of first mention, so that texts do not depend on addresses.
std::vector<Evaluator::Export> Evaluator::exports(Flow flow, const Stmt *first, const Stmt *last) {
  std::vector<std::pair<unsigned, const VarDecl *>> order;
  std::vector<Export> out;
  if (flow == Flow::Return) return out;
  Reading::Range range = {reading.range(first).first, reading.range(last).last};
  for (const auto &[variable, slot] : frames.front().variables)
    if (reading.live_behind(variable, range)) order.push_back({slot, variable});
  llvm::sort(order);
  for (const auto &[slot, variable] : order)
    if (const auto *record = variable->getType()->getAsCXXRecordDecl();
        variable->getName().empty() || (record && record->isLambda()))
      fail(variable->getLocation(), "a lambda, or a name of a struct's part, is used by other "
                                    "statements as well");
  for (const auto &[slot, variable] : order)
    gather(memory[slot], variable->getNameAsString(), variable->getType(), variable,
           inner.count(variable), out);
  return out;
}

void Evaluator::write_inputs(SourceLocation loc) {
  for (const Storage &storage : storages) {
    if (failed || !storage.version || !storage.source.at_entry || storage.input < 0) continue;
    if (!storage.source.layout && storage.source.type->getPointeeType().isConstQualified())
      fail(storage.written_at, "'" + storage.source.lvalue() + "' is const and written");
    else if (storage.reshaped)
      tc_graph_require_row_major(graph, static_cast<uint32_t>(storage.input));
    if (!failed && !tc_graph_write(graph, static_cast<uint32_t>(storage.input), storage.current))
      fail(loc, "internal: a write in place is not possible");
  }
}

// ---- sizes --------------------------------------------------------------------------------------

// Of an operand that the guards have not seen yet.
static std::string read_size(const std::string &x, int axis, bool layout) {
  const std::string dim = "dim[" + std::to_string(axis) + "]";
  return layout ? x + "." + dim : "(" + x + " ? " + x + "->" + dim + " : 1)";
}

static std::string read_size(const Place &place, int axis) {
  return read_size("(" + place.lvalue() + ")", axis, place.layout);
}

// The number that a symbol stands for which is no operand's size.
std::string Evaluator::number_of(const tc_sym *symbol) const {
  for (const auto &[hidden, text] : discovered.hidden)
    if (hidden == symbol->name) return text;
  return scalar_symbols.at(symbol->name);
}

// `text` for use in front of the operands' list; none where a size is not one of an operand's.
std::optional<std::string> Evaluator::with_sizes_read(const std::string &text) const {
  const StringRef prefix = size_prefix;
  std::string out;
  StringRef rest = text;
  for (size_t at; (at = rest.find(prefix)) != StringRef::npos;) {
    out += rest.take_front(at);
    rest = rest.drop_front(at + prefix.size());
    StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    uint32_t index;
    const bool known = tc_dim_find_sym(dims, name.str().c_str(), &index);
    const tc_sym *symbol = known ? tc_dims_sym(dims, index) : nullptr;
    if (!symbol) return std::nullopt;
    if (symbol->input < 0 || symbol->axis < 0) {
      auto text = symbol->input < 0 ? hidden_symbol(index) : number_of(symbol);
      auto number = text ? with_sizes_read(*text) : std::nullopt;
      if (!number) return std::nullopt;
      out += *number;
    } else {
      out += read_size(discovered.inputs[symbol->input], symbol->axis);
    }
  }
  return out + rest.str();
}

// Whether `dim` is slope*N + rest in symbol i, whatever the others are.
static bool is_linear(tc_dims *dims, tc_dim dim, uint32_t i, int64_t &slope, int64_t &rest) {
  int64_t f[3];
  for (int64_t n = 0; n < 3; n++)
    for (int64_t others : {11, 5}) {
      std::vector<int64_t> at(tc_dims_sym_count(dims), others);
      at[i] = n + 4;
      int64_t v;
      if (!tc_dim_eval(dims, dim, at.data(), &v) || (others == 5 && v != f[n])) return false;
      f[n] = v;
    }
  slope = f[1] - f[0];
  rest = f[0] - 4 * slope;
  return slope && f[2] - f[1] == slope;
}

// In "f32[2*N+1]", N is read as (dim - 1) / 2, and the guard checks the dim; none where no operand
// has such a size.
std::optional<std::string> Evaluator::hidden_symbol(uint32_t index) const {
  for (uint32_t k = 0; k < tc_graph_input_count(graph); k++) {
    const tc_type &type = tc_graph_input_at(graph, k)->type;
    for (int axis = 0; axis < type.rank; axis++) {
      int64_t slope, rest;
      if (!is_linear(dims, type.dim[axis], index, slope, rest)) continue;
      return "((long long)((" + read_size(discovered.inputs[k], axis) + " - " +
             std::to_string(rest) + ") / " + std::to_string(slope) + "))";
    }
  }
  return std::nullopt;
}

void Evaluator::bind_hidden_symbols() {
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++) {
    const tc_sym *symbol = tc_dims_sym(dims, i);
    auto text = symbol->input < 0 ? hidden_symbol(i) : std::nullopt;
    if (!text) continue;
    scalar_node(*text, TC_I64, begins);
    discovered.hidden.push_back({symbol->name, *text});
  }
}

static bool mentions(const Segment &s, const std::string &name) {
  auto in = [&](const std::string &text) { return StringRef(text).contains(name); };
  for (const auto &each : s.scalars)
    if (in(each.text)) return true;
  for (const auto &each : s.stores)
    if (in(each.text) || in(each.lvalue)) return true;
  for (const auto &each : s.inputs)
    if (in(each.text)) return true;
  for (const auto &each : s.sizes)
    if (in(each.text)) return true;
  return in(s.returned) || llvm::any_of(s.keeps, in) || llvm::any_of(s.effects, in) ||
         llvm::any_of(s.views, in);
}

// The last operand of whose sizes the text speaks; -1: of none.
static int last_operand(const std::string &text, const std::vector<Segment::Local> &sizes) {
  int last = -1;
  for (const auto &size : sizes)
    if (StringRef(text).contains(size.name)) last = std::max(last, size.input);
  return last;
}

// Sizes that texts speak of are read from the operands, which the guards check later.  One that is
// a number of the program may be computed from others: those have symbols of lower indices.
bool Evaluator::bind_sizes(Segment &result) {
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++) {
    const tc_sym *symbol = tc_dims_sym(dims, i);
    if (symbol->input >= 0) continue;
    fail(function->getLocation(), std::string("size '") + symbol->name +
                                      "' stands only inside of expressions; declare a "
                                      "parameter with '" +
                                      symbol->name + "' as a size of its own");
    return false;
  }
  for (uint32_t i = tc_dims_sym_count(dims); i-- > 0;) {
    const tc_sym *symbol = tc_dims_sym(dims, i);
    std::string name = std::string(size_prefix) + symbol->name;
    if (!mentions(result, name)) continue;
    if (symbol->axis < 0) {
      result.sizes.push_back({name, number_of(symbol), -1});
    } else {
      std::string x = "__tc_in[" + std::to_string(symbol->input) + "]";
      result.sizes.push_back({name, read_size(x, symbol->axis, false), symbol->input});
    }
  }
  std::reverse(result.sizes.begin(), result.sizes.end());
  for (auto &size : result.sizes)
    if (size.input < 0) size.input = last_operand(size.text, result.sizes);
  for (size_t i = 0; i < result.inputs.size(); i++)
    for (const auto &size : result.sizes)
      if (size.input >= static_cast<int>(i) && StringRef(result.inputs[i].text).contains(size.name))
        fail(begins, "an operand is found by the size of another");
  return !failed;
}

// ---- the end ------------------------------------------------------------------------------------

std::string unqualified_type(const std::string &value, const LangOptions &language) {
  return language.CPlusPlus ? "__typeof_unqual__(" + value + ")"
                            : "__typeof__((void)0, " + value + ")"; // GCC before 14 lacks the other
}

// Of a variable that holds the value, which the text names.
static std::string temporary_type(const std::string &name, QualType type, const std::string &text,
                                  const LangOptions &language) {
  const auto *record = type->getAs<RecordType>();
  if (record && !record->getDecl()->getIdentifier()) return unqualified_type(text, language);
  if (is_tensor_pointer(type)) return "struct tc_tensor *";
  return type->isPointerType() ? "void *" : name;
}

static bool may_be_tensor(const Value &v) {
  return v.kind == Value::Tensors || (v.kind == Value::Foreign && is_tensor_pointer(v.place.type));
}

static Segment::Exit exit_by(Evaluator::Flow flow) {
  switch (flow) {
  case Evaluator::Flow::Next: return Segment::Next;
  case Evaluator::Flow::Return: return Segment::Return;
  case Evaluator::Flow::Break: return Segment::Break;
  case Evaluator::Flow::Continue: break;
  }
  return Segment::Continue;
}

// Values that leave in what is returned: a struct does so in parts, which are stores to it.
void Evaluator::gather_returned(SourceLocation loc, std::vector<Export> &list, Segment &result) {
  const Value &returned = frames.back().returned;
  result.in_parts = returned.kind == Value::Aggregate;
  if (!result.in_parts) return count_export(returned);
  result.returned = "__tc_value";
  result.return_type = type_name(function->getReturnType().getUnqualifiedType());
  std::vector<Export> parts;
  gather(returned, result.returned, function->getReturnType(), nullptr, true, parts);
  for (Export &each : parts) {
    if (each.type.isConstQualified()) fail(loc, "a struct with a const member is returned");
    each.where = Segment::Store::Result;
    count_export(each.value);
    list.push_back(std::move(each));
  }
}

void Evaluator::write_stores(const std::vector<Export> &list, SourceLocation loc, Segment &result) {
  auto add = [&](Segment::Store::Where where, const std::string &lvalue, QualType type,
                 const Value &v, const VarDecl *variable) {
    QualType plain = context.getCanonicalType(type).getUnqualifiedType();
    const std::string text = value_text(v, loc);
    result.stores.push_back(
        {where, lvalue, temporary_type(type_name(plain), plain, text, context.getLangOpts()), text,
         where != Segment::Store::Memory && type.isConstQualified(), variable, may_be_tensor(v)});
  };
  for (const auto &[place, value] : stored)
    add(Segment::Store::Memory, place.lvalue(), place.type, value,
        place.deref ? nullptr : place.root);
  for (const Export &each : list)
    add(each.where, each.lvalue, each.type, each.value, each.variable);
  for (const Effect &each : effects)
    (each.keeps ? result.keeps : result.effects)
        .push_back(each.text.empty() ? each.call + value_text(each.value, loc) + ");" : each.text);
}

// What is returned as a whole.
void Evaluator::write_returned(Segment &result) {
  const Frame &frame = frames.back();
  if (result.exit != Segment::Return || frame.returned.kind == Value::Void || result.in_parts)
    return;
  QualType type = context.getCanonicalType(function->getReturnType()).getUnqualifiedType();
  result.returned = value_text(frame.returned, frame.return_loc);
  result.return_type =
      temporary_type(type_name(type), type, result.returned, context.getLangOpts());
  result.returns_tensor = may_be_tensor(frame.returned);
}

// The graph's outputs; false: there are none.
bool Evaluator::write_outputs(SourceLocation loc) {
  nothing =
      results.empty() && !tc_graph_effect(graph).id &&
      llvm::none_of(storages, [](const Storage &s) { return s.version && s.source.at_entry; });
  if (nothing) {
    fail(function->getLocation(), "there is nothing to compile: no tensor is computed");
    return false;
  }
  for (tc_ref ref : results)
    if (!tc_graph_output(graph, ref)) fail(loc, "out of memory");
  return true;
}

bool Evaluator::finish(Flow flow, const Stmt *first, const Stmt *last, Segment &result) {
  SourceLocation loc = last->getBeginLoc();
  if (tc_dim_pair never; tc_dims_contradict(dims, &never))
    fail(loc, "there are no sizes for which " + text_of(dims, never.a) + " is " +
                  text_of(dims, never.b));
  result.shown = shown;
  std::vector<Export> list = exports(flow, first, last);
  layouts_matter = flow != Flow::Return && reading.has("layout");
  for (const Export &each : list) count_export(each.value);
  for (const auto &each : stored) count_export(each.second);
  for (const Effect &each : effects) count_export(each.value);
  if (flow == Flow::Return) gather_returned(loc, list, result);
  write_stores(list, loc, result);
  result.exit = exit_by(flow);
  write_returned(result);
  drop_unowned(result);
  result.views = views;
  write_inputs(loc);
  if (failed || !settle_gradients(loc)) return false;
  mark_detached();
  if (!write_outputs(loc)) return false;
  result.results = static_cast<unsigned>(results.size());
  result.ops = ops;
  result.autocasts = autocasts;
  settle_presence();
  result.conditions = conditions;
  for (const Place &place : discovered.inputs)
    result.inputs.push_back({place.lvalue(), place.layout});
  if (collecting) {
    bind_hidden_symbols();
    return !failed;
  }
  for (const auto &scalar : discovered.scalars)
    result.scalars.push_back({scalar.text, scalar.dtype == TC_F64});
  return !failed && bind_sizes(result);
}

// ---- what is known behind the statements --------------------------------------------------------

static bool constant_tree(Value &v, const std::string &lvalue) {
  if (v.kind == Value::Aggregate) {
    if (v.parts.size() > 256) return false;
    for (size_t i = 0; i < v.parts.size(); i++)
      if (!constant_tree(v.parts[i], "")) return false;
    return lvalue.empty() || v.parts.size() > 0;
  }
  v.origin = lvalue;
  return v.kind == Value::Null || (v.kind == Value::Scalars && v.scalar.constant);
}

// What is known of axis i of the tensor at a place.
TypeFact::Size Evaluator::size_fact(const Place &place, int i, tc_dim size) {
  const tc_dim dim = tc_dim_norm(dims, size);
  TypeFact::Size fact = {tc_dim_is_const(dim), 0, "", 0, INT64_MAX, 1};
  uint32_t symbol;
  if (fact.constant) {
    fact.value = tc_dim_value(dim);
  } else if (tc_dim_is_sym(dims, dim, &symbol)) {
    const tc_sym *s = tc_dims_sym(dims, symbol);
    fact.symbol = s->name;
    fact.lo = std::max<int64_t>(s->lo, 0);
    fact.hi = s->hi;
    fact.multiple = s->multiple;
  } else {
    fact.symbol = name_of_size(place.lvalue(), static_cast<size_t>(i));
    tc_dim_range(dims, dim, &fact.lo, &fact.hi);
    fact.lo = std::max<int64_t>(fact.lo, 0);
    fact.multiple = std::max<int64_t>(tc_dim_multiple(dims, dim), 1);
  }
  return fact;
}

// Notes the type of the tensor at a place, if it is one.
void Evaluator::note_type(const Place &place, const Value &v, Facts &after) {
  if (v.kind != Value::Tensors) return;
  const Storage &storage = storages[v.tensor.storage];
  const tc_ref ref = v.tensor.whole ? storage.current : v.tensor.ref;
  const tc_type *type = ref.id ? tc_graph_type(graph, ref) : nullptr;
  std::optional<tc_type> declared;
  if (!type) { // nothing was computed of it
    const bool shaped = storage.source.declared && declared_shape(storage.source.declared);
    const auto known = shaped && !facts.types.count(place_key(storage.source))
                           ? std::nullopt
                           : facts.at(storage.source);
    if (known) after.types[place_key(place)] = *known;
    else declared = known_type(storage.source);
    if (!declared) return;
    type = &*declared;
  }
  TypeFact fact;
  fact.type = *type;
  fact.doubtful = tc_dims_guessed(dims);
  for (int i = 0; i < type->rank; i++) fact.sizes.push_back(size_fact(place, i, type->dim[i]));
  after.types[place_key(place)] = fact;
}

// Notes the types of a value and of all its parts.
void Evaluator::note_types(const Place &place, const Value &v, Facts &after) {
  note_type(place, v, after);
  const auto *record = place.type->getAs<RecordType>();
  const bool named = v.kind == Value::Aggregate && !(record && record->isUnionType());
  for (size_t i = 0; i < v.parts.size(); i++)
    note_types(named ? part_of(place, i) : place, v.parts[i], after);
}

Facts Evaluator::harvest() {
  Facts after = facts;
  for (const auto &[variable, slot] : frames.front().variables) {
    after.constants.erase(variable);
    Value v = as_known(memory[slot]);
    note_types(entry_variable(variable), v, after);
    bool simple = v.kind == Value::Null || v.kind == Value::Scalars;
    if (!reading.escapes(variable) && constant_tree(v, simple ? variable->getNameAsString() : ""))
      after.constants[variable] = v;
  }
  for (const auto &[place, value] : stored) note_type(place, value, after);
  return after;
}

} // namespace tc
