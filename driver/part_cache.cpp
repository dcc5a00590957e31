// part_cache.cpp - see part_cache.h.
#include "driver/part_cache.h"

#include <cstring>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"

// Hashes of the sources of what compiles parts (CMakeLists.txt).
extern "C" const char tc_part_compiler[];

namespace tc {

using llvm::StringRef;

static void add(tc_sha256 &hash, StringRef text) {
  tc_sha256_add_field(&hash, text.data(), text.size());
}

static void add(tc_sha256 &hash, const std::vector<std::string> &list) {
  add(hash, std::to_string(list.size()));
  for (const std::string &text : list) add(hash, text);
}

namespace zstd = llvm::compression::zstd;
using Bytes = llvm::SmallVector<uint8_t, 0>;

// Assembly of hundreds of kernels is more than an entry may take, and a small part of that when
// compressed: the size of the text, then what zstd makes of it; without zstd, 0 and the text.
static Bytes packed(StringRef text) {
  Bytes out(sizeof(uint64_t)), body;
  if (!zstd::isAvailable() || text.empty()) {
    out.append(text.bytes_begin(), text.bytes_end());
    return out;
  }
  const uint64_t size = text.size();
  memcpy(out.data(), &size, sizeof size);
  zstd::compress(llvm::arrayRefFromStringRef(text), body, zstd::BestSpeedCompression);
  out.append(body);
  return out;
}

static bool unpack(StringRef stored, std::string &text) {
  uint64_t size;
  if (stored.size() < sizeof size) return false;
  memcpy(&size, stored.data(), sizeof size);
  stored = stored.drop_front(sizeof size);
  if (!size) {
    text = stored.str();
    return true;
  }
  if (!zstd::isAvailable()) return false;
  text.resize(size);
  size_t n = size;
  llvm::Error error = zstd::decompress(llvm::arrayRefFromStringRef(stored),
                                       reinterpret_cast<uint8_t *>(text.data()), n);
  const bool ok = !error && n == size;
  llvm::consumeError(std::move(error));
  return ok;
}

static tc_digest digest_of_kernels(StringRef text) {
  tc_buf bare = {};
  tc_sha256 hash;
  tc_sha256_begin(&hash);
  tc_put_bare(text.str().c_str(), &bare);
  add(hash, bare.failed || !bare.text ? text : StringRef(bare.text, bare.len));
  tc_buf_free(&bare);
  return tc_sha256_end(&hash);
}

static void add_digest(tc_sha256 &hash, const tc_digest &digest) {
  tc_sha256_add(&hash, digest.byte, sizeof digest.byte);
}

// Its text is what kernels are made of, as without line tables.
static bool is_bare(const UnitPart &part) { return !part.host && !part.lines; }

PartCache::PartCache(tc_cache *cache, const clang::CompilerInstance &user, Form form,
                     const std::vector<std::string> &entries, const std::vector<UnitPart> &parts)
    : cache(cache), entries(entries) {
  tc_sha256_begin(&common);
  if (!cache) return;
  add(common, "packed");
  add(common, form == Form::Assembly ? "assembly" : "bitcode");
  add(common, clang::getClangFullVersion());
  add(common, tc_part_compiler);
  add(common, user.getFrontendOpts().LLVMArgs);
  for (const UnitPart &part : parts)
    if (is_bare(part) && !kernels.count(part.text.data()))
      kernels[part.text.data()] = digest_of_kernels(part.text);
}

tc_digest PartCache::key(const UnitPart &part) const {
  tc_sha256 hash = common;
  add(hash, part.name);
  add(hash, part.suffix);
  add(hash, part.flags);
  if (part.host) add(hash, entries);
  const auto known = kernels.find(part.text.data());
  if (!is_bare(part)) add(hash, part.text);
  else if (known == kernels.end()) add_digest(hash, digest_of_kernels(part.text));
  else add_digest(hash, known->second);
  return tc_sha256_end(&hash);
}

bool PartCache::get(UnitPart &part) const {
  if (!cache) return false;
  tc_digest name = key(part);
  tc_buf found = {};
  bool there = tc_cache_get(cache, &name, &found);
  there = there && found.text && unpack({found.text, found.len}, part.output);
  tc_buf_free(&found);
  return there;
}

void PartCache::put(const UnitPart &part) const {
  if (!cache || !part.error.empty()) return;
  tc_digest name = key(part);
  const Bytes bytes = packed(part.output);
  tc_cache_put(cache, &name, bytes.data(), bytes.size());
}

} // namespace tc
