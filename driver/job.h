// job.h - everything that happens to the annotated functions of one translation unit.
#ifndef TC_DRIVER_JOB_H
#define TC_DRIVER_JOB_H

#include "frontend/options.h"

#include "frontend/unit/rewrite.h"

namespace tc {

// What another compiler gets to read.
struct NewText {
  std::string file, text;
  bool main;
};

// Parses the file apart from the user's compilation, captures and compiles its annotated functions,
// and arranges that `user` sees the rewritten text and gets the kernels.
void compile_annotated(clang::CompilerInstance &user, const Options &options);

// Likewise for another process, whose compiler reads that dialect: the new texts, with the kernels, go to
// `texts` as well.
void compile_annotated(clang::CompilerInstance &user, const Options &options, Dialect dialect,
                       std::vector<NewText> &texts);

} // namespace tc

#endif
