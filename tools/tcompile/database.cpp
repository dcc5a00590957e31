// database.cpp - see database.h.  The format: clang.llvm.org/docs/JSONCompilationDatabase.html
#include "tools/tcompile/database.h"

#include <set>

#include "tools/tcompile/invocation.h"
#include "tools/tcompile/paths.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

namespace tc {
namespace {

using llvm::StringRef;
namespace json = llvm::json;
namespace path = llvm::sys::path;

// The words of a command line as a shell takes them, with those of response files.
std::vector<std::string> words_of(const json::Object &entry, StringRef directory) {
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver(memory);
  llvm::SmallVector<const char *, 64> words;
  if (const json::Array *list = entry.getArray("arguments")) {
    for (const json::Value &word : *list)
      words.push_back(saver.save(word.getAsString().value_or("")).data());
  } else if (auto line = entry.getString("command")) {
    llvm::cl::TokenizeGNUCommandLine(*line, saver, words);
  }
  llvm::cl::ExpansionContext expansion(memory, llvm::cl::TokenizeGNUCommandLine);
  expansion.setCurrentDir(directory);
  if (llvm::Error error = expansion.expandResponseFiles(words))
    llvm::consumeError(std::move(error));
  return {words.begin(), words.end()};
}

bool is_source(StringRef file) {
  static const char *const all[] = {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".i", ".ii"};
  return llvm::any_of(all, [&](const char *each) { return path::extension(file) == each; });
}

// ccache gcc, cmake -E env X=1 gcc: what runs the compiler stands in front of it.
size_t first_flag(const std::vector<std::string> &words) {
  for (size_t i = 1; i < words.size(); i++)
    if (StringRef(words[i]).starts_with("-") && words[i] != "-E") return i;
  return std::min<size_t>(1, words.size());
}

std::vector<std::string> flags_of(const std::vector<std::string> &words, const Command &command) {
  std::vector<std::string> flags;
  for (size_t i = first_flag(words); i < words.size(); i++) {
    const StringRef word = words[i];
    if (word == "-o" || word == "-MF" || word == "-MT" || word == "-MQ" || word == "-MJ") i++;
    else if (word == "--") continue;
    else if (word == command.file || absolute(command.directory, word) == command.path) continue;
    else flags.push_back(words[i]);
  }
  return from_project(flags);
}

std::string read_entry(const json::Value &value, StringRef beside, std::vector<Command> &commands) {
  const json::Object *entry = value.getAsObject();
  const auto directory = entry ? entry->getString("directory") : std::nullopt;
  const auto file = entry ? entry->getString("file") : std::nullopt;
  const bool says_how = entry && (entry->getArray("arguments") || entry->getString("command"));
  if (!directory || !file || !says_how)
    return "an entry has not all of \"directory\", \"file\", and \"command\" or \"arguments\"";
  Command command = {absolute(beside, *directory), file->str(), "", {}};
  command.path = absolute(command.directory, *file);
  command.flags = flags_of(words_of(*entry, command.directory), command);
  if (is_source(command.file)) commands.push_back(std::move(command));
  return "";
}

// One file that is compiled twice in one way makes one output.
void drop_equal(std::vector<Command> &commands) {
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  llvm::erase_if(commands, [&](const Command &each) {
    return !seen.insert({each.directory + "\n" + each.path, each.flags}).second;
  });
}

} // namespace

std::string read_database(const std::string &name, std::vector<Command> &commands) {
  llvm::SmallString<256> file(name);
  if (llvm::sys::fs::is_directory(file)) path::append(file, "compile_commands.json");
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) return "cannot read " + std::string(file) + ": " + buffer.getError().message();
  llvm::SmallString<256> beside(path::parent_path(file));
  llvm::sys::fs::make_absolute(beside);
  auto parsed = json::parse((*buffer)->getBuffer());
  if (!parsed) return std::string(file) + ": " + llvm::toString(parsed.takeError());
  const json::Array *entries = parsed->getAsArray();
  if (!entries) return std::string(file) + ": no list of commands";
  for (size_t i = 0; i < entries->size(); i++)
    if (std::string why = read_entry((*entries)[i], beside, commands); !why.empty())
      return std::string(file) + ": entry " + std::to_string(i + 1) + ": " + why;
  drop_equal(commands);
  return "";
}

} // namespace tc
