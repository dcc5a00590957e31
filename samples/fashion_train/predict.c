/* fashion_predict - how well the network that fashion_train wrote tells the test images apart, and which clothes it
 * takes for others. */
#include "mlp.h"

static tc_tensor *weight(tc_safetensors *file, const char *name) {
  return sample_check(tc_to(sample_check(tc_safetensors_get(file, name)), tc_default_device()));
}

static network load_network(const char *path) {
  tc_safetensors *file = tc_safetensors_open(path);
  if (!file) sample_check(NULL);
  const network n = {weight(file, "w1"), weight(file, "b1"), weight(file, "w2"),
                     weight(file, "b2")};
  tc_safetensors_close(file);
  return n;
}

/* Of each class how many images were taken for which, i64[10,10]. */
TC_COMPILE static tc_tensor *confusion(const tc_tensor *classes TC_SHAPE("i64[N]"),
                                       const tc_tensor *found TC_SHAPE("i64[N]")) {
  return tc_matmul(tc_transpose(tc_one_hot(classes, CLASSES), 0, 1), tc_one_hot(found, CLASSES));
}

static void print_confusion(const tc_tensor *count) {
  static const char *const name[CLASSES] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                            "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
  printf("%-9s", "taken for");
  for (int i = 0; i < CLASSES; i++) printf("%9s", name[i]);
  for (int i = 0; i < CLASSES; i++) {
    printf("\n%-9s", name[i]);
    for (int k = 0; k < CLASSES; k++) printf("%9.0f", tc_at(count, TC_INTS(i, k)));
  }
  putchar('\n');
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--data FOLDER] [--weights FILE]");
  TC_SCOPE {
    const network net = load_network(sample_option("--weights", "fashion.safetensors"));
    const images test = load_images(sample_option("--data", FASHION_MNIST), "t10k", 10000);
    const tc_tensor *found = sample_check(classify(&net, test.pixels));
    sample_print_accuracy("fashion_predict", found, test.classes);
    print_confusion(sample_check(tc_to(confusion(test.classes, found), TC_CPU)));
    SAMPLE_MEASURE(confusion, test.classes, found);
  }
}
