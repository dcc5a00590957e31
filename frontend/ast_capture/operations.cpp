// operations.cpp - TC_CUSTOM_OP: a function of the program's own is a node of the graph, and its
// kernel is called between the generated ones.
#include "frontend/ast_capture/evaluator.h"

#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

namespace {

// Names of sizes in the shapes of an operation, and what they are at one call.
class Binding {
public:
  explicit Binding(tc_dims *caller) : dims(caller), theirs(tc_dims_new(), tc_dims_free) {}

  // What is wrong with an operand, or "".
  std::string operand(const tc_type &given, StringRef declared) {
    tc_type type;
    const char *problem = "";
    size_t at = 0;
    if (!theirs || !tc_type_parse(theirs.get(), declared.str().c_str(), &type, &problem, &at))
      return std::string("TC_SHAPE: ") + problem;
    if (given.dtype != type.dtype || given.rank != type.rank) return "of another dtype or rank";
    for (int axis = 0; axis < type.rank; axis++) {
      uint32_t symbol;
      if (!tc_dim_is_sym(theirs.get(), type.dim[axis], &symbol)) {
        later.push_back({given.dim[axis], type.dim[axis]});
        continue;
      }
      const tc_sym *s = tc_dims_sym(theirs.get(), symbol);
      auto [known, fresh] = bound.insert({s->name, given.dim[axis]});
      if (!fresh && tc_dim_bad(tc_dim_unify(dims, known->second, given.dim[axis])))
        return std::string("of another size '") + s->name + "'";
      if (fresh && !keeps(*s, given.dim[axis]))
        return std::string("outside of the range of '") + s->name + "'";
    }
    return "";
  }

  // Behind the last operand: sizes that are expressions of others.
  std::string expressions() {
    for (auto [given, declared] : later) {
      const std::string here = substituted(text_of(theirs.get(), declared));
      const char *end, *error;
      tc_dim expected = tc_dim_parse(dims, here.c_str(), &end, &error);
      if (tc_dim_bad(expected) || tc_dim_bad(tc_dim_unify(dims, given, expected)))
        return "of another size than declared";
    }
    return "";
  }

  std::string result(StringRef declared, tc_type &type) {
    size_t bracket = std::min(declared.find('['), declared.size());
    std::string text = declared.take_front(bracket).str() + substituted(declared.substr(bracket));
    const char *problem = "";
    size_t at = 0;
    if (!unknown.empty()) return "size '" + unknown + "' is that of no operand";
    return tc_type_parse(dims, text.c_str(), &type, &problem, &at) ? "" : problem;
  }

private:
  bool keeps(const tc_sym &s, tc_dim given) {
    bool range = s.lo > 0 || s.hi != INT64_MAX;
    tc_dim rest = tc_dim_mod(dims, given, tc_dim_const(s.multiple));
    return (!range || tc_dim_assume_range(dims, given, s.lo, s.hi)) &&
           !tc_dim_bad(tc_dim_unify(dims, rest, tc_dim_const(0)));
  }

  std::string substituted(StringRef text) {
    auto in_name = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    std::string out;
    while (!text.empty()) {
      StringRef word = text.take_while(in_name);
      text = text.drop_front(std::max<size_t>(word.size(), 1));
      bool number = word.empty() || llvm::isDigit(word[0]) || word == "min" || word == "max";
      auto known = bound.find(word.str());
      if (number || known == bound.end()) {
        if (!number) unknown = word.str();
        out += word.empty() ? StringRef(text.data() - 1, 1) : word;
        continue;
      }
      out += "(" + text_of(dims, known->second) + ")";
    }
    return out;
  }

  tc_dims *dims;
  std::unique_ptr<tc_dims, void (*)(tc_dims *)> theirs;
  std::map<std::string, tc_dim> bound;
  std::vector<std::pair<tc_dim, tc_dim>> later;
  std::string unknown;
};

// Of the shapes to choose from, that of the operand's dtype.
std::string shape_like(const StringLiteral *shape, const tc_type &given) {
  auto list = alternatives_of(shape);
  const StringRef dtype = tc_dtype_text(static_cast<tc_dtype>(given.dtype));
  for (const std::string &each : list)
    if (StringRef(each).split('[').first == dtype) return each;
  return list[0];
}

std::string literal(const AnnotateAttr *attr, unsigned i) {
  return llvm::cast<StringLiteral>(attr->args_begin()[i]->IgnoreParenImpCasts())->getString().str();
}

} // namespace

// The kernel by its name, with the type that it has to have; nullptr after failing.
const FunctionDecl *Evaluator::kernel_of(const FunctionDecl *callee, const AnnotateAttr *marked,
                                         SourceLocation loc) {
  std::string name = literal(marked, 1);
  const FunctionDecl *kernel = nullptr;
  for (const NamedDecl *each : context.getTranslationUnitDecl()->lookup(&context.Idents.get(name)))
    if ((kernel = llvm::dyn_cast<FunctionDecl>(each))) break;
  bool fits = kernel && kernel->getReturnType()->isBooleanType() && !kernel->isVariadic() &&
              kernel->getNumParams() == callee->getNumParams() + 1 &&
              is_tensor_pointer(kernel->getParamDecl(0)->getType());
  for (unsigned i = 0; fits && i < callee->getNumParams(); i++)
    fits = context.hasSameUnqualifiedType(kernel->getParamDecl(i + 1)->getType(),
                                          callee->getParamDecl(i)->getType());
  if (!fits) {
    fail(loc, "the kernel '" + name + "' of '" + callee->getNameAsString() + "' " +
                  (kernel ? "has not the type bool (tc_tensor *, ...the function's parameters)"
                          : "is not declared"));
    return nullptr;
  }
  return nameable(kernel, loc) ? kernel : nullptr;
}

// Operands behind the address of the function, and their C types, each behind a comma.  `bind`
// looks at the tensor for parameter i; what it finds wrong is reported.  false after failing.
bool Evaluator::pass_on(const CallExpr *e, const FunctionDecl *callee, std::vector<tc_ref> &in,
                        std::string &types,
                        llvm::function_ref<std::string(unsigned, const tc_type &)> bind) {
  const std::string name = "'" + callee->getNameAsString() + "'";
  for (unsigned i = 0; i < e->getNumArgs() && !failed; i++) {
    const Expr *argument = e->getArg(i);
    QualType type = callee->getParamDecl(i)->getType();
    Value v = evaluate(argument);
    if (failed) return false;
    if (is_tensor_pointer(type)) {
      auto x = as_tensor(v, argument);
      if (!x) return false;
      const tc_node *node = tc_graph_node(graph, x->ref);
      if (tc_op_get(node->op)->cls == TC_CLASS_LEAF && node->op != OP_INPUT)
        fail(argument->getExprLoc(), "a number is passed to " + name + " as a tensor");
      const std::string wrong = bind(i, node->type);
      if (!wrong.empty()) fail(argument->getExprLoc(), "an operand of " + name + " is " + wrong);
      types += ", const struct tc_tensor *";
      in.push_back(x->ref);
    } else if (v.kind == Value::Scalars && !v.scalar.late && type->isArithmeticType()) {
      Scalar number = convert(v.scalar, type);
      types += ", " + type_name(number.type);
      in.push_back(as_operand(number, argument->getExprLoc()));
    } else {
      fail(argument->getExprLoc(), "an argument of " + name +
                                       " is neither a tensor nor a number that is known before "
                                       "the statements run");
    }
  }
  return !failed;
}

tc_ref Evaluator::address_of(const FunctionDecl *function, SourceLocation loc) {
  return scalar_node("((long long)&" + function->getNameAsString() + ")", TC_I64, loc);
}

// As a prototype says that it is called; else it fails.
bool Evaluator::takes_arguments(const CallExpr *e, const FunctionDecl *callee) {
  if (e->getNumArgs() != callee->getNumParams())
    fail(e->getExprLoc(), "the call of '" + callee->getNameAsString() + "' is not captured");
  return !failed;
}

// Its tensors are not written, so those of const parameters alone are passed on.
Value Evaluator::call_effect(const CallExpr *e, const FunctionDecl *callee) {
  const SourceLocation loc = e->getExprLoc();
  if (!takes_arguments(e, callee)) return {};
  for (const ParmVarDecl *parameter : callee->parameters())
    if (is_tensor_pointer(parameter->getType()) &&
        !parameter->getType()->getPointeeType().isConstQualified())
      fail(loc,
           "'" + callee->getNameAsString() + "' may write a tensor; make its parameters const");
  if (failed || !nameable(callee, loc)) return {};
  std::vector<tc_ref> in = {address_of(callee, loc)};
  std::string types;
  auto any = [](unsigned, const tc_type &) { return std::string(); };
  if (!pass_on(e, callee, in, types, any)) return {};
  const tc_ref ref =
      tc_build_effect(graph, static_cast<int>(in.size()), in.data(), types.c_str(), graph_loc(loc));
  if (!ref.id) fail(loc, "out of memory");
  return Value::of(Value::Void);
}

Value Evaluator::call_operation(const CallExpr *e, const FunctionDecl *callee,
                                const AnnotateAttr *marked) {
  SourceLocation loc = e->getExprLoc();
  std::string name = "'" + callee->getNameAsString() + "'";
  const FunctionDecl *kernel =
      takes_arguments(e, callee) ? kernel_of(callee, marked, loc) : nullptr;
  if (!kernel) return {};
  std::vector<tc_ref> in = {address_of(kernel, loc)};
  Binding binding(dims);
  std::string types, wrong;
  auto bind = [&](unsigned i, const tc_type &given) {
    const StringLiteral *shape = declared_shape(callee, i);
    return shape ? binding.operand(given, shape_like(shape, given)) : std::string();
  };
  if (!pass_on(e, callee, in, types, bind)) return {};
  tc_type type = {};
  wrong = binding.expressions();
  if (!wrong.empty()) wrong = "an operand is " + wrong;
  if (wrong.empty()) wrong = binding.result(literal(marked, 0), type);
  if (!wrong.empty()) {
    fail(loc, "the shape of " + name + ": " + wrong);
    return {};
  }
  std::vector<tc_dim> attrs = {tc_dim_const(type.rank)};
  attrs.insert(attrs.end(), type.dim, type.dim + type.rank);
  attrs.push_back(tc_dim_const(type.dtype));
  ops++;
  return result(build(OP_CALL, in, attrs, types.c_str(), e), OP_CALL, nullptr);
}

} // namespace tc
