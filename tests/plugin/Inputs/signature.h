// Types that signature.c has from a header.
struct model {
  const tc_tensor *w;
};
typedef struct {
  int n;
} settings;
typedef enum { FAST, SLOW } speed;
