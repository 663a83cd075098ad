"""Which files liquid clustering takes: files without a Z-cube, and files of cubes that are still small.

Source: ClusteringStrategy.applyMinZCube and ZCube of delta-spark 3.3.2, without OPTIMIZE FULL.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from strategies.delta.files import DeletionVector, DeltaDataFile, live_bytes

PROVIDER = "liquid"


def cluster_candidates(
    files: Collection[DeltaDataFile], vectors: Mapping[str, DeletionVector], columns: tuple[str, ...],
    min_cube_bytes: int,
) -> list[DeltaDataFile]:  # fmt: skip
    """The files to cluster: files without a cube first, then cube by cube.

    Left alone are files clustered by something else or by other columns, cubes whose live rows take
    `min_cube_bytes` or more, and the only cube of a table without any other candidate.
    """
    loose = [file for file in files if file.z_cube is None and _is_ours(file, columns)]
    small = small_cubes(files, vectors, columns, min_cube_bytes)
    if not loose and len(small) == 1:
        return []
    return [*loose, *(file for cube in _iterated(small) for file in cube)]


def small_cubes(
    files: Iterable[DeltaDataFile], vectors: Mapping[str, DeletionVector], columns: tuple[str, ...],
    min_cube_bytes: int,
) -> list[Sequence[DeltaDataFile]]:  # fmt: skip
    """The Z-cubes by these columns whose live rows take less than `min_cube_bytes`."""
    clustered = (file for file in files if file.z_cube is not None and _is_ours(file, columns))
    cubes = _iterated([list(cube) for _, cube in groupby(sorted(clustered, key=_cube_id), key=_cube_id)])
    return [cube for cube in cubes if sum(live_bytes(f, vectors.get(f.path)) for f in cube) < min_cube_bytes]


def _iterated(cubes: Sequence[Sequence[DeltaDataFile]]) -> Sequence[Sequence[DeltaDataFile]]:
    """Delta's order: a last cube of one file comes before its predecessor.

    `filterOutLargeZCubes` and, after it, `filterOutSingleZCubes` both do this.
    """
    if len(cubes) < 2 or len(cubes[-1]) > 1:
        return cubes
    return [*cubes[:-2], cubes[-1], cubes[-2]]


def _is_ours(file: DeltaDataFile, columns: tuple[str, ...]) -> bool:
    is_same_provider = file.clustering_provider in (None, PROVIDER)
    return is_same_provider and (file.z_cube is None or file.z_cube.columns == columns)


def _cube_id(file: DeltaDataFile) -> str:
    return "" if file.z_cube is None else file.z_cube.id
