// attributes.cpp - parsing and checking of the attributes.  Misuse is a warning at the
// attribute and leaves the code as it is: an annotation never breaks a build.
#include "frontend/attributes.h"

#include "frontend/options.h"

namespace tc {

bool describes_tensors(clang::QualType type) {
  while (!type.isNull() && type->isArrayType())
    type = clang::QualType(type->getArrayElementTypeNoTypeQual(), 0);
  if (type.isNull()) return false;
  return type->isRecordType() || (type->isPointerType() && !type->isFunctionPointerType());
}

// A name, and the members and elements that follow it: "m->layer[2].n".
static llvm::StringRef take_path(llvm::StringRef &rest) {
  auto in_name = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  const llvm::StringRef start = rest;
  rest = rest.drop_while(in_name);
  for (llvm::StringRef more = rest; rest.size() < start.size(); rest = more) {
    if (more.consume_front("[")) {
      llvm::StringRef index = more.take_while(llvm::isDigit);
      more = more.drop_front(index.size());
      if (index.empty() || !more.consume_front("]")) break;
    } else {
      if (!more.consume_front("->") && !more.consume_front(".")) break;
      if (more.empty() || !in_name(more[0]) || llvm::isDigit(more[0])) break;
      more = more.drop_while(in_name);
    }
  }
  return start.drop_back(rest.size());
}

std::string parse_sizes(llvm::StringRef text, Sizes &sizes, unsigned &at) {
  llvm::StringRef rest = text;
  auto skip = [&] {
    rest = rest.ltrim();
    at = static_cast<unsigned>(text.size() - rest.size());
  };
  for (bool more = true; more; more = rest.consume_front(",")) {
    skip();
    Sizes::Size size = {"", 0, at};
    size.name = take_path(rest).str();
    if (size.name.empty() || llvm::isDigit(size.name[0])) return "expected the name of a size";
    skip();
    if (!rest.consume_front("=")) return "expected '='";
    skip();
    if (rest.consumeInteger(10, size.value)) return "expected a number";
    for (const Sizes::Size &other : sizes.list)
      if (other.name == size.name) {
        at = size.at;
        return "'" + size.name + "' stands twice";
      }
    sizes.text += (sizes.list.empty() ? "" : ",") + size.name + "=" + std::to_string(size.value);
    sizes.list.push_back(size);
    skip();
  }
  return rest.empty() ? "" : "expected ',' or the end";
}

std::vector<Sizes> variants_of(const clang::FunctionDecl *function) {
  std::vector<Sizes> variants;
  for (const auto *attr : function->specific_attrs<clang::AnnotateAttr>()) {
    if (attr->getAnnotation() != specialize_attribute) continue;
    Sizes sizes;
    unsigned at = 0;
    sizes.literal = llvm::cast<clang::StringLiteral>((*attr->args_begin())->IgnoreParenImpCasts());
    if (parse_sizes(sizes.literal->getString(), sizes, at).empty()) variants.push_back(sizes);
  }
  return variants;
}

namespace {

using namespace clang;

void warn(Sema &sema, SourceLocation loc, const std::string &text) {
  sema.Diag(loc, diag::warn_fe_backend_plugin) << text;
}

// An option that does not hold; a key that is misspelt has its fix-it.
void check_option(Sema &sema, const StringLiteral *text, Options &options) {
  StringRef meant, key = text->getString().take_until([](char c) { return c == '='; });
  std::string problem = apply_option(text->getString(), options, Stands::AtFunction, &meant);
  if (problem.empty()) return;
  auto byte = [&](size_t i) {
    return text->getLocationOfByte(static_cast<unsigned>(i), sema.getSourceManager(),
                                   sema.getLangOpts(), sema.Context.getTargetInfo());
  };
  auto builder = sema.Diag(text->getBeginLoc(), diag::warn_fe_backend_plugin);
  builder << problem;
  if (!meant.empty())
    builder << FixItHint::CreateReplacement(
        CharSourceRange::getCharRange(byte(0), byte(key.size())), meant);
}

bool inner_parse(Sema &sema) { return sema.getPreprocessor().isMacroDefined(inner_macro); }

// The arguments, all string literals; false after a warning.
bool string_arguments(Sema &sema, const ParsedAttr &attr, llvm::SmallVectorImpl<Expr *> &out) {
  for (unsigned i = 0; i < attr.getNumArgs(); i++) {
    Expr *arg = attr.isArgExpr(i) ? attr.getArgAsExpr(i) : nullptr;
    auto *text = arg ? llvm::dyn_cast<StringLiteral>(arg->IgnoreParenImpCasts()) : nullptr;
    if (!text || text->getCharByteWidth() != 1) {
      warn(sema, arg ? arg->getBeginLoc() : attr.getLoc(),
           ("arguments of '" + attr.getAttrName()->getName() +
            "' are string literals; the attribute is ignored")
               .str());
      return false;
    }
    out.push_back(text);
  }
  return true;
}

void attach(Sema &sema, Decl *decl, const ParsedAttr &attr, const char *name,
            llvm::SmallVectorImpl<Expr *> &args) {
  decl->addAttr(AnnotateAttr::Create(sema.Context, name, args.data(), args.size(), attr));
}

struct CompileAttribute : ParsedAttrInfo {
  CompileAttribute() {
    OptArgs = 15;
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_compile"}};
    Spellings = spellings;
    IsSupportedByPragmaAttribute = true;
  }

  // #pragma clang attribute push(..., apply_to = function)
  void getPragmaAttributeMatchRules(
      llvm::SmallVectorImpl<std::pair<attr::SubjectMatchRule, bool>> &rules,
      const LangOptions &) const override {
    rules.push_back({attr::SubjectMatchRule_function, true});
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    if (llvm::isa<FunctionDecl>(decl)) return true;
    warn(sema, attr.getLoc(), "'tc_compile' marks functions; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 4> args;
    if (!string_arguments(sema, attr, args)) return AttributeNotApplied;
    if (inner_parse(sema)) {
      attach(sema, decl, attr, compile_attribute, args);
      return AttributeApplied;
    }
    Options options;
    for (Expr *arg : args) check_option(sema, llvm::cast<StringLiteral>(arg), options);
    return AttributeApplied;
  }
};

struct DisableAttribute : ParsedAttrInfo {
  DisableAttribute() {
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_disable"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    if (llvm::isa<FunctionDecl>(decl)) return true;
    warn(sema, attr.getLoc(), "'tc_disable' marks functions; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 1> none;
    if (inner_parse(sema)) attach(sema, decl, attr, disable_attribute, none);
    return AttributeApplied;
  }
};

// tc_replaces("f"): this function stands in for f where code is captured.
struct ReplacesAttribute : ParsedAttrInfo {
  ReplacesAttribute() {
    NumArgs = 1;
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_replaces"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    if (llvm::isa<FunctionDecl>(decl)) return true;
    warn(sema, attr.getLoc(), "'tc_replaces' marks functions; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 1> args;
    if (!string_arguments(sema, attr, args)) return AttributeNotApplied;
    StringRef name = llvm::cast<StringLiteral>(args[0])->getString();
    const auto *function = llvm::cast<FunctionDecl>(decl);
    FunctionDecl *other = nullptr;
    for (NamedDecl *each :
         sema.Context.getTranslationUnitDecl()->lookup(&sema.Context.Idents.get(name)))
      if ((other = llvm::dyn_cast<FunctionDecl>(each))) break;
    if (!other || !sema.Context.hasSameType(other->getType(), function->getType())) {
      warn(sema, attr.getLoc(),
           other ? ("'tc_replaces': '" + name +
                    "' has another type than the function that is to "
                    "stand in for it; the attribute is ignored")
                       .str()
                 : ("'tc_replaces': there is no function '" + name +
                    "' in front of it; the attribute is ignored")
                       .str());
      return AttributeNotApplied;
    }
    if (inner_parse(sema)) {
      attach(sema, decl, attr, replaces_attribute, args);
      llvm::SmallVector<Expr *, 1> none;
      attach(sema, other, attr, replaced_attribute, none);
    }
    return AttributeApplied;
  }
};

// tc_op("f32[N]", "kernel"): a function of the program's own is an operation.
struct OpAttribute : ParsedAttrInfo {
  OpAttribute() {
    NumArgs = 2;
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_op"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    const auto *function = llvm::dyn_cast<FunctionDecl>(decl);
    if (function && function->getReturnType()->isPointerType()) return true;
    warn(sema, attr.getLoc(), "'tc_op' marks functions that return a tensor; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 2> args;
    if (!string_arguments(sema, attr, args)) return AttributeNotApplied;
    if (inner_parse(sema)) attach(sema, decl, attr, op_attribute, args);
    return AttributeApplied;
  }
};

// tc_effect: a function of the program's own is called between kernels, in order.
struct EffectAttribute : ParsedAttrInfo {
  EffectAttribute() {
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_effect"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    const auto *function = llvm::dyn_cast<FunctionDecl>(decl);
    if (function && function->getReturnType()->isVoidType()) return true;
    warn(sema, attr.getLoc(),
         "'tc_effect' marks functions that return nothing; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 1> none;
    if (inner_parse(sema)) attach(sema, decl, attr, effect_attribute, none);
    return AttributeApplied;
  }
};

// tc_const, tc_const("12"): a number that depends on the arguments alone, and what it is expected
// to be.
struct ConstAttribute : ParsedAttrInfo {
  ConstAttribute() {
    OptArgs = 1;
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_const"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    const auto *function = llvm::dyn_cast<FunctionDecl>(decl);
    if (function && function->getReturnType()->isArithmeticType()) return true;
    warn(sema, attr.getLoc(),
         "'tc_const' marks functions that return a number; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 1> args;
    if (!string_arguments(sema, attr, args)) return AttributeNotApplied;
    double number;
    if (!args.empty() && llvm::cast<StringLiteral>(args[0])->getString().getAsDouble(number)) {
      warn(sema, args[0]->getBeginLoc(),
           "'tc_const' takes a number, such as 12; the attribute is ignored");
      return AttributeNotApplied;
    }
    if (inner_parse(sema)) attach(sema, decl, attr, const_attribute, args);
    return AttributeApplied;
  }
};

struct ShapeAttribute : ParsedAttrInfo {
  ShapeAttribute() {
    OptArgs = 15;
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_shape"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    QualType type;
    if (llvm::isa<VarDecl>(decl) || llvm::isa<FieldDecl>(decl))
      type = llvm::cast<ValueDecl>(decl)->getType();
    if (llvm::isa<ParmVarDecl>(decl) || describes_tensors(type)) return true;
    warn(sema, attr.getLoc(),
         "'tc_shape' describes parameters, members and variables that are tensors; here it is "
         "ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 1> args;
    if (!string_arguments(sema, attr, args)) return AttributeNotApplied;
    if (args.size() != 1) {
      warn(sema, attr.getLoc(), "'tc_shape' takes one string, such as \"f32[N,4]\"; it is ignored");
      return AttributeNotApplied;
    }
    if (inner_parse(sema)) attach(sema, decl, attr, shape_attribute, args);
    return AttributeApplied;
  }
};

struct SpecializeAttribute : ParsedAttrInfo {
  SpecializeAttribute() {
    OptArgs = 15;
    static constexpr Spelling spellings[] = {{ParsedAttr::AS_GNU, "tc_specialize"}};
    Spellings = spellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    if (llvm::isa<FunctionDecl>(decl)) return true;
    warn(sema, attr.getLoc(), "'tc_specialize' marks functions; here it is ignored");
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    llvm::SmallVector<Expr *, 1> args;
    if (!string_arguments(sema, attr, args)) return AttributeNotApplied;
    if (args.size() != 1) {
      warn(sema, attr.getLoc(),
           "'tc_specialize' takes one string, such as \"B=1,T=128\"; it is ignored");
      return AttributeNotApplied;
    }
    if (inner_parse(sema)) {
      attach(sema, decl, attr, specialize_attribute, args);
      return AttributeApplied;
    }
    const auto *text = llvm::cast<StringLiteral>(args[0]->IgnoreParenImpCasts());
    Sizes sizes;
    unsigned at = 0;
    if (std::string problem = parse_sizes(text->getString(), sizes, at); !problem.empty())
      warn(sema,
           text->getLocationOfByte(at, sema.getSourceManager(), sema.getLangOpts(),
                                   sema.Context.getTargetInfo()),
           "TC_SPECIALIZE: " + problem + "; it is ignored");
    return AttributeApplied;
  }
};

} // namespace

static ParsedAttrInfoRegistry::Add<CompileAttribute> add_compile(compile_attribute,
                                                                 "compile this function");
static ParsedAttrInfoRegistry::Add<DisableAttribute> add_disable(disable_attribute,
                                                                 "never inline into graphs");
static ParsedAttrInfoRegistry::Add<SpecializeAttribute> add_specialize(specialize_attribute,
                                                                       "code for certain sizes");
static ParsedAttrInfoRegistry::Add<ReplacesAttribute>
    add_replaces(replaces_attribute, "stands in for another function");
static ParsedAttrInfoRegistry::Add<OpAttribute> add_op(op_attribute, "an operation of its own");
static ParsedAttrInfoRegistry::Add<EffectAttribute> add_effect(effect_attribute,
                                                               "called between kernels, in order");
static ParsedAttrInfoRegistry::Add<ConstAttribute>
    add_const(const_attribute, "a number that depends on the arguments alone");
static ParsedAttrInfoRegistry::Add<ShapeAttribute> add_shape(shape_attribute,
                                                             "shape of a tensor parameter");

} // namespace tc
