//! What somebody may have meant.

/// The word that is nearest to what was written, if one is near.
pub(crate) fn nearest<'a>(
    written: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // One slip in four letters; two letters that were swapped are one slip.
    let most = (written.chars().count() / 4).clamp(1, 4);
    let written = written.to_lowercase();
    words
        .into_iter()
        .map(|word| {
            (
                strsim::damerau_levenshtein(&written, &word.to_lowercase()),
                word,
            )
        })
        .filter(|&(distance, word)| distance <= most && distance < word.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips() {
        let words = ["timeout", "limit", "log", "->", ">>", "cache-control"];
        assert_eq!(nearest("tiemout", words), Some("timeout"));
        assert_eq!(nearest("Limit", words), Some("limit"));
        assert_eq!(nearest("cachecontrol", words), Some("cache-control"));
        assert_eq!(nearest("=>", words), Some("->"));
        assert_eq!(nearest("gzip", words), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
