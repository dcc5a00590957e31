// object.h - the forms in which the assembly of a unit reaches an object.
#ifndef TC_DRIVER_OBJECT_H
#define TC_DRIVER_OBJECT_H

#include <string>

#include "driver/kernels.h"

namespace tc {

// C declarations that put the unit into the object of the file that they stand in.
std::string assembly_declarations(const CompiledUnit &unit, Dialect dialect,
                                  const clang::CompilerInstance &user);

// The same where link-time optimisation may put the assembly of several files into one, and
// functions that call entries elsewhere: with a hidden symbol for each entry, its name and
// `suffix`.
std::string joinable_declarations(const CompiledUnit &unit, Dialect dialect,
                                  const clang::CompilerInstance &user, std::string &suffix);

// A file of its own, with a hidden symbol for each entry: its name and `suffix`, by which no other
// unit of a program calls different code.
std::string separate_assembly(const CompiledUnit &unit, std::string &suffix);

// What stands in place of it where there is no code.
extern const char empty_assembly[];

// The bytes of an object file for the target of `user`, which linkers of any age read; "" after an
// error, which says what is wrong with the assembly.
std::string make_object(const clang::CompilerInstance &user, llvm::StringRef assembly,
                        std::string &error);

} // namespace tc

#endif
