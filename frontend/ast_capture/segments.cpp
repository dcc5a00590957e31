// segments.cpp - which statements of a function become segments.
//
// In each compound statement the evaluator runs from a statement on until one cannot be captured,
// or control leaves; the statements up to there, without a tail that computes no tensor, are a
// segment.  A statement that cannot be captured even as the first of a segment is a break: it
// stays, and the statements inside of it are looked at in the same way.
#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

const int max_nesting = 200; // of statements around a segment

// A statement of a list, and whether control can come to it from elsewhere.
struct Item {
  const Stmt *s;
  bool labelled;
  const Stmt *labels; // with them
};

class Segmenter {
public:
  Segmenter(ASTContext &context, const FunctionDecl *function, const Sizes *sizes, tc_diag *diag,
            const Sink &sink, CapturedFunction &out)
      : context(context), sources(context.getSourceManager()), function(function), sizes(sizes),
        diag(diag), sink(sink), out(out), reading(function) {}

  void run(bool fullgraph);

private:
  struct Attempt {
    size_t end = 0; // statements that were captured: [begin, end)
    Evaluator::Flow flow = Evaluator::Flow::Next;
    int ops = 0;
    Obstacle obstacle;
    bool stopped = false; // by the obstacle
    bool nothing = false;
    Facts after;
    std::vector<Choice> choices; // sides of branches that were taken
    std::unique_ptr<Segment> segment;
  };

  // What came of a place.
  struct Outcome {
    size_t next = 0; // statements up to there are done with
    std::optional<Segment> segment;
    Facts after;                      // of the segment
    size_t pass = 0;                  // without one: statements that are passed by
    std::vector<Choice> choices;
    std::optional<Obstacle> obstacle; // to be reported
    bool breaks = false;              // segments may stand in the first statement
    bool dead = false;                // no program goes this way that does as it should
  };

  void block(const CompoundStmt *block);
  void list(const std::vector<Item> &items, SourceLocation close, bool braces);
  bool too_deep(const Stmt *s);
  void nested(const Stmt *s);
  void descend(const Stmt *s);
  void label(const Stmt *&s, bool &labelled);
  bool enters(const std::vector<Item> &items, size_t from, size_t to) const;
  std::vector<Attempt> ways(const std::vector<Item> &items, size_t at);
  std::vector<Attempt> all_ways(const std::vector<Item> &items, size_t at);
  Outcome follow(const std::vector<Item> &items, size_t at, SourceLocation close, bool braces,
                 Attempt found);
  size_t try_from(const std::vector<Item> &items, size_t at, SourceLocation close, bool braces);
  void keep(std::vector<Outcome> &outcomes);
  void doubt(const std::vector<Item> &items, size_t at, size_t next, const Facts &before);
  Attempt evaluate(const std::vector<Item> &items, size_t from, size_t to, Discovered &discovered,
                   bool collecting, bool finish);
  Attempt collect(const std::vector<Item> &items, size_t from, size_t to, Discovered &discovered,
                  bool finish);
  std::optional<unsigned> start_of(SourceLocation loc, FileID file, SourceLocation &token);
  std::optional<unsigned> end_of(const Stmt *s, FileID file, Segment &segment);
  bool place(const std::vector<Item> &items, size_t from, size_t to, SourceLocation close,
             bool braces, Segment &segment);
  bool split(const Stmt *s, Segment &segment, Obstacle &why);
  void report(const Obstacle &o);

  ASTContext &context;
  const SourceManager &sources;
  const FunctionDecl *function;
  const Sizes *sizes;
  tc_diag *diag;
  const Sink &sink;
  CapturedFunction &out;
  Reading reading;
  Facts facts;
  std::vector<Message> breaks;
  int nesting = 0, branches = 0;
  std::vector<Choice> choices; // sides that are taken from a place on
  bool choosing = true;        // others may be met
  bool optional = true;        // ... that ask whether there is a tensor
  bool lost = false;           // not all ways through a statement are compiled
  unsigned refused = 0; // places in a row where no segment could begin: twice as many are passed by
  bool wrong = false;   // the program has a mistake: nothing is compiled
};

void mute(void *, tc_severity, tc_loc, const char *) {}

// ---- one attempt --------------------------------------------------------------------------------

Segmenter::Attempt Segmenter::evaluate(const std::vector<Item> &items, size_t from, size_t to,
                                       Discovered &discovered, bool collecting, bool finish) {
  Attempt attempt;
  attempt.end = from;
  tc_diag quiet = {mute, nullptr};
  auto segment = std::make_unique<Segment>();
  segment->graph.reset(
      tc_graph_new(function->getNameAsString().c_str(), collecting ? &quiet : diag));
  if (!segment->graph) return attempt;
  Evaluator evaluator(context, function, sizes, reading, facts, items[from].s->getBeginLoc(),
                      segment->graph.get(), discovered, collecting);
  evaluator.choices = choosing ? &choices : nullptr;
  evaluator.optional = optional;
  bool fine = evaluator.begin();
  size_t useful = from;
  int useful_ops = 0;
  for (size_t i = from; fine && i < to && attempt.flow == Evaluator::Flow::Next; i++) {
    if (i > from && enters(items, from, i)) break;
    int before = evaluator.ops, effects = evaluator.effects_count();
    Evaluator::Flow flow = evaluator.execute(items[i].s);
    if (evaluator.stopped()) break;
    attempt.flow = flow;
    attempt.end = i + 1;
    bool counts = evaluator.ops > before || evaluator.effects_count() > effects ||
                  flow != Evaluator::Flow::Next;
    if (!counts || !evaluator.ops) continue;
    useful = i + 1;
    useful_ops = evaluator.ops;
  }
  attempt.stopped = evaluator.stopped();
  attempt.obstacle = evaluator.obstacle;
  attempt.ops = useful_ops;
  if (!attempt.stopped && finish && attempt.end > from) {
    attempt.stopped =
        !evaluator.finish(attempt.flow, items[from].s, items[attempt.end - 1].s, *segment);
    attempt.obstacle = evaluator.obstacle;
    attempt.nothing = evaluator.nothing;
  }
  attempt.after = evaluator.harvest();
  attempt.choices = evaluator.chosen;
  if (useful_ops && !finish) attempt.end = useful;
  if (evaluator.again) attempt.end = SIZE_MAX;
  else attempt.segment = std::move(segment);
  return attempt;
}

// Inputs are found on the way, and have to stand in front of the graph: again until all are known.
Segmenter::Attempt Segmenter::collect(const std::vector<Item> &items, size_t from, size_t to,
                                      Discovered &discovered, bool finish) {
  for (;;) {
    discovered.scalars.clear();
    discovered.hidden.clear();
    Attempt attempt = evaluate(items, from, to, discovered, true, finish);
    if (attempt.end != SIZE_MAX) return attempt;
    // Inputs in the order of the parameters, then as they were found.
    auto rank = [](const Place &p) {
      const auto *parameter = llvm::dyn_cast_or_null<ParmVarDecl>(p.declared);
      return parameter ? parameter->getFunctionScopeIndex() : UINT_MAX;
    };
    auto begin = discovered.inputs.begin();
    for (auto at = begin; at != discovered.inputs.end(); ++at) {
      auto after = [&](unsigned found, const Place &p) { return rank(p) > found; };
      std::rotate(std::upper_bound(begin, at, rank(*at), after), at, std::next(at));
    }
  }
}

// ---- where a segment goes -----------------------------------------------------------------------

// The bytes in front of what begins at `loc`; `token`: it is within an expansion.
std::optional<unsigned> Segmenter::start_of(SourceLocation loc, FileID file,
                                            SourceLocation &token) {
  SourceLocation start = loc;
  if (loc.isMacroID() &&
      !Lexer::isAtStartOfMacroExpansion(loc, sources, context.getLangOpts(), &start)) {
    token = loc;
    start = sources.getExpansionLoc(loc);
  }
  auto [where, offset] = sources.getDecomposedLoc(start);
  if (where != file) return std::nullopt;
  return offset;
}

// Whether the statement ends with the brace of a block, and not with a semicolon.
static bool ends_with_block(const Stmt *s) {
  for (;;) {
    if (const auto *loop = dyn_cast<ForStmt>(s)) s = loop->getBody();
    else if (const auto *loop = dyn_cast<WhileStmt>(s)) s = loop->getBody();
    else if (const auto *choice = dyn_cast<SwitchStmt>(s)) s = choice->getBody();
    else if (const auto *branch = dyn_cast<IfStmt>(s))
      s = branch->getElse() ? branch->getElse() : branch->getThen();
    else if (const auto *attributed = dyn_cast<AttributedStmt>(s)) s = attributed->getSubStmt();
    else if (const auto *label = dyn_cast<LabelStmt>(s)) s = label->getSubStmt();
    else return isa<CompoundStmt>(s);
  }
}

// Behind a single statement and its semicolon.
std::optional<unsigned> Segmenter::end_of(const Stmt *s, FileID file, Segment &segment) {
  SourceLocation last = s->getEndLoc(), end = last;
  if (last.isMacroID() &&
      !Lexer::isAtEndOfMacroExpansion(last, sources, context.getLangOpts(), &end)) {
    segment.end_token = last;
    segment.end_behind = true;
    return sources.getFileOffset(sources.getExpansionLoc(last));
  }
  end = ends_with_block(s)
            ? Lexer::getLocForEndOfToken(end, 0, sources, context.getLangOpts())
            : Lexer::findLocationAfterToken(end, tok::semi, sources, context.getLangOpts(), false);
  if (end.isInvalid() || !end.isFileID() || sources.getFileID(end) != file) return std::nullopt;
  return sources.getFileOffset(end);
}

bool Segmenter::place(const std::vector<Item> &items, size_t from, size_t to, SourceLocation close,
                      bool braces, Segment &segment) {
  segment.file = sources.getFileID(sources.getExpansionLoc(function->getBody()->getBeginLoc()));
  auto begin = start_of(items[from].s->getBeginLoc(), segment.file, segment.begin_token);
  auto end = braces ? end_of(items[from].s, segment.file, segment)
                    : start_of(to < items.size() ? items[to].labels->getBeginLoc() : close,
                               segment.file, segment.end_token);
  if (!begin || !end || *end < *begin) return false;
  segment.begin = *begin;
  segment.end = *end;
  segment.braces = braces;
  segment.loc = items[from].s->getBeginLoc();
  return true;
}

// C++ lets no jump pass an initialisation: `T x = v;` is made `T x; x = v;`.
bool Segmenter::split(const Stmt *s, Segment &segment, Obstacle &why) {
  const auto *declaration = dyn_cast<DeclStmt>(s);
  if (!declaration || !context.getLangOpts().CPlusPlus) return true;
  for (const Decl *d : declaration->decls()) {
    const auto *variable = dyn_cast<VarDecl>(d);
    if (!variable || !variable->hasInit()) continue;
    SourceLocation name = variable->getLocation();
    std::string text = variable->getNameAsString();
    auto next = Lexer::findNextToken(name, sources, context.getLangOpts());
    QualType type = variable->getType();
    if (!declaration->isSingleDecl() || name.isMacroID() || !next || next->isNot(tok::equal) ||
        !type->isScalarType() || type.isConstQualified() ||
        variable->getTypeSourceInfo()->getType()->getContainedAutoType()) {
      why = {name,
             "kernels cannot be put in front of the initialisation of '" + text +
                 "' in C++; write its type, without const, in a declaration of its own",
             false,
             false,
             {},
             {}};
      return false;
    }
    segment.splits.push_back({sources.getFileOffset(next->getLocation()), "; " + text});
  }
  return true;
}

// ---- lists of statements ------------------------------------------------------------------------

void Segmenter::report(const Obstacle &o) {
  if (o.quiet) return;
  breaks.push_back({o.hard && !branches ? TC_ERROR : TC_MISSED, o.loc, o.why, o.ranges, o.fixits});
  if (o.hard && !branches) wrong = true;
}

// Statements behind a jump are dead up to the next label.
size_t behind(const std::vector<Item> &items, size_t end, Evaluator::Flow flow) {
  while (flow != Evaluator::Flow::Next && end < items.size() && !items[end].labelled) end++;
  return end;
}

// The end of the next try: a few statements less, then half of them.
size_t fewer(size_t at, size_t end, size_t tries) {
  const size_t few = 16, many = 1024;
  return tries < few && end - at <= many ? end - 1 : at + (end - at) / 2;
}

// Ways through the branches that have sides to choose from: the first takes those where the conditions
// hold, each other one the other side of a branch of a way before it.  Empty: there are too many; of
// tensors that may be missing, more than one.
std::vector<Segmenter::Attempt> Segmenter::all_ways(const std::vector<Item> &items, size_t at) {
  const size_t most = 8;
  std::vector<Attempt> list;
  choices.clear();
  while (list.size() < most) {
    Discovered discovered;
    list.push_back(collect(items, at, items.size(), discovered, false));
    choices = list.back().choices;
    if (llvm::count_if(choices, [](const Choice &each) { return each.pointer; }) > 1) return {};
    while (!choices.empty() && !choices.back().holds) choices.pop_back();
    if (choices.empty()) return list;
    choices.back().holds = false;
  }
  return {};
}

// The same; where there are too many, tensors are taken to be there, and at last such branches for
// breaks.
std::vector<Segmenter::Attempt> Segmenter::ways(const std::vector<Item> &items, size_t at) {
  std::vector<Attempt> list;
  for (int given_up = 0; list.empty(); given_up++) {
    optional = given_up < 1;
    choosing = given_up < 2;
    list = all_ways(items, at);
  }
  return list;
}

std::string text_of(const std::vector<Choice> &choices) {
  std::string text;
  for (const Choice &each : choices)
    text += (text.empty() ? "" : " && ") + each.side();
  return text;
}

// A segment at items[at], on one way.
Segmenter::Outcome Segmenter::follow(const std::vector<Item> &items, size_t at,
                                     SourceLocation close, bool braces, Attempt found) {
  Outcome out;
  Discovered discovered;
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
  Obstacle why;
  for (size_t end = found.end, tries = 0; found.ops && end > at; end = fewer(at, end, tries++)) {
    discovered = {};
    Segment where;
    if (!place(items, at, end, close, braces, where)) {
      why = {items[at].s->getBeginLoc(),
             "the statement is not in the file of the function",
             false,
             false,
             {},
             {}};
      continue;
    }
    Attempt attempt = collect(items, at, end, discovered, true);
    if (!attempt.stopped) attempt = evaluate(items, at, end, discovered, false, true);
    if (attempt.stopped) {
      if (why.why.empty()) { // of most statements
        why = attempt.obstacle;
        why.quiet |= attempt.nothing; // views are made as written
      }
      if (attempt.nothing) break;
      continue;
    }
    Segment &s = *attempt.segment;
    const auto *body = dyn_cast<CompoundStmt>(function->getBody());
    s.whole = at == 0 && end == items.size() && !nesting &&
              (s.exit == Segment::Return || function->getReturnType()->isVoidType()) && body;
    if (s.whole) s.exit = Segment::Return;
    if (s.exit == Segment::Next) {
      bool fine = true;
      for (size_t i = at; i < end && fine; i++) fine = split(items[i].s, s, why);
      if (!fine) continue;
    }
    s.choices = text_of(attempt.choices);
    s.file = where.file;
    s.begin = where.begin;
    s.end = where.end;
    s.begin_token = where.begin_token;
    s.end_token = where.end_token;
    s.end_behind = where.end_behind;
    s.braces = where.braces;
    s.loc = where.loc;
    out.segment = std::move(s);
    out.after = std::move(attempt.after);
    refused = 0;
    out.next = behind(items, end, attempt.flow);
    return out;
  }
  out.pass = found.end;
  out.next = behind(items, found.end, found.flow);
  if (found.ops) { // computes something, and yet no segment can begin here
    out.next = std::min(found.end, at + (size_t(1) << std::min(refused++, 30u)));
    if (sources.isBeforeInTranslationUnit(items[out.next - 1].s->getEndLoc(), why.loc))
      why = {
          items[at].s->getBeginLoc(), why.why, why.hard, why.quiet, {}, {}}; // may be captured yet
    out.obstacle = why;
    out.breaks = out.next == at + 1;
    out.pass = out.next;
  }
  return out;
}

// Whether one for the same sides does all of it.
static bool done_by(const std::vector<Segment> &segments, const Segment &s) {
  return llvm::any_of(segments, [&](const Segment &each) {
    return each.choices == s.choices && each.begin <= s.begin && s.end <= each.end &&
           each.begin_token.isInvalid() && each.end_token.isInvalid();
  });
}

// The segments of a place; one that asks for nothing stands behind the others.
void Segmenter::keep(std::vector<Outcome> &outcomes) {
  std::optional<Segment> plain;
  for (Outcome &each : outcomes) {
    if (!each.segment || each.dead) continue;
    const bool asks = !each.segment->choices.empty();
    if (!asks && !plain) plain = std::move(each.segment);
    if (asks && !done_by(out.segments, *each.segment))
      out.segments.push_back(std::move(*each.segment));
  }
  if (plain) out.segments.push_back(std::move(*plain));
}

// Behind statements that one of several ways leads through.
void Segmenter::doubt(const std::vector<Item> &items, size_t at, size_t next, const Facts &before) {
  facts.constants = before.constants;
  facts.doubt_since(before);
  for (size_t i = at; i < next; i++) reading.forget(items[i].s, facts, false);
}

// Tries a segment at items[at], on each way.  Returns how many statements are done with: those that
// are on all of them.
size_t Segmenter::try_from(const std::vector<Item> &items, size_t at, SourceLocation close,
                           bool braces) {
  std::vector<Attempt> found = ways(items, at);
  if (llvm::all_of(found, [](const Attempt &way) { return way.obstacle.dead; }))
    for (Attempt &way : found) way.obstacle.dead = false;
  const bool many = found.size() > 1, chose = choosing;
  const Facts before = facts;
  std::vector<Outcome> outcomes;
  branches += many; // what is wrong on one way is no error
  for (Attempt &way : found) {
    choices = way.choices;
    outcomes.push_back(follow(items, at, close, braces, std::move(way)));
    if (outcomes.back().dead) continue;
    if (const auto &obstacle = outcomes.back().obstacle) {
      report(*obstacle);
      lost |= many && !obstacle->quiet;
    }
  }
  branches -= many;
  auto shorter = [](const Outcome &a, const Outcome &b) {
    if (a.dead != b.dead) return b.dead;
    return a.next != b.next ? a.next < b.next : a.breaks > b.breaks;
  };
  Outcome &least = *std::min_element(outcomes.begin(), outcomes.end(), shorter);
  const bool captured = least.segment.has_value();
  keep(outcomes);
  if (least.breaks) descend(items[at].s);
  if (captured) {
    facts = std::move(least.after);
  } else if (least.pass) {
    Discovered none;
    choices = least.choices;
    choosing = chose;
    facts = collect(items, at, least.pass, none, false).after;
  }
  if (many) doubt(items, at, least.next, before);
  return least.next;
}

void Segmenter::label(const Stmt *&s, bool &labelled) {
  for (;;) {
    if (const auto *l = dyn_cast<LabelStmt>(s)) s = l->getSubStmt();
    else if (const auto *c = dyn_cast<SwitchCase>(s)) s = c->getSubStmt();
    else return;
    labelled = true;
  }
}

// Whether control can come to items[to] from elsewhere than items[from, to).
bool Segmenter::enters(const std::vector<Item> &items, size_t from, size_t to) const {
  if (!items[to].labelled) return false;
  const Reading::Range before = {reading.range(items[from].s).first,
                                 reading.range(items[to - 1].s).last};
  const Stmt *s = items[to].labels;
  while (const auto *label = dyn_cast<LabelStmt>(s)) {
    if (!reading.only_from(label->getDecl(), before)) return true;
    s = label->getSubStmt();
  }
  return s != items[to].s; // a case
}

void Segmenter::list(const std::vector<Item> &items, SourceLocation close, bool braces) {
  for (size_t at = 0; at < items.size() && !wrong;) {
    if (items[at].labelled) facts.constants.clear();
    at = try_from(items, at, close, braces);
  }
}

void Segmenter::block(const CompoundStmt *block) {
  std::vector<Item> items;
  for (const Stmt *s : block->body()) {
    Item item = {s, false, s};
    label(item.s, item.labelled);
    items.push_back(item);
  }
  list(items, block->getRBracLoc(), false);
}

bool Segmenter::too_deep(const Stmt *s) {
  if (nesting < max_nesting) return false;
  report({s->getBeginLoc(), "the code is nested too deeply", false, false, {}, {}});
  return true;
}

// The statement that an if, a loop or a label leads to.
void Segmenter::nested(const Stmt *s) {
  if (!s || wrong || too_deep(s)) return;
  nesting++;
  if (const auto *inner = dyn_cast<CompoundStmt>(s)) block(inner);
  else list({{s, false, s}}, {}, true);
  nesting--;
}

// Goes on inside of a break.
void Segmenter::descend(const Stmt *s) {
  if (wrong) return;
  if (const auto *inner = dyn_cast<CompoundStmt>(s)) {
    if (too_deep(s)) return;
    nesting++;
    block(inner);
    nesting--;
    return;
  }
  if (const auto *attributed = dyn_cast<AttributedStmt>(s))
    return descend(attributed->getSubStmt());
  const Facts before = facts;
  branches++;
  if (const auto *branch = dyn_cast<IfStmt>(s)) {
    reading.forget(branch->getCond(), facts, false);
    Facts entry = facts;
    nested(branch->getThen());
    std::map<std::string, TypeFact> types = facts.types;
    facts = entry;
    nested(branch->getElse());
    for (auto &each : types) facts.types.insert(each);
    facts.constants = before.constants;
  } else if (isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s)) {
    const Stmt *body = isa<ForStmt>(s)     ? llvm::cast<ForStmt>(s)->getBody()
                       : isa<WhileStmt>(s) ? llvm::cast<WhileStmt>(s)->getBody()
                                           : llvm::cast<DoStmt>(s)->getBody();
    reading.forget(s, facts, false);
    nested(body);
  } else if (const auto *choice = dyn_cast<SwitchStmt>(s)) {
    reading.forget(s, facts, false);
    nested(choice->getBody());
  } else {
    reading.forget(s, facts, true);
  }
  branches--;
  facts.doubt_since(before);
  reading.forget(s, facts, false);
}

// ---- a function ---------------------------------------------------------------------------------

void Segmenter::run(bool fullgraph) {
  std::string name = "'" + function->getNameAsString() + "'";
  if (reading.has("setjmp")) {
    sink({TC_MISSED,
          function->getLocation(),
          name + " not compiled: 'setjmp' is called, which control flow cannot be followed through",
          {},
          {}});
    return;
  }
  const auto *body = dyn_cast<CompoundStmt>(function->getBody());
  if (body) block(body);
  bool whole = !out.segments.empty() && !lost &&
               llvm::all_of(out.segments, [](const Segment &s) { return s.whole; });
  if (wrong || (fullgraph && !breaks.empty() && !whole)) out.segments.clear();
  bool partly = !out.segments.empty();
  std::set<std::pair<unsigned, std::string>> shown;
  for (Message &m : breaks) {
    if (wrong && m.severity != TC_ERROR) continue;
    if (m.severity == TC_MISSED)
      m.text = (partly ? "graph break in " + name + ": " : name + " not compiled: ") + m.text;
    if (!shown.insert({m.loc.getRawEncoding(), m.text}).second) continue;
    sink(m);
    if (!partly && !fullgraph) break; // the rest may follow from it
  }
  out.breaks = static_cast<int>(breaks.size());
  if (!partly && breaks.empty())
    sink({TC_MISSED,
          function->getLocation(),
          name + " not compiled: there is nothing to compile: no tensor is computed",
          {},
          {}});
}

// What is compiled of C++ is what C has, too.
std::string unfit_of_cplusplus(const FunctionDecl *function) {
  if (llvm::isa<CXXMethodDecl>(function))
    return "it is a member of a class; compile a function that it calls";
  if (function->isTemplated() || function->isTemplateInstantiation())
    return "it is a template; compile a function for each type";
  if (function->isConstexpr()) return "it is constexpr";
  if (!function->getDeclName().isIdentifier()) return "it is an operator; give it a name";
  if (function->getReturnType()->isReferenceType()) return "it returns a reference";
  return "";
}

// Properties of the whole function that rule it out.
std::string unfit(const FunctionDecl *function) {
  if (function->isVariadic()) return "it takes a variable number of arguments";
  if (!function->hasWrittenPrototype() && function->getNumParams())
    return "it is defined in the style of before C89; write its parameters as a prototype";
  if (function->hasAttr<NakedAttr>()) return "it is a naked function";
  return function->getLangOpts().CPlusPlus ? unfit_of_cplusplus(function) : "";
}

} // namespace

CapturedFunction capture_function(ASTContext &context, const FunctionDecl *function,
                                  const Sizes *sizes, bool fullgraph, tc_diag *diag,
                                  const Sink &sink) {
  CapturedFunction result;
  result.function = function;
  if (std::string why = unfit(function); !why.empty()) {
    sink({TC_MISSED,
          function->getLocation(),
          "'" + function->getNameAsString() + "' not compiled: " + why,
          {},
          {}});
    return result;
  }
  if (check_shapes(context, function, sink))
    Segmenter(context, function, sizes, diag, sink, result).run(fullgraph);
  return result;
}

} // namespace tc
