// warnings.cpp - what GCC finds wrong while it parses is found in the text that the user wrote.
//
// A copy of this process parses that text to tell of its types (copy.cpp), and what it says
// meanwhile is what GCC says without the plugin, word by word.  That is shown, and what the parse
// of the new text says is not: where calls stand between statements GCC takes other things for
// unused, for jumped over, or for a declaration behind a statement.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

namespace tc_gcc {
namespace {

void (*parse_file)();
FILE *shown; // where messages go
FILE *aside; // while they do not
char *kept;  // what went there
size_t kept_size;

void show_again() {
  global_dc->printer->buffer->stream = shown;
  fclose(aside);
  aside = nullptr;
}

// An error in the new text alone is not the user's, but must not go without a word.
void tell_of_errors() {
  if (!aside) return;
  show_again();
  fwrite(kept, 1, kept_size, shown);
}

void parse_aside() {
  aside = open_memstream(&kept, &kept_size);
  if (!aside) return parse_file();
  shown = global_dc->printer->buffer->stream;
  global_dc->printer->buffer->stream = aside;
  atexit(tell_of_errors); // if GCC gives up
  parse_file();
  if (seen_error()) tell_of_errors();
  else show_again();
  free(kept);
}

} // namespace

void show_warnings_of_copy(const std::string &messages) {
  fwrite(messages.data(), 1, messages.size(), stderr);
  parse_file = lang_hooks.parse_file;
  lang_hooks.parse_file = parse_aside;
  cpp_warn_unused_macros = 0; // told of at the end
}

} // namespace tc_gcc
