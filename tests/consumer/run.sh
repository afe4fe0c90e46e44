#!/usr/bin/env bash
# run.sh SOURCE WORK VERSION: installs Leat static and shared, moves each copy, and builds a user's program against it with
# CMake and with pkg-config; then as a subdirectory; then a new handler. Checks what the libraries export.
set -euo pipefail
source=$1 work=$2 version=$3
here=$source/tests/consumer
mkdir -p "$work"
cd "$work"

quietly() { "$@" >step.log 2>&1 || { cat step.log && echo "failed: $*" && exit 1; }; }

install_moved() {
    quietly cmake -S "$source" -B "build-$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS="$2" \
        -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
        -DCMAKE_INSTALL_LIBDIR=lib -DLEAT_TESTS=OFF -DLEAT_EXAMPLES=OFF
    quietly cmake --build "build-$1"
    rm -rf "first-$1" "moved-$1"
    quietly cmake --install "build-$1" --prefix "$work/first-$1"
    mv "first-$1" "moved-$1"
}

by_cmake() {
    rm -rf "cmake-$1"
    quietly cmake -S "$here" -B "cmake-$1" -G Ninja -DEXPECTED_VERSION="$version" "$2"
    quietly cmake --build "cmake-$1"
    "cmake-$1/consumer"
}

by_pkg_config() {
    local kind=$1 prefix=$work/moved-$1 modules part
    local -x PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    modules=$(cd "$PKG_CONFIG_PATH" && ls -- *.pc | sed 's/\.pc$//')
    for part in $modules; do quietly pkg-config --exists --print-errors "$part >= 0.1"; done
    quietly cc -std=c11 "$here/consumer.c" -DEXPECTED_VERSION="\"$version\"" -o "pkg-config-$kind" \
        $(pkg-config --cflags --libs $modules)
    LD_LIBRARY_PATH=$prefix/lib "./pkg-config-$kind"
}

exports_only_leat() {
    local others
    others=$(nm -D --defined-only moved-shared/lib/*.so | awk 'NF == 3 && $2 != "A" && $3 !~ /^leat_/ { print $3 }')
    [ -z "$others" ] || { echo "exported beside leat_*:" $others && exit 1; }
    others=$(nm -g --defined-only moved-static/lib/*.a | awk 'NF == 3 && $3 !~ /^(leat|llhttp)_/ { print $3 }')
    [ -z "$others" ] || { echo "global beside leat_* in a static library:" $others && exit 1; }
}

names_of_the_machine() {
    ! grep -rlF -e "$source" -e "$work" moved-static/lib/cmake moved-static/lib/pkgconfig moved-static/include ||
        { echo "installed files name the machine's folders" && exit 1; }
}

# A handler of a user's own, in a folder outside the tree, against the static copy and then the shared one.
new_handler() {
    local kind
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    ! "$source/dev" new-handler switch "$folder" 2>step.log || { echo "a handler may not be called switch" && exit 1; }
    quietly "$source/dev" new-handler echo_upper "$folder"
    for kind in static shared; do
        quietly cmake -S "$folder" -B "$folder/$kind" -G Ninja -DCMAKE_PREFIX_PATH="$work/moved-$kind"
        quietly cmake --build "$folder/$kind"
        quietly ctest --test-dir "$folder/$kind" --output-on-failure --no-tests=error
        echo "a new handler passes its test, $kind"
    done
}

install_moved static OFF
install_moved shared ON
for kind in static shared; do
    by_cmake "$kind" "-DCMAKE_PREFIX_PATH=$work/moved-$kind"
    by_pkg_config "$kind"
done
by_cmake subdirectory "-DLEAT_SOURCE=$source"
exports_only_leat
names_of_the_machine
new_handler
