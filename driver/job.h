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

// A compiler that is not this one, which compiles the file.
struct OtherCompiler {
  Dialect dialect; // that it reads the new texts in
  // TC_REC_TOKENS and TC_REC_TYPES; empty: what this one reads, and makes of it.
  llvm::StringRef tokens, types;
  bool split = false;     // code comes apart from the text
  // what it makes of the text is joined with other files' by link-time optimisation
  bool joined = false;
  bool headers = true;    // new texts of headers are read; else functions there stay as they are
  // What comes out.
  std::vector<NewText> texts = {};
  std::string assembly = {};    // split: the code that the texts call; "": they call none
  std::string explanation = {}; // rows of backends/explain.h
  bool understood = true;       // else there is an error for which nothing was done
};

// Parses the file apart from the user's compilation, captures and compiles its annotated functions,
// and arranges that `user` sees the rewritten text and gets the kernels.
void compile_annotated(clang::CompilerInstance &user, const Options &options);

// Likewise for another one: the new texts, with the kernels, go to `other` as well.
void compile_annotated(clang::CompilerInstance &user, const Options &options, OtherCompiler &other);

} // namespace tc

#endif
