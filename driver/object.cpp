// object.cpp - see object.h.
#include "driver/object.h"

#include "backends/explain.h"
#include "driver/assembly.h"
#include "graph/support/sha256.h"
#include "llvm/ADT/StringExtras.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

// What the object gets, in order.
static std::vector<std::string> assembly_of(const CompiledUnit &unit) {
  std::vector<std::string> all;
  LineTables tables;
  for (const std::string &part : unit.parts) all.push_back(unit.lines ? tables.merge(part) : part);
  for (const Data &data : unit.data)
    all.push_back(data_assembly(data.name, data.bytes, data_alignment));
  if (!unit.explain.empty()) all.push_back(section_assembly(TC_EXPLAIN_SECTION, unit.explain));
  return all;
}

// Nothing in it needs a stack whose contents can be run.
const char empty_assembly[] = "\t.section .note.GNU-stack,\"\",@progbits\n";

// Units of equal suffix are equal: whose entries are called makes no difference.
static std::string suffix_of(const std::vector<std::string> &texts) {
  tc_sha256 hash;
  tc_sha256_begin(&hash);
  for (const std::string &each : texts) tc_sha256_add_field(&hash, each.data(), each.size());
  const tc_digest digest = tc_sha256_end(&hash);
  return "_" + llvm::toHex(llvm::ArrayRef<uint8_t>(digest.byte, 8), /*LowerCase=*/true);
}

std::string separate_assembly(const CompiledUnit &unit, std::string &suffix) {
  const std::vector<std::string> texts = assembly_of(unit);
  suffix = suffix_of(texts);
  std::string out;
  for (const std::string &each : texts) out += each;
  for (const std::string &entry : unit.entries) out += export_assembly(entry, entry + suffix);
  return out + empty_assembly;
}

static std::string file_scope_assembly(StringRef text) {
  std::string out = "__asm__(\"";
  for (char c : text) {
    if (c == '\n') out += "\\n\"\n\"";
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else out += c == '\t' ? ' ' : c;
  }
  return out + "\");\n";
}

static std::string declarations(const std::vector<std::string> &texts, Dialect dialect,
                                const CompilerInstance &user) {
  const bool pragmas = dialect == Dialect::Clang;
  // -masm=intel: what GCC's own code is written in.
  const bool intel =
      !pragmas && user.getCodeGenOpts().getInlineAsmDialect() == CodeGenOptions::IAD_Intel;
  std::string out = pragmas ? "\n#pragma clang diagnostic push\n"
                              "#pragma clang diagnostic ignored \"-Weverything\"\n"
                            : "\n# 1 \"tcompile.c\" 3\n";
  if (intel) out += file_scope_assembly("\t.att_syntax prefix\n");
  for (const std::string &each : texts) out += file_scope_assembly(each);
  if (intel) out += file_scope_assembly("\t.intel_syntax noprefix\n");
  return pragmas ? out + "#pragma clang diagnostic pop\n" : out;
}

std::string assembly_declarations(const CompiledUnit &unit, Dialect dialect,
                                  const CompilerInstance &user) {
  return declarations(assembly_of(unit), dialect, user);
}

std::string joinable_declarations(const CompiledUnit &unit, Dialect dialect,
                                  const CompilerInstance &user, std::string &suffix) {
  std::vector<std::string> texts = assembly_of(unit);
  suffix = suffix_of(texts);
  std::string exports;
  for (const std::string &entry : unit.entries)
    exports += "\t.weak " + entry + "\n\t.hidden " + entry + "\n";
  texts.push_back(exports);
  make_joinable(texts, suffix);
  return declarations(texts, dialect, user);
}

// A C file that says nothing but __asm__ is what Clang's libraries make an object of in every
// version.
std::string make_object(const CompilerInstance &user, StringRef assembly, std::string &error) {
  // No identification of the compiler, and no relocations that linkers before 2016 do not know.
  std::vector<const char *> flags = {"-triple", user.getTargetOpts().Triple.c_str(),
                                     "-x",      "c",
                                     "-Qn",     "-mrelax-relocations=no",
                                     "-w",      "tcompile.s"};
  FirstError diags;
  auto invocation = std::make_shared<CompilerInvocation>();
  if (!compat::parse_cc1(*invocation, flags, &diags)) {
    error = diags.text;
    return "";
  }
  const std::string text = file_scope_assembly(assembly);
  auto buffer = llvm::MemoryBuffer::getMemBuffer(text, "tcompile.s");
  invocation->getFrontendOpts().Inputs = {
      FrontendInputFile(buffer->getMemBufferRef(), InputKind(Language::C))};
  auto ci = compat::make_instance(
      invocation, &diags, nullptr,
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(new llvm::vfs::InMemoryFileSystem));
  llvm::SmallString<0> object;
  ci->setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  ci->setVerboseOutputStream(llvm::nulls());
  EmitObjAction action;
  if (ci->ExecuteAction(action) && !diags.getNumErrors()) return std::string(object);
  error = diags.text.empty() ? "it could not be assembled" : diags.text;
  return "";
}

} // namespace tc
