//! Sums by key: sorted lines `key TAB number`, or `key TAB [number,number]`, become one line per key.
//!
//! A number is written with at most 18 digits. Lines whose value is anything else, and all lines of their key behind them,
//! are handed back for Python to sum, and so are keys that are no usual ones: rows of the ledger, and those of which the
//! JSON may be written otherwise.

/// What a line may hold, as JSON: one number or two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    One(i128),
    Two(i128, i128),
}

impl Value {
    fn first(self) -> i128 {
        match self {
            Value::One(number) | Value::Two(number, _) => number,
        }
    }

    fn parse(text: &[u8]) -> Option<Value> {
        let Some(list) = text.strip_prefix(b"[") else {
            return number(text).map(Value::One);
        };
        let list = list.strip_suffix(b"]")?;
        let comma = memchr::memchr(b',', list)?;
        Some(Value::Two(number(&list[..comma])?, number(&list[comma + 1..])?))
    }

    fn plus(self, other: Value) -> Option<Value> {
        match (self, other) {
            (Value::One(a), Value::One(b)) => Some(Value::One(a + b)),
            (Value::Two(a, b), Value::Two(c, d)) => Some(Value::Two(a + c, b + d)),
            _ => None,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            Value::One(number) => write_number(number, out),
            Value::Two(first, second) => {
                out.push(b'[');
                write_number(first, out);
                out.push(b',');
                write_number(second, out);
                out.push(b']');
            }
        }
    }
}

/// The JSON of a whole number of at most 18 digits. So many of them can be added that memory is no limit.
fn number(text: &[u8]) -> Option<i128> {
    let (digits, sign) = match text {
        [b'-', digits @ ..] => (digits, -1),
        digits => (digits, 1),
    };
    if digits.is_empty() || digits.len() > 18 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(i128::from(value * sign))
}

pub fn write_number(number: i128, out: &mut Vec<u8>) {
    let Ok(small) = u64::try_from(number) else {
        out.extend_from_slice(number.to_string().as_bytes());
        return;
    };
    let (mut digits, mut at, mut left) = ([0; 20], 20, small);
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// A piece of what comes out, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// Result lines.
    Summed(Vec<u8>),
    /// Lines to be summed in Python.
    Left(Vec<u8>),
}

/// One of the largest: what `Largest` keeps in Python.
struct Ranked {
    number: i128,
    key: Box<[u8]>,
    value: Value,
}

/// Takes sorted lines and gives sums.
pub struct Sums {
    /// Sums whose first number is less are left out.
    least: i128,
    /// Only so many of the largest are given, at the end.
    most: Option<usize>,
    ranking: Vec<Ranked>,
    /// Of a line that was cut.
    unfinished: Vec<u8>,
    key: Vec<u8>,
    /// The sum of that key so far; None if it is left to Python, or there is no key yet.
    sum: Option<Value>,
    begun: bool,
    pieces: Vec<Piece>,
}

impl Sums {
    pub fn new(least: i128, most: Option<usize>) -> Sums {
        Sums {
            least,
            most,
            ranking: Vec::new(),
            unfinished: Vec::new(),
            key: Vec::new(),
            sum: None,
            begun: false,
            pieces: Vec::new(),
        }
    }

    /// Take more lines, wherever they are cut; gives what is known by now.
    pub fn push(&mut self, mut data: &[u8]) -> Vec<Piece> {
        if !self.unfinished.is_empty() {
            let Some(end) = memchr::memchr(b'\n', data) else {
                self.unfinished.extend_from_slice(data);
                return Vec::new();
            };
            let mut line = std::mem::take(&mut self.unfinished);
            line.extend_from_slice(&data[..end]);
            self.line(&line);
            data = &data[end + 1..];
        }
        while let Some(end) = memchr::memchr(b'\n', data) {
            self.line(&data[..end]);
            data = &data[end + 1..];
        }
        self.unfinished.extend_from_slice(data);
        std::mem::take(&mut self.pieces)
    }

    /// No more lines come; gives the rest.
    pub fn finish(&mut self) -> Vec<Piece> {
        let line = std::mem::take(&mut self.unfinished);
        if !line.is_empty() {
            self.line(&line);
        }
        self.end_key();
        self.begun = false;
        if let Some(most) = self.most {
            self.keep_largest(most);
            let mut out = Vec::new();
            for ranked in std::mem::take(&mut self.ranking) {
                out.extend_from_slice(&ranked.key);
                out.push(b'\t');
                ranked.value.write(&mut out);
                out.push(b'\n');
            }
            if !out.is_empty() {
                self.pieces.push(Piece::Summed(out));
            }
        }
        std::mem::take(&mut self.pieces)
    }

    fn line(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let tab = memchr::memchr(b'\t', line);
        let (key, text) = tab.map_or((line, &b""[..]), |tab| (&line[..tab], &line[tab + 1..]));
        if !self.begun || key != self.key {
            self.end_key();
            self.begun = true;
            self.key.clear();
            self.key.extend_from_slice(key);
            self.sum = if tab.is_some() && is_usual(key) { Value::parse(text) } else { None };
            if self.sum.is_none() {
                self.leave(line);
            }
            return;
        }
        let Some(sum) = self.sum else {
            self.leave(line);
            return;
        };
        self.sum = Value::parse(text).and_then(|value| sum.plus(value));
        if self.sum.is_none() {
            let mut so_far = self.key.clone();
            so_far.push(b'\t');
            sum.write(&mut so_far);
            self.leave(&so_far);
            self.leave(line);
        }
    }

    fn leave(&mut self, line: &[u8]) {
        if !matches!(self.pieces.last(), Some(Piece::Left(_))) {
            self.pieces.push(Piece::Left(Vec::new()));
        }
        if let Some(Piece::Left(lines)) = self.pieces.last_mut() {
            lines.extend_from_slice(line);
            lines.push(b'\n');
        }
    }

    fn end_key(&mut self) {
        let Some(sum) = self.sum.take() else {
            return;
        };
        if sum.first() < self.least {
            return;
        }
        if let Some(most) = self.most {
            let ranked = Ranked { number: sum.first(), key: self.key.as_slice().into(), value: sum };
            self.ranking.push(ranked);
            if self.ranking.len() > 2 * most + 1000 {
                self.keep_largest(most);
            }
            return;
        }
        if !matches!(self.pieces.last(), Some(Piece::Summed(_))) {
            self.pieces.push(Piece::Summed(Vec::new()));
        }
        if let Some(Piece::Summed(out)) = self.pieces.last_mut() {
            out.extend_from_slice(&self.key);
            out.push(b'\t');
            sum.write(out);
            out.push(b'\n');
        }
    }

    /// The largest, falling; among equals `null` first, then by the bytes of the key.
    fn keep_largest(&mut self, most: usize) {
        let rank = |a: &Ranked, b: &Ranked| {
            let null = |ranked: &Ranked| *ranked.key != *b"null";
            b.number.cmp(&a.number).then_with(|| null(a).cmp(&null(b))).then_with(|| a.key.cmp(&b.key))
        };
        self.ranking.sort_unstable_by(rank);
        self.ranking.truncate(most);
    }
}

/// Whether Python would write this key as it stands here.
fn is_usual(key: &[u8]) -> bool {
    // Rows of the ledger begin with a NUL; escapes of surrogates may stand for one character.
    !key.starts_with(b"\"\\u0000") && memchr::memmem::find(key, b"\\ud").is_none()
}

#[cfg(test)]
mod tests {
    use super::{Piece, Sums};

    fn summed(text: &str) -> Piece {
        Piece::Summed(text.into())
    }

    fn left(text: &str) -> Piece {
        Piece::Left(text.into())
    }

    fn all(text: &str, cut: usize) -> Vec<Piece> {
        let mut sums = Sums::new(i128::MIN, None);
        let mut pieces: Vec<Piece> = text.as_bytes().chunks(cut).flat_map(|piece| sums.push(piece)).collect();
        pieces.extend(sums.finish());
        pieces
    }

    #[test]
    fn numbers_and_pairs_of_numbers_are_added() {
        let text = "\"a\"\t1\n\"a\"\t22\n\"b\"\t[1,2]\n\"b\"\t[30,-4]\nnull\t-0\n";
        let joined = |cut| -> Vec<u8> {
            let bytes = |piece| match piece {
                Piece::Summed(bytes) | Piece::Left(bytes) => bytes,
            };
            all(text, cut).into_iter().flat_map(bytes).collect()
        };
        for cut in [1, 3, 1 << 20] {
            assert_eq!(joined(cut), b"\"a\"\t23\n\"b\"\t[31,-2]\nnull\t0\n");
        }
    }

    #[test]
    fn sums_may_be_larger_than_their_numbers() {
        let most = "999999999999999999";
        let text = format!("1\t{most}\n").repeat(100);
        assert_eq!(all(&text, 99), [summed("1\t99999999999999999900\n")]);
    }

    #[test]
    fn what_is_not_usual_is_left_with_the_sum_so_far() {
        let text = "1\t2\n1\t3\n1\t1.5\n1\t1\n2\t1\n3\t[1]\n4\t1\n4\t[1,2]\n";
        let pieces = all(text, 1 << 20);
        assert_eq!(pieces, [left("1\t5\n1\t1.5\n1\t1\n"), summed("2\t1\n"), left("3\t[1]\n4\t1\n4\t[1,2]\n"),]);
        for value in ["01", "1e3", "true", "\"1\"", "", "-", "+1", "1 ", "[1,2,3]", "[1,2", "1000000000000000000"] {
            assert_eq!(all(&format!("1\t{value}\n"), 9), [left(&format!("1\t{value}\n"))], "{value}");
        }
        for line in ["\"\\u0000ledger:1\"\t1", "\"\\ud800\"\t1", "no tab"] {
            assert_eq!(all(line, 9), [left(&format!("{line}\n"))]);
        }
    }

    #[test]
    fn least_and_largest_are_chosen() {
        let mut sums = Sums::new(2, Some(2));
        assert_eq!(sums.push(b"\"a\"\t2\n\"b\"\t[2,5]\n\"c\"\t1\nnull\t2\n"), []);
        assert_eq!(sums.finish(), [summed("null\t2\n\"a\"\t2\n")]);
    }
}
