//! Where the records about pages are, in WAT and WET files: the twin of parts of `crawlmill.extraction.beside`.

use hashbrown::HashMap;

use crate::captures::described::fields;
use crate::records::{Counter, Record, Taken};

/// Offset and length of a record in its file.
pub type Place = (u64, u64);

/// The first place of each page, by its number.
pub struct Places {
    numbers: HashMap<Box<[u8]>, usize>,
    found: Vec<Option<Place>>,
    strays: usize,
}

impl Places {
    /// The pages have these ids, which may be empty; of two with the same id, the last one has it.
    pub fn new<'a>(ids: impl ExactSizeIterator<Item = &'a [u8]>) -> Places {
        let found = vec![None; ids.len()];
        let numbers =
            ids.enumerate().filter(|(_, id)| !id.is_empty()).map(|(number, id)| (id.into(), number)).collect();
        Places { numbers, found, strays: 0 }
    }

    pub fn number_of(&self, id: &[u8]) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    pub fn has(&self, number: usize) -> bool {
        self.found.get(number).is_some_and(Option::is_some)
    }

    /// Whether that page had no place before.
    pub fn put(&mut self, number: usize, place: Place) -> bool {
        match self.found.get_mut(number) {
            Some(found @ None) => found.replace(place).is_none(),
            _ => false,
        }
    }

    pub fn found(&self) -> &[Option<Place>] {
        &self.found
    }

    /// How many records that were counted here are of no page, or of one that had its record.
    pub fn strays(&self) -> usize {
        self.strays
    }
}

/// The id that a header refers to, as an index has it; None if it names none in the usual way.
fn referred(header: &[u8]) -> Option<&[u8]> {
    const UUID: &[u8] = b"urn:uuid:";
    let [value] = fields(header, ["WARC-Refers-To"])?;
    let value = value?;
    let value = value.strip_prefix(b"<").unwrap_or(value);
    let is_uuid = value.get(..UUID.len()).is_some_and(|start| start.eq_ignore_ascii_case(UUID));
    let id = if is_uuid { &value[UUID.len()..] } else { value };
    let end = id.iter().position(|byte| matches!(byte, b'>' | b' ' | b'\t')).unwrap_or(id.len());
    (end > 0).then_some(&id[..end])
}

impl Counter for Places {
    const IN_ORDER: bool = true;

    fn take(&mut self, record: &Record<'_>) -> Taken {
        let Some(id) = referred(record.header).filter(|_| !self.numbers.is_empty()) else {
            return Taken::Unusual;
        };
        let place = (record.offset, record.length as u64);
        if !self.number_of(id).is_some_and(|number| self.put(number, place)) {
            self.strays += 1;
        }
        Taken::Counted
    }
}

#[cfg(feature = "python")]
pub mod python {
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;

    use super::{Place, Places};

    /// SiblingPlaces(ids)
    ///
    /// Where the records that refer to pages are, found by a `RecordReader` or by Python; `ids` are those of the pages.
    #[pyclass(module = "crawlmill_native")]
    pub struct SiblingPlaces {
        pub places: Places,
    }

    const _: () = assert!(align_of::<SiblingPlaces>() <= 8);

    #[pymethods]
    impl SiblingPlaces {
        #[new]
        #[allow(clippy::needless_pass_by_value)]
        fn new(ids: Vec<PyBackedBytes>) -> SiblingPlaces {
            SiblingPlaces { places: Places::new(ids.iter().map(|id| &id[..])) }
        }

        /// number_of(id) -> the number of the page with that id, or None
        fn number_of(&self, id: &[u8]) -> Option<usize> {
            self.places.number_of(id)
        }

        /// has(number) -> whether that page has its place
        fn has(&self, number: usize) -> bool {
            self.places.has(number)
        }

        /// put(number, offset, length) -> whether that page had no place before
        fn put(&mut self, number: usize, offset: u64, length: u64) -> bool {
            self.places.put(number, (offset, length))
        }

        /// found() -> for each page (offset, length), or None
        fn found(&self) -> Vec<Option<Place>> {
            self.places.found().to_vec()
        }

        /// Records that were counted here and are of no page, or of one that had its record.
        #[getter]
        fn strays(&self) -> usize {
            self.places.strays()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{referred, Places};

    fn of(fields: &str) -> Option<String> {
        let header = format!("WARC/1.0\r\nWARC-Type: conversion\r\n{fields}\r\n\r\n");
        referred(header.as_bytes()).map(|id| String::from_utf8_lossy(id).into_owned())
    }

    #[test]
    fn the_id_referred_to_is_bare() {
        for value in ["<urn:uuid:a-b>", "urn:uuid:a-b", "<a-b>", " \ta-b x", "<URN:UUID:a-b> c"] {
            assert_eq!(of(&format!("warc-refers-to:{value}")).unwrap(), "a-b", "{value}");
        }
        for odd in
            ["X: y", "WARC-Refers-To:", "WARC-Refers-To: <urn:uuid:>", "WARC-Refers-To: <>", "WARC-Refers-To: \u{e9}"]
        {
            assert_eq!(of(odd), None, "{odd}");
        }
        assert_eq!(of("WARC-Refers-To: <a>\r\nWARC-Refers-To: <a>"), None);
    }

    #[test]
    fn the_first_place_of_a_page_is_kept() {
        let ids: [&[u8]; 3] = [b"a", b"", b"a"];
        let mut places = Places::new(ids.into_iter());
        assert_eq!((places.number_of(b"a"), places.number_of(b"")), (Some(2), None));
        assert!(!places.has(2) && places.put(2, (7, 8)) && places.has(2));
        assert!(!places.put(2, (9, 9)) && !places.put(3, (9, 9)));
        assert_eq!(places.found(), [None, None, Some((7, 8))]);
    }
}
