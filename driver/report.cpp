// report.cpp - see report.h.  Severities follow the compiler's own: remarks are gated by -Rpass=
// and -Rpass-missed=, warnings belong to -Wbackend-plugin (so -w and -Werror act on them).
#include "driver/report.h"

namespace tc {

using namespace clang;

static unsigned diagnostic_id(DiagnosticsEngine &diags, tc_severity severity) {
  switch (severity) {
  case TC_REMARK:
    return diag::remark_fe_backend_optimization_remark;
  case TC_MISSED:
    return diag::remark_fe_backend_optimization_remark_missed;
  case TC_WARNING:
    return diag::warn_fe_backend_plugin;
  case TC_ERROR:
    return diags.getCustomDiagID(DiagnosticsEngine::Error, "%0");
  case TC_NOTE:
    break;
  }
  return diags.getCustomDiagID(DiagnosticsEngine::Note, "%0");
}

bool Reporter::wanted(tc_severity severity) const {
  const CodeGenOptions &options = outer.getCodeGenOpts();
  if (severity == TC_REMARK) return options.OptimizationRemark.patternMatches("tc");
  if (severity == TC_MISSED) return options.OptimizationRemarkMissed.patternMatches("tc");
  return true;
}

FileID Reporter::mirror(FileID file) {
  FileID &copy = mirrors[file];
  if (copy.isValid()) return copy;
  SourceManager &sources = outer.getSourceManager();
  SourceLocation start = inner.getLocForStartOfFile(file);
  StringRef name = inner.getFilename(start);
  copy =
      sources.createFileID(llvm::MemoryBuffer::getMemBufferCopy(inner.getBufferData(file), name));
  return copy;
}

// Where the user's #line directives (or a preprocessed input) say that the place is elsewhere, the
// mirror learns it through a line note; a fresh mirror, since notes must come in file order.  A
// note numbers the line behind its own, as a directive does.
SourceLocation Reporter::translate(SourceLocation loc) {
  if (loc.isInvalid()) return loc;
  loc = inner.getFileLoc(loc);
  auto [file, offset] = inner.getDecomposedLoc(loc);
  PresumedLoc presumed = inner.getPresumedLoc(loc);
  SourceManager &sources = outer.getSourceManager();
  bool moved = presumed.isValid() && (presumed.getLine() != inner.getLineNumber(file, offset) ||
                                      presumed.getFileID() != file);
  if (!moved) return sources.getComposedLoc(mirror(file), offset);
  FileID fresh = sources.createFileID(
      llvm::MemoryBuffer::getMemBufferCopy(inner.getBufferData(file), inner.getFilename(loc)));
  unsigned column = inner.getColumnNumber(file, offset);
  SourceLocation line = sources.getComposedLoc(fresh, offset - (column - 1));
  sources.AddLineNote(line, presumed.getLine() + 1,
                      sources.getLineTableFilenameID(presumed.getFilename()), false, false,
                      SrcMgr::C_User);
  return sources.getComposedLoc(fresh, offset);
}

CharSourceRange Reporter::translate(CharSourceRange range) {
  range = Lexer::makeFileCharRange(range, inner, outer.getLangOpts());
  if (range.isInvalid()) return range;
  return CharSourceRange::getCharRange(translate(range.getBegin()), translate(range.getEnd()));
}

void Reporter::show(const Message &message) {
  if (!wanted(message.severity)) return;
  show_one(message);
  for (const Message &note : message.notes) show_one(note);
}

void Reporter::show_one(const Message &message) {
  DiagnosticsEngine &diags = outer.getDiagnostics();
  DiagnosticBuilder builder =
      diags.Report(translate(message.loc), diagnostic_id(diags, message.severity));
  if (message.severity == TC_REMARK || message.severity == TC_MISSED) builder << AddFlagValue("tc");
  builder << message.text;
  for (CharSourceRange range : message.ranges)
    if (CharSourceRange there = translate(range); there.isValid()) builder << there;
  for (const FixIt &fixit : message.fixits)
    if (CharSourceRange there = translate(fixit.range); there.isValid())
      builder << FixItHint::CreateReplacement(there, fixit.text);
}

} // namespace tc
