# TCompile_NVRTC: the library that compiles device code, found here as the plugin would find it (the
# variable TC_NVRTC wins), or `none`.  It stands on the command line of every object, because a
# compiler cache does not see what a plugin opens: an object made without it must not come back.
if(DEFINED ENV{TC_NVRTC})
  set(TCompile_NVRTC $ENV{TC_NVRTC})
else()
  find_library(TCompile_NVRTC NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12
               HINTS ${folder}/nvrtc ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
               PATH_SUFFIXES lib64 lib NO_CMAKE_FIND_ROOT_PATH)
endif()
if(TCompile_NVRTC)
  set(nvrtc ${TCompile_NVRTC})
  if(EXISTS ${nvrtc})
    file(REAL_PATH ${nvrtc} nvrtc)
  endif()
  list(APPEND options nvrtc=${nvrtc})
endif()
