//! The hot loops of Crawlmill for Python: counting the tags of pages and the words of texts, and reading records ahead.
//!
//! Each has a twin in Python, gives the same results as that, and never has the last word on damage.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "python"), allow(dead_code))]

mod api_lines;
mod awaiting;
mod body;
mod captures;
mod coding;
#[cfg(feature = "python")]
mod counters;
mod criteria;
mod frames;
mod http;
mod index_lines;
mod json;
mod key_sweep;
mod labels;
mod ledger_rows;
mod letters;
mod lines;
mod links;
mod markup;
mod member;
mod page;
mod pairs;
mod places;
#[cfg(feature = "python")]
mod reader;
mod records;
mod selection;
mod servers;
mod sha1;
mod siblings;
mod sort;
mod statistics;
mod surt;
mod tags;
mod task_inputs;
mod tokenizer;
#[cfg(feature = "python")]
mod tree_block;
mod tree_items;
mod tree_keys;
mod tree_lines;
mod warc;
mod wat;
mod words;

#[cfg(feature = "python")]
#[pyo3::pymodule]
mod crawlmill_native {
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;
    use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

    use super::captures::copied::{push_line, Place};
    use super::captures::described::{start, Extra, Start};
    use super::captures::listed::{each_listed, Listed};
    use super::warc::{whole_record, RESPONSE, REVISIT, TYPES};
    use super::wat::{servers, Servers};

    #[pymodule_export]
    use super::captures::python::CaptureLines;
    #[pymodule_export]
    use super::counters::{PageFilter, ServerCounter, TagCounter, WordCounter};
    #[pymodule_export]
    use super::links::python::LinkLines;
    #[pymodule_export]
    use super::reader::RecordReader;
    #[pymodule_export]
    use super::siblings::python::SiblingPlaces;
    #[pymodule_export]
    use super::sort::python::{merge_runs, LineSorter, LineSpiller, LineSums, SortedBlocks};
    #[pymodule_export]
    use super::statistics::python::{GroupLines, SortedGroups, SortedPages, StatisticsLines};
    #[pymodule_export]
    use super::tree_block::TreeBlock;

    /// wat_servers(envelope) -> the servers that a WAT record counts under ([None] without one), or None
    ///
    /// NotImplemented for what is not usual.
    #[pyfunction]
    fn wat_servers<'py>(envelope: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
        let py = envelope.py();
        match servers(envelope.as_bytes()) {
            Servers::NoResponse => Ok(py.None().into_bound(py)),
            Servers::Named(names) if names.is_empty() => Ok(PyList::new(py, [py.None()])?.into_any()),
            Servers::Named(names) => Ok(PyList::new(py, names)?.into_any()),
            Servers::Unusual => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    /// urlkey(url) -> its key; None for what is not usual
    #[pyfunction]
    fn urlkey<'py>(url: &Bound<'py, PyBytes>) -> Option<Bound<'py, PyBytes>> {
        super::surt::urlkey(url.as_bytes()).map(|key| PyBytes::new(url.py(), &key))
    }

    /// urlkey_of(url) -> the key of a URL that is text; None for what is not usual
    #[pyfunction]
    fn urlkey_of(url: &str) -> Option<Text> {
        super::surt::urlkey(url.as_bytes()).map(Text)
    }

    /// exact_keys(texts) -> the urlkey of each pattern that is a plain URL; None for what is not usual
    #[pyfunction]
    fn exact_keys<'py>(texts: &Bound<'py, PyList>) -> Vec<Option<Bound<'py, PyBytes>>> {
        let key_of = |text: &Bound<'py, PyAny>| {
            let text = text.cast::<PyString>().ok()?.to_str().ok()?;
            let plain = (text.starts_with("http://") || text.starts_with("https://")) && !text.contains('*');
            super::surt::urlkey(plain.then_some(text)?.as_bytes())
        };
        texts.iter().map(|text| key_of(&text).map(|key| PyBytes::new(texts.py(), &key))).collect()
    }

    /// A range `low <= key < high`, and a number.
    type Asked<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, usize);

    /// tree_ranges(texts) -> (the ranges of prefix trees' keys that these URLs select, in order, each with the number
    /// of its URL; the numbers of texts that are not usual)
    #[pyfunction]
    fn tree_ranges<'py>(texts: &Bound<'py, PyList>) -> (Vec<Asked<'py>>, Vec<usize>) {
        let (mut lows, mut others) = (Vec::with_capacity(2 * texts.len()), Vec::new());
        for (number, text) in texts.iter().enumerate() {
            let found = text.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
            match found.and_then(|text| super::tree_keys::bare_key(text.as_bytes())) {
                Some((bare, scheme)) => {
                    lows.push(([&bare, &b":"[..], scheme].concat(), number));
                    lows.push((bare, number));
                }
                None => others.push(number),
            }
        }
        lows.sort_unstable();
        let range_of = |(mut low, number): (Vec<u8>, usize)| {
            let first = PyBytes::new(texts.py(), &low);
            low.push(0); // no key contains a NUL
            (first, PyBytes::new(texts.py(), &low), number)
        };
        (lows.into_iter().map(range_of).collect(), others)
    }

    /// (rank, line, location, offset, length)
    type TaskInput<'py> = (u64, Bound<'py, PyString>, Bound<'py, PyString>, Option<u64>, Option<u64>);

    /// encode_rows([(rank, line, location, offset, length), ...], records, bytes, middle, end) -> the lines of ledger rows
    ///
    /// None if an input is not text in UTF-8. `middle` and `end` are the fields before and after the numbers.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn encode_rows<'py>(
        inputs: &Bound<'py, PyList>,
        records: Vec<u64>,
        bytes: Vec<u64>,
        middle: &str,
        end: &str,
    ) -> Option<Bound<'py, PyBytes>> {
        let mut lines = Vec::new();
        for ((input, records), bytes) in inputs.iter().zip(records).zip(bytes) {
            let (rank, given, location, offset, length): TaskInput<'py> = input.extract().ok()?;
            let (input, location) = (given.to_str().ok()?, location.to_str().ok()?);
            let place = super::ledger_rows::Place { input, location, span: offset.zip(length) };
            super::ledger_rows::push(rank, place, middle, records, bytes, end, &mut lines);
        }
        Some(PyBytes::new(inputs.py(), &lines))
    }

    /// (rank of the first, lines of the ledger, records, bytes, version of Unicode, core, count)
    type Written<'a, 'py> = (u64, Bound<'py, PyBytes>, u64, u64, &'a str, &'a str, u64);

    #[derive(IntoPyObject)]
    enum Taken<'a, 'py> {
        Rows(Written<'a, 'py>),
        Line(Bound<'py, PyBytes>),
    }

    /// take_rows(lines) -> what `take_row` takes of them: ordinary rows of neighbouring inputs together, other lines
    #[pyfunction]
    fn take_rows<'a, 'py>(lines: &'a Bound<'py, PyBytes>) -> Vec<Taken<'a, 'py>> {
        let py = lines.py();
        let shown = |each| match each {
            super::ledger_rows::Taken::Line(line) => Taken::Line(PyBytes::new(py, line)),
            super::ledger_rows::Taken::Rows(rows) => {
                let ledger = PyBytes::new(py, &rows.lines);
                let (unicode, core) = (text(rows.unicode), text(rows.core));
                Taken::Rows((rows.rank, ledger, rows.records, rows.bytes, unicode, core, rows.count))
            }
        };
        super::ledger_rows::take(lines.as_bytes()).into_iter().map(shown).collect()
    }

    /// The keys whose lines may still come in sorted chunks.
    #[pyclass]
    struct KeySweep(super::key_sweep::Sweep);

    #[pymethods]
    impl KeySweep {
        /// KeySweep(keys)
        #[new]
        #[allow(clippy::needless_pass_by_value)]
        fn new(keys: Vec<PyBackedBytes>) -> Self {
            Self(super::key_sweep::Sweep::new(keys.iter().map(|key| &key[..])))
        }

        /// cut(chunk) -> (lines, [(number of the key, its lines, their bytes), ...]); None for a chunk with blank lines
        fn cut<'py>(
            &mut self,
            chunk: &Bound<'py, PyBytes>,
        ) -> Option<(Bound<'py, PyBytes>, Vec<super::key_sweep::Found>)> {
            let (lines, found) = self.0.cut(chunk.as_bytes())?;
            Some((PyBytes::new(chunk.py(), &lines), found))
        }
    }

    std::thread_local! {
        static MEMBERS: std::cell::RefCell<super::member::Members> =
            std::cell::RefCell::new(super::member::Members::new());
        static CONTENT: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    /// Bytes of the buffer that is kept for the next member.
    const MAX_KEPT: usize = 1 << 20;

    /// Bytes of a block in which a line's beginning is looked for: as many as `crawlmill.indexes.cdx.usual.quick` takes.
    const PEEKED: usize = 4 << 10;

    /// inflate_whole(member) -> the content of these bytes if they are one whole gzip member of a sane size, else None
    #[pyfunction]
    fn inflate_whole<'py>(member: &Bound<'py, PyBytes>) -> Option<Bound<'py, PyBytes>> {
        let found = super::member::Member::of(member.as_bytes())?;
        let content = PyBytes::new_with(member.py(), found.size(), |content| {
            let whole = MEMBERS.with_borrow_mut(|members| members.inflate_into(found, content));
            if whole {
                Ok(())
            } else {
                Err(pyo3::exceptions::PyValueError::new_err("not a whole member"))
            }
        });
        content.ok()
    }

    /// What `then` makes of the record of one whole member, if it is a usual response or revisit: of its type, its
    /// header, and the beginning of its line.
    fn of_capture<T>(
        member: &Bound<'_, PyBytes>,
        then: impl FnOnce(&'static str, &[u8], Start<'_>) -> Option<T>,
    ) -> Option<T> {
        let (py, found) = (member.py(), super::member::Member::of(member.as_bytes())?);
        CONTENT.with_borrow_mut(|buffer| {
            buffer.truncate(MAX_KEPT);
            buffer.shrink_to(MAX_KEPT);
            let content = MEMBERS.with_borrow_mut(|members| py.detach(|| members.inflate(found, buffer)))?;
            let head = whole_record(content).filter(|head| matches!(head.kind, RESPONSE | REVISIT))?;
            let (header, rest) = content.split_at(head.start);
            let length = usize::try_from(head.length).ok()?;
            let block = &rest[..length.min(PEEKED)];
            let start = start(header, block, head.kind == REVISIT, Extra::default())?;
            then(TYPES[head.kind], header, start)
        })
    }

    /// (type, header, and of what begins its line: urlkey, timestamp, front, back, url)
    type Capture<'py> = (&'static str, Bound<'py, PyBytes>, Option<Text>, Text, Text, Text, Text);

    /// member_capture(member) -> the record of one whole member, if it is a usual response or revisit, else None
    ///
    /// Its header, and what begins the line of its capture, as `capture_start` has it. The rest is proven and dropped.
    #[pyfunction]
    fn member_capture<'py>(member: &Bound<'py, PyBytes>) -> Option<Capture<'py>> {
        of_capture(member, |kind, header, start| {
            let key = start.key.map(Text);
            let texts = [start.timestamp.to_vec(), start.front, start.back, start.url.to_vec()].map(Text);
            let [timestamp, front, back, url] = texts;
            Some((kind, PyBytes::new(member.py(), header), key, timestamp, front, back, url))
        })
    }

    /// copied_lines(ranges, start, filename, offset, urlkey) -> (the number of the first range that is not usual, the
    /// index lines of the copies of those before it)
    ///
    /// `ranges` are (any, input, bytes), where an input begins with its line and ends with location, offset, length and
    /// unit. From `start` on, those are taken that are each one whole member of a usual response or revisit of the listed
    /// URL. Their copies begin at this offset of the file, whose name is given as JSON. `urlkey` makes the keys of
    /// unusual URLs.
    #[pyfunction]
    fn copied_lines<'py>(
        ranges: &Bound<'py, PyList>,
        start: usize,
        filename: &[u8],
        mut offset: u64,
        urlkey: &Bound<'py, PyAny>,
    ) -> PyResult<(usize, Bound<'py, PyBytes>)> {
        let (mut lines, mut end) = (Vec::new(), start);
        for range in ranges.iter().skip(start) {
            let (_, item, member): (Bound<'py, PyAny>, Bound<'py, PyTuple>, Bound<'py, PyAny>) = range.extract()?;
            let given = item.get_item(0)?.cast_into::<PyString>()?;
            let (Ok(given), Ok(member)) = (given.to_str(), member.cast::<PyBytes>()) else { break };
            let Some(listed) = Listed::of(given.as_bytes()) else { break };
            let length = item.get_item(3)?.extract::<u64>()?;
            if member.as_bytes().len() as u64 != length {
                break;
            }
            let copied = of_capture(member, |_, _, mut start| {
                let key = match start.key.take() {
                    Some(key) => Ok(key),
                    None => urlkey.call1((text(start.url),)).and_then(|key| key.extract()).map(String::into_bytes),
                };
                let place = Place { filename, offset, length };
                Some(key.map(|key| {
                    let same = listed.url.map_or(listed.key.is_none_or(|listed| listed == key), |url| url == start.url);
                    same.then(|| push_line(&key, &start, &listed, place, &mut lines))
                }))
            });
            if copied.transpose()?.flatten().is_none() {
                break;
            }
            (offset, end) = (offset + length, end + 1);
        }
        Ok((end, PyBytes::new(ranges.py(), &lines)))
    }

    /// (line, location, offset, length)
    type Listing<'py> = (Bound<'py, PyString>, Bound<'py, PyString>, u64, u64);

    /// listed_lines(text, at) -> (what the lines say that begin there, up to the first that is not usual, where they end)
    #[pyfunction]
    fn listed_lines<'py>(text: &Bound<'py, PyBytes>, at: usize) -> (Vec<Listing<'py>>, usize) {
        let (py, mut found) = (text.py(), Vec::new());
        let mut locations = hashbrown::HashMap::new(); // there are far fewer files than lines
        let end = each_listed(text.as_bytes(), at, |line, listed| {
            let new = || PyString::new(py, self::text(listed.location));
            let location = locations.entry(listed.location).or_insert_with(new).clone();
            found.push((PyString::new(py, self::text(line)), location, listed.offset, listed.length));
        });
        (found, end)
    }

    /// (line, location, offset, length, unit)
    type Input<'py> = (Bound<'py, PyString>, Bound<'py, PyString>, Option<u64>, Option<u64>, Bound<'py, PyAny>);

    /// encode_inputs([(rank, input), ...]) -> these inputs as in the line of a task, or None if one is unusual
    #[pyfunction]
    fn encode_inputs<'py>(task: &Bound<'py, PyList>) -> Option<Bound<'py, PyBytes>> {
        let mut json = Vec::new();
        for pair in task {
            let (rank, input): (u64, Input<'py>) = pair.extract().ok()?;
            let (given, location, offset, length, unit) = input;
            let (given, location) = (given.to_str().ok()?.as_bytes(), location.to_str().ok()?.as_bytes());
            json.extend_from_slice(if json.is_empty() { b"" } else { b"," });
            super::task_inputs::TaskInput { rank, given, location, offset, length }.push(&mut json)?;
            if !unit.is_none() {
                return None;
            }
        }
        Some(PyBytes::new(task.py(), &json))
    }

    /// decode_inputs(line) -> (the inputs in the line of a task, the line without them), or None if one is unusual
    #[pyfunction]
    fn decode_inputs<'py>(line: &Bound<'py, PyString>) -> Option<(Vec<TaskInput<'py>>, String)> {
        let (py, line, mut inputs) = (line.py(), line.to_str().ok()?, Vec::new());
        let (mut last, mut location) = (Vec::new(), PyString::new(py, ""));
        let (begin, end) = super::task_inputs::take(line.as_bytes(), |input| {
            if input.location != last {
                last = input.location.to_vec(); // many ranges are in one file
                location = PyString::new(py, text(&last));
            }
            inputs.push((
                input.rank,
                PyString::new(py, text(input.given)),
                location.clone(),
                input.offset,
                input.length,
            ));
        })?;
        Some((inputs, [line.get(..begin)?, line.get(end..)?].concat()))
    }

    /// structured_formats(page) -> a bit for each format of structured data that it may hold: microdata 1, RDFa 2,
    /// JSON-LD 4, microformats 8
    #[pyfunction]
    fn structured_formats(page: &Bound<'_, PyBytes>) -> u8 {
        let bytes = page.as_bytes();
        page.py().detach(|| super::markup::formats(bytes))
    }

    /// sound_lines(chunk) -> bytes of the lines of an index at its beginning that have a key, a timestamp, and a rest
    #[pyfunction]
    fn sound_lines(chunk: &Bound<'_, PyBytes>) -> usize {
        super::index_lines::sound(chunk.as_bytes())
    }

    /// usual_lines(chunk, at=0) -> where the lines of usual CDXJ end that begin there
    #[pyfunction]
    #[pyo3(signature = (chunk, at = 0))]
    fn usual_lines(chunk: &Bound<'_, PyBytes>, at: usize) -> usize {
        at + super::index_lines::usual(chunk.as_bytes().get(at..).unwrap_or_default())
    }

    /// api_lines(text) -> lines of a CDX API's response as CDXJ, or None if some of them are not usual
    #[pyfunction]
    fn api_lines<'py>(text: &Bound<'py, PyBytes>) -> Option<Bound<'py, PyBytes>> {
        CONTENT.with_borrow_mut(|buffer| {
            super::api_lines::canonical(text.as_bytes(), buffer)?;
            let lines = PyBytes::new(text.py(), buffer);
            buffer.clear();
            buffer.shrink_to(MAX_KEPT);
            Some(lines)
        })
    }

    /// label_lines(lines, points, first) -> the lines, escaped, each after the label of its shard
    ///
    /// `points` are the first lines of all shards but the first, escaped, in order; `first` is that one's number.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn label_lines<'py>(lines: &Bound<'py, PyBytes>, points: Vec<PyBackedBytes>, first: usize) -> Bound<'py, PyBytes> {
        PyBytes::new(lines.py(), &super::labels::label(lines.as_bytes(), &points, first))
    }

    /// line_at(text, at, skip) -> (begin, end) of the line that comes `skip` lines after the one at `at`, or None
    #[pyfunction]
    fn line_at(text: &Bound<'_, PyBytes>, at: usize, skip: usize) -> Option<(usize, usize)> {
        super::labels::line_at(text.as_bytes(), at, skip)
    }

    /// count_lines(text) -> how many line ends there are
    #[pyfunction]
    fn count_lines(text: &Bound<'_, PyBytes>) -> usize {
        memchr::memchr_iter(b'\n', text.as_bytes()).count()
    }

    /// is_sorted(chunk) -> whether no line is less than the one before it, but for blank ones
    #[pyfunction]
    fn is_sorted(chunk: &Bound<'_, PyBytes>) -> bool {
        super::index_lines::is_sorted(chunk.as_bytes())
    }

    /// (urlkey, timestamp, the JSON up to the digest, the JSON from `truncated` on, url, id, id of another record)
    type Begun<'a> = (Option<Text>, Text, Text, Text, &'a str, Option<&'a str>, Option<&'a str>);

    /// What is ASCII by its making.
    struct Text(Vec<u8>);

    impl<'py> IntoPyObject<'py> for Text {
        type Target = PyString;
        type Output = Bound<'py, PyString>;
        type Error = std::convert::Infallible;

        fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
            Ok(PyString::new(py, &String::from_utf8_lossy(&self.0)))
        }
    }

    /// capture_start(header, block, revisit) -> what begins the line of a response's capture
    ///
    /// By the first bytes of the block. None for what is not usual; the key alone is None for an unusual URL.
    #[pyfunction]
    fn capture_start<'a>(header: &'a [u8], block: &[u8], revisit: bool) -> Option<Begun<'a>> {
        let found = start(header, block, revisit, Extra::default())?;
        let key = found.key.map(Text);
        let (front, back) = (Text(found.front), Text(found.back));
        let [id, concurrent] = [found.id, found.concurrent].map(|name| name.map(text));
        Some((key, Text(found.timestamp.to_vec()), front, back, text(found.url), id, concurrent))
    }

    /// (charset, languages, ids of records that are described, url)
    type Detected<'a> = (Option<&'a str>, Vec<&'a str>, Vec<&'a str>, Option<&'a str>);

    /// crawler_detected(header, block) -> what a metadata record says of a page; None for what is not usual
    #[pyfunction]
    fn crawler_detected<'a>(header: &'a [u8], block: &'a [u8]) -> Option<Detected<'a>> {
        let found = super::captures::described::detected(header, block)?;
        let [languages, references] =
            [found.languages, found.references].map(|all| all.into_iter().map(text).collect());
        Some((found.charset.map(text), languages, references, found.url.map(text)))
    }

    /// What was found to be ASCII.
    fn text(value: &[u8]) -> &str {
        std::str::from_utf8(value).unwrap_or_default()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Raised with every change of what Python calls here; `crawlmill.core` takes only its own.
        module.add("API_VERSION", 10)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
