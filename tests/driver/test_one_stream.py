"""Sixteen threads launch and copy on one stream; its order keeps every increment."""

import one_stream
import pytest


@pytest.mark.campaign
def test_increments_of_many_threads_on_one_stream():
    done, looks, failures = one_stream.run(threads=16, increments=2000)
    assert failures == []
    assert done == 32_000 and looks > 1000


def test_a_lost_increment_is_found(monkeypatch):
    increment = one_stream.Counter.increment

    def loses(counter, way):
        if way != 1:
            increment(counter, way)

    monkeypatch.setattr(one_stream.Counter, "increment", loses)
    assert one_stream.run(threads=2, increments=20)[2]
