/* build.h - the line that libtcrt and libtcrt-cuda of one build share: their common structures. */
#ifndef TC_CUDA_BUILD_H
#define TC_CUDA_BUILD_H

#define TC_CUDA_BUILD TC_VERSION " 1"

#endif
