"""The part of Ray's public interface that we use, as protocols. Ray itself is imported only when it is needed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeAlias

from paraactive.basics.optional import require

ObjectRef: TypeAlias = Hashable
"""Ray's reference to the result of a call."""


class RemoteMethod(Protocol):
    """A method of an actor."""

    def remote(self, *arguments: object) -> ObjectRef:
        """Call the method, without waiting for its result.

        Parameters
        ----------
        *arguments : object
            Arguments of the call.
        """
        ...


class ActorHandle(Protocol):
    """A `NodeActor`, seen from the driver."""

    @property
    def put(self) -> RemoteMethod:
        """See `NodeActor.put`."""
        ...

    @property
    def take(self) -> RemoteMethod:
        """See `NodeActor.take`."""
        ...


class ActorClass(Protocol):
    """A class whose objects are actors."""

    def options(self, **options: object) -> ActorClass:
        """Return the class with these options of Ray.

        Parameters
        ----------
        **options : object
            Options of Ray, by name.
        """
        ...

    def remote(self, *arguments: object) -> ActorHandle:
        """Start an actor.

        Parameters
        ----------
        *arguments : object
            Arguments of the constructor.
        """
        ...


class RayExceptions(Protocol):
    """The exceptions of Ray."""

    @property
    def RayError(self) -> type[Exception]:  # noqa: N802 - the name is Ray's.
        """The base class of Ray's errors."""
        ...

    @property
    def RaySystemError(self) -> type[Exception]:  # noqa: N802 - the name is Ray's.
        """Raised, among others, for objects that cannot be unpickled."""
        ...


class RuntimeContext(Protocol):
    """What a driver knows about its cluster."""

    @property
    def gcs_address(self) -> str:
        """HOST:PORT of the head."""
        ...


class Ray(Protocol):
    """The module ray."""

    @property
    def exceptions(self) -> RayExceptions:
        """The exceptions of Ray."""
        ...

    def init(self, address: str, **options: object) -> object:
        """Connect to a cluster.

        Parameters
        ----------
        address : str
            Address of the cluster.
        **options : object
            Options of Ray, by name.
        """
        ...

    def is_initialized(self) -> bool:
        """Return whether this process is connected to a cluster."""
        ...

    def shutdown(self) -> None:
        """Disconnect from the cluster."""
        ...

    def get_runtime_context(self) -> RuntimeContext:
        """Return what this process knows about its cluster."""
        ...

    def remote(self, kind: type, /) -> ActorClass:
        """Make a class of actors.

        Parameters
        ----------
        kind : type
            The class of the objects.
        """
        ...

    def put(self, value: object) -> ObjectRef:
        """Put an object into the object store.

        Parameters
        ----------
        value : object
            The object.
        """
        ...

    def get(self, reference: ObjectRef) -> object:
        """Wait for a result.

        Parameters
        ----------
        reference : ObjectRef
            Reference to the result.
        """
        ...

    def wait(
        self, references: list[ObjectRef], *, num_returns: int, timeout: float, fetch_local: bool = True
    ) -> tuple[list[ObjectRef], list[ObjectRef]]:
        """Wait for some of the results. Returns those that are there, and the others.

        Parameters
        ----------
        references : list of ObjectRef
            References to the results.
        num_returns : int
            Number of results to wait for.
        timeout : float
            Longest time to wait, in seconds.
        fetch_local : bool, default=True
            Whether to fetch the results to this machine.
        """
        ...

    def kill(self, actor: ActorHandle, *, no_restart: bool = True) -> None:
        """End an actor.

        Parameters
        ----------
        actor : ActorHandle
            The actor.
        no_restart : bool, default=True
            Whether Ray must not start the actor again.
        """
        ...


def import_ray() -> Ray:
    """Import Ray.

    Returns
    -------
    module
        The module ray.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    """
    return require("ray", extra="ray", what="engine 'ray'")
