// plugin.cpp - libtcclang-N.so: the entry of the thin plugin, for a Clang whose libraries the full
// one is not made of.
//
// As in the full plugin the main file gets another text before it is entered; the tool writes it,
// and its kernels are assembly in it.
#include "plugin/clang/thin.h"

#include "plugin/client/scan.h"

namespace tc_thin {
namespace {

using namespace clang;
using tc_client::Answer;
using tc_client::Message;

// ---- the file -----------------------------------------------------------------------------------

struct MainFile {
  std::string name;
  llvm::StringRef text;
};

bool main_file(CompilerInstance &ci, MainFile &file) {
  const Language language = ci.getFrontendOpts().Inputs.front().getKind().getLanguage();
  if (language != Language::C && language != Language::CXX) return false;
  SourceManager &sources = ci.getSourceManager();
  const auto entry = sources.getFileEntryRefForID(sources.getMainFileID());
  if (!entry) return false;
  file = {entry->getName().str(), sources.getBufferData(sources.getMainFileID())};
  return true;
}

bool may_be_annotated(CompilerInstance &ci, const MainFile &file) {
  std::vector<const char *> list;
  for (const auto &entry : ci.getHeaderSearchOpts().UserEntries)
    if (entry.Group == frontend::Quoted || entry.Group == frontend::Angled)
      list.push_back(entry.Path.c_str());
  const tc_folders folders = {list.data(), list.size()};
  for (const std::string &header : ci.getPreprocessorOpts().Includes)
    if (tc_header_may_be_annotated(header.c_str(), &folders)) return true;
  return tc_file_may_be_annotated(file.text.data(), file.text.size(), file.name.c_str(), &folders);
}

// The main file already has an id, made for its old length: it gets a new one.
void replace_main(SourceManager &sources, const std::string &text) {
  const FileID old = sources.getMainFileID();
  const auto entry = sources.getFileEntryRefForID(old);
  const auto kind = sources.getFileCharacteristic(sources.getLocForStartOfFile(old));
  sources.overrideFileContents(*entry,
                               llvm::MemoryBuffer::getMemBufferCopy(text, entry->getName()));
  sources.setMainFileID(sources.createFileID(*entry, SourceLocation(), kind));
}

void replace(CompilerInstance &ci, const MainFile &main, const tc_client::NewFile &file) {
  SourceManager &sources = ci.getSourceManager();
  if (file.name == main.name) return replace_main(sources, file.text);
  if (!ci.getPreprocessorOpts().ImplicitPCHInclude.empty()) return; // it may be in there, as it was
  if (auto entry = ci.getFileManager().getOptionalFileRef(file.name))
    sources.overrideFileContents(*entry,
                                 llvm::MemoryBuffer::getMemBufferCopy(file.text, file.name));
}

// ---- the tool -----------------------------------------------------------------------------------

// false: there is no answer, which was said.
bool ask(CompilerInstance &ci, const tc_client::Settings &settings, const MainFile &file,
         Answer &answer) {
  static const char compiler[] = "clang";
  tc_bytes request = {}, bytes = {};
  tc_request_begin(&request);
  tc_request_put(&request, TC_REC_COMPILER, compiler, strlen(compiler));
  put_flags(ci, &request);
  tc_client::put_options(settings, &request);
  tc_request_put(&request, TC_REC_NAME, file.name.data(), file.name.size());
  tc_request_put(&request, TC_REC_TEXT, file.text.data(), file.text.size());
  tc_tool_problem why;
  const char *problem =
      tc_tool_ask(settings.tool.c_str(), &request, settings.seconds, &bytes, &why);
  if (problem) warn(ci, std::string(problem) + ": the functions of this file run eagerly");
  else answer = tc_client::read_answer(bytes);
  tc_bytes_free(&request);
  tc_bytes_free(&bytes);
  return !problem;
}

// At the end: this Clang found no error where the tool did.
class Consumer : public ASTConsumer {
public:
  Consumer(CompilerInstance &ci, std::vector<Message> unread) : ci(ci), unread(std::move(unread)) {}

  void HandleTranslationUnit(ASTContext &) override {
    if (ci.getDiagnostics().hasErrorOccurred()) return;
    for (Message &each : unread) {
      each.head.group = TC_OF_BACKEND_PLUGIN;
      each.text =
          "the functions of this file run eagerly, since it is not understood as a whole: " +
          each.text;
    }
    show(ci, unread);
  }

private:
  CompilerInstance &ci;
  std::vector<Message> unread;
};

class Action : public PluginASTAction {
protected:
  ActionType getActionType() override { return AddBeforeMainAction; }

  bool ParseArgs(const CompilerInstance &ci, const std::vector<std::string> &arguments) override {
    for (const std::string &each : arguments) {
      const std::string why = settings.apply(each);
      if (why.empty()) continue;
      DiagnosticsEngine &diags = ci.getDiagnostics();
      diags.Report(diags.getCustomDiagID(DiagnosticsEngine::Error, "'-fplugin-arg-tc-%0' %1"))
          << each.substr(0, each.find('=')) << why;
    }
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, llvm::StringRef) override {
    MainFile file;
    Answer answer;
    if (main_file(ci, file) && may_be_annotated(ci, file) && ask(ci, settings, file, answer)) {
      show(ci, answer.messages);
      for (const tc_client::NewFile &each : answer.files) replace(ci, file, each);
    }
    return std::make_unique<Consumer>(ci, std::move(answer.unread));
  }

private:
  tc_client::Settings settings;
};

FrontendPluginRegistry::Add<Action> add_action("tc", "compile annotated tensor functions");

} // namespace
} // namespace tc_thin
