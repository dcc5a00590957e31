// project.cpp - see project.h.  A process for each file: Clang's libraries know one current folder
// a process, and a file that they crash on is one file.
#include "tools/tcompile/project.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>

#include "tools/tcompile/database.h"
#include "tools/tcompile/paths.h"
#include "tools/tcompile/task.h"

#include "llvm/Support/Threading.h"

namespace tc {
namespace {

using llvm::StringRef;
namespace json = llvm::json;
namespace path = llvm::sys::path;

// The folder that all files are in.
std::string common_folder(const std::vector<Command> &commands) {
  StringRef root = commands.empty() ? "" : path::parent_path(commands.front().path);
  for (const Command &each : commands)
    while (!root.empty() && root != "/" && !StringRef(each.path).starts_with((root + "/").str()))
      root = path::parent_path(root);
  return root.str();
}

// A file of this process and its child, which nobody else has a name for.
class Channel {
public:
  Channel() : fd(memfd_create("tcompile", MFD_CLOEXEC)) {}
  std::string read() const {
    std::string text;
    char part[1 << 16];
    for (ssize_t n; (n = pread(fd, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
      text.append(part, static_cast<size_t>(n));
    return text;
  }
  void close() { ::close(fd); }
  int fd;
};

struct Child {
  size_t command;
  Channel said, outcome;
};

class Project {
public:
  Project(const Arguments &arguments, const Source &source)
      : arguments(arguments), source(source) {}
  int run();

private:
  std::string choose();
  void place();
  bool start(size_t command);
  [[noreturn]] void translate_one(size_t command, const Child &child);
  void wait_for_one();
  json::Object outcome_of(const Child &child, int status) const;
  void tell(const Child &child, const json::Object &outcome);
  int conclude();

  const Arguments &arguments;
  Source source;
  std::vector<Command> commands;
  std::vector<std::string> outputs, names; // of commands
  std::string root;
  unsigned at_once = 1;
  std::map<pid_t, Child> children;
  std::vector<json::Object> results;
  std::vector<std::string> failed;
  size_t done = 0, translated = 0, skipped = 0;
};

// The files that were named.
std::string Project::choose() {
  if (std::string why = read_database(arguments.database, commands); !why.empty()) return why;
  root = common_folder(commands);
  if (arguments.files.empty()) return "";
  std::set<std::string> wanted, there;
  for (const std::string &file : arguments.files) wanted.insert(absolute(file));
  llvm::erase_if(commands, [&](const Command &each) { return !wanted.count(each.path); });
  for (const Command &each : commands) there.insert(each.path);
  for (const std::string &file : arguments.files)
    if (!there.count(absolute(file))) return file + " is not in " + arguments.database;
  return "";
}

// A file that is compiled in several ways has several outputs: f.tc.c, f.2.tc.c.
void Project::place() {
  const std::string folder = arguments.output.empty() ? "" : absolute(arguments.output);
  std::map<std::string, unsigned> times;
  for (const Command &each : commands) {
    const StringRef name = StringRef(each.path).drop_front(root == "/" ? 1 : root.size() + 1);
    const unsigned number = ++times[each.path];
    std::string file = folder.empty() ? each.path : folder + "/" + name.str();
    if (number > 1) {
      const StringRef extension = path::extension(file);
      file.insert(file.size() - extension.size(), "." + std::to_string(number));
    }
    outputs.push_back(default_output(file));
    names.push_back(name.str());
  }
}

void Project::translate_one(size_t number, const Child &child) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(child.said.fd, STDERR_FILENO);
  const Command &command = commands[number];
  Task task;
  task.input = command.file;
  task.output = outputs[number];
  task.overlay = arguments.overlay.empty() ? "" : absolute(arguments.overlay);
  task.source = source;
  task.source.flags = command.flags;
  task.source.flags.insert(task.source.flags.end(), source.flags.begin(), source.flags.end());
  task.record = arguments.json;
  std::string why = make_folders(task.output);
  if (why.empty() && chdir(command.directory.c_str()) != 0)
    why = command.directory + ": " + std::strerror(errno);
  if (why.empty()) why = take_options(task.source.flags, task.source);
  Outcome outcome;
  if (why.empty()) outcome = perform(task);
  else if (!arguments.json) llvm::errs() << "tcompile: " << why << "\n";
  else outcome.messages.push_back(json::Object{{"severity", "error"}, {"message", utf8(why)}});
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(to_json(command.path, std::move(outcome)));
  const bool written =
      ::write(child.outcome.fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(written ? 0 : 1);
}

bool Project::start(size_t command) {
  Child child = {command, {}, {}};
  fflush(nullptr);
  const pid_t pid = child.said.fd < 0 || child.outcome.fd < 0 ? -1 : fork();
  if (pid < 0) return false;
  if (!pid) translate_one(command, child);
  children[pid] = child;
  return true;
}

json::Object Project::outcome_of(const Child &child, int status) const {
  auto value = json::parse(child.outcome.read());
  const bool complete = WIFEXITED(status) && !WEXITSTATUS(status) && value && value->getAsObject();
  if (complete) return std::move(*value->getAsObject());
  if (!value) llvm::consumeError(value.takeError());
  Outcome outcome;
  const std::string why = WIFSIGNALED(status)
                              ? "it ended by signal " + std::to_string(WTERMSIG(status))
                              : "its result is missing";
  outcome.messages.push_back(json::Object{{"severity", "error"}, {"message", why}});
  if (!arguments.json) llvm::errs() << "tcompile: " << names[child.command] << ": " << why << "\n";
  return to_json(commands[child.command].path, std::move(outcome));
}

void Project::tell(const Child &child, const json::Object &outcome) {
  const StringRef status = outcome.getString("status").value_or("failed");
  done++;
  skipped += status == "skipped";
  translated += status == "translated";
  if (status == "failed") failed.push_back(names[child.command]);
  if (status != "skipped")
    llvm::errs() << "[" << done << "/" << commands.size() << "] " << names[child.command]
                 << (status == "failed" ? ": failed\n" : "\n");
  llvm::errs() << child.said.read();
}

void Project::wait_for_one() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, 0);
  const auto found = children.find(pid);
  if (found == children.end()) return;
  Child child = found->second;
  children.erase(found);
  results[child.command] = outcome_of(child, status);
  tell(child, results[child.command]);
  child.said.close();
  child.outcome.close();
}

int Project::conclude() {
  if (arguments.json) {
    json::Array files;
    for (json::Object &each : results) files.push_back(std::move(each));
    print_document(std::move(files));
  }
  llvm::errs() << "tcompile: " << translated << (translated == 1 ? " file" : " files")
               << " translated, " << skipped << " without annotated functions";
  if (!failed.empty()) {
    llvm::sort(failed);
    llvm::errs() << ", " << failed.size() << " failed: " << llvm::join(failed, ", ");
  }
  llvm::errs() << "\n";
  return failed.empty() ? 0 : 1;
}

int Project::run() {
  if (std::string why = choose(); !why.empty()) {
    llvm::errs() << "tcompile: " << why << "\n";
    return 2;
  }
  place();
  results.resize(commands.size());
  const unsigned processors = llvm::hardware_concurrency().compute_thread_count();
  at_once = arguments.jobs ? arguments.jobs : processors;
  if (at_once > 1 && commands.size() > 1 && !source.options.jobs) source.options.jobs = 1;
  for (size_t i = 0; i < commands.size(); i++) {
    while (children.size() >= at_once) wait_for_one();
    if (!start(i)) {
      llvm::errs() << "tcompile: " << names[i] << ": " << std::strerror(errno) << "\n";
      failed.push_back(names[i]);
    }
  }
  while (!children.empty()) wait_for_one();
  return conclude();
}

} // namespace

int run_project(const Arguments &arguments, const Source &source) {
  return Project(arguments, source).run();
}

} // namespace tc
