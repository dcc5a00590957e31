// thin.h - the parts of the thin plugin for Clang.
#ifndef TC_THIN_H
#define TC_THIN_H

#include "plugin/clang/clang.h"
#include "plugin/client/answer.h"
#include "plugin/client/settings.h"

namespace tc_thin {

// How the file is compiled: flags of -cc1.
void put_flags(clang::CompilerInstance &ci, tc_bytes *request);

// At their places, under the flags that switch them; the texts are those that the user wrote.
void show(clang::CompilerInstance &ci, const std::vector<tc_client::Message> &messages);

void warn(clang::CompilerInstance &ci, const std::string &text); // of no place

} // namespace tc_thin

#endif
