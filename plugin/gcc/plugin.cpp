// plugin.cpp - libtcgcc-N.so: the entry of the plugin for GCC.
//
// When the main file is read, and before anything of it is lexed, the tool turns its text into what GCC
// compiles instead.  All else (dependencies, __FILE__, -g, -S, standard input) is GCC's, unchanged.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

#include <dlfcn.h>

extern "C" {
__attribute__((visibility("default"))) int plugin_is_GPL_compatible;
__attribute__((visibility("default"))) int plugin_init(plugin_name_args *, plugin_gcc_version *);
}

namespace tc_gcc {
namespace {

Settings settings;
std::vector<Message> unread; // why the tool could not parse the file

// ---- attributes ---------------------------------------------------------------------------------

tree accept(tree *, tree, tree, int, bool *) { return NULL_TREE; }

attribute_spec attributes[] = {
    // name, least and most arguments, of a declaration
    {"tc_compile", 0, -1, true, false, false, false, accept, nullptr},
    {"tc_shape", 1, 1, true, false, false, false, accept, nullptr},
    {"tc_specialize", 1, 1, true, false, false, false, accept, nullptr},
    {"tc_disable", 0, 0, true, false, false, false, accept, nullptr},
    {"tc_replaces", 1, 1, true, false, false, false, accept, nullptr},
    {"tc_op", 2, 2, true, false, false, false, accept, nullptr},
    {"tc_effect", 0, 0, true, false, false, false, accept, nullptr},
    {"tc_const", 0, 1, true, false, false, false, accept, nullptr},
};

void add_attributes(void *, void *) {
  for (attribute_spec &each : attributes) register_attribute(&each);
}

// ---- the answer ---------------------------------------------------------------------------------

Message read_message(const char *bytes, size_t size) {
  Message m;
  if (size < sizeof m.head) return m;
  memcpy(&m.head, bytes, sizeof m.head);
  const std::string rest(bytes + sizeof m.head, size - sizeof m.head);
  const size_t zero = rest.find('\0');
  if (zero == std::string::npos) return m;
  m.file = rest.substr(0, zero);
  m.text = rest.substr(zero + 1);
  return m;
}

void take_file(const std::string &record, const MainFile &main) {
  const size_t zero = record.find('\0');
  if (zero == std::string::npos) return;
  const std::string name = record.substr(0, zero);
  if (name == main.name) replace_main(record.data() + zero + 1, record.size() - zero - 1);
  else replace_later(name, record.substr(zero + 1));
}

void take(const tc_bytes &answer, const MainFile &main) {
  std::vector<Message> messages;
  std::vector<std::string> files;
  tc_record record;
  const char *bytes;
  for (size_t at = 0; tc_answer_next(&answer, &at, &record, &bytes);) {
    tc_record_range range = {};
    if (record.size >= sizeof range) memcpy(&range, bytes, sizeof range);
    switch (record.kind) {
    case TC_REC_MESSAGE:
      messages.push_back(read_message(bytes, record.size));
      break;
    case TC_REC_RANGE:
      if (!messages.empty()) messages.back().ranges.push_back(range);
      break;
    case TC_REC_FIXIT:
      if (!messages.empty() && record.size >= sizeof range)
        messages.back().fixits.push_back(
            {range, std::string(bytes + sizeof range, record.size - sizeof range)});
      break;
    case TC_REC_UNREAD:
      unread.push_back(read_message(bytes, record.size));
      break;
    case TC_REC_FILE:
      files.push_back(std::string(bytes, record.size));
      break;
    default:
      break;
    }
  }
  show(messages);
  for (const std::string &file : files) take_file(file, main);
}

// ---- events -------------------------------------------------------------------------------------

bool may_be_annotated(const MainFile &file) {
  std::vector<const char *> list = user_folders();
  const tc_folders folders = {list.data(), list.size()};
  if (tc_file_may_be_annotated(file.text, file.size, file.name, &folders)) return true;
  for (const char *header : command_line_headers())
    if (tc_header_may_be_annotated(header, &folders)) return true;
  return false;
}

void start_unit(void *, void *) {
  MainFile file;
  if (!main_file(file) || !may_be_annotated(file)) return;
  tc_bytes request = {}, answer = {};
  tc_request_begin(&request);
  put_flags(settings, &request);
  tc_request_put(&request, TC_REC_LANGUAGE, file.language, strlen(file.language));
  tc_request_put(&request, TC_REC_NAME, file.name, strlen(file.name));
  tc_request_put(&request, TC_REC_TEXT, file.text, file.size);
  tc_tool_problem why;
  if (const char *problem =
          tc_tool_ask(settings.tool.c_str(), &request, settings.seconds, &answer, &why))
    warning(0, "%s: the functions of this file run eagerly", problem);
  else take(answer, file);
  tc_bytes_free(&request);
  tc_bytes_free(&answer);
  watch_files();
}

// GCC found no error where the tool did.
void finish_unit(void *, void *) {
  if (seen_error()) return;
  for (Message &each : unread) {
    each.head.severity = TC_SAY_WARNING;
    each.text = "the functions of this file run eagerly, since it is not understood as a whole: " +
                each.text;
  }
  show(unread);
}

// ---- settings -----------------------------------------------------------------------------------

// bin/tcompile of the installation that this file is in lib of, or of the build.
std::string default_tool() {
  Dl_info here = {};
  std::string folder;
  if (dladdr(reinterpret_cast<const void *>(&default_tool), &here) && here.dli_fname)
    folder = here.dli_fname;
  folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
  for (const char *place : {TC_TOOL_FROM_INSTALLED, TC_TOOL_FROM_BUILT})
    if (access((folder + place).c_str(), X_OK) == 0) return folder + place;
  return folder + TC_TOOL_FROM_INSTALLED;
}

// false: after an error.
bool read_settings(const plugin_name_args *info) {
  settings.tool = default_tool();
  for (int i = 0; i < info->argc; i++) {
    const std::string key = info->argv[i].key,
                      value = info->argv[i].value ? info->argv[i].value : "";
    if (key == "tool") settings.tool = value;
    else if (key == "remarks") settings.remarks = true;
    else if (key == "timeout") {
      char *end;
      const long seconds = strtol(value.c_str(), &end, 10);
      if (*end || value.empty() || seconds < 1 || seconds > 86400) {
        error("%<-fplugin-arg-%s-timeout%> takes a number of seconds, and not %qs", info->base_name,
              value.c_str());
        return false;
      }
      settings.seconds = static_cast<unsigned>(seconds);
    } else settings.options.push_back(value.empty() ? key : key + "=" + value);
  }
  return true;
}

} // namespace
} // namespace tc_gcc

// "12.2" of "12.2.0": what is laid out otherwise in another version.
static std::string release(const char *version) {
  const char *dot = strchr(version, '.');
  return dot ? std::string(version, strcspn(dot + 1, ".") + static_cast<size_t>(dot + 1 - version))
             : version;
}

int plugin_init(plugin_name_args *info, plugin_gcc_version *version) {
  using namespace tc_gcc;
  if (release(version->basever) != release(gcc_version.basever)) {
    fprintf(stderr,
            "error: %s was built for GCC %s and cannot be loaded by GCC %s; build TCompile again\n",
            info->full_name, gcc_version.basever, version->basever);
    return 1;
  }
  if (strncmp(lang_hooks.name, "GNU C", 5)) return 0;
  if (!read_settings(info)) return 0;
  register_callback(info->base_name, PLUGIN_ATTRIBUTES, add_attributes, nullptr);
  if (flag_preprocess_only) return 0;
  register_callback(info->base_name, PLUGIN_START_UNIT, start_unit, nullptr);
  register_callback(info->base_name, PLUGIN_FINISH_UNIT, finish_unit, nullptr);
  return 0;
}
