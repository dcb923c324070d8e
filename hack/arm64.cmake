# Compiles for arm64 with Debian's cross-compiler, and runs test programs with qemu. The sysroot is set on the command line:
#   cmake --toolchain hack/arm64.cmake -DCMAKE_SYSROOT="$(hack/arm64-root.sh)" …
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
# The cross-compiler finds only its own linker.
set(MOLD OFF CACHE FILEPATH "linker")
