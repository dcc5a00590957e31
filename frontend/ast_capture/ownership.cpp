// ownership.cpp - see ownership.h.
#include "frontend/ast_capture/ownership.h"

#include "frontend/ast_capture/evaluator.h"
#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::isa_and_nonnull;
using llvm::StringRef;

// ---- what is what -------------------------------------------------------------------------------

static bool declares(const Stmt *s, StringRef name) {
  const auto *declaration = dyn_cast_or_null<DeclStmt>(s);
  if (!declaration) return false;
  for (const Decl *d : declaration->decls())
    if (const auto *variable = dyn_cast<VarDecl>(d); variable && variable->getName() == name)
      return true;
  return false;
}

// A macro's loop, which declares this.
static bool loops_with(const Stmt *s, StringRef name) {
  const auto *loop = dyn_cast_or_null<ForStmt>(s);
  return loop && declares(loop->getInit(), name);
}

bool opens_scope(const Stmt *s) { return loops_with(s, "tc_scope_here"); }
bool opens_no_grad(const Stmt *s) { return loops_with(s, "tc_no_grad_here"); }
static const Expr *argument_of(const Stmt *s, StringRef name) {
  if (const auto *call = dyn_cast_or_null<CallExpr>(s)) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (callee && callee->getIdentifier() && callee->getName() == name && call->getNumArgs())
      return call->getArg(0);
  }
  if (s)
    for (const Stmt *child : s->children())
      if (const Expr *found = argument_of(child, name)) return found;
  return nullptr;
}

const Expr *opens_autocast(const Stmt *s) {
  return loops_with(s, "tc_autocast_here")
             ? argument_of(llvm::cast<ForStmt>(s)->getInit(), "tc_set_autocast")
             : nullptr;
}

bool opens_rest(const Stmt *s) { return declares(s, "tc_scope_rest"); }

// Of tcompile.h or a header of its folder, or of a folder in that: a function of the API, or what its
// macros are made of in C++ (tcompile_ints).
bool is_library(const FunctionDecl *callee) {
  const bool named = callee && callee->getDeclName().isIdentifier();
  if (!is_api(callee) && !(named && callee->getName().starts_with("tcompile_"))) return false;
  const SourceManager &sources = callee->getASTContext().getSourceManager();
  SourceLocation where = sources.getExpansionLoc(callee->getCanonicalDecl()->getLocation());
  const StringRef file = sources.getFilename(where);
  const StringRef folder = llvm::sys::path::parent_path(file);
  return llvm::sys::path::filename(file) == "tcompile.h" ||
         llvm::sys::path::filename(folder) == "tcompile" ||
         llvm::sys::path::filename(llvm::sys::path::parent_path(folder)) == "tcompile";
}

const Expr *source_of(const Expr *e) {
  for (;;) {
    e = e->IgnoreParenCasts();
    const auto *op = dyn_cast<BinaryOperator>(e);
    if (!op || op->getOpcode() != BO_Comma) return e;
    e = op->getRHS();
  }
}

bool makes_result(const FunctionDecl *callee) {
  return is_tensor_pointer(callee->getReturnType()) && !callee->getName().ends_with("_") &&
         callee->getName() != "tc_keep";
}

// Results that go to a list of the caller's.
static bool fills_list(StringRef name) {
  return name == "tc_split" || name == "tc_vjp" || name == "tc_grad" || name == "tc_grad_with" ||
         name == "tc_value_and_grad" || name == "tc_vmap";
}

static bool gives_memory(StringRef name) {
  return name == "tc_data" || name == "tc_cdata" || name == "tc_device_data";
}

static bool takes_memory(StringRef name) {
  return name.starts_with("tc_wrap") || name == "tc_row_major";
}

static bool has_union(QualType type) {
  type = type.getCanonicalType();
  if (const auto *array = dyn_cast<ArrayType>(type.getTypePtr()))
    return has_union(array->getElementType());
  const auto *record = type->getAs<RecordType>();
  if (!record) return false;
  if (record->isUnionType()) return true;
  return llvm::any_of(record->getDecl()->fields(),
                      [](const FieldDecl *field) { return has_union(field->getType()); });
}

static bool is_list_of_tensors(QualType type) {
  return type->isPointerType() && is_tensor_pointer(type->getPointeeType()) &&
         !type->getPointeeType().isConstQualified();
}

// ---- what is lent to a function -----------------------------------------------------------------

namespace {

// Whether a function of which all is visible keeps nothing and only reads what its parameter leads to: tensors of a list,
// members of a struct.
class Lending {
public:
  explicit Lending(Owners &owners) : owners(owners) {}
  bool lends(const CallExpr *call, const Expr *argument);

private:
  bool reads(const Stmt *s, const ParmVarDecl *parameter);
  bool is_read(const Expr *pointer);
  const Stmt *outside(const Stmt *&inner, size_t &at) const;

  Owners &owners;
  std::vector<const Stmt *> around;
};

bool Lending::lends(const CallExpr *call, const Expr *argument) {
  const FunctionDecl *callee = call->getDirectCallee(), *definition = nullptr;
  if (!callee || isa<CXXMethodDecl>(callee) || !callee->hasBody(definition)) return false;
  if (definition->hasAttr<WeakAttr>()) return false;
  const Ownership *inside = owners.of(definition);
  if (!inside || !inside->contained) return false;
  for (unsigned i = 0; i < call->getNumArgs() && i < definition->getNumParams(); i++)
    if (call->getArg(i) == argument)
      return Lending(owners).reads(definition->getBody(), definition->getParamDecl(i));
  return false;
}

bool Lending::reads(const Stmt *s, const ParmVarDecl *parameter) {
  if (!s) return true;
  const auto *ref = dyn_cast<DeclRefExpr>(s);
  if (ref && ref->getDecl() == parameter) return is_read(ref);
  around.push_back(s);
  const bool all =
      llvm::all_of(s->children(), [&](const Stmt *child) { return reads(child, parameter); });
  around.pop_back();
  return all;
}

// What stands around an expression but parentheses and casts between pointers; `inner`: its operand.
const Stmt *Lending::outside(const Stmt *&inner, size_t &at) const {
  while (at) {
    const Stmt *outer = around[--at];
    const auto *cast = dyn_cast<CastExpr>(outer);
    if (!isa<ParenExpr>(outer) && !(cast && cast->getCastKind() == CK_NoOp)) return outer;
    inner = outer;
  }
  return nullptr;
}

static bool loads(const Stmt *s) {
  const auto *cast = dyn_cast_or_null<CastExpr>(s);
  return cast && cast->getCastKind() == CK_LValueToRValue &&
         (is_tensor_pointer(cast->getType()) || cast->getType()->isArithmeticType());
}

bool Lending::is_read(const Expr *pointer) {
  const Stmt *inner = pointer;
  size_t at = around.size();
  const auto *value = dyn_cast_or_null<CastExpr>(outside(inner, at));
  if (!value || value->getCastKind() != CK_LValueToRValue) return false;
  inner = value;
  const Stmt *use = outside(inner, at);
  if (const auto *call = dyn_cast_or_null<CallExpr>(use))
    return is_library(call->getDirectCallee()) || lends(call, dyn_cast<Expr>(inner));
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

// ---- which local variables are the body's alone -------------------------------------------------

class Uses {
public:
  Uses(Owners &owners, const FunctionDecl *function, std::set<const VarDecl *> &shared)
      : owners(owners), shared(shared) {
    look(function->getBody());
  }

private:
  void look(const Stmt *s);
  void mention(const DeclRefExpr *ref);
  bool is_borrowed(size_t at) const;
  bool is_lent(size_t at) const;

  Owners &owners;
  std::set<const VarDecl *> &shared;
  std::vector<const Stmt *> around;
};

void Uses::look(const Stmt *s) {
  if (!s || isa<UnaryExprOrTypeTraitExpr>(s)) return;
  if (const auto *ref = dyn_cast<DeclRefExpr>(s)) return mention(ref);
  around.push_back(s);
  for (const Stmt *child : s->children()) look(child);
  around.pop_back();
}

// Whether the pointer or the struct around[at] is an argument of a function of the library, which
// keeps none.
bool Uses::is_borrowed(size_t at) const {
  while (at && (isa<CastExpr>(around[at - 1]) || isa<ParenExpr>(around[at - 1]))) at--;
  const auto *call = at ? dyn_cast<CallExpr>(around[at - 1]) : nullptr;
  return call && is_library(call->getDirectCallee());
}

// Whether the pointer around[at] is an argument that Lending knows of.
bool Uses::is_lent(size_t at) const {
  while (at && (isa<CastExpr>(around[at - 1]) || isa<ParenExpr>(around[at - 1]))) at--;
  const auto *call = at ? dyn_cast<CallExpr>(around[at - 1]) : nullptr;
  return call && Lending(owners).lends(call, dyn_cast<Expr>(around[at]));
}

// Fine are reading and writing of what is in the variable.
void Uses::mention(const DeclRefExpr *ref) {
  const auto *variable = dyn_cast<VarDecl>(ref->getDecl());
  if (!variable || !variable->hasLocalStorage() || shared.count(variable)) return;
  const Expr *e = ref;
  size_t at = around.size();
  for (; at; at--) {
    const auto *outer = dyn_cast<Expr>(around[at - 1]);
    const auto *member = dyn_cast_or_null<MemberExpr>(outer);
    const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(outer);
    const auto *element = dyn_cast_or_null<ArraySubscriptExpr>(outer);
    if (cast && cast->getCastKind() == CK_ArrayToPointerDecay &&
        (is_borrowed(at - 1) || is_lent(at - 1)))
      return;
    const bool inside = (outer && isa<ParenExpr>(outer)) || (member && !member->isArrow()) ||
                        (cast && cast->getCastKind() == CK_ArrayToPointerDecay) ||
                        (element && isa<ImplicitCastExpr>(e) && element->getBase() == e);
    if (!inside) break;
    e = outer;
  }
  const Stmt *use = at ? around[at - 1] : nullptr;
  const bool whole = !e->getType()->isPointerType() || e->isGLValue(); // no array that decayed
  if (const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(use))
    if (cast->getCastKind() == CK_LValueToRValue && !has_union(variable->getType()) &&
        (!e->getType()->isRecordType() || is_borrowed(at - 1)))
      return;
  if (const auto *op = dyn_cast_or_null<BinaryOperator>(use))
    if (op->isAssignmentOp() && op->getLHS() == e && whole) return;
  if (const auto *op = dyn_cast_or_null<UnaryOperator>(use))
    if (op->isIncrementDecrementOp() ||
        (op->getOpcode() == UO_AddrOf && (is_borrowed(at - 1) || is_lent(at - 1))))
      return;
  shared.insert(variable);
}

// ---- where tensors leave ------------------------------------------------------------------------

class Reader {
public:
  Reader(Owners &owners, const FunctionDecl *function, Ownership &out)
      : owners(owners), function(function), out(out), list(&out.exits) {}
  void run();

private:
  // What becomes of the value of an expression.
  enum Fate { Looked, Kept, Result };
  enum Callee { Library, System, Followed, Spilling, Unseen };

  void statement(const Stmt *s);
  void block(const CompoundStmt *s, Fate last);
  void declare(const VarDecl *variable);
  void expression(const Expr *e, Fate fate);
  void parts(const Expr *e, Fate fate);
  void binary(const BinaryOperator *e, Fate fate);
  void place(const Expr *e, Fate fate);
  void handed(const Expr *e, Fate fate);
  void call(const CallExpr *e, Fate fate);
  void library_call(const CallExpr *e, const FunctionDecl *callee, Fate fate);
  void system_call(const CallExpr *e, const FunctionDecl *callee, Fate fate);
  bool leaves(const Expr *e);
  bool stays_in(const Expr *lvalue) const;
  bool fills_own(const Expr *list_of_tensors) const;
  Callee kind_of(const CallExpr *e);
  void refuse(const std::string &why) {
    if (out.obstacle.empty()) out.obstacle = why;
  }
  template <class Parts> void exit(Exit::Kind kind, const Expr *e, Parts inside);

  Owners &owners;
  const FunctionDecl *function;
  Ownership &out;
  std::vector<Exit> *list;
  int scopes = 0;                                  // of the function's own, open here
  bool stored_inside = false, kept_inside = false; // of these
  bool closed = true;
};

// Whether a call that nobody sees into can give a tensor that it keeps, too.
static bool may_give_tensors(const Expr *e) {
  auto leads_there = [](QualType type) {
    if (!type->isPointerType()) return !type->isArithmeticType() && !type->isVoidType();
    QualType to = type->getPointeeType();
    return !to.isConstQualified() || !to->isArithmeticType();
  };
  const auto *call = dyn_cast<CallExpr>(e);
  return call && (leads_there(e->getType()) ||
                  llvm::any_of(call->arguments(),
                               [&](const Expr *arg) { return leads_there(arg->getType()); }));
}

template <class Parts> void Reader::exit(Exit::Kind kind, const Expr *e, Parts inside) {
  Exit found = {kind, e, {}};
  std::vector<Exit> *outer = std::exchange(list, &found.inside);
  inside();
  list = outer;
  list->push_back(std::move(found));
  if (kind == Exit::HandedOut || kind == Exit::Unseen) closed = false;
  const auto *kept = dyn_cast<CallExpr>(source_of(e));
  const bool keeps = kept && kept->getDirectCallee() && is_api(kept->getDirectCallee()) &&
                     kept->getDirectCallee()->getName() == "tc_keep";
  stored_inside |= scopes && !keeps && (kind == Exit::HandedOut || may_give_tensors(e));
}

Reader::Callee Reader::kind_of(const CallExpr *e) {
  const FunctionDecl *callee = e->getDirectCallee();
  if (!callee || !callee->getDeclName().isIdentifier() || isa<CXXMethodDecl>(callee)) return Unseen;
  if (is_library(callee)) return Library;
  if (callee->getBuiltinID()) {
    for (const Expr *arg : e->arguments())
      if (arg->getType()->isFunctionPointerType()) return Unseen;
    return System;
  }
  for (const FunctionDecl *each : callee->redecls())
    if (find_attribute(each, op_attribute) || find_attribute(each, effect_attribute))
      return Followed;
  const FunctionDecl *definition = nullptr;
  if (!callee->hasBody(definition) || definition->hasAttr<WeakAttr>()) return Unseen;
  const bool scoped = owners.has_scope(definition);
  if (definition == function) return scoped ? Spilling : Followed; // if the rest of it is
  const Ownership *inside = owners.of(definition);
  if (!inside || !inside->obstacle.empty()) return Unseen;
  return inside->contained ? Followed : scoped ? Spilling : Unseen;
}

// What is no tensor of the body in any case: NULL, also of members that an initialiser leaves out, and what a call gives that
// nobody sees into.
bool Reader::leaves(const Expr *e) {
  const Expr *bare = source_of(e);
  if (isa<ImplicitValueInitExpr>(bare)) return false;
  if (bare->isNullPointerConstant(owners.context, Expr::NPC_ValueDependentIsNotNull)) return false;
  const auto *call = dyn_cast<CallExpr>(bare);
  return !call || kind_of(call) != Unseen;
}

void Reader::expression(const Expr *e, Fate fate) {
  if (fate == Looked || !is_tensor_pointer(e->getType()) || !leaves(e)) return parts(e, fate);
  exit(fate == Result ? Exit::Returned : Exit::HandedOut, e, [&] { parts(e, Looked); });
}

// Whether what is assigned to it stays in the body.
bool Reader::stays_in(const Expr *lvalue) const {
  const Expr *e = lvalue->IgnoreParens();
  if (!is_tensor_pointer(e->getType())) return false;
  for (;;) {
    const auto *member = dyn_cast<MemberExpr>(e);
    const auto *element = dyn_cast<ArraySubscriptExpr>(e);
    if (member && member->isArrow()) return false;
    if (member) e = member->getBase()->IgnoreParens();
    else if (element && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
      e = element->getBase()->IgnoreParenImpCasts();
    else break;
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e);
  return ref && out.holds(dyn_cast<VarDecl>(ref->getDecl()));
}

// An object; fate: of what is read there.
void Reader::place(const Expr *e, Fate fate) {
  e = e->IgnoreParens();
  if (isa<DeclRefExpr>(e)) return;
  if (const auto *member = dyn_cast<MemberExpr>(e)) {
    if (!member->isArrow()) return place(member->getBase(), fate);
    StringRef name = member->getMemberDecl()->getName();
    const bool memory = name != "dim" && name != "stride" && name != "key";
    return expression(member->getBase(),
                      is_tensor_pointer(member->getBase()->getType()) && memory ? fate : Looked);
  }
  if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
    expression(element->getBase(), Looked);
    return expression(element->getIdx(), Looked);
  }
  if (const auto *op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_Deref)
    return expression(op->getSubExpr(),
                      is_tensor_pointer(op->getSubExpr()->getType()) ? Kept : Looked);
  expression(e, fate);
}

// What a parameter, a variable or a result gets: a value, or in C++ an object that it is a name of, whose tensor left when
// it was put there.
void Reader::handed(const Expr *e, Fate fate) {
  const Expr *bare = e->IgnoreParenImpCasts();
  const bool named = function->getLangOpts().CPlusPlus && e->isGLValue();
  if (named && !isa<MaterializeTemporaryExpr>(bare)) return place(bare, Looked);
  expression(e, fate);
}

void Reader::binary(const BinaryOperator *e, Fate fate) {
  if (e->isAssignmentOp()) {
    place(e->getLHS(), Looked);
    return expression(e->getRHS(), stays_in(e->getLHS()) ? Looked : Kept);
  }
  const bool asks = e->isComparisonOp() || e->isLogicalOp();
  expression(e->getLHS(), asks || e->getOpcode() == BO_Comma ? Looked : fate);
  expression(e->getRHS(), asks ? Looked : fate);
}

void Reader::parts(const Expr *e, Fate fate) {
  if (const auto *full = dyn_cast<FullExpr>(e)) return expression(full->getSubExpr(), fate);
  if (const auto *paren = dyn_cast<ParenExpr>(e)) return expression(paren->getSubExpr(), fate);
  if (const auto *cast = dyn_cast<CastExpr>(e)) {
    if (cast->getCastKind() == CK_LValueToRValue) return place(cast->getSubExpr(), fate);
    const bool asks = cast->getType()->isBooleanType() || cast->getType()->isVoidType();
    return expression(cast->getSubExpr(), asks ? Looked : fate);
  }
  if (const auto *op = dyn_cast<BinaryOperator>(e)) return binary(op, fate);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) {
    const bool object = op->getOpcode() == UO_AddrOf || op->isIncrementDecrementOp();
    if (object || op->getOpcode() == UO_Deref) return place(object ? op->getSubExpr() : e, fate);
    return expression(op->getSubExpr(), op->getOpcode() == UO_LNot ? Looked : fate);
  }
  if (const auto *choice = dyn_cast<ConditionalOperator>(e)) {
    expression(choice->getCond(), Looked);
    expression(choice->getTrueExpr(), fate);
    return expression(choice->getFalseExpr(), fate);
  }
  if (const auto *choice = dyn_cast<BinaryConditionalOperator>(e)) {
    expression(choice->getCommon(), fate);
    return expression(choice->getFalseExpr(), fate);
  }
  if (const auto *made = dyn_cast<InitListExpr>(e)) {
    for (const Expr *each : made->inits())
      if (each) expression(each, fate);
    return;
  }
  if (const auto *made = dyn_cast<CompoundLiteralExpr>(e))
    return expression(made->getInitializer(), fate);
  if (const auto *inside = dyn_cast<StmtExpr>(e)) return block(inside->getSubStmt(), fate);
  if (const auto *chosen = dyn_cast<GenericSelectionExpr>(e))
    return expression(chosen->getResultExpr(), fate);
  if (const auto *chosen = dyn_cast<ChooseExpr>(e))
    return expression(chosen->getChosenSubExpr(), fate);
  const auto *constructed = dyn_cast<CXXConstructExpr>(e);
  if (isa<CXXOperatorCallExpr>(e) || isa<CXXMemberCallExpr>(e) || isa<CXXDefaultArgExpr>(e) ||
      (constructed && !constructed->getConstructor()->isTrivial()))
    return refuse("an operator, a constructor or a member of a class is called");
  if (constructed) { // a copy of a plain struct
    for (const Expr *each : constructed->arguments()) expression(each, fate);
    return;
  }
  if (const auto *made = dyn_cast<MaterializeTemporaryExpr>(e))
    return expression(made->getSubExpr(), fate);
  if (const auto *number = dyn_cast<SubstNonTypeTemplateParmExpr>(e))
    return expression(number->getReplacement(), fate);
  if (isa<CXXThisExpr>(e)) return;
  if (const auto *called = dyn_cast<CallExpr>(e)) return call(called, fate);
  if (isa<MemberExpr>(e) || isa<ArraySubscriptExpr>(e)) return place(e, fate);
  const bool simple = e->children().empty() || isa<UnaryExprOrTypeTraitExpr>(e) ||
                      isa<OffsetOfExpr>(e) || isa<VAArgExpr>(e) || isa<PredefinedExpr>(e);
  if (!simple || isa<BlockExpr>(e) || isa<LambdaExpr>(e) || isa<AddrLabelExpr>(e))
    refuse(std::string("it contains an expression of a kind that is not followed (") +
           e->getStmtClassName() + ")");
}

// It borrows tensors.  Their memory goes where the pointer to it goes.
void Reader::library_call(const CallExpr *e, const FunctionDecl *callee, Fate fate) {
  StringRef name = callee->getName();
  if (name == "tc_scope_begin" || name == "tc_scope_end")
    refuse("it calls '" + name.str() + "'; write TC_SCOPE or TC_FUNCTION_SCOPE");
  out.makes |= makes_result(callee) || fills_list(name);
  if (name == "tc_keep" && scopes && e->getNumArgs() == 1) {
    const auto *read = dyn_cast<ImplicitCastExpr>(e->getArg(0)->IgnoreParens());
    kept_inside = true;
    stored_inside |=
        read && read->getCastKind() == CK_LValueToRValue && !stays_in(read->getSubExpr());
  }
  for (const Expr *arg : e->arguments())
    expression(arg, gives_memory(name) ? fate : takes_memory(name) ? Kept : Looked);
}

// Whether the library may fill the list: it is a local variable of the body's own, or there is none.
bool Reader::fills_own(const Expr *list_of_tensors) const {
  if (list_of_tensors->isNullPointerConstant(owners.context, Expr::NPC_ValueDependentIsNotNull))
    return true;
  const Expr *e = list_of_tensors->IgnoreParenCasts();
  const auto *op = dyn_cast<UnaryOperator>(e);
  if (op && op->getOpcode() == UO_AddrOf) e = op->getSubExpr()->IgnoreParens();
  while (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
    e = element->getBase()->IgnoreParenImpCasts();
    if (!e->getType()->isArrayType()) return false;
  }
  const auto *ref = dyn_cast<DeclRefExpr>(e);
  const auto *variable = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  const bool object = variable && (variable->getType()->isArrayType() || op);
  return object && out.holds(variable);
}

// A function of C's library keeps nothing; what it returns may point to where an argument does.
void Reader::system_call(const CallExpr *e, const FunctionDecl *callee, Fate fate) {
  StringRef name = callee->getName();
  if (name.contains("setjmp") || name.contains("longjmp") || name == "vfork")
    refuse("it calls '" + name.str() + "'");
  const bool known = owners.context.BuiltinInfo.isPredefinedLibFunction(callee->getBuiltinID());
  for (const Expr *arg : e->arguments()) {
    const Expr *bare = source_of(arg);
    const auto *inner = dyn_cast<CallExpr>(bare);
    const bool memory = inner && is_library(inner->getDirectCallee()) &&
                        gives_memory(inner->getDirectCallee()->getName());
    const bool looked = known && (memory || is_tensor_pointer(bare->getType()));
    expression(arg, !looked ? Kept : e->getType()->isPointerType() ? fate : Looked);
  }
}

static bool calls(const Stmt *s) {
  return s && (isa<CallExpr>(s) || llvm::any_of(s->children(), calls));
}

void Reader::call(const CallExpr *e, Fate fate) {
  const FunctionDecl *callee = e->getDirectCallee();
  const Callee kind = kind_of(e);
  if (kind == Library) {
    for (const Expr *arg : e->arguments())
      if (is_list_of_tensors(arg->getType()) && !fills_own(arg))
        return exit(Exit::Unseen, e, [&] { library_call(e, callee, fate); });
    return library_call(e, callee, fate);
  }
  if (kind == System) return system_call(e, callee, fate);
  out.makes |= kind == Followed || kind == Spilling;
  stored_inside |= scopes && kind == Spilling;
  const Fate of_tensors = e->getType()->isPointerType() ? fate : Looked;
  for (const Expr *arg : e->arguments())
    if (kind != Unseen) handed(arg, is_tensor_pointer(arg->getType()) ? of_tensors : Kept);
  if (kind != Unseen) return;
  if (function->getLangOpts().CPlusPlus && !e->getType()->isVoidType() &&
      (!e->getType()->isScalarType() || e->isGLValue()))
    refuse("it calls a function that returns an object of a class");
  exit(Exit::Unseen, e, [&] {
    expression(e->getCallee(), Looked);
    for (const Expr *arg : e->arguments()) {
      const bool plain = arg->getType()->isArithmeticType() || is_tensor_pointer(arg->getType());
      auto inside = [&] { handed(arg, Kept); };
      if (plain && calls(arg)) exit(Exit::Argument, arg, inside);
      else inside();
    }
  });
}

void Reader::declare(const VarDecl *variable) {
  QualType type = variable->getType();
  for (const auto *array = owners.context.getAsArrayType(type); array;
       array = owners.context.getAsArrayType(array->getElementType()))
    if (const auto *sized = dyn_cast<VariableArrayType>(array); sized && sized->getSizeExpr())
      expression(sized->getSizeExpr(), Looked);
  if (type.isDestructedType()) refuse("it has a variable with a destructor");
  if (!variable->hasInit() || !variable->hasLocalStorage()) return;
  const Expr *value = variable->getInit();
  const bool stays = is_tensor_pointer(type) || isa<InitListExpr>(value->IgnoreParens());
  handed(value, stays && out.holds(variable) ? Looked : Kept);
}

// `last`: what becomes of the value of the last statement.
void Reader::block(const CompoundStmt *s, Fate last) {
  const int before = scopes;
  for (const Stmt *each : s->body()) {
    const auto *value = dyn_cast<Expr>(each);
    if (value && each == s->body_back()) expression(value, last);
    else statement(each);
    scopes += opens_rest(each);
  }
  scopes = before;
}

void Reader::statement(const Stmt *s) {
  if (!s || isa<NullStmt>(s) || isa<BreakStmt>(s) || isa<ContinueStmt>(s) || isa<GotoStmt>(s))
    return;
  if (const auto *e = dyn_cast<Expr>(s)) return expression(e, Looked);
  if (const auto *inner = dyn_cast<CompoundStmt>(s)) return block(inner, Looked);
  if (const auto *label = dyn_cast<LabelStmt>(s)) return statement(label->getSubStmt());
  if (const auto *attributed = dyn_cast<AttributedStmt>(s))
    return statement(attributed->getSubStmt());
  if (const auto *declaration = dyn_cast<DeclStmt>(s)) {
    for (const Decl *d : declaration->decls())
      if (const auto *variable = dyn_cast<VarDecl>(d)) declare(variable);
    return;
  }
  if (const auto *result = dyn_cast<ReturnStmt>(s)) {
    const Expr *value = result->getRetValue();
    if (value) handed(value, is_tensor_pointer(value->getType()) ? Result : Kept);
    return;
  }
  if (isa<IfStmt>(s) || isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s) ||
      isa<SwitchStmt>(s) || isa<SwitchCase>(s)) {
    const int before = scopes;
    scopes += opens_scope(s);
    for (const Stmt *child : s->children()) statement(child);
    scopes = before;
    return;
  }
  refuse(isa<AsmStmt>(s) ? "it contains inline assembly"
                         : std::string("it contains a statement of a kind that is not followed (") +
                               s->getStmtClassName() + ")");
}

void Reader::run() {
  const auto *body = dyn_cast_or_null<CompoundStmt>(function->getBody());
  if (!body || function->hasAttr<NakedAttr>() || isa<CXXConstructorDecl>(function) ||
      isa<CXXDestructorDecl>(function) || function->isTemplated() || function->isConstexpr())
    return refuse("internal: no function of the usual form");
  out.own = !body->body_empty() && opens_rest(body->body_front());
  Uses(owners, function, out.shared);
  block(body, Looked);
  if (stored_inside && kept_inside)
    refuse("inside of a TC_SCOPE it keeps tensors, and hands some to where they may stay");
  out.contained = closed && out.obstacle.empty();
}

} // namespace

const Ownership *Owners::of(const FunctionDecl *definition) {
  auto [at, fresh] = known.try_emplace(definition);
  if (!fresh) return at->second.get();
  auto found = std::make_unique<Ownership>();
  Reader(*this, definition, *found).run();
  return (known[definition] = std::move(found)).get();
}

} // namespace tc
