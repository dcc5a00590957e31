// C++20 modules: functions of interface units stay as they are, since other compilations read them, and those of
// implementation units are compiled.  Attributes of members stay behind.
// RUN: rm -rf %t && mkdir %t && cp %s %t/net.cppm
// RUN: %tcxx -std=c++20 --precompile -x c++-module -DINTERFACE %t/net.cppm -o %t/net.pcm -Rpass=tc -Rpass-missed=tc 2>&1 | %check --check-prefix=INTERFACE %s
// RUN: %tcxx -std=c++20 -fmodule-file=net=%t/net.pcm -DIMPLEMENTATION -fsyntax-only %s -Rpass=tc -Rpass-missed=tc 2>&1 | %check --check-prefix=IMPLEMENTATION %s
// RUN: %tcxx -std=c++20 -fmodule-file=net=%t/net.pcm -fsyntax-only %s -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
#ifdef INTERFACE
module;
#include <tcompile.h>
export module net;
export namespace net {
struct layer { tc_tensor *w TC_SHAPE("f32[N]"); };
// INTERFACE: net.cppm:[[#@LINE+1]]:23: remark: 'scaled' not compiled: it is in a precompiled header or module; define it in a source file
TC_COMPILE tc_tensor *scaled(const layer &l, const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(tc_mul(x, l.w)); }
tc_tensor *hidden(const tc_tensor *x);
}
#elif defined(IMPLEMENTATION)
module;
#include <tcompile.h>
module net;
namespace net {
// IMPLEMENTATION: cplusplus_modules.cpp:[[#@LINE+1]]:23: remark: 'hidden' compiled: 2 ops in 1 kernel
TC_COMPILE tc_tensor *hidden(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(tc_neg(x)); }
}
#else
#include <tcompile.h>
import net;
// CHECK: net.cppm:[[#@LINE-14]]:111: remark: 'use' not compiled: member 'l.w' comes from a module, which hands on no TC_SHAPE; declare it in a header
TC_COMPILE tc_tensor *use(const net::layer &l, const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(net::scaled(l, x)); }
#endif
