"""Files and their versions."""

from __future__ import annotations

import datetime
import json
import os
import re
import threading
import warnings
import weakref
from ctypes import byref, c_size_t, c_void_p, create_string_buffer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union

from ._errors import ClosedError, EncryptionError, ExistsError, NotFoundError
from ._library import Handle, call, encode, lib, take_text
from ._progress import Progress, watching
from ._run import key_bytes, path_bytes
from ._table import Table
from ._values import decode
from ._write import Transaction

if TYPE_CHECKING:
    from ._sql import SQLResult


def _time(nanoseconds: int) -> datetime.datetime:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return epoch + datetime.timedelta(microseconds=nanoseconds // 1000)


# A number, a tag, or a time as text or an object.
Version = Union[int, str, datetime.date]
_FRACTION = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.)(\d{1,8})(Z|[+-]\d\d:?\d\d)?")


def version_text(version: Version) -> str:
    """Returns a version for C. A time with a fraction is the last moment with these digits, because the time of a version has
    more digits than Python shows."""
    if isinstance(version, datetime.datetime):
        if version.tzinfo is not None:
            version = version.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        text = version.isoformat()
        version = (text if "." in text else text + ".000000") + "Z"
    found = _FRACTION.fullmatch(str(version))
    return str(version) if found is None else found[1] + found[2].ljust(9, "9") + (found[3] or "")


class _Version:
    """A pinned version, and the tables of it that were asked for."""

    def __init__(self, database: Handle, version: Version | None) -> None:
        self.source = database.identity
        self.pin = Handle(lib.firn_snapshot_free)
        snapshot = self.pin.handle
        wanted = None if version is None else encode(version_text(version))
        call(lib.firn_snapshot_open, database.handle, wanted, byref(snapshot))
        self.tables: dict[str, Table] = {}
        self.number: int = lib.firn_snapshot_version(snapshot)
        count = lib.firn_snapshot_type_count(snapshot)
        self.types: list[str] = [lib.firn_snapshot_type_name(snapshot, i).decode() for i in range(count)]


class Database(Mapping[str, Table]):
    """A .firn file at one version. A mapping of the names of its types to their tables.

    The version is pinned: writers do not change what is read. `refresh` moves to the newest version. Use it as a
    context manager, or call `close`; tables and streams that were taken from it before remain valid.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        version: Version | None = None,
        key: bytes | str | None = None,
        _create: bool = False,
    ):
        key = key_bytes(key)
        given = path_bytes(path)
        self._pid = os.getpid()
        self._active: Any = None
        self._arguments = (given, key, 0 if key is None else len(key))
        self._reading: Handle | None = self._opened(1) if _create else self._opened(None)
        # The database that writes; the same as the one that reads, if the file is new.
        self._writable: Handle | None = self._reading if _create else None
        self._creates = 1 if _create else 0
        self.path: str = os.fsdecode(path)
        notice = lib.firn_database_notice(self._held().handle)
        if notice is not None:
            warnings.warn(f"{self.path}: {notice.decode('utf-8', 'replace')}", stacklevel=3)
        # For the attributes below, which change together. A handler of a signal may hold it in the same thread.
        self._lock = threading.RLock()
        self._follows = version is None
        # None after a commit: its version is pinned when it is first used. Most versions of many commits never are.
        self._current: _Version | None = self._pin(version)
        # The number of the current version, or of the one to pin, and the identity of the open file that has it: the numbers of a
        # file that has replaced another one begin again.
        self._newest: int = self._current.number
        self._source: object = self._current.source
        self._types: list[str] = self._current.types

    def _opened(self, creates: int | None) -> Handle:
        """Opens the file, for reading if `creates` is None."""
        made = Handle(lib.firn_database_close)
        try:
            if creates is None:
                call(lib.firn_open, *self._arguments, byref(made.handle))
            else:
                call(lib.firn_open_writable, *self._arguments, creates, byref(made.handle))
        except EncryptionError as error:
            # The argument of the functions that have the key of rows, too.
            error.args = tuple(part.replace("encryption_key=", "key=") if isinstance(part, str) else part for part in error.args)
            error.advice = None if error.advice is None else error.advice.replace("encryption_key=", "key=")
            raise
        return made

    def _held(self) -> Handle:
        """Returns the database, which stays valid as long as the object is kept."""
        reading = self._reading
        if reading is None:
            raise ClosedError(f"{self.path} is closed")
        if os.getpid() != self._pid:
            raise RuntimeError(f"{self.path} was opened before this process was forked; open it again here")
        return reading

    def _version(self) -> _Version:
        self._held()
        current = self._current
        if current is not None:
            return current
        with self._lock:
            current, newest = self._current, self._newest
        if current is not None:
            return current
        try:
            made = self._pin(newest)
        except NotFoundError:
            # So many commits were made since then that it is not kept.
            made = self._pin(None)
        with self._lock:
            current = self._current
            if current is not None:
                # Another thread has pinned a version, or has asked for one.
                return current
            # Another thread may have committed, or closed the database, since then.
            if made.source is self._source and made.number >= self._newest and self._reading is not None:
                self._current, self._newest, self._types = made, made.number, made.types
        return made

    def _writing(self) -> Handle:
        """Returns the database that writes, which is opened when it is first needed."""
        self._held()
        with self._lock:
            writable = self._writable
            if writable is None:
                writable = self._writable = self._opened(self._creates)
            return writable

    def _committed(self, version: int, source: object) -> None:
        """Moves to the version of a commit, unless another version was asked for, or a newer one is current already: the
        commits of several threads can end in any order."""
        with self._lock:
            if self._follows and (version > self._newest or source is not self._source):
                self._current, self._newest, self._source = None, version, source

    def _failed(self) -> None:
        """Lets the next transaction open the file again: the library writes no more to the one that is open."""
        with self._lock:
            self._writable = None
            if self._reading is not None:
                self._source = self._reading.identity

    def write(self, timeout: float | None = None) -> Transaction:
        """Begins a transaction; use it as a context manager, which commits at the end, or aborts after an exception.

            with db.write() as transaction:
                transaction["people"].append(frame)

        After the commit, this database has the new version, unless it was opened at another one; tables that were taken
        before keep theirs.

        Args:
            timeout: the seconds to wait for another transaction of the file; None for as long as it takes.

        Raises:
            TimeoutError: another transaction is under way.
        """
        active = None if self._active is None else self._active()
        if active is not None and active.is_open and active._thread == threading.get_ident():
            raise RuntimeError("this thread has a transaction of this file: it would wait for itself")
        transaction = Transaction(self, None if timeout is None else max(0.0, float(timeout)))
        self._active = weakref.ref(transaction)
        return transaction

    def tag(self, name: str, version: Version | None = None) -> None:
        """Names a version, which is then kept until the tag is deleted; None for the version of this database. A tag that
        exists is moved."""
        writing, wanted = self._writing(), encode(version_text(self.version if version is None else version))
        call(lib.firn_tag, writing.handle, encode(name), wanted)

    def untag(self, name: str) -> None:
        """Deletes a tag.

        Raises:
            FileNotFoundError: there is no such tag.
        """
        writing = self._writing()
        call(lib.firn_untag, writing.handle, encode(name))

    def log(self) -> list[dict[str, Any]]:
        """Returns the versions that are kept, the newest first: number, time of the commit, tags."""
        database = self._held()
        text, length = c_void_p(), c_size_t()
        call(lib.firn_log_text, database.handle, byref(text), byref(length))
        versions = json.loads(take_text(text, length.value))
        for version in versions:
            version["time"] = _time(version["time"])
        return versions

    def _pin(self, version: Version | None) -> _Version:
        # In a variable: another thread may close the database during the call.
        held = self._writable or self._held()
        return _Version(held, version)

    @property
    def types(self) -> list[str]:
        """The names of the types."""
        current = self._current
        if current is not None:
            return current.types
        return self._types if self.closed else self._version().types

    def _pinned(self) -> Handle:
        """Returns the version that is read, which stays valid as long as the object is kept."""
        return self._version().pin

    def sql(
        self,
        statement: str,
        *files: Any,
        parameters: Mapping[str, Any] | Sequence[Any] | None = None,
        progress: Progress = None,
        open_files: bool = True,
        **options: Any,
    ) -> SQLResult:
        """Runs SQL over the types of this version, in SQLite's dialect. See `firn.sql`.

            db.sql("SELECT city, count(*) FROM people WHERE age > :age GROUP BY city", parameters={"age": 30})

        Args:
            files: paths of further files, and further databases.
        """
        from ._sql import sql

        return sql(statement, self, *files, parameters=parameters, progress=progress, open_files=open_files, **options)

    def hash(self, progress: Progress = None) -> str:
        """Returns the content hash of all types, as `firn hash` prints it: the same for the same rows, however they are
        stored."""
        out = create_string_buffer(33)
        pin = self._pinned()
        with watching(progress, f"hashing {self.path}") as watch:
            call(lib.firn_snapshot_hash, pin.handle, watch, None, out)
        return out.value.decode()

    def metadata(self, of: str | None = None) -> dict[str, str | bytes]:
        """Returns the metadata of the file, of a type (`"Person"`) or of a column (`"Person.height"`): texts, or bytes that
        are not UTF-8. `Transaction.set_metadata` sets them."""
        text, length = c_void_p(), c_size_t()
        owner, pin = None if of is None else encode(of), self._pinned()
        call(lib.firn_metadata_text, pin.handle, owner, byref(text), byref(length))
        return {key: value for key, value in decode(take_text(text, length.value))}

    @property
    def version(self) -> int:
        """The number of the version."""
        return self._version().number

    @property
    def time(self) -> datetime.datetime:
        """The time of the version's commit, in UTC."""
        pin = self._pinned()
        return _time(lib.firn_snapshot_time(pin.handle))

    def refresh(self, version: Version | None = None) -> Database:
        """Moves to another version, by default the newest. Tables that were taken before keep theirs. Returns itself.

        Raises:
            firn.ReadError: the file was replaced or removed, as by `firn.compact`: open it again.
        """
        # In a variable: another thread may close the database during the call.
        held = self._writable or self._held()
        call(lib.firn_database_check, held.handle)
        made = self._pin(version)
        with self._lock:
            if self._reading is None:
                raise ClosedError(f"{self.path} is closed")
            known, follows = self._current, self._follows
            self._follows = version is None
            if version is None and follows and made.source is self._source and made.number < self._newest:
                # Another thread has committed since then.
                return self
            self._newest, self._source = made.number, made.source
            if known is None or (known.number, known.source) != (made.number, made.source):
                self._current, self._types = made, made.types
            # Else the tables of this version are open already.
        return self

    def close(self) -> None:
        """Releases the file. Calls after the first one do nothing."""
        with self._lock:
            self._reading = self._writable = self._current = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._reading is None

    def __enter__(self) -> Database:
        self._held()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getitem__(self, name: str) -> Table:
        """Returns the table of a type.

        Raises:
            KeyError: there is no such type.
        """
        version = self._version()
        table = version.tables.get(name)
        if table is None:
            pid, path = self._pid, self.path

            def check() -> None:
                if os.getpid() != pid:
                    raise RuntimeError(f"{path} was opened before this process was forked; open it again here")

            # Threads that ask for it at the same time have the same table.
            table = version.tables.setdefault(name, Table(version.pin.handle, name, check))
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __contains__(self, name: object) -> bool:
        return name in self.types

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        raise TypeError("a Database cannot be pickled: pass its path and version, and open it in the other process")

    def __repr__(self) -> str:
        if self.closed:
            return f"<firn.Database {self.path!r}, closed>"
        if os.getpid() != self._pid:
            return f"<firn.Database {self.path!r}, of another process>"
        return f"<firn.Database {self.path!r}, version {self.version}: {', '.join(self.types)}>"

    def _repr_html_(self) -> str:
        """Returns the tables and their sizes, for notebooks."""
        import html

        if self.closed or os.getpid() != self._pid:
            return html.escape(repr(self))
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{len(self[name]):,}</td><td>{len(self[name].schema)}</td></tr>"
            for name in self.types
        )
        head = "<tr><th>type</th><th>rows</th><th>columns</th></tr>"
        caption = html.escape(f"{self.path}, version {self.version}")
        return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def open(path: str | os.PathLike[str], version: Version | None = None, key: bytes | str | None = None) -> Database:
    """Opens a .firn file for reading.

    Args:
        path: the path of the file.
        version: the number of a version, a tag, or a time such as "2026-11-29T12:00", also a `datetime`; None for the newest.
        key: the key of an encrypted file, as 64 bytes or 128 hexadecimal digits. Without it, the environment variable
            `FIRN_KEY` is used for encrypted files.

    Raises:
        FileNotFoundError: the file, the version or the tag does not exist.
        firn.DamagedError: the file is damaged.
        firn.FormatError: it is not a .firn file, or needs a newer version of Firn.
        firn.EncryptionError: the key is missing or wrong.
    """
    try:
        return Database(path, version, key)
    except NotFoundError:
        # Versions in paths are for functions that also take files of other formats.
        file, at, wanted = os.fsdecode(path).rpartition("@")
        if version is not None or not at or os.path.exists(path) or not os.path.isfile(file):
            raise
        found = os.fsdecode(path)
    raise NotFoundError(2, f"{found}: no such file; for a version, use firn.open({file!r}, version={wanted!r})", found)


def create(path: str | os.PathLike[str], key: bytes | str | None = None) -> Database:
    """Returns a new database. The file is made by its first commit.

    Args:
        path: the path of the file, which must not exist.
        key: encrypts the file: 64 random bytes, or 128 hexadecimal digits. If the key is lost, the file is lost.

    Raises:
        FileExistsError: the file exists.
    """
    if os.path.exists(path_bytes(path)):
        raise ExistsError(f"{os.fsdecode(path)}: the file exists; open it with firn.open")
    return Database(path, None, key, _create=True)
