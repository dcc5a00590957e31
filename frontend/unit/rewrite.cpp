// rewrite.cpp - see rewrite.h.
#include "frontend/unit/rewrite.h"

#include <algorithm>
#include <set>

namespace tc {

using namespace clang;
using llvm::StringRef;

// ---- the guarded call ---------------------------------------------------------------------------

using llvm::raw_ostream;

static std::string temporary(unsigned label, size_t i) {
  return "__tc_t" + std::to_string(label) + "_" + std::to_string(i);
}

static void put_operands(const Segment &s, raw_ostream &os) {
  auto sizes = [&](int input) {
    for (const auto &size : s.sizes)
      if (size.input == input) os << " const long long " << size.name << " = " << size.text << ";";
  };
  sizes(-1);
  if (!s.inputs.empty()) os << " const struct tc_tensor *__tc_in[" << s.inputs.size() << "];";
  if (!s.scalars.empty()) os << " union tc_value __tc_scalar[" << s.scalars.size() << "];";
  if (s.results) os << " struct tc_tensor *__tc_out[" << s.results << "];";
  for (size_t i = 0; i < s.inputs.size(); i++) {
    if (s.inputs[i].layout)
      os << " struct tc_tensor __tc_header" << i << "; struct tc_layout const __tc_layout" << i
         << " = " << s.inputs[i].text << "; __tc_in[" << i << "] = tcrt_borrow(&__tc_header" << i
         << ", &__tc_layout" << i << ");";
    else os << " __tc_in[" << i << "] = " << s.inputs[i].text << ";";
    sizes(static_cast<int>(i));
  }
  for (size_t i = 0; i < s.scalars.size(); i++)
    os << " __tc_scalar[" << i << "]." << (s.scalars[i].floating ? "f" : "i") << " = "
       << s.scalars[i].text << ";";
}

// What entries are called in assembly; it stands once in each call.
static std::string assembly_name(const std::string &symbol) {
  return "__asm__(\"" + symbol + "\")";
}

static std::string assignment(const Segment::Store &store, const std::string &value) {
  std::string target = store.lvalue;
  const bool cxx = store.variable && store.variable->getLangOpts().CPlusPlus;
  if (store.constant && !cxx) // in C++ its declaration is made one without const
    target = "*(" + unqualified_type(target, store.variable->getLangOpts()) + " *)&" + target;
  return " " + target + " = " + value + ";";
}

static const char *const tensor_type = "struct tc_tensor *";

// The value of a store in a body that has a scope.
static std::string owned(const Segment::Store &store, const Ownership *scope) {
  const bool stays = store.type == tensor_type && scope && scope->holds(store.variable);
  if (!scope || !store.tensor || stays) return store.text;
  return "tcrt_hand_out(" + store.text + ")";
}

// Addresses and values first, since they are meant as of before the statements.
static void put_results(const Segment &s, unsigned label, const Ownership *scope, raw_ostream &os) {
  for (size_t i = 0; i < s.views.size(); i++)
    os << " struct tc_tensor *const __tc_view" << i << " = " << s.views[i] << ";";
  for (const std::string &keep : s.keeps) os << " " << keep;
  for (size_t i = 0; i < s.stores.size(); i++) {
    const Segment::Store &store = s.stores[i];
    if (store.where == Segment::Store::Memory)
      os << " __typeof__(" << store.lvalue << ") *const __tc_p" << i << " = &(" << store.lvalue
         << ");";
    if (store.where != Segment::Store::Inner) os << " " << store.type << " const";
    os << " " << temporary(label, i) << " = " << owned(store, scope) << ";";
  }
  bool value = !s.returned.empty();
  bool simple = (s.stores.empty() && s.effects.empty()) || s.in_parts;
  const char *leaves = s.return_type == tensor_type ? "tcrt_returned(" : "tcrt_hand_out(";
  const std::string returned = scope && s.returns_tensor ? leaves + s.returned + ")" : s.returned;
  if (s.in_parts) os << " " << s.return_type << " " << returned << ";";
  if (value && !simple) os << " " << s.return_type << " const __tc_result = " << returned << ";";
  for (size_t i = 0; i < s.stores.size(); i++) {
    const Segment::Store &store = s.stores[i];
    if (store.where == Segment::Store::Memory)
      os << " *__tc_p" << i << " = " << temporary(label, i) << ";";
    if (store.where == Segment::Store::Variable || store.where == Segment::Store::Result)
      os << assignment(store, temporary(label, i));
  }
  for (const std::string &effect : s.effects) os << " " << effect;
  if (s.exit == Segment::Return)
    os << " return" << (!value ? "" : simple ? " " + returned : " __tc_result") << ";";
  else if (s.exit == Segment::Break) os << " break;";
  else if (s.exit == Segment::Continue) os << " continue;";
  else os << " goto __tc_done" << label << ";";
}

// The call, and what follows if the entry did the work.
static std::string guarded_call(const Segment &s, unsigned label, const Ownership *scope) {
  std::string out;
  llvm::raw_string_ostream os(out);
  for (size_t i = 0; i < s.stores.size(); i++)
    if (s.stores[i].where == Segment::Store::Inner)
      os << s.stores[i].type << " " << temporary(label, i) << "; ";
  os << "{ extern int " << s.symbol
     << "(const struct tc_tensor *const *, const union tc_value *, struct tc_tensor **)"
     << " " << assembly_name(s.symbol) << ";";
  for (const std::string &condition : s.conditions) os << " if (" << condition << ")";
  if (!s.conditions.empty()) os << " {";
  put_operands(s, os);
  os << " if (" << s.symbol << "(" << (s.inputs.empty() ? "0" : "__tc_in") << ", "
     << (s.scalars.empty() ? "0" : "__tc_scalar") << ", " << (s.results ? "__tc_out" : "0")
     << ")) {";
  put_results(s, label, scope, os);
  os << " }" << (s.conditions.empty() ? "" : " }") << " }";
  return out;
}

// Behind the statements: where the call leads, and the variables that they would have declared.
static std::string tail_of(const Segment &s, unsigned label) {
  if (s.exit != Segment::Next) return "";
  std::string out = "; if (0) { __tc_done" + std::to_string(label) + ":;";
  for (size_t i = 0; i < s.stores.size(); i++)
    if (s.stores[i].where == Segment::Store::Inner)
      out += assignment(s.stores[i], temporary(label, i));
  return out + " }";
}

// ---- where it goes ------------------------------------------------------------------------------

static unsigned entered(const SourceManager &sources, FileID file) {
  const FileEntry *entry = sources.getFileEntryForID(file);
  unsigned times = 0;
  for (unsigned i = 0; entry && i < sources.local_sloc_entry_size(); i++) {
    const SrcMgr::SLocEntry &slot = sources.getLocalSLocEntry(i);
    if (slot.isFile() && slot.getFile().getContentCache().OrigEntry &&
        &slot.getFile().getContentCache().OrigEntry->getFileEntry() == entry)
      times++;
  }
  return times;
}

std::string Rewriter::obstacle(const FunctionDecl *function) const {
  const auto *body = llvm::dyn_cast_or_null<CompoundStmt>(function->getBody());
  if (!body) return "it has no body of the usual form";
  SourceLocation open = body->getLBracLoc(), close = body->getRBracLoc();
  open = inner.getExpansionLoc(open);
  close = inner.getExpansionLoc(close);
  FileID file = inner.getFileID(open);
  if (inner.getFileID(close) != file) return "its body spreads over two files";
  if (file != inner.getMainFileID() && entered(inner, file) > 1)
    return "the header that defines it is included more than once without a guard";
  return "";
}

// Blanks as wide as the text of the line in front of `offset`.
static std::string blanks(const SourceManager &sources, FileID file, unsigned offset) {
  unsigned column = sources.getColumnNumber(file, offset) - 1;
  std::string pad = sources.getBufferData(file).substr(offset - column, column).str();
  for (char &c : pad) c = c == '\t' ? c : ' ';
  return pad;
}

static std::string line_directive(unsigned line) {
  return "\n#line " + std::to_string(line) + "\n";
}

std::string Rewriter::marker(SourceLocation loc, bool system) const {
  PresumedLoc place = inner.getPresumedLoc(loc);
  std::string out;
  llvm::raw_string_ostream os(out);
  os << "\n# " << place.getLine() << " \"";
  for (const char *c = place.getFilename(); *c; c++)
    os << (*c == '"' || *c == '\\' ? "\\" : "") << *c;
  os << (system ? "\" 3\n" : "\"\n");
  return out;
}

// The next line has the number of loc's, and nothing from there on makes a warning.
std::string Rewriter::silence(SourceLocation loc) const {
  if (dialect == Dialect::Gnu) return marker(loc, true);
  return "\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Weverything\"" +
         line_directive(inner.getPresumedLineNumber(loc));
}

std::string Rewriter::end_silence(SourceLocation loc) const {
  if (dialect == Dialect::Gnu) return marker(loc, inner.isInSystemHeader(loc));
  return line_directive(inner.getPresumedLineNumber(loc) - 1) + "#pragma clang diagnostic pop\n";
}

// Text on lines of its own, in the line that the place has in the original.
void Rewriter::put_line(FileID file, Edit edit) {
  const SourceLocation loc = inner.getComposedLoc(file, edit.offset);
  edit.text = silence(loc) + edit.text + end_silence(loc) + blanks(inner, file, edit.offset);
  edits[file].push_back(std::move(edit));
}

// Beside a token that a macro made.
std::string Rewriter::put_inside(SourceLocation loc, bool after, Edit edit) {
  edit.token = expansions.find(loc);
  edit.after = after;
  if (edit.token == Expansions::none) return "its text cannot be found in what a macro expands to";
  Expansions::Invocation invocation = expansions.around(edit.token);
  if (invocation.fixed) return "it comes out of a macro that contains _Pragma or __COUNTER__";
  edit.offset = invocation.begin;
  edits[invocation.file].push_back(std::move(edit));
  return "";
}

// A body that whole macros make is wrapped; else what was written goes behind its braces.
std::string Rewriter::insert_whole(const FunctionDecl *function, const Segment &segment,
                                   const std::string &call) {
  const auto *body = llvm::cast<CompoundStmt>(function->getBody());
  SourceLocation open = body->getLBracLoc(), close = body->getRBracLoc();
  const LangOptions &language = function->getLangOpts();
  if (open.isMacroID() && close.isMacroID() &&
      Lexer::isAtStartOfMacroExpansion(open, inner, language, &open) &&
      Lexer::isAtEndOfMacroExpansion(close, inner, language, &close)) {
    FileID file = inner.getFileID(open);
    unsigned end = inner.getFileOffset(Lexer::getLocForEndOfToken(close, 0, inner, language));
    put_line(file, {inner.getFileOffset(open), "{ " + call, function, &segment});
    put_line(file, {end, "}", function, &segment});
    return "";
  }
  open = body->getLBracLoc();
  close = body->getRBracLoc();
  if (open.isMacroID()) {
    Edit edit = {0, " " + call + " { ", function, &segment};
    if (std::string why = put_inside(open, true, std::move(edit)); !why.empty()) return why;
  } else {
    auto [file, offset] = inner.getDecomposedLoc(open);
    put_line(file, {offset + 1, call + "{", function, &segment});
  }
  if (close.isMacroID()) return put_inside(close, true, {0, " }", function, &segment});
  auto [file, offset] = inner.getDecomposedLoc(close);
  // Preprocessed input knows markers alone.
  const std::string line = dialect == Dialect::Gnu
                               ? marker(close, inner.isInSystemHeader(close))
                               : line_directive(inner.getPresumedLineNumber(close));
  edits[file].push_back(
      {offset + 1, line + "}" + line + blanks(inner, file, offset + 1), function, &segment});
  return "";
}

// Declarations that stood in front of all statements are not what -Wdeclaration-after-statement is
// to tell of.
void Rewriter::keep_order_silent(const FunctionDecl *function, const Segment &segment) {
  if (!mixed) return;
  for (const auto &[begin, end] : segment.first_declarations) {
    put_line(segment.file, {begin,
                            "\n#pragma GCC diagnostic push\n"
                            "#pragma GCC diagnostic ignored \"-Wdeclaration-after-statement\"",
                            function, &segment});
    put_line(segment.file, {end, "\n#pragma GCC diagnostic pop", function, &segment});
  }
}

void Rewriter::put_splits(const FunctionDecl *function, const Segment &segment) {
  for (const Segment::Split &each : segment.splits) {
    Edit edit = {each.offset, each.text, function, &segment};
    edit.split = true;
    if (each.in_line) edits[segment.file].push_back(std::move(edit));
    else put_line(segment.file, std::move(edit));
  }
}

std::string Rewriter::insert_part(const FunctionDecl *function, const Segment &s,
                                  const std::string &call, const std::string &tail) {
  auto put = [&](unsigned offset, SourceLocation token, bool after, bool closes,
                 const std::string &text) {
    Edit edit = {offset, text, function, &s};
    edit.closes = closes;
    if (token.isValid()) return put_inside(token, after, std::move(edit));
    put_line(s.file, std::move(edit));
    return std::string();
  };
  std::string why = put(s.begin, s.begin_token, false, false, (s.braces ? "{ " : "; ") + call);
  put_splits(function, s);
  std::string close = tail + (s.braces ? " }" : "");
  if (why.empty()) keep_order_silent(function, s);
  if (!why.empty() || close.empty()) return why;
  SourceLocation token = s.end_token;
  if (size_t last = expansions.find(token); s.end_behind && expansions.is_semicolon(last + 1))
    token = expansions.location(last + 1);
  return put(s.end, token, s.end_behind, true, close);
}

std::string Rewriter::insert(const FunctionDecl *function, const Segment &segment,
                             const Ownership *scope) {
  unsigned label = labels++;
  std::string call = guarded_call(segment, label, scope);
  if (segment.whole) return insert_whole(function, segment, call);
  return insert_part(function, segment, call, tail_of(segment, label));
}

// ---- the scope of a body ------------------------------------------------------------------------

// In front of the token at loc, or behind it.
std::string Rewriter::put_beside(SourceLocation loc, bool after, Edit edit) {
  const LangOptions &language = edit.function->getLangOpts();
  SourceLocation place = loc;
  if (loc.isMacroID() && !(after ? Lexer::isAtEndOfMacroExpansion(loc, inner, language, &place)
                                 : Lexer::isAtStartOfMacroExpansion(loc, inner, language, &place)))
    return put_inside(loc, after, std::move(edit));
  if (after) place = Lexer::getLocForEndOfToken(place, 0, inner, language);
  auto [file, offset] = inner.getDecomposedLoc(place);
  if (place.isInvalid() ||
      file != inner.getFileID(inner.getExpansionLoc(edit.function->getBody()->getBeginLoc())))
    return "it is written in two files";
  edit.offset = offset;
  put_line(file, std::move(edit));
  return "";
}

std::string Rewriter::open_scope(const FunctionDecl *function) {
  Edit edit = {0,
               "struct tc_scope __tc_body __attribute__((cleanup(tcrt_body_end))), "
               "*__tc_in_body = tcrt_body_begin(&__tc_body);",
               function, nullptr};
  edit.scope = true;
  return put_beside(llvm::cast<CompoundStmt>(function->getBody())->getLBracLoc(), true,
                    std::move(edit));
}

// Of a variable that takes the value: in C by its name, where it surely has one, for compilers
// without __auto_type.
static std::string type_of_value(const Expr *e, const LangOptions &language) {
  if (language.CPlusPlus) return "auto"; // GCC's C++ has no __auto_type
  const QualType type = e->getType().getCanonicalType().getUnqualifiedType();
  QualType inner = type;
  while (inner->isPointerType()) inner = inner->getPointeeType();
  const TagDecl *tag = inner->getAsTagDecl();
  const bool named = inner->isBuiltinType() || (tag && tag->hasNameForLinkage());
  return named ? type.getAsString(PrintingPolicy(language)) : "__auto_type";
}

// What goes in front of an expression through which a tensor leaves, and behind it.
static std::pair<std::string, std::string> around(const Exit &exit, const LangOptions &language) {
  const char *leave = "({ struct tc_scope *__tc_left = tcrt_body_leave(); ";
  const char *resume = "; tcrt_body_resume(__tc_left);";
  if (exit.kind == Exit::Unseen && exit.e->getType()->isVoidType())
    return {leave, std::string(resume) + " })"};
  if (exit.kind == Exit::Unseen)
    return {leave + type_of_value(exit.e, language) + " __tc_value = ",
            std::string(resume) + " __tc_value; })"};
  if (exit.kind == Exit::Argument)
    return {"({ tcrt_body_resume(__tc_left); " + type_of_value(exit.e, language) + " __tc_value = ",
            "; (void)tcrt_body_leave(); __tc_value; })"};
  const bool constant = exit.e->getType()->getPointeeType().isConstQualified();
  return {std::string("((") + (constant ? "const " : "") + "struct tc_tensor *)" +
              (exit.kind == Exit::Returned ? "tcrt_returned((" : "tcrt_hand_out(("),
          ")))"};
}

std::string Rewriter::insert_exits(const FunctionDecl *function, const std::vector<Exit> &exits) {
  for (const Exit &exit : exits) {
    const auto [before, behind] = around(exit, function->getLangOpts());
    auto put = [&](SourceLocation loc, bool after, const std::string &text) {
      Edit edit = {0, text, function, nullptr};
      edit.scope = true;
      return put_beside(loc, after, std::move(edit));
    };
    std::string why = put(exit.e->getBeginLoc(), false, before);
    if (why.empty()) why = insert_exits(function, exit.inside);
    if (why.empty()) why = put(exit.e->getEndLoc(), true, behind);
    if (!why.empty()) return why;
  }
  return "";
}

template <class Which> void Rewriter::drop(Which which) {
  for (auto at = edits.begin(); at != edits.end();) {
    llvm::erase_if(at->second, which);
    at = at->second.empty() ? edits.erase(at) : std::next(at);
  }
}

void Rewriter::withdraw(const Segment &segment) {
  drop([&](const Edit &edit) { return edit.segment == &segment; });
}

void Rewriter::withdraw(const FunctionDecl *function) {
  drop([=](const Edit &edit) { return edit.function == function; });
}

bool Rewriter::withdraw_scopes() {
  size_t before = 0, left = 0;
  for (const auto &[file, list] : edits) before += list.size();
  drop([](const Edit &edit) { return edit.scope; });
  for (const auto &[file, list] : edits) left += list.size();
  return left < before;
}

void Rewriter::name_entries(const std::string &suffix) {
  for (auto &[file, list] : edits)
    for (Edit &edit : list) {
      if (!edit.segment) continue;
      const std::string name = assembly_name(edit.segment->symbol);
      const size_t at = edit.text.find(name);
      if (at == std::string::npos) continue; // what stands behind the statements
      edit.text.replace(at, name.size(),
                        assembly_name(edit.segment->symbol + suffix) +
                            " __attribute__((visibility(\"hidden\")))");
    }
}

void Rewriter::append(const std::string &text) {
  FileID file = inner.getMainFileID();
  edits[file].push_back(
      {static_cast<unsigned>(inner.getBufferData(file).size()), text, nullptr, nullptr});
}

// Of edits at one place, what closes segments comes before what opens the next: a call that did its
// work leads to all of them.  Else they stay in order.  Segments of several ways and variants may lead
// past one declaration, which is split once, behind their calls.
Rewriter::Edits Rewriter::sorted(const std::vector<Edit> &edits) {
  Edits list;
  for (const Edit &edit : edits) list.push_back(&edit);
  auto key = [](const Edit *e) {
    return std::tuple(e->offset, e->token + 1, e->after, e->split, !e->closes, e);
  };
  llvm::sort(list, [&](const Edit *a, const Edit *b) { return key(a) < key(b); });
  std::set<std::pair<unsigned, StringRef>> splits;
  llvm::erase_if(list, [&](const Edit *e) {
    return e->split && !splits.insert({e->offset, e->text}).second;
  });
  return list;
}

// The tokens of an invocation, with the edits between them.  Macros of the names that are left were
// being expanded already.
void Rewriter::expand(const Expansions::Invocation &invocation, llvm::ArrayRef<const Edit *> inside,
                      Output &out) const {
  auto append = [&](const std::string &text, unsigned offset, bool inserted) {
    out.pieces.push_back({static_cast<unsigned>(out.text.size()),
                          static_cast<unsigned>(text.size()), offset, invocation.end, inserted});
    out.text += text;
  };
  auto loc = [&](unsigned offset) { return inner.getComposedLoc(invocation.file, offset); };
  const SourceLocation begin = loc(invocation.begin);
  std::string head = silence(begin), tail;
  for (const std::string &name : expansions.macros(invocation)) {
    head += "#pragma push_macro(\"" + name + "\")\n#undef " + name + "\n";
    tail += "\n#pragma pop_macro(\"" + name + "\")";
  }
  // GCC takes what a macro that comes back is made of for written there.
  if (dialect == Dialect::Gnu && !tail.empty())
    tail = marker(begin, inner.isInSystemHeader(begin)) + tail;
  head += dialect == Dialect::Gnu ? marker(begin, true)
                                  : line_directive(inner.getPresumedLineNumber(begin));
  append(head, invocation.begin, true);
  for (size_t token = invocation.first; token < invocation.last; token++) {
    auto put = [&](bool after) {
      for (const Edit *edit : inside)
        if (edit->token == token && edit->after == after)
          append(edit->text + " ", invocation.begin, true);
    };
    put(false);
    SourceLocation place = inner.getFileLoc(expansions.location(token));
    append(expansions.spelling(token) + " ", inner.getFileOffset(place), false);
    put(true);
  }
  append(tail + end_silence(loc(invocation.end)) + blanks(inner, invocation.file, invocation.end),
         invocation.end, true);
}

Rewriter::Output Rewriter::edited(FileID file, const std::vector<Edit> &edits) const {
  StringRef text = inner.getBufferData(file);
  Output out;
  unsigned done = 0;
  Edits list = sorted(edits);
  for (size_t i = 0, next; i < list.size(); i = next) {
    const Edit &edit = *list[i];
    out.text += text.slice(done, edit.offset);
    done = edit.offset;
    next = i + 1;
    if (edit.token == Expansions::none) {
      out.pieces.push_back({static_cast<unsigned>(out.text.size()),
                            static_cast<unsigned>(edit.text.size()), done, done, true});
      out.text += edit.text;
      continue;
    }
    while (next < list.size() && list[next]->offset == edit.offset) next++;
    Expansions::Invocation invocation = expansions.around(edit.token);
    expand(invocation, llvm::ArrayRef(list).slice(i, next - i), out);
    done = invocation.end;
  }
  out.text += text.drop_front(done);
  return out;
}

std::map<const FileEntry *, std::vector<Rewriter::Piece>> Rewriter::pieces() const {
  std::map<const FileEntry *, std::vector<Piece>> result;
  for (const auto &[file, list] : edits)
    result[inner.getFileEntryForID(file)] = edited(file, list).pieces;
  return result;
}

std::map<FileID, std::string> Rewriter::texts() const {
  std::map<FileID, std::string> out;
  for (const auto &[file, list] : edits) out[file] = edited(file, list).text;
  return out;
}

} // namespace tc
