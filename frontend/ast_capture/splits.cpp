// splits.cpp - C++: declarations that a call of kernels leads past.
//
// C++ lets no jump pass an initialisation, unless it is that of a static constant.  So `T x = v;` is
// made `T x; x = v;`, and constants are static.  const and auto become comments, where nobody asks
// for what they make of the variable.  Text is inserted only: all else stays where it was.
#include "frontend/ast_capture/segmenter.h"

#include "clang/AST/RecursiveASTVisitor.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

// How often a function names a variable, and how often for its value.
class Uses : public RecursiveASTVisitor<Uses> {
public:
  Uses(const VarDecl *variable) : variable(variable) {}

  bool VisitDeclRefExpr(const DeclRefExpr *e) {
    all += e->getDecl() == variable;
    return true;
  }
  bool VisitImplicitCastExpr(const ImplicitCastExpr *e) {
    const auto *read = dyn_cast<DeclRefExpr>(e->getSubExpr()->IgnoreParens());
    values += e->getCastKind() == CK_LValueToRValue && read && read->getDecl() == variable;
    return true;
  }
  bool VisitLambdaExpr(const LambdaExpr *e) {
    for (const LambdaCapture &each : e->captures())
      all += each.capturesVariable() && each.getCapturedVar() == variable;
    return true;
  }

  const VarDecl *variable;
  int all = 0, values = 0;
};

using Splits = std::vector<Segment::Split>;

class Splitter {
public:
  Splitter(ASTContext &context, const FunctionDecl *function, const DeclStmt *statement)
      : context(context), sources(context.getSourceManager()), function(function),
        statement(statement) {
    for (const Decl *d : statement->decls())
      if (const auto *variable = dyn_cast<VarDecl>(d)) variables.push_back(variable);
  }

  // The declaration can be passed, by way of the segment's splits.
  bool run(Segment &segment) const {
    if (make_static(segment.splits)) {
      llvm::erase_if(segment.stores, [&](const Segment::Store &each) {
        return llvm::is_contained(variables, each.variable);
      });
      return true;
    }
    return variables.size() == 1 && is_plain(variables[0]) && split_one(segment.splits);
  }

private:
  unsigned offset(SourceLocation loc) const { return sources.getFileOffset(loc); }

  std::optional<Token> behind(SourceLocation loc) const {
    auto next = Lexer::findNextToken(loc, sources, context.getLangOpts());
    return next ? std::optional<Token>(*next) : std::nullopt;
  }

  // The words in front of the first name; none: a macro has a part in them.
  std::vector<Token> words() const {
    std::vector<Token> list;
    SourceLocation at = statement->getBeginLoc(), name = variables[0]->getLocation();
    if (at.isMacroID() || name.isMacroID()) return {};
    Token word;
    if (Lexer::getRawToken(at, word, sources, context.getLangOpts())) return {};
    while (word.getLocation() != name && offset(word.getLocation()) < offset(name)) {
      list.push_back(word);
      auto next = behind(word.getLocation());
      if (!next) return {};
      word = *next;
    }
    return list;
  }

  std::vector<Token> words_that_are(llvm::StringRef text) const {
    std::vector<Token> list;
    for (const Token &each : words())
      if (Lexer::getSpelling(each, sources, context.getLangOpts()) == text) list.push_back(each);
    return list;
  }

  bool is_constant(const VarDecl *variable) const {
    const QualType type = variable->getType();
    return variable->hasInit() && type.isConstQualified() && !type.isVolatileQualified() &&
           !type->isReferenceType() && variable->hasConstantInitialization() &&
           variable->needsDestruction(context) == QualType::DK_none;
  }

  bool make_static(Splits &splits) const {
    const SourceLocation begin = statement->getBeginLoc();
    if (begin.isMacroID() || function->isConstexpr() || !llvm::all_of(variables, [&](auto *each) {
          return is_constant(each) && each->isLocalVarDecl() && !each->isStaticLocal();
        }))
      return false;
    splits.push_back({offset(begin), "static ", false});
    return true;
  }

  // `name = v` with a number or a pointer.
  bool is_plain(const VarDecl *variable) const {
    const SourceLocation name = variable->getLocation();
    if (!variable->hasInit() || name.isMacroID() || variable->isConstexpr()) return false;
    auto next = behind(name);
    return next && next->is(tok::equal) && variable->getType()->isScalarType();
  }

  void hide(const Token &word, const std::string &instead, Splits &splits) const {
    splits.push_back({offset(word.getLocation()), "/*", true});
    splits.push_back({offset(word.getEndLoc()), "*/" + instead, true});
  }

  // Of two words `const`, in front of a pointer, the last is the pointer's own.
  bool hide_const(const VarDecl *variable, Splits &splits) const {
    Uses uses(variable);
    uses.TraverseStmt(function->getBody());
    const std::vector<Token> found = words_that_are("const"), all = words();
    if (uses.all != uses.values || found.empty()) return false;
    const bool pointer = variable->getType()->isPointerType();
    if (pointer && all.back().getLocation() != found.back().getLocation()) return false;
    if (!pointer && found.size() != 1) return false;
    hide(found.back(), "", splits);
    return true;
  }

  // Types that have a name wherever the variable is.
  static bool is_named(QualType type) {
    while (type->isPointerType()) type = type->getPointeeType();
    const auto *record = type->getAsRecordDecl();
    return type->isBuiltinType() ||
           (record && record->getIdentifier() &&
            record->getDeclContext()->getRedeclContext()->isTranslationUnit());
  }

  bool hide_auto(const VarDecl *variable, Splits &splits) const {
    const auto *automatic = variable->getType()->getContainedAutoType();
    if (!automatic || automatic->getDeducedType().isNull()) return false;
    const QualType type = automatic->getDeducedType().getCanonicalType();
    const std::vector<Token> found = words_that_are("auto");
    if (found.size() != 1 || !is_named(type)) return false;
    PrintingPolicy policy(context.getLangOpts());
    hide(found[0], " " + type.getAsString(policy) + " ", splits);
    return true;
  }

  bool split_one(Splits &splits) const {
    const VarDecl *variable = variables[0];
    const QualType type = variable->getType();
    Splits made;
    if (type.isConstQualified() && !hide_const(variable, made)) return false;
    if (variable->getTypeSourceInfo()->getType()->getContainedAutoType() &&
        !hide_auto(variable, made))
      return false;
    made.push_back({offset(behind(variable->getLocation())->getLocation()),
                    "; " + variable->getNameAsString(), false});
    splits.insert(splits.end(), made.begin(), made.end());
    return true;
  }

  ASTContext &context;
  const SourceManager &sources;
  const FunctionDecl *function;
  const DeclStmt *statement;
  std::vector<const VarDecl *> variables;
};

} // namespace

bool Segmenter::split(const Stmt *s, Segment &segment, Obstacle &why) {
  const auto *declaration = dyn_cast<DeclStmt>(s);
  if (!declaration || !context.getLangOpts().CPlusPlus) return true;
  auto initialised = [](const Decl *d) {
    const auto *variable = dyn_cast<VarDecl>(d);
    return variable && variable->hasInit() && !variable->isStaticLocal();
  };
  auto first = llvm::find_if(declaration->decls(), initialised);
  if (first == declaration->decl_end()) return true;
  if (Splitter(context, function, declaration).run(segment)) return true;
  const auto *variable = llvm::cast<VarDecl>(*first);
  why = {variable->getLocation(),
         "kernels cannot be put in front of the initialisation of '" +
             variable->getNameAsString() +
             "' in C++; write its type, without const, in a declaration of its own",
         false,
         false,
         {},
         {}};
  return false;
}

} // namespace tc
