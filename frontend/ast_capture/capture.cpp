// capture.cpp - the two evaluations of a function; see capture.h.
#include "frontend/ast_capture/capture.h"

#include "frontend/ast_capture/evaluator.h"

namespace tc {

using namespace clang;

tc_loc graph_location(const SourceManager &sources, SourceLocation loc) {
  PresumedLoc presumed = sources.getPresumedLoc(sources.getFileLoc(loc));
  if (presumed.isInvalid()) return {0, 0, 0, loc.getRawEncoding()};
  return {1, presumed.getLine(), presumed.getColumn(), loc.getRawEncoding()};
}

Evaluator::Evaluator(ASTContext &context, const FunctionDecl *function, tc_graph *graph,
                     Discovered &discovered, bool collecting, const Sink &sink)
    : context(context), sources(context.getSourceManager()), function(function), graph(graph),
      dims(tc_graph_dims(graph)), diag(tc_graph_diag(graph)), discovered(discovered),
      collecting(collecting), sink(sink) {}

void Evaluator::fail(SourceLocation loc, const std::string &why) {
  if (!failed)
    sink({TC_MISSED, loc, "'" + function->getNameAsString() + "' not compiled: " + why, {}, {}});
  failed = true;
}

void Evaluator::error(SourceLocation loc, const std::string &what,
                      std::vector<CharSourceRange> ranges, std::vector<FixIt> fixits) {
  if (!failed) sink({TC_ERROR, loc, what, std::move(ranges), std::move(fixits)});
  failed = true;
}

bool Evaluator::run(CapturedFunction &result) {
  Frame frame;
  frame.function = function;
  frames.push_back(std::move(frame));
  if (!bind_parameters()) return false;
  execute(function->getBody());
  return !failed && finish(frames.back().returned, result);
}

// Properties of the whole function that rule it out.
static std::string unfit(const FunctionDecl *function) {
  if (function->isVariadic()) return "it takes a variable number of arguments";
  if (!function->hasWrittenPrototype() && function->getNumParams())
    return "it is defined in the style of before C89; write its parameters as a prototype";
  if (function->hasAttr<NakedAttr>()) return "it is a naked function";
  QualType type = function->getReturnType();
  if (!type->isVoidType() && !type->isArithmeticType() && !type->isEnumeralType() &&
      !is_tensor_pointer(type))
    return "it returns neither a tensor nor a number; return further results through tc_tensor **";
  return "";
}

CapturedFunction capture_function(ASTContext &context, const FunctionDecl *function, tc_diag *diag,
                                  const Sink &sink) {
  CapturedFunction result = {};
  result.function = function;
  std::string name = function->getNameAsString();
  if (std::string why = unfit(function); !why.empty()) {
    sink({TC_MISSED, function->getLocation(), "'" + name + "' not compiled: " + why, {}, {}});
    return result;
  }
  Discovered discovered;
  for (bool collecting : {true, false}) {
    CapturedFunction attempt = {};
    attempt.function = function;
    attempt.graph.reset(tc_graph_new(name.c_str(), diag));
    if (!attempt.graph) return result;
    Evaluator evaluator(context, function, attempt.graph.get(), discovered, collecting, sink);
    if (!evaluator.run(attempt)) return result;
    if (!collecting) return attempt;
    // Inputs in the order of the parameters.
    std::sort(discovered.inputs.begin(), discovered.inputs.end(),
              [](const ParmVarDecl *a, const ParmVarDecl *b) {
                return a->getFunctionScopeIndex() < b->getFunctionScopeIndex();
              });
  }
  return result;
}

} // namespace tc
