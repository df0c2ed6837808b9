# Installs what is missing on Debian and Ubuntu. Sourced by tools/run and tools/test.
# shellcheck shell=bash disable=SC2034

# shellcheck source=/dev/null
SYSTEM=$(. /etc/os-release 2>/dev/null; echo " ${ID:-} ${ID_LIKE:-} ${UBUNTU_CODENAME:-} ")

# setup NAME=WHAT...: sees to it that these packages are there; WHAT says in a few words what each is for.
setup() {
    if ! command -v cargo >/dev/null; then
        local folder=${CARGO_HOME:-${HOME:-}/.cargo}/bin
        if [ ! -x "$folder/cargo" ]; then
            echo "Rust is not installed: get it from https://rustup.rs, open a new shell, and run this again." >&2
            exit 1
        fi
        PATH=$folder:$PATH
    fi
    case "$SYSTEM" in
    *" debian "* | *" ubuntu "*) install_missing "$@" ;;
    *) tell_once ;;
    esac
}

install_missing() {
    local entry name missing=() lines=() as_root=()
    for entry in "$@"; do
        name=${entry%%=*}
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
            missing+=("$name")
            lines+=("$name (${entry#*=})")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            printf 'missing %s\n' "${lines[@]}" >&2
            echo "As root, run: apt-get update; apt-get install --no-install-recommends ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    printf 'installing %s\n' "${lines[@]}" >&2
    local log
    log=$(mktemp)
    # Where a source of packages that is not needed here is out of order, apt-get update fails and nothing else does.
    # shellcheck disable=SC2016
    if ! "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive sh -c \
        'apt-get update; apt-get install -y --no-install-recommends "$@"' sh "${missing[@]}" \
        </dev/null >"$log" 2>&1; then
        grep -m 5 -E '^(E:|W: Failed to fetch)' "$log" >&2 || tail -n 5 "$log" >&2
        echo "The packages could not be installed (all of the output: $log)." >&2
        exit 1
    fi
    rm -f "$log"
}

# What the system lacks cannot be told from here, so this is said until a sample has been built.
tell_once() {
    local folder
    for folder in samples/*; do
        if [ -e "target/release/${folder##*/}" ] || [ -e "target/debug/${folder##*/}" ]; then return; fi
    done
    cat >&2 <<'TEXT'
This is not Debian or Ubuntu, so nothing is installed for you. Needed are Rust, a C++ compiler, a Vulkan driver with the
Vulkan loader, and shaderc as a library: the Vulkan SDK (https://vulkan.lunarg.com) brings the last two, and the
validation layers that the tests use; on Fedora they are vulkan-loader, mesa-vulkan-drivers, libshaderc-devel and
vulkan-validation-layers, on Arch vulkan-icd-loader, vulkan-swrast, shaderc and vulkan-validation-layers, with Homebrew
molten-vk and shaderc. Where shaderc is in no usual place, set SHADERC_LIB_DIR to its folder. The tests also need Xvfb
and the window manager openbox.
TEXT
}

# What it takes to build and run a sample.
RUN_PACKAGES=(
    "ca-certificates=for Cargo's downloads"
    "g++=C++ compiler, and the linker"
    "libvulkan1=Vulkan loader"
    "mesa-vulkan-drivers=Vulkan drivers, one of them for machines without a GPU"
    "libx11-xcb1=windows"
    "libxcursor1=windows"
    "libxi6=windows"
    "libxkbcommon-x11-0=keyboard"
)
case "$SYSTEM" in
*" jammy "*) # Ubuntu 22.04 does not have the shader compiler as a library, and Cargo builds it.
    for name in cmake make git python3; do RUN_PACKAGES+=("$name=builds the shader compiler"); done
    ;;
*) RUN_PACKAGES+=("libshaderc-dev=shader compiler") ;;
esac

# What the tests need besides.
TEST_PACKAGES=(
    "vulkan-validationlayers=checks of the use of Vulkan"
    "xvfb=a display in memory"
    "openbox=a small window manager"
)
