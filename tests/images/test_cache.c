/* The cache of compiled kernels: entries come back as they were or not at all, whatever happens to
 * its folder. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cache/cache.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/nvrtc/pack.h"

static char folder[] = "/tmp/tc-test-cache-XXXXXX";

static void make_folder(void) { cr_assert_not_null(mkdtemp(folder)); }

static void remove_folder(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  cr_assert_eq(system(command), 0);
}

TestSuite(cache, .init = make_folder, .fini = remove_folder);

/* ---- files of the folder --------------------------------------------------------------------- */

typedef struct file {
  char path[384];
  struct stat s;
} file;

/* Every regular file two levels down. */
static size_t list_files(file *out, size_t most) {
  size_t n = 0;
  for (int shard = 0; shard < 16; ++shard) {
    char path[64];
    snprintf(path, sizeof path, "%s/%x", folder, (unsigned)shard);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
      if (e->d_name[0] == '.') continue;
      cr_assert_lt(n, most);
      snprintf(out[n].path, sizeof out[n].path, "%s/%s", path, e->d_name);
      if (stat(out[n].path, &out[n].s) == 0) ++n;
    }
    if (d) closedir(d);
  }
  return n;
}

static file only_file(void) {
  file f[8];
  cr_assert_eq(list_files(f, 8), 1);
  return f[0];
}

static void write_at(const char *path, off_t at, const char *bytes) {
  const int fd = open(path, O_WRONLY);
  cr_assert_geq(fd, 0);
  cr_assert_eq(pwrite(fd, bytes, strlen(bytes), at), (ssize_t)strlen(bytes));
  close(fd);
}

/* ---- entries --------------------------------------------------------------------------------- */

static tc_digest key(unsigned first, unsigned number) {
  tc_digest k = {{0}};
  k.byte[0] = (unsigned char)first;
  memcpy(&k.byte[1], &number, sizeof number);
  return k;
}

/* Whether the entry is there; its contents must be `bytes` then. */
static bool has(tc_cache *c, tc_digest k, const void *bytes, size_t n) {
  tc_buf out = {0};
  const bool found = tc_cache_get(c, &k, &out);
  if (found) cr_assert(out.len == n && memcmp(out.text, bytes, n) == 0, "an entry has changed");
  else cr_assert_eq(out.len, 0);
  tc_buf_free(&out);
  return found;
}

Test(cache, entries_come_back) {
  static const char bytes[] = "machine\0code";
  const tc_digest a = key(0x12, 1), b = key(0x12, 2), empty = key(0xff, 3);
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  cr_assert_not_null(c);
  cr_expect_not(has(c, a, bytes, sizeof bytes));
  tc_cache_put(c, &a, bytes, sizeof bytes);
  tc_cache_put(c, &empty, "", 0);
  cr_expect(has(c, a, bytes, sizeof bytes));
  cr_expect(has(c, empty, "", 0));
  cr_expect_not(has(c, b, bytes, sizeof bytes));
  cr_expect_eq(tc_cache_count(c).found, 2);
  cr_expect_eq(tc_cache_count(c).missed, 2);
  tc_cache_close(c);
  c = tc_cache_open(folder, 1 << 20);
  cr_expect(has(c, a, bytes, sizeof bytes), "in the next build");
  tc_cache_close(c);
}

static void expect_dropped(void (*damage)(const char *path)) {
  static const char bytes[] = "a kernel";
  const tc_digest k = key(7, 7);
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  tc_cache_put(c, &k, bytes, sizeof bytes);
  damage(only_file().path);
  cr_expect_not(has(c, k, bytes, sizeof bytes));
  file f[1];
  cr_expect_eq(list_files(f, 1), 0, "the damaged file is gone");
  tc_cache_put(c, &k, bytes, sizeof bytes);
  cr_expect(has(c, k, bytes, sizeof bytes));
  tc_cache_close(c);
}

static void flip_contents(const char *path) { write_at(path, 42, "X"); }
static void flip_checksum(const char *path) { write_at(path, 20, "XYZ"); }
static void flip_magic(const char *path) { write_at(path, 0, "other"); }
static void cut(const char *path) { cr_assert_eq(truncate(path, 44), 0); }
static void cut_to_nothing(const char *path) { cr_assert_eq(truncate(path, 0), 0); }
static void lengthen(const char *path) { cr_assert_eq(truncate(path, 4096), 0); }

Test(cache, other_contents) { expect_dropped(flip_contents); }
Test(cache, other_checksum) { expect_dropped(flip_checksum); }
Test(cache, other_magic) { expect_dropped(flip_magic); }
Test(cache, cut_off) { expect_dropped(cut); }
Test(cache, empty_file) { expect_dropped(cut_to_nothing); }
Test(cache, longer) { expect_dropped(lengthen); }

/* ---- where it is ----------------------------------------------------------------------------- */

static bool works(const char *asked) {
  const tc_digest k = key(1, 1);
  tc_cache *c = tc_cache_open(asked, 1 << 20);
  tc_cache_put(c, &k, "x", 1);
  const bool found = has(c, k, "x", 1);
  tc_cache_close(c);
  return found;
}

static bool exists(const char *under) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, under);
  return access(path, F_OK) == 0;
}

Test(cache, folders_by_option_and_environment) {
  char path[64];
  unsetenv("TC_BUILD_CACHE");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", folder, 1);
  cr_expect(works(NULL) && exists(".cache/tcompile/0"));
  snprintf(path, sizeof path, "%s/xdg", folder);
  setenv("XDG_CACHE_HOME", path, 1);
  cr_expect(works("") && exists("xdg/tcompile/0"));
  snprintf(path, sizeof path, "%s/by/variable", folder);
  setenv("TC_BUILD_CACHE", path, 1);
  cr_expect(works(NULL) && exists("by/variable/0"));
  snprintf(path, sizeof path, "%s/option/", folder);
  cr_expect(works(path) && exists("option/0"));
  cr_expect_null(tc_cache_open("off", 1));
  setenv("TC_BUILD_CACHE", "off", 1);
  cr_expect_null(tc_cache_open(NULL, 1));
}

Test(cache, homes_that_are_not_there) {
  char path[64];
  unsetenv("TC_BUILD_CACHE");
  unsetenv("XDG_CACHE_HOME");
  snprintf(path, sizeof path, "%s/nobody", folder);
  setenv("HOME", path, 1);
  cr_expect_not(works(NULL));
  cr_expect_not(exists("nobody"), "a home is never made");
  unsetenv("HOME");
  cr_expect_not(works(NULL));
  setenv("HOME", "relative", 1);
  cr_expect_not(works(NULL));
}

Test(cache, folders_that_cannot_be_written) {
  char path[64];
  cr_expect_not(works("/proc/tcompile/cache"));
  snprintf(path, sizeof path, "%s/file", folder);
  close(open(path, O_WRONLY | O_CREAT, 0666));
  cr_expect_not(works(path));
  strcat(path, "/below");
  cr_expect_not(works(path));
  cr_expect_not(works("/dev/full"));
}

/* ---- its size -------------------------------------------------------------------------------- */

enum { ENTRY = 1000 - 40 }; /* with its header 1000 bytes */

Test(cache, what_was_used_last_stays) {
  static char bytes[ENTRY];
  tc_cache *c = tc_cache_open(folder, 16 * 20000);
  for (unsigned i = 0; i < 40; ++i) {
    const tc_digest k = key(0x30, i);
    tc_cache_put(c, &k, bytes, sizeof bytes);
  }
  static file f[64];
  const size_t n = list_files(f, 64);
  cr_assert_eq(n, 40);
  for (size_t i = 0; i < n; ++i) { /* all a day old, but for what is used now */
    const struct timespec day[2] = {{0, UTIME_OMIT}, {f[i].s.st_mtim.tv_sec - 86400, 0}};
    cr_assert_eq(utimensat(AT_FDCWD, f[i].path, day, 0), 0);
  }
  for (unsigned i = 5; i < 10; ++i) cr_expect(has(c, key(0x30, i), bytes, sizeof bytes));
  tc_cache_close(c);
  cr_expect_eq(list_files(f, 64), 16, "four fifths of 20,000 bytes");
  c = tc_cache_open(folder, 16 * 20000);
  for (unsigned i = 5; i < 10; ++i) cr_expect(has(c, key(0x30, i), bytes, sizeof bytes));
  tc_cache_close(c);
}

Test(cache, stays_below_its_bound) {
  static char bytes[ENTRY];
  static file f[1024];
  tc_cache *c = tc_cache_open(folder, 100000);
  for (unsigned i = 0; i < 512; ++i) {
    const tc_digest k = key(i, i);
    tc_cache_put(c, &k, bytes, sizeof bytes);
  }
  tc_cache_close(c);
  const size_t n = list_files(f, 1024);
  cr_expect(n > 50 && n * 1000 <= 100000, "%zu entries", n);
}

Test(cache, too_large_an_entry_drives_nothing_out) {
  static char bytes[7000];
  const tc_digest small = key(1, 1), large = key(1, 2);
  tc_cache *c = tc_cache_open(folder, 16 * 5000);
  tc_cache_put(c, &small, bytes, 10);
  tc_cache_put(c, &large, bytes, sizeof bytes);
  tc_cache_close(c);
  c = tc_cache_open(folder, 16 * 5000);
  cr_expect(has(c, small, bytes, 10));
  cr_expect_not(has(c, large, bytes, sizeof bytes));
  tc_cache_close(c);
}

Test(cache, what_a_killed_build_left_is_removed) {
  static file f[8];
  char path[128];
  const tc_digest k = key(0, 1);
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  tc_cache_put(c, &k, "x", 1);
  for (int old = 0; old < 2; ++old) {
    snprintf(path, sizeof path, "%s/0/tmp.%d", folder, old);
    close(open(path, O_WRONLY | O_CREAT, 0666));
  }
  const struct timespec long_ago[2] = {{1, 0}, {1, 0}};
  cr_assert_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
  tc_cache_close(c);
  cr_expect_eq(list_files(f, 8), 2, "the entry, and what another build may be writing");
}

/* Contents that tell which key they belong to. */
static size_t fill(unsigned number, unsigned char *bytes) {
  const size_t n = 500 + number * 37 % 900;
  for (size_t i = 0; i < n; ++i) bytes[i] = (unsigned char)(number * 31 + i);
  return n;
}

/* Opens, gets, puts and evicts, with keys that the others use too. */
static void build_for_a_while(unsigned seed) {
  static unsigned char bytes[2000];
  for (unsigned round = 0; round < 30; ++round) {
    tc_cache *c = tc_cache_open(folder, 16 * 8000);
    for (unsigned i = 0; i < 20; ++i) {
      const unsigned number = (seed * 7 + round * 13 + i * 3) % 64;
      const size_t n = fill(number, bytes);
      const tc_digest k = key(number % 4, number);
      if (!has(c, k, bytes, n)) tc_cache_put(c, &k, bytes, n);
    }
    tc_cache_close(c);
  }
}

Test(cache, builds_at_once, .timeout = 120) {
  pid_t pid[4];
  for (unsigned i = 0; i < 4; ++i)
    if ((pid[i] = fork()) == 0) {
      build_for_a_while(i);
      _exit(0);
    }
  for (int i = 0; i < 4; ++i) {
    int status = -1;
    cr_assert_eq(waitpid(pid[i], &status, 0), pid[i]);
    cr_expect_eq(status, 0);
  }
  static file f[256];
  const size_t n = list_files(f, 256);
  cr_expect_gt(n, 0);
  for (size_t i = 0; i < n; ++i) cr_expect_null(strstr(f[i].path, "tmp."), "%s", f[i].path);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static tc_cuda_options with_stub(tc_cache *c) {
  tc_cuda_options o = tc_cuda_defaults; /* 80, 90, ptx80 */
  o.nvrtc = TC_STUB_NVRTC;
  o.cache = c;
  return o;
}

/* Compiles one text; how many of the three blobs came from the cache.  -1: an error. */
static int compile(tc_cache *c, const char *text, const char *arch) {
  tc_cuda_options o = with_stub(c);
  if (arch) cr_assert(tc_cuda_parse_arch(arch, &o));
  tc_nvrtc_job job = {.name = "name", .text = text};
  tc_buf why = {0};
  cr_assert(tc_nvrtc_compile(&o, &job, 1, &why), "%s", why.text);
  int kept = job.error ? -1 : 0;
  for (uint32_t b = 0; kept >= 0 && b < job.nblob; ++b) {
    cr_expect_eq(job.blob[b].size, strlen((char *)job.blob[b].bytes) + 1);
    cr_expect_eq(strncmp((char *)job.blob[b].bytes, "STUB:", 5), 0);
    kept += job.blob[b].kept;
  }
  tc_nvrtc_job_free(&job);
  return kept;
}

Test(cache, kernels_for_gpus) {
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  cr_expect_eq(compile(c, "one", NULL), 0);
  cr_expect_eq(compile(c, "one", NULL), 3);
  cr_expect_eq(compile(c, "two", NULL), 0, "another text");
  cr_expect_eq(compile(c, "one", "80"), 1, "an architecture of them");
  cr_expect_eq(compile(c, "one", "90,ptx90"), 0, "without the instructions of sm_90a alone");
  cr_expect_eq(compile(NULL, "one", NULL), 0);
  setenv("NVRTC_APPEND_FLAGS", "-G", 1);
  cr_expect_eq(compile(c, "one", NULL), 0, "flags from the environment");
  tc_cache_close(c);
}

Test(cache, refused_texts_and_crashes_are_not_kept) {
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  static file f[8];
  for (int i = 0; i < 2; ++i) cr_expect_eq(compile(c, "error", NULL), -1);
  for (int i = 0; i < 2; ++i) cr_expect_eq(compile(c, "crash", NULL), -1);
  cr_expect_eq(list_files(f, 8), 0);
  tc_cache_close(c);
}

/* Machine code and its PTX come out of one compilation. */
Test(cache, one_entry_of_two_is_not_enough) {
  static file f[8];
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  cr_expect_eq(compile(c, "one", "80,ptx80"), 0);
  cr_assert_eq(list_files(f, 8), 2);
  unlink(f[0].path);
  cr_expect_eq(compile(c, "one", "80,ptx80"), 0);
  cr_expect_eq(compile(c, "one", "80,ptx80"), 2);
  tc_cache_close(c);
}

Test(cache, no_library) {
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  tc_cuda_options o = with_stub(c);
  o.nvrtc = "/no/such/library.so";
  tc_nvrtc_job job = {.name = "name", .text = "one"};
  tc_buf why = {0};
  cr_expect_eq(compile(c, "one", NULL), 0);
  cr_expect_not(tc_nvrtc_compile(&o, &job, 1, &why));
  cr_expect(why.text && strstr(why.text, "was not found"));
  tc_nvrtc_job_free(&job);
  tc_buf_free(&why);
  tc_cache_close(c);
}

Test(cache, packs) {
  static const char bytes[4096];
  tc_pack first = {0}, again = {0};
  tc_putn(&first.bytes, bytes, sizeof bytes);
  tc_putn(&again.bytes, bytes, sizeof bytes);
  tc_cache *c = tc_cache_open(folder, 1 << 20);
  tc_image_pack_all(c, &first, 1, 1);
  cr_expect_eq(tc_cache_count(c).found, 0);
  tc_image_pack_all(c, &again, 1, 1);
  cr_expect_eq(tc_cache_count(c).found, 1);
  cr_assert(first.packed && again.packed && first.size == again.size);
  cr_expect(memcmp(first.packed, again.packed, first.size) == 0);
  tc_buf_free(&first.bytes);
  tc_buf_free(&again.bytes);
  free(first.packed);
  free(again.packed);
  tc_cache_close(c);
}

/* ---- SHA-256 --------------------------------------------------------------------------------- */

static void expect_digest(const char *text, size_t times, const char *hex) {
  tc_sha256 h;
  char got[65];
  tc_sha256_begin(&h);
  for (size_t i = 0; i < times; ++i) tc_sha256_add(&h, text, strlen(text));
  const tc_digest d = tc_sha256_end(&h);
  for (int i = 0; i < 32; ++i) snprintf(got + 2 * i, 3, "%02x", d.byte[i]);
  cr_expect_str_eq(got, hex);
}

/* FIPS 180-4's examples, and lengths around the end of a block (by coreutils' sha256sum). */
Test(sha256, examples) {
  expect_digest("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect_digest("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  expect_digest("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  expect_digest("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  expect_digest("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  expect_digest("a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  expect_digest("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  expect_digest("a", 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

Test(sha256, fields_do_not_run_together) {
  tc_sha256 a, b;
  tc_sha256_begin(&a);
  tc_sha256_begin(&b);
  tc_sha256_add_field(&a, "ab", 2), tc_sha256_add_field(&a, "c", 1);
  tc_sha256_add_field(&b, "a", 1), tc_sha256_add_field(&b, "bc", 2);
  const tc_digest x = tc_sha256_end(&a), y = tc_sha256_end(&b);
  cr_expect_neq(memcmp(&x, &y, sizeof x), 0);
}
