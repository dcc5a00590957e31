// shapes.cpp - parameters: TC_SHAPE texts become graph inputs, numbers become text, `tc_tensor **`
// becomes a place for results.
#include "frontend/ast_capture/evaluator.h"

#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

// The attribute may stand on any declaration of the function or variable.
static const StringLiteral *attribute_of(const Decl *decl) {
  const AnnotateAttr *attr = find_attribute(decl, shape_attribute);
  return attr ? llvm::cast<StringLiteral>((*attr->args_begin())->IgnoreParenImpCasts()) : nullptr;
}

const StringLiteral *declared_shape(const FunctionDecl *function, unsigned index) {
  for (const FunctionDecl *each : function->redecls())
    if (index < each->getNumParams())
      if (const auto *shape = attribute_of(each->getParamDecl(index))) return shape;
  return nullptr;
}

const StringLiteral *declared_shape(const ValueDecl *decl) {
  const auto *parameter = llvm::dyn_cast<ParmVarDecl>(decl);
  const auto *function =
      parameter ? llvm::dyn_cast<FunctionDecl>(parameter->getDeclContext()) : nullptr;
  if (function) return declared_shape(function, parameter->getFunctionScopeIndex());
  for (const Decl *each : decl->redecls())
    if (const auto *shape = attribute_of(each)) return shape;
  return nullptr;
}

StringRef choice_name(const StringLiteral *shape) {
  const StringRef dtypes = shape->getString().split('[').first;
  const StringRef name = dtypes.contains('=') ? dtypes.split('=').first.trim() : "";
  return clang::isValidAsciiIdentifier(name) ? name : "";
}

StringRef unnamed_shape(const StringLiteral *shape) {
  const StringRef text = shape->getString();
  return choice_name(shape).empty() ? text : text.split('=').second.ltrim();
}

static llvm::SmallVector<StringRef, 4> dtypes_of(StringRef shape) {
  llvm::SmallVector<StringRef, 4> dtypes;
  shape.take_front(shape.find('[')).split(dtypes, '|');
  return dtypes;
}

std::vector<std::string> alternatives_of(const StringLiteral *shape) {
  const StringRef text = unnamed_shape(shape);
  const StringRef sizes = text.drop_front(std::min(text.find('['), text.size()));
  std::vector<std::string> list;
  for (StringRef dtype : dtypes_of(text)) list.push_back((dtype.trim() + sizes).str());
  return list;
}

std::string shape_text(const StringLiteral *shape, const Sizes *sizes) {
  auto list = alternatives_of(shape);
  auto chosen =
      sizes ? sizes->dtypes.find(shape) : std::map<const StringLiteral *, size_t>::const_iterator();
  return list[sizes && chosen != sizes->dtypes.end() ? chosen->second : 0];
}

// What a wrong dtype was probably meant to be.
static const char *meant_dtype(StringRef word) {
  static const struct {
    const char *written, *meant;
  } rows[] = {{"float", "f32"}, {"double", "f64"},    {"float32", "f32"}, {"float64", "f64"},
              {"fp32", "f32"},  {"fp64", "f64"},      {"float16", "f16"}, {"fp16", "f16"},
              {"half", "f16"},  {"bfloat16", "bf16"}, {"int", "i32"},     {"int8", "i8"},
              {"int16", "i16"}, {"int32", "i32"},     {"int64", "i64"},   {"uint8", "u8"},
              {"long", "i64"},  {"short", "i16"},     {"char", "i8"},     {"_Bool", "bool"},
              {"b8", "bool"},   {"boolean", "bool"}};
  for (const auto &row : rows)
    if (word.equals_insensitive(row.written)) return row.meant;
  static const char *const names[] = {"f32", "f64", "f16", "bf16", "i8",
                                      "u8",  "i16", "i32", "i64",  "bool"};
  const char *best = nullptr;
  unsigned distance = 2;
  for (const char *name : names)
    if (unsigned d = word.edit_distance(name, true, 2); d < distance) {
      distance = d;
      best = name;
    }
  return best;
}

static bool check_shape(ASTContext &context, tc_dims *dims, const StringLiteral *shape,
                        const Sink &sink) {
  tc_type type;
  const char *problem = nullptr;
  size_t at = 0, start = shape->getString().size() - unnamed_shape(shape).size(); // of the dtype
  std::string text;
  bool fine = true;
  for (const std::string &each : alternatives_of(shape)) {
    const StringRef dtype = StringRef(each).split('[').first;
    start = shape->getString().find(dtype, start);
    text = each;
    if (!(fine = tc_type_parse(dims, each.c_str(), &type, &problem, &at))) break;
    start += dtype.size();
  }
  if (fine) return true;
  const size_t dtype = text.find('[') == std::string::npos ? text.size() : text.find('[');
  auto byte = [&](size_t i) {
    i = std::min(i, text.size());
    const size_t in_shape = i <= dtype ? start + i : shape->getString().find('[') + (i - dtype);
    return shape->getLocationOfByte(static_cast<unsigned>(in_shape), context.getSourceManager(),
                                    context.getLangOpts(), context.getTargetInfo());
  };
  Message message = {TC_WARNING,
                     byte(at),
                     std::string("TC_SHAPE: ") + (problem ? problem : "not understood"),
                     {},
                     {}};
  StringRef word = StringRef(text).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  const char *meant = at <= word.size() ? meant_dtype(word) : nullptr;
  if (meant && word != meant) {
    message.loc = byte(0);
    message.text += std::string("; did you mean '") + meant + "'?";
    message.fixits.push_back({CharSourceRange::getCharRange(byte(0), byte(word.size())), meant});
  }
  if (at < text.size() && StringRef(".*?:").contains(text[at]))
    message.text +=
        "; the rank has to be known at build time: write a number or a name for each axis";
  sink(message);
  return false;
}

bool check_shapes(ASTContext &context, const FunctionDecl *function, const Sink &sink) {
  std::unique_ptr<tc_dims, void (*)(tc_dims *)> dims(tc_dims_new(), tc_dims_free);
  for (const ParmVarDecl *parameter : function->parameters()) {
    const StringLiteral *shape = declared_shape(parameter);
    std::string name = parameter->getNameAsString();
    if (!shape || !dims) continue;
    if (!describes_tensors(parameter->getType().getNonReferenceType())) {
      sink({TC_WARNING,
            shape->getBeginLoc(),
            "TC_SHAPE stands on '" + name + "', which is not a tensor",
            {},
            {}});
    } else if (!check_shape(context, dims.get(), shape, sink)) {
      sink({TC_MISSED,
            parameter->getLocation(),
            "'" + function->getNameAsString() + "' not compiled: the shape of parameter '" + name +
                "' is not understood",
            {},
            {}});
      return false;
    }
  }
  return true;
}

// ---- declared shapes of a function that is entered ----------------------------------------------

// A size that contradicts the declaration, where both are known.
static bool contradicts(tc_dims *caller, tc_dims *callee, tc_dim given, tc_dim declared,
                        std::map<uint32_t, tc_dim> &bound) {
  uint32_t symbol;
  if (tc_dim_is_const(declared)) return tc_dim_is_const(given) && !tc_dim_same(given, declared);
  if (!tc_dim_is_sym(callee, declared, &symbol)) return false;
  const tc_sym *s = tc_dims_sym(callee, symbol);
  if (tc_dim_is_const(given) && (tc_dim_value(given) < s->lo || tc_dim_value(given) > s->hi ||
                                 tc_dim_value(given) % s->multiple))
    return true;
  auto [at, fresh] = bound.insert({symbol, given});
  return !fresh && tc_dim_known_ne(caller, at->second, given);
}

static Message declared_at(const ParmVarDecl *parameter, const StringLiteral *shape) {
  return {TC_NOTE,
          shape->getBeginLoc(),
          "'" + parameter->getNameAsString() + "' is declared as " + shape->getString().str() +
              " here",
          {},
          {}};
}

bool Evaluator::check_declared(const FunctionDecl *callee, const std::vector<Value> &arguments,
                               const CallExpr *e) {
  std::unique_ptr<tc_dims, void (*)(tc_dims *)> theirs(tc_dims_new(), tc_dims_free);
  std::map<uint32_t, tc_dim> bound;
  const bool has_object = llvm::isa<CXXOperatorCallExpr>(e) && e->getNumArgs() > arguments.size();
  const unsigned first = has_object ? 1 : 0;
  for (unsigned i = 0; theirs && i < arguments.size() && i < callee->getNumParams(); i++) {
    const StringLiteral *shape = declared_shape(callee, i);
    if (!shape || arguments[i].kind != Value::Tensors) continue;
    const Expr *argument = e->getArg(first + i);
    auto x = as_tensor(arguments[i], argument);
    if (!x) return false;
    const tc_type *given = tc_graph_type(graph, x->ref);
    tc_type declared;
    const char *problem;
    size_t at;
    bool told = false, wrong = true; // what is not understood is told where it is defined
    for (const std::string &each : alternatives_of(shape)) {
      told |= !tc_type_parse(theirs.get(), each.c_str(), &declared, &problem, &at);
      if (!told && wrong) wrong = given->dtype != declared.dtype || given->rank != declared.rank;
      if (told || !wrong) break;
    }
    if (told) continue;
    for (int axis = 0; !wrong && axis < given->rank; axis++)
      wrong = contradicts(dims, theirs.get(), given->dim[axis], declared.dim[axis], bound);
    if (!wrong) continue;
    const bool fresh = !failed;
    const std::string what = "argument '" + callee->getParamDecl(i)->getNameAsString() + "' of '" +
                             callee->getNameAsString() + "' is " + describe(x->ref) +
                             ", declared as " + shape->getString().str();
    if (tc_dims_guessed(dims)) fail(argument->getExprLoc(), what);
    else
      error(argument->getExprLoc(), what,
            {CharSourceRange::getTokenRange(argument->getSourceRange())});
    if (fresh) obstacle.notes.push_back(declared_at(callee->getParamDecl(i), shape));
    return false;
  }
  return true;
}

// A call that stays as it is: its arguments are looked at where the declaration says what they are.
void Evaluator::check_unseen(const FunctionDecl *callee, const CallExpr *e) {
  bool declared = false;
  for (unsigned i = 0; i < callee->getNumParams(); i++) declared |= !!declared_shape(callee, i);
  if (!declared || llvm::isa<CXXOperatorCallExpr>(e)) return;
  std::vector<Value> arguments;
  for (const Expr *arg : e->arguments()) arguments.push_back(evaluate(arg));
  if (!failed) check_declared(callee, arguments, e);
}

// ---- declarations of one function ---------------------------------------------------------------

namespace {

// What a declaration says of the parameters, with names of its own.
struct Declared {
  explicit Declared(const FunctionDecl *function)
      : function(function), dims(tc_dims_new(), tc_dims_free) {}
  const FunctionDecl *function;
  std::unique_ptr<tc_dims, void (*)(tc_dims *)> dims;
  std::map<uint32_t, tc_dim> bound;

  std::optional<tc_type> of(const StringLiteral *shape) {
    tc_type type;
    const char *problem;
    size_t at;
    if (!dims || !tc_type_parse(dims.get(), shape->getString().str().c_str(), &type, &problem, &at))
      return std::nullopt; // told elsewhere
    return type;
  }
};

bool contradict(Declared &a, const tc_type &x, Declared &b, const tc_type &y) {
  if (x.dtype != y.dtype || x.rank != y.rank) return true;
  for (int axis = 0; axis < x.rank; axis++)
    if (contradicts(a.dims.get(), b.dims.get(), x.dim[axis], y.dim[axis], b.bound) ||
        contradicts(b.dims.get(), a.dims.get(), y.dim[axis], x.dim[axis], a.bound))
      return true;
  return false;
}

bool agree(const FunctionDecl *one, const FunctionDecl *other, const Sink &sink) {
  Declared first(one), later(other);
  for (unsigned i = 0; i < one->getNumParams() && i < other->getNumParams(); i++) {
    const StringLiteral *a = attribute_of(one->getParamDecl(i));
    const StringLiteral *b = attribute_of(other->getParamDecl(i));
    if (!a || !b) continue;
    auto x = first.of(a), y = later.of(b);
    if (!x || !y || !contradict(first, *x, later, *y)) continue;
    sink({TC_ERROR,
          b->getBeginLoc(),
          "parameter '" + other->getParamDecl(i)->getNameAsString() + "' of '" +
              other->getNameAsString() + "' is declared as " + b->getString().str() +
              ", which contradicts " + a->getString().str(),
          {},
          {},
          {declared_at(one->getParamDecl(i), a)}});
    return false;
  }
  return true;
}

} // namespace

bool check_redeclared(const FunctionDecl *function, const Sink &sink) {
  std::vector<const FunctionDecl *> seen;
  for (const FunctionDecl *each = function->getMostRecentDecl(); each;
       each = each->getPreviousDecl())
    seen.insert(seen.begin(), each);
  for (size_t i = 1; i < seen.size(); i++)
    for (size_t k = 0; k < i; k++)
      if (!agree(seen[k], seen[i], sink)) return false;
  return true;
}

} // namespace tc
