//! A page for those who know attoparsec: where each of its names went. There is no code here.
//!
//! A parser runs over a `ByteString` and a `Text` alike, which is a slice of bytes; text is asked for by
//! [`text`](Parser::text) or by the parsers of characters. Backtracking is the default here as there. What differs: input
//! is not retained by the parser but lies in the caller's buffer, repetition has limits, and a repetition of what matches
//! nothing ends.
//!
//! | attoparsec | here |
//! |---|---|
//! | `parseOnly p s` | `p.parse(&mut In::whole(s))` |
//! | `parse p s`, `feed`, `Partial` | `p.parse(&mut In::partial(s))`; on [`Stop::Need`] again with more; [`run()`] for the three results |
//! | `<*>`, `(,) <$> p <*> q` | a tuple `(p, q)`, or `?` in a function |
//! | `p *> q`, `p <* q`, `.*>`, `<*.` | [`preceded`], [`terminated`], [`delimited`] |
//! | `>>=` | [`flat_map`](Parser::flat_map), or `?` in a function |
//! | `<$>`, `<$`, `mfilter` | [`map`](Parser::map), [`value`](Parser::value), [`verify`](Parser::verify) |
//! | <code>p \<\|> q</code>, `choice`, `eitherP` | [`choice`], [`dispatch`] where the next byte tells, [`either`] |
//! | `try` | nothing: it is the default; [`cut`](Parser::cut) and [`In::commit`] for the contrary |
//! | `option x p`, `lookAhead` | [`opt`]`(p)`, [`peek`] |
//! | `<?>`, `fail` | [`label`](Parser::label), [`context`](Parser::context), [`In::fail`] |
//! | `match p` | [`recognize`](Parser::recognize), [`with_span`](Parser::with_span) |
//! | `many p`, `many1 p` | [`many`]`(0..=n, p)`, `many(1..=n, p)` |
//! | `skipMany`, `skipMany1` | [`many_count`] |
//! | `sepBy`, `sepBy1`, `manyTill`, `count` | [`sep_by`]`(0..=n, ..)`, `sep_by(1..=n, ..)`, [`many_till`], [`count`] |
//! | `foldl' <$> many` | [`Repeat::fold`] |
//! | `word8`, `anyWord8`, `satisfy`, `notWord8`, `skip` | [`byte`], [`any_byte`], [`satisfy`] with a set or a closure |
//! | `char`, `anyChar`, `notChar`, `satisfy` of `Text` | [`char()`], [`any_char`], [`satisfy_char`] |
//! | `peekWord8`, `peekWord8'` | [`opt`]`(`[`peek_byte`]`())`, [`peek_byte`] |
//! | `inClass`, `notInClass`, `isDigit` ... | [`ByteSet`], [`class`] |
//! | `string`, `stringCI`, `asciiCI` | [`tag`], [`string`]; [`tag_no_case`] |
//! | `take`, `takeByteString`, `takeText`, `getChunk` | [`take`], [`take_rest`], [`In::rest`] |
//! | `takeWhile`, `takeWhile1`, `takeTill` | [`take_while`], [`take_while1`], [`take_till`]; [`take_while_char`] |
//! | `takeWhileIncluding p` | `(take_while(p), any_byte()).recognize()` |
//! | `skipWhile`, `skipSpace` | [`skip_while`], `skip_while(&class::SPACE)` |
//! | `scan`, `runScanner` | [`scan()`], [`Scan::with_state`] |
//! | `decimal`, `signed decimal`, `hexadecimal` | [`decimal`], [`signed`], [`hexadecimal`]; too large is an error |
//! | `double`, `rational`, `scientific` | [`float()`]; [`scientific`] gives the text |
//! | `anyWord16be` ... of attoparsec-binary | [`word::be`], [`word::le`] |
//! | `endOfLine`, `endOfInput`, `atEnd` | [`end_of_line`], [`end_of_input`], [`at_end`] |

#[allow(unused_imports, reason = "for the links above")]
use crate::*;
