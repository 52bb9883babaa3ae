# The functions of ESP-IDF that the component calls.
function(idf_component_register)
  cmake_parse_arguments(ARG "" "INCLUDE_DIRS" "" ${ARGN})
  if(NOT EXISTS "${PACKAGE}/${ARG_INCLUDE_DIRS}/diffgp.h")
    message(FATAL_ERROR "there is no ${ARG_INCLUDE_DIRS}/diffgp.h")
  endif()
endfunction()

function(add_prebuilt_library name library)
  if(NOT EXISTS "${PACKAGE}/${library}")
    message(FATAL_ERROR "there is no ${library}")
  endif()
  get_filename_component(folder "${library}" DIRECTORY)
  get_filename_component(target "${folder}" NAME)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "chosen ${target}")
endfunction()

function(target_link_libraries)
endfunction()

set(COMPONENT_LIB component)
include("${PACKAGE}/CMakeLists.txt")
