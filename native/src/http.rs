//! HTTP responses whose header is written as nearly all are: the twin of parts of `crawlmill.formats.payload.http`.

use crate::lines::{trim, Lines};

/// Bytes in which the header of a usual response ends.
const MOST: usize = 4 << 10;

/// A response, by its block.
pub struct Response<'a> {
    /// The lines of the header behind the status line.
    fields: &'a [u8],
    pub body: &'a [u8],
}

impl<'a> Response<'a> {
    /// The response that a block holds; None if that needs a closer look.
    pub fn of(block: &'a [u8]) -> Option<Response<'a>> {
        let head = &block[..block.len().min(MOST)];
        let version = head.strip_prefix(b"HTTP/")?;
        if version.iter().find(|byte| !byte.is_ascii_graphic()) != Some(&b' ') {
            return None;
        }
        let mut lines = Lines::new(head, 0);
        lines.next()??;
        let start = lines.at();
        while let Some(line) = lines.next()? {
            if matches!(line[0], b' ' | b'\t') {
                return None; // it belongs to the one above
            }
        }
        Some(Response { fields: &block[start..lines.at()], body: &block[lines.at()..] })
    }

    /// The values of the fields of that name, without the blanks around them.
    pub fn values(&self, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut lines = Lines::new(self.fields, 0);
        std::iter::from_fn(move || loop {
            let line = lines.next().flatten()?;
            if line.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
                if let [b':', value @ ..] = trim(&line[name.len()..]) {
                    return Some(trim(value));
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Response;

    #[test]
    fn usual_response_is_read() {
        let block =
            b"HTTP/1.1 200 OK\r\nserver: a \r\nServers: x\r\nX: Server: y\r\nSERVER\t :b\r\nServer\r\n\r\n\r\nbody";
        let response = Response::of(block).unwrap();
        assert_eq!(response.body, b"\r\nbody");
        assert_eq!(response.values(b"Server").collect::<Vec<_>>(), [b"a", b"b"]);
        assert!(Response::of(b"HTTP/2 200\r\n\r\n").unwrap().body.is_empty());
    }

    #[test]
    fn odd_response_is_left_to_python() {
        let long = [b"HTTP/1.1 200 OK\r\nX: ", &[b'x'; 5000][..], b"\r\n\r\n"].concat();
        for block in [
            &b""[..],
            b"HTTP/1.1",
            b"HTTP/1.1\r\n\r\n",
            b"HTTP/1.1\t200\r\n\r\n",
            b"http/1.1 200 OK\r\n\r\n",
            b"\r\nHTTP/1.1 200 OK\r\n\r\n",
            b"ICY 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\n\n",
            b"HTTP/1.1 200 OK\r\nA: b\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\tc\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\n",
            &long,
        ] {
            assert!(Response::of(block).is_none(), "{block:?}");
        }
    }
}
