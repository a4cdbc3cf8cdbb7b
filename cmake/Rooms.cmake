# One CMake target per folder ("room"), with exactly the links the include law allows.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths are hashed relative to the tree, so a copy of the tree (tests/mutants) finds what the tree has compiled.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

add_library(matchrdma_flags INTERFACE)
target_include_directories(matchrdma_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(matchrdma_flags INTERFACE -Wall -Wextra -Werror -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -fno-omit-frame-pointer)
# GCC 12 at -O3 takes std::string's operator+ for an overlapping copy (GCC bug 105651).
target_compile_options(matchrdma_flags INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
if(MATCHRDMA_SANITIZE)
  # GCC's -Wmaybe-uninitialized sees what the sanitizers add, and cries about the standard library's own code.
  target_compile_options(matchrdma_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
    -Wno-maybe-uninitialized)
  target_link_options(matchrdma_flags INTERFACE -fsanitize=address,undefined)
endif()
if(MATCHRDMA_FUZZ)
  target_compile_options(matchrdma_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all)
  target_link_options(matchrdma_flags INTERFACE -fsanitize=address,undefined)
endif()

find_package(PkgConfig REQUIRED)
if(MATCHRDMA_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# matchrdma_room(NAME [DEPS target...]): library matchrdma_NAME of every *.cc here but *_test.cc and main.cc,
# and one test program NAME_test of the *_test.cc.
function(matchrdma_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;TEST_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main|_fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(matchrdma_${name} STATIC ${sources})
    target_link_libraries(matchrdma_${name} PUBLIC matchrdma_flags ${ROOM_DEPS})
  else()
    add_library(matchrdma_${name} INTERFACE)
    target_link_libraries(matchrdma_${name} INTERFACE matchrdma_flags ${ROOM_DEPS})
  endif()
  if(MATCHRDMA_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE matchrdma_${name} ${ROOM_TEST_DEPS} GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE MATCHRDMA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
  endif()
endfunction()
