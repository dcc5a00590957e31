// serve.h - the tool as the other half of a plugin in another compiler: see driver/protocol.h.
#ifndef TC_TOOL_SERVE_H
#define TC_TOOL_SERVE_H

namespace tc {

// Reads a request from standard input and writes the answer to standard output.  The exit status.
int serve();

} // namespace tc

#endif
