# The functions of Zephyr that the module calls.
function(zephyr_include_directories folder)
  if(NOT EXISTS "${PACKAGE}/${folder}/diffgp.h")
    message(FATAL_ERROR "there is no ${folder}/diffgp.h")
  endif()
endfunction()

function(zephyr_library_import name library)
  if(NOT EXISTS "${library}")
    message(FATAL_ERROR "there is no ${library}")
  endif()
  get_filename_component(folder "${library}" DIRECTORY)
  get_filename_component(target "${folder}" NAME)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "chosen ${target}")
endfunction()

include("${PACKAGE}/CMakeLists.txt")
