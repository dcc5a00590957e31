// options.cpp - one table of options serves the attribute and the command line.
#include "options.h"

#include "attributes.h"
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

std::string set_fullgraph(StringRef key, StringRef value, Options &options) {
  return set_flag(key, value, options.fullgraph);
}

std::string set_backend(StringRef key, StringRef value, Options &options) {
  if (value == "openmp") options.cuda = TC_CUDA_NO;
  else if (value == "cuda") options.cuda = TC_CUDA_WANT;
  else if (value == "all") options.cuda = TC_CUDA_MAY;
  else return one_of(key, value, "openmp, cuda or all");
  return "";
}

std::string set_disable(StringRef key, StringRef value, Options &options) {
  return set_flag(key, value, options.disable);
}

std::string set_mode(StringRef key, StringRef value, Options &options) {
  options.record = value == "reduce-overhead" || value == "max-autotune";
  if (options.record || value == "default" || value == "max-autotune-no-cudagraphs") return "";
  return one_of(key, value, "default, reduce-overhead, max-autotune or max-autotune-no-cudagraphs");
}

std::string set_max_kernels(StringRef key, StringRef value, Options &options) {
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

std::string set_max_workspace(StringRef key, StringRef value, Options &options) {
  int64_t bytes = bytes_of(value);
  if (bytes < 0) return one_of(key, value, sizes);
  options.max_workspace = bytes;
  return "";
}

std::string set_jobs(StringRef key, StringRef value, Options &options) {
  if (value.getAsInteger(10, options.jobs) || !options.jobs || options.jobs > TC_MOST_JOBS)
    return one_of(key, value, "a number from 1 to 64");
  return "";
}

std::string set_cache(StringRef, StringRef value, Options &options) {
  options.cache = value.str();
  return "";
}

std::string set_cache_size(StringRef key, StringRef value, Options &options) {
  int64_t bytes = bytes_of(value);
  if (bytes < 0) return one_of(key, value, sizes);
  options.cache_bytes = static_cast<uint64_t>(bytes);
  return "";
}

std::string set_arch(StringRef key, StringRef value, Options &options) {
  if (tc_cuda_parse_arch(value.str().c_str(), &options.gpu)) return "";
  return one_of(key, value, "a list such as 80,90,ptx80");
}

std::string set_nvrtc(StringRef, StringRef value, Options &options) {
  options.nvrtc = value.str();
  return "";
}

std::string set_explain(StringRef key, StringRef value, Options &options) {
  return set_flag(key, value, options.explain);
}

std::string set_dynamic(StringRef key, StringRef value, Options &options) {
  bool dynamic = true;
  std::string problem = set_flag(key, value, dynamic);
  options.fixed = !dynamic;
  return problem;
}

std::string set_isa(StringRef key, StringRef value, Options &options) {
  static const char *const names[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};
  llvm::SmallVector<StringRef, 8> list;
  value.split(list, ',');
  uint32_t levels = 0;
  for (StringRef name : list) {
    const auto *found = llvm::find(names, name);
    if (found == std::end(names)) return one_of(key, value, "a list of v2, v3, v4, bf16 and amx");
    levels |= 1u << (found - names);
  }
  options.levels = levels;
  return "";
}

std::string set_effort(StringRef key, StringRef value, Options &options) {
  if (value.size() != 1 || value[0] < '0' || value[0] > '3')
    return one_of(key, value, "0, 1, 2 or 3");
  options.effort = static_cast<unsigned>(value[0] - '0');
  return "";
}

std::string set_thresholds(StringRef key, StringRef value, Options &options) {
  static const char *const names[] = {"TC_PARALLEL_WORK", "TC_STREAM_BYTES", "TC_AHEAD_BYTES",
                                      "TC_GROUP_BYTES", "TC_LOOK_POINTS"};
  llvm::SmallVector<StringRef, 4> list;
  value.split(list, ',');
  options.thresholds.clear();
  for (StringRef each : list) {
    auto [name, text] = each.split('=');
    int64_t number;
    if (!llvm::is_contained(names, name) || text.getAsInteger(10, number) || number < 0)
      return one_of(key, value, "a list such as TC_PARALLEL_WORK=0,TC_STREAM_BYTES=1");
    options.thresholds.push_back(each.str());
  }
  return "";
}

struct Row {
  const char *key, *values;
  std::string (*set)(StringRef key, StringRef value, Options &options);
  bool of_file; // for the command line only
};

const Row rows[] = {
#define TC_OPTION(key, setter, values, fallback, of_file, meaning)                                 \
  {key, values, set_##setter, of_file},
#include "options.def"
};

std::string unknown(StringRef key, Stands where, StringRef *meant) {
  std::string text = "unknown option '" + key.str() + "'", list;
  const Row *close = nullptr;
  unsigned best = 4;
  for (const Row &row : rows) {
    if (row.of_file && where == Stands::AtFunction) continue;
    list += (list.empty() ? "" : ", ") + std::string(row.key);
    unsigned distance = key.edit_distance(row.key, true, best);
    if (distance < best) {
      best = distance;
      close = &row;
    }
  }
  if (close) text += "; did you mean '" + std::string(close->key) + "'?";
  if (close && meant) *meant = close->key;
  return text + " (options: " + list + ")";
}

} // namespace

std::string apply_option(StringRef text, Options &options, Stands where, StringRef *meant) {
  auto [key, value] = text.split('=');
  for (const Row &row : rows) {
    if (key != row.key) continue;
    if (row.of_file && where == Stands::AtFunction)
      return ("option '" + key + "' is for a whole file: -fplugin-arg-tc-" + key + "=" + value)
          .str();
    return row.set(key, value, options);
  }
  return unknown(key, where, meant);
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
