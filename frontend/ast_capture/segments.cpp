// segments.cpp - which statements of a function become segments.
//
// In each compound statement the evaluator runs from a statement on until one cannot be captured,
// or control leaves; the statements up to there, without a tail that computes no tensor, are a
// segment.  A statement that cannot be captured even as the first of a segment is a break: it
// stays, and the statements inside of it are looked at in the same way.
#include "frontend/ast_capture/ownership.h"
#include "frontend/ast_capture/segmenter.h"

namespace tc {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

namespace {

const int max_nesting = 200; // of statements around a segment

void mute(void *, tc_severity, tc_loc, const char *) {}

} // namespace

// What TC_AUTOCAST is given, where no statement has to be followed for it.
std::optional<tc_dtype> Segmenter::constant_dtype(const Expr *e) const {
  Expr::EvalResult value;
  if (e->isValueDependent() || !e->EvaluateAsInt(value, context)) return std::nullopt;
  return static_cast<tc_dtype>(value.Val.getInt().getExtValue());
}

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
  evaluator.presence = presence;
  evaluator.guessing = guessing;
  evaluator.autocast = autocast;
  bool fine = evaluator.begin();
  size_t useful = from;
  int useful_ops = 0;
  for (size_t i = from; fine && i < to && attempt.flow == Evaluator::Flow::Next; i++) {
    if (i > from && enters(items, from, i)) break;
    if (i > from && opens_rest(items[i].s)) attempt.rest = std::min(attempt.rest, i);
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
    if (!attempt.stopped) attempt.outdated = evaluator.outdated_inputs();
  }
  attempt.after = evaluator.harvest();
  attempt.choices = evaluator.chosen;
  if (useful_ops && !finish) attempt.end = useful;
  if (evaluator.again) attempt.end = SIZE_MAX;
  else attempt.segment = std::move(segment);
  return attempt;
}

// No jump leads over TC_FUNCTION_SCOPE: what it begins goes on up to where control leaves, and so do
// the statements that it is one of.
bool Segmenter::leaves_rest(const std::vector<Item> &items, size_t from,
                            const Attempt &attempt) const {
  const bool whole = attempt.end == items.size() && !from && !nesting;
  return attempt.rest < attempt.end && attempt.flow != Evaluator::Flow::Return && !whole;
}

// Inputs are found on the way, and have to stand in front of the graph: again until all are known.
Segmenter::Attempt Segmenter::collect(const std::vector<Item> &items, size_t from, size_t to,
                                      Discovered &discovered, bool finish) {
  for (bool complete = false;;) {
    discovered.scalars.clear();
    discovered.hidden.clear();
    Attempt attempt = evaluate(items, from, to, discovered, true, finish);
    if (attempt.end != SIZE_MAX && !leaves_rest(items, from, attempt)) {
      if (complete || attempt.outdated.empty()) return attempt;
      complete = true; // once: what is left out may be found again
      llvm::erase_if(discovered.inputs,
                     [&](const Place &each) { return attempt.outdated.count(each.lvalue()); });
      continue;
    }
    if (attempt.end != SIZE_MAX) {
      discovered = {};
      return collect(items, from, attempt.rest, discovered, finish);
    }
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

// ---- lists of statements ------------------------------------------------------------------------

void Segmenter::report(const Obstacle &o) {
  if (o.quiet) return;
  const tc_severity severity = o.hard && !branches ? TC_ERROR : TC_MISSED;
  breaks.push_back({{severity, o.loc, o.why, o.ranges, o.fixits, o.notes}, o.inside, o.remedy});
  if (o.hard && !branches) wrong = true;
}

// Of a statement whose breaks are those from `first` on, and within it those from `inner` on:
// whether something inside of it was compiled.
void Segmenter::settle(size_t first, size_t inner, bool compiled) {
  for (size_t i = first; i < inner; i++) {
    if (!compiled) breaks[i].inside.clear();
    breaks[i].around = !compiled && inner < breaks.size();
  }
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

void Segmenter::go_through(const List &list) {
  for (size_t at = 0; at < list.items.size() && !wrong;) {
    if (list.items[at].labelled) facts.constants.clear();
    at = try_from(list, at);
  }
}

void Segmenter::block(const CompoundStmt *block) {
  std::vector<Item> items;
  for (const Stmt *s : block->body()) {
    Item item = {s, false, s};
    label(item.s, item.labelled);
    items.push_back(item);
  }
  go_through({items, block->getRBracLoc(), false});
}

bool Segmenter::too_deep(const Stmt *s) {
  if (nesting < max_nesting) return false;
  report({s->getBeginLoc(), "the code is nested too deeply", false, false, {}, {}});
  return true;
}

// A statement that stays as it is may make tensors that go on behind it, such as the call of a
// function with a loop of unknown count: what they are is guessed, and guards check it.
std::map<std::string, TypeFact> Segmenter::foresee(const Stmt *s) {
  if (!isa<DeclStmt, Expr>(s)) return {};
  const std::vector<Item> one = {{s, false, s}};
  const bool chose = std::exchange(choosing, false);
  guessing = true;
  Discovered none;
  const Attempt guess = collect(one, 0, 1, none, false);
  guessing = false;
  choosing = chose;
  return guess.stopped ? std::map<std::string, TypeFact>() : guess.after.types;
}

// The statement that an if, a loop or a label leads to.
void Segmenter::nested(const Stmt *s) {
  if (!s || wrong || too_deep(s)) return;
  nesting++;
  if (const auto *inner = dyn_cast<CompoundStmt>(s)) block(inner);
  else go_through({{{s, false, s}}, {}, true});
  nesting--;
}

void Segmenter::descend_if(const IfStmt *branch) {
  const auto constants = facts.constants;
  reading.forget(branch->getCond(), facts, false);
  const Facts entry = facts;
  nested(branch->getThen());
  const Facts then = std::exchange(facts, entry);
  nested(branch->getElse());
  facts.join(then);
  facts.constants = constants;
}

// A loop, or a scope that is one (TC_SCOPE, TC_AUTOCAST).
void Segmenter::descend_loop(const Stmt *s) {
  reading.forget(s, facts, false);
  const Expr *dtype = opens_autocast(s);
  const auto inside = dtype ? constant_dtype(dtype) : autocast;
  if (!inside) return;
  const tc_dtype outside = std::exchange(autocast, *inside);
  nested(body_of_loop(s));
  autocast = outside;
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
    descend_if(branch);
  } else if (body_of_loop(s)) {
    descend_loop(s);
  } else if (const auto *choice = dyn_cast<SwitchStmt>(s)) {
    reading.forget(s, facts, false);
    nested(choice->getBody());
  } else {
    const auto types = foresee(s);
    reading.forget(s, facts, true);
    facts.types.insert(types.begin(), types.end());
  }
  branches--;
  facts.doubt_since(before);
  reading.forget(s, facts, false);
}

// ---- a function ---------------------------------------------------------------------------------

// A statement may stop several segments, not all of which were followed by some inside of it, or know a remedy; and a function
// that calls itself meets its own branches again, in another statement of its own.  It is one break, of which all is told.
void Segmenter::join_breaks() {
  std::map<std::tuple<unsigned, bool, tc_severity, std::string>, size_t> first;
  std::vector<Break> joined;
  for (Break &each : breaks) {
    const Message &m = each.message;
    auto [at, is_new] = first.try_emplace(
        {m.loc.getRawEncoding(), m.notes.empty(), m.severity, m.text}, joined.size());
    if (is_new) {
      joined.push_back(std::move(each));
      continue;
    }
    Break &same = joined[at->second];
    if (same.inside.empty()) same.inside = each.inside;
    if (same.remedy.empty()) same.remedy = each.remedy;
    same.around = same.around && each.around;
  }
  breaks = std::move(joined);
}

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
  join_breaks();
  for (auto &[m, inside, remedy, around] : breaks) {
    if (wrong && m.severity != TC_ERROR) continue;
    if (around && !partly && !fullgraph) continue;
    if (partly && !inside.empty()) m.text += "; " + inside;
    if (!remedy.empty()) m.text += "; " + remedy;
    if (m.severity == TC_MISSED)
      m.text = (partly ? "graph break in " + name + ": " : name + " not compiled: ") + m.text;
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

namespace {

// What is compiled of C++ is what C has, too.
std::string unfit_of_cplusplus(const FunctionDecl *function) {
  if (llvm::isa<CXXConstructorDecl>(function) || llvm::isa<CXXDestructorDecl>(function))
    return "it makes or ends an object; compile a function that it calls";
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
