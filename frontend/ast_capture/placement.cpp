// placement.cpp - where in the text of a function the call for a segment goes.
#include "frontend/ast_capture/segmenter.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

// The bytes in front of what begins at `loc`; `token`: it is within an expansion.
std::optional<unsigned> Segmenter::start_of(SourceLocation loc, FileID file,
                                            SourceLocation &token) {
  SourceLocation start = loc;
  if (loc.isMacroID() &&
      !Lexer::isAtStartOfMacroExpansion(loc, sources, context.getLangOpts(), &start)) {
    token = loc;
    start = sources.getExpansionLoc(loc);
  }
  auto [where, offset] = sources.getDecomposedLoc(start);
  if (where != file) return std::nullopt;
  return offset;
}

const Stmt *body_of_loop(const Stmt *s) {
  if (const auto *loop = dyn_cast<ForStmt>(s)) return loop->getBody();
  if (const auto *loop = dyn_cast<WhileStmt>(s)) return loop->getBody();
  if (const auto *loop = dyn_cast<DoStmt>(s)) return loop->getBody();
  const auto *range = dyn_cast<CXXForRangeStmt>(s);
  return range ? range->getBody() : nullptr;
}

// Whether the statement ends with the brace of a block, and not with a semicolon.
static bool ends_with_block(const Stmt *s) {
  for (;;) {
    const Stmt *body = isa<DoStmt>(s) ? nullptr : body_of_loop(s);
    if (body) s = body;
    else if (const auto *choice = dyn_cast<SwitchStmt>(s)) s = choice->getBody();
    else if (const auto *branch = dyn_cast<IfStmt>(s))
      s = branch->getElse() ? branch->getElse() : branch->getThen();
    else if (const auto *attributed = dyn_cast<AttributedStmt>(s)) s = attributed->getSubStmt();
    else if (const auto *label = dyn_cast<LabelStmt>(s)) s = label->getSubStmt();
    else return isa<CompoundStmt>(s);
  }
}

// Behind a single statement and its semicolon.
std::optional<unsigned> Segmenter::end_of(const Stmt *s, FileID file, Site &site) {
  SourceLocation last = s->getEndLoc(), end = last;
  if (last.isMacroID() &&
      !Lexer::isAtEndOfMacroExpansion(last, sources, context.getLangOpts(), &end)) {
    site.end_token = last;
    site.end_behind = true;
    return sources.getFileOffset(sources.getExpansionLoc(last));
  }
  end = ends_with_block(s)
            ? Lexer::getLocForEndOfToken(end, 0, sources, context.getLangOpts())
            : Lexer::findLocationAfterToken(end, tok::semi, sources, context.getLangOpts(), false);
  if (end.isInvalid() || !end.isFileID() || sources.getFileID(end) != file) return std::nullopt;
  return sources.getFileOffset(end);
}

// In front of the next item; behind the cases that lead to it, for what falls through to them is
// the user's last statement.
static SourceLocation front_of(const Item &item) {
  return (isa<SwitchCase>(item.labels) ? item.s : item.labels)->getBeginLoc();
}

void Segmenter::note_first_declaration(const List &list, size_t i, Site &site) {
  if (i >= list.items.size() || list.braces) return;
  const Item &item = list.items[i];
  if (!isa<DeclStmt>(item.labels) || (i && !isa<DeclStmt>(list.items[i - 1].labels))) return;
  const SourceLocation begin = item.s->getBeginLoc(), end = item.s->getEndLoc();
  if (begin.isMacroID() || end.isMacroID() || sources.getFileID(begin) != site.file) return;
  site.first_declarations.push_back(
      {sources.getFileOffset(begin),
       sources.getFileOffset(Lexer::getLocForEndOfToken(end, 0, sources, context.getLangOpts()))});
}

bool Segmenter::place(const List &list, size_t from, size_t to, Site &site) {
  const std::vector<Item> &items = list.items;
  site.file = sources.getFileID(sources.getExpansionLoc(function->getBody()->getBeginLoc()));
  auto begin = start_of(items[from].s->getBeginLoc(), site.file, site.begin_token);
  auto end = list.braces ? end_of(items[from].s, site.file, site)
                         : start_of(to < items.size() ? front_of(items[to]) : list.close, site.file,
                                    site.end_token);
  if (!begin || !end || *end < *begin) return false;
  note_first_declaration(list, from, site);
  note_first_declaration(list, to, site);
  site.begin = *begin;
  site.end = *end;
  site.braces = list.braces;
  site.loc = items[from].s->getBeginLoc();
  return true;
}

} // namespace tc
