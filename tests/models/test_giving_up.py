"""Work is given up at a moment, whether or not it asks, and only then."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from workbench.models.interruption import CheckInterruptedError, given_up_at, go_on

LONG = 3600.0


def endless() -> None:
    while True:
        pass


def soon() -> float:
    return time.monotonic() + 0.05


def test_what_never_asks_is_given_up() -> None:
    with pytest.raises(CheckInterruptedError), given_up_at(soon()) as is_time:
        endless()
    assert is_time()


class HalfMade:
    """As libraries make them: taking one apart needs what making it comes to in the end."""

    handle: str

    def __init__(self) -> None:
        endless()

    def __del__(self) -> None:
        print(self.handle)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_was_half_made_is_no_news() -> None:
    with pytest.raises(CheckInterruptedError), given_up_at(soon()):
        HalfMade()
    gc.collect()


@pytest.mark.parametrize(("outer", "inner"), [(0.05, LONG), (LONG, 0.05), (0.05, float("inf"))])
def test_the_sooner_of_two_moments_counts(outer: float, inner: float) -> None:
    begun = time.monotonic()
    with (
        pytest.raises(CheckInterruptedError),
        given_up_at(begun + outer),
        given_up_at(begun + inner),
    ):
        endless()


def test_the_outer_moment_counts_after_the_inner_one() -> None:
    with given_up_at(time.monotonic() + 0.1):
        with pytest.raises(CheckInterruptedError), given_up_at(soon()):
            endless()
        with pytest.raises(CheckInterruptedError):
            endless()


def test_what_ends_in_time_is_left_alone() -> None:
    with given_up_at(soon()):
        go_on()
    time.sleep(0.1)
    go_on()


def test_another_thread_is_given_up_when_it_asks() -> None:
    ended: list[bool] = []

    def work() -> None:
        with given_up_at(soon()):
            try:
                while True:
                    go_on()
            except CheckInterruptedError:
                ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


def test_an_error_of_foreign_code_that_is_given_up_is_no_error() -> None:
    """A library may turn what ends it into an error of its own, as the door to C does."""

    def called() -> None:
        try:
            while True:
                pass
        except CheckInterruptedError:
            raise TypeError("an argument has the wrong type") from None

    with pytest.raises(CheckInterruptedError), given_up_at(time.monotonic() + 0.05):
        called()
    with pytest.raises(TypeError), given_up_at(time.monotonic() + 60):
        raise TypeError
