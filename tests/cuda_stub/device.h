/* device.h - tests on the stub: begin a test, end it without misuse and leaks. */
#ifndef TC_TEST_DEVICE_H
#define TC_TEST_DEVICE_H

#include <criterion/criterion.h>
#include <tcompile.h>
#include <tcompile/cuda.h>

#include "tests/cuda_stub/stub.h"

/* Makes the stub the driver, and libtcrt's own kernels run. Each test is a process of its own. */
void device_begin(void);
/* Nothing misused; no memory, stream, event or graph left once unused memory is given back. */
void device_end(void);

/* f32 on the CPU holding 0, 1, 2, ... */
tc_tensor *device_counting(tc_ints dims);
/* The error has this text in it; cleared afterwards. */
void device_expect_error(const char *text);

#endif
