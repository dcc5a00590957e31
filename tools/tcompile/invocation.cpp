// invocation.cpp - see invocation.h.
#include "tools/tcompile/invocation.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

// What decides where the driver looks for headers: the clang whose libraries this program is made
// of.
static const char driver[] = TC_CLANG_PROGRAM;

std::string builtin_headers() {
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(driver));
  llvm::sys::path::append(folder, "..", "lib", "clang");
  llvm::sys::path::append(folder, std::to_string(LLVM_VERSION_MAJOR), "include");
  llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  return llvm::sys::fs::is_directory(folder) ? std::string(folder) : "";
}

// What asks for a kind of output that is not made here.
static bool is_output(StringRef flag) {
  return flag == "-c" || flag == "-S" || flag == "-E" || flag == "-flto" ||
         flag.starts_with("-flto=") || flag == "-emit-llvm";
}

std::shared_ptr<CompilerInvocation> make_invocation(const std::vector<std::string> &flags,
                                                    const std::string &file,
                                                    DiagnosticConsumer *diagnostics) {
  std::vector<const char *> arguments = {driver};
  bool parse_alone = false;
  for (const std::string &flag : flags) {
    parse_alone |= flag == "-fsyntax-only";
    if (!is_output(flag)) arguments.push_back(flag.c_str());
  }
  if (StringRef(file).starts_with("-")) arguments.push_back("--");
  arguments.push_back(file.c_str());
  DiagnosticOptions plain;
  const std::unique_ptr<DiagnosticConsumer> printer = compat::make_printer(plain);
  auto invocation = compat::run_driver(arguments, diagnostics ? diagnostics : printer.get());
  if (!invocation) return nullptr;
  invocation->getDependencyOutputOpts() = DependencyOutputOptions();
  invocation->getFrontendOpts().ProgramAction =
      parse_alone ? frontend::ParseSyntaxOnly : frontend::EmitAssembly;
  return invocation;
}

} // namespace tc
