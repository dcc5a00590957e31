// types.cpp - see types.h; the questions are those of driver/protocol.h.
#include "driver/types.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::StringRef;

OtherTypes::OtherTypes(StringRef record) {
  std::map<std::string, std::set<std::string>> all;
  while (!record.empty()) {
    const auto [question, rest] = record.split('\0');
    const auto [answer, behind] = rest.split('\0');
    if (question.empty()) { // the end
      if (behind.empty() && answer.empty()) answers = std::move(all);
      return;
    }
    all[question.str()].insert(answer.str());
    record = behind;
  }
}

std::string OtherTypes::compare(const std::string &question, const std::string &answer) const {
  const auto found = answers.find(question);
  if (found == answers.end() || found->second.count(answer)) return "";
  return "the " + question + ", " + answer + ", where the compiler has " + *found->second.begin();
}

// ---- types --------------------------------------------------------------------------------------

static std::string in_quotes(StringRef text) { return "'" + text.str() + "'"; }

static bool is_complete(QualType type) {
  return !type->isDependentType() && !type->isIncompleteType() && !type->isFunctionType() &&
         !type->isVariablyModifiedType() && !type->isUndeducedType();
}

static std::string name_of(const TagDecl *tag) {
  std::string name = tag->getName().str();
  if (const TypedefNameDecl *other = tag->getTypedefNameForAnonDecl(); name.empty() && other)
    name = other->getName().str();
  if (tag->isEnum()) return "enum " + name;
  if (const auto *record = dyn_cast<RecordDecl>(tag); name.empty() && record) {
    for (const FieldDecl *field : record->fields())
      if (!field->getName().empty()) name += (name.empty() ? "" : ", ") + field->getName().str();
    name = "{" + name + "}";
  }
  return (tag->isUnion() ? "union " : "struct ") + name;
}

std::string OtherTypes::compare_size(const ASTContext &context, const std::string &name,
                                     QualType type) const {
  std::string found = compare("size of " + in_quotes(name),
                              std::to_string(context.getTypeSizeInChars(type).getQuantity()));
  if (found.empty())
    found = compare("alignment of " + in_quotes(name),
                    std::to_string(context.getTypeAlignInChars(type).getQuantity()));
  return found;
}

static const char *sign_of(QualType type) {
  return type->isUnsignedIntegerOrEnumerationType() ? "unsigned" : "signed";
}

std::string OtherTypes::compare_members(const ASTContext &context, const std::string &name,
                                        const RecordDecl *record) const {
  std::string found;
  for (const FieldDecl *field : record->fields()) {
    if (field->getName().empty()) continue;
    const std::string member = in_quotes(field->getName()) + " in " + in_quotes(name);
    if (found.empty())
      found = compare("place of " + member, std::to_string(context.getFieldOffset(field)));
    if (found.empty() && field->isBitField())
      found = compare("sign of " + member, sign_of(field->getType()));
  }
  return found;
}

std::string OtherTypes::difference(const ASTContext &context, const Decl *decl, bool system) const {
  const auto *named = dyn_cast<TypeDecl>(decl);
  if (!named || decl->isInvalidDecl()) return "";
  const QualType type = context.getTypeDeclType(named);
  if (!is_complete(type)) return "";
  if (const auto *alias = dyn_cast<TypedefNameDecl>(decl)) {
    std::string found = compare_size(context, alias->getName().str(), type);
    if (found.empty() && type->isIntegerType() && !type->isEnumeralType())
      found = compare("sign of " + in_quotes(alias->getName()), sign_of(type));
    return found;
  }
  const auto *tag = dyn_cast<TagDecl>(decl);
  if (!tag || !tag->getDefinition()) return "";
  tag = tag->getDefinition();
  const std::string name = name_of(tag);
  std::string found = name == "enum " ? "" : compare_size(context, name, type);
  if (const auto *record = dyn_cast<RecordDecl>(tag); record && found.empty() && !system)
    return compare_members(context, name, record);
  if (const auto *enumeration = dyn_cast<EnumDecl>(tag))
    for (const EnumConstantDecl *each : enumeration->enumerators())
      if (found.empty())
        found = compare("value of " + in_quotes(each->getName()),
                        llvm::toString(each->getInitVal(), 10));
  return found;
}

std::string OtherTypes::difference(const ASTContext &context, const BuiltinType *type) const {
  if (type->isDependentType() || type->isPlaceholderType() || type->isVoidType()) return "";
  const std::string name = type->getName(context.getPrintingPolicy()).str();
  const QualType self(type, 0);
  if (!answers.count("size of " + in_quotes(name))) return "";
  const std::string found = compare_size(context, name, self);
  return found.empty() ? compare("sign of " + in_quotes(name), sign_of(self)) : found;
}

// ---- literals -----------------------------------------------------------------------------------

std::string OtherTypes::difference(const Expr *literal) const {
  if (llvm::isa<FloatingLiteral>(literal))
    return literal->getType()->isSpecificBuiltinType(BuiltinType::Double)
               ? compare("type of constants", "double")
               : "";
  bool beyond_ascii = false;
  if (const auto *string = dyn_cast<StringLiteral>(literal)) {
    if (string->isUnevaluated() || string->getCharByteWidth() != 1) return "";
    beyond_ascii = llvm::any_of(string->getBytes(), [](char c) { return c & 0x80; });
  } else if (const auto *character = dyn_cast<CharacterLiteral>(literal)) {
    beyond_ascii = character->getValue() > 127;
  } else return "";
  const std::string found = compare("code of 'A'", "41");
  return found.empty() && beyond_ascii ? compare("code of 'U+E4'", "c3a4") : found;
}

} // namespace tc
