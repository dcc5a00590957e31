/* read.c - finds the section in ELF files of 64 bits, little endian, and in archives of them, and
 * unpacks it. Every offset and size of the file is checked against its length before it is used. */
#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/explain.h"

typedef struct image {
  const unsigned char *at;
  size_t n;
} image;

static bool inside(image f, uint64_t offset, uint64_t size) {
  return offset <= f.n && size <= f.n - offset;
}

static bool fail(const char **error, const char *why) {
  *error = why;
  return false;
}

/* ---- sections -------------------------------------------------------------------------------- */

/* Digits, and the byte that ends them. */
static bool take_number(image *f, char end, uint64_t *number) {
  *number = 0;
  for (; f->n && *f->at >= '0' && *f->at <= '9' && *number < UINT32_MAX; ++f->at, --f->n)
    *number = *number * 10 + (unsigned)(*f->at - '0');
  if (!f->n || *f->at != (unsigned char)end || *number > UINT32_MAX) return false;
  ++f->at, --f->n;
  return true;
}

/* Appends the `size` bytes that n bytes of .xz stand for. */
static bool unpack_rows(const uint8_t *packed, size_t n, size_t size, tc_buf *out) {
  uint64_t limit = UINT64_MAX;
  size_t from = 0, to = 0;
  uint8_t *rows = malloc(size ? size : 1);
  const bool ok = rows && lzma_stream_buffer_decode(&limit, 0, NULL, packed, &from, n, rows, &to,
                                                    size) == LZMA_OK && to == size && from == n;
  if (ok) tc_putn(out, (const char *)rows, size);
  free(rows);
  return ok && !out->failed;
}

/* Of a linked file: those of its objects, one behind the other.  What is not packed is rows, which a
 * former version of TCompile wrote. */
static bool unpack(image f, tc_buf *out, const char **error) {
  static const char begin[] = TC_EXPLAIN_PACKED "\t";
  const size_t n = sizeof begin - 1;
  while (f.n >= n && !memcmp(f.at, begin, n)) {
    uint64_t size, packed;
    f.at += n, f.n -= n;
    if (!take_number(&f, '\t', &size) || !take_number(&f, '\n', &packed) || packed > f.n ||
        !unpack_rows(f.at, packed, size, out))
      return fail(error, "the section " TC_EXPLAIN_SECTION " is damaged");
    f.at += packed, f.n -= packed;
  }
  tc_putn(out, (const char *)f.at, f.n);
  return true;
}

/* ---- ELF ------------------------------------------------------------------------------------- */

typedef struct elf_file {
  image f;
  uint64_t headers, count; /* of sections */
  Elf64_Shdr names;
} elf_file;

static Elf64_Shdr section(const elf_file *e, uint64_t i) {
  Elf64_Shdr s;
  memcpy(&s, e->f.at + e->headers + i * sizeof s, sizeof s);
  return s;
}

static bool open_elf(image f, elf_file *e, const char **error) {
  Elf64_Ehdr h;
  if (f.n < sizeof h) return fail(error, "the ELF header is cut off");
  memcpy(&h, f.at, sizeof h);
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(error, "only ELF files of 64 bits, little endian, are read");
  *e = (elf_file){.f = f, .headers = h.e_shoff, .count = h.e_shnum};
  if (!h.e_shoff) return true; /* no sections */
  if (h.e_shentsize != sizeof(Elf64_Shdr) || !inside(f, h.e_shoff, sizeof(Elf64_Shdr)))
    return fail(error, "the section headers lie outside of the file");
  const Elf64_Shdr first = section(e, 0); /* holds what the header has no room for */
  if (!h.e_shnum) e->count = first.sh_size;
  if (e->count > f.n / sizeof(Elf64_Shdr) || !inside(f, h.e_shoff, e->count * sizeof(Elf64_Shdr)))
    return fail(error, "the section headers lie outside of the file");
  const uint64_t names = h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx;
  if (names >= e->count) return fail(error, "the names of the sections are missing");
  e->names = section(e, names);
  if (!inside(f, e->names.sh_offset, e->names.sh_size))
    return fail(error, "the names of the sections lie outside of the file");
  return true;
}

static bool is_named(const elf_file *e, const Elf64_Shdr *s) {
  static const char want[] = TC_EXPLAIN_SECTION;
  return s->sh_name <= e->names.sh_size && e->names.sh_size - s->sh_name >= sizeof want &&
         !memcmp(e->f.at + e->names.sh_offset + s->sh_name, want, sizeof want);
}

static bool read_elf(image f, tc_buf *out, const char **error) {
  elf_file e;
  if (!open_elf(f, &e, error)) return false;
  for (uint64_t i = 0; e.headers && i < e.count; ++i) {
    const Elf64_Shdr s = section(&e, i);
    if (!is_named(&e, &s)) continue;
    if (s.sh_type != SHT_PROGBITS || s.sh_flags & SHF_COMPRESSED)
      return fail(error, "the section " TC_EXPLAIN_SECTION " is not plain data");
    if (!inside(f, s.sh_offset, s.sh_size))
      return fail(error, "the section " TC_EXPLAIN_SECTION " lies outside of the file");
    if (!unpack((image){f.at + s.sh_offset, s.sh_size}, out, error)) return false;
  }
  return true;
}

/* ---- archives -------------------------------------------------------------------------------- */

enum { AR_MAGIC = 8, AR_HEADER = 60, AR_SIZE = 48, AR_SIZE_DIGITS = 10, AR_END = 58 };

static bool member_size(const unsigned char *header, uint64_t *size) {
  if (memcmp(header + AR_END, "`\n", 2) != 0) return false;
  *size = 0;
  int i = 0;
  for (; i < AR_SIZE_DIGITS && header[AR_SIZE + i] != ' '; ++i) {
    const unsigned digit = header[AR_SIZE + i] - (unsigned)'0';
    if (digit > 9) return false;
    *size = *size * 10 + digit;
  }
  return i > 0;
}

static bool read_archive(image f, tc_buf *out, const char **error) {
  for (size_t at = AR_MAGIC; at < f.n;) {
    uint64_t size;
    if (!inside(f, at, AR_HEADER) || !member_size(f.at + at, &size) ||
        !inside(f, at + AR_HEADER, size))
      return fail(error, "the archive is damaged");
    const image member = {f.at + at + AR_HEADER, size};
    if (size >= SELFMAG && !memcmp(member.at, ELFMAG, SELFMAG) && !read_elf(member, out, error))
      return false;
    at += AR_HEADER + size + size % 2;
  }
  return true;
}

bool explain_read(const unsigned char *file, size_t n, tc_buf *out, const char **error) {
  const image f = {file, n};
  if (n >= SELFMAG && !memcmp(file, ELFMAG, SELFMAG)) return read_elf(f, out, error);
  if (n >= AR_MAGIC && !memcmp(file, "!<arch>\n", AR_MAGIC)) return read_archive(f, out, error);
  if (n >= AR_MAGIC && !memcmp(file, "!<thin>\n", AR_MAGIC))
    return fail(error, "a thin archive holds no objects; name the objects");
  if (n >= 4 && (!memcmp(file, "BC\xC0\xDE", 4) || !memcmp(file, "\xDE\xC0\x17\x0B", 4)))
    return fail(error, "LLVM bitcode (-flto, -emit-llvm); name what is linked from it");
  return fail(error, "neither an ELF file nor an archive");
}
