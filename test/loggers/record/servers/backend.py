"""Answers 200, and 500 to /fail, on port 8098."""
from http.server import BaseHTTPRequestHandler, HTTPServer


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(500 if self.path.startswith("/fail") else 200)
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", 8098), Shop).serve_forever()
