// layouts.cpp - tensors of the program's own kind: tc_wrap_layout(layout) makes a tensor of memory
// that a function of the program describes.  Here the layout is an operand: its C text stands in
// the guarded call, which fills a header on the stack from it, and no tensor is made.
//
// So the text is evaluated when the statements begin, maybe more than once.  It is the call of a
// function that only reads, or else the fields as evaluating such a function gives them.  tc_wrap
// and tc_wrap_const are layouts of which all but the address is known.
//
// The program may look at such memory and write it as well: what may be the same is not moved
// across what the kernels do with it.
#include "frontend/ast_capture/evaluator.h"
#include "frontend/ast_capture/ownership.h"

#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

// ---- functions that only read -------------------------------------------------------------------

namespace {

class ReadingCheck {
public:
  bool function(const FunctionDecl *f) {
    const FunctionDecl *definition = nullptr;
    if (f->hasAttr<ConstAttr>() || f->hasAttr<PureAttr>() || f->isNoReturn()) return true;
    if (!f->hasBody(definition) || f->isVariadic() || find_attribute(f, disable_attribute))
      return false;
    if (depth >= max_calls) return false; // it calls itself
    depth++;
    bool fine = statement(definition->getBody());
    depth--;
    return fine;
  }

private:
  static const int max_calls = 16;

  // An lvalue within a variable of the function itself.
  static bool own(const Expr *e) {
    e = e->IgnoreParens();
    if (const auto *member = dyn_cast<MemberExpr>(e))
      return !member->isArrow() && own(member->getBase());
    if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
      const auto *decay = dyn_cast<ImplicitCastExpr>(element->getBase()->IgnoreParens());
      return decay && decay->getCastKind() == CK_ArrayToPointerDecay && own(decay->getSubExpr());
    }
    const auto *ref = dyn_cast<DeclRefExpr>(e);
    const auto *variable = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    return variable && variable->hasLocalStorage();
  }

  bool statement(const Stmt *s) {
    if (!s) return true;
    if (isa<AsmStmt>(s)) return false;
    if (const auto *op = dyn_cast<BinaryOperator>(s); op && op->isAssignmentOp())
      if (!own(op->getLHS())) return false;
    if (const auto *op = dyn_cast<UnaryOperator>(s); op && op->isIncrementDecrementOp())
      if (!own(op->getSubExpr())) return false;
    if (const auto *e = dyn_cast<Expr>(s); e && e->getType().isVolatileQualified()) return false;
    if (const auto *call = dyn_cast<CallExpr>(s))
      if (!call->getDirectCallee() || !function(call->getDirectCallee())) return false;
    return llvm::all_of(s->children(), [&](const Stmt *child) { return statement(child); });
  }

  int depth = 0;
};

} // namespace

// ---- text ---------------------------------------------------------------------------------------

// The TC_SHAPE that is about the object: one on the way to it, or else one on a member that is not
// a tensor, such as its data.
static void note_shape(const Place &from, Place &shaped) {
  if (shaped.shaped) return;
  shaped.shaped = from.shaped;
  shaped.shaped_instance = from.shaped_instance;
  shaped.root = from.root;
  const auto *record = from.type.isNull() ? nullptr : from.type->getAs<RecordType>();
  if (shaped.shaped || !record) return;
  for (const FieldDecl *field : record->getDecl()->fields())
    if (declared_shape(field) && !is_tensor_pointer(field->getType()) && !shaped.shaped) {
      shaped.shaped = field;
      shaped.shaped_instance = from.lvalue();
    }
}

// C text of a value that is not about tensors, for use when the statements begin; "" after failing.
// `shaped` learns the first TC_SHAPE on the way to one of its parts.
std::string Evaluator::argument_text(const Value &v, QualType type, Place &shaped,
                                     SourceLocation loc) {
  if (v.place.at_entry) note_shape(v.place, shaped);
  if (v.kind == Value::AtEntry) return v.place.lvalue();
  if (v.kind == Value::Aggregate) {
    const auto *array = context.getAsConstantArrayType(type);
    const auto *record = type->getAs<RecordType>();
    std::string text = array ? "{" : "(" + type_name(type) + "){";
    for (size_t i = 0; i < v.parts.size() && !failed; i++) {
      QualType part = array    ? array->getElementType()
                      : record ? std::next(record->getDecl()->field_begin(), i)->getType()
                               : QualType();
      text += (i ? ", " : "") + argument_text(v.parts[i], part, shaped, loc);
    }
    return text + "}";
  }
  bool late = v.kind == Value::Scalars && v.scalar.late;
  if (late || v.kind == Value::Tensors || v.kind == Value::Foreign) {
    fail(loc, late ? "where a tensor lies is read from a tensor"
                   : "where a tensor lies depends on another tensor");
    return "";
  }
  return value_text(v, loc);
}

std::string Evaluator::layout_text(const Expr *e, Place &shaped) {
  const auto *call = dyn_cast<CallExpr>(e->IgnoreParenImpCasts());
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  QualType type = context.getCanonicalType(e->getType()).getUnqualifiedType();
  if (!callee || !ReadingCheck().function(callee))
    return argument_text(evaluate(e), type, shaped, e->getExprLoc());
  if (!nameable(callee, call->getExprLoc())) return "";
  if (!stored.empty()) {
    fail(call->getExprLoc(), "a layout is read behind a write to '" + stored.back().first.lvalue() +
                                 "', which may be part of it");
    return "";
  }
  std::string text = "(" + callee->getNameAsString() + ")(";
  for (const Expr *argument : call->arguments()) {
    Value v = evaluate(argument);
    if (failed) return "";
    QualType passed = context.getCanonicalType(argument->getType()).getUnqualifiedType();
    text += (argument == call->getArg(0) ? "" : ", ") +
            argument_text(v, passed, shaped, argument->getExprLoc());
  }
  return text + ")";
}

// ---- the operand --------------------------------------------------------------------------------

Value Evaluator::do_tc_dtype_size(const CallExpr *e) {
  Value v = evaluate(argument(e, 0));
  auto dtype = v.kind == Value::Scalars ? as_constant(v.scalar) : std::nullopt;
  if (!dtype) {
    fail(e->getExprLoc(), "the dtype has to be known at build time");
    return {};
  }
  bool known = *dtype >= 0 && *dtype < TC_DTYPE_COUNT;
  size_t bytes = known ? tc_dtype_bytes(static_cast<tc_dtype>(*dtype)) : 0;
  return Value::of(integer_constant(llvm::APSInt::getUnsigned(bytes), e->getType()));
}

// ---- copies of memory ---------------------------------------------------------------------------

// C text of a pointer to data, for use when the statements begin: an array from its start on, and a
// local one as it is then, unless its memory is to be `shared`.
std::string Evaluator::data_text(const Expr *e, bool shared) {
  const char *no_data =
      shared ? "the memory of this tensor is not followed; pass a pointer that the function is "
               "given, or an "
               "array from its start on that it does not write itself"
             : "the data of a tensor are not followed; pass an array from its start on "
               "(in C++, a static const one)";
  const SourceLocation loc = e->getExprLoc();
  Value data = evaluate(e);
  if (failed) return "";
  if (data.kind == Value::Pointer && data.place.at_entry) return value_text(data, loc);
  if (data.kind != Value::Pointer || data.place.path.empty() || data.place.path.back()) {
    fail(loc, no_data);
    return "";
  }
  Place array = data.place;
  array.path.pop_back();
  const Value *v = resolve(array, loc);
  if (!v) return "";
  const bool table = llvm::any_of(tables, [&](auto &each) { return each.second == array.slot; });
  const auto *root = v->place.root;
  const ValueDecl *global = root && root->hasGlobalStorage() ? root : nullptr;
  const bool copied = table && global && !context.getLangOpts().CPlusPlus &&
                      !why_unnameable(global).empty(); // a constant one that is declared further on
  if (v->place.at_entry && !copied) {                  // not written here
    if (global && !nameable(global, loc)) return "";
    if (v->kind == Value::AtEntry || table) return v->place.lvalue();
  }
  if (shared || context.getLangOpts().CPlusPlus) { // where it would not live until the call
    fail(loc, table ? "this table is declared behind the place where kernels are called; declare "
                      "it outside of the function"
                    : no_data);
    return "";
  }
  Place none;
  const QualType element = context.getCanonicalType(data.place.type).getUnqualifiedType();
  const QualType type = context.getConstantArrayType(element, llvm::APInt(64, v->parts.size()),
                                                     nullptr, ArraySizeModifier::Normal, 0);
  return "(" + type_name(type) + ")" + argument_text(*v, type, none, loc);
}

// The type of memory that is read: sizes are constants, or symbols of its own.
static TypeFact fact_of(const tc_type &type, const std::string &name) {
  TypeFact fact;
  fact.type = type;
  for (int i = 0; i < type.rank; i++) {
    const bool constant = tc_dim_is_const(type.dim[i]);
    const auto axis = static_cast<size_t>(i);
    fact.sizes.push_back({constant, constant ? tc_dim_value(type.dim[i]) : 0,
                          constant ? "" : name_of_size(name, axis), 0, INT64_MAX / 8, 1});
  }
  return fact;
}

// The type of tc_row_major(dims, data, dtype), where it is known without a TC_SHAPE.
std::optional<tc_type> Evaluator::row_major_type(const Expr *layout) {
  const auto *call = dyn_cast<CallExpr>(layout->IgnoreParenImpCasts());
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !is_library(callee) || callee->getName() != "tc_row_major") return std::nullopt;
  const Value list = evaluate(argument(call, 0)), dtype = evaluate(argument(call, 2));
  return failed ? std::nullopt : type_made_of(list, dtype, call->getExprLoc());
}

// A tensor over memory that is read where it lies, whose type the program makes.
Value Evaluator::import_made(Place place, const tc_type &type, SourceLocation loc) {
  place.made =
      std::make_shared<const TypeFact>(fact_of(type, "data" + std::to_string(storages.size())));
  Value v = import_tensor(place);
  const tc_ref x = contents(v.tensor, loc);
  for (int i = 0; i < type.rank && !failed; i++)
    if (tc_dim_bad(tc_dim_unify(dims, tc_graph_type(graph, x)->dim[i], type.dim[i])))
      fail(loc, "internal: the size of memory is not a size");
  return v;
}

// tc_optim_expect(state, p): a state of an optimiser that no TC_SHAPE tells the type of.
Value Evaluator::do_tc_optim_expect(const CallExpr *e) {
  const Value state = evaluate(argument(e, 0));
  if (failed || state.kind != Value::Foreign || !is_tensor_pointer(state.place.type))
    return Value::of(Value::Void);
  const auto p = tensor_argument(argument(e, 1));
  const tc_ref of = p ? contents(*p, e->getExprLoc()) : tc_ref{0};
  if (failed) return {};
  tc_type type = *tc_graph_type(graph, of);
  if (tc_dtype_is_half(static_cast<tc_dtype>(type.dtype))) type.dtype = TC_F32;
  import_made(state.place, type, e->getExprLoc());
  return Value::of(Value::Void);
}

Value Evaluator::do_tc_wrap_layout(const CallExpr *e) {
  SourceLocation loc = e->getExprLoc();
  Place place;
  place.text = layout_text(argument(e, 0), place);
  if (failed) return {};
  auto made = place.shaped ? std::nullopt : row_major_type(argument(e, 0));
  if (!place.shaped && !made && !failed)
    fail(loc, "the rank of this tensor is not known; write TC_SHAPE(\"f32[N,M]\") behind the "
              "parameter, member or variable that its layout is made from");
  if (maybe && !failed) fail(loc, "whether this layout is read is not known at build time");
  if (failed) return {};
  place.at_entry = place.layout = place.deref = true;
  place.type = e->getType();
  place.declared = place.shaped;
  place.instance = place.shaped_instance;
  return made ? import_made(place, *made, loc) : import_tensor(place);
}

// C text of tc_ints.
std::string Evaluator::sizes_text(const tc_type &type) {
  std::string text = "(struct tc_ints){" + std::to_string(type.rank) + ", {";
  for (int i = 0; i < type.rank; i++)
    text += (i ? ", " : "") + (tc_dim_is_const(type.dim[i])
                                   ? std::to_string(tc_dim_value(type.dim[i])) + "LL"
                                   : dim_text(type.dim[i]));
  return text + (type.rank ? "}}" : "0}}");
}

// That memory can be read when the statements begin.
bool Evaluator::may_read_memory(SourceLocation loc) {
  if (maybe) fail(loc, "whether this layout is read is not known at build time");
  else if (!stored.empty())
    fail(loc, "memory is read behind a write to '" + stored.back().first.lvalue() +
                  "', which may be part of it");
  return !failed;
}

// tc_from(dims, data, dtype): a copy of an operand over the memory
Value Evaluator::do_tc_from(const CallExpr *e) {
  const SourceLocation loc = e->getExprLoc();
  auto type = made_type(e, 0, 2);
  const std::string data = type ? data_text(argument(e, 1), false) : "";
  if (failed || !may_read_memory(loc)) return {};
  Place place;
  place.text = "(tc_row_major)(" + sizes_text(*type) + ", (void *)(" + data + "), (tc_dtype)" +
               std::to_string(type->dtype) + ")";
  place.at_entry = place.layout = place.deref = true;
  place.type = e->getType();
  const tc_ref x = contents(import_made(place, *type, loc).tensor, loc);
  if (failed) return {};
  ops++;
  return result(build(OP_CONTIGUOUS, {x}, {}, nullptr, e), OP_CONTIGUOUS, nullptr);
}

// C text of the strides of a tensor in bytes: those of the list, or where that is NULL of row-major
// order.
std::string Evaluator::strides_text(const Expr *list, const tc_type &type) {
  const SourceLocation loc = list->getExprLoc();
  const std::string bytes = std::to_string(tc_dtype_bytes(static_cast<tc_dtype>(type.dtype)));
  Value strides = evaluate(list);
  if (failed) return "";
  const Value *given = nullptr;
  if (strides.kind == Value::Pointer && !strides.place.at_entry && !strides.place.path.empty() &&
      !strides.place.path.back()) {
    Place array = strides.place;
    array.path.pop_back();
    given = resolve(array, loc);
  }
  if (strides.kind != Value::Null && (!given || given->parts.size() < type.rank)) {
    fail(loc,
         "the strides of this tensor are not followed; pass NULL, or an array of the function");
    return "";
  }
  std::string text, step = "(uint64_t)" + bytes;
  for (int i = type.rank - 1; i >= 0 && !failed; i--) {
    const auto axis = static_cast<size_t>(i);
    const std::string stride =
        given ? "(uint64_t)(" + value_text(given->parts[axis], loc) + ") * " + bytes : step;
    text = "(int64_t)(" + stride + (text.empty() ? ")" : "), ") + text;
    step += " * (uint64_t)(" + dim_text(type.dim[i]) + ")";
  }
  return text.empty() ? "0" : text;
}

// tc_wrap(dims, strides, data, dtype, NULL, NULL) and tc_wrap_const(dims, strides, data, dtype)
Value Evaluator::wrapped(const CallExpr *e, bool readonly) {
  const SourceLocation loc = e->getExprLoc();
  auto type = made_type(e, 0, 3);
  const std::string data = type ? data_text(argument(e, 2), true) : "";
  const std::string strides = failed ? "" : strides_text(argument(e, 1), *type);
  if (!failed && !readonly && evaluate(argument(e, 4)).kind != Value::Null)
    fail(loc, "a tensor that calls a function when it is freed is not made in compiled code");
  if (failed || !may_read_memory(loc)) return {};
  Place place;
  place.text = "(struct tc_layout){(void *)(" + data + "), (tc_dtype)" +
               std::to_string(type->dtype) + ", " + std::to_string(type->rank) + ", {";
  for (int i = 0; i < type->rank; i++) place.text += (i ? ", " : "") + dim_text(type->dim[i]);
  place.text += (type->rank ? "}, {" : "0}, {") + strides + "}, " + (readonly ? "1}" : "0}");
  place.at_entry = place.layout = place.deref = true;
  place.type = e->getType();
  return import_made(place, *type, loc);
}

std::set<std::string> Evaluator::outdated_inputs() const {
  std::set<std::string> list;
  for (const Place &each : discovered.inputs)
    if (each.layout && !entry_storages.count(each.lvalue())) list.insert(each.lvalue());
  return list;
}

Value Evaluator::do_tc_wrap(const CallExpr *e) { return wrapped(e, false); }
Value Evaluator::do_tc_wrap_const(const CallExpr *e) { return wrapped(e, true); }

// ---- memory that the program looks at, too ------------------------------------------------------

// Whether an object of the type may be an element of such an array, as C's rules of aliasing have
// it.
static bool may_be_element(ASTContext &context, QualType type, tc_dtype dtype) {
  type = context.getCanonicalType(type).getUnqualifiedType();
  if (type->isCharType()) return true;
  const size_t bytes = tc_dtype_bytes(dtype);
  if (!type->isArithmeticType() || context.getTypeSize(type) != 8 * bytes) return false;
  // numbers of 16 bits are kept as integers
  return bytes == 2 || type->isFloatingType() == tc_dtype_is_float(dtype);
}

bool Evaluator::may_be_in(const Place &place, const Storage &storage) {
  if (!storage.source.layout || storage.input < 0) return false;
  const auto dtype = static_cast<tc_dtype>(tc_graph_type(graph, storage.current)->dtype);
  return llvm::StringRef(place.lvalue()).ends_with("]") &&
         may_be_element(context, place.type, dtype);
}

// The kernels read and write the tensor in front of what the statements store.
bool Evaluator::is_behind_store(const Storage &storage, SourceLocation loc) {
  for (const auto &each : stored)
    if (may_be_in(each.first, storage)) {
      fail(loc, "memory of this tensor is used behind a write to '" + each.first.lvalue() +
                    "', which may be part of it");
      return true;
    }
  return false;
}

// What the statements read is read in front of the kernels.
bool Evaluator::is_behind_write(const Place &place, SourceLocation loc) {
  for (const Storage &storage : storages)
    if (storage.version && may_be_in(place, storage)) {
      fail(loc, "'" + place.lvalue() +
                    "' is read behind a write to a tensor whose memory it may be part of");
      return true;
    }
  return false;
}

} // namespace tc
