// evaluator.h - symbolic evaluation of one function body; see capture.h for the method.
//
// Failure: the first thing that cannot be captured is reported once by fail(), and from then on
// every step returns at once with a value of kind Unset.  No exceptions.
#ifndef TC_CAPTURE_EVALUATOR_H
#define TC_CAPTURE_EVALUATOR_H

#include <deque>
#include <map>

#include "frontend/ast_capture/capture.h"
#include "frontend/ast_capture/value.h"

namespace tc {

// What the first evaluation finds and the second declares before anything else.
struct Discovered {
  std::vector<const clang::ParmVarDecl *> inputs; // tensor parameters in use
  struct ScalarUse {
    std::string text;
    tc_dtype dtype; // TC_F64 or TC_I64
    clang::SourceLocation loc;
  };
  std::vector<ScalarUse> scalars;
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

class Evaluator {
public:
  // `discovered`: filled when `collecting`, else declared.
  Evaluator(clang::ASTContext &context, const clang::FunctionDecl *function, tc_graph *graph,
            Discovered &discovered, bool collecting, const Sink &sink);

  bool run(CapturedFunction &result); // false: reported

  // ---- shared by the parts below ----
  void fail(clang::SourceLocation loc, const std::string &why);
  void error(clang::SourceLocation loc, const std::string &what,
             std::vector<clang::CharSourceRange> ranges = {}, std::vector<FixIt> fixits = {});
  bool stopped() const { return failed; }

private:
  enum class Flow { Next, Break, Continue, Return };

  // statements.cpp
  Flow execute(const clang::Stmt *s);
  Flow execute_one(const clang::Stmt *s);
  Flow execute_if(const clang::IfStmt *s);
  Flow execute_switch(const clang::SwitchStmt *s);
  Flow execute_loop(const clang::Stmt *init, const clang::Expr *condition, const clang::Expr *step,
                    const clang::Stmt *body, bool body_first, clang::SourceLocation loc);
  void declare(const clang::VarDecl *variable);
  std::optional<bool> decide(const clang::Expr *condition, const char *what);

  // expressions.cpp
  Value evaluate(const clang::Expr *e);
  Value evaluate_one(const clang::Expr *e);
  Value evaluate_block(const clang::StmtExpr *e);
  Value evaluate_unary(const clang::UnaryOperator *e);
  Value evaluate_binary(const clang::BinaryOperator *e);
  Value evaluate_assignment(const clang::BinaryOperator *e);
  Value evaluate_cast(const clang::CastExpr *e);
  Value evaluate_conditional(const clang::AbstractConditionalOperator *e);
  Value evaluate_initializer(const clang::Expr *e, clang::QualType type);
  Value compare_pointers(const clang::BinaryOperator *e, const Value &a, const Value &b);
  std::optional<Place> locate(const clang::Expr *e);
  std::optional<Place> locate_variable(const clang::DeclRefExpr *e);
  Place offset_place(Place place, int64_t by);
  Value load(const Place &place, clang::SourceLocation loc);
  void store(const Place &place, Value value, clang::SourceLocation loc);
  Value *resolve(const Place &place, clang::SourceLocation loc);
  unsigned new_slot(Value value);
  Value zero_of(clang::QualType type);

  // scalars.cpp
  Scalar integer_constant(const llvm::APSInt &v, clang::QualType type);
  Scalar floating_constant(double v, clang::QualType type);
  Scalar from_dim(tc_dim dim, clang::QualType type);
  Scalar opaque(std::string text, clang::QualType type);
  Scalar convert(const Scalar &v, clang::QualType to, bool explicit_cast = false);
  Scalar binary(clang::BinaryOperatorKind op, const Scalar &a, const Scalar &b,
                clang::QualType type);
  Scalar unary(clang::UnaryOperatorKind op, const Scalar &a, clang::QualType type);
  std::optional<bool> truth(const Scalar &v);
  std::optional<Scalar> constant_expression(const clang::Expr *e);
  std::optional<tc_dim> dim_arithmetic(clang::BinaryOperatorKind op, const Scalar &a,
                                       const Scalar &b);
  std::optional<bool> compare_dims(clang::BinaryOperatorKind op, tc_dim a, tc_dim b);
  bool fits(tc_dim dim, clang::QualType type);
  tc_dim as_dim(const Scalar &v, clang::SourceLocation loc);
  std::optional<int64_t> as_constant(const Scalar &v) const;
  tc_ref as_operand(const Scalar &v, const Tensor *like, clang::SourceLocation loc);
  tc_ref scalar_node(const std::string &text, tc_dtype dtype, clang::SourceLocation loc);
  std::string type_name(clang::QualType type) const;
  std::string dim_text(tc_dim dim);

  // calls.cpp
  Value evaluate_call(const clang::CallExpr *e);
  Value call_api(const clang::CallExpr *e, struct ApiRow const &row);
  Value call_visible(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  std::optional<Value> call_math(const clang::CallExpr *e, const clang::FunctionDecl *callee);
  std::optional<Tensor> tensor_argument(const clang::Expr *e);
  std::optional<Tensor> as_tensor(Value v, const clang::Expr *e);
  bool append_tensors(const Value &array, const clang::Expr *arg, int64_t n,
                      std::vector<tc_ref> &in);
  bool append_attribute(struct AttributeSlot const &slot, const Value &v, const clang::Expr *arg,
                        std::vector<tc_dim> &attrs, std::string &string);
  tc_ref build(tc_op op, const std::vector<tc_ref> &in, const std::vector<tc_dim> &attrs,
               const char *string, const clang::CallExpr *e);
  Value result(tc_ref ref, tc_op op, const Tensor *viewed);
  tc_ref contents(const Tensor &t, clang::SourceLocation loc);
  tc_loc graph_loc(clang::SourceLocation loc) const;

  // special.cpp: calls that the table does not describe
  using Special = Value (Evaluator::*)(const clang::CallExpr *e);
  static Special find_special(llvm::StringRef name);

  Value do_tc_zeros(const clang::CallExpr *e);
  Value do_tc_ones(const clang::CallExpr *e);
  Value filled(const clang::CallExpr *e, double value);
  Value do_tc_zeros_like(const clang::CallExpr *e);
  Value do_tc_ones_like(const clang::CallExpr *e);
  Value do_tc_full_like(const clang::CallExpr *e);
  Value filled_like(const clang::CallExpr *e, std::optional<double> value);
  Value do_tc_scalar(const clang::CallExpr *e);
  Value do_tc_clone(const clang::CallExpr *e);
  Value do_tc_split(const clang::CallExpr *e);
  Value do_tc_keep(const clang::CallExpr *e);
  Value do_tc_free(const clang::CallExpr *e);
  Value do_tc_size(const clang::CallExpr *e);
  Value do_tc_rank(const clang::CallExpr *e);
  Value do_tc_numel(const clang::CallExpr *e);
  Value do_tc_dtype_of(const clang::CallExpr *e);
  Value do_tc_copy_(const clang::CallExpr *e);
  Value do_tc_add_(const clang::CallExpr *e);
  Value do_tc_sub_(const clang::CallExpr *e);
  Value do_tc_mul_(const clang::CallExpr *e);
  Value do_tc_div_(const clang::CallExpr *e);
  Value do_tc_fill_(const clang::CallExpr *e);
  Value write_in_place(const clang::CallExpr *e, tc_op op);
  tc_ref spread(tc_ref value, const tc_type &like, const clang::CallExpr *e);

  // shapes.cpp
  bool bind_parameters();
  void bind_parameter(unsigned index);
  bool bind_input(const clang::ParmVarDecl *parameter, const clang::StringLiteral *shape);
  bool check_declared(const clang::FunctionDecl *callee, const std::vector<Value> &arguments,
                      const clang::CallExpr *e);
  std::string describe(tc_ref ref);

  // results.cpp
  bool finish(const Value &returned, CapturedFunction &result);
  std::string result_text(const Value &v, clang::SourceLocation loc, CapturedFunction &result);
  bool bind_sizes(CapturedFunction &result);

  struct Frame {
    const clang::FunctionDecl *function;
    std::map<const clang::VarDecl *, unsigned> variables; // slots
    Value returned;
    clang::SourceLocation return_loc;
  };

  clang::ASTContext &context;
  const clang::SourceManager &sources;
  const clang::FunctionDecl *function;
  tc_graph *graph;
  tc_dims *dims;
  tc_diag *diag;
  Discovered &discovered;
  bool collecting;
  const Sink &sink;

  bool failed = false;
  std::deque<Frame> frames;
  std::deque<Value> memory;
  std::deque<Storage> storages;
  std::map<std::pair<const clang::ParmVarDecl *, int64_t>, Value> outputs;
  std::map<unsigned, std::string> results;           // storage -> C text of the result that owns it
  std::map<std::string, std::string> scalar_symbols; // symbol name -> text of the scalar
  int ops = 0;
  int iterations = 0;
  int depth = 0; // of nested expressions and statements being evaluated
};

// Nesting that the stack of the capturing thread holds (see plugin/job.cpp).
inline constexpr int max_depth = 10000;

bool is_tensor_pointer(clang::QualType type);

} // namespace tc

#endif
