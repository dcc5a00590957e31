/* library_end.h - see library_begin.h. */
#undef TC_AT
#define TC_AT(call) (tc_here(__FILE__, __LINE__), call)
#ifdef TC_LIBRARY_WARNINGS
#undef TC_LIBRARY_WARNINGS
#pragma clang diagnostic pop
#endif
