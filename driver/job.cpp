// job.cpp - the shell of the unit compiler in Clang: the inner parse, and what the user's compilation gets.
#include "driver/job.h"

#include <optional>

#include "driver/check.h"
#include "frontend/unit/unit.h"
#include "driver/inner.h"
#include "driver/kernels.h"
#include "driver/lines.h"
#include "driver/report.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

// Who reads the new texts: this compilation, or (texts) another process.
struct Reader {
  Dialect dialect = Dialect::Clang;
  std::vector<NewText> *texts = nullptr;
};

class ClangShell : public Shell {
public:
  ClangShell(CompilerInstance &user, ASTContext &context, const Options &options, Reader reader)
      : user(user), context(context), options(options), reader(reader),
        reporter(user, context.getSourceManager()) {}

  void show(const Message &message) override { reporter.show(message); }
  void show_remark(const std::string &text) override {
    DiagnosticsEngine &diags = user.getDiagnostics();
    if (!diags.getIgnoreAllWarnings())
      diags.Report(diags.getCustomDiagID(DiagnosticsEngine::Remark, "%0")) << text;
  }

  Dialect dialect() const override { return reader.dialect; }
  bool makes_code() const override;
  bool precompiles() const override;
  std::string unsupported_target() const override;

  std::vector<Suspect> check(Rewriter &rewriter, const std::vector<const FunctionDecl *> &functions,
                             bool &scopes_fit) override {
    return check_rewritten(user, rewriter, context, functions, scopes_fit);
  }

  void begin_code(tc_cache *cache, unsigned jobs) override {
    compiler.emplace(user, options.effort, options.thresholds, cache, jobs);
    if (reader.dialect == Dialect::Clang)
      compiler->point_to(file_names(context.getSourceManager())); // who numbers the files?
  }
  void compile_kernels(const tc_texts &texts) override { compiler->compile_kernels(texts); }
  std::string compile(const tc_texts &texts, std::vector<std::string> entries) override {
    code = compiler->finish(texts, entries);
    return code.error;
  }

  void put(Rewriter &rewriter, bool has_code, const std::string &explanation) override;

private:
  void collect(const Rewriter &rewriter);

  CompilerInstance &user;
  ASTContext &context;
  const Options &options;
  const Reader reader;
  Reporter reporter;
  std::optional<TextCompiler> compiler;
  CompiledUnit code = {};
};

bool ClangShell::makes_code() const {
  switch (user.getFrontendOpts().ProgramAction) {
  case frontend::EmitAssembly:
  case frontend::EmitBC:
  case frontend::EmitLLVM:
  case frontend::EmitLLVMOnly:
  case frontend::EmitCodeGenOnly:
  case frontend::EmitObj:
    return true;
  default:
    return false;
  }
}

// What goes to another process is assembly, which link-time optimisation would have to join.
std::string ClangShell::unsupported_target() const {
  if (reader.texts && choose_form(user) != Form::Assembly && makes_code())
    return "kernels come as assembly, which -flto and formats other than ELF do not go with";
  return tc::unsupported_target(user);
}

// Whether what is compiled here is read by other compilations, as it stands.
bool ClangShell::precompiles() const {
  switch (user.getFrontendOpts().ProgramAction) {
  case frontend::GeneratePCH:
  case frontend::GenerateModule:
  case frontend::GenerateModuleInterface:
  case frontend::GenerateReducedModuleInterface:
  case frontend::GenerateHeaderUnit:
    return true;
  default:
    return false;
  }
}

// A file whose functions all stay as they are has what tc-explain reads all the same.
void ClangShell::put(Rewriter &rewriter, bool has_code, const std::string &explanation) {
  const Form form = reader.texts ? Form::Assembly : choose_form(user);
  if (!has_code) code = {form, {}, {}, {}, false, "", ""};
  code.explain = explanation;
  const bool any = has_code || !explanation.empty();
  if (any && code.form == Form::Assembly)
    rewriter.append(assembly_declarations(code, dialect(), user));
  if (any || !rewriter.empty()) apply_texts(rewriter, user);
  if (reader.texts) collect(rewriter);
  if (any && code.form == Form::Bitcode) link_unit(user, std::move(code));
}

void ClangShell::collect(const Rewriter &rewriter) {
  const SourceManager &sources = rewriter.original();
  for (auto &[file, text] : rewriter.texts())
    reader.texts->push_back({sources.getFilename(sources.getLocForStartOfFile(file)).str(), text,
                             file == sources.getMainFileID()});
}

// ---- the inner parse ----------------------------------------------------------------------------

// Says nothing: the user's compilation does.
struct Errors : DiagnosticConsumer {
  bool found = false;
  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) override {
    found |= level >= DiagnosticsEngine::Error && !is_tolerable(level, info);
  }
};

class InnerConsumer : public ASTConsumer {
public:
  InnerConsumer(CompilerInstance &user, Preprocessor &preprocessor, const Options &options,
                Reader reader, const Errors &errors)
      : user(user), options(options), reader(reader), errors(errors) {
    expansions.watch(preprocessor);
  }

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *decl : group) definitions.add(decl);
    return true;
  }

  // A file with errors is left to the user's compilation, which reports them.
  void HandleTranslationUnit(ASTContext &context) override {
    if (errors.found) return;
    ClangShell shell(user, context, options, reader);
    Unit unit(context, expansions, options, shell);
    for (const FunctionDecl *function : definitions.list)
      if (function->getStorageClass() != SC_Static || function->isReferenced() ||
          shell.precompiles())
        unit.add(function);
    for (const FunctionDecl *function : definitions.all)
      if (!context.getSourceManager().isInSystemHeader(function->getLocation()))
        unit.look_at(function);
    unit.run();
  }

private:
  CompilerInstance &user;
  Options options;
  Reader reader;
  const Errors &errors;
  Expansions expansions;
  Definitions definitions;
};

class InnerAction : public ASTFrontendAction {
public:
  InnerAction(CompilerInstance &user, const Options &options, Reader reader, const Errors &errors)
      : user(user), options(options), reader(reader), errors(errors) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef) override {
    return std::make_unique<InnerConsumer>(user, ci.getPreprocessor(), options, reader, errors);
  }

private:
  CompilerInstance &user;
  Options options;
  Reader reader;
  const Errors &errors;
};

// A thread of its own has stack for deep code (capture recurses), and a crash in it ends there.
const unsigned stack_bytes = 512u << 20; // reserved, not used

void compile(CompilerInstance &user, const Options &options, Reader reader) {
  bool done = compat::run_protected(stack_bytes, [&] {
    Errors errors;
    InnerAction action(user, options, reader, errors);
    parse_inner(user, errors, action);
  });
  if (!done)
    user.getDiagnostics().Report(diag::warn_fe_backend_plugin)
        << "tcompile failed on this file and left its functions as they are; please report this";
}

} // namespace

void compile_annotated(CompilerInstance &user, const Options &options) {
  compile(user, options, {});
}

void compile_annotated(CompilerInstance &user, const Options &options, Dialect dialect,
                       std::vector<NewText> &texts) {
  compile(user, options, {dialect, &texts});
}

} // namespace tc
