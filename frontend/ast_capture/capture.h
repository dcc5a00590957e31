// capture.h - from the body of an annotated function to a dataflow graph.
//
// The body is evaluated symbolically, statement by statement, the way C would run it: tensor
// variables hold graph nodes, integers and floating-point values are constants, symbolic sizes, or
// C text over the function's parameters, which the guarded call evaluates.  Calls with a visible
// body are entered, loops run as often as their constant conditions say, and the untaken side of a
// constant branch is never looked at.  What C could do and this cannot ends the capture with a
// reason and a remedy; the function then stays as it is.
//
// A graph wants its scalars before all other nodes, and they are only known after the body was
// read: so the body is evaluated twice, first to collect them, then to build.
#ifndef TC_CAPTURE_H
#define TC_CAPTURE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/ast_capture/message.h"
#include "graph/graph.h"

namespace tc {

struct GraphDeleter {
  void operator()(tc_graph *g) const { tc_graph_free(g); }
};

// What the guarded call has to write: the graph and the C around it.
struct CapturedFunction {
  const clang::FunctionDecl *function;
  std::unique_ptr<tc_graph, GraphDeleter> graph; // null: not captured, the reason was reported
  std::string symbol;                            // of the entry
  int ops = 0;                                   // API calls
  std::vector<std::string> inputs;               // C text of the operands, in graph order
  struct Scalar {
    std::string text;
    bool floating;
  };
  std::vector<Scalar> scalars; // in graph order
  struct Local {
    std::string name, text; // int64_t name = text, used by the texts of scalars
  };
  std::vector<Local> sizes;
  unsigned results = 0; // tensors that the entry makes: __tc_out[0 .. results)
  struct Store {
    std::string lvalue, text;
  };
  std::vector<Store> stores; // through output parameters, when the entry did the work
  std::string returned;      // C text after `return`; "" for void
};

// Captures one function.  `sink` receives what was found wrong (errors), and why the function was
// not captured (TC_MISSED); the graph keeps `diag`, through which the core reports.
using Sink = std::function<void(Message)>;
CapturedFunction capture_function(clang::ASTContext &context, const clang::FunctionDecl *function,
                                  tc_diag *diag, const Sink &sink);

inline clang::SourceLocation source_location(tc_loc loc) {
  return clang::SourceLocation::getFromRawEncoding(loc.raw);
}
tc_loc graph_location(const clang::SourceManager &sources, clang::SourceLocation loc);

} // namespace tc

#endif
