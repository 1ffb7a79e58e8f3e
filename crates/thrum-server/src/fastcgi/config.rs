//! What can be written of FastCGI in a configuration.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::{FastCgi, Pool};
use crate::config::{Arity, Kind, Problem, RouteConfig, Setting, Settings, Verb};
use crate::site::{Building, Handler, HandlerKind};

/// `fastcgi`: an application that speaks FastCGI.
pub static VERB: Verb = Verb {
    word: "fastcgi",
    name: "fastcgi",
    values: &[Kind::Address],
    arity: Arity::Exact,
    settings: SETTINGS,
    help: "Has an application answer by FastCGI, such as PHP-FPM. With a root, the request's path leads to a script beneath \
           it, and files that are no scripts are sent as they are; without, the application is asked for all paths.",
    example: "/ fastcgi unix:/run/php/php-fpm.sock { root /srv/wordpress; fallback /index.php }",
};

/// Makes the handlers of [`VERB`].
pub static KIND: HandlerKind = HandlerKind { verb: &VERB, build };

const SETTINGS: &[Setting] = &[
    Setting::new(
        "root",
        &[Kind::Path],
        "The folder of the scripts.",
        "root /srv/wordpress",
    ),
    Setting {
        default: "off",
        ..Setting::new(
            "remote",
            &[Kind::Switch],
            "Whether the root is a folder of another machine. Then it is not looked at: what ends like a script is taken for \
             one, and nothing is sent by this server.",
            "remote on",
        )
    },
    Setting {
        arity: Arity::Many,
        default: "index.php index.html",
        ..Setting::new(
            "index",
            &[Kind::Text("NAME")],
            "The files that answer for a folder; the first one that exists is taken.",
            "index index.php",
        )
    },
    Setting {
        arity: Arity::Many,
        default: ".php",
        ..Setting::new(
            "split",
            &[Kind::Text("ENDING")],
            "How the names of scripts end. What follows the first script on the way is PATH_INFO.",
            "split .php .php8",
        )
    },
    Setting::new(
        "fallback",
        &[Kind::Text("SCRIPT")],
        "The script beneath the root that answers where there is no file.",
        "fallback /index.php",
    ),
    Setting {
        repeats: true,
        ..Setting::new(
            "param",
            &[Kind::Text("NAME"), Kind::Text("VALUE")],
            "A variable of all requests, whatever they say about it.",
            "param APP_ENV production",
        )
    },
    Setting {
        default: "10s",
        ..Setting::new(
            "connect-timeout",
            &[Kind::Duration],
            "How long a connection may take to be made.",
            "connect-timeout 2s",
        )
    },
    Setting {
        default: "60s",
        ..Setting::new(
            "timeout",
            &[Kind::Duration],
            "How long the application may take until the header of its response is there. It begins anew with each piece of \
             the request's body that goes out.",
            "timeout 5m",
        )
    },
    Setting {
        default: "60s",
        ..Setting::new(
            "idle-timeout",
            &[Kind::Duration],
            "How long the application may send nothing in the middle of its document.",
            "idle-timeout 5m",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "total-timeout",
            &[Kind::DurationOrOff],
            "How long a request may take in all, even if it goes on.",
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
        default: "1MiB",
        ..Setting::new(
            "buffer",
            &[Kind::SizeOrOff],
            "How many bytes of a body without a length are held until all of it is there: PHP sees no body without a \
             CONTENT_LENGTH. A longer one gets a 411. With off, all are passed on as they come.",
            "buffer 10MiB",
        )
    },
    Setting {
        default: "5s",
        ..Setting::new(
            "keep-alive",
            &[Kind::DurationOrOff],
            "How long a connection is kept after its request. A process of PHP-FPM is for nobody else so long; connections \
             are closed at once while other requests of ours wait for an answer.",
            "keep-alive 1s",
        )
    },
    Setting {
        default: "128",
        ..Setting::new(
            "connections",
            &[Kind::Count(1, 100_000)],
            "How many requests of this route are asked at the same time.",
            "connections 20",
        )
    },
    Setting {
        default: "1024",
        ..Setting::new(
            "queue",
            &[Kind::Count(0, 1_000_000)],
            "How many requests wait for one of these to end. What is beyond that gets a 503.",
            "queue 100",
        )
    },
    Setting {
        default: "30s",
        ..Setting::new(
            "queue-timeout",
            &[Kind::Duration],
            "How long a request waits for one of these to end, before it gets a 503.",
            "queue-timeout 5s",
        )
    },
];

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let (value, settings) = (route.values.first()?, &route.settings);
    let address = building
        .problems
        .check(value.span(), value.text().parse())?;
    let keep = settings.duration_or_off("keep-alive");
    // Routes to the same application share its connections, over a reload too.
    let name = format!("{address} {keep:?}");
    let pool = building.kept.get(&name, || Pool::keeping(address, keep));
    let mut fastcgi = FastCgi::with_pool(pool)
        .index(settings.texts("index"))
        .split(settings.texts("split"));
    if let Some(root) = settings.written("root") {
        let path = root.values().first()?;
        fastcgi = match settings.is_on("remote") {
            true => fastcgi.remote_root(path.path()),
            false => building
                .problems
                .check(path.span(), fastcgi.root(path.path()))?,
        };
    } else if let Some(of_scripts) = ["index", "split", "fallback", "remote"]
        .iter()
        .find_map(|name| settings.written(name))
    {
        let problem = Problem::new(of_scripts.span(), "there are no scripts without a root");
        building.problem(problem.help("write the folder of the scripts: root /srv/php"));
        return None;
    }
    if let Some(fallback) = settings.text("fallback") {
        fastcgi = fastcgi.fallback(fallback);
    }
    Some(Arc::new(with_limits(fastcgi, settings)?))
}

fn with_limits(mut fastcgi: FastCgi, settings: &Settings) -> Option<FastCgi> {
    for entry in settings.all("param") {
        if let [name, value] = entry.values() {
            fastcgi = fastcgi.parameter(name.text(), value.text());
        }
    }
    let connections = usize::try_from(settings.count("connections")).ok();
    let connections = connections.and_then(NonZeroUsize::new)?; // its kind begins at 1
    let queue = usize::try_from(settings.count("queue")).unwrap_or(usize::MAX);
    Some(
        fastcgi
            .connect_timeout(settings.duration("connect-timeout"))
            .timeout(settings.duration("timeout"))
            .idle_timeout(settings.duration("idle-timeout"))
            .total_timeout(settings.duration_or_off("total-timeout"))
            .output(settings.size_or_off("output"))
            .buffer(settings.size_or_off("buffer"))
            .connections(connections, queue, settings.duration("queue-timeout")),
    )
}
