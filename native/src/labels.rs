//! Lines of captures on their way through a shuffle: the twin of `crawlmill.indexes.cluster.sharding`.

use memchr::{memchr2, memchr_iter};

/// Digits of a label.
const DIGITS: usize = 5;

/// Whole lines, escaped and each after the label of its shard; `points` are the first lines of all shards but the first.
pub fn label<P: AsRef<[u8]>>(lines: &[u8], points: &[P], first: usize) -> Vec<u8> {
    let text = escaped(lines);
    let count = memchr_iter(b'\n', &text).count();
    let mut out = Vec::with_capacity(text.len() + count * (DIGITS + 1));
    let (mut shard, mut label) = (usize::MAX, String::new());
    let mut at = 0;
    for end in memchr_iter(b'\n', &text) {
        let of = points.partition_point(|point| point.as_ref() <= &text[at..end]);
        if of != shard {
            (shard, label) = (of, format!("{:0DIGITS$}\t", first + of));
        }
        out.extend_from_slice(label.as_bytes());
        out.extend_from_slice(&text[at..=end]);
        at = end + 1;
    }
    out
}

/// Text without CR and TAB, whose lines are in the same order.
fn escaped(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if memchr2(b'\t', b'\r', text).is_none() && memchr2(8, 12, text).is_none() {
        return text.into();
    }
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for &byte in text {
        match byte {
            8 => out.extend([8, 1]),
            b'\t' => out.extend([8, 2]),
            12 => out.extend([12, 1]),
            b'\r' => out.extend([12, 2]),
            _ => out.push(byte),
        }
    }
    out.into()
}

/// Where the line begins and ends that comes so many lines after the one at a place; None behind the last line end.
pub fn line_at(text: &[u8], at: usize, skip: usize) -> Option<(usize, usize)> {
    let mut ends = memchr_iter(b'\n', text.get(at..)?);
    let start = match skip.checked_sub(1) {
        None => at,
        Some(before) => at + ends.nth(before)? + 1,
    };
    Some((start, at + ends.next()?))
}

#[cfg(test)]
mod tests {
    use super::{label, line_at};

    #[test]
    fn lines_get_the_label_of_their_shard() {
        assert_eq!(label::<&[u8]>(b"a\nb\n", &[], 7), b"00007\ta\n00007\tb\n");
        let points = [&b"b"[..], b"c\x08\x02"];
        assert_eq!(
            label(b"a\nb\nc\nc\t\nd\r\x08\x0c\n", &points, 9),
            b"00009\ta\n00010\tb\n00010\tc\n00011\tc\x08\x02\n00011\td\x0c\x02\x08\x01\x0c\x01\n"
        );
    }

    #[test]
    fn lines_are_found_by_number() {
        let text = b"a\n\nbc\nd";
        assert_eq!(line_at(text, 0, 0), Some((0, 1)));
        assert_eq!(line_at(text, 0, 2), Some((3, 5)));
        assert_eq!(line_at(text, 2, 1), Some((3, 5)));
        assert_eq!(line_at(text, 0, 3), None);
        assert_eq!(line_at(text, 0, 9), None);
        assert_eq!(line_at(text, 99, 0), None);
    }
}
