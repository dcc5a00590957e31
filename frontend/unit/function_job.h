// function_job.h - one annotated function on its way: what was captured, what was made of it, and
// what there is to tell.
#ifndef TC_UNIT_FUNCTION_JOB_H
#define TC_UNIT_FUNCTION_JOB_H

#include <optional>

#include "frontend/ast_capture/capture.h"
#include "frontend/attributes.h"
#include "frontend/options.h"

namespace tc {

// What was made for certain sizes and sides of branches, or for any.
struct Made {
  std::string made_for;
  std::string variant; // the sizes
  unsigned segments = 0;
  int ops = 0, kernels = 0;
};

// Messages wait until it is known whether the function was compiled: with fullgraph, the reasons
// why not are errors.
struct FunctionJob {
  const clang::FunctionDecl *decl = nullptr;
  Options options;
  std::vector<tc_setting> settings; // of the options
  tc_tuner tuner = {};              // points into what follows, and into Tuning
  std::vector<const char *> macros; // of the kernel text
  tc_diag diag = {};
  CapturedFunction captured = {};
  std::vector<Message> messages;
  std::string name, file;
  unsigned compiled = 0; // segments
  bool eager = false;    // it was asked to stay as it is
  uint32_t made = 0;     // bit i: kernels from choice i of its options, in all segments
  int64_t workspace = 0; // bytes, of the segment that needs most
  int64_t saved = 0;     // likewise, for gradients
  tc_buf explain = {};   // rows of its segments

  FunctionJob() = default;
  FunctionJob(const FunctionJob &) = delete;
  ~FunctionJob() {
    tc_buf_free(&explain);
    tc_buf_free(&profiled);
  }

  std::string obstacle;                    // why its text cannot be changed
  std::optional<Message> objection;        // or must not be
  bool scope_open = false, scoped = false; // its body has a scope: in front of its calls; at all

  std::vector<Made> sizes_made;
  Made &of(const Segment &segment) {
    for (Made &each : sizes_made)
      if (each.made_for == segment.made_for) return each;
    sizes_made.push_back({segment.made_for, segment.variant, 0, 0, 0});
    return sizes_made.back();
  }

  // Kernels of a call: those for its sizes and sides, and those for all sides.
  int kernels_of(const Made &one) const {
    int kernels = one.kernels;
    for (const Made &each : sizes_made)
      if (each.made_for == each.variant && one.made_for != one.variant &&
          each.variant == one.variant)
        kernels += each.kernels;
    return kernels;
  }

  tc_buf profiled = {}; // rows of what the profile chose

  void remark(const std::string &text) {
    messages.push_back({TC_REMARK, decl->getLocation(), text, {}, {}});
  }
  void missed(const std::string &why) {
    messages.push_back(
        {TC_MISSED, decl->getLocation(), "'" + name + "' not compiled: " + why, {}, {}});
  }
  // backend=eager
  void stays() {
    eager = true;
    messages.push_back(
        {TC_REMARK, decl->getLocation(), "'" + name + "' stays as written: backend=eager", {}, {}});
  }
  void no_scope(const std::string &why) {
    messages.push_back({TC_REMARK,
                        decl->getLocation(),
                        "'" + name + "' frees nothing of what its body makes where that runs: " +
                            why + "; write TC_FUNCTION_SCOPE at its head, or free it",
                        {},
                        {}});
  }
};

// A tc_diag's function, whose `self` is the FunctionJob.
void collect_message(void *self, tc_severity severity, tc_loc loc, const char *text);

} // namespace tc

#endif
