// rewrite.cpp - see rewrite.h.
#include "rewrite.h"

#include <algorithm>

namespace tc {

using namespace clang;
using llvm::StringRef;

// ---- the guarded call ---------------------------------------------------------------------------

using llvm::raw_ostream;

static std::string temporary(unsigned label, size_t i) {
  return "__tc_t" + std::to_string(label) + "_" + std::to_string(i);
}

static void put_operands(const Segment &s, raw_ostream &os) {
  auto sizes = [&](int input) {
    for (const auto &size : s.sizes)
      if (size.input == input) os << " const long long " << size.name << " = " << size.text << ";";
  };
  sizes(-1);
  if (!s.inputs.empty()) os << " const struct tc_tensor *__tc_in[" << s.inputs.size() << "];";
  if (!s.scalars.empty()) os << " union tc_value __tc_scalar[" << s.scalars.size() << "];";
  if (s.results) os << " struct tc_tensor *__tc_out[" << s.results << "];";
  for (size_t i = 0; i < s.inputs.size(); i++) {
    if (s.inputs[i].layout)
      os << " struct tc_tensor __tc_header" << i << "; struct tc_layout const __tc_layout" << i
         << " = " << s.inputs[i].text << "; __tc_in[" << i << "] = tcrt_borrow(&__tc_header" << i
         << ", &__tc_layout" << i << ");";
    else os << " __tc_in[" << i << "] = " << s.inputs[i].text << ";";
    sizes(static_cast<int>(i));
  }
  for (size_t i = 0; i < s.scalars.size(); i++)
    os << " __tc_scalar[" << i << "]." << (s.scalars[i].floating ? "f" : "i") << " = "
       << s.scalars[i].text << ";";
}

static std::string assignment(const Segment::Store &store, const std::string &value) {
  std::string target = store.lvalue;
  if (store.constant) target = "*(__typeof_unqual__(" + target + ") *)&" + target;
  return " " + target + " = " + value + ";";
}

// Addresses and values first, since they are meant as of before the statements.
static void put_results(const Segment &s, unsigned label, raw_ostream &os) {
  for (size_t i = 0; i < s.stores.size(); i++) {
    const Segment::Store &store = s.stores[i];
    if (store.where == Segment::Store::Memory)
      os << " __typeof__(" << store.lvalue << ") *const __tc_p" << i << " = &(" << store.lvalue
         << ");";
    if (store.where != Segment::Store::Inner) os << " " << store.type << " const";
    os << " " << temporary(label, i) << " = " << store.text << ";";
  }
  bool value = !s.returned.empty();
  bool simple = s.stores.empty() && s.effects.empty();
  if (value && !simple) os << " " << s.return_type << " const __tc_result = " << s.returned << ";";
  for (size_t i = 0; i < s.stores.size(); i++) {
    const Segment::Store &store = s.stores[i];
    if (store.where == Segment::Store::Memory)
      os << " *__tc_p" << i << " = " << temporary(label, i) << ";";
    if (store.where == Segment::Store::Variable) os << assignment(store, temporary(label, i));
  }
  for (const std::string &effect : s.effects) os << " " << effect;
  if (s.exit == Segment::Return)
    os << " return" << (!value ? "" : simple ? " " + s.returned : " __tc_result") << ";";
  else if (s.exit == Segment::Break) os << " break;";
  else if (s.exit == Segment::Continue) os << " continue;";
  else os << " goto __tc_done" << label << ";";
}

// The call, and what follows if the entry did the work.
static std::string guarded_call(const Segment &s, unsigned label) {
  std::string out;
  llvm::raw_string_ostream os(out);
  for (size_t i = 0; i < s.stores.size(); i++)
    if (s.stores[i].where == Segment::Store::Inner)
      os << s.stores[i].type << " " << temporary(label, i) << "; ";
  os << "{ extern int " << s.symbol
     << "(const struct tc_tensor *const *, const union tc_value *, struct tc_tensor **)"
     << " __asm__(\"" << s.symbol << "\");";
  for (const std::string &condition : s.conditions) os << " if (" << condition << ")";
  if (!s.conditions.empty()) os << " {";
  put_operands(s, os);
  os << " if (" << s.symbol << "(" << (s.inputs.empty() ? "0" : "__tc_in") << ", "
     << (s.scalars.empty() ? "0" : "__tc_scalar") << ", " << (s.results ? "__tc_out" : "0")
     << ")) {";
  put_results(s, label, os);
  os << " }" << (s.conditions.empty() ? "" : " }") << " }";
  return out;
}

// Behind the statements: where the call leads, and the variables that they would have declared.
static std::string tail_of(const Segment &s, unsigned label) {
  if (s.exit != Segment::Next) return "";
  std::string out = "; if (0) { __tc_done" + std::to_string(label) + ":;";
  for (size_t i = 0; i < s.stores.size(); i++)
    if (s.stores[i].where == Segment::Store::Inner)
      out += assignment(s.stores[i], temporary(label, i));
  return out + " }";
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

static const char *const silent_begin = "\n#pragma clang diagnostic push\n"
                                        "#pragma clang diagnostic ignored \"-Weverything\"";
static const char *const silent_end = "#pragma clang diagnostic pop\n";

// Blanks as wide as the text of the line in front of `offset`.
static std::string blanks(const SourceManager &sources, FileID file, unsigned offset) {
  unsigned column = sources.getColumnNumber(file, offset) - 1;
  std::string pad = sources.getBufferData(file).substr(offset - column, column).str();
  for (char &c : pad) c = c == '\t' ? c : ' ';
  return pad;
}

static std::string line_directive(unsigned line) {
  return "\n#line " + std::to_string(line) + "\n";
}

void Rewriter::insert_whole(const FunctionDecl *function, const std::string &call) {
  const auto *body = llvm::cast<CompoundStmt>(function->getBody());
  auto [file, open] = inner.getDecomposedLoc(body->getLBracLoc());
  unsigned close = inner.getFileOffset(body->getRBracLoc());
  unsigned first = inner.getPresumedLineNumber(body->getLBracLoc());
  unsigned last = inner.getPresumedLineNumber(body->getRBracLoc());
  edits[file].push_back({open + 1, silent_begin + line_directive(first) + call + "{" +
                                       line_directive(first - 1) + silent_end +
                                       blanks(inner, file, open + 1)});
  edits[file].push_back({close + 1, line_directive(last) + "}" + line_directive(last) +
                                        blanks(inner, file, close + 1)});
}

void Rewriter::insert_part(const Segment &s, const std::string &call, const std::string &tail) {
  auto put = [&](unsigned offset, const std::string &text) {
    if (text.empty()) return;
    unsigned line = inner.getPresumedLineNumber(inner.getComposedLoc(s.file, offset));
    edits[s.file].push_back({offset, silent_begin + line_directive(line) + text +
                                         line_directive(line - 1) + silent_end +
                                         blanks(inner, s.file, offset)});
  };
  put(s.begin, (s.braces ? "{ " : "; ") + call);
  put(s.end, tail + (s.braces ? " }" : ""));
}

void Rewriter::insert(const FunctionDecl *function, const Segment &segment) {
  unsigned label = labels++;
  std::string call = guarded_call(segment, label);
  if (segment.whole) insert_whole(function, call);
  else insert_part(segment, call, tail_of(segment, label));
}

void Rewriter::append(const std::string &text) {
  FileID file = inner.getMainFileID();
  edits[file].push_back({static_cast<unsigned>(inner.getBufferData(file).size()), text});
}

std::string Rewriter::edited(FileID file, const std::vector<Edit> &edits) const {
  // Of edits at one place, what closes a segment comes before what opens the next: entries of one
  // key stay in order.
  std::multimap<unsigned, StringRef> sorted;
  for (const Edit &edit : edits) sorted.emplace(edit.offset, edit.text);
  StringRef text = inner.getBufferData(file);
  std::string out;
  unsigned done = 0;
  for (auto [offset, inserted] : sorted) {
    out += text.slice(done, offset);
    out += inserted;
    done = offset;
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
