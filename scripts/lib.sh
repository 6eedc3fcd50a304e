# Sourced by the scripts: sets up what they need, once, and says on stderr what it does. What has not changed is not
# done again: stamps lie in build/.
# shellcheck shell=bash

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
venv=$root/.venv
export PYTHONDONTWRITEBYTECODE=1

say() {
    echo "skyway: $*" >&2
}

die() {
    say "$@"
    exit 1
}

# apt NAME...: installs Debian packages, or says in one line what to install.
apt() {
    local run=()
    if ! command -v apt-get >/dev/null; then
        die "missing: $* (Debian's names): install them with this system's package manager"
    fi
    if [ "$(id -u)" != 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            die "missing: $*: run sudo apt-get install $*"
        fi
        run=(sudo)
    fi
    say "installing $*"
    mkdir -p build
    # Two scripts at once wait for each other instead of failing.
    if ! {
        "${run[@]}" apt-get -qq update &&
            "${run[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get -qq -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
    } >build/apt.log 2>&1; then
        tail -n 20 build/apt.log >&2
        die "apt-get could not install $*: the end of build/apt.log is above"
    fi
}

# served NAME: whether apt knows this package.
served() {
    command -v apt-cache >/dev/null && [ -n "$(apt-cache --quiet=2 madison "$1" 2>/dev/null)" ]
}

# The build tools, and a Python that can make a virtual environment.
install_tools() {
    local packages=() package
    if ! command -v python3 >/dev/null; then
        packages+=(python3 python3-venv)
    elif ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        packages+=(python3-venv)
    fi
    if [ ${#packages[@]} -gt 0 ]; then
        apt "${packages[@]}"
        packages=()
    fi
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "python3 is $(python3 -V 2>&1 | cut -d' ' -f2): Python 3.11 or newer is needed"
    while read -r package; do
        # Releases of Debian differ in the JDKs that they have.
        if [ "$package" = openjdk-17-jdk-headless ] && ! served "$package" && served default-jdk-headless; then
            package=default-jdk-headless
        fi
        [ -z "$package" ] || packages+=("$package")
    done < <(python3 scripts/build.py --missing)
    [ ${#packages[@]} -eq 0 ] || apt "${packages[@]}"
}

# make_venv base|dev: the virtual environment with the package in editable mode; dev adds the tools of the tests.
make_venv() {
    local kind=$1 stamp digest target=. wanted
    if [ "$kind" = dev ]; then
        target='.[dev]'
    fi
    digest=$(cat pyproject.toml hatch_build.py skyway_py/_version.py | sha256sum)
    # dev has all that base has.
    for wanted in "$kind" dev; do
        stamp=$venv/.skyway-$wanted
        if [ -x "$venv/bin/skyway" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$digest" ]; then
            return
        fi
    done
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv" >&2
    say "installing the Python packages into .venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$target" >&2 ||
        die "pip failed: its errors are above"
    echo "$digest" >"$venv/.skyway-$kind"
}

# setup base|dev: everything, so that .venv/bin/skyway runs from this tree.
setup() {
    mkdir -p build
    (
        flock 9
        install_tools
        python3 scripts/build.py
        make_venv "$1"
    ) 9>build/setup.lock
}

# jdk FEATURE: its home; empty when there is none.
jdk() {
    python3 scripts/build.py --jdk "$1" 2>/dev/null || true
}
