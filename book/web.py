"""The web servers that chapters measure, and their loads over TLS and HTTP/2."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import CLIENT_TLS, LOADER, Load, Server, Servers, one_worker, scratch, thrum
from peers import BOOK, build, build_haskell, installed, tokio

PONG = 'location / { default_type text/plain; return 200 "Pong!\\r\\n"; }'


@dataclass
class Certificate:
    """For localhost, with an ECDSA key on P-256."""

    chain: Path
    key: Path


def certificate(folder: Path) -> Certificate:
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        + ["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", made.key, "-out", made.chain],
        check=True,
        capture_output=True,
    )
    return made


def thrum_pong(port: int, certificate: Certificate | None = None) -> list:
    """HTTP/1.1 and 2 alike: a client's preface chooses, or ALPN."""
    if certificate is None:
        return thrum("pong", f"127.0.0.1:{port}")
    return thrum("pong_tls", certificate.chain, certificate.key, f"127.0.0.1:{port}")


def pong_servers(servers: Servers, *, http2: bool = False, tls: bool = False, all_of_them: bool = False) -> list[Server]:
    """Those that say Pong: thrum, hyper and nginx, and if all are asked for the floor, Warp, Go and node. They run until the
    servers are closed."""
    folder = servers.enter_context(scratch())
    pair = certificate(folder) if tls else None
    files = [pair.chain, pair.key] if pair else []
    scheme = "https" if tls else "http"
    servers.add("thrum pong", lambda port: thrum_pong(port, pair), one_worker(), scheme=scheme)
    if all_of_them and (loop := build("floor_epoll.c")):
        servers.add("floor_epoll", lambda port: [loop, port])
    if twin := tokio("pong"):
        servers.add("hyper", lambda port: [twin, port, "http2" if http2 else "http1", *files], scheme=scheme)
    if installed("nginx"):
        servers.add("nginx", lambda port: nginx(folder, port, location=PONG, http2=http2, certificate=pair), scheme=scheme)
    if all_of_them:
        if warp := build_haskell("fast_slow.hs", "warp"):
            servers.add("Warp", lambda port: [warp, port, "+RTS", "-N1"])
        if go := build("pong.go"):
            servers.add("Go", lambda port: [go, port], {"GOMAXPROCS": "1"})
        if installed("node"):
            servers.add("node", lambda port: ["node", BOOK / "peers" / "fast_slow.js", port])
    if tls:
        agree(servers.running)
    return servers.running


def nginx(
    folder: Path,
    port: int,
    *,
    log: Path | None = None,
    location: str = "",
    http2: bool = False,
    certificate: Certificate | None = None,
    connections: int = 20_000,
    open_files: int | None = None,
    workers: int = 1,
) -> list:
    """nginx with one server, and connections kept for good. Its tickets need no cache of sessions.

    With `open_files` it keeps so many files open, and believes in them for a minute."""
    configuration = folder / f"nginx-{port}.conf"
    access_log = f"{log} combined" if log else "off"
    listen = f"127.0.0.1:{port}" + " ssl" * (certificate is not None) + " http2" * http2
    tls = f"ssl_certificate {certificate.chain}; ssl_certificate_key {certificate.key};" if certificate else ""
    limit = f"worker_rlimit_nofile {open_files + connections};" if open_files else ""
    kept = f"open_file_cache max={open_files} inactive=600s; open_file_cache_valid 60s;" if open_files else ""
    configuration.write_text(
        f"""worker_processes {workers}; daemon off; pid {folder}/nginx-{port}.pid; error_log /dev/null; {limit}
events {{ worker_connections {connections}; }}
http {{
    types {{ text/html html; }}
    {kept}
    sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 600;
    ssl_protocols TLSv1.3; ssl_session_tickets on;
    server {{ listen {listen}; {tls} access_log {access_log}; root {folder}/site; {location} }}
}}
"""
    )
    return ["nginx", "-c", configuration]


def lighttpd(folder: Path, port: int, *, programs: Path | None = None, log: Path | None = None, workers: int = 1) -> list:
    """lighttpd, with a folder of CGI programs at /cgi-bin/ if there is one. By itself it is one process that does all."""
    configuration = folder / f"lighttpd-{port}.conf"
    cgi = f'''server.modules += ( "mod_cgi", "mod_alias" )
alias.url = ( "/cgi-bin/" => "{programs}/" )
cgi.assign = ( ".cgi" => "" )
'''
    access_log = f'''server.modules += ( "mod_accesslog" )
accesslog.filename = "{log}"
'''
    configuration.write_text(
        f"""server.document-root = "{folder}/site"
server.bind = "127.0.0.1"
server.port = {port}
server.max-worker = {workers if workers > 1 else 0}
server.max-keep-alive-requests = 100000000
server.max-keep-alive-idle = 600
mimetype.assign = ( ".html" => "text/html" )
{cgi if programs else ""}{access_log if log else ""}"""
    )
    return ["lighttpd", "-D", "-f", configuration]


def apache(folder: Path, port: int, programs: Path, module: str) -> list:
    """Apache with a folder of CGI programs at /cgi-bin/: `cgid` has a small process start them, `cgi` the server's own."""
    modules, configuration = Path("/usr/lib/apache2/modules"), folder / f"apache-{port}.conf"
    engine = "event" if module == "cgid" else "prefork"
    # The programs themselves are what is measured, so processes to wait for them are enough.
    size = "StartServers 1\nThreadsPerChild 32\nMaxRequestWorkers 32" if module == "cgid" else "StartServers 32\nMaxSpareServers 32"
    socket = f"ScriptSock {folder}/cgid-{port}.sock" if module == "cgid" else ""
    configuration.write_text(
        f"""ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/apache-{port}.pid
ErrorLog /dev/null
User www-data
Group www-data
LoadModule mpm_{engine}_module {modules}/mod_mpm_{engine}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule {module}_module {modules}/mod_{module}.so
{size}
{socket}
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 600
DocumentRoot {folder}/site
ScriptAlias /cgi-bin/ {programs}/
"""
    )
    return ["apache2", "-DFOREGROUND", "-f", configuration]


def agree(servers: list[Server]):
    """Says what is negotiated; servers that negotiate different things cannot be compared."""
    found = {target.name: negotiated(target) for target in servers}
    if len(set(found.values())) != 1:
        raise SystemExit(f"they do not negotiate the same: {found}")
    print(f"negotiated by {', '.join(found)}: {found.popitem()[1]}\n")


def negotiated(target: Server) -> str:
    command = ["openssl", "s_client", "-brief", "-connect", f"127.0.0.1:{target.port}"]
    done = subprocess.run(command, input=b"", capture_output=True, env=CLIENT_TLS, timeout=10)
    said = dict(re.findall(r"^([^:\n]+): (.+)$", done.stderr.decode(), re.MULTILINE))
    keys = ("Protocol version", "Ciphersuite", "Server Temp Key", "Signature type", "Hash used")
    return ", ".join(said[key] for key in keys)


def load_http2(target: Server, connections: int, streams: int, seconds: float) -> Load:
    """Loads a server from the second core over HTTP/2, with prior knowledge or by ALPN."""
    tls = ["--tls13-ciphers=TLS_AES_128_GCM_SHA256", "--groups=X25519"] if target.scheme == "https" else []
    command = [*LOADER, "h2load", f"-c{connections}", f"-m{streams}", "-t1", f"-D{seconds}", *tls, target.url()]
    before = target.cpu_seconds()
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=CLIENT_TLS).stdout
    after = target.cpu_seconds()
    requests, succeeded = map(int, re.search(r"requests: (\d+) total, .* (\d+) succeeded", output).groups())
    if "Application protocol: h2" not in output or requests == 0 or succeeded != requests:
        raise SystemExit(f"{target.name} does not answer as it should:\n{output}")
    return Load(
        rate=float(re.search(r"finished in .*, ([\d.]+) req/s", output)[1]),
        p99_ms=None,
        cpu_us=(after[0] - before[0]) / requests * 1e6,
        user_us=(after[1] - before[1]) / requests * 1e6,
    )
