//! The items of a data block of a prefix tree: the twin of `crawlmill.indexes.prefix_tree.items`.

use memchr::memchr;

/// Where the items end, each a key, a NUL, and a value of so many bytes; and whether no key is less than the one before.
pub fn items(block: &[u8], value_bytes: usize) -> (Vec<usize>, bool) {
    let (mut ends, mut sorted) = (Vec::new(), true);
    let (mut at, mut before): (usize, &[u8]) = (0, b"");
    while let Some(length) = memchr(0, &block[at..]).filter(|&length| length > 0) {
        let end = at + length + 1 + value_bytes;
        if end > block.len() {
            break;
        }
        let key = &block[at..at + length];
        sorted &= before <= key;
        before = key;
        ends.push(end);
        at = end;
    }
    (ends, sorted)
}

#[cfg(test)]
mod tests {
    use super::items;

    #[test]
    fn items_end_at_an_empty_key_or_a_value_that_is_cut() {
        assert_eq!(items(b"a\x00\x00\x01b\x00\x00\x02\x00\x00\x00", 2), (vec![4, 8], true));
        assert_eq!(items(b"b\x00xxa\x00xxc\x00x", 2), (vec![4, 8], false));
        assert_eq!(items(b"", 2), (vec![], true));
        assert_eq!(items(b"abc", 2), (vec![], true));
    }
}
