// translate.h - one file, from what is written to what another compiler reads.
#ifndef TC_TOOL_TRANSLATE_H
#define TC_TOOL_TRANSLATE_H

#include <optional>
#include <string>
#include <vector>

#include "driver/job.h"

namespace tc {

struct Source {
  std::string name;                // as given
  std::optional<std::string> text; // else the file of that name
  std::vector<std::string> flags;  // of Clang's driver, without the file
  bool of_clang = false;           // or of -cc1 of some Clang, which also reads what comes out
  Options options;
  std::string tokens; // as another compiler reads them (TC_REC_TOKENS); empty: as Clang does
};

// Parses the file as Clang does with these flags; texts: the files that are new.  Messages go to
// `diagnostics`; null: to standard error, as Clang prints them.  false: errors.
// understood: whether functions were compiled all the same, but for those with errors.
bool translate(const Source &source, clang::DiagnosticConsumer *diagnostics,
               std::vector<NewText> &texts, bool *understood = nullptr);

// Code generators; before anything else.
void initialize_targets();

// Applies KEY=VALUE; what is wrong with it, or "".
std::string set_option(Source &source, llvm::StringRef option);

} // namespace tc

#endif
