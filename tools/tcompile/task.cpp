// task.cpp - see task.h.
#include "tools/tcompile/task.h"

#include "tools/tcompile/relocate.h"

#include "llvm/Support/FormatVariadic.h"

namespace tc {

using llvm::StringRef;
namespace path = llvm::sys::path;

std::string default_output(StringRef input) {
  if (input == "-") return "-";
  const StringRef extension = path::extension(input);
  return (input.drop_back(extension.size()) + ".tc" + (extension.empty() ? ".c" : extension)).str();
}

std::string make_folders(StringRef file) {
  const StringRef folder = path::parent_path(file);
  const std::error_code error =
      folder.empty() ? std::error_code() : llvm::sys::fs::create_directories(folder);
  return error ? folder.str() + ": " + error.message() : "";
}

static std::error_code write_to(llvm::raw_fd_ostream &&out, StringRef text) {
  out << text;
  out.flush();
  const std::error_code error = out.error();
  out.clear_error();
  return error;
}

// A file is replaced once all of it is written.
static std::string write_whole(const OutputFile &file) {
  namespace fs = llvm::sys::fs;
  std::error_code error;
  const bool special = fs::exists(file.path) && !fs::is_regular_file(file.path);
  if (special || file.path == "-") {
    llvm::raw_fd_ostream out(file.path, error);
    if (!error) error = write_to(std::move(out), file.text);
    return error ? error.message() : "";
  }
  auto temporary = fs::TempFile::create(file.path + ".%%%%%%", fs::all_read | fs::all_write);
  if (!temporary) return llvm::toString(temporary.takeError());
  error = write_to(llvm::raw_fd_ostream(temporary->FD, /*shouldClose=*/false), file.text);
  llvm::Error end = error ? temporary->discard() : temporary->keep(file.path);
  const std::string why = end ? llvm::toString(std::move(end)) : "";
  return error ? error.message() : why;
}

namespace {

class Work {
public:
  explicit Work(Task &task) : task(task) {}
  Outcome run();

private:
  Outcome::Status status();
  bool fail(const std::string &why);
  bool read();
  bool layout_fits();
  bool make_files(const Translation &unit, std::vector<OutputFile> &files);
  bool write(const OutputFile &file);

  Task &task;
  std::string original;
  Recorder recorder;
  Outcome outcome;
};

bool Work::fail(const std::string &why) {
  if (task.record) recorder.add("error", why);
  else fprintf(stderr, "tcompile: %s\n", why.c_str());
  return false;
}

bool Work::read() {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(task.input);
  if (!buffer) return fail("cannot read " + task.input + ": " + buffer.getError().message());
  original = (*buffer)->getBuffer().str();
  task.source.name = task.input == "-" ? standard_input : task.input;
  if (task.input != "-") return true;
  task.source.text = original;
  task.source.flags.insert(task.source.flags.begin(), {"-x", "c"});
  return true;
}

bool Work::layout_fits() {
  if (task.output == "-" && task.source.code != Code::InText)
    return fail("--split needs a file for the text: -o FILE");
  if (task.output != "-" && llvm::sys::fs::equivalent(task.input, task.output))
    return fail(task.output + " is the file itself");
  return true;
}

bool Work::make_files(const Translation &unit, std::vector<OutputFile> &files) {
  const Layout layout = {task.source.name, task.output, task.overlay};
  if (std::string why = relocate(layout, unit, original, files); !why.empty()) return fail(why);
  if (task.source.code == Code::InText) return true;
  llvm::SmallString<128> name(task.output);
  path::replace_extension(name, task.source.code == Code::Object ? "o" : "s");
  files.push_back({std::string(name), unit.code});
  return true;
}

bool Work::write(const OutputFile &file) {
  if (file.path != task.output)
    if (std::string why = make_folders(file.path); !why.empty()) return fail(why);
  if (std::string why = write_whole(file); !why.empty()) return fail(file.path + ": " + why);
  outcome.outputs.push_back(file.path);
  return true;
}

Outcome::Status Work::status() {
  Translation unit;
  std::vector<OutputFile> files;
  if (!layout_fits() || !read()) return Outcome::Failed;
  if (!translate(task.source, task.record ? &recorder : nullptr, unit)) return Outcome::Failed;
  outcome.explanation = std::move(unit.explanation);
  if (!unit.annotated && task.source.annotated_only) return Outcome::Skipped;
  if (!make_files(unit, files)) return Outcome::Failed;
  for (const OutputFile &file : files)
    if (!write(file)) return Outcome::Failed;
  return Outcome::Translated;
}

Outcome Work::run() {
  outcome.status = status();
  outcome.messages = recorder.take();
  return std::move(outcome);
}

} // namespace

Outcome perform(Task &task) { return Work(task).run(); }

llvm::json::Object to_json(const std::string &input, Outcome &&outcome) {
  static const char *const words[] = {"failed", "skipped", "translated"};
  llvm::json::Array outputs;
  for (const std::string &each : outcome.outputs) outputs.push_back(utf8(each));
  size_t kernels = 0;
  llvm::json::Array functions = functions_of(outcome.explanation, kernels);
  return llvm::json::Object{{"file", utf8(input)},
                            {"status", words[outcome.status]},
                            {"outputs", std::move(outputs)},
                            {"kernels", static_cast<int64_t>(kernels)},
                            {"functions", std::move(functions)},
                            {"diagnostics", std::move(outcome.messages)}};
}

void print_document(llvm::json::Array files) {
  const llvm::json::Value document =
      llvm::json::Object{{"version", TC_VERSION}, {"files", std::move(files)}};
  llvm::outs() << llvm::formatv("{0:2}", document) << "\n";
}

} // namespace tc
