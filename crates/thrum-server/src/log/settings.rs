//! What a configuration can say of where a log goes.

use super::target::{Every, Facility, Rotation, Target};
use crate::config::{Arity, Entry, Kind, Problem, Problems, Setting};

/// What may stand in a log's block.
pub(crate) const BLOCK: &[Setting] = &[
    Setting {
        arity: Arity::Many,
        repeats: true,
        ..Setting::new(
            "rotate",
            &[Kind::Text("SIZE|hourly|daily|weekly")],
            "When the file is put aside: when it has that size (64KiB at least), or with the first line after the full hour, \
             midnight or the midnight before Monday, in UTC. access.log becomes access.log.0, that one access.log.1, and so on.",
            "rotate 100MiB daily",
        )
    },
    Setting {
        default: "10",
        ..Setting::new(
            "keep",
            &[Kind::Count(0, 10_000)],
            "How many files that were put aside are kept.",
            "keep 7",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "gzip",
            &[Kind::Switch],
            "Whether files that were put aside are compressed.",
            "gzip on",
        )
    },
    Setting {
        default: "daemon",
        ..Setting::new(
            "facility",
            &[Kind::Choice(Facility::NAMES)],
            "Which kind of program syslog takes the server for.",
            "facility local5",
        )
    },
];

/// Where a log goes, of its first value and its block.
pub(crate) fn target(entry: &Entry, problems: &mut Problems) -> Option<Target> {
    let value = entry.values().first()?;
    let parsed = value.text().parse::<Target>();
    let target = problems.check(value.span(), parsed)?;
    let Some(block) = entry.block() else {
        return Some(located(target, entry, problems));
    };
    let mut rotation = Rotation {
        keep: u32::try_from(block.count("keep")).unwrap_or(u32::MAX),
        gzip: block.is_on("gzip"),
        ..Rotation::default()
    };
    for value in block.all("rotate").flat_map(Entry::values) {
        match when(value.text()) {
            Some(When::Bytes(bytes)) => rotation.bytes = Some(bytes),
            Some(When::Every(every)) => rotation.every = Some(every),
            None => problems.add(
                Problem::new(
                    value.span(),
                    format!("{:?} is no time to rotate a log", value.text()),
                )
                .label("a size of 64KiB or more, hourly, daily or weekly"),
            ),
        }
    }
    let facility = block.text("facility").and_then(Facility::named);
    let target = target
        .rotated(rotation)
        .facility(facility.unwrap_or_default());
    for (name, fits) in [
        ("rotate", matches!(target, Target::File(..))),
        ("keep", matches!(target, Target::File(..))),
        ("gzip", matches!(target, Target::File(..))),
        (
            "facility",
            matches!(
                target,
                Target::Syslog(..) | Target::SyslogUdp(..) | Target::SyslogTcp(..)
            ),
        ),
    ] {
        if let Some(written) = block.written(name).filter(|_| !fits) {
            let problem = format!("{name} means nothing for a log that goes to {target}");
            problems.add(Problem::new(written.span(), problem).label("has no effect"));
        }
    }
    Some(located(target, entry, problems))
}

/// A file's path begins at the folder of the configuration. Its own folder must be there.
fn located(target: Target, entry: &Entry, problems: &mut Problems) -> Target {
    let (Target::File(_, rotation), Some(value)) = (&target, entry.values().first()) else {
        return target;
    };
    let path = value.path();
    if path.is_dir() {
        let problem = format!("{} is a folder", path.display());
        problems.add(Problem::new(value.span(), problem).label("a log needs a file"));
    } else if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        && !folder.is_dir()
    {
        let problem = format!("the folder {} does not exist", folder.display());
        problems.add(
            Problem::new(value.span(), problem)
                .help("make the folder; the file is made when there is something to log"),
        );
    }
    Target::File(path, rotation.clone())
}

enum When {
    Bytes(u64),
    Every(Every),
}

fn when(text: &str) -> Option<When> {
    Some(When::Every(match text {
        "hourly" => Every::Hour,
        "daily" => Every::Day,
        "weekly" => Every::Week,
        _ => {
            return crate::config::size(text)
                .filter(|&bytes| bytes >= 64 << 10)
                .map(When::Bytes);
        }
    }))
}
