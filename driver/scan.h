// scan.h - the cheap test that spares files without annotations the inner parse.
#ifndef TC_DRIVER_SCAN_H
#define TC_DRIVER_SCAN_H

#include "frontend/clang_compat.h"

namespace tc {

// Whether the main file, or a header that it includes from the user's directories (beside the file,
// -I, -iquote, -include), spells the annotation.  Text only: no macro is expanded, so the answer
// may be yes without need, and is no only for files whose annotations hide in system headers, and
// for languages other than C and C++.
bool may_be_annotated(clang::CompilerInstance &ci);

} // namespace tc

#endif
