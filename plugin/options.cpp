// options.cpp - one table of options serves the attribute and the command line.
#include "options.h"

#include <tcompile/abi.h>

#include "attributes.h"

namespace tc {
namespace {

using llvm::StringRef;

std::string one_of(StringRef key, StringRef value, StringRef list) {
  return ("option '" + key + "' cannot be '" + value + "'; it can be " + list).str();
}

std::string set_flag(StringRef key, StringRef value, bool &flag) {
  if (value.empty() || value == "true" || value == "1")
    flag = true;
  else if (value == "false" || value == "0")
    flag = false;
  else
    return one_of(key, value, "true or false");
  return "";
}

std::string set_fullgraph(StringRef key, StringRef value, Options &options) {
  return set_flag(key, value, options.fullgraph);
}

std::string set_backend(StringRef key, StringRef value, Options &) {
  return value == "openmp" ? "" : one_of(key, value, "openmp");
}

const char *const level_names[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};

std::string set_levels(StringRef key, StringRef value, Options &options) {
  llvm::SmallVector<StringRef, 8> names;
  value.split(names, ',');
  uint32_t levels = 0;
  for (StringRef name : names) {
    unsigned level = 0;
    while (level < TC_ISA_COUNT && name != level_names[level])
      level++;
    if (level == TC_ISA_COUNT)
      return one_of(key, name, "a list of v2, v3, v4, bf16, amx");
    levels |= 1u << level;
  }
  options.levels = levels | 1u << TC_ISA_V2; // what every machine runs
  return "";
}

struct Row {
  const char *key, *values;
  bool in_attribute;
  std::string (*set)(StringRef key, StringRef value, Options &options);
};

const Row rows[] = {
    {"fullgraph", "fullgraph", true, set_fullgraph},
    {"backend", "backend=openmp", true, set_backend},
    {"levels", "levels=v2,v3,v4,bf16,amx", false, set_levels},
};

std::string unknown(StringRef key, OptionPlace place) {
  std::string text = "unknown option '" + key.str() + "'";
  const Row *close = nullptr;
  unsigned best = 3;
  std::string list;
  for (const Row &row : rows) {
    if (place == OptionPlace::Attribute && !row.in_attribute)
      continue;
    list += (list.empty() ? "" : ", ") + std::string(row.values);
    unsigned distance = key.edit_distance(row.key, true, best);
    if (distance < best) {
      best = distance;
      close = &row;
    }
  }
  if (close)
    text += "; did you mean '" + std::string(close->key) + "'?";
  return text + " (options: " + list + ")";
}

} // namespace

std::string apply_option(StringRef text, OptionPlace place, Options &options) {
  auto [key, value] = text.split('=');
  for (const Row &row : rows)
    if (key == row.key && (place == OptionPlace::CommandLine || row.in_attribute))
      return row.set(key, value, options);
  return unknown(key, place);
}

Options options_of(const clang::FunctionDecl *function, const Options &file) {
  Options options = file;
  for (const auto *attr : function->specific_attrs<clang::AnnotateAttr>()) {
    if (attr->getAnnotation() != compile_attribute)
      continue;
    for (const clang::Expr *arg : attr->args())
      if (const auto *text = llvm::dyn_cast<clang::StringLiteral>(arg->IgnoreParenImpCasts()))
        apply_option(text->getString(), OptionPlace::Attribute, options);
  }
  return options;
}

} // namespace tc
