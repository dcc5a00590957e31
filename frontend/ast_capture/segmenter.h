// segmenter.h - what segments.cpp, paths.cpp and placement.cpp share: which statements become
// segments.
#ifndef TC_CAPTURE_SEGMENTER_H
#define TC_CAPTURE_SEGMENTER_H

#include "frontend/ast_capture/evaluator.h"
#include "frontend/attributes.h"

namespace tc {

// A statement of a list, and whether control can come to it from elsewhere.
struct Item {
  const clang::Stmt *s;
  bool labelled;
  const clang::Stmt *labels; // with them
};

struct List {
  std::vector<Item> items;
  clang::SourceLocation close; // of the block
  bool braces;                 // a single statement, which needs some
};

const clang::Stmt *body_of_loop(const clang::Stmt *s); // nullptr: it is no loop; placement.cpp

class Segmenter {
public:
  Segmenter(clang::ASTContext &context, const clang::FunctionDecl *function, const Sizes *sizes,
            tc_diag *diag, const Sink &sink, CapturedFunction &out)
      : context(context), sources(context.getSourceManager()), function(function), sizes(sizes),
        diag(diag), sink(sink), out(out), reading(function),
        autocast(sizes ? sizes->autocast : TC_NO_AUTOCAST_DTYPE) {}

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
    size_t rest = SIZE_MAX; // where TC_FUNCTION_SCOPE stands among the statements, not at the first
    std::vector<Choice> choices;    // sides of branches that were taken
    std::set<std::string> outdated; // inputs
    std::unique_ptr<Segment> segment;
  };

  // What came of a place.
  struct Outcome {
    size_t next = 0; // statements up to there are done with
    std::optional<Segment> segment;
    Facts after;     // of the segment
    size_t pass = 0; // without one: statements that are passed by
    std::vector<Choice> choices;
    std::optional<Obstacle> obstacle; // to be reported
    Obstacle ended;                   // why the segment does not go on
    bool breaks = false;              // segments may stand in the first statement
    bool dead = false;                // no program takes this path that does as it should
  };

  // segments.cpp
  void block(const clang::CompoundStmt *block);
  void go_through(const List &list);
  bool too_deep(const clang::Stmt *s);
  void nested(const clang::Stmt *s);
  void descend_if(const clang::IfStmt *branch);
  void descend_loop(const clang::Stmt *s);
  void descend(const clang::Stmt *s);
  std::optional<tc_dtype> constant_dtype(const clang::Expr *e) const;
  void label(const clang::Stmt *&s, bool &labelled);
  bool enters(const std::vector<Item> &items, size_t from, size_t to) const;
  Attempt evaluate(const std::vector<Item> &items, size_t from, size_t to, Discovered &discovered,
                   bool collecting, bool finish);
  bool leaves_rest(const std::vector<Item> &items, size_t from, const Attempt &attempt) const;
  Attempt collect(const std::vector<Item> &items, size_t from, size_t to, Discovered &discovered,
                  bool finish);
  void report(const Obstacle &o);
  void settle(size_t first, size_t inner, bool compiled);
  void join_breaks();
  std::map<std::string, TypeFact> foresee(const clang::Stmt *s);

  // paths.cpp
  std::vector<Attempt> paths(const std::vector<Item> &items, size_t at);
  std::vector<Attempt> all_paths(const std::vector<Item> &items, size_t at, size_t to);
  bool make(const List &list, size_t at, size_t end, Outcome &out, Obstacle &why, bool &nothing);
  Outcome follow(const List &list, size_t at, const Attempt &found);
  std::vector<Outcome> follow_all(const List &list, size_t at, const std::vector<Attempt> &found);
  void keep(std::vector<Outcome> &outcomes);
  void doubt(const std::vector<Item> &items, size_t at, size_t next, const Facts &before);
  Facts known_behind(const std::vector<Item> &items, size_t at, const Outcome &path, size_t end);
  size_t try_from(const List &list, size_t at);

  // placement.cpp
  std::optional<unsigned> start_of(clang::SourceLocation loc, clang::FileID file,
                                   clang::SourceLocation &token);
  std::optional<unsigned> end_of(const clang::Stmt *s, clang::FileID file, Site &site);
  bool place(const List &list, size_t from, size_t to, Site &site);
  void note_first_declaration(const List &list, size_t i, Site &site);
  bool split(const clang::Stmt *s, Segment &segment, Obstacle &why);

  clang::ASTContext &context;
  const clang::SourceManager &sources;
  const clang::FunctionDecl *function;
  const Sizes *sizes;
  tc_diag *diag;
  const Sink &sink;
  CapturedFunction &out;
  Reading reading;
  Facts facts;
  // What was reported, to be told once it is known what came of the function.
  struct Break {
    Message message;
    std::string inside, remedy;
    bool around = false; // others, inside of it, are why nothing of it is compiled
  };
  std::vector<Break> breaks;
  int nesting = 0, branches = 0;
  std::vector<Choice> choices;           // sides that are taken from a place on
  bool choosing = true;                  // others may be met
  Presence presence = Presence::Each;    // of those that ask whether there is a tensor
  bool guessing = false;                 // see Evaluator
  tc_dtype autocast;                     // of TC_AUTOCAST around the statements that are looked at
  Obstacle ended;                        // why the last segment does not go on ...
  const clang::Stmt *ended_at = nullptr; // ... to this statement
  bool lost = false;                     // not all paths through a statement are compiled
  unsigned refused = 0; // places in a row where no segment could begin: twice as many are passed by
  bool wrong = false;   // the program has a mistake: nothing is compiled
};

} // namespace tc

#endif
