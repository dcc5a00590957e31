// tcompile - turns a C file with annotated functions into C with their kernels in it.
#include <cstdio>

#include "tools/tcompile/serve.h"
#include "tools/tcompile/translate.h"

using llvm::StringRef;

static const char usage[] =
    "usage: tcompile FILE [-o OUTPUT] [-- FLAGS]\n"
    "  compiles the functions of a C file that are marked TC_COMPILE, and writes C that any GNU C\n"
    "  compiler builds, with the kernels inside as assembly\n"
    "  FILE      the file; - for standard input\n"
    "  -o        where to (FILE.tc.c); - for standard output\n"
    "  FLAGS     what the file is compiled with, as of clang; -fplugin-arg-tc-KEY=VALUE "
    "(tc-options)\n"
    "            and -Rpass=tc, -Rpass-missed=tc for remarks too\n"
    "  --version prints the version\n";

namespace {

struct Arguments {
  std::string input, output;
  std::vector<std::string> flags;
  std::string error; // what is wrong with them
};

Arguments parse(int argc, char **argv) {
  Arguments a;
  for (int i = 1; i < argc; i++) {
    StringRef argument = argv[i];
    if (argument == "--") {
      a.flags.assign(argv + i + 1, argv + argc);
      break;
    }
    if (argument == "-o") {
      if (++i == argc || StringRef(argv[i]) == "--") a.error = "-o is without a file";
      else a.output = argv[i];
    } else if (argument.size() > 1 && argument.starts_with("-")) {
      a.error = "'" + argument.str() + "' is not understood; flags of the compiler stand behind --";
    } else if (!a.input.empty()) {
      a.error = "one file at a time, and not " + a.input + " and " + argument.str();
    } else {
      a.input = argument.str();
    }
    if (!a.error.empty()) return a;
  }
  if (a.input.empty()) a.error = "no file is given";
  return a;
}

// dir/f.c becomes dir/f.tc.c
std::string default_output(StringRef input) {
  if (input == "-") return "-";
  StringRef extension = llvm::sys::path::extension(input);
  return (input.drop_back(extension.size()) + ".tc" + (extension.empty() ? ".c" : extension)).str();
}

// What of the flags is said to the plugin; the rest stays.
std::string take_options(std::vector<std::string> &flags, tc::Source &source) {
  std::string error;
  llvm::erase_if(flags, [&](StringRef flag) {
    if (flag.starts_with("-fplugin=")) return true;
    if (!flag.consume_front("-fplugin-arg-tc-")) return false;
    if (std::string why = tc::set_option(source, flag); !why.empty() && error.empty())
      error = "-fplugin-arg-tc-" + flag.str() + ": " + why;
    return true;
  });
  return error;
}

bool write_text(const std::string &text, const std::string &path) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) out << text;
  if (!error) out.close();
  if (!error) error = out.error();
  out.clear_error();
  if (error) fprintf(stderr, "tcompile: %s: %s\n", path.c_str(), error.message().c_str());
  return !error;
}

// The text of a file in which nothing was compiled is as it was.
bool read_text(const std::string &path, std::string &text) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (buffer) text = (*buffer)->getBuffer().str();
  else
    fprintf(stderr, "tcompile: cannot read %s: %s\n", path.c_str(),
            buffer.getError().message().c_str());
  return bool(buffer);
}

int run(Arguments &arguments) {
  tc::Source source;
  source.name = arguments.input == "-" ? "<stdin>" : arguments.input;
  std::string text;
  if (!read_text(arguments.input, text)) return 1;
  if (std::string why = take_options(arguments.flags, source); !why.empty()) {
    fprintf(stderr, "tcompile: %s\n", why.c_str());
    return 2;
  }
  source.flags = std::move(arguments.flags);
  if (arguments.input == "-") {
    source.text = text;
    source.flags.insert(source.flags.begin(), {"-x", "c"});
  }
  std::vector<tc::NewText> texts;
  if (!tc::translate(source, nullptr, texts)) return 1;
  for (tc::NewText &each : texts)
    if (each.main) text = std::move(each.text);
    else
      fprintf(stderr,
              "tcompile: warning: %s has compiled functions, which stay as they are there\n",
              each.file.c_str());
  return !write_text(text,
                     arguments.output.empty() ? default_output(arguments.input) : arguments.output);
}

} // namespace

int main(int argc, char **argv) {
  const StringRef first = argc == 2 ? argv[1] : "";
  if (first == "--help") return fputs(usage, stdout) < 0;
  if (first == "--version") return puts("tcompile " TC_VERSION) < 0;
  tc::initialize_targets();
  if (first == "--serve") return tc::serve();
  Arguments arguments = parse(argc, argv);
  if (arguments.error.empty()) return run(arguments);
  fprintf(stderr, "tcompile: %s\n%s", arguments.error.c_str(), usage);
  return 2;
}
