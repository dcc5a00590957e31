// check.cpp - see check.h.
#include "driver/check.h"

namespace tc {
namespace {

using namespace clang;
using llvm::dyn_cast;

// ---- places -------------------------------------------------------------------------------------

struct Spot {
  const FileEntry *file = nullptr;
  unsigned offset = 0; // in the original
  bool inserted = false;
};

// Places of a parse in terms of the original text.
class Places {
public:
  using Pieces = std::map<const FileEntry *, std::vector<Rewriter::Piece>>;
  Places(const SourceManager &sources, const Pieces &pieces) : sources(sources), pieces(pieces) {}

  Spot spot(SourceLocation loc) const {
    if (loc.isInvalid()) return {};
    auto [id, offset] = sources.getDecomposedLoc(sources.getFileLoc(loc));
    const FileEntry *file = sources.getFileEntryForID(id);
    auto list = pieces.find(file);
    if (list == pieces.end()) return {file, offset, false};
    auto behind =
        llvm::upper_bound(list->second, offset, [](unsigned at, const Rewriter::Piece &piece) {
          return at < piece.begin;
        });
    if (behind == list->second.begin()) return {file, offset, false};
    const Rewriter::Piece &last = *std::prev(behind);
    unsigned end = last.begin + last.size;
    if (offset < end) return {file, last.offset, last.inserted};
    return {file, last.behind + (offset - end), false};
  }

private:
  const SourceManager &sources;
  const Pieces &pieces;
};

// ---- what a function says -----------------------------------------------------------------------

// The nodes of a body in order, without what was inserted.  A label counts as a statement in front
// of the one that it leads to, and so does a declaration with its initial value.
class Outline {
public:
  struct Entry {
    Spot spot;
    llvm::hash_code what;
    bool operator!=(const Entry &e) const {
      return spot.file != e.spot.file || spot.offset != e.spot.offset || what != e.what;
    }
  };

  Outline(const FunctionDecl *function, const Places &places) : places(places) {
    walk(function->getBody());
  }
  std::vector<Entry> entries;

private:
  bool inserted(const Stmt *s, const Spot &begin) const;
  void walk(const Stmt *s);
  void declare(Decl *d);
  static llvm::hash_code details(const Stmt *s);
  const Places &places;
};

llvm::hash_code Outline::details(const Stmt *s) {
  using llvm::hash_value;
  if (const auto *e = dyn_cast<DeclRefExpr>(s))
    return hash_value(e->getDecl()->getDeclName().getAsString());
  if (const auto *e = dyn_cast<MemberExpr>(s))
    return hash_value(e->getMemberDecl()->getDeclName().getAsString());
  if (const auto *e = dyn_cast<IntegerLiteral>(s)) return hash_value(e->getValue());
  if (const auto *e = dyn_cast<StringLiteral>(s)) return hash_value(e->getBytes());
  if (const auto *e = dyn_cast<BinaryOperator>(s)) return hash_value(e->getOpcode());
  if (const auto *e = dyn_cast<UnaryOperator>(s)) return hash_value(e->getOpcode());
  if (const auto *e = dyn_cast<CastExpr>(s)) return hash_value(e->getCastKind());
  if (const auto *label = dyn_cast<LabelStmt>(s)) return hash_value(StringRef(label->getName()));
  if (const auto *jump = dyn_cast<GotoStmt>(s)) return hash_value(jump->getLabel()->getName());
  return llvm::hash_code(0);
}

// The token that only it has, where an operand or a type stands in front: that may begin with what
// was inserted.
static SourceLocation token_of(const Stmt *s) {
  if (const auto *op = dyn_cast<BinaryOperator>(s)) return op->getOperatorLoc();
  if (const auto *op = dyn_cast<ConditionalOperator>(s)) return op->getQuestionLoc();
  if (const auto *op = dyn_cast<UnaryOperator>(s)) return op->getOperatorLoc();
  if (const auto *member = dyn_cast<MemberExpr>(s)) return member->getMemberLoc();
  if (const auto *element = dyn_cast<ArraySubscriptExpr>(s)) return element->getRBracketLoc();
  return {};
}

// From its first token to its last.  A block whose braces pair with others, and `x ` in front of
// what the declaration of x ended with, are, too.
bool Outline::inserted(const Stmt *s, const Spot &begin) const {
  if (!begin.inserted) return false;
  const auto *op = dyn_cast<BinaryOperator>(s);
  if (op && op->isAssignmentOp() && places.spot(op->getLHS()->getEndLoc()).inserted) return true;
  if (SourceLocation token = token_of(s); token.isValid()) return places.spot(token).inserted;
  return llvm::isa<CompoundStmt>(s) || places.spot(s->getEndLoc()).inserted;
}

// What a statement declares, each for itself, as it may have become one of several statements.
void Outline::declare(Decl *d) {
  const Spot spot = places.spot(d->getLocation());
  llvm::hash_code what(0);
  if (const auto *named = dyn_cast<ValueDecl>(d))
    what =
        llvm::hash_combine(named->getDeclName().getAsString(),
                           named->getType().getCanonicalType().getUnqualifiedType().getAsString());
  if (!spot.inserted) entries.push_back({spot, what});
  for (StmtIterator child(&d, &d + 1), end(&d + 1, &d + 1); child != end; ++child) walk(*child);
}

// What brackets hold that say nothing but where it begins and ends: `(v)`, and `{v}` of a number or
// a pointer; `x(v)` may have become `x =(v)`.
static const Stmt *without_brackets(const Stmt *s) {
  if (const auto *paren = llvm::dyn_cast_or_null<ParenExpr>(s)) return paren->getSubExpr();
  const auto *list = llvm::dyn_cast_or_null<InitListExpr>(s);
  return list && list->getType()->isScalarType() && list->getNumInits() == 1 ? list->getInit(0) : s;
}

// A list of another one's elements, whose braces the program leaves out: it begins where its first
// element does, in front of which something may have been inserted.
static const InitListExpr *without_braces(const Stmt *s) {
  const auto *list = llvm::dyn_cast_or_null<InitListExpr>(s);
  return list && list->getNumInits() && list->getLBraceLoc() == list->getInit(0)->getBeginLoc()
             ? list
             : nullptr;
}

void Outline::walk(const Stmt *s) {
  if (const InitListExpr *list = without_braces(s)) {
    for (const Expr *each : list->inits()) walk(each);
    return;
  }
  if (const Stmt *held = without_brackets(s); held != s) return walk(held);
  if (const auto *declaration = llvm::dyn_cast_or_null<DeclStmt>(s)) {
    for (Decl *each : declaration->decls()) declare(each);
    return;
  }
  if (const auto *full = llvm::dyn_cast_or_null<FullExpr>(s)) return walk(full->getSubExpr());
  if (const auto *cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(s)) // of what is written
    return walk(cast->getSubExpr());
  Spot spot = s ? places.spot(s->getBeginLoc()) : Spot();
  if (s && inserted(s, spot)) {
    for (const Stmt *child : s->children())
      if (child) walk(child);
    return;
  }
  if (SourceLocation token = s ? token_of(s) : SourceLocation(); token.isValid())
    spot = places.spot(token);
  entries.push_back(
      {spot, s ? llvm::hash_combine(s->getStmtClass(), details(s)) : llvm::hash_code(0)});
  if (!s) return;
  const Stmt *behind = nullptr;
  if (const auto *label = dyn_cast<LabelStmt>(s)) behind = label->getSubStmt();
  if (const auto *label = dyn_cast<SwitchCase>(s)) behind = label->getSubStmt();
  for (const Stmt *child : s->children())
    if (!behind || child != behind) walk(child);
  entries.push_back({spot, llvm::hash_code(1)});
  if (behind) walk(behind);
}

// ---- the second parse ---------------------------------------------------------------------------

using Key = std::tuple<const FileEntry *, unsigned, std::string>;

Key key_of(const FunctionDecl *function, const Places &places) {
  Spot spot = places.spot(function->getLocation());
  return {spot.file, spot.offset, function->getQualifiedNameAsString()};
}

class CheckAction : public ASTFrontendAction {
public:
  CheckAction(const Rewriter &rewriter, const Places::Pieces &pieces)
      : rewriter(rewriter), pieces(pieces) {}

  std::map<Key, std::vector<Outline::Entry>> outlines;
  unsigned count = 0; // of __COUNTER__

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef) override {
    apply_texts(rewriter, ci);
    return std::make_unique<Consumer>(*this, ci.getPreprocessor());
  }

private:
  struct Consumer : ASTConsumer {
    Consumer(CheckAction &action, const Preprocessor &preprocessor)
        : action(action), preprocessor(preprocessor) {}
    bool HandleTopLevelDecl(DeclGroupRef group) override {
      for (Decl *decl : group) definitions.add(decl);
      return true;
    }
    void HandleTranslationUnit(ASTContext &context) override {
      Places places(context.getSourceManager(), action.pieces);
      for (const FunctionDecl *function : definitions.list)
        action.outlines[key_of(function, places)] = Outline(function, places).entries;
      action.count = preprocessor.getCounterValue();
    }
    CheckAction &action;
    const Preprocessor &preprocessor;
    Definitions definitions;
  };

  const Rewriter &rewriter;
  const Places::Pieces &pieces;
};

struct Errors : DiagnosticConsumer {
  struct Found {
    Spot spot;
    std::string text;
  };
  explicit Errors(const Places::Pieces &pieces) : pieces(pieces) {}

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < DiagnosticsEngine::Error) return;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    Spot spot;
    if (info.hasSourceManager())
      spot = Places(info.getSourceManager(), pieces).spot(info.getLocation());
    // Inserted text may call itself a system header's.
    if (!spot.inserted && is_tolerable(level, info)) return;
    list.push_back({spot, std::string(text)});
  }

  std::vector<Found> list;
  const Places::Pieces &pieces;
};

// ---- one round ----------------------------------------------------------------------------------

class Check {
public:
  Check(CompilerInstance &user, const Rewriter &rewriter, ASTContext &original,
        const std::vector<KnownError> &known)
      : sources(original.getSourceManager()), pieces(rewriter.pieces()), places(sources, nothing),
        errors(pieces), action(rewriter, pieces), count(rewriter.count()) {
    parse_inner(user, errors, action);
    for (const KnownError &each : known) {
      const Spot spot = places.spot(each.loc);
      llvm::erase_if(errors.list, [&](const Errors::Found &found) {
        return found.text == each.text && found.spot.file == spot.file &&
               found.spot.offset == spot.offset;
      });
    }
  }

  // What is wrong with a function, or "".
  std::string verdict(const FunctionDecl *function) const {
    if (!errors.list.empty()) return error_in(function);
    auto found = action.outlines.find(key_of(function, places));
    if (found == action.outlines.end()) return "it would not be found there";
    std::string why = difference(Outline(function, places).entries, found->second);
    return why.empty() && action.count != count ? "__COUNTER__ would count otherwise" : why;
  }

  std::string first_error() const { return errors.list.empty() ? "" : errors.list[0].text; }

private:
  std::string error_in(const FunctionDecl *function) const {
    Spot begin = places.spot(function->getBeginLoc());
    Spot end = places.spot(sources.getExpansionRange(function->getEndLoc()).getEnd());
    for (const Errors::Found &error : errors.list)
      if (error.spot.file == begin.file && error.spot.offset >= begin.offset &&
          error.spot.offset <= end.offset)
        return error.text;
    return "";
  }

  std::string difference(const std::vector<Outline::Entry> &before,
                         const std::vector<Outline::Entry> &after) const {
    for (size_t i = 0; i < before.size() || i < after.size(); i++) {
      if (i < before.size() && i < after.size() && !(before[i] != after[i])) continue;
      const Outline::Entry &entry = i < before.size() ? before[i] : after[i];
      FileID file = sources.translateFile(entry.spot.file);
      return "line " + std::to_string(sources.getLineNumber(file, entry.spot.offset)) +
             " would read differently";
    }
    return "";
  }

  const SourceManager &sources;
  const Places::Pieces pieces, nothing;
  Places places;
  Errors errors;
  CheckAction action;
  const unsigned count; // of __COUNTER__ in the original
};

const int max_rounds = 3; // then nothing is trusted

} // namespace

std::vector<Suspect> check_rewritten(CompilerInstance &user, Rewriter &rewriter,
                                     ASTContext &original,
                                     const std::vector<const FunctionDecl *> &functions,
                                     const std::vector<KnownError> &known, bool &scopes_fit) {
  std::vector<Suspect> result;
  scopes_fit = true;
  std::vector<const FunctionDecl *> left = functions;
  for (int round = 0; !rewriter.empty() && !left.empty(); round++) {
    Check check(user, rewriter, original, known);
    std::vector<Suspect> found;
    for (const FunctionDecl *function : left)
      if (std::string why = check.verdict(function); !why.empty()) found.push_back({function, why});
    if (found.empty() && check.first_error().empty()) break;
    if (found.empty() || round == max_rounds) {
      found.clear();
      for (const FunctionDecl *function : left) found.push_back({function, check.first_error()});
    }
    if (!found.empty() && rewriter.withdraw_scopes()) { // which may be all that is wrong
      scopes_fit = false;
      round--;
      continue;
    }
    for (const Suspect &suspect : found) {
      rewriter.withdraw(suspect.function);
      llvm::erase(left, suspect.function);
      result.push_back(suspect);
    }
  }
  return result;
}

} // namespace tc
