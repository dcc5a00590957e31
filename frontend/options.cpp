// options.cpp - one table of options serves the attribute and the command line.
#include "frontend/options.h"

#include "frontend/attributes.h"
#include "backends/jobs.h"

namespace tc {
namespace {

using llvm::StringRef;

std::string one_of(StringRef key, StringRef value, StringRef list) {
  return ("option '" + key + "' cannot be '" + value + "'; it can be " + list).str();
}

std::string set_flag(StringRef key, StringRef value, bool &flag) {
  if (value.empty() || value == "true" || value == "1") flag = true;
  else if (value == "false" || value == "0") flag = false;
  else return one_of(key, value, "true or false");
  return "";
}

std::string set_fullgraph(StringRef key, StringRef value, Options &options, Stands) {
  return set_flag(key, value, options.fullgraph);
}

std::string set_backend(StringRef key, StringRef value, Options &options, Stands where) {
  tc_buf why = {};
  std::string problem;
  if (!tc_choose(value.str().c_str(), where == Stands::OnCommandLine, &options.backends, &why))
    problem = ("option '" + key + "': " + (why.text ? why.text : "")).str();
  tc_buf_free(&why);
  return problem;
}

std::string set_disable(StringRef key, StringRef value, Options &options, Stands) {
  return set_flag(key, value, options.disable);
}

std::string set_max_kernels(StringRef key, StringRef value, Options &options, Stands) {
  int64_t n;
  if (value.getAsInteger(10, n) || n < 0) return one_of(key, value, "a number such as 3");
  options.max_kernels = n;
  return "";
}

// "64K"; -1: not understood.
int64_t bytes_of(StringRef value) {
  int64_t n;
  StringRef digits = value.take_while(llvm::isDigit);
  int shift = llvm::StringSwitch<int>(value.drop_front(digits.size()))
                  .Case("", 0)
                  .Case("B", 0)
                  .Case("K", 10)
                  .Case("KiB", 10)
                  .Case("M", 20)
                  .Case("MiB", 20)
                  .Case("G", 30)
                  .Case("GiB", 30)
                  .Default(-1);
  const bool understood = shift >= 0 && !digits.getAsInteger(10, n) && n <= INT64_MAX >> shift;
  return understood ? n << shift : -1;
}

const char *const sizes = "a number of bytes such as 4096, 64K, 8M or 1G";

std::string set_bytes(StringRef key, StringRef value, std::optional<int64_t> &option) {
  const int64_t bytes = bytes_of(value);
  if (bytes < 0) return one_of(key, value, sizes);
  option = bytes;
  return "";
}

std::string set_max_workspace(StringRef key, StringRef value, Options &options, Stands) {
  return set_bytes(key, value, options.max_workspace);
}

std::string set_grad(StringRef key, StringRef value, Options &options, Stands) {
  if (value == "auto") options.gradients = Gradients::Auto;
  else if (value == "on") options.gradients = Gradients::On;
  else if (value == "off") options.gradients = Gradients::Off;
  else return one_of(key, value, "auto, on or off");
  return "";
}

std::string set_max_saved(StringRef key, StringRef value, Options &options, Stands) {
  return set_bytes(key, value, options.max_saved);
}

std::string set_autocast(StringRef key, StringRef value, Options &options, Stands) {
  llvm::SmallVector<StringRef, 2> list;
  value.split(list, ',');
  options.autocasts.clear();
  for (StringRef name : list) {
    tc_dtype dtype;
    if (!tc_dtype_parse(name.data(), name.size(), &dtype) || !tc_autocast_is_dtype(dtype))
      return one_of(key, value, "a list of bf16 and f16");
    if (!llvm::is_contained(options.autocasts, dtype)) options.autocasts.push_back(dtype);
  }
  return "";
}

std::string set_jobs(StringRef key, StringRef value, Options &options, Stands) {
  if (value.getAsInteger(10, options.jobs) || !options.jobs || options.jobs > TC_MOST_JOBS)
    return one_of(key, value, "a number from 1 to 64");
  return "";
}

std::string set_cache(StringRef, StringRef value, Options &options, Stands) {
  options.cache = value.str();
  return "";
}

std::string set_save_graphs(StringRef key, StringRef value, Options &options, Stands) {
  if (value.empty()) return one_of(key, value, "a folder");
  options.save_graphs = value.str();
  return "";
}

std::string set_cache_size(StringRef key, StringRef value, Options &options, Stands) {
  int64_t bytes = bytes_of(value);
  if (bytes < 0) return one_of(key, value, sizes);
  options.cache_bytes = static_cast<uint64_t>(bytes);
  return "";
}

// A folder, or a name with a dot, is no misspelt word.
std::string set_profile(StringRef key, StringRef value, Options &options, Stands) {
  options.profile = value == "generate" ? Profile::Generate : Profile::Use;
  if (value == "generate" || value == "use") return "";
  if (value.find_first_of("./") == StringRef::npos)
    return one_of(key, value, "generate, use, or the path of a file, such as ./NAME");
  options.profile_file = value.str();
  return "";
}

std::string set_file(StringRef key, StringRef value, std::string &to) {
  if (value.empty()) return one_of(key, value, "the name of a file");
  to = value.str();
  return "";
}

std::string set_profile_file(StringRef key, StringRef value, Options &options, Stands) {
  return set_file(key, value, options.profile_file);
}

std::string set_profile_key(StringRef, StringRef, Options &, Stands) { return ""; }

std::string set_profile_variants(StringRef key, StringRef value, Options &options, Stands) {
  if (value.getAsInteger(10, options.profile_variants) || options.profile_variants > 64)
    return one_of(key, value, "a number from 0 to 64");
  return "";
}

std::string set_explain(StringRef key, StringRef value, Options &options, Stands) {
  return set_flag(key, value, options.explain);
}

std::string set_dynamic(StringRef key, StringRef value, Options &options, Stands) {
  bool dynamic = true;
  std::string problem = set_flag(key, value, dynamic);
  options.fixed = !dynamic;
  return problem;
}

std::string set_isa(StringRef key, StringRef value, Options &options, Stands) {
  llvm::SmallVector<StringRef, 8> list;
  value.split(list, ',');
  uint32_t levels = 0;
  for (StringRef name : list) {
    const auto *found = llvm::find(tc_isa_name, name);
    if (found == std::end(tc_isa_name))
      return one_of(key, value, "a list of v2, v3, v4, bf16 and amx");
    levels |= 1u << (found - tc_isa_name);
  }
  options.levels = levels;
  return "";
}

std::string set_effort(StringRef key, StringRef value, Options &options, Stands) {
  if (value.size() != 1 || value[0] < '0' || value[0] > '3')
    return one_of(key, value, "0, 1, 2 or 3");
  options.effort = static_cast<unsigned>(value[0] - '0');
  return "";
}

std::string set_thresholds(StringRef key, StringRef value, Options &options, Stands) {
  static const char *const names[] = {"TC_PARALLEL_WORK", "TC_NONTEMPORAL_BYTES",
                                      "TC_PREFETCH_BYTES", "TC_GROUP_BYTES",
                                      "TC_SINGLE_PASS_POINTS"};
  llvm::SmallVector<StringRef, 4> list;
  value.split(list, ',');
  options.thresholds.clear();
  for (StringRef each : list) {
    auto [name, text] = each.split('=');
    int64_t number;
    if (!llvm::is_contained(names, name) || text.getAsInteger(10, number) || number < 0)
      return one_of(key, value, "a list such as TC_PARALLEL_WORK=0,TC_NONTEMPORAL_BYTES=1");
    options.thresholds.push_back(each.str());
  }
  return "";
}

std::string set_schedule(StringRef key, StringRef value, Options &options, Stands) {
  if (value.empty()) return one_of(key, value, "the name of a file");
  options.settings.push_back({key.str(), value.str()});
  return "";
}

std::string set_mode(StringRef key, StringRef value, Options &options, Stands) {
  if (!llvm::is_contained(
          {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}, value))
    return one_of(key, value,
                  "default, reduce-overhead, max-autotune or max-autotune-no-cudagraphs");
  options.tunes = value.starts_with("max-autotune");
  options.settings.push_back({key.str(), value.str()}); // for launches on GPUs
  return "";
}

std::string set_tune(StringRef key, StringRef value, Options &options, Stands) {
  return set_file(key, value, options.tune);
}

std::string set_tune_time(StringRef key, StringRef value, Options &options, Stands) {
  double seconds;
  if (value.getAsDouble(seconds) || !(seconds >= 0 && seconds <= 1e6))
    return one_of(key, value, "seconds such as 20");
  options.tune_time = seconds;
  return "";
}

struct Row {
  const char *key, *values;
  std::string (*set)(StringRef key, StringRef value, Options &options, Stands where);
  bool of_file; // for the command line only
};

const Row rows[] = {
#define TC_OPTION(key, setter, values, fallback, of_file, meaning)                                 \
  {key, values, set_##setter, of_file},
#include "frontend/options.def"
};

// Options of the backends of this build, and of those that were chosen so far.
template <class Each> void each_backend_option(const Options &options, Each each) {
  for (uint32_t i = 0; const tc_backend *b = tc_backend_of_build(i); i++)
    for (uint32_t k = 0; k < b->noption; k++) each(b->option[k]);
  for (uint32_t i = 0; i < options.backends.n; i++) {
    const tc_backend *b = options.backends.at[i].backend;
    bool of_build = false;
    for (uint32_t k = 0; tc_backend_of_build(k); k++) of_build |= tc_backend_of_build(k) == b;
    for (uint32_t k = 0; !of_build && k < b->noption; k++) each(b->option[k]);
  }
}

std::string unknown(StringRef key, const Options &options, Stands where, StringRef *meant) {
  std::string text = "unknown option '" + key.str() + "'", list;
  const char *close = nullptr;
  unsigned best = 4;
  auto look_at = [&](const char *name, bool of_file) {
    if (of_file && where == Stands::AtFunction) return;
    list += (list.empty() ? "" : ", ") + std::string(name);
    unsigned distance = key.edit_distance(name, true, best);
    if (distance < best) {
      best = distance;
      close = name;
    }
  };
  for (const Row &row : rows) look_at(row.key, row.of_file);
  each_backend_option(options, [&](const tc_backend_option &o) { look_at(o.key, o.of_file); });
  if (close) text += "; did you mean '" + std::string(close) + "'?";
  if (close && meant) *meant = close;
  return text + " (options: " + list + ")";
}

std::string of_whole_file(StringRef key, StringRef value) {
  return ("option '" + key + "' is for a whole file: -fplugin-arg-tc-" + key + "=" + value).str();
}

std::string set_of_backend(const tc_backend_option &o, StringRef key, StringRef value,
                           Options &options) {
  if (const char *wanted = o.check(value.str().c_str())) return one_of(key, value, wanted);
  options.settings.push_back({key.str(), value.str()});
  return "";
}

} // namespace

std::string apply_option(StringRef text, Options &options, Stands where, StringRef *meant) {
  auto [key, value] = text.split('=');
  for (const Row &row : rows) {
    if (key != row.key) continue;
    if (row.of_file && where == Stands::AtFunction) return of_whole_file(key, value);
    return row.set(key, value, options, where);
  }
  const tc_backend_option *found = nullptr;
  each_backend_option(options, [&, key = key](const tc_backend_option &o) {
    if (key == o.key) found = &o;
  });
  if (!found) return unknown(key, options, where, meant);
  if (found->of_file && where == Stands::AtFunction) return of_whole_file(key, value);
  return set_of_backend(*found, key, value, options);
}

std::vector<tc_setting> Options::settings_for_backends() const {
  std::vector<tc_setting> list;
  for (const auto &[key, value] : settings) list.push_back({key.c_str(), value.c_str()});
  return list;
}

Options options_of(const clang::FunctionDecl *function, const Options &file) {
  Options options = file;
  for (const auto *attr : function->specific_attrs<clang::AnnotateAttr>()) {
    if (attr->getAnnotation() != compile_attribute) continue;
    for (const clang::Expr *arg : attr->args())
      if (const auto *text = llvm::dyn_cast<clang::StringLiteral>(arg->IgnoreParenImpCasts()))
        apply_option(text->getString(), options, Stands::AtFunction);
  }
  return options;
}

} // namespace tc
