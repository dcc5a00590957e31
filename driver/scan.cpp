// scan.cpp - see scan.h.  Files are read through the compilation's own file manager, so what is
// read here is not looked up again.
#include "driver/scan.h"

#include <set>

#include "driver/annotation.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

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
    if (tc_mentions_annotation(text.data(), text.size())) return true;
    size_t at = 0;
    for (tc_inclusion next; tc_next_inclusion(text.data(), text.size(), &at, &next);)
      if (header(StringRef(next.name, next.size), next.quoted ? directory : "")) return true;
    return false;
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
    llvm::SmallString<256> path;
    if (!llvm::sys::path::is_absolute(name)) path = directory;
    llvm::sys::path::append(path, name);
    return files.getOptionalFileRef(path);
  }

  FileManager &files;
  std::vector<std::string> directories;
  std::set<const FileEntry *> seen;
};

} // namespace

bool may_be_annotated(CompilerInstance &ci) {
  const Language language = ci.getFrontendOpts().Inputs.front().getKind().getLanguage();
  if (language != Language::C && language != Language::CXX) return false;
  SourceManager &sources = ci.getSourceManager();
  auto main = sources.getFileEntryRefForID(sources.getMainFileID());
  if (!main) return false;
  Scan scan(ci);
  for (const std::string &name : ci.getPreprocessorOpts().Includes)
    if (scan.header(name, "")) return true;
  return scan.text(sources.getBufferData(sources.getMainFileID()),
                   llvm::sys::path::parent_path(main->getName()));
}

} // namespace tc
