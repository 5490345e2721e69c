"""Generates ``orchestration/pb`` from the ``.proto`` files beside this script, or checks that it is current.

Python's protobuf compiler derives module names from file names, so ``submind/v1/mind.proto`` would have to be
imported as ``submind.v1.mind_pb2``, from the top of ``sys.path``. A path mapping (``-Iorchestration/pb=proto``)
renames the files given to the compiler but not the imports within them. So the files are compiled to descriptors
first, the descriptors get the names under which the generated code shall live, and the code is generated from
those: nothing is patched. The import of the validation rules is left out on the way: the rules themselves travel in
the options, where the validator finds them, and it brings its own definition of what they mean.

    python proto/generate.py            write orchestration/pb
    python proto/generate.py --check    exit 1 and name the files that differ
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import grpc_tools
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

SOURCE = Path(__file__).resolve().parent
ROOT = SOURCE.parent
PACKAGE = "orchestration/pb"
RULES = "buf/validate/validate.proto"
WELL_KNOWN = Path(grpc_tools.__file__).parent / "_proto"
HEADER = '"""Generated from ``proto/`` by ``make proto``: do not edit."""\n'


def _run(*arguments: str) -> None:
    if protoc.main(["protoc", *arguments]) != 0:
        sys.exit("protoc failed: its messages are above")


def describe() -> FileDescriptorSet:
    """The files under the names where their code shall live, and those of ``google/`` which protobuf ships itself."""
    names = sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "files.binpb"
        paths = (f"-I{SOURCE}", f"-I{WELL_KNOWN}")
        _run(*paths, "--include_imports", "--include_source_info", f"--descriptor_set_out={out}", *names)
        files = FileDescriptorSet.FromString(out.read_bytes())
    kept = FileDescriptorSet(file=[file for file in files.file if file.name != RULES])
    ours = set(names)
    for file in kept.file:
        file.dependency[:] = [
            f"{PACKAGE}/{name}" if name in ours else name for name in file.dependency if name != RULES
        ]
        if file.name in ours:
            file.name = f"{PACKAGE}/{file.name}"
    return kept


def comments(files: FileDescriptorSet) -> dict[str, str]:
    """What the files say of each message, field and method, by its full name; taken out of the files."""
    found: dict[str, str] = {}
    for file in files.file:
        if file.name.startswith(PACKAGE):
            for location in file.source_code_info.location:
                name = _named(file, tuple(location.path))
                if name and location.leading_comments:
                    found[name] = " ".join(location.leading_comments.split())
        file.ClearField("source_code_info")
    return found


def _named(file: FileDescriptorProto, path: tuple[int, ...]) -> str:
    """The full name of a message (4), a field (4, 2) or a method (6, 2); empty for anything else."""
    match path:
        case (4, at):
            return f"{file.package}.{file.message_type[at].name}"
        case (4, at, 2, field):
            return f"{file.package}.{file.message_type[at].name}.{file.message_type[at].field[field].name}"
        case (6, at, 2, method):
            return f"{file.package}.{file.service[at].name}.{file.service[at].method[method].name}"
    return ""


def generate(target: Path) -> None:
    """Write the package under ``target``, where only what belongs there is left."""
    files = describe()
    told = comments(files)
    names = [file.name for file in files.file if file.name.startswith(PACKAGE)]
    served = [file.name for file in files.file if file.name.startswith(PACKAGE) and file.service]
    with tempfile.TemporaryDirectory() as scratch:
        described = Path(scratch) / "files.binpb"
        described.write_bytes(files.SerializeToString())
        _run(f"--descriptor_set_in={described}", f"--python_out={target}", f"--pyi_out={target}", *names)
        _run(f"--descriptor_set_in={described}", f"--grpc_python_out={target}", *served)
    package = target / PACKAGE
    lines = (f"    {name!r}: {text!r},\n" for name, text in told.items())
    made = f"{HEADER}\nCOMMENTS: dict[str, str] = {{\n{''.join(lines)}}}\n"
    (package / "comments.py").write_text(made)
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir() and path.name != "__pycache__")):
        (folder / "__init__.py").write_text(HEADER)


def contents(package: Path) -> dict[str, bytes]:
    """File name below ``package`` to what the file holds."""
    kept = (path for path in package.rglob("*.py*") if path.suffix in {".py", ".pyi"})
    return {str(path.relative_to(package)): path.read_bytes() for path in kept}


def check() -> int:
    """Generate elsewhere and compare; the exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        generate(Path(scratch))
        fresh = contents(Path(scratch) / PACKAGE)
    there = contents(ROOT / PACKAGE)
    stale = sorted(name for name in fresh.keys() | there.keys() if fresh.get(name) != there.get(name))
    for name in stale:
        sys.stderr.write(f"{PACKAGE}/{name} is not current: run `make proto`\n")
    return 1 if stale else 0


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description="Generate orchestration/pb from proto/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail unless the code is current")
    if parser.parse_args().check:
        return check()
    for name in contents(ROOT / PACKAGE):
        (ROOT / PACKAGE / name).unlink()
    generate(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
