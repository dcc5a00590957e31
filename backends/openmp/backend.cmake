tc_embed_prelude(tc_omp_prelude ${CMAKE_CURRENT_LIST_DIR}/prelude/*.c)
