// from_gcc.cpp - see invocation.h.
#include "tools/tcompile/invocation.h"

namespace tc {

using llvm::StringRef;

// With an argument of its own, or joined to it.
static const char *const with_argument[] = {"-D",       "-U",       "-I",      "-include",
                                            "-imacros", "-isystem", "-iquote", "-idirafter"};

static const char *const plain[] = {"-ansi",
                                    "-fopenmp",
                                    "-fsigned-char",
                                    "-funsigned-char",
                                    "-fshort-enums",
                                    "-fshort-wchar",
                                    "-fPIC",
                                    "-fpic",
                                    "-fPIE",
                                    "-fpie",
                                    "-fno-pic",
                                    "-fgnu89-inline",
                                    "-fms-extensions",
                                    "-fsyntax-only",
                                    "-m32",
                                    "-m64",
                                    "-mx32",
                                    "-nostdinc",
                                    "-trigraphs",
                                    "-ffreestanding",
                                    "-ffast-math",
                                    "-fcommon",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fexceptions",
                                    "-fwrapv",
                                    "-fopenmp-simd",
                                    "-fno-common",
                                    "-fchar8_t",
                                    "-fcoroutines",
                                    "-fno-signed-char",
                                    "-fno-unsigned-char",
                                    "-mms-bitfields",
                                    "-mno-ms-bitfields",
                                    "-malign-double",
                                    "-Wdeclaration-after-statement",
                                    "-Werror=declaration-after-statement",
                                    "-mno-align-double"};

static const char *const prefixes[] = {"-std=",
                                       "-O",
                                       "-g",
                                       "-mcmodel=",
                                       "-march=",
                                       "-fcf-protection",
                                       "-Rpass",
                                       "-fpack-struct",
                                       "-fmacro-prefix-map=",
                                       "-ffile-prefix-map=",
                                       "-fdebug-prefix-map=",
                                       "-mabi=",
                                       "-mlong-double-",
                                       "-fgnuc-version=",
                                       "-masm="};

// Machine features that both compilers know by the same name, which decide what the intrinsics'
// headers declare.
static bool is_feature(StringRef flag) {
  if (!flag.consume_front("-m")) return false;
  for (const char *prefix : {"sse", "ssse", "avx", "fma", "bmi", "f16c", "popcnt", "lzcnt", "movbe",
                             "aes", "sha", "pclmul", "xsave", "rdrnd", "fsgsbase", "adx", "amx"})
    if (flag.starts_with(prefix))
      return flag != "avx512er" && flag != "avx512pf" && !flag.starts_with("avx5124");
  return false;
}

// .../lib/gcc/x86_64-linux-gnu/12/include and include-fixed
static bool is_gcc_own(StringRef folder) {
  folder = folder.rtrim('/');
  StringRef last = llvm::sys::path::filename(folder);
  StringRef above = llvm::sys::path::parent_path(
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(folder)));
  return (last == "include" || last == "include-fixed") &&
         llvm::sys::path::filename(above) == "gcc" &&
         llvm::sys::path::filename(llvm::sys::path::parent_path(above)).starts_with("lib");
}

static bool kept(StringRef flag) {
  if (llvm::is_contained(plain, flag) || is_feature(flag)) return true;
  // What GCC calls the machine that it was built for says nothing.
  return flag != "-march=x86-64" &&
         llvm::any_of(prefixes, [&](const char *prefix) { return flag.starts_with(prefix); });
}

std::vector<std::string> from_gcc(const std::vector<std::string> &flags) {
  // Kernels are made of what GCC compiles: conditions on the compiler hold as they do for it.
  std::vector<std::string> out = {
      "-U__clang__",         "-U__clang_major__",      "-U__clang_minor__",
      "-U__clang_version__", "-U__clang_patchlevel__", "-U__llvm__",
      "-ferror-limit=0"};
  const std::string own = builtin_headers();
  bool have_own = own.empty();
  for (size_t i = 0; i < flags.size(); i++) {
    const std::string &flag = flags[i];
    if (!llvm::is_contained(with_argument, StringRef(flag))) {
      if (kept(flag)) out.push_back(flag);
      continue;
    }
    if (++i == flags.size()) break;
    std::string argument = flags[i];
    if (flag == "-isystem" && !own.empty() && is_gcc_own(argument)) {
      if (have_own) continue;
      argument = own;
      have_own = true;
    }
    out.push_back(flag);
    out.push_back(argument);
  }
  return out;
}

} // namespace tc
