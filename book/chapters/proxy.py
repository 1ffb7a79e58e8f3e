"""Proxy: what does a reverse proxy cost between a client and an upstream?

A short answer over keep-alive on both sides, 64 connections; the proxy has one core, the load and the upstream have the
other. Each tells the upstream who asks, by Host and X-Forwarded-For and -Proto."""

from harness import LOADER_CORE, Servers, free_port, in_turns, load, one_worker, scratch, server, thrum
from peers import installed
from result import compare, cost_table

NEEDS = ["taskset", "wrk"]
ROUNDS, SECONDS = 3, 2
PROGRAMS = {
    "thrum": "examples/proxy.rs",
    "nginx": "book/chapters/proxy.py#nginx",
    "haproxy": "book/chapters/proxy.py#haproxy",
}
MEANING = """A proxied request is two of each: reads, writes, heads. The kernel's part is the same for all of them; what differs is what a
proxy does with the heads, and how it finds a connection to the upstream that idles."""


def nginx(folder, port, upstream):
    configuration = folder / f"nginx-{port}.conf"
    configuration.write_text(
        f"""worker_processes 1; daemon off; pid {folder}/nginx-{port}.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests 1000000000; keepalive_timeout 600;
    upstream pong {{ server 127.0.0.1:{upstream}; keepalive 128; keepalive_requests 1000000000; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://pong; proxy_http_version 1.1;
            proxy_set_header Connection ""; proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
"""
    )
    return ["nginx", "-c", configuration]


def haproxy(folder, port, upstream):
    configuration = folder / f"haproxy-{port}.cfg"
    configuration.write_text(
        f"""global
    nbthread 1
    maxconn 4096
defaults
    mode http
    timeout client 600s
    timeout server 600s
    timeout connect 5s
    http-reuse always
    option forwardfor
frontend front
    bind 127.0.0.1:{port}
    http-request set-header X-Forwarded-Proto http
    default_backend pong
backend pong
    server pong 127.0.0.1:{upstream} pool-max-conn 128
"""
    )
    return ["haproxy", "-db", "-f", configuration]


def run(options):
    with scratch() as folder, Servers() as servers:
        upstream = free_port()
        pong = thrum("pong", f"127.0.0.1:{upstream}")
        servers.enter_context(server("the upstream", pong, upstream, one_worker(), cores=LOADER_CORE))
        servers.add("thrum", lambda port: thrum("proxy", f"127.0.0.1:{port}", f"127.0.0.1:{upstream}"), one_worker())
        for name, command in [("nginx", nginx), ("haproxy", haproxy)]:
            if installed(name):
                servers.add(name, lambda port: command(folder, port, upstream))
        measure = lambda target: load(target, "/", 64, options.seconds)
        results = in_turns(servers.running, options, measure)
    result = cost_table(results, "A reverse proxy: what a request costs it")
    compare(result, results, "CPU a request", "thrum", "nginx", 0.75)
    compare(result, results, "CPU a request", "thrum", "haproxy", 0.85)
    return result
