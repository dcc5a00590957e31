// arguments.cpp - see arguments.h.
#include "tools/tcompile/arguments.h"

namespace tc {

using llvm::StringRef;

const char usage[] =
    "usage: tcompile FILE [-o OUTPUT] [OPTIONS] [-- FLAGS]\n"
    "       tcompile -p DATABASE [FILE...] [-o FOLDER] [-j N] [OPTIONS] [-- FLAGS]\n"
    "  compiles the functions of C files that are marked TC_COMPILE, and writes C that other\n"
    "  compilers build, with the kernels inside as assembly\n"
    "  FILE      the file; - for standard input\n"
    "  -o        where to (FILE.tc.c); - for standard output\n"
    "  FLAGS     what the file is compiled with, as of clang; -fplugin-arg-tc-KEY=VALUE "
    "(tc-options)\n"
    "            and -Rpass=tc, -Rpass-missed=tc for remarks too\n"
    "  -p        all files of a compile_commands.json (or those named), or of the folder that has\n"
    "            one, with the flags there and FLAGS; -o: the folder for a tree of outputs\n"
    "  -j        how many files at once (one for each processor)\n"
    "  --split   kernels in a file of their own, FILE.tc.o, and C without assembly;\n"
    "            --split=s: in FILE.tc.s, for the assembler\n"
    "  --overlay=FOLDER   compiles functions in headers, too, and writes these headers there\n"
    "  --target=TRIPLE    for another machine: x86_64 or aarch64, such as aarch64-linux-gnu\n"
    "  --json    what became of files, functions and messages, on standard output\n"
    "  --version prints the version\n";

namespace {

class Parser {
public:
  Parser(int argc, char **argv) : words(argv + 1, argv + argc) {}

  Arguments run() {
    for (at = 0; at < words.size() && a.error.empty(); at++) {
      if (words[at] == "--") {
        a.flags.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
        break;
      }
      word(words[at]);
    }
    if (a.error.empty()) a.error = contradiction();
    return std::move(a);
  }

private:
  void word(StringRef word);
  bool with_value(StringRef word);
  std::string contradiction() const;
  void set_jobs(StringRef number);
  void set_code(StringRef form);

  std::vector<std::string> words;
  size_t at = 0;
  Arguments a;
};

void Parser::set_jobs(StringRef number) {
  if (number.getAsInteger(10, a.jobs) || !a.jobs || a.jobs > 4096)
    a.error = "-j takes a number of files, and not '" + number.str() + "'";
}

void Parser::set_code(StringRef form) {
  if (form == "o") a.code = Code::Object;
  else if (form == "s") a.code = Code::Assembly;
  else
    a.error = "--split=" + form.str() + ": there is --split=o, an object, and --split=s, assembly";
}

// -o OUTPUT, -p DATABASE, -j N and -jN
bool Parser::with_value(StringRef word) {
  if (word.starts_with("-j") && word.size() > 2) return set_jobs(word.drop_front(2)), true;
  if (word != "-o" && word != "-p" && word != "-j") return false;
  if (++at == words.size() || words[at] == "--") {
    a.error = word.str() + " is without a " + (word == "-j" ? "number" : "file");
    return true;
  }
  if (word == "-j") set_jobs(words[at]);
  else (word == "-o" ? a.output : a.database) = words[at];
  return true;
}

void Parser::word(StringRef word) {
  if (with_value(word)) return;
  if (word == "--json") a.json = true;
  else if (word == "--split") a.code = Code::Object;
  else if (word.consume_front("--split=")) set_code(word);
  else if (word.consume_front("--overlay=") && !word.empty()) a.overlay = word.str();
  else if (word.consume_front("--target=") && !word.empty()) a.target = word.str();
  else if (word.size() > 1 && word.starts_with("-"))
    a.error = "'" + word.str() + "' is not understood; flags of the compiler stand behind --";
  else a.files.push_back(word.str());
}

std::string Parser::contradiction() const {
  if (!a.database.empty()) return a.output == "-" ? "-p needs a folder behind -o" : "";
  if (a.files.empty()) return "no file is given";
  if (a.files.size() > 1)
    return "one file at a time, and not " + a.files[0] + " and " + a.files[1] +
           "; -p compile_commands.json for those of a project";
  if (a.jobs) return "-j is for the files of -p";
  return a.json && a.output == "-" ? "--json and the text cannot both go to standard output" : "";
}

} // namespace

Arguments parse_arguments(int argc, char **argv) { return Parser(argc, argv).run(); }

std::string take_options(std::vector<std::string> &flags, Source &source) {
  std::string error;
  llvm::erase_if(flags, [&](StringRef flag) {
    if (flag.starts_with("-fplugin=")) return true;
    if (!flag.consume_front("-fplugin-arg-tc-")) return false;
    if (std::string why = set_option(source, flag); !why.empty() && error.empty())
      error = "-fplugin-arg-tc-" + flag.str() + ": " + why;
    return true;
  });
  return error;
}

} // namespace tc
