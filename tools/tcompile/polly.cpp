// polly.cpp - Clang's code generator, as Debian builds it, asks Polly to take part.  Kernels have
// their loops as they are to be.
#include "llvm/Passes/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}};
}
