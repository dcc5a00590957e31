// job.cpp - the shell of the unit compiler in Clang: the inner parse, and what the user's
// compilation gets.
#include "driver/job.h"

#include <optional>
#include <set>

#include "backends/explain.h"
#include "driver/agreement.h"
#include "driver/check.h"
#include "frontend/unit/unit.h"
#include "driver/inner.h"
#include "driver/kernels.h"
#include "driver/lines.h"
#include "driver/object.h"
#include "driver/precompiled.h"
#include "driver/report.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

class ClangShell : public Shell {
public:
  // other: the compiler that the new text is for, or null; agreement: with it.
  ClangShell(CompilerInstance &user, ASTContext &context, const Options &options,
             OtherCompiler *other, Agreement &agreement,
             const std::vector<KnownError> &known_errors)
      : user(user), context(context), options(options), other(other), agreement(agreement),
        known_errors(known_errors), reporter(user, context.getSourceManager()) {}

  void show(const Message &message) override { reporter.show(message); }
  void show_remark(const std::string &text) override {
    DiagnosticsEngine &diags = user.getDiagnostics();
    if (!diags.getIgnoreAllWarnings())
      diags.Report(diags.getCustomDiagID(DiagnosticsEngine::Remark, "%0")) << text;
  }

  Dialect dialect() const override { return other ? other->dialect : Dialect::Clang; }
  bool warns_of_mixed_declarations() const override;
  bool makes_code() const override;
  bool precompiles() const override;
  std::string unsupported_target() const override;
  void depends_on(const std::string &path) override;
  std::optional<Message> objection(const FunctionDecl *function) override;

  std::vector<Suspect> check(Rewriter &rewriter, const std::vector<const FunctionDecl *> &functions,
                             bool &scopes_fit) override {
    return check_rewritten(user, rewriter, context, functions, known_errors, scopes_fit);
  }

  void begin_code(tc_cache *cache, unsigned jobs) override {
    compiler.emplace(user, options.effort, options.thresholds, cache, jobs);
    if (dialect() == Dialect::Clang)
      compiler->point_to(file_names(context.getSourceManager())); // who numbers the files?
  }
  void compile_kernels(const tc_texts &texts) override { compiler->compile_kernels(texts); }
  std::string kernel_compiler() const override;
  std::string compile(const tc_texts &texts, std::vector<std::string> entries) override {
    code = compiler->finish(texts, entries);
    return code.error;
  }

  void put(Rewriter &rewriter, bool has_code, const std::string &explanation) override;

private:
  void put_assembly(Rewriter &rewriter);
  void collect(const Rewriter &rewriter);

  CompilerInstance &user;
  ASTContext &context;
  const Options &options;
  OtherCompiler *other;
  Agreement &agreement;
  const std::vector<KnownError> &known_errors;
  Reporter reporter;
  std::optional<TextCompiler> compiler;
  CompiledUnit code = {};
  std::set<FileID> headers; // that something was said about
};

// Bodies of functions rely on each other's new texts: where a header's is not read, its functions
// count as any.
std::optional<Message> ClangShell::objection(const FunctionDecl *function) {
  const SourceManager &sources = context.getSourceManager();
  const FileID file = sources.getFileID(sources.getExpansionLoc(function->getLocation()));
  if (!other || other->headers || file == sources.getMainFileID())
    return agreement.objection(function);
  return Message{headers.insert(file).second ? TC_WARNING : TC_MISSED,
                 function->getLocation(),
                 "'" + function->getNameAsString() +
                     "' not compiled: it is in a header; --overlay=FOLDER writes headers too",
                 {},
                 {}};
}

// Collectors of dependencies (-MD) take what is looked for by __has_include; nobody else asks.
void ClangShell::depends_on(const std::string &path) {
  PPCallbacks *callbacks = user.getPreprocessor().getPPCallbacks();
  OptionalFileEntryRef file = user.getFileManager().getOptionalFileRef(path);
  const SourceManager &sources = user.getSourceManager();
  const SourceLocation start = sources.getLocForStartOfFile(sources.getMainFileID());
  if (callbacks && file) callbacks->HasInclude(start, path, false, file, SrcMgr::C_User);
}

// Whether the flags say so; as an error, too.
bool ClangShell::warns_of_mixed_declarations() const {
  return llvm::any_of(user.getDiagnosticOpts().Warnings, [](StringRef flag) {
    flag.consume_front("error=");
    return flag == "declaration-after-statement";
  });
}

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

// The one whose resources (LLVM/lib/clang/VERSION) are used; kernels are run, so they are not for
// another machine.
std::string ClangShell::kernel_compiler() const {
  const llvm::Triple here(LLVM_HOST_TRIPLE);
  if (user.getTarget().getTriple().getArch() != here.getArch() ||
      user.getTarget().getTriple().getOS() != here.getOS())
    return "";
  llvm::SmallString<256> path(user.getHeaderSearchOpts().ResourceDir);
  for (int i = 0; i < 3; i++) llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "bin", "clang");
  return llvm::sys::fs::can_execute(path) ? std::string(path) : "";
}

// What goes to another process is assembly, which link-time optimisation would have to join.
std::string ClangShell::unsupported_target() const {
  if (other && choose_form(user) != Form::Assembly && makes_code())
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

// What the section holds.  Without memory there is none.
static std::string packed_explanation(const std::string &explanation) {
  tc_buf section = {};
  if (!explanation.empty()) tc_explain_pack(explanation.data(), explanation.size(), &section);
  std::string out = section.failed || !section.text ? "" : std::string(section.text, section.len);
  tc_buf_free(&section);
  return out;
}

// A file whose functions all stay as they are has what tc-explain reads all the same.
void ClangShell::put(Rewriter &rewriter, bool has_code, const std::string &explanation) {
  const Form form = other ? Form::Assembly : choose_form(user);
  if (!has_code) code = {form, {}, {}, {}, false, "", ""};
  code.explain = packed_explanation(explanation);
  const bool any = has_code || !explanation.empty();
  if (any && code.form == Form::Assembly) put_assembly(rewriter);
  if (any || !rewriter.empty()) apply_texts(rewriter, user);
  if (other) {
    other->explanation = explanation;
    collect(rewriter);
  }
  if (any && code.form == Form::Bitcode) link_unit(user, std::move(code));
}

void ClangShell::put_assembly(Rewriter &rewriter) {
  if (!other || !(other->split || other->joined))
    return rewriter.append(assembly_declarations(code, dialect(), user));
  std::string suffix;
  if (other->split) other->assembly = separate_assembly(code, suffix);
  else rewriter.append(joinable_declarations(code, dialect(), user, suffix));
  rewriter.name_entries(suffix);
}

void ClangShell::collect(const Rewriter &rewriter) {
  const SourceManager &sources = rewriter.original();
  for (auto &[file, text] : rewriter.texts())
    other->texts.push_back({sources.getFilename(sources.getLocForStartOfFile(file)).str(), text,
                            file == sources.getMainFileID()});
}

// ---- the inner parse ----------------------------------------------------------------------------

// Says nothing: the user's compilation does.
struct ErrorList : DiagnosticConsumer {
  std::vector<KnownError> list;
  bool fatal = false; // what follows was not parsed
  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) override {
    if (level < DiagnosticsEngine::Error || is_tolerable(level, info)) return;
    fatal |= level == DiagnosticsEngine::Fatal || info.getLocation().isInvalid();
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    list.push_back({info.getLocation(), std::string(text)});
  }
};

class InnerConsumer : public ASTConsumer {
public:
  InnerConsumer(CompilerInstance &user, Preprocessor &preprocessor, const Options &options,
                OtherCompiler *other, const ErrorList &errors)
      : user(user), options(options), other(other), errors(errors),
        agreement(preprocessor, other ? other->tokens : "", other ? other->types : "") {
    expansions.watch(preprocessor, [this](const Token &token) { agreement.add(token); });
  }

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *decl : group) definitions.add(decl);
    return true;
  }

  // A file with errors is left to the user's compilation, which reports them; another compiler may
  // take for right what this one does not know.
  void HandleTranslationUnit(ASTContext &context) override {
    const bool understood =
        errors.list.empty() || (other && other->dialect == Dialect::Gnu && !errors.fatal);
    if (other) other->understood = understood;
    if (!understood) return;
    for (const KnownError &error : errors.list) agreement.add_error(error.loc, error.text);
    ClangShell shell(user, context, options, other, agreement, errors.list);
    Unit unit(context, expansions, options, shell);
    const SourceManager &sources = context.getSourceManager();
    const Precompiled precompiled = precompiled_of(user); // where functions stay as they are
    for (const FunctionDecl *function : definitions.list)
      if (!precompiled.has(sources, function->getLocation()) &&
          (function->getStorageClass() != SC_Static || function->isReferenced() ||
           shell.precompiles()))
        unit.add(function);
    for (const FunctionDecl *function : definitions.all)
      if (!sources.isInSystemHeader(function->getLocation()) &&
          !precompiled.has(sources, function->getLocation()))
        unit.look_at(function);
    unit.run();
  }

private:
  CompilerInstance &user;
  Options options;
  OtherCompiler *other;
  const ErrorList &errors;
  Agreement agreement;
  Expansions expansions;
  Definitions definitions;
};

class InnerAction : public ASTFrontendAction {
public:
  InnerAction(CompilerInstance &user, const Options &options, OtherCompiler *other,
              const ErrorList &errors)
      : user(user), options(options), other(other), errors(errors) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef) override {
    return std::make_unique<InnerConsumer>(user, ci.getPreprocessor(), options, other, errors);
  }

private:
  CompilerInstance &user;
  Options options;
  OtherCompiler *other;
  const ErrorList &errors;
};

// A thread of its own has stack for deep code (capture recurses), and a crash in it ends there.
const unsigned stack_bytes = 512u << 20; // reserved, not used

void compile(CompilerInstance &user, const Options &options, OtherCompiler *other) {
  bool done = compat::run_protected(stack_bytes, [&] {
    ErrorList errors;
    InnerAction action(user, options, other, errors);
    parse_inner(user, errors, action);
  });
  if (!done)
    user.getDiagnostics().Report(diag::warn_fe_backend_plugin)
        << "tcompile failed on this file and left its functions as they are; please report this";
}

} // namespace

void compile_annotated(CompilerInstance &user, const Options &options) {
  compile(user, options, nullptr);
}

void compile_annotated(CompilerInstance &user, const Options &options, OtherCompiler &other) {
  compile(user, options, &other);
}

} // namespace tc
