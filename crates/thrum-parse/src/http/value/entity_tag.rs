//! Entity tags and the conditions made of them, RFC 9110, 8.8.3 and 13.1.

use super::syntax::fault;
use super::{Fault, FieldValue, HttpDate, List};
use crate::stop::Parsed;
use crate::{ByteSet, In, Parser, byte, opt, tag, take_while};

static ETAGC: ByteSet = ByteSet::new()
    .with(b"!")
    .range(0x23, 0x7e)
    .range(0x80, 0xff);

/// The name of one version of a resource: the value of `ETag`. `==` says whether two are written alike; what to compare
/// by is [`strongly`](EntityTag::matches_strongly) or [`weakly`](EntityTag::matches_weakly).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag<'a> {
    /// Whether it is the same for versions that differ in bytes but not in meaning.
    pub is_weak: bool,
    opaque: &'a [u8],
}

impl<'a> EntityTag<'a> {
    /// What is between the quotes.
    pub fn opaque(self) -> &'a [u8] {
        self.opaque
    }

    /// Whether both are strong and the same.
    pub fn matches_strongly(self, other: EntityTag<'_>) -> bool {
        !self.is_weak && !other.is_weak && self.opaque == other.opaque
    }

    /// Whether they are the same but for one or both being weak.
    pub fn matches_weakly(self, other: EntityTag<'_>) -> bool {
        self.opaque == other.opaque
    }
}

impl<'a> FieldValue<'a> for EntityTag<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let is_weak = opt(tag(b"W/")).parse(i)?.is_some();
        byte(b'"').must(Fault::BadEntityTag).parse(i)?;
        let opaque = take_while(&ETAGC).parse(i)?;
        byte(b'"').must(Fault::BadEntityTag).parse(i)?;
        Ok(EntityTag { is_weak, opaque })
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.is_weak {
            out.extend_from_slice(b"W/");
        }
        out.push(b'"');
        out.extend_from_slice(self.opaque);
        out.push(b'"');
    }
}

/// The value of `If-Match` and `If-None-Match`.
///
/// ```
/// use thrum_parse::http::value::{EntityTag, EntityTags, FieldValue};
///
/// let ours = EntityTag::parse(br#""a,b""#).unwrap();
/// let theirs = EntityTags::parse(br#""x", W/"a,b""#).unwrap();
/// assert!(theirs.any_matches_weakly(ours) && !theirs.any_matches_strongly(ours));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityTags<'a> {
    /// `*`: whatever there is.
    Any,
    /// One of these, of which there is at least one.
    Of(List<'a, EntityTag<'a>>),
}

impl EntityTags<'_> {
    /// Whether `ours` is one of them by strong comparison, which is what `If-Match` takes.
    pub fn any_matches_strongly(&self, ours: EntityTag<'_>) -> bool {
        match self {
            EntityTags::Any => true,
            EntityTags::Of(list) => list.iter().any(|theirs| theirs.matches_strongly(ours)),
        }
    }

    /// Whether `ours` is one of them by weak comparison, which is what `If-None-Match` takes.
    pub fn any_matches_weakly(&self, ours: EntityTag<'_>) -> bool {
        match self {
            EntityTags::Any => true,
            EntityTags::Of(list) => list.iter().any(|theirs| theirs.matches_weakly(ours)),
        }
    }
}

impl<'a> FieldValue<'a> for EntityTags<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        if i.next_byte() == Some(b'*') {
            i.advance(1);
            return Ok(EntityTags::Any);
        }
        List::read_some(i).map(EntityTags::Of)
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            EntityTags::Any => out.push(b'*'),
            EntityTags::Of(list) => list.write(out),
        }
    }
}

/// The value of `If-Range`: what the rest of a range request holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfRange<'a> {
    /// This version.
    Tag(EntityTag<'a>),
    /// The version last modified then.
    Date(HttpDate),
}

impl IfRange<'_> {
    /// Whether the range is wanted of the version that has these validators: the tag matches strongly, or the date
    /// exactly (13.1.5).
    pub fn applies(&self, ours: Option<EntityTag<'_>>, modified: Option<HttpDate>) -> bool {
        match *self {
            IfRange::Tag(theirs) => ours.is_some_and(|ours| theirs.matches_strongly(ours)),
            IfRange::Date(date) => modified == Some(date),
        }
    }
}

impl<'a> FieldValue<'a> for IfRange<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        match i.rest() {
            [] => Err(fault(i, i.position(), Fault::Truncated)),
            [b'"', ..] | [b'W', b'/', ..] => EntityTag::read(i).map(IfRange::Tag),
            _ => HttpDate::read(i).map(IfRange::Date),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            IfRange::Tag(tag) => tag.write(out),
            IfRange::Date(date) => date.write(out),
        }
    }
}
