# find_package(diffgp) defines the target diffgp::diffgp.
#
# DIFFGP_TARGET says which library: a folder of lib/. On x86-64 Linux it need not be set.
if(NOT DIFFGP_TARGET)
  if(NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(DIFFGP_TARGET x86_64-linux)
  endif()
endif()

set(_diffgp_library "${CMAKE_CURRENT_LIST_DIR}/lib/${DIFFGP_TARGET}/libdiffgp.a")
if(NOT DIFFGP_TARGET OR NOT EXISTS "${_diffgp_library}")
  file(GLOB _diffgp_known RELATIVE "${CMAKE_CURRENT_LIST_DIR}/lib" "${CMAKE_CURRENT_LIST_DIR}/lib/*")
  list(JOIN _diffgp_known ", " _diffgp_known)
  set(diffgp_FOUND FALSE)
  set(diffgp_NOT_FOUND_MESSAGE "DIFFGP_TARGET is '${DIFFGP_TARGET}'; expected one of ${_diffgp_known}")
  return()
endif()

if(NOT TARGET diffgp::diffgp)
  add_library(diffgp::diffgp STATIC IMPORTED)
  set_target_properties(diffgp::diffgp PROPERTIES
    IMPORTED_LOCATION "${_diffgp_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/include")
endif()
