#!/usr/bin/env python3
"""Loss forwarding (H14): the LAN link follows that of the WAN port, and nobody is left without a link for it.

    unshare --net link_test.py FOLDER-OF-PROGRAMS
"""
from case import Case, main
from processes import call
from testbed import await_


def forwarding(text):
    return text.replace("link_loss_forwarding: off", "link_loss_forwarding: on")


class LossForwarding(Case):
    @classmethod
    def prepare(cls, bed):
        """Each test makes its own links."""

    def setUp(self):
        super().setUp()
        self.bed.start_span()
        self.bed.a.write_config(change=forwarding)
        self.bed.a.start()
        self.wan("up")
        self.await_lan(True)

    def wan(self, state):
        call("ip", "link", "set", "spanA", state)

    def await_lan(self, up):
        await_(lambda: ("UP" in call("ip", "-br", "link", "show", "lanA").split()[1]) == up,
               f"a LAN link that is {'up' if up else 'down'}")

    def test_follows_and_says_so(self):
        self.wan("down")
        self.await_lan(False)
        await_(lambda: "taken down with the WAN link" in self.bed.a.get("/readyz")[1], "the reason in /readyz")
        self.wan("up")
        self.await_lan(True)

    def test_a_daemon_that_died_leaves_no_dead_link(self):
        self.wan("down")
        self.await_lan(False)
        self.bed.a.process.kill()
        self.wan("up")
        self.bed.a.start()
        self.await_lan(True)

    def test_a_daemon_that_comes_while_the_span_is_down(self):
        self.wan("down")
        self.await_lan(False)
        self.bed.a.process.kill()
        self.bed.a.start()
        self.await_lan(False)
        self.wan("up")
        self.await_lan(True)

    def test_reload_ends_it(self):
        self.wan("down")
        self.await_lan(False)
        self.bed.a.write_config()
        self.bed.a.ctl("reload")
        self.await_lan(True)

    def test_stopping_gives_the_link_back(self):
        self.wan("down")
        self.await_lan(False)
        self.bed.a.process.stop()
        self.await_lan(True)
        self.bed.a.process = None  # it is meant to be gone


if __name__ == "__main__":
    main()
