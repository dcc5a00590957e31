// constructors.cpp - C++'s constructors: members are set in their order, then the body is followed.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

// Why objects of the class are not followed, though its constructors are visible; null: they are.
static const char *why_not_followed(const CXXRecordDecl *made) {
  if (made->isUnion()) return "an object of a union with constructors is made";
  if (made->getNumBases() || made->isDynamicClass() || !made->hasTrivialDestructor())
    return "an object of a class with bases, virtual functions or a destructor is made by a constructor";
  return nullptr;
}

Value Evaluator::evaluate_construction(const CXXConstructExpr *e) {
  const CXXConstructorDecl *constructor = e->getConstructor();
  if (constructor->isTrivial() && e->getNumArgs() == 1) return evaluate(e->getArg(0));
  if (constructor->isTrivial() && !e->getNumArgs()) {
    Value v = zero_of(e->getType());
    if (!e->requiresZeroInitialization()) unset_leaves(v);
    return v;
  }
  const char *why = why_not_followed(constructor->getParent());
  const FunctionDecl *definition = nullptr;
  if (!why && !constructor->hasBody(definition))
    why = "an object is made by a constructor whose body is not visible in this file";
  if (!why && e->getType()->isArrayType()) why = "an array of objects is made by a constructor";
  if (!why && (constructor->isVariadic() || constructor->getNumParams() != e->getNumArgs()))
    why = "a constructor with a variable number of arguments is called";
  if (!why && frames.size() >= max_frames) why = "calls are nested more than 64 deep";
  if (!why) return construct(e, llvm::cast<CXXConstructorDecl>(definition));
  fail(e->getExprLoc(), why);
  return {};
}

// Whether a value leads to the object in that slot.
static bool leads_to(const Value &v, unsigned slot) {
  if (v.kind == Value::Pointer && !v.place.at_entry && v.place.slot == slot) return true;
  return llvm::any_of(v.parts, [&](const Value &part) { return leads_to(part, slot); });
}

// Made apart, and copied to where it belongs: so that nothing may keep its address.
Value Evaluator::construct(const CXXConstructExpr *e, const CXXConstructorDecl *constructor) {
  std::vector<Value> arguments = values_of(constructor, {e->getArgs(), e->getNumArgs()});
  if (failed) return {};
  Place object;
  Value blank = zero_of(e->getType());
  if (!e->requiresZeroInitialization()) unset_leaves(blank);
  object.slot = new_slot(std::move(blank));
  object.type = e->getType();
  enter(constructor, e, std::move(arguments), Value::of(Value::Pointer, object));
  for (const CXXCtorInitializer *init : constructor->inits()) set_member(init, object);
  execute(constructor->getBody());
  leave(e);
  if (!failed && llvm::any_of(memory, [&](const Value &v) { return leads_to(v, object.slot); }))
    fail(e->getExprLoc(), "a constructor keeps the address of its object");
  return failed ? Value() : memory[object.slot];
}

void Evaluator::set_member(const CXXCtorInitializer *init, const Place &object) {
  const FieldDecl *field = init->getMember();
  if (failed) return;
  if (init->isDelegatingInitializer())
    return store(object, evaluate(init->getInit()), init->getSourceLocation());
  if (!field || field->getType()->isReferenceType())
    return fail(init->getSourceLocation(),
                "a constructor sets a reference, or a member of a union without a name");
  Place member = object;
  member.path.push_back(field->getFieldIndex());
  member.type = field->getType();
  const Value v = as_kept(evaluate_initializer(init->getInit(), field->getType()), field);
  store(member, v, init->getSourceLocation());
}

static bool names_object(const Stmt *s) {
  return s && (llvm::isa<CXXThisExpr>(s) || llvm::any_of(s->children(), names_object));
}

// What the class says of a member. In an object that no constructor makes, `this` is not ours.
Value Evaluator::evaluate_member_default(const CXXDefaultInitExpr *e) {
  const auto *constructor = llvm::dyn_cast<CXXConstructorDecl>(frames.back().function);
  const bool its_own = constructor && constructor->getParent() == e->getField()->getParent();
  if (its_own || !names_object(e->getExpr()))
    return evaluate_initializer(e->getExpr(), e->getType());
  fail(e->getExprLoc(), "a member is set from others of its object");
  return {};
}

} // namespace tc
