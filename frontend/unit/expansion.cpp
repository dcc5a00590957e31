// expansion.cpp - see expansion.h.
#include "frontend/unit/expansion.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

void Expansions::watch(Preprocessor &made_by, std::function<void(const Token &)> also) {
  preprocessor = &made_by;
  preprocessor->setTokenWatcher([this, also = std::move(also)](const Token &token) {
    if (also) also(token);
    if (token.isAnnotation() || !token.getLocation().isMacroID()) return;
    numbers.emplace(token.getLocation().getRawEncoding(), tokens.size());
    tokens.push_back(token);
  });
}

// Whether the word is _Pragma or __COUNTER__, or a macro that makes one.
bool Expansions::fixes(StringRef word, SourceLocation at,
                       std::set<const IdentifierInfo *> &seen) const {
  if (word == "_Pragma" || word == "__pragma" || word == "__COUNTER__") return true;
  const IdentifierInfo *name = preprocessor->getIdentifierInfo(word);
  if (!name->hadMacroDefinition() || !seen.insert(name).second) return false;
  const MacroInfo *macro = preprocessor->getMacroDefinitionAtLoc(name, at).getMacroInfo();
  return macro && llvm::any_of(macro->tokens(), [&](const Token &token) {
           const IdentifierInfo *inside = token.getIdentifierInfo();
           return inside && fixes(inside->getName(), at, seen);
         });
}

size_t Expansions::find(SourceLocation loc) const {
  auto found = numbers.find(loc.getRawEncoding());
  return found == numbers.end() ? none : found->second;
}

Expansions::Invocation Expansions::around(size_t token) const {
  const SourceManager &sources = preprocessor->getSourceManager();
  CharSourceRange range = sources.getExpansionRange(tokens[token].getLocation());
  SourceLocation begin = range.getBegin();
  SourceLocation end =
      Lexer::getLocForEndOfToken(range.getEnd(), 0, sources, preprocessor->getLangOpts());
  Invocation result;
  std::tie(result.file, result.begin) = sources.getDecomposedLoc(begin);
  result.end = sources.getFileOffset(end);
  auto inside = [&](size_t i) { return sources.getExpansionLoc(tokens[i].getLocation()) == begin; };
  for (result.first = token; result.first && inside(result.first - 1);) result.first--;
  for (result.last = token + 1; result.last < tokens.size() && inside(result.last);) result.last++;
  StringRef text = sources.getBufferData(result.file).slice(result.begin, result.end);
  std::set<const IdentifierInfo *> seen;
  for (result.fixed = false; !text.empty() && !result.fixed;) {
    text = text.drop_until([](char c) { return isAsciiIdentifierStart(c); });
    StringRef word = text.take_while([](char c) { return isAsciiIdentifierContinue(c); });
    result.fixed = !word.empty() && fixes(word, begin, seen);
    text = text.drop_front(word.size());
  }
  return result;
}

std::string Expansions::spelling(size_t token) const {
  return preprocessor->getSpelling(tokens[token]);
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
