"""Class-data archives: classes that were parsed and verified beforehand, so that a JVM starts faster.

An archive is made once for each Java, class path and set of JVM flags, and kept in the cache folder. Java
maps it only where all of these are as they were when it was made, and otherwise does without; so it is
checked before it is used. It takes two steps: a JVM in training lists the classes it loads, and another one
archives them. (A single step, `-XX:ArchiveClassesAtExit`, builds on the JDK's own archive, which the bundled
Java does not have.)
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import runtime

TRAINING_VERSION = 1  # increased whenever the training loads other classes
COMPRESSED_BELOW_BYTES = 32 * 2**30  # larger heaps have other pointers, and so another layout of classes
KEPT_COUNT = 8  # archives in the cache folder, of about 200 MB each; more than a suite uses
_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """An archive for one set of jars, JVM flags and heap; `file` may not exist yet."""

    file: Path
    flags: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """What a JVM needs to use it. Where it does not fit, the JVM starts without it."""
        return ("-Xshare:auto", f"-XX:SharedArchiveFile={self.file}")

    def is_usable(self) -> bool:
        """Whether a JVM of the recorded class path and flags maps it; takes about half a second."""
        try:
            class_path = json.loads(self._facts.read_text(encoding="utf-8"))["class_path"]
        except (OSError, ValueError, KeyError):
            return False
        usable = self.file.exists() and _java(
            "-Xshare:on", f"-XX:SharedArchiveFile={self.file}", *self.flags, "-cp", class_path, "-version"
        )
        if usable:
            self.file.touch()  # the oldest archives are removed first
        return usable

    def write(self, class_list: Path, class_path: str) -> bool:
        """Write the archive of the listed classes; whether that succeeded. It appears whole or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_suffix(f".{os.getpid()}.part")
        try:
            written = _java(
                "-Xshare:dump", f"-XX:SharedClassListFile={class_list}", f"-XX:SharedArchiveFile={part}",
                *self.flags, "-cp", class_path,
            )  # fmt: skip
            if written:
                self._facts.write_text(json.dumps({"class_path": class_path}), encoding="utf-8")
                part.replace(self.file)
                self._remove_oldest()
            return written
        finally:
            part.unlink(missing_ok=True)

    def _remove_oldest(self) -> None:
        """Leave the archives that were used last: each update of Java, Spark or jars needs another."""
        by_age = sorted(self.file.parent.glob("*.jsa"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in by_age[KEPT_COUNT:]:
            file.unlink(missing_ok=True)
            file.with_suffix(".json").unlink(missing_ok=True)

    @property
    def _facts(self) -> Path:
        return self.file.with_suffix(".json")


def archive_of(jars: Sequence[Path], java_options: str, heap_bytes: int) -> ClassArchive:
    """The archive for these jars in front of Spark's own, under these options of the JVM.

    Only flags of the virtual machine matter, which begin with -X; other options may hold secrets.
    """
    flags = tuple(option for option in java_options.split() if option.startswith("-X"))
    home = runtime.java_home()
    facts = {
        "training": TRAINING_VERSION,
        "java": [str(home), runtime.java_version(home)],
        "jars": [_identity(path) for path in (*jars, *runtime.spark_jars())],
        "flags": flags,
        "is_compressed": heap_bytes < COMPRESSED_BELOW_BYTES,
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    return ClassArchive(runtime.cache_folder() / "classes" / f"{key}.jsa", flags)


def training_options(class_list: Path) -> tuple[str, ...]:
    """What a JVM needs to list the classes it loads. The quick compiler alone will do: the JVM ends soon."""
    return (f"-XX:DumpLoadedClassList={class_list}", "-XX:TieredStopAtLevel=1")


def _identity(path: Path) -> tuple[str, int, int]:
    """Java compares size and time of each jar as well."""
    status = path.stat()
    return str(path), status.st_size, status.st_mtime_ns


def _java(*arguments: str) -> bool:
    """Whether `java` with these arguments succeeds."""
    command = [str(runtime.java_home() / "bin" / "java"), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
