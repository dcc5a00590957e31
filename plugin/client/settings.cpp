// settings.cpp - see settings.h.
#include "plugin/client/settings.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace tc_client {

static std::string default_tool() {
  Dl_info here = {};
  std::string folder;
  if (dladdr(reinterpret_cast<const void *>(&default_tool), &here) && here.dli_fname)
    folder = here.dli_fname;
  folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
  for (const char *place : {TC_TOOL_FROM_INSTALLED, TC_TOOL_FROM_BUILT})
    if (access((folder + place).c_str(), X_OK) == 0) return folder + place;
  return folder + TC_TOOL_FROM_INSTALLED;
}

Settings::Settings() : tool(default_tool()) {}

static bool read_seconds(const std::string &value, unsigned &seconds) {
  char *end;
  const long number = strtol(value.c_str(), &end, 10);
  if (*end || value.empty() || number < 1 || number > 86400) return false;
  seconds = static_cast<unsigned>(number);
  return true;
}

std::string Settings::apply(const std::string &argument) {
  const size_t equals = argument.find('=');
  const std::string key = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  if (key == "tool") tool = value;
  else if (key == "remarks") remarks = true;
  else if (key != "timeout") options.push_back(argument);
  else if (!read_seconds(value, seconds))
    return "takes a number of seconds, and not '" + value + "'";
  return "";
}

void put_flag(const std::string &flag, tc_bytes *request) {
  tc_request_put(request, TC_REC_FLAG, flag.data(), flag.size());
}

void put_options(const Settings &settings, tc_bytes *request) {
  if (settings.remarks) {
    put_flag("-Rpass=tc", request);
    put_flag("-Rpass-missed=tc", request);
  }
  for (const std::string &option : settings.options)
    tc_request_put(request, TC_REC_OPTION, option.data(), option.size());
}

} // namespace tc_client
