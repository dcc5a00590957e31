// expressions.cpp - C expressions other than calls: objects, operators, conversions, initialisers.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

static const int64_t beside = INT64_MIN / 2; // index that leads out of an object that is no array

bool is_tensor_pointer(QualType type) {
  const auto *pointer = type->getAs<PointerType>();
  if (!pointer) return false;
  const auto *record = pointer->getPointeeType()->getAs<RecordType>();
  return record && record->getDecl()->getName() == "tc_tensor";
}

// ---- objects ------------------------------------------------------------------------------------

unsigned Evaluator::new_slot(Value value) {
  memory.push_back(std::move(value));
  return static_cast<unsigned>(memory.size() - 1);
}

// A string as what pointers walk along: an array of constants, its zero at last.
Value Evaluator::as_letters(const Value &v) {
  if (v.kind != Value::String) return v;
  Value array = Value::of(Value::Aggregate);
  for (size_t i = 0; i <= v.string.size(); i++)
    array.parts.push_back(
        Value::of(integer_constant(llvm::APSInt::get(v.string.c_str()[i]), context.CharTy)));
  Place place;
  place.slot = new_slot(std::move(array));
  place.path = {0};
  place.type = context.CharTy.withConst();
  return Value::of(Value::Pointer, place);
}

// The text of a string that is known, or of the rest of one.
std::optional<std::string> Evaluator::known_string(const Value &v, SourceLocation loc) {
  if (v.kind == Value::String) return std::string(v.string.c_str());
  if (v.kind != Value::Pointer || v.place.at_entry || v.place.path.empty()) return std::nullopt;
  Place at = v.place;
  const int64_t first = at.path.back();
  at.path.pop_back();
  const Value *array = resolve(at, loc);
  std::string text;
  for (size_t i = static_cast<size_t>(first); array && i < array->parts.size(); i++) {
    const Scalar &letter = array->parts[i].scalar;
    if (array->parts[i].kind != Value::Scalars || !letter.constant || !letter.type->isCharType())
      return std::nullopt;
    if (letter.integer == 0) return text;
    text += static_cast<char>(letter.integer.getExtValue());
  }
  return std::nullopt;
}

// An object of the type with C's zero in it; unset where the type is of no interest.
Value Evaluator::zero_of(QualType type) {
  type = context.getCanonicalType(type).getUnqualifiedType();
  if (const auto *array = context.getAsConstantArrayType(type)) {
    Value v = Value::of(Value::Aggregate);
    if (array->getSize().getLimitedValue() <= max_elements)
      v.parts.assign(array->getSize().getZExtValue(), zero_of(array->getElementType()));
    return v;
  }
  if (const auto *record = type->getAs<RecordType>(); record && !record->isUnionType()) {
    Value v = Value::of(Value::Aggregate);
    for (const FieldDecl *field : record->getDecl()->fields())
      v.parts.push_back(zero_of(field->getType()));
    return v;
  }
  if (type->isPointerType()) return Value::of(Value::Null);
  if (type->isIntegralOrEnumerationType())
    return Value::of(integer_constant(llvm::APSInt::get(0), type));
  if (type->isRealFloatingType()) return Value::of(floating_constant(0, type));
  return {};
}

// Aggregates have their parts.
void unset_leaves(Value &v) {
  v.origin.clear();
  for (Value &part : v.parts) unset_leaves(part);
  if (v.kind != Value::Aggregate) v = Value();
}

Value *Evaluator::resolve(const Place &place, SourceLocation loc) {
  Value *v = &memory[place.slot];
  for (int64_t i : place.path) {
    if (v->kind == Value::AtEntry) open(*v);
    if (v->kind != Value::Aggregate || i < 0 || i >= static_cast<int64_t>(v->parts.size())) {
      fail(loc, v->kind == Value::Aggregate ? "an index outside of the array"
                                            : "an object of a type that is not followed");
      return nullptr;
    }
    v = &v->parts[static_cast<size_t>(i)];
  }
  return v;
}

Value Evaluator::load(const Place &place, SourceLocation loc) {
  if (place.at_entry) return load_entry(place, loc);
  Value *v = resolve(place, loc);
  if (!v) return {};
  if (v->kind == Value::Unset)
    fail(loc, "a variable that has no value yet, or none that is followed");
  if (v->kind == Value::AtEntry) {
    Value found = import(v->place, loc);
    if (!failed) *v = std::move(found);
  }
  return *v;
}

void Evaluator::store(const Place &place, Value value, SourceLocation loc) {
  if (failed) return;
  if (!examples.empty() && (place.at_entry || place.slot < outside))
    return fail(loc, "a function that tc_vmap applies to each example writes what is not its own");
  if (place.at_entry) return store_entry(place, std::move(value), loc);
  if (maybe) return fail(loc, "whether this is written is not known at build time");
  if (Value *v = resolve(place, loc)) *v = std::move(value);
}

Place Evaluator::offset_place(Place place, int64_t by) {
  if (place.at_entry) {
    if (!place.indexed && by) {
      place.text = "(&" + place.text + ")";
      place.indexed = true;
    }
    place.index += by;
    return place;
  }
  if (place.path.empty() && by) place.path.push_back(beside);
  if (!place.path.empty()) place.path.back() += by;
  return place;
}

std::optional<Place> Evaluator::locate_variable(const DeclRefExpr *e) {
  if (const auto *part = dyn_cast<BindingDecl>(e->getDecl()); part && part->getBinding())
    return locate(part->getBinding());
  const auto *variable = dyn_cast<VarDecl>(e->getDecl());
  if (!variable) return std::nullopt;
  auto named = frames.back().referred.find(variable);
  if (named != frames.back().referred.end()) return named->second;
  auto found = frames.back().variables.find(variable);
  if (found != frames.back().variables.end()) {
    Place place;
    place.slot = found->second;
    place.type = variable->getType();
    return place;
  }
  if (is_lambda(frames.back().function) && variable->hasLocalStorage()) {
    fail(e->getExprLoc(),
         "a lambda names '" + variable->getNameAsString() + "' without capturing it");
    return std::nullopt;
  }
  return locate_entry(variable, e->getExprLoc());
}

static bool is_friend(const FunctionDecl *function, const CXXRecordDecl *of) {
  return of && llvm::any_of(of->friends(), [&](const FriendDecl *each) {
           if (const NamedDecl *named = each->getFriendDecl())
             return named->getCanonicalDecl() == function->getCanonicalDecl();
           const auto *record = each->getFriendType()->getType()->getAsCXXRecordDecl();
           const DeclContext *context = record ? function->getDeclContext() : nullptr;
           while (context && !context->Equals(record)) context = context->getParent();
           return context != nullptr;
         });
}

// Whether the function may name the member, as the texts of its calls do: C++'s classes have
// private ones.
static bool may_name(const FunctionDecl *function, const FieldDecl *field) {
  if (field->getAccess() == AS_public || field->getAccess() == AS_none) return true;
  const DeclContext *context = function->getDeclContext();
  while (context && !context->Equals(field->getParent())) context = context->getParent();
  return context || (field->getAccess() == AS_protected && isa<CXXMethodDecl>(function)) ||
         is_friend(function, dyn_cast<CXXRecordDecl>(field->getParent()));
}

std::optional<Place> Evaluator::locate_member(const MemberExpr *e) {
  const auto *field = dyn_cast<FieldDecl>(e->getMemberDecl());
  std::optional<Place> base;
  if (e->isArrow()) {
    Value pointer = evaluate(e->getBase());
    if (pointer.kind == Value::Pointer) base = pointer.place;
  } else {
    base = locate(e->getBase());
  }
  const bool own_union = base && field && !base->at_entry && field->getParent()->isUnion();
  if (failed || !base || !field || own_union) {
    fail(e->getExprLoc(), own_union ? "a member of a union in a variable of the function is not "
                                      "followed; pass a pointer to the union"
                                    : "a member of an object that is not followed");
    return std::nullopt;
  }
  if (base->at_entry && !may_name(function, field)) {
    fail(e->getExprLoc(), "'" + field->getNameAsString() + "' cannot be named in '" +
                              function->getNameAsString() + "': it is a private member of '" +
                              field->getParent()->getNameAsString() + "'");
    return std::nullopt;
  }
  if (base->at_entry) return member_of(*base, field);
  base->path.push_back(field->getFieldIndex());
  base->type = field->getType();
  return base;
}

std::optional<Place> Evaluator::locate_element(const ArraySubscriptExpr *e) {
  Value base = as_letters(evaluate(e->getBase())), index = evaluate(e->getIdx());
  if (failed) return std::nullopt;
  auto i = index.kind == Value::Scalars ? as_constant(index.scalar) : std::nullopt;
  if (base.kind == Value::Pointer && i) return offset_place(base.place, *i);
  if (base.kind == Value::Pointer && index.kind == Value::Scalars)
    return element_of(base, index.scalar, e->getExprLoc());
  fail(e->getExprLoc(), "an element of an object that is not followed");
  return std::nullopt;
}

// A new object that holds a value.
std::optional<Place> Evaluator::locate_temporary(QualType type, Value v) {
  Place place;
  place.slot = new_slot(std::move(v));
  place.type = type;
  return failed ? std::nullopt : std::optional<Place>(place);
}

// The object that an lvalue names.
std::optional<Place> Evaluator::locate(const Expr *e) {
  e = e->IgnoreParens();
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) return locate_variable(ref);
  if (const auto *member = dyn_cast<MemberExpr>(e)) return locate_member(member);
  if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) return locate_element(element);
  if (const auto *deref = dyn_cast<UnaryOperator>(e); deref && deref->getOpcode() == UO_Deref) {
    Value pointer = as_letters(evaluate(deref->getSubExpr()));
    if (!failed && pointer.kind == Value::Pointer) return pointer.place;
    fail(e->getExprLoc(), "what this pointer leads to is not followed");
    return std::nullopt;
  }
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(e))
    return locate_temporary(literal->getType(),
                            evaluate_initializer(literal->getInitializer(), literal->getType()));
  if (const auto *op = dyn_cast<BinaryOperator>(e); op && op->isAssignmentOp()) { // C++
    evaluate(e);
    return failed ? std::nullopt : locate(op->getLHS());
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e);
      op && op->isIncrementDecrementOp() && op->isPrefix()) {
    evaluate(e);
    return failed ? std::nullopt : locate(op->getSubExpr());
  }
  if (const auto *choice = dyn_cast<ConditionalOperator>(e); choice && e->isGLValue()) { // C++
    const Value condition = evaluate(pointer_asked(choice->getCond()));
    const auto known =
        failed ? std::nullopt : side_of(condition, choice->getTrueExpr(), choice->getFalseExpr());
    if (known) return locate(*known ? choice->getTrueExpr() : choice->getFalseExpr());
  }
  if (const auto *call = dyn_cast<CallExpr>(e); call && e->isGLValue()) { // C++: a reference
    const Value named = evaluate_call(call);
    if (!failed && named.kind == Value::Pointer) return named.place;
  }
  // What a call returns, as in tc_shape(x).v[0]: a temporary object.
  const auto *kept = dyn_cast<MaterializeTemporaryExpr>(e);
  const Expr *made = kept ? kept->getSubExpr() : e;
  if (made->isPRValue() && made->getType()->isRecordType())
    return locate_temporary(made->getType(), evaluate(made));
  fail(e->getExprLoc(), "an object of this form is not followed");
  return std::nullopt;
}

// The object that a reference of C++ becomes a name of: that of an lvalue, or a temporary one.
std::optional<Place> Evaluator::refer(const Expr *e) {
  const Expr *object = e->IgnoreParenNoopCasts(context);
  if (const auto *full = dyn_cast<FullExpr>(object))
    object = full->getSubExpr()->IgnoreParenNoopCasts(context);
  const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(object);
  if (!temporary) return locate(object);
  return locate_temporary(temporary->getType(),
                          evaluate_initializer(temporary->getSubExpr(), temporary->getType()));
}

// ---- values -------------------------------------------------------------------------------------

// const-qualified globals with an initialiser are constants.
static const Expr *constant_global(const Expr *e) {
  const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParens());
  const auto *variable = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  const bool constant = ref && ref->isNonOdrUse() == NOUR_Constant; // that no lambda captures
  if (!variable || !(variable->hasGlobalStorage() || constant) ||
      !variable->getType().isConstQualified() || variable->getType().isVolatileQualified() ||
      !variable->getType()->isArithmeticType())
    return nullptr;
  const VarDecl *definition = nullptr;
  return variable->getAnyInitializer(definition);
}

// Of a variable, an element or a member, as it stands at the time.
static bool reads_variable(const Expr *e) {
  const auto *cast = dyn_cast<ImplicitCastExpr>(e->IgnoreParens());
  return cast && cast->getCastKind() == CK_LValueToRValue;
}

Value Evaluator::evaluate(const Expr *e) {
  if (depth >= max_depth) fail(e->getExprLoc(), "the code is nested too deeply");
  if (failed) return {};
  depth++;
  Value v = evaluate_one(e->IgnoreParens());
  depth--;
  if (!failed && v.kind == Value::Scalars && reads_variable(e))
    bound_text(v.scalar, e->getExprLoc());
  return v;
}

// What C knows the value of at a glance.  Larger constant expressions are folded from their parts
// up: to ask Clang about each of them would take time quadratic in their size.
static bool is_atom(const Expr *e) {
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) return isa<EnumConstantDecl>(ref->getDecl());
  return isa<IntegerLiteral>(e) || isa<FloatingLiteral>(e) || isa<CharacterLiteral>(e) ||
         isa<UnaryExprOrTypeTraitExpr>(e) || isa<OffsetOfExpr>(e) || isa<TypeTraitExpr>(e) ||
         isa<ConstantExpr>(e) || isa<SizeOfPackExpr>(e) || isa<CXXBoolLiteralExpr>(e);
}

Value Evaluator::evaluate_one(const Expr *e) {
  if (is_atom(e))
    if (auto v = constant_expression(e)) return Value::of(*v);
  if (const auto *full = dyn_cast<FullExpr>(e)) return evaluate(full->getSubExpr());
  if (const auto *number = dyn_cast<SubstNonTypeTemplateParmExpr>(e))
    return evaluate(number->getReplacement());
  if (const auto *cast = dyn_cast<CastExpr>(e)) return evaluate_cast(cast);
  if (isa<CallExpr>(e) && e->isGLValue()) return value_at(e, e->getType()); // C++: a reference
  if (const auto *call = dyn_cast<CallExpr>(e)) return evaluate_call(call);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) return evaluate_unary(op);
  if (const auto *op = dyn_cast<BinaryOperator>(e)) return evaluate_binary(op);
  if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e))
    return evaluate_conditional(choice);
  if (const auto *choice = dyn_cast<ChooseExpr>(e)) return evaluate(choice->getChosenSubExpr());
  if (const auto *generic = dyn_cast<GenericSelectionExpr>(e))
    return evaluate(generic->getResultExpr());
  if (const auto *text = dyn_cast<StringLiteral>(e)) {
    if (text->getCharByteWidth() != 1) return Value::of(Value::Foreign);
    Value v = Value::of(Value::String);
    v.string = text->getString().str();
    return v;
  }
  if (isa<InitListExpr>(e)) return evaluate_initializer(e, e->getType());
  if (isa<CompoundLiteralExpr>(e) || isa<MemberExpr>(e)) {
    auto place = locate(e);
    return place ? load(*place, e->getExprLoc()) : Value();
  }
  if (const auto *block = dyn_cast<StmtExpr>(e)) return evaluate_block(block);
  if (const auto *made = dyn_cast<MaterializeTemporaryExpr>(e)) return evaluate(made->getSubExpr());
  if (const auto *argument = dyn_cast<CXXDefaultArgExpr>(e)) return evaluate(argument->getExpr());
  if (const auto *made = dyn_cast<CXXConstructExpr>(e)) return evaluate_construction(made);
  if (const auto *written = dyn_cast<CXXDefaultInitExpr>(e))
    return evaluate_member_default(written);
  if (const auto *self = dyn_cast<CXXThisExpr>(e)) return evaluate_this(self);
  if (e->isGLValue() && (isa<DeclRefExpr>(e) || isa<ArraySubscriptExpr>(e)))
    return value_at(e, e->getType()); // C++: where one of two lvalues is chosen, or copied
  if (const auto *lambda = dyn_cast<LambdaExpr>(e)) return evaluate_lambda(lambda);
  fail(e->getExprLoc(), "an expression of this form is not captured");
  return {};
}

// The object whose function is called; of the captured function one of the entry state.
Value Evaluator::evaluate_this(const CXXThisExpr *e) {
  if (frames.size() > 1) return frames.back().self;
  Place place;
  place.at_entry = place.deref = place.indexed = true;
  place.text = "this";
  place.pointer = place.text.size();
  place.type = e->getType()->getPointeeType();
  return Value::of(Value::Pointer, place);
}

// ({ ... }): the value of the last expression.  assert() is one.
Value Evaluator::evaluate_block(const StmtExpr *e) {
  Value last = Value::of(Value::Void);
  blocks++;
  for (const Stmt *step : e->getSubStmt()->body()) {
    const auto *labelled = dyn_cast<ValueStmt>(step);
    if (const Expr *value = labelled ? labelled->getExprStmt() : nullptr) last = evaluate(value);
    else if (execute(step) != Flow::Next)
      fail(e->getExprLoc(), "control leaves a statement expression");
  }
  blocks--;
  return last;
}

// What is in the object that an lvalue names, as a value of the type.
Value Evaluator::value_at(const Expr *lvalue, QualType type) {
  if (const auto *call = dyn_cast<CallExpr>(lvalue->IgnoreParens()))
    if (auto v = call_extremum(call)) return *v;
  if (const Expr *init = constant_global(lvalue))
    if (auto v = constant_expression(init)) return Value::of(convert(*v, type));
  auto place = locate(lvalue);
  return place ? as_known(load(*place, lvalue->getBeginLoc())) : Value();
}

// A pointer to the array's first element.
Value Evaluator::decay_array(const Expr *array) {
  if (isa<StringLiteral>(array->IgnoreParens())) return evaluate(array);
  auto place = locate(array);
  if (!place) return {};
  if (place->at_entry) {
    place->text = place->lvalue();
    place->index = 0;
    place->indexed = true;
  } else {
    place->path.push_back(0);
  }
  if (const auto *type = context.getAsArrayType(place->type)) place->type = type->getElementType();
  return Value::of(Value::Pointer, *place);
}

Value Evaluator::decay_function(const Expr *function) {
  const auto *name = dyn_cast<DeclRefExpr>(function->IgnoreParens());
  const auto *named = name ? dyn_cast<FunctionDecl>(name->getDecl()) : nullptr;
  if (!named) return evaluate(function);
  Value v = Value::of(Value::Function);
  v.function = named;
  return v;
}

// Pointers to what is not looked into (void) may be of any type; others keep theirs.
Value Evaluator::cast_pointer(const CastExpr *e) {
  Value v = evaluate(e->getSubExpr());
  QualType to = e->getType()->getPointeeType();
  if (v.kind == Value::Pointer && !v.place.type.isNull() && !to.isNull() && !to->isVoidType() &&
      !context.hasCvrSimilarType(to, v.place.type)) {
    const PrintingPolicy policy(context.getLangOpts());
    auto name = [&](QualType type) {
      return "'" + context.getPointerType(type.getUnqualifiedType()).getAsString(policy) + "'";
    };
    fail(e->getExprLoc(), "a pointer is taken for one of another type: " + name(v.place.type) +
                              " for " + name(to) + "; declare it with the type that it leads to");
    return {};
  }
  return v;
}

Value Evaluator::evaluate_cast(const CastExpr *e) {
  const Expr *from = e->getSubExpr();
  switch (e->getCastKind()) {
  case CK_LValueToRValue:
    if (isa<AbstractConditionalOperator>(from->IgnoreParens())) return evaluate(from); // C++
    return value_at(from, e->getType());
  case CK_NullToPointer:
    return Value::of(Value::Null);
  case CK_ArrayToPointerDecay:
    return decay_array(from);
  case CK_NoOp:
  case CK_ConstructorConversion:
  case CK_UserDefinedConversion:
    return evaluate(from);
  case CK_BitCast:
    return cast_pointer(e);
  case CK_FunctionToPointerDecay:
    return decay_function(from);
  case CK_ToVoid:
    evaluate(from);
    return Value::of(Value::Void);
  case CK_PointerToBoolean: {
    if (auto known = pointer_truth(evaluate(from)))
      return Value::of(integer_constant(llvm::APSInt::get(*known), e->getType()));
    break;
  }
  case CK_IntegralCast:
  case CK_IntegralToFloating:
  case CK_FloatingToIntegral:
  case CK_FloatingCast:
  case CK_IntegralToBoolean:
  case CK_FloatingToBoolean:
  case CK_BooleanToSignedIntegral: {
    Value v = evaluate(from);
    if (v.kind == Value::Scalars) return Value::of(convert(v.scalar, e->getType()));
    break;
  }
  default:
    break;
  }
  fail(e->getExprLoc(), "a conversion of this kind is not captured");
  return {};
}

// ++ and --, in front of the operand and behind it.
Value Evaluator::evaluate_increment(const UnaryOperator *e) {
  SourceLocation loc = e->getExprLoc();
  auto place = locate(e->getSubExpr());
  Value old = place ? as_letters(load(*place, loc)) : Value();
  if (failed) return {};
  if (old.kind == Value::Pointer) {
    Value moved = Value::of(Value::Pointer, offset_place(old.place, e->isIncrementOp() ? 1 : -1));
    store(*place, moved, loc);
    return e->isPrefix() ? moved : old;
  }
  if (old.kind != Value::Scalars) {
    fail(loc, "++ and -- of this object are not captured");
    return {};
  }
  Scalar one = integer_constant(llvm::APSInt::get(1), context.IntTy);
  QualType type = old.scalar.type;
  QualType wide = type->isIntegerType() && context.isPromotableIntegerType(type)
                      ? context.getPromotedIntegerType(type)
                      : type;
  const Value changed =
      as_kept(Value::of(convert(binary(e->isIncrementOp() ? BO_Add : BO_Sub,
                                       convert(old.scalar, wide), convert(one, wide), wide),
                                type)),
              e->getSubExpr()->getSourceBitField());
  store(*place, changed, loc);
  return e->isPrefix() ? changed : old;
}

// A tensor that nothing tells the rank of; with a TC_SHAPE it is taken to be there, and a guard asks.
static bool lacks_shape(const Value &v) {
  return v.kind == Value::Foreign && is_tensor_pointer(v.place.type);
}

Value Evaluator::evaluate_unary(const UnaryOperator *e) {
  SourceLocation loc = e->getExprLoc();
  if (e->getOpcode() == UO_Extension) return evaluate(e->getSubExpr());
  if (e->getOpcode() == UO_AddrOf) {
    auto place = locate(e->getSubExpr());
    return place ? Value::of(Value::Pointer, *place) : Value();
  }
  if (e->isIncrementDecrementOp()) return evaluate_increment(e);
  if (e->getOpcode() == UO_Deref) {
    auto place = locate(e);
    return place ? load(*place, loc) : Value();
  }
  Value v = evaluate(e->getSubExpr());
  if (failed) return {};
  if (e->getOpcode() == UO_LNot)
    if (auto known = pointer_truth(v))
      return Value::of(integer_constant(llvm::APSInt::get(!*known), e->getType()));
  if (v.kind == Value::Scalars && (e->getOpcode() == UO_Plus || e->getOpcode() == UO_Minus ||
                                   e->getOpcode() == UO_Not || e->getOpcode() == UO_LNot))
    return Value::of(unary(e->getOpcode(), v.scalar, e->getType()));
  if (lacks_shape(v)) as_tensor(v, e->getSubExpr()); // says so
  else fail(loc, "this operator is not captured for this operand");
  return {};
}

// How many elements a lies behind b, if both lead into one array (or to one object).
static std::optional<int64_t> pointer_difference(const Place &a, const Place &b) {
  if (a.at_entry != b.at_entry) return std::nullopt;
  if (a.at_entry) {
    if (a.text != b.text || a.indexed != b.indexed) return std::nullopt;
    return a.index - b.index;
  }
  if (a.slot != b.slot || a.path.size() != b.path.size()) return std::nullopt;
  if (a.path.empty()) return 0;
  if (!std::equal(a.path.begin(), a.path.end() - 1, b.path.begin())) return std::nullopt;
  return a.path.back() - b.path.back();
}

// Comparisons and differences.
Value Evaluator::compare_pointers(const BinaryOperator *e, const Value &a, const Value &b) {
  auto number = [&](int64_t n) {
    return Value::of(integer_constant(llvm::APSInt::get(n), e->getType()));
  };
  if (e->isEqualityOp() && (a.kind == Value::Null || b.kind == Value::Null)) {
    if (auto known = pointer_truth(a.kind == Value::Null ? b : a))
      return number(*known == (e->getOpcode() == BO_NE));
    const bool first = a.kind != Value::Null;
    if (lacks_shape(first ? a : b)) as_tensor(first ? a : b, first ? e->getLHS() : e->getRHS());
    else fail(e->getExprLoc(), "whether this pointer is NULL is not known at build time");
    return {};
  }
  if (a.kind == Value::Pointer && b.kind == Value::Pointer)
    if (auto difference = pointer_difference(a.place, b.place)) {
      if (e->getOpcode() == BO_Sub) return number(*difference);
      if (auto known = compare(e->getOpcode(), (*difference > 0) - (*difference < 0)))
        return number(*known);
    }
  fail(e->getExprLoc(), e->getOpcode() == BO_Sub
                            ? "the difference of pointers is not known at build time; use an index"
                            : "pointers are compared, and that they lead into one array is not "
                              "known at build time; use an index");
  return {};
}

static bool calls(const Expr *e, llvm::StringRef name) {
  const auto *call = dyn_cast<CallExpr>(e->IgnoreParenCasts());
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->getDeclName().isIdentifier() && callee->getName() == name;
}

// && and || whose left side, a, is known: the right side runs only where it is asked for.
std::optional<Value> Evaluator::decide_logical(const BinaryOperator *e, const Value &a) {
  auto left = a.kind == Value::Scalars ? truth(a.scalar) : pointer_truth(a);
  if (left && *left == (e->getOpcode() == BO_LOr))
    return Value::of(integer_constant(llvm::APSInt::get(*left), e->getType()));
  if (!left) return std::nullopt;
  Value right = evaluate(e->getRHS());
  if (right.kind == Value::Scalars)
    return Value::of(convert(
        unary(UO_LNot, unary(UO_LNot, right.scalar, e->getType()), e->getType()), e->getType()));
  if (auto known = pointer_truth(right))
    return Value::of(integer_constant(llvm::APSInt::get(*known), e->getType()));
  return std::nullopt;
}

// A pointer plus or minus a number.
std::optional<Value> Evaluator::move_pointer(const BinaryOperator *e, const Value &a,
                                             const Value &b) {
  const Value &pointer = a.kind == Value::Pointer ? a : b,
              &offset = a.kind == Value::Pointer ? b : a;
  if (offset.kind != Value::Scalars) return std::nullopt;
  const bool back = e->getOpcode() == BO_Sub;
  if (auto n = as_constant(offset.scalar))
    return Value::of(Value::Pointer, offset_place(pointer.place, back ? -*n : *n));
  if (back) return std::nullopt;
  auto place = element_of(pointer, offset.scalar, e->getExprLoc());
  return place ? Value::of(Value::Pointer, *place) : Value();
}

Value Evaluator::evaluate_binary(const BinaryOperator *e) {
  SourceLocation loc = e->getExprLoc();
  if (e->isAssignmentOp()) return evaluate_assignment(e);
  if (e->getOpcode() == BO_Comma) {
    if (!calls(e->getLHS(), "tc_here")) // a note for run-time messages, from tcompile/locations.h
      evaluate(e->getLHS());
    return evaluate(e->getRHS());
  }
  Value a = evaluate(e->getLHS());
  if (failed) return {};
  if (e->isLogicalOp())
    if (auto decided = decide_logical(e, a)) return *decided;
  maybe += e->isLogicalOp();
  Value b = evaluate(e->getRHS());
  maybe -= e->isLogicalOp();
  if (failed) return {};
  auto scalar = [&](Value &v) {
    if (e->isLogicalOp() && v.kind != Value::Scalars)
      if (auto known = pointer_truth(v))
        v = Value::of(integer_constant(llvm::APSInt::get(*known), context.IntTy));
    return v.kind == Value::Scalars;
  };
  if (scalar(a) && scalar(b))
    return Value::of(binary(e->getOpcode(), a.scalar, b.scalar, e->getType()));
  if (e->isAdditiveOp() && (a.kind == Value::Pointer) != (b.kind == Value::Pointer))
    if (auto moved = move_pointer(e, a, b)) return *moved;
  if ((e->isComparisonOp() || e->getOpcode() == BO_Sub) &&
      e->getLHS()->getType()->isPointerType() && e->getRHS()->getType()->isPointerType())
    return compare_pointers(e, a, b);
  fail(loc, "this operator is not captured for these operands");
  return {};
}

Value Evaluator::evaluate_assignment(const BinaryOperator *e) {
  SourceLocation loc = e->getExprLoc();
  Value v = evaluate(e->getRHS());
  auto place = failed ? std::nullopt : locate(e->getLHS());
  if (failed || !place) return {};
  if (const auto *compound = dyn_cast<CompoundAssignOperator>(e)) {
    Value old = load(*place, loc);
    if (failed) return {};
    BinaryOperatorKind op = BinaryOperator::getOpForCompoundAssignment(e->getOpcode());
    if (old.kind == Value::Pointer && v.kind == Value::Scalars && as_constant(v.scalar)) {
      int64_t n = *as_constant(v.scalar);
      v = Value::of(Value::Pointer, offset_place(old.place, op == BO_Sub ? -n : n));
    } else if (old.kind == Value::Scalars && v.kind == Value::Scalars) {
      Scalar left = convert(old.scalar, compound->getComputationLHSType());
      v = Value::of(convert(binary(op, left, v.scalar, compound->getComputationResultType()),
                            e->getLHS()->getType()));
    } else {
      fail(loc, "this assignment is not captured");
      return {};
    }
  }
  if (e->getLHS()->getType().isVolatileQualified()) {
    fail(loc, "a volatile object is written");
    return {};
  }
  v = as_kept(v, e->getLHS()->getSourceBitField());
  store(*place, v, loc);
  return v;
}

// A condition known at build time chooses; else both sides are computed as C text.
Value Evaluator::evaluate_conditional(const AbstractConditionalOperator *e) {
  if (isa<BinaryConditionalOperator>(e)) {
    fail(e->getExprLoc(), "?: without a middle operand; write the condition and the value");
    return {};
  }
  const bool before = exits;
  exits = exits || ends_program(e->getTrueExpr()) || ends_program(e->getFalseExpr());
  Value condition = evaluate(pointer_asked(e->getCond()));
  exits = before;
  if (failed) return {};
  const bool number = condition.kind == Value::Scalars && e->getType()->isArithmeticType();
  auto known =
      number ? truth(condition.scalar) : side_of(condition, e->getTrueExpr(), e->getFalseExpr());
  if (!known && condition.kind == Value::Scalars && !condition.scalar.late && !number)
    known = choose(condition.scalar.text);
  if (!known && condition.kind == Value::Pointer && !number) known = pointer_side(condition);
  if (known) return evaluate(*known ? e->getTrueExpr() : e->getFalseExpr());
  if (number) {
    maybe++;
    Value a = evaluate(e->getTrueExpr()), b = evaluate(e->getFalseExpr());
    maybe--;
    if (!failed && a.kind == Value::Scalars && b.kind == Value::Scalars)
      return Value::of(choice_of(condition.scalar, a.scalar, b.scalar, e->getType()));
  }
  fail_to_follow("the choice", condition, e->getExprLoc(), "",
                 "compute both sides and use tc_where, or choose outside of the function");
  return {};
}

// ---- initialisers -------------------------------------------------------------------------------

Value Evaluator::evaluate_initializer(const Expr *e, QualType type) {
  e = e->IgnoreParens();
  if (const auto *full = dyn_cast<FullExpr>(e)) e = full->getSubExpr()->IgnoreParens();
  if (isa<ImplicitValueInitExpr>(e)) return zero_of(type);
  const auto *list = dyn_cast<InitListExpr>(e);
  if (!list) return evaluate(e);
  if (!type->isArrayType() && !type->isRecordType())
    return list->getNumInits() ? evaluate(list->getInit(0)) : zero_of(type);
  if (const auto *array = context.getAsConstantArrayType(type);
      array && array->getSize().getLimitedValue() > max_elements) {
    fail(e->getExprLoc(), "an array of more than 65536 elements");
    return {};
  }
  Value v = zero_of(type);
  if (type->isUnionType() || v.kind != Value::Aggregate) {
    fail(e->getExprLoc(), "an object of this type is not followed");
    return {};
  }
  const auto *record = type->getAs<RecordType>();
  std::vector<const FieldDecl *> members; // one for each part
  if (record) members.assign(record->getDecl()->field_begin(), record->getDecl()->field_end());
  size_t part = 0;
  for (const Expr *init : list->inits()) {
    while (record && part < members.size() && members[part]->isUnnamedBitField()) part++;
    if (failed || part >= v.parts.size()) break;
    Value made = evaluate_initializer(init, init->getType());
    v.parts[part] = record ? as_kept(made, members[part]) : made;
    part++;
  }
  return v;
}

void Evaluator::declare(const VarDecl *variable) {
  QualType type = variable->getType();
  SourceLocation loc = variable->getLocation();
  if (type->isVariableArrayType())
    return fail(loc, "an array whose length is not constant; give it a constant one, of the most "
                     "elements that there may be");
  if (type.isVolatileQualified()) return fail(loc, "a volatile variable");
  if (type->isReferenceType() && variable->hasLocalStorage()) {
    if (frames.size() == 1) inner.insert(variable);
    if (auto place = refer(variable->getInit())) frames.back().referred[variable] = *place;
    return;
  }
  if (variable->isStaticLocal() && type.isConstant(context) && constant_initializer(variable))
    return; // a table: see locate_entry
  bool keeps = variable->isStaticLocal() || variable->hasExternalStorage();
  if (keeps || variable->hasAttr<CleanupAttr>()) {
    fail(loc, "'" + variable->getNameAsString() + "' " +
                  (keeps ? "keeps its value between calls" : "is cleaned up by a function"));
    obstacle.quiet = keeps && obstacle.loc == loc && frames.size() == 1;
    return;
  }
  if (variable->needsDestruction(context)) return fail(loc, "an object with a destructor");
  if (frames.size() == 1) inner.insert(variable);
  Value v;
  if (const Expr *init = variable->getInit()) {
    v = evaluate_initializer(init, type);
  } else {
    v = zero_of(type);
    unset_leaves(v);
  }
  if (failed) return;
  v.origin.clear();
  frames.back().variables[variable] = new_slot(std::move(v));
}

} // namespace tc
