//! The inputs in a line of a task list: the twin of `encode_task` and `decode_lists` in `crawlmill.mr.task.task_list`.

use std::io::Write;

use memchr::{memchr2, memmem};

use crate::json::push_text;

/// In JSON text, a quote within a string has a backslash before it, so this is found as a name only.
const BEGIN: &[u8] = b"\"inputs\":[";

/// An input with its place in the ledger: the line that names it, its location, and its bytes there (None: all).
///
/// Texts are printable ASCII and tabs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskInput<'a> {
    pub rank: u64,
    pub given: &'a [u8],
    pub location: &'a [u8],
    pub offset: Option<u64>,
    pub length: Option<u64>,
}

impl TaskInput<'_> {
    /// Appends its JSON; None if a text has other characters.
    pub fn push(&self, out: &mut Vec<u8>) -> Option<()> {
        // Writing to a vector never fails.
        let _ = write!(out, "[{},\"", self.rank);
        push_usual(self.given, out)?;
        out.extend_from_slice(b"\",\"");
        push_usual(self.location, out)?;
        out.push(b'"');
        for number in [self.offset, self.length] {
            let _ = match number {
                Some(number) => write!(out, ",{number}"),
                None => write!(out, ",null"),
            };
        }
        out.push(b']');
        Some(())
    }
}

fn push_usual(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    push_text(text, out);
    all(text, |byte| is_printable(byte) || byte == b'\t').then_some(())
}

/// Gives `each` the inputs in a task's line; returns where in the line they begin and end. None if one is unusual.
pub fn take(line: &[u8], mut each: impl FnMut(TaskInput<'_>)) -> Option<(usize, usize)> {
    let begin = memmem::find(line, BEGIN)? + BEGIN.len();
    let (mut given, mut location) = (Vec::new(), Vec::new());
    let mut rest = line.get(begin..)?;
    while let Some(input) = rest.strip_prefix(b"[") {
        let (rank, input) = number(input)?;
        let input = text(input.strip_prefix(b",")?, &mut given)?;
        let input = text(input.strip_prefix(b",")?, &mut location)?;
        let (offset, input) = number_or_null(input.strip_prefix(b",")?)?;
        let (length, input) = number_or_null(input.strip_prefix(b",")?)?;
        each(TaskInput { rank, given: &given, location: &location, offset, length });
        let behind = input.strip_prefix(b"]")?;
        rest = behind.strip_prefix(b",").filter(|next| next.starts_with(b"[")).unwrap_or(behind);
    }
    rest.starts_with(b"]").then_some((begin, line.len() - rest.len()))
}

/// Takes the JSON string at the beginning; returns what comes after it. None if it has other characters than a `TaskInput`.
fn text<'a>(json: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    out.clear();
    let inside = json.strip_prefix(b"\"")?;
    let mut rest = inside;
    loop {
        let (plain, special) = rest.split_at(memchr2(b'"', b'\\', rest)?);
        out.extend_from_slice(plain);
        let (stands_for, length) = match special {
            [b'\\', escaped @ (b'"' | b'\\'), ..] => (*escaped, 2),
            [b'\\', b't', ..] => (b'\t', 2),
            [b'"', behind @ ..] => {
                return all(&inside[..inside.len() - special.len()], is_printable).then_some(behind);
            }
            _ => return None,
        };
        out.push(stands_for);
        rest = &special[length..];
    }
}

fn is_printable(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

/// Whether all bytes are usual: in one pass that the compiler turns into wide instructions.
fn all(text: &[u8], is_usual: impl Fn(u8) -> bool) -> bool {
    text.iter().fold(true, |all, &byte| all & is_usual(byte))
}

fn number(json: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) = json.split_at(json.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let usual = (1..19).contains(&digits.len()) && (digits.len() == 1 || digits[0] != b'0');
    usual.then(|| (digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')), rest))
}

fn number_or_null(json: &[u8]) -> Option<(Option<u64>, &[u8])> {
    match json.strip_prefix(b"null") {
        Some(rest) => Some((None, rest)),
        None => number(json).map(|(number, rest)| (Some(number), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::{take, TaskInput};

    /// The inputs of a line, as they are encoded again, and the line without them.
    fn taken(line: &str) -> Option<(Vec<String>, String)> {
        let mut inputs = Vec::new();
        let (begin, end) = take(line.as_bytes(), |input| inputs.push(encoded(&input).unwrap()))?;
        Some((inputs, format!("{}{}", &line[..begin], &line[end..])))
    }

    fn encoded(input: &TaskInput<'_>) -> Option<String> {
        let mut json = Vec::new();
        input.push(&mut json)?;
        String::from_utf8(json).ok()
    }

    fn input(given: &str) -> TaskInput<'_> {
        TaskInput { rank: 0, given: given.as_bytes(), location: b"/\\\"", offset: Some(10), length: Some(0) }
    }

    #[test]
    fn inputs_are_json() {
        assert_eq!(encoded(&input("\"a\" \\\t~")).unwrap(), r#"[0,"\"a\" \\\t~","/\\\"",10,0]"#);
        let whole = TaskInput { rank: 7, given: b"", location: b"x", offset: None, length: None };
        assert_eq!(encoded(&whole).unwrap(), r#"[7,"","x",null,null]"#);
        for given in ["\n", "\u{7f}", "\u{e9}", "\0", "a\r\"b"] {
            assert_eq!(encoded(&input(given)), None);
        }
    }

    #[test]
    fn inputs_are_taken_out_of_a_line() {
        let inputs = [encoded(&input("\"a\" \\\t~")).unwrap(), r#"[7,"","x",null,null]"#.to_string()];
        let around = ["1\t{\"v\":1,\"label\":\"\\\"inputs\\\":[\",\"inputs\":[", "],\"search\":{}}"];
        assert_eq!(taken(&inputs.join(",")), None);
        assert_eq!(
            taken(&[around[0], &inputs.join(","), around[1]].concat()),
            Some((inputs.to_vec(), around.concat()))
        );
        assert_eq!(taken(&around.concat()), Some((vec![], around.concat())));
    }

    #[test]
    fn other_lines_are_for_python() {
        let usual = r#"{"v":1,"inputs":[[1,"a","b",2,null]]}"#;
        assert!(taken(usual).is_some());
        for (from, to) in [
            ("\"inputs\":[", "\"inputs\": ["),
            ("null", "null,1,3,10,10"),
            ("null", "nil"),
            (",null", ""),
            ("2", "02"),
            ("2", "-2"),
            ("2", "2.0"),
            ("2", "1234567890123456789"),
            ("1,\"a\"", "null,\"a\""),
            ("\"a\"", "null"),
            ("\"a\"", "\"\\u00e9\""),
            ("\"a\"", "\"\\n\""),
            ("\"a\"", "\"\t\""),
            ("\"a\"", "\"\u{7f}\""),
            ("\"a\"", "\"\u{e9}\""),
            ("\"a\"", "\"a"),
            ("]]", "],]"),
            ("]]}", "]"),
            ("]]}", ""),
        ] {
            let line = usual.replacen(from, to, 1);
            assert_eq!(taken(&line), None, "{line}");
        }
        assert_eq!(taken(""), None);
    }
}
