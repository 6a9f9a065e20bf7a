# ccache when it is there, told what a precompiled header needs. CMAKE_CXX_COMPILER_LAUNCHER may
# name another launcher; a bare "ccache" gets the same settings.

find_program(TRACEC_CCACHE ccache)
if(TRACEC_CCACHE)
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER
       OR CMAKE_${language}_COMPILER_LAUNCHER MATCHES "^([^;]*/)?ccache$")
      set(CMAKE_${language}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=pch_defines,time_macros"
        "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${TRACEC_CCACHE}")
    endif()
  endforeach()
endif()
