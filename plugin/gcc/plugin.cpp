// plugin.cpp - libtcgcc-N.so: the entry of the plugin for GCC.
//
// When the main file is read, and before anything of it is lexed, the tool turns its text into what
// GCC compiles instead.  All else (dependencies, __FILE__, -g, -S, standard input) is GCC's,
// unchanged.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

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
#define TC_ATTRIBUTE(name, least, most)                                                            \
  {#name, least, most, /* of a declaration */ true, false, false, false, accept, nullptr},
#include "plugin/client/attributes.def"
#undef TC_ATTRIBUTE
};

void add_attributes(void *, void *) {
  for (attribute_spec &each : attributes) register_attribute(&each);
}

// ---- the answer ---------------------------------------------------------------------------------

// A file that is wrong stays as it is: what is wrong is GCC's to say.
void take(const tc_bytes &bytes, const MainFile &main, const Parse &parse) {
  const Answer answer = tc_client::read_answer(bytes);
  show(answer.messages);
  if (parse.errors) return;
  if (parse.complete && !answer.files.empty()) show_warnings_of_copy(parse.messages);
  for (const NewFile &file : answer.files)
    if (file.name == main.name) replace_main(file.text.data(), file.text.size());
    else replace_later(file.name, file.text);
  unread = answer.unread;
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
  if (pch_file) { // kernels would not be in it
    if (settings.remarks)
      inform(UNKNOWN_LOCATION,
             "functions in a precompiled header are not compiled; define them in a source file");
    return;
  }
  tc_bytes request = {}, answer = {};
  tc_request_begin(&request);
  put_flags(settings, &request);
  tc_request_put(&request, TC_REC_LANGUAGE, file.language, strlen(file.language));
  tc_request_put(&request, TC_REC_NAME, file.name, strlen(file.name));
  tc_request_put(&request, TC_REC_TEXT, file.text, file.size);
  const Parse parse = put_meaning(&request);
  tc_tool_problem why;
  if (const char *problem =
          tc_tool_ask(settings.tool.c_str(), &request, settings.seconds, &answer, &why))
    warning(0, "%s: the functions of this file run eagerly", problem);
  else take(answer, file, parse);
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

// From the command line itself, for GCC does not hand on a value with = in it as a whole.  false:
// after an error.
bool read_settings(const char *plugin) {
  const std::string prefix = std::string(plugin) + "-";
  for (unsigned i = 1; i < save_decoded_options_count; i++) {
    const cl_decoded_option &option = save_decoded_options[i];
    if (option.opt_index != OPT_fplugin_arg_ || strncmp(option.arg, prefix.c_str(), prefix.size()))
      continue;
    const std::string argument = option.arg + prefix.size(), why = settings.apply(argument);
    if (why.empty()) continue;
    error("%<-fplugin-arg-%s%s%> %s", prefix.c_str(),
          argument.substr(0, argument.find('=')).c_str(), why.c_str());
    return false;
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
  if (!read_settings(info->base_name)) return 0;
  register_callback(info->base_name, PLUGIN_ATTRIBUTES, add_attributes, nullptr);
  if (flag_preprocess_only) return 0;
  register_callback(info->base_name, PLUGIN_START_UNIT, start_unit, nullptr);
  register_callback(info->base_name, PLUGIN_FINISH_UNIT, finish_unit, nullptr);
  return 0;
}
