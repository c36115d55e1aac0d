"""A browser that is late: what the server says is held back on its way there, as where a machine is slow or far away."""

from playwright.sync_api import Page, WebSocketRoute


class LateBrowser:
    """What passes between a tab and the server. To be made before the tab opens its page."""

    def __init__(self, page: Page) -> None:
        self.asked: list[bytes] = []
        self._page = page
        self._sockets: list[WebSocketRoute] = []
        self._held: list[str | bytes] | None = None
        self._known = 0
        page.route_web_socket("**/_stcore/stream*", self._between)

    def _between(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()

        def to_server(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            self.asked.append(message)
            server.send(message)

        browser.on_message(to_server)
        server.on_message(lambda message: browser.send(message) if self._held is None else self._held.append(message))
        self._sockets.append(browser)

    def hold(self) -> None:
        """From now on nothing of what the server says comes."""
        self._held, self._known = [], 0

    def answered(self) -> None:
        """Wait until the server has said more than it had, and then says nothing for a second."""
        count = self._known
        while self._held is not None and (count != len(self._held) or count == self._known):
            count = len(self._held)
            self._page.wait_for_timeout(1_000)
        self._known = count

    def release(self) -> None:
        """All of it comes at once, in order."""
        while self._held:  # what comes meanwhile goes behind
            self._sockets[-1].send(self._held.pop(0))
        self._held = None
