// evaluator.h - symbolic evaluation of one function body; see capture.h for the method.
//
// Failure: the first thing that cannot be captured is noted by fail(), and from then on every step
// returns at once with a value of kind Unset.  No exceptions.
#ifndef TC_CAPTURE_EVALUATOR_H
#define TC_CAPTURE_EVALUATOR_H

#include <deque>
#include <map>

#include "frontend/ast_capture/capture.h"
#include "frontend/ast_capture/facts.h"
#include "graph/autocast.h"

namespace tc {

// What the first evaluation finds and the second declares before anything else.
struct Discovered {
  std::vector<Place> inputs; // tensors in use
  struct ScalarUse {
    std::string text;
    tc_dtype dtype; // TC_F64 or TC_I64
    clang::SourceLocation loc;
  };
  std::vector<ScalarUse> scalars;
  // Symbols that stand only inside of expressions, such as N in "f32[2*N+1]": text of a scalar.
  std::vector<std::pair<std::string, std::string>> hidden;
};

// The first message of the core within a scope, kept from the user until it is completed.
struct CoreMessage {
  std::string text;
  tc_severity severity = TC_MISSED;

  static void keep(void *self, tc_severity severity, tc_loc loc, const char *text);
  class Catch {
  public:
    Catch(tc_diag *diag, CoreMessage &message) : diag(diag), saved(*diag) {
      *diag = {keep, &message};
    }
    ~Catch() { *diag = saved; }

  private:
    tc_diag *diag, saved;
  };
};

// In C texts: the size of an operand that a symbol names.
inline constexpr char size_prefix[] = "__tc_size_";

inline constexpr uint64_t max_elements = 65536; // of a local array

// A side of a branch on what is known at run time only, taken where no segment can stand in the
// side itself: in a function that is called, in an expression.  The other side is another
// evaluation.
struct Choice {
  std::string text; // the condition
  bool holds;
  std::string tensor = "";  // that it asks for, or "" ...
  const clang::ValueDecl *name = nullptr; // ... and the variable or member that names it
  bool free = true;                       // no other one decides it
  std::string side() const;               // what holds
};

// Tensors, and objects that ?: asks for, that may be missing: which ways are followed.
enum class Presence {
  Each,     // with each of them and without
  Alike,    // with all tensors that one variable or member names, and with none of these
  Together, // with all tensors and with none
  Taken     // with all of them
};

// Why statements could not be captured.
struct Obstacle {
  clang::SourceLocation loc;
  std::string why;
  bool hard = false;  // a mistake in the program
  bool quiet = false; // nothing that the programmer would call a break
  std::vector<clang::CharSourceRange> ranges;
  std::vector<FixIt> fixits;
  bool follows = false;    // it is so because the segment in front ended here
  bool dead = false;       // no program comes here that does as it should
  std::string inside = ""; // what is so where its inside is compiled
  std::string remedy = "";
  std::vector<Message> notes = {};
};

// A function that is handed over, and what it is called with beside tensors.
struct Given {
  const clang::FunctionDecl *definition;
  Value context;
};

class Evaluator {
public:
  enum class Flow { Next, Break, Continue, Return };

  // Begins at statements before which `facts` hold.  `discovered`: filled when `collecting`, else
  // declared.
  Evaluator(clang::ASTContext &context, const clang::FunctionDecl *function, const Sizes *sizes,
            const Reading &reading, const Facts &facts, clang::SourceLocation begins,
            tc_graph *graph, Discovered &discovered, bool collecting);

  bool begin(); // false: see obstacle
  Flow execute(const clang::Stmt *s);

  // What the statements from `first` to `last` leave behind; false: see obstacle.
  bool finish(Flow flow, const clang::Stmt *first, const clang::Stmt *last, Segment &result);
  // What is known behind them.
  Facts harvest();
  // Inputs whose text has another size by now, of several that are equal: they are not read.
  std::set<std::string> outdated_inputs() const;

  // Sides to take; of other branches that where the condition holds.  nullptr: none is taken.
  const std::vector<Choice> *choices = nullptr;
  Presence presence = Presence::Each;
  bool guessing = false;      // what types come out: where control leads does not matter
  std::vector<Choice> chosen; // in the order in which the branches were met

  Obstacle obstacle;
  bool again = false;   // stopped because of an input that was not known before
  bool nothing = false; // finish: the statements compute no tensor
  // The dtype of TC_AUTOCAST around the statements, TC_NO_AUTOCAST_DTYPE for none.
  tc_dtype autocast = TC_NO_AUTOCAST_DTYPE;

  int ops = 0;
  int effects_count() const { return static_cast<int>(effects.size()); }
  bool stopped() const { return failed; }

  // ---- shared by the parts below ----
  void fail(clang::SourceLocation loc, const std::string &why);
  void error(clang::SourceLocation loc, const std::string &what,
             std::vector<clang::CharSourceRange> ranges = {}, std::vector<FixIt> fixits = {});

private:
  void meet(Obstacle met);

  // statements.cpp
  Flow execute_block(const clang::CompoundStmt *block);
  Flow execute_attributed(const clang::AttributedStmt *s);
  Flow execute_one(const clang::Stmt *s);
  Flow execute_if(const clang::IfStmt *s);
  Flow execute_switch(const clang::SwitchStmt *s);
  Flow execute_once(const clang::Stmt *body, int &open);
  Flow execute_autocast(const clang::Stmt *s, const clang::Expr *dtype); // autocast.cpp
  Flow execute_loop(const clang::Stmt *init, const clang::Expr *condition, const clang::Expr *step,
                    const clang::Stmt *body, bool body_first, clang::SourceLocation loc,
                    const clang::Stmt *head = nullptr);
  Flow execute_range(const clang::CXXForRangeStmt *s);
  void point_to(const clang::DeclStmt *variable, const Place &element);
  Value returned_by(const clang::Expr *e);
  void declare(const clang::VarDecl *variable);
  std::optional<bool> goes_on(const clang::Expr *condition, bool first);
  std::optional<bool> is_case(const Scalar &v, const clang::CaseStmt *label);
  bool refuses(const clang::Stmt *side) const;

  // conditions.cpp
  std::optional<bool> side_of(const Value &condition, const clang::Stmt *yes,
                              const clang::Stmt *no);
  std::optional<bool> outcome(const clang::Expr *e, bool holds, Value &asked);
  std::optional<bool> choose(const std::string &condition, const Place *tensor = nullptr);
  std::optional<bool> side_taken(const std::string &condition) const; // before
  bool demand(const Scalar &v, bool holds);
  bool require(const std::string &text, bool holds);
  void add_condition(const std::string &text);
  bool learn(const Scalar &v, bool holds);
  bool learn_sizes(const Scalar &v, bool holds);
  void learn_numbers(const Scalar &v, bool holds);
  void learn_number(const Scalar &v, const llvm::APSInt &value);
  Value as_known(Value v);
  std::string specialized(llvm::StringRef text) const;
  std::string remedy_for(const Value &v) const;
  std::string mark_entered() const;
  void fail_to_follow(const char *what, const Value &v, clang::SourceLocation loc,
                      const char *inside, const char *data);

  // What messages call symbols that stand for sizes of members: "b__H" is "b->H".
  std::map<std::string, std::string> shown;
  std::string readable(llvm::StringRef message) const;

  // entry_state.cpp
  Place entry_variable(const clang::VarDecl *variable);
  Place member_of(const Place &place, const clang::FieldDecl *field);
  std::optional<Place> element_of(const Value &pointer, const Scalar &index,
                                  clang::SourceLocation loc);
  Place part_of(const Place &place, size_t i); // element or member i
  bool collect_assumptions(const Place &place, const Value &v, std::vector<std::string> &texts);
  bool assume(const Place &place, const Value &v);
  std::optional<Place> locate_entry(const clang::VarDecl *variable, clang::SourceLocation loc);
  const clang::Expr *constant_initializer(const clang::VarDecl *variable) const;
  std::string entry_number(const Place &place) const;
  Value import(const Place &place, clang::SourceLocation loc);
  Value import_tensor(const Place &place);
  bool take_apart(const Place &a, const Place &b);
  Value load_entry(const Place &place, clang::SourceLocation loc);
  void store_entry(const Place &place, Value value, clang::SourceLocation loc);
  void open(Value &v);
  std::string why_unnameable(const clang::ValueDecl *decl) const;
  bool nameable(const clang::ValueDecl *decl, clang::SourceLocation loc);
  std::optional<tc_type> input_type(const Place &place);
  bool declare_input(const Place &place);
  bool fix_sizes();
  std::optional<Scalar> fixed_number(const Place &place);
  std::optional<tc_type> known_type(const Place &place);
  std::string rename_symbols(llvm::StringRef shape, llvm::StringRef instance);
  std::optional<tc_type> type_of(const TypeFact &fact);
  std::optional<bool> pointer_truth(const Value &v);
  std::optional<bool> pointer_side(const Value &v);
  void settle_presence();

  // expressions.cpp
  Value evaluate(const clang::Expr *e);
  Value evaluate_one(const clang::Expr *e);
  Value evaluate_block(const clang::StmtExpr *e);
  Value evaluate_this(const clang::CXXThisExpr *e);
  Value evaluate_increment(const clang::UnaryOperator *e);
  Value evaluate_unary(const clang::UnaryOperator *e);
  std::optional<Value> decide_logical(const clang::BinaryOperator *e, const Value &a);
  std::optional<Value> move_pointer(const clang::BinaryOperator *e, const Value &a,
                                    const Value &b);
  Value evaluate_binary(const clang::BinaryOperator *e);
  Value evaluate_assignment(const clang::BinaryOperator *e);
  Value value_at(const clang::Expr *lvalue, clang::QualType type);
  Value decay_array(const clang::Expr *array);
  Value decay_function(const clang::Expr *function);
  Value cast_pointer(const clang::CastExpr *e);
  Value evaluate_cast(const clang::CastExpr *e);
  Value evaluate_conditional(const clang::AbstractConditionalOperator *e);
  Value evaluate_initializer(const clang::Expr *e, clang::QualType type);
  Value compare_pointers(const clang::BinaryOperator *e, const Value &a, const Value &b);
  std::optional<Place> locate(const clang::Expr *e);
  std::optional<Place> locate_member(const clang::MemberExpr *e);
  std::optional<Place> locate_element(const clang::ArraySubscriptExpr *e);
  std::optional<Place> locate_temporary(clang::QualType type, Value v);
  std::optional<Place> refer(const clang::Expr *e);
  std::optional<Place> locate_variable(const clang::DeclRefExpr *e);
  Place offset_place(Place place, int64_t by);
  Value load(const Place &place, clang::SourceLocation loc);
  void store(const Place &place, Value value, clang::SourceLocation loc);
  Value *resolve(const Place &place, clang::SourceLocation loc);
  unsigned new_slot(Value value);
  Value as_letters(const Value &v);
  std::optional<std::string> known_string(const Value &v, clang::SourceLocation loc);
  Value zero_of(clang::QualType type);

  // scalars.cpp
  Scalar integer_constant(const llvm::APSInt &v, clang::QualType type);
  Scalar floating_constant(double v, clang::QualType type);
  Scalar from_dim(tc_dim dim, clang::QualType type);
  Scalar opaque(std::string text, clang::QualType type);
  Scalar late(std::string text, clang::QualType type, tc_ref ref);
  void bound_text(Scalar &v, clang::SourceLocation loc);
  Scalar late_binary(clang::BinaryOperatorKind op, const Scalar &a, const Scalar &b,
                     clang::QualType type);
  tc_ref late_ref(const Scalar &v, clang::QualType type);
  tc_ref late_choice(const Scalar &condition, const Scalar &a, const Scalar &b,
                     clang::QualType type);
  Scalar choice_of(const Scalar &condition, const Scalar &a, const Scalar &b, clang::QualType type);
  Scalar convert(const Scalar &v, clang::QualType to, bool explicit_cast = false);
  // What an object keeps of it that is written as `member`: bit-fields have fewer bits than their
  // type.
  Value as_kept(const Value &v, const clang::FieldDecl *member);
  Scalar binary(clang::BinaryOperatorKind op, const Scalar &a, const Scalar &b,
                clang::QualType type);
  Scalar unary(clang::UnaryOperatorKind op, const Scalar &a, clang::QualType type);
  std::optional<bool> truth(const Scalar &v);
  std::optional<Scalar> constant_expression(const clang::Expr *e);
  std::optional<tc_dim> dim_arithmetic(clang::BinaryOperatorKind op, const Scalar &a,
                                       const Scalar &b);
  std::optional<bool> compare_dims(clang::BinaryOperatorKind op, tc_dim a, tc_dim b);
  bool within(tc_dim dim, int64_t least, int64_t most);
  bool fits(tc_dim dim, clang::QualType type);
  tc_dim as_dim(const Scalar &v, clang::SourceLocation loc);
  std::optional<tc_dim> arithmetic_dim(const Arithmetic &made, clang::SourceLocation loc);
  std::optional<int64_t> as_constant(const Scalar &v) const;
  tc_ref as_operand(const Scalar &v, clang::SourceLocation loc);
  tc_ref as_whole(const Scalar &v, clang::SourceLocation loc);
  tc_ref fitted(const Scalar &v, tc_dtype like, tc_op &op, const char *function,
                const clang::Expr *e);
  tc_ref scalar_node(const std::string &text, tc_dtype dtype, clang::SourceLocation loc);
  std::string type_name(clang::QualType type) const;
  std::string dim_text(tc_dim dim);

  // numeric_calls.cpp
  std::optional<std::string> string_text(const Value &v, clang::SourceLocation loc);
  std::optional<Value> call_on_strings(const clang::CallExpr *e, llvm::StringRef name);
  std::optional<Value> call_class(const clang::CallExpr *e, llvm::StringRef name);
  std::optional<Value> call_numeric(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  std::optional<Value> call_extremum(const clang::CallExpr *e);
  std::optional<Scalar> fold_call(const clang::CallExpr *e, llvm::StringRef name,
                                  const std::vector<Scalar> &arguments);
  tc_ref late_call(llvm::StringRef name, const std::vector<Scalar> &arguments,
                   clang::QualType type);

  // constructors.cpp
  Value evaluate_construction(const clang::CXXConstructExpr *e);
  Value construct(const clang::CXXConstructExpr *e, const clang::CXXConstructorDecl *constructor);
  void set_member(const clang::CXXCtorInitializer *init, const Place &object);
  Value evaluate_member_default(const clang::CXXDefaultInitExpr *e);

  // calls.cpp
  std::optional<Value> guess_result(const clang::CallExpr *e);
  Value evaluate_call(const clang::CallExpr *e);
  Value result_of_several(tc_ref ref, size_t i, const clang::CallExpr *e);
  Value call_api(const clang::CallExpr *e, struct ApiRow const &row);
  bool take_arguments(struct ApiRow const &row, struct ApiCall &c);
  void take_tensor(char kind, const clang::Expr *arg, struct ApiCall &c);
  void take_tensors(const clang::Expr *arg, struct ApiCall &c, tc_op op);
  tc_op joined_in_parts(tc_op op, const std::vector<tc_dim> &attrs, const clang::CallExpr *e,
                        std::vector<tc_ref> &in);
  void take_sizes(const clang::Expr *arg, struct ApiCall &c);
  void take_number(const clang::Expr *arg, struct ApiCall &c, bool front, bool like);
  void take_address(const clang::Expr *arg, struct ApiCall &c);
  bool place_numbers(struct ApiRow const &row, tc_op &op, struct ApiCall &c);
  void fail_to_list(const Value &count, clang::SourceLocation loc, tc_op op);
  void expect_no_error(clang::SourceLocation loc);
  Value call_member(const clang::CallExpr *e, const clang::CXXMethodDecl *callee);
  Value call_operator(const clang::CXXOperatorCallExpr *e, const clang::FunctionDecl *callee);
  Value object_of_call(const clang::Expr *object);
  Value call_visible(const clang::CallExpr *e, const clang::FunctionDecl *callee,
                     const Value &self = {});
  std::vector<Value> values_of(const clang::FunctionDecl *callee,
                               llvm::ArrayRef<const clang::Expr *> given);
  void enter(const clang::FunctionDecl *callee, const clang::Expr *call,
             std::vector<Value> arguments, const Value &self);
  Value leave(const clang::Expr *call);
  Value call_body(const clang::Expr *e, const clang::FunctionDecl *callee,
                  std::vector<Value> arguments, const Value &self = {});
  std::optional<Place> standard_object(const clang::Expr *object);
  Value asked_pointer(Place object, const char *name, clang::QualType element,
                      clang::SourceLocation loc);
  Value element_at(const Value &data, const Value &index, clang::SourceLocation loc);
  std::optional<Value> call_standard(const clang::CallExpr *e, const clang::CXXMethodDecl *callee);
  Value evaluate_lambda(const clang::LambdaExpr *e);
  void bind_captures(const clang::FunctionDecl *callee);
  Value call_lambda(const clang::CallExpr *e, const clang::CXXMethodDecl *callee);
  llvm::ArrayRef<const clang::FunctionDecl *> pointed_to(const Place &place, bool &all);
  const clang::FunctionDecl *pointed_function(const Value &pointer, const clang::CallExpr *e);
  std::optional<Tensor> tensor_argument(const clang::Expr *e);
  std::optional<Tensor> as_tensor(Value v, const clang::Expr *e);
  bool append_tensors(const Value &array, const clang::Expr *arg, int64_t n,
                      std::vector<tc_ref> &in);
  bool append_attribute(struct AttributeSlot const &slot, const Value &v, const clang::Expr *arg,
                        std::vector<tc_dim> &attrs, std::string &string);
  void expect_integers_fit(tc_op op, const std::vector<tc_ref> &in, const clang::CallExpr *e);
  tc_ref build(tc_op op, const std::vector<tc_ref> &in, const std::vector<tc_dim> &attrs,
               const char *string, const clang::CallExpr *e);
  Value result(tc_ref ref, tc_op op, const Tensor *viewed);
  tc_ref contents(const Tensor &t, clang::SourceLocation loc);
  bool is_missing(const Place &place) const;
  bool note_input(const Place &place, clang::SourceLocation loc);
  const clang::Expr *argument(const clang::CallExpr *e, unsigned i);
  std::optional<Scalar> number_argument(const clang::Expr *e);
  clang::SourceLocation in_program(clang::SourceLocation loc) const;
  tc_loc graph_loc(clang::SourceLocation loc) const;

  // special.cpp: calls that the table does not describe
  using Special = Value (Evaluator::*)(const clang::CallExpr *e);
  static Special find_special(llvm::StringRef name);

  Value do_tc_zeros(const clang::CallExpr *e);
  Value do_tc_ones(const clang::CallExpr *e);
  Value do_tc_empty(const clang::CallExpr *e);
  Value filled(const clang::CallExpr *e, const std::optional<tc_type> &type, double value);
  std::optional<tc_type> made_type(const clang::CallExpr *e, unsigned dims_at, unsigned dtype_at);
  std::optional<tc_type> type_made_of(const Value &list, const Value &dtype,
                                      clang::SourceLocation loc);
  std::optional<tc_type> row_major_type(const clang::Expr *layout);
  Value import_made(Place place, const tc_type &type, clang::SourceLocation loc);
  std::optional<std::vector<Scalar>> numbers_of(const Value &list);
  Value do_tc_zeros_like(const clang::CallExpr *e);
  Value do_tc_ones_like(const clang::CallExpr *e);
  Value do_tc_full_like(const clang::CallExpr *e);
  Value filled_like(const clang::CallExpr *e, std::optional<double> value);
  Value do_tc_scalar(const clang::CallExpr *e);
  Value do_tc_scalar_int(const clang::CallExpr *e);
  Value do_tc_clone(const clang::CallExpr *e);
  Value do_tc_split(const clang::CallExpr *e);
  Value do_tc_keep(const clang::CallExpr *e);
  Value do_tc_free(const clang::CallExpr *e);
  Value do_tc_fail_as(const clang::CallExpr *e);
  Value do_tc_size(const clang::CallExpr *e);
  Value do_tc_shape(const clang::CallExpr *e);
  Value do_tc_rank(const clang::CallExpr *e);
  Value do_tc_numel(const clang::CallExpr *e);
  Value do_tc_dtype_of(const clang::CallExpr *e);
  Value do_tc_autocast_dtype(const clang::CallExpr *e); // autocast.cpp
  Value do_tc_item(const clang::CallExpr *e);
  Value do_tc_item_int(const clang::CallExpr *e);
  Value do_tc_at(const clang::CallExpr *e);
  Value item(const clang::CallExpr *e, tc_dtype dtype);
  std::string read_behind(tc_ref x, tc_dtype dtype, clang::SourceLocation loc);
  Value read(const clang::CallExpr *e, tc_ref x, tc_dtype dtype);
  Value do_tc_dtype_size(const clang::CallExpr *e); // layouts.cpp
  Value do_tc_wrap_layout(const clang::CallExpr *e);
  Value do_tc_wrap(const clang::CallExpr *e);
  Value do_tc_wrap_const(const clang::CallExpr *e);
  Value wrapped(const clang::CallExpr *e, bool readonly);
  std::string strides_text(const clang::Expr *list, const tc_type &type);
  bool may_read_memory(clang::SourceLocation loc);
  bool may_be_in(const Place &place, const Storage &storage);
  bool is_behind_store(const Storage &storage, clang::SourceLocation loc);
  bool is_behind_write(const Place &place, clang::SourceLocation loc);
  Value do_tc_from(const clang::CallExpr *e);
  Value do_tc_optim_expect(const clang::CallExpr *e);
  std::string data_text(const clang::Expr *e, bool shared);
  std::string sizes_text(const tc_type &type);
  Value do_tc_is_compiling(const clang::CallExpr *e);
  bool asks_for_error(const clang::CallExpr *e);
  Value do_tc_error(const clang::CallExpr *e);
  Value do_no_error_number(const clang::CallExpr *e);

  // gradients.cpp
  Value do_tc_detach(const clang::CallExpr *e);
  Value do_tc_requires_grad_(const clang::CallExpr *e);
  Value do_tc_grad(const clang::CallExpr *e);
  Value do_tc_vjp(const clang::CallExpr *e);
  Value do_tc_grad_with(const clang::CallExpr *e);
  Value do_tc_jvp(const clang::CallExpr *e);
  Value differentiate(const clang::CallExpr *e, struct GradientCall const &call);
  std::optional<int64_t> constant_argument(const clang::CallExpr *e, int i, const char *what);
  bool cotangent_argument(const clang::CallExpr *e, int i, tc_ref y, tc_ref &cotangent);
  bool wrt_argument(const clang::CallExpr *e, int i, int64_t n, std::vector<tc_ref> &wrt);
  std::vector<tc_ref> gradients_of(const clang::CallExpr *e, tc_ref y, tc_ref cotangent,
                                   const std::vector<tc_ref> &wrt, bool unused);
  bool differentiated(const clang::CallExpr *e, llvm::function_ref<bool()> engine);
  bool avoids_examples(const std::vector<tc_ref> &wrt, clang::SourceLocation loc);
  void check_leaf_write(const Storage &storage, clang::SourceLocation loc,
                        const clang::CallExpr *write);
  std::vector<FixIt> summed(const clang::Expr *y) const;
  bool spend(tc_ref y, const std::vector<tc_ref> &wrt, bool retain, clang::SourceLocation loc);
  tc_ref detached(tc_ref ref, clang::SourceLocation loc);
  bool settle_gradients(clang::SourceLocation loc);
  std::vector<bool> recorded();
  void mark_detached();

  // transforms.cpp
  Value do_tc_value_and_grad(const clang::CallExpr *e);
  Value do_tc_checkpoint(const clang::CallExpr *e);
  std::optional<Given> given_function(const clang::CallExpr *e, unsigned parameters);
  Value call_given(const clang::CallExpr *e, const Value &tensors);
  Value call_given(const clang::CallExpr *e, const Given &given, std::vector<Value> arguments);
  Value pointer_to(const Value &array, clang::QualType type);
  std::optional<Value> own_leaves(const clang::CallExpr *e, int64_t n, std::vector<tc_ref> &leaves,
                                  std::vector<unsigned> &versions);

  // batches.cpp
  Value do_tc_vmap(const clang::CallExpr *e);
  bool map_operands(const clang::CallExpr *e, int64_t n, struct Batch &batch);
  bool map_operand(const clang::CallExpr *e, const Tensor &x, int64_t axis, struct Batch &batch);
  std::optional<int64_t> mapped_axis(const clang::CallExpr *e, const Value &axes, int64_t k);
  bool call_example(const clang::CallExpr *e, const Given &given, int64_t m, struct Batch &batch);
  bool leaves_alone(clang::SourceLocation loc, const struct Outside &before);
  bool follow_gradients(clang::SourceLocation loc, const struct Outside &before,
                        const std::vector<tc_ref> &batched);
  bool is_of_example(tc_ref ref);

  // writes.cpp
  Value do_tc_copy_(const clang::CallExpr *e);
  Value do_tc_fill_(const clang::CallExpr *e);
  Value do_tc_zero_(const clang::CallExpr *e);
  Value fill(const clang::CallExpr *e, llvm::function_ref<tc_ref(tc_dtype)> number);
  Value call_in_place(const clang::CallExpr *e, struct InPlaceRow const &row);
  std::optional<Tensor> target_argument(const clang::CallExpr *e, Value &target);
  Value written(const Tensor &x, tc_ref value, const tc_type &type, const Value &target,
                const clang::CallExpr *e);
  void assume_inside(const Tensor &x);
  tc_type written_type(const Tensor &x);
  void overwrite(const Tensor &x, tc_ref value, clang::SourceLocation loc);
  tc_ref spread(tc_ref value, const tc_type &like, const clang::CallExpr *e);
  void note_shown(tc_ref view, tc_ref of, const std::vector<tc_dim> &attrs,
                  clang::SourceLocation loc);
  tc_ref shown_by(tc_ref view) const;
  tc_ref view_again(tc_ref ref, tc_ref base, const Storage &storage, clang::SourceLocation loc);
  tc_ref put_back(tc_ref ref, tc_ref base, Storage &storage, tc_ref value,
                  clang::SourceLocation loc);

  // functions.cpp: what the programmer says about functions
  const clang::FunctionDecl *stand_in(const clang::FunctionDecl *callee);
  bool pass_on(const clang::CallExpr *e, const clang::FunctionDecl *callee, std::vector<tc_ref> &in,
               std::string &types, llvm::function_ref<std::string(unsigned, const tc_type &)> bind);
  bool takes_arguments(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  tc_ref address_of(const clang::FunctionDecl *function, clang::SourceLocation loc);
  Value call_effect(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  Value call_operation(const clang::CallExpr *e, const clang::FunctionDecl *callee,
                       const clang::AnnotateAttr *marked);
  const clang::FunctionDecl *kernel_of(const clang::FunctionDecl *callee,
                                       const clang::AnnotateAttr *marked,
                                       clang::SourceLocation loc);
  std::optional<Value> call_pure(const clang::CallExpr *e, const clang::FunctionDecl *callee);

  // shapes.cpp
  bool check_declared(const clang::FunctionDecl *callee, const std::vector<Value> &arguments,
                      const clang::CallExpr *e);
  void check_unseen(const clang::FunctionDecl *callee, const clang::CallExpr *e);
  std::string describe(tc_ref ref);

  // layouts.cpp
  std::string argument_text(const Value &v, clang::QualType type, Place &shaped,
                            clang::SourceLocation loc);
  std::string layout_text(const clang::Expr *e, Place &shaped);

  // autocast.cpp
  void depends_on_autocast(uint32_t alike);
  void convert_operands(tc_op op, std::vector<tc_ref> &in, const clang::CallExpr *e);

  // results.cpp
  struct Export {
    Segment::Store::Where where;
    const clang::VarDecl *variable; // Variable, Inner
    std::string lvalue;
    clang::QualType type;
    Value value;
  };
  void gather(const Value &v, const std::string &lvalue, clang::QualType type,
              const clang::VarDecl *variable, bool inner, std::vector<Export> &out);
  std::vector<Export> exports(Flow flow, const clang::Stmt *first, const clang::Stmt *last);
  void for_copies(const Tensor &t, llvm::function_ref<void(uint32_t)> act);
  void count_export(const Value &v);
  void gather_returned(clang::SourceLocation loc, std::vector<Export> &list, Segment &result);
  void write_stores(const std::vector<Export> &list, clang::SourceLocation loc, Segment &result);
  void write_returned(Segment &result);
  bool write_outputs(clang::SourceLocation loc);
  TypeFact::Size size_fact(const Place &place, int i, tc_dim size);
  void note_type(const Place &place, const Value &v, Facts &after);
  void note_types(const Place &place, const Value &v, Facts &after);
  std::string value_text(const Value &v, clang::SourceLocation loc);
  std::string tensor_text(const Tensor &t, clang::SourceLocation loc);
  bool copies(tc_ref ref, tc_ref base);
  bool surely_copies(tc_ref ref, tc_op op, const Tensor &viewed);
  std::string made_view(const std::string &text);
  std::string view_arguments(const tc_node *n);
  std::string remade_view(tc_ref ref, tc_ref base, const std::string &source);
  void drop_unowned(Segment &result);
  std::string list_text(const tc_node *n, const char *name);
  std::string number_text(const tc_node *n, const char *name);
  std::string new_result(tc_ref ref, clang::SourceLocation loc);
  void write_inputs(clang::SourceLocation loc);
  void write_scopes();
  bool bind_sizes(Segment &result);
  std::optional<std::string> hidden_symbol(uint32_t index) const;
  void bind_hidden_symbols();
  std::string number_of(const tc_sym *symbol) const;
  std::optional<std::string> with_sizes_read(const std::string &text) const;

  struct Frame {
    const clang::FunctionDecl *function;
    clang::SourceLocation called;                         // where; of the outermost one nowhere
    std::map<const clang::VarDecl *, unsigned> variables; // slots
    std::map<const clang::VarDecl *, Place> referred;     // by C++'s references: what they name
    Value self;                                           // C++'s this, in functions of objects
    Value returned;
    clang::SourceLocation return_loc;
  };

  clang::ASTContext &context;
  const clang::SourceManager &sources;
  const clang::FunctionDecl *function;
  const Sizes *sizes; // of the variant; null: any
  const Reading &reading;
  const Facts &facts;
  tc_graph *graph;
  tc_dims *dims;
  tc_diag *diag;
  Discovered &discovered;
  bool collecting;

  bool failed = false;
  clang::SourceLocation begins; // where texts are evaluated
  std::deque<Frame> frames;
  std::deque<Value> memory;
  std::deque<Storage> storages;
  std::set<const clang::VarDecl *> inner;            // variables that the statements declare
  std::map<const clang::VarDecl *, unsigned> tables; // constant globals: slots
  std::vector<std::pair<Place, Value>> stored;       // to objects of the entry state, in order
  std::vector<tc_ref> input_refs;
  std::map<std::string, size_t> inputs;           // lvalue -> index in input_refs
  std::map<std::string, unsigned> entry_storages; // lvalue -> index in storages
  std::map<std::pair<std::string, tc_dtype>, uint32_t> scalar_index; // in discovered.scalars
  struct Effect {
    const char *call; // of the value
    Value value;
    std::string text; // what is called instead
    bool keeps = false;
  };
  std::vector<std::string> conditions;
  std::vector<std::pair<std::string, std::string>> present; // operands and what asks for them
  std::map<std::string, llvm::APSInt> known_numbers; // by their text: what conditions tell
  std::vector<Effect> effects;
  std::vector<tc_ref> results;
  std::vector<std::string> views; // made behind the kernels: texts of the variables __tc_view[i]
  unsigned handles = 0;           // views that the statements have made
  std::map<unsigned, std::string> view_of;   // handle -> its variable
  std::map<unsigned, std::string> result_of; // storage -> C text of the result that owns it
  std::vector<std::string> made;             // views and results that such texts name, in order
  std::set<std::string> owned;               // those of them that somebody is handed
  std::map<unsigned, int> exported;          // storage -> how many values that leave share it
  bool layouts_matter = false;               // views that are handed on keep their strides
  std::map<uint32_t, int> copied;            // view that may copy -> likewise
  std::map<std::string, std::string> scalar_symbols; // symbol name -> text of the scalar
  int untracked = 0;                                 // open TC_NO_GRADs
  int autocast_inside = 0;                           // open TC_AUTOCASTs of the statements' own
  uint32_t autocasts = TC_AUTOCAST_ANY; // scopes around them in which the graph is the same
  std::set<int> leaf_inputs; // inputs that gradients are taken with respect to
  // of views of which every element was written: what they show
  std::map<uint32_t, tc_ref> overwritten;
  std::vector<std::pair<tc_ref, unsigned>> written_values; // contents of storages behind writes
  std::vector<std::pair<tc_ref, clang::SourceLocation>> inner_wrt; // other such values
  std::vector<tc_ref> own_leaf; // leaves that tc_value_and_grad and tc_requires_grad_ made
  std::vector<std::pair<tc_ref, clang::SourceLocation>> made_leaves; // of what the second made them
  std::set<uint32_t> spent;     // nodes whose part of the tape was freed
  std::set<size_t> numbers;     // results that are only read, as numbers
  std::map<uint32_t, std::string> number_text_of; // of nodes that bound_text reads: their text
  std::vector<tc_ref> examples; // what stands for operands of one example in bodies being captured
  std::vector<tc_ref> mapped;   // those of all examples
  size_t outside = 0;           // slots outside of the innermost such body
  int iterations = 0;
  int depth = 0;      // of nested expressions and statements being evaluated
  int maybe = 0;      // around what may not run: nothing may be read through pointers
  int scopes = 0;     // open TC_SCOPEs
  int blocks = 0;     // expressions with statements in them, being evaluated
  bool exits = false; // the condition leads out of the statements when a pointer is NULL
};

// The row of graph/ops/api.def of a function that works in place; nullptr: it is none.
const InPlaceRow *find_in_place(llvm::StringRef name);

// The pointer that a condition asks about, which is behind a conversion in C++; else the condition.
const clang::Expr *pointer_asked(const clang::Expr *condition);

// Whether one of two objects of the entry state with different names may lie in the other, or be
// it.
bool may_alias(clang::ASTContext &context, const Place &a, const Place &b);

// Nesting that the stack of the capturing thread holds (see driver/job.cpp).
inline constexpr int max_depth = 10000;
inline constexpr size_t max_frames = 64; // of calls in calls (a message says so)

const clang::Expr *array_of(const clang::Expr *list);     // behind a tc_tensor_list
std::vector<tc_dim> full_attributes(const tc_type &type); // of OP_FULL
bool ends_program(const clang::Stmt *s);                  // a call of a function such as abort()

// What a text such as "m->n" names where the function begins: a number that TC_SPECIALIZE takes (an
// integer parameter or global, or one that members of such lead to), another object, or none.
enum class Named { Nothing, Number, Other };
Named named_number(clang::ASTContext &context, const clang::FunctionDecl *function,
                   const Reading &reading, llvm::StringRef path);
std::string bare(llvm::StringRef text); // without the parentheses around it
bool is_tensor_pointer(clang::QualType type);
void unset_leaves(Value &v); // of an object: nothing is in it yet
// a op b, where a - b has the sign of `order`; nothing if op is no comparison.
std::optional<bool> compare(clang::BinaryOperatorKind op, int order);
// prefix: of its symbols
std::string text_of(tc_dims *dims, tc_dim dim, const char *prefix = nullptr);
bool is_api(const clang::FunctionDecl *callee);
bool is_lambda(const clang::FunctionDecl *callee); // C++: the body of one, or its conversion
const clang::StringLiteral *declared_shape(const clang::ValueDecl *decl);
const clang::StringLiteral *declared_shape(const clang::FunctionDecl *function, unsigned index);

// Of "R=f32|bf16[N]": "R", and "f32|bf16[N]"; without a name, "", and all of it.
llvm::StringRef choice_name(const clang::StringLiteral *shape);
llvm::StringRef unnamed_shape(const clang::StringLiteral *shape);
// The shapes that a TC_SHAPE leaves to choose from ("i32|i64[N]" is i32[N] and i64[N]), and that of
// a variant.
std::vector<std::string> alternatives_of(const clang::StringLiteral *shape);
std::string shape_text(const clang::StringLiteral *shape, const Sizes *sizes);

// Warns about texts of TC_SHAPE on parameters; false: one of them is not understood.
bool check_shapes(clang::ASTContext &context, const clang::FunctionDecl *function,
                  const Sink &sink);

} // namespace tc

#endif
