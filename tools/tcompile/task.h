// task.h - one file, from the disk to the disk.
#ifndef TC_TOOL_TASK_H
#define TC_TOOL_TASK_H

#include "tools/tcompile/report.h"
#include "tools/tcompile/translate.h"

namespace tc {

struct Task {
  std::string input;   // "-": standard input
  std::string output;  // of the text; "-": standard output
  std::string overlay; // the folder for copies of headers; "": none
  Source source;       // flags, options, form of the code; its name and text come of `input`
  bool record = false; // messages go into the outcome, in place of standard error
};

struct Outcome {
  enum Status { Failed, Skipped, Translated } status = Failed; // Skipped: nothing can be annotated
  std::vector<std::string> outputs;                            // files that were written
  std::string explanation;                                     // rows of backends/explain.h
  llvm::json::Array messages;                                  // of a recorded task
};

// Errors leave files as they were.
Outcome perform(Task &task);

// {"file", "status", "outputs", "kernels", "functions", "diagnostics"}; status: failed, skipped,
// translated.
llvm::json::Object to_json(const std::string &input, Outcome &&outcome);

// {"version", "files"} to standard output.
void print_document(llvm::json::Array files);

// dir/f.c becomes dir/f.tc.c; standard input becomes standard output.
std::string default_output(llvm::StringRef input);

// Creates the folders on the way to the file.  What went wrong, or "".
std::string make_folders(llvm::StringRef file);

} // namespace tc

#endif
