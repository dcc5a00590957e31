// buffers.cpp - what libcpp reads from.
//
// The name, the line table and the dependencies of a file stay; its text is another one.  That is
// three pointers of a structure that libcpp does not show: what they point to is compared before it
// is used.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

#include <libintl.h>
#include <map>

namespace tc_gcc {
namespace {

// The first members of struct cpp_buffer (libcpp/internal.h).
struct BufferHead {
  const unsigned char *cur, *line_base, *next_line, *buf, *rlimit, *to_free;
};

const size_t padding = 64; // zeros behind a buffer, which lexers may read

std::map<std::string, std::string> later; // texts of headers, by path
void (*next_file_change)(cpp_reader *, const line_map_ordinary *);
decltype(cpp_callbacks::diagnostic) next_diagnostic;
decltype(cpp_callbacks::line_change) next_line_change;
bool own_lines; // the user's text sets lines

BufferHead *buffer() { return reinterpret_cast<BufferHead *>(cpp_get_buffer(parse_in)); }

// A buffer that is about to be lexed from its beginning, or (input that is preprocessed) from its
// second line.
bool plausible(const BufferHead *b) {
  return b && b->buf && b->rlimit >= b->buf && b->next_line >= b->buf &&
         b->next_line <= b->rlimit && *b->rlimit == '\n';
}

// What was read of a file, but for a byte order mark, which it has lost.
bool is_file(const BufferHead *b, const char *name) {
  static const char mark[] = "\xef\xbb\xbf";
  size_t size = 0;
  char *text = tc_read_file(name, &size);
  if (!text) return false;
  const size_t skip = size >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
  const size_t begin = static_cast<size_t>(b->next_line - b->buf);
  const bool same = size - skip == static_cast<size_t>(b->rlimit - b->buf) &&
                    begin <= size - skip &&
                    !memcmp(text + skip + begin, b->next_line, size - skip - begin);
  free(text);
  return same;
}

void replace(BufferHead *b, const char *text, size_t size) {
  auto *copy = static_cast<unsigned char *>(xmalloc(size + padding));
  memcpy(copy, text, size);
  memset(copy + size, 0, padding);
  copy[size] = '\n';
  b->next_line = copy + (b->next_line - b->buf);
  b->buf = copy;
  b->rlimit = copy + size;
}

// Compilers spell names in their own ways (./a.h).
std::string path_of(const char *name) {
  char *real = realpath(name, nullptr);
  const std::string path = real ? real : name;
  free(real);
  return path;
}

void file_change(cpp_reader *reader, const line_map_ordinary *map) {
  next_file_change(reader, map);
  if (!map || ORDINARY_MAP_STARTING_LINE_NUMBER(map) != 1 || !MAIN_FILE_P(map)) {
    const char *name = map ? ORDINARY_MAP_FILE_NAME(map) : nullptr;
    auto text = name ? later.find(path_of(name)) : later.end();
    BufferHead *b = buffer();
    if (text == later.end() || !plausible(b) || b->next_line != b->buf || !is_file(b, name)) return;
    replace(b, text->second.data(), text->second.size());
  }
}

// GCC finds columns within string literals only in files without directives that set the line.  The
// markers in the new text are in the places that they speak of.
void line_change(cpp_reader *reader, const cpp_token *token, int parsing) {
  line_table->seen_line_directive = false;
  if (next_line_change) next_line_change(reader, token, parsing);
}

// A directive that sets the line, at its beginning.
bool sets_lines(const char *text, const char *end) {
  while (text < end && (*text == ' ' || *text == '\t')) text++;
  if (text == end || *text++ != '#') return false;
  while (text < end && (*text == ' ' || *text == '\t')) text++;
  return text < end && (ISDIGIT(*text) || (end - text > 4 && !memcmp(text, "line", 4)));
}

bool any_sets_lines(const char *text, size_t size) {
  const char *end = text + size;
  for (const char *line = text; line && line < end;) {
    if (sets_lines(line, end)) return true;
    line = static_cast<const char *>(memchr(line, '\n', static_cast<size_t>(end - line)));
    if (line) line++;
  }
  return false;
}

bool diagnostic(cpp_reader *reader, cpp_diagnostic_level level, cpp_warning_reason reason,
                rich_location *where, const char *text, va_list *arguments) {
  static const char *const marker =
      dgettext("cpplib", "style of line directive is a GCC extension");
  if (!strcmp(text, marker)) return false;
  return next_diagnostic(reader, level, reason, where, text, arguments);
}

} // namespace

bool main_file(MainFile &file) {
  const BufferHead *b = buffer();
  if (!in_fnames || !plausible(b)) return false;
  const bool cxx = !strncmp(lang_hooks.name, "GNU C++", 7);
  const bool input = !*in_fnames[0] || !strcmp(in_fnames[0], "-");
  file.name = input ? "<stdin>" : in_fnames[0];
  file.text = reinterpret_cast<const char *>(b->buf);
  file.size = static_cast<size_t>(b->rlimit - b->buf);
  file.language = cpp_get_options(parse_in)->preprocessed ? (cxx ? "c++-cpp-output" : "cpp-output")
                                                          : (cxx ? "c++" : "c");
  struct stat state;
  const bool regular = !input && !stat(file.name, &state) && S_ISREG(state.st_mode);
  return !regular || is_file(b, file.name);
}

void replace_main(const char *text, size_t size) {
  BufferHead *b = buffer();
  own_lines = any_sets_lines(reinterpret_cast<const char *>(b->buf),
                             static_cast<size_t>(b->rlimit - b->buf));
  replace(b, text, size);
}

void replace_later(const std::string &name, const std::string &text) {
  later[path_of(name.c_str())] = text;
}

void watch_files() {
  cpp_callbacks *callbacks = cpp_get_callbacks(parse_in);
  next_diagnostic = callbacks->diagnostic;
  callbacks->diagnostic = diagnostic;
  next_line_change = callbacks->line_change;
  if (!own_lines) callbacks->line_change = line_change;
  if (later.empty()) return;
  next_file_change = callbacks->file_change;
  callbacks->file_change = file_change;
}

} // namespace tc_gcc
