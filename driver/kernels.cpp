// kernels.cpp - compiling the generated texts in process.  See kernels.h.
#include "driver/kernels.h"

#include <atomic>
#include <set>

#include "driver/assembly.h"
#include "frontend/attributes.h"
#include "backends/explain.h"
#include "driver/part_cache.h"

namespace tc {
namespace {

using namespace clang;
using llvm::StringRef;

// ---- flags --------------------------------------------------------------------------------------

// CPU and features of each tc_isa.  AVX-512 levels ask for full vectors by name: x86-64-v4 alone
// would have the code generator split them.
const char *const level_flags[TC_ISA_COUNT] = {
    "-target-cpu x86-64-v2",
    "-target-cpu x86-64-v3",
    "-target-cpu x86-64-v4 -mprefer-vector-width=512",
    ("-target-cpu x86-64-v4 -mprefer-vector-width=512 -target-feature +avx512bf16 "
     "-target-feature +avx512vnni"),
    "-target-cpu sapphirerapids -mprefer-vector-width=512",
};

// Bytes of kernel text.  Optimising takes some 5 s a megabyte and level; from `many` on long
// functions are called, not inlined, and -O is at most 1; from `very_many` on values are only put
// into registers.
const size_t many = 3u << 20, very_many = 8u << 20;

unsigned effort_for(size_t bytes, unsigned wanted) {
  return bytes >= very_many ? 0 : bytes >= many ? std::min(wanted, 1u) : wanted;
}

const char *relocation(llvm::Reloc::Model model) {
  return model == llvm::Reloc::Static         ? "static"
         : model == llvm::Reloc::DynamicNoPIC ? "dynamic-no-pic"
                                              : "pic";
}

// What the generated code has to share with the code around it: target, position independence,
// code model, unwind tables, control-flow protection.
std::vector<std::string> common_flags(const CompilerInstance &user, unsigned effort) {
  const CodeGenOptions &code = user.getCodeGenOpts();
  const LangOptions &lang = user.getLangOpts();
  std::vector<std::string> flags = {"-triple", user.getTargetOpts().Triple, "-x", "c"};
  auto add = [&](StringRef flag, const llvm::Twine &value) {
    flags.push_back((flag + value).str());
  };
  if (!user.getTargetOpts().ABI.empty()) {
    flags.push_back("-target-abi");
    flags.push_back(user.getTargetOpts().ABI);
  }
  flags.push_back("-mrelocation-model");
  flags.push_back(relocation(code.RelocationModel));
  if (lang.PICLevel) {
    flags.push_back("-pic-level");
    flags.push_back(std::to_string(lang.PICLevel));
    if (lang.PIE) flags.push_back("-pic-is-pie");
  }
  if (!code.CodeModel.empty() && code.CodeModel != "default") add("-mcmodel=", code.CodeModel);
  add("-funwind-tables=", llvm::Twine(2));
  if (code.CFProtectionBranch && code.CFProtectionReturn) add("-fcf-protection=", "full");
  else if (code.CFProtectionBranch) add("-fcf-protection=", "branch");
  else if (code.CFProtectionReturn) add("-fcf-protection=", "return");
  add("-O", llvm::Twine(effort));
  if (!effort) flags.push_back("-disable-O0-optnone"); // see PutIntoRegisters
  // Without the verifier, as clang itself where it has no assertions, and without comments, which take a twentieth of the
  // time to write and to skip.
  for (const char *flag :
       {"-disable-llvm-verifier", "-fno-verbose-asm", "-std=gnu17", "-ffp-contract=on",
        "-mframe-pointer=none", "-ffunction-sections", "-fdata-sections", "-fgnuc-version=4.2.1",
        "-discard-value-names", "-w", "-D"})
    flags.push_back(flag);
  flags.push_back(inner_macro);
  return flags;
}

// ---- linkage ------------------------------------------------------------------------------------

// Kernels, named by the hash of their text, become linkonce so that the linker keeps one of equals.
// In assembly, entries become local symbols: the user's code refers to them by name in the same
// object.  (Linking of bitcode resolves external names only; LinkParts makes them local
// afterwards.)
struct SetLinkage : llvm::PassInfoMixin<SetLinkage> {
  const std::vector<std::string> *entries;
  bool host, elf;
  Form form;

  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    llvm::SmallVector<llvm::GlobalValue *, 16> keep;
    for (llvm::GlobalObject &object : module.global_objects())
      if (!object.isDeclaration() && !object.hasLocalLinkage() && !object.hasAppendingLinkage())
        keep.push_back(&object);
    for (llvm::GlobalValue *value : keep) {
      if (host && form == Form::Assembly && llvm::is_contained(*entries, value->getName())) {
        value->setLinkage(llvm::GlobalValue::InternalLinkage);
      } else if (!host) {
        value->setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
        value->setVisibility(llvm::GlobalValue::HiddenVisibility);
        value->setDSOLocal(true);
        if (elf)
          llvm::cast<llvm::GlobalObject>(value)->setComdat(
              module.getOrInsertComdat(value->getName()));
      }
    }
    llvm::appendToCompilerUsed(module, keep);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

// The kernel that alone leads to each local function.
class KernelOwners {
public:
  explicit KernelOwners(llvm::Module &module) {
    for (llvm::Function &function : module)
      if (function.hasLinkOnceLinkage() && function.hasComdat()) visit(function, function);
  }

  // Puts functions that one kernel owns into its group, so that the linker drops them together.
  void group() {
    for (auto [function, kernel] : owner)
      if (kernel) function->setComdat(kernel->getComdat());
  }

private:
  void visit(llvm::Function &kernel, llvm::Function &function) {
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        for (llvm::Value *operand : instruction.operands()) reach(kernel, operand);
  }

  void reach(llvm::Function &kernel, llvm::Value *value) {
    auto *function = llvm::dyn_cast<llvm::Function>(value->stripPointerCasts());
    if (!function || !function->hasLocalLinkage()) return;
    auto [at, fresh] = owner.insert({function, &kernel});
    if (!fresh && (!at->second || at->second == &kernel)) return;
    if (!fresh) at->second = nullptr; // shared, and so is what it leads to
    visit(kernel, *function);
  }

  llvm::DenseMap<llvm::Function *, llvm::Function *> owner;
};

// What loops asked for and did not get: the optimiser of the user's module would warn of it.
void drop_requests(llvm::Function &function) {
  for (llvm::BasicBlock &block : function) {
    llvm::Instruction *end = block.getTerminator();
    llvm::MDNode *loop = end ? end->getMetadata(llvm::LLVMContext::MD_loop) : nullptr;
    if (!loop) continue;
    end->setMetadata(
        llvm::LLVMContext::MD_loop,
        llvm::makePostTransformationMetadata(function.getContext(), loop,
                                             {"llvm.loop.unroll.enable", "llvm.loop.unroll.full",
                                              "llvm.loop.unroll.count", "llvm.loop.vectorize.",
                                              "llvm.loop.interleave."},
                                             {}));
  }
}

// After optimisation.  Local names get a suffix of this part, since all parts share one assembly
// file; attributes keep the user's instrumentation out; flags of this module must not clash with
// the user's.
struct Finish : llvm::PassInfoMixin<Finish> {
  std::string suffix;
  const std::vector<std::string> *entries;
  bool lines;
  Form form;

  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    KernelOwners(module).group();
    for (llvm::GlobalValue &value : module.global_values()) {
      bool entry = llvm::is_contained(*entries, value.getName());
      if (value.hasLocalLinkage() && value.hasName() && !entry)
        value.setName(value.getName() + "." + suffix);
    }
    for (llvm::Function &function : module) {
      function.addFnAttr(llvm::Attribute::NoProfile);
      function.addFnAttr(llvm::Attribute::NoSanitizeCoverage);
      function.addFnAttr(llvm::Attribute::DisableSanitizerInstrumentation);
      if (form == Form::Bitcode) drop_requests(function);
    }
    const unsigned dwarf = module.getDwarfVersion();
    for (const char *name : {"llvm.module.flags", "llvm.ident"})
      if (llvm::NamedMDNode *node = module.getNamedMetadata(name)) node->eraseFromParent();
    if (lines) {
      module.addModuleFlag(llvm::Module::Max, "Dwarf Version", dwarf);
      module.addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                           llvm::DEBUG_METADATA_VERSION);
    }
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

// -O0: the text is made of small functions that pass vectors by value, and would live on the stack;
// its selections are written as masks.  What is combined here need not be selected as machine code,
// which takes longer.
void put_into_registers(llvm::FunctionPassManager &passes) {
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
}

// ... in functions of the prelude, once, and not in each copy that calls of them become.
struct PutInlinedIntoRegisters : llvm::PassInfoMixin<PutInlinedIntoRegisters> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &manager) {
    if (!function.hasFnAttribute(llvm::Attribute::AlwaysInline))
      return llvm::PreservedAnalyses::all();
    llvm::FunctionPassManager passes;
    put_into_registers(passes);
    return passes.run(function, manager);
  }
  static bool isRequired() { return true; }
};

struct PutIntoRegisters : llvm::PassInfoMixin<PutIntoRegisters> {
  bool inlined; // functions that will be, or all

  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &manager) {
    llvm::FunctionPassManager passes;
    if (inlined) passes.addPass(PutInlinedIntoRegisters());
    else put_into_registers(passes);
    return llvm::createModuleToFunctionPassAdaptor(std::move(passes)).run(module, manager);
  }
  static bool isRequired() { return true; }
};

// ---- one text -----------------------------------------------------------------------------------

bool run_compiler(CompilerInstance &ci, Form form) {
  if (form == Form::Assembly) {
    EmitAssemblyAction action;
    return ci.ExecuteAction(action);
  }
  EmitBCAction action;
  return ci.ExecuteAction(action);
}

void compile_part(UnitPart &part, Form form, bool elf, const std::vector<std::string> &entries) {
  FirstError diags;
  std::vector<const char *> arguments;
  for (const std::string &flag : part.flags) arguments.push_back(flag.c_str());
  arguments.push_back("tcompile.c"); // replaced by the buffer below
  auto invocation = std::make_shared<CompilerInvocation>();
  if (!compat::parse_cc1(*invocation, arguments, &diags)) {
    part.error = diags.text.empty() ? "flags not understood" : diags.text;
    return;
  }
  std::string file = "tcompile-" + part.name + ".c";
  auto buffer = llvm::MemoryBuffer::getMemBuffer(part.text, file);
  FrontendOptions &frontend = invocation->getFrontendOpts();
  frontend.Inputs = {FrontendInputFile(buffer->getMemBufferRef(), InputKind(Language::C))};
  frontend.DisableFree = false;
  invocation->getDiagnosticOpts().ShowCarets = false;
  invocation->getCodeGenOpts().PassBuilderCallbacks.push_back([&](llvm::PassBuilder &pb) {
    compat::add_first_pass(pb, SetLinkage{{}, &entries, part.host, elf, form});
    if (!invocation->getCodeGenOpts().OptimizationLevel) {
      compat::add_first_pass(pb, PutIntoRegisters{{}, true});
      compat::add_last_pass(pb, PutIntoRegisters{{}, false});
    }
    compat::add_last_pass(pb, Finish{{}, part.suffix, &entries, part.lines, form});
  });

  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files(new llvm::vfs::InMemoryFileSystem);
  auto ci = compat::make_instance(invocation, &diags, nullptr, files);
  llvm::SmallString<0> output;
  ci->setOutputStream(std::make_unique<llvm::raw_svector_ostream>(output));
  ci->setVerboseOutputStream(llvm::nulls());
  const bool done = run_compiler(*ci, form);
  if (!done || diags.getNumErrors())
    part.error = file + ": " + (diags.text.empty() ? "compilation failed" : diags.text);
  else
    part.output = form == Form::Assembly ? embeddable_assembly(output, part.suffix, part.lines)
                                         : std::string(output);
}

void compile_part_anyhow(UnitPart &part, Form form, bool elf,
                         const std::vector<std::string> &entries, const CompilerInstance &user) {
  compile_part(part, form, elf, entries);
  if (part.error.empty() || !part.lines) return;
  part.forgo_lines(line_flags(user).size());
  compile_part(part, form, elf, entries);
}

// Runs the parts on `jobs` threads, the longest (kernel texts) first.
void compile_parts(std::vector<UnitPart> &parts, Form form, bool elf,
                   const std::vector<std::string> &entries, const PartCache &cache, unsigned jobs,
                   const CompilerInstance &user) {
  std::atomic<size_t> next{parts.size()};
  auto work = [&] {
    for (size_t i; (i = next.fetch_sub(1)) - 1 < parts.size();) {
      UnitPart &part = parts[i - 1];
      if (cache.get(part)) continue;
      llvm::CrashRecoveryContext recovery; // job.cpp enabled it
      if (!recovery.RunSafely([&] { compile_part_anyhow(part, form, elf, entries, user); }))
        part.error = "the compiler crashed on " + part.name + " code";
      cache.put(part);
    }
  };
  unsigned threads = std::min<size_t>(parts.size(), jobs);
  std::vector<llvm::thread> others;
  for (unsigned i = 1; i < threads; i++)
    others.emplace_back(std::optional<unsigned>(8u << 20), work);
  work();
  for (llvm::thread &thread : others) thread.join();
}

} // namespace

// ---- the interface ------------------------------------------------------------------------------

void FirstError::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level < DiagnosticsEngine::Error || !text.empty()) return;
  llvm::SmallString<128> message;
  info.FormatDiagnostic(message);
  if (info.getLocation().isValid() && info.hasSourceManager())
    text = info.getLocation().printToString(info.getSourceManager()) + ": ";
  text += message.str();
}

std::string unsupported_target(const CompilerInstance &user) {
  const llvm::Triple &triple = user.getTarget().getTriple();
  if (triple.getArch() == llvm::Triple::x86_64 || triple.isAArch64(64)) return "";
  return "code is generated for x86-64 and aarch64, not for " + triple.getArchName().str();
}

Form choose_form(const CompilerInstance &user) {
  const CodeGenOptions &code = user.getCodeGenOpts();
  frontend::ActionKind action = user.getFrontendOpts().ProgramAction;
  bool machine_code = action == frontend::EmitObj || action == frontend::EmitAssembly;
  bool lto = code.PrepareForLTO || code.PrepareForThinLTO;
  bool elf = user.getTarget().getTriple().isOSBinFormatELF();
  return elf && (code.DisableLLVMPasses || (machine_code && !lto)) ? Form::Assembly : Form::Bitcode;
}

namespace {

// The kernel text once for each level that makes a difference.
void add_kernel_parts(const CompilerInstance &user, const tc_kernels &from, size_t number,
                      unsigned effort, const std::vector<std::string> &macros,
                      std::vector<UnitPart> &parts) {
  StringRef kernels(from.text.text ? from.text.text : "", from.text.len);
  bool x86 = user.getTarget().getTriple().getArch() == llvm::Triple::x86_64;
  for (unsigned level = 0; level < TC_ISA_COUNT; level++) {
    if (!(from.levels & 1u << level)) continue;
    const std::string name = tc_isa_name[level] + (number ? std::to_string(number) : "");
    UnitPart part{name,  kernels,     common_flags(user, effort_for(kernels.size(), effort)),
                  false, "tc" + name, false,
                  "",    "",          ""};
    part.flags.push_back(std::string("-DTC_LEVEL=") + tc_isa_name[level]);
    for (const std::string &macro : macros) part.flags.push_back("-D" + macro);
    if (kernels.size() >= many) part.flags.push_back("-DTC_COMPACT");
    if (!(from.levels & 1)) part.flags.push_back("-DTC_ALONE"); // see prelude/81_matmul_run.c
    part.flags.insert(part.flags.end(), {"-vectorize-loops", "-vectorize-slp"});
    llvm::SmallVector<StringRef, 8> flags;
    if (x86) StringRef(level_flags[level]).split(flags, ' ');
    for (StringRef flag : flags) part.flags.push_back(flag.str());
    parts.push_back(std::move(part));
  }
}

// Of all backends, which keep off each other's names by the number of their text.
void add_kernel_parts(const CompilerInstance &user, const tc_texts &texts, unsigned effort,
                      const std::vector<std::string> &macros, std::vector<UnitPart> &parts) {
  for (size_t i = 0; i < texts.nkernels; i++)
    add_kernel_parts(user, texts.kernels[i], i, effort, macros, parts);
}

void compile_all(const CompilerInstance &user, std::vector<UnitPart> &parts, tc_cache *cache,
                 unsigned jobs, CompiledUnit &unit) {
  bool elf = user.getTarget().getTriple().isOSBinFormatELF();
  compile_parts(parts, unit.form, elf, unit.entries,
                PartCache(cache, user, unit.form, unit.entries, parts), jobs, user);
  for (UnitPart &part : parts)
    if (!part.error.empty() && unit.error.empty()) unit.error = part.error;
}

} // namespace

// Line tables for the kernel parts; they leave the code as it is.
void TextCompiler::add_lines(const tc_texts &texts, std::vector<UnitPart> &parts) {
  if (files.empty() || unit.form != Form::Assembly || !wants_lines(user)) return;
  lined.clear();
  for (size_t i = 0; i < texts.nkernels; i++)
    lined.push_back(
        with_lines(StringRef(texts.kernels[i].text.text, texts.kernels[i].text.len), files));
  for (UnitPart &part : parts) {
    if (part.host) continue;
    for (size_t i = 0; i < texts.nkernels; i++)
      if (part.text.data() == texts.kernels[i].text.text) {
        part.plain = part.text;
        part.text = lined[i];
        break;
      }
    part.lines = unit.lines = true;
    for (std::string &flag : line_flags(user)) part.flags.push_back(std::move(flag));
  }
}

void TextCompiler::compile_kernels(const tc_texts &texts) {
  std::vector<UnitPart> parts;
  add_kernel_parts(user, texts, effort, macros, parts);
  add_lines(texts, parts);
  compile_all(user, parts, cache, jobs, unit);
  for (UnitPart &part : parts) kernels.push_back(std::move(part.output));
  have_kernels = true;
}

CompiledUnit TextCompiler::finish(const tc_texts &texts, std::vector<std::string> entries) {
  unit.entries = std::move(entries);
  for (size_t i = 0; i < texts.ndata; i++)
    unit.data.push_back(
        {texts.data[i].name,
         {reinterpret_cast<const char *>(texts.data[i].bytes), texts.data[i].size}});
  std::vector<UnitPart> parts;
  parts.push_back({"host", StringRef(texts.host.text, texts.host.len), common_flags(user, effort),
                   true, "tch", false, "", "", ""});
  if (effort > 1) parts.back().flags.push_back("-Os"); // guards are many and short
  if (!have_kernels) add_kernel_parts(user, texts, effort, macros, parts);
  add_lines(texts, parts);
  compile_all(user, parts, cache, jobs, unit);
  for (UnitPart &part : parts) unit.parts.push_back(std::move(part.output));
  for (std::string &kernel : kernels) unit.parts.push_back(std::move(kernel));
  return std::move(unit);
}

namespace {

struct LinkParts : llvm::PassInfoMixin<LinkParts> {
  std::shared_ptr<CompiledUnit> unit;

  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    for (const std::string &part : unit->parts)
      if (!link(module, part)) break;
    for (const Data &data : unit->data) define(module, data);
    for (const std::string &name : unit->entries)
      if (llvm::Function *entry = module.getFunction(name); entry && !entry->isDeclaration())
        entry->setLinkage(llvm::GlobalValue::InternalLinkage);
    if (!unit->explain.empty())
      module.appendModuleInlineAsm(section_assembly(TC_EXPLAIN_SECTION, unit->explain));
    return llvm::PreservedAnalyses::none();
  }

  static bool link(llvm::Module &module, const std::string &bitcode) {
    auto part =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "tcompile"), module.getContext());
    if (!part) {
      module.getContext().emitError("tc: " + llvm::toString(part.takeError()));
      return false;
    }
    // From here on the user's code decides what is needed.
    if (llvm::GlobalVariable *used = (*part)->getGlobalVariable("llvm.compiler.used"))
      used->eraseFromParent();
    return !llvm::Linker::linkModules(module, std::move(*part));
  }
  // Gives the declaration, if anything refers to it, its contents.
  static void define(llvm::Module &module, const Data &data) {
    llvm::GlobalVariable *declared = module.getGlobalVariable(data.name);
    if (!declared || !declared->isDeclaration()) return;
    llvm::Constant *bytes =
        llvm::ConstantDataArray::getString(module.getContext(), data.bytes, /*AddNull=*/false);
    auto *defined = new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                             llvm::GlobalValue::LinkOnceODRLinkage, bytes);
    defined->setVisibility(llvm::GlobalValue::HiddenVisibility);
    defined->setDSOLocal(true);
    defined->setAlignment(llvm::Align(data_alignment));
    declared->replaceAllUsesWith(defined);
    defined->takeName(declared);
    declared->eraseFromParent();
    if (llvm::Triple(module.getTargetTriple()).isOSBinFormatELF())
      defined->setComdat(module.getOrInsertComdat(data.name));
  }
  static bool isRequired() { return true; }
};

} // namespace

void link_unit(CompilerInstance &user, CompiledUnit unit) {
  auto shared = std::make_shared<CompiledUnit>(std::move(unit));
  user.getCodeGenOpts().PassBuilderCallbacks.push_back([shared](llvm::PassBuilder &pb) {
    compat::add_first_pass(pb, LinkParts{{}, shared});
  });
}

} // namespace tc
