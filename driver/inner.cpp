// inner.cpp - see inner.h.
#include "driver/inner.h"

#include "driver/precompiled.h"
#include "frontend/attributes.h"
#include "frontend/unit/unit.h"

namespace tc {

using namespace clang;

// The user's invocation without anything that it would write or print.
std::shared_ptr<CompilerInvocation> inner_invocation(CompilerInstance &user) {
  auto invocation = std::make_shared<CompilerInvocation>(user.getInvocation());
  FrontendOptions &frontend = invocation->getFrontendOpts();
  frontend.ProgramAction = frontend::ParseSyntaxOnly;
  frontend.OutputFile.clear();
  frontend.StatsFile.clear();
  frontend.ShowStats = false;
  frontend.DisableFree = false;
  frontend.AddPluginActions.clear();
  invocation->getDependencyOutputOpts() = DependencyOutputOptions();
  invocation->getPreprocessorOutputOpts() = PreprocessorOutputOptions();
  DiagnosticOptions &diagnostics = invocation->getDiagnosticOpts();
  diagnostics.VerifyDiagnostics = false;
  diagnostics.ShowCarets = false;
  diagnostics.IgnoreWarnings = true;
  diagnostics.DiagnosticLogFile.clear();
  diagnostics.DiagnosticSerializationFile.clear();
  invocation->getPreprocessorOpts().addMacroDef(inner_macro);
  read_as_text(precompiled_of(user), invocation->getPreprocessorOpts());
  // A pipe can be read once.  (The file manager keeps what came through standard input.)
  SourceManager &sources = user.getSourceManager();
  auto main = sources.getFileEntryRefForID(sources.getMainFileID());
  if (main && main->getFileEntry().isNamedPipe() && main->getName() != "<stdin>")
    invocation->getPreprocessorOpts().addRemappedFile(
        main->getName(), llvm::MemoryBuffer::getMemBufferCopy(
                             sources.getBufferData(sources.getMainFileID()), main->getName())
                             .release());
  return invocation;
}

// What the inner parse has read of a file is what other parses read, though the file be replaced
// meanwhile: all find it by one file manager, which knows the size that it had.  What a parse was
// given is no file's.  (Of files that a precompiled header has read, or is to remember, there are no
// other contents.)
static void keep_contents(const SourceManager &inner, CompilerInstance &outer) {
  SourceManager &sources = outer.getSourceManager();
  if (outer.getFrontendOpts().ProgramAction == frontend::GeneratePCH || outer.getLangOpts().Modules ||
      !outer.getPreprocessorOpts().ImplicitPCHInclude.empty())
    return;
  for (auto file = inner.fileinfo_begin(); file != inner.fileinfo_end(); ++file) {
    const auto buffer = file->second->getBufferIfLoaded();
    if (buffer && file->first != sources.getFileEntryRefForID(sources.getMainFileID()) &&
        !inner.isFileOverridden(file->first) && !sources.isFileOverridden(file->first))
      sources.overrideFileContents(
          file->first, llvm::MemoryBuffer::getMemBufferCopy(buffer->getBuffer(), file->first.getName()));
  }
}

bool parse_inner(CompilerInstance &user, DiagnosticConsumer &diagnostics, FrontendAction &action) {
  auto ci =
      compat::make_instance(inner_invocation(user), &diagnostics, &user.getFileManager(), nullptr);
  ci->setVerboseOutputStream(llvm::nulls());
  const bool done = ci->ExecuteAction(action);
  if (ci->hasSourceManager()) keep_contents(ci->getSourceManager(), user);
  return done;
}

bool is_tolerable(DiagnosticsEngine::Level level, const Diagnostic &info) {
  return level == DiagnosticsEngine::Error && info.hasSourceManager() &&
         info.getLocation().isValid() &&
         info.getSourceManager().isInSystemHeader(info.getLocation());
}

void Definitions::add(Decl *decl) {
  if (llvm::isa<LinkageSpecDecl>(decl) || llvm::isa<NamespaceDecl>(decl) ||
      llvm::isa<ExportDecl>(decl) || llvm::isa<CXXRecordDecl>(decl))
    for (Decl *inside : llvm::cast<DeclContext>(decl)->decls()) add(inside);
  if (const auto *pattern = llvm::dyn_cast<FunctionTemplateDecl>(decl))
    return add(pattern->getTemplatedDecl());
  if (const auto *pattern = llvm::dyn_cast<ClassTemplateDecl>(decl))
    return add(pattern->getTemplatedDecl());
  if (auto *function = llvm::dyn_cast<FunctionDecl>(decl))
    if (function->isThisDeclarationADefinition()) {
      all.push_back(function);
      if (find_attribute(function, compile_attribute)) list.push_back(function);
    }
}

// The main file already has an id, made for its old length: it gets a new one.
void apply_texts(const Rewriter &rewriter, CompilerInstance &outer) {
  const SourceManager &inner = rewriter.original();
  SourceManager &sources = outer.getSourceManager();
  for (const auto &[file, text] : rewriter.texts()) {
    bool main = file == inner.getMainFileID();
    auto entry = main ? sources.getFileEntryRefForID(sources.getMainFileID())
                      : inner.getFileEntryRefForID(file);
    if (!entry) continue;
    if (dump_wanted("rewritten"))
      llvm::errs() << "// ---- " << entry->getName() << " as the compiler reads it\n" << text;
    sources.overrideFileContents(*entry,
                                 llvm::MemoryBuffer::getMemBufferCopy(text, entry->getName()));
    if (main)
      sources.setMainFileID(sources.createFileID(
          *entry, SourceLocation(), inner.getFileCharacteristic(inner.getLocForStartOfFile(file))));
  }
  keep_contents(inner, outer);
}

} // namespace tc
