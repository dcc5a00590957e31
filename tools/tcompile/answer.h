// answer.h - what the tool sends back: see driver/protocol.h.
#ifndef TC_TOOL_ANSWER_H
#define TC_TOOL_ANSWER_H

#include <cstdio>

#include "driver/job.h"
#include "driver/protocol.h"

namespace tc {

// Of the messages of a parse it sends those that are about annotations; the others are the other
// compiler's to give.
class Answer : public clang::DiagnosticConsumer {
public:
  explicit Answer(FILE *out);

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override;
  void say(tc_record_severity severity, llvm::StringRef text); // of no place
  void put(const NewText &text);
  void put_unread(); // why the file was not understood
  bool end(); // false: not all could be written

private:
  void record(tc_record_kind kind, llvm::ArrayRef<llvm::StringRef> parts);
  void message(tc_record_kind kind, const tc_record_message &message, llvm::StringRef file,
               llvm::StringRef text_file, llvm::StringRef text);
  void range(tc_record_kind kind, const clang::Diagnostic &info, clang::CharSourceRange range,
             llvm::StringRef text);

  FILE *out;
  bool ok = true;
  // The first error that is Clang's own; its text is empty: there is none.
  tc_record_message unread = {};
  std::string unread_file, unread_text_file, unread_text;
  bool last_sent = false; // notes belong to the message before
};

} // namespace tc

#endif
