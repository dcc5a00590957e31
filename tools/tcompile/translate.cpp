// translate.cpp - see translate.h.  A compilation of Clang's that stops behind the parse.
#include "tools/tcompile/translate.h"

#include "driver/object.h"
#include "driver/scan.h"
#include "tools/tcompile/invocation.h"

#include "llvm/Support/TargetSelect.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

namespace {

// As the plugin's in plugin.cpp: before the file is entered its new text is there, which is then
// parsed for what Clang has to say about it.
class Action : public ASTFrontendAction {
public:
  Action(const Source &source, Translation &result)
      : source(source), result(result), other{source.of_clang ? Dialect::Clang : Dialect::Gnu,
                                              source.tokens,
                                              source.types,
                                              apart(),
                                              source.code == Code::Joinable,
                                              source.headers} {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef) override {
    result.annotated = may_be_annotated(ci);
    if (result.annotated) compile_annotated(ci, source.options, other);
    watch_inclusions(ci, result.inclusions);
    return std::make_unique<ASTConsumer>();
  }

  void ExecuteAction() override {
    if (result.annotated || !source.annotated_only) ASTFrontendAction::ExecuteAction();
  }

  void EndSourceFileAction() override {
    result.texts = std::move(other.texts);
    result.explanation = std::move(other.explanation);
    CompilerInstance &ci = getCompilerInstance();
    if (!apart() || ci.getDiagnostics().hasErrorOccurred()) return;
    if (other.assembly.empty()) other.assembly = empty_assembly;
    result.code = std::move(other.assembly);
    if (source.code == Code::Object) assemble(ci);
  }

  bool understood() const { return other.understood; }

private:
  bool apart() const { return source.code == Code::Object || source.code == Code::Assembly; }

  void assemble(CompilerInstance &ci) {
    std::string error;
    result.code = make_object(ci, result.code, error);
    if (error.empty()) return;
    DiagnosticsEngine &diags = ci.getDiagnostics();
    diags.Report(diags.getCustomDiagID(DiagnosticsEngine::Error, "the kernels: %0")) << error;
  }

  const Source &source;
  Translation &result;
  OtherCompiler other;
};

} // namespace

bool translate(const Source &source, DiagnosticConsumer *diagnostics, Translation &result) {
  result.understood = false;
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
  if (diagnostics) ci->setVerboseOutputStream(llvm::nulls()); // where it counts errors
  Action action(source, result);
  const bool done = ci->ExecuteAction(action);
  result.understood = action.understood();
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
