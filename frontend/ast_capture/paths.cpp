// paths.cpp - from a statement on: the segments that begin there, one for each path through
// branches that depend on what is known at run time only.
#include "frontend/ast_capture/ownership.h"
#include "frontend/ast_capture/segmenter.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

// Statements behind a jump are dead up to the next label.
static size_t behind(const std::vector<Item> &items, size_t end, Evaluator::Flow flow) {
  while (flow != Evaluator::Flow::Next && end < items.size() && !items[end].labelled) end++;
  return end;
}

// The end of the next try: a few statements less, then half of them.
static size_t fewer(size_t at, size_t end, size_t tries) {
  const size_t few = 16, many = 1024;
  return tries < few && end - at <= many ? end - 1 : at + (end - at) / 2;
}

// Paths through the branches that have sides to choose from: the first takes those where the
// conditions hold, each other one the other side of a branch of a path before it.  Empty: there are
// too many.
std::vector<Segmenter::Attempt> Segmenter::all_paths(const std::vector<Item> &items, size_t at,
                                                     size_t to) {
  const size_t most = 8;
  std::vector<Attempt> list;
  choices.clear();
  while (list.size() < most) {
    Discovered discovered;
    list.push_back(collect(items, at, to, discovered, false));
    choices = list.back().choices;
    auto open = [](const Choice &each) { return each.holds && each.free; };
    if (list.size() + llvm::count_if(choices, open) > most) return {}; // each has another side
    while (!choices.empty() && !open(choices.back())) choices.pop_back();
    if (choices.empty()) return list;
    choices.back().holds = false;
  }
  return {};
}

// The same; where there are too many, tensors that may be missing are followed in fewer ways, then
// they and objects are taken to be there, then through fewer statements, and at last such branches
// are taken for breaks.
std::vector<Segmenter::Attempt> Segmenter::paths(const std::vector<Item> &items, size_t at) {
  choosing = true;
  for (size_t n = items.size() - at; n; n /= 2)
    for (Presence each : {Presence::Each, Presence::Alike, Presence::Together, Presence::Taken}) {
      presence = each;
      std::vector<Attempt> list = all_paths(items, at, at + n);
      if (!list.empty()) return list;
    }
  choosing = false;
  return all_paths(items, at, items.size());
}

// Where the parenthesis at `open` is closed.
static size_t closing(const std::string &text, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i < text.size(); i++) {
    if (text[i] == '(') depth++;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string::npos;
}

// Whether the parentheses from `open` to `end` are around one operand: a name and what follows it,
// or a whole text in parentheses, which no name of a function stands in front of.
static bool only_group(const std::string &text, size_t open, size_t end) {
  auto in_operand = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  const char before = open ? text[open - 1] : ' ';
  const char behind = end + 1 < text.size() ? text[end + 1] : ' ';
  const bool call = in_operand(before) || before == ']' || before == ')';
  const bool cast = in_operand(behind) || behind == '(';
  if (call || cast) return false;
  if (text[open + 1] == '(' && closing(text, open + 1) == end - 1) return true;
  const llvm::StringRef inside(text.data() + open + 1, end - open - 1);
  return inside.find_if_not([&](char c) {
    return in_operand(c) || llvm::StringRef(".[]->").contains(c);
  }) == llvm::StringRef::npos;
}

// What only C's types ask for left out: of (int)((bool)(!(!((long)a != b)))), a != b.
static std::string as_read(std::string text) {
  for (const llvm::StringRef cast : {"(bool)", "(int)", "(long)"})
    for (size_t at; (at = text.find(cast)) != std::string::npos;) text.erase(at, cast.size());
  for (const llvm::StringRef twice = "!(!("; true;) {
    const size_t at = text.find(twice), end = closing(text, at + twice.size() - 1);
    if (at == std::string::npos || end == std::string::npos || text[end + 1] != ')') break;
    text.erase(end, 1).erase(at, twice.size() - 1);
  }
  for (size_t at = 0; at < text.size(); at++) {
    const size_t end = text[at] == '(' ? closing(text, at) : std::string::npos;
    if (end == std::string::npos || !only_group(text, at, end)) continue;
    text.erase(end, 1).erase(at, 1);
    at = at ? at - 1 : at;
  }
  const bool whole = !text.empty() && text[0] == '(' && closing(text, 0) == text.size() - 1;
  return whole ? text.substr(1, text.size() - 2) : text;
}

// For people: sizes by their names, and what decides.
static std::string text_of(const std::vector<Choice> &choices) {
  const llvm::StringRef prefix = size_prefix;
  std::string text;
  for (const Choice &each : choices)
    if (each.free) text += (text.empty() ? "" : " && ") + as_read(each.side());
  for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
  return text;
}

// The statements from `at` to `end` as a segment; `why`: what keeps them from being one, of the
// most statements that were tried.
bool Segmenter::make(const List &list, size_t at, size_t end, Outcome &out, Obstacle &why,
                     bool &nothing) {
  const std::vector<Item> &items = list.items;
  Site where;
  if (!place(list, at, end, where)) {
    why = {items[at].s->getBeginLoc(),
           "the statement is not in the file of the function",
           false,
           false,
           {},
           {}};
    return false;
  }
  Discovered discovered;
  Attempt attempt = collect(items, at, end, discovered, true);
  if (!attempt.stopped) attempt = evaluate(items, at, end, discovered, false, true);
  nothing = attempt.nothing;
  if (attempt.stopped) {
    if (why.why.empty()) {
      why = attempt.obstacle;
      why.quiet |= nothing; // views are made as written
    }
    return false;
  }
  Segment &s = *attempt.segment;
  s.whole = at == 0 && end == items.size() && !nesting &&
            (s.exit == Segment::Return || function->getReturnType()->isVoidType()) &&
            isa<CompoundStmt>(function->getBody());
  if (s.whole) s.exit = Segment::Return;
  if ((opens_rest(items[at].s) || attempt.rest < end) && s.exit == Segment::Next) return false;
  for (size_t i = at; i < end && s.exit == Segment::Next; i++)
    if (!split(items[i].s, s, why)) return false;
  s.choices = text_of(attempt.choices);
  static_cast<Site &>(s) = where;
  out.segment = std::move(s);
  out.after = std::move(attempt.after);
  out.next = behind(items, end, attempt.flow);
  return true;
}

// A segment at items[at], on one path.
Segmenter::Outcome Segmenter::follow(const List &list, size_t at, const Attempt &found) {
  const std::vector<Item> &items = list.items;
  Outcome out;
  out.choices = found.choices;
  out.dead = found.stopped && found.obstacle.dead;
  if (found.stopped && found.obstacle.hard && !branches) {
    out.obstacle = found.obstacle;
    out.next = items.size();
    return out;
  }
  if (found.end == at) { // the statement itself is a break
    out.obstacle = found.obstacle;
    out.breaks = true;
    out.next = at + 1;
    return out;
  }
  // No jump leads over TC_FUNCTION_SCOPE: what it begins goes on up to where control leaves.
  const bool rest = found.end == items.size() && !at && !nesting;
  if (opens_rest(items[at].s) && found.flow == Evaluator::Flow::Next && !rest) {
    out.next = out.pass = at + 1;
    return out;
  }
  Obstacle why;
  bool nothing = false;
  for (size_t end = found.end, tries = 0; found.ops && end > at && !nothing;
       end = end == found.end && found.rest < end ? found.rest : fewer(at, end, tries++)) {
    if (!make(list, at, end, out, why, nothing)) continue;
    refused = 0;
    out.ended = end < found.end ? why : found.stopped ? found.obstacle : Obstacle();
    // What ended the one in front is no break of the statement that this one begins with.
    if (items[at].s == ended_at && !ended.why.empty()) out.obstacle = ended;
    return out;
  }
  out.pass = found.end;
  out.next = behind(items, found.end, found.flow);
  if (!found.ops) return out;
  // It computes something, and yet no segment can begin here.
  out.next = std::min(found.end, at + (size_t(1) << std::min(refused++, 30u)));
  if (sources.isBeforeInTranslationUnit(items[out.next - 1].s->getEndLoc(), why.loc))
    why = {items[at].s->getBeginLoc(), why.why, why.hard, why.quiet, {}, {}}; // may be captured yet
  out.obstacle = why;
  out.breaks = out.next == at + 1;
  out.pass = out.next;
  return out;
}

// Whether one for the same sides does all of it.
static bool done_by(const std::vector<Segment> &segments, const Segment &s) {
  return llvm::any_of(segments, [&](const Segment &each) {
    return each.choices == s.choices && each.begin <= s.begin && s.end <= each.end &&
           each.begin_token.isInvalid() && each.end_token.isInvalid();
  });
}

// The segments of a place; those with all tensors stand behind others where these are not all ways,
// and one that asks for nothing behind all.
void Segmenter::keep(std::vector<Outcome> &outcomes) {
  auto missing = [&](const Choice &each) {
    return presence != Presence::Each && !each.tensor.empty() && !each.holds;
  };
  std::optional<Segment> plain;
  for (const bool all : {false, true})
    for (Outcome &each : outcomes) {
      if (!each.segment || each.dead || all == llvm::any_of(each.choices, missing)) continue;
      const bool asks = !each.segment->choices.empty();
      if (!asks && !plain) plain = std::move(each.segment);
      if (asks && !done_by(out.segments, *each.segment))
        out.segments.push_back(std::move(*each.segment));
    }
  if (plain) out.segments.push_back(std::move(*plain));
}

// Behind statements that one of several paths leads through.
void Segmenter::doubt(const std::vector<Item> &items, size_t at, size_t next, const Facts &before) {
  facts.constants = before.constants;
  facts.doubt_since(before);
  for (size_t i = at; i < next; i++) reading.forget(items[i].s, facts, false);
}

// What comes of each path.
std::vector<Segmenter::Outcome> Segmenter::follow_all(const List &list, size_t at,
                                                      const std::vector<Attempt> &found) {
  const Obstacle &first = found[0].obstacle;
  const bool wrong_on_all = llvm::all_of(found, [&](const Attempt &path) {
    return path.stopped && path.obstacle.hard && path.obstacle.loc == first.loc;
  });
  const bool many = found.size() > 1, may_be_wrong = many && !wrong_on_all;
  std::vector<Outcome> outcomes;
  branches += may_be_wrong; // what is wrong on one of them is no error
  for (const Attempt &path : found) {
    choices = path.choices;
    outcomes.push_back(follow(list, at, path));
    const auto &obstacle = outcomes.back().obstacle;
    if (!obstacle || outcomes.back().dead) continue;
    report(obstacle->follows && !ended.why.empty() ? ended : *obstacle);
    lost |= many && !obstacle->quiet;
  }
  branches -= may_be_wrong;
  return outcomes;
}

// What is known on the path that came out so, at items[end] at most.
Facts Segmenter::known_behind(const std::vector<Item> &items, size_t at, const Outcome &path,
                              size_t end) {
  if (path.segment) return path.after;
  Discovered none;
  choices = path.choices;
  return collect(items, at, std::min(path.pass, end), none, false).after;
}

// Tries a segment at items[at], on each path.  Returns how many statements are done with: those
// that are on all of them.
size_t Segmenter::try_from(const List &list, size_t at) {
  std::vector<Attempt> found = paths(list.items, at);
  if (llvm::all_of(found, [](const Attempt &path) { return path.obstacle.dead; }))
    for (Attempt &path : found) path.obstacle.dead = false;
  const bool many = found.size() > 1, chose = choosing;
  const Facts before = facts;
  const size_t first = breaks.size();
  std::vector<Outcome> outcomes = follow_all(list, at, found);
  auto shorter = [](const Outcome &a, const Outcome &b) {
    if (a.dead != b.dead) return b.dead;
    return a.next != b.next ? a.next < b.next : a.breaks > b.breaks;
  };
  Outcome &least = *std::min_element(outcomes.begin(), outcomes.end(), shorter);
  choosing = chose;
  if (least.segment) {
    ended = least.ended;
    ended_at = least.next < list.items.size() ? list.items[least.next].s : nullptr;
  }
  if (least.segment || least.pass) {
    Facts after = known_behind(list.items, at, least, least.next);
    for (const Outcome &each : outcomes)
      if (&each != &least && !each.dead && (each.segment || each.pass))
        after.join(known_behind(list.items, at, each, least.next));
    facts = std::move(after);
  }
  keep(outcomes);
  const size_t inner = breaks.size(), made = out.segments.size();
  if (least.breaks) descend(list.items[at].s);
  settle(first, inner, out.segments.size() > made);
  if (many) doubt(list.items, at, least.next, before);
  return least.next;
}

} // namespace tc
