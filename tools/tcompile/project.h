// project.h - all files of a project.
#ifndef TC_TOOL_PROJECT_H
#define TC_TOOL_PROJECT_H

#include "tools/tcompile/arguments.h"

namespace tc {

// Translates the files of arguments.database that can contain an annotated function, or the named
// ones of these, each in a process of its own; source: options for all of them.  What fails keeps
// no other from being translated.  The exit status.
int run_project(const Arguments &arguments, const Source &source);

} // namespace tc

#endif
