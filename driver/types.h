// types.h - whether another compiler makes of types and constants what this one does.
//
// Tokens may be equal and numbers differ: flags, pragmas and attributes that one of them alone
// knows decide about sizes, places of members, enumerators, the type of 0.1, the code of a
// character.
#ifndef TC_DRIVER_TYPES_H
#define TC_DRIVER_TYPES_H

#include <map>
#include <set>
#include <string>

#include "frontend/clang_compat.h"

namespace tc {

class OtherTypes {
public:
  // A TC_REC_TYPES; of one that is empty or not whole nothing is known, and nothing differs.
  explicit OtherTypes(llvm::StringRef record);
  bool known() const { return !answers.empty(); }

  // What of it the other one has otherwise, for a message behind "it depends on", or "".  A type of
  // the system's is compared by its size alone, for each compiler brings headers of its own.
  std::string difference(const clang::ASTContext &context, const clang::Decl *decl,
                         bool system) const;
  std::string difference(const clang::Expr *literal) const;
  std::string difference(const clang::ASTContext &context, const clang::BuiltinType *type) const;

private:
  std::string compare(const std::string &question, const std::string &answer) const;
  std::string compare_size(const clang::ASTContext &context, const std::string &name,
                           clang::QualType type) const;
  std::string compare_members(const clang::ASTContext &context, const std::string &name,
                              const clang::RecordDecl *record) const;
  std::map<std::string, std::set<std::string>> answers;
};

} // namespace tc

#endif
