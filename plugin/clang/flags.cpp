// flags.cpp - see thin.h.
#include "plugin/clang/thin.h"

#include <list>

namespace tc_thin {

using namespace clang;

static void put(tc_bytes *request, const std::string &flag) { tc_client::put_flag(flag, request); }

// Conditions on the compiler hold for kernels as they do for the body.
static void put_version(tc_bytes *request) {
  const std::pair<const char *, int> numbers[] = {
      {"__clang_major__", CLANG_VERSION_MAJOR},
      {"__clang_minor__", CLANG_VERSION_MINOR},
      {"__clang_patchlevel__", CLANG_VERSION_PATCHLEVEL}};
  for (auto [name, number] : numbers) {
    put(request, std::string("-U") + name);
    put(request, std::string("-D") + name + "=" + std::to_string(number));
  }
}

// What this Clang has precompiled the tool reads as it was written.
static void name_precompiled(CompilerInstance &ci, PreprocessorOptions &options) {
  if (options.ImplicitPCHInclude.empty()) return;
  const std::string header =
      ASTReader::getOriginalSourceFile(options.ImplicitPCHInclude, ci.getFileManager(),
                                       ci.getPCHContainerReader(), ci.getDiagnostics());
  if (header.empty()) return;
  options.Includes.insert(options.Includes.begin(), header);
  options.ImplicitPCHInclude.clear();
}

void put_flags(CompilerInstance &ci, tc_bytes *request) {
  CompilerInvocation invocation(ci.getInvocation());
  FrontendOptions &frontend = invocation.getFrontendOpts();
  frontend.Plugins.clear();
  frontend.PluginArgs.clear();
  frontend.AddPluginActions.clear();
  name_precompiled(ci, invocation.getPreprocessorOpts());
  std::list<std::string> texts; // addresses stay
  llvm::SmallVector<const char *, 128> flags;
  invocation.generateCC1CommandLine(flags, [&](const llvm::Twine &text) {
    texts.push_back(text.str());
    return texts.back().c_str();
  });
  for (const char *flag : flags) put(request, flag);
  put_version(request);
}

} // namespace tc_thin
