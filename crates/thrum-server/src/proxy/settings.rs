//! What may be written of a proxy.

use super::builder::MOST_WEIGHT;
use crate::config::{Arity, Kind, Setting};

/// What may stand in the route's block.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        arity: Arity::OptionalLast,
        default: "round-robin",
        ..Setting::new(
            "balance",
            &[
                Kind::Choice(&[
                    "round-robin",
                    "least-connections",
                    "client",
                    "path",
                    "header",
                    "cookie",
                ]),
                Kind::Text("NAME"),
            ],
            "How an upstream is chosen: by turns, the one that is at the fewest requests, or always the same for the same \
             client, path, header field or cookie.",
            "balance cookie session",
        )
    },
    Setting {
        repeats: true,
        ..Setting::new(
            "weight",
            &[Kind::Text("UPSTREAM"), Kind::Count(1, MOST_WEIGHT as u64)],
            "How many times as much as the others an upstream gets, written as it is written behind the arrow.",
            "weight 127.0.0.1:3000 3",
        )
    },
    Setting {
        default: "1000",
        ..Setting::new(
            "limit",
            &[Kind::Count(1, 1_000_000)],
            "Requests that each upstream has at once. When all have as many, requests wait in the queue.",
            "limit 200",
        )
    },
    Setting {
        default: "1000",
        ..Setting::new(
            "queue",
            &[Kind::Count(0, 1_000_000)],
            "Requests that wait for an upstream that is at its limit. Beyond it: 503.",
            "queue 100",
        )
    },
    Setting {
        default: "10s",
        ..Setting::new(
            "queue-timeout",
            &[Kind::Duration],
            "How long a request waits there. Beyond it: 503.",
            "queue-timeout 2s",
        )
    },
    Setting {
        default: "5s",
        ..Setting::new(
            "connect-timeout",
            &[Kind::Duration],
            "How long looking up an upstream and connecting to it may take, and as long the TLS handshake. Beyond it another \
             is asked, else: 504.",
            "connect-timeout 1s",
        )
    },
    Setting {
        default: "60s",
        ..Setting::new(
            "timeout",
            &[Kind::Duration],
            "How long an upstream may take from the end of a request to the head of its response. Beyond it: 504.",
            "timeout 10s",
        )
    },
    Setting {
        default: "60s",
        ..Setting::new(
            "idle-timeout",
            &[Kind::Duration],
            "How long an upstream may take nothing of a request's body, or send nothing of its response's.",
            "idle-timeout 30s",
        )
    },
    Setting {
        default: "1h",
        ..Setting::new(
            "tunnel-timeout",
            &[Kind::Duration],
            "How long nothing may move on an upgraded connection (WebSocket).",
            "tunnel-timeout 10m",
        )
    },
    Setting {
        default: "3",
        ..Setting::new(
            "fails",
            &[Kind::Count(0, 1_000_000)],
            "Failures in a row after which an upstream is taken to be down; 0: never. When all are down, all are asked.",
            "fails 1",
        )
    },
    Setting {
        default: "10s",
        ..Setting::new(
            "for",
            &[Kind::Duration],
            "In what time those failures count, and how long the upstream is down. Then one request shows how it is.",
            "for 30s",
        )
    },
    Setting {
        block: PROBE,
        ..Setting::new(
            "health",
            &[Kind::Text("PATH")],
            "Asks each upstream for this path again and again; one that does not answer well gets no requests.",
            "health /healthz { every 5s; expect 200 }",
        )
    },
    Setting {
        default: "2",
        ..Setting::new(
            "retries",
            &[Kind::Count(0, 100)],
            "Other upstreams that are asked when one fails, if that does no harm: nothing of the request had reached it, or \
             the method is idempotent; and the body was not begun, or was short enough for the buffer.",
            "retries 1",
        )
    },
    Setting {
        default: "10s",
        ..Setting::new(
            "retry-time",
            &[Kind::Duration],
            "From the beginning of a request; later it is not asked again.",
            "retry-time 3s",
        )
    },
    Setting {
        default: "20",
        ..Setting::new(
            "retry-budget",
            &[Kind::Count(0, 100)],
            "Of a hundred requests, how many may be asked again in the long run, so that retries do not make a bad hour worse.",
            "retry-budget 10",
        )
    },
    Setting {
        default: "keep",
        ..Setting::new(
            "host",
            &[Kind::Text("keep | upstream | HOST")],
            "The Host that upstreams are asked for: the client's (keep), their own (upstream), or this one.",
            "host upstream",
        )
    },
    Setting {
        default: "x",
        ..Setting::new(
            "forwarded",
            &[Kind::Choice(&["x", "rfc", "off"])],
            "How upstreams are told who asks: X-Forwarded-For, -Proto and -Host (x), Forwarded (rfc), or not at all. What \
             clients say of themselves in these fields is passed on only when they are trusted proxies.",
            "forwarded rfc",
        )
    },
    Setting {
        default: "on",
        ..Setting::new(
            "via",
            &[Kind::Switch],
            "Whether requests say by Via that they came through here. An nginx behind it does not compress what has one.",
            "via off",
        )
    },
    Setting {
        arity: Arity::OptionalLast,
        repeats: true,
        ..Setting::new(
            "request-header",
            &[
                Kind::Choice(&["set", "remove"]),
                Kind::Header,
                Kind::Text("VALUE"),
            ],
            "Sets or removes a field of requests. In the value {client}, {host}, {scheme}, {user} and the names of the route's \
             captures stand for what they are.",
            "request-header set X-Real-IP \"{client}\"",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "buffer",
            &[Kind::Switch],
            "Whether bodies are kept here, so that the slower side does not hold the other: a request's is read before an \
             upstream is asked, a response's is read ahead. Off: they flow at the slower side's pace.",
            "buffer on",
        )
    },
    Setting {
        default: "1MiB",
        ..Setting::new(
            "buffer-size",
            &[Kind::Size],
            "Bytes of one body that are kept with buffer on. What is longer flows behind them.",
            "buffer-size 64KiB",
        )
    },
    Setting {
        default: "100",
        ..Setting::new(
            "keep-alive",
            &[Kind::Count(0, 1_000_000)],
            "Connections to each upstream that are kept while they idle.",
            "keep-alive 32",
        )
    },
    Setting {
        default: "50s",
        ..Setting::new(
            "keep-alive-timeout",
            &[Kind::Duration],
            "How long they are kept: less than the upstream keeps them.",
            "keep-alive-timeout 4s",
        )
    },
    Setting {
        default: "15m",
        ..Setting::new(
            "connection-age",
            &[Kind::Duration],
            "The age from which a connection is not used again. Names are looked up for each new one, so this is how soon a \
             change of addresses is seen.",
            "connection-age 1m",
        )
    },
    Setting::new(
        "tls-roots",
        &[Kind::File],
        "The certificates that upstreams of https must be signed by, as PEM, in the place of the system's.",
        "tls-roots /etc/thrum/inside.pem",
    ),
    Setting::new(
        "tls-name",
        &[Kind::Text("HOST")],
        "The name that an upstream's certificate must have. Default: its host.",
        "tls-name app.internal",
    ),
    Setting::new(
        "tls-identity",
        &[Kind::File, Kind::File],
        "The certificate and the key that are shown to upstreams that ask for one, as PEM.",
        "tls-identity client.pem client.key",
    ),
];

/// What may stand in the block of `health`.
const PROBE: &[Setting] = &[
    Setting {
        default: "5s",
        ..Setting::new(
            "every",
            &[Kind::Duration],
            "How long it is from an answer to the next question.",
            "every 1s",
        )
    },
    Setting {
        default: "2s",
        ..Setting::new(
            "timeout",
            &[Kind::Duration],
            "How long an answer may take.",
            "timeout 500ms",
        )
    },
    Setting {
        arity: Arity::Many,
        default: "200",
        ..Setting::new(
            "expect",
            &[Kind::Status],
            "The status codes of an upstream that is well.",
            "expect 200 204",
        )
    },
    Setting {
        default: "2",
        ..Setting::new(
            "fails",
            &[Kind::Count(1, 1000)],
            "Bad answers in a row after which an upstream gets no more requests.",
            "fails 1",
        )
    },
    Setting {
        default: "1",
        ..Setting::new(
            "passes",
            &[Kind::Count(1, 1000)],
            "Good answers in a row after which it gets requests again.",
            "passes 3",
        )
    },
    Setting::new(
        "host",
        &[Kind::Text("HOST")],
        "The Host that is asked. Default: the upstream's own.",
        "host example.com",
    ),
];
