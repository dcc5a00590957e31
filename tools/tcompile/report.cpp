// report.cpp - see report.h.
#include "tools/tcompile/report.h"

#include <set>

#include "clang/Basic/DiagnosticIDs.h"
#include "tools/explain/explain.h"

namespace tc {

using namespace clang;
using llvm::StringRef;
namespace json = llvm::json;

std::string utf8(StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

static StringRef name_of(DiagnosticsEngine::Level level) {
  switch (level) {
  case DiagnosticsEngine::Ignored:
  case DiagnosticsEngine::Note:
    return "note";
  case DiagnosticsEngine::Remark:
    return "remark";
  case DiagnosticsEngine::Warning:
    return "warning";
  case DiagnosticsEngine::Error:
  case DiagnosticsEngine::Fatal:
    break;
  }
  return "error";
}

static PresumedLoc presumed(const SourceManager &sources, SourceLocation loc) {
  return loc.isValid() ? sources.getPresumedLoc(sources.getFileLoc(loc)) : PresumedLoc();
}

static void add_range(const SourceManager &sources, CharSourceRange range, const StringRef *text,
                      json::Array &out) {
  range = Lexer::makeFileCharRange(range, sources, LangOptions());
  const PresumedLoc begin = presumed(sources, range.getBegin()),
                    end = presumed(sources, range.getEnd());
  if (begin.isInvalid() || end.isInvalid()) return;
  json::Object place{{"line", begin.getLine()},
                     {"column", begin.getColumn()},
                     {"endLine", end.getLine()},
                     {"endColumn", end.getColumn()}};
  if (text) place["text"] = utf8(*text);
  out.push_back(std::move(place));
}

static void add_places(const Diagnostic &info, json::Object &message) {
  if (!info.hasSourceManager()) return;
  const SourceManager &sources = info.getSourceManager();
  if (const PresumedLoc place = presumed(sources, info.getLocation()); place.isValid()) {
    message["file"] = utf8(place.getFilename());
    message["line"] = place.getLine();
    message["column"] = place.getColumn();
  }
  json::Array ranges, fixits;
  for (const CharSourceRange &each : info.getRanges()) add_range(sources, each, nullptr, ranges);
  for (const FixItHint &hint : info.getFixItHints()) {
    const StringRef text = hint.CodeToInsert;
    if (!hint.isNull() && hint.InsertFromRange.isInvalid())
      add_range(sources, hint.RemoveRange, &text, fixits);
  }
  if (!ranges.empty()) message["ranges"] = std::move(ranges);
  if (!fixits.empty()) message["fixits"] = std::move(fixits);
}

void Recorder::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  json::Object message{{"severity", name_of(level)}, {"message", utf8(text)}};
  const auto &ids = info.getDiags()->getDiagnosticIDs();
  if (const StringRef option = ids->getWarningOptionForDiag(info.getID()); !option.empty())
    message["option"] = (level == DiagnosticsEngine::Remark ? "-R" : "-W") + option.str();
  add_places(info, message);
  if (level != DiagnosticsEngine::Note || messages.empty()) {
    messages.push_back(std::move(message));
    return;
  }
  json::Object &owner = *messages.back().getAsObject();
  json::Array *notes = owner.getArray("notes");
  if (!notes) notes = (owner["notes"] = json::Array()).getAsArray();
  notes->push_back(std::move(message));
}

void Recorder::add(StringRef severity, StringRef text) {
  messages.push_back(json::Object{{"severity", severity}, {"message", utf8(text)}});
}

// ---- functions ----------------------------------------------------------------------------------

static json::Object function_of(const explain_rows &rows, size_t i, std::set<std::string> &all) {
  std::set<std::string> kernels;
  json::Array reasons;
  int64_t segments = 0;
  for (size_t k = i + 1; k < rows.at[i].end; k++) {
    if (rows.at[k].kind == TC_EXPLAIN_SEGMENT) segments++;
    if (rows.at[k].kind == TC_EXPLAIN_BREAK) reasons.push_back(utf8(rows.at[k].field[2]));
    if (rows.at[k].kind == TC_EXPLAIN_KERNEL) kernels.insert(rows.at[k].field[1]);
  }
  all.insert(kernels.begin(), kernels.end());
  const char *status = !segments ? "eager" : reasons.empty() ? "compiled" : "partly";
  return json::Object{
      {"name", utf8(rows.at[i].field[0])},
      {"file", utf8(rows.at[i].field[1])},
      {"line", static_cast<int64_t>(std::strtoll(rows.at[i].field[2], nullptr, 10))},
      {"status", status},
      {"segments", segments},
      {"kernels", static_cast<int64_t>(kernels.size())},
      {"reasons", std::move(reasons)}};
}

json::Array functions_of(const std::string &explanation, size_t &kernels) {
  json::Array list;
  std::set<std::string> all;
  tc_buf text = {};
  tc_putn(&text, explanation.data(), explanation.size());
  explain_rows rows = {};
  const char *error = nullptr;
  size_t line = 0;
  if (text.len && !text.failed && explain_parse(&text, &rows, &error, &line))
    for (size_t i = 0; i < rows.n; i++)
      if (rows.at[i].kind == TC_EXPLAIN_FUNCTION) list.push_back(function_of(rows, i, all));
  free(rows.at);
  tc_buf_free(&text);
  kernels = all.size();
  return list;
}

} // namespace tc
