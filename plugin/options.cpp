// options.cpp - one table of options serves the attribute and the command line.
#include "options.h"

#include "attributes.h"

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

std::string set_backend(StringRef key, StringRef value, Options &) {
  return value == "openmp" ? "" : one_of(key, value, "openmp");
}

struct Row {
  const char *key, *values;
  std::string (*set)(StringRef key, StringRef value, Options &options);
};

const Row rows[] = {
    {"fullgraph", "fullgraph", set_fullgraph},
    {"backend", "backend=openmp", set_backend},
};

std::string unknown(StringRef key) {
  std::string text = "unknown option '" + key.str() + "'";
  const Row *close = nullptr;
  unsigned best = 3;
  std::string list;
  for (const Row &row : rows) {
    list += (list.empty() ? "" : ", ") + std::string(row.values);
    unsigned distance = key.edit_distance(row.key, true, best);
    if (distance < best) {
      best = distance;
      close = &row;
    }
  }
  if (close) text += "; did you mean '" + std::string(close->key) + "'?";
  return text + " (options: " + list + ")";
}

} // namespace

std::string apply_option(StringRef text, Options &options) {
  auto [key, value] = text.split('=');
  for (const Row &row : rows)
    if (key == row.key) return row.set(key, value, options);
  return unknown(key);
}

Options options_of(const clang::FunctionDecl *function, const Options &file) {
  Options options = file;
  for (const auto *attr : function->specific_attrs<clang::AnnotateAttr>()) {
    if (attr->getAnnotation() != compile_attribute) continue;
    for (const clang::Expr *arg : attr->args())
      if (const auto *text = llvm::dyn_cast<clang::StringLiteral>(arg->IgnoreParenImpCasts()))
        apply_option(text->getString(), options);
  }
  return options;
}

} // namespace tc
