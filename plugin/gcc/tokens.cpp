// tokens.cpp - the file as GCC's own preprocessor reads it.
//
// What a file means to GCC is known to GCC alone, and only when it reads the file: defaults,
// predefined macros and conditions on the compiler decide.
#include "plugin/gcc/gcc.h"

#include "driver/annotation.h"
#include "plugin/gcc/plugin.h"

#include <set>

namespace tc_gcc {
namespace {

// ---- the state that the parser begins in --------------------------------------------------------

// As c_finish_options of c-family/c-opts.c does it, which is not to be called from here.
void define_builtins() {
  const line_map_ordinary *map =
      linemap_check_ordinary(linemap_add(line_table, LC_RENAME, 0, "<built-in>", 0));
  fe_file_change(map);
  linemap_line_start(line_table, 0, 1);
  cpp_force_token_locations(parse_in, BUILTINS_LOCATION);
  cpp_init_builtins(parse_in, flag_hosted);
  c_cpp_builtins(parse_in);
  cpp_stop_forcing_token_locations(parse_in);
}

void define_by_options() {
  const line_map_ordinary *map =
      linemap_check_ordinary(linemap_add(line_table, LC_RENAME, 0, "<command-line>", 0));
  fe_file_change(map);
  linemap_line_start(line_table, 0, 1);
  cpp_force_token_locations(parse_in, MAP_START_LOCATION(map));
  for (unsigned i = 1; i < save_decoded_options_count; i++) {
    const cl_decoded_option &option = save_decoded_options[i];
    if (option.opt_index == OPT_D) cpp_define(parse_in, option.arg);
    else if (option.opt_index == OPT_U) cpp_undef(parse_in, option.arg);
    else if (option.opt_index == OPT_A && option.arg[0] == '-')
      cpp_unassert(parse_in, option.arg + 1);
    else if (option.opt_index == OPT_A) cpp_assert(parse_in, option.arg);
  }
  cpp_stop_forcing_token_locations(parse_in);
}

void only_change_file(cpp_reader *, const line_map_ordinary *map) { fe_file_change(map); }

void read_macros_of_options(cpp_callbacks *callbacks) {
  auto *const file_change = callbacks->file_change;
  callbacks->file_change = only_change_file; // GCC's would enter what -include names
  for (unsigned i = 1; i < save_decoded_options_count; i++)
    if (save_decoded_options[i].opt_index == OPT_imacros &&
        cpp_push_include(parse_in, save_decoded_options[i].arg))
      cpp_scan_nooutput(parse_in);
  callbacks->file_change = file_change;
}

void begin_reading() {
  cpp_callbacks *callbacks = cpp_get_callbacks(parse_in);
  cpp_get_options(parse_in)->track_macro_expansion = 2;
  define_builtins();
  define_by_options();
  read_macros_of_options(callbacks);
  callbacks->file_change(parse_in, nullptr); // enters what -include names, then the file
}

// ---- what is read -------------------------------------------------------------------------------

FILE *out;
bool precompiled; // a header was not read

void put(char kind, const char *text) {
  fputc(kind, out);
  fputs(text, out);
  fputc(0, out);
}

void read_precompiled(cpp_reader *reader, const char *path, int file, const char *name) {
  precompiled = true;
  c_common_read_pch(reader, path, file, name);
}

// The public header says other things to the tool.
bool is_system(location_t loc) {
  if (loc <= BUILTINS_LOCATION || in_system_header_at(loc)) return true;
  return tc_is_own_header(LOCATION_FILE(loc));
}

// Two places of a token that a macro made: `from` of what it is, `in` the definition.  They are the
// same but for tokens of arguments.  What # and ## make of one is of its place in the definition.
struct Made {
  const line_map_macro *macro; // null: it was written in a file
  location_t from, in;
};

// Whether the token of a definition is a parameter behind # or in front of ##.  libcpp says of what
// # makes that it comes from the token that was read last, whichever that is, and of what ## makes
// that it comes from the left one.
bool is_made_there(const line_map_macro *map, location_t in) {
  const cpp_hashnode *name = map->macro;
  if (!cpp_user_macro_p(name)) return false;
  const cpp_macro *macro = name->value.macro;
  if (macro->kind == cmk_assert || macro->kind == cmk_traditional) return false;
  for (unsigned i = 0; i < macro->count; i++)
    if (macro->exp.tokens[i].src_loc == in)
      return macro->exp.tokens[i].flags & (STRINGIFY_ARG | PASTE_LEFT);
  return false;
}

Made made_at(location_t loc) {
  const line_map *map = linemap_lookup(line_table, loc);
  if (!map || !linemap_macro_expansion_map_p(map)) return {nullptr, loc, loc};
  const line_map_macro *macro = linemap_check_macro(map);
  const location_t *places = MACRO_MAP_LOCATIONS(macro) + 2 * (loc - MAP_START_LOCATION(macro));
  return {macro, is_made_there(macro, places[1]) ? places[1] : places[0], places[1]};
}

// Where a token comes from that arguments of macros passed on.
struct Origin {
  location_t loc;
  bool passed; // by a macro of the system's
};

Origin origin_of(location_t loc) {
  Origin origin = {loc, false};
  for (Made made = made_at(loc); made.macro && made.from != made.in; made = made_at(origin.loc)) {
    origin.passed |= is_system(made.in);
    origin.loc = made.from;
  }
  return origin;
}

// The outermost macro in whose definition the token stands and that is GCC's or a system header's,
// or null.
const line_map_macro *system_macro(location_t loc) {
  const Made made = made_at(origin_of(loc).loc);
  if (!made.macro) return nullptr;
  if (const line_map_macro *outer = system_macro(MACRO_MAP_EXPANSION_POINT_LOCATION(made.macro)))
    return outer;
  return is_system(made.in) ? made.macro : nullptr;
}

// What one place in a file makes: macros of the system's are told of as one.
class Writer {
public:
  void put_token(const cpp_token *token, location_t loc);
  void flush();

private:
  struct Item {
    location_t macro; // where its map starts, for maps move; 0: none
    std::string name;
    std::vector<std::string> texts;
  };
  void begin(location_t at);
  std::string spell(const cpp_token *token);

  std::string file;
  linenum_type line = 0;
  location_t place = 0; // whose tokens come
  std::vector<Item> items;
  std::set<location_t> passed; // once is enough
};

std::string Writer::spell(const cpp_token *token) {
  std::vector<unsigned char> text(cpp_token_len(token) + 1);
  const unsigned char *end = cpp_spell_token(parse_in, token, text.data(), true);
  return std::string(reinterpret_cast<const char *>(text.data()),
                     static_cast<size_t>(end - text.data()));
}

void Writer::flush() {
  for (const Item &item : items) {
    if (item.macro) put('S', item.name.c_str());
    for (const std::string &text : item.texts) put('T', text.c_str());
    if (item.macro) put('E', "");
  }
  items.clear();
  passed.clear();
}

void Writer::begin(location_t at) {
  flush();
  place = at;
  const char *name = LOCATION_FILE(at);
  const auto number = static_cast<linenum_type>(LOCATION_LINE(at));
  if (file != name) put('F', (file = name).c_str());
  if (line != number) put('L', std::to_string(line = number).c_str());
}

void Writer::put_token(const cpp_token *token, location_t loc) {
  const location_t at =
      linemap_resolve_location(line_table, loc, LRK_MACRO_EXPANSION_POINT, nullptr);
  if (is_system(at)) return;
  if (at != place) begin(at);
  const Origin origin = origin_of(loc);
  if (origin.passed && !passed.insert(origin.loc).second) return;
  const line_map_macro *made_by = system_macro(loc);
  const location_t macro = made_by ? MAP_START_LOCATION(made_by) : 0;
  for (Item &item : items)
    if (macro && item.macro == macro) return item.texts.push_back(spell(token));
  items.push_back({macro, made_by ? linemap_map_get_macro_name(made_by) : "", {spell(token)}});
}

// Pragmas mean to each compiler what they mean.
void skip_pragma() {
  for (const cpp_token *token = cpp_get_token(parse_in);
       token->type != CPP_PRAGMA_EOL && token->type != CPP_EOF;)
    token = cpp_get_token(parse_in);
}

void write_all() {
  Writer writer;
  for (location_t loc = 0;;) {
    const cpp_token *token = cpp_get_token_with_location(parse_in, &loc);
    if (token->type == CPP_EOF) break;
    if (token->type == CPP_PRAGMA) skip_pragma();
    else if (token->type != CPP_PADDING) writer.put_token(token, loc);
  }
  writer.flush();
  if (precompiled) put('P', "");
  put('Z', "");
}

} // namespace

int write_tokens(FILE *to) {
  out = to;
  cpp_get_callbacks(parse_in)->read_pch = read_precompiled;
  begin_reading();
  write_all();
  return 0;
}

} // namespace tc_gcc
