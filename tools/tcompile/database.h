// database.h - compile_commands.json: how each file of a project is compiled.
#ifndef TC_TOOL_DATABASE_H
#define TC_TOOL_DATABASE_H

#include <string>
#include <vector>

namespace tc {

struct Command {
  std::string directory;          // absolute
  std::string file;               // as written: relative to the directory, or absolute
  std::string path;               // the file, absolute
  std::vector<std::string> flags; // without the compiler, the file, and what it writes
};

// Reads the file, or the one in the folder.  Commands of C and C++ files, without those that are
// there twice.  What is wrong with it, or "".
std::string read_database(const std::string &path, std::vector<Command> &commands);

} // namespace tc

#endif
