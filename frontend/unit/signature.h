// signature.h - how other files declare an annotated function: rows of backends/explain_rows.h, for
// tc-export.
#ifndef TC_UNIT_SIGNATURE_H
#define TC_UNIT_SIGNATURE_H

#include "frontend/clang_compat.h"
#include "graph/support/support.h"

namespace tc {

// A row of its symbol and result, and one for each parameter.
void explain_signature(const clang::FunctionDecl *function, tc_buf *rows);

} // namespace tc

#endif
