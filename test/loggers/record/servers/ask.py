"""Asks the server on a port: 200, 404, 500 with a query and an agent with quotes, and further paths: ask.py <port> [<path>...]"""
import socket
import sys
import time


def connect():
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        except OSError:
            time.sleep(0.1)
    sys.exit("nothing listens")


for path, agent in [
    ("/", "curl/8.5.0"),
    ("/missing", "curl/8.5.0"),
    ("/fail?order=A-1001&q=%22x%22", 'probe/1.0 "quoted" back\\slash Jörg\t🎉'),
    *[(path, "curl/8.5.0") for path in sys.argv[2:]],
]:
    with connect() as connection:
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: {agent}\r\nReferer: https://example.com/\r\nConnection: close\r\n\r\n".encode()
        )
        while connection.recv(65536):
            pass
