// plugin.cpp - the entry: an action that Clang runs before the main one.
//
// Two passes.  When the consumers of the user's compilation are made, its main file has an entry
// but has not been read.  At that moment an inner compiler instance parses the file, the annotated
// functions are captured and compiled, and the file's contents are replaced in the user's source
// manager.  The user's compilation then runs unchanged, whatever it is: -c, -S, -emit-llvm, LTO,
// -g. A file that cannot contain annotations costs one text search.
#include "frontend/attributes.h"
#include "driver/job.h"
#include "frontend/options.h"
#include "driver/scan.h"

namespace tc {
namespace {

using namespace clang;

class Action : public PluginASTAction {
protected:
  ActionType getActionType() override { return AddBeforeMainAction; }

  // false: the plugin takes no part (its own compilations).
  bool ParseArgs(const CompilerInstance &ci, const std::vector<std::string> &args) override {
    for (const auto &macro : ci.getPreprocessorOpts().Macros)
      if (macro.first == inner_macro) return false;
    for (const std::string &arg : args) {
      std::string problem = apply_option(arg, options, Stands::OnCommandLine);
      if (problem.empty()) continue;
      DiagnosticsEngine &diags = ci.getDiagnostics();
      diags.Report(diags.getCustomDiagID(DiagnosticsEngine::Error, "-fplugin-arg-tc-%0: %1"))
          << arg << problem;
    }
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, llvm::StringRef) override {
    if (may_be_annotated(ci)) compile_annotated(ci, options);
    return std::make_unique<ASTConsumer>();
  }

private:
  Options options;
};

} // namespace

static FrontendPluginRegistry::Add<Action> add_action("tc", "compile annotated tensor functions");

} // namespace tc
