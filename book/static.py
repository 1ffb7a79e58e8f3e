"""Servers of static files: each serves the folder `site`, with so many workers, with an access log or without."""

from pathlib import Path

from harness import thrum
from web import lighttpd, nginx


def serve_thrum(folder: Path, port: int, workers: int, log: Path | None) -> list:
    serve = thrum("thrum", "serve", folder / "site", "--listen", f"127.0.0.1:{port}", "--workers", workers)
    return [*serve, "--log", log or "off", "--quiet"]


def serve_nginx(folder: Path, port: int, workers: int, log: Path | None) -> list:
    return nginx(folder, port, workers=workers, log=log)


def serve_lighttpd(folder: Path, port: int, workers: int, log: Path | None) -> list:
    return lighttpd(folder, port, workers=workers, log=log)


def serve_mighttpd(folder: Path, port: int, workers: int, log: Path | None) -> list:
    """In the foreground it writes its log to standard output."""
    configuration, routes = folder / f"mighty-{port}.conf", folder / f"mighty-{port}.route"
    configuration.write_text(
        f"""Port: {port}
Host: 127.0.0.1
Debug_Mode: Yes
User: root
Group: root
Pid_File: {folder}/mighty-{port}.pid
Report_File: {folder}/mighty-{port}.report
Logging: {"Yes" if log else "No"}
Log_File: {log or folder / "mighty.log"}
Log_File_Size: 1073741824
Log_Backup_Number: 1
Index_File: index.html
Index_Cgi: index.cgi
Status_File_Dir: {folder}
Connection_Timeout: 600
Fd_Cache_Duration: 60
Service: 0
"""
    )
    routes.write_text(f"[*]\n/ -> {folder}/site/\n")
    return ["sh", "-c", f'exec "$@" >{log or "/dev/null"}', "sh", "mighty", configuration, routes, "+RTS", f"-N{workers}"]


def serve_h2o(folder: Path, port: int, workers: int, log: Path | None) -> list:
    configuration = folder / f"h2o-{port}.conf"
    access_log = f'access-log: "{log}"' if log else ""
    configuration.write_text(
        f"""listen: {{ host: 127.0.0.1, port: {port} }}
num-threads: {workers}
error-log: /dev/null
{access_log}
hosts:
  default:
    paths:
      /:
        file.dir: {folder}/site
"""
    )
    return ["h2o", "-m", "worker", "-c", configuration]


def serve_caddy(folder: Path, port: int, workers: int, log: Path | None) -> list:
    """Its log is JSON: it has no other. It takes as many threads as it has cores."""
    configuration = folder / f"Caddyfile-{port}"
    access_log = f"log {{\n        output file {log}\n    }}" if log else ""
    configuration.write_text(
        f"""{{
    admin off
    auto_https off
}}
http://127.0.0.1:{port} {{
    root * {folder}/site
    file_server
    {access_log}
}}
"""
    )
    # It keeps a copy of its configuration at home.
    return ["env", f"GOMAXPROCS={workers}", f"HOME={folder}", "caddy", "run", "--config", configuration, "--adapter", "caddyfile"]


def serve_static_web_server(folder: Path, port: int, workers: int, log: Path | None) -> list:
    """It takes as many threads as it has cores, and has no access log for a file."""
    return ["static-web-server", "-a", "127.0.0.1", "-p", port, "-d", folder / "site", "-g", "error"]


# A server's name, its program, how it is started, and whether it has an access log.
SERVERS = [
    ("thrum", None, serve_thrum, True),
    ("nginx", "nginx", serve_nginx, True),
    ("Mighttpd", "mighty", serve_mighttpd, True),
    ("lighttpd", "lighttpd", serve_lighttpd, True),
    ("h2o", "h2o", serve_h2o, True),
    ("Caddy", "caddy", serve_caddy, True),
    ("static-web-server", "static-web-server", serve_static_web_server, False),
]
