// from_project.cpp - see invocation.h.
#include "tools/tcompile/driver_options.h"
#include "tools/tcompile/invocation.h"

namespace tc {

using namespace clang;
using namespace clang::driver;
using llvm::StringRef;

static bool is_of_output(StringRef flag) {
  static const char *const all[] = {"-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG"};
  return flag.starts_with("-save-temps") ||
         llvm::any_of(all, [&](const char *each) { return flag == each; });
}

static bool makes_errors(StringRef flag) {
  return flag == "-Werror" || flag.starts_with("-Werror=") || flag == "-pedantic-errors";
}

// Options of the plugins: what is about how they work is for them alone.  "": it goes.
static std::string plugin_option(StringRef flag) {
  if (!flag.consume_front("-fplugin-arg-libtcgcc-") && !flag.consume_front("-fplugin-arg-tc-"))
    return "";
  const StringRef key = flag.split('=').first;
  const bool own = key == "tool" || key == "timeout" || key == "remarks";
  return own ? "" : "-fplugin-arg-tc-" + flag.str();
}

std::vector<std::string> from_project(const std::vector<std::string> &flags) {
  std::vector<const char *> all;
  for (const std::string &flag : flags) all.push_back(flag.c_str());
  unsigned missing, count;
  const llvm::opt::InputArgList list = getDriverOptTable().ParseArgs(
      all, missing, count, llvm::opt::Visibility(options::ClangOption));
  std::vector<std::string> out;
  bool silent = false;
  for (const llvm::opt::Arg *flag : list) {
    const auto kind = flag->getOption().getKind();
    const std::string text = flag->getAsString(list);
    if (kind == llvm::opt::Option::InputClass || kind == llvm::opt::Option::UnknownClass ||
        is_of_output(text) || makes_errors(text))
      continue;
    if (StringRef(text).starts_with("-fplugin")) {
      if (std::string option = plugin_option(text); !option.empty()) out.push_back(option);
      continue;
    }
    silent |= text == "-w" || text == "-Wno-backend-plugin";
    llvm::opt::ArgStringList words;
    flag->render(list, words);
    out.insert(out.end(), words.begin(), words.end());
  }
  out.push_back("-Wno-everything");
  if (!silent) out.push_back("-Wbackend-plugin");
  return out;
}

} // namespace tc
