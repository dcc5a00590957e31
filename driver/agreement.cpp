// agreement.cpp - see agreement.h.
#include "driver/agreement.h"

#include <set>

#include "frontend/visitor.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

Agreement::Agreement(const Preprocessor &preprocessor, StringRef tokens, StringRef types)
    : sources(preprocessor.getSourceManager()), own(preprocessor), types(types),
      compared(!tokens.empty() && read_words(tokens, other)) {}

void Agreement::add_error(SourceLocation loc, StringRef text) {
  if (loc.isInvalid()) return;
  const PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(loc));
  if (place.isInvalid()) return;
  troubles.push_back({{{own.words.number(place.getFilename()), place.getLine()}},
                      sources.getExpansionLoc(loc),
                      "the compiler of kernels does not understand it: " + text.str()});
}

// ---- what differs -------------------------------------------------------------------------------

// other: what it stands for elsewhere; the value of a macro tells more if that has the same name.
static std::string shown(const Word *word, const Word *other) {
  if (!word) return "nothing";
  std::string text = word->text;
  if (!word->system || !other || other->text != text) return "'" + text + "'";
  text += "', which is '";
  for (const std::string &token : word->made) text += token;
  return "'" + text + "'";
}

Agreement::Trouble Agreement::trouble_of(const Difference &d) {
  Trouble trouble;
  for (size_t i = d.first; i < d.last; i++)
    trouble.places.push_back({own.words.list[i].file, own.words.list[i].line});
  for (size_t i = d.other_first; i < d.other_last; i++) {
    const Word &word = other.list[i];
    trouble.places.push_back({own.words.number(other.files[word.file]), word.line});
  }
  const Word *mine = d.first < d.last ? &own.words.list[d.first] : nullptr;
  const Word *theirs = d.other_first < d.other_last ? &other.list[d.other_first] : nullptr;
  if (mine) trouble.loc = mine->loc;
  trouble.text =
      "it depends on " + shown(mine, theirs) + ", where the compiler reads " + shown(theirs, mine);
  if (theirs && !(mine && theirs->line == mine->line))
    trouble.text += " (line " + std::to_string(theirs->line) + ")";
  return trouble;
}

void Agreement::compare() {
  if (done) return;
  done = true;
  if (!compared) return;
  for (const Difference &d : differences(own.words, other)) troubles.push_back(trouble_of(d));
}

// ---- what a function reaches --------------------------------------------------------------------

class Reach : public Visitor {
public:
  Reach(const SourceManager &sources, const FunctionDecl *function) : sources(sources) {
    add(function);
    for (size_t i = 0; i < list.size(); i++) traverse(list[i]);
  }

  void visit(const Expr *e) override {
    if (const auto *name = llvm::dyn_cast<DeclRefExpr>(e)) add(name->getDecl());
    if (const auto *member = llvm::dyn_cast<MemberExpr>(e)) add(member->getMemberDecl());
    if (e->getType().isNull()) return; // the text of a static_assert
    if (llvm::isa<FloatingLiteral, CharacterLiteral, StringLiteral>(e)) literals.push_back(e);
    if (const auto *type = llvm::dyn_cast<BuiltinType>(e->getType().getCanonicalType()))
      scalars.insert(type);
  }
  void visit(TypeLoc type) override {
    if (const auto tag = type.getAs<TagTypeLoc>()) add(tag.getDecl());
    if (const auto name = type.getAs<TypedefTypeLoc>()) add(name.getTypePtr()->getDecl());
    if (const auto scalar = type.getAs<BuiltinTypeLoc>()) scalars.insert(scalar.getTypePtr());
  }

  // A function, variable or type, and, for a member or an enumerator, that which it belongs to.
  void add(const Decl *decl) {
    if (llvm::isa<EnumConstantDecl>(decl) || llvm::isa<FieldDecl>(decl))
      decl = llvm::cast<Decl>(decl->getDeclContext());
    for (const Decl *each : decl->redecls()) {
      if (!seen.insert(each).second) continue;
      if (!sources.isInSystemHeader(each->getLocation())) list.push_back(each);
      else if (llvm::isa<TypeDecl>(each)) of_system.push_back(each);
    }
  }

  std::vector<const Decl *> list;
  std::vector<const Decl *> of_system; // types, and not what they are made of
  std::vector<const Expr *> literals;
  llvm::SetVector<const BuiltinType *> scalars;

private:
  const SourceManager &sources;
  std::set<const Decl *> seen;
};

bool Agreement::concerns(const Trouble &trouble, const Decl *decl) {
  const PresumedLoc begin = sources.getPresumedLoc(sources.getExpansionLoc(decl->getBeginLoc()));
  const PresumedLoc end =
      sources.getPresumedLoc(sources.getExpansionRange(decl->getEndLoc()).getEnd());
  if (begin.isInvalid() || end.isInvalid()) return false;
  const unsigned file = own.words.number(begin.getFilename());
  return llvm::any_of(trouble.places, [&](const Place &place) {
    return place.file == file && place.line >= begin.getLine() && place.line <= end.getLine();
  });
}

// Where nothing in the file can be pointed to, the function is.
std::optional<Agreement::Trouble> Agreement::difference_of_types(const Reach &reach,
                                                                 const ASTContext &context) const {
  if (!types.known()) return {};
  auto trouble = [](SourceLocation loc, std::string what) {
    return Trouble{{}, loc, "it depends on " + what};
  };
  for (const Decl *decl : reach.list)
    if (std::string what = types.difference(context, decl, false); !what.empty())
      return trouble(decl->getLocation(), what);
  for (const Decl *decl : reach.of_system)
    if (std::string what = types.difference(context, decl, true); !what.empty())
      return trouble({}, what);
  for (const Expr *literal : reach.literals)
    if (std::string what = types.difference(literal); !what.empty())
      return trouble(literal->getExprLoc(), what);
  for (const BuiltinType *type : reach.scalars)
    if (std::string what = types.difference(context, type); !what.empty()) return trouble({}, what);
  return {};
}

std::optional<Message> Agreement::objection(const FunctionDecl *function) {
  compare();
  if (troubles.empty() && !types.known()) return {};
  const Reach reach(sources, function);
  auto message = [&](const Trouble &trouble) {
    return Message{TC_WARNING,
                   trouble.loc.isValid() ? trouble.loc : function->getLocation(),
                   "'" + function->getNameAsString() + "' not compiled: " + trouble.text,
                   {},
                   {}};
  };
  for (const Decl *decl : reach.list)
    for (const Trouble &trouble : troubles)
      if (concerns(trouble, decl)) return message(trouble);
  if (const auto trouble = difference_of_types(reach, function->getASTContext()))
    return message(*trouble);
  return {};
}

} // namespace tc
