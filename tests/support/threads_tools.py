"""Threads whose outcome a test asks for."""

import threading

LONGEST = 60  # seconds; a test that takes longer hangs


class Call(threading.Thread):
    """A call in a thread of its own."""

    def __init__(self, function, *arguments, **named):
        super().__init__(daemon=True)
        self.call = lambda: function(*arguments, **named)
        self.value = self.error = None
        self.start()

    def run(self):
        try:
            self.value = self.call()
        except Exception as error:
            self.error = error

    def is_over(self):
        return not self.is_alive()

    def result(self):
        """Return the call's result, or raise its exception."""
        self.join(LONGEST)
        assert self.is_over(), "the call hangs"
        if self.error:
            raise self.error
        return self.value


def at_once(calls):
    """Make calls in a thread each, all at the same time. Return their results."""
    start = threading.Barrier(len(calls))

    def begin(call):
        start.wait()
        return call()

    return [thread.result() for thread in [Call(begin, call) for call in calls]]
