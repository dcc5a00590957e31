// kernels.h - from the generated C texts to code in the user's object.
//
// Every text is compiled in this process by a compiler instance of its own, in its own LLVMContext
// (sharing the user's would crash), with flags of its own: -O3 (or less on request), OpenMP, one
// CPU level.  What comes out is put into the user's module in one of two forms:
//
//   Assembly  finished machine code, as file-scope __asm__ in the rewritten text.  The user's -O0,
//   sanitizers, coverage
//             or instrumentation cannot touch it.  (The code generator's effort is a property of a
//             whole module, so bitcode linked into an -O0 compilation would be ruined.)
//   Bitcode   optimised IR, linked when the user's pipeline starts.  For -emit-llvm, LTO (where
//   equal
//             kernels of several files must be one) and object formats other than ELF.
#ifndef TC_DRIVER_KERNELS_H
#define TC_DRIVER_KERNELS_H

#include <string>
#include <vector>

#include "backends/compile.h"
#include "driver/lines.h"
#include "frontend/clang_compat.h"
#include "frontend/unit/rewrite.h"

namespace tc {

enum class Form { Assembly, Bitcode };

// What suits the user's compilation.
Form choose_form(const clang::CompilerInstance &user);

// Whether the generated code can be compiled for the user's target; else why not.
std::string unsupported_target(const clang::CompilerInstance &user);

const unsigned data_alignment = 64; // of Data: what the driver's loader copies fastest

// Read-only data of the object: machine code for GPUs.  Equal data of several objects is merged.
struct Data {
  std::string name, bytes;
};

struct CompiledUnit {
  Form form;
  std::vector<std::string> parts; // host text, then the kernel text once per level
  std::vector<std::string> entries;
  std::vector<Data> data;
  bool lines = false;  // some parts have line tables
  std::string explain; // contents of the section of backends/explain_rows.h
  std::string error;   // not empty: the generated text did not compile
};

// Compiles the parts of a unit, each of them once: the kernel text can be compiled while the host
// text is still waited for.
class TextCompiler {
public:
  // `effort` is the -O level; `macros` are NAME=NUMBER for the kernel text.
  // What was compiled before comes from the cache.  jobs: texts compiled at once.
  TextCompiler(const clang::CompilerInstance &user, unsigned effort,
               const std::vector<std::string> &macros, tc_cache *cache, unsigned jobs)
      : user(user), effort(effort), macros(macros), cache(cache), jobs(jobs) {
    unit.form = choose_form(user);
  }

  // Kernels get line tables that point into these files, where the user's object has such.
  void point_to(FileNames names) { files = std::move(names); }

  void compile_kernels(const tc_texts &texts);
  // The rest.  `entries` are the names of the entry functions in the host text: they become local
  // symbols.
  CompiledUnit finish(const tc_texts &texts, std::vector<std::string> entries);

private:
  void add_lines(const tc_texts &texts, std::vector<struct UnitPart> &parts);

  const clang::CompilerInstance &user;
  unsigned effort;
  std::vector<std::string> macros;
  tc_cache *cache;
  unsigned jobs;
  CompiledUnit unit = {};
  FileNames files;
  std::vector<std::string> lined;   // the kernel texts with lines
  std::vector<std::string> kernels; // compiled texts, one per level
  bool have_kernels = false;
};

// Remembers the first error.
struct FirstError : clang::DiagnosticConsumer {
  std::string text;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override;
};

// Bitcode: links the unit into the module that `user` is going to compile.
void link_unit(clang::CompilerInstance &user, CompiledUnit unit);

} // namespace tc

#endif
