// scan.cpp - see scan.h.  Files are read through the compilation's own file manager, so what is
// read here is not looked up again.
#include "scan.h"

#include <set>

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

bool mentions_annotation(StringRef text) {
  return text.contains("tc_compile") || text.contains("TC_COMPILE");
}

// Calls found(name, quoted) for each #include in text.
template <class Found> void each_include(StringRef text, Found found) {
  for (size_t at = text.find("include"); at != StringRef::npos; at = text.find("include", at + 7)) {
    if (!text.substr(0, at).rtrim(" \t").ends_with("#")) continue;
    StringRef rest = text.substr(at + 7).ltrim(" \t");
    bool quoted = rest.starts_with("\"");
    if (!quoted && !rest.starts_with("<")) continue;
    StringRef name = rest.drop_front().take_until(
        [&](char c) { return c == (quoted ? '"' : '>') || c == '\n'; });
    found(name, quoted);
  }
}

class Scan {
public:
  explicit Scan(CompilerInstance &ci) : files(ci.getFileManager()) {
    for (const auto &entry : ci.getHeaderSearchOpts().UserEntries)
      if (entry.Group == frontend::Quoted || entry.Group == frontend::Angled)
        directories.push_back(entry.Path);
  }

  bool file(FileEntryRef entry) {
    if (!seen.insert(&entry.getFileEntry()).second) return false;
    auto buffer = files.getBufferForFile(entry);
    if (!buffer) return false;
    // The public header defines the macros; it annotates nothing.
    bool own = llvm::sys::path::filename(entry.getName()) == "tcompile.h";
    return !own && text((*buffer)->getBuffer(), llvm::sys::path::parent_path(entry.getName()));
  }

  bool text(StringRef text, StringRef directory) {
    if (mentions_annotation(text)) return true;
    bool found = false;
    each_include(text, [&](StringRef name, bool quoted) {
      found = found || header(name, quoted ? directory : "");
    });
    return found;
  }

  // A header of the directory `beside` (none: ""), or of the user's include directories.
  bool header(StringRef name, StringRef beside) {
    if (auto entry = lookup(beside, name)) return file(*entry);
    for (StringRef directory : directories)
      if (auto entry = lookup(directory, name)) return file(*entry);
    return false;
  }

private:
  OptionalFileEntryRef lookup(StringRef directory, StringRef name) {
    llvm::SmallString<256> path(directory);
    llvm::sys::path::append(path, name);
    return files.getOptionalFileRef(path);
  }

  FileManager &files;
  std::vector<std::string> directories;
  std::set<const FileEntry *> seen;
};

} // namespace

bool may_be_annotated(CompilerInstance &ci, FileEntryRef main) {
  SourceManager &sources = ci.getSourceManager();
  Scan scan(ci);
  for (const std::string &name : ci.getPreprocessorOpts().Includes)
    if (scan.header(name, "")) return true;
  return scan.text(sources.getBufferData(sources.getMainFileID()),
                   llvm::sys::path::parent_path(main.getName()));
}

} // namespace tc
