// profile.cpp - see profile.h.
#include "frontend/profile.h"

#include <set>

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

namespace tc {

using llvm::StringRef;

// ---- the file -----------------------------------------------------------------------------------

std::string ShapeProfile::load(const std::string &path, bool &missing) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  missing = buffer.getError() == std::errc::no_such_file_or_directory;
  if (!buffer) return "the profile " + path + " cannot be read: " + buffer.getError().message();
  uint32_t line;
  const char *why;
  const StringRef text = (*buffer)->getBuffer();
  if (tc_profile_read(&profile, text.data(), text.size(), &line, &why)) return "";
  tc_profile_free(&profile);
  return path + ":" + std::to_string(line) + ": " + why;
}

static bool same_file(StringRef a, StringRef b) {
  return llvm::sys::path::filename(a) == llvm::sys::path::filename(b);
}

uint64_t ProfiledCalls::all() const {
  uint64_t sum = others;
  for (const auto &[values, n] : calls) sum += n;
  return sum;
}

static void add(const tc_profile_segment &from, ProfiledCalls &to) {
  for (size_t i = 0; i < from.n; i++) {
    const int64_t *value = from.at[i].value;
    to.calls[std::vector<int64_t>(value, value + from.nsize)] += from.at[i].calls;
  }
  to.others += from.others;
}

// A profile of several builds has the function on several lines.
std::vector<ProfiledCalls> ShapeProfile::calls_of(const std::string &name, const std::string &file,
                                                  uint32_t line) const {
  std::vector<ProfiledCalls> list;
  auto is_of = [&](const tc_profile_segment &s) {
    return s.function == name && same_file(s.file, file);
  };
  const llvm::ArrayRef<tc_profile_segment> segments(profile.at, profile.n);
  const bool exact =
      llvm::any_of(segments, [&](const auto &s) { return is_of(s) && s.line == line; });
  for (const tc_profile_segment &s : segments) {
    if (!is_of(s) || (exact && s.line != line)) continue;
    const std::vector<std::string> names(s.size, s.size + s.nsize);
    const int64_t offset = static_cast<int64_t>(s.segment) - s.line;
    auto same = llvm::find_if(list, [&](const ProfiledCalls &each) {
      return each.names == names && each.offset == offset;
    });
    if (same == list.end()) same = list.insert(list.end(), {names, offset, {}, 0});
    add(s, *same);
  }
  return list;
}

std::vector<std::pair<std::string, uint32_t>>
ShapeProfile::functions_of(const std::string &file) const {
  std::set<std::pair<std::string, uint32_t>> list;
  for (size_t i = 0; i < profile.n; i++)
    if (same_file(profile.at[i].file, file))
      list.insert({profile.at[i].function, profile.at[i].line});
  return {list.begin(), list.end()};
}

const ProfiledCalls *deciding(const std::vector<ProfiledCalls> &list) {
  uint64_t most = 0;
  const ProfiledCalls *best = nullptr;
  for (const ProfiledCalls &each : list) most = std::max(most, each.all());
  for (const ProfiledCalls &each : list)
    if (each.all() >= most / 2 && (!best || each.names.size() > best->names.size())) best = &each;
  return best;
}

// ---- the choice ---------------------------------------------------------------------------------

namespace {

struct Call {
  std::vector<int64_t> values;
  uint64_t n;
};

class Chooser {
public:
  Chooser(const ProfiledCalls &calls, const std::vector<Sizes> &given, size_t limit)
      : names(calls.names), least(std::max<uint64_t>(calls.all() / 10, 1)), limit(limit) {
    for (const auto &each : calls.calls)
      if (llvm::none_of(given, [&](const Sizes &s) { return serves(s, each.first); }))
        left.push_back({each.first, each.second});
    llvm::sort(left, [](const Call &a, const Call &b) {
      return a.n != b.n ? a.n > b.n : a.values < b.values;
    });
  }

  std::vector<ProfiledSizes> run() {
    while (chosen.size() < limit && !left.empty() && left.front().n >= least) {
      Fixed all;
      for (size_t i = 0; i < names.size(); i++) all[i] = left.front().values[i];
      take(all);
    }
    while (chosen.size() < limit && names.size() > 1) {
      const Fixed some = constant_sizes();
      if (some.empty()) break;
      take(some);
    }
    return std::move(chosen);
  }

private:
  using Fixed = std::map<size_t, int64_t>; // a size's number, its value

  static bool holds(const Fixed &fixed, const std::vector<int64_t> &values) {
    return llvm::all_of(fixed, [&](const auto &each) { return values[each.first] == each.second; });
  }

  bool serves(const Sizes &sizes, const std::vector<int64_t> &values) const {
    return llvm::all_of(sizes.list, [&](const Sizes::Size &size) {
      auto at = llvm::find(names, size.name);
      return at != names.end() && values[static_cast<size_t>(at - names.begin())] == size.value;
    });
  }

  uint64_t count(const Fixed &fixed) const {
    uint64_t sum = 0;
    for (const Call &call : left)
      if (holds(fixed, call.values)) sum += call.n;
    return sum;
  }

  // The size and value that most of the calls with `fixed` have besides.
  std::pair<Fixed, uint64_t> with_one_more(const Fixed &fixed) const {
    std::pair<Fixed, uint64_t> best;
    for (size_t i = 0; i < names.size(); i++) {
      std::map<int64_t, uint64_t> calls;
      for (const Call &call : left)
        if (!fixed.count(i) && holds(fixed, call.values)) calls[call.values[i]] += call.n;
      for (const auto &[value, n] : calls)
        if (n > best.second) {
          best = {fixed, n};
          best.first[i] = value;
        }
    }
    return best;
  }

  // A size that is the same in enough of the calls that are left, and those that nearly all of
  // these have, too.
  Fixed constant_sizes() const {
    auto [fixed, n] = with_one_more({});
    if (n < least) return {};
    while (fixed.size() + 1 < names.size()) {
      auto [more, fewer] = with_one_more(fixed);
      if (fewer < least || fewer < n - n / 10) break;
      fixed = more;
      n = fewer;
    }
    return fixed;
  }

  void take(const Fixed &fixed) {
    ProfiledSizes one = {{}, count(fixed)};
    for (const auto &[i, value] : fixed) {
      one.sizes.text +=
          (one.sizes.text.empty() ? "" : ",") + names[i] + "=" + std::to_string(value);
      one.sizes.list.push_back({names[i], value, 0});
    }
    chosen.push_back(std::move(one));
    llvm::erase_if(left, [&](const Call &call) { return holds(fixed, call.values); });
  }

  const std::vector<std::string> &names;
  const uint64_t least;
  const size_t limit;
  std::vector<Call> left; // calls that nothing is chosen for, the most frequent first
  std::vector<ProfiledSizes> chosen;
};

} // namespace

std::vector<ProfiledSizes> frequent_sizes(const ProfiledCalls &calls,
                                          const std::vector<Sizes> &given, size_t limit) {
  return Chooser(calls, given, limit).run();
}

} // namespace tc
