"""Which files belong to the project: what git tracks or would track; without git (a release tarball) everything
outside build folders."""
import os
import subprocess


def source_files(root):
    """Paths relative to root, sorted. Works in a git checkout and in an unpacked archive."""
    if os.path.exists(os.path.join(root, ".git")):
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], check=True, stdout=subprocess.PIPE).stdout
        names = [n for n in out.decode().split("\0") if n]
    else:
        names = []
        for folder, subfolders, files in os.walk(root):
            subfolders[:] = [d for d in subfolders
                             if not (folder == root and (d == "build" or d.startswith("build-")))]
            names += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted({n for n in names if os.path.isfile(os.path.join(root, n))})


def cxx_files(root):
    return [n for n in source_files(root) if n.endswith((".cc", ".h"))]
