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

/// The key of an item by its number; empty if there is none.
pub fn key_of<'a>(block: &'a [u8], ends: &[usize], value_bytes: usize, number: usize) -> &'a [u8] {
    let item = item_of(block, ends, number);
    &item[..item.len().saturating_sub(1 + value_bytes)]
}

/// The items with keys from `low` up to, not including, `high`.
pub fn within<'a>(
    block: &'a [u8],
    ends: &[usize],
    value_bytes: usize,
    sorted: bool,
    low: &[u8],
    high: &[u8],
) -> Vec<&'a [u8]> {
    let key = |number| key_of(block, ends, value_bytes, number);
    if sorted {
        let start = first_not_less(ends.len(), |number| key(number) < low);
        let some = (start..ends.len()).take_while(|&number| key(number) < high);
        return some.map(|number| item_of(block, ends, number)).collect();
    }
    let some = (0..ends.len()).filter(|&number| low <= key(number) && key(number) < high);
    some.map(|number| item_of(block, ends, number)).collect()
}

fn item_of<'a>(block: &'a [u8], ends: &[usize], number: usize) -> &'a [u8] {
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    ends.get(number).map_or(&[], |&end| &block[start..end])
}

/// The first number below `count` that is not less; all that are less come first.
fn first_not_less(count: usize, is_less: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_less(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::{items, key_of, within};

    #[test]
    fn items_are_found_by_their_keys() {
        for (block, sorted) in [(b"a\0xxab\0yyb\0zz\0", true), (b"b\0zza\0xxab\0yy\0", false)] {
            let (ends, order) = items(block, 2);
            assert_eq!(order, sorted);
            let found = |low: &[u8], high: &[u8]| within(block, &ends, 2, sorted, low, high).len();
            assert_eq!(found(b"a", b"a\0"), 1);
            assert_eq!(found(b"a", b"b"), 2);
            assert_eq!(found(b"ab", b"c"), 2);
            assert_eq!((found(b"", b"a"), found(b"c", b"d"), found(b"b", b"a")), (0, 0, 0));
            assert_eq!(key_of(block, &ends, 2, 3), b"");
        }
        assert_eq!(key_of(b"", &[], 2, 0), b"");
    }

    #[test]
    fn items_end_at_an_empty_key_or_a_value_that_is_cut() {
        assert_eq!(items(b"a\x00\x00\x01b\x00\x00\x02\x00\x00\x00", 2), (vec![4, 8], true));
        assert_eq!(items(b"b\x00xxa\x00xxc\x00x", 2), (vec![4, 8], false));
        assert_eq!(items(b"", 2), (vec![], true));
        assert_eq!(items(b"abc", 2), (vec![], true));
    }
}
