/* The list of architectures, and where NVRTC is looked for. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/nvrtc.h"

Test(arch, lists) {
  tc_cuda_options o = tc_cuda_defaults;
  cr_assert(tc_cuda_parse_arch("sm_86,90,compute_80", &o));
  cr_expect(o.narch == 2 && o.arch[0] == 86 && o.arch[1] == 90 && o.ptx == 80);
  cr_assert(tc_cuda_parse_arch("ptx90", &o));
  cr_expect(o.narch == 0 && o.ptx == 90);
  cr_assert(tc_cuda_parse_arch("90", &o));
  cr_expect(o.narch == 1 && o.arch[0] == 90 && o.ptx == 0);
}

Test(arch, refused_lists_change_nothing) {
  static const char *const bad[] = {
      "",      ",",     "80,",   "80,,90",      "x",
      "sm_",   "-80",   "80 90", "ptx80,ptx90", "7",
      "99999", "80;90", "+80",   "0x50",        "50,51,52,53,54,55,56,57,58"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tc_cuda_options o = tc_cuda_defaults;
    cr_expect_not(tc_cuda_parse_arch(bad[i], &o), "'%s'", bad[i]);
    cr_expect_eq(memcmp(&o, &tc_cuda_defaults, sizeof o), 0, "'%s'", bad[i]);
  }
}

Test(arch, candidates) {
  tc_buf paths = {0};
  tc_nvrtc_candidates("none", &paths);
  cr_expect_eq(paths.text[0], 0);
  tc_buf_clear(&paths);
  tc_nvrtc_candidates("/some/where.so", &paths);
  cr_expect_eq(memcmp(paths.text, "/some/where.so\0", 16), 0);
  tc_buf_clear(&paths);
  setenv("TC_NVRTC", "/by/variable.so", 1);
  tc_nvrtc_candidates(NULL, &paths);
  cr_expect_str_eq(paths.text, "/by/variable.so");
  tc_buf_clear(&paths);
  unsetenv("TC_NVRTC");
  tc_nvrtc_candidates(NULL, &paths);
  cr_expect_gt(paths.len, sizeof "libnvrtc.so");
  tc_buf_free(&paths);
}

/* A worker that finds no library, and one that dies: reasons, never a crash or a hang. */
Test(arch, no_library) {
  tc_cuda_options o = tc_cuda_defaults;
  o.nvrtc = "/no/such/library.so";
  tc_nvrtc_job job[3] = {
      {.name = "a", .text = ""}, {.name = "b", .text = ""}, {.name = "c", .text = ""}};
  tc_buf why = {0};
  cr_expect_not(tc_nvrtc_compile(&o, job, 3, &why));
  cr_expect_not_null(strstr(why.text, "was not found"));
  for (int i = 0; i < 3; ++i) tc_nvrtc_job_free(&job[i]);
  tc_buf_free(&why);
}

Test(arch, crashing_library) {
  tc_cuda_options o = tc_cuda_defaults;
  o.nvrtc = TC_STUB_NVRTC;
  tc_nvrtc_job job[4] = {{.name = "good", .text = "good"},
                         {.name = "error", .text = "error"},
                         {.name = "crash", .text = "crash"},
                         {.name = "good", .text = "good"}};
  tc_buf why = {0};
  cr_expect(tc_nvrtc_compile(&o, job, 4, &why), "%s", why.text ? why.text : "");
  cr_expect_null(job[0].error);
  cr_expect_eq(job[0].blob[0].size, sizeof "STUB:");
  cr_expect(job[1].error && strstr(job[1].error, "error: planted"));
  cr_expect_not_null(job[2].error);
  cr_expect_null(job[3].error, "what comes behind a crash");
  for (int i = 0; i < 4; ++i) tc_nvrtc_job_free(&job[i]);
  tc_buf_free(&why);
}
