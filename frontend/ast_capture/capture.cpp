// capture.cpp - one evaluation of a run of statements; see capture.h.  Which runs are tried is
// decided in segments.cpp.
#include "frontend/ast_capture/capture.h"

#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

tc_loc graph_location(const SourceManager &sources, SourceLocation loc) {
  const SourceLocation place = sources.getFileLoc(loc);
  PresumedLoc presumed = sources.getPresumedLoc(place);
  if (presumed.isInvalid()) return {0, 0, 0, loc.getRawEncoding()};
  return {sources.getFileID(place).getHashValue(), presumed.getLine(), presumed.getColumn(),
          loc.getRawEncoding()};
}

Evaluator::Evaluator(ASTContext &context, const FunctionDecl *function, const Sizes *sizes,
                     const Reading &reading, const Facts &facts, SourceLocation begins,
                     tc_graph *graph, Discovered &discovered, bool collecting)
    : context(context), sources(context.getSourceManager()), function(function), sizes(sizes),
      reading(reading), facts(facts), graph(graph), dims(tc_graph_dims(graph)),
      diag(tc_graph_diag(graph)), discovered(discovered), collecting(collecting), begins(begins) {}

std::string Evaluator::readable(llvm::StringRef message) const {
  std::string out;
  while (!message.empty()) {
    llvm::StringRef word = message.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    auto known = shown.find(word.str());
    out += known != shown.end() ? known->second
           : word.empty()       ? message.take_front(1).str()
                                : word.str();
    message = message.drop_front(std::max<size_t>(word.size(), 1));
  }
  return out;
}

// The place in the program: what a function of the library's headers does is done by the call of
// it, as errors at run time say, too (tcompile/library_begin.h).
SourceLocation Evaluator::in_program(SourceLocation loc) const {
  for (size_t i = frames.size(); i-- > 1 && is_api(frames[i].function);)
    loc = frames[i].called;
  return loc;
}

void Evaluator::meet(Obstacle met) {
  if (failed) return;
  failed = true;
  obstacle = std::move(met);
  const SourceLocation inside = std::exchange(obstacle.loc, in_program(obstacle.loc));
  if (obstacle.loc == inside) return;
  const std::string function = "'" + frames.back().function->getNameAsString() + "'";
  obstacle.notes = {{TC_NOTE, inside, "in " + function + ", here", std::move(obstacle.ranges), {}}};
  obstacle.ranges.clear();
  obstacle.fixits.clear();
}

void Evaluator::fail(SourceLocation loc, const std::string &why) {
  meet({loc, readable(why), false, false, {}, {}});
}

void Evaluator::error(SourceLocation loc, const std::string &what,
                      std::vector<CharSourceRange> ranges, std::vector<FixIt> fixits) {
  meet({loc, readable(what), true, false, std::move(ranges), std::move(fixits)});
}

// Inputs and scalars come before everything else in a graph.
bool Evaluator::begin() {
  Frame frame;
  frame.function = function;
  frames.push_back(std::move(frame));
  for (const Place &place : discovered.inputs)
    if (!declare_input(place)) return false;
  if (sizes && !fix_sizes()) return false;
  if (collecting) return true;
  for (const auto &scalar : discovered.scalars) {
    if (!tc_graph_scalar(graph, scalar.text.c_str(), scalar.dtype, graph_loc(scalar.loc)).id) {
      fail(scalar.loc, "out of memory");
      return false;
    }
    auto index = static_cast<uint32_t>(scalar_index.size());
    scalar_index.insert({{scalar.text, scalar.dtype}, index});
  }
  for (const auto &[name, text] : discovered.hidden) {
    uint32_t index;
    if (!tc_dim_find_sym(dims, name.c_str(), &index)) continue;
    tc_sym *symbol = tc_dims_sym(dims, index);
    for (size_t i = 0; i < discovered.scalars.size(); i++)
      if (discovered.scalars[i].text == text) {
        symbol->axis = -1;
        symbol->input = static_cast<int32_t>(i);
      }
  }
  return true;
}

} // namespace tc
