// plugin.h - the parts of the plugin for GCC.
#ifndef TC_GCC_PLUGIN_H
#define TC_GCC_PLUGIN_H

#include <string>
#include <vector>

#include "plugin/client/answer.h"
#include "plugin/client/scan.h"
#include "plugin/client/settings.h"

namespace tc_gcc {

using tc_client::Answer;
using tc_client::Fixit;
using tc_client::Message;
using tc_client::NewFile;
using tc_client::Settings; // -fplugin-arg-libtcgcc-KEY=VALUE

// ---- flags.cpp ----------------------------------------------------------------------------------

// How the file is compiled, as far as it says what the file means.
void put_flags(const Settings &settings, tc_bytes *request);
std::vector<const char *> user_folders();
std::vector<const char *> command_line_headers();

// ---- buffers.cpp --------------------------------------------------------------------------------

// The main file, which was read and is about to be lexed.
struct MainFile {
  const char *name; // "<stdin>"
  const char *text; // as it was read; the last line ends
  size_t size;
  const char *language; // as of -x
};

// false: there is none, or what GCC has of it is not where it is expected.
bool main_file(MainFile &file);
void replace_main(const char *text, size_t size);
// Of a header, when it is entered.
void replace_later(const std::string &name, const std::string &text);
// Line markers make no messages; and replace_later.
void watch_files();

// ---- copy.cpp -----------------------------------------------------------------------------------

// Copies of this process (fork), in the state in which the parser is about to begin, which go
// through the file in its place: so flags, standard input, precompiled headers and headers of the
// command line are what they are for the parser.  The request gets TC_REC_TOKENS and TC_REC_TYPES,
// but of a file that GCC cannot read to its end.
struct Parse {
  bool complete = false, errors = false;
  std::string messages; // that GCC has for the file as it is
};
Parse put_meaning(tc_bytes *request);

// ---- tokens.cpp ---------------------------------------------------------------------------------

// In a copy: what GCC reads in the main file and its headers, as TC_REC_TOKENS.
int write_tokens(FILE *to); // exit status 0

// ---- types.cpp ----------------------------------------------------------------------------------

// In a copy: what GCC makes of types and constants, as TC_REC_TYPES; the exit status.
const int status_errors = 2; // there are some in the file
int write_types(FILE *to);

// ---- warnings.cpp -------------------------------------------------------------------------------

// Shows these and none of the parse that is to come.
void show_warnings_of_copy(const std::string &messages);

// ---- messages.cpp -------------------------------------------------------------------------------

// In the place that the main file is about to be read from.
void show(const std::vector<Message> &messages);

} // namespace tc_gcc

#endif
