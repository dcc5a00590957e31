// expansion.cpp - see expansion.h.
#include "expansion.h"

namespace tc {

using namespace clang;

struct Expansions::Pragmas : PPCallbacks {
  Pragmas(Expansions &expansions, const SourceManager &sources)
      : expansions(expansions), sources(sources) {}
  void PragmaDirective(SourceLocation loc, PragmaIntroducerKind) override {
    expansions.pragmas.insert(sources.getExpansionLoc(loc).getRawEncoding());
  }
  Expansions &expansions;
  const SourceManager &sources;
};

void Expansions::watch(Preprocessor &preprocessor) {
  language = preprocessor.getLangOpts();
  preprocessor.setTokenWatcher([this](const Token &token) {
    if (token.isAnnotation() || !token.getLocation().isMacroID()) return;
    numbers.emplace(token.getLocation().getRawEncoding(), tokens.size());
    tokens.push_back(token);
  });
  preprocessor.addPPCallbacks(std::make_unique<Pragmas>(*this, preprocessor.getSourceManager()));
}

size_t Expansions::find(SourceLocation loc) const {
  auto found = numbers.find(loc.getRawEncoding());
  return found == numbers.end() ? none : found->second;
}

Expansions::Invocation Expansions::around(size_t token, const SourceManager &sources) const {
  CharSourceRange range = sources.getExpansionRange(tokens[token].getLocation());
  SourceLocation end = Lexer::getLocForEndOfToken(range.getEnd(), 0, sources, language);
  Invocation result;
  std::tie(result.file, result.begin) = sources.getDecomposedLoc(range.getBegin());
  result.end = sources.getFileOffset(end);
  result.pragmas = pragmas.count(range.getBegin().getRawEncoding());
  auto inside = [&](size_t i) {
    return sources.getExpansionLoc(tokens[i].getLocation()) == range.getBegin();
  };
  for (result.first = token; result.first && inside(result.first - 1);) result.first--;
  for (result.last = token + 1; result.last < tokens.size() && inside(result.last);) result.last++;
  return result;
}

std::string Expansions::spelling(size_t token, const SourceManager &sources) const {
  return Lexer::getSpelling(tokens[token], sources, language);
}

std::set<std::string> Expansions::macros(const Invocation &invocation) const {
  std::set<std::string> names;
  for (size_t i = invocation.first; i < invocation.last; i++)
    if (const IdentifierInfo *name = tokens[i].getIdentifierInfo();
        name && name->hadMacroDefinition())
      names.insert(name->getName().str());
  return names;
}

} // namespace tc
