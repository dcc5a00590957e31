// serve.cpp - see serve.h.
#include "tools/tcompile/serve.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>

#include "tools/tcompile/answer.h"
#include "tools/tcompile/invocation.h"
#include "tools/tcompile/translate.h"

namespace tc {
namespace {

using llvm::StringRef;

struct Request {
  Source source;
  std::string language = "c";
  std::vector<std::string> problems; // of options
  bool complete = false;
};

bool read_record(tc_record &record, std::string &text) {
  if (fread(&record, sizeof record, 1, stdin) != 1 || record.kind >= TC_REC_COUNT) return false;
  text.clear();
  char part[1 << 16];
  for (size_t left = record.size, n; left; left -= n) {
    n = fread(part, 1, std::min(left, sizeof part), stdin);
    if (!n) return false;
    text.append(part, n);
  }
  return true;
}

void accept(const tc_record &record, std::string &&text, Request &request) {
  switch (record.kind) {
  case TC_REC_COMPILER:
    request.source.of_clang = text == "clang";
    break;
  case TC_REC_FLAG:
    request.source.flags.push_back(std::move(text));
    break;
  case TC_REC_OPTION:
    if (std::string why = set_option(request.source, text); !why.empty())
      request.problems.push_back((request.source.of_clang ? "-fplugin-arg-tc-" : "") + text + ": " +
                                 why);
    break;
  case TC_REC_LANGUAGE:
    request.language = std::move(text);
    break;
  case TC_REC_NAME:
    request.source.name = std::move(text);
    break;
  case TC_REC_TEXT:
    request.source.text = std::move(text);
    break;
  case TC_REC_TOKENS:
    request.source.tokens = std::move(text);
    break;
  case TC_REC_TYPES:
    request.source.types = std::move(text);
    break;
  default:
    break;
  }
}

Request read_request() {
  Request request;
  tc_record record;
  std::string text;
  if (!read_record(record, text) || record.kind != TC_REC_HELLO || text != TC_PROTOCOL)
    return request;
  while (read_record(record, text) && record.kind != TC_REC_END)
    accept(record, std::move(text), request);
  request.complete = record.kind == TC_REC_END && request.source.text;
  return request;
}

bool optimises_at_link(const std::vector<std::string> &flags) {
  return llvm::any_of(flags,
                      [](StringRef flag) { return flag == "-flto" || flag.starts_with("-flto="); });
}

} // namespace

int serve() {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody would read the answer
  Request request = read_request();
  Answer answer(stdout);
  if (request.complete) {
    Source &source = request.source;
    if (!source.of_clang) {
      if (optimises_at_link(source.flags)) source.code = Code::Joinable;
      source.flags = from_gcc(source.flags);
      source.flags.insert(source.flags.end(), {"-x", request.language});
    }
    Translation result;
    result.understood = true;
    for (const std::string &problem : request.problems) answer.say(TC_SAY_ERROR, problem);
    if (request.problems.empty()) translate(source, &answer, result);
    if (!result.understood || source.of_clang) answer.put_unread();
    for (const NewText &text : result.texts) answer.put(text);
  }
  return answer.end() && request.complete ? 0 : 1;
}

} // namespace tc
