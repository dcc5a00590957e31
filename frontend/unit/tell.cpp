// tell.cpp - what the user gets to hear of a unit's functions: messages, and what tc-explain reads.
#include "backends/explain.h"
#include "frontend/unit/signature.h"
#include "frontend/unit/unit.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

// What tc-explain tells about the file.
std::string Unit::explanation() const {
  if (!shell.makes_code() || !options.explain || functions.empty() ||
      !context.getTargetInfo().getTriple().isOSBinFormatELF())
    return "";
  tc_buf rows = {};
  OptionalFileEntryRef main = sources.getFileEntryRefForID(sources.getMainFileID());
  tc_explain_unit(main ? main->getName().str().c_str() : "", &rows);
  for (const FunctionJob &f : functions) {
    unsigned line = sources.getPresumedLineNumber(sources.getFileLoc(f.decl->getLocation()));
    tc_explain_function(f.name.c_str(), f.file.c_str(), line, &rows);
    tc_put(&rows, f.profiled.text ? f.profiled.text : "");
    explain_signature(f.decl, &rows);
    for (const Message &message : f.messages) {
      StringRef text = message.text;
      bool stays = text.consume_front("graph break in '" + f.name + "': ") ||
                   text.consume_front("'" + f.name + "' not compiled: ") ||
                   text.consume_front("'" + f.name + "' not compiled for other values: ");
      if (message.severity != TC_MISSED && !stays) continue;
      PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(message.loc));
      StringRef file = place.isValid() ? place.getFilename() : "";
      tc_explain_break(file == f.file ? "" : file.str().c_str(),
                       place.isValid() ? place.getLine() : line,
                       place.isValid() ? place.getColumn() : 0, text.str().c_str(), &rows);
    }
    tc_put(&rows, f.compiled && f.explain.text ? f.explain.text : "");
    rows.failed |= f.explain.failed;
  }
  std::string out = rows.failed ? "" : std::string(rows.text, rows.len);
  tc_buf_free(&rows);
  return out;
}

// max_kernels, max_workspace and max_saved.
void Unit::check_contract(FunctionJob &f) {
  auto error = [&](const std::string &text) {
    f.messages.push_back({TC_ERROR, f.decl->getLocation(), "'" + f.name + "' " + text, {}, {}});
  };
  int kernels = 0; // of the sizes that need most
  for (const Made &made : f.sizes_made) kernels = std::max(kernels, f.kernels_of(made));
  if (f.options.max_kernels && kernels > *f.options.max_kernels) {
    error("needs " + std::to_string(kernels) +
          " kernels, and max_kernels=" + std::to_string(*f.options.max_kernels));
    std::vector<Message> notes;
    for (Message &message : f.messages)
      if (message.severity == TC_REMARK && StringRef(message.text).contains("kernel "))
        notes.push_back({TC_NOTE, message.loc, message.text, {}, {}});
    f.messages.insert(f.messages.end(), notes.begin(), notes.end());
  }
  if (f.options.max_workspace && f.workspace == INT64_MAX)
    error("needs a workspace that has no bound, and max_workspace=" +
          std::to_string(*f.options.max_workspace) +
          "; bound the sizes of its operands, as in \"f32[B<=64,10]\"");
  if (f.options.max_saved && f.saved > *f.options.max_saved)
    error("saves " + std::to_string(f.saved) +
          " bytes for its gradients, and max_saved=" + std::to_string(*f.options.max_saved));
  if (f.options.max_workspace && f.workspace != INT64_MAX && f.workspace > *f.options.max_workspace)
    error("needs a workspace of up to " + std::to_string(f.workspace) +
          " bytes, and max_workspace=" + std::to_string(*f.options.max_workspace));
}

// ", for CPU and GPU"
static std::string devices_of(const FunctionJob &f) {
  std::string list, last;
  const tc_choices &choices = f.options.backends;
  for (uint32_t i = 0; i < choices.n; i++) {
    if (!(f.made >> i & 1)) continue;
    if (!last.empty()) list += (list.empty() ? "" : ", ") + last;
    last = choices.at[i].backend->device_label;
  }
  return list.empty() ? "" : ", for " + list + " and " + last;
}

static bool lacks_wanted(const FunctionJob &f) {
  const tc_choices &choices = f.options.backends;
  for (uint32_t i = 0; i < choices.n; i++)
    if (choices.at[i].wish == TC_WISH_WANT && !(f.made >> i & 1)) return true;
  return false;
}

void Unit::show(FunctionJob &f) {
  check_contract(f);
  for (size_t i = 0; f.compiled && i < f.sizes_made.size(); i++) {
    const Made &made = f.sizes_made[i];
    f.messages.insert(f.messages.begin() + static_cast<std::ptrdiff_t>(i),
                      {TC_REMARK,
                       f.decl->getLocation(),
                       "'" + f.name + "' compiled" +
                           (made.made_for.empty() ? "" : " for " + made.made_for) + ": " +
                           std::to_string(made.ops) + " ops in " + std::to_string(made.kernels) +
                           (made.kernels == 1 ? " kernel" : " kernels") +
                           (f.captured.breaks || made.segments > 1
                                ? ", " + std::to_string(made.segments) +
                                      (made.segments == 1 ? " segment" : " segments")
                                : "") +
                           devices_of(f),
                       {},
                       {}});
  }
  bool wanting = !f.eager && (!f.compiled || (shell.makes_code() && lacks_wanted(f)));
  for (Message &message : f.messages) {
    if (wanting && f.options.fullgraph && message.severity == TC_MISSED)
      message.severity = TC_ERROR;
    shell.show(message);
  }
}

} // namespace tc
