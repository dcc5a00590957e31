// messages.cpp - messages of the tool, by this Clang.
//
// Its main file's text is about to be another one: messages point to copies of what the user wrote,
// as those of the full plugin do (driver/report.cpp).
#include "plugin/clang/thin.h"

#include <map>

namespace tc_thin {
namespace {

using namespace clang;
using tc_client::Message;

class Messages {
public:
  explicit Messages(CompilerInstance &ci) : ci(ci), sources(ci.getSourceManager()) {}
  void show(const Message &m);

private:
  std::unique_ptr<llvm::MemoryBuffer> read(const std::string &name);
  FileID copy_of(const std::string &name);
  FileID file_of(const Message &m);
  static SourceLocation place(SourceManager &sources, FileID file, unsigned line, unsigned column) {
    return line ? sources.translateLineCol(file, line, column ? column : 1) : SourceLocation();
  }
  CharSourceRange range(FileID file, const Message &m, const tc_record_range &r);
  unsigned id(const tc_record_message &head);

  CompilerInstance &ci;
  SourceManager &sources;
  std::map<std::string, FileID> copies;
};

std::unique_ptr<llvm::MemoryBuffer> Messages::read(const std::string &name) {
  const FileID main = sources.getMainFileID();
  if (auto entry = sources.getFileEntryRefForID(main); entry && entry->getName() == name)
    return llvm::MemoryBuffer::getMemBufferCopy(sources.getBufferData(main), name);
  if (auto buffer = ci.getFileManager().getBufferForFile(name))
    return llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), name);
  return llvm::MemoryBuffer::getMemBuffer("", name);
}

FileID Messages::copy_of(const std::string &name) {
  FileID &copy = copies[name];
  if (copy.isInvalid()) copy = sources.createFileID(read(name));
  return copy;
}

// Where a #line directive says that the place is elsewhere, a copy of its own learns of that.  A
// note numbers the line behind its own, as a directive does.
FileID Messages::file_of(const Message &m) {
  if (m.head.line == m.head.text_line && m.file == m.text_file) return copy_of(m.text_file);
  const FileID file = sources.createFileID(read(m.text_file));
  sources.AddLineNote(place(sources, file, m.head.text_line, 1), m.head.line + 1,
                      sources.getLineTableFilenameID(m.file), false, false, SrcMgr::C_User);
  return file;
}

CharSourceRange Messages::range(FileID file, const Message &m, const tc_record_range &r) {
  const unsigned moved = m.head.text_line - m.head.line; // modulo 2^32
  return CharSourceRange::getCharRange(place(sources, file, r.line + moved, r.column),
                                       place(sources, file, r.end_line + moved, r.end_column));
}

unsigned Messages::id(const tc_record_message &head) {
  DiagnosticsEngine &diags = ci.getDiagnostics();
  if (head.group == TC_OF_BACKEND_PLUGIN) return diag::warn_fe_backend_plugin;
  if (head.group == TC_OF_PASS) return diag::remark_fe_backend_optimization_remark;
  if (head.group == TC_OF_PASS_MISSED) return diag::remark_fe_backend_optimization_remark_missed;
  switch (head.severity) {
  case TC_SAY_NOTE:
    return diags.getCustomDiagID(DiagnosticsEngine::Note, "%0");
  case TC_SAY_REMARK:
    return diags.getCustomDiagID(DiagnosticsEngine::Remark, "%0");
  case TC_SAY_WARNING:
    return diags.getCustomDiagID(DiagnosticsEngine::Warning, "%0");
  default:
    return diags.getCustomDiagID(DiagnosticsEngine::Error, "%0");
  }
}

void Messages::show(const Message &m) {
  const bool placed = m.head.line && !m.text_file.empty();
  const FileID file = placed ? file_of(m) : FileID();
  SourceLocation where;
  if (placed) where = place(sources, file, m.head.text_line, m.head.column);
  DiagnosticBuilder builder = ci.getDiagnostics().Report(where, id(m.head));
  if (m.head.group == TC_OF_PASS || m.head.group == TC_OF_PASS_MISSED)
    builder << AddFlagValue("tc");
  builder << m.text;
  if (!placed) return;
  for (const tc_record_range &each : m.ranges) builder << range(file, m, each);
  for (const tc_client::Fixit &each : m.fixits)
    builder << FixItHint::CreateReplacement(range(file, m, each.place), each.text);
}

} // namespace

void show(CompilerInstance &ci, const std::vector<Message> &list) {
  Messages messages(ci);
  for (const Message &each : list) messages.show(each);
}

void warn(CompilerInstance &ci, const std::string &text) {
  ci.getDiagnostics().Report(diag::warn_fe_backend_plugin) << text;
}

} // namespace tc_thin
