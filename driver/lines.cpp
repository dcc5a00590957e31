// lines.cpp - see lines.h.
#include "driver/lines.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

bool wants_lines(const CompilerInstance &user) {
  const CodeGenOptions &code = user.getCodeGenOpts();
  return code.getDebugInfo() >= llvm::codegenoptions::DebugLineTablesOnly &&
         !code.DisableIntegratedAS && code.SplitDwarfFile.empty();
}

FileNames file_names(const SourceManager &sources) {
  FileNames names;
  for (unsigned i = 0; i < sources.local_sloc_entry_size(); i++) {
    const SrcMgr::SLocEntry &entry = sources.getLocalSLocEntry(i);
    if (!entry.isFile()) continue;
    SourceLocation begin = SourceLocation::getFromRawEncoding(entry.getOffset());
    PresumedLoc place = sources.getPresumedLoc(begin);
    if (place.isValid()) names[sources.getFileID(begin).getHashValue()] = place.getFilename();
  }
  return names;
}

std::vector<std::string> line_flags(const CompilerInstance &user) {
  const CodeGenOptions &code = user.getCodeGenOpts();
  std::vector<std::string> flags = {"-debug-info-kind=line-tables-only",
                                    "-debugger-tuning=gdb",
                                    "-gno-inline-line-tables",
                                    "-main-file-name",
                                    "tcompile.c",
                                    "-fdebug-compilation-dir=" + code.DebugCompilationDir};
  flags.push_back("-dwarf-version=" + std::to_string(code.DwarfVersion ? code.DwarfVersion : 5));
  return flags;
}

// ---- text ---------------------------------------------------------------------------------------

namespace {

struct SourceLine {
  unsigned line = 0, file = 0; // line 0: none
};

// What the comment at the end of a line says.
SourceLine place_of(StringRef line) {
  SourceLine place;
  size_t at = line.rfind("/* line ");
  if (at == StringRef::npos) return place;
  line = line.drop_front(at + 8);
  if (line.consumeInteger(10, place.line) || !line.consume_front("@") ||
      line.consumeInteger(10, place.file))
    return {};
  return place;
}

// The first place in the function that the text begins with; functions end with a brace in the
// first column.
SourceLine first_place(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (SourceLine place = place_of(line); place.line) return place;
    if (line.starts_with("}")) break;
    text = rest;
  }
  return {};
}

// Whether a directive may stand behind this line: not within a statement, whose parts may be
// arguments of a macro.
bool ends_statement(StringRef line) {
  StringRef code = line.take_front(line.rfind("/* ")).rtrim();
  return code.empty() || code.ends_with(";") || code.ends_with("{") || code.ends_with("}") ||
         code.ends_with("*/");
}

void put_line(const SourceLine &place, const FileNames &files, std::string &out) {
  auto file = files.find(place.file);
  if (file == files.end()) return;
  llvm::raw_string_ostream(out) << "#line " << place.line << " \"";
  for (char c : file->second) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += "\"\n";
}

} // namespace

std::string with_lines(StringRef text, const FileNames &files) {
  std::string out;
  SourceLine place; // stays for functions that say nothing, as those that start the threads
  bool inside = false, may = true;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!inside && line.ends_with("{")) {
      if (SourceLine first = first_place(rest); first.line) place = first;
      inside = may = place.line != 0; // a directive may stand among parameters
    }
    if (SourceLine own = place_of(line); inside && own.line) place = own;
    if (inside && may && !line.starts_with("#")) put_line(place, files, out);
    (out += line) += '\n';
    may = ends_statement(line);
    if (inside && line.starts_with("}")) {
      inside = false;
      out += "#line 1 \"tcompile.c\"\n";
    }
    text = rest;
  }
  return out;
}

// ---- assembly -----------------------------------------------------------------------------------

unsigned LineTables::number(StringRef file, std::string &out) {
  auto [at, fresh] = numbers.insert({file.str(), numbers.size() + 1});
  if (fresh) out += "\t.file\t" + std::to_string(at->second) + " " + at->first + "\n";
  return at->second;
}

std::string LineTables::merge(StringRef text) {
  std::string out;
  std::map<unsigned, unsigned> here; // numbers of this part
  out.reserve(text.size());
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    StringRef words = line.ltrim();
    unsigned file;
    if (words.consume_front(".file\t") && !words.consumeInteger(10, file)) {
      here[file] = number(words.take_front(words.find(" md5 ")).trim(), out);
    } else if (words.consume_front(".loc\t") && !words.consumeInteger(10, file)) {
      out += "\t.loc\t" + std::to_string(here[file]);
      (out += words.take_front(words.find('#'))) += '\n';
    } else {
      (out += line) += '\n';
    }
  }
  return out;
}

} // namespace tc
