/* Products without tensor cores: a thread's rows (columns) of a tile are runs of four. */
/* @ tc_at tc_run tc_run_put */
/* The i-th of COUNT rows of thread `at`, of SIDE; and the elements there. */
template <int COUNT, int SIDE> TC_FN int tc_at(int at, int i) {
  constexpr int run = TC_MIN(COUNT, 4);
  return i / run * (SIDE * run / COUNT) + at * run + i % run;
}
template <int COUNT, int SIDE, class T> TC_FN void tc_run(T *to, const T *row, int at) {
  constexpr int run = TC_MIN(COUNT, 4);
  TC_UNROLL for (int i = 0; i < COUNT; i += run) {
    const tc_vec<T, run> v = tc_loaded<run>(row + tc_at<COUNT, SIDE>(at, i));
    TC_UNROLL for (int l = 0; l < run; ++l) to[i + l] = v.l[l];
  }
}
template <int COUNT, int SIDE, class T> TC_FN void tc_run_put(T *row, const T *from, int at) {
  constexpr int run = TC_MIN(COUNT, 4);
  TC_UNROLL for (int i = 0; i < COUNT; i += run) {
    tc_vec<T, run> v;
    TC_UNROLL for (int l = 0; l < run; ++l) v.l[l] = from[i + l];
    tc_stored<run>(row + tc_at<COUNT, SIDE>(at, i), v);
  }
}
/* @ tc_total_of_lane */
/* Of N values that each of N lanes beside each other has, the one that the lane's number among them says, summed up. */
template <int N, class T> TC_FN T tc_total_of_lane(const T *x, int lane) {
  if constexpr (N == 1) return x[0];
  else {
    const bool upper = lane & N / 2;
    T half[N / 2];
    TC_UNROLL for (int i = 0; i < N / 2; ++i)
      half[i] = (upper ? x[i + N / 2] : x[i]) + tc_shuffle(0xffffffffu, upper ? x[i] : x[i + N / 2], N / 2);
    return tc_total_of_lane<N / 2>(half, lane);
  }
}
