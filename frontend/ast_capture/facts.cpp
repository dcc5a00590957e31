// facts.cpp - see facts.h.
#include "frontend/ast_capture/facts.h"

#include <numeric>

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

std::string place_key(const Place &place) {
  std::string key;
  llvm::raw_string_ostream(key) << static_cast<const void *>(place.root) << ":" << place.lvalue();
  return key;
}

bool TypeFact::Size::operator==(const Size &other) const {
  return constant == other.constant && value == other.value && symbol == other.symbol &&
         lo == other.lo && hi == other.hi && multiple == other.multiple;
}

bool TypeFact::same(const TypeFact &other) const {
  return type.dtype == other.type.dtype && type.rank == other.type.rank &&
         type.weak == other.type.weak && sizes == other.sizes;
}

void Facts::doubt_since(const Facts &before) {
  for (auto &[key, fact] : types) {
    auto known = before.types.find(key);
    if (known == before.types.end() || !known->second.same(fact)) fact.doubtful = true;
  }
}

std::string name_of_size(llvm::StringRef of, size_t axis) {
  std::string name;
  for (char c : of) name += llvm::isAlnum(c) ? c : '_';
  return name + "_" + std::to_string(axis);
}

static TypeFact::Size either(const TypeFact::Size &a, const TypeFact::Size &b,
                             const std::string &name) {
  if (a == b) return a;
  if (a.constant || b.constant || a.symbol != b.symbol) return {false, 0, name, 0, INT64_MAX, 1};
  return {false,
          0,
          a.symbol,
          std::min(a.lo, b.lo),
          std::max(a.hi, b.hi),
          std::gcd(a.multiple, b.multiple)};
}

// Sizes that differ in the two are any, with a name of this place.
static void join_sizes(TypeFact &ours, const TypeFact &theirs, llvm::StringRef place) {
  for (size_t i = 0; i < ours.sizes.size(); i++)
    ours.sizes[i] = either(ours.sizes[i], theirs.sizes[i], name_of_size(place, i));
}

void Facts::join(const Facts &other) {
  for (const auto &[key, theirs] : other.types) {
    auto [at, fresh] = types.insert({key, theirs});
    TypeFact &ours = at->second;
    if (fresh || ours.sizes.size() != theirs.sizes.size()) continue;
    join_sizes(ours, theirs, llvm::StringRef(key).split(":").second);
  }
}

// The text without what stands in brackets; *computed: that is not a number everywhere.
static std::string without_indices(llvm::StringRef text, bool *computed) {
  std::string out;
  int open = 0;
  *computed = false;
  for (char c : text) {
    open -= c == ']';
    if (!open) out += c;
    else *computed = *computed || !llvm::isDigit(c);
    open += c == '[';
  }
  return out;
}

std::optional<TypeFact> Facts::at(const Place &place) const {
  const std::string key = place_key(place), name = place.lvalue();
  auto found = types.find(key);
  if (found != types.end()) return found->second;
  bool computed, any;
  const std::string elements = without_indices(key, &computed);
  if (!computed) return std::nullopt;
  const llvm::StringRef array = llvm::StringRef(key).take_front(key.find('[') + 1);
  std::optional<TypeFact> all;
  for (auto each = types.lower_bound(array.str());
       each != types.end() && llvm::StringRef(each->first).starts_with(array); ++each) {
    const TypeFact &fact = each->second;
    if (without_indices(each->first, &any) != elements) continue;
    if (!all) all = fact;
    else if (fact.type.dtype != all->type.dtype || fact.type.rank != all->type.rank)
      return std::nullopt;
    else join_sizes(*all, fact, name);
  }
  if (all) all->doubtful = true;
  return all;
}

Reading::Reading(const FunctionDecl *function) {
  for (const ParmVarDecl *parameter : function->parameters()) {
    names.insert(parameter->getNameAsString());
    declared[parameter] = 0;
  }
  walk(function->getBody(), false);
}

Reading::Range Reading::range(const Stmt *s) const {
  auto found = ranges.find(s);
  return found == ranges.end() ? Range{0, 0} : found->second;
}

void Reading::mention(const DeclRefExpr *e) {
  const ValueDecl *named = e->getDecl();
  if (const auto *binding = dyn_cast<BindingDecl>(named)) named = binding->getDecomposedDecl();
  if (const auto *variable = dyn_cast<VarDecl>(named)) mentions[variable].push_back(next);
}

static bool is_loop(const Stmt *s) {
  return isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s) ||
         s->getStmtClass() == Stmt::CXXForRangeStmtClass;
}

// These share the memory of a tensor, or copy it, as it lies there.
static bool looks_at_layout(StringRef name) {
  return name == "tc_contiguous" || name == "tc_reshape" || name == "tc_flatten";
}

// Arguments of the tensor API are not remembered by it.
void Reading::walk_call(const CallExpr *call) {
  const FunctionDecl *callee = call->getDirectCallee();
  bool api = callee && callee->getDeclName().isIdentifier() &&
             callee->getName().starts_with("tc_") && !callee->hasBody();
  if (callee && callee->hasAttr<ReturnsTwiceAttr>()) oddities.insert("setjmp");
  if (api && looks_at_layout(callee->getName())) oddities.insert("layout");
  walk(call->getCallee(), false);
  for (const Expr *argument : call->arguments()) walk(argument, api);
}

static bool is_scope(const Stmt *s) {
  return isa<CompoundStmt>(s) || isa<IfStmt>(s) || isa<SwitchStmt>(s) || is_loop(s);
}

// Somebody else may look into the variables whose memory an lvalue names; C++ has lvalues of
// several.
void Reading::escape(const Expr *e) {
  e = e->IgnoreParenImpCasts();
  if (const auto *full = dyn_cast<FullExpr>(e)) return escape(full->getSubExpr());
  if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
    if (const auto *variable = dyn_cast<VarDecl>(ref->getDecl())) escaped.insert(variable);
  } else if (const auto *member = dyn_cast<MemberExpr>(e)) {
    if (!member->isArrow()) escape(member->getBase());
  } else if (const auto *element = dyn_cast<ArraySubscriptExpr>(e)) {
    const auto *decay = dyn_cast<ImplicitCastExpr>(element->getBase()->IgnoreParens());
    if (decay && decay->getCastKind() == CK_ArrayToPointerDecay) escape(decay->getSubExpr());
  } else if (const auto *choice = dyn_cast<ConditionalOperator>(e); choice && e->isGLValue()) {
    escape(choice->getTrueExpr());
    escape(choice->getFalseExpr());
  } else if (const auto *op = dyn_cast<BinaryOperator>(e); op && e->isGLValue()) {
    escape(op->getOpcode() == BO_Comma ? op->getRHS() : op->getLHS());
  } else if (const auto *step = dyn_cast<UnaryOperator>(e);
             step && step->isIncrementDecrementOp() && e->isGLValue()) {
    escape(step->getSubExpr());
  }
}

// C++'s references are other names of what they are made of.
void Reading::refer(const Expr *e) {
  if (e && e->isGLValue()) escape(e);
}

// Whether what makes an object of the type may keep its address.
static bool may_keep_address(QualType type) {
  const auto *made = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  return made && made->hasDefinition() &&
         (made->hasUserDeclaredConstructor() || made->hasInClassInitializer());
}

void Reading::find_references(const Stmt *s) {
  if (const auto *d = dyn_cast<DeclStmt>(s))
    for (const Decl *decl : d->decls())
      if (const auto *variable = dyn_cast<VarDecl>(decl)) {
        if (variable->getType()->isReferenceType()) refer(variable->getInit());
        if (may_keep_address(variable->getType())) escaped.insert(variable);
      }
  if (const auto *call = dyn_cast<CallExpr>(s))
    for (const Expr *argument : call->arguments()) refer(argument);
  if (const auto *member = dyn_cast<CXXMemberCallExpr>(s))
    refer(member->getImplicitObjectArgument());
  if (const auto *made = dyn_cast<CXXConstructExpr>(s);
      made && !made->getConstructor()->isTrivial())
    for (const Expr *argument : made->arguments()) refer(argument);
  if (const auto *made = dyn_cast<InitListExpr>(s))
    for (const Expr *each : made->inits()) refer(each);
  if (const auto *lambda = dyn_cast<LambdaExpr>(s))
    for (const LambdaCapture &capture : lambda->captures())
      if (capture.capturesVariable() && capture.getCaptureKind() == LCK_ByRef)
        if (const auto *variable = dyn_cast<VarDecl>(capture.getCapturedVar()))
          escaped.insert(variable);
}

// `allowed`: an address taken right here does not outlive the expression.
void Reading::walk(const Stmt *s, bool allowed) {
  if (!s) return;
  unsigned first = next++;
  bool loop = is_loop(s);
  size_t outside = open.size();
  if (const auto *ref = dyn_cast<DeclRefExpr>(s)) mention(ref);
  if (const auto *label = dyn_cast<LabelStmt>(s)) passed.insert(label->getDecl());
  if (const auto *jump = dyn_cast<GotoStmt>(s)) {
    jumps[jump->getLabel()].push_back(first);
    if (passed.count(jump->getLabel())) oddities.insert("goto");
  }
  if (isa<IndirectGotoStmt>(s) || isa<AddrLabelExpr>(s)) oddities.insert("goto");
  if (const auto *d = dyn_cast<DeclStmt>(s))
    for (const Decl *decl : d->decls())
      if (const auto *variable = dyn_cast<VarDecl>(decl)) {
        names.insert(variable->getNameAsString());
        declared[variable] = first;
        open.push_back(variable);
      }
  find_references(s);
  const Expr *address = nullptr;
  if (const auto *op = dyn_cast<UnaryOperator>(s); op && op->getOpcode() == UO_AddrOf)
    address = op->getSubExpr();
  if (const auto *cast = dyn_cast<CastExpr>(s);
      cast && cast->getCastKind() == CK_ArrayToPointerDecay)
    address = cast->getSubExpr();
  if (address && !allowed) escape(address);
  if (const auto *call = dyn_cast<CallExpr>(s)) {
    walk_call(call);
  } else {
    bool passes = isa<ParenExpr, ImplicitCastExpr, UnaryOperator>(s) ||
                  isa<CompoundLiteralExpr, InitListExpr>(s); // of tc_tensor_list
    for (const Stmt *child : s->children()) {
      bool base = false;
      if (const auto *element = dyn_cast<ArraySubscriptExpr>(s)) base = child == element->getBase();
      walk(child, base || (passes && allowed && !address));
    }
  }
  ranges[s] = {first, next};
  if (loop) loops.push_back({first, next});
  if (!is_scope(s)) return;
  for (size_t i = outside; i < open.size(); i++) scope_end[open[i]] = next;
  open.resize(outside);
}

bool Reading::live_behind(const VarDecl *variable, Range statements) const {
  auto end = scope_end.find(variable);
  if (end != scope_end.end() && end->second <= statements.last) return false;
  if (escapes(variable) || variable->hasGlobalStorage()) return true;
  auto found = mentions.find(variable);
  if (found == mentions.end()) return false;
  if (has("goto")) return true;
  auto where = declared.find(variable);
  unsigned born = where == declared.end() ? 0 : where->second;
  for (unsigned at : found->second) {
    if (at > statements.last) return true;
    for (const Range &loop : loops) // around the statements, but not around the declaration
      if (loop.first < statements.first && statements.last <= loop.last && born < loop.first &&
          at >= loop.first && at <= loop.last)
        return true;
  }
  return false;
}

bool Reading::only_from(const LabelDecl *label, Range statements) const {
  auto found = jumps.find(label);
  return !has("goto") && (found == jumps.end() || llvm::all_of(found->second, [&](unsigned at) {
                            return at >= statements.first && at <= statements.last;
                          }));
}

static bool reads_variable(const Stmt *s) {
  const auto *cast = dyn_cast<CastExpr>(s);
  return cast && cast->getCastKind() == CK_LValueToRValue &&
         isa<DeclRefExpr>(cast->getSubExpr()->IgnoreParens());
}

void Reading::forget(const Stmt *s, Facts &facts, bool types) const {
  if (!s || reads_variable(s)) return;
  forget_inside(s, facts, types);
  for (auto at = facts.constants.begin(); at != facts.constants.end();)
    at = escapes(at->first) ? facts.constants.erase(at) : std::next(at);
}

// Types of the tensors that a variable leads to; nullptr: C++'s this.
static void forget_types(const VarDecl *variable, Facts &facts) {
  Place place;
  place.root = variable;
  const std::string prefix = place_key(place);
  for (auto at = facts.types.lower_bound(prefix);
       at != facts.types.end() && llvm::StringRef(at->first).starts_with(prefix);)
    at = facts.types.erase(at);
}

void Reading::forget_inside(const Stmt *s, Facts &facts, bool types) const {
  if (reads_variable(s)) return;
  if (types && isa<CXXThisExpr>(s)) forget_types(nullptr, facts);
  if (const auto *ref = dyn_cast<DeclRefExpr>(s))
    if (const auto *variable = dyn_cast<VarDecl>(ref->getDecl())) {
      facts.constants.erase(variable);
      if (types) forget_types(variable, facts);
    }
  for (const Stmt *child : s->children())
    if (child) forget_inside(child, facts, types);
}

} // namespace tc
