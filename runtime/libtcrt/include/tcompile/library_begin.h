/* library_begin.h - from here to library_end.h stand functions of this library, which are written with others of it: a call in
 * them notes no place, so that messages name the line of the program that called into the library, not a line of these
 * headers.  The macros of locations.h give the functions between the two that line.  Included behind other headers, and as
 * often as there are such functions.  Infinities are numbers for them, whatever -ffast-math says of the program's own. */
#undef TC_AT
#define TC_AT(call) call
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wnan-infinity-disabled")
#define TC_LIBRARY_WARNINGS
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnan-infinity-disabled"
#endif
#endif
