// translate.h - one file, from what is written to what another compiler reads.
#ifndef TC_TOOL_TRANSLATE_H
#define TC_TOOL_TRANSLATE_H

#include <optional>
#include <string>
#include <vector>

#include "driver/job.h"
#include "tools/tcompile/inclusions.h"

namespace tc {

// Where the code goes: into the text, such that link-time optimisation can join it with that of
// other files or not, or into a file of its own.
enum class Code { InText, Joinable, Object, Assembly };

struct Source {
  std::string name;                // as given
  std::optional<std::string> text; // else the file of that name
  std::vector<std::string> flags;  // of Clang's driver, without the file
  bool of_clang = false;           // or of -cc1 of some Clang, which also reads what comes out
  Options options;
  // TC_REC_TOKENS and TC_REC_TYPES of another compiler; empty: as Clang's.
  std::string tokens, types;
  Code code = Code::InText;
  bool headers = true; // new texts of headers are read
  bool annotated_only =
      false; // nothing is to be done for a file that cannot contain an annotated function
};

struct Translation {
  bool annotated = false; // the file can contain an annotated function
  bool understood =
      false; // whether functions were compiled all the same, but for those with errors
  std::vector<NewText> texts;
  std::vector<Inclusion> inclusions; // that Clang meets in the new texts
  std::string code;                  // of Code::Object and Code::Assembly
  std::string explanation;           // rows of backends/explain.h
};

// Parses the file as Clang does with these flags.  Messages go to `diagnostics`; null: to standard
// error, as Clang prints them.  false: errors.
bool translate(const Source &source, clang::DiagnosticConsumer *diagnostics, Translation &result);

// Code generators; before anything else.
void initialize_targets();

// Applies KEY=VALUE; what is wrong with it, or "".
std::string set_option(Source &source, llvm::StringRef option);

} // namespace tc

#endif
