// attributes.h - tc_compile, tc_shape and their kin, and how later stages find them.
//
// In the inner parse (see plugin.cpp) they become AnnotateAttr nodes of these names, whose
// arguments are the string literals as written.  In the user's own compilation they are checked,
// reported and dropped, so that nothing of them reaches the object.
#ifndef TC_ATTRIBUTES_H
#define TC_ATTRIBUTES_H

#include <map>
#include <string>
#include <vector>

#include "frontend/clang_compat.h"
#include "graph/autocast.h"

namespace tc {

inline constexpr const char *compile_attribute = "tc_compile";
inline constexpr const char *shape_attribute = "tc_shape";
inline constexpr const char *specialize_attribute = "tc_specialize";
inline constexpr const char *disable_attribute = "tc_disable";
inline constexpr const char *replaces_attribute = "tc_replaces";
inline constexpr const char *replaced_attribute = "tc_replaced"; // on what is replaced
inline constexpr const char *op_attribute = "tc_op";
inline constexpr const char *effect_attribute = "tc_effect";
inline constexpr const char *const_attribute = "tc_const";

// Defined in every compilation that the plugin starts by itself.
inline constexpr const char *inner_macro = "__TC_INNER_PARSE__";

inline const clang::AnnotateAttr *find_attribute(const clang::Decl *decl, llvm::StringRef name) {
  for (const auto *attr : decl->specific_attrs<clang::AnnotateAttr>())
    if (attr->getAnnotation() == name) return attr;
  return nullptr;
}

// The string literal that an attribute has as argument, if it has one.
inline const clang::StringLiteral *first_argument(const clang::AnnotateAttr *attr) {
  if (!attr || attr->args_begin() == attr->args_end()) return nullptr;
  return llvm::dyn_cast<clang::StringLiteral>((*attr->args_begin())->IgnoreParenImpCasts());
}

// Whether TC_SHAPE can stand on it: tensors, arrays of them, and what a layout may be made from.
bool describes_tensors(clang::QualType type);

// Sizes that a variant is made for: the text of TC_SPECIALIZE("B=1,T=128"), where each stands.
struct Sizes {
  struct Size {
    std::string name; // also of a number: "n", "m->n", "c.layer[2].n"
    int64_t value;
    unsigned at; // byte of the text
  };
  std::vector<Size> list;
  std::string text;                              // without spaces
  const clang::StringLiteral *literal = nullptr; // null: of no TC_SPECIALIZE
  bool profiled = false;                         // of a shape profile
  // Which of the dtypes of a TC_SHAPE("i32|i64[N]") it is made for; the first where nothing is
  // said.
  std::map<const clang::StringLiteral *, size_t> dtypes;
  tc_dtype autocast = TC_NO_AUTOCAST_DTYPE; // of TC_AUTOCAST around the calls
};

// Reads such a text; what is wrong with it and where, or "".
std::string parse_sizes(llvm::StringRef text, Sizes &sizes, unsigned &at);

// The variants that a function's attributes ask for, in their order; those that are not understood
// are left out (they were reported).
std::vector<Sizes> variants_of(const clang::FunctionDecl *function);

} // namespace tc

#endif
