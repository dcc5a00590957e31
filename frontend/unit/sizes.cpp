// sizes.cpp - code for certain sizes and dtypes, and for any.
#include "frontend/unit/unit.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

std::vector<Sizes> with_dtypes(const std::vector<Sizes> &variants, const std::vector<Sizes> &dtypes,
                               bool any) {
  if (dtypes.empty()) return variants;
  std::vector<Sizes> list;
  for (const Sizes &variant : variants)
    for (const Sizes &choice : dtypes) {
      list.push_back(variant);
      list.back().dtypes = choice.dtypes;
      list.back().text += "," + choice.text;
    }
  if (any) list.insert(list.end(), dtypes.begin(), dtypes.end() - 1);
  return list;
}

std::vector<Sizes> with_autocasts(const std::vector<Sizes> &variants,
                                  const std::vector<Sizes> &dtypes, bool any,
                                  const std::vector<tc_dtype> &autocasts) {
  std::vector<Sizes> list = variants;
  for (tc_dtype autocast : autocasts) {
    const size_t first = list.size();
    list.insert(list.end(), variants.begin(), variants.end());
    if (any) list.push_back(dtypes.empty() ? Sizes() : dtypes.back());
    for (size_t i = first; i < list.size(); i++) {
      list[i].autocast = autocast;
      list[i].text += (list[i].text.empty() ? "autocast=" : ",autocast=");
      list[i].text += tc_dtype_text(autocast);
    }
  }
  return list;
}

static std::string not_fixed(const std::string &size) {
  return "size '" + size +
         "' is not known at build time, and dynamic=false; write a number in TC_SHAPE, or add "
         "TC_SPECIALIZE(\"" +
         size + "=...\")";
}

// Where there is code for certain values, what keeps it from being made is said of the others.
void Unit::capture_any(FunctionJob &f, const Sizes *dtypes) {
  const std::string head = "'" + f.name + "' not compiled";
  const bool others = !f.captured.segments.empty();
  CapturedFunction any =
      capture_function(context, f.decl, dtypes, f.options.fullgraph, &f.diag, [&](Message m) {
        if (others && StringRef(m.text).starts_with(head + ": "))
          m.text.insert(head.size(), " for other values");
        f.messages.push_back(std::move(m));
      });
  f.captured.breaks = any.breaks;
  for (Segment &segment : any.segments) {
    std::string open = f.options.fixed ? open_size(segment.graph.get()) : "";
    if (open.empty()) f.captured.segments.push_back(std::move(segment));
    else f.missed(not_fixed(open));
  }
}

// Code for certain sizes.  What keeps it from being made is a remark: for any sizes there is other
// code, or the body.
void Unit::capture_variant(FunctionJob &f, const Sizes &sizes) {
  auto tell = [&f](Message m) { f.messages.push_back(std::move(m)); };
  if (!sizes.profiled && !check_sizes(context, f.decl, sizes, tell)) return;
  std::string why;
  std::vector<Message> told, place;
  CapturedFunction captured =
      capture_function(context, f.decl, &sizes, f.options.fullgraph, &f.diag, [&](Message m) {
        if (why.empty() && m.severity != TC_REMARK) {
          why = m.text;
          place = m.notes;
          place.insert(place.begin(), {TC_NOTE, m.loc, "this is where", {}, {}});
        }
        told.push_back(std::move(m));
      });
  if (f.options.fixed && !captured.segments.empty() && f.captured.segments.empty()) {
    f.captured.breaks = captured.breaks; // nothing else tells of them
    for (Message &m : told) tell(std::move(m));
  }
  size_t before = f.captured.segments.size();
  for (Segment &segment : captured.segments) {
    std::string open = f.options.fixed ? open_size(segment.graph.get()) : "";
    if (!open.empty()) {
      why = not_fixed(open);
      place.clear();
      continue;
    }
    segment.variant = sizes.text;
    for (const Sizes::Size &size : sizes.list) segment.fixed.push_back({size.name, size.value});
    f.captured.segments.push_back(std::move(segment));
  }
  if (f.captured.segments.size() > before) return;
  StringRef reason = why;
  reason.consume_front("'" + f.name + "' not compiled: ");
  no_variant(f, sizes, reason);
  f.messages.back().notes = std::move(place);
}

void Unit::no_variant(FunctionJob &f, const Sizes &sizes, StringRef reason) {
  f.messages.push_back({TC_MISSED,
                        sizes.literal ? sizes.literal->getBeginLoc() : f.decl->getLocation(),
                        "'" + f.name + "' not compiled for " + sizes.text + ": " + reason.str(),
                        {},
                        {}});
}

// Statements that do not depend on the sizes of a variant are the same code: that for any.
void Unit::drop_equal(FunctionJob &f, const Sizes &sizes) {
  std::vector<Segment> &list = f.captured.segments;
  auto equal = [&](const Segment &s) {
    return s.variant == sizes.text && llvm::any_of(list, [&](const Segment &any) {
             return any.variant.empty() && any.begin == s.begin && any.end == s.end &&
                    any.begin_token == s.begin_token && any.end_token == s.end_token &&
                    any.conditions == s.conditions && any.autocasts == s.autocasts &&
                    graph_text(any.graph.get()) == graph_text(s.graph.get());
           });
  };
  std::vector<Segment> kept;
  std::vector<bool> drop;
  for (const Segment &s : list) drop.push_back(equal(s));
  for (size_t i = 0; i < list.size(); i++)
    if (!drop[i]) kept.push_back(std::move(list[i]));
  auto of = [&](const Segment &s) { return s.variant == sizes.text; };
  if (kept.size() < drop.size() && llvm::none_of(kept, of))
    no_variant(f, sizes, "nothing that is compiled depends on it");
  list = std::move(kept);
}

} // namespace tc
