// types.cpp - the types and constants of the file as GCC's own parser makes them.
//
// Equal tokens may mean other numbers: flags, pragmas and attributes that one compiler alone knows
// decide about sizes, places of members, the type of 0.1 and the code of a character.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

#include <set>

namespace tc_gcc {
namespace {

std::string in_quotes(const std::string &text) { return "'" + text + "'"; }

const char *sign_of(tree type) { return TYPE_UNSIGNED(type) ? "unsigned" : "signed"; }

bool is_member(tree field) {
  return TREE_CODE(field) == FIELD_DECL && DECL_NAME(field) && !DECL_ARTIFICIAL(field);
}

std::string members_of(tree type) {
  std::string names;
  for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field))
    if (is_member(field))
      names += (names.empty() ? "" : ", ") + std::string(IDENTIFIER_POINTER(DECL_NAME(field)));
  return "{" + names + "}";
}

// "" where there is none; what C++ calls a type without a name is none.
std::string tag_of(tree type) {
  tree name = TYPE_NAME(type);
  if (name && TREE_CODE(name) == TYPE_DECL) name = DECL_NAME(name);
  if (!name || IDENTIFIER_ANON_P(name)) return "";
  return IDENTIFIER_POINTER(name);
}

class Facts {
public:
  void add_scalars();
  void add_code(const char *name, const char *literal); // with its quotes
  void add_type(tree type);
  void add_typedef(tree decl);
  void write(FILE *to) const;

private:
  void add(const std::string &question, const std::string &answer) {
    all.insert({question, answer});
  }
  bool add_size(const std::string &name, tree type);
  void add_sign(const std::string &name, tree type);
  void add_members(const std::string &name, tree type);
  void add_enumerators(tree type);
  void add_tagged(tree type, const std::string &other_name);

  std::set<std::pair<std::string, std::string>> all;
  std::set<unsigned> seen; // numbers of types
};

// false: it has none, or one that is not constant.
bool Facts::add_size(const std::string &name, tree type) {
  if (!TYPE_SIZE_UNIT(type) || !tree_fits_uhwi_p(TYPE_SIZE_UNIT(type))) return false;
  add("size of " + in_quotes(name), std::to_string(tree_to_uhwi(TYPE_SIZE_UNIT(type))));
  add("alignment of " + in_quotes(name), std::to_string(TYPE_ALIGN_UNIT(type)));
  return true;
}

void Facts::add_sign(const std::string &name, tree type) {
  if (TREE_CODE(type) == INTEGER_TYPE) add("sign of " + in_quotes(name), sign_of(type));
}

void Facts::add_members(const std::string &name, tree type) {
  for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field)) {
    if (!is_member(field) || !tree_fits_uhwi_p(bit_position(field))) continue;
    const std::string member =
        in_quotes(IDENTIFIER_POINTER(DECL_NAME(field))) + " in " + in_quotes(name);
    add("place of " + member, std::to_string(tree_to_uhwi(bit_position(field))));
    if (DECL_C_BIT_FIELD(field)) add("sign of " + member, sign_of(TREE_TYPE(field)));
  }
}

void Facts::add_enumerators(tree type) {
  for (tree each = TYPE_VALUES(type); each; each = TREE_CHAIN(each)) {
    tree value = TREE_VALUE(each);
    if (TREE_CODE(value) == CONST_DECL) value = DECL_INITIAL(value);
    const std::string name = in_quotes(IDENTIFIER_POINTER(TREE_PURPOSE(each)));
    if (!value || TREE_CODE(value) != INTEGER_CST) continue;
    if (tree_fits_shwi_p(value)) add("value of " + name, std::to_string(tree_to_shwi(value)));
    else if (tree_fits_uhwi_p(value)) add("value of " + name, std::to_string(tree_to_uhwi(value)));
  }
}

// A struct, union or enumeration, called by its tag or, where it has none, in another way.
void Facts::add_tagged(tree type, const std::string &other_name) {
  const bool enumeration = TREE_CODE(type) == ENUMERAL_TYPE;
  const bool record = RECORD_OR_UNION_TYPE_P(type);
  if (!(enumeration || record) || !TYPE_SIZE_UNIT(type)) return;
  std::string name = tag_of(type);
  if (name.empty()) name = !other_name.empty() || enumeration ? other_name : members_of(type);
  name = (enumeration ? "enum " : TREE_CODE(type) == UNION_TYPE ? "union " : "struct ") + name;
  if (!add_size(name, type)) return;
  if (record) add_members(name, type);
  else add_enumerators(type);
}

// Of a definition, or of any mention of it.
void Facts::add_type(tree type) {
  if (!type || type == error_mark_node || !TYPE_P(type)) return;
  type = TYPE_MAIN_VARIANT(type);
  if (TYPE_SIZE_UNIT(type) && seen.insert(TYPE_UID(type)).second) add_tagged(type, "");
}

void Facts::add_typedef(tree decl) {
  if (!decl || TREE_CODE(decl) != TYPE_DECL || !DECL_NAME(decl)) return;
  tree type = TREE_TYPE(decl);
  const std::string name = IDENTIFIER_POINTER(DECL_NAME(decl));
  if (!type || type == error_mark_node || !add_size(name, type)) return;
  add_sign(name, type);
  add_tagged(TYPE_MAIN_VARIANT(type), name);
}

void Facts::add_scalars() {
  const std::pair<const char *, tree> scalars[] = {{"char", char_type_node},
                                                   {"short", short_integer_type_node},
                                                   {"int", integer_type_node},
                                                   {"long", long_integer_type_node},
                                                   {"long long", long_long_integer_type_node},
                                                   {"float", float_type_node},
                                                   {"double", double_type_node},
                                                   {"long double", long_double_type_node},
                                                   {"wchar_t", wchar_type_node}};
  for (const auto &[name, type] : scalars) add_size(name, type);
  add_sign("char", char_type_node);
  add_sign("wchar_t", wchar_type_node);
  add("type of constants", flag_single_precision_constant ? "float" : "double");
}

void Facts::add_code(const char *name, const char *literal) {
  const cpp_string written = {static_cast<unsigned>(strlen(literal)),
                              reinterpret_cast<const unsigned char *>(literal)};
  cpp_string made = {};
  std::string code;
  if (cpp_interpret_string(parse_in, &written, 1, &made, CPP_STRING))
    for (unsigned i = 0; i + 1 < made.len; i++) {
      char digits[3];
      snprintf(digits, sizeof digits, "%02x", made.text[i]);
      code += digits;
    }
  add(std::string("code of ") + in_quotes(name), code.empty() ? "none" : code);
}

void Facts::write(FILE *to) const {
  for (const auto &[question, answer] : all) {
    fwrite(question.c_str(), 1, question.size() + 1, to);
    fwrite(answer.c_str(), 1, answer.size() + 1, to);
  }
  fwrite("\0\0", 1, 2, to);
}

void finish_type(void *type, void *facts) {
  static_cast<Facts *>(facts)->add_type(static_cast<tree>(type));
}

void finish_declaration(void *decl, void *facts) {
  static_cast<Facts *>(facts)->add_typedef(static_cast<tree>(decl));
}

} // namespace

int write_types(FILE *to) {
  if (pch_file) return 1; // it would be written
  quiet_flag = 1;
  cpp_get_options(parse_in)->print_include_names = 0;
  Facts facts;
  facts.add_scalars();
  facts.add_code("A", "\"A\"");
  facts.add_code("U+E4", "\"\xc3\xa4\"");
  register_callback("tcompile-types", PLUGIN_FINISH_TYPE, finish_type, &facts);
  register_callback("tcompile-types", PLUGIN_FINISH_DECL, finish_declaration, &facts);
  lang_hooks.parse_file();
  cpp_finish(parse_in, nullptr); // tells of macros that are not used
  facts.write(to);
  return seen_error() || werrorcount ? status_errors : 0;
}

} // namespace tc_gcc
