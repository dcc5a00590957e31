// value.h - what a C expression means during capture.
#ifndef TC_CAPTURE_VALUE_H
#define TC_CAPTURE_VALUE_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "frontend/clang_compat.h"

namespace tc {

// A C object.  Local: a variable of the captured statements, and within it the member or element
// that `path` leads to.  At entry: memory that exists when the statements begin, named by C text
// that is evaluated then: a variable of the function around them, a global, what a pointer leads
// to.
struct Place {
  unsigned slot = 0; // local: index in the evaluator's memory
  std::vector<int64_t> path;

  bool at_entry = false;
  std::string text; // an lvalue; with `indexed`: what is indexed to get it
  bool indexed = false;
  int64_t index = 0;
  bool deref = false; // the text follows a pointer
  size_t pointer = 0; // how much of the text is the last pointer that it follows
  bool in_union = false;
  clang::QualType type;                       // of the object (a pointer: of what it leads to)
  const clang::ValueDecl *declared = nullptr; // variable or member that names it
  std::string instance;                       // object that it is a member of; "" for variables
  const clang::VarDecl *root = nullptr;       // variable that the text starts from
  bool layout = false; // of tensors: the text is a tc_layout, the tensor itself does not exist
  std::shared_ptr<const struct TypeFact> made; // of a layout: what it is of

  // The nearest declaration with a TC_SHAPE on the way here, and the object that it is a member of:
  // it describes the tensor that a layout is made from.
  const clang::ValueDecl *shaped = nullptr;
  std::string shaped_instance;

  std::string lvalue() const { return indexed ? text + "[" + std::to_string(index) + "]" : text; }
};

// A value of arithmetic type.  `text` is a C expression of exactly this type and value over what
// exists when the statements begin, without side effects; constants have it too.  Of a late one the
// text holds only after the kernels ran (it reads their results); `ref` is its value in the graph.
struct Scalar {
  clang::QualType type; // canonical, unqualified
  bool constant = false;
  llvm::APSInt integer{1, true}; // of a constant of integer type
  double floating = 0;           // of a constant of type float or double
  std::optional<tc_dim> dim;     // integers that are expressions of sizes (constants too)
  std::string text;
  bool late = false;
  tc_ref ref = {0}; // late: node of rank 0, or none
  // Integers: how the value is made of others, for those that become sizes or positions, and what
  // compares them.
  std::shared_ptr<const struct Arithmetic> made;
  // doubles: the integer, not known at build time, that was converted
  std::shared_ptr<const Scalar> whole;

  bool asks() const; // is it 0 or 1 by a comparison, && or ||?
};

// a op b in a's type (a comparison, && and ||: in int), or, where op is BO_Comma, a in a wider
// type.
struct Arithmetic {
  clang::BinaryOperatorKind op;
  Scalar a, b;
  int depth;
};

inline bool Scalar::asks() const {
  return made && (clang::BinaryOperator::isComparisonOp(made->op) ||
                  clang::BinaryOperator::isLogicalOp(made->op));
}

// A tensor.  Tensors share memory through views; writes in place make views of older contents
// stale.
struct Tensor {
  tc_ref ref = {0};     // contents when the value was made
  tc_ref base = {0};    // a view: contents of the whole storage then
  unsigned storage = 0; // index in the evaluator's storages
  unsigned version = 0; // of the storage when the value was made
  bool whole = true;    // all of the storage in its own shape: contents are always the newest
  unsigned handle = 0;  // a view: which of the tensors that the statements make
};

// A view of a tensor of which every element was written: of the contents behind that it shows
// `value`.
struct Overwritten {
  tc_ref contents = {0}, view = {0}, value = {0};
};

// Memory of a tensor.
struct Storage {
  tc_ref current = {0};
  Overwritten
      last; // by the last write through a view, as far down to the tensor as it was all of it
  unsigned version = 0; // counts writes
  clang::SourceLocation written_at; // by the last of them
  Place source;         // where the tensor was found; source.at_entry is false: made here
  int input = -1;       // index among the graph's inputs, once it is one
  bool freed = false;
  bool tracked_write = false; // outside of TC_NO_GRAD
  bool reshaped = false;      // by what may copy, as its strides tell
  bool viewed = false;        // there is a view of it
  bool leaf = false;          // by tc_requires_grad_
  int depth = 0;              // TC_SCOPEs open around its making
};

struct Value {
  enum Kind {
    Unset, // an uninitialised object, or the result of a failed evaluation
    Void,
    Null,    // a null pointer
    Tensors, // a tensor
    Scalars,
    String,    // a string literal
    Aggregate, // array or struct
    Pointer,   // to a place
    Function,  // a pointer to a function that is known
    AtEntry,   // contents of an object of the entry state that nobody has looked at
    Foreign    // a pointer that is not followed; a tensor of unknown shape
  };
  Kind kind = Unset;
  Tensor tensor;
  Scalar scalar;
  std::string string;
  std::vector<Value> parts;
  Place place; // Pointer: to what; AtEntry, Foreign: where it was found
  const clang::FunctionDecl *function = nullptr;
  std::string origin; // lvalue that holds this value already

  static Value of(Kind kind) {
    Value v;
    v.kind = kind;
    return v;
  }
  static Value of(Scalar scalar) {
    Value v = of(Scalars);
    v.scalar = std::move(scalar);
    return v;
  }
  static Value of(const Tensor &tensor) {
    Value v = of(Tensors);
    v.tensor = tensor;
    return v;
  }
  static Value of(Kind kind, Place place) {
    Value v = of(kind);
    v.place = std::move(place);
    return v;
  }
};

} // namespace tc

#endif
