"""Proxy: what does a reverse proxy cost between a client and an upstream?

A short answer over keep-alive on both sides, 64 connections; the proxy has one core, the load and the upstream have the
other. Each tells the upstream who asks, by Host and X-Forwarded-For and -Proto."""

from contextlib import ExitStack

from harness import LOADER_CORE, compare, cost_table, free_port, in_turns, load, missing, one_worker, scratch, server, thrum

NEEDS = ["taskset", "wrk"]
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
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        upstream = free_port()
        pong = thrum("pong", f"127.0.0.1:{upstream}")
        stack.enter_context(server("the upstream", pong, upstream, one_worker(), core=LOADER_CORE))
        servers = []

        def add(name, command, port, env=None):
            servers.append(stack.enter_context(server(name, command, port, env)))

        port = free_port()
        add("thrum", thrum("proxy", f"127.0.0.1:{port}", f"127.0.0.1:{upstream}"), port, one_worker())
        for name, command in [("nginx", nginx), ("haproxy", haproxy)]:
            if missing(name):
                print(f"skipped: {name} (not installed)")
                continue
            port = free_port()
            add(name, command(folder, port, upstream), port)
        measure = lambda target: load(target, "/", 64, options.seconds)
        results = in_turns(servers, options, measure)
    table = cost_table(results)
    compare(table, results, "CPU a request", "thrum", "nginx", 0.75)
    compare(table, results, "CPU a request", "thrum", "haproxy", 0.85)
    return table
