// arguments.h - the command line.
#ifndef TC_TOOL_ARGUMENTS_H
#define TC_TOOL_ARGUMENTS_H

#include <string>
#include <vector>

#include "tools/tcompile/translate.h"

namespace tc {

struct Arguments {
  std::vector<std::string> files;
  std::string output, overlay, target;
  std::string database; // -p
  unsigned jobs = 0;    // -j; 0: one for each processor
  Code code = Code::InText;
  bool json = false;
  std::vector<std::string> flags; // behind --
  std::string error;              // what is wrong with them, or ""
};

Arguments parse_arguments(int argc, char **argv);

extern const char usage[];

// Moves what the flags say to the plugin into options of `source`; what is wrong with that, or "".
std::string take_options(std::vector<std::string> &flags, Source &source);

} // namespace tc

#endif
