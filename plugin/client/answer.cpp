// answer.cpp - see answer.h.
#include "plugin/client/answer.h"

#include <cstring>

namespace tc_client {
namespace {

// A name, a zero, and the rest.
bool split(const std::string &bytes, std::string &name, std::string &rest) {
  const size_t zero = bytes.find('\0');
  if (zero == std::string::npos) return false;
  name = bytes.substr(0, zero);
  rest = bytes.substr(zero + 1);
  return true;
}

void add_message(const std::string &record, std::vector<Message> &list) {
  Message m = {};
  if (record.size() < sizeof m.head) return;
  memcpy(&m.head, record.data(), sizeof m.head);
  std::string rest;
  if (split(record.substr(sizeof m.head), m.file, rest) && split(rest, m.text_file, m.text))
    list.push_back(m);
}

void add_range(const tc_record &head, const std::string &record, Message &m) {
  tc_record_range range;
  if (record.size() < sizeof range) return;
  memcpy(&range, record.data(), sizeof range);
  if (head.kind == TC_REC_RANGE) m.ranges.push_back(range);
  else m.fixits.push_back({range, record.substr(sizeof range)});
}

void add_file(const std::string &record, std::vector<NewFile> &list) {
  NewFile file;
  if (split(record, file.name, file.text)) list.push_back(file);
}

} // namespace

Answer read_answer(const tc_bytes &bytes) {
  Answer answer;
  tc_record head = {};
  const char *at;
  for (size_t i = 0; tc_answer_next(&bytes, &i, &head, &at);) {
    const std::string record(at, head.size);
    if (head.kind == TC_REC_MESSAGE) add_message(record, answer.messages);
    else if (head.kind == TC_REC_UNREAD) add_message(record, answer.unread);
    else if (head.kind == TC_REC_FILE) add_file(record, answer.files);
    else if ((head.kind == TC_REC_RANGE || head.kind == TC_REC_FIXIT) && !answer.messages.empty())
      add_range(head, record, answer.messages.back());
  }
  return answer;
}

} // namespace tc_client
