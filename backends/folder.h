/* folder.h - where this compiler is installed. */
#ifndef TC_FOLDER_H
#define TC_FOLDER_H

#include "graph/support/support.h"

/* The folder of the program or shared library that holds this code; nothing where it is not
 * known. */
void tc_own_folder(tc_buf *out);

#endif
