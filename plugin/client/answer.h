// answer.h - what the tool answered (driver/protocol.h), taken apart.
#ifndef TC_CLIENT_ANSWER_H
#define TC_CLIENT_ANSWER_H

#include <string>
#include <vector>

#include "plugin/client/tool.h"

namespace tc_client {

struct Fixit {
  tc_record_range place;
  std::string text;
};

struct Message {
  tc_record_message head;
  std::string file, text_file, text; // text_file: which it is written in
  std::vector<tc_record_range> ranges;
  std::vector<Fixit> fixits;
};

struct NewFile {
  std::string name, text;
};

struct Answer {
  std::vector<Message> messages, unread; // unread: see TC_REC_UNREAD
  std::vector<NewFile> files;
};

// Of an answer that tc_tool_ask found whole; records that are too short say nothing.
Answer read_answer(const tc_bytes &bytes);

} // namespace tc_client

#endif
