// rewrite.cpp - see rewrite.h.
#include "rewrite.h"

#include <algorithm>

namespace tc {

using namespace clang;
using llvm::StringRef;

// ---- the guarded call ---------------------------------------------------------------------------

std::string guarded_call(const CapturedFunction &f) {
  std::string out;
  llvm::raw_string_ostream os(out);
  os << "{ extern int " << f.symbol
     << "(const struct tc_tensor *const *, const union tc_value *, struct tc_tensor **);";
  for (const auto &size : f.sizes)
    os << " const long long " << size.name << " = " << size.text << ";";
  if (!f.inputs.empty()) os << " const struct tc_tensor *__tc_in[" << f.inputs.size() << "];";
  if (!f.scalars.empty()) os << " union tc_value __tc_scalar[" << f.scalars.size() << "];";
  if (f.results) os << " struct tc_tensor *__tc_out[" << f.results << "];";
  for (size_t i = 0; i < f.inputs.size(); i++)
    os << " __tc_in[" << i << "] = " << f.inputs[i] << ";";
  for (size_t i = 0; i < f.scalars.size(); i++)
    os << " __tc_scalar[" << i << "]." << (f.scalars[i].floating ? "f" : "i") << " = "
       << f.scalars[i].text << ";";
  os << " if (" << f.symbol << "(" << (f.inputs.empty() ? "0" : "__tc_in") << ", "
     << (f.scalars.empty() ? "0" : "__tc_scalar") << ", " << (f.results ? "__tc_out" : "0")
     << ")) {";
  for (const auto &store : f.stores) os << " " << store.lvalue << " = " << store.text << ";";
  os << " return" << (f.returned.empty() ? "" : " ") << f.returned << "; } }";
  return out;
}

// ---- where it goes ------------------------------------------------------------------------------

static unsigned entered(const SourceManager &sources, FileID file) {
  const FileEntry *entry = sources.getFileEntryForID(file);
  unsigned times = 0;
  for (unsigned i = 0; entry && i < sources.local_sloc_entry_size(); i++) {
    const SrcMgr::SLocEntry &slot = sources.getLocalSLocEntry(i);
    if (slot.isFile() && slot.getFile().getContentCache().OrigEntry &&
        &slot.getFile().getContentCache().OrigEntry->getFileEntry() == entry)
      times++;
  }
  return times;
}

std::string Rewriter::obstacle(const FunctionDecl *function) const {
  const auto *body = llvm::dyn_cast_or_null<CompoundStmt>(function->getBody());
  if (!body) return "it has no body of the usual form";
  SourceLocation open = body->getLBracLoc(), close = body->getRBracLoc();
  if (open.isMacroID() || close.isMacroID())
    return "its braces come from a macro; write them in the file";
  if (inner.isLoadedSourceLocation(open))
    return "it comes from a precompiled header or module; define it in a source file";
  FileID file = inner.getFileID(open);
  if (inner.getFileID(close) != file) return "its body spreads over two files";
  if (file != inner.getMainFileID() && !inner.getFileEntryForID(file)) return "it is not in a file";
  if (file != inner.getMainFileID() && entered(inner, file) > 1)
    return "the header that defines it is included more than once without a guard";
  return "";
}

// Blanks as wide as the text of the line up to and with the character at `offset`.
static std::string blanks(const SourceManager &sources, FileID file, unsigned offset) {
  unsigned column = sources.getColumnNumber(file, offset);
  std::string pad = sources.getBufferData(file).substr(offset + 1 - column, column).str();
  for (char &c : pad) c = c == '\t' ? c : ' ';
  return pad;
}

static std::string line_directive(unsigned line) {
  return "\n#line " + std::to_string(line) + "\n";
}

void Rewriter::insert(const FunctionDecl *function, const std::string &call) {
  const auto *body = llvm::cast<CompoundStmt>(function->getBody());
  auto [file, open] = inner.getDecomposedLoc(body->getLBracLoc());
  unsigned close = inner.getFileOffset(body->getRBracLoc());
  unsigned first = inner.getPresumedLineNumber(body->getLBracLoc());
  unsigned last = inner.getPresumedLineNumber(body->getRBracLoc());
  edits[file].push_back(
      {open + 1, "\n#pragma clang diagnostic push\n"
                 "#pragma clang diagnostic ignored \"-Weverything\"" +
                     line_directive(first) + call + "{" + line_directive(first - 1) +
                     "#pragma clang diagnostic pop\n" + blanks(inner, file, open)});
  edits[file].push_back(
      {close + 1, line_directive(last) + "}" + line_directive(last) + blanks(inner, file, close)});
}

void Rewriter::append(const std::string &text) {
  FileID file = inner.getMainFileID();
  edits[file].push_back({static_cast<unsigned>(inner.getBufferData(file).size()), text});
}

std::string Rewriter::edited(FileID file, const std::vector<Edit> &edits) const {
  std::vector<Edit> sorted = edits;
  std::sort(sorted.begin(), sorted.end(),
            [](const Edit &a, const Edit &b) { return a.offset < b.offset; });
  StringRef text = inner.getBufferData(file);
  std::string out;
  unsigned done = 0;
  for (const Edit &edit : sorted) {
    out += text.slice(done, edit.offset);
    out += edit.text;
    done = edit.offset;
  }
  return out + text.drop_front(done).str();
}

// The main file already has an id, made for its old length: it gets a new one.
void Rewriter::apply(CompilerInstance &outer) const {
  SourceManager &sources = outer.getSourceManager();
  for (const auto &[file, list] : edits) {
    bool main = file == inner.getMainFileID();
    auto entry = main ? sources.getFileEntryRefForID(sources.getMainFileID())
                      : inner.getFileEntryRefForID(file);
    if (!entry) continue;
    sources.overrideFileContents(
        *entry, llvm::MemoryBuffer::getMemBufferCopy(edited(file, list), entry->getName()));
    if (main)
      sources.setMainFileID(sources.createFileID(
          *entry, SourceLocation(), inner.getFileCharacteristic(inner.getLocForStartOfFile(file))));
  }
}

} // namespace tc
