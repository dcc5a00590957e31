// inclusions.cpp - see inclusions.h.
#include "tools/tcompile/inclusions.h"

#include "clang/Lex/PPCallbacks.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

class Watcher : public PPCallbacks {
public:
  Watcher(const SourceManager &sources, std::vector<Inclusion> &list)
      : sources(sources), list(list) {}

  void InclusionDirective(SourceLocation, const Token &, StringRef, bool, CharSourceRange range,
                          OptionalFileEntryRef file, StringRef, StringRef, const Module *, bool,
                          SrcMgr::CharacteristicKind kind) override {
    if (!file) return;
    const CharSourceRange written = sources.getExpansionRange(range);
    const auto [id, offset] = sources.getDecomposedLoc(written.getBegin());
    unsigned end = sources.getFileOffset(written.getEnd());
    if (written.isTokenRange())
      end += Lexer::MeasureTokenLength(written.getEnd(), sources, LangOptions());
    const OptionalFileEntryRef in = sources.getFileEntryRefForID(id);
    list.push_back({in ? real_path(in->getName()) : "", offset, end - offset,
                    real_path(file->getName()), file->getName().str(), SrcMgr::isSystem(kind)});
  }

private:
  const SourceManager &sources;
  std::vector<Inclusion> &list;
};

} // namespace

std::string real_path(StringRef path) {
  llvm::SmallString<256> real;
  return llvm::sys::fs::real_path(path, real) ? path.str() : std::string(real);
}

void watch_inclusions(CompilerInstance &ci, std::vector<Inclusion> &list) {
  ci.getPreprocessor().addPPCallbacks(std::make_unique<Watcher>(ci.getSourceManager(), list));
}

} // namespace tc
