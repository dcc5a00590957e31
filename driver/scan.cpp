// scan.cpp - see scan.h.  The compilation's file manager does not hear of what is read here: it would
// keep the sizes, and read files by them that have others by then.
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

  bool text(StringRef text, StringRef directory) {
    if (tc_mentions_annotation(text.data(), text.size())) return true;
    size_t at = 0;
    for (tc_inclusion next; tc_next_inclusion(text.data(), text.size(), &at, &next);)
      if (header(StringRef(next.name, next.size), next.quoted ? directory : "")) return true;
    return false;
  }

  // A header of the directory `beside` (none: ""), or of the user's include directories.
  bool header(StringRef name, StringRef beside) {
    bool found = false;
    const bool mentions = file(beside, name, found);
    for (auto at = directories.begin(); !found && at != directories.end(); ++at)
      if (file(*at, name, found)) return true;
    return mentions;
  }

private:
  bool file(StringRef directory, StringRef name, bool &found) {
    llvm::SmallString<256> path;
    if (!llvm::sys::path::is_absolute(name)) path = directory;
    llvm::sys::path::append(path, name);
    llvm::SmallString<256> absolute = path;
    files.FixupRelativePath(absolute);
    auto file = files.getVirtualFileSystem().openFileForRead(absolute);
    auto status = file ? (*file)->status() : file.getError();
    found = status && !status->isDirectory();
    if (!found || !seen.insert(status->getUniqueID()).second) return false;
    auto buffer = (*file)->getBuffer(path, static_cast<int64_t>(status->getSize()));
    // The public header defines the macros; it annotates nothing.
    bool own = llvm::sys::path::filename(path) == "tcompile.h";
    return buffer && !own && text((*buffer)->getBuffer(), llvm::sys::path::parent_path(path));
  }

  FileManager &files;
  std::vector<std::string> directories;
  std::set<llvm::sys::fs::UniqueID> seen;
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
