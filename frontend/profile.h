// profile.h - which sizes of a shape profile (runtime/profile/profile.h) a function gets code of
// its own for.
#ifndef TC_SHAPE_PROFILE_H
#define TC_SHAPE_PROFILE_H

#include <map>
#include <string>
#include <vector>

#include "frontend/attributes.h"
#include "runtime/profile/profile.h"

namespace tc {

// How often statements of a function were called, by their sizes.
struct ProfiledCalls {
  std::vector<std::string> names;
  int64_t offset = 0;                             // lines from the head of the function
  std::map<std::vector<int64_t>, uint64_t> calls; // by the sizes of `names`
  uint64_t others = 0;                            // with sizes that nobody counted
  uint64_t all() const;
};

struct ProfiledSizes {
  Sizes sizes;
  uint64_t calls; // that take this code, and none in front of it
};

class ShapeProfile {
public:
  ShapeProfile() = default;
  ShapeProfile(const ShapeProfile &) = delete;
  ~ShapeProfile() { tc_profile_free(&profile); }

  // What is wrong with the file, or ""; missing: that it is not there.
  std::string load(const std::string &path, bool &missing);

  // Of a function of this name, in a file of this name in any folder; of several, that on the line,
  // if there is one.
  std::vector<ProfiledCalls> calls_of(const std::string &name, const std::string &file,
                                      uint32_t line) const;

  // Functions of the file: name and line.
  std::vector<std::pair<std::string, uint32_t>> functions_of(const std::string &file) const;

private:
  tc_profile profile = {};
};

// The calls that choose the function's sizes: of statements that are called often, those with most
// sizes.
const ProfiledCalls *deciding(const std::vector<ProfiledCalls> &list);

// At most `limit` variants behind those of `given`, in the order in which they are to be tried.
// First all sizes of frequent calls, the most frequent ones first.  Then, of the other calls, the
// sizes that stay the same while others vary.  Each is for a tenth of all calls at least.
std::vector<ProfiledSizes> frequent_sizes(const ProfiledCalls &calls,
                                          const std::vector<Sizes> &given, size_t limit);

} // namespace tc

#endif
