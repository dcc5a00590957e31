// unit.h - the unit compiler: the annotated functions of a parsed file go in; the new text of the
// file, texts of kernels, and messages come out.  It knows no compiler driver: what it needs of the
// one that it works in is a Shell.
#ifndef TC_UNIT_H
#define TC_UNIT_H

#include <chrono>
#include <deque>
#include <optional>
#include <set>

#include "backends/compile.h"
#include "frontend/profile.h"
#include "frontend/unit/function_job.h"
#include "frontend/unit/rewrite.h"

namespace tc {

// A function that would not read as before with what was put between its statements.
struct Suspect {
  const clang::FunctionDecl *function;
  std::string why;
};

// What a driver (the Clang plugin, a tool, the plugin of another compiler) does for the unit
// compiler.
class Shell {
public:
  virtual ~Shell() = default;

  virtual void show(const Message &message) = 0;
  virtual void show_remark(const std::string &text) = 0; // of the whole file

  virtual Dialect dialect() const = 0; // that the new text is to be in
  virtual bool warns_of_mixed_declarations() const { return false; } // and statements
  virtual bool makes_code() const = 0; // else functions are captured and checked, for the messages
  virtual bool
  precompiles() const = 0; // what comes out is read by other compilations, as it stands
  // Why there cannot be code for the target, or "".
  virtual std::string unsupported_target() const = 0;

  // What comes out depends on this file, besides those that were parsed.
  virtual void depends_on(const std::string &) {}

  // Why the function has to stay as it is, for the user; nothing: it may be compiled.
  virtual std::optional<Message> objection(const clang::FunctionDecl *) { return {}; }

  // Parses the new text: which of `functions` do not pass.  Their edits are withdrawn from
  // `rewriter`.  Scopes of bodies are tried first to be done without: scopes_fit tells of that.
  virtual std::vector<Suspect> check(Rewriter &rewriter,
                                     const std::vector<const clang::FunctionDecl *> &functions,
                                     bool &scopes_fit) = 0;

  // Texts are about to come; what is compiled may come from the cache, `jobs` at once.
  virtual void begin_code(tc_cache *cache, unsigned jobs) = 0;
  // The kernel texts are there, the others are waited for: time to compile these.
  virtual void compile_kernels(const tc_texts &texts) = 0;
  // A clang for kernel texts, of the version that compiles them here; "": none was found.
  virtual std::string kernel_compiler() const { return ""; }
  // All texts; `entries` are the functions of the host text that the new text calls.  What is wrong
  // with them, or "".
  virtual std::string compile(const tc_texts &texts, std::vector<std::string> entries) = 0;

  // The end: the user's compilation gets the new text, the code if there is some, and the rows of
  // backends/explain_rows.h.
  virtual void put(Rewriter &rewriter, bool code, const std::string &explanation) = 0;
};

class Unit {
public:
  Unit(clang::ASTContext &context, const Expansions &expansions, const Options &options,
       Shell &shell)
      : context(context), sources(context.getSourceManager()), options(options), shell(shell),
        rewriter(sources, expansions, shell.dialect(), shell.warns_of_mixed_declarations()) {}

  // A function that is marked tc_compile.
  void add(const clang::FunctionDecl *decl) {
    functions.emplace_back();
    functions.back().decl = decl;
  }
  // Any function, whether it is compiled or not.
  void look_at(const clang::FunctionDecl *function);

  void run();

private:
  using Compiled = std::vector<std::pair<FunctionJob *, Segment *>>;
  using SizeNames = std::deque<std::vector<tc_size_name>>; // of each segment
  using Clock = std::chrono::steady_clock;

  // unit.cpp
  void begin(FunctionJob &f);
  void capture(FunctionJob &f);
  void save(FunctionJob &f);
  void rewrite();
  void insert(FunctionJob &f, const Ownership *scope);
  bool insert_scope(FunctionJob &f, const Ownership &scope);
  void verify();
  std::string symbol(const FunctionJob &f, size_t segment) const;

  // sizes.cpp
  void capture_any(FunctionJob &f, const Sizes *dtypes);
  void capture_variant(FunctionJob &f, const Sizes &sizes);
  void no_variant(FunctionJob &f, const Sizes &sizes, llvm::StringRef reason);
  void drop_equal(FunctionJob &f, const Sizes &sizes);

  // profiled.cpp
  void count_sizes(const FunctionJob &f, const Segment &segment, tc_function &to);
  void load_profile();
  void tell_of_stale();
  std::vector<ProfiledCalls> profiled_calls(FunctionJob &f);
  void tell_of_profile(FunctionJob &f, const ProfiledCalls &calls,
                       const std::vector<ProfiledSizes> &chosen);
  std::vector<Sizes> profile_variants(FunctionJob &f, const std::vector<Sizes> &given,
                                      size_t dtypes);
  bool has_room(FunctionJob &f, const Sizes &sizes);

  // code.cpp
  void compile();
  void prepare_tuning(const tc_cache *cache);
  std::vector<tc_function> segments(Compiled &of, SizeNames &size_names);
  void note(const std::vector<tc_result> &results, const Compiled &jobs, bool done,
            Compiled &compiled);
  void reject(const std::string &error);
  void tell_of_waiting(Clock::time_point start, Clock::time_point waits);
  void tell_of(const tc_cache *cache);

  // tell.cpp
  std::string explanation() const;
  void check_contract(FunctionJob &f);
  void show(FunctionJob &f);

  clang::ASTContext &context;
  const clang::SourceManager &sources;
  const Options &options;
  Shell &shell;
  Rewriter rewriter;
  std::deque<FunctionJob> functions; // addresses stay: graphs point to diag
  struct {
    std::string tool, compiler, database;
  } tuning;                          // of functions with mode=max-autotune
  ShapeProfile profile;              // of profile=use
  struct Counted {                   // by profile=generate, of a segment
    std::vector<CountedSize> names;
    std::vector<tc_counted_size> list;
  };
  std::deque<Counted> counted;
  bool differentiates = false;       // the file asks for gradients outside of compiled functions
};

// Each variant for each choice of dtypes, and, where there is code for any sizes, the choices for
// these but for the last, which the code behind all variants is for.
std::vector<Sizes> with_dtypes(const std::vector<Sizes> &variants, const std::vector<Sizes> &dtypes,
                               bool any);
// With code for each dtype of TC_AUTOCAST around calls as well.
std::vector<Sizes> with_autocasts(const std::vector<Sizes> &variants,
                                  const std::vector<Sizes> &dtypes, bool any,
                                  const std::vector<tc_dtype> &autocasts);
bool dump_wanted(llvm::StringRef name); // by TC_DUMP
std::string graph_text(tc_graph *graph);

} // namespace tc

#endif
