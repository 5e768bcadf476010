"""A site for Django's runserver, gunicorn (wsgi) and uvicorn (asgi): 200, 404, and an exception."""
import os
import sys

if "django" in os.environ.get("SHOP", ""):
    import logging

    from django.conf import settings
    from django.http import HttpResponse
    from django.urls import path

    settings.configure(
        DEBUG=os.environ["SHOP"] == "django-debug",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        SECRET_KEY="x",
        INSTALLED_APPS=["django.contrib.staticfiles"],
        STATIC_URL="static/",
    )

    def home(request):
        logging.getLogger("shop").warning('Jörg said "hi"\tto 🎉')
        logging.getLogger("django").info("order A-1001 paid")
        return HttpResponse("ok\n")

    def fail(request):
        raise ValueError("card declined")

    urlpatterns = [path("", home), path("fail", fail)]


def wsgi(environ, start_response):
    if environ["PATH_INFO"] == "/fail":
        raise ValueError("card declined")
    start_response("200 OK" if environ["PATH_INFO"] == "/" else "404 Not Found", [("Content-Type", "text/plain")])
    return [b"ok\n"]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError
    if scope["path"] == "/fail":
        raise ValueError("card declined")
    await send({"type": "http.response.start", "status": 200 if scope["path"] == "/" else 404, "headers": []})
    await send({"type": "http.response.body", "body": b"ok\n"})


if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
