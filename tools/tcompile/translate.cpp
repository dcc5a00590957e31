// translate.cpp - see translate.h.  A compilation of Clang's that stops behind the parse.
#include "tools/tcompile/translate.h"

#include "driver/scan.h"
#include "tools/tcompile/invocation.h"

#include "llvm/Support/TargetSelect.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

namespace {

// As the plugin's in plugin.cpp: before the file is entered its new text is there, which is then parsed
// for what Clang has to say about it.
class Translation : public ASTFrontendAction {
public:
  Translation(const Source &source, std::vector<NewText> &texts)
      : source(source),
        texts(texts), other{source.of_clang ? Dialect::Clang : Dialect::Gnu, source.tokens} {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef) override {
    if (may_be_annotated(ci)) compile_annotated(ci, source.options, other);
    texts = std::move(other.texts);
    return std::make_unique<ASTConsumer>();
  }

  bool understood() const { return other.understood; }

private:
  const Source &source;
  std::vector<NewText> &texts;
  OtherCompiler other;
};

} // namespace

bool translate(const Source &source, DiagnosticConsumer *diagnostics, std::vector<NewText> &texts,
               bool *understood) {
  if (understood) *understood = false;
  std::shared_ptr<CompilerInvocation> invocation =
      source.of_clang ? from_clang(source.flags, source.name, diagnostics)
                      : make_invocation(source.flags, source.name, diagnostics);
  if (!invocation) return false;
  std::unique_ptr<DiagnosticConsumer> printer;
  if (!diagnostics) printer = compat::make_printer(invocation->getDiagnosticOpts());
  if (source.text) {
    PreprocessorOptions &options = invocation->getPreprocessorOpts();
    options.RetainRemappedFileBuffers = true; // each parse reads it
    options.addRemappedFile(source.name,
                            llvm::MemoryBuffer::getMemBuffer(*source.text, source.name).release());
  }
  auto ci = compat::make_instance(invocation, diagnostics ? diagnostics : printer.get(), nullptr,
                                  llvm::vfs::getRealFileSystem());
  Translation action(source, texts);
  const bool done = ci->ExecuteAction(action);
  if (understood) *understood = action.understood();
  if (source.text) delete invocation->getPreprocessorOpts().RemappedFileBuffers.back().second;
  return done;
}

void initialize_targets() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
}

std::string set_option(Source &source, StringRef option) {
  return apply_option(option, source.options, Stands::OnCommandLine);
}

} // namespace tc
