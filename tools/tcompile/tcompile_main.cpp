// tcompile - turns C files with annotated functions into C with their kernels in it.
#include <cstdio>

#include "tools/tcompile/arguments.h"
#include "tools/tcompile/project.h"
#include "tools/tcompile/serve.h"
#include "tools/tcompile/task.h"

namespace {

int refuse(const std::string &why, const char *usage) {
  fprintf(stderr, "tcompile: %s\n%s", why.c_str(), usage);
  return 2;
}

int run_file(const tc::Arguments &arguments, tc::Source source) {
  tc::Task task;
  task.input = arguments.files.front();
  task.output = arguments.output.empty() ? tc::default_output(task.input) : arguments.output;
  task.overlay = arguments.overlay;
  task.source = std::move(source);
  task.record = arguments.json;
  tc::Outcome outcome = tc::perform(task);
  const bool failed = outcome.status == tc::Outcome::Failed;
  if (arguments.json) {
    llvm::json::Array files;
    files.push_back(tc::to_json(task.input, std::move(outcome)));
    tc::print_document(std::move(files));
  }
  return failed;
}

int run(tc::Arguments &arguments) {
  tc::Source source;
  if (std::string why = tc::take_options(arguments.flags, source); !why.empty())
    return refuse(why, "");
  if (!arguments.target.empty())
    arguments.flags.insert(arguments.flags.begin(), "--target=" + arguments.target);
  source.flags = arguments.flags;
  source.code = arguments.code;
  source.headers = !arguments.overlay.empty();
  source.annotated_only = !arguments.database.empty();
  return arguments.database.empty() ? run_file(arguments, std::move(source))
                                    : tc::run_project(arguments, source);
}

} // namespace

int main(int argc, char **argv) {
  const llvm::StringRef first = argc == 2 ? argv[1] : "";
  if (first == "--help") return fputs(tc::usage, stdout) < 0;
  if (first == "--version") return puts("tcompile " TC_VERSION) < 0;
  tc::initialize_targets();
  if (first == "--serve") return tc::serve();
  tc::Arguments arguments = tc::parse_arguments(argc, argv);
  return arguments.error.empty() ? run(arguments) : refuse(arguments.error, tc::usage);
}
