tc_backend_folders(${CMAKE_CURRENT_LIST_DIR}/schedule ${CMAKE_CURRENT_LIST_DIR}/nest ${CMAKE_CURRENT_LIST_DIR}/gemm)
tc_embed_prelude(tc_omp_prelude ${CMAKE_CURRENT_LIST_DIR}/prelude/*.c)
