// copy.cpp - copies of this process, which find out what the file means to GCC.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

namespace tc_gcc {
namespace {

struct Copy {
  pid_t id = -1;
  int from = -1;     // where what it writes comes from
  int messages = -1; // a file that it prints to; -1: what it prints is not looked at
};

using Work = int(FILE *to); // exit status

// Output is the other process's.
void redirect(int messages) {
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, 1);
  dup2(messages < 0 ? nowhere : messages, 2);
  if (asm_out_file) dup2(nowhere, fileno(asm_out_file));
}

[[noreturn]] void run(Work *work, int to, int messages) {
  redirect(messages);
  FILE *out = fdopen(to, "w");
  const int status = out ? work(out) : 1;
  if (out) fflush(out);
  fflush(stderr);
  _exit(status);
}

Copy begin(Work *work, int messages) {
  Copy copy;
  copy.messages = messages;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return copy;
  fflush(nullptr); // or both processes would write it
  copy.id = fork();
  if (!copy.id) run(work, ends[1], messages);
  close(ends[1]);
  copy.from = ends[0];
  return copy;
}

std::string read_until_end(int from) {
  std::string all;
  char part[1 << 16];
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) all.append(part, static_cast<size_t>(n));
  return all;
}

// last: what a record ends with that is whole.  The exit status, or -1.
int put_result(Copy copy, tc_record_kind kind, const std::string &last, tc_bytes *request) {
  if (copy.from < 0) return -1;
  const std::string all = copy.id > 0 ? read_until_end(copy.from) : "";
  close(copy.from);
  int status = -1;
  while (copy.id > 0 && waitpid(copy.id, &status, 0) < 0 && errno == EINTR) continue;
  if (all.size() < last.size() || all.compare(all.size() - last.size(), last.size(), last))
    return -1;
  tc_request_put(request, kind, all.data(), all.size());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Messages in other forms than text come all at once, at the end.
bool prints_text() {
  for (unsigned i = 1; i < save_decoded_options_count; i++)
    if (save_decoded_options[i].opt_index == OPT_fdiagnostics_format_ ||
        save_decoded_options[i].opt_index == OPT_fdiagnostics_generate_patch)
      return false;
  return true;
}

} // namespace

Parse put_meaning(tc_bytes *request) {
  Copy tokens;
  if (!cpp_get_options(parse_in)->preprocessed) tokens = begin(write_tokens, -1);
  const int messages = prints_text() ? memfd_create("messages", MFD_CLOEXEC) : -1;
  const Copy types = begin(write_types, messages);
  put_result(tokens, TC_REC_TOKENS, std::string("Z\0", 2), request);
  const int status = put_result(types, TC_REC_TYPES, std::string("\0\0\0", 3), request);
  Parse parse;
  parse.complete = messages >= 0 && status >= 0;
  parse.errors = status == status_errors;
  if (messages < 0) return parse;
  lseek(messages, 0, SEEK_SET);
  parse.messages = read_until_end(messages);
  close(messages);
  return parse;
}

} // namespace tc_gcc
