// profiled.cpp - shape profiles: calls are counted by their sizes (profile=generate), and frequent
// sizes have code of their own (profile=use).
#include "backends/explain.h"
#include "frontend/unit/unit.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

// ---- counting -----------------------------------------------------------------------------------

// The strings stand in `counted`, whose elements stay where they are.
void Unit::count_sizes(const FunctionJob &f, const Segment &segment, tc_function &to) {
  if (options.profile != Profile::Generate) return;
  counted.emplace_back();
  Counted &of = counted.back();
  of.names = countable_sizes(context, f.decl, segment);
  for (const CountedSize &size : of.names)
    of.list.push_back({size.symbol.c_str(), size.written.c_str(), 0});
  for (const auto &[name, value] : segment.fixed) of.list.push_back({nullptr, name.c_str(), value});
  if (of.list.size() > TC_PROFILE_SIZES) of.list.resize(TC_PROFILE_SIZES);
  llvm::sort(of.list, [](const tc_counted_size &a, const tc_counted_size &b) {
    return StringRef(a.written) < b.written;
  });
  to.counted = of.list.data();
  to.ncounted = static_cast<uint32_t>(of.list.size());
  to.function_line = sources.getPresumedLineNumber(sources.getFileLoc(f.decl->getLocation()));
  to.profile_path = options.profile_file.c_str();
}

// ---- reading ------------------------------------------------------------------------------------

void Unit::load_profile() {
  if (options.profile != Profile::Use || functions.empty()) return;
  const std::string path = options.profile_file.empty() ? default_profile : options.profile_file;
  bool missing;
  const std::string problem = profile.load(path, missing);
  if (!missing) shell.depends_on(path);
  if (problem.empty()) return tell_of_stale();
  shell.show({missing ? TC_WARNING : TC_ERROR,
              {},
              problem + (missing ? "; nothing is specialised by it" : ""),
              {},
              {}});
}

// Functions of the profile that the file has no more.
void Unit::tell_of_stale() {
  std::set<std::string> files;
  for (const FunctionJob &f : functions) files.insert(f.file);
  for (const std::string &file : files)
    for (const auto &[name, line] : profile.functions_of(file))
      if (llvm::none_of(functions,
                        [&, &name = name](const FunctionJob &f) { return f.name == name; }))
        shell.show({TC_REMARK,
                    sources.getLocForStartOfFile(sources.getMainFileID()),
                    "the profile has calls of '" + name + "' (" + file + ":" +
                        std::to_string(line) +
                        "), which is no compiled function here; they are ignored",
                    {},
                    {}});
}

// The calls whose sizes the function still has.
std::vector<ProfiledCalls> Unit::profiled_calls(FunctionJob &f) {
  const unsigned line = sources.getPresumedLineNumber(sources.getFileLoc(f.decl->getLocation()));
  std::vector<ProfiledCalls> list = profile.calls_of(f.name, f.file, line);
  std::set<std::string> stale;
  llvm::erase_if(list, [&](const ProfiledCalls &calls) {
    const size_t before = stale.size();
    for (const std::string &name : calls.names)
      if (!may_be_fixed(context, f.decl, name)) stale.insert(name);
    return stale.size() > before;
  });
  for (const std::string &name : stale)
    f.remark("the profile has calls of '" + f.name + "' by '" + name +
             "', which is no size of it; they are ignored");
  return list;
}

// ---- variants -----------------------------------------------------------------------------------

static std::string percent(uint64_t part, uint64_t all) {
  char text[32];
  snprintf(text, sizeof text, "%.0f %%",
           100 * static_cast<double>(part) / static_cast<double>(all)); // as tc-explain
  return text;
}

// What was chosen, and what for.
void Unit::tell_of_profile(FunctionJob &f, const ProfiledCalls &calls,
                           const std::vector<ProfiledSizes> &chosen) {
  const uint64_t all = calls.all(), most = 999999999999999999;
  uint64_t rest = all;
  std::string list;
  for (const ProfiledSizes &each : chosen) {
    list += (list.empty() ? "" : "; ") + each.sizes.text + " (" + percent(each.calls, all) + ")";
    rest -= each.calls;
    tc_explain_profile(each.sizes.text.c_str(), std::min(each.calls, most), std::min(all, most),
                       &f.profiled);
  }
  const std::string head =
      "'" + f.name + "': of " + std::to_string(all) + " calls in the profile, ";
  f.remark(chosen.empty() ? head + "no sizes are frequent enough for code of their own"
                          : head + list + " have code of their own" +
                                (rest ? "; " + percent(rest, all) + " other" : ""));
}

// Those of the profile that `given` has not; each is made for every choice of dtypes.
std::vector<Sizes> Unit::profile_variants(FunctionJob &f, const std::vector<Sizes> &given,
                                          size_t dtypes) {
  std::vector<Sizes> list;
  if (options.profile != Profile::Use) return list;
  const std::vector<ProfiledCalls> calls = profiled_calls(f);
  const ProfiledCalls *by = deciding(calls);
  const size_t limit = f.options.profile_variants / std::max<size_t>(dtypes, 1);
  if (!by || !by->all() || !limit) return list;
  const std::vector<ProfiledSizes> chosen = frequent_sizes(*by, given, limit);
  tell_of_profile(f, *by, chosen);
  for (const ProfiledSizes &each : chosen) list.push_back(each.sizes);
  for (Sizes &sizes : list) sizes.profiled = true;
  return list;
}

// Code of variants is as large as the function: of a large one there are few.
bool Unit::has_room(FunctionJob &f, const Sizes &sizes) {
  const int most = 4096;
  int ops = 0;
  for (const Segment &segment : f.captured.segments)
    if (!segment.variant.empty()) ops += segment.ops;
  if (ops < most) return true;
  no_variant(f, sizes,
             "the code for other sizes has more than " + std::to_string(most) + " operations");
  return false;
}

} // namespace tc
