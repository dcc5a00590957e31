// words.cpp - see words.h.
#include "driver/words.h"

#include <map>
#include <optional>

#include "driver/annotation.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

unsigned Words::number(StringRef file) {
  llvm::SmallString<128> path(file);
  llvm::sys::path::remove_dots(path);
  auto found = llvm::find(files, path.str());
  if (found == files.end()) found = files.insert(found, path.str().str());
  return static_cast<unsigned>(found - files.begin());
}

namespace {

// What says where and when it is read.
bool is_place(StringRef macro) {
  return macro == "__LINE__" || macro == "__FILE__" || macro == "__BASE_FILE__" ||
         macro == "__FILE_NAME__" || macro == "__DATE__" || macro == "__TIME__" ||
         macro == "__TIMESTAMP__" || macro == "__INCLUDE_LEVEL__";
}

// Macros of system headers that are keywords to some compilers, in some standards.
bool is_keyword(StringRef macro) {
  return macro == "bool" || macro == "true" || macro == "false" || macro == "alignas" ||
         macro == "alignof" || macro == "static_assert" || macro == "thread_local";
}

// A number to GCC, where no macro passes it on.
void add_made(Word &word, std::string text) {
  if (word.text != "__COUNTER__") return word.made.push_back(std::move(text));
  word.text = std::move(text);
  word.system = false;
}

// GCC has them as literals.
bool is_literal(const Word &word) {
  return !word.system && (isDigit(word.text.front()) || word.text.front() == '"');
}

} // namespace

// ---- the other compiler's -----------------------------------------------------------------------

bool read_words(StringRef record, Words &words) {
  unsigned file = 0, line = 0;
  bool inside = false;
  while (!record.empty()) {
    const char kind = record.front();
    const size_t zero = record.find('\0');
    if (zero == StringRef::npos) return false;
    const StringRef text = record.slice(1, zero);
    record = record.drop_front(zero + 1);
    Word *macro = inside && !words.list.empty() ? &words.list.back() : nullptr;
    switch (kind) {
    case 'F':
      file = words.number(text);
      break;
    case 'L':
      if (text.getAsInteger(10, line)) return false;
      break;
    case 'S':
    case 'T':
      if (macro) add_made(*macro, text.str());
      else
        words.list.push_back(
            {file, line, text.str(), kind == 'S' && !is_keyword(text), is_place(text), {}});
      inside |= kind == 'S';
      break;
    case 'E':
      inside = false;
      break;
    case 'P':
      words.precompiled = true;
      break;
    case 'Z':
      return record.empty();
    default:
      return false;
    }
  }
  return false;
}

// ---- this compiler's ----------------------------------------------------------------------------

bool WordRecorder::is_system(SourceLocation loc) const {
  const SourceManager &sources = preprocessor.getSourceManager();
  if (sources.isInSystemHeader(loc) || sources.isWrittenInBuiltinFile(loc)) return true;
  const PresumedLoc place = sources.getPresumedLoc(loc);
  return place.isInvalid() || tc_is_own_header(place.getFilename());
}

// Whether the macro that made this token of its definition is none of the user's.
bool WordRecorder::defined_by_system(SourceLocation made) const {
  const SourceManager &sources = preprocessor.getSourceManager();
  const SourceLocation written = sources.getImmediateSpellingLoc(made);
  if (written.isMacroID() || !sources.isWrittenInScratchSpace(written))
    return is_system(sources.getSpellingLoc(written));
  // The compiler's own (__LINE__) are spelled out, as is what ## makes.
  const StringRef name = Lexer::getImmediateMacroName(made, sources, preprocessor.getLangOpts());
  if (name.empty() || !isAsciiIdentifierStart(name.front())) return false;
  const MacroInfo *macro = preprocessor.getMacroInfo(preprocessor.getIdentifierInfo(name));
  return macro && (macro->isBuiltinMacro() || is_system(macro->getDefinitionLoc()));
}

// Where a token comes from that arguments of macros passed on.
WordRecorder::Origin WordRecorder::origin_of(SourceLocation loc) const {
  const SourceManager &sources = preprocessor.getSourceManager();
  Origin origin = {loc, false};
  while (origin.loc.isMacroID() && sources.isMacroArgExpansion(origin.loc)) {
    const SourceLocation parameter = sources.getImmediateExpansionRange(origin.loc).getBegin();
    origin.passed |= parameter.isMacroID() && defined_by_system(parameter);
    origin.loc = sources.getImmediateSpellingLoc(origin.loc);
  }
  return origin;
}

// Where the outermost macro is invoked in whose definition the token stands and that is none of the
// user's; none: invalid.
SourceLocation WordRecorder::system_macro(SourceLocation loc) const {
  const SourceLocation made = origin_of(loc).loc;
  if (!made.isMacroID()) return {};
  const SourceLocation name =
      preprocessor.getSourceManager().getImmediateExpansionRange(made).getBegin();
  if (SourceLocation outer = system_macro(name); outer.isValid()) return outer;
  return defined_by_system(made) ? name : SourceLocation();
}

void WordRecorder::add(const Token &token) {
  const SourceManager &sources = preprocessor.getSourceManager();
  if (token.isAnnotation()) {
    in_pragma |= token.is(tok::annot_pragma_openmp);
    in_pragma &= token.isNot(tok::annot_pragma_openmp_end);
    return;
  }
  const SourceLocation at = sources.getExpansionLoc(token.getLocation());
  if (in_pragma || token.is(tok::eof) || at.isInvalid() || is_system(at)) return;
  if (at != place) {
    place = at;
    macros.clear();
    passed.clear();
  }
  const Origin origin = origin_of(token.getLocation());
  if (origin.passed) {
    if (llvm::is_contained(passed, origin.loc)) return;
    passed.push_back(origin.loc);
  }
  const IdentifierInfo *name = token.getIdentifierInfo(); // without line breaks in it
  const std::string text = name ? name->getName().str() : preprocessor.getSpelling(token);
  const SourceLocation macro = system_macro(token.getLocation());
  for (const auto &[place, word] : macros)
    if (macro.isValid() && place == macro) return words.list[word].made.push_back(text);
  const PresumedLoc where = sources.getPresumedLoc(at);
  words.list.push_back(
      {words.number(where.getFilename()), where.getLine(), text, macro.isValid(), false, {}, at});
  if (macro.isInvalid()) return;
  Word &word = words.list.back();
  llvm::SmallString<32> buffer;
  word.text =
      Lexer::getSpelling(sources.getSpellingLoc(macro), buffer, sources, preprocessor.getLangOpts())
          .str();
  word.place = is_place(word.text);
  word.system = !is_keyword(word.text);
  add_made(word, text);
  macros.push_back({macro, words.list.size() - 1});
}

// ---- values -------------------------------------------------------------------------------------

namespace {

// A number of an integer type or of one of the three floating ones.
struct Number {
  enum Kind { Integer, Float, Double, LongDouble } kind;
  __int128 i;
  long double f;
  bool operator==(const Number &v) const {
    return kind == v.kind && (kind == Integer ? i == v.i : f == v.f);
  }
};

Number floating(Number::Kind kind, long double f) {
  if (kind == Number::Float) f = static_cast<float>(f);
  if (kind == Number::Double) f = static_cast<double>(f);
  return {kind, 0, f};
}

std::optional<Number> literal(StringRef text) {
  const bool hex = text.starts_with_insensitive("0x");
  if (text.empty() || !isDigit(text.front() == '.' ? '0' : text.front())) return {};
  if (text.contains('.') || text.find_first_of(hex ? "pP" : "eE") != StringRef::npos) {
    std::string number = text.str();
    char *end;
    const StringRef last = text.take_back(1);
    if (last.equals_insensitive("f")) return floating(Number::Float, strtof(number.c_str(), &end));
    if (last.equals_insensitive("l"))
      return floating(Number::LongDouble, strtold(number.c_str(), &end));
    const double value = strtod(number.c_str(), &end);
    return *end ? std::nullopt : std::optional(floating(Number::Double, value));
  }
  unsigned long long value;
  if (text.rtrim("uUlL").getAsInteger(0, value)) return {};
  return Number{Number::Integer, static_cast<__int128>(value), 0};
}

// Literals, signs, parentheses, casts to floating types, sums and products: what limits are made
// of.
class NumberParser {
public:
  explicit NumberParser(const std::vector<std::string> &tokens) : tokens(tokens) {}
  std::optional<Number> all() {
    std::optional<Number> value = sum();
    return at == tokens.size() ? value : std::nullopt;
  }

private:
  bool take(StringRef text) {
    const bool there = at < tokens.size() && tokens[at] == text;
    at += there;
    return there;
  }
  std::optional<Number> sum();
  std::optional<Number> product();
  std::optional<Number> unary();
  std::optional<Number> cast();
  static std::optional<Number> apply(char op, std::optional<Number> a, std::optional<Number> b);

  const std::vector<std::string> &tokens;
  size_t at = 0;
};

std::optional<Number> NumberParser::apply(char op, std::optional<Number> a,
                                          std::optional<Number> b) {
  if (!a || !b || a->kind != Number::Integer || b->kind != Number::Integer) return {};
  return Number{Number::Integer,
                op == '+'   ? a->i + b->i
                : op == '-' ? a->i - b->i
                            : a->i * b->i,
                0};
}

std::optional<Number> NumberParser::sum() {
  std::optional<Number> value = product();
  for (;;)
    if (take("+")) value = apply('+', value, product());
    else if (take("-")) value = apply('-', value, product());
    else return value;
}

std::optional<Number> NumberParser::product() {
  std::optional<Number> value = unary();
  while (take("*")) value = apply('*', value, unary());
  return value;
}

std::optional<Number> NumberParser::cast() {
  Number::Kind kind = Number::Double;
  if (take("float")) kind = Number::Float;
  else if (take("long")) kind = Number::LongDouble;
  if (kind != Number::Float && !take("double")) return {};
  if (!take(")")) return {};
  std::optional<Number> value = unary();
  if (!value) return {};
  return floating(kind,
                  value->kind == Number::Integer ? static_cast<long double>(value->i) : value->f);
}

std::optional<Number> NumberParser::unary() {
  if (take("__extension__") || take("+")) return unary();
  if (take("-")) {
    std::optional<Number> value = unary();
    if (value) value = Number{value->kind, -value->i, -value->f};
    return value;
  }
  if (take("(")) {
    if (at < tokens.size() &&
        (tokens[at] == "float" || tokens[at] == "double" || tokens[at] == "long"))
      return cast();
    std::optional<Number> value = sum();
    return take(")") ? value : std::nullopt;
  }
  return at < tokens.size() ? literal(tokens[at++]) : std::nullopt;
}

} // namespace

// x12 and x14, which macros make of __LINE__: compilers number a macro's lines by its first or its
// last.
static bool same_but_line(const Word &a, const Word &b) {
  const StringRef left = a.text, right = b.text;
  const StringRef name = left.rtrim("0123456789");
  unsigned x, y;
  if (name.empty() || name != right.rtrim("0123456789")) return false;
  if (left.drop_front(name.size()).getAsInteger(10, x) ||
      right.drop_front(name.size()).getAsInteger(10, y))
    return false;
  const unsigned most = 1000; // lines of an invocation
  return x >= a.line && x < a.line + most && y >= b.line && y < b.line + most;
}

bool same_word(const Word &a, const Word &b) {
  if (a.place || b.place) return (a.place || is_literal(a)) && (b.place || is_literal(b));
  if (a.system != b.system) return false;
  if (!a.system) return a.text == b.text || same_but_line(a, b);
  if (a.text != b.text) return false;
  if (a.made == b.made) return true;
  const std::optional<Number> left = NumberParser(a.made).all(), right = NumberParser(b.made).all();
  if (!left && !right) return true; // the system's, as that compiler needs it
  return left && right && *left == *right;
}

// ---- both ---------------------------------------------------------------------------------------

namespace {

// Lines of a file, in the order in which they are read.
struct Line {
  unsigned file, number;
  size_t first, last;
};

std::vector<Line> lines_of(const Words &words) {
  std::vector<Line> lines;
  for (size_t i = 0; i < words.list.size(); i++) {
    const Word &word = words.list[i];
    if (lines.empty() || lines.back().file != word.file || lines.back().number != word.line)
      lines.push_back({word.file, word.line, i, i});
    lines.back().last = i + 1;
  }
  return lines;
}

class Comparison {
public:
  Comparison(const Words &own, const Words &other) : own(own), other(other), b(lines_of(other)) {
    std::vector<bool> known(other.files.size() + 1, false);
    for (const Line &line : b) known[line.file] = true;
    for (const std::string &file : own.files)
      other_file.push_back(
          static_cast<unsigned>(llvm::find(other.files, file) - other.files.begin()));
    for (const Line &line : lines_of(own))
      if (!other.precompiled || known[other_file[line.file]]) a.push_back(line);
    for (size_t k = 0; k < b.size(); k++) places[{b[k].file, b[k].number}].push_back(k);
  }

  std::vector<Difference> run() {
    for (size_t i = 0, k = 0; i < a.size() || k < b.size(); i++, k++) {
      const auto [next_i, next_k] = meet(i, k);
      // Two sides of a condition that say the same in as many lines.
      if (next_i - i == next_k - k)
        for (; i < next_i; i++, k++) compare(i, i + 1, k, k + 1);
      else compare(i, next_i, k, next_k);
      i = next_i;
      k = next_k;
      if (i < a.size() && k < b.size()) compare(i, i + 1, k, k + 1);
    }
    return std::move(found);
  }

private:
  // The next line that both have: the one with the fewest in front of it.
  std::pair<size_t, size_t> meet(size_t i, size_t k) const {
    std::pair<size_t, size_t> best = {a.size(), b.size()};
    size_t least = SIZE_MAX;
    for (size_t x = i; x < a.size() && x - i < least; x++) {
      auto found = places.find({other_file[a[x].file], a[x].number});
      if (found == places.end()) continue;
      auto y = llvm::lower_bound(found->second, k);
      if (y == found->second.end() || x - i + (*y - k) >= least) continue;
      least = x - i + (*y - k);
      best = {x, *y};
    }
    return best;
  }
  static std::pair<size_t, size_t> words(const std::vector<Line> &lines, size_t i, size_t next) {
    if (i == next) return {0, 0};
    return {lines[i].first, lines[next - 1].last};
  }
  void compare(size_t i, size_t next_i, size_t k, size_t next_k) {
    auto [first, last] = words(a, i, next_i);
    auto [other_first, other_last] = words(b, k, next_k);
    for (const bool system : {false, true})
      if (compare_kind(system, first, last, other_first, other_last)) return;
  }
  // What # makes of an argument of a macro of the system's, which GCC has as a word of its own.
  bool is_made(const Word &word, size_t first, size_t last) const {
    return word.text.front() == '"' &&
           std::any_of(own.list.begin() + first, own.list.begin() + last,
                       [&](const Word &each) { return llvm::is_contained(each.made, word.text); });
  }
  // Words of the system's and others, each by themselves: what a macro makes may stand around its
  // arguments in another order.
  bool compare_kind(bool system, size_t first, size_t last, size_t k, size_t other_last) {
    auto is_kind = [=](const Word &word) { return (word.system && !word.place) == system; };
    for (size_t i = first;; i++, k++) {
      while (i < last && !is_kind(own.list[i])) i++;
      while (k < other_last && !is_kind(other.list[k])) k++;
      if (i == last && k == other_last) return false;
      if (i < last && k < other_last && same_word(own.list[i], other.list[k])) continue;
      if (k < other_last && is_made(other.list[k], first, last)) {
        i--;
        continue;
      }
      found.push_back({i, last, k, other_last});
      return true;
    }
  }

  const Words &own, &other;
  std::vector<Line> a;
  const std::vector<Line> b;
  std::vector<unsigned> other_file; // by the number that this compiler's has
  std::map<std::pair<unsigned, unsigned>, std::vector<size_t>> places; // of lines of b
  std::vector<Difference> found;
};

} // namespace

std::vector<Difference> differences(const Words &own, const Words &other) {
  return Comparison(own, other).run();
}

} // namespace tc
