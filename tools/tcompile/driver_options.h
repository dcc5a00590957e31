// driver_options.h - the table of options of Clang's driver, whose header has moved since Clang 19.
#ifndef TC_TOOL_DRIVER_OPTIONS_H
#define TC_TOOL_DRIVER_OPTIONS_H

#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#if __has_include("clang/Options/Options.h")
#include "clang/Options/Options.h"
#else
#include "clang/Driver/Options.h"
#endif

#endif
