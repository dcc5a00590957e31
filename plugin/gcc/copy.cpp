// copy.cpp - copies of this process, which find out what the file means to GCC.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

#include <fcntl.h>
#include <sys/wait.h>

namespace tc_gcc {
namespace {

struct Copy {
  pid_t id = -1;
  int from = -1; // where what it writes comes from
};

// Messages and output are the other process's.
void be_silent() {
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, 1);
  dup2(nowhere, 2);
  if (asm_out_file) dup2(nowhere, fileno(asm_out_file));
}

[[noreturn]] void run(void (*write)(FILE *), int to) {
  be_silent();
  FILE *out = fdopen(to, "w");
  if (out) {
    write(out);
    fflush(out);
  }
  _exit(0);
}

Copy begin(void (*write)(FILE *)) {
  Copy copy;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return copy;
  fflush(nullptr); // or both processes would write it
  copy.id = fork();
  if (!copy.id) run(write, ends[1]);
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

// last: what a record ends with that is whole.
void put_result(Copy copy, tc_record_kind kind, const std::string &last, tc_bytes *request) {
  if (copy.from < 0) return;
  const std::string all = copy.id > 0 ? read_until_end(copy.from) : "";
  close(copy.from);
  while (copy.id > 0 && waitpid(copy.id, nullptr, 0) < 0 && errno == EINTR) continue;
  if (all.size() >= last.size() && !all.compare(all.size() - last.size(), last.size(), last))
    tc_request_put(request, kind, all.data(), all.size());
}

} // namespace

void put_meaning(tc_bytes *request) {
  Copy tokens;
  if (!cpp_get_options(parse_in)->preprocessed) tokens = begin(write_tokens);
  const Copy types = begin(write_types);
  put_result(tokens, TC_REC_TOKENS, std::string("Z\0", 2), request);
  put_result(types, TC_REC_TYPES, std::string("\0\0\0", 3), request);
}

} // namespace tc_gcc
