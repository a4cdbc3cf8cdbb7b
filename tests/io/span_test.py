#!/usr/bin/env python3
"""`matchrdma span` as a long link: delay, loss by seed, cuts, rate, memory, and what it costs when idle.

    unshare --net span_test.py MATCHRDMA
"""
import signal
import sys
import time

from rig import Host, Span, check, finish, frame, make_wires, number_of, MAC_A, MAC_B


def delays(span, a, b):
    for delay in (0.0, 0.005, 0.05):
        span.do(f"set delay={delay * 1e3}ms")
        for way, (src, dst, macs) in {"a to b": (a, b, (MAC_A, MAC_B)), "b to a": (b, a, (MAC_B, MAC_A))}.items():
            took = []
            for i in range(20):
                f = frame(i, 1000, (), *macs)
                start = time.monotonic()
                src.send(f)
                if dst.receive(20) != f:
                    return check(False, f"frame {i} arrives, {way}")
                took.append(time.monotonic() - start)
            took.sort()
            text = f"least {took[0] * 1e3:.2f}, median {took[10] * 1e3:.2f}, most {took[-1] * 1e3:.2f} ms"
            check(took[0] >= delay, f"delay {delay * 1e3:g} ms, {way}: {text}")


def numbers_through(src, dst, count, size=200):
    for i in range(count):
        src.send(frame(i, size))
        if i % 50 == 49:
            time.sleep(0.002)  # the rings are short
    return [number_of(f) for f in dst.receive_all(count, 1.5)]


def losses(tool):
    got = []
    for _ in range(2):
        span = Span(tool, "--delay", "1ms", "--loss-ab", "10%", "--seed", "7")
        a, b = Host("a0"), Host("b0")
        got.append(numbers_through(a, b, 1000))
        back = numbers_through(b, a, 100)
        check(back == list(range(100)), "no loss the other way")
        figures = span.end(None)
        check(figures["a_to_b"]["lost"] == 1000 - len(got[-1]), f"{figures['a_to_b']['lost']} lost, and counted")
    check(got[0] == got[1] and 30 < 1000 - len(got[0]) < 200, "the same seed loses the same frames")
    check(got[0] == sorted(got[0]), "order is kept")


def cuts(span, a, b):
    span.do("set delay=300ms")
    for i in range(10):
        a.send(frame(i, 100))
    time.sleep(0.1)
    span.do("cut")
    a.send(frame(10, 100))
    time.sleep(0.1)
    span.do("restore")
    a.send(frame(11, 100))
    check([number_of(f) for f in b.receive_all(12, 1.5)] == [11], "a cut loses what is on the way, and all until restore")
    check(span.stats()["a_to_b"]["cut"] == 11, "11 frames counted as cut")
    span.do("set delay=0ms")
    span.process.send_signal(signal.SIGUSR1)
    deadline = time.monotonic() + 20
    while not span.stats()["dark"] and time.monotonic() < deadline:
        time.sleep(0.01)
    a.send(frame(1, 100))
    check(b.receive(0.5) is None and span.stats()["dark"], "SIGUSR1 cuts")
    span.process.send_signal(signal.SIGUSR1)
    while span.stats()["dark"] and time.monotonic() < deadline:
        time.sleep(0.01)
    a.send(frame(2, 100))
    check(number_of(b.receive(20)) == 2, "SIGUSR1 restores")


def rate(span, a, b):
    """8 Mb/s: 100 frames of 976 + 24 bytes take 1 ms each."""
    span.do("set rate=8Mbps")
    start = time.monotonic()
    for i in range(100):
        a.send(frame(i, 976))
    count = len(b.receive_all(100, 5))
    took = time.monotonic() - start
    check(count == 100 and took >= 0.0999, f"rate 8 Mb/s: 100 frames of 1000 bytes on the wire took {took * 1e3:.1f} ms")
    span.do("set rate=0")


def doubles_and_reorders(span, a, b):
    span.do("set duplicate=100%")
    a.send(frame(5, 300))
    check([number_of(f) for f in b.receive_all(2, 5)] == [5, 5], "duplicate=100% doubles")
    span.do("set duplicate=0 reorder=50% reorder-extra=20ms")
    got = numbers_through(a, b, 200)
    check(sorted(got) == list(range(200)) and got != sorted(got), "reorder=50% reorders and loses nothing")
    span.do("set reorder=0")


def errors(span):
    for line, says in [("set delay=soon", "error: delay soon: not a time"), ("set colour=red", "error: colour: no such setting"),
                       ("fly", "error: fly: no such command"), ("set delay", "error: delay: write NAME=VALUE")]:
        answer = span.ask(line)
        check(says in answer, f"{line}: {answer}")


def idle_cost(span):
    before = span.stats()
    span.disconnect()  # a client that is connected is served every 5 ms
    time.sleep(2)
    span.connect()
    after = span.stats()
    cores = (after["cpu_seconds"] - before["cpu_seconds"]) / (after["seconds"] - before["seconds"])
    check(cores < 0.5, f"idle: {cores:.4f} cores, {after['sleeps'] - before['sleeps']} sleeps in 2 s")


def overflow(tool):
    """More on the way than the memory holds."""
    span = Span(tool, "--delay", "3s", "--mtu", "9000", memory="no-huge:48MiB")
    a = Host("a0")
    for i in range(20000):
        a.send(frame(i, 60))
        if i % 50 == 49:
            time.sleep(0.001)
    s = span.stats()["a_to_b"]
    check(s["overflow"] > 0 and s["on_the_way"] > 0, f"{s['overflow']} frames too many are dropped and counted")
    figures = span.end(signal.SIGINT)
    check(figures["a_to_b"]["frames_in"] == s["frames_in"], "it ends cleanly with frames on the way")
    check("dropped: out of memory" in span.said, "and with a table")


def main():
    tool = sys.argv[1]
    make_wires(1500)
    span = Span(tool)
    print(span.said, end="")
    a, b = Host("a0"), Host("b0")
    delays(span, a, b)
    idle_cost(span)
    cuts(span, a, b)
    rate(span, a, b)
    doubles_and_reorders(span, a, b)
    errors(span)
    span.end()
    print(span.said)
    losses(tool)
    overflow(tool)
    finish()


main()
