# Installs what is missing on Debian and Ubuntu. Sourced by tools/run and tools/test.

# setup NAME=WHAT...: sees to it that these packages are there; WHAT says in a few words what each is for.
setup() {
    if ! command -v cargo >/dev/null; then
        if [ -x "$HOME/.cargo/bin/cargo" ]; then
            PATH="$HOME/.cargo/bin:$PATH"
        else
            echo "Rust is not installed: get it from https://rustup.rs, open a new shell, and run this again." >&2
            exit 1
        fi
    fi
    case "$(. /etc/os-release 2>/dev/null; echo " ${ID:-} ${ID_LIKE:-} ")" in
    *" debian "* | *" ubuntu "*) install_missing "$@" ;;
    *) tell_once ;;
    esac
}

install_missing() {
    local entry name missing=() as_root=()
    for entry in "$@"; do
        name=${entry%%=*}
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
            echo "installing $name (${entry#*=})" >&2
            missing+=("$name")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "As root, run: apt-get install ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    local log
    log=$(mktemp)
    if ! "${as_root[@]}" apt-get update >"$log" 2>&1 ||
        ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        tail -n 5 "$log" >&2
        echo "The packages could not be installed (all of the output: $log)." >&2
        exit 1
    fi
    rm -f "$log"
}

# What the system lacks cannot be told from here, so this is said until a build has succeeded.
tell_once() {
    [ ! -e target/release/skinning ] || return 0
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
    "libshaderc-dev=shader compiler"
    "glslang-dev=shader compiler"
    "spirv-tools=shader compiler"
    "libvulkan1=Vulkan loader"
    "mesa-vulkan-drivers=Vulkan drivers, one of them for machines without a GPU"
    "libx11-xcb1=windows"
    "libxcursor1=windows"
    "libxi6=windows"
    "libxrandr2=windows"
    "libxkbcommon-x11-0=keyboard"
)

# What the tests need besides.
TEST_PACKAGES=(
    "vulkan-validationlayers=checks of the use of Vulkan"
    "xvfb=a display in memory"
    "openbox=a small window manager"
)
