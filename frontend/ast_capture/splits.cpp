// splits.cpp - C++: declarations that a call of kernels leads past.
//
// C++ lets no jump pass an initialisation, unless it is that of a static constant.  So `T x = v;`,
// `T x(v);` and `T x{v};` are made `T x; x = v;`, and `T *x = v, y = w;` is made
// `T *x; x = v; T y; y = w;`; constants are static.  const, auto and commas become comments, the
// first two where nobody asks for what they make of the variable.  Text is inserted only: all else
// stays where it was.
#include "frontend/ast_capture/segmenter.h"

#include "frontend/visitor.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

// How often a function names a variable, and how often for its value.
class NameCount : public Visitor {
public:
  NameCount(const VarDecl *variable) : variable(variable) {}

  void visit(const Expr *e) override {
    all += is_name(e);
    if (const auto *cast = dyn_cast<ImplicitCastExpr>(e))
      values +=
          cast->getCastKind() == CK_LValueToRValue && is_name(cast->getSubExpr()->IgnoreParens());
    if (const auto *lambda = dyn_cast<LambdaExpr>(e))
      for (const LambdaCapture &each : lambda->captures())
        all += each.capturesVariable() && each.getCapturedVar() == variable;
  }

  bool is_name(const Expr *e) const {
    const auto *name = dyn_cast<DeclRefExpr>(e);
    return name && name->getDecl() == variable;
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
    if (!llvm::all_of(variables, [&](auto *each) { return is_plain(each); })) return false;
    Splits made;
    if (!(is_single() ? split_alone(made) : split_each(made))) return false;
    segment.splits.insert(segment.splits.end(), made.begin(), made.end());
    return true;
  }

private:
  unsigned offset(SourceLocation loc) const { return sources.getFileOffset(loc); }

  std::optional<Token> behind(SourceLocation loc) const {
    auto next = Lexer::findNextToken(loc, sources, context.getLangOpts());
    return next ? std::optional<Token>(*next) : std::nullopt;
  }

  std::string spelling(const Token &word) const {
    return Lexer::getSpelling(word, sources, context.getLangOpts());
  }

  bool is_single() const { return statement->isSingleDecl(); }

  // The words from a token to one behind it; none: a macro has a part in them.
  std::vector<Token> words(SourceLocation at, SourceLocation end) const {
    std::vector<Token> list;
    Token word;
    if (at.isMacroID() || end.isMacroID() ||
        Lexer::getRawToken(at, word, sources, context.getLangOpts()))
      return {};
    while (offset(word.getLocation()) < offset(end)) {
      list.push_back(word);
      auto next = behind(word.getLocation());
      if (!next) return {};
      word = *next;
    }
    return list;
  }

  // Those in front of the first name.
  std::vector<Token> words() const {
    return words(statement->getBeginLoc(), variables[0]->getLocation());
  }

  std::vector<Token> words_that_are(llvm::StringRef text) const {
    std::vector<Token> list;
    for (const Token &each : words())
      if (spelling(each) == text) list.push_back(each);
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

  // `name = v`, `name(v)` or `name{v}` with a number or a pointer, or, beside others, `name`.
  bool is_plain(const VarDecl *variable) const {
    const SourceLocation name = variable->getLocation();
    if (name.isMacroID() || variable->isConstexpr()) return false;
    if (!variable->hasInit()) return !is_single();
    auto next = behind(name);
    return next && next->isOneOf(tok::equal, tok::l_paren, tok::l_brace) &&
           variable->getType()->isScalarType();
  }

  void hide(const Token &word, const std::string &instead, Splits &splits) const {
    splits.push_back({offset(word.getLocation()), "/*", true});
    splits.push_back({offset(word.getEndLoc()), "*/" + instead, true});
  }

  // All uses of the variable are of its value.
  bool is_read(const VarDecl *variable) const {
    NameCount count(variable);
    count.traverse(function->getBody());
    return count.all == count.values;
  }

  // Of two words `const`, in front of a pointer, the last is the pointer's own.
  bool hide_const(const VarDecl *variable, Splits &splits) const {
    const std::vector<Token> found = words_that_are("const"), all = words();
    if (!is_read(variable) || found.empty()) return false;
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

  std::string name_of(QualType type) const {
    return type.getCanonicalType().getAsString(PrintingPolicy(context.getLangOpts()));
  }

  bool hide_auto(const VarDecl *variable, Splits &splits) const {
    const auto *automatic = variable->getType()->getContainedAutoType();
    if (!automatic || automatic->getDeducedType().isNull()) return false;
    const QualType type = automatic->getDeducedType().getCanonicalType();
    const std::vector<Token> found = words_that_are("auto");
    if (found.size() != 1 || !is_named(type)) return false;
    hide(found[0], " " + name_of(type) + " ", splits);
    return true;
  }

  bool split_alone(Splits &splits) const {
    const VarDecl *variable = variables[0];
    if (variable->getType().isConstQualified() && !hide_const(variable, splits)) return false;
    if (is_automatic(variable) && !hide_auto(variable, splits)) return false;
    assign(variable, splits);
    return true;
  }

  static bool is_automatic(const VarDecl *variable) {
    return variable->getTypeSourceInfo()->getType()->getContainedAutoType();
  }

  // `x = v` becomes `x; x = v`, `x(v)` becomes `x; x =(v)`, and `x{v}` `x; x ={v}`.
  void assign(const VarDecl *variable, Splits &splits) const {
    const bool direct = variable->getInitStyle() != VarDecl::CInit;
    splits.push_back({offset(behind(variable->getLocation())->getLocation()),
                      "; " + variable->getNameAsString() + (direct ? " =" : ""), false});
  }

  // What follows a declarator; Clang leaves the parenthesis behind `x(v` out of it.
  std::optional<Token> behind(const VarDecl *variable) const {
    auto next = behind(variable->getEndLoc());
    if (variable->getInitStyle() != VarDecl::CallInit || !next) return next;
    return next->is(tok::r_paren) ? behind(next->getLocation()) : std::nullopt;
  }

  // The specifiers that all declarators share, as text, without those that are hidden; "": they are
  // not names alone (a type is defined, an attribute).
  std::string specifiers(bool without_const) const {
    std::string text;
    const auto *automatic = variables[0]->getType()->getContainedAutoType();
    for (const Token &each : words()) {
      if (each.is(tok::star)) break;
      if (!each.is(tok::raw_identifier) && !each.is(tok::coloncolon)) return "";
      const std::string word = spelling(each);
      if (word == "const" && without_const) continue;
      text += automatic && word == "auto" ? name_of(automatic->getDeducedType()) : word;
      if (!each.is(tok::coloncolon)) text += " ";
    }
    return text;
  }

  // The specifiers say `const` of all variables, or of none, and they say it of what is no pointer.
  bool are_alike() const {
    return llvm::all_of(variables, [&](const VarDecl *each) {
      const QualType type = each->getType();
      return type.isConstQualified() == variables[0]->getType().isConstQualified() &&
             !(type.isConstQualified() && type->isPointerType());
    });
  }

  // `T x = v, *y = w` becomes `T x; x = v; T *y; y = w`, with the comma in a comment.
  bool split_each(Splits &splits) const {
    const bool constant = variables[0]->getType().isConstQualified();
    const std::string text = specifiers(constant);
    const auto count = std::distance(statement->decl_begin(), statement->decl_end());
    if (text.empty() || variables.size() != static_cast<size_t>(count) || !are_alike())
      return false;
    if (constant && !(llvm::all_of(variables, [&](auto *each) { return is_read(each); }) &&
                      hide_const(variables[0], splits)))
      return false;
    if (is_automatic(variables[0]) && !hide_auto(variables[0], splits)) return false;
    for (size_t i = 0; i < variables.size(); i++) {
      if (variables[i]->hasInit()) assign(variables[i], splits);
      if (i + 1 == variables.size()) break;
      const auto comma = behind(variables[i]);
      if (!comma || !comma->is(tok::comma)) return false;
      hide(*comma, "", splits);
      splits.push_back({offset(comma->getEndLoc()), "; " + text, false});
    }
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
         "kernels cannot be put in front of the initialisation of '" + variable->getNameAsString() +
             "' in C++; write it as T name = value, without const, in a declaration of its own",
         false,
         false,
         {},
         {}};
  return false;
}

} // namespace tc
