// attributes.h - tc_compile, tc_shape and tc_disable, and how later stages find them.
//
// In the inner parse (see plugin.cpp) they become AnnotateAttr nodes of these names, whose
// arguments are the string literals as written.  In the user's own compilation they are checked,
// reported and dropped, so that nothing of them reaches the object.
#ifndef TC_PLUGIN_ATTRIBUTES_H
#define TC_PLUGIN_ATTRIBUTES_H

#include "clang_compat.h"

namespace tc {

inline constexpr const char *compile_attribute = "tc_compile";
inline constexpr const char *shape_attribute = "tc_shape";
inline constexpr const char *disable_attribute = "tc_disable";

// Defined in every compilation that the plugin starts by itself.
inline constexpr const char *inner_macro = "__TC_INNER_PARSE__";

inline const clang::AnnotateAttr *find_attribute(const clang::Decl *decl, llvm::StringRef name) {
  for (const auto *attr : decl->specific_attrs<clang::AnnotateAttr>())
    if (attr->getAnnotation() == name) return attr;
  return nullptr;
}

// Whether TC_SHAPE can stand on it: tensors, arrays of them, and what a layout may be made from.
bool describes_tensors(clang::QualType type);

} // namespace tc

#endif
