// value.h - what a C expression means during capture.
#ifndef TC_CAPTURE_VALUE_H
#define TC_CAPTURE_VALUE_H

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "plugin/clang_compat.h"

namespace tc {

// A C object: a variable of the captured code, or an element of an output parameter (`out[1]`), and
// within it the member or element that `path` leads to.
struct Place {
  const clang::ParmVarDecl *out = nullptr; // output parameter; path is the one index
  unsigned slot = 0;                       // else: index in the evaluator's memory
  std::vector<int64_t> path;
};

// A value of arithmetic type.  `text` is a C expression of exactly this type and value over the
// function's parameters, without side effects; constants have it too.
struct Scalar {
  clang::QualType type; // canonical, unqualified
  bool constant = false;
  llvm::APSInt integer{1, true}; // of a constant of integer type
  double floating = 0;           // of a constant of type float or double
  std::optional<tc_dim> dim;     // integers that are expressions of sizes (constants too)
  std::string text;
};

// A tensor.  Tensors share memory through views; writes in place make views of older contents
// stale.
struct Tensor {
  tc_ref ref = {0};     // contents when the value was made
  unsigned storage = 0; // index in the evaluator's storages
  unsigned version = 0; // of the storage when the value was made
  bool whole = true;    // all of the storage in its own shape: contents are always the newest
};

// Memory of a tensor.
struct Storage {
  tc_ref current = {0};
  unsigned version = 0;                          // counts writes
  const clang::ParmVarDecl *parameter = nullptr; // whose memory this is; null: made here
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
    Foreign    // a parameter that is not followed; a tensor without TC_SHAPE
  };
  Kind kind = Unset;
  Tensor tensor;
  Scalar scalar;
  std::string string;
  std::vector<Value> parts;
  Place place;
  const clang::ParmVarDecl *parameter = nullptr; // Foreign

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
  static Value of(Place place) {
    Value v = of(Pointer);
    v.place = std::move(place);
    return v;
  }
};

} // namespace tc

#endif
