tc_embed_prelude(tc_cuda_prelude ${CMAKE_CURRENT_LIST_DIR}/prelude/*.cu)
tc_embed_text(tcbackend tc_entry_cuda ${abi}/cuda.h)
find_package(LibLZMA REQUIRED)
target_link_libraries(tcbackend PUBLIC LibLZMA::LibLZMA)
