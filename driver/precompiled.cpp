// precompiled.cpp - see precompiled.h.
#include "driver/precompiled.h"

#include "clang/Serialization/ASTReader.h"

namespace tc {

using namespace clang;

namespace {

struct Listener : ASTReaderListener {
  FileManager &files;
  Precompiled &found;
  bool chained = false;

  Listener(FileManager &files, Precompiled &found) : files(files), found(found) {}
  bool needsInputFileVisitation() override { return true; }
  bool needsSystemInputFileVisitation() override { return true; }
  bool visitInputFile(llvm::StringRef name, bool, bool, bool) override {
    if (auto entry = files.getOptionalFileRef(name)) found.files.insert(&entry->getFileEntry());
    return true;
  }
  bool needsImportVisitation() const override { return true; }
  void visitImport(llvm::StringRef, llvm::StringRef) override { chained = true; }
};

} // namespace

bool Precompiled::has(const SourceManager &sources, SourceLocation loc) const {
  const FileEntry *entry =
      sources.getFileEntryForID(sources.getFileID(sources.getExpansionLoc(loc)));
  return entry && files.count(entry);
}

Precompiled precompiled_of(CompilerInstance &user) {
  Precompiled found;
  const std::string &path = user.getPreprocessorOpts().ImplicitPCHInclude;
  if (path.empty()) return found;
  FileManager &files = user.getFileManager();
  const PCHContainerReader &reader = user.getPCHContainerReader();
  Listener listener(files, found);
  if (ASTReader::readASTFileControlBlock(path, files, user.getModuleCache(), reader, false,
                                         listener, false) ||
      listener.chained)
    return {};
  found.header = ASTReader::getOriginalSourceFile(path, files, reader, user.getDiagnostics());
  return found;
}

void read_as_text(const Precompiled &precompiled, PreprocessorOptions &options) {
  if (precompiled.header.empty()) return;
  options.Includes.insert(options.Includes.begin(), precompiled.header);
  options.ImplicitPCHInclude.clear();
}

} // namespace tc
