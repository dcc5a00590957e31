// messages.cpp - messages of the tool, at their places.
#include "plugin/gcc/gcc.h"

#include "plugin/gcc/plugin.h"

namespace tc_gcc {
namespace {

const unsigned widest = 4096; // columns that a line may have

// Where the reader of the main file is, to which it returns.
struct Place {
  const char *file;
  linenum_type line;
  unsigned char system;
};

Place here() {
  const line_map_ordinary *map = LINEMAPS_LAST_ORDINARY_MAP(line_table);
  return {ORDINARY_MAP_FILE_NAME(map), SOURCE_LINE(map, line_table->highest_line),
          ORDINARY_MAP_IN_SYSTEM_HEADER_P(map)};
}

location_t locate(const std::string &file, unsigned line, unsigned column) {
  if (!line || file.empty()) return UNKNOWN_LOCATION;
  linemap_add(line_table, LC_RENAME, 0, ggc_strdup(file.c_str()), line);
  linemap_line_start(line_table, line, widest);
  return linemap_position_for_column(line_table, column);
}

// Of the line that was located last: GCC shows what is in one line map.
source_range range_of(const tc_record_range &r) {
  source_range range;
  range.m_start = linemap_position_for_column(line_table, r.column);
  range.m_finish = linemap_position_for_column(
      line_table, r.end_column > r.column ? r.end_column - 1 : r.column);
  return range;
}

void emit(const Message &m, rich_location *where) {
  switch (m.head.severity) {
  case TC_SAY_ERROR:
    error_at(where, "%s", m.text.c_str());
    break;
  case TC_SAY_WARNING:
    warning_at(where, 0, "%s", m.text.c_str());
    break;
  default:
    inform(where, "%s", m.text.c_str());
    break;
  }
}

// Ranges and fix-its of one line are shown as such.
void show_one(const Message &m) {
  rich_location where(line_table, locate(m.file, m.head.line, m.head.column));
  for (const tc_record_range &each : m.ranges)
    if (each.line == m.head.line && each.end_line == each.line) {
      const source_range range = range_of(each);
      where.add_range(make_location(range.m_start, range.m_start, range.m_finish),
                      SHOW_RANGE_WITHOUT_CARET);
    }
  for (const Fixit &each : m.fixits) {
    if (each.place.line != each.place.end_line) continue;
    if (each.place.line != m.head.line) locate(m.file, each.place.line, each.place.column);
    const source_range range = range_of(each.place);
    if (each.place.column == each.place.end_column)
      where.add_fixit_insert_before(range.m_start, each.text.c_str());
    else where.add_fixit_replace(range, each.text.c_str());
  }
  emit(m, &where);
}

} // namespace

void show(const std::vector<Message> &messages) {
  if (messages.empty()) return;
  const Place place = here();
  for (const Message &each : messages) show_one(each);
  linemap_add(line_table, LC_RENAME, place.system, place.file, place.line);
  linemap_line_start(line_table, place.line, widest);
}

} // namespace tc_gcc
