// assembly.h - compiler output made fit to stand in front of other compiler output in one file.
#ifndef TC_DRIVER_ASSEMBLY_H
#define TC_DRIVER_ASSEMBLY_H

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace tc {

// Private labels (.L...) get `suffix`, so that they do not meet those of other parts; directives
// that speak for a whole file (.file, .ident) go; the current section is kept.
// lines: line tables stay, joined to that of the whole file (see lines.h).
std::string embeddable_assembly(llvm::StringRef text, llvm::StringRef suffix, bool lines);

// For assembly that may be joined with that of other units: whatever the texts of a unit define
// gets a name of its own, which ends with `suffix`, and counts once where a unit of equal suffix is
// joined, too.
void make_joinable(std::vector<std::string> &texts, llvm::StringRef suffix);

// Constant data under a hidden name, in a group of that name (ELF).
std::string data_assembly(llvm::StringRef name, llvm::StringRef bytes, unsigned alignment);

// Another name for a function of the same assembly, which other objects of the program or library
// refer to (ELF).
std::string export_assembly(llvm::StringRef local, llvm::StringRef name);

// A section of that name that is not loaded (ELF); linkers join those of several objects.
std::string section_assembly(llvm::StringRef name, llvm::StringRef bytes);

} // namespace tc

#endif
