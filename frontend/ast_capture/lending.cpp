// lending.cpp - see lending.h.
#include "frontend/ast_capture/lending.h"

#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::isa_and_nonnull;

// Whether `holds` of a member, or of a member of a member.
static bool any_member(QualType type, bool (*holds)(QualType)) {
  type = type.getCanonicalType();
  if (const auto *array = dyn_cast<ArrayType>(type.getTypePtr()))
    return any_member(array->getElementType(), holds);
  if (holds(type)) return true;
  const auto *record = type->getAs<RecordType>();
  return record && llvm::any_of(record->getDecl()->fields(), [&](const FieldDecl *field) {
           return any_member(field->getType(), holds);
         });
}

static bool has_union(QualType type) {
  return any_member(type, [](QualType each) { return each->isUnionType(); });
}

bool has_tensors(QualType type) { return any_member(type, is_tensor_pointer); }

const VarDecl *object_of(const Expr *lvalue) {
  const Expr *e = lvalue->IgnoreParens();
  for (;;) {
    const auto *member = dyn_cast<MemberExpr>(e);
    const auto *element = dyn_cast<ArraySubscriptExpr>(e);
    if (member && member->isArrow()) return nullptr;
    if (member) e = member->getBase()->IgnoreParens();
    else if (element && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
      e = element->getBase()->IgnoreParenImpCasts();
    else break;
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e);
  return ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
}

// The definition that a call runs, whatever it is linked with.
static const FunctionDecl *runs(const CallExpr *call) {
  const FunctionDecl *callee = call->getDirectCallee(), *definition = nullptr;
  if (!callee || isa<CXXMethodDecl>(callee) || !callee->hasBody(definition)) return nullptr;
  return definition->hasAttr<WeakAttr>() ? nullptr : definition;
}

// Of a call that returns a struct of tensors: what is known of the function; of others nothing is
// asked.
static bool asked_of_struct(Owners &owners, const CallExpr *call, bool Ownership::*what) {
  if (!call->getType()->isRecordType() || !has_tensors(call->getType())) return false;
  const FunctionDecl *definition = runs(call);
  const Ownership *inside = definition ? owners.of(definition) : nullptr;
  return !inside || inside->*what;
}

bool gives_struct(Owners &owners, const CallExpr *call) {
  return asked_of_struct(owners, call, &Ownership::gives);
}

bool passes_arguments(Owners &owners, const CallExpr *call) {
  return asked_of_struct(owners, call, &Ownership::passes);
}

// ---- what is lent to a function -----------------------------------------------------------------

namespace {

class Lending {
public:
  explicit Lending(Owners &owners) : owners(owners) {}
  bool reads(const Stmt *s, const ParmVarDecl *parameter);

private:
  bool is_read(const Expr *pointer);
  bool is_read_struct(const Expr *object);
  const Stmt *outside(const Stmt *&inner, size_t &at) const;

  Owners &owners;
  std::vector<const Stmt *> around;
};

bool Lending::reads(const Stmt *s, const ParmVarDecl *parameter) {
  if (!s) return true;
  const auto *ref = dyn_cast<DeclRefExpr>(s);
  if (ref && ref->getDecl() == parameter)
    return ref->getType()->isRecordType() ? is_read_struct(ref) : is_read(ref);
  around.push_back(s);
  const bool all =
      llvm::all_of(s->children(), [&](const Stmt *child) { return reads(child, parameter); });
  around.pop_back();
  return all;
}

// What stands around an expression but parentheses and casts between pointers; `inner`: its
// operand.
const Stmt *Lending::outside(const Stmt *&inner, size_t &at) const {
  while (at) {
    const Stmt *outer = around[--at];
    const auto *cast = dyn_cast<CastExpr>(outer);
    if (!isa<ParenExpr>(outer) && !(cast && cast->getCastKind() == CK_NoOp)) return outer;
    inner = outer;
  }
  return nullptr;
}

static const CastExpr *read_of(const Stmt *s) {
  const auto *cast = dyn_cast_or_null<CastExpr>(s);
  return cast && cast->getCastKind() == CK_LValueToRValue ? cast : nullptr;
}

static bool loads(const Stmt *s) {
  const CastExpr *cast = read_of(s);
  return cast && (is_tensor_pointer(cast->getType()) || cast->getType()->isArithmeticType());
}

// One that was passed as a whole: its members, or all of it for another function to read.
bool Lending::is_read_struct(const Expr *object) {
  const Stmt *inner = object;
  size_t at = around.size();
  const Stmt *use = outside(inner, at);
  if (const CastExpr *value = read_of(use)) {
    inner = value;
    const auto *call = dyn_cast_or_null<CallExpr>(outside(inner, at));
    return call && lends(owners, call, dyn_cast<Expr>(inner));
  }
  if (!isa_and_nonnull<MemberExpr>(use)) return false;
  for (; isa_and_nonnull<MemberExpr>(use); use = outside(inner, at)) inner = use;
  return loads(use);
}

bool Lending::is_read(const Expr *pointer) {
  const Stmt *inner = pointer;
  size_t at = around.size();
  const CastExpr *value = read_of(outside(inner, at));
  if (!value) return false;
  inner = value;
  const Stmt *use = outside(inner, at);
  if (const auto *call = dyn_cast_or_null<CallExpr>(use))
    return is_library(call->getDirectCallee()) || lends(owners, call, dyn_cast<Expr>(inner));
  const auto *element = dyn_cast_or_null<ArraySubscriptExpr>(use);
  const auto *op = dyn_cast_or_null<UnaryOperator>(use);
  const auto *member = dyn_cast_or_null<MemberExpr>(use);
  if ((element && element->getBase() == inner) || member || (op && op->getOpcode() == UO_Deref)) {
    inner = use;
    return loads(outside(inner, at));
  }
  const auto *cast = dyn_cast_or_null<CastExpr>(use);
  const auto *asked = dyn_cast_or_null<BinaryOperator>(use);
  const auto *choice = dyn_cast_or_null<ConditionalOperator>(use);
  return (op && op->getOpcode() == UO_LNot) || isa_and_nonnull<IfStmt>(use) ||
         (asked && (asked->isLogicalOp() || asked->isComparisonOp())) ||
         (choice && choice->getCond() == inner) ||
         (cast && cast->getCastKind() == CK_PointerToBoolean);
}

} // namespace

bool lends(Owners &owners, const CallExpr *call, const Expr *argument) {
  const FunctionDecl *definition = runs(call);
  const Ownership *inside = definition ? owners.of(definition) : nullptr;
  if (!inside || !inside->contained) return false;
  for (unsigned i = 0; i < call->getNumArgs() && i < definition->getNumParams(); i++)
    if (call->getArg(i) == argument)
      return Lending(owners).reads(definition->getBody(), definition->getParamDecl(i));
  return false;
}

// ---- which local variables are the function's own -----------------------------------------------

namespace {

class Uses {
public:
  Uses(Owners &owners, const FunctionDecl *function) : owners(owners) {
    look(function->getBody());
    spread();
  }
  std::map<const VarDecl *, Escape> escapes;

private:
  void look(const Stmt *s);
  void mention(const DeclRefExpr *ref);
  Escape use_of(const VarDecl *variable, const DeclRefExpr *ref);
  Escape lent(const VarDecl *variable, size_t at);
  Escape struct_goes(const VarDecl *variable, size_t at);
  Escape copied(const VarDecl *variable, const VarDecl *to);
  bool drops_value(size_t at) const;
  void spread();

  Owners &owners;
  std::vector<const Stmt *> around;
  std::vector<std::pair<const VarDecl *, const VarDecl *>>
      copies; // what is in one may be in the other
};

void Uses::look(const Stmt *s) {
  if (!s || isa<UnaryExprOrTypeTraitExpr>(s)) return;
  if (const auto *ref = dyn_cast<DeclRefExpr>(s)) return mention(ref);
  around.push_back(s);
  for (const Stmt *child : s->children()) look(child);
  around.pop_back();
}

void Uses::mention(const DeclRefExpr *ref) {
  const auto *variable = dyn_cast<VarDecl>(ref->getDecl());
  if (!variable || !variable->hasLocalStorage()) return;
  const Escape found = use_of(variable, ref);
  if (found != Escape::None) escapes[variable] = std::max(escapes[variable], found);
}

// What is put in a variable is as far as what is in it goes.
void Uses::spread() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [from, to] : copies) {
      auto at = escapes.find(to);
      if (at == escapes.end()) continue;
      Escape &mine = escapes[from];
      changed |= mine < at->second;
      mine = std::max(mine, at->second);
    }
  }
}

// Of the pointer or the struct around[at], an argument: functions of the library keep none, and
// others only what they return.
Escape Uses::lent(const VarDecl *variable, size_t at) {
  while (at && (isa<CastExpr>(around[at - 1]) || isa<ParenExpr>(around[at - 1]))) at--;
  const auto *call = at ? dyn_cast<CallExpr>(around[at - 1]) : nullptr;
  if (!call) return Escape::Shared;
  if (is_library(call->getDirectCallee())) return Escape::None;
  if (!lends(owners, call, dyn_cast<Expr>(around[at]))) return Escape::Shared;
  return passes_arguments(owners, call) ? struct_goes(variable, at - 1) : Escape::None;
}

Escape Uses::copied(const VarDecl *variable, const VarDecl *to) {
  if (!to || !to->hasLocalStorage() || to->getType()->isReferenceType()) return Escape::Shared;
  copies.emplace_back(variable, to);
  return Escape::None;
}

static const VarDecl *initialised_by(const DeclStmt *s, const Stmt *value) {
  for (const Decl *each : s->decls())
    if (const auto *variable = dyn_cast<VarDecl>(each); variable && variable->getInit() == value)
      return variable;
  return nullptr;
}

// Whether around[at] is a statement of which nobody reads the value; the last one of ({ }) has a
// reader.
bool Uses::drops_value(size_t at) const {
  const Stmt *outer = around[at - 1];
  if (isa<CompoundStmt>(outer)) return at < 2 || !isa<StmtExpr>(around[at - 2]);
  return isa<IfStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(outer);
}

// Of the value around[at], a struct in which what is in the variable may be.
Escape Uses::struct_goes(const VarDecl *variable, size_t at) {
  for (; at; at--) {
    const Stmt *inner = around[at], *outer = around[at - 1];
    if (isa<ParenExpr>(outer) || isa<InitListExpr>(outer)) continue;
    if (const auto *cast = dyn_cast<CastExpr>(outer)) {
      if (cast->getType()->isVoidType()) return Escape::None;
      if (!cast->getType()->isRecordType()) return Escape::Shared;
      continue;
    }
    if (isa<ConditionalOperator>(outer)) continue;
    if (const auto *literal = dyn_cast<CompoundLiteralExpr>(outer)) {
      if (!literal->getType()->isRecordType()) return Escape::Shared;
      continue;
    }
    if (const auto *member = dyn_cast<MemberExpr>(outer)) {
      if (member->getType()->isRecordType()) continue;
      return member->getType()->isArrayType() ? Escape::Shared : Escape::None;
    }
    if (const auto *op = dyn_cast<BinaryOperator>(outer)) {
      if (op->getOpcode() != BO_Assign || op->getRHS() != inner) return Escape::Shared;
      const Escape stored = copied(variable, object_of(op->getLHS()));
      return std::max(stored, struct_goes(variable, at - 1));
    }
    if (const auto *call = dyn_cast<CallExpr>(outer)) {
      if (!is_library(call->getDirectCallee()) && !lends(owners, call, dyn_cast<Expr>(inner)))
        return Escape::Shared;
      if (is_library(call->getDirectCallee()) || !passes_arguments(owners, call))
        return Escape::None;
      continue;
    }
    if (const auto *declaration = dyn_cast<DeclStmt>(outer))
      return copied(variable, initialised_by(declaration, inner));
    return isa<ReturnStmt>(outer) ? Escape::Result
           : drops_value(at)      ? Escape::None
                                  : Escape::Shared;
  }
  return Escape::Shared;
}

// Fine are reading and writing of what is in the variable.
Escape Uses::use_of(const VarDecl *variable, const DeclRefExpr *ref) {
  const Expr *e = ref;
  size_t at = around.size();
  for (; at; at--) {
    const auto *outer = dyn_cast<Expr>(around[at - 1]);
    const auto *member = dyn_cast_or_null<MemberExpr>(outer);
    const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(outer);
    const auto *element = dyn_cast_or_null<ArraySubscriptExpr>(outer);
    const bool decays = cast && cast->getCastKind() == CK_ArrayToPointerDecay;
    if (decays) {
      const Escape pointer = lent(variable, at - 1);
      if (pointer != Escape::Shared) return pointer;
    }
    const bool inside = (outer && isa<ParenExpr>(outer)) || (member && !member->isArrow()) ||
                        decays || (element && isa<ImplicitCastExpr>(e) && element->getBase() == e);
    if (!inside) break;
    e = outer;
  }
  const Stmt *use = at ? around[at - 1] : nullptr;
  const bool whole = !e->getType()->isPointerType() || e->isGLValue(); // no array that decayed
  if (const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(use); cast && read_of(cast)) {
    if (has_union(variable->getType())) return Escape::Shared;
    return e->getType()->isRecordType() ? struct_goes(variable, at - 1) : Escape::None;
  }
  if (const auto *op = dyn_cast_or_null<BinaryOperator>(use))
    if (op->isAssignmentOp() && op->getLHS() == e && whole)
      return e->getType()->isRecordType() ? struct_goes(variable, at - 1) : Escape::None;
  if (const auto *op = dyn_cast_or_null<UnaryOperator>(use)) {
    if (op->isIncrementDecrementOp()) return Escape::None;
    if (op->getOpcode() == UO_AddrOf) return lent(variable, at - 1);
  }
  return Escape::Shared;
}

} // namespace

std::map<const VarDecl *, Escape> escapes_of_locals(Owners &owners, const FunctionDecl *function) {
  return Uses(owners, function).escapes;
}

} // namespace tc
