// job.cpp - the inner parse and what follows from it.
#include "job.h"

#include <cstdlib>
#include <deque>

#include "attributes.h"
#include "backends/explain.h"
#include "frontend/ast_capture/capture.h"
#include "graph/text.h"
#include "kernels.h"
#include "report.h"
#include "rewrite.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

// ---- one function -------------------------------------------------------------------------------

// Messages wait until it is known whether the function was compiled: with fullgraph, the reasons
// why not are errors.
struct FunctionJob {
  const FunctionDecl *decl = nullptr;
  Options options;
  tc_diag diag = {};
  CapturedFunction captured = {};
  std::vector<Message> messages;
  std::string name, file;
  unsigned compiled = 0; // segments
  bool cuda = false;
  int kernels = 0, ops = 0;
  tc_buf explain = {}; // rows of its segments

  FunctionJob() = default;
  FunctionJob(const FunctionJob &) = delete;
  ~FunctionJob() { tc_buf_free(&explain); }

  void missed(const std::string &why) {
    messages.push_back(
        {TC_MISSED, decl->getLocation(), "'" + name + "' not compiled: " + why, {}, {}});
  }
};

void collect_message(void *self, tc_severity severity, tc_loc loc, const char *text) {
  auto *job = static_cast<FunctionJob *>(self);
  SourceLocation where = source_location(loc);
  job->messages.push_back(
      {severity, where.isValid() ? where : job->decl->getLocation(), text, {}, {}});
}

bool dump_wanted(StringRef name) {
  const char *list = std::getenv("TC_DUMP");
  llvm::SmallVector<StringRef, 8> names;
  StringRef(list ? list : "").split(names, ',');
  return llvm::is_contained(names, name) || llvm::is_contained(names, "all");
}

void dump_graph(tc_graph *graph) {
  tc_buf text = {};
  tc_graph_print(graph, &text);
  llvm::errs() << "; after capture\n" << StringRef(text.text ? text.text : "", text.len);
  tc_buf_free(&text);
}

// ---- one file -----------------------------------------------------------------------------------

class Job {
public:
  Job(CompilerInstance &user, ASTContext &context, const Options &options)
      : user(user), context(context), sources(context.getSourceManager()), options(options),
        reporter(user, sources), rewriter(sources) {}

  void add(const FunctionDecl *decl) {
    functions.emplace_back();
    functions.back().decl = decl;
  }

  void run() {
    for (FunctionJob &f : functions) capture(f);
    compile();
    for (FunctionJob &f : functions) show(f);
  }

private:
  void capture(FunctionJob &f);
  void compile();
  void use(const tc_texts &texts, const std::vector<std::pair<FunctionJob *, Segment *>> &compiled);
  std::string explanation() const;
  void note_explanation();
  void put(CompiledUnit unit);
  void show(FunctionJob &f);
  std::string symbol(const FunctionJob &f, size_t segment) const;
  bool makes_code() const;

  CompilerInstance &user;
  ASTContext &context;
  const SourceManager &sources;
  Options options;
  Reporter reporter;
  Rewriter rewriter;
  std::deque<FunctionJob> functions; // addresses stay: graphs point to diag
};

bool Job::makes_code() const {
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

// Entries are local to their object: the name has to be unique in this file, and readable.
std::string Job::symbol(const FunctionJob &f, size_t segment) const {
  std::string key = sources.getFilename(f.decl->getLocation()).str() + ":" + f.name;
  llvm::raw_string_ostream(key) << ":" << sources.getFileOffset(f.decl->getLocation()) << ":"
                                << segment;
  llvm::SmallString<32> hash;
  llvm::raw_svector_ostream(hash) << llvm::format_hex_no_prefix(tc_hash(key.data(), key.size(), 0),
                                                                16);
  return "__tc_" + f.name + "_" + std::string(hash);
}

void Job::capture(FunctionJob &f) {
  f.name = f.decl->getNameAsString();
  f.options = options_of(f.decl, options);
  f.diag = {collect_message, &f};
  PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(f.decl->getLocation()));
  f.file = place.isValid() ? place.getFilename() : "";
  if (std::string why = rewriter.obstacle(f.decl); !why.empty()) return f.missed(why);
  f.captured = capture_function(context, f.decl, f.options.fullgraph, &f.diag,
                                [&f](Message m) { f.messages.push_back(std::move(m)); });
  for (size_t i = 0; i < f.captured.segments.size(); i++) {
    Segment &segment = f.captured.segments[i];
    segment.symbol = symbol(f, i);
    if (dump_wanted("capture")) dump_graph(segment.graph.get());
  }
}

void Job::compile() {
  std::vector<tc_function> list;
  std::vector<std::pair<FunctionJob *, Segment *>> jobs;
  for (FunctionJob &f : functions)
    for (Segment &segment : f.captured.segments) {
      SourceLocation place = segment.whole ? f.decl->getLocation() : segment.loc;
      tc_function compiled = {};
      compiled.symbol = segment.symbol.c_str();
      compiled.name = f.name.c_str();
      compiled.file = f.file.c_str();
      compiled.line = sources.getPresumedLineNumber(sources.getFileLoc(place));
      compiled.graph = segment.graph.release();
      compiled.ops = segment.ops;
      compiled.cuda = makes_code() ? f.options.cuda : TC_CUDA_NO;
      compiled.record = f.options.record;
      compiled.explain = &f.explain;
      list.push_back(compiled);
      jobs.push_back({&f, &segment});
    }
  if (list.empty()) return note_explanation();
  std::vector<tc_result> results(list.size());
  tc_texts texts = {};
  tc_cuda_options gpu = options.gpu;
  gpu.nvrtc = options.nvrtc.empty() ? nullptr : options.nvrtc.c_str();
  bool done = tc_compile_functions(list.data(), static_cast<int>(list.size()), &gpu, results.data(),
                                   &texts);
  std::vector<std::pair<FunctionJob *, Segment *>> compiled;
  for (size_t i = 0; i < jobs.size(); i++) {
    FunctionJob &f = *jobs[i].first;
    if (!done) f.missed("internal failure of the compiler core");
    if (!done || !results[i].compiled) continue;
    f.cuda = results[i].cuda && (f.cuda || !f.compiled);
    f.compiled++;
    f.kernels += results[i].kernels;
    f.ops += jobs[i].second->ops;
    compiled.push_back(jobs[i]);
  }
  if (done && texts.functions && makes_code()) use(texts, compiled);
  else note_explanation();
  tc_texts_free(&texts);
}

// What tc-explain tells about the file.
std::string Job::explanation() const {
  if (!makes_code() || !options.explain || functions.empty() ||
      !user.getTarget().getTriple().isOSBinFormatELF())
    return "";
  tc_buf rows = {};
  OptionalFileEntryRef main = sources.getFileEntryRefForID(sources.getMainFileID());
  tc_explain_unit(main ? main->getName().str().c_str() : "", &rows);
  for (const FunctionJob &f : functions) {
    unsigned line = sources.getPresumedLineNumber(sources.getFileLoc(f.decl->getLocation()));
    tc_explain_function(f.name.c_str(), f.file.c_str(), line, &rows);
    for (const Message &message : f.messages) {
      StringRef text = message.text;
      bool stays = text.consume_front("graph break in '" + f.name + "': ") ||
                   text.consume_front("'" + f.name + "' not compiled: ");
      if (message.severity != TC_MISSED && !stays) continue;
      PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(message.loc));
      tc_explain_break(place.isValid() ? place.getLine() : line,
                       place.isValid() ? place.getColumn() : 0, text.str().c_str(), &rows);
    }
    tc_put(&rows, f.compiled && f.explain.text ? f.explain.text : "");
    rows.failed |= f.explain.failed;
  }
  std::string out = rows.failed ? "" : std::string(rows.text, rows.len);
  tc_buf_free(&rows);
  return out;
}

// For a file whose functions all stay as they are.
void Job::note_explanation() {
  CompiledUnit unit{choose_form(user), {}, {}, {}, explanation(), ""};
  if (!unit.explain.empty()) put(std::move(unit));
}

void Job::put(CompiledUnit unit) {
  if (unit.form == Form::Assembly) rewriter.append(assembly_declarations(unit));
  rewriter.apply(user);
  if (unit.form == Form::Bitcode) link_unit(user, std::move(unit));
}

void Job::use(const tc_texts &texts,
              const std::vector<std::pair<FunctionJob *, Segment *>> &compiled) {
  std::vector<std::string> entries;
  for (const auto &[f, segment] : compiled) entries.push_back(segment->symbol);
  CompiledUnit unit = compile_texts(user, texts, entries);
  for (const auto &[f, segment] : compiled) {
    if (unit.error.empty()) {
      rewriter.insert(f->decl, *segment);
      continue;
    }
    if (!f->compiled) continue;
    f->compiled = 0;
    f->messages.push_back({TC_WARNING,
                           f->decl->getLocation(),
                           "'" + f->name + "' not compiled: the generated code was rejected (" +
                               unit.error + "); please report this",
                           {},
                           {}});
  }
  if (!unit.error.empty()) return note_explanation();
  unit.explain = explanation();
  put(std::move(unit));
}

void Job::show(FunctionJob &f) {
  if (f.compiled)
    f.messages.insert(
        f.messages.begin(),
        {TC_REMARK,
         f.decl->getLocation(),
         "'" + f.name + "' compiled: " + std::to_string(f.ops) + " ops in " +
             std::to_string(f.kernels) + (f.kernels == 1 ? " kernel" : " kernels") +
             (f.captured.breaks || f.compiled > 1
                  ? ", " + std::to_string(f.compiled) + (f.compiled == 1 ? " segment" : " segments")
                  : "") +
             (f.cuda ? ", for CPU and CUDA" : ""),
         {},
         {}});
  bool wanting = !f.compiled || (f.options.cuda == TC_CUDA_WANT && makes_code() && !f.cuda);
  for (Message &message : f.messages) {
    if (wanting && f.options.fullgraph && message.severity == TC_MISSED)
      message.severity = TC_ERROR;
    reporter.show(message);
  }
}

// ---- the inner parse ----------------------------------------------------------------------------

class InnerConsumer : public ASTConsumer {
public:
  InnerConsumer(CompilerInstance &user, const Options &options) : user(user), options(options) {}

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *decl : group)
      if (auto *function = llvm::dyn_cast<FunctionDecl>(decl))
        if (function->isThisDeclarationADefinition() && find_attribute(function, compile_attribute))
          definitions.push_back(function);
    return true;
  }

  // A file with errors is left to the user's compilation, which reports them.
  void HandleTranslationUnit(ASTContext &context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    Job job(user, context, options);
    for (const FunctionDecl *function : definitions)
      if (function->getStorageClass() != SC_Static || function->isReferenced()) job.add(function);
    job.run();
  }

private:
  CompilerInstance &user;
  Options options;
  std::vector<const FunctionDecl *> definitions;
};

class InnerAction : public ASTFrontendAction {
public:
  InnerAction(CompilerInstance &user, const Options &options) : user(user), options(options) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, StringRef) override {
    return std::make_unique<InnerConsumer>(user, options);
  }

private:
  CompilerInstance &user;
  Options options;
};

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

} // namespace

// A thread of its own has stack for deep code (capture recurses), and a crash in it ends there.
static const unsigned stack_bytes = 512u << 20; // reserved, not used

void compile_annotated(CompilerInstance &user, const Options &options) {
  bool done = compat::run_protected(stack_bytes, [&] {
    IgnoringDiagConsumer ignore;
    auto ci =
        compat::make_instance(inner_invocation(user), &ignore, &user.getFileManager(), nullptr);
    ci->setVerboseOutputStream(llvm::nulls());
    InnerAction action(user, options);
    ci->ExecuteAction(action);
  });
  if (!done)
    user.getDiagnostics().Report(diag::warn_fe_backend_plugin)
        << "tcompile failed on this file and left its functions as they are; please report this";
}

} // namespace tc
