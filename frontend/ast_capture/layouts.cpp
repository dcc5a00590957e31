// layouts.cpp - tensors of the program's own kind: tc_wrap_layout(layout) makes a tensor of memory
// that a function of the program describes.  Here the layout is an operand: its C text stands in
// the guarded call, which fills a header on the stack from it, and no tensor is made.
//
// So the text is evaluated when the statements begin, maybe more than once.  It is the call of a
// function that only reads, or else the fields as evaluating such a function gives them.
#include "frontend/ast_capture/evaluator.h"

#include "plugin/attributes.h"

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
  if (v.place.outer) note_shape(v.place, shaped);
  if (v.kind == Value::Outer) return v.place.lvalue();
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

Value Evaluator::do_tc_wrap_layout(const CallExpr *e) {
  SourceLocation loc = e->getExprLoc();
  Place place;
  place.text = layout_text(argument(e, 0), place);
  if (failed) return {};
  if (!place.shaped) {
    fail(loc, "the rank of this tensor is not known; write TC_SHAPE(\"f32[N,M]\") behind the "
              "parameter, member or variable that its layout is made from");
    return {};
  }
  if (maybe) {
    fail(loc, "whether this layout is read is not known at build time");
    return {};
  }
  place.outer = place.layout = place.deref = true;
  place.type = e->getType();
  place.declared = place.shaped;
  place.instance = place.shaped_instance;
  return import_tensor(place);
}

} // namespace tc
