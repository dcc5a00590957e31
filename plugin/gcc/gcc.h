// gcc.h - every header of GCC that its plugin uses, and every difference between the versions.
#ifndef TC_GCC_GCC_H
#define TC_GCC_GCC_H

#include "gcc-plugin.h"
#include "plugin-version.h"

// clang-format off: each needs those above it
#include "tree.h"
#include "stringpool.h"
#include "attribs.h"
// clang-format on

#include "c-family/c-common.h"
#include "c-family/c-pragma.h"
#include "cpplib.h"
#include "diagnostic-core.h"
#include "diagnostic.h"
#include "ggc.h"
#include "incpath.h"
#include "langhooks.h"
#include "line-map.h"
#include "options.h"
#include "opts.h"
#include "output.h"
#include "toplev.h"

#endif
