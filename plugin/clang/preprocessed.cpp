// preprocessed.cpp - text that is preprocessed apart (-E, -save-temps, distcc) keeps its annotations.
//
// No action of a plugin runs then, and __has_attribute of Clangs before 19 does not know attributes
// of plugins.  tcompile.h asks them by this pragma.  Elsewhere the tool has read the annotations.
#include "plugin/clang/thin.h"

#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

namespace tc_thin {
namespace {

using namespace clang;

struct KeepsAttributes : PragmaHandler {
  KeepsAttributes() : PragmaHandler("tcompile_keeps_attributes") {}

  void HandlePragma(Preprocessor &pp, PragmaIntroducer, Token &first) override {
    if (!pp.isPreprocessedOutput()) return;
    MacroInfo *macro = pp.AllocateMacroInfo(first.getLocation());
    pp.appendDefMacroDirective(pp.getIdentifierInfo("TC_KEEPS_ATTRIBUTES"), macro);
  }
};

PragmaHandlerRegistry::Add<KeepsAttributes> add_keeps_attributes("tcompile_keeps_attributes", "");

} // namespace
} // namespace tc_thin
