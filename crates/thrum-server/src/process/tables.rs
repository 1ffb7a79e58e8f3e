//! What may be written of the process, outside of all sites.

use crate::config::{Kind, Setting};

/// The settings, outside of all sites.
pub const GLOBAL: &[Setting] = &[
    Setting::new(
        "workers",
        &[Kind::Count(1, 1024)],
        "How many requests are computed at the same time. One for each CPU, unless it is written.",
        "workers 4",
    ),
    Setting::new(
        "user",
        &[Kind::Text("NAME")],
        "Who the process goes on as once it has bound its ports. Only root can become somebody else.",
        "user www-data",
    ),
    Setting::new(
        "group",
        &[Kind::Text("NAME")],
        "The group that the process goes on with. The user's own, unless it is written.",
        "group www-data",
    ),
    Setting::new(
        "pid-file",
        &[Kind::Path],
        "The file with the number of the process, and beside it (.sock) the socket that takes commands. In /run or the \
         user's runtime folder, named after the configuration, unless it is written.",
        "pid-file /run/thrum/thrum.pid",
    ),
    Setting::new(
        "state",
        &[Kind::Path],
        "The folder for what outlives the process, such as certificates. /var/lib/thrum, or thrum in the user's state \
         folder, unless it is written.",
        "state /var/lib/thrum",
    ),
    Setting {
        default: "on",
        ..Setting::new(
            "sandbox",
            &[Kind::Switch],
            "Whether the process gives up all files that the configuration does not name, and system calls that it has no \
             use for.",
            "sandbox off",
        )
    },
    Setting {
        default: "2s",
        ..Setting::new(
            "watch",
            &[Kind::DurationOrOff],
            "How often the files of the configuration and the certificates are looked at; what has changed is reloaded.",
            "watch off",
        )
    },
    Setting {
        default: "660",
        ..Setting::new(
            "socket-mode",
            &[Kind::Text("OCTAL")],
            "Who may connect to the Unix sockets that are listened on.",
            "socket-mode 666",
        )
    },
    Setting {
        block: TIMEOUTS,
        ..Setting::new(
            "timeouts",
            &[],
            "How long clients may take.",
            "timeouts { idle 30s }",
        )
    },
    Setting {
        block: LIMITS,
        ..Setting::new(
            "limits",
            &[],
            "What clients may send.",
            "limits { body 100MiB }",
        )
    },
    Setting {
        block: HTTP2,
        ..Setting::new(
            "http2",
            &[],
            "What clients may do on an HTTP/2 connection.",
            "http2 { streams 64 }",
        )
    },
];

const fn time(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    example: &'static str,
) -> Setting {
    Setting {
        default,
        ..Setting::new(name, &[Kind::Duration], help, example)
    }
}

const fn size(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    example: &'static str,
) -> Setting {
    Setting {
        default,
        ..Setting::new(name, &[Kind::Size], help, example)
    }
}

const fn count(
    name: &'static str,
    kind: &'static [Kind],
    default: &'static str,
    help: &'static str,
    example: &'static str,
) -> Setting {
    Setting {
        default,
        ..Setting::new(name, kind, help, example)
    }
}

const MANY: &[Kind] = &[Kind::Count(1, u32::MAX as u64)];

const TIMEOUTS: &[Setting] = &[
    time(
        "handshake",
        "10s",
        "From accepting a connection to the end of its TLS handshake.",
        "handshake 5s",
    ),
    time(
        "head",
        "10s",
        "From the first byte of a request head to its last. Beyond it: 408.",
        "head 5s",
    ),
    time(
        "idle",
        "60s",
        "Between two requests of a connection, and before the first.",
        "idle 30s",
    ),
    time(
        "body",
        "30s",
        "Without a byte of a request body that is waited for.",
        "body 1m",
    ),
    size(
        "body-rate",
        "500",
        "Bytes a second that a request body must come at, after body-grace.",
        "body-rate 1KiB",
    ),
    time(
        "body-grace",
        "10s",
        "How long a request body may be slower.",
        "body-grace 30s",
    ),
    time(
        "write",
        "60s",
        "Without a byte of a response that the client takes.",
        "write 2m",
    ),
    time(
        "linger",
        "1s",
        "How long a connection that was refused is read on, so that the client sees why.",
        "linger 2s",
    ),
    time(
        "stop",
        "10s",
        "How long open requests may take to finish when the process is to stop.",
        "stop 30s",
    ),
    time(
        "retire",
        "1h",
        "How long open requests may take to finish when the process retires, after an upgrade too.",
        "retire 1d",
    ),
    time(
        "last-call",
        "5s",
        "How long an idle connection may still send a last request when the process retires.",
        "last-call 10s",
    ),
];

const LIMITS: &[Setting] = &[
    size(
        "head",
        "16KiB",
        "Bytes of a request head. Beyond it: 431.",
        "head 32KiB",
    ),
    count(
        "fields",
        MANY,
        "100",
        "Fields of a request head. Beyond it: 431.",
        "fields 200",
    ),
    size(
        "target",
        "8KiB",
        "Bytes of a request target. Beyond it: 414.",
        "target 16KiB",
    ),
    size(
        "body",
        "10MiB",
        "Bytes of a request body. Beyond it: 413.",
        "body 100MiB",
    ),
    size(
        "chunk-line",
        "4KiB",
        "Bytes of a chunk line, of all chunk extensions of a body, and of its trailer. Beyond it: 400.",
        "chunk-line 8KiB",
    ),
    size(
        "drain",
        "64KiB",
        "Bytes of a body that nothing has read which are read to keep the connection.",
        "drain 256KiB",
    ),
    Setting::new(
        "requests",
        MANY,
        "Requests of one connection. No limit, unless it is written.",
        "requests 10000",
    ),
    count(
        "connections",
        MANY,
        "100000",
        "Connections open at once, and no more than three quarters of the open files that the system allows. Beyond it: 503.",
        "connections 20000",
    ),
];

const HTTP2: &[Setting] = &[
    count(
        "streams",
        MANY,
        "128",
        "Requests at once. Beyond it: the stream is refused.",
        "streams 64",
    ),
    size(
        "stream-window",
        "256KiB",
        "Bytes of one request body that may come before they are read.",
        "stream-window 1MiB",
    ),
    size(
        "connection-window",
        "1MiB",
        "Bytes of all request bodies that may come before they are read.",
        "connection-window 4MiB",
    ),
    size(
        "frame",
        "16KiB",
        "Bytes of a frame's payload, from 16 KiB to 16 MiB - 1.",
        "frame 64KiB",
    ),
    size(
        "send",
        "64KiB",
        "Bytes of one response that wait to be sent.",
        "send 256KiB",
    ),
    count(
        "resets",
        MANY,
        "200",
        "Streams that a client may reset in a row (CVE-2023-44487).",
        "resets 100",
    ),
    count(
        "faults",
        MANY,
        "100",
        "Streams that a client may break in a row.",
        "faults 50",
    ),
    count(
        "control-frames",
        MANY,
        "1000",
        "Frames a second that are no request and no body.",
        "control-frames 500",
    ),
    count(
        "continuations",
        MANY,
        "5",
        "CONTINUATION frames of one head.",
        "continuations 2",
    ),
];
