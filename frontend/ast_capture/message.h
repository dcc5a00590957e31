// message.h - one message to the user, at a place of the parse that capture works on.
#ifndef TC_MESSAGE_H
#define TC_MESSAGE_H

#include <string>
#include <vector>

#include "graph/support/support.h"
#include "frontend/clang_compat.h"

namespace tc {

struct FixIt {
  clang::CharSourceRange range;
  std::string text; // replaces the range
};

struct Message {
  tc_severity severity;
  clang::SourceLocation loc; // invalid: no place
  std::string text;
  std::vector<clang::CharSourceRange> ranges;
  std::vector<FixIt> fixits;
  std::vector<Message> notes = {}; // what to see elsewhere
};

} // namespace tc

#endif
