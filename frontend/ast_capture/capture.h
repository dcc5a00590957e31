// capture.h - from the body of an annotated function to dataflow graphs.
//
// Statements are evaluated symbolically the way C would run them: tensor variables hold graph
// nodes, integers and floating-point values are constants, symbolic sizes, or C text over what
// exists when the statements begin, which the guarded call evaluates.  Calls with a visible body
// are entered, loops run as often as their constant conditions say, and the untaken side of a
// constant branch is never looked at.
//
// Within each compound statement, the longest runs of statements for which that works become
// segments (segments.cpp): each is one graph and one guarded call in front of its statements, which
// stay as its fallback.  What C could do and this cannot is a break: it stays as it is, in order,
// is reported with a reason and a remedy, and capture goes on behind it and inside of it.
//
// A graph wants its inputs and scalars before all other nodes, and they are only known after the
// statements were read: so these are evaluated twice, first to collect them, then to build.
#ifndef TC_CAPTURE_H
#define TC_CAPTURE_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/ast_capture/message.h"
#include "graph/graph.h"

namespace tc {

struct GraphDeleter {
  void operator()(tc_graph *g) const { tc_graph_free(g); }
};

// Where a call goes: in front of and behind bytes of a file.
struct Site {
  clang::SourceLocation loc;
  clang::FileID file;
  unsigned begin = 0, end = 0;
  // Or, where that is within what a macro expands to, the token that they stand in front of.
  clang::SourceLocation begin_token, end_token;
  bool end_behind = false; // behind the token and its semicolon
  bool braces = false;     // a single statement that needs them
  // Declarations (where they begin and end) with statements of ours in front of them and none of
  // the user's.
  std::vector<std::pair<unsigned, unsigned>> first_declarations;
};

// What a guarded call has to write: the graph and the C around it.
struct Segment : Site {
  std::unique_ptr<tc_graph, GraphDeleter> graph;
  std::string symbol;   // of the entry
  std::string variant;  // sizes that it is made for, such as "B=1"; "": any
  std::string choices;  // what holds where it runs, of what branches ask for, such as "mode == 2"
  std::string made_for; // both
  std::vector<std::pair<std::string, int64_t>> fixed; // sizes of the variant
  int ops = 0;          // API calls
  uint32_t autocasts = 0; // scopes of graph/autocast.h around it that the graph is for

  // Text in front of the call.
  std::vector<std::string> conditions; // hold before anything else may be evaluated
  struct Input {
    std::string text;
    bool layout; // a tc_layout, not a tensor
  };
  std::vector<Input> inputs; // operands, in graph order
  struct Scalar {
    std::string text;
    bool floating;
  };
  std::vector<Scalar> scalars; // in graph order
  struct Local {
    std::string name, text; // int64_t name = text, used by other texts
    int input;              // behind this operand; -1: before all
  };
  std::vector<Local> sizes;
  std::map<std::string, std::string> shown; // of sizes of members: "b__H" is written b->H
  unsigned results = 0;                     // tensors that the entry makes: __tc_out[0 .. results)

  // What follows when the entry did the work.
  std::vector<std::string> views; // tensors to make, __tc_view0, ...; used by other texts, in order
  struct Store {
    /* Inner: declared by the segment's statements; Result: a part of the struct that is
     * returned. */
    enum Where { Variable, Inner, Memory, Result } where;
    std::string lvalue, type, text;
    bool constant;                  // the variable is const
    const clang::VarDecl *variable; // that it is in; nullptr: behind a pointer
    bool tensor;                    // the value is one, whatever it is stored as
  };
  std::vector<Store> stores;
  // statements: tensors go to the scope around, in front of what hands them out from there
  std::vector<std::string> keeps;
  std::vector<std::string> effects; // statements, behind all else
  enum Exit { Next, Return, Break, Continue } exit = Next;
  std::string returned, return_type; // C text after `return`; "" for void
  bool in_parts = false;             // `returned` is a struct of this name, made of stores
  bool returns_tensor = false;

  // In C++, where no jump passes an initialisation: what makes assignments of declarations.
  struct Split {
    unsigned offset;
    std::string text;
    bool in_line; // between words of a line; else on a line of its own
  };
  std::vector<Split> splits;
  bool whole = false; // the body of the function from its first statement to its last
};

// C text of the type of a value, without its qualifiers.
std::string unqualified_type(const std::string &value, const clang::LangOptions &language);

struct CapturedFunction {
  const clang::FunctionDecl *function = nullptr;
  std::vector<Segment> segments;
  int breaks = 0;
};

struct Sizes; // of a variant: see frontend/attributes.h

// Captures one function, with `sizes` for these alone; `fullgraph`: as one segment, or not at all.
// `sink` receives what was found wrong (errors), and why parts of the function were not captured
// (TC_MISSED); the graphs keep `diag`, through which the core reports.
using Sink = std::function<void(Message)>;
CapturedFunction capture_function(clang::ASTContext &context, const clang::FunctionDecl *function,
                                  const Sizes *sizes, bool fullgraph, tc_diag *diag,
                                  const Sink &sink);

// Warns about sizes of a variant that the function does not have; false: one of them.
bool check_sizes(clang::ASTContext &context, const clang::FunctionDecl *function,
                 const Sizes &sizes, const Sink &sink);

// Whether a variant can be made for a size of this name: of a TC_SHAPE of the function's
// parameters, an integer, or, by its form, of a member's TC_SHAPE.
bool may_be_fixed(clang::ASTContext &context, const clang::FunctionDecl *function,
                  const std::string &name);

// A size of the graph that calls can be counted by: its symbol, and the name that a variant has for
// it.
struct CountedSize {
  std::string symbol, written;
};
std::vector<CountedSize> countable_sizes(clang::ASTContext &context,
                                         const clang::FunctionDecl *function,
                                         const Segment &segment);

// For each combination of the dtypes that TC_SHAPEs of the function's operands leave to choose
// from, in their order, what chooses it; nothing where there is no choice.  No more than
// `max_dtypes`, after a warning: then those in which equal choices have equal dtypes come first.
inline constexpr size_t max_dtypes = 8;
std::vector<Sizes> dtype_choices(const clang::FunctionDecl *function, const Sink &sink);

// Reports what one declaration says of a parameter and another one denies; false: there is such.
bool check_redeclared(const clang::FunctionDecl *function, const Sink &sink);

// A size that the graph leaves open: its name, or "".
std::string open_size(tc_graph *graph);

inline clang::SourceLocation source_location(tc_loc loc) {
  return clang::SourceLocation::getFromRawEncoding(loc.raw);
}
tc_loc graph_location(const clang::SourceManager &sources, clang::SourceLocation loc);

} // namespace tc

#endif
