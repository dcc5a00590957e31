/* library_begin.h - from here to library_end.h stand functions of this library, which are written with others of it: a call in
 * them notes no place, so that messages name the line of the program that called into the library, not a line of these
 * headers.  The macros of locations.h give the functions between the two that line.  Included behind other headers, and as
 * often as there are such functions. */
#undef TC_AT
#define TC_AT(call) call
