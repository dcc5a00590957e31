// assembly.cpp - line by line; strings are left alone.
#include "driver/assembly.h"

#include "graph/support/support.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace tc {

using llvm::StringRef;

// A dollar sign starts an immediate operand ($.LCPI0_0); within a name it ends what is compared.
static bool name_char(char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }

// Length of the string literal that starts at text[0] == '"', with both quotes.
static size_t string_length(StringRef text) {
  size_t i = 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// The line table that the assembler makes is one for the whole file.
static const char line_table[] = ".Lline_table_start0";

// Names for which `renamed` holds end with the suffix.
static void rename(StringRef line, StringRef suffix, llvm::function_ref<bool(StringRef)> renamed,
                   std::string &out) {
  while (!line.empty()) {
    if (line[0] == '"') {
      size_t n = string_length(line);
      out += line.take_front(n);
      line = line.drop_front(n);
    } else if (name_char(line[0])) {
      StringRef name = line.take_while(name_char);
      out += name;
      if (renamed(name)) out += suffix;
      line = line.drop_front(name.size());
    } else {
      out += line[0];
      line = line.drop_front();
    }
  }
}

static void rename_labels(StringRef line, StringRef suffix, std::string &out) {
  rename(line, ("." + suffix).str(),
         [](StringRef name) { return name.starts_with(".L") && name != line_table; }, out);
}

static bool for_whole_file(StringRef line, bool lines) {
  line = line.ltrim();
  if (lines && line.starts_with(".file\t") && line.size() > 6 && llvm::isDigit(line[6]))
    return false;
  return line.starts_with(line_table) || line.starts_with(".section\t.debug_line,") ||
         line.starts_with(".file") || line.starts_with(".ident") ||
         (line.starts_with(".section") && line.contains(".note.GNU-stack"));
}

// Sections about the code are this part's own, for the user's code refers to the beginning of its
// own ones by the section's name.  So does this part to its abbreviations.
static void put_line(StringRef line, StringRef suffix, unsigned number, std::string &out) {
  static const char abbreviations[] = ".debug_abbrev";
  std::string label = (".Ltc_abbreviations." + suffix).str();
  StringRef words = line.ltrim();
  if (words.starts_with(".section\t.debug_")) {
    rename_labels(line, suffix, out);
    out += ",unique," + std::to_string(number);
    if (words.contains(abbreviations)) out += "\n" + label + ":";
  } else if (words.consume_front(".long\t") && words.starts_with(abbreviations)) {
    out += "\t.long\t" + label;
  } else {
    rename_labels(line, suffix, out);
  }
  out += '\n';
}

std::string embeddable_assembly(StringRef text, StringRef suffix, bool lines) {
  // One number for each part: linking needs them to differ within a file.
  const unsigned number =
      1 + static_cast<unsigned>(tc_hash(suffix.data(), suffix.size(), 0) % 1000000);
  std::string out = "\t.pushsection .text\n";
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    if (!for_whole_file(line, lines)) put_line(line, suffix, number, out);
  }
  return out + "\t.popsection\n";
}

// ---- assembly of several units ------------------------------------------------------------------

// A label, or what is reserved for zeros.
static StringRef defined_name(StringRef line) {
  StringRef name = line.take_while(name_char);
  if (!name.empty() && line.drop_front(name.size()).starts_with(":")) return name;
  line = line.ltrim();
  if (!line.consume_front(".comm\t") && !line.consume_front(".lcomm\t") &&
      !line.consume_front(".set\t"))
    return "";
  return line.ltrim().take_while(name_char);
}

static llvm::StringSet<> names_of(const std::vector<std::string> &texts) {
  llvm::StringSet<> names;
  for (StringRef text : texts)
    while (!text.empty()) {
      StringRef line;
      std::tie(line, text) = text.split('\n');
      if (StringRef name = defined_name(line); !name.empty()) names.insert(name);
    }
  return names;
}

void make_joinable(std::vector<std::string> &texts, StringRef suffix) {
  const llvm::StringSet<> names = names_of(texts);
  unsigned number = 0;
  for (std::string &text : texts) {
    const std::string known = ".Ltc_joined" + suffix.str() + "." + std::to_string(number++);
    std::string out = "\t.ifndef " + known + "\n\t.set " + known + ", 1\n";
    for (StringRef left = text; !left.empty();) {
      StringRef line;
      std::tie(line, left) = left.split('\n');
      rename(line, suffix, [&](StringRef name) { return names.contains(name); }, out);
      out += '\n';
    }
    text = out + "\t.endif\n";
  }
}

// Bytes as strings; long runs of zeros as such.
static void put_bytes(StringRef bytes, std::string &out) {
  while (!bytes.empty()) {
    size_t zeros = std::min(bytes.find_first_not_of('\0'), bytes.size());
    if (zeros >= 16) {
      out += "\t.zero " + std::to_string(zeros) + "\n";
      bytes = bytes.drop_front(zeros);
      continue;
    }
    size_t n =
        std::min(bytes.find(StringRef("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)), bytes.size());
    StringRef line = bytes.take_front(std::min<size_t>(n, 1024));
    out += "\t.ascii \"";
    for (unsigned char c : line) {
      if (c >= ' ' && c < 127 && c != '"' && c != '\\') out += static_cast<char>(c);
      else
        (((out += '\\') += static_cast<char>('0' + (c >> 6))) +=
         static_cast<char>('0' + (c >> 3 & 7))) += static_cast<char>('0' + (c & 7));
    }
    out += "\"\n";
    bytes = bytes.drop_front(line.size());
  }
}

std::string data_assembly(StringRef name, StringRef bytes, unsigned alignment) {
  std::string symbol = name.str();
  std::string out = "\t.pushsection .rodata." + symbol + ",\"aG\",@progbits," + symbol +
                    ",comdat\n\t.weak " + symbol + "\n\t.hidden " + symbol + "\n\t.type " + symbol +
                    ",@object\n\t.balign " + std::to_string(alignment) + "\n" + symbol + ":\n";
  put_bytes(bytes, out);
  return out + "\t.size " + symbol + ", " + std::to_string(bytes.size()) + "\n\t.popsection\n";
}

std::string export_assembly(StringRef local, StringRef name) {
  const std::string symbol = name.str();
  return "\t.weak " + symbol + "\n\t.hidden " + symbol + "\n\t.type " + symbol +
         ",@function\n\t.set " + symbol + ", " + local.str() + "\n";
}

std::string section_assembly(StringRef name, StringRef bytes) {
  std::string out = "\t.pushsection " + name.str() + ",\"\",@progbits\n";
  put_bytes(bytes, out);
  return out + "\t.popsection\n";
}

} // namespace tc
