// clang_compat.h - every Clang and LLVM header that the plugin and the tool use, and every
// difference between the supported versions (19 to 22).  No other file asks for a version.
#ifndef TC_CLANG_COMPAT_H
#define TC_CLANG_COMPAT_H

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticFrontend.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/Stack.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace tc::compat {

// A compiler instance for `invocation` that reads files through `files` (shared with the main
// compilation) or, when that is null, through `fs`.
inline std::unique_ptr<clang::CompilerInstance>
make_instance(std::shared_ptr<clang::CompilerInvocation> invocation,
              clang::DiagnosticConsumer *diags, clang::FileManager *files,
              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> fs) {
#if LLVM_VERSION_MAJOR >= 22
  auto ci = std::make_unique<clang::CompilerInstance>(std::move(invocation));
  ci->setVirtualFileSystem(files ? files->getVirtualFileSystemPtr() : fs);
  ci->createDiagnostics(diags, /*ShouldOwnClient=*/false);
  if (files) ci->setFileManager(files);
  else ci->createFileManager();
  ci->createSourceManager();
#else
  auto ci = std::make_unique<clang::CompilerInstance>();
  ci->setInvocation(std::move(invocation));
  ci->createDiagnostics(diags, /*ShouldOwnClient=*/false);
  if (files) ci->setFileManager(files);
  else ci->createFileManager(fs);
  ci->createSourceManager(ci->getFileManager());
#endif
  return ci;
}

// Messages without places.
struct BareDiagnostics {
  explicit BareDiagnostics(clang::DiagnosticConsumer *consumer)
#if LLVM_VERSION_MAJOR >= 22
      : engine(new clang::DiagnosticsEngine(clang::DiagnosticIDs::create(), options, consumer,
                                            false)) {
  }
  clang::DiagnosticOptions options;
#else
      : engine(new clang::DiagnosticsEngine(new clang::DiagnosticIDs, new clang::DiagnosticOptions,
                                            consumer, false)) {
  }
#endif
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> engine;
};

// To standard error.  The options have to outlive it.
inline std::unique_ptr<clang::DiagnosticConsumer> make_printer(clang::DiagnosticOptions &options) {
#if LLVM_VERSION_MAJOR >= 22
  return std::make_unique<clang::TextDiagnosticPrinter>(llvm::errs(), options);
#else
  options.Retain(); // counted, and not to be deleted by the printer
  return std::make_unique<clang::TextDiagnosticPrinter>(llvm::errs(), &options);
#endif
}

// Parses arguments of `clang -cc1`; false: they are not valid.
inline bool parse_cc1(clang::CompilerInvocation &invocation, llvm::ArrayRef<const char *> arguments,
                      clang::DiagnosticConsumer *consumer) {
  BareDiagnostics diags(consumer);
  return clang::CompilerInvocation::CreateFromArgs(invocation, arguments, *diags.engine);
}

// What `clang` does with its arguments (the first is its path); null after an error.
inline std::shared_ptr<clang::CompilerInvocation> run_driver(llvm::ArrayRef<const char *> arguments,
                                                             clang::DiagnosticConsumer *consumer) {
  BareDiagnostics diags(consumer);
  clang::CreateInvocationOptions options;
  options.Diags = diags.engine;
  auto invocation = clang::createInvocation(arguments, options);
  return diags.engine->hasErrorOccurred() ? nullptr : std::move(invocation);
}

// `run(module)` as the last step of the optimisation pipeline.
template <class Pass> void add_last_pass(llvm::PassBuilder &pb, Pass pass) {
#if LLVM_VERSION_MAJOR >= 20
  pb.registerOptimizerLastEPCallback([pass](llvm::ModulePassManager &pm, llvm::OptimizationLevel,
                                            llvm::ThinOrFullLTOPhase) { pm.addPass(Pass(pass)); });
#else
  pb.registerOptimizerLastEPCallback(
      [pass](llvm::ModulePassManager &pm, llvm::OptimizationLevel) { pm.addPass(Pass(pass)); });
#endif
}

template <class Pass> void add_first_pass(llvm::PassBuilder &pb, Pass pass) {
  pb.registerPipelineStartEPCallback(
      [pass](llvm::ModulePassManager &pm, llvm::OptimizationLevel) { pm.addPass(Pass(pass)); });
}

// Runs `work` on a thread with that much stack and waits; false: it crashed, or asked the process
// to exit, which it survives.
template <class Work> bool run_protected(unsigned stack_bytes, Work work) {
  bool outermost = !llvm::CrashRecoveryContext::GetCurrent();
  if (outermost) llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext context;
  bool done = context.RunSafelyOnThread(
      [&] {
        clang::noteBottomOfStack();
        work();
      },
      stack_bytes);
  if (outermost) llvm::CrashRecoveryContext::Disable();
  return done;
}

} // namespace tc::compat

#endif
