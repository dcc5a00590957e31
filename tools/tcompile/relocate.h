// relocate.h - new texts that lie in other folders than the files that they are made of, and
// include each other.
#ifndef TC_TOOL_RELOCATE_H
#define TC_TOOL_RELOCATE_H

#include "tools/tcompile/translate.h"

namespace tc {

struct OutputFile {
  std::string path, text;
};

// Where a unit's texts go.
struct Layout {
  std::string source;  // the file, as Clang was told; or standard_input
  std::string main;    // its new text; "-": standard output, which is read in the current folder
  std::string overlay; // the folder of those of headers; "": there are none
};

inline const char standard_input[] = "<stdin>";

// The main text, for layout.main, and copies of headers below layout.overlay: those with new texts,
// and those on the way to them.  Directives name the copies, and what was found beside its
// includer, by paths relative to the new places, so that no search path has to change.  Each text
// begins with a line marker that names its original.  The first file is the main one.
// `original`: the text of the main file, which is used where it has no new one.
// Returns what stands in the way, or "".
std::string relocate(const Layout &layout, const Translation &unit, const std::string &original,
                     std::vector<OutputFile> &files);

} // namespace tc

#endif
