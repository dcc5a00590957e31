// ownership.cpp - see ownership.h.
#include "frontend/ast_capture/ownership.h"

#include "frontend/ast_capture/evaluator.h"
#include "frontend/ast_capture/lending.h"
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

// Of tcompile.h or a header of its folder, or of a folder in that: a function of the API, or what
// its macros are made of in C++ (tcompile_ints).
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

static bool is_list_of_tensors(QualType type) {
  return type->isPointerType() && is_tensor_pointer(type->getPointeeType()) &&
         !type->getPointeeType().isConstQualified();
}

namespace {

// ---- where tensors leave ------------------------------------------------------------------------

class Reader {
public:
  Reader(Owners &owners, const FunctionDecl *function, Ownership &out)
      : owners(owners), function(function), out(out), list(&out.exits) {}
  void run();

private:
  // What becomes of the value of an expression.
  enum Fate { Looked, Kept, Result, Member }; // Member: of a helper's result, a struct
  enum Callee { Library, System, Followed, Spilling, Unseen };

  void statement(const Stmt *s);
  void block(const CompoundStmt *s, Fate last);
  void declare(const VarDecl *variable);
  void expression(const Expr *e, Fate fate);
  void parts(const Expr *e, Fate fate);
  void binary(const BinaryOperator *e, Fate fate);
  void unary(const UnaryOperator *e, Fate fate);
  void conversion(const CastExpr *e, Fate fate);
  void initializers(const InitListExpr *e, Fate fate);
  void member_call(const CXXMemberCallExpr *e, Fate fate);
  bool cplusplus_parts(const Expr *e, Fate fate);
  void place(const Expr *e, Fate fate);
  void handed(const Expr *e, Fate fate);
  void call(const CallExpr *e, Fate fate);
  void library_call(const CallExpr *e, const FunctionDecl *callee, Fate fate);
  void system_call(const CallExpr *e, const FunctionDecl *callee, Fate fate);
  bool leaves(const Expr *e);
  bool stays_in(const Expr *lvalue) const;
  Fate fate_in(const VarDecl *object, QualType type) const;
  bool is_lent(const CallExpr *e, const Expr *arg) const;
  bool fills_own(const Expr *list_of_tensors) const;
  Callee kind_of(const CallExpr *e);
  void refuse(const std::string &why) {
    if (out.obstacle.empty()) out.obstacle = why;
  }
  template <class Parts> void exit(Exit::Kind kind, const Expr *e, Parts inside);
  bool helps() const {
    return !owners.has_scope(function);
  } // Its text stays; who calls it owns what it makes.

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
  if (!callee || !callee->getDeclName().isIdentifier()) return Unseen;
  const auto *method = dyn_cast<CXXMethodDecl>(callee);
  if (method && method->isVirtual()) return Unseen;
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

// What is no tensor of the body in any case: NULL, also of members that an initialiser leaves out,
// and what a call gives that nobody sees into.
bool Reader::leaves(const Expr *e) {
  const Expr *bare = source_of(e);
  if (isa<ImplicitValueInitExpr>(bare)) return false;
  if (bare->isNullPointerConstant(owners.context, Expr::NPC_ValueDependentIsNotNull)) return false;
  const auto *call = dyn_cast<CallExpr>(bare);
  return !call || kind_of(call) != Unseen;
}

void Reader::expression(const Expr *e, Fate fate) {
  if (fate == Looked || !is_tensor_pointer(e->getType()) || !leaves(e)) return parts(e, fate);
  if (fate == Member) {
    const auto *made = dyn_cast<CallExpr>(source_of(e));
    out.gives = true;
    out.passes |=
        !made || !is_library(made->getDirectCallee()) || !makes_result(made->getDirectCallee());
    return parts(e, Looked);
  }
  exit(fate == Result ? Exit::Returned : Exit::HandedOut, e, [&] { parts(e, Looked); });
}

// Whether a tensor that is assigned to it stays in the body.
bool Reader::stays_in(const Expr *lvalue) const {
  return is_tensor_pointer(lvalue->getType()) && out.holds(object_of(lvalue));
}

// Of what is put in an object: members that are tensors or structs of them can be followed.
Reader::Fate Reader::fate_in(const VarDecl *object, QualType type) const {
  if (!is_tensor_pointer(type) && !has_tensors(type)) return Kept;
  if (out.holds(object)) return Looked;
  return helps() && out.returns(object) ? Member : Kept;
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

// What a parameter, a variable or a result gets: a value, or in C++ an object that it is a name of,
// whose tensor left when it was put there.
void Reader::handed(const Expr *e, Fate fate) {
  const Expr *bare = e->IgnoreParenImpCasts();
  const bool named = function->getLangOpts().CPlusPlus && e->isGLValue();
  if (named && !isa<MaterializeTemporaryExpr>(bare)) return place(bare, Looked);
  expression(e, fate);
}

void Reader::binary(const BinaryOperator *e, Fate fate) {
  if (e->isAssignmentOp()) {
    place(e->getLHS(), Looked);
    return expression(e->getRHS(), fate_in(object_of(e->getLHS()), e->getType()));
  }
  const bool asks = e->isComparisonOp() || e->isLogicalOp();
  expression(e->getLHS(), asks || e->getOpcode() == BO_Comma ? Looked : fate);
  expression(e->getRHS(), asks ? Looked : fate);
}

// Whether it is a list of tensors as an argument, a tc_tensor_list.
static bool is_argument_list(const InitListExpr *made) {
  const RecordType *type = made->getType()->getAsUnionType();
  return type && type->getDecl()->hasAttr<TransparentUnionAttr>();
}

void Reader::conversion(const CastExpr *e, Fate fate) {
  if (e->getCastKind() == CK_LValueToRValue) return place(e->getSubExpr(), fate);
  const bool asks = e->getType()->isBooleanType() || e->getType()->isVoidType();
  expression(e->getSubExpr(), asks ? Looked : fate);
}

void Reader::unary(const UnaryOperator *e, Fate fate) {
  const bool object = e->getOpcode() == UO_AddrOf || e->isIncrementDecrementOp();
  if (object || e->getOpcode() == UO_Deref) return place(object ? e->getSubExpr() : e, fate);
  expression(e->getSubExpr(), e->getOpcode() == UO_LNot ? Looked : fate);
}

void Reader::initializers(const InitListExpr *e, Fate fate) {
  for (const Expr *each : e->inits()) {
    const bool followed = each && (is_tensor_pointer(each->getType()) ||
                                   has_tensors(each->getType()) || is_argument_list(e));
    if (each) expression(each, followed ? fate : Kept);
  }
}

static bool calls(const Stmt *s) {
  return s && (isa<CallExpr>(s) || llvm::any_of(s->children(), calls));
}

// A number that stands at the declaration, where no text is changed.
static bool is_plain_default(const Expr *e) {
  const auto *given = dyn_cast<CXXDefaultArgExpr>(e);
  return given && given->getType()->isArithmeticType() && !calls(given->getExpr());
}

// A member function that is known is a function of the object, too.
void Reader::member_call(const CXXMemberCallExpr *e, Fate fate) {
  const Expr *object = e->getImplicitObjectArgument();
  if (kind_of(e) != Followed || !object)
    return refuse("an operator, a constructor or a member of a class is called");
  if (object->getType()->isPointerType()) expression(object, Looked);
  else handed(object, Looked);
  call(e, fate);
}

// Expressions of C++ alone; false: it is none of those.
bool Reader::cplusplus_parts(const Expr *e, Fate fate) {
  const auto *constructed = dyn_cast<CXXConstructExpr>(e);
  if (const auto *of_object = dyn_cast<CXXMemberCallExpr>(e)) member_call(of_object, fate);
  else if (is_plain_default(e)) return true;
  else if (isa<CXXOperatorCallExpr>(e) || isa<CXXDefaultArgExpr>(e) ||
           (constructed && !constructed->getConstructor()->isTrivial()))
    refuse("an operator, a constructor or a member of a class is called");
  else if (constructed) // a copy of a plain struct
    for (const Expr *each : constructed->arguments()) expression(each, fate);
  else if (const auto *made = dyn_cast<MaterializeTemporaryExpr>(e))
    expression(made->getSubExpr(), fate);
  else if (const auto *number = dyn_cast<SubstNonTypeTemplateParmExpr>(e))
    expression(number->getReplacement(), fate);
  else return isa<CXXThisExpr>(e);
  return true;
}

void Reader::parts(const Expr *e, Fate fate) {
  if (const auto *full = dyn_cast<FullExpr>(e)) return expression(full->getSubExpr(), fate);
  if (const auto *list = dyn_cast<CXXStdInitializerListExpr>(e))
    return expression(list->getSubExpr(), fate);
  if (const auto *paren = dyn_cast<ParenExpr>(e)) return expression(paren->getSubExpr(), fate);
  if (const auto *converted = dyn_cast<CastExpr>(e)) return conversion(converted, fate);
  if (const auto *op = dyn_cast<BinaryOperator>(e)) return binary(op, fate);
  if (const auto *op = dyn_cast<UnaryOperator>(e)) return unary(op, fate);
  if (const auto *choice = dyn_cast<ConditionalOperator>(e)) {
    expression(choice->getCond(), Looked);
    expression(choice->getTrueExpr(), fate);
    return expression(choice->getFalseExpr(), fate);
  }
  if (const auto *choice = dyn_cast<BinaryConditionalOperator>(e)) {
    expression(choice->getCommon(), fate);
    return expression(choice->getFalseExpr(), fate);
  }
  if (const auto *made = dyn_cast<InitListExpr>(e)) return initializers(made, fate);
  if (const auto *made = dyn_cast<CompoundLiteralExpr>(e))
    return expression(made->getInitializer(), fate);
  if (const auto *inside = dyn_cast<StmtExpr>(e)) return block(inside->getSubStmt(), fate);
  if (const auto *chosen = dyn_cast<GenericSelectionExpr>(e))
    return expression(chosen->getResultExpr(), fate);
  if (const auto *chosen = dyn_cast<ChooseExpr>(e))
    return expression(chosen->getChosenSubExpr(), fate);
  if (cplusplus_parts(e, fate)) return;
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

// Whether the library may fill the list: it is a local variable of the body's own, or there is
// none.
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

// Whether an argument is a struct, or a list that stands there, of tensors that the function only
// reads.
bool Reader::is_lent(const CallExpr *e, const Expr *arg) const {
  const bool literal = isa<CompoundLiteralExpr>(arg->IgnoreParenImpCasts());
  const bool list = literal && arg->getType()->isPointerType() &&
                    is_tensor_pointer(arg->getType()->getPointeeType());
  return (list || has_tensors(arg->getType())) && lends(owners, e, arg);
}

// What a function makes that returns a struct is the body's where that stays there; elsewhere
// nobody hands its members out.
void Reader::call(const CallExpr *e, Fate fate) {
  const FunctionDecl *callee = e->getDirectCallee();
  Callee kind = kind_of(e);
  const bool gives = kind == Followed && gives_struct(owners, e);
  if (gives && (fate == Kept || function->getLangOpts().CPlusPlus)) kind = Unseen;
  if (gives && fate == Member) {
    out.gives = true;
    out.passes |= passes_arguments(owners, e);
  }
  if (kind == Library) {
    for (const Expr *arg : e->arguments())
      if (is_list_of_tensors(arg->getType()) && !fills_own(arg))
        return exit(Exit::Unseen, e, [&] { library_call(e, callee, fate); });
    return library_call(e, callee, fate);
  }
  if (kind == System) return system_call(e, callee, fate);
  out.makes |= kind == Followed || kind == Spilling;
  stored_inside |= scopes && kind == Spilling;
  const Fate of_tensors = e->getType()->isPointerType() || gives ? fate : Looked;
  for (const Expr *arg : e->arguments()) {
    const bool followed =
        is_tensor_pointer(arg->getType()) || (kind == Followed && is_lent(e, arg));
    if (kind != Unseen) handed(arg, followed ? of_tensors : Kept);
  }
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
  handed(variable->getInit(), fate_in(variable, type));
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
    if (!value) return;
    const bool member = helps() && has_tensors(value->getType());
    return handed(value, is_tensor_pointer(value->getType()) ? Result : member ? Member : Kept);
  }
  if (isa<IfStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt, SwitchCase>(s)) {
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

static bool constructs(const Stmt *s) {
  return s && (isa<CXXConstructExpr>(s) || llvm::any_of(s->children(), constructs));
}

// Behind statements that make nothing, such as checks, TC_FUNCTION_SCOPE is as good as at the head.
static bool begins_scope(const CompoundStmt *body) {
  for (const Stmt *each : body->body())
    if (opens_rest(each)) return true;
    else if (calls(each) || constructs(each)) return false;
  return false;
}

void Reader::run() {
  const auto *body = dyn_cast_or_null<CompoundStmt>(function->getBody());
  if (!body || function->hasAttr<NakedAttr>() || isa<CXXConstructorDecl>(function) ||
      isa<CXXDestructorDecl>(function) || function->isTemplated() || function->isConstexpr())
    return refuse("internal: no function of the usual form");
  out.own = begins_scope(body);
  out.escapes = escapes_of_locals(owners, function);
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
