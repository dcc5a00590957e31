// relocate.cpp - see relocate.h.  The headers that get copies are those with new texts, and
// whatever includes one of them: the least set that contains the former and is closed under "is
// included by".
#include "tools/tcompile/relocate.h"

#include <map>
#include <set>

#include "driver/annotation.h"
#include "graph/support/support.h"
#include "tools/tcompile/paths.h"

namespace tc {
namespace {

using llvm::StringRef;
namespace path = llvm::sys::path;

std::string in_folder(StringRef folder, StringRef name) {
  llvm::SmallString<256> whole(folder);
  path::append(whole, name);
  return std::string(whole);
}

// Of folders that may be there already, which a link may lead to.
std::string real_folder(StringRef folder) {
  const std::string whole = absolute(folder);
  if (llvm::sys::fs::exists(whole) || path::parent_path(whole).empty()) return real_path(whole);
  return in_folder(real_folder(path::parent_path(whole)), path::filename(whole));
}

// lib/a.h, up/lib/a.h for ../lib/a.h, usr/include/a.h for /usr/include/a.h; below the folder.
std::string below(StringRef folder, StringRef name) {
  llvm::SmallString<256> out(folder), plain(name);
  path::remove_dots(plain, /*remove_dot_dot=*/true);
  for (auto at = path::begin(plain); at != path::end(plain); ++at)
    if (*at != "/") path::append(out, *at == ".." ? "up" : *at);
  return std::string(out);
}

// From a folder to a file; both are absolute.
std::string relative(StringRef folder, StringRef file) {
  auto at = path::begin(file), end = path::end(file);
  auto from = path::begin(folder), to = path::end(folder);
  while (at != end && from != to && *at == *from) ++at, ++from;
  llvm::SmallString<256> out;
  for (; from != to; ++from) path::append(out, "..");
  for (; at != end; ++at) path::append(out, *at);
  return std::string(out);
}

class Relocation {
public:
  Relocation(const Layout &layout, const Translation &unit, const std::string &original);

  std::string run(std::vector<OutputFile> &files);

private:
  struct Copy {
    std::string name, to;
    bool system = false;
  };
  using Edits = std::map<unsigned, std::pair<unsigned, std::string>>; // offset: size, new name

  void choose_copies();
  std::string place_of(StringRef name);
  std::string text_of(const std::string &file) const;
  std::string put(const std::string &file, const Copy &copy, std::vector<OutputFile> &files) const;
  struct Move {
    std::string file, from, to; // from folder to folder
    bool any() const { return from != to; }
  };
  std::string edits_of(const Move &move, StringRef text, Edits &edits) const;
  static void keep_neighbour(const Move &move, StringRef text, StringRef name, Edits &edits);
  static void keep_neighbours(const Move &move, StringRef text, Edits &edits);

  const Layout &layout;
  const Translation &unit;
  const std::string main;
  std::map<std::string, std::string> texts; // new ones, of files
  std::map<std::string, Copy> copies;       // of headers
  std::set<std::string> places;
};

Relocation::Relocation(const Layout &layout, const Translation &unit, const std::string &original)
    : layout(layout), unit(unit), main(real_path(layout.source)) {
  texts[main] = original;
  for (const NewText &each : unit.texts) texts[each.main ? main : real_path(each.file)] = each.text;
}

void Relocation::choose_copies() {
  std::set<std::string> wanted;
  for (const auto &[file, text] : texts)
    if (file != main) wanted.insert(file);
  for (size_t before = 0; before != wanted.size();) {
    before = wanted.size();
    for (const Inclusion &each : unit.inclusions)
      if (wanted.count(each.file) && !each.in.empty() && each.in != main) wanted.insert(each.in);
  }
  for (const Inclusion &each : unit.inclusions)
    if (wanted.count(each.file) && !copies.count(each.file))
      copies[each.file] = {each.name, place_of(each.name), each.system};
}

std::string Relocation::place_of(StringRef name) {
  // Outputs have folders of their own: one header may have different texts in two of them.
  const std::string overlay = real_folder(layout.overlay);
  const std::string output = layout.main == "-"
                                 ? "stdout"
                                 : relative(path::parent_path(overlay), real_folder(layout.main));
  std::string place = below(below(overlay, output), name);
  while (!places.insert(place).second) place += "_";
  return place;
}

std::string Relocation::text_of(const std::string &file) const {
  if (auto found = texts.find(file); found != texts.end()) return found->second;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static std::string quoted(StringRef folder, StringRef file) {
  return "\"" + relative(folder, file) + "\"";
}

// What Clang saw of the directives in a file.
std::string Relocation::edits_of(const Move &move, StringRef text, Edits &edits) const {
  for (const Inclusion &each : unit.inclusions) {
    if (each.in != move.file || each.offset + each.size > text.size()) continue;
    const auto copy = copies.find(each.file);
    const StringRef name = text.substr(each.offset, each.size);
    const bool neighbour = move.any() && name.starts_with("\"") &&
                           real_path(in_folder(move.from, name.trim('"'))) == each.file;
    if (copy == copies.end() && !neighbour) continue;
    const std::string to = quoted(move.to, copy == copies.end() ? each.file : copy->second.to);
    auto [at, fresh] = edits.insert({each.offset, {each.size, to}});
    if (!fresh && at->second.second != to)
      return move.file + " includes " + name.str() + " as " + at->second.second + " and as " + to;
  }
  return "";
}

// A name between quotation marks that is there beside the original.
void Relocation::keep_neighbour(const Move &move, StringRef text, StringRef name, Edits &edits) {
  const unsigned offset = static_cast<unsigned>(name.data() - text.data()) - 1;
  const std::string beside = in_folder(move.from, name);
  if (!edits.count(offset) && llvm::sys::fs::exists(beside))
    edits[offset] = {static_cast<unsigned>(name.size()) + 2, quoted(move.to, real_path(beside))};
}

// Directives of parts that Clang skipped, which another compiler may read; and questions for
// headers.
void Relocation::keep_neighbours(const Move &move, StringRef text, Edits &edits) {
  size_t at = 0;
  for (tc_inclusion next; tc_next_inclusion(text.data(), text.size(), &at, &next);)
    if (next.quoted) keep_neighbour(move, text, StringRef(next.name, next.size), edits);
  static const char question[] = "__has_include";
  for (at = 0; (at = text.find(question, at)) != StringRef::npos;) {
    at += sizeof question - 1;
    StringRef rest = text.drop_front(at).ltrim(" \t");
    if (!rest.consume_front("(")) continue;
    rest = rest.ltrim(" \t");
    if (rest.consume_front("\"") && rest.contains('"'))
      keep_neighbour(move, text, rest.take_until([](char c) { return c == '"'; }), edits);
  }
}

// # 1 "lib/a.h"
static std::string marker(StringRef name, bool system) {
  std::string out = "# 1 \"";
  for (char c : name) (out += c == '"' || c == '\\' ? "\\" : "") += c;
  return out + (system ? "\" 3\n" : "\"\n");
}

// How many bytes of UTF-8's mark a text begins with, which stands nowhere else.
static size_t byte_order_mark(StringRef text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

// The head of a guard for a header with #pragma once, which some compilers (tcc) go by the spelling
// of names for.
static std::string once(StringRef text, StringRef place) {
  if (!text.contains("pragma once")) return "";
  const std::string macro = "TC_ONCE_" + llvm::utohexstr(tc_hash(place.data(), place.size(), 0));
  return "#ifndef " + macro + "\n#define " + macro + "\n";
}

std::string Relocation::put(const std::string &file, const Copy &copy,
                            std::vector<OutputFile> &files) const {
  const std::string text = text_of(file);
  const bool named = copy.name != standard_input;
  const Move move = {file, real_folder(named ? path::parent_path(absolute(copy.name)) : "."),
                     real_folder(copy.to == "-" ? "." : path::parent_path(absolute(copy.to)))};
  Edits edits;
  if (std::string why = edits_of(move, text, edits); !why.empty()) return why;
  if (move.any()) keep_neighbours(move, text, edits);
  const bool changed = !edits.empty() || file != main || !unit.texts.empty();
  const std::string guard = file != main ? once(text, copy.to) : "";
  std::string out = guard + (changed ? marker(copy.name, copy.system) : "");
  size_t done = out.empty() ? 0 : byte_order_mark(text);
  for (const auto &[offset, edit] : edits) {
    out += text.substr(done, offset - done) + edit.second;
    done = offset + edit.first;
  }
  files.push_back({copy.to, out + text.substr(done) + (guard.empty() ? "" : "\n#endif\n")});
  return "";
}

std::string Relocation::run(std::vector<OutputFile> &files) {
  choose_copies();
  for (const Inclusion &each : unit.inclusions)
    if (each.in.empty() && copies.count(each.file))
      return each.name + " has compiled functions and is included by the command line; include it "
                         "in the file";
  std::string why = put(main, {layout.source, layout.main, false}, files);
  for (const auto &[file, copy] : copies)
    if (why.empty()) why = put(file, copy, files);
  return why;
}

} // namespace

std::string relocate(const Layout &layout, const Translation &unit, const std::string &original,
                     std::vector<OutputFile> &files) {
  return Relocation(layout, unit, original).run(files);
}

} // namespace tc
