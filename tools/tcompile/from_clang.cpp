// from_clang.cpp - see invocation.h.
#include "tools/tcompile/driver_options.h"
#include "tools/tcompile/invocation.h"

namespace tc {

using namespace clang;
using namespace clang::driver;
using llvm::StringRef;

// Without the file, and without what came with another version.
static llvm::opt::ArgStringList known_flags(const llvm::opt::InputArgList &flags) {
  llvm::opt::ArgStringList known;
  for (const llvm::opt::Arg *flag : flags) {
    const auto kind = flag->getOption().getKind();
    if (kind != llvm::opt::Option::InputClass && kind != llvm::opt::Option::UnknownClass)
      flag->render(flags, known);
  }
  return known;
}

// The headers that belong to a compiler belong to this one.
static void use_own_headers(HeaderSearchOptions &search) {
  const std::string own = builtin_headers();
  llvm::SmallString<128> theirs(search.ResourceDir);
  llvm::sys::path::append(theirs, "include");
  if (own.empty() || search.ResourceDir.empty()) return;
  for (HeaderSearchOptions::Entry &entry : search.UserEntries)
    if (StringRef(entry.Path) == theirs) entry.Path = own;
  search.ResourceDir = llvm::sys::path::parent_path(own).str();
}

// What makes code does so here for the kernels alone.
static frontend::ActionKind action_for(frontend::ActionKind action) {
  switch (action) {
  case frontend::EmitBC:
  case frontend::EmitLLVM:
  case frontend::EmitLLVMOnly:
  case frontend::EmitCodeGenOnly:
  case frontend::EmitObj:
    return frontend::EmitAssembly;
  default:
    return action;
  }
}

static void write_nothing(CompilerInvocation &invocation) {
  invocation.getDependencyOutputOpts() = DependencyOutputOptions();
  DiagnosticOptions &diagnostics = invocation.getDiagnosticOpts();
  diagnostics.VerifyDiagnostics = false;
  diagnostics.DiagnosticLogFile.clear();
  diagnostics.DiagnosticSerializationFile.clear();
  FrontendOptions &frontend = invocation.getFrontendOpts();
  frontend.OutputFile.clear();
  frontend.StatsFile.clear();
  frontend.ShowStats = false;
}

// Warnings that this Clang alone knows are no errors; those of ours become some where they are
// shown.
static void warn_alone(DiagnosticOptions &options) {
  llvm::erase_if(options.Warnings, [](StringRef name) { return name.starts_with("error"); });
  options.PedanticErrors = false;
}

std::shared_ptr<CompilerInvocation> from_clang(const std::vector<std::string> &flags,
                                               const std::string &file,
                                               DiagnosticConsumer *diagnostics) {
  std::vector<const char *> all;
  for (const std::string &flag : flags) all.push_back(flag.c_str());
  unsigned missing, count;
  const llvm::opt::InputArgList list =
      getDriverOptTable().ParseArgs(all, missing, count, llvm::opt::Visibility(options::CC1Option));
  auto invocation = std::make_shared<CompilerInvocation>();
  if (!compat::parse_cc1(*invocation, known_flags(list), diagnostics)) return nullptr;
  FrontendOptions &frontend = invocation->getFrontendOpts();
  frontend.Inputs = {FrontendInputFile(file, frontend.Inputs.front().getKind())};
  frontend.ProgramAction = action_for(frontend.ProgramAction);
  use_own_headers(invocation->getHeaderSearchOpts());
  warn_alone(invocation->getDiagnosticOpts());
  write_nothing(*invocation);
  return invocation;
}

} // namespace tc
