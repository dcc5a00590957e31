// signature.cpp - see signature.h.
#include "frontend/unit/signature.h"

#include "backends/explain.h"
#include "frontend/ast_capture/evaluator.h"
#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

namespace {

// A type as another file can say it.
class Spelling {
public:
  Spelling(const ASTContext &context, QualType type) : context(context), type(type) {
    visit(type);
    plain |= is_tensor_pointer(type) && type->getAs<TypedefType>();
    if (!plain) return;
    this->type = context.getCanonicalType(type); // without names of the file's own
    plain = false;
    needs.clear();
    visit(this->type);
  }

  tc_explain_type row(StringRef name) {
    PrintingPolicy policy(context.getLangOpts());
    policy.Bool = true;
    policy.SuppressTagKeyword = false;
    text = name.str();
    type.getAsStringInternal(text, policy);
    for (const std::string &need : needs) list += (list.empty() ? "" : ",") + need;
    return {text.c_str(), kind(), list.c_str(), obstacle.c_str()};
  }

private:
  const char *kind() const {
    if (type->isVoidType()) return "none";
    if (type->isBooleanType()) return "bool";
    if (type->isIntegralOrUnscopedEnumerationType()) return "int";
    if (type->isRealFloatingType()) return "float";
    if (is_tensor_pointer(type)) return "tensor";
    const auto *pointer = type->getAs<PointerType>();
    if (!pointer) return "other";
    QualType to = pointer->getPointeeType();
    if (is_tensor_pointer(to) && !to.isConstQualified() && !to->getPointeeType().isConstQualified())
      return "result";
    return to->isRecordType() ? "struct" : "other";
  }

  void visit(QualType t) {
    if (const auto *name = t->getAs<TypedefType>()) visit_name(name->getDecl());
    else if (const auto *pointer = t->getAs<PointerType>()) visit(pointer->getPointeeType());
    else if (const auto *array = context.getAsArrayType(t)) visit(array->getElementType());
    else if (const auto *f = t->getAs<FunctionProtoType>()) {
      visit(f->getReturnType());
      for (QualType each : f->param_types()) visit(each);
    } else if (const auto *tag = t->getAs<TagType>()) visit_tag(tag->getDecl());
    else if (!t->isBuiltinType()) obstacle = "its type is none of C";
  }

  // <stdint.h> and <stddef.h> come with tcompile.h.
  static bool is_standard(StringRef name) {
    static constexpr StringRef names[] = {"int8_t",  "int16_t",   "int32_t",  "int64_t",
                                          "uint8_t", "uint16_t",  "uint32_t", "uint64_t",
                                          "size_t",  "ptrdiff_t", "intptr_t", "uintptr_t"};
    return llvm::is_contained(names, name);
  }

  void visit_name(const TypedefNameDecl *name) {
    if (is_ours(name) || is_standard(name->getName())) return;
    const std::string header = header_of(name);
    if (header.empty() || name->getUnderlyingType().getCanonicalType()->isBuiltinType())
      plain = true;
    else needs.push_back(header);
  }

  void visit_tag(const TagDecl *tag) {
    plain |= context.getLangOpts().CPlusPlus; // "model" is "struct model" in C
    if (is_ours(tag)) return;
    const std::string header = header_of(tag);
    if (!header.empty()) needs.push_back(header);
    else if (tag->getName().empty() || !isa<TranslationUnitDecl>(tag->getDeclContext()) ||
             tag->isEnum())
      obstacle = "its type is known in this file alone; declare that in a header";
    else needs.push_back("struct " + tag->getName().str());
  }

  StringRef file_of(const Decl *decl) const {
    const SourceManager &sources = context.getSourceManager();
    return sources.getFilename(sources.getFileLoc(decl->getLocation()));
  }

  bool is_ours(const Decl *decl) const {
    StringRef file = file_of(decl);
    return llvm::sys::path::filename(file) == "tcompile.h" ||
           llvm::sys::path::filename(llvm::sys::path::parent_path(file)) == "tcompile";
  }

  // What the file includes to know it, as it says that: "model.h" or <model.h>; "": nothing.
  std::string header_of(const Decl *decl) const {
    const SourceManager &sources = context.getSourceManager();
    SourceLocation loc = sources.getFileLoc(decl->getLocation()), include;
    while (loc.isValid() && sources.getFileID(loc) != sources.getMainFileID())
      loc = include = sources.getIncludeLoc(sources.getFileID(loc));
    if (include.isInvalid()) return "";
    bool invalid = false;
    const char *said = sources.getCharacterData(include, &invalid);
    if (invalid || (*said != '"' && *said != '<')) return "";
    const char *end = strchr(said + 1, *said == '<' ? '>' : '"');
    return end ? std::string(said, end + 1) : "";
  }

  const ASTContext &context;
  QualType type;
  bool plain = false; // it is said by names that C or another file has not
  std::vector<std::string> needs;
  std::string text, list, obstacle;
};

// The linker's name, and why there is none for C.
std::string symbol_of(const FunctionDecl *function, std::string &obstacle) {
  if (function->getFormalLinkage() != Linkage::External) obstacle = "it is static";
  else if (!function->isExternC() && function->getASTContext().getLangOpts().CPlusPlus)
    obstacle = "it is a function of C++; declare it extern \"C\"";
  else if (const auto *label = function->getAttr<AsmLabelAttr>()) return label->getLabel().str();
  else return function->getName().str();
  return "";
}

} // namespace

void explain_signature(const FunctionDecl *function, tc_buf *rows) {
  const ASTContext &context = function->getASTContext();
  std::string obstacle;
  const std::string symbol = symbol_of(function, obstacle);
  Spelling returns(context, function->getReturnType());
  tc_explain_type type = returns.row("");
  if (!obstacle.empty()) type.obstacle = obstacle.c_str();
  tc_explain_signature(symbol.c_str(), &type, rows);
  for (const ParmVarDecl *p : function->parameters()) {
    const std::string name = p->getName().empty()
                                 ? "p" + std::to_string(p->getFunctionScopeIndex() + 1)
                                 : p->getName().str();
    Spelling parameter(context, p->getType());
    tc_explain_type of = parameter.row(name);
    if (p->getOriginalType()->isArrayType()) of.kind = "other"; // who knows which way they go?
    const StringLiteral *shape = first_argument(find_attribute(p, shape_attribute));
    tc_explain_parameter(name.c_str(), shape ? shape->getString().str().c_str() : "", &of, rows);
  }
}

} // namespace tc
