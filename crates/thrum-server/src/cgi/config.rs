//! What can be written of CGI programs in a configuration.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::Cgi;
use crate::config::{Arity, Kind, Problem, RouteConfig, Setting, Settings, Verb};
use crate::site::{Building, Handler, HandlerKind};

/// `=>`: CGI programs.
pub static VERB: Verb = Verb {
    word: "=>",
    name: "cgi",
    values: &[Kind::Path],
    arity: Arity::Exact,
    settings: SETTINGS,
    help: "Runs the CGI programs of a folder: the first file that the request's path leads to is run, and what follows \
           its name is PATH_INFO. If a file is named instead of a folder, that program answers all requests.",
    example: "/cgi-bin/ => /srv/cgi { timeout 10s }",
};

/// Makes the handlers of [`VERB`].
pub static KIND: HandlerKind = HandlerKind { verb: &VERB, build };

const SETTINGS: &[Setting] = &[
    Setting {
        default: "30s",
        ..Setting::new(
            "timeout",
            &[Kind::Duration],
            "How long a program may take until its header is there. It begins anew with each piece of the request's body \
             that the program takes. What takes longer is stopped, and the client gets a 504.",
            "timeout 10s",
        )
    },
    Setting {
        default: "60s",
        ..Setting::new(
            "idle-timeout",
            &[Kind::Duration],
            "How long a program may write nothing in the middle of its document.",
            "idle-timeout 5m",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "total-timeout",
            &[Kind::DurationOrOff],
            "How long a program may take in all, even if it goes on.",
            "total-timeout 1h",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "output",
            &[Kind::SizeOrOff],
            "How many bytes a document may have. It is passed on and not kept, so that there need not be a limit.",
            "output 1GiB",
        )
    },
    Setting {
        default: "64KiB",
        ..Setting::new(
            "buffer",
            &[Kind::SizeOrOff],
            "How many bytes of a body without a length are held until all of it is there, so that the program can be told \
             its CONTENT_LENGTH. A longer one is passed on as it comes, without.",
            "buffer 1MiB",
        )
    },
    Setting {
        default: "32",
        ..Setting::new(
            "processes",
            &[Kind::Count(1, 100_000)],
            "How many programs of this route run at the same time.",
            "processes 100",
        )
    },
    Setting {
        default: "256",
        ..Setting::new(
            "queue",
            &[Kind::Count(0, 1_000_000)],
            "How many requests wait for one of the programs to end. What is beyond that gets a 503.",
            "queue 1000",
        )
    },
    Setting {
        default: "30s",
        ..Setting::new(
            "queue-timeout",
            &[Kind::Duration],
            "How long a request waits for one of the programs to end, before it gets a 503.",
            "queue-timeout 5s",
        )
    },
    Setting {
        repeats: true,
        ..Setting::new(
            "env",
            &[Kind::Text("NAME"), Kind::Text("VALUE")],
            "A variable of the programs' environment, whatever requests say about it. They get no other ones of this \
             process than PATH.",
            "env LANG C.UTF-8",
        )
    },
    Setting::new(
        "root",
        &[Kind::Path],
        "The folder that PATH_TRANSLATED begins at, DOCUMENT_ROOT for the programs. Without it: the programs' own.",
        "root /srv/www",
    ),
    Setting {
        arity: Arity::Many,
        default: "index.cgi",
        ..Setting::new(
            "index",
            &[Kind::Text("NAME")],
            "The programs that answer for a folder; the first one that exists is taken.",
            "index index.cgi index.pl",
        )
    },
];

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let target = &route.values[0];
    let cgi = building
        .problems
        .check(target.span(), Cgi::new(target.path()))?;
    Some(Arc::new(with(cgi, &route.settings, building)?))
}

fn with(mut cgi: Cgi, settings: &Settings, building: &mut Building<'_>) -> Option<Cgi> {
    let processes = usize::try_from(settings.count("processes")).ok();
    let processes = processes.and_then(NonZeroUsize::new)?; // its kind begins at 1
    let queue = usize::try_from(settings.count("queue")).unwrap_or(usize::MAX);
    cgi = cgi
        .timeout(settings.duration("timeout"))
        .idle_timeout(settings.duration("idle-timeout"))
        .total_timeout(settings.duration_or_off("total-timeout"))
        .output(settings.size_or_off("output"))
        .buffer(settings.size_or_off("buffer"))
        .processes(processes, queue, settings.duration("queue-timeout"))
        .index(settings.texts("index"));
    for entry in settings.all("env") {
        let name = entry.text();
        if name.is_empty() || name.contains('=') {
            let problem = Problem::new(entry.values()[0].span(), "this is no name of a variable");
            building.problem(problem.help("write a name and a value: env LANG C.UTF-8"));
            return None;
        }
        cgi = cgi.env(name, entry.values()[1].text());
    }
    if let Some(root) = settings.path("root") {
        cgi = cgi.root(root);
    }
    Some(cgi)
}
