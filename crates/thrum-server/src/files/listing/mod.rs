//! A directory's names: as a page, or as JSON for programs.

mod html;
mod json;
mod names;

use std::fs::File;
use std::io;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response};
use thrum_http::Body;

use super::negotiation;

/// The order in which a directory is listed: by name, from the first to the last, unless it is set or the reader asks for
/// another one with `?sort=` and `?order=`. Directories come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// By what.
    pub by: SortBy,
    /// Whether the last, largest or newest comes first.
    pub descending: bool,
}

/// What a listing is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// As people order names: `file2` before `file10`, in any case.
    #[default]
    Name,
    /// Bytes.
    Size,
    /// When it was last changed.
    Time,
}

impl SortBy {
    const ALL: [SortBy; 3] = [SortBy::Name, SortBy::Size, SortBy::Time];

    /// As it is written: `name`, `size` or `time`.
    pub const fn name(self) -> &'static str {
        match self {
            SortBy::Name => "name",
            SortBy::Size => "size",
            SortBy::Time => "time",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }
}

/// How the reader wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    order: Order,
    json: bool,
}

impl Asked {
    /// What cannot be read is as if it were not there.
    pub(super) fn new(query: Option<&str>, headers: &HeaderMap, order: Order) -> Self {
        let mut asked = Self {
            order,
            json: negotiation::prefers_json(headers),
        };
        let fields = query.unwrap_or("").split('&');
        for (name, value) in fields.filter_map(|field| field.split_once('=')) {
            match (name, value) {
                ("sort", by) => asked.order.by = SortBy::from_name(by).unwrap_or(asked.order.by),
                ("order", "asc") => asked.order.descending = false,
                ("order", "desc") => asked.order.descending = true,
                ("format", "json") => asked.json = true,
                ("format", "html") => asked.json = false,
                _ => {}
            }
        }
        asked
    }
}

/// Lists an open directory, whose URI path is `uri`.
pub(super) fn respond(
    directory: &File,
    uri: &str,
    asked: &Asked,
    shows_hidden: bool,
) -> io::Result<Response<Body>> {
    let names = names::read(directory, asked.order, shows_hidden)?;
    let (text, content_type) = if asked.json {
        (json::text(&names, uri), "application/json")
    } else {
        (
            html::page(&names, uri, asked.order),
            "text/html; charset=utf-8",
        )
    };
    let mut response = Response::new(text.into());
    let fields = [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-cache"),
        (VARY, "accept"),
        (CONTENT_SECURITY_POLICY, html::CONTENT_SECURITY_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fields {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_is_wanted() {
        let asked = |query: &str, accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(http::header::ACCEPT, HeaderValue::from_static(accept));
            let asked = Asked::new(Some(query), &headers, Order::default());
            (asked.order.by, asked.order.descending, asked.json)
        };
        assert_eq!(asked("", "*/*"), (SortBy::Name, false, false));
        assert_eq!(
            asked("sort=size&order=desc", "*/*"),
            (SortBy::Size, true, false)
        );
        assert_eq!(
            asked("sort=x&order=y&&=", "*/*"),
            (SortBy::Name, false, false)
        );
        assert_eq!(asked("format=json", "*/*"), (SortBy::Name, false, true));
        assert_eq!(
            asked("sort=time", "application/json"),
            (SortBy::Time, false, true)
        );
        assert_eq!(
            asked("format=html", "application/json"),
            (SortBy::Name, false, false)
        );
    }
}
