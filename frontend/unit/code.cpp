// code.cpp - from captured segments to texts, and to the code that the shell makes of them.
#include <cstdlib>

#include "backends/cache/cache.h"
#include "backends/jobs.h"
#include "backends/tuning/tuning.h"
#include "frontend/unit/unit.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

static const char *file_of(const void *sources, tc_loc loc) {
  const auto *manager = static_cast<const SourceManager *>(sources);
  PresumedLoc place = manager->getPresumedLoc(manager->getFileLoc(source_location(loc)));
  return place.isValid() ? place.getFilename() : nullptr;
}

// Kernels of some device are to be shown, also where no code is made.
static bool dumps_kernels(const tc_choices &choices) {
  bool wanted = dump_wanted("kernels");
  for (uint32_t i = 0; i < choices.n; i++) wanted |= dump_wanted(choices.at[i].backend->name);
  return wanted;
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

std::vector<tc_function> Unit::segments(Compiled &of, SizeNames &size_names) {
  std::vector<tc_function> list;
  const bool x86 = context.getTargetInfo().getTriple().getArch() == llvm::Triple::x86_64;
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
      compiled.autocasts = segment.autocasts;
      count_sizes(f, segment, compiled);
      compiled.graph = segment.graph.release();
      compiled.ops = segment.ops;
      compiled.choice = f.options.backends.at;
      compiled.nchoice =
          shell.makes_code() || dumps_kernels(f.options.backends) ? f.options.backends.n : 1;
      compiled.setting = f.settings.data();
      compiled.nsetting = static_cast<uint32_t>(f.settings.size());
      compiled.tuner = f.options.tunes && shell.makes_code() ? &f.tuner : nullptr;
      compiled.explain = &f.explain;
      compiled.file_of = file_of;
      compiled.sources = &sources;
      compiled.levels = x86 ? options.levels : 1; // levels are of x86-64: others have the least
      compiled.size_name = size_names.back().data();
      compiled.nsize_name = static_cast<uint32_t>(size_names.back().size());
      compiled.gradients = f.options.gradients == Gradients::On ||
                           (f.options.gradients == Gradients::Auto && differentiates);
      compiled.gradient_wish = f.options.gradients == Gradients::On ? TC_WISH_WANT : TC_WISH_MAY;
      compiled.max_saved = f.options.max_saved ? std::max<int64_t>(*f.options.max_saved, 1) : 0;
      list.push_back(compiled);
      of.push_back({&f, &segment});
    }
  return list;
}

void Unit::prepare_tuning(const tc_cache *cache) {
  if (llvm::none_of(functions, [](const FunctionJob &f) { return f.options.tunes; })) return;
  tc_buf tool = {};
  if (tc_tuning_find_tool(&tool)) tuning.tool = tool.text;
  tc_buf_free(&tool);
  tuning.compiler = shell.kernel_compiler();
  tuning.database = options.tune;
  if (options.tune.empty() && cache)
    tuning.database = std::string(tc_cache_folder(cache)) + "/.tuning";
  auto given = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
  for (FunctionJob &f : functions) {
    for (const std::string &macro : options.thresholds) f.macros.push_back(macro.c_str());
    f.tuner = {given(tuning.tool),  given(tuning.compiler), given(tuning.database),
               f.options.tune_time, f.macros.data(),        static_cast<uint32_t>(f.macros.size())};
  }
}

// What became of each segment; those without code are withdrawn from the new text.
void Unit::note(const std::vector<tc_result> &results, const Compiled &jobs, bool done,
                Compiled &compiled) {
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
    f.saved = std::max(f.saved, results[i].saved);
    compiled.push_back(jobs[i]);
  }
}

void Unit::compile() {
  Compiled jobs, compiled;
  SizeNames size_names;
  std::vector<tc_function> list = segments(jobs, size_names);
  if (list.empty()) return shell.put(rewriter, false, explanation());
  std::vector<tc_result> results(list.size());
  tc_texts texts = {};
  tc_cache *cache = tc_cache_open(options.cache.c_str(), options.cache_bytes);
  prepare_tuning(cache);
  tc_jobs at_once = tc_jobs_take(options.jobs);
  const std::vector<tc_setting> settings = options.settings_for_backends();
  const tc_unit_options unit_options = {settings.data(), static_cast<uint32_t>(settings.size()),
                                        cache, at_once.n, false};
  shell.begin_code(cache, at_once.n);
  const Clock::time_point start = Clock::now();
  tc_unit *unit = tc_unit_begin(list.data(), static_cast<int>(list.size()), &unit_options, &texts);
  if (unit && shell.makes_code() && tc_unit_waits(unit)) shell.compile_kernels(texts);
  const Clock::time_point waits = Clock::now();
  const bool done = unit && tc_unit_finish(unit, results.data(), &texts);
  tell_of_waiting(start, waits);
  note(results, jobs, done, compiled);
  std::vector<std::string> entries;
  for (const auto &[f, segment] : compiled) entries.push_back(segment->symbol);
  const bool code = done && texts.functions && shell.makes_code();
  const std::string error = code ? shell.compile(texts, std::move(entries)) : "";
  if (!error.empty()) reject(error);
  shell.put(rewriter, code && error.empty(), explanation());
  tc_jobs_give_back(&at_once);
  tell_of(cache);
  tc_cache_close(cache);
  tc_texts_free(&texts);
}

// Says once how to do without kernels for GPUs, where they are what takes the time.
void Unit::tell_of_waiting(Clock::time_point start, Clock::time_point waits) {
  using Seconds = std::chrono::duration<double>;
  const Clock::time_point now = Clock::now();
  const double waited = Seconds(now - waits).count(), whole = Seconds(now - start).count();
  if (waited < 10 || waited < whole / 2) return;
  const tc_choices &choices = options.backends;
  for (uint32_t i = 1; i < choices.n; i++) {
    const tc_backend *b = choices.at[i].backend;
    if (!b->compiler || choices.at[i].wish != TC_WISH_MAY) continue;
    shell.show_remark("tcompile: " + std::to_string(static_cast<unsigned>(waited)) + " of " +
                      std::to_string(static_cast<unsigned>(whole)) +
                      " seconds went into kernels for " + b->device_label +
                      "; -fplugin-arg-tc-backend=" + choices.at[0].backend->name +
                      " leaves them out" + (b->compiler->faster ? ", " : "") +
                      (b->compiler->faster ? b->compiler->faster : ""));
  }
}

// How much of the file's code was compiled before.
void Unit::tell_of(const tc_cache *cache) {
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

void Unit::reject(const std::string &error) {
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
}

} // namespace tc
