// entry_state.cpp - objects that exist when the captured statements begin: variables of the
// function around them, members, elements, globals, what pointers lead to.  They are named by C
// text that the guarded call evaluates once, before anything else, so a read is right only while
// nothing that could be the same memory was written by the statements themselves.
//
// Local variables whose address nobody takes are followed like those that the statements declare.
#include "frontend/ast_capture/evaluator.h"

#include "frontend/attributes.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::StringRef;

static const size_t max_assumptions = 64;   // about one variable
static const size_t max_parts = 256;        // of a struct that is written as a whole

// ---- names --------------------------------------------------------------------------------------

// Why the name does not mean this object where the texts are evaluated; empty: it does.
std::string Evaluator::why_unnameable(const ValueDecl *decl) const {
  const std::string name = decl->getNameAsString();
  const auto *variable = dyn_cast<VarDecl>(decl);
  const bool local = variable && variable->isStaticLocal();
  bool before = false;
  for (const Decl *each : decl->redecls())
    before = before || sources.isBeforeInTranslationUnit(sources.getFileLoc(each->getLocation()),
                                                         sources.getFileLoc(begins));
  const bool table = local && variable->getType()->isArrayType();
  if (table && (frames.size() > 1 || !before) && variable->getType().isConstant(context))
    return "which element of '" + name + "' is meant is not known at build time, and it cannot be "
           "named in front of the statements; declare it outside of the function";
  if (local && (frames.size() > 1 || !before))
    return "'" + name + "' keeps its value between calls; pass it as a parameter";
  if (before && (local || !reading.hides(name))) return "";
  return "'" + name + "' cannot be named in '" + function->getNameAsString() +
         (before ? "', which has a variable of the same name; rename one of them"
                 : "'; declare it in front of the function");
}

bool Evaluator::nameable(const ValueDecl *decl, SourceLocation loc) {
  const std::string why = why_unnameable(decl);
  if (!why.empty()) fail(loc, why);
  return why.empty();
}

// Of C++, in a namespace or class: so that nothing nearer is meant.
static std::string qualified_name(const VarDecl *variable) {
  std::string name = variable->getNameAsString();
  if (variable->isLocalVarDeclOrParm()) return name;
  const DeclContext *around = variable->getDeclContext();
  bool nested = false;
  for (; around; around = around->getParent()) {
    const auto *named = dyn_cast<NamedDecl>(around);
    if (!named || named->getName().empty()) continue; // extern "C", an unnamed namespace
    name = named->getNameAsString() + "::" + name;
    nested = true;
  }
  return nested ? "::" + name : name;
}

Place Evaluator::entry_variable(const VarDecl *variable) {
  Place place;
  place.at_entry = true;
  place.text = qualified_name(variable);
  place.type = variable->getType().getNonReferenceType();
  if (variable->getType()->isReferenceType()) { // of C++: a pointer that is followed by its name
    place.deref = true;
    place.pointer = place.text.size();
  }
  place.declared = place.root = variable;
  if (declared_shape(variable)) place.shaped = variable;
  return place;
}

Place Evaluator::member_of(const Place &place, const FieldDecl *field) {
  Place member = place;
  member.indexed = false;
  member.index = 0;
  member.text = place.indexed && place.index == 0 ? place.text + "->" : place.lvalue() + ".";
  if (field->getName().empty()) member.text = place.lvalue(); // an anonymous struct
  else member.text += field->getName();
  member.type =
      place.type.isVolatileQualified() ? field->getType().withVolatile() : field->getType();
  member.declared = field;
  member.instance = place.lvalue();
  member.deref = place.deref || place.indexed;
  member.in_union = place.in_union || field->getParent()->isUnion();
  if (declared_shape(field)) {
    member.shaped = field;
    member.shaped_instance = member.instance;
  }
  return member;
}

// Whether the object is as it was when the statements began, under the name it had then.
static bool untouched(const Value &v, const std::string &lvalue) {
  if (v.kind == Value::AtEntry) return true;
  if (v.kind != Value::Aggregate) return v.origin == lvalue;
  if (!v.place.at_entry) return false;
  for (const Value &part : v.parts) {
    const std::string &name = part.place.at_entry ? part.place.lvalue() : part.origin;
    if (name.empty() || !untouched(part, name)) return false;
  }
  return true;
}

// pointer[index] with an index that is known at run time only.
std::optional<Place> Evaluator::element_of(const Value &pointer, const Scalar &index,
                                           SourceLocation loc) {
  Place place = pointer.place;
  if (!place.at_entry) { // a local array that nothing was written to
    if (place.path.empty()) place.path.push_back(0);
    int64_t first = place.path.back();
    place.path.pop_back();
    bool table = llvm::any_of(tables, [&](auto &each) { return each.second == place.slot; });
    Value *array = resolve(place, loc);
    if (!array) return std::nullopt;
    if (first || !array->place.at_entry || !(table || untouched(*array, array->place.lvalue()))) {
      fail(loc, "the index is not known at build time, and the array is written here");
      return std::nullopt;
    }
    if (table && !nameable(array->place.root, loc)) return std::nullopt;
    QualType element = context.getAsArrayType(array->place.type)->getElementType();
    place = array->place;
    place.text = place.lvalue();
    place.index = 0;
    place.indexed = true;
    place.type = element;
  }
  if (index.late || (maybe && !place.type->isArithmeticType())) {
    fail(loc, index.late ? "the index is read from a tensor"
                         : "whether this element is read is not known at build time");
    return std::nullopt;
  }
  std::string base =
      place.index ? "(" + place.text + " + " + std::to_string(place.index) + ")" : place.text;
  place.text = base + "[" + index.text + "]";
  place.indexed = false;
  place.index = 0;
  return place;
}

Place Evaluator::part_of(const Place &place, size_t i) {
  if (const auto *record = place.type->getAs<RecordType>())
    return member_of(place, *std::next(record->getDecl()->field_begin(), i));
  Place part = place;
  part.text = place.lvalue();
  part.indexed = true;
  part.index = static_cast<int64_t>(i);
  part.type = context.getAsConstantArrayType(place.type)->getElementType();
  return part;
}

bool Evaluator::collect_assumptions(const Place &place, const Value &v,
                                    std::vector<std::string> &texts) {
  if (v.kind == Value::Null) {
    texts.push_back("(" + place.lvalue() + ") == 0");
  } else if (v.kind == Value::Scalars) {
    texts.push_back("(" + place.lvalue() + ") == " + v.scalar.text);
  } else {
    const auto *record = place.type->getAs<RecordType>();
    if (v.kind != Value::Aggregate || (record && record->isUnionType())) return false;
    for (size_t i = 0; i < v.parts.size(); i++)
      if (!collect_assumptions(part_of(place, i), v.parts[i], texts)) return false;
  }
  return texts.size() <= max_assumptions;
}

// What is known of a variable at a break holds where the kernels in front of it ran: it may come
// from the size of an operand, or be the number of a variant.  Here it is asked for again.
bool Evaluator::assume(const Place &place, const Value &v) {
  std::vector<std::string> texts;
  if (!collect_assumptions(place, v, texts)) return false;
  for (const std::string &text : texts) add_condition(text);
  return true;
}

// Of C++ objects that are made while the program runs there is none.
const Expr *Evaluator::constant_initializer(const VarDecl *variable) const {
  const VarDecl *definition = nullptr;
  const Expr *init = variable->getAnyInitializer(definition);
  return init && init->isConstantInitializer(context, false) ? init : nullptr;
}

std::optional<Place> Evaluator::locate_entry(const VarDecl *variable, SourceLocation loc) {
  const QualType type = variable->getType().getNonReferenceType();
  const bool reference = variable->getType()->isReferenceType();
  if (type.isVolatileQualified() || type->isAtomicType()) {
    fail(loc, "'" + variable->getNameAsString() + "' is " +
                  (type.isVolatileQualified() ? "volatile" : "atomic"));
    return std::nullopt;
  }
  if (variable->getName().empty()) {
    fail(loc, "a name of a struct's part that other statements give");
    return std::nullopt;
  }
  Place place;
  if (variable->hasLocalStorage() && !reference && !reading.escapes(variable)) {
    const Place entry = entry_variable(variable);
    auto known = facts.constants.find(variable);
    place.slot = new_slot(known != facts.constants.end() && assume(entry, known->second)
                              ? known->second
                              : Value::of(Value::AtEntry, entry));
    place.type = type;
    frames.front().variables[variable] = place.slot;
    return place;
  }
  if (variable->hasGlobalStorage() && !reference && type.isConstant(context) &&
      (type->isArrayType() || type->isRecordType() || type->isPointerType())) {
    auto [at, fresh] = tables.insert({variable, 0});
    if (const Expr *init = fresh ? constant_initializer(variable) : nullptr) {
      Value v = evaluate_initializer(init, type);
      if (failed) return std::nullopt;
      v.place = entry_variable(variable);
      at->second = new_slot(std::move(v));
    } else if (fresh) {
      tables.erase(at);
      fresh = false;
      at = tables.end();
    }
    if (at != tables.end()) {
      place.slot = at->second;
      place.type = type;
      return place;
    }
  }
  if (variable->hasGlobalStorage() && !nameable(variable, loc)) return std::nullopt;
  return entry_variable(variable);
}

// ---- contents -----------------------------------------------------------------------------------

// The shape with its names as those of the object: H of b->w is b__H, which messages call b->H.
std::string Evaluator::rename_symbols(StringRef shape, StringRef instance) {
  auto in_name = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  bool pointed = instance.ends_with("[0]") && llvm::all_of(instance.drop_back(3), in_name);
  if (pointed) instance = instance.drop_back(3);
  std::string prefix, out;
  for (char c : instance) prefix += in_name(c) ? c : '_';
  prefix = StringRef(prefix).rtrim('_').str() + "__";
  size_t at = shape.find('[');
  if (at == StringRef::npos) return shape.str();
  out = shape.substr(0, at).str();
  for (size_t i = at; i < shape.size();) {
    StringRef word = shape.substr(i).take_while(in_name);
    bool name = !word.empty() && !llvm::isDigit(word[0]) && word != "min" && word != "max";
    if (name) {
      shown[prefix + word.str()] = (instance + (pointed ? "->" : ".") + word).str();
      out += prefix;
    }
    out += word.empty() ? shape.substr(i, 1).str() : word.str();
    i += word.empty() ? 1 : word.size();
  }
  return out;
}

std::optional<tc_type> Evaluator::type_of(const TypeFact &fact) {
  tc_type type = fact.type;
  for (int i = 0; i < type.rank; i++) {
    const TypeFact::Size &size = fact.sizes[static_cast<size_t>(i)];
    type.dim[i] = size.constant
                      ? tc_dim_const(size.value)
                      : tc_dim_sym(dims, size.symbol.c_str(), size.lo, size.hi, size.multiple);
    if (tc_dim_bad(type.dim[i])) return std::nullopt;
  }
  if (fact.doubtful) tc_dims_guess(dims);
  return type;
}

// What the tensor is, as far as the program or the statements before tell.
std::optional<tc_type> Evaluator::known_type(const Place &place) {
  if (place.made) return type_of(*place.made);
  const StringLiteral *shape = place.declared ? declared_shape(place.declared) : nullptr;
  if (!shape || facts.types.count(place_key(place))) {
    const auto fact = facts.at(place);
    return fact ? type_of(*fact) : std::nullopt;
  }
  std::string text = shape_text(shape, sizes);
  if (llvm::isa<FieldDecl>(place.declared)) text = rename_symbols(text, place.instance);
  tc_type type;
  const char *problem;
  size_t at;
  if (!tc_type_parse(dims, text.c_str(), &type, &problem, &at)) return std::nullopt;
  return type;
}

std::optional<tc_type> Evaluator::input_type(const Place &place) {
  auto type = known_type(place);
  if (!type)
    fail(place.declared ? place.declared->getLocation() : begins,
         "the shape of '" + place.lvalue() + "' is not understood");
  return type;
}

bool Evaluator::declare_input(const Place &place) {
  auto type = input_type(place);
  if (!type) return false;
  SourceLocation loc = place.declared ? place.declared->getLocation() : begins;
  tc_ref node = tc_graph_input(graph, place.lvalue().c_str(), &*type, graph_loc(loc));
  if (!node.id) fail(loc, "out of memory");
  inputs.insert({place.lvalue(), input_refs.size()});
  input_refs.push_back(node);
  return node.id != 0;
}

Value Evaluator::import_tensor(const Place &place) {
  Tensor t;
  bool known = place.made || (place.declared && declared_shape(place.declared)) || facts.at(place);
  if (!known) return Value::of(Value::Foreign, place);
  auto [at, fresh] =
      entry_storages.insert({place.lvalue(), static_cast<unsigned>(storages.size())});
  t.storage = at->second;
  if (!fresh) return Value::of(t);
  Storage storage;
  storage.source = place;
  storages.push_back(storage);
  return Value::of(t);
}

// The number that an object holds; C++'s scoped enumerations convert to none by themselves.
std::string Evaluator::entry_number(const Place &place) const {
  const auto *enumeration = place.type->getAs<EnumType>();
  if (!enumeration || !enumeration->getDecl()->isScoped()) return place.lvalue();
  const QualType number = context.getCanonicalType(enumeration->getDecl()->getIntegerType());
  return "((" + type_name(number) + ")" + place.lvalue() + ")";
}

// The value of an object of the entry state when the statements begin.
Value Evaluator::import(const Place &place, SourceLocation loc) {
  QualType type = context.getCanonicalType(place.type);
  Value v;
  if (type.isVolatileQualified() || type->isAtomicType())
    fail(loc, "'" + place.lvalue() + "' is volatile or atomic");
  else if (is_tensor_pointer(type)) v = import_tensor(place);
  else if (auto fixed = sizes ? fixed_number(place) : std::nullopt) v = Value::of(*fixed);
  else if (type->isArithmeticType() || type->isEnumeralType())
    v = Value::of(opaque(entry_number(place), type));
  else if (type->isPointerType() && !type->isFunctionPointerType()) {
    Place to = place;
    to.text = place.lvalue();
    to.indexed = true;
    to.index = 0;
    to.type = type->getPointeeType();
    to.deref = true;
    to.pointer = to.text.size();
    v = Value::of(Value::Pointer, to);
  } else if (type->isRecordType() || type->isArrayType()) {
    return Value::of(Value::AtEntry, place);
  } else {
    v = Value::of(Value::Foreign, place);
  }
  v.origin = place.lvalue();
  return v;
}

// An array or struct of the entry state becomes its parts.
void Evaluator::open(Value &v) {
  Place place = v.place;
  QualType type = context.getCanonicalType(place.type);
  std::vector<Value> parts;
  if (const auto *array = context.getAsConstantArrayType(type)) {
    if (array->getSize().getLimitedValue() > max_elements) return;
    for (uint64_t i = 0; i < array->getSize().getZExtValue(); i++) {
      Place part = place;
      part.text = place.lvalue();
      part.indexed = true;
      part.index = static_cast<int64_t>(i);
      part.type = array->getElementType();
      parts.push_back(Value::of(Value::AtEntry, part));
    }
  } else if (const auto *record = type->getAs<RecordType>(); record && !record->isUnionType()) {
    for (const FieldDecl *field : record->getDecl()->fields())
      parts.push_back(Value::of(Value::AtEntry, member_of(place, field)));
  } else {
    return;
  }
  v = Value::of(Value::Aggregate, place);
  v.parts = std::move(parts);
}

// Members and elements at constant indices, one within the other.
static bool is_constant_path(StringRef text) {
  text.consume_front("->");
  while (!text.empty()) {
    text = text.drop_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (text.empty()) return true;
    if (!text.consume_front("[")) return false;
    StringRef index = text.take_while(llvm::isDigit);
    text = text.drop_front(index.size());
    if (index.empty() || !text.consume_front("]")) return false;
  }
  return true;
}

// Whether two objects of one type are different parts of one variable, or of what one pointer leads
// to; their names differ.
static bool are_parts(const Place &a, const Place &b) {
  const std::string x = a.lvalue(), y = b.lvalue();
  const size_t n = a.pointer;
  return !a.in_union && !b.in_union && a.root == b.root && n == b.pointer &&
         !x.compare(0, n, y, 0, n) && is_constant_path(StringRef(x).substr(n)) &&
         is_constant_path(StringRef(y).substr(n));
}

bool may_alias(ASTContext &context, const Place &a, const Place &b) {
  auto plain = [&](const Place &p) {
    return context.getCanonicalType(p.type).getUnqualifiedType();
  };
  QualType x = plain(a), y = plain(b);
  bool pointers = x->isPointerType() && y->isPointerType();
  bool parts = y->isRecordType() || y->isArrayType(); // of b
  if (x != y && !parts && !pointers && !x->isCharType() && !y->isCharType()) return false;
  if ((x == y || pointers) && are_parts(a, b)) return false;
  return a.deref || b.deref || a.root == b.root;
}

// Whether one is in a local variable of which no pointer knows, and the other is what a pointer
// leads to.
static bool is_out_of_reach(const Reading &reading, const Place &a, const Place &b) {
  const VarDecl *root = (a.deref ? b : a).root;
  return a.deref != b.deref && root && root->hasLocalStorage() &&
         !root->getType()->isReferenceType() && !reading.escapes(root);
}

// That two objects, which may be one, are two: a condition in front of the call compares their
// addresses.  False: that cannot be asked, or not by so many.
bool Evaluator::take_apart(const Place &a, const Place &b) {
  const size_t most = 256;
  auto fits = [&](const Place &p) {
    return (p.deref || p.root) && !p.layout && !p.in_union && p.type->isScalarType() &&
           !p.type.isVolatileQualified();
  };
  const std::string as_bytes = "(const void *)&(";
  auto address = [&](const Place &p) { return as_bytes + p.lvalue() + ")"; };
  const std::string text = address(a) + " != " + address(b);
  const bool of_sizes = StringRef(text).contains(size_prefix);
  if (maybe || of_sizes || !fits(a) || !fits(b) || conditions.size() >= most) return false;
  if (context.getTypeSize(a.type) != context.getTypeSize(b.type)) return false;
  add_condition(text);
  return true;
}

Value Evaluator::load_entry(const Place &place, SourceLocation loc) {
  std::string lvalue = place.lvalue();
  for (auto at = stored.rbegin(); at != stored.rend(); ++at) {
    if (at->first.lvalue() == lvalue) return at->second;
    if (may_alias(context, at->first, place) && !is_out_of_reach(reading, at->first, place) &&
        !take_apart(at->first, place)) {
      fail(loc, "'" + lvalue + "' is read behind a write to '" + at->first.lvalue() +
                    "', which may be the same memory");
      return {};
    }
  }
  if (is_behind_write(place, loc)) return {};
  if (maybe && place.deref && !place.type->isArithmeticType() && !inputs.count(lvalue)) {
    fail(loc, "whether '" + lvalue + "' is read is not known at build time");
    return {};
  }
  return import(place, loc);
}

void Evaluator::store_entry(const Place &place, Value value, SourceLocation loc) {
  if (value.kind == Value::AtEntry && !value.place.type->isRecordType())
    value = import(value.place, loc);
  if (value.kind == Value::AtEntry) open(value);
  if (value.kind == Value::Aggregate && value.parts.size() <= max_parts) {
    for (size_t i = 0; i < value.parts.size() && !failed; i++)
      if (value.parts[i].kind != Value::Unset) store_entry(part_of(place, i), value.parts[i], loc);
    return;
  }
  const auto *field = place.declared ? dyn_cast<FieldDecl>(place.declared) : nullptr;
  bool leaf = value.kind == Value::Tensors || value.kind == Value::Null ||
              value.kind == Value::Scalars || value.kind == Value::Foreign ||
              (value.kind == Value::Pointer && value.place.at_entry);
  if (!leaf || place.in_union || (field && field->isBitField()) || maybe ||
      place.type.isVolatileQualified() || place.type->isAtomicType()) {
    fail(loc, "this write to '" + place.lvalue() + "' is not captured");
    return;
  }
  std::string lvalue = place.lvalue();
  stored.erase(std::remove_if(stored.begin(), stored.end(),
                              [&](auto &each) { return each.first.lvalue() == lvalue; }),
               stored.end());
  stored.emplace_back(place, std::move(value));
}

// Whether a pointer is not NULL.  Tensors that are operands are not, or the guard fails; for others
// that holds by a condition in front of the call where only an error path asks.
std::optional<bool> Evaluator::pointer_truth(const Value &v) {
  const Place *asked = nullptr;
  switch (v.kind) {
  case Value::Null:
    return false;
  case Value::Function:
  case Value::String:
    return true;
  case Value::Tensors:
    if (!storages[v.tensor.storage].source.at_entry) return true;
    asked = &storages[v.tensor.storage].source;
    break;
  case Value::Pointer:
    if (!v.place.at_entry || !v.place.indexed || v.place.index != 0) return true;
    if (auto side = side_taken("(" + v.place.text + ") != 0")) return side;
    if (exits) asked = &v.place;
    break;
  case Value::Foreign:
    if ((exits || v.place.type->isFunctionPointerType()) && v.place.at_entry) asked = &v.place;
    break;
  default:
    break;
  }
  if (!asked || (maybe && asked->deref)) return std::nullopt;
  if (asked->layout) { // as an operand it is a tensor, or the guard fails
    contents(v.tensor, asked->declared ? asked->declared->getLocation() : begins);
    return failed ? std::nullopt : std::optional<bool>(true);
  }
  std::string text = v.kind == Value::Pointer ? asked->text : asked->lvalue();
  if (StringRef(text).contains(size_prefix)) return std::nullopt;
  text = "(" + text + ") != 0";
  if (auto side = side_taken(text)) return side;
  bool operand = v.kind == Value::Tensors && storages[v.tensor.storage].input >= 0;
  if (!exits && presence != Presence::Taken && v.kind == Value::Tensors && !operand) // a bias
    if (auto side = choose(text, asked)) return side;
  if (!exits && v.kind == Value::Foreign) return choose(text);
  if (!exits && v.kind == Value::Tensors) present.push_back({asked->lvalue(), text});
  else add_condition(text);
  return true;
}

// Of tensors that are taken to be there: the guards of those that are operands tell when one is
// not, and count it; for others it is a condition, and where other texts ask the tensor.  Where not
// every way is followed, that with all tensors is the last to be tried, and tells.
void Evaluator::settle_presence() {
  auto missing = [](const Choice &each) { return !each.tensor.empty() && !each.holds; };
  if (presence != Presence::Each && llvm::none_of(chosen, missing))
    for (const Choice &each : chosen)
      if (!each.tensor.empty()) {
        present.push_back({each.tensor, each.side()});
        conditions.erase(std::remove(conditions.begin(), conditions.end(), each.side()),
                         conditions.end());
      }
  for (const auto &each : present) {
    auto mentions = [&](StringRef other) { return other.contains(each.first); };
    if (!inputs.count(each.first) || llvm::any_of(conditions, mentions) ||
        llvm::any_of(discovered.scalars, [&](const auto &s) { return mentions(s.text); }))
      add_condition(each.second);
  }
}

// Likewise of a pointer to an object, where ?: asks, or a branch in a function that is called: each
// side is followed; where that makes too many paths, it leads to one object.
std::optional<bool> Evaluator::pointer_side(const Value &v) {
  if (maybe && v.place.deref) return std::nullopt;
  const std::string text = "(" + v.place.text + ") != 0";
  if (StringRef(text).contains(size_prefix)) return std::nullopt;
  auto side = side_taken(text);
  if (!side && presence != Presence::Taken) side = choose(text);
  if (!side) add_condition(text);
  return side ? side : std::optional<bool>(true);
}

} // namespace tc
