//! The names in a directory, in order.

use std::cmp::Ordering;
use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use thrum_parse::http::value::HttpDate;

use super::{Order, SortBy};

/// Names that are listed. A larger directory says how many more it has.
const MAX_NAMES: usize = 10_000;

/// What is in a directory.
pub(super) struct Names {
    pub(super) names: Vec<Name>,
    /// How many were too many.
    pub(super) omitted: usize,
}

/// A name in a directory.
pub(super) struct Name {
    pub(super) text: String,
    pub(super) is_directory: bool,
    /// Of a file.
    pub(super) size: u64,
    pub(super) modified: HttpDate,
}

impl Name {
    /// When it was last changed: `2026-11-21 14:05:59`, in UTC.
    pub(super) fn date_and_time(&self) -> String {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let text = self.modified.to_string(); // Sun, 06 Nov 1994 08:49:37 GMT
        let month = MONTHS.find(&text[8..11]).unwrap_or(0) / 3 + 1;
        let (year, day, time) = (&text[12..16], &text[5..7], &text[17..25]);
        format!("{year}-{month:02}-{day} {time}")
    }
}

/// The names that may be served: nothing but files and directories, and none that is hidden unless those are shown.
pub(super) fn read(directory: &File, order: Order, shows_hidden: bool) -> io::Result<Names> {
    let mut names = Vec::new();
    let mut omitted = 0;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(text) = entry.file_name().to_str() else {
            continue;
        };
        let is_hidden = text.starts_with('.') && (!shows_hidden || matches!(text, "." | ".."));
        if is_hidden || text.contains('\\') || text.contains(char::is_control) {
            continue;
        }
        if names.len() == MAX_NAMES {
            omitted += 1;
            continue;
        }
        // Followed, so that a link shows what it leads to; one that leads nowhere is left out.
        let Ok(stat) = statat(directory, entry.file_name(), AtFlags::empty()) else {
            continue;
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile && kind != FileType::Directory {
            continue;
        }
        let is_directory = kind == FileType::Directory;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        names.push(Name {
            text: text.to_owned(),
            is_directory,
            size: if is_directory { 0 } else { size },
            modified: HttpDate::clamped(stat.st_mtime),
        });
    }
    names.sort_by(|one, other| compare(one, other, order));
    Ok(Names { names, omitted })
}

/// Directories first; names of the same size or time by themselves.
fn compare(one: &Name, other: &Name, order: Order) -> Ordering {
    let by = match order.by {
        SortBy::Name => Ordering::Equal,
        SortBy::Size => one.size.cmp(&other.size),
        SortBy::Time => one.modified.cmp(&other.modified),
    };
    let ordered = by.then_with(|| natural(&one.text, &other.text));
    let ordered = if order.descending {
        ordered.reverse()
    } else {
        ordered
    };
    other.is_directory.cmp(&one.is_directory).then(ordered)
}

/// The order that people expect: `file2` before `file10`, in any case.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut one_rest, mut other_rest) = (one, other);
    loop {
        let (one_number, other_number) = (leading_digits(one_rest), leading_digits(other_rest));
        let order = if !one_number.is_empty() && !other_number.is_empty() {
            let value = |digits: &str| digits.trim_start_matches('0').to_owned();
            let (one_value, other_value) = (value(one_number), value(other_number));
            one_rest = &one_rest[one_number.len()..];
            other_rest = &other_rest[other_number.len()..];
            one_value
                .len()
                .cmp(&other_value.len())
                .then(one_value.cmp(&other_value))
        } else {
            let (mut one_letters, mut other_letters) = (one_rest.chars(), other_rest.chars());
            match (one_letters.next(), other_letters.next()) {
                (None, None) => return one.cmp(other),
                (None, _) => return Ordering::Less,
                (_, None) => return Ordering::Greater,
                (Some(a), Some(b)) => {
                    one_rest = one_letters.as_str();
                    other_rest = other_letters.as_str();
                    a.to_lowercase().cmp(b.to_lowercase())
                }
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_order_them() {
        let mut names = ["file10", "File2", "file1", "a", "B", "file", "file02"];
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(
            names,
            ["a", "B", "file", "file1", "File2", "file02", "file10"]
        );
    }

    #[test]
    fn times_are_readable() {
        let name = Name {
            text: String::new(),
            is_directory: false,
            size: 0,
            modified: HttpDate::clamped(784_111_777),
        };
        assert_eq!(name.date_and_time(), "1994-11-06 08:49:37");
    }

    #[test]
    fn by_size_and_time() {
        let name = |text: &str, is_directory, size, seconds| Name {
            text: text.to_owned(),
            is_directory,
            size,
            modified: HttpDate::clamped(seconds),
        };
        let names = [
            name("a", false, 3, 1),
            name("b", false, 1, 3),
            name("c", false, 3, 2),
            name("d", true, 0, 9),
        ];
        let sorted = |by, descending| {
            let mut sorted: Vec<&Name> = names.iter().collect();
            sorted.sort_by(|one, other| compare(one, other, Order { by, descending }));
            sorted.iter().map(|name| &*name.text).collect::<String>()
        };
        assert_eq!(sorted(SortBy::Name, true), "dcba");
        assert_eq!(sorted(SortBy::Size, false), "dbac");
        assert_eq!(sorted(SortBy::Size, true), "dcab");
        assert_eq!(sorted(SortBy::Time, true), "dbca");
    }
}
