// report.h - what became of a file, and what Clang had to say about it, for programs.
#ifndef TC_TOOL_REPORT_H
#define TC_TOOL_REPORT_H

#include <string>
#include <vector>

#include "frontend/clang_compat.h"
#include "llvm/Support/JSON.h"

namespace tc {

// Collects messages:
//   {"severity", "file", "line", "column", "message", "option", "ranges", "fixits", "notes"}
// with severity error, warning, remark or note; without a place there are no file, line and column.
// Ranges are {"line", "column", "endLine", "endColumn"}, the end one behind the last byte; fixits
// have "text" as well.
class Recorder : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override;
  void add(llvm::StringRef severity, llvm::StringRef text); // of no place
  llvm::json::Array take() { return std::move(messages); }

private:
  llvm::json::Array messages;
};

// {"name", "file", "line", "status", "segments", "kernels", "reasons"} of each function that is
// marked, from the rows of backends/explain.h; status: compiled, partly (some statements stay),
// eager (all do).  kernels: distinct ones.
llvm::json::Array functions_of(const std::string &explanation, size_t &kernels);

// Bytes that are no UTF-8 become replacement characters.
std::string utf8(llvm::StringRef text);

} // namespace tc

#endif
