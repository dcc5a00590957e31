// job.cpp - the inner parse and what follows from it.
#include "job.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <set>

#include "frontend/attributes.h"
#include "backends/cache/cache.h"
#include "backends/explain.h"
#include "backends/jobs.h"
#include "check.h"
#include "frontend/ast_capture/capture.h"
#include "graph/text.h"
#include "inner.h"
#include "kernels.h"
#include "lines.h"
#include "report.h"
#include "frontend/unit/rewrite.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

// ---- one function -------------------------------------------------------------------------------

// What was made for certain sizes and sides of branches, or for any.
struct Made {
  std::string made_for;
  std::string variant; // the sizes
  unsigned segments = 0;
  int ops = 0, kernels = 0;
};

// Messages wait until it is known whether the function was compiled: with fullgraph, the reasons
// why not are errors.
struct FunctionJob {
  const FunctionDecl *decl = nullptr;
  Options options;
  std::vector<tc_setting> settings; // of the options
  tc_diag diag = {};
  CapturedFunction captured = {};
  std::vector<Message> messages;
  std::string name, file;
  unsigned compiled = 0; // segments
  bool eager = false;    // it was asked to stay as it is
  uint32_t made = 0;     // bit i: kernels from choice i of its options, in all segments
  int64_t workspace = 0; // bytes, of the segment that needs most
  tc_buf explain = {};   // rows of its segments

  FunctionJob() = default;
  FunctionJob(const FunctionJob &) = delete;
  ~FunctionJob() { tc_buf_free(&explain); }

  std::string obstacle;                    // why its text cannot be changed
  bool scope_open = false, scoped = false; // its body has a scope: in front of its calls; at all

  std::vector<Made> sizes_made;
  Made &of(const Segment &segment) {
    for (Made &each : sizes_made)
      if (each.made_for == segment.made_for) return each;
    sizes_made.push_back({segment.made_for, segment.variant, 0, 0, 0});
    return sizes_made.back();
  }

  // Kernels of a call: those for its sizes and sides, and those for all sides.
  int kernels_of(const Made &one) const {
    int kernels = one.kernels;
    for (const Made &each : sizes_made)
      if (each.made_for == each.variant && one.made_for != one.variant &&
          each.variant == one.variant)
        kernels += each.kernels;
    return kernels;
  }

  void missed(const std::string &why) {
    messages.push_back(
        {TC_MISSED, decl->getLocation(), "'" + name + "' not compiled: " + why, {}, {}});
  }
  // backend=eager
  void stays() {
    eager = true;
    messages.push_back(
        {TC_REMARK, decl->getLocation(), "'" + name + "' stays as written: backend=eager", {}, {}});
  }
  void no_scope(const std::string &why) {
    messages.push_back({TC_REMARK,
                        decl->getLocation(),
                        "'" + name + "' frees nothing of what its body makes where that runs: " +
                            why + "; write TC_FUNCTION_SCOPE at its head, or free it",
                        {},
                        {}});
  }
};

void collect_message(void *self, tc_severity severity, tc_loc loc, const char *text) {
  auto *job = static_cast<FunctionJob *>(self);
  SourceLocation where = source_location(loc);
  job->messages.push_back(
      {severity, where.isValid() ? where : job->decl->getLocation(), text, {}, {}});
}

const char *file_of(const void *sources, tc_loc loc) {
  const auto *manager = static_cast<const SourceManager *>(sources);
  PresumedLoc place = manager->getPresumedLoc(manager->getFileLoc(source_location(loc)));
  return place.isValid() ? place.getFilename() : nullptr;
}

bool dump_wanted(StringRef name) {
  const char *list = std::getenv("TC_DUMP");
  llvm::SmallVector<StringRef, 8> names;
  StringRef(list ? list : "").split(names, ',');
  return llvm::is_contained(names, name) || llvm::is_contained(names, "all");
}

// Kernels of some device are to be shown, also where no code is made.
bool dumps_kernels(const tc_choices &choices) {
  bool wanted = dump_wanted("kernels");
  for (uint32_t i = 0; i < choices.n; i++) wanted |= dump_wanted(choices.at[i].backend->name);
  return wanted;
}

std::string graph_text(tc_graph *graph) {
  tc_buf out = {};
  tc_graph_print(graph, &out);
  std::string text(out.text ? out.text : "", out.len);
  tc_buf_free(&out);
  return text;
}

// ---- one file -----------------------------------------------------------------------------------

class Job {
public:
  Job(CompilerInstance &user, ASTContext &context, const Expansions &expansions,
      const Options &options)
      : user(user), context(context), sources(context.getSourceManager()), options(options),
        reporter(user, sources), rewriter(sources, expansions) {}

  void add(const FunctionDecl *decl) {
    functions.emplace_back();
    functions.back().decl = decl;
  }

  // Any function, whether it is compiled or not.
  void look_at(const FunctionDecl *function) {
    for (const Message &message : lost_results(context, function)) reporter.show(message);
  }

  void run() {
    for (FunctionJob &f : functions) begin(f);
    for (FunctionJob &f : functions) capture(f);
    if (makes_code()) rewrite();
    verify();
    compile();
    for (FunctionJob &f : functions) show(f);
  }

private:
  void begin(FunctionJob &f);
  void capture(FunctionJob &f);
  void capture_any(FunctionJob &f, const Sizes *dtypes);
  void rewrite();
  void capture_variant(FunctionJob &f, const Sizes &sizes);
  void no_variant(FunctionJob &f, const Sizes &sizes, StringRef reason);
  void drop_equal(FunctionJob &f, const Sizes &sizes);
  void insert(FunctionJob &f, const Ownership *scope);
  bool insert_scope(FunctionJob &f, const Ownership &scope);
  void verify();
  void compile();
  void use(UnitCompiler &compiler, const tc_texts &texts,
           const std::vector<std::pair<FunctionJob *, Segment *>> &compiled);
  using Clock = std::chrono::steady_clock;
  void tell_of_waiting(Clock::time_point start, Clock::time_point waits);
  void tell_of(const tc_cache *cache);
  std::string explanation() const;
  void note_explanation();
  void put(CompiledUnit unit);
  void reject(const std::string &error);
  void check_contract(FunctionJob &f);
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

// Whether what is compiled here is read by other compilations, as it stands.
bool precompiles(const CompilerInstance &user) {
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

// Each variant for each choice of dtypes, and, where there is code for any sizes, the choices for
// these but for the last, which the code behind all variants is for.
static std::vector<Sizes> with_dtypes(const std::vector<Sizes> &variants,
                                      const std::vector<Sizes> &dtypes, bool any) {
  if (dtypes.empty()) return variants;
  std::vector<Sizes> list;
  for (const Sizes &variant : variants)
    for (const Sizes &choice : dtypes) {
      list.push_back(variant);
      list.back().dtypes = choice.dtypes;
      list.back().text += "," + choice.text;
    }
  if (any) list.insert(list.end(), dtypes.begin(), dtypes.end() - 1);
  return list;
}

void Job::begin(FunctionJob &f) {
  f.name = f.decl->getNameAsString();
  f.options = options_of(f.decl, options);
  f.settings = f.options.settings_for_backends();
  f.diag = {collect_message, &f};
  PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(f.decl->getLocation()));
  f.file = place.isValid() ? place.getFilename() : "";
  f.obstacle = rewriter.obstacle(f.decl);
  if (precompiles(user) || sources.isLoadedSourceLocation(f.decl->getLocation()))
    f.obstacle = "it is in a precompiled header or module; define it in a source file";
}

void Job::capture(FunctionJob &f) {
  if (!check_redeclared(f.decl, [&f](Message m) { f.messages.push_back(std::move(m)); })) return;
  if (f.options.disable) return;
  if (tc_chose_eager(&f.options.backends)) return f.stays();
  if (std::string why = unsupported_target(user); !why.empty()) return f.missed(why);
  if (!f.obstacle.empty()) return f.missed(f.obstacle);
  std::vector<Sizes> variants = variants_of(f.decl);
  const bool any = !f.options.fixed || variants.empty();
  const std::vector<Sizes> dtypes =
      dtype_choices(f.decl, [&f](Message m) { f.messages.push_back(std::move(m)); });
  variants = with_dtypes(variants, dtypes, any);
  for (const Sizes &sizes : variants) capture_variant(f, sizes);
  if (any) capture_any(f, dtypes.empty() ? nullptr : &dtypes.back());
  for (const Sizes &sizes : variants) drop_equal(f, sizes);
  for (size_t i = 0; i < f.captured.segments.size(); i++) {
    Segment &segment = f.captured.segments[i];
    segment.symbol = symbol(f, i);
    const bool both = !segment.variant.empty() && !segment.choices.empty();
    segment.made_for = segment.variant + (both ? ", " : "") + segment.choices;
    if (dump_wanted("capture"))
      llvm::errs() << "; after capture\n" << graph_text(segment.graph.get());
  }
}

// ---- the new text -------------------------------------------------------------------------------

// Scopes of bodies rely on each other (a call of a function that has one is seen into): all of them,
// or none.
void Job::rewrite() {
  std::set<const FunctionDecl *> scoped;
  for (FunctionJob &f : functions)
    if (f.obstacle.empty()) scoped.insert(f.decl);
  Owners owners(context, scoped);
  std::vector<const Ownership *> scopes;
  for (FunctionJob &f : functions) {
    const Ownership *own = f.obstacle.empty() ? owners.of(f.decl) : nullptr;
    if (own && own->wanted() && !own->obstacle.empty()) f.no_scope(own->obstacle);
    const bool fits = own && own->wanted() && own->obstacle.empty();
    scopes.push_back(fits ? own : nullptr);
  }
  for (size_t i = 0; i < functions.size(); i++) insert(functions[i], scopes[i]);
  for (size_t i = 0; i < functions.size(); i++)
    if (scopes[i] && !insert_scope(functions[i], *scopes[i])) {
      rewriter.withdraw_scopes();
      return;
    }
}

// A scope that no call needs stands behind them (insert_scope).
void Job::insert(FunctionJob &f, const Ownership *scope) {
  f.scope_open = scope &&
                 llvm::any_of(f.captured.segments, [](const Segment &s) { return !s.whole; }) &&
                 rewriter.open_scope(f.decl).empty();
  for (const Segment &segment : f.captured.segments) {
    std::string why = rewriter.insert(f.decl, segment, f.scope_open ? scope : nullptr);
    if (why.empty()) continue;
    rewriter.withdraw(f.decl);
    f.scope_open = false;
    f.captured.segments.clear();
    return f.missed(why + "; write its braces and statements in the file");
  }
}

bool Job::insert_scope(FunctionJob &f, const Ownership &scope) {
  std::string why = f.scope_open ? "" : rewriter.open_scope(f.decl);
  if (why.empty()) why = rewriter.insert_exits(f.decl, scope.exits);
  if (!why.empty()) f.no_scope(why);
  f.scoped = true;
  return why.empty();
}

// Functions that would not read as before with their calls in them are left alone.
void Job::verify() {
  std::vector<const FunctionDecl *> list;
  bool scopes_fit;
  for (FunctionJob &f : functions)
    if (!f.captured.segments.empty() || f.scoped) list.push_back(f.decl);
  for (const Suspect &suspect : check_rewritten(user, rewriter, context, list, scopes_fit))
    for (FunctionJob &f : functions) {
      if (f.decl != suspect.function) continue;
      f.captured.segments.clear();
      f.missed("calls of kernels cannot be put between its statements (" + suspect.why +
               "); write one statement a line, without macros and labels of the block");
    }
  for (FunctionJob &f : functions)
    if (f.scoped && !scopes_fit) f.no_scope("the text cannot be changed where tensors leave");
}

static std::string not_fixed(const std::string &size) {
  return "size '" + size +
         "' is not known at build time, and dynamic=false; write a number in TC_SHAPE, or add "
         "TC_SPECIALIZE(\"" +
         size + "=...\")";
}

// Where there is code for certain values, what keeps it from being made is said of the others.
void Job::capture_any(FunctionJob &f, const Sizes *dtypes) {
  const std::string head = "'" + f.name + "' not compiled";
  const bool others = !f.captured.segments.empty();
  CapturedFunction any =
      capture_function(context, f.decl, dtypes, f.options.fullgraph, &f.diag, [&](Message m) {
        if (others && StringRef(m.text).starts_with(head + ": "))
          m.text.insert(head.size(), " for other values");
        f.messages.push_back(std::move(m));
      });
  f.captured.breaks = any.breaks;
  for (Segment &segment : any.segments) {
    std::string open = f.options.fixed ? open_size(segment.graph.get()) : "";
    if (open.empty()) f.captured.segments.push_back(std::move(segment));
    else f.missed(not_fixed(open));
  }
}

// Code for certain sizes.  What keeps it from being made is a remark: for any sizes there is other
// code, or the body.
void Job::capture_variant(FunctionJob &f, const Sizes &sizes) {
  auto tell = [&f](Message m) { f.messages.push_back(std::move(m)); };
  if (!check_sizes(context, f.decl, sizes, tell)) return;
  std::string why;
  std::vector<Message> told;
  CapturedFunction captured =
      capture_function(context, f.decl, &sizes, f.options.fullgraph, &f.diag, [&](Message m) {
        if (why.empty() && m.severity != TC_REMARK) why = m.text;
        told.push_back(std::move(m));
      });
  if (f.options.fixed && !captured.segments.empty() && f.captured.segments.empty()) {
    f.captured.breaks = captured.breaks; // nothing else tells of them
    for (Message &m : told) tell(std::move(m));
  }
  size_t before = f.captured.segments.size();
  for (Segment &segment : captured.segments) {
    std::string open = f.options.fixed ? open_size(segment.graph.get()) : "";
    if (!open.empty()) why = not_fixed(open);
    if (!open.empty()) continue;
    segment.variant = sizes.text;
    f.captured.segments.push_back(std::move(segment));
  }
  if (f.captured.segments.size() > before) return;
  StringRef reason = why;
  reason.consume_front("'" + f.name + "' not compiled: ");
  no_variant(f, sizes, reason);
}

void Job::no_variant(FunctionJob &f, const Sizes &sizes, StringRef reason) {
  f.messages.push_back({TC_MISSED,
                        sizes.literal ? sizes.literal->getBeginLoc() : f.decl->getLocation(),
                        "'" + f.name + "' not compiled for " + sizes.text + ": " + reason.str(),
                        {},
                        {}});
}

// Statements that do not depend on the sizes of a variant are the same code: that for any.
void Job::drop_equal(FunctionJob &f, const Sizes &sizes) {
  std::vector<Segment> &list = f.captured.segments;
  auto equal = [&](const Segment &s) {
    return s.variant == sizes.text && llvm::any_of(list, [&](const Segment &any) {
             return any.variant.empty() && any.begin == s.begin && any.end == s.end &&
                    any.begin_token == s.begin_token && any.end_token == s.end_token &&
                    any.conditions == s.conditions &&
                    graph_text(any.graph.get()) == graph_text(s.graph.get());
           });
  };
  std::vector<Segment> kept;
  std::vector<bool> drop;
  for (const Segment &s : list) drop.push_back(equal(s));
  for (size_t i = 0; i < list.size(); i++)
    if (!drop[i]) kept.push_back(std::move(list[i]));
  auto of = [&](const Segment &s) { return s.variant == sizes.text; };
  if (kept.size() < drop.size() && llvm::none_of(kept, of))
    no_variant(f, sizes, "nothing that is compiled depends on it");
  list = std::move(kept);
}

// Places in one invocation of a macro are taken for the same.
static bool overlap(const Segment &a, const Segment &b) {
  bool inside = a.begin == b.begin && (a.begin_token.isValid() || b.begin_token.isValid());
  return inside || (a.begin < b.end && b.begin < a.end);
}

// Whether other code for some of the statements of segment i is tried when its guards fail.
static bool passes(const std::vector<Segment> &segments, size_t i) {
  for (size_t k = i + 1; k < segments.size(); k++)
    if (segments[k].variant != segments[i].variant && overlap(segments[k], segments[i]))
      return true;
  return false;
}

void Job::compile() {
  std::vector<tc_function> list;
  std::deque<std::vector<tc_size_name>> size_names; // of each
  std::vector<std::pair<FunctionJob *, Segment *>> jobs;
  for (FunctionJob &f : functions)
    for (size_t i = 0; i < f.captured.segments.size(); i++) {
      Segment &segment = f.captured.segments[i];
      SourceLocation place = segment.whole ? f.decl->getLocation() : segment.loc;
      size_names.emplace_back();
      for (const auto &[name, written] : segment.shown)
        size_names.back().push_back({name.c_str(), written.c_str()});
      tc_function compiled = {};
      compiled.symbol = segment.symbol.c_str();
      compiled.name = f.name.c_str();
      compiled.file = f.file.c_str();
      compiled.line = sources.getPresumedLineNumber(sources.getFileLoc(place));
      compiled.sizes = segment.made_for.empty() ? nullptr : segment.made_for.c_str();
      compiled.passes = passes(f.captured.segments, i);
      compiled.graph = segment.graph.release();
      compiled.ops = segment.ops;
      compiled.choice = f.options.backends.at;
      compiled.nchoice =
          makes_code() || dumps_kernels(f.options.backends) ? f.options.backends.n : 1;
      compiled.setting = f.settings.data();
      compiled.nsetting = static_cast<uint32_t>(f.settings.size());
      compiled.explain = &f.explain;
      compiled.file_of = file_of;
      compiled.sources = &sources;
      compiled.levels = options.levels;
      compiled.size_name = size_names[list.size()].data();
      compiled.nsize_name = static_cast<uint32_t>(size_names[list.size()].size());
      list.push_back(compiled);
      jobs.push_back({&f, &segment});
    }
  if (list.empty()) return note_explanation();
  std::vector<tc_result> results(list.size());
  tc_texts texts = {};
  tc_cache *cache = tc_cache_open(options.cache.c_str(), options.cache_bytes);
  tc_jobs at_once = tc_jobs_take(options.jobs);
  const std::vector<tc_setting> settings = options.settings_for_backends();
  const tc_unit_options unit_options = {settings.data(), static_cast<uint32_t>(settings.size()),
                                        cache, at_once.n, false};
  UnitCompiler compiler(user, options.effort, options.thresholds, cache, at_once.n);
  compiler.point_to(file_names(sources));
  const Clock::time_point start = Clock::now();
  tc_unit *unit = tc_unit_begin(list.data(), static_cast<int>(list.size()), &unit_options, &texts);
  if (unit && makes_code() && tc_unit_waits(unit)) compiler.compile_kernels(texts);
  const Clock::time_point waits = Clock::now();
  bool done = unit && tc_unit_finish(unit, results.data(), &texts);
  tell_of_waiting(start, waits);
  std::vector<std::pair<FunctionJob *, Segment *>> compiled;
  for (size_t i = 0; i < jobs.size(); i++) {
    FunctionJob &f = *jobs[i].first;
    if (!done) f.missed("internal failure of the compiler core");
    if (!done || !results[i].compiled) {
      rewriter.withdraw(*jobs[i].second);
      continue;
    }
    f.made = results[i].made & (f.compiled ? f.made : ~0u);
    f.compiled++;
    Made &made = f.of(*jobs[i].second);
    made.segments++;
    made.kernels += results[i].kernels;
    made.ops += jobs[i].second->ops;
    f.workspace = std::max(f.workspace, results[i].workspace);
    compiled.push_back(jobs[i]);
  }
  if (done && texts.functions && makes_code()) use(compiler, texts, compiled);
  else note_explanation();
  tc_jobs_give_back(&at_once);
  tell_of(cache);
  tc_cache_close(cache);
  tc_texts_free(&texts);
}

// Says once how to do without kernels for GPUs, where they are what takes the time.
void Job::tell_of_waiting(Clock::time_point start, Clock::time_point waits) {
  using Seconds = std::chrono::duration<double>;
  const Clock::time_point now = Clock::now();
  const double waited = Seconds(now - waits).count(), whole = Seconds(now - start).count();
  DiagnosticsEngine &diags = user.getDiagnostics();
  if (waited < 10 || waited < whole / 2 || diags.getIgnoreAllWarnings()) return;
  const tc_choices &choices = options.backends;
  for (uint32_t i = 1; i < choices.n; i++) {
    const tc_backend *b = choices.at[i].backend;
    if (!b->compiler || choices.at[i].wish != TC_WISH_MAY) continue;
    diags.Report(diags.getCustomDiagID(DiagnosticsEngine::Remark,
                                       "tcompile: %0 of %1 seconds went into kernels for %2; "
                                       "-fplugin-arg-tc-backend=%3 leaves them out%4"))
        << static_cast<unsigned>(waited) << static_cast<unsigned>(whole) << b->device_label
        << choices.at[0].backend->name
        << (b->compiler->faster ? std::string(", ") + b->compiler->faster : "");
  }
}

// How much of the file's code was compiled before.
void Job::tell_of(const tc_cache *cache) {
  tc_cache_counts n = tc_cache_count(cache);
  if (!(n.found + n.missed)) return;
  functions.front().messages.push_back(
      {TC_REMARK,
       functions.front().decl->getLocation(),
       std::to_string(n.found) + " of " + std::to_string(n.found + n.missed) +
           " compiled parts of this file come from the cache " + tc_cache_folder(cache),
       {},
       {}});
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
                   text.consume_front("'" + f.name + "' not compiled: ") ||
                   text.consume_front("'" + f.name + "' not compiled for other values: ");
      if (message.severity != TC_MISSED && !stays) continue;
      PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(message.loc));
      StringRef file = place.isValid() ? place.getFilename() : "";
      tc_explain_break(file == f.file ? "" : file.str().c_str(),
                       place.isValid() ? place.getLine() : line,
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
  CompiledUnit unit{choose_form(user), {}, {}, {}, false, explanation(), ""};
  if (!unit.explain.empty()) put(std::move(unit));
  else if (!rewriter.empty()) rewriter.apply(user);
}

void Job::put(CompiledUnit unit) {
  if (unit.form == Form::Assembly) rewriter.append(assembly_declarations(unit));
  rewriter.apply(user);
  if (unit.form == Form::Bitcode) link_unit(user, std::move(unit));
}

void Job::use(UnitCompiler &compiler, const tc_texts &texts,
              const std::vector<std::pair<FunctionJob *, Segment *>> &compiled) {
  std::vector<std::string> entries;
  for (const auto &[f, segment] : compiled) entries.push_back(segment->symbol);
  CompiledUnit unit = compiler.finish(texts, entries);
  if (!unit.error.empty()) return reject(unit.error);
  unit.explain = explanation();
  put(std::move(unit));
}

void Job::reject(const std::string &error) {
  for (FunctionJob &f : functions) {
    if (!f.compiled) continue;
    f.compiled = 0;
    for (const Segment &segment : f.captured.segments) rewriter.withdraw(segment);
    f.messages.push_back({TC_WARNING,
                          f.decl->getLocation(),
                          "'" + f.name + "' not compiled: the generated code was rejected (" +
                              error + "); please report this",
                          {},
                          {}});
  }
  note_explanation();
}

// max_kernels and max_workspace.
void Job::check_contract(FunctionJob &f) {
  auto error = [&](const std::string &text) {
    f.messages.push_back({TC_ERROR, f.decl->getLocation(), "'" + f.name + "' " + text, {}, {}});
  };
  int kernels = 0; // of the sizes that need most
  for (const Made &made : f.sizes_made) kernels = std::max(kernels, f.kernels_of(made));
  if (f.options.max_kernels && kernels > *f.options.max_kernels) {
    error("needs " + std::to_string(kernels) +
          " kernels, and max_kernels=" + std::to_string(*f.options.max_kernels));
    std::vector<Message> notes;
    for (Message &message : f.messages)
      if (message.severity == TC_REMARK && StringRef(message.text).contains("kernel "))
        notes.push_back({TC_NOTE, message.loc, message.text, {}, {}});
    f.messages.insert(f.messages.end(), notes.begin(), notes.end());
  }
  if (f.options.max_workspace && f.workspace == INT64_MAX)
    error("needs a workspace that has no bound, and max_workspace=" +
          std::to_string(*f.options.max_workspace) +
          "; bound the sizes of its operands, as in \"f32[B<=64,10]\"");
  else if (f.options.max_workspace && f.workspace > *f.options.max_workspace)
    error("needs a workspace of up to " + std::to_string(f.workspace) +
          " bytes, and max_workspace=" + std::to_string(*f.options.max_workspace));
}

// ", for CPU and CUDA"
static std::string devices_of(const FunctionJob &f) {
  std::string list, last;
  const tc_choices &choices = f.options.backends;
  for (uint32_t i = 0; i < choices.n; i++) {
    if (!(f.made >> i & 1)) continue;
    if (!last.empty()) list += (list.empty() ? "" : ", ") + last;
    last = choices.at[i].backend->device_label;
  }
  return list.empty() ? "" : ", for " + list + " and " + last;
}

static bool lacks_wanted(const FunctionJob &f) {
  const tc_choices &choices = f.options.backends;
  for (uint32_t i = 0; i < choices.n; i++)
    if (choices.at[i].wish == TC_WISH_WANT && !(f.made >> i & 1)) return true;
  return false;
}

void Job::show(FunctionJob &f) {
  check_contract(f);
  for (size_t i = 0; f.compiled && i < f.sizes_made.size(); i++) {
    const Made &made = f.sizes_made[i];
    f.messages.insert(f.messages.begin() + static_cast<std::ptrdiff_t>(i),
                      {TC_REMARK,
                       f.decl->getLocation(),
                       "'" + f.name + "' compiled" +
                           (made.made_for.empty() ? "" : " for " + made.made_for) + ": " +
                           std::to_string(made.ops) + " ops in " + std::to_string(made.kernels) +
                           (made.kernels == 1 ? " kernel" : " kernels") +
                           (f.captured.breaks || made.segments > 1
                                ? ", " + std::to_string(made.segments) +
                                      (made.segments == 1 ? " segment" : " segments")
                                : "") +
                           devices_of(f),
                       {},
                       {}});
  }
  bool wanting = !f.eager && (!f.compiled || (makes_code() && lacks_wanted(f)));
  for (Message &message : f.messages) {
    if (wanting && f.options.fullgraph && message.severity == TC_MISSED)
      message.severity = TC_ERROR;
    reporter.show(message);
  }
}

// ---- the inner parse ----------------------------------------------------------------------------

class InnerConsumer : public ASTConsumer {
public:
  InnerConsumer(CompilerInstance &user, Preprocessor &preprocessor, const Options &options)
      : user(user), options(options) {
    expansions.watch(preprocessor);
  }

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *decl : group) definitions.add(decl);
    return true;
  }

  // A file with errors is left to the user's compilation, which reports them.
  void HandleTranslationUnit(ASTContext &context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    Job job(user, context, expansions, options);
    for (const FunctionDecl *function : definitions.list)
      if (function->getStorageClass() != SC_Static || function->isReferenced() || precompiles(user))
        job.add(function);
    for (const FunctionDecl *function : definitions.all)
      if (!context.getSourceManager().isInSystemHeader(function->getLocation()))
        job.look_at(function);
    job.run();
  }

private:
  CompilerInstance &user;
  Options options;
  Expansions expansions;
  Definitions definitions;
};

class InnerAction : public ASTFrontendAction {
public:
  InnerAction(CompilerInstance &user, const Options &options) : user(user), options(options) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef) override {
    return std::make_unique<InnerConsumer>(user, ci.getPreprocessor(), options);
  }

private:
  CompilerInstance &user;
  Options options;
};

} // namespace

// A thread of its own has stack for deep code (capture recurses), and a crash in it ends there.
static const unsigned stack_bytes = 512u << 20; // reserved, not used

void compile_annotated(CompilerInstance &user, const Options &options) {
  bool done = compat::run_protected(stack_bytes, [&] {
    IgnoringDiagConsumer ignore;
    InnerAction action(user, options);
    parse_inner(user, ignore, action);
  });
  if (!done)
    user.getDiagnostics().Report(diag::warn_fe_backend_plugin)
        << "tcompile failed on this file and left its functions as they are; please report this";
}

} // namespace tc
