// options.h - options of one annotated function, and of a whole file (-fplugin-arg-tc-KEY=VALUE).
#ifndef TC_OPTIONS_H
#define TC_OPTIONS_H

#include <optional>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "frontend/clang_compat.h"

namespace tc {

enum class Gradients { Auto, On, Off };
enum class Profile { None, Generate, Use }; // of sizes: runtime/profile/profile.h

inline constexpr const char *default_profile = "tcompile.profile"; // libtcrt-profile has it, too

struct Options {
  bool fullgraph = false; // "could not be compiled" is an error
  tc_choices backends;
  bool fixed = false; // dynamic=false: no code for sizes that are not known at build time
  bool disable = false;
  std::optional<int64_t> max_kernels, max_workspace; // bytes
  Gradients gradients = Gradients::Auto;
  std::optional<int64_t> max_saved;                          // bytes
  std::vector<tc_dtype> autocasts; // scopes of TC_AUTOCAST around calls that there is more code for
  std::vector<std::pair<std::string, std::string>> settings; // of options that backends have
  bool tunes = false;     // mode=max-autotune: schedules are measured
  double tune_time = 20;  // seconds that this may take for a segment
  uint32_t profile_variants = 4; // code for sizes of the profile, at most
  // Of a whole file.
  Profile profile = Profile::None;
  std::string profile_file; // empty: default_profile
  bool explain = true; // the section that tc-explain reads
  std::string save_graphs; // folder for captured graphs; empty: none
  uint32_t levels = 0; // bit i: code for tc_isa i; 0: all levels
  unsigned effort = 3; // -O of the generated code
  uint32_t jobs = 0;   // texts compiled at once; 0: see backends/jobs.h
  std::string tune;    // file of measured schedules; empty: in the cache's folder
  std::string cache;   // folder of compiled kernels, or "off"; empty: as the environment says
  uint64_t cache_bytes = 1u << 30;
  std::vector<std::string> thresholds; // NAME=NUMBER, macros of the kernel text

  Options() { tc_choose_all(&backends); }
  std::vector<tc_setting> settings_for_backends() const; // names point into this
};

enum class Stands { AtFunction, OnCommandLine };

// Applies "key" or "key=value".  Returns what is wrong with it, or ""; `meant`: the key that it is
// probably meant to have, where that is what is wrong.
std::string apply_option(llvm::StringRef text, Options &options, Stands where,
                         llvm::StringRef *meant = nullptr);

// The options of an annotated function: those of the file, then those of its attributes.
Options options_of(const clang::FunctionDecl *function, const Options &file);

} // namespace tc

#endif
