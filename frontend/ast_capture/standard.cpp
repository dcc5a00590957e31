// standard.cpp - C++: std::vector, std::span and smart pointers that exist when the statements begin.
// What leads to their elements is asked of the object itself, as a function of the program would.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

static bool is_of(const CXXMethodDecl *callee, std::initializer_list<StringRef> classes) {
  const CXXRecordDecl *type = callee->getParent();
  return type->isInStdNamespace() && type->getIdentifier() &&
         llvm::is_contained(classes, type->getName());
}

// The object, where it exists when the statements begin.
std::optional<Place> Evaluator::standard_object(const Expr *object) {
  if (object->getType()->isPointerType()) return std::nullopt;
  auto place = refer(object->IgnoreImpCasts());
  if (!place || place->at_entry) return place;
  const Value *v = resolve(*place, object->getExprLoc());
  return v && v->kind == Value::AtEntry ? std::optional<Place>(v->place) : std::nullopt;
}

// What object.name() gives, a pointer.
Value Evaluator::asked_pointer(Place object, const char *name, QualType element, SourceLocation loc) {
  object.text = object.lvalue() + "." + name + "()";
  object.indexed = false;
  object.type = context.getPointerType(element);
  return load(object, loc);
}

Value Evaluator::element_at(const Value &data, const Value &index, SourceLocation loc) {
  if (failed || data.kind != Value::Pointer || index.kind != Value::Scalars) return {};
  auto known = as_constant(index.scalar);
  auto place = known ? offset_place(data.place, *known) : element_of(data, index.scalar, loc);
  return place ? Value::of(Value::Pointer, *place) : Value();
}

// A call of a function of such an object; none: it is another one.
std::optional<Value> Evaluator::call_standard(const CallExpr *e, const CXXMethodDecl *callee) {
  const bool list = is_of(callee, {"vector", "span"});
  if (!list && !is_of(callee, {"unique_ptr", "shared_ptr", "__shared_ptr", "__shared_ptr_access"}))
    return std::nullopt;
  const auto *type = llvm::dyn_cast<ClassTemplateSpecializationDecl>(callee->getParent());
  const auto *member = llvm::dyn_cast<CXXMemberCallExpr>(e);
  if (!type || type->getTemplateArgs()[0].getKind() != TemplateArgument::Type) return std::nullopt;
  const QualType element = type->getTemplateArgs()[0].getAsType();
  const Expr *object = member ? member->getImplicitObjectArgument() : e->getArg(0);
  const std::string name = callee->getNameAsString();
  const bool first = name == "front", last = name == "back";
  const SourceLocation loc = e->getExprLoc();
  if (element->isBooleanType() || element->isArrayType()) return std::nullopt;
  static const StringRef of_lists[] = {"size", "empty", "data", "front", "back", "operator[]"};
  static const StringRef of_pointers[] = {"get", "operator->", "operator*", "operator bool"};
  if (list && (name == "begin" || name == "end")) {
    fail(loc, "how many elements there are is not known at build time; the body of a loop over them "
              "is compiled, and called in each round");
    return Value();
  }
  if (!(list ? llvm::is_contained(of_lists, name) : llvm::is_contained(of_pointers, name)))
    return std::nullopt;
  auto place = standard_object(object);
  if (failed || !place) return failed ? std::optional<Value>(Value()) : std::nullopt;
  const std::string text = "(" + place->lvalue();
  if (name == "size" || name == "empty")
    return as_known(Value::of(opaque(text + "." + name + "())", e->getType())));
  if (llvm::isa<CXXConversionDecl>(callee)) return Value::of(opaque(text + ".get() != 0)", e->getType()));
  const Value pointer = asked_pointer(*place, list ? "data" : "get", element, loc);
  if (!list || name == "data") return pointer;
  const Scalar end = opaque(text + ".size() - 1)", context.getSizeType());
  const Value index = first  ? Value::of(integer_constant(llvm::APSInt::get(0), context.IntTy))
                      : last ? Value::of(end)
                             : evaluate(e->getArg(1));
  return element_at(pointer, index, loc);
}

} // namespace tc
