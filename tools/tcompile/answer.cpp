// answer.cpp - see answer.h.
#include "tools/tcompile/answer.h"

#include "driver/inner.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

template <class T> static StringRef bytes(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

Answer::Answer(FILE *out) : out(out) { record(TC_REC_HELLO, {TC_PROTOCOL}); }

void Answer::record(tc_record_kind kind, llvm::ArrayRef<StringRef> parts) {
  tc_record head = {kind, 0};
  for (StringRef part : parts) head.size += static_cast<uint32_t>(part.size());
  ok = ok && fwrite(&head, sizeof head, 1, out) == 1;
  for (StringRef part : parts) ok = ok && fwrite(part.data(), 1, part.size(), out) == part.size();
}

void Answer::message(tc_record_kind kind, const tc_record_message &message, StringRef file,
                     StringRef text_file, StringRef text) {
  const StringRef zero("", 1);
  record(kind, {bytes(message), file, zero, text_file, zero, text});
}

void Answer::say(tc_record_severity severity, StringRef text) {
  message(TC_REC_MESSAGE, {severity, TC_OF_NONE, 0, 0, 0}, "", "", text);
}

void Answer::put(const NewText &text) {
  record(TC_REC_FILE, {text.file, StringRef("", 1), text.text});
}

void Answer::put_unread() {
  if (!unread_text.empty())
    message(TC_REC_UNREAD, unread, unread_file, unread_text_file, unread_text);
}

bool Answer::end() {
  record(TC_REC_END, {});
  return fflush(out) == 0 && ok;
}

static tc_record_severity severity_of(DiagnosticsEngine::Level level) {
  switch (level) {
  case DiagnosticsEngine::Ignored:
  case DiagnosticsEngine::Note:
    return TC_SAY_NOTE;
  case DiagnosticsEngine::Remark:
    return TC_SAY_REMARK;
  case DiagnosticsEngine::Warning:
    return TC_SAY_WARNING;
  case DiagnosticsEngine::Error:
  case DiagnosticsEngine::Fatal:
    break;
  }
  return TC_SAY_ERROR;
}

static tc_record_group group_of(unsigned id) {
  if (id == diag::warn_fe_backend_plugin) return TC_OF_BACKEND_PLUGIN;
  if (id == diag::remark_fe_backend_optimization_remark) return TC_OF_PASS;
  if (id == diag::remark_fe_backend_optimization_remark_missed) return TC_OF_PASS_MISSED;
  return TC_OF_NONE;
}

// Clang's own messages have fixed numbers; those of driver/report.cpp that are among them:
static bool is_ours(unsigned id) {
  return id >= diag::DIAG_UPPER_LIMIT || group_of(id) != TC_OF_NONE;
}

static PresumedLoc presumed(const Diagnostic &info, SourceLocation loc) {
  if (loc.isInvalid() || !info.hasSourceManager()) return {};
  const SourceManager &sources = info.getSourceManager();
  return sources.getPresumedLoc(sources.getFileLoc(loc));
}

void Answer::range(tc_record_kind kind, const Diagnostic &info, CharSourceRange range,
                   StringRef text) {
  if (!info.hasSourceManager()) return;
  const SourceManager &sources = info.getSourceManager();
  range = Lexer::makeFileCharRange(range, sources, LangOptions());
  const PresumedLoc begin = presumed(info, range.getBegin()), end = presumed(info, range.getEnd());
  if (begin.isInvalid() || end.isInvalid()) return;
  const tc_record_range place = {begin.getLine(), begin.getColumn(), end.getLine(),
                                 end.getColumn()};
  record(kind, {bytes(place), text});
}

void Answer::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  const bool note = level == DiagnosticsEngine::Note;
  const bool ours = note ? last_sent : is_ours(info.getID());
  if (!note) last_sent = ours;
  if (!ours &&
      (level < DiagnosticsEngine::Error || is_tolerable(level, info) || !unread_text.empty()))
    return;
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  const PresumedLoc place = presumed(info, info.getLocation());
  tc_record_message head = {severity_of(level), group_of(info.getID()), 0, 0, 0};
  StringRef file, text_file;
  if (place.isValid()) {
    const SourceManager &sources = info.getSourceManager();
    const SourceLocation written = sources.getFileLoc(info.getLocation());
    head.line = place.getLine();
    head.column = place.getColumn();
    const FileID id = sources.getFileID(written);
    const bool copy =
        !sources.getFileEntryForID(id); // of what the user wrote; else it may be the new text
    file = place.getFilename();
    head.text_line = copy ? sources.getSpellingLineNumber(written) : head.line;
    text_file = copy ? sources.getBufferOrFake(id).getBufferIdentifier() : file;
  }
  if (!ours) {
    unread = head;
    unread_file = file.str();
    unread_text_file = text_file.str();
    unread_text = std::string(text);
    return;
  }
  message(TC_REC_MESSAGE, head, file, text_file, text);
  for (const CharSourceRange &each : info.getRanges()) range(TC_REC_RANGE, info, each, "");
  for (const FixItHint &hint : info.getFixItHints())
    if (!hint.isNull() && hint.InsertFromRange.isInvalid())
      range(TC_REC_FIXIT, info, hint.RemoveRange, hint.CodeToInsert);
}

} // namespace tc
