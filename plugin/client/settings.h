// settings.h - what the command line tells a plugin that asks the tool.
#ifndef TC_CLIENT_SETTINGS_H
#define TC_CLIENT_SETTINGS_H

#include <string>
#include <vector>

#include "plugin/client/tool.h"

namespace tc_client {

struct Settings {
  std::string tool;                 // its path
  unsigned seconds = 600;           // that it may take
  bool remarks = false;             // what was compiled, and what was not
  std::vector<std::string> options; // for the tool

  Settings(); // bin/tcompile of the installation that this library is in lib of, or of the build

  // KEY, or KEY=VALUE.  What is wrong with it, or "".
  std::string apply(const std::string &argument);
};

void put_options(const Settings &settings, tc_bytes *request);

// A flag of the compiler, or what belongs to the one before.
void put_flag(const std::string &flag, tc_bytes *request);

} // namespace tc_client

#endif
