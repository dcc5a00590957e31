// variants.cpp - code for certain sizes (TC_SPECIALIZE): the whole function is captured once more
// with names of TC_SHAPE equal to numbers, which guards check, and integer parameters that are
// constants, which conditions in front of the call check.
#include "frontend/ast_capture/evaluator.h"

#include "plugin/attributes.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;

// ---- the text -----------------------------------------------------------------------------------

// What keeps the size of this name from having this value, or "".
static std::string contradiction(const FunctionDecl *function, tc_dims *dims,
                                 const Sizes::Size &size) {
  bool number = llvm::any_of(function->parameters(), [&](const ParmVarDecl *parameter) {
    return parameter->getName() == size.name && parameter->getType()->isIntegerType();
  });
  uint32_t symbol;
  if (!tc_dim_find_sym(dims, size.name.c_str(), &symbol))
    return number
               ? ""
               : "'" + size.name +
                     "' is neither a size in the TC_SHAPE of a parameter nor an integer parameter";
  tc_dim dim = tc_dims_sym_dim(dims, symbol);
  if (!tc_dim_bad(tc_dim_unify(dims, dim, tc_dim_const(size.value)))) return "";
  return "'" + size.name + "' is never " + std::to_string(size.value) + " by its TC_SHAPE";
}

bool check_sizes(ASTContext &context, const FunctionDecl *function, const Sizes &sizes,
                 const Sink &sink) {
  std::unique_ptr<tc_dims, void (*)(tc_dims *)> dims(tc_dims_new(), tc_dims_free);
  for (const ParmVarDecl *parameter : function->parameters()) {
    const StringLiteral *shape = declared_shape(parameter);
    tc_type type;
    const char *problem;
    size_t at;
    if (shape && dims)
      (void)tc_type_parse(dims.get(), shape->getString().str().c_str(), &type, &problem, &at);
  }
  for (const Sizes::Size &size : sizes.list) {
    std::string problem = dims ? contradiction(function, dims.get(), size) : "out of memory";
    if (problem.empty()) continue;
    SourceLocation loc = sizes.literal->getLocationOfByte(
        size.at, context.getSourceManager(), context.getLangOpts(), context.getTargetInfo());
    sink({TC_WARNING, loc, "TC_SPECIALIZE: " + problem + "; it is ignored", {}, {}});
    return false;
  }
  return true;
}

// ---- in an evaluation ---------------------------------------------------------------------------

// Behind the declaration of all inputs: what is built from them has the numbers.
bool Evaluator::fix_sizes() {
  for (const Sizes::Size &size : sizes->list) {
    uint32_t symbol;
    if (!tc_dim_find_sym(dims, size.name.c_str(), &symbol)) continue;
    tc_dim dim = tc_dims_sym_dim(dims, symbol);
    if (!tc_dim_bad(tc_dim_unify(dims, dim, tc_dim_const(size.value)))) continue;
    fail(function->getLocation(),
         "size '" + size.name + "' is not " + std::to_string(size.value) + " here");
    return false;
  }
  return true;
}

// A parameter that the variant has a number for.
std::optional<Scalar> Evaluator::fixed_number(const Place &place) {
  const auto *parameter = llvm::dyn_cast_or_null<ParmVarDecl>(place.declared);
  if (!parameter || place.indexed || place.deref || place.text != parameter->getName() ||
      !parameter->getType()->isIntegerType())
    return std::nullopt;
  for (const Sizes::Size &size : sizes->list) {
    if (size.name != place.text) continue;
    add_condition("(" + place.text + ") == " + std::to_string(size.value) + "LL");
    return integer_constant(llvm::APSInt::get(size.value), parameter->getType());
  }
  return std::nullopt;
}

// ---- afterwards ---------------------------------------------------------------------------------

std::string open_size(tc_graph *graph) {
  tc_dims *dims = tc_graph_dims(graph);
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++)
    if (!tc_dim_is_const(tc_dim_norm(dims, tc_dims_sym_dim(dims, i))))
      return tc_dims_sym(dims, i)->name;
  return "";
}

} // namespace tc
