// attributes.cpp - attributes are known, and nothing of them is left: the tool has checked them.
#include "plugin/clang/thin.h"

namespace tc_thin {
namespace {

using namespace clang;

struct Attribute : ParsedAttrInfo {
  AttrHandling handleDeclAttribute(Sema &, Decl *, const ParsedAttr &) const override {
    return AttributeApplied;
  }
  void getPragmaAttributeMatchRules(
      llvm::SmallVectorImpl<std::pair<attr::SubjectMatchRule, bool>> &rules,
      const LangOptions &) const override {
    rules.push_back({attr::SubjectMatchRule_function, true});
  }

protected:
  void accept(llvm::ArrayRef<Spelling> spellings) {
    Spellings = spellings;
    OptArgs = 15; // wrong numbers of arguments were reported, and break nothing
    IsSupportedByPragmaAttribute = true;
  }
};

#define TC_ATTRIBUTE(name, least, most)                                                            \
  struct name : Attribute {                                                                        \
    name() {                                                                                       \
      static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, #name}};                       \
      accept(spellings);                                                                           \
    }                                                                                              \
  };                                                                                               \
  ParsedAttrInfoRegistry::Add<name> add_##name(#name, "");
#include "plugin/client/attributes.def"
#undef TC_ATTRIBUTE

} // namespace
} // namespace tc_thin
