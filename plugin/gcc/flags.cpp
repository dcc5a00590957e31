// flags.cpp - the command line, as the tool gets it: what the driver and the options of others made
// of it.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

namespace tc_gcc {

static void put(tc_bytes *request, const std::string &flag) { tc_client::put_flag(flag, request); }

// Folders of headers go in the order that GCC searches them in (put_folders).
static bool is_folder(size_t option) {
  switch (option) {
  case OPT_I:
  case OPT_iquote:
  case OPT_isystem:
  case OPT_idirafter:
  case OPT_iprefix:
  case OPT_iwithprefix:
  case OPT_iwithprefixbefore:
  case OPT_isysroot:
  case OPT_nostdinc:
    return true;
  default:
    return false;
  }
}

static void put_folders(tc_bytes *request) {
  put(request, "-nostdinc");
  const cpp_dir *bracket = get_added_cpp_dirs(INC_BRACKET);
  for (const cpp_dir *d = get_added_cpp_dirs(INC_QUOTE); d && d != bracket; d = d->next) {
    put(request, "-iquote");
    put(request, d->name);
  }
  for (const cpp_dir *d = bracket; d; d = d->next) {
    put(request, d->sysp ? "-isystem" : "-I");
    put(request, d->name);
  }
}

// "GNU C17" is -std=gnu17, where the command line says nothing.
static std::string default_standard() {
  std::string name = lang_hooks.name + strlen("GNU C");
  const bool cxx = name.compare(0, 2, "++") == 0;
  std::string year = cxx ? name.substr(2) : name;
  for (char &c : year) c = static_cast<char>(TOLOWER(c));
  return std::string(cxx ? "-std=gnu++" : "-std=gnu") + (year.empty() ? "17" : year);
}

// What a default of this GCC may decide without a word on the command line.
static void put_resolved(tc_bytes *request) {
  put(request, flag_pie > 1   ? "-fPIE"
               : flag_pie > 0 ? "-fpie"
               : flag_pic > 1 ? "-fPIC"
               : flag_pic > 0 ? "-fpic"
                              : "-fno-pic");
  put(request, std::string("-fgnuc-version=") + gcc_version.basever);
  if (flag_syntax_only) put(request, "-fsyntax-only");
  if (flag_lto) put(request, "-flto");
}

void put_flags(const Settings &settings, tc_bytes *request) {
  put(request, default_standard());
  for (unsigned i = 1; i < save_decoded_options_count; i++) {
    const cl_decoded_option &option = save_decoded_options[i];
    if (is_folder(option.opt_index)) continue;
    for (size_t k = 0; k < option.canonical_option_num_elements; k++)
      put(request, option.canonical_option[k]);
  }
  put_resolved(request);
  put_folders(request);
  tc_client::put_options(settings, request);
}

std::vector<const char *> user_folders() {
  std::vector<const char *> folders;
  for (const cpp_dir *d = get_added_cpp_dirs(INC_QUOTE); d; d = d->next)
    if (!d->sysp) folders.push_back(d->name);
  return folders;
}

std::vector<const char *> command_line_headers() {
  std::vector<const char *> headers;
  for (unsigned i = 1; i < save_decoded_options_count; i++)
    if (save_decoded_options[i].opt_index == OPT_include)
      headers.push_back(save_decoded_options[i].arg);
  return headers;
}

} // namespace tc_gcc
