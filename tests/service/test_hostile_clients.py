"""Clients that mean harm: the real program answers with the right status, within bounded memory, and stays up."""

import json
import resource
import socket
import threading
import time
import unittest

from running_service import RunningService

MOST_GROWTH_MIB = 40


def raise_descriptor_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


def exchange(port, data, finish=False, timeout=20):
    """Sends raw bytes and answers the status of the first answer; 0 when the connection ended without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            connection.sendall(data)
            if finish:
                connection.shutdown(socket.SHUT_WR)
            head = b""
            while b"\r\n" not in head:
                part = connection.recv(4096)
                if not part:
                    return 0
                head += part
        except (ConnectionResetError, BrokenPipeError):
            return 0
        return int(head.split(b" ")[1])


def post(body, headers=b""):
    return b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" + headers + \
        b"Content-Length: %d\r\n\r\n" % len(body) + body


class HostileClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise_descriptor_limit(11000)
        cls.service = RunningService("--listen", "127.0.0.1:0").__enter__()
        cls.descriptors_at_rest = cls.service.descriptors()

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def setUp(self):
        self.before = self.service.resident_mib()

    def tearDown(self):
        self.assertEqual(self.service.ask("GET", "/healthz", timeout=10)[0], 200)
        self.assertLess(self.service.resident_mib() - self.before, MOST_GROWTH_MIB)

    def problem_of(self, body):
        status, headers, text = self.service.ask("POST", "/api/v1/runs", body, {"Content-Type": "application/json"})
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        return status, json.loads(text)

    def test_a_body_of_100_mb_is_refused_by_its_length_alone(self):
        head = b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 104857600\r\n\r\n"
        self.assertEqual(exchange(self.service.port, head), 413)

    def test_a_body_of_100_mb_in_chunks_is_cut_at_the_limit(self):
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=20) as connection:
            connection.sendall(b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            sent = 0
            try:
                while sent < 100 << 20:
                    connection.sendall(chunk)
                    sent += 65536
            except (ConnectionResetError, BrokenPipeError):
                pass
            self.assertLess(sent, 16 << 20)

    def test_json_100000_deep_is_an_error_of_the_caller(self):
        for body in (b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000):
            status, said = self.problem_of(body)
            self.assertEqual(status, 400)
            self.assertLess(len(json.dumps(said)), 1000)

    def test_invalid_utf8_and_nul_bytes_are_errors_of_the_caller(self):
        for body in (b'{"preset":"smoke","label":"\xff\xfe"}', b'{"preset":"sm\x00oke"}', b'{"preset":"smoke","label":"a\\u0000b"}', b"\x00" * 64):
            self.assertEqual(self.problem_of(body)[0], 400, body)
        for target in (b"/api/v1/runs/%00", b"/api/v1/runs?label=%ff", b"/%c0%ae%c0%ae/etc/passwd", b"/../etc/passwd"):
            status = exchange(self.service.port, b"GET " + target + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            self.assertIn(status, (400, 404), target)
        self.assertEqual(exchange(self.service.port, b"GET /healthz\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), 400)

    def test_truncated_and_malformed_chunks_are_refused(self):
        head = b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertIn(exchange(self.service.port, head + b"10\r\n{\"pre", finish=True), (0, 400))
        self.assertEqual(exchange(self.service.port, head + b"zz\r\n{}\r\n0\r\n\r\n"), 400)
        self.assertEqual(exchange(self.service.port, head + b"ffffffffffffffffff\r\n"), 400)
        both = b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        self.assertIn(exchange(self.service.port, both), (0, 400))  # request smuggling

    def test_headers_without_end_are_refused(self):
        self.assertEqual(exchange(self.service.port, b"GET / HTTP/1.1\r\n" + b"X-Filler: " + b"a" * 20_000), 431)
        self.assertEqual(exchange(self.service.port, b"GET /" + b"a" * 6000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), 414)

    def test_ten_thousand_idle_connections_leave_room_for_others(self):
        idle = [socket.create_connection(("127.0.0.1", self.service.port)) for _ in range(10_000)]
        self.service.wait_until(lambda: self.service.descriptors() > 10_000, 30, "10,000 connections")
        begun = time.monotonic()
        self.assertEqual(self.service.ask("GET", "/api/v1/runs")[0], 200)
        self.assertLess(time.monotonic() - begun, 2)
        grown = self.service.resident_mib() - self.before
        for connection in idle:
            connection.close()
        self.assertLess(grown, 130)
        self.service.wait_until(lambda: self.service.descriptors() <= self.descriptors_at_rest + 2, 30, "the descriptors' end")
        self.before = self.service.resident_mib()  # the allocator keeps what was freed

    def test_slow_headers_are_cut_and_hold_nobody_up(self):
        """Slowloris: a byte now and then for ever. The limit for headers is 10 s."""
        slow = [socket.create_connection(("127.0.0.1", self.service.port), timeout=30) for _ in range(200)]
        ended = threading.Event()

        def drip():
            while not ended.wait(0.5):
                for connection in slow:
                    try:
                        connection.send(b"G")
                    except OSError:
                        pass

        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        dripping = threading.Thread(target=drip)
        begun = time.monotonic()
        dripping.start()
        try:
            self.assertEqual(self.service.ask("GET", "/healthz")[0], 200)
            for connection in slow:
                try:
                    while connection.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
            self.assertLess(time.monotonic() - begun, 20)
        finally:
            ended.set()
            dripping.join()
            for connection in slow:
                connection.close()


if __name__ == "__main__":
    unittest.main()
