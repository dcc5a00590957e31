// variants.cpp - code for certain sizes (TC_SPECIALIZE): the whole function is captured once more
// with names of TC_SHAPE equal to numbers, which guards check, and integer parameters, members and
// globals that are constants, which conditions in front of the call check.
#include "frontend/ast_capture/evaluator.h"

#include "frontend/attributes.h"

#include <numeric>

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::StringRef;

// ---- the text -----------------------------------------------------------------------------------

// What is at the start of a path: a parameter, or a variable that the function sees.
static const VarDecl *root_named(ASTContext &context, const FunctionDecl *function,
                                 StringRef name) {
  for (const ParmVarDecl *parameter : function->parameters())
    if (parameter->getName() == name) return parameter;
  const VarDecl *found = nullptr;
  for (const NamedDecl *each : context.getTranslationUnitDecl()->lookup(&context.Idents.get(name)))
    if (const auto *variable = dyn_cast<VarDecl>(each)) found = variable;
  return found;
}

static const FieldDecl *member_named(QualType type, StringRef name) {
  const auto *record = type->getAs<RecordType>();
  const RecordDecl *definition = record ? record->getDecl()->getDefinition() : nullptr;
  if (!definition || definition->isUnion()) return nullptr;
  for (const FieldDecl *field : definition->fields())
    if (field->getName() == name) return field;
  return nullptr;
}

// The type of what a path names; `wrong`: the part that nothing has.
static QualType type_of_path(ASTContext &context, const FunctionDecl *function, StringRef path,
                             StringRef &wrong) {
  auto in_name = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  wrong = path.take_while(in_name);
  const VarDecl *root = root_named(context, function, wrong);
  QualType type = root ? root->getType() : QualType();
  for (StringRef rest = path.drop_front(wrong.size()); !rest.empty() && !type.isNull();) {
    const bool element = rest.consume_front("["), arrow = rest.consume_front("->");
    if (element || arrow) {
      const auto *array = context.getAsArrayType(type);
      type = array ? array->getElementType() : type->getPointeeType();
    }
    if (element) {
      wrong = rest.take_while(llvm::isDigit);
      rest = rest.drop_front(wrong.size() + 1); // the bracket
      continue;
    }
    rest.consume_front(".");
    wrong = rest.take_while(in_name);
    rest = rest.drop_front(wrong.size());
    const FieldDecl *field = type.isNull() ? nullptr : member_named(type, wrong);
    type = field ? field->getType() : QualType();
  }
  return type;
}

Named named_number(ASTContext &context, const FunctionDecl *function, const Reading &reading,
                   StringRef path) {
  StringRef wrong;
  QualType type = type_of_path(context, function, path, wrong);
  if (!type.isNull()) return type->isIntegerType() ? Named::Number : Named::Other;
  StringRef first = path.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  return reading.hides(first) ? Named::Other : Named::Nothing;
}

// As texts of objects name it: the first element by its array.
static std::string lvalue_of(StringRef path) {
  std::string text = path.str();
  for (size_t at; (at = text.find("[0].")) != std::string::npos;) text.replace(at, 4, "->");
  return text;
}

// What keeps a member from being a constant, or "".
static std::string no_number(ASTContext &context, const FunctionDecl *function, StringRef path) {
  StringRef wrong;
  QualType type = type_of_path(context, function, path, wrong);
  if (type.isNull()) return "'" + path.str() + "': there is no '" + wrong.str() + "'";
  return type->isIntegerType() ? "" : "'" + path.str() + "' is not an integer";
}

static bool is_member(StringRef name) { return name.find_first_of(".-[") != StringRef::npos; }

// What keeps the size of this name from having this value, or "".
static std::string contradiction(ASTContext &context, const FunctionDecl *function, tc_dims *dims,
                                 const Sizes::Size &size) {
  uint32_t symbol;
  if (is_member(size.name)) return no_number(context, function, size.name);
  if (!tc_dim_find_sym(dims, size.name.c_str(), &symbol))
    return no_number(context, function, size.name).empty()
               ? ""
               : "'" + size.name +
                     "' is neither a size in the TC_SHAPE of a parameter nor an integer parameter";
  tc_dim dim = tc_dims_sym_dim(dims, symbol);
  if (!tc_dim_bad(tc_dim_unify(dims, dim, tc_dim_const(size.value)))) return "";
  return "'" + size.name + "' is never " + std::to_string(size.value) + " by its TC_SHAPE";
}

using Dims = std::unique_ptr<tc_dims, void (*)(tc_dims *)>;

// The sizes in the TC_SHAPE of parameters.
static Dims declared_sizes(const FunctionDecl *function, const Sizes *sizes) {
  Dims dims(tc_dims_new(), tc_dims_free);
  for (const ParmVarDecl *parameter : function->parameters()) {
    const StringLiteral *shape = declared_shape(parameter);
    tc_type type;
    const char *problem;
    size_t at;
    if (shape && dims)
      (void)tc_type_parse(dims.get(), shape_text(shape, sizes).c_str(), &type, &problem, &at);
  }
  return dims;
}

bool check_sizes(ASTContext &context, const FunctionDecl *function, const Sizes &sizes,
                 const Sink &sink) {
  Dims dims = declared_sizes(function, &sizes);
  for (const Sizes::Size &size : sizes.list) {
    std::string problem =
        dims ? contradiction(context, function, dims.get(), size) : "out of memory";
    if (problem.empty()) continue;
    SourceLocation loc = sizes.literal->getLocationOfByte(
        size.at, context.getSourceManager(), context.getLangOpts(), context.getTargetInfo());
    sink({TC_WARNING, loc, "TC_SPECIALIZE: " + problem + "; it is ignored", {}, {}});
    return false;
  }
  return true;
}

// ---- sizes of calls -----------------------------------------------------------------------------

bool may_be_fixed(ASTContext &context, const FunctionDecl *function, const std::string &name) {
  Dims dims = declared_sizes(function, nullptr);
  uint32_t symbol;
  if (is_member(name) || (dims && tc_dim_find_sym(dims.get(), name.c_str(), &symbol))) return true;
  return no_number(context, function, name).empty();
}

// Of an integer that scalar operand `text` is made of: its path, or "".
static std::string path_of_scalar(ASTContext &context, const FunctionDecl *function,
                                  StringRef text) {
  if (!text.consume_front("((long long)") || !text.consume_back(")")) return "";
  auto in_path = [](char c) { return llvm::isAlnum(c) || StringRef("_->.[]").contains(c); };
  if (text.empty() || !llvm::all_of(text, in_path)) return "";
  return no_number(context, function, text).empty() ? text.str() : "";
}

std::vector<CountedSize> countable_sizes(ASTContext &context, const FunctionDecl *function,
                                         const Segment &segment) {
  std::vector<CountedSize> list;
  const Segment::Scalar *scalars = segment.scalars.data();
  tc_dims *dims = tc_graph_dims(segment.graph.get());
  for (uint32_t i = 0; i < tc_dims_sym_count(dims); i++) {
    const tc_sym *symbol = tc_dims_sym(dims, i);
    std::string written = symbol->name;
    if (symbol->input < 0 || tc_dim_is_const(tc_dim_norm(dims, tc_dims_sym_dim(dims, i)))) continue;
    auto member = segment.shown.find(written);
    if (member != segment.shown.end()) written = member->second;
    else if (!may_be_fixed(context, function, written))
      written =
          symbol->axis < 0 ? path_of_scalar(context, function, scalars[symbol->input].text) : "";
    if (!written.empty()) list.push_back({symbol->name, written});
  }
  return list;
}

// ---- dtypes -------------------------------------------------------------------------------------

namespace {

// Operands of a function whose TC_SHAPE has a choice: parameters, and members of what they lead to.
// Those whose choice has a name choose together.
class Choosers {
public:
  struct Chooser {
    std::string name;
    std::vector<const StringLiteral *> shapes;
    size_t count;
  };
  std::vector<Chooser> list;

  void visit(const ValueDecl *decl, const std::string &name) {
    if (const StringLiteral *shape = declared_shape(decl)) add(shape, name);
    QualType type = decl->getType();
    while (type->isPointerType() || type->isArrayType())
      type = type->isPointerType() ? type->getPointeeType()
                                   : QualType(type->getArrayElementTypeNoTypeQual(), 0);
    const auto *record = type->getAs<RecordType>();
    const RecordDecl *definition = record ? record->getDecl()->getDefinition() : nullptr;
    if (!definition || !seen.insert(definition).second) return;
    for (const FieldDecl *field : definition->fields()) visit(field, field->getNameAsString());
  }

  static StringRef dtypes(const StringLiteral *shape) {
    return unnamed_shape(shape).split('[').first;
  }

private:
  void add(const StringLiteral *shape, const std::string &name) {
    const size_t count = alternatives_of(shape).size();
    const std::string choice = choice_name(shape).str();
    auto same = llvm::find_if(list, [&](const Chooser &each) {
      return !choice.empty() && each.name == choice && dtypes(each.shapes[0]) == dtypes(shape);
    });
    if (same != list.end()) same->shapes.push_back(shape);
    else if (count > 1) list.push_back({choice.empty() ? name : choice, {shape}, count});
  }

  std::set<const RecordDecl *> seen;
};

// Of each chooser, which of its dtypes.
using Picks = std::vector<size_t>;

// Of each chooser, the one whose choice is its own: the first one with the same dtypes.
std::vector<size_t> leaders(const std::vector<Choosers::Chooser> &list) {
  std::vector<size_t> leader(list.size());
  for (size_t k = 0; k < list.size(); k++)
    while (Choosers::dtypes(list[leader[k]].shapes[0]) != Choosers::dtypes(list[k].shapes[0]))
      leader[k]++;
  return leader;
}

// How many combinations there are where those with a leader choose what it chooses; `most` at most.
size_t combinations(const std::vector<Choosers::Chooser> &list, const std::vector<size_t> &leader,
                    size_t most) {
  size_t count = 1;
  for (size_t k = 0; k < list.size(); k++)
    if (leader[k] == k) count = std::min(count * list[k].count, most);
  return count;
}

Picks combination(const std::vector<Choosers::Chooser> &list, const std::vector<size_t> &leader,
                  size_t number) {
  Picks picks(list.size());
  for (size_t k = list.size(); k-- > 0;)
    if (leader[k] == k) {
      picks[k] = number % list[k].count;
      number /= list[k].count;
    }
  for (size_t k = 0; k < list.size(); k++) picks[k] = picks[leader[k]];
  return picks;
}

// All combinations in their order; where they are too many, first those of one dtype for all
// operands that have the same choice.
std::vector<Picks> likely_combinations(const std::vector<Choosers::Chooser> &list) {
  std::vector<size_t> each(list.size());
  std::iota(each.begin(), each.end(), 0);
  const size_t all = combinations(list, each, 2 * max_dtypes);
  std::vector<Picks> likely;
  auto add = [&](const std::vector<size_t> &leader) {
    const size_t count = combinations(list, leader, 2 * max_dtypes);
    for (size_t i = 0; i < count && likely.size() < max_dtypes; i++) {
      Picks picks = combination(list, leader, i);
      if (!llvm::is_contained(likely, picks)) likely.push_back(std::move(picks));
    }
  };
  if (all > max_dtypes) add(leaders(list));
  add(each);
  return likely;
}

Sizes choice_of(const std::vector<Choosers::Chooser> &list, const Picks &picks) {
  Sizes sizes;
  for (size_t k = 0; k < list.size(); k++) {
    for (const StringLiteral *shape : list[k].shapes) sizes.dtypes[shape] = picks[k];
    const std::string chosen = alternatives_of(list[k].shapes[0])[picks[k]];
    sizes.text += (k ? "," : "") + list[k].name + "=" + StringRef(chosen).split('[').first.str();
  }
  return sizes;
}

} // namespace

std::vector<Sizes> dtype_choices(const FunctionDecl *function, const Sink &sink) {
  Choosers choosers;
  size_t count = 1;
  for (const ParmVarDecl *parameter : function->parameters())
    choosers.visit(parameter, parameter->getNameAsString());
  for (const auto &each : choosers.list) count = std::min(count * each.count, 2 * max_dtypes);
  if (count > max_dtypes)
    sink({TC_WARNING,
          choosers.list.back().shapes[0]->getBeginLoc(),
          "TC_SHAPE: the dtypes of the operands of '" + function->getNameAsString() +
              "' have more than " + std::to_string(max_dtypes) +
              " combinations; as many are compiled, those of equal dtypes first; a choice with a "
              "name, as in \"R=f32|bf16[N]\", is made once for all operands that have it",
          {},
          {}});
  std::vector<Sizes> choices;
  if (count > 1)
    for (const Picks &picks : likely_combinations(choosers.list))
      choices.push_back(choice_of(choosers.list, picks));
  return choices;
}

// ---- in an evaluation ---------------------------------------------------------------------------

// Behind the declaration of all inputs: what is built from them has the numbers.
bool Evaluator::fix_sizes() {
  for (const Sizes::Size &size : sizes->list) {
    uint32_t symbol;
    std::string name = size.name;
    for (const auto &[own, written] : shown)
      if (written == size.name) name = own;
    if (!tc_dim_find_sym(dims, name.c_str(), &symbol)) continue;
    tc_dim dim = tc_dims_sym_dim(dims, symbol);
    if (!tc_dim_bad(tc_dim_unify(dims, dim, tc_dim_const(size.value)))) continue;
    fail(function->getLocation(),
         "size '" + size.name + "' is not " + std::to_string(size.value) + " here");
    return false;
  }
  return true;
}

// A number that the variant has a value for.
std::optional<Scalar> Evaluator::fixed_number(const Place &place) {
  if (!place.type->isIntegerType() || (maybe && place.deref)) return std::nullopt;
  const std::string text = place.lvalue();
  for (const Sizes::Size &size : sizes->list) {
    if (lvalue_of(size.name) != text) continue;
    add_condition("(" + text + ") == " + std::to_string(size.value) + "LL");
    return integer_constant(llvm::APSInt::get(size.value), place.type);
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
