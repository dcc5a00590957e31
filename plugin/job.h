// job.h - everything that happens to the annotated functions of one translation unit.
#ifndef TC_PLUGIN_JOB_H
#define TC_PLUGIN_JOB_H

#include "frontend/options.h"

namespace tc {

// Parses the file apart from the user's compilation, captures and compiles its annotated functions,
// and arranges that `user` sees the rewritten text and gets the kernels.
void compile_annotated(clang::CompilerInstance &user, const Options &options);

} // namespace tc

#endif
